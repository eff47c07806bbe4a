//! Failures, kept steps and stories as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::run::{Failure, Kept, Told};
use crate::tape::id_in;
use crate::world::START_MS;

/// How many words of a failure say what kind it is.
const KIND_WORDS: usize = 8;
/// How a list of kept steps says that all comes to rest after them.
const REST: &str = "rest";

/// The first words of what went wrong, without numbers, ids and lists: failures that say the same are of one kind. Of two
/// numbers that differ it says which is more.
pub fn kind(wrong: &str) -> String {
    let words = wrong.split(['[', '{']).next().unwrap_or_default();
    let words: Vec<&str> = words.split_whitespace().take(KIND_WORDS).collect();
    let mut kind = mask(&words.join(" "));
    if let Some((found, expected)) = numbers_that_differ(wrong) {
        kind += if found < expected {
            " (less)"
        } else {
            " (more)"
        };
    }
    kind
}

fn numbers_that_differ(wrong: &str) -> Option<(i128, i128)> {
    let (before, expected) = wrong.rsplit_once(", expected ")?;
    let found = before.rsplit_once(" is ")?.1;
    Some((found.parse().ok()?, expected.parse().ok()?))
}

/// Ids without all but their prefix, and # for each number.
fn mask(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive(|it: char| !is_word(it)) {
        let name = word.trim_end_matches(|it| !is_word(it));
        match id_in(name) {
            Some((prefix, _)) => out.push_str(prefix),
            None if name.starts_with("0x") => out.push('#'),
            None => {
                let mut is_number = false;
                for letter in name.chars() {
                    match letter.is_ascii_digit() {
                        true if is_number => {}
                        true => out.push('#'),
                        false => out.push(letter),
                    }
                    is_number = letter.is_ascii_digit();
                }
            }
        }
        out.push_str(&word[name.len()..]);
    }
    out
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Kept steps as they are given to a replay: `3,17-0-2,40,rest`. Here 17 leaves out its first and third part, and at the
/// end all comes to rest.
pub fn show(kept: &Kept, rests: bool) -> String {
    let steps = kept.iter().map(|(step, left_out)| {
        let mut text = step.to_string();
        for turn in left_out {
            let _ = write!(text, "-{turn}");
        }
        text
    });
    let rest = rests.then(|| REST.to_owned());
    steps.chain(rest).collect::<Vec<_>>().join(",")
}

pub fn parse(text: &str) -> Option<(Kept, bool)> {
    let mut kept = Kept::new();
    let mut tokens: Vec<&str> = text.split(',').collect();
    let rests = tokens.last() == Some(&REST);
    if rests {
        tokens.pop();
    }
    for token in tokens {
        let mut numbers = token.split('-').map(|it| it.parse::<usize>().ok());
        let step = numbers.next()??;
        let left_out = numbers.collect::<Option<BTreeSet<usize>>>()?;
        if kept.insert(step, left_out).is_some() {
            return None;
        }
    }
    Some((kept, rests))
}

/// The steps in words, and how it ended. Ids and addresses have short names.
pub fn story(told: &[Told], failure: Option<&Failure>) -> String {
    let mut names = Names::default();
    let mut out = String::new();
    for told in told {
        let after = told.clock_ms - START_MS;
        let (h, m, s, ms) = (
            after / 3_600_000,
            after / 60_000 % 60,
            after / 1_000 % 60,
            after % 1_000,
        );
        let step = match told.step {
            Some(step) => format!("step {step}"),
            None => "at rest".to_owned(),
        };
        let _ = writeln!(out, "  {step:>8}  {h:>3}:{m:02}:{s:02}.{ms:03}");
        for line in &told.lines {
            let _ = writeln!(out, "            {}", names.shorten(line));
        }
    }
    if let Some(failure) = failure {
        let _ = write!(out, "  {}", names.shorten(&failure.wrong));
    }
    out
}

/// Short names, in the order in which they are told.
#[derive(Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn shorten(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut word = String::new();
        for letter in text.chars().chain(['\n']) {
            if is_word(letter) {
                word.push(letter);
                continue;
            }
            let name = self.name(&word);
            out.push_str(name.as_deref().unwrap_or(&word));
            word.clear();
            out.push(letter);
        }
        out.pop();
        out
    }

    fn name(&mut self, word: &str) -> Option<String> {
        let what = match id_in(word) {
            Some((prefix, _)) => prefix.trim_end_matches('_'),
            None if word.len() == 42 && word.starts_with("0x") => "0x",
            None if word.len() == 66 && word.starts_with("0x") => "tx",
            None => return None,
        };
        let known = self
            .0
            .values()
            .filter(|name| name.split('#').next() == Some(what));
        let next = format!("{what}#{}", known.count() + 1);
        Some(self.0.entry(word.to_owned()).or_insert(next).clone())
    }
}
