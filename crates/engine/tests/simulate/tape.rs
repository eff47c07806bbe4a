//! The recorded draws of a run, so that some of its steps can be repeated without the others.
//!
//! A repeated step begins with the state of the generator that it had in the recorded run, finds each draw by what it was
//! about, and picks the same invoices, transfers and networks, whatever else is missing from the lists that it picks from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

/// What decides a step besides the tables: taken when it begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub rng: u64,
    pub entropy: u64,
    pub clock_ms: i64,
    pub keys_made: u64,
    pub transactions_made: u64,
}

#[derive(Debug, Default)]
struct Recorded {
    start: Option<Start>,
    draws: BTreeMap<String, Vec<u64>>,
    /// What was picked, as text without the parts of ids that depend on time.
    picks: BTreeMap<String, Vec<String>>,
    /// The ids of what was made, without their times, by the keys it was made under.
    born: BTreeMap<String, String>,
}

/// One run's draws, by step. The beginning is step 0 and the coming to rest the step after the last.
#[derive(Debug, Default)]
pub struct Recording(BTreeMap<usize, Recorded>);

/// Something that a step does and can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// What a merchant does or is sent.
    Of(usize),
    /// The process dies in the middle.
    Death,
    /// A source tells of a transfer.
    Told,
    /// A source lies or is behind.
    Lie,
    /// Whoever did the step goes on to do something else.
    Next,
}

#[derive(Debug)]
enum Mode {
    Record(Recording),
    Repeat(Arc<Recording>),
}

#[derive(Debug)]
pub struct Tape {
    mode: Mode,
    step: usize,
    about: String,
    /// How many draws and picks the step has made, by what they were about.
    drawn: BTreeMap<String, usize>,
    picked: BTreeMap<String, usize>,
    /// The parts that the step leaves out, by their turn.
    left_out: BTreeSet<usize>,
    parts: Vec<Part>,
    /// The ids that things had in the recorded run, without their times, by those that they have now.
    was: BTreeMap<String, String>,
}

impl Tape {
    fn new(mode: Mode) -> Tape {
        Tape {
            mode,
            step: 0,
            about: String::new(),
            drawn: BTreeMap::new(),
            picked: BTreeMap::new(),
            left_out: BTreeSet::new(),
            parts: Vec::new(),
            was: BTreeMap::new(),
        }
    }

    pub fn record() -> Tape {
        Tape::new(Mode::Record(Recording::default()))
    }

    pub fn repeat(recording: &Arc<Recording>) -> Tape {
        Tape::new(Mode::Repeat(Arc::clone(recording)))
    }

    pub fn recording(self) -> Option<Recording> {
        match self.mode {
            Mode::Record(recording) => Some(recording),
            Mode::Repeat(_) => None,
        }
    }

    /// Begins a step. Answers how it began in the recorded run, if it is a repeated one.
    pub fn begin(&mut self, step: usize, left_out: &BTreeSet<usize>, now: Start) -> Option<Start> {
        self.step = step;
        self.about.clear();
        self.drawn.clear();
        self.picked.clear();
        self.left_out.clone_from(left_out);
        self.parts.clear();
        match &mut self.mode {
            Mode::Record(recording) => {
                recording.0.entry(step).or_default().start = Some(now);
                None
            }
            Mode::Repeat(recording) => recording.0.get(&step)?.start,
        }
    }

    /// The parts that the step could do without.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn about(&mut self, what: &str, of: &dyn Debug) {
        self.about = format!("{what} {}", self.text(of));
    }

    /// A thing as text that is the same in a recorded and in a repeated run.
    fn text(&self, of: &dyn Debug) -> String {
        without_times(&format!("{of:?}"), &self.was)
    }

    pub fn born(&mut self, key: &str, id: &str) {
        let id = without_times(id, &BTreeMap::new());
        match &mut self.mode {
            Mode::Record(recording) => {
                let step = recording.0.entry(self.step).or_default();
                step.born.insert(key.to_owned(), id);
            }
            Mode::Repeat(recording) => {
                let step = recording.0.get(&self.step);
                if let Some(was) = step.and_then(|step| step.born.get(key)) {
                    self.was.insert(id, was.clone());
                }
            }
        }
    }

    pub fn keeps(&mut self, part: Part) -> bool {
        self.parts.push(part);
        !self.left_out.contains(&(self.parts.len() - 1))
    }

    pub fn draw(&mut self, fresh: u64) -> u64 {
        let drawn = self.drawn.entry(self.about.clone()).or_default();
        *drawn += 1;
        match &mut self.mode {
            Mode::Record(recording) => {
                let step = recording.0.entry(self.step).or_default();
                step.draws
                    .entry(self.about.clone())
                    .or_default()
                    .push(fresh);
                fresh
            }
            Mode::Repeat(recording) => recording
                .0
                .get(&self.step)
                .and_then(|step| step.draws.get(&self.about)?.get(*drawn - 1).copied())
                .unwrap_or(fresh),
        }
    }

    /// The place of what the recorded run picked. If that is not in the list, of what is most like it.
    pub fn pick<T: Debug>(&mut self, at: usize, of: &[T]) -> usize {
        let picked = self.picked.entry(self.about.clone()).or_default();
        *picked += 1;
        let picked = *picked;
        let text = of.get(at).map(|it| self.text(it));
        match &mut self.mode {
            Mode::Record(recording) => {
                let text = text.unwrap_or_default();
                let step = recording.0.entry(self.step).or_default();
                let picks = step.picks.entry(self.about.clone()).or_default();
                picks.push(text);
                at
            }
            Mode::Repeat(recording) => {
                let step = recording.0.get(&self.step);
                let picks = step.and_then(|step| step.picks.get(&self.about));
                let Some(wanted) = picks.and_then(|picks| picks.get(picked - 1)) else {
                    return at;
                };
                let texts = of
                    .iter()
                    .map(|it| without_times(&format!("{it:?}"), &self.was));
                let alike = texts.map(|text| alike(&text, wanted)).enumerate();
                let best = alike.max_by_key(|(at, alike)| (*alike, std::cmp::Reverse(*at)));
                best.map_or(at, |(at, _)| at)
            }
        }
    }
}

/// How long two texts are the same from their beginning.
fn alike(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
    same.count() + usize::from(one == other)
}

/// An id has the time of its making in front and chance behind. Chance alone is the same when a step is repeated.
fn without_times(text: &str, was: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for letter in text.chars().chain([' ']) {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            word.push(letter);
            continue;
        }
        match id_in(&word) {
            Some((prefix, body)) => {
                let id = format!("{prefix}{}", &body[body.len() - ID_CHANCE..]);
                out.push_str(was.get(&id).unwrap_or(&id));
            }
            None => out.push_str(&word),
        }
        word.clear();
        out.push(letter);
    }
    out.pop();
    out
}

const ID_BODY: usize = 26;
const ID_CHANCE: usize = 12;

/// The prefix and the body of a word that is an id.
pub fn id_in(word: &str) -> Option<(&str, &str)> {
    let at = word.rfind('_')? + 1;
    let (prefix, body) = word.split_at(at);
    let is_id = body.len() == ID_BODY
        && prefix
            .bytes()
            .all(|it| it.is_ascii_lowercase() || it == b'_');
    is_id.then_some((prefix, body))
}
