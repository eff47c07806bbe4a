//! How the server does, for operators: networks, queues and mail.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_engine::team::{networks, operator};
use till_engine::view::{MailTestView, OperatedNetworkView, QueuesView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::{
    Answered, Api, IdempotencyKey, List, Listing, PageParams, Refusals, shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list_networks))
        .routes(routes!(queues))
        .routes(routes!(mail_test))
}

/// List the networks and their endpoints
#[utoipa::path(
    get, path = "/v1/dashboard/operator/networks", tag = "Dashboard", operation_id = "listNetworks",
    params(PageParams),
    responses((status = 200, description = "A page of networks", body = List<OperatedNetworkView>), Refusals),
    security(("session" = []))
)]
async fn list_networks(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let pager = got.pager(&api, "networks")?.on_one_page();
    pager
        .shown(networks::operated(&api.engine, &pager.page).await?)
        .await
}

/// See how much work waits
#[utoipa::path(
    get, path = "/v1/dashboard/operator/queues", tag = "Dashboard", operation_id = "retrieveQueues",
    responses((status = 200, description = "The queues", body = QueuesView), Refusals),
    security(("session" = []))
)]
async fn queues(State(api): State<Arc<Api>>, _got: SignedGot) -> Answered {
    shown(&operator::queues(&api.engine).await?)
}

/// Send a test mail to the operator's own address
#[utoipa::path(
    post, path = "/v1/dashboard/operator/mail_test", tag = "Dashboard", operation_id = "testMail",
    params(IdempotencyKey),
    responses((status = 200, description = "What came of it", body = MailTestView), Refusals),
    security(("session" = []))
)]
async fn mail_test(State(api): State<Arc<Api>>, posted: SignedPosted) -> Answered {
    if let Some(kept) = posted.kept(&api).await? {
        return Ok(kept);
    }
    let (user, key) = (&posted.caller.signed.user, &*posted.once.key);
    let tested = &operator::test_mail(&api.engine, user, key).await?;
    let keep = posted.perform(&api, |_, _| async move { text(tested) }.scope_boxed());
    keep.await
}
