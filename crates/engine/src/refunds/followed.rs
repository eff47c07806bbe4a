//! Payouts that were recorded, followed on the chain until their blocks are final.

use scoped_futures::ScopedFutureExt as _;
use till_chains::lookup::can_look_up;
use till_core::refund::{PayoutAnswer, PayoutStep, follow_payout};
use till_core::time::MINUTE_MS;
use till_store::Tx;
use till_store::payout_looks::PayoutLookRow;
use till_store::refunds::RefundRow;

use super::refund::{find, find_locked};
use super::shown::{PayoutSeen, ask_chain, payout};
use crate::base::fail::Fail;
use crate::base::{Context, Engine};

/// Has the chain asked about a payout until its block is final, where it can be asked and has not said that it was not paid.
pub(super) async fn follow(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &RefundRow,
) -> Result<(), Fail> {
    let (network, _) = payout(row)?;
    let nodes = context.engine.nodes.as_ref();
    let hash = row.tx_hash.as_deref();
    let hash = hash.and_then(till_chains::normalise_tx_hash);
    let can_ask = nodes.is_some_and(|nodes| nodes.know(network))
        && hash.is_some_and(|hash| can_look_up(network, &hash));
    if !can_ask || row.paid_otherwise {
        return Ok(());
    }
    let look = PayoutLookRow {
        scope: context.scope.clone(),
        refund: row.id.clone(),
        recorded_at: context.real_now,
        shown_at: None,
        look_at: context.real_now.saturating_add(MINUTE_MS),
    };
    Ok(till_store::payout_looks::insert(tx, &look).await?)
}

/// Asks the chain about a payout that is followed, and keeps what it says.
pub async fn look_again(engine: &Engine, look: &PayoutLookRow) -> Result<(), Fail> {
    let (scope, id) = (&look.scope, &*look.refund);
    let mut reader = engine.db.read().await?;
    let row = find(&mut reader, scope, id).await?;
    drop(reader);
    let hash = row.tx_hash.as_deref().unwrap_or_default();
    let answer = match ask_chain(engine, &row, hash).await? {
        PayoutSeen::Shown => PayoutAnswer::Shown,
        PayoutSeen::Otherwise => PayoutAnswer::Otherwise,
        PayoutSeen::NotShown => PayoutAnswer::Absent,
        PayoutSeen::Unknown | PayoutSeen::Unobserved => PayoutAnswer::Unknown,
    };
    let step = follow_payout(look.known(), answer, engine.clock.now_ms());
    if step == PayoutStep::NotPaid {
        tracing::warn!(
            refund = id,
            "a refund was recorded as sent by a transaction that did not pay it; reconciliation flags it (`refund_not_paid`), and the merchant has to compare the transaction with the refund"
        );
    }
    engine
        .unit(scope, |tx, context| {
            async move { keep_step(tx, context, id, step).await }.scope_boxed()
        })
        .await
}

async fn keep_step(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    step: PayoutStep,
) -> Result<(), Fail> {
    let scope = &context.scope;
    match step {
        PayoutStep::Look { at, shown_at } => {
            till_store::payout_looks::look_again(tx, scope, id, at, shown_at).await?;
        }
        PayoutStep::Paid => till_store::payout_looks::end(tx, scope, id).await?,
        PayoutStep::NotPaid => {
            find_locked(tx, context, id).await?;
            till_store::refunds::set_paid_otherwise(tx, scope, id).await?;
            till_store::payout_looks::end(tx, scope, id).await?;
        }
    }
    Ok(())
}
