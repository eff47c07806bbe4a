//! A customer's prepaid credit, shared anew among all that it pays for, over all subscriptions: whenever some of it left the chain,
//! came in or came free, and whenever something that was paid is not any more. A period has what was its own when it first took
//! credit; of the rest the one that was asked for first is given first, whatever was told first. So which of several
//! subscriptions is paid depends on what is on the chain, and not on the order in which that became known.

use std::collections::BTreeMap;

use till_core::asset::Registry;
use till_core::credit::{self, FoundCredit, Value};
use till_core::invoice::Status as InvoiceStatus;
use till_core::money::{Currency, Units};
use till_core::subscription::{ChargeState, NextStep, next};
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::invoices::InvoiceRow;
use till_store::plans::PlanRow;
use till_store::subscriptions::{self, ChargeRow, SubscriptionRow};
use till_store::timers::TimerRow;

use super::due::{ask_for_the_rest, lowered, worth};
use super::hold::{Locked, hold_all, hold_with, lock_all, plan_of};
use super::purse::{Allotted, Purse, top_ups};
use super::step::step_with;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::follow::period::undo;

/// What becomes of a claim that is given other than it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Credit alone paid the period: with less it is unpaid, and charged anew.
    PaidByCredit,
    /// Nobody has paid to the invoice: it makes room for another.
    Unpaid,
    /// Somebody has: it asks for what is left of the price.
    PaidTo,
    /// Nothing is made yet; or what was made is closed, and takes nothing.
    Unmade,
    /// Its subscription has ended: nobody is asked for more, and the books show who bears what is gone.
    Ended,
}

/// What one period needs of credit, and has of it.
struct Claim {
    row: SubscriptionRow,
    charge: Option<ChargeRow>,
    kind: Kind,
    entries: Vec<CreditRow>,
    /// What its period was given first, returned or not.
    own: Vec<CreditRow>,
    wanted: Value,
    /// What it has of payments that are held or rejected, and keeps.
    fixed: Value,
    /// When the period was first asked for; the last of all where it was not yet.
    asked_at: i64,
    currency: Currency,
}

impl Claim {
    /// Whether it is for the next period, and nobody has paid to it.
    fn is_unpaid_next(&self) -> bool {
        let charge = self.charge.as_ref();
        let is_next = charge.is_some_and(|charge| charge.period == self.row.next_period);
        let is_charging = self.row.paused_at.is_none() && !self.row.cancel_at_period_end;
        self.kind == Kind::Unpaid && is_next && is_charging
    }

    fn need(&self) -> credit::Claim {
        let own = self.own.iter();
        let own = own.map(|entry| (entry.payment.clone(), entry.units));
        credit::Claim {
            wanted: self.wanted.clone(),
            own: own.collect(),
        }
    }
}

/// An attempt that has other credit than it had.
struct Changed {
    charge: ChargeRow,
    kind: Kind,
    has: Value,
}

pub async fn share_credit(tx: &mut Tx, context: &Context<'_>, customer: &str) -> Result<(), Fail> {
    let (scope, now) = (&context.scope, context.now);
    // What became of invoices is looked at first: it says what is to be paid.
    if till_store::timers::has_resolves_due(tx, scope, customer, now).await? {
        let again = TimerRow::new(scope, TimerKind::ShareCredit, customer, now);
        return Ok(till_store::timers::set(tx, &[again]).await?);
    }
    lock_all(tx, context, customer, &[]).await?;
    let claims = Box::pin(claims(tx, context, customer)).await?;
    let shared = Box::pin(redistribute(tx, context, customer, claims)).await?;
    for changed in shared.changed {
        Box::pin(make_up(tx, context, changed)).await?;
    }
    for (id, allotted) in in_turn(shared.hungry) {
        Box::pin(step_with(tx, context, &id, allotted)).await?;
    }
    Ok(())
}

