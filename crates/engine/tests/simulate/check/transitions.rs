//! Which status may follow which: the contract's table and what it leaves to us, written out.

pub const STATUSES: [&str; 10] = [
    "awaiting_payment",
    "detected",
    "confirming",
    "paid",
    "partially_paid",
    "overpaid",
    "paid_late",
    "expired",
    "under_review",
    "cancelled",
];

/// Why a status may have changed, as far as the events between the two say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Payments came and rose, time passed, somebody cancelled; or what was never credited went away, which nobody is told.
    Silent,
    /// `invoice.payment_reversed` came before.
    Reversal,
    /// `invoice.review_resolved` came before.
    Decision,
}

/// `cancelled` says whether the invoice ever was.
pub fn legal(from: &str, to: &str, cause: Cause, cancelled: bool) -> bool {
    // What was reversed or decided may have changed nothing, and the next thing came in silence.
    let silent = came(from).contains(&to) || went(from, to, cancelled);
    silent
        || match cause {
            Cause::Silent => false,
            Cause::Reversal => reversed(from).contains(&to),
            // Only a rejection cancels what was paid; accepting gives what the facts are by now.
            Cause::Decision => from == "under_review" && to != "under_review",
        }
}

/// What the contract's table has, and what follows from "whatever is credited or held was detected before".
fn came(from: &str) -> &'static [&'static str] {
    match from {
        // Something may be held that would not have counted: late, of another asset, after cancelling.
        "awaiting_payment" => &["detected", "expired", "cancelled", "under_review"],
        "detected" => &[
            "confirming",
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "under_review",
        ],
        "confirming" => &[
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "under_review",
        ],
        // A further short payment is told again.
        "partially_paid" => &[
            "partially_paid",
            "paid",
            "overpaid",
            "paid_late",
            "under_review",
        ],
        "paid" => &["overpaid", "under_review"],
        // A payment made in time is seen, or seen again, after a late one: the price was met in time after all, with less than a
        // cent too much.
        "paid_late" => &["paid", "overpaid", "under_review"],
        // A further excess, too.
        "overpaid" => &["overpaid", "under_review"],
        // Seen later than it came: a block in time outdoes our clock.
        "expired" => &["detected", "under_review"],
        "cancelled" => &["under_review"],
        _ => &[],
    }
}

/// What was never credited went away, and the invoice is where it was before.
fn went(from: &str, to: &str, cancelled: bool) -> bool {
    match from {
        "detected" => matches!(to, "awaiting_payment" | "expired"),
        "confirming" => matches!(to, "awaiting_payment" | "expired" | "detected"),
        "under_review" => match to {
            "under_review" => false,
            "cancelled" => cancelled,
            _ => true,
        },
        _ => false,
    }
}

/// Credited money went away: whatever less than before the facts give.
fn reversed(from: &str) -> &'static [&'static str] {
    match from {
        "partially_paid" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "partially_paid",
            "expired",
        ],
        // The late rest may be enough without what was in time.
        "paid" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "partially_paid",
            "paid_late",
            "expired",
        ],
        "paid_late" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "partially_paid",
            "expired",
        ],
        "overpaid" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "partially_paid",
            "paid",
            "paid_late",
            "overpaid",
            "expired",
        ],
        _ => &[],
    }
}
