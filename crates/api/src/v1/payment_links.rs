//! Payment links, for their merchants.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::{
    ASSETS_MAX, DESCRIPTION_CHARS_MAX, LINK_QUANTITY_MAX, LINK_QUANTITY_MIN, PAGE_LINK_CHARS_MAX,
};
use till_engine::base::Change;
use till_engine::links::{self, LinkChange};
use till_engine::view::LinkView;
use till_http::fields::Patch;
use till_http::json::Json;
use till_http::query;
use till_http::read::{self, Read, list as list_of};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{Body, Settable, body, change, params};
use crate::handler::words::{AmountType, Moment, word};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(retrieve, update))
}

fn quantity(at: &str, value: Json) -> Read<i64> {
    let bounds = i64::from(LINK_QUANTITY_MIN)..=i64::from(LINK_QUANTITY_MAX);
    read::integer(bounds)(at, value)
}

body! {
    pub struct CreatePaymentLinkRequest {
        amount_type: AmountType = word,
        /// ISO 4217 code.
        currency: String = read::text,
        /// Required for a fixed link, refused for a payer-chosen one.
        amount: Option<String> = read::text,
        min_amount: Option<String> = read::text,
        max_amount: Option<String> = read::text,
        #[schema(max_length = 500)]
        description: Option<String> = read::shown_text(0..=DESCRIPTION_CHARS_MAX),
        /// Default: the merchant's defaults when each invoice is made.
        #[schema(max_items = 20)]
        assets: Option<Vec<String>> = list_of(ASSETS_MAX, read::text),
        #[schema(value_type = Option<i32>, minimum = 1, maximum = 1_000_000)]
        quantity_limit: Option<i64> = quantity,
        /// Must be in the future.
        #[schema(value_type = Option<String>, format = DateTime)]
        expires_at: Option<Moment> = Moment::read,
        /// Where payers go afterwards, an https: address (in test mode also http: of their own computer); `{invoice}` stands
        /// for the id. Default: the merchant's.
        #[schema(max_length = 2048)]
        return_url: Option<String> = read::text_max(PAGE_LINK_CHARS_MAX),
        /// Copied to every invoice made from the link.
        metadata: Option<BTreeMap<String, String>> = read::metadata,
        #[schema(default = true)]
        active: Option<bool> = read::boolean,
    }
}

/// What a merchant says about a new link: what is not said is empty.
pub struct NewLink(LinkChange);

impl Body for NewLink {
    fn read(bytes: Option<&[u8]>) -> Read<NewLink> {
        fn set<T>(value: Option<T>) -> Change<T> {
            value.map_or(Change::Keep, Change::Set)
        }
        let request = CreatePaymentLinkRequest::read(bytes)?;
        Ok(NewLink(LinkChange {
            amount_type: Change::Set(request.amount_type.0),
            currency: Change::Set(request.currency),
            amount: set(request.amount),
            min_amount: set(request.min_amount),
            max_amount: set(request.max_amount),
            description: set(request.description),
            assets: set(request.assets),
            quantity_limit: set(request.quantity_limit),
            expires_at: set(request.expires_at.map(|at| at.0)),
            return_url: set(request.return_url),
            metadata: set(request.metadata),
            active: set(request.active),
        }))
    }
}

