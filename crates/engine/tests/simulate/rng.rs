//! The one source of chance in a simulation (splitmix64): the seed decides everything.
//!
//! With a tape, the draws of a run are recorded, or those of an earlier run are repeated (`tape.rs`). Without one, and
//! while recording, the draws depend on the seed alone.

use std::fmt::Debug;

use crate::tape::{Part, Tape};

#[derive(Debug)]
pub struct Rng {
    state: u64,
    tape: Option<Box<Tape>>,
}

impl Rng {
    pub fn new(seed: u64, tape: Option<Tape>) -> Rng {
        // Neighbouring seeds must not begin alike.
        let mut rng = Rng {
            state: seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5bf0_3635,
            tape: tape.map(Box::new),
        };
        rng.fresh();
        rng
    }

    fn fresh(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn state(&self) -> u64 {
        self.state
    }

    pub fn set_state(&mut self, state: u64) {
        self.state = state;
    }

    pub fn tape(&mut self) -> Option<&mut Tape> {
        self.tape.as_deref_mut()
    }

    pub fn into_tape(self) -> Option<Tape> {
        self.tape.map(|tape| *tape)
    }

    /// Names what the next draws decide. A repeated step finds its draws by that name, also when it makes fewer or more of
    /// them than it did in the recorded run.
    pub fn about(&mut self, what: &str, of: &dyn Debug) {
        if let Some(tape) = &mut self.tape {
            tape.about(what, of);
        }
    }

    /// Something was made under a key: a repeated step makes the same, though its id may be another.
    pub fn born(&mut self, key: &str, id: &str) {
        if let Some(tape) = &mut self.tape {
            tape.born(key, id);
        }
    }

    /// Whether a part of a step happens. Only a run that leaves parts out says no.
    pub fn keeps(&mut self, part: Part) -> bool {
        match &mut self.tape {
            Some(tape) => tape.keeps(part),
            None => true,
        }
    }

    pub fn next(&mut self) -> u64 {
        let fresh = self.fresh();
        match &mut self.tape {
            Some(tape) => tape.draw(fresh),
            None => fresh,
        }
    }

    /// From 0 to `end`, without it.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    pub fn between(&mut self, first: i64, last: i64) -> i64 {
        let span = u64::try_from(last - first).unwrap() + 1;
        first + i64::try_from(self.next() % span).unwrap()
    }

    pub fn percent(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub fn pick<'a, T: Debug>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.place(of)]
    }

    /// Where in a list the picked one is.
    pub fn place<T: Debug>(&mut self, of: &[T]) -> usize {
        let at = self.below(of.len());
        self.same(at, of)
    }

    /// A place that was drawn, or in a repeated step that of the thing which the recorded run had picked.
    pub fn same<T: Debug>(&mut self, at: usize, of: &[T]) -> usize {
        match &mut self.tape {
            Some(tape) => tape.pick(at, of),
            None => at,
        }
    }

    /// One of the names, each as likely as its weight.
    pub fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let total: u64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut at = self.next() % total;
        for (weight, choice) in choices {
            if at < *weight {
                return *choice;
            }
            at -= weight;
        }
        unreachable!("the weights add up to the total")
    }
}
