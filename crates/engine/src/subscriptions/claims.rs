//! Collects all that a customer's prepaid credit pays or could pay for, over all subscriptions: the periods that it has
//! paid, those that are owed or due, and the invoices that it lowers.

use std::collections::BTreeMap;

use till_core::asset::Registry;
use till_core::credit::{self, PeriodClaim, Takes, Value};
use till_core::invoice::Status as InvoiceStatus;
use till_core::money::{Currency, Units};
use till_core::subscription::{ChargeState, LEAD_MS, NextStep, next};
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};

use super::charge::waiting;
use super::due::{asks_for_all, lowered, worth};
use super::hold::plan_of;
use super::looks::Moves;
use crate::base::Context;
use crate::base::fail::Fail;

/// What a claim is for, which decides what becomes of it when its share of the credit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Credit alone paid the period: with less credit it is unpaid, and charged anew.
    PaidByCredit,
    /// An open invoice that nobody has paid to. With more credit it asks for less, unless what was paid to it has left
    /// the chain and may come back. Otherwise it makes room for another.
    Unpaid,
    /// An invoice that somebody has paid to: it asks for what credit leaves of the price. So does one that asks for what was sent back
    /// of what has left the chain.
    PaidTo,
    /// No invoice that could be paid: the period is owed or due, or its attempt is closed and takes nothing.
    Unmade,
    /// Its subscription has ended: nobody is asked for more, and the books show who bears what is gone.
    Ended,
}

/// One period's claim to credit: what it needs, and what it has.
pub(super) struct Claim {
    pub(super) subscription: String,
    pub(super) period: i64,
    pub(super) charge: Option<ChargeRow>,
    pub(super) kind: Kind,
    /// Something that was paid to its invoice has left the chain, and may come back.
    may_be_paid_again: bool,
    /// All that was paid to its invoice was refunded, or left the chain after it was: nobody has paid anything of the price.
    pub(super) is_refunded: bool,
    pub(super) entries: Vec<CreditRow>,
    /// The credit that is its own, returned or not: what credit alone paid the period with when it was first asked for;
    /// or what its attempt was made with, if that was paid to or has ended. As long as nothing has left the chain, what it has.
    own: Vec<CreditRow>,
    /// The id of the first entry of `own`, which decides who comes first. If the period has again what had paid it at
    /// first, it is the id from then: the order must not follow from who was given the same again last.
    own_since: Option<String>,
    /// It keeps the credit that it has, to which nobody has a better right.
    keeps: bool,
    pub(super) wanted: Value,
    /// What it keeps in any case: credit of payments that are held or were rejected.
    pub(super) fixed: Value,
    /// When its period was first asked for. If it was not yet, the claim comes last.
    asked: Option<FirstAsked>,
    pub(super) currency: Currency,
    /// How it takes credit, if credit pays its period in full or not at all.
    terms: Option<PeriodClaim>,
    /// When its subscription ended. What the customer pays later is for something else.
    ended_at: Option<i64>,
}

/// When a period was first asked for. Among those of one moment the ids decide that were made then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FirstAsked {
    at: i64,
    id: Option<String>,
}

/// Returns when the period was first charged. `made` holds all attempts at it, oldest first.
async fn first_asked(tx: &mut Tx, made: &[&ChargeRow]) -> Result<Option<FirstAsked>, Fail> {
    let Some(first) = made.first() else {
        return Ok(None);
    };
    let (scope, id) = (&first.scope, &first.subscription);
    let id = match &first.invoice {
        Some(invoice) => Some(invoice.clone()),
        None => {
            let own = credits::first_of_charge(tx, scope, id, first.number).await?;
            own.into_iter().next().map(|own| own.id)
        }
    };
    let body = |id: String| id.rsplit('_').next().map(str::to_owned);
    let (at, id) = (first.created_at, id.and_then(body));
    Ok(Some(FirstAsked { at, id }))
}

