//! Subscriptions: plans, and who is charged by them.

mod change;
mod charge;
mod claims;
mod create;
mod due;
mod find;
mod hold;
mod looks;
pub mod plans;
mod purse;
mod remind;
mod resolve;
mod share;
mod step;
mod up_to_date;

pub use change::{cancel, pause, resume};
pub use create::{NewSubscription, create};
pub use resolve::resolve;
pub use share::share_credit;
pub use step::step;
pub use up_to_date::look_first;

use find::find;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_core::subscription::Status;
use till_store::ReadSource;
use till_store::subscriptions::SubscriptionFilter;

use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::SubscriptionView;

pub async fn retrieve(engine: &Engine, scope: &Scope, id: &str) -> Result<SubscriptionView, Fail> {
    let row = find(&mut engine.db.read().await?, scope, id).await?;
    Ok(SubscriptionView::of(&row)?)
}

pub async fn list(
    reads: &ReadSource,
    scope: &Scope,
    status: Option<Status>,
    customer: Option<String>,
    page: &Page,
) -> Result<Paged<SubscriptionView>, Fail> {
    let filter = SubscriptionFilter { status, customer };
    let mut reader = reads.read();
    let rows = till_store::subscriptions::list(&mut reader, scope, filter, &page.and_one()).await?;
    page.cut(rows, |row| &row.id)
        .try_map(|row| Ok(SubscriptionView::of(&row)?))
}
