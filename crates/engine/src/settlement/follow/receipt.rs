//! Mails follow the invoice: the receipt once it is paid, a notice when something is refunded.

use till_core::id::IdKind;
use till_core::scope::Scope;
use till_store::notices::{self, NoticeRow};
use till_store::{RefundDetail, Tx, Write};

use super::follower::Follower;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::view::TokenAmount;

/// The receipts of invoices that were paid in full just now go out once this is committed.
pub(super) fn writes(settled: &[Follower<'_>]) -> Option<Write> {
    let paid: Vec<(&Scope, &str, i64)> = settled
        .iter()
        .filter(|done| done.is_paid_now() && done.context.engine.mailer.is_some())
        .map(|done| {
            done.context.effects.mail();
            (&done.context.scope, done.held.id(), done.context.real_now)
        })
        .collect();
    (!paid.is_empty()).then(|| notices::falling_due(&paid))
}

/// A refund was created for the invoice: whoever holds its receipt is told, in the same unit of work. The
/// caller holds the invoice.
pub async fn on_refund(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    refunded: &TokenAmount,
) -> Result<(), Fail> {
    let left = notices::receipts(tx, &context.scope, invoice).await?;
    let Some(receipt) = left.into_iter().find(|notice| notice.is_current) else {
        return Ok(());
    };
    let notice = NoticeRow {
        id: context.engine.ids.make(IdKind::Notice),
        kind: "refund".to_owned(),
        detail: Some(RefundDetail {
            amount: refunded.amount.clone(),
            asset: refunded.asset.clone(),
            created_at: context.now,
        }),
        status: "scheduled".to_owned(),
        created_at: context.real_now,
        sent_at: None,
        due_at: Some(context.real_now),
        fence: 0,
        attempts: 0,
        ..receipt
    };
    notices::insert(tx, &notice).await?;
    context.effects.mail();
    Ok(())
}
