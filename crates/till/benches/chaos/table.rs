//! What came of it, as a table.

use std::time::Duration;

use super::ledger::{Counts, StoodStill};

pub struct Cycle {
    pub number: usize,
    pub fault: &'static str,
    pub stood_still: StoodStill,
    /// What was written beside Till.
    pub database_stood_still: Duration,
    /// Since the beginning.
    pub counts: Counts,
    pub wrong: Vec<String>,
}

#[derive(Default)]
pub struct Table(Vec<Cycle>);

impl Table {
    pub fn add(&mut self, cycle: Cycle) {
        // At once too: whoever watches a run of hours wants to see it move.
        eprintln!("  {}", row(&cycle, self.0.last()));
        self.0.push(cycle);
    }

    pub fn is_all_well(&self) -> bool {
        self.0.iter().all(|cycle| cycle.wrong.is_empty())
    }

    pub fn print(&self) {
        println!(
            "\n| cycle | fault | database stood still | Till | pooled | direct | pooled | created | paid | asked again | webhooks | again | wrong |"
        );
        println!("|{}", "---|".repeat(13));
        let mut before = None;
        for cycle in &self.0 {
            println!("{}", row(cycle, before));
            before = Some(cycle);
        }
        println!(
            "\n| fault | cycles | database stood still, median | worst | Till, median | worst | wrong |"
        );
        println!("|{}", "---|".repeat(7));
        let mut faults: Vec<&str> = self.0.iter().map(|cycle| cycle.fault).collect();
        faults.sort_unstable();
        faults.dedup();
        for fault in faults {
            let of: Vec<&Cycle> = self.0.iter().filter(|it| it.fault == fault).collect();
            let database = of.iter().map(|it| it.database_stood_still).collect();
            let till = of.iter().map(|it| it.stood_still.all).collect();
            let wrong: usize = of.iter().map(|it| it.wrong.len()).sum();
            let (count, database, till) =
                (of.len(), middle_and_worst(database), middle_and_worst(till));
            println!("| {fault} | {count} | {database} | {till} | {wrong} |");
        }
    }
}

fn middle_and_worst(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |place: usize| seconds(times.get(place).copied().unwrap_or_default());
    let (middle, worst) = (times.len() / 2, times.len().saturating_sub(1));
    format!("{} | {}", at(middle), at(worst))
}

fn seconds(time: Duration) -> String {
    format!("{}.{} s", time.as_secs(), time.subsec_millis() / 100)
}

fn row(cycle: &Cycle, before: Option<&Cycle>) -> String {
    let then = before.map(|it| it.counts).unwrap_or_default();
    let now = cycle.counts;
    let each: Vec<String> = cycle
        .stood_still
        .each
        .iter()
        .copied()
        .map(seconds)
        .collect();
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        cycle.number,
        cycle.fault,
        seconds(cycle.database_stood_still),
        seconds(cycle.stood_still.all),
        each.join(" | "),
        now.created - then.created,
        now.paid - then.paid,
        now.asked_again - then.asked_again,
        now.webhooks - then.webhooks,
        now.webhooks_again - then.webhooks_again,
        cycle.wrong.len(),
    )
}
