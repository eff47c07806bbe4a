//! A customer's prepaid credit, locked for one change: the payments that it is in, with their invoices, and what is
//! reserved of them. Everything is worked out in memory and written at the end, so that credit that is returned and
//! reserved again does not move in the books.

use till_core::asset::Registry;
use till_core::credit::{self, Claim, CreditSource, Drawn, FoundCredit, Value};
use till_core::id::IdKind;
use till_core::money::{Currency, Units};
use till_core::payment::PaymentStatus;
use till_core::scope::Scope;
use till_store::credits::CreditRow;
use till_store::payments::PaymentRow;
use till_store::subscriptions::{ChargeRow, SubscriptionRow};
use till_store::{Queries, Tx};

use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{Change, LockedInvoice, Tracked, settle_all};

#[derive(Default)]
pub(super) struct Purse {
    held: Vec<LockedInvoice>,
    /// The credit entries reserved for the charge under way.
    aside: Vec<Tracked<CreditRow>>,
    /// New entries that have paid for their period, and entries that were returned: both are written at the end.
    used: Vec<CreditRow>,
    returned: Vec<CreditRow>,
    /// If there is a limit, how much may be taken of each payment: the rest is for others.
    only: Option<Vec<(String, Units)>>,
}

/// The invoices of top-ups that a charge of this customer could draw on, and of those that the charge under way drew
/// on.
pub(super) async fn top_ups(
    q: &mut impl Queries,
    scope: &Scope,
    customer: &str,
    seen: Option<&SubscriptionRow>,
) -> Result<Vec<String>, Fail> {
    let payments = till_store::payments::of_top_ups(q, scope, customer).await?;
    let mut ids: Vec<String> = payments
        .into_iter()
        .filter(|payment| !payment.position.prepaid_credit.is_zero())
        .map(|payment| payment.invoice)
        .collect();
    if let Some(seen) = seen {
        let aside = set_aside(q, scope, seen).await?;
        ids.extend(aside.into_iter().map(|entry| entry.top_up));
    }
    Ok(ids)
}

async fn set_aside(
    q: &mut impl Queries,
    scope: &Scope,
    row: &SubscriptionRow,
) -> Result<Vec<CreditRow>, Fail> {
    match row.charge {
        Some(charge) => Ok(till_store::credits::of_charge(q, scope, &row.id, charge).await?),
        None => Ok(Vec::new()),
    }
}

fn returned(entry: CreditRow, at: i64) -> CreditRow {
    CreditRow {
        returned_at: Some(at),
        ..entry
    }
}

fn not_held(payment: &str) -> Fail {
    Fail::broken(format!("the credit of {payment} is not held"))
}

impl Purse {
    /// Opens the purse. The caller has locked these top-ups, and then the subscription; if credit of another was
    /// reserved meanwhile, the unit of work is run again.
    pub(super) async fn open(
        tx: &mut Tx,
        scope: &Scope,
        held: Vec<LockedInvoice>,
        row: Option<&SubscriptionRow>,
    ) -> Result<Purse, Fail> {
        let aside = match row {
            Some(row) => set_aside(tx, scope, row).await?,
            None => Vec::new(),
        };
        let is_held = |entry: &CreditRow| held.iter().any(|top_up| top_up.id() == entry.top_up);
        // Somebody set it aside between our look and our lock.
        if !aside.iter().all(is_held) {
            return Err(Fail::Again);
        }
        Ok(Purse {
            held,
            aside: aside.into_iter().map(Tracked::known).collect(),
            ..Purse::default()
        })
    }

    fn payment(&mut self, id: &str) -> Result<&mut PaymentRow, Fail> {
        let payments = self.held.iter_mut().flat_map(|held| &mut held.payments);
        let found = payments.map(|payment| &mut payment.is);
        found
            .into_iter()
            .find(|payment| payment.id == id)
            .ok_or_else(|| not_held(id))
    }

    /// Returns all that is reserved for the charge under way to the customer.
    pub(super) fn give_back(&mut self, at: i64) -> Result<(), Fail> {
        for entry in std::mem::take(&mut self.aside) {
            self.put_in(&entry.is)?;
            if !entry.is_new() {
                self.returned.push(returned(entry.is, at));
            }
        }
        Ok(())
    }

    /// Returns a stored credit entry to the customer, whichever charge reserved it.
    pub(super) fn take_back(&mut self, entry: CreditRow, at: i64) -> Result<(), Fail> {
        self.aside.retain(|aside| aside.is.id != entry.id);
        self.put_in(&entry)?;
        self.returned.push(returned(entry, at));
        Ok(())
    }

