//! `docs/threats.md` names a test for each line, and every test that it names exists.

use std::collections::BTreeSet;

use super::{check, read, root, sources};

/// How many lines each letter has.
const LINES: &[(&str, u8, usize)] = &[
    ("D", 31, 2),
    ("R", 15, 2),
    ("N", 20, 2),
    ("O", 11, 2),
    ("F", 10, 1),
];

#[test]
fn every_threat_has_a_test_and_every_test_that_is_named_exists() {
    let text = read("docs/threats.md");
    let sources = sources();
    let code = sources.iter().filter(|source| source.is_rust());
    let functions = code.flat_map(|source| source.text.split("fn ").skip(1));
    let tests: BTreeSet<&str> = functions
        .filter_map(|rest| rest.split(['(', '<']).next())
        .collect();
    let mut missing = Vec::new();
    for (letter, count, digits) in LINES {
        for number in 1..=*count {
            let line = format!("| {letter}{number:0digits$} |");
            let row = text.lines().find(|row| row.starts_with(&line));
            if !row.is_some_and(|row| row.contains('`') || row.contains("as R01")) {
                missing.push(line);
            }
        }
    }
    for name in text.split('`').skip(1).step_by(2) {
        let exists = match name.strip_prefix("breaks/") {
            Some("…") => true,
            Some(file) => root()
                .join("crates/engine/tests/simulate/breaks")
                .join(file)
                .exists(),
            None if name.contains('_') && !name.contains('/') => tests.contains(name),
            None => true,
        };
        if !exists {
            missing.push(name.to_owned());
        }
    }
    check("docs/threats.md", missing);
}
