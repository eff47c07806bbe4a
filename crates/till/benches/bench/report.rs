//! What was measured, as a table.

use super::figures::{Change, Hundredths, Pairs, Spread, Verdict, median, spread};

const COLUMNS: usize = 7;

#[derive(Default)]
pub struct Report(Vec<[String; COLUMNS]>);

impl Report {
    /// Speeds by turns: Till must be at least so many hundredths of the limit.
    pub fn at_least(&mut self, work: &str, limit: &str, pairs: &Pairs, target: Hundredths) {
        let verdict = pairs.at_least(target).to_string();
        self.speeds(work, limit, pairs, format!("≥ {target}"), verdict);
    }

    /// Speeds by turns, to know and not to reach.
    pub fn beside(&mut self, work: &str, limit: &str, pairs: &Pairs) {
        self.speeds(work, limit, pairs, "—".to_owned(), "—".to_owned());
    }

    fn speeds(&mut self, work: &str, limit: &str, pairs: &Pairs, target: String, verdict: String) {
        let ratios = pairs.ratios();
        self.line([
            work.to_owned(),
            format!("{limit} {}/s", median(&pairs.limit)),
            format!("{}/s", median(&pairs.program)),
            median(&ratios).to_string(),
            show(spread(&ratios)),
            target,
            verdict,
        ]);
    }

    /// A cost that must not exceed its target; both in `unit`.
    pub fn at_most(&mut self, work: &str, rounds: &[u64], target: u64, unit: &str) {
        let spread = spread(rounds);
        self.line([
            work.to_owned(),
            "—".to_owned(),
            format!("{} {unit}", median(rounds)),
            "—".to_owned(),
            show(spread),
            format!("≤ {target} {unit}"),
            Verdict::at_most(&spread, &target).to_string(),
        ]);
    }

    /// How much dearer the work became from the small database to the large one.
    pub fn growth(&mut self, work: &str, pairs: &Pairs, target: Hundredths) {
        let costs = pairs.costs();
        self.line([
            work.to_owned(),
            format!("small {}/s", median(&pairs.limit)),
            format!("large {}/s", median(&pairs.program)),
            median(&costs).to_string(),
            show(spread(&costs)),
            format!("≤ {target}"),
            pairs.at_most(target).to_string(),
        ]);
    }

    /// Speeds of two builds by turns; the limit of a pair is the older build.
    pub fn speed_of_two(&mut self, work: &str, pairs: &Pairs) {
        self.two(work, pairs, &pairs.ratios(), "/s", pairs.change_of_speed());
    }

    /// Times that two builds took by turns; the ratio says how many times faster this one was.
    pub fn time_of_two(&mut self, work: &str, pairs: &Pairs, unit: &str) {
        let unit = format!(" {unit}");
        self.two(work, pairs, &pairs.costs(), &unit, pairs.change_of_time());
    }

    fn two(&mut self, work: &str, pairs: &Pairs, ratios: &[Hundredths], unit: &str, is: Change) {
        self.line([
            work.to_owned(),
            format!("base {}{unit}", median(&pairs.limit)),
            format!("{}{unit}", median(&pairs.program)),
            median(ratios).to_string(),
            show(spread(ratios)),
            "—".to_owned(),
            is.to_string(),
        ]);
    }

    fn line(&mut self, cells: [String; COLUMNS]) {
        // At once too: whoever watches a run of minutes wants to see it move.
        eprintln!("  {}", cells.join("  "));
        self.0.push(cells);
    }

    pub fn print(&self) {
        let head = [
            "work", "limit", "till", "ratio", "spread", "target", "verdict",
        ];
        let head = head.map(str::to_owned);
        let widths: Vec<usize> = (0..COLUMNS)
            .map(|column| {
                let cells = self.0.iter().chain([&head]).map(|row| &row[column]);
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let show = |row: &[String; COLUMNS]| {
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

fn show<T: std::fmt::Display>(spread: Spread<T>) -> String {
    format!("{} to {}", spread.low, spread.high)
}
