//! A payment link's unit follows the invoice that holds it.

use till_core::link::Unit;
use till_store::Tx;
use till_store::invoices::InvoiceRow;

use crate::base::Context;
use crate::base::fail::Fail;

/// Paid for, given back, or held again after a reorganisation.
pub async fn follow(tx: &mut Tx, context: &Context<'_>, row: &mut InvoiceRow) -> Result<(), Fail> {
    let Some(link) = row.payment_link.clone() else {
        return Ok(());
    };
    let was = row
        .link_unit
        .as_deref()
        .and_then(Unit::parse)
        .unwrap_or(Unit::Reserved);
    let now = Unit::of(row.status()?);
    if was == now {
        return Ok(());
    }
    let (used, reserved) = Unit::moves(was, now);
    till_store::links::move_unit(tx, &context.scope, &link, used, reserved).await?;
    row.link_unit = Some(now.as_str().to_owned());
    Ok(())
}
