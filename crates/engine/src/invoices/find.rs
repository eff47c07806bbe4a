//! Finding an invoice by its id, to read it or to change it.

use till_core::error::Refusal;
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::{Queries, Tx};

use crate::base::Context;
use crate::base::fail::{Fail, missing, missing_or_in_mode};
use crate::settlement::{self, LockedInvoice};

/// An id of the caller's other mode is missing too, but the answer says where it is.
pub async fn missing_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Refusal, Fail> {
    if !till_core::id::is(IdKind::Invoice, id) {
        return Ok(missing("invoice", id));
    }
    let found = till_store::invoices::find(q, &scope.in_other_mode(), id).await?;
    Ok(missing_or_in_mode("invoice", id, scope, found))
}

pub async fn find(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<InvoiceRow, Fail> {
    if till_core::id::is(IdKind::Invoice, id)
        && let Some(row) = till_store::invoices::find(q, scope, id).await?
    {
        return Ok(row);
    }
    Err(missing_invoice(q, scope, id).await?.into())
}

pub async fn find_locked(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
) -> Result<LockedInvoice, Fail> {
    if till_core::id::is(IdKind::Invoice, id)
        && let Some(held) = settlement::hold(tx, &context.scope, id).await?
    {
        return Ok(held);
    }
    Err(missing_invoice(tx, &context.scope, id).await?.into())
}
