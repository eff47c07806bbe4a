//! Customers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use scoped_futures::ScopedFutureExt as _;
use till_core::limits::CUSTOMER_NAME_CHARS_MAX;
use till_engine::customers::{self, NewCustomer};
use till_engine::view::CustomerView;
use till_http::read::{self, Read};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::face::request::{Body, body};
use crate::face::{
    Answered, Api, Got, Id, IdempotencyKey, List, Listing, PageParams, Posted, Refusals, Secret,
    shown, text,
};

pub fn routes() -> OpenApiRouter<Arc<Api>> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(retrieve))
}

body! {
    pub struct CreateCustomerRequest {
        #[schema(max_length = 200)]
        name: Option<String> = read::text_max(CUSTOMER_NAME_CHARS_MAX),
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
    let pager = got.pager(&api, "customers")?;
    let found = customers::list(&api.engine, got.scope(), &pager.page);
    pager.shown(found.await?)
}