/// What credit alone paid a period with when it was first asked for. Credit that came to a period later is not its own:
/// whether it came depends on when somebody looked. `made` holds all attempts at the period, oldest first.
async fn own(tx: &mut Tx, made: &[&ChargeRow]) -> Result<Vec<CreditRow>, Fail> {
    let first = made.first().filter(|first| first.invoice.is_none());
    let Some(first) = first else {
        return Ok(Vec::new());
    };
    let (scope, id) = (&first.scope, &first.subscription);
    Ok(credits::first_of_charge(tx, scope, id, first.number).await?)
}

/// Whether these are the same units of the same payments.
fn is_same(some: &[CreditRow], others: &[CreditRow]) -> bool {
    let units = |of: &[CreditRow]| {
        let mut sums: BTreeMap<String, Units> = BTreeMap::new();
        for entry in of {
            let sum = sums.entry(entry.payment.clone()).or_default();
            *sum = sum.plus(entry.units);
        }
        sums
    };
    units(some) == units(others)
}

impl Claim {
    /// Keeps an entry out of the sharing: the claim has it in any case, and needs that much less.
    pub(super) fn keep(&mut self, entry: CreditRow) {
        let fixed = worth(&[entry]);
        self.wanted = self.wanted.less(&fixed);
        self.fixed = self.fixed.plus(&fixed);
    }

    pub(super) fn need(&self) -> credit::Claim {
        let own = self.own.iter();
        let fixed = self.fixed.clone();
        let terms = self.terms.clone();
        credit::Claim {
            wanted: self.wanted.clone(),
            own: own
                .map(|entry| (entry.payment.clone(), entry.units))
                .collect(),
            own_since: self.own_since.clone(),
            keeps: self.keeps,
            ended_at: self.ended_at,
            period: terms.map(|terms| PeriodClaim { fixed, ..terms }),
        }
    }

    /// Whether credit worth `value` pays the whole period.
    pub(super) fn is_paid_by(&self, value: &Value) -> bool {
        let fixed = self.fixed.clone();
        let terms = self.terms.clone();
        terms.is_some_and(|terms| PeriodClaim { fixed, ..terms }.is_paid_by(value))
    }

    /// Whether credit worth `value` lowers the open invoice further without paying it in full.
    pub(super) fn asks_less(&self, value: &Value) -> bool {
        let is_asked = self.kind == Kind::Unpaid && self.terms.is_some();
        is_asked
            && !self.may_be_paid_again
            && *value > worth(&self.entries)
            && !self.is_paid_by(value)
    }

    /// Whether somebody has paid a part of its invoice, and credit worth `value` is not enough for the rest.
    pub(super) fn waits_with(&self, value: &Value) -> bool {
        let charge = self.charge.as_ref();
        let is_open = charge.is_some_and(|charge| charge.state != ChargeState::Paid);
        self.kind == Kind::PaidTo && is_open && *value < self.wanted
    }

    /// Whether its invoice, of which all was refunded, makes room for credit worth `value`, which pays the whole
    /// period.
    pub(super) fn makes_room(&self, value: &Value) -> bool {
        self.is_refunded && *value >= self.wanted && !self.wanted.is_zero()
    }

    /// Has it take its whole price or nothing. Returns whether it would have taken a part.
    pub(super) fn take_no_part(&mut self) -> bool {
        let parts = self.terms.as_mut().filter(|of| of.takes == Takes::Some);
        parts.map(|terms| terms.takes = Takes::All).is_some()
    }

    /// The invoices of the top-ups that it has, or had, credit of.
    pub(super) fn top_ups(&self) -> impl Iterator<Item = &String> {
        let of = self.entries.iter().chain(&self.own);
        of.map(|entry| &entry.top_up)
    }
}

/// A subscription whose claims are collected, with what they depend on.
struct Payer<'p> {
    row: &'p SubscriptionRow,
    plan: &'p PlanRow,
    now: i64,
    tolerance_bps: u32,
    /// Nothing that the customer had paid has left the chain or come back since all credit was last shared out.
    is_undisturbed: bool,
}

