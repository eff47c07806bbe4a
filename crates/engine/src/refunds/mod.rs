//! Refunds: made by merchants, claimed by payers, sent from the merchant's own wallet. Whoever changes a refund holds
//! its invoice, so that what is refunded never exceeds what was received.

mod claims;
mod create;
mod followed;
mod refund;
mod sent;
mod shown;

pub use claims::{Claim, ClaimRequest, ask, claim, find_claim, show_claim};
pub use create::{NewRefund, create};
pub use followed::look_again;
pub use refund::lapse;
pub(crate) use refund::token_purpose;
pub use sent::{is_tx_hash, look_before_sent, mark_sent, screen_ready, screen_waiting};
pub use shown::PayoutSeen;
pub use till_store::refunds::RefundFilter;

use refund::{find, find_locked, give_back, render, settle};
use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::page::{Page, Paged};
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_store::{ReadSource, Tx};

use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::view::RefundView;

pub async fn retrieve(engine: &Engine, scope: &Scope, id: &str) -> Result<RefundView, Fail> {
    let mut reader = engine.db.read().await?;
    render(engine, &find(&mut reader, scope, id).await?)
}

pub async fn list(
    engine: &Engine,
    reads: &ReadSource,
    scope: &Scope,
    filter: RefundFilter,
    page: &Page,
) -> Result<Paged<RefundView>, Fail> {
    let mut reader = reads.read();
    let rows = till_store::refunds::list(&mut reader, scope, filter, &page.and_one()).await?;
    page.cut(rows, |row| &row.id)
        .try_map(|row| render(engine, &row))
}

/// What is not sent can be taken back; doing so again changes nothing.
pub async fn cancel(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<RefundView, Fail> {
    let (mut held, at) = find_locked(tx, context, id).await?;
    let row = held.refunds[at].is.clone();
    match row.status {
        RefundStatus::Sent => return Err(Refusal::of(Code::RefundAlreadySent).into()),
        RefundStatus::Cancelled => return render(context.engine, &row),
        RefundStatus::Unclaimed | RefundStatus::ReadyToSend | RefundStatus::InReview => {}
    }
    if row.counts() {
        give_back(&mut held, &row)?;
    }
    held.refunds[at].is.cancelled_at = Some(held.moment(context));
    let cancelled = settle(tx, context, held, id).await?;
    audit::record(tx, context, Action::RefundCancelled, id, json!({})).await?;
    render(context.engine, &cancelled)
}