/// Each subscription at the place of the first of its claims, with what all of them are given.
fn in_turn(hungry: Vec<(String, Vec<(String, Units)>)>) -> Vec<(String, Allotted)> {
    let mut turns: Vec<(String, Allotted)> = Vec::new();
    for (id, from) in hungry {
        match turns.iter_mut().find(|(known, _)| *known == id) {
            Some((_, allotted)) => allotted.add(from),
            None => turns.push((id, Allotted::new(from))),
        }
    }
    turns
}

/// What sharing has changed.
#[derive(Default)]
struct Shared {
    changed: Vec<Changed>,
    /// The subscriptions that are charged for what nobody has paid to yet, and what each is given for that.
    hungry: Vec<(String, Vec<(String, Units)>)>,
}

/// All that the customer's credit pays or could pay for now, by when it was first asked for.
async fn claims(tx: &mut Tx, context: &Context<'_>, customer: &str) -> Result<Vec<Claim>, Fail> {
    let scope = &context.scope;
    let mut entries: BTreeMap<(String, i64), Vec<CreditRow>> = BTreeMap::new();
    for entry in credits::of_customer(tx, scope, customer).await? {
        let key = (entry.subscription.clone(), entry.charge);
        entries.entry(key).or_default().push(entry);
    }
    let mut claims = Vec::new();
    for row in subscriptions::all_of(tx, scope, customer).await? {
        let plan = plan_of(tx, context, &row).await?;
        let mut numbers = subscriptions::open_charges(tx, scope, &row.id).await?;
        numbers.extend(row.charge);
        let own = entries.keys().filter(|(id, _)| *id == row.id);
        numbers.extend(own.map(|(_, number)| *number));
        numbers.sort_unstable();
        numbers.dedup();
        let mut of_row = Vec::with_capacity(numbers.len());
        for number in numbers {
            let of = entries.remove(&(row.id.clone(), number));
            of_row.push(claim(tx, (&row, &plan), number, of.unwrap_or_default()).await?);
        }
        let is_unmade = is_due(tx, context, (&row, &plan), &of_row).await?;
        let is_unpaid = of_row.iter().any(|claim| claim.is_unpaid_next());
        claims.extend(of_row);
        if is_unmade || is_unpaid {
            claims.extend(owed(tx, (&row, &plan)).await?);
        }
        if is_unmade {
            let asked_at = asked_at(tx, &row, row.next_period).await?;
            claims.push(Claim {
                charge: None,
                kind: Kind::Unmade,
                entries: Vec::new(),
                own: credits::first_of_period(tx, scope, &row.id, row.next_period).await?,
                wanted: price(&plan),
                fixed: Value::zero(),
                asked_at: asked_at.unwrap_or(i64::MAX),
                currency: plan.currency,
                row,
            });
        }
    }
    claims.sort_by(|a, b| {
        let number = |claim: &Claim| claim.charge.as_ref().map(|charge| charge.number);
        let by_id = (&a.row.id, number(a)).cmp(&(&b.row.id, number(b)));
        a.asked_at.cmp(&b.asked_at).then(by_id)
    });
    Ok(claims)
}

/// Those after the next period that were paid once and are not any more: credit pays them one after the other.
async fn owed(tx: &mut Tx, (row, plan): (&SubscriptionRow, &PlanRow)) -> Result<Vec<Claim>, Fail> {
    let made = subscriptions::charges_from(tx, &row.scope, &row.id, row.next_period + 1).await?;
    let mut asked: BTreeMap<i64, (i64, bool)> = BTreeMap::new();
    for charge in made.iter().filter(|charge| charge.period < row.reached) {
        let is_open = charge.state == ChargeState::Open;
        let is_passed = matches!(charge.state, ChargeState::Paid | ChargeState::Forgiven);
        let known = asked
            .entry(charge.period)
            .or_insert((charge.created_at, false));
        known.0 = known.0.min(charge.created_at);
        known.1 |= is_open || is_passed;
    }
    let owed = asked.into_values().filter(|(_, is_settled)| !is_settled);
    let claim = |(asked_at, _)| Claim {
        row: row.clone(),
        charge: None,
        kind: Kind::Unmade,
        entries: Vec::new(),
        own: Vec::new(),
        wanted: price(plan),
        fixed: Value::zero(),
        asked_at,
        currency: plan.currency,
    };
    Ok(owed.map(claim).collect())
}

