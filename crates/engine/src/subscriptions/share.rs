//! Shares a customer's prepaid credit anew among all that it pays for, over all subscriptions: whenever some of it
//! leaves the chain, comes in or comes free, and whenever something that was paid is not any more. What paid a period
//! when it was first asked for is the period's own; the rest goes to the period that was asked for first. So which of
//! several periods and subscriptions is paid depends on what is on the chain, and not on the order in which that became
//! known.

use std::collections::BTreeMap;

use till_core::credit::{self, FoundCredit, Value};
use till_core::invoice::Status as InvoiceStatus;
use till_core::money::{Currency, Units};
use till_core::subscription::ChargeState;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::credits::{self, CreditRow};
use till_store::subscriptions::{self, ChargeRow};
use till_store::timers::TimerRow;

use super::claims::{Claim, Kind, claims};
use super::due::{ask_for_the_rest, lowered, worth};
use super::hold::{Locked, hold, hold_all, hold_with, lock_all};
use super::looks::{Moves, begin_sharing, end_sharing, share_again};
use super::purse::{Purse, top_ups};
use super::step::step_with;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::follow::period::undo;

/// An attempt whose share of the credit has changed.
struct Changed {
    charge: ChargeRow,
    kind: Kind,
    /// Nobody has paid to its invoice, which stays and asks for less.
    asks_less: bool,
    /// Its invoice makes room for credit that pays the whole period: all that was paid to it was refunded.
    makes_room: bool,
    has: Value,
}

/// The credit that a period gets, by payment.
struct Allocation {
    subscription: String,
    period: i64,
    from: Vec<(String, Units)>,
}

/// What sharing has changed.
#[derive(Default)]
struct Shared {
    changed: Vec<Changed>,
    /// Unpaid periods that the credit they get pays.
    paid: Vec<Allocation>,
    /// Unpaid periods that need an invoice for the rest. Only the first of each subscription can be charged.
    owing: Vec<Allocation>,
}

pub async fn share_credit(tx: &mut Tx, context: &Context<'_>, customer: &str) -> Result<(), Fail> {
    let (scope, now) = (&context.scope, context.now);
    // What became of invoices is looked at first: it says what is to be paid.
    if till_store::timers::has_resolves_due(tx, scope, customer, now).await? {
        return share_again(tx, context, customer).await;
    }
    lock_all(tx, context, customer, &[]).await?;
    let moves = Moves::of(tx, scope, customer).await?;
    let claims = Box::pin(claims(tx, context, customer, moves)).await?;
    let shared = Box::pin(redistribute(tx, context, customer, claims)).await?;
    for changed in shared.changed {
        Box::pin(make_up(tx, context, changed)).await?;
    }
    for paid in shared.paid {
        Box::pin(pay(tx, context, paid)).await?;
    }
    for owing in first_of_each(shared.owing) {
        Box::pin(step_with(tx, context, &owing.subscription, owing.from)).await?;
    }
    begin_sharing(tx, context, customer, moves).await?;
    end_sharing(tx, context, customer).await
}

/// The first period of each subscription, in the given order.
fn first_of_each(owing: Vec<Allocation>) -> Vec<Allocation> {
    let mut first: Vec<Allocation> = Vec::new();
    for given in owing {
        let known = first
            .iter()
            .any(|known| known.subscription == given.subscription);
        if !known {
            first.push(given);
        }
    }
    first
}

