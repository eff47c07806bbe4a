//! A subscription's status as a pure function of what was paid, what was asked for, and the clock.
//!
//! Periods are counted from an anchor. One of them at a time is charged, by an invoice for each attempt; what became
//! of that invoice is a fact like any other, and so is the time. `next` says what falls due, and when.

use crate::calendar::{self, Unit, Zone};
use crate::error::{Code, Refusal};
use crate::limits::RENEWAL_LEAD_H;
use crate::time::HOUR_MS;

/// How long before its period a renewal is charged, and the least time that any attempt stays open.
pub const LEAD_MS: i64 = RENEWAL_LEAD_H as i64 * HOUR_MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Active,
    PastDue,
    Incomplete,
    Paused,
    Cancelled,
}

impl Status {
    pub const ALL: [Status; 5] = [
        Status::Active,
        Status::PastDue,
        Status::Incomplete,
        Status::Paused,
        Status::Cancelled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::PastDue => "past_due",
            Status::Incomplete => "incomplete",
            Status::Paused => "paused",
            Status::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

/// Why a subscription ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Requested,
    Unpaid,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Requested => "requested",
            Reason::Unpaid => "unpaid",
        }
    }

    pub fn parse(text: &str) -> Option<Reason> {
        [Reason::Requested, Reason::Unpaid]
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }
}

/// What became of one attempt to charge a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChargeState {
    Open,
    Closed,
    /// Cancelled because of something that is not the payer's doing: it counts as no attempt.
    Withdrawn,
    /// Cancelled by a pause: its period is forgiven when the subscription goes on.
    Paused,
    /// Its period was owed when the subscription was paused, and is not asked for any more.
    Forgiven,
    /// Another attempt has paid its period: what this one has is the payer's, for as long as that one stands.
    Spare,
    Paid,
}

impl ChargeState {
    pub const ALL: [ChargeState; 7] = [
        ChargeState::Open,
        ChargeState::Closed,
        ChargeState::Withdrawn,
        ChargeState::Paused,
        ChargeState::Forgiven,
        ChargeState::Spare,
        ChargeState::Paid,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ChargeState::Open => "open",
            ChargeState::Closed => "closed",
            ChargeState::Withdrawn => "withdrawn",
            ChargeState::Paused => "paused",
            ChargeState::Forgiven => "forgiven",
            ChargeState::Spare => "spare",
            ChargeState::Paid => "paid",
        }
    }

    pub fn parse(text: &str) -> Option<ChargeState> {
        ChargeState::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
    }

    /// An invoice that was partly paid stays open as long as it takes the rest: a second one for the same period would
    /// ask for the money twice.
    pub fn of(status: crate::invoice::Status, closed_at: Option<i64>) -> ChargeState {
        match closed_at {
            _ if status.is_paid() => ChargeState::Paid,
            Some(_) => ChargeState::Closed,
            None => ChargeState::Open,
        }
    }

    /// Whether its invoice was cancelled by what became of the subscription, and not by the merchant: what it had been paid, and
    /// comes back, may count again.
    pub fn may_count_again(self) -> bool {
        matches!(
            self,
            ChargeState::Withdrawn | ChargeState::Paused | ChargeState::Spare
        )
    }

    /// What an attempt is once its subscription has ended: paid if it was and still is, and otherwise closed.
    pub fn after_the_end(self, now: ChargeState) -> ChargeState {
        match (self, now) {
            (ChargeState::Paid, ChargeState::Paid) => ChargeState::Paid,
            _ => ChargeState::Closed,
        }
    }
}

/// How periods are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rhythm {
    pub unit: Unit,
    pub count: u32,
    pub zone: Zone,
    /// Where the period with the number `first` begins.
    pub anchor: i64,
    pub first: i64,
}

impl Rhythm {
    /// Where a period begins and ends.
    pub fn period(&self, number: i64) -> (i64, i64) {
        let boundary = |number: i64| {
            let periods = number.saturating_sub(self.first);
            let units = periods.saturating_mul(self.count.into());
            calendar::after(self.anchor, &self.zone, self.unit, units)
        };
        (boundary(number), boundary(number.saturating_add(1)))
    }
}

