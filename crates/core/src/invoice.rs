//! An invoice's status as a pure function of its facts.
//!
//! Nothing here remembers a transition. The terms, the payments with their finality, the verdicts on holds,
//! the cancellation and the clock go in; the status, what was received and where each payment stands come
//! out. A reorganisation takes a fact away, and nothing else is special about it.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One as _, ToPrimitive as _, Zero as _};

use crate::ledger::Position;
use crate::money::Units;
use crate::payment::{Hold, Payment, PaymentStatus, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    AwaitingPayment,
    Detected,
    Confirming,
    Paid,
    PartiallyPaid,
    Overpaid,
    PaidLate,
    Expired,
    UnderReview,
    Cancelled,
}

impl Status {
    pub const ALL: [Status; 10] = [
        Status::AwaitingPayment,
        Status::Detected,
        Status::Confirming,
        Status::Paid,
        Status::PartiallyPaid,
        Status::Overpaid,
        Status::PaidLate,
        Status::Expired,
        Status::UnderReview,
        Status::Cancelled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::AwaitingPayment => "awaiting_payment",
            Status::Detected => "detected",
            Status::Confirming => "confirming",
            Status::Paid => "paid",
            Status::PartiallyPaid => "partially_paid",
            Status::Overpaid => "overpaid",
            Status::PaidLate => "paid_late",
            Status::Expired => "expired",
            Status::UnderReview => "under_review",
            Status::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }

    /// Paid in full, whatever else.
    pub fn is_paid(self) -> bool {
        matches!(self, Status::Paid | Status::Overpaid | Status::PaidLate)
    }

    /// Nothing more is expected of the payer; the address may cool down.
    pub fn is_closed(self) -> bool {
        self.is_paid() || matches!(self, Status::Expired | Status::Cancelled)
    }
}

/// One way to pay: an asset, how much of it, and (once leased) where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayOption {
    pub asset: String,
    pub due: Units,
    pub decimals: u32,
    /// Where to pay and what that address was derived from; none while a link's payer has not picked.
    pub deposit: Option<Deposit>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deposit {
    pub address: String,
    /// The address's number in its pool; with the account it determines the salt or path.
    pub number: u64,
    /// The merchant's destination or account key at the time of leasing.
    pub destination: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    pub amount_minor: u64,
    pub options: Vec<PayOption>,
    pub tolerance_bps: u32,
    pub expires_at: i64,
    pub select_by: Option<i64>,
}

impl Terms {
    /// A link invoice whose payer never picked a network ends at `select_by`.
    pub fn deadline(&self) -> i64 {
        let picked = self.options.iter().any(|option| option.deposit.is_some());
        match self.select_by {
            Some(select_by) if !picked => select_by.min(self.expires_at),
            _ => self.expires_at,
        }
    }

    pub fn due(&self, asset: &str) -> Option<Units> {
        self.options
            .iter()
            .find(|option| option.asset == asset)
            .map(|option| option.due)
    }
}

/// What the payments come to, as the invoice shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub received: Vec<(String, Units)>,
    pub remaining: Option<(String, Units)>,
    pub overpaid: Option<(String, Units)>,
    pub review: Option<Review>,
}

/// Why and since when an invoice waits for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Review {
    pub hold: Hold,
    pub opened_at: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    pub terms: &'a Terms,
    pub payments: &'a [Payment],
    /// Cancelled by the merchant, or by rejecting a review.
    pub cancelled_at: Option<i64>,
}

/// What the facts say about one payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub status: PaymentStatus,
    pub position: Position,
    pub standing: Standing,
    pub dust: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Counted,
    /// Arrived after the invoice had closed.
    Late,
    WrongAsset,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    pub status: Status,
    /// In the order of `Facts::payments`.
    pub parts: Vec<Part>,
    /// Per asset, in order of arrival: reached the policy's level and not reversed.
    pub received: Vec<(String, Units)>,
    pub remaining: Option<(String, Units)>,
    pub overpaid: Option<(String, Units)>,
    pub hold: Option<Hold>,
}

