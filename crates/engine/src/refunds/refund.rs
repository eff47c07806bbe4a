//! A refund with its locked invoice: found, shown, and taken back.

use till_core::id::IdKind;
use till_core::money::Units;
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_store::payments::PaymentRow;
use till_store::refunds::RefundRow;
use till_store::{Queries, Tx};

use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::base::{Context, Engine};
use crate::settlement::{self, LockedInvoice, Tracked};
use crate::view::RefundView;

pub(crate) fn token_purpose(scope: &Scope, refund: &str) -> String {
    format!(
        "claim_token/{}/{}/{refund}",
        scope.account,
        scope.mode.as_str()
    )
}

/// As its merchant sees it, with the token that was sealed when it was made.
pub(super) fn render(engine: &Engine, row: &RefundRow) -> Result<RefundView, Fail> {
    let purpose = token_purpose(&row.scope, &row.id);
    let opened = engine.vault.open(&purpose, &row.token_sealed);
    let token = String::from_utf8(opened.map_err(Fail::broken)?).map_err(Fail::broken)?;
    Ok(RefundView::of(
        row,
        &engine.config.checkout_url,
        Some(token),
    ))
}

pub(super) async fn find(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<RefundRow, Fail> {
    if !till_core::id::is(IdKind::Refund, id) {
        return Err(missing("refund", id).into());
    }
    if let Some(row) = till_store::refunds::find(q, scope, id).await? {
        return Ok(row);
    }
    let found = till_store::refunds::find(q, &scope.in_other_mode(), id).await?;
    Err(missing_or_in_mode("refund", id, scope, found).into())
}

/// A refund's invoice, locked until the unit of work ends, and the refund's place among the invoice's refunds.
pub(super) async fn find_locked(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
) -> Result<(LockedInvoice, usize), Fail> {
    let invoice = find(tx, &context.scope, id).await?.invoice;
    let held = settlement::hold(tx, &context.scope, &invoice).await?;
    let mut held = held.ok_or_else(|| Fail::broken("a refund without its invoice"))?;
    let refunds = &mut held.refunds;
    let at = match refunds.binary_search_by(|refund| refund.is.id.as_str().cmp(id)) {
        Ok(at) => at,
        Err(at) => {
            // Read again: whoever held the invoice before us may have changed it.
            let row = find(tx, &context.scope, id).await?;
            refunds.insert(at, Tracked::known(row));
            at
        }
    };
    Ok((held, at))
}

/// Writes what follows from a refund's changed facts, and answers with the refund as it is then.
pub(super) async fn settle(
    tx: &mut Tx,
    context: &Context<'_>,
    held: LockedInvoice,
    id: &str,
) -> Result<RefundRow, Fail> {
    settlement::settle(tx, context, held, None).await?;
    find(tx, &context.scope, id).await
}

/// The timer of a refund's link: one that nobody claimed stops counting.
pub async fn lapse(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<(), Fail> {
    let (mut held, at) = find_locked(tx, context, id).await?;
    let (row, now) = (held.refunds[at].is.clone(), held.moment(context));
    if !has_lapsed(&row, now) {
        return Ok(());
    }
    give_back(&mut held, &row)?;
    held.refunds[at].is.lapsed_at = Some(now);
    settlement::settle(tx, context, held, None).await.map(drop)
}

/// Whether its link has expired, and nobody has noted it yet.
pub(super) fn has_lapsed(row: &RefundRow, now: i64) -> bool {
    row.status == RefundStatus::Unclaimed && row.counts() && now >= row.expires_at
}

/// The payments get back what the refund had been promised of them.
pub(super) fn give_back(held: &mut LockedInvoice, row: &RefundRow) -> Result<(), Fail> {
    change(held, row, &row.sources, |payment, units| {
        payment.refunds_due = payment.refunds_due.minus(units)?;
        Some(())
    })?;
    change(held, row, &row.withdrawn, |payment, units| {
        payment.withdrawn = payment.withdrawn.minus(units)?;
        Some(())
    })
}

/// Changes what a refund has taken of each of its invoice's payments.
pub(super) fn change(
    held: &mut LockedInvoice,
    row: &RefundRow,
    taken: &[(String, Units)],
    change: impl Fn(&mut PaymentRow, Units) -> Option<()>,
) -> Result<(), Fail> {
    for (id, units) in taken {
        let payment = held
            .payments
            .iter_mut()
            .find(|payment| payment.is.id == *id);
        let changed = payment.and_then(|payment| change(&mut payment.is, *units));
        changed
            .ok_or_else(|| Fail::broken(format!("{} does not add up with its payments", row.id)))?;
    }
    Ok(())
}