impl Payer<'_> {
    fn is_charging(&self) -> bool {
        self.row.paused_at.is_none() && !self.row.cancel_at_period_end
    }

    fn price(&self) -> Value {
        let plan = self.plan;
        Value::of(Units(plan.amount_minor.into()), plan.currency.decimals())
    }

    /// How a period takes credit. `paid_with` is what paid it once, and is enough if it gets that again.
    fn terms(&self, takes: Takes, paid_with: &[CreditRow]) -> PeriodClaim {
        PeriodClaim {
            subscription: self.row.id.clone(),
            price_minor: self.plan.amount_minor,
            currency: self.plan.currency,
            tolerance_bps: self.tolerance_bps,
            enough: (!paid_with.is_empty()).then(|| worth(paid_with)),
            fixed: Value::zero(),
            takes,
        }
    }

    /// Whether a period that begins at `start` may be charged by now.
    fn is_time_for(&self, start: i64) -> bool {
        start.saturating_sub(LEAD_MS) <= self.now
    }

    /// Whether the next period is to be charged at once. An attempt under way at a later period makes room for that; an
    /// attempt at the next period itself is made already.
    fn is_due(&self, made: &[Claim]) -> bool {
        let row = self.row;
        let charges = || made.iter().filter(|claim| claim.kind != Kind::Unmade);
        let charges = || charges().filter_map(|claim| claim.charge.as_ref());
        let is_later = |charge: &ChargeRow| charge.period > row.next_period;
        let mut facts = row.facts(self.plan.max_attempts);
        if charges().any(|charge| row.charge == Some(charge.number) && is_later(charge)) {
            facts.charge = None;
        }
        let is_charge = |step: NextStep| matches!(step, NextStep::Charge | NextStep::Retry);
        let due = next(&facts, self.now);
        let is_made = charges().any(|charge| charge.period == row.next_period);
        !is_made && due.is_some_and(|(at, step)| at <= self.now && is_charge(step))
    }
}

/// All claims to a customer's credit, in the order in which their periods were first asked for.
pub(super) async fn claims(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
    moves: Moves,
) -> Result<Vec<Claim>, Fail> {
    let scope = &context.scope;
    let mut entries: BTreeMap<(String, i64), Vec<CreditRow>> = BTreeMap::new();
    for entry in credits::of_customer(tx, scope, customer).await? {
        let key = (entry.subscription.clone(), entry.charge);
        entries.entry(key).or_default().push(entry);
    }
    let mut claims = Vec::new();
    for row in subscriptions::all_of(tx, scope, customer).await? {
        let payer = Payer {
            plan: &plan_of(tx, context, &row).await?,
            row: &row,
            now: context.now,
            tolerance_bps: context.merchant.row.underpay_tolerance_bps,
            is_undisturbed: moves.are_shared(),
        };
        let mut numbers = subscriptions::open_charges(tx, scope, &row.id).await?;
        numbers.extend(row.charge);
        let own = entries.keys().filter(|(id, _)| *id == row.id);
        numbers.extend(own.map(|(_, number)| *number));
        numbers.sort_unstable();
        numbers.dedup();
        // As long as nothing has left the chain, years of paid periods are not looked at one by one.
        if moves.all == 0 {
            let paid = subscriptions::paid_charges(tx, scope, &row.id).await?;
            numbers.retain(|number| paid.binary_search(number).is_err());
        }
        let mut made = Vec::with_capacity(numbers.len());
        for number in numbers {
            let of = entries.remove(&(row.id.clone(), number));
            made.push(payer.claim(tx, number, of.unwrap_or_default()).await?);
        }
        let unmade = payer.unmade(tx, context, &made).await?;
        made.extend(unmade);
        claims.extend(made);
    }
    claims.sort_by(|a, b| {
        let number = |claim: &Claim| claim.charge.as_ref().map(|charge| charge.number);
        let of = |claim: &Claim| (claim.period, number(claim));
        let is_new = |claim: &Claim| claim.asked.is_none();
        let asked = is_new(a).cmp(&is_new(b)).then(a.asked.cmp(&b.asked));
        let by_id = a.subscription.cmp(&b.subscription);
        asked.then(by_id).then(of(a).cmp(&of(b)))
    });
    Ok(claims)
}