fn price(plan: &PlanRow) -> Value {
    Value::of(Units(plan.amount_minor.into()), plan.currency.decimals())
}

/// Whether an attempt at the next period is to be made at once, and was not put off. An attempt at a later one makes room for
/// it, and one that somebody has paid to is made already.
async fn is_due(
    tx: &mut Tx,
    context: &Context<'_>,
    (row, plan): (&SubscriptionRow, &PlanRow),
    made: &[Claim],
) -> Result<bool, Fail> {
    let charges = || made.iter().filter(|claim| claim.kind != Kind::Unmade);
    let charges = || charges().filter_map(|claim| claim.charge.as_ref());
    let is_later = |charge: &ChargeRow| charge.period > row.next_period;
    let mut facts = row.facts(plan.max_attempts);
    if charges().any(|charge| row.charge == Some(charge.number) && is_later(charge)) {
        facts.charge = None;
    }
    let is_due = |at: i64| at <= context.now;
    let is_charge = |step: NextStep| matches!(step, NextStep::Charge | NextStep::Retry);
    let due = next(&facts, context.now);
    let is_made = charges().any(|charge| charge.period == row.next_period);
    if is_made || !due.is_some_and(|(at, step)| is_due(at) && is_charge(step)) {
        return Ok(false);
    }
    let kind = TimerKind::StepSubscription;
    let timer = till_store::timers::due_at(tx, &context.scope, kind, &row.id).await?;
    Ok(timer.is_some_and(is_due))
}

/// `all` is what the attempt has, and what it had where it may have that again.
async fn claim(
    tx: &mut Tx,
    (row, plan): (&SubscriptionRow, &PlanRow),
    number: i64,
    all: Vec<CreditRow>,
) -> Result<Claim, Fail> {
    let charge = subscriptions::charge(tx, &row.scope, &row.id, number).await?;
    let charge = charge.ok_or_else(|| Fail::broken("the charge of credit is missing"))?;
    let invoice = match &charge.invoice {
        Some(id) => till_store::invoices::find(tx, &row.scope, id).await?,
        None => None,
    };
    let asked_at = asked_at(tx, row, charge.period).await?;
    let asked_at = asked_at.unwrap_or(charge.created_at);
    let is_first = |entry: &CreditRow| entry.returned_at.is_none() && entry.created_at == asked_at;
    let own = match !all.is_empty() && all.iter().all(is_first) {
        true => all.clone(),
        false => credits::first_of_period(tx, &row.scope, &row.id, charge.period).await?,
    };
    let entries = all.into_iter().filter(|entry| entry.returned_at.is_none());
    let entries: Vec<CreditRow> = entries.collect();
    let kind = kind(row, &charge, invoice.as_ref());
    let had = worth(&entries);
    let is_charging = row.paused_at.is_none() && !row.cancel_at_period_end;
    let wanted = match (kind, &invoice) {
        (Kind::Unmade, _) => Value::zero(),
        (Kind::Unpaid, _) if is_charging => price(plan),
        (Kind::PaidTo, Some(invoice)) if invoice.status == InvoiceStatus::PartiallyPaid => {
            had.plus(&remaining(invoice))
        }
        // What it had of a payment that is there again it has again.
        (Kind::Ended, Some(invoice)) if charge.state == ChargeState::Paid => lowered(invoice),
        (Kind::Ended, None) if charge.state == ChargeState::Paid => worth(&own).min(price(plan)),
        _ => had,
    };
    Ok(Claim {
        row: row.clone(),
        asked_at,
        currency: plan.currency,
        charge: Some(charge),
        kind,
        entries,
        own,
        wanted,
        fixed: Value::zero(),
    })
}