/// Shares the credit among the claims and writes who has what. Returns what that has changed.
async fn redistribute(
    tx: &mut Tx,
    context: &Context<'_>,
    customer: &str,
    mut claims: Vec<Claim>,
) -> Result<Shared, Fail> {
    let scope = &context.scope;
    let mut ids = top_ups(tx, scope, customer, None).await?;
    ids.extend(claims.iter().flat_map(Claim::top_ups).cloned());
    ids.sort_unstable();
    ids.dedup();
    let held = hold_all(tx, scope, &ids).await?;
    let mut purse = Purse::open(tx, scope, held, None).await?;
    for claim in &mut claims {
        for entry in std::mem::take(&mut claim.entries) {
            // Credit reserved for an invoice that nobody has paid to has paid for nothing, whatever became of its
            // payment.
            let is_unpaid = matches!(claim.kind, Kind::Unmade | Kind::Unpaid) || claim.is_refunded;
            let is_used = !is_unpaid;
            if is_used && purse.stays_taken(context.now, &entry.payment)? {
                claim.keep(entry);
            } else {
                purse.lay_open(&entry)?;
                claim.entries.push(entry);
            }
        }
    }
    let mut given = give(context, &purse, &claims);
    if hold_back(&mut claims, &given) {
        given = give(context, &purse, &claims);
    }
    let mut shared = Shared::default();
    for (claim, found) in claims.into_iter().zip(given) {
        shared.take_in(context, &mut purse, claim, found)?;
    }
    purse.close(tx, context).await?;
    Ok(shared)
}

impl Shared {
    fn take_in(
        &mut self,
        context: &Context<'_>,
        purse: &mut Purse,
        claim: Claim,
        found: FoundCredit,
    ) -> Result<(), Fail> {
        let is_paid = claim.is_paid_by(&found.value);
        let has_changed = match claim.kind {
            Kind::PaidByCredit => !is_paid,
            // Its invoice makes room for the credit that pays the whole period, though that lowered it before.
            Kind::Unpaid if is_paid => true,
            _ => found.value != worth(&claim.entries),
        };
        let asks_less = claim.asks_less(&found.value);
        let makes_room = claim.makes_room(&found.value);
        let is_paid = is_paid || makes_room;
        let is_unpaid = matches!(claim.kind, Kind::Unpaid | Kind::Unmade);
        if (is_unpaid && !claim.wanted.is_zero())
            || (claim.kind, is_paid) == (Kind::PaidByCredit, false)
            || makes_room
        {
            let periods = match is_paid {
                true => &mut self.paid,
                false => &mut self.owing,
            };
            periods.push(Allocation {
                subscription: claim.subscription.clone(),
                period: claim.period,
                from: found.from.clone(),
            });
        }
        let Some(charge) = claim.charge else {
            return Ok(());
        };
        let keeps = asks_less || matches!(claim.kind, Kind::PaidTo | Kind::Ended) && !makes_room;
        let from = match !has_changed || keeps {
            true => &*found.from,
            false => &[],
        };
        // An invoice that nobody has paid to is as if it had been made with it.
        purse.replace(context, &charge, claim.entries, from, asks_less)?;
        if has_changed && !matches!(claim.kind, Kind::Unmade | Kind::Ended) {
            self.changed.push(Changed {
                charge,
                kind: claim.kind,
                asks_less,
                makes_room,
                has: found.value.plus(&claim.fixed),
            });
        }
        Ok(())
    }
}

/// While an earlier period waits for the rest of its price, later ones of its subscription get their whole price or
/// nothing: a part is of no use to them. A period that has its rest with what it gets waits for nothing. Returns
/// whether that changes what others get.
fn hold_back(claims: &mut [Claim], given: &[FoundCredit]) -> bool {
    let mut waiting: BTreeMap<String, i64> = BTreeMap::new();
    for (claim, found) in claims.iter().zip(given) {
        if claim.waits_with(&found.value) {
            let first = waiting.entry(claim.subscription.clone());
            let first = first.or_insert(claim.period);
            *first = claim.period.min(*first);
        }
    }
    let mut has_changed = false;
    for claim in claims {
        let first = waiting.get(&claim.subscription);
        if first.is_some_and(|first| claim.period > *first) {
            has_changed |= claim.take_no_part();
        }
    }
    has_changed
}

