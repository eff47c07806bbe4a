//! The home page, deposits that are nobody's payment, and the audit log.

use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::asset::Registry;
use till_core::error::Refusal;
use till_engine::digests;
use till_engine::team::{audit_log, deposits, home};
use till_engine::view::{AuditEventView, DepositView, DigestView, HomeView};
use till_http::query::{self, integer};
use till_http::read;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signed::{SignedGot, SignedPosted};
use crate::handler::request::{body, params};
use crate::handler::words::{DepositStatus, Moment, word_param};
use crate::handler::{
    Answered, Api, Id, IdempotencyKey, List, Listing, ModeHeaders, PageParams, Refusals, shown,
    text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(show))
        .routes(routes!(list_deposits))
        .routes(routes!(dismiss))
        .routes(routes!(list_audit_events))
        .routes(routes!(list_digests))
}

const DAYS_MAX: i64 = 90;
const DAYS_DEFAULT: i64 = 30;

params! {
    pub struct HomeParams {
        /// How many days of volumes, today among them.
        #[param(minimum = 1, maximum = 90, default = 30)]
        days: Option<i64> = integer(1..=DAYS_MAX),
    }
}

/// Retrieve an account at a glance
#[utoipa::path(
    get, path = "/v1/dashboard/home", tag = "Dashboard", operation_id = "retrieveHome",
    params(ModeHeaders, HomeParams),
    responses((status = 200, description = "What there is to see", body = HomeView), Refusals),
    security(("session" = []))
)]
async fn show(State(api): State<Arc<Api>>, got: SignedGot<HomeParams>) -> Answered {
    let days = got.query.days.unwrap_or(DAYS_DEFAULT);
    let (signed, scope) = (&got.caller.signed, got.scope()?);
    shown(&home::show(&api.engine, signed, &scope, days).await?)
}

params! {
    pub struct DepositParams {
        /// Only those that are open, or dismissed.
        #[param(inline)]
        status: Option<DepositStatus> = word_param,
        /// A CAIP-2 id.
        network: Option<String> = query::text,
    }
}

/// List deposits that are nobody's payment, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/unattributed_deposits", tag = "Dashboard", operation_id = "listUnattributedDeposits",
    params(ModeHeaders, PageParams, DepositParams),
    responses((status = 200, description = "A page of deposits", body = List<DepositView>), Refusals),
    security(("session" = []))
)]
async fn list_deposits(
    State(api): State<Arc<Api>>,
    got: SignedGot<Listing<DepositParams>>,
) -> Answered {
    let pager = got.pager(&api, "unattributed_deposits")?;
    let scope = got.scope()?;
    let network = got.filter().network.as_deref();
    let filter = deposits::DepositFilter {
        status: got.filter().status.map(|status| status.0),
        network: network.map(network_of).transpose()?,
    };
    let found = deposits::list(&api.engine, &scope, &filter, &pager.page).await?;
    pager.shown(found).await
}

/// The id of a network, which may be given by an alias.
fn network_of(text: &str) -> Result<String, Refusal> {
    let network = Registry::builtin().network(text);
    let unknown = || read::invalid("network", format!("`{text}` is no known network."));
    network
        .map(|network| network.id.clone())
        .ok_or_else(unknown)
}

const NOTE_CHARS_MAX: usize = 500;

body! {
    pub struct DismissRequest {
        /// Why nobody has to look at it any more.
        #[schema(min_length = 1, max_length = 500)]
        note: String = read::text_len(1..=NOTE_CHARS_MAX),
    }
}

/// Dismiss a deposit that is nobody's payment
///
/// Nothing is ever credited by hand.
#[utoipa::path(
    post, path = "/v1/dashboard/unattributed_deposits/{id}/dismiss", tag = "Dashboard",
    operation_id = "dismissUnattributedDeposit",
    params(("id" = String, Path, description = "Deposit id"), ModeHeaders, IdempotencyKey), request_body = DismissRequest,
    responses((status = 200, description = "The deposit", body = DepositView), Refusals),
    security(("session" = []))
)]
async fn dismiss(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: SignedPosted<DismissRequest>,
) -> Answered {
    let (id, note) = (&*id, &*posted.body.note);
    let dismiss = posted.perform(&api, |tx, context| {
        async move { text(&deposits::dismiss(tx, context, id, note).await?) }.scope_boxed()
    });
    dismiss.await
}

params! {
    pub struct AuditParams {
        /// Such as `api_key.created`.
        action: Option<String> = query::text,
        /// The id of a user or key, `cli` or `system`.
        actor: Option<String> = query::text,
        /// The id of what was changed.
        target: Option<String> = query::text,
        /// The first moment, as an RFC 3339 date-time or a date (midnight UTC).
        #[param(value_type = Option<String>)]
        from: Option<Moment> = Moment::param,
        /// The moment after the last.
        #[param(value_type = Option<String>)]
        to: Option<Moment> = Moment::param,
    }
}

/// List who changed what, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/audit_events", tag = "Dashboard", operation_id = "listAuditEvents",
    params(PageParams, AuditParams),
    responses((status = 200, description = "A page of the log", body = List<AuditEventView>), Refusals),
    security(("session" = []))
)]
async fn list_audit_events(
    State(api): State<Arc<Api>>,
    got: SignedGot<Listing<AuditParams>>,
) -> Answered {
    let (pager, asked) = (got.pager(&api, "audit_events")?, got.filter());
    let filter = audit_log::AuditFilter {
        action: asked.action.clone(),
        actor: asked.actor.as_deref().map(audit_log::actor_named),
        target: asked.target.clone(),
        from: asked.from.map(|at| at.0),
        to: asked.to.map(|at| at.0),
    };
    let account = got.caller.asked.account.as_deref().unwrap_or_default();
    let found = audit_log::list(&api.engine, account, &filter, &pager.page).await?;
    pager.shown(found).await
}

/// List the signed digests of the journal, newest first
#[utoipa::path(
    get, path = "/v1/dashboard/ledger_digests", tag = "Dashboard", operation_id = "listLedgerDigests",
    params(ModeHeaders, PageParams),
    responses((status = 200, description = "A page of digests", body = List<DigestView>), Refusals),
    security(("session" = []))
)]
async fn list_digests(State(api): State<Arc<Api>>, got: SignedGot<Listing>) -> Answered {
    let (pager, scope) = (got.pager(&api, "ledger_digests")?, got.scope()?);
    pager
        .shown(digests::list(&api.engine, &scope, &pager.page).await?)
        .await
}
