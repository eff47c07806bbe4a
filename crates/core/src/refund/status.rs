//! A refund's status as a pure function of its facts: what was done with it, what the lists say of the address, and whether
//! the money that it gives back is there. Nothing here remembers a transition.

use super::refund_status::RefundStatus;
use crate::payment::{Hold, PaymentStatus, Verdict};

/// Why a refund is in review. Where several reasons apply the first of these is shown, so their order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReviewReason {
    Sanctions,
    Blacklist,
    /// A list could not be asked about the address.
    ScreeningUnavailable,
    /// A payment that the refund is drawn from left the chain.
    PaymentReversed,
    /// The refund was made beside a price that was paid, and the price is not paid any more.
    PriceUncovered,
    /// The network took back blocks that were final, with a payment that covers the refund.
    FinalityViolation,
}

impl ReviewReason {
    pub const ALL: [ReviewReason; 6] = [
        ReviewReason::Sanctions,
        ReviewReason::Blacklist,
        ReviewReason::ScreeningUnavailable,
        ReviewReason::PaymentReversed,
        ReviewReason::PriceUncovered,
        ReviewReason::FinalityViolation,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ReviewReason::Sanctions => "sanctions",
            ReviewReason::Blacklist => "blacklist",
            ReviewReason::ScreeningUnavailable => "screening_unavailable",
            ReviewReason::PaymentReversed => "payment_reversed",
            ReviewReason::PriceUncovered => "price_uncovered",
            ReviewReason::FinalityViolation => "finality_violation",
        }
    }

    pub fn parse(text: &str) -> Option<ReviewReason> {
        ReviewReason::ALL
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }
}

/// How the price of a refund's invoice is covered without what was refunded out of its excess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// It is paid, or nothing is asked for any more.
    Paid,
    /// Only with payments that are held because the network took back final blocks.
    Disputed,
    Missing,
}

/// What a refund's status follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub is_sent: bool,
    pub is_cancelled: bool,
    pub is_claimed: bool,
    /// What the lists say against the payout address.
    pub screening: Option<ReviewReason>,
    /// What is wrong with the payments that it is drawn from, see [`source_doubt`].
    pub sources: Option<ReviewReason>,
    /// Whether the price was paid beside the refund when it was made. One that took of the price itself, or was made while
    /// the price was not paid, gave it up on purpose.
    pub was_covered: bool,
    pub cover: Cover,
    /// Whether all that is refunded up to this refund was received.
    pub is_received: bool,
}

/// Where a refund stands, and why if somebody has to look at it. What was sent is sent, whatever was decided before; what
/// nobody claimed is judged when it is claimed.
pub fn status(facts: &Facts) -> (RefundStatus, Option<ReviewReason>) {
    if facts.is_sent {
        return (RefundStatus::Sent, None);
    }
    if facts.is_cancelled {
        return (RefundStatus::Cancelled, None);
    }
    if !facts.is_claimed {
        return (RefundStatus::Unclaimed, None);
    }
    let price = match facts.cover {
        Cover::Missing if facts.was_covered => Some(ReviewReason::PriceUncovered),
        Cover::Disputed if facts.was_covered => Some(ReviewReason::FinalityViolation),
        Cover::Paid | Cover::Disputed | Cover::Missing => None,
    };
    let beyond = (!facts.is_received).then_some(ReviewReason::PriceUncovered);
    let doubts = [facts.screening, facts.sources, price, beyond];
    match doubts.into_iter().flatten().min() {
        Some(reason) => (RefundStatus::InReview, Some(reason)),
        None => (RefundStatus::ReadyToSend, None),
    }
}