pub fn assess(facts: &Facts<'_>, now: i64) -> Assessment {
    let terms = facts.terms;
    let order = by_arrival(facts.payments);
    let standing = standings(facts);
    let counted = |index: usize| {
        standing[index] == Standing::Counted
            && !facts.payments[index].reversed
            && facts.cancelled_at.is_none()
    };

    let mut positions = vec![Position::default(); facts.payments.len()];
    let mut credited = BigRational::zero();
    let mut pending = BigRational::zero();
    let mut confirming = false;
    let mut hold = None;
    let mut last_credited = None;
    let mut completed_at = None;
    let threshold = BigRational::new(
        BigInt::from(10_000 - terms.tolerance_bps.min(10_000)),
        BigInt::from(10_000),
    );
    for index in order.iter().copied() {
        let payment = &facts.payments[index];
        if !counted(index) {
            if payment.reached_policy() {
                positions[index].refundable = payment.units;
            }
            continue;
        }
        let share = share(terms, payment);
        match payment.verdict {
            Some(Verdict::Passed | Verdict::Accepted) if payment.reached_policy() => {
                let before = std::mem::replace(&mut credited, BigRational::zero());
                credited = &before + &share;
                positions[index] = split(terms, payment, &before, &credited);
                last_credited = Some(index);
                if completed_at.is_none() && credited >= threshold {
                    completed_at = Some(payment.arrived_at());
                }
            }
            Some(Verdict::Held(kind)) if payment.reached_policy() => {
                positions[index].held = payment.units;
                // A risk outranks a mere amount: accepting must be judged by the stricter of them.
                hold = match hold {
                    Some(known) if Hold::is_risk(known) => Some(known),
                    _ => Some(kind),
                };
            }
            _ => {
                pending += &share;
                confirming |= payment.level > payment.first_level;
            }
        }
    }

    let is_dust =
        |share: &BigRational| share * BigInt::from(terms.amount_minor) < BigRational::one();
    let overpaid = overpaid(terms, facts.payments, &positions);
    let status = if facts.cancelled_at.is_some() {
        Status::Cancelled
    } else if hold.is_some() {
        Status::UnderReview
    } else if let Some(at) = completed_at {
        match (&overpaid, at >= terms.deadline()) {
            (Some(_), _) => Status::Overpaid,
            (None, true) => Status::PaidLate,
            (None, false) => Status::Paid,
        }
    } else if !is_dust(&credited) {
        Status::PartiallyPaid
    } else if !pending.is_zero() && !is_dust(&(&credited + &pending)) {
        if confirming {
            Status::Confirming
        } else {
            Status::Detected
        }
    } else if now >= terms.deadline() {
        Status::Expired
    } else {
        Status::AwaitingPayment
    };

    let remaining = match (status, last_credited) {
        (Status::PartiallyPaid, Some(index)) => {
            let asset = &facts.payments[index].asset;
            let due = terms.due(asset).unwrap_or(Units::ZERO);
            let left = ((BigRational::one() - &credited) * BigInt::from(due.0))
                .ceil()
                .to_integer();
            Some((asset.clone(), Units(left.to_u128().unwrap_or(0))))
        }
        _ => None,
    };
    let parts = (0..facts.payments.len())
        .map(|index| Part {
            status: payment_status(&facts.payments[index], counted(index)),
            position: positions[index],
            standing: standing[index],
            dust: is_dust(&share(terms, &facts.payments[index]))
                && standing[index] != Standing::WrongAsset,
        })
        .collect();
    Assessment {
        status,
        parts,
        received: received(facts.payments, &order),
        remaining,
        overpaid,
        hold,
    }
}

/// Judges payments that reached their policy's level and were not judged yet. Whether an amount needs a
/// person is judged by all the invoice received, not by the single payment.
pub fn judge(
    facts: &Facts<'_>,
    manual_review_minor: Option<u64>,
    risk: impl Fn(&Payment) -> Option<Hold>,
) -> Vec<(usize, Verdict)> {
    if facts.cancelled_at.is_some() {
        return Vec::new();
    }
    let standing = standings(facts);
    let mut total = BigRational::zero();
    let mut verdicts = Vec::new();
    for index in by_arrival(facts.payments) {
        let payment = &facts.payments[index];
        if standing[index] != Standing::Counted || !payment.reached_policy() {
            continue;
        }
        total += share(facts.terms, payment);
        if payment.verdict.is_some() {
            continue;
        }
        let value = &total * BigInt::from(facts.terms.amount_minor);
        let amount_hold = manual_review_minor
            .filter(|limit| value >= BigRational::from_integer(BigInt::from(*limit)))
            .map(|_| Hold::ManualReview);
        verdicts.push((
            index,
            risk(payment)
                .or(amount_hold)
                .map_or(Verdict::Passed, Verdict::Held),
        ));
    }
    verdicts
}

