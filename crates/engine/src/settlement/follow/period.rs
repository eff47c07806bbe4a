//! What being paid, and being paid no more, does to a subscription.
//!
//! Periods follow each other from the first payment on, and only a pause moves them. A payment that is gone makes its period
//! owed and changes nothing else about it; the first period that is neither paid nor forgiven is what is charged. So what a
//! subscription is depends on which periods are paid, and not on the order in which that became known.

use till_core::calendar::{self, Unit};
use till_core::subscription::{ChargeState, Rhythm};
use till_store::plans::PlanRow;
use till_store::subscriptions::{ChargeRow, SubscriptionRow};

pub fn rhythm(row: &SubscriptionRow, plan: &PlanRow) -> Rhythm {
    Rhythm {
        unit: plan.interval_unit,
        count: plan.interval_count,
        zone: plan.billing_timezone.clone(),
        anchor: row.anchor,
        first: row.anchor_period,
    }
}

/// When the grace of a period that begins then is over.
pub fn grace_end(plan: &PlanRow, start: i64) -> i64 {
    let zone = &plan.billing_timezone;
    calendar::after(start, zone, Unit::Day, plan.grace_days.into())
}

/// A period is paid, at this moment. `passed` are the attempts by which it and later ones are paid or forgiven, by period:
/// where an earlier one was owed, those after it are paid already.
pub fn renew(
    row: &mut SubscriptionRow,
    plan: &PlanRow,
    charge: &mut ChargeRow,
    at: i64,
    passed: &[ChargeRow],
) {
    if row.charge.is_none_or(|current| current == charge.number) {
        row.end_charge();
    }
    if row.paid_until.is_none() {
        begin(row, plan, charge, at);
    }
    charge.was_paid = true;
    // A pause moves what was not paid when it began: a period that is paid meanwhile has its place in time when it ends.
    if row.paused_at.is_none() {
        row.reached = row.reached.max(charge.period + 1);
    }
    pass(row, plan, charge, at, passed);
}

/// Goes on after a period that is paid, and after those that follow it and are paid or forgiven already.
fn pass(
    row: &mut SubscriptionRow,
    plan: &PlanRow,
    charge: &ChargeRow,
    at: i64,
    passed: &[ChargeRow],
) {
    if charge.period == row.next_period {
        let mut last = charge;
        for later in passed {
            if later.period == last.period + 1 {
                last = later;
            }
        }
        row.next_period = last.period + 1;
        row.paid_until = Some(last.period_end);
    }
    let paid: Vec<&ChargeRow> = passed.iter().chain([charge]).collect();
    show_current(row, plan, &paid, at);
}

/// Gives a period that was first paid during a pause, which has ended, its place in time. `passed` are the attempts by which
/// later ones are paid or forgiven.
pub fn place(
    row: &mut SubscriptionRow,
    plan: &PlanRow,
    charge: &ChargeRow,
    at: i64,
    passed: &[ChargeRow],
) {
    row.reached = row.reached.max(charge.period + 1);
    pass(row, plan, charge, at, passed);
}

/// The first period begins when it is paid, and so do all that follow it.
fn begin(row: &mut SubscriptionRow, plan: &PlanRow, charge: &mut ChargeRow, at: i64) {
    row.anchor = at;
    let (start, end) = rhythm(row, plan).period(charge.period);
    (charge.period_start, charge.period_end) = (start, end);
    charge.grace_end = grace_end(plan, start);
}

/// What paid a period is gone: it is owed again, before any later one. `passed` are the attempts beside it by which the
/// period before the first that is owed, and later ones, are paid or forgiven. Says whether it can be charged at once.
pub fn undo(
    row: &mut SubscriptionRow,
    plan: &PlanRow,
    charge: &ChargeRow,
    passed: &[ChargeRow],
    at: i64,
) -> bool {
    if row.cancelled_at.is_some() {
        return false;
    }
    if charge.period < row.next_period {
        row.next_period = charge.period;
        row.paid_until = Some(charge.period_start);
        let late_at = row.grace_end.unwrap_or(charge.grace_end);
        row.grace_end = Some(late_at.min(charge.grace_end));
    }
    show_current(row, plan, &passed.iter().collect::<Vec<_>>(), at);
    row.charge.is_none() && charge.period == row.next_period
}