/// What is wrong with a payment that a refund is drawn from; nothing while it is there and nobody has to look at it.
/// `is_disputed`: its block was final and was replaced, and no operator has looked yet. Who rejects it then has not said that
/// the money is there.
pub fn source_doubt(
    status: PaymentStatus,
    verdict: Option<Verdict>,
    is_disputed: bool,
) -> Option<ReviewReason> {
    if status.is_free() {
        let is_doubted = is_disputed && verdict != Some(Verdict::Accepted);
        return is_doubted.then_some(ReviewReason::FinalityViolation);
    }
    Some(match (status, verdict) {
        (PaymentStatus::Held, Some(Verdict::Held(Hold::Sanctions))) => ReviewReason::Sanctions,
        (PaymentStatus::Held, Some(Verdict::Held(Hold::Blacklist))) => ReviewReason::Blacklist,
        (PaymentStatus::Held, Some(Verdict::Held(Hold::FinalityViolation))) => {
            ReviewReason::FinalityViolation
        }
        // It is gone, or came back as something that has to be looked at, or settles again.
        _ => ReviewReason::PaymentReversed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready() -> Facts {
        Facts {
            is_sent: false,
            is_cancelled: false,
            is_claimed: true,
            screening: None,
            sources: None,
            was_covered: true,
            cover: Cover::Paid,
            is_received: true,
        }
    }

    #[test]
    fn the_names_of_reasons_read_back() {
        for reason in ReviewReason::ALL {
            assert_eq!(ReviewReason::parse(reason.as_str()), Some(reason));
        }
    }

    #[test]
    fn a_refund_is_in_doubt_while_what_it_is_drawn_from_is_not_free() {
        use PaymentStatus::{Confirming, Credited, Held, Pending, Refundable, Reversed};
        let held = |hold| Some(Verdict::Held(hold));
        let passed = Some(Verdict::Passed);
        let reversed = Some(ReviewReason::PaymentReversed);
        for (status, verdict, expected) in [
            (Credited, passed, None),
            (Refundable, Some(Verdict::Rejected), None),
            (Reversed, None, reversed),
            (Pending, None, reversed),
            (Confirming, passed, reversed),
            (Held, held(Hold::ManualReview), reversed),
            (Held, held(Hold::Sanctions), Some(ReviewReason::Sanctions)),
            (Held, held(Hold::Blacklist), Some(ReviewReason::Blacklist)),
            (
                Held,
                held(Hold::FinalityViolation),
                Some(ReviewReason::FinalityViolation),
            ),
        ] {
            assert_eq!(source_doubt(status, verdict, false), expected, "{status:?}");
        }
        // A decision ends the hold, and not the doubt whether the money is there.
        let disputed = |status, verdict| source_doubt(status, Some(verdict), true);
        let violation = Some(ReviewReason::FinalityViolation);
        assert_eq!(disputed(Refundable, Verdict::Rejected), violation);
        assert_eq!(disputed(Refundable, Verdict::Screened), violation);
        assert_eq!(disputed(Credited, Verdict::Accepted), None);
        let sanctions = disputed(Held, Verdict::Held(Hold::Sanctions));
        assert_eq!(sanctions, Some(ReviewReason::Sanctions));
    }

    #[test]
    fn each_fact_has_its_status_and_its_reason() {
        use ReviewReason::{
            Blacklist, FinalityViolation, PaymentReversed, PriceUncovered, Sanctions,
            ScreeningUnavailable,
        };
        let review = |reason| (RefundStatus::InReview, Some(reason));
        let change = |change: fn(&mut Facts)| {
            let mut facts = ready();
            change(&mut facts);
            facts
        };
        let rows = [
            (ready(), (RefundStatus::ReadyToSend, None)),
            (
                change(|it| it.is_claimed = false),
                (RefundStatus::Unclaimed, None),
            ),
            (
                change(|it| it.is_cancelled = true),
                (RefundStatus::Cancelled, None),
            ),
            (change(|it| it.is_sent = true), (RefundStatus::Sent, None)),
            // What was paid out is sent, though somebody cancelled it.
            (
                change(|it| (it.is_sent, it.is_cancelled) = (true, true)),
                (RefundStatus::Sent, None),
            ),
            // An unclaimed one is judged when it is claimed.
            (
                change(|it| (it.is_claimed, it.sources) = (false, Some(PaymentReversed))),
                (RefundStatus::Unclaimed, None),
            ),
            (
                change(|it| it.screening = Some(Sanctions)),
                review(Sanctions),
            ),
            (
                change(|it| it.screening = Some(Blacklist)),
                review(Blacklist),
            ),
            (
                change(|it| it.screening = Some(ScreeningUnavailable)),
                review(ScreeningUnavailable),
            ),
            (
                change(|it| it.sources = Some(PaymentReversed)),
                review(PaymentReversed),
            ),
            (
                change(|it| it.cover = Cover::Missing),
                review(PriceUncovered),
            ),
            (change(|it| it.is_received = false), review(PriceUncovered)),
            (
                change(|it| it.cover = Cover::Disputed),
                review(FinalityViolation),
            ),
            // Made while the price was not paid, it uncovers nothing.
            (
                change(|it| (it.was_covered, it.cover) = (false, Cover::Missing)),
                (RefundStatus::ReadyToSend, None),
            ),
            // The first reason is shown.
            (
                change(|it| {
                    it.screening = Some(Blacklist);
                    it.sources = Some(PaymentReversed);
                    it.cover = Cover::Missing;
                }),
                review(Blacklist),
            ),
            (
                change(|it| {
                    it.sources = Some(PaymentReversed);
                    it.cover = Cover::Missing;
                }),
                review(PaymentReversed),
            ),
            (
                change(|it| {
                    it.sources = Some(FinalityViolation);
                    it.cover = Cover::Missing;
                }),
                review(PriceUncovered),
            ),
            (
                change(|it| {
                    it.sources = Some(FinalityViolation);
                    it.cover = Cover::Disputed;
                }),
                review(FinalityViolation),
            ),
        ];
        for (facts, expected) in rows {
            assert_eq!(status(&facts), expected, "{facts:?}");
        }
    }
}