fn by_arrival(payments: &[Payment]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..payments.len()).collect();
    order.sort_by(|a, b| {
        let key = |index: usize| (payments[index].arrived_at(), &payments[index].id);
        key(*a).cmp(&key(*b))
    });
    order
}

/// A payment counts when it arrived in time, or when one in time keeps the invoice open.
fn standings(facts: &Facts<'_>) -> Vec<Standing> {
    let terms = facts.terms;
    let deadline = terms.deadline();
    let in_time: BigRational = facts
        .payments
        .iter()
        .filter(|payment| !payment.reversed && payment.arrived_at() < deadline)
        .map(|payment| share(terms, payment))
        .sum();
    let kept_open = in_time * BigInt::from(terms.amount_minor) >= BigRational::one();
    let standing = |payment: &Payment| {
        if terms.due(&payment.asset).is_none() {
            return Standing::WrongAsset;
        }
        let arrived = payment.arrived_at();
        let after_cancel = facts.cancelled_at.is_some_and(|at| arrived >= at);
        if after_cancel || (arrived >= deadline && !kept_open) {
            Standing::Late
        } else {
            Standing::Counted
        }
    };
    facts.payments.iter().map(standing).collect()
}

fn share(terms: &Terms, payment: &Payment) -> BigRational {
    match terms.due(&payment.asset) {
        Some(due) if !due.is_zero() => {
            BigRational::new(BigInt::from(payment.counted_units().0), BigInt::from(due.0))
        }
        _ => BigRational::zero(),
    }
}

/// What of a credited payment settles the invoice, and what is beyond it.
fn split(terms: &Terms, payment: &Payment, before: &BigRational, after: &BigRational) -> Position {
    let one = BigRational::one();
    let excess = if *before >= one {
        payment.units
    } else if *after > one {
        let due = terms.due(&payment.asset).unwrap_or(Units::ZERO);
        let units = ((after - one) * BigInt::from(due.0)).floor().to_integer();
        Units(units.to_u128().unwrap_or(0).min(payment.units.0))
    } else {
        Units::ZERO
    };
    Position {
        settled: Units(payment.units.0 - excess.0),
        overpaid: excess,
        ..Position::default()
    }
}

/// The excess in the asset that holds most of it, measured by what the invoice asked for.
fn overpaid(
    terms: &Terms,
    payments: &[Payment],
    positions: &[Position],
) -> Option<(String, Units)> {
    let mut sums: Vec<(&str, Units)> = Vec::new();
    for (payment, position) in payments.iter().zip(positions) {
        if position.overpaid.is_zero() {
            continue;
        }
        match sums.iter_mut().find(|(asset, _)| *asset == payment.asset) {
            Some((_, sum)) => *sum = sum.plus(position.overpaid),
            None => sums.push((&payment.asset, position.overpaid)),
        }
    }
    let weight = |asset: &str, units: Units| {
        let due = terms.due(asset).unwrap_or(Units(1));
        BigRational::new(BigInt::from(units.0), BigInt::from(due.0.max(1)))
    };
    sums.into_iter()
        .max_by(|(a, left), (b, right)| weight(a, *left).cmp(&weight(b, *right)))
        .map(|(asset, units)| (asset.to_owned(), units))
}

fn received(payments: &[Payment], order: &[usize]) -> Vec<(String, Units)> {
    let mut sums: Vec<(String, Units)> = Vec::new();
    for payment in order
        .iter()
        .map(|index| &payments[*index])
        .filter(|payment| payment.reached_policy())
    {
        match sums.iter_mut().find(|(asset, _)| *asset == payment.asset) {
            Some((_, sum)) => *sum = sum.plus(payment.units),
            None => sums.push((payment.asset.clone(), payment.units)),
        }
    }
    sums
}

fn payment_status(payment: &Payment, counted: bool) -> PaymentStatus {
    if payment.reversed {
        return PaymentStatus::Reversed;
    }
    if !payment.reached_policy() {
        return match payment.level {
            crate::payment::Level::Pending => PaymentStatus::Pending,
            _ => PaymentStatus::Confirming,
        };
    }
    match payment.verdict {
        _ if !counted => PaymentStatus::Refundable,
        Some(Verdict::Held(_)) => PaymentStatus::Held,
        Some(_) => PaymentStatus::Credited,
        // Reached the level but not judged: not credited before somebody looked.
        None => PaymentStatus::Confirming,
    }
}

#[cfg(test)]
mod tests;
