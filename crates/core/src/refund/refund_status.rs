//! The statuses of a refund.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefundStatus {
    /// The payer has not said where to send it. Stays so when the link expires.
    Unclaimed,
    ReadyToSend,
    /// Somebody has to look at it before it may be paid, see [`ReviewReason`].
    InReview,
    Sent,
    Cancelled,
}

impl RefundStatus {
    pub const ALL: [RefundStatus; 5] = [
        RefundStatus::Unclaimed,
        RefundStatus::ReadyToSend,
        RefundStatus::InReview,
        RefundStatus::Sent,
        RefundStatus::Cancelled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            RefundStatus::Unclaimed => "unclaimed",
            RefundStatus::ReadyToSend => "ready_to_send",
            RefundStatus::InReview => "in_review",
            RefundStatus::Sent => "sent",
            RefundStatus::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<RefundStatus> {
        RefundStatus::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}
