//! Payment links, for their merchants.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::{ASSETS_MAX, DESCRIPTION_CHARS_MAX, LINK_QUANTITY_MAX, LINK_QUANTITY_MIN};
use till_core::link::AmountType;
use till_core::time;
use till_engine::Answer;
use till_engine::base::Change;
use till_engine::links::{self, LinkChange};
use till_engine::view::LinkView;

use crate::face::answers::{Answered, List, answered, change, list as listed};
use crate::face::callers::{Got, Id, Posted, Secret};
use crate::face::cursor;
use crate::face::state::{Api, fail};
use crate::face::words;
use till_http::answer::{self, Failure};
use till_http::fields::{Field, Fields, Kind, Patch, may, need};
use till_http::json::Json;
use till_http::query::boolean;
use till_http::read::{self, Read};

const CREATE: &[Field] = &[
    need("amount_type", Kind::Text),
    need("currency", Kind::Text),
    may("amount", Kind::Text),
    may("min_amount", Kind::Text),
    may("max_amount", Kind::Text),
    may("description", Kind::Text),
    may("assets", Kind::List(&Kind::Text)),
    may("quantity_limit", Kind::Integer),
    may("expires_at", Kind::Text),
    may("metadata", Kind::Map),
    may("active", Kind::Boolean),
];

const UPDATE: &[Field] = &[
    may("amount_type", Kind::Text),
    may("currency", Kind::Text),
    may("amount", Kind::Text),
    may("min_amount", Kind::Text),
    may("max_amount", Kind::Text),
    may("description", Kind::Text),
    may("assets", Kind::List(&Kind::Text)),
    may("quantity_limit", Kind::Integer),
    may("expires_at", Kind::Text),
    may("metadata", Kind::Map),
    may("active", Kind::Boolean),
];

fn read_change(mut fields: Fields) -> Result<LinkChange, Failure> {
    let quantity = read::integer(i64::from(LINK_QUANTITY_MIN)..=i64::from(LINK_QUANTITY_MAX));
    Ok(LinkChange {
        amount_type: never_null("amount_type", fields.patch("amount_type", amount_type)?)?,
        currency: never_null("currency", fields.patch("currency", read::text)?)?,
        amount: change(fields.patch("amount", read::text)?),
        min_amount: change(fields.patch("min_amount", read::text)?),
        max_amount: change(fields.patch("max_amount", read::text)?),
        description: change(fields.patch("description", read::text_max(DESCRIPTION_CHARS_MAX))?),
        assets: change(fields.patch("assets", read::list(ASSETS_MAX, read::text))?),
        quantity_limit: change(fields.patch("quantity_limit", quantity)?),
        expires_at: change(fields.patch("expires_at", instant)?),
        metadata: change(fields.patch("metadata", read::metadata)?),
        active: match fields.patch("active", read::boolean)? {
            Patch::Absent | Patch::Null => Change::Keep,
            Patch::Value(active) => Change::Set(active),
        },
    })
}

fn amount_type(at: &str, value: Json) -> Read<AmountType> {
    let word = read::one_of(&["fixed", "payer_chosen"])(at, value)?;
    AmountType::parse(word).ok_or_else(|| read::invalid(at, format!("`{at}` is unknown.")))
}

fn instant(at: &str, value: Json) -> Read<i64> {
    let text = read::text(at, value)?;
    time::parse(&text)
        .ok_or_else(|| read::invalid(at, format!("`{at}` must be an RFC 3339 date-time.")))
}

/// What every link has can be changed but not cleared.
fn never_null<T>(name: &str, patch: Patch<T>) -> Result<Change<T>, Failure> {
    match patch {
        Patch::Null => Err(read::invalid(name, format!("`{name}` cannot be cleared.")).into()),
        patch => Ok(change(patch)),
    }
}

/// Create a payment link
#[utoipa::path(
    post, path = "/v1/payment_links", tag = "Payment links", operation_id = "createPaymentLink",
    params(words::IdempotencyKey), request_body = words::CreatePaymentLinkRequest,
    responses((status = 201, description = "The link", body = LinkView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret>) -> Answered {
    let change = &read_change(Fields::of(posted.body.as_deref(), CREATE)?)?;
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move { Answer::json(201, &links::create(tx, context, change).await?) }
                .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

/// Change a payment link
///
/// Omitted fields stay as they are, null clears an optional one, `metadata` is replaced as a whole. Changes
/// apply to invoices made afterwards.
#[utoipa::path(
    post, path = "/v1/payment_links/{id}", tag = "Payment links", operation_id = "updatePaymentLink",
    params(("id" = String, Path, description = "Payment link id"), words::IdempotencyKey),
    request_body = words::UpdatePaymentLinkRequest,
    responses((status = 200, description = "The link after the change", body = LinkView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn update(State(api): State<Arc<Api>>, Id(id): Id, posted: Posted<Secret>) -> Answered {
    let change = &read_change(Fields::of(posted.body.as_deref(), UPDATE)?)?;
    let id = id.as_str();
    let done = api
        .engine
        .once(posted.scope(), &posted.once, |tx, context| {
            async move { Answer::json(200, &links::update(tx, context, id, change).await?) }
                .scope_boxed()
        });
    done.await.map(answered).map_err(fail)
}

/// Retrieve a payment link
#[utoipa::path(
    get, path = "/v1/payment_links/{id}", tag = "Payment links", operation_id = "retrievePaymentLink",
    params(("id" = String, Path, description = "Payment link id")),
    responses((status = 200, description = "The link", body = LinkView), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    got.query(&[])?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let row = links::find(&mut reader, got.scope(), &id)
        .await
        .map_err(fail)?;
    let key = got.caller.publishable_key.as_deref();
    let view = LinkView::of(&row, &api.engine.config.checkout_url, key);
    Ok(answer::json(
        StatusCode::OK,
        &view.map_err(|error| fail(error.into()))?,
    ))
}

/// List payment links, newest first
#[utoipa::path(
    get, path = "/v1/payment_links", tag = "Payment links", operation_id = "listPaymentLinks",
    params(words::PageParams, words::LinkFilter),
    responses((status = 200, description = "A page of links", body = List<LinkView>), words::Refusals),
    security(("secret_key" = []))
)]
pub async fn list(State(api): State<Arc<Api>>, got: Got<Secret>) -> Answered {
    let mut query = got.query(&["limit", "cursor", "active"])?;
    let asked = query.page()?;
    let active = query.optional("active", boolean)?;
    let page = cursor::page(&api.engine, got.scope(), "payment_links", &asked)?;
    let mut reader = api
        .engine
        .db
        .read()
        .await
        .map_err(|error| fail(error.into()))?;
    let found = till_store::links::list(&mut reader, got.scope(), active, &page).await;
    let mut rows = found.map_err(|error| fail(error.into()))?;
    let next = cursor::next(
        &api.engine,
        got.scope(),
        "payment_links",
        &asked,
        &mut rows,
        |row| &row.id,
    );
    let key = got.caller.publishable_key.as_deref();
    let view = |row| LinkView::of(row, &api.engine.config.checkout_url, key);
    let views: Result<Vec<_>, _> = rows.iter().map(view).collect();
    Ok(listed(views.map_err(|error| fail(error.into()))?, next))
}
