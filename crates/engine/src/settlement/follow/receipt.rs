//! Mails follow the invoice: the receipt once it is paid, a notice when something is refunded.

use till_core::id::Kind;
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::notices::{self, NoticeRow};

use crate::base::Context;
use crate::base::fail::Fail;
use crate::mail::RefundDetail;
use crate::view::TokenAmount;

/// The invoice was paid in full just now: its receipt goes out once this is committed.
pub async fn on_paid(tx: &mut Tx, context: &Context<'_>, invoice: &InvoiceRow) -> Result<(), Fail> {
    if notices::make_due(tx, &context.scope, &invoice.id, context.real_now).await? {
        context.effects.mail();
    }
    Ok(())
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
    let Some(receipt) = left.into_iter().find(|notice| notice.is_current == 1) else {
        return Ok(());
    };
    let detail = RefundDetail {
        refunded: refunded.clone(),
        created_at: context.now,
    };
    let notice = NoticeRow {
        id: context.engine.ids.make(Kind::Notice),
        kind: "refund".to_owned(),
        detail: Some(serde_json::to_string(&detail).map_err(Fail::broken)?),
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
