//! Invoices, their payments and their refunds, read and locked for change.

use std::collections::{HashMap, HashSet};

use till_core::invoice::{Assessment, Facts, Terms, assess, withdraw};
use till_core::money::Units;
use till_core::payment::{Payment, TakenExcess, Verdict};
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;
use till_store::refunds::RefundRow;
use till_store::{Queries, Tx};

use crate::base::Context;
use crate::base::fail::Fail;

/// A record as it changes, step by step.
#[derive(Clone, Debug)]
pub struct Tracked<T> {
    /// What the database has; none for a new one.
    stored: Option<T>,
    /// What it was before this step; none for one that is new in it.
    pub was: Option<T>,
    pub is: T,
}

impl<T: Clone + PartialEq> Tracked<T> {
    pub fn known(record: T) -> Tracked<T> {
        Tracked {
            stored: Some(record.clone()),
            was: Some(record.clone()),
            is: record,
        }
    }

    pub fn new(record: T) -> Tracked<T> {
        Tracked {
            stored: None,
            was: None,
            is: record,
        }
    }

    pub fn stored(&self) -> Option<&T> {
        self.stored.as_ref()
    }

    pub fn is_new(&self) -> bool {
        self.stored.is_none()
    }

    pub fn is_changed(&self) -> bool {
        self.stored.as_ref() != Some(&self.is)
    }

    fn next_step(&mut self) {
        self.was = Some(self.is.clone());
    }
}

/// An invoice, its payments and its refunds, locked until the unit of work ends.
#[derive(Clone, Debug)]
pub struct LockedInvoice {
    pub invoice: Tracked<InvoiceRow>,
    pub payments: Vec<Tracked<PaymentRow>>,
    /// In the order in which they were made. Read only where something was promised and not sent, or counts towards the price
    /// no more: nothing that happens to an invoice changes its other refunds.
    pub refunds: Vec<Tracked<RefundRow>>,
    /// It is of a subscription that has ended, or is about to.
    pub is_of_ended: bool,
}

/// What a refund takes out of what counts towards the price.
pub struct Withdrawn {
    /// By payment.
    pub parts: Vec<(String, Units)>,
    /// The last payment that was known, where the price was paid: what is taken then was beyond it.
    pub excess_until: Option<String>,
}

/// Which of the subscriptions of these invoices have ended, and when.
pub async fn ended(
    q: &mut impl Queries,
    rows: &[InvoiceRow],
) -> Result<HashMap<String, i64>, Fail> {
    let of = |row: &'_ InvoiceRow| Some((row.scope.clone(), row.subscription.clone()?));
    let ids: HashSet<(Scope, String)> = rows.iter().filter_map(of).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<(&Scope, &str)> = ids.iter().map(|(scope, id)| (scope, &**id)).collect();
    let found = till_store::subscriptions::find_many(q, &ids).await?;
    let ended = found
        .into_iter()
        .filter_map(|it| Some((it.id, it.cancelled_at?)));
    Ok(ended.collect())
}

pub async fn hold(
    tx: &mut Tx,
    scope: &Scope,
    invoice: &str,
) -> Result<Option<LockedInvoice>, Fail> {
    Ok(hold_many(tx, &[(scope, invoice)]).await?.pop())
}

/// Those of these invoices that exist, locked in the order of their ids.
pub async fn hold_many(
    tx: &mut Tx,
    invoices: &[(&Scope, &str)],
) -> Result<Vec<LockedInvoice>, Fail> {
    let rows = till_store::invoices::lock_many(tx, invoices).await?;
    with_payments(tx, rows).await
}

/// The same, without those that somebody else holds at this moment.
pub async fn hold_free(
    tx: &mut Tx,
    invoices: &[(&Scope, &str)],
) -> Result<Vec<LockedInvoice>, Fail> {
    let rows = till_store::invoices::lock_free(tx, invoices).await?;
    with_payments(tx, rows).await
}

/// These invoices with their payments and refunds. Whoever changes them holds them already.
pub async fn with_payments(tx: &mut Tx, rows: Vec<InvoiceRow>) -> Result<Vec<LockedInvoice>, Fail> {
    let found: Vec<(&Scope, &str)> = rows.iter().map(|row| (&row.scope, &*row.id)).collect();
    let mut payments: HashMap<String, Vec<Tracked<PaymentRow>>> = HashMap::new();
    for payment in till_store::payments::of_invoices(tx, &found).await? {
        let of_invoice = payments.entry(payment.invoice.clone()).or_default();
        of_invoice.push(Tracked::known(payment));
    }
    let mut refunds = open_refunds(tx, &found, &payments).await?;
    let ended = ended(tx, &rows).await?;
    let ended_at = |row: &InvoiceRow| ended.get(row.subscription.as_ref()?).copied();
    let held = |row: InvoiceRow| {
        let ended_at = ended_at(&row);
        let mut held = LockedInvoice {
            payments: payments.remove(&row.id).unwrap_or_default(),
            refunds: refunds.remove(&row.id).unwrap_or_default(),
            is_of_ended: ended_at.is_some(),
            invoice: Tracked::known(row),
        };
        // Whatever comes back to it: nobody is charged any more, and what is sent is the merchant's to refund.
        if let Some(at) = ended_at.filter(|_| !held.invoice.is.status.is_paid()) {
            held.take_until(at);
        }
        held
    };
    Ok(rows.into_iter().map(held).collect())
}