fn kind(row: &SubscriptionRow, charge: &ChargeRow, invoice: Option<&InvoiceRow>) -> Kind {
    let Some(invoice) = invoice else {
        return match (row.cancelled_at, charge.state) {
            (Some(_), _) => Kind::Ended,
            (None, ChargeState::Paid) => Kind::PaidByCredit,
            (None, _) => Kind::Unmade,
        };
    };
    match invoice.status {
        _ if row.cancelled_at.is_some() => Kind::Ended,
        InvoiceStatus::AwaitingPayment => Kind::Unpaid,
        InvoiceStatus::Expired | InvoiceStatus::Cancelled if charge.state != ChargeState::Paid => {
            Kind::Unmade
        }
        _ => Kind::PaidTo,
    }
}

/// What an invoice that is paid in part still asks for; nothing while what is on its way would be enough.
fn remaining(invoice: &InvoiceRow) -> Value {
    let remaining = invoice.summary.remaining.as_ref();
    remaining.map_or(Value::zero(), |(asset, units)| {
        let asset = Registry::builtin().asset(asset);
        Value::of(*units, asset.map_or(0, |asset| asset.decimals))
    })
}

/// When a period was first asked for.
async fn asked_at(tx: &mut Tx, row: &SubscriptionRow, period: i64) -> Result<Option<i64>, Fail> {
    let made = subscriptions::charges_of_period(tx, &row.scope, &row.id, period).await?;
    Ok(made.iter().map(|made| made.created_at).min())
}

/// Gives each of the claims what there is for it. Says whose credit has changed by that.
async fn redistribute(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
    mut claims: Vec<Claim>,
) -> Result<Shared, Fail> {
    let scope = &context.scope;
    let mut ids = top_ups(tx, scope, customer, None).await?;
    let taken = claims
        .iter()
        .flat_map(|claim| claim.entries.iter().chain(&claim.own));
    ids.extend(taken.map(|entry| entry.top_up.clone()));
    ids.sort_unstable();
    ids.dedup();
    let held = hold_all(tx, scope, &ids).await?;
    let mut purse = Purse::open(tx, scope, held, None).await?;
    for claim in &mut claims {
        for entry in std::mem::take(&mut claim.entries) {
            if purse.stays_taken(context.now, &entry.payment)? {
                let fixed = worth(&[entry]);
                claim.wanted = claim.wanted.less(&fixed);
                claim.fixed = claim.fixed.plus(&fixed);
            } else {
                purse.lay_open(&entry)?;
                claim.entries.push(entry);
            }
        }
    }
    let given = shared(context, &purse, &claims);
    let mut shared = Shared::default();
    for (claim, found) in claims.into_iter().zip(given) {
        let had = worth(&claim.entries);
        if matches!(claim.kind, Kind::Unpaid | Kind::Unmade) && !claim.wanted.is_zero() {
            shared
                .hungry
                .push((claim.row.id.clone(), found.from.clone()));
        }
        let Some(charge) = claim.charge else { continue };
        let has_changed = match claim.kind {
            Kind::PaidByCredit => found.value < had,
            _ => found.value != had,
        };
        let keeps = matches!(claim.kind, Kind::PaidTo | Kind::Ended);
        let from = match !has_changed || keeps {
            true => &*found.from,
            false => &[],
        };
        purse.replace(context, &charge, claim.entries, from)?;
        if has_changed && !matches!(claim.kind, Kind::Unmade | Kind::Ended) {
            shared.changed.push(Changed {
                charge,
                kind: claim.kind,
                has: found.value.plus(&claim.fixed),
            });
        }
    }
    purse.close(tx, context).await?;
    Ok(shared)
}