/// A period that is being charged and is not paid yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    pub attempt: u32,
    /// The attempt's invoice closed without having been paid.
    pub is_closed: bool,
    /// When what follows a closed attempt comes, where that is not at once.
    pub retry_at: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Until when it is paid for, or free of charge; none before anything was paid.
    pub paid_until: Option<i64>,
    /// Where the last period ends that is paid or free, or that was paid when it had begun, whether or not one is owed.
    pub served_until: Option<i64>,
    pub charge: Option<Charge>,
    /// From here on it is past due: what is charged is unpaid then, or could not be invoiced at all.
    pub late_at: Option<i64>,
    pub max_attempts: u32,
    pub is_paused: bool,
    pub is_cancelled: bool,
    pub cancel_at_period_end: bool,
}

pub fn status(facts: &Facts, now: i64) -> Status {
    let is_late = facts.late_at.is_some_and(|at| now >= at);
    match facts {
        Facts {
            is_cancelled: true, ..
        } => Status::Cancelled,
        Facts {
            is_paused: true, ..
        } => Status::Paused,
        Facts {
            paid_until: None, ..
        } => Status::Incomplete,
        _ if is_late => Status::PastDue,
        _ => Status::Active,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The next period is charged.
    Charge,
    /// The same period is charged again.
    Retry,
    /// Nothing but the time changes what the subscription is.
    Look,
    End(Reason),
}

/// What happens next without anybody asking, and when. A time that has passed means now.
pub fn next(facts: &Facts, now: i64) -> Option<(i64, NextStep)> {
    if facts.is_cancelled {
        return None;
    }
    if facts.cancel_at_period_end {
        // Where nothing is paid for any more, there is no period to wait for. An earlier one that is owed ends nothing.
        let end = facts.paid_until.max(facts.served_until).unwrap_or(now);
        return Some((end, NextStep::End(Reason::Requested)));
    }
    if facts.is_paused {
        return None;
    }
    match (facts.charge, facts.paid_until) {
        (Some(charge), _) => {
            let late_at = facts.late_at.filter(|at| now < *at);
            let late_at = late_at.filter(|_| facts.paid_until.is_some());
            let look = late_at.map(|at| (at, NextStep::Look));
            let after = charge.is_closed.then(|| {
                let step = match charge.attempt >= facts.max_attempts {
                    true => NextStep::End(Reason::Unpaid),
                    false => NextStep::Retry,
                };
                (charge.retry_at.unwrap_or(now).max(now), step)
            });
            match (look, after) {
                (Some(look), Some(after)) if after.0 <= look.0 => Some(after),
                (look, after) => look.or(after),
            }
        }
        (None, Some(end)) => Some((end - LEAD_MS, NextStep::Charge)),
        (None, None) => Some((now, NextStep::Charge)),
    }
}

/// When somebody asks for an end: at once, or with the period that is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Now,
    PeriodEnd,
}

/// Whether something is to be done; nothing where it is done already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeNeeded {
    Do,
    Unchanged,
}

fn refused(status: Status, what: &str) -> Refusal {
    let message = format!(
        "The subscription is {} and cannot be {what}.",
        status.as_str()
    );
    Refusal::new(Code::SubscriptionState, message)
}

pub fn pause(status: Status) -> Result<ChangeNeeded, Refusal> {
    match status {
        Status::Active | Status::PastDue => Ok(ChangeNeeded::Do),
        Status::Incomplete | Status::Paused | Status::Cancelled => Err(refused(status, "paused")),
    }
}

pub fn resume(status: Status) -> Result<ChangeNeeded, Refusal> {
    match status {
        Status::Paused => Ok(ChangeNeeded::Do),
        Status::Active | Status::PastDue | Status::Incomplete => Ok(ChangeNeeded::Unchanged),
        Status::Cancelled => Err(refused(status, "resumed")),
    }
}

/// `ended` says why and how a cancelled one ended; `is_set` whether it is to end with its period already.
pub fn cancel(
    status: Status,
    when: When,
    is_set: bool,
    ended: Option<Reason>,
) -> Result<ChangeNeeded, Refusal> {
    let same = is_set == (when == When::PeriodEnd);
    match (status, when) {
        (Status::Cancelled, _) if same && ended == Some(Reason::Requested) => {
            Ok(ChangeNeeded::Unchanged)
        }
        (Status::Cancelled, _) => Err(refused(status, "cancelled again in another way")),
        (Status::Incomplete, When::PeriodEnd) => Err(refused(
            status,
            "cancelled at the end of a period that was never paid",
        )),
        (_, When::PeriodEnd) if is_set => Ok(ChangeNeeded::Unchanged),
        _ => Ok(ChangeNeeded::Do),
    }
}

#[cfg(test)]
mod tests;
