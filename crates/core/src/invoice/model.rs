//! An invoice's terms and facts, and what they come to.

use crate::ledger::Position;
use crate::limits::PARTIAL_LIFE_H;
use crate::money::Units;
use crate::payment::{Hold, Payment, PaymentStatus};
use crate::pricing::Rate;
use crate::time::HOUR_MS;

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

    /// Nothing more is expected of the payer.
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
    /// What `due` was computed with; none for an asset that has the invoice's currency, and of invoices from before rates
    /// were kept.
    pub rate: Option<Rate>,
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
    /// When its cooldown ends, in business time; none while the invoice is open. From then on it may be another invoice's.
    pub held_until: Option<i64>,
}

impl Deposit {
    /// Whether the address is this invoice's at a moment: leased to it, or cooling down after it.
    pub fn is_held(&self, now: i64) -> bool {
        self.held_until.is_none_or(|until| now < until)
    }
}

/// What becomes of the money that pays an invoice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    #[default]
    Sale,
    /// It becomes the customer's prepaid credit once it is final.
    TopUp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What is asked for.
    pub amount_minor: u64,
    /// What it costs: the same, and what prepaid credit pays of it.
    pub price_minor: u64,
    pub options: Vec<PayOption>,
    /// How much of the price may be missing.
    pub tolerance_bps: u32,
    pub expires_at: i64,
    pub select_by: Option<i64>,
    /// What arrives later counts no more, whatever was paid before; none where an invoice that is paid in part takes
    /// the rest for good.
    pub takes_until: Option<i64>,
    /// The same for assets whose price moves: nobody keeps a rate by a part that came in time.
    pub volatile_until: Option<i64>,
    pub purpose: Purpose,
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

    /// Until when an invoice that nothing was paid to waits.
    pub fn waits_until(&self) -> i64 {
        let deadline = self.deadline();
        self.takes_until.map_or(deadline, |end| end.min(deadline))
    }

    /// Until when an invoice that is paid in part keeps what it holds for the rest.
    pub fn closes_at(&self) -> i64 {
        let life_ms = i64::from(PARTIAL_LIFE_H) * HOUR_MS;
        let closes_at = self
            .takes_until
            .unwrap_or_else(|| self.expires_at.saturating_add(life_ms));
        let asks_steady = self
            .options
            .iter()
            .any(|option| !is_volatile(&option.asset));
        let volatile = self.volatile_until.filter(|_| !asks_steady);
        volatile.map_or(closes_at, |until| until.min(closes_at))
    }

    /// When an invoice that is paid in part is to be looked at next: when it stops asking for assets whose price moves, or
    /// closes.
    pub fn looks_at(&self, now: i64) -> i64 {
        let closes_at = self.closes_at();
        let volatile = self.volatile_until.map(|until| until.saturating_add(1));
        let stops = volatile.filter(|stops| now < *stops && *stops < closes_at);
        stops.unwrap_or(closes_at)
    }

    /// Whether the invoice's rate of an asset still holds at a moment. What arrives in one whose price moves counts no more
    /// after that, and is not asked for.
    pub(super) fn has_rate(&self, asset: &str, now: i64) -> bool {
        let volatile = self.volatile_until.filter(|_| is_volatile(asset));
        volatile.is_none_or(|until| now <= until)
    }

    /// Whether what is sent in this asset at a moment may still count: what an invoice asks for is what it takes.
    pub fn is_asked(&self, asset: &str, now: i64) -> bool {
        self.has_rate(asset, now) && self.takes_until.is_none_or(|until| now < until)
    }

    /// The last moment at which what arrives in this asset may count, in time or not.
    pub(super) fn takes(&self, asset: &str) -> Option<i64> {
        let volatile = self.volatile_until.filter(|_| is_volatile(asset));
        self.takes_until.into_iter().chain(volatile).min()
    }

    pub fn due(&self, asset: &str) -> Option<Units> {
        self.options
            .iter()
            .find(|option| option.asset == asset)
            .map(|option| option.due)
    }
}

/// Its price moves: it is nobody's own currency.
pub(super) fn is_volatile(asset: &str) -> bool {
    let known = crate::asset::Registry::builtin().asset(asset);
    known.is_some_and(|known| known.currency.is_none())
}

/// What the payments come to, as the invoice shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub received: Vec<(String, Units)>,
    pub remaining: Option<(String, Units)>,
    pub overpaid: Option<(String, Units)>,
    pub review: Option<Review>,
    /// What each option asks for, where money that was sent back of a payment that is gone is owed with the price.
    pub asked: Vec<(String, Units)>,
}

impl Summary {
    /// What the payer has to send in all when paying by this option.
    pub fn asked_by(&self, option: &PayOption) -> Units {
        asked_in(&self.asked, &option.asset).unwrap_or(option.due)
    }
}

pub(super) fn asked_in(asked: &[(String, Units)], asset: &str) -> Option<Units> {
    let found = asked.iter().find(|(known, _)| known == asset);
    found.map(|(_, units)| *units)
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
    /// The payment's id.
    pub payment: String,
    pub status: PaymentStatus,
    pub position: Position,
    pub standing: Standing,
    /// Worth less than a cent: it adds up, and is otherwise nothing to anybody.
    pub dust: bool,
    /// A review's decision was against it.
    pub rejected: bool,
    /// The how-manieth of the invoice's payments it was to be credited; kept with its facts.
    pub credited: Option<u32>,
    /// What of it was credited beyond the price, whether or not that was refunded since.
    pub beyond: Units,
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
    /// Per asset, in order of arrival: reached the policy's level and not gone.
    pub received: Vec<(String, Units)>,
    /// What is still to be sent; only while partially paid.
    pub remaining: Option<(String, Units)>,
    /// The excess; only while overpaid.
    pub overpaid: Option<(String, Units)>,
    /// See [`Summary::asked`].
    pub asked: Vec<(String, Units)>,
    /// Why it waits for a decision; only while under review.
    pub hold: Option<Hold>,
    /// What was credited pays the price, whatever else is held.
    pub is_covered: bool,
    /// The same together with what is held because its network took back final blocks.
    pub is_covered_with_disputed: bool,
    /// The same together with what refunds that are not sent have taken: cancelled or expired, they leave it paid.
    pub is_covered_with_promised: bool,
    /// Nothing more is waited for: its address may cool down. What arrives nevertheless counts as the facts say.
    pub is_over: bool,
    /// The status, and whether it is over, as they would be if what is held had never come.
    pub status_without_held: Status,
    pub is_over_without_held: bool,
    /// Accepted, something that is held would count towards the price.
    pub held_may_count: bool,
}

impl Assessment {
    /// What the payer has to send in all when paying in this asset; none where it is not offered.
    pub fn asked_in(&self, terms: &Terms, asset: &str) -> Option<Units> {
        asked_in(&self.asked, asset).or_else(|| terms.due(asset))
    }

    /// What of a payment is beyond the price and was not refunded yet.
    pub fn excess_left(&self, payment: &Payment) -> Units {
        let part = self.part(&payment.id);
        let beyond = part.map_or(Units::ZERO, |part| part.beyond);
        let counted = beyond.min(payment.counted_units());
        Units(counted.0.saturating_sub(payment.taken.withdrawn.0))
    }

    pub fn part(&self, payment: &str) -> Option<&Part> {
        self.parts.iter().find(|part| part.payment == payment)
    }
}
