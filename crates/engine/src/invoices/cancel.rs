//! Cancelling.

use till_core::error::{Code, Refusal};
use till_core::invoice::Status;
use till_store::Tx;
use till_store::invoices::InvoiceRow;

use super::find::find_locked;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement;

/// Only an invoice nothing was paid to can be cancelled; cancelling a cancelled one changes nothing.
pub async fn cancel(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<InvoiceRow, Fail> {
    let mut held = find_locked(tx, context, id).await?;
    if held.invoice.is.status == Status::Cancelled {
        return Ok(held.invoice.is);
    }
    let now = held.moment(context);
    let status = held.assess(now).status;
    if status != Status::AwaitingPayment {
        let message = format!(
            "The invoice is {} and cannot be cancelled.",
            status.as_str()
        );
        return Err(Refusal::new(Code::InvoiceNotCancellable, message).into());
    }
    held.invoice.is.cancelled_at = Some(now);
    settlement::settle(tx, context, held, None).await
}