    /// Limits how much may be taken of each payment, counting what is reserved already.
    pub(super) fn take_only(&mut self, of: Vec<(String, Units)>) {
        self.only = Some(of);
    }

    /// Whether it is limited what may be taken.
    pub(super) fn takes_only_some(&self) -> bool {
        self.only.is_some()
    }

    /// Whether used credit of a payment stays used, because the payment is held by now or was rejected. That is
    /// assessed as if nothing were used, for a payment that is used up does not show it.
    pub(super) fn stays_taken(&self, at: i64, id: &str) -> Result<bool, Fail> {
        let is_in = |held: &&LockedInvoice| held.payments.iter().any(|it| it.is.id == id);
        let held = self.held.iter().find(is_in);
        let mut unused = held.cloned().ok_or_else(|| not_held(id))?;
        for payment in &mut unused.payments {
            payment.is.credit_used = Units::ZERO;
        }
        let status = unused.assess(at).part(id).map(|part| part.status);
        let is_kept = [PaymentStatus::Held, PaymentStatus::Refundable];
        Ok(status.is_some_and(|status| is_kept.contains(&status)))
    }

    /// Puts an entry's credit back into the purse without writing anything; `replace` writes who gets it.
    pub(super) fn lay_open(&mut self, entry: &CreditRow) -> Result<(), Fail> {
        self.put_in(entry)
    }

    /// Gives an attempt these amounts in place of its entries that were laid open. Entries of the same amount stay as
    /// they are; the others are returned. If `is_first`, the attempt is as if it had been made with these amounts, and not with
    /// those that they replace.
    pub(super) fn replace(
        &mut self,
        context: &Context<'_>,
        charge: &ChargeRow,
        entries: Vec<CreditRow>,
        from: &[(String, Units)],
        is_first: bool,
    ) -> Result<(), Fail> {
        let mut new = from.to_vec();
        for entry in entries {
            let is_same = |(payment, units): &(String, Units)| {
                *payment == entry.payment && *units == entry.units
            };
            match new.iter().position(is_same) {
                Some(at) => {
                    new.remove(at);
                    let payment = self.payment(&entry.payment)?;
                    payment.credit_used = payment.credit_used.plus(entry.units);
                }
                None => {
                    let mut entry = returned(entry, context.now);
                    entry.is_first &= !is_first;
                    self.returned.push(entry);
                }
            }
        }
        self.put_aside(context, charge, &new, is_first)?;
        self.use_up(charge.number);
        Ok(())
    }

    fn put_in(&mut self, entry: &CreditRow) -> Result<(), Fail> {
        let used = &mut self.payment(&entry.payment)?.credit_used;
        let left = used.0.checked_sub(entry.units.0);
        *used = Units(left.ok_or_else(|| Fail::broken("credit is returned twice"))?);
        Ok(())
    }

    /// What charging a price would draw. Nothing is reserved yet.
    pub(super) fn draw(&self, at: i64, price_minor: u64, currency: Currency) -> Drawn {
        credit::draw(&self.sources(at, currency), price_minor, currency)
    }

    /// How much of a value can be drawn, and from which payments.
    pub(super) fn find(&self, at: i64, value: &Value, currency: Currency) -> FoundCredit {
        credit::find(&self.sources(at, currency), value)
    }

    /// How much of a value could be drawn if these entries were returned before.
    pub(super) fn find_after(
        &self,
        at: i64,
        value: &Value,
        currency: Currency,
        returned: &[CreditRow],
    ) -> Result<Value, Fail> {
        let mut after = Purse {
            held: self.held.clone(),
            ..Purse::default()
        };
        for entry in returned {
            after.put_in(entry)?;
        }
        Ok(after.find(at, value, currency).value)
    }

    /// Shares what is left among these claims: what each of them gets.
    pub(super) fn share(&self, at: i64, claims: &[Claim], currency: Currency) -> Vec<FoundCredit> {
        credit::share(&self.sources(at, currency), claims)
    }

    /// Whether the customer has something left in the currency.
    pub(super) fn has_any(&self, at: i64, currency: Currency) -> bool {
        !self.sources(at, currency).is_empty()
    }

