//! An invoice and its payments, read and locked for change.

use till_core::invoice::{Assessment, Facts, Terms, assess};
use till_core::payment::{Payment, PaymentStatus};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;

use crate::base::fail::Fail;

/// An invoice and its payments, locked for change.
pub struct Held {
    pub row: InvoiceRow,
    pub terms: Terms,
    pub payments: Vec<HeldPayment>,
}

pub struct HeldPayment {
    pub row: PaymentRow,
    pub fact: Payment,
    /// The status before this change; none for a payment that is new.
    pub was: Option<PaymentStatus>,
    /// The row as the database has it; what differs from it is written.
    pub stored: Option<PaymentRow>,
}

impl HeldPayment {
    pub fn known(row: PaymentRow) -> Result<HeldPayment, Fail> {
        Ok(HeldPayment {
            fact: row.fact()?,
            was: Some(row.status()?),
            stored: Some(row.clone()),
            row,
        })
    }
}

pub async fn hold(tx: &mut Tx, scope: &Scope, invoice: &str) -> Result<Option<Held>, Fail> {
    let Some(row) = till_store::invoices::lock(tx, scope, invoice).await? else {
        return Ok(None);
    };
    let terms = row.terms()?;
    let rows = till_store::payments::of_invoice(tx, scope, invoice).await?;
    let payments = rows
        .into_iter()
        .map(HeldPayment::known)
        .collect::<Result<_, _>>()?;
    Ok(Some(Held {
        row,
        terms,
        payments,
    }))
}

impl Held {
    pub fn assess(&self, now: i64) -> Assessment {
        let facts = self.facts();
        assess(
            &Facts {
                terms: &self.terms,
                payments: &facts,
                cancelled_at: self.row.cancelled_at,
            },
            now,
        )
    }

    pub(super) fn facts(&self) -> Vec<Payment> {
        self.payments
            .iter()
            .map(|payment| payment.fact.clone())
            .collect()
    }
}
