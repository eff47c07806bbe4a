//! A customer's prepaid credit, shared anew among all that it pays for, over all subscriptions: whenever some of it left the chain,
//! came in or came free, and whenever something that was paid is not any more. What paid a period when it was first asked for is
//! its own; of the rest the one that was asked for first is given first, whatever was told first. So which of several
//! periods and subscriptions is paid depends on what is on the chain, and not on the order in which that became known.

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

use super::claims::{Claim, Kind, claims, part_after_part};
use super::due::{ask_for_the_rest, lowered, worth};
use super::hold::{Locked, hold, hold_all, hold_with, lock_all};
use super::purse::{Purse, top_ups};
use super::step::step_with;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::follow::period::undo;

/// An attempt that has other credit than it had.
struct Changed {
    charge: ChargeRow,
    kind: Kind,
    /// The invoice that nobody has paid to asks for less, and is the period's invoice as before.
    asks_less: bool,
    has: Value,
}

/// A period, and what it is given of each payment.
struct Given {
    subscription: String,
    period: i64,
    from: Vec<(String, Units)>,
}

/// What sharing has changed.
#[derive(Default)]
struct Shared {
    changed: Vec<Changed>,
    /// The periods that nobody has paid yet, and what they are given pays them.
    paid: Vec<Given>,
    /// Those that are not paid by what they are given: at most one of each subscription can be asked for.
    owing: Vec<Given>,
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
    for paid in shared.paid {
        Box::pin(pay(tx, context, paid)).await?;
    }
    for owing in first_of_each(shared.owing) {
        Box::pin(step_with(tx, context, &owing.subscription, owing.from)).await?;
    }
    Ok(())
}

/// The first period of each subscription, in the order of all.
fn first_of_each(owing: Vec<Given>) -> Vec<Given> {
    let mut first: Vec<Given> = Vec::new();
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

/// Gives each of the claims what there is for it. Says what has changed by that.
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
            // What is set aside for what nobody has paid to has paid for nothing, whatever became of the payment.
            let is_used = !matches!(claim.kind, Kind::Unmade | Kind::Unpaid);
            if is_used && purse.stays_taken(context.now, &entry.payment)? {
                claim.keep(entry);
            } else {
                purse.lay_open(&entry)?;
                claim.entries.push(entry);
            }
        }
    }
    let mut given = give(context, &purse, &claims);
    if part_after_part(&mut claims, &given) {
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
            _ => found.value != worth(&claim.entries),
        };
        let asks_less = claim.asks_less(&found.value);
        let is_unpaid = matches!(claim.kind, Kind::Unpaid | Kind::Unmade);
        if (is_unpaid && !claim.wanted.is_zero())
            || (claim.kind, is_paid) == (Kind::PaidByCredit, false)
        {
            let periods = match is_paid {
                true => &mut self.paid,
                false => &mut self.owing,
            };
            periods.push(Given {
                subscription: claim.subscription.clone(),
                period: claim.period,
                from: found.from.clone(),
            });
        }
        let Some(charge) = claim.charge else {
            return Ok(());
        };
        let keeps = asks_less || matches!(claim.kind, Kind::PaidTo | Kind::Ended);
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
                has: found.value.plus(&claim.fixed),
            });
        }
        Ok(())
    }
}

/// What each claim is given, in their order; each of them takes credit of its own currency.
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

/// A period that is owed or due is paid by what it is given.
async fn pay(tx: &mut Tx, context: &Context<'_>, given: Given) -> Result<(), Fail> {
    let seen = subscriptions::find(tx, &context.scope, &given.subscription).await?;
    let seen = seen.ok_or_else(|| Fail::broken("the subscription of credit is missing"))?;
    let mut locked = hold(tx, context, &seen).await?;
    locked
        .pay_by_credit(tx, context, given.period, &given.from)
        .await?;
    locked.leave_to_the_next_step(tx, context).await
}

/// What an attempt had is not what it has: a period that credit alone paid is unpaid. An invoice that nobody has paid to asks for
/// less where there is more for it: whoever is about to pay it must not find it closed. Where there is less it makes room for
/// another, with its time. One that somebody has paid to asks for what is left of the price.
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

    /// The invoice of an attempt asks for what this credit leaves of its price, unless it is over. One that asks for more has its
    /// time again.
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
        let is_over = |status| matches!(status, InvoiceStatus::Cancelled | InvoiceStatus::Expired);
        match held {
            Some(mut held) if !is_over(held.invoice.is.status) => {
                if *has < lowered(&held.invoice.is) {
                    held.invoice.is.takes_until = Some(self.more_time(context, attempt));
                }
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
