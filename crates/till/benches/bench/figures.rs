//! From what was measured to a verdict. A limit and the program are measured one right after the other, so that both meet the same
//! moment of the machine; what counts is the ratio of each such pair. Ratios are whole hundredths: they are compared, never
//! computed with.

use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hundredths(pub u64);

impl Hundredths {
    pub fn of(part: u64, whole: u64) -> Hundredths {
        Hundredths(part.saturating_mul(100) / whole.max(1))
    }
}

impl fmt::Display for Hundredths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// The middle of the rounds, so that disturbed ones do not decide. Of an even number, the larger of the two in the middle.
pub fn median<T: Ord + Copy + Default>(rounds: &[T]) -> T {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// Where the middle half of the rounds lies: a quarter of them is below, a quarter above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread<T> {
    pub low: T,
    pub high: T,
}

pub fn spread<T: Ord + Copy + Default>(rounds: &[T]) -> Spread<T> {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable();
    let left_out = sorted.len() / 4;
    let at = |place: usize| sorted.get(place).copied().unwrap_or_default();
    Spread {
        low: at(left_out),
        high: at(sorted.len().saturating_sub(left_out + 1)),
    }
}

/// Whether some round was further from the median than half of it.
pub fn has_moved(rounds: &[u64]) -> bool {
    let middle = median(rounds);
    rounds
        .iter()
        .any(|round| round.abs_diff(middle).saturating_mul(2) > middle)
}

/// What the rounds say about a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Reached,
    Missed,
    /// The target lies within the spread: the next run might say the opposite.
    Close,
    /// The limit itself moved too much for the ratios to mean anything.
    NotMeasured,
}

impl Verdict {
    pub fn at_least<T: Ord>(spread: &Spread<T>, target: &T) -> Verdict {
        if spread.low >= *target {
            Verdict::Reached
        } else if spread.high < *target {
            Verdict::Missed
        } else {
            Verdict::Close
        }
    }

    pub fn at_most<T: Ord>(spread: &Spread<T>, target: &T) -> Verdict {
        if spread.high <= *target {
            Verdict::Reached
        } else if spread.low > *target {
            Verdict::Missed
        } else {
            Verdict::Close
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Reached => "yes",
            Verdict::Missed => "NO",
            Verdict::Close => "close",
            Verdict::NotMeasured => "not measured",
        })
    }
}

/// How one build does beside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Better,
    Worse,
    /// No difference that these rounds could tell.
    Same,
    /// Too few pairs, or the older build itself moved too much.
    NotMeasured,
}

/// Less than that from 1.00 is no difference, whatever the rounds say.
const NO_CHANGE: u64 = 3;
/// Of fewer pairs, all may be on one side by chance.
const PAIRS_MIN: usize = 6;

impl Change {
    /// Pairs of equal builds fall to either side as coins do. Of nine, eight on one side is rare enough to believe.
    fn of(ratios: &[Hundredths]) -> Change {
        if ratios.len() < PAIRS_MIN {
            return Change::NotMeasured;
        }
        let below = ratios.iter().filter(|ratio| ratio.0 < 100).count();
        let above = ratios.iter().filter(|ratio| ratio.0 > 100).count();
        let few = ratios.len() / 8;
        match median(ratios).0 {
            middle if middle.abs_diff(100) < NO_CHANGE => Change::Same,
            middle if middle > 100 && below <= few => Change::Better,
            middle if middle < 100 && above <= few => Change::Worse,
            _ => Change::Same,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::Better => "better",
            Change::Worse => "WORSE",
            Change::Same => "no difference",
            Change::NotMeasured => "not measured",
        })
    }
}

/// Rounds in which a limit and the program were measured by turns.
#[derive(Default)]
pub struct Pairs {
    pub limit: Vec<u64>,
    pub program: Vec<u64>,
}

impl Pairs {
    pub fn push(&mut self, limit: u64, program: u64) {
        self.limit.push(limit);
        self.program.push(program);
    }

    /// The program ÷ the limit, of each pair.
    pub fn ratios(&self) -> Vec<Hundredths> {
        self.each(|limit, program| Hundredths::of(program, limit))
    }

    /// The limit ÷ the program, of each pair: how many times dearer the program's work is where both are speeds.
    pub fn costs(&self) -> Vec<Hundredths> {
        self.each(Hundredths::of)
    }

    fn each(&self, ratio: impl Fn(u64, u64) -> Hundredths) -> Vec<Hundredths> {
        let pairs = self.limit.iter().zip(&self.program);
        pairs
            .map(|(limit, program)| ratio(*limit, *program))
            .collect()
    }

    pub fn at_least(&self, target: Hundredths) -> Verdict {
        match has_moved(&self.limit) {
            true => Verdict::NotMeasured,
            false => Verdict::at_least(&spread(&self.ratios()), &target),
        }
    }

    /// Of costs.
    pub fn at_most(&self, target: Hundredths) -> Verdict {
        match has_moved(&self.limit) {
            true => Verdict::NotMeasured,
            false => Verdict::at_most(&spread(&self.costs()), &target),
        }
    }

    /// Where the limit is another build and both are speeds.
    pub fn change_of_speed(&self) -> Change {
        match has_moved(&self.limit) {
            true => Change::NotMeasured,
            false => Change::of(&self.ratios()),
        }
    }

    /// Where the limit is another build and both are times.
    pub fn change_of_time(&self) -> Change {
        match has_moved(&self.limit) {
            true => Change::NotMeasured,
            false => Change::of(&self.costs()),
        }
    }
}
