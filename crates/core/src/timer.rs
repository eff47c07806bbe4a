//! What falls due. A kind's name is kept in the database: it may be added to, never changed. What falls due at one moment
//! happens in the order of the names, so that a subscription is charged after what left the chain was looked at.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimerKind {
    /// An invoice's time is over.
    ExpireInvoice,
    /// A refund's link was open long enough.
    ExpireClaim,
    /// Something about a subscription falls due.
    StepSubscription,
    /// A customer has more or less prepaid credit than before.
    ShareCredit,
    /// The invoice of an attempt that is not the one under way has changed.
    ResolveCharge,
    /// A change of a destination or of a webhook's URL or secret has waited long enough.
    ApplyChange,
    /// An invoice came under review in live mode, and the merchant's team is to be told.
    TellReview,
}

impl TimerKind {
    pub const ALL: [TimerKind; 7] = [
        TimerKind::ExpireInvoice,
        TimerKind::ExpireClaim,
        TimerKind::StepSubscription,
        TimerKind::ShareCredit,
        TimerKind::ResolveCharge,
        TimerKind::ApplyChange,
        TimerKind::TellReview,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TimerKind::ExpireInvoice => "expire_invoice",
            TimerKind::ExpireClaim => "expire_claim",
            TimerKind::StepSubscription => "step_subscription",
            TimerKind::ShareCredit => "share_credit",
            TimerKind::ResolveCharge => "resolve_charge",
            TimerKind::ApplyChange => "apply_change",
            TimerKind::TellReview => "tell_review",
        }
    }

    /// None for a kind that only a newer server knows.
    pub fn parse(text: &str) -> Option<TimerKind> {
        TimerKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_is_charged_after_what_left_the_chain_was_looked_at() {
        let step = TimerKind::StepSubscription.as_str();
        for look in [TimerKind::ShareCredit, TimerKind::ResolveCharge] {
            assert!(look.as_str() < step);
        }
    }
}