    fn allowed(&self, payment: &str, units: Units) -> Units {
        let Some(only) = &self.only else {
            return units;
        };
        let sum = |sum: Units, units: Units| sum.plus(units);
        let allotted = only.iter().filter(|(id, _)| id == payment);
        let allotted = allotted.map(|(_, units)| *units).fold(Units::ZERO, sum);
        let aside = self.aside.iter().map(|entry| &entry.is);
        let taken = aside.chain(&self.used).filter(|it| it.payment == payment);
        let taken = taken.map(|entry| entry.units).fold(Units::ZERO, sum);
        let left = allotted.0.saturating_sub(taken.0);
        Units(units.0.min(left))
    }

    /// The payments that have credit left in a currency, first seen first: that order stays when one leaves the chain
    /// and comes back.
    fn sources(&self, at: i64, currency: Currency) -> Vec<CreditSource<'_>> {
        let mut left: Vec<(&PaymentRow, Units, u32)> = Vec::new();
        for held in &self.held {
            let assessed = held.assess(at);
            for payment in &held.payments {
                let asset = Registry::builtin().asset(&payment.is.asset);
                let at_par = asset.filter(|it| it.currency.as_deref() == Some(currency.code()));
                let part = assessed.part(&payment.is.id);
                if let (Some(asset), Some(part)) = (at_par, part) {
                    left.push((&payment.is, part.position.prepaid_credit, asset.decimals));
                }
            }
        }
        left.sort_by(|(a, ..), (b, ..)| (a.first_seen_at, &a.id).cmp(&(b.first_seen_at, &b.id)));
        left.into_iter()
            .map(|(payment, units, decimals)| CreditSource {
                payment: &payment.id,
                seen_at: payment.first_seen_at,
                units: self.allowed(&payment.id, units),
                decimals,
            })
            .filter(|source| !source.units.is_zero())
            .collect()
    }

    /// Reserves prepaid credit for a charge that was made just now.
    pub(super) fn set_aside(
        &mut self,
        context: &Context<'_>,
        charge: &ChargeRow,
        from: &[(String, Units)],
    ) -> Result<(), Fail> {
        self.put_aside(context, charge, from, true)
    }

    /// Reserves prepaid credit for a charge that had some before.
    pub(super) fn set_aside_again(
        &mut self,
        context: &Context<'_>,
        charge: &ChargeRow,
        from: &[(String, Units)],
    ) -> Result<(), Fail> {
        self.put_aside(context, charge, from, false)
    }

    fn put_aside(
        &mut self,
        context: &Context<'_>,
        charge: &ChargeRow,
        from: &[(String, Units)],
        is_first: bool,
    ) -> Result<(), Fail> {
        for (id, units) in from {
            let payment = self.payment(id)?;
            payment.credit_used = payment.credit_used.plus(*units);
            if payment.credit_used > payment.units {
                return Err(Fail::broken(format!("more of {id} is used than there is")));
            }
            let entry = CreditRow {
                scope: context.scope.clone(),
                id: context.engine.ids.make(IdKind::CreditEntry),
                payment: id.clone(),
                top_up: payment.invoice.clone(),
                subscription: charge.subscription.clone(),
                charge: charge.number,
                asset: payment.asset.clone(),
                units: *units,
                is_first,
                created_at: context.now,
                returned_at: None,
            };
            self.aside.push(Tracked::new(entry));
        }
        Ok(())
    }

    /// Counts what is reserved for an attempt as used: it has paid for its period.
    pub(super) fn use_up(&mut self, charge: i64) {
        let aside = std::mem::take(&mut self.aside).into_iter();
        let (of_it, others) = aside.partition(|entry| entry.is.charge == charge);
        self.aside = others;
        self.write_down(of_it);
    }

    fn write_down(&mut self, entries: Vec<Tracked<CreditRow>>) {
        let new = entries.into_iter().filter(Tracked::is_new);
        self.used.extend(new.map(|entry| entry.is));
    }

    /// Writes all changes: settles the top-ups whose credit moved, and stores entries that are new or were returned.
    pub(super) async fn close(mut self, tx: &mut Tx, context: &Context<'_>) -> Result<(), Fail> {
        // Reserved entries are stored like used ones: the state of their charge says which they are.
        let aside = std::mem::take(&mut self.aside);
        self.write_down(aside);
        let changed = self
            .held
            .into_iter()
            .filter(|held| held.payments.iter().any(|payment| payment.is_changed()));
        let changes: Vec<Change<'_>> = changed
            .map(|held| Change {
                context,
                held,
                extra: None,
            })
            .collect();
        if !changes.is_empty() {
            settle_all(tx, changes).await?;
        }
        let writes = [
            till_store::credits::rows(&self.used),
            till_store::credits::returns(&self.returned)?,
        ];
        Ok(tx.write_all(&writes).await?)
    }
}