/// What each claim gets, in their order. Each takes credit of its own currency.
fn give(context: &Context<'_>, purse: &Purse, claims: &[Claim]) -> Vec<FoundCredit> {
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

/// Pays a period that is owed or due by the credit that it gets.
async fn pay(tx: &mut Tx, context: &Context<'_>, allocation: Allocation) -> Result<(), Fail> {
    let seen = subscriptions::find(tx, &context.scope, &allocation.subscription).await?;
    let seen = seen.ok_or_else(|| Fail::broken("the subscription of credit is missing"))?;
    let mut locked = hold(tx, context, &seen).await?;
    locked
        .pay_by_credit(tx, context, allocation.period, &allocation.from)
        .await?;
    locked.leave_to_the_next_step(tx, context).await
}

/// Adjusts an attempt to its new share. A period that credit alone paid becomes unpaid. An invoice that nobody has paid
/// to asks for less if there is more for it, so that whoever is about to pay it does not find it closed; if there is
/// less it makes room for another, with its time. One that somebody has paid to asks for what is left of the price.
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
        Kind::PaidByCredit => {
            let period = charge.period;
            locked.unpay(tx, context, charge, kept).await?;
            locked.look_at_others(tx, context, period).await?;
        }
        Kind::Unpaid if changed.asks_less => {
            let has = (charge.attempt, &changed.has);
            locked
                .ask_for_what_is_left(tx, context, is_current, has)
                .await?;
        }
        // Charged anew, by the same attempt: it is not the payer who did not pay.
        Kind::Unpaid if is_current && locked.has_nothing(context) => {
            locked.withdraw(tx, context).await?;
        }
        // It is asked for again when the credit is gone.
        Kind::PaidTo if changed.makes_room && is_current => {
            locked.withdraw_as(tx, context, ChargeState::Spare).await?;
        }
        Kind::PaidTo if changed.makes_room => {
            locked.spare_other(tx, context, charge).await?;
        }
        Kind::PaidTo => {
            let has = (charge.attempt, &changed.has);
            locked
                .ask_for_what_is_left(tx, context, is_current, has)
                .await?;
        }
        Kind::Unpaid | Kind::Unmade | Kind::Ended => {}
    }
    locked.leave_to_the_next_step(tx, context).await
}

impl Locked {
    /// Makes a period unpaid that credit alone had paid, and returns that credit.
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
        undo(&mut self.row, &self.plan, &charge, &passed, context.now);
        charge.state = ChargeState::Closed;
        tx.write(&subscriptions::charge_states([&charge])?).await?;
        for entry in taken {
            self.purse.take_back(entry, context.now)?;
        }
        Ok(())
    }

    /// Has the invoice of an attempt ask for what this credit leaves of its price, unless it is over. If it asks for
    /// more than before, its time begins again.
    async fn ask_for_what_is_left(
        &mut self,
        tx: &mut Tx,
        context: &Context<'_>,
        is_current: bool,
        (attempt, has): (u32, &Value),
    ) -> Result<(), Fail> {
        let held = match is_current {
            true => self.invoice.take().or_else(|| self.other.take()),
            false => self.other.take(),
        };
        match held {
            Some(mut held) if held.invoice.is.status != InvoiceStatus::Expired => {
                let has_risen = *has < lowered(&held.invoice.is);
                ask_for_the_rest(&mut held.invoice.is, has);
                // One that is paid all the same takes nothing more, nor does one that was cancelled because what was held was rejected.
                let takes_more = held.invoice.is.cancelled_at.is_none()
                    && !held.assess(held.moment(context)).is_covered;
                if has_risen && takes_more {
                    held.invoice.is.takes_until = Some(self.more_time(context, attempt));
                }
                self.settle(tx, context, held).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Writes the subscription and its credit, and leaves what follows from that to its timer, which is set to now.
    async fn leave_to_the_next_step(self, tx: &mut Tx, context: &Context<'_>) -> Result<(), Fail> {
        let (scope, kind) = (&context.scope, TimerKind::StepSubscription);
        let next = TimerRow::new(scope, kind, &self.row.id, context.now);
        self.purse.close(tx, context).await?;
        subscriptions::update(tx, &self.row).await?;
        Ok(till_store::timers::set(tx, &[next]).await?)
    }
}