/// Create a payment link
#[utoipa::path(
    post, path = "/v1/payment_links", tag = "Payment links", operation_id = "createPaymentLink",
    params(IdempotencyKey), request_body = CreatePaymentLinkRequest,
    responses((status = 201, description = "The link", body = LinkView), Refusals),
    security(("secret_key" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret, NewLink>) -> Answered {
    let link = &posted.body.0;
    let create = posted.create(&api, |tx, context| {
        async move { text(&links::create(tx, context, link).await?) }.scope_boxed()
    });
    create.await
}

body! {
    pub struct UpdatePaymentLinkRequest {
        #[schema(value_type = Option<AmountType>)]
        amount_type: Settable<AmountType> = word,
        #[schema(value_type = Option<String>)]
        currency: Settable<String> = read::text,
        #[schema(value_type = Option<String>)]
        amount: Patch<String> = read::text,
        #[schema(value_type = Option<String>)]
        min_amount: Patch<String> = read::text,
        #[schema(value_type = Option<String>)]
        max_amount: Patch<String> = read::text,
        #[schema(value_type = Option<String>, max_length = 500)]
        description: Patch<String> = read::shown_text(0..=DESCRIPTION_CHARS_MAX),
        #[schema(value_type = Option<Vec<String>>)]
        #[schema(max_items = 20)]
        assets: Patch<Vec<String>> = list_of(ASSETS_MAX, read::text),
        #[schema(value_type = Option<i32>, minimum = 1, maximum = 1_000_000)]
        quantity_limit: Patch<i64> = quantity,
        #[schema(value_type = Option<String>, format = DateTime)]
        expires_at: Patch<Moment> = Moment::read,
        #[schema(value_type = Option<String>, max_length = 2048)]
        return_url: Patch<String> = read::text_max(PAGE_LINK_CHARS_MAX),
        /// Replaced as a whole.
        #[schema(value_type = Option<BTreeMap<String, String>>)]
        metadata: Patch<BTreeMap<String, String>> = read::metadata,
        active: Option<bool> = read::boolean,
    }
}

impl Body for LinkChange {
    fn read(bytes: Option<&[u8]>) -> Read<LinkChange> {
        let request = UpdatePaymentLinkRequest::read(bytes)?;
        Ok(LinkChange {
            amount_type: request
                .amount_type
                .change()
                .map(|amount_type| amount_type.0),
            currency: request.currency.change(),
            amount: change(request.amount),
            min_amount: change(request.min_amount),
            max_amount: change(request.max_amount),
            description: change(request.description),
            assets: change(request.assets),
            quantity_limit: change(request.quantity_limit),
            expires_at: change(request.expires_at).map(|at| at.0),
            return_url: change(request.return_url),
            metadata: change(request.metadata),
            active: request.active.map_or(Change::Keep, Change::Set),
        })
    }
}

/// Change a payment link
///
/// Omitted fields stay as they are, null clears an optional one, `metadata` is replaced as a whole. Changes
/// apply to invoices made afterwards.
#[utoipa::path(
    post, path = "/v1/payment_links/{id}", tag = "Payment links", operation_id = "updatePaymentLink",
    params(("id" = String, Path, description = "Payment link id"), IdempotencyKey),
    request_body = UpdatePaymentLinkRequest,
    responses((status = 200, description = "The link after the change", body = LinkView), Refusals),
    security(("secret_key" = []))
)]
async fn update(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret, LinkChange>,
) -> Answered {
    let (id, change) = (id.as_str(), &posted.body);
    let update = posted.perform(&api, |tx, context| {
        async move { text(&links::update(tx, context, id, change).await?) }.scope_boxed()
    });
    update.await
}

/// Retrieve a payment link
#[utoipa::path(
    get, path = "/v1/payment_links/{id}", tag = "Payment links", operation_id = "retrievePaymentLink",
    params(("id" = String, Path, description = "Payment link id")),
    responses((status = 200, description = "The link", body = LinkView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    shown(&links::retrieve(&api.engine, got.scope(), got.publishable_key(), &id).await?)
}

params! {
    pub struct LinkFilter {
        /// Only those that are switched on, or off.
        active: Option<bool> = query::boolean,
    }
}

/// List payment links, newest first
#[utoipa::path(
    get, path = "/v1/payment_links", tag = "Payment links", operation_id = "listPaymentLinks",
    params(PageParams, LinkFilter),
    responses((status = 200, description = "A page of links", body = List<LinkView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing<LinkFilter>>) -> Answered {
    let (pager, key) = (
        got.pager(&api, "payment_links").await?,
        got.publishable_key(),
    );
    let (active, reads) = (got.filter().active, &pager.reads);
    let found = links::list(&api.engine, reads, got.scope(), key, active, &pager.page);
    pager.shown(found.await?).await
}
