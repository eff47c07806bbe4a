//! Shrinks a failing seed: leaves out steps, accounts and parts of steps until nothing more can go and it still fails in
//! the same way. What is left is a short story that a person can follow.

mod test;
mod words;

pub use words::{kind, parse, show, story};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::run::{Checks, Failure, Kept, Ran, Told, Way};
use crate::tape::{Part, Recording};

/// How a family runs one seed.
pub type Run<'a> = &'a dyn Fn(Checks, &Way) -> Ran;

/// What is left of a failing run.
pub struct Shrunk {
    pub kept: Kept,
    pub failure: Failure,
    pub told: Vec<Told>,
    /// Whether nothing more can be left out; otherwise its time was up.
    pub is_done: bool,
}

/// Repeats kept steps of a seed, all of whose checks are made after each step.
pub fn repeat(run: Run, kept: &Kept, rests: bool) -> Ran {
    let recorded = run(Checks::AsUsual, &Way::Recorded);
    let recording = Arc::new(recorded.recording.expect("a recorded run has a recording"));
    let way = Way::Repeated {
        recording: &recording,
        kept,
        rests,
    };
    run(Checks::All, &way)
}

/// Shrinks a seed that fails. `may_go_on` says whether there is time for another try.
pub fn shrink(run: Run, may_go_on: &dyn Fn() -> bool) -> Result<Shrunk, String> {
    let recorded = run(Checks::All, &Way::Recorded);
    let failure = recorded
        .failure
        .ok_or("it does not fail when it is recorded")?;
    let recording = recorded.recording.expect("a recorded run has a recording");
    let mut search = Search {
        run,
        may_go_on,
        recording: Arc::new(recording),
        kind: kind(&failure.wrong),
        rests: failure.step.is_none(),
        kept: recorded
            .told
            .iter()
            .filter_map(|told| Some((told.step?, BTreeSet::new())))
            .collect(),
        failure,
        told: recorded.told,
        tried: BTreeSet::new(),
        is_out_of_time: false,
    };
    if !search.fails_with(search.kept.clone()) && !search.is_out_of_time {
        return Err("repeating all of its steps does not fail in the same way".to_owned());
    }
    search.leave_out_idle_steps();
    search.leave_out_merchants();
    loop {
        let before = search.kept.clone();
        search.leave_out_steps();
        search.leave_out_parts();
        if search.kept == before {
            break;
        }
    }
    Ok(Shrunk {
        kept: search.kept,
        failure: search.failure,
        told: search.told,
        is_done: !search.is_out_of_time,
    })
}

struct Search<'a> {
    run: Run<'a>,
    may_go_on: &'a dyn Fn() -> bool,
    recording: Arc<Recording>,
    kind: String,
    rests: bool,
    /// The fewest steps so far that fail in the same way, and what they did.
    kept: Kept,
    failure: Failure,
    told: Vec<Told>,
    tried: BTreeSet<String>,
    is_out_of_time: bool,
}

impl Search<'_> {
    /// Tries fewer steps, and goes on from them if they fail in the same way.
    fn fails_with(&mut self, mut kept: Kept) -> bool {
        if self.is_out_of_time || !self.tried.insert(show(&kept, self.rests)) {
            return false;
        }
        if !(self.may_go_on)() {
            self.is_out_of_time = true;
            return false;
        }
        let way = Way::Repeated {
            recording: &self.recording,
            kept: &kept,
            rests: self.rests,
        };
        let ran = (self.run)(Checks::All, &way);
        let Some(failure) = ran.failure.filter(|it| kind(&it.wrong) == self.kind) else {
            return false;
        };
        if let Some(last) = failure.step {
            kept.retain(|step, _| *step <= last);
        }
        (self.kept, self.failure, self.told) = (kept, failure, ran.told);
        true
    }

    fn without(&self, steps: &[usize]) -> Kept {
        let mut kept = self.kept.clone();
        kept.retain(|step, _| !steps.contains(step));
        kept
    }

    fn leave_out_idle_steps(&mut self) {
        let idle = self.told.iter().filter(|told| told.lines.is_empty());
        let idle: Vec<usize> = idle.filter_map(|told| told.step).collect();
        self.fails_with(self.without(&idle));
    }

    /// Chunks of steps, half of them first, single ones last.
    fn leave_out_steps(&mut self) {
        let mut size = self.kept.len().div_ceil(2);
        while size > 0 {
            let mut end = self.kept.len();
            let mut is_less = false;
            while end > 0 {
                let steps: Vec<usize> = self.kept.keys().copied().collect();
                end = end.min(steps.len());
                let from = end.saturating_sub(size);
                is_less |= self.fails_with(self.without(&steps[from..end]));
                end = from;
            }
            // What could not go alone may go once another is gone.
            if size > 1 || !is_less {
                size /= 2;
            }
        }
    }

    fn leave_out_merchants(&mut self) {
        let parts = self.told.iter().flat_map(|told| &told.parts);
        let merchants: BTreeSet<usize> = parts
            .filter_map(|part| match part {
                Part::Of(m) => Some(*m),
                _ => None,
            })
            .collect();
        for m in merchants {
            self.leave_out_all(Part::Of(m));
        }
    }

    /// All of a kind at once, then each by itself.
    fn leave_out_parts(&mut self) {
        for part in [Part::Death, Part::Lie, Part::Next] {
            self.leave_out_all(part);
        }
        let steps: Vec<usize> = self.kept.keys().copied().collect();
        for step in steps {
            let mut turn = 0;
            while let Some(told) = self.told.iter().find(|told| told.step == Some(step)) {
                if turn >= told.parts.len() {
                    break;
                }
                let mut kept = self.kept.clone();
                if kept
                    .get_mut(&step)
                    .is_some_and(|left_out| left_out.insert(turn))
                {
                    self.fails_with(kept);
                }
                turn += 1;
            }
        }
    }

    fn leave_out_all(&mut self, part: Part) {
        let mut kept = self.kept.clone();
        for told in &self.told {
            let Some(left_out) = told.step.and_then(|step| kept.get_mut(&step)) else {
                continue;
            };
            let turns = told.parts.iter().enumerate();
            left_out.extend(turns.filter(|(_, it)| **it == part).map(|(turn, _)| turn));
        }
        self.fails_with(kept);
    }
}
