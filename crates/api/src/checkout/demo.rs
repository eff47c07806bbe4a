//! The demonstration server lets whoever looks at a checkout pay it with test money. On every other server
//! this does not exist.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::post;
use scoped_futures::ScopedFutureExt as _;
use till_engine::checkout;
use till_engine::test_mode::{self, Simulation};
use till_http::read;

use crate::handler::request::body;
use crate::handler::{Answered, Api, Id, Payer, Posted, text};

pub fn routes() -> Router<Arc<Api>> {
    Router::new().route("/checkout/demo/invoices/{id}/payments", post(pay))
}

body! {
    pub struct DemoPaymentRequest {
        asset: String = read::text,
        amount: String = read::text,
        /// How far it gets.
        finality: String = read::text,
        /// Of a payment that is there already, and rises.
        tx_hash: Option<String> = read::text,
    }
}

async fn pay(
    State(api): State<Arc<Api>>,
    Id(id): Id,
    posted: Posted<Payer, DemoPaymentRequest>,
) -> Answered {
    let (id, asked) = (id.as_str(), &posted.body);
    let level = asked.finality.as_str();
    let simulation = &Simulation {
        asset: Some(asked.asset.clone()),
        amount: Some(asked.amount.clone()),
        // A payment that is to be final is seen in a block first, as a real one would be.
        finality_steps: Some(match level {
            "final" => vec!["included".to_owned(), level.to_owned()],
            _ => vec![level.to_owned()],
        }),
        ..Simulation::default()
    };
    let paid = posted.perform(&api, |tx, context| {
        async move {
            let row = match &asked.tx_hash {
                None => test_mode::simulate_payment(tx, context, id, simulation).await?,
                Some(hash) => test_mode::raise_payment(tx, context, id, hash, level).await?,
            };
            text(&checkout::shown(tx, context, &row).await?)
        }
        .scope_boxed()
    });
    paid.await
}