impl Payer<'_> {
    /// The claims of periods that no attempt is under way for: those that are owed, because what paid them is gone or
    /// because they were asked for before it was, and the next one if it is due.
    async fn unmade(
        &self,
        tx: &mut Tx,
        context: &Context<'_>,
        made: &[Claim],
    ) -> Result<Vec<Claim>, Fail> {
        let row = self.row;
        if row.cancelled_at.is_some() {
            return Ok(Vec::new());
        }
        let is_due = self.is_due(made);
        let from = row.next_period;
        let attempts = subscriptions::charges_from(tx, &row.scope, &row.id, from).await?;
        // What somebody has paid to, or may, is settled before anything else pays the period.
        let waiting = waiting(tx, context, &attempts).await?;
        let is_waiting =
            |it: &ChargeRow| it.invoice.as_ref().is_some_and(|id| waiting.contains(id));
        let is_passed =
            |it: &ChargeRow| matches!(it.state, ChargeState::Paid | ChargeState::Forgiven);
        let mut periods: BTreeMap<i64, Vec<&ChargeRow>> = BTreeMap::new();
        periods.entry(from).or_default();
        for attempt in &attempts {
            periods.entry(attempt.period).or_default().push(attempt);
        }
        let mut unmade = Vec::new();
        for (period, attempts) in periods {
            let is_under_way = |claim: &Claim| claim.period == period && claim.kind != Kind::Unmade;
            let is_settled = attempts.iter().any(|it| is_passed(it) || is_waiting(it))
                || made.iter().any(is_under_way);
            // One that was never paid and is not the next is due once those before it are paid.
            let is_next = period == row.next_period;
            let is_asked_for = if is_next {
                is_due
            } else {
                !attempts.is_empty()
            };
            if !is_settled && (period < row.reached || is_asked_for) {
                let takes = self.owed_takes(&attempts, is_next, is_next && is_due);
                unmade.push(self.owed(tx, period, &attempts, takes).await?);
            }
        }
        Ok(unmade)
    }

    async fn owed(
        &self,
        tx: &mut Tx,
        period: i64,
        attempts: &[&ChargeRow],
        takes: Takes,
    ) -> Result<Claim, Fail> {
        let row = self.row;
        let own = own(tx, attempts).await?;
        let own_since = own.first().map(|own| own.id.clone());
        let terms = self.terms(takes, &own);
        let wanted = terms.enough.clone().unwrap_or_else(|| self.price());
        Ok(Claim {
            subscription: row.id.clone(),
            period,
            charge: None,
            kind: Kind::Unmade,
            may_be_paid_again: false,
            is_refunded: false,
            entries: Vec::new(),
            own,
            own_since,
            keeps: false,
            wanted,
            fixed: Value::zero(),
            asked: first_asked(tx, attempts).await?,
            currency: self.plan.currency,
            terms: Some(terms),
            ended_at: None,
        })
    }

    /// How an owed period takes credit. While nobody is charged, and while its next attempt comes later, it takes none
    /// but what had paid it before.
    fn owed_takes(&self, attempts: &[&ChargeRow], is_next: bool, is_due: bool) -> Takes {
        let last = attempts.last();
        let has_begun = last.is_some_and(|last| self.is_time_for(last.period_start));
        match self.is_charging() {
            false => Takes::Nothing,
            true if is_due || (!is_next && has_begun) => Takes::Some,
            true if is_next && self.row.charge.is_some() => Takes::Nothing,
            true => Takes::All,
        }
    }

    /// The claim of an attempt. `all` is the credit that it has, and what it had if it may have that again.
    async fn claim(&self, tx: &mut Tx, number: i64, all: Vec<CreditRow>) -> Result<Claim, Fail> {
        let row = self.row;
        let charge = subscriptions::charge(tx, &row.scope, &row.id, number).await?;
        let charge = charge.ok_or_else(|| Fail::broken("the charge of credit is missing"))?;
        let invoice = match &charge.invoice {
            Some(id) => till_store::invoices::find(tx, &row.scope, id).await?,
            None => None,
        };
        let has_credit = all.iter().any(|entry| entry.returned_at.is_none());
        let kind = kind(row, &charge, invoice.as_ref(), has_credit);
        let made = subscriptions::charges_of_period(tx, &row.scope, &row.id, charge.period).await?;
        let made: Vec<&ChargeRow> = made.iter().collect();
        let asked = first_asked(tx, &made).await?;
        let has = all.iter().filter(|entry| entry.returned_at.is_none());
        let entries: Vec<CreditRow> = has.cloned().collect();
        let keeps = kind != Kind::Unmade && self.is_undisturbed;
        let first_own = own(tx, &made).await?;
        let own = match kind {
            _ if keeps => entries.clone(),
            Kind::PaidTo | Kind::Ended => all.into_iter().filter(|it| it.is_first).collect(),
            _ => first_own.clone(),
        };
        let paid_with = match kind {
            Kind::PaidByCredit => &entries,
            Kind::Unpaid => &first_own,
            _ => &own,
        };
        let since = match is_same(&own, &first_own) {
            true => first_own.first(),
            false => own.first(),
        };
        let own_since = since.map(|entry| entry.id.clone());
        let may_be_paid_again = match (kind, &charge.invoice) {
            (Kind::Unpaid, Some(id)) => {
                let payments = till_store::payments::of_invoice(tx, &row.scope, id).await?;
                payments.iter().any(|payment| payment.gone_at.is_some())
            }
            _ => false,
        };
        // While nobody is charged, what credit would pay is not what the price asks for.
        let is_open =
            kind == Kind::PaidTo && charge.state != ChargeState::Paid && self.is_charging();
        let asks_for_all =
            |it: &InvoiceRow| asks_for_all(&it.options, it.status, it.summary.remaining.as_ref());
        let has_nothing = |it: &InvoiceRow| owes_a_refund(it) || asks_for_all(it);
        let is_refunded = is_open && invoice.as_ref().is_some_and(has_nothing);
        let is_overpaid = invoice
            .as_ref()
            .is_some_and(|it| kind == Kind::PaidTo && it.status == InvoiceStatus::Overpaid);
        let stands_in = match is_overpaid && !self.is_undisturbed {
            true => self.stand_in(tx, &charge, (&entries, &own)).await?,
            false => Value::zero(),
        };
        let takes = self.takes(kind, &charge);
        // An invoice tolerates what it was made with, whatever the merchant has set since.
        let tolerance_bps = invoice
            .as_ref()
            .map_or(self.tolerance_bps, |it| it.tolerance_bps);
        let terms = takes.map(|takes| PeriodClaim {
            tolerance_bps,
            ..self.terms(takes, paid_with)
        });
        Ok(Claim {
            subscription: row.id.clone(),
            period: charge.period,
            asked,
            currency: self.plan.currency,
            wanted: self
                .wanted(kind, (&charge, invoice.as_ref()), (&entries, &own))
                .less(&stands_in),
            charge: Some(charge),
            kind,
            may_be_paid_again,
            is_refunded,
            entries,
            own,
            own_since,
            keeps,
            fixed: Value::zero(),
            terms,
            ended_at: row.cancelled_at,
        })
    }

    /// How much of an overpaid invoice's credit stands in for payments that are back by now: what payers sent counts first. The
    /// credit that its attempt was made with stays with it, and what was beyond the price then is the payer's.
    async fn stand_in(
        &self,
        tx: &mut Tx,
        charge: &ChargeRow,
        (entries, own): (&[CreditRow], &[CreditRow]),
    ) -> Result<Value, Fail> {
        let beyond_own = worth(entries).less(&worth(own));
        let Some(invoice) = charge.invoice.as_deref().filter(|_| !beyond_own.is_zero()) else {
            return Ok(Value::zero());
        };
        let payments = till_store::payments::of_invoice(tx, &charge.scope, invoice).await?;
        let excess = payments.iter().filter_map(|payment| {
            let asset = Registry::builtin().asset(&payment.asset)?;
            let is_at_par = asset.currency.as_deref() == Some(self.plan.currency.code());
            is_at_par.then(|| Value::of(payment.position.overpaid, asset.decimals))
        });
        let excess = excess.fold(Value::zero(), |sum, it| sum.plus(&it));
        // What is less than the currency's smallest amount may be a suffix, or what rounding left.
        Ok(beyond_own.min(excess.in_whole_minor(self.plan.currency)))
    }

    /// How an attempt takes other credit than its own, if credit pays its period in full or not at all.
    fn takes(&self, kind: Kind, charge: &ChargeRow) -> Option<Takes> {
        let is_next = charge.period == self.row.next_period;
        match kind {
            Kind::PaidByCredit if self.row.paused_at.is_some() => Some(Takes::Nothing),
            Kind::PaidByCredit => {
                let is_asked_for = self.is_charging() && self.is_time_for(charge.period_start);
                Some(match is_asked_for {
                    true => Takes::Some,
                    false => Takes::All,
                })
            }
            Kind::Unpaid if is_next && self.is_charging() => Some(Takes::Some),
            _ => None,
        }
    }

    fn wanted(
        &self,
        kind: Kind,
        (charge, invoice): (&ChargeRow, Option<&InvoiceRow>),
        (entries, own): (&[CreditRow], &[CreditRow]),
    ) -> Value {
        let is_paid = charge.state == ChargeState::Paid;
        let had = worth(entries);
        match (kind, invoice) {
            (Kind::Unmade, _) => Value::zero(),
            (Kind::Unpaid, _) if self.is_charging() => self.price(),
            (Kind::PaidTo, Some(invoice))
                if invoice.status == InvoiceStatus::PartiallyPaid && self.is_charging() =>
            {
                had.plus(&remaining(invoice))
            }
            // Nobody is charged, and what it was made with is its own all the same.
            (Kind::PaidTo, Some(invoice)) if invoice.status == InvoiceStatus::PartiallyPaid => {
                let needed = had.plus(&remaining(invoice));
                worth(own).max(had).min(needed)
            }
            (Kind::PaidTo, Some(invoice)) if owes_a_refund(invoice) && self.is_charging() => {
                self.price()
            }
            // What it had of a payment that is there again it has again.
            (Kind::Ended, Some(invoice)) if is_paid => lowered(invoice),
            (Kind::Ended, None) if is_paid => worth(own).min(self.price()),
            _ => had,
        }
    }
}

