//! Customers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::{ASSETS_MAX, CUSTOMER_NAME_CHARS_MAX};
use till_engine::customers::{self, NewCustomer};
use till_engine::invoices::quote::NewInvoice;
use till_engine::settlement;
use till_engine::view::{CustomerView, InvoiceView};
use till_http::read::{self, Read, list as list_of};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::handler::request::{Body, body};
use crate::handler::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(retrieve))
        .routes(routes!(top_up))
}

body! {
    pub struct CreateCustomerRequest {
        #[schema(max_length = 200)]
        name: Option<String> = read::shown_text(0..=CUSTOMER_NAME_CHARS_MAX),
        /// Stored encrypted; used only for reminders of this customer's renewals.
        email: Option<String> = read::text,
        /// Up to 20 pairs, keys of at most 40 and values of at most 500 characters.
        metadata: Option<BTreeMap<String, String>> = read::metadata,
    }
}

impl Body for NewCustomer {
    fn read(bytes: Option<&[u8]>) -> Read<NewCustomer> {
        let request = CreateCustomerRequest::read(bytes)?;
        Ok(NewCustomer {
            name: request.name,
            email: request.email,
            metadata: request.metadata.unwrap_or_default(),
        })
    }
}

/// Create a customer
#[utoipa::path(
    post, path = "/v1/customers", tag = "Subscriptions", operation_id = "createCustomer",
    params(IdempotencyKey), request_body(content = Option<CreateCustomerRequest>),
    responses((status = 201, description = "The customer", body = CustomerView), Refusals),
    security(("secret_key" = []))
)]
async fn create(State(api): State<Arc<Api>>, posted: Posted<Secret, NewCustomer>) -> Answered {
    let customer = &posted.body;
    let create = posted.create(&api, |tx, context| {
        async move { text(&customers::create(tx, context, customer).await?) }.scope_boxed()
    });
    create.await
}

body! {
    pub struct TopUpRequest {
        /// In major units of the currency, as a decimal string.
        #[schema(example = "100.00")]
        amount: String = read::text,
        /// ISO 4217 code. Stablecoins are priced only in their own currency.
        #[schema(example = "USD")]
        currency: String = read::text,
        /// Asset codes to offer. Default: the merchant's `default_assets`.
        #[schema(max_items = 20)]
        assets: Option<Vec<String>> = list_of(ASSETS_MAX, read::text),
    }
}

/// Invoice a top-up of prepaid credit
///
/// An ordinary invoice. Once its payment is final, everything received becomes the customer's credit, in the tokens that
/// arrived, and the next renewals take it before anything is invoiced. A reversal takes it back.
#[utoipa::path(
    post, path = "/v1/customers/{id}/top_up", tag = "Subscriptions", operation_id = "topUpCustomer",
    params(("id" = String, Path, description = "Customer id"), IdempotencyKey), request_body = TopUpRequest,
    responses((status = 201, description = "The invoice", body = InvoiceView), Refusals),
    security(("secret_key" = []))
)]
async fn top_up(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Secret, TopUpRequest>,
) -> Answered {
    let (id, asked) = (id.as_str(), &posted.body);
    let request = NewInvoice {
        amount: asked.amount.clone(),
        currency: asked.currency.clone(),
        assets: asked.assets.clone(),
        ..NewInvoice::default()
    };
    let request = &request;
    let top_up = posted.create(&api, |tx, context| {
        async move {
            let row = customers::top_up(tx, context, id, request).await?;
            settlement::render(context, &row)
        }
        .scope_boxed()
    });
    top_up.await
}

/// Retrieve a customer, with its prepaid credit
#[utoipa::path(
    get, path = "/v1/customers/{id}", tag = "Subscriptions", operation_id = "retrieveCustomer",
    params(("id" = String, Path, description = "Customer id")),
    responses((status = 200, description = "The customer", body = CustomerView), Refusals),
    security(("secret_key" = []))
)]
async fn retrieve(State(api): State<Arc<Api>>, got: Got<Secret>, Id(id): Id) -> Answered {
    shown(&customers::retrieve(&api.engine, got.scope(), &id).await?)
}

/// List customers, newest first
#[utoipa::path(
    get, path = "/v1/customers", tag = "Subscriptions", operation_id = "listCustomers",
    params(PageParams),
    responses((status = 200, description = "A page of customers", body = List<CustomerView>), Refusals),
    security(("secret_key" = []))
)]
async fn list(State(api): State<Arc<Api>>, got: Got<Secret, Listing>) -> Answered {
    let pager = got.pager(&api, "customers").await?;
    let found = customers::list(&api.engine, &pager.reads, got.scope(), &pager.page);
    pager.shown(found.await?).await
}
