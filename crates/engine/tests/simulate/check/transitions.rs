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

/// Where a reorganisation may lead, and what may come after a payment was seen.
const BEYOND: &[&str] = &[
    "awaiting_payment",
    "detected",
    "confirming",
    "paid",
    "partially_paid",
    "overpaid",
    "paid_late",
    "expired",
    "under_review",
];

pub fn legal(from: &str, to: &str) -> bool {
    if from == to {
        // A further short payment or a further excess is told again.
        return matches!(from, "partially_paid" | "overpaid");
    }
    match from {
        // Whatever is credited or held was detected before.
        // Something may be held that would not have counted: late, of another asset, after cancelling.
        "awaiting_payment" => matches!(
            to,
            "detected" | "confirming" | "expired" | "cancelled" | "under_review"
        ),
        // Seen later than it came: a block in time outdoes our clock.
        "expired" => matches!(to, "detected" | "confirming" | "under_review"),
        "cancelled" => to == "under_review",
        // Only a rejection cancels what was paid.
        "under_review" => to == "cancelled" || BEYOND.contains(&to),
        _ => BEYOND.contains(&to),
    }
}