/// What each claim is given, in their order; each of them takes credit of its own currency.
fn shared(context: &Context<'_>, purse: &Purse, claims: &[Claim]) -> Vec<FoundCredit> {
    let mut found: BTreeMap<usize, FoundCredit> = BTreeMap::new();
    let mut currencies: Vec<Currency> = claims.iter().map(|claim| claim.currency).collect();
    currencies.sort_by_key(|currency| currency.code());
    currencies.dedup();
    for currency in currencies {
        let of = |claim: &Claim| claim.currency == currency;
        let at: Vec<usize> = (0..claims.len()).filter(|at| of(&claims[*at])).collect();
        let wanted: Vec<credit::Claim> = at.iter().map(|at| claims[*at].need()).collect();
        let shared = purse.share(context.now, &wanted, currency);
        found.extend(at.into_iter().zip(shared));
    }
    found.into_values().collect()
}

/// What an attempt had is not what it has: a period that credit alone paid is unpaid, an invoice that nobody has paid to makes
/// room for another, and one that somebody has asks for what is left of the price.
async fn make_up(tx: &mut Tx, context: &Context<'_>, changed: Changed) -> Result<(), Fail> {
    let (scope, charge) = (&context.scope, changed.charge);
    let seen = subscriptions::find(tx, scope, &charge.subscription).await?;
    let seen = seen.ok_or_else(|| Fail::broken("the subscription of credit is missing"))?;
    let invoice = charge.invoice.as_deref();
    let kept = credits::of_charge(tx, scope, &seen.id, charge.number).await?;
    let more = kept.iter().map(|entry| entry.top_up.clone()).collect();
    let mut locked = hold_with(tx, context, &seen, invoice, more).await?;
    let is_current = locked.row.charge == Some(charge.number);
    match changed.kind {
        Kind::PaidByCredit => locked.unpay(tx, context, charge, kept).await?,
        // Charged anew, by the same attempt: it is not the payer who did not pay.
        Kind::Unpaid if is_current && locked.is_unpaid(context) => {
            locked.withdraw(tx, context).await?;
        }
        Kind::PaidTo => {
            let has = &changed.has;
            locked
                .ask_for_what_is_left(tx, context, is_current, has)
                .await?;
        }
        Kind::Unpaid | Kind::Unmade | Kind::Ended => {}
    }
    locked.leave_to_the_next_step(tx, context).await
}

impl Locked {
    /// A period that credit alone paid is unpaid, and what it took is the customer's again.
    pub(super) async fn unpay(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        mut charge: ChargeRow,
        taken: Vec<CreditRow>,
    ) -> Result<(), Fail> {
        let (scope, id) = (&context.scope, &self.row.id);
        let first = charge.period.min(self.row.next_period);
        let mut passed = subscriptions::passed_from(tx, scope, id, first - 1).await?;
        passed.retain(|passed| passed.number != charge.number);
        undo(&mut self.row, &self.plan, &charge, &passed);
        charge.state = ChargeState::Closed;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
        for entry in taken {
            self.purse.take_back(entry, context.now)?;
        }
        Ok(())
    }

    /// The invoice asks for what this credit leaves of its price, unless it is over.
    async fn ask_for_what_is_left(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        is_current: bool,
        has: &Value,
    ) -> Result<(), Fail> {
        let held = match is_current {
            true => self.invoice.take().or_else(|| self.other.take()),
            false => self.other.take(),
        };
        let is_over = |status| matches!(status, InvoiceStatus::Cancelled | InvoiceStatus::Expired);
        match held {
            Some(mut held) if !is_over(held.invoice.is.status) => {
                ask_for_the_rest(&mut held.invoice.is, has);
                self.settle(tx, context, held).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Writes what is so, and leaves what follows from it to whoever steps the subscription next.
    async fn leave_to_the_next_step(self, tx: &mut Tx, context: &Context<'_>) -> Result<(), Fail> {
        let (scope, kind) = (&context.scope, TimerKind::StepSubscription);
        let next = TimerRow::new(scope, kind, &self.row.id, context.now);
        self.purse.close(tx, context).await?;
        subscriptions::update(tx, &self.row).await?;
        Ok(till_store::timers::set(tx, &[next]).await?)
    }
}