fn kind(
    row: &SubscriptionRow,
    charge: &ChargeRow,
    invoice: Option<&InvoiceRow>,
    has_credit: bool,
) -> Kind {
    let is_over = !matches!(charge.state, ChargeState::Open | ChargeState::Paid);
    let Some(invoice) = invoice else {
        return match (row.cancelled_at, charge.state) {
            (Some(_), _) => Kind::Ended,
            (None, ChargeState::Paid) => Kind::PaidByCredit,
            (None, _) => Kind::Unmade,
        };
    };
    match invoice.status {
        _ if row.cancelled_at.is_some() => Kind::Ended,
        InvoiceStatus::AwaitingPayment if !owes_a_refund(invoice) => Kind::Unpaid,
        InvoiceStatus::Expired | InvoiceStatus::Cancelled if charge.state != ChargeState::Paid => {
            Kind::Unmade
        }
        // Something that somebody must decide about came to it after its time.
        InvoiceStatus::UnderReview if is_over && !has_credit => Kind::Unmade,
        _ => Kind::PaidTo,
    }
}

/// Whether all that was paid to an invoice has left the chain after a part of it was sent back. The invoice asks for that part with
/// the price, and another in its place would not.
fn owes_a_refund(invoice: &InvoiceRow) -> bool {
    invoice.status == InvoiceStatus::AwaitingPayment && !invoice.summary.asked.is_empty()
}

/// What an invoice that is paid in part still asks for; nothing while what is on its way would be enough.
fn remaining(invoice: &InvoiceRow) -> Value {
    let remaining = invoice.summary.remaining.as_ref();
    remaining.map_or(Value::zero(), |(asset, units)| {
        let asset = Registry::builtin().asset(asset);
        Value::of(*units, asset.map_or(0, |asset| asset.decimals))
    })
}
