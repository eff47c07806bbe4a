//! A payment: one on-chain transfer attributed to an invoice, as the facts we know of it.

use serde::{Deserialize, Serialize};

use crate::ledger::TakenFromPayment;
use crate::money::Units;

/// How settled the chain holds a transfer to be. Networks without a level in between skip it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Pending,
    Included,
    Safe,
    Final,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::Pending, Level::Included, Level::Safe, Level::Final];

    pub fn as_str(self) -> &'static str {
        match self {
            Level::Pending => "pending",
            Level::Included => "included",
            Level::Safe => "safe",
            Level::Final => "final",
        }
    }

    pub fn parse(text: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// Why a payment is kept from being credited until somebody decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hold {
    ManualReview,
    Sanctions,
    Blacklist,
    FinalityViolation,
}

impl Hold {
    pub const ALL: [Hold; 4] = [
        Hold::ManualReview,
        Hold::Sanctions,
        Hold::Blacklist,
        Hold::FinalityViolation,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Hold::ManualReview => "manual_review",
            Hold::Sanctions => "sanctions",
            Hold::Blacklist => "blacklist",
            Hold::FinalityViolation => "finality_violation",
        }
    }

    pub fn parse(text: &str) -> Option<Hold> {
        Hold::ALL.into_iter().find(|hold| hold.as_str() == text)
    }

    /// Risk holds may be accepted only by a person on the dashboard when real money is concerned.
    pub fn is_risk(self) -> bool {
        self != Hold::ManualReview
    }
}

/// What was decided about a payment once it reached the level its policy asks for. The names are kept in the
/// database: they may be added to, never changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Its sender is on no list, and it does not count: whether its amount needs a person was never asked.
    Screened,
    Passed,
    Held(Hold),
    Accepted,
    Rejected,
}

impl Verdict {
    pub fn show(self) -> String {
        match self {
            Verdict::Screened => "screened".to_owned(),
            Verdict::Passed => "passed".to_owned(),
            Verdict::Held(hold) => format!("held:{}", hold.as_str()),
            Verdict::Accepted => "accepted".to_owned(),
            Verdict::Rejected => "rejected".to_owned(),
        }
    }

    pub fn parse(text: &str) -> Option<Verdict> {
        match text {
            "screened" => Some(Verdict::Screened),
            "passed" => Some(Verdict::Passed),
            "accepted" => Some(Verdict::Accepted),
            "rejected" => Some(Verdict::Rejected),
            _ => text
                .strip_prefix("held:")
                .and_then(Hold::parse)
                .map(Verdict::Held),
        }
    }
}

/// What a transfer was recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributedBy {
    DepositAddress,
    WalletBinding,
}

impl AttributedBy {
    pub fn as_str(self) -> &'static str {
        match self {
            AttributedBy::DepositAddress => "deposit_address",
            AttributedBy::WalletBinding => "wallet_binding",
        }
    }

    pub fn parse(text: &str) -> Option<AttributedBy> {
        [AttributedBy::DepositAddress, AttributedBy::WalletBinding]
            .into_iter()
            .find(|by| by.as_str() == text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaymentStatus {
    Pending,
    Confirming,
    Credited,
    Held,
    Refundable,
    Reversed,
}

impl PaymentStatus {
    pub const ALL: [PaymentStatus; 6] = [
        PaymentStatus::Pending,
        PaymentStatus::Confirming,
        PaymentStatus::Credited,
        PaymentStatus::Held,
        PaymentStatus::Refundable,
        PaymentStatus::Reversed,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            PaymentStatus::Pending => "pending",
            PaymentStatus::Confirming => "confirming",
            PaymentStatus::Credited => "credited",
            PaymentStatus::Held => "held",
            PaymentStatus::Refundable => "refundable",
            PaymentStatus::Reversed => "reversed",
        }
    }

    pub fn parse(text: &str) -> Option<PaymentStatus> {
        PaymentStatus::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }

    /// Whether the transfer stands in the ledger.
    pub fn is_posted(self) -> bool {
        self.is_free() || self == PaymentStatus::Held
    }

    /// Whether it is there, and nobody has to look at it first: what was received may be given back.
    pub fn is_free(self) -> bool {
        matches!(self, PaymentStatus::Credited | PaymentStatus::Refundable)
    }
}

/// The facts about one transfer that an invoice's status is computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    pub id: String,
    pub asset: String,
    pub units: Units,
    /// The part of `units` that only told a wallet's payment from others of the same amount: received, but
    /// not part of the price.
    pub suffix: Units,
    pub level: Level,
    pub first_level: Level,
    /// The level at which this network's policy credits.
    pub credit_at: Level,
    pub first_seen_at: i64,
    pub block_time: Option<i64>,
    pub verdict: Option<Verdict>,
    /// When the transfer left the canonical chain; none while it is there. One that returned was never away.
    pub gone_at: Option<i64>,
    /// The how-manieth of its invoice's payments to be credited; none while it is not.
    pub credited: Option<u32>,
    /// What was taken out of it since it was received.
    pub taken: TakenFromPayment,
    /// What of `taken.withdrawn` refunds took out of what was beyond the price, one entry for each.
    pub excess_taken: Vec<TakenExcess>,
}

/// What one refund took of a payment out of what was beyond the invoice's price.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenExcess {
    pub units: Units,
    /// The id of the invoice's last payment then: those that came after it were no part of that excess.
    pub last_payment: String,
}

impl Payment {
    /// A block older than our sighting proves the payer was earlier than we were.
    pub fn arrived_at(&self) -> i64 {
        self.block_time
            .map_or(self.first_seen_at, |block| block.min(self.first_seen_at))
    }

    pub fn is_gone(&self) -> bool {
        self.gone_at.is_some()
    }

    /// Somebody must decide about it first.
    pub fn is_held(&self) -> bool {
        matches!(self.verdict, Some(Verdict::Held(_)))
    }

    /// What of it pays the price.
    pub fn counted_units(&self) -> Units {
        Units(self.units.0.saturating_sub(self.suffix.0))
    }

    /// What of its price refunds took while the price was not paid.
    pub fn withdrawn_unpaid(&self) -> Units {
        let excess = self.excess_taken.iter();
        let excess = excess.fold(Units::ZERO, |sum, taken| sum.plus(taken.units));
        Units(self.taken.withdrawn.0.saturating_sub(excess.0))
    }

    pub fn reached_policy(&self) -> bool {
        !self.is_gone() && self.level >= self.credit_at
    }
}

#[cfg(test)]
mod tests;
