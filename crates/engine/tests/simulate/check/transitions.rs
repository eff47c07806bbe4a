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

pub fn legal(from: &str, to: &str) -> bool {
    let next: &[&str] = match from {
        // Whatever is credited or held was detected before.
        "awaiting_payment" => &["detected", "confirming", "expired", "cancelled"],
        // Seen later than it came: a block in time outdoes our clock.
        "expired" => &["detected", "confirming"],
        "detected" | "confirming" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "expired",
            "under_review",
        ],
        // From here back to the beginning only by a reorganisation.
        "partially_paid" | "overpaid" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "expired",
            "under_review",
        ],
        "paid" | "paid_late" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "expired",
            "under_review",
        ],
        "under_review" => &[
            "awaiting_payment",
            "detected",
            "confirming",
            "paid",
            "partially_paid",
            "overpaid",
            "paid_late",
            "expired",
            "cancelled",
        ],
        _ => &[],
    };
    next.contains(&to) && !(from == to && !matches!(from, "partially_paid" | "overpaid"))
}