/// The last period that is paid, or what there is before any is: the trial, or the first period since billing began.
fn show_current(row: &mut SubscriptionRow, plan: &PlanRow, passed: &[&ChargeRow], at: i64) {
    let paid = passed
        .iter()
        .filter(|it| it.state != ChargeState::Forgiven && it.period >= row.anchor_period);
    let last = paid.max_by_key(|paid| paid.period);
    row.served_until = match (last, row.trial_end) {
        (Some(paid), _) => Some(paid.period_end),
        (None, Some(end)) if row.anchor == end => Some(end),
        (None, _) => None,
    };
    row.served_until = row.served_until.max(begun_until(row, plan, at));
    let bounds = match (last, row.trial_end) {
        (Some(paid), _) => (paid.period_start, paid.period_end),
        (None, Some(end)) if row.anchor == end => (row.created_at, end),
        (None, _) => rhythm(row, plan).period(row.anchor_period),
    };
    (row.current_period_start, row.current_period_end) = bounds;
}

/// Where the last period ends that was ever paid since billing began, if it has begun: when its payment leaves the chain, it may
/// come back, and whoever asked for an end with this period has not asked for one at once.
fn begun_until(row: &SubscriptionRow, plan: &PlanRow, at: i64) -> Option<i64> {
    let last = row.reached.checked_sub(1);
    let last = last.filter(|last| *last >= row.anchor_period)?;
    let (start, end) = rhythm(row, plan).period(last);
    (start <= at).then_some(end)
}

/// An attempt that was made before is the one under way again. `attempts` is how many its period has had.
pub fn take_up(row: &mut SubscriptionRow, charge: &ChargeRow, state: ChargeState, attempts: u32) {
    (row.charge, row.charge_invoice) = (Some(charge.number), charge.invoice.clone());
    if state != ChargeState::Closed {
        row.latest_invoice.clone_from(&charge.invoice);
    }
    row.attempt = attempts;
    row.grace_end = Some(charge.grace_end);
    (row.charge_closed, row.retry_at) = (state == ChargeState::Closed, None);
}

/// What is known of a period from the attempts at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeriodAttempts {
    /// How many there were, without those that count as none.
    pub attempts: u32,
    /// From when on it is late.
    pub late_at: Option<i64>,
    /// When the next one was first made, where it was withdrawn since.
    pub tried_at: Option<i64>,
    /// The invoice of the one that was withdrawn after it had been paid once: the next one takes its place, and ends when it would
    /// have ended.
    pub withdrawn: Option<String>,
}

/// `made` are all attempts at a period; those from before a pause that moved it say nothing about it. A first period that began
/// when it was paid is the same one that was asked for before.
pub fn made(row: &SubscriptionRow, made: &[ChargeRow], period_start: i64) -> PeriodAttempts {
    let all = made.iter();
    let made = || all.clone().filter(|it| it.period_start == period_start);
    let began_when_paid = |it: &&ChargeRow| row.trial_end.is_none() && it.period == 0;
    let of_it = all
        .clone()
        .filter(|it| it.period_start == period_start || began_when_paid(it));
    let counts = |it: &&ChargeRow| {
        let is_none = it.state.may_count_again();
        it.invoice.is_some() && !is_none
    };
    let attempts = of_it.filter(counts).map(|it| it.attempt).max();
    let attempts = attempts.unwrap_or(0);
    let withdrawn = || made().filter(|it| it.invoice.is_some() && it.attempt > attempts);
    let mut was_paid = withdrawn().filter(|it| it.was_paid && it.state == ChargeState::Withdrawn);
    PeriodAttempts {
        attempts,
        late_at: made().map(|it| it.grace_end).min(),
        tried_at: withdrawn().map(|it| it.created_at).min(),
        withdrawn: was_paid.next_back().and_then(|it| it.invoice.clone()),
    }
}
