//! What was measured, as a table. Ratios are whole hundredths: they are compared, never computed with.

use std::fmt;

/// The middle of three rounds, so that one disturbed round does not decide.
pub fn median(rounds: &[u64]) -> u64 {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

#[derive(Clone, Copy)]
pub struct Hundredths(pub u64);

impl Hundredths {
    pub fn of(part: u64, whole: u64) -> Hundredths {
        Hundredths(part * 100 / whole.max(1))
    }
}

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[derive(Default)]
pub struct Report(Vec<[String; 6]>);

impl Report {
    /// Speeds side by side: Till must be at least so many hundredths of the limit.
    pub fn at_least(&mut self, work: &str, limit: (&str, u64), till: u64, target: Hundredths) {
        let ratio = Hundredths::of(till, limit.1);
        self.line([
            work.to_owned(),
            format!("{} {}/s", limit.0, limit.1),
            format!("{till}/s"),
            ratio.to_string(),
            format!("≥ {target}"),
            reached(ratio.0 >= target.0),
        ]);
    }

    /// Speeds side by side, to know and not to reach.
    pub fn beside(&mut self, work: &str, limit: (&str, u64), till: u64) {
        self.line([
            work.to_owned(),
            format!("{} {}/s", limit.0, limit.1),
            format!("{till}/s"),
            Hundredths::of(till, limit.1).to_string(),
            "—".to_owned(),
            "—".to_owned(),
        ]);
    }

    /// A cost that must not exceed its target; both in `unit`.
    pub fn at_most(&mut self, work: &str, till: u64, target: u64, unit: &str) {
        self.line([
            work.to_owned(),
            "—".to_owned(),
            format!("{till} {unit}"),
            "—".to_owned(),
            format!("≤ {target} {unit}"),
            reached(till <= target),
        ]);
    }

    /// How much dearer the work became from the small to the large database.
    pub fn growth(&mut self, work: &str, small: u64, large: u64, target: Hundredths) {
        let ratio = Hundredths::of(small, large);
        self.line([
            work.to_owned(),
            format!("small {small}/s"),
            format!("large {large}/s"),
            ratio.to_string(),
            format!("≤ {target}"),
            reached(ratio.0 <= target.0),
        ]);
    }

    fn line(&mut self, cells: [String; 6]) {
        // At once too: whoever watches a run of minutes wants to see it move.
        eprintln!("  {}", cells.join("  "));
        self.0.push(cells);
    }

    pub fn print(&self) {
        let head = ["work", "limit", "till", "ratio", "target", "reached"].map(str::to_owned);
        let widths: Vec<usize> = (0..head.len())
            .map(|column| {
                let cells = self.0.iter().chain([&head]).map(|row| &row[column]);
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let show = |row: &[String; 6]| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            println!("| {} |", cells.join(" | "));
        };
        show(&head);
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        println!("| {} |", rule.join(" | "));
        self.0.iter().for_each(show);
    }
}

fn reached(is_reached: bool) -> String {
    if is_reached { "yes" } else { "NO" }.to_owned()
}