/// The refunds of those invoices of which something is promised, or was taken out of the price. Most have none, and cost nothing
/// here.
async fn open_refunds(
    tx: &mut Tx,
    found: &[(&Scope, &str)],
    payments: &HashMap<String, Vec<Tracked<PaymentRow>>>,
) -> Result<HashMap<String, Vec<Tracked<RefundRow>>>, Fail> {
    let is_taken_from = |invoice: &str| {
        let mut payments = payments.get(invoice).into_iter().flatten();
        payments.any(|it| !it.is.refunds_due.is_zero() || !it.is.withdrawn.is_zero())
    };
    let refunded = found.iter().filter(|(_, invoice)| is_taken_from(invoice));
    let refunded: Vec<(&Scope, &str)> = refunded.copied().collect();
    let mut refunds: HashMap<String, Vec<Tracked<RefundRow>>> = HashMap::new();
    if refunded.is_empty() {
        return Ok(refunds);
    }
    for refund in till_store::refunds::of_invoices(tx, &refunded).await? {
        let of_invoice = refunds.entry(refund.invoice.clone()).or_default();
        of_invoice.push(Tracked::known(refund));
    }
    Ok(refunds)
}

impl LockedInvoice {
    /// What is so now is what the next step begins with.
    pub(super) fn next_step(&mut self) {
        self.invoice.next_step();
        for payment in &mut self.payments {
            payment.next_step();
        }
        for refund in &mut self.refunds {
            refund.next_step();
        }
    }

    pub fn id(&self) -> &str {
        &self.invoice.is.id
    }

    /// The time at which a change of it happens: now that it is held, and never before what is already known of
    /// it, which a server whose clock runs ahead may have written.
    pub fn moment(&self, context: &Context<'_>) -> i64 {
        let was = self.invoice.was.as_ref();
        let known = was.map(|was| was.closed_at.unwrap_or(was.created_at));
        let of_payments = self.payments.iter().filter_map(|payment| {
            let was = payment.was.as_ref()?;
            Some(was.first_seen_at)
                .max(was.credited_at)
                .max(was.gone_at)
        });
        let known = known.max(of_payments.max());
        context.by_now().max(known.unwrap_or(context.now))
    }

    /// Whatever arrives after this moment counts no more.
    pub fn stop_taking(&mut self, context: &Context<'_>) {
        self.take_until(self.moment(context));
    }

    fn take_until(&mut self, end: i64) {
        let row = &mut self.invoice.is;
        row.takes_until = Some(row.takes_until.map_or(end, |known| known.min(end)));
    }

    pub fn terms(&self) -> Terms {
        self.invoice.is.terms()
    }

    pub fn facts(&self) -> Vec<Payment> {
        let fact = |payment: &Tracked<PaymentRow>| Payment {
            excess_taken: self.excess_taken(&payment.is.id),
            ..payment.is.fact()
        };
        self.payments.iter().map(fact).collect()
    }

    /// What refunds that count took of a payment out of what was beyond the price.
    fn excess_taken(&self, payment: &str) -> Vec<TakenExcess> {
        let refunds = self.refunds.iter().map(|refund| &refund.is);
        let counting = refunds.filter(|row| row.counts());
        let taken = counting.flat_map(|row| {
            let of_payment = row.withdrawn.iter().filter(|(id, _)| id == payment);
            let last = row.excess_until.iter();
            last.zip(of_payment).map(|(last, (_, units))| TakenExcess {
                units: *units,
                last_payment: last.clone(),
            })
        });
        taken.collect()
    }

    /// Writes verdicts down with the payments they are about.
    pub fn give(&mut self, verdicts: &[(String, Verdict)]) {
        let verdicts: HashMap<&str, Verdict> = verdicts
            .iter()
            .map(|(payment, verdict)| (payment.as_str(), *verdict))
            .collect();
        for payment in &mut self.payments {
            let given = verdicts.get(payment.is.id.as_str());
            payment.is.verdict = given.copied().or(payment.is.verdict);
        }
    }

    pub fn assess(&self, now: i64) -> Assessment {
        let facts = Facts {
            terms: &self.terms(),
            payments: &self.facts(),
            cancelled_at: self.invoice.is.cancelled_at,
        };
        assess(&facts, now)
    }

    /// What of a refund out of these payments counts towards the price no more.
    pub fn withdraw(&self, now: i64, drawn: &[(String, Units)]) -> Withdrawn {
        let facts = Facts {
            terms: &self.terms(),
            payments: &self.facts(),
            cancelled_at: self.invoice.is.cancelled_at,
        };
        let before = assess(&facts, now);
        let mut parts = withdraw(&facts, &before, drawn);
        parts.retain(|(_, units)| !units.is_zero());
        let last = self.payments.iter().map(|payment| &payment.is.id).max();
        let is_excess = before.is_covered && !parts.is_empty();
        Withdrawn {
            parts,
            excess_until: last.filter(|_| is_excess).cloned(),
        }
    }
}
