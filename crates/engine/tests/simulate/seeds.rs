//! Which seeds are run: the fixed ones, those that failed once, and some that the commit draws. Or those that are asked for.

use std::ops::Range;
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::run::{Checks, Ran, Simulated, Way, run};
use crate::settings::{number, setting};
use crate::world::World;
use crate::{apart, members, refunds, subscriptions};

/// How many fixed seeds of the invoices family CI runs. The other families' are in tests of their own.
const FIXED: u64 = 24;
/// How many seeds a commit draws for each family: most for the one in which most can happen.
const DRAWN: [(Family, usize); 5] = [
    (Family::Invoices, 8),
    (Family::Refunds, 2),
    (Family::Subscriptions, 2),
    (Family::Apart, 2),
    (Family::Members, 2),
];
/// Drawn seeds are below this, so that they are short to read and to type.
const DRAWN_BELOW: u64 = 1_000_000;
const REGRESSIONS: &str = include_str!("regressions.txt");

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    Invoices,
    Refunds,
    Subscriptions,
    Apart,
    Members,
}

impl Family {
    pub const ALL: [Family; 5] = [
        Family::Invoices,
        Family::Refunds,
        Family::Subscriptions,
        Family::Apart,
        Family::Members,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Family::Invoices => "invoices",
            Family::Refunds => "refunds",
            Family::Subscriptions => "subscriptions",
            Family::Apart => "apart",
            Family::Members => "members",
        }
    }

    fn parse(text: &str) -> Option<Family> {
        Family::ALL.into_iter().find(|it| it.name() == text)
    }

    pub fn run(self, seed: u64, checks: Checks, way: &Way) -> Ran {
        match self {
            Family::Invoices => run_as::<World>(seed, checks, way),
            Family::Refunds => run_as::<refunds::Story>(seed, checks, way),
            Family::Subscriptions => run_as::<subscriptions::Story>(seed, checks, way),
            Family::Apart => run_as::<apart::Story>(seed, checks, way),
            Family::Members => run_as::<members::Story>(seed, checks, way),
        }
    }
}

fn run_as<S: Simulated>(seed: u64, checks: Checks, way: &Way) -> Ran {
    run::<S>(seed, number("TILL_TEST_STEPS", S::STEPS), checks, way)
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seed {
    pub family: Family,
    pub number: u64,
}

impl Seed {
    /// Which of so many shares it belongs to. Many things are decided by a number's remainder, and some of them take long: so
    /// shares are dealt out by something else.
    pub fn share(self, of: u64) -> u64 {
        let mixed = self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) % of
    }
}

/// The seeds that somebody asked for, in the families they asked for: a count, a range, or those that the commit draws.
pub fn asked_for() -> Option<Vec<Seed>> {
    let text = setting("TILL_TEST_SEEDS")?;
    let families = match setting("TILL_TEST_FAMILY") {
        Some(name) => vec![Family::parse(&name).expect("TILL_TEST_FAMILY is a family")],
        None => Family::ALL.to_vec(),
    };
    if text == "drawn" {
        let commit = commit().expect("TILL_TEST_COMMIT or a git repository");
        let drawn = drawn(&commit).into_iter();
        return Some(drawn.filter(|it| families.contains(&it.family)).collect());
    }
    let range =
        range(&text).expect("TILL_TEST_SEEDS is a count, a range such as 17..18, or `drawn`");
    let of_number = |number| {
        families.iter().map(move |family| Seed {
            family: *family,
            number,
        })
    };
    Some(range.flat_map(of_number).collect())
}

fn range(text: &str) -> Option<Range<u64>> {
    match text.split_once("..") {
        Some((first, end)) => Some(first.parse().ok()?..end.parse().ok()?),
        None => Some(0..text.parse().ok()?),
    }
}

/// What CI runs: fixed seeds, regressions, and what the commit draws.
pub fn of_ci() -> Vec<Seed> {
    let fixed = (0..FIXED).map(|number| Seed {
        family: Family::Invoices,
        number,
    });
    let regressions = regressions(REGRESSIONS).expect("regressions.txt");
    let drawn = match commit() {
        Some(commit) => drawn(&commit),
        None => {
            eprintln!("no seeds are drawn: there is neither TILL_TEST_COMMIT nor a git repository");
            Vec::new()
        }
    };
    let mut seeds: Vec<Seed> = fixed.chain(regressions).chain(drawn).collect();
    seeds.sort();
    seeds.dedup();
    seeds
}

/// The seeds that failed once. Each line has the family, the seed, and what it found.
pub fn regressions(text: &str) -> Result<Vec<Seed>, String> {
    let mut seeds = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let seed = regression(line)
            .ok_or_else(|| format!("this is not `family seed what-it-found`: {line}"))?;
        if seeds.contains(&seed) {
            return Err(format!("this seed is there twice: {line}"));
        }
        seeds.push(seed);
    }
    Ok(seeds)
}

fn regression(line: &str) -> Option<Seed> {
    let (family, rest) = line.split_once(' ')?;
    let (digits, found) = rest.split_once(' ')?;
    let number: u64 = digits.parse().ok()?;
    let is_plain = digits == number.to_string() && !found.is_empty() && found.trim() == found;
    let family = Family::parse(family)?;
    is_plain.then_some(Seed { family, number })
}

/// The commit that is tested. The environment can say which; otherwise git does.
fn commit() -> Option<String> {
    setting("TILL_TEST_COMMIT").or_else(|| {
        let asked = Command::new("git").args(["rev-parse", "HEAD"]).output();
        let answer = asked.ok().filter(|it| it.status.success())?;
        Some(String::from_utf8(answer.stdout).ok()?.trim().to_owned())
    })
}

/// The seeds that a commit draws: the same for the same commit, and others for each other one.
pub fn drawn(commit: &str) -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (family, count) in DRAWN {
        for turn in 0..count {
            let hash = Sha256::digest(format!("{commit} {} {turn}", family.name()));
            let number = hash
                .iter()
                .take(8)
                .fold(0, |all, byte| all << 8 | u64::from(*byte));
            seeds.push(Seed {
                family,
                number: number % DRAWN_BELOW,
            });
        }
    }
    seeds
}

#[test]
fn the_list_of_regressions_is_read_strictly() {
    let seed = |family, number| Seed { family, number };
    assert_eq!(
        regressions("# why\n\ninvoices 1179 one unit too many\nrefunds 3 a refund twice\n"),
        Ok(vec![seed(Family::Invoices, 1179), seed(Family::Refunds, 3)])
    );
    for line in [
        "invoices 1179",
        "invoices 1179 ",
        "invoices one what it found",
        "invoices -1 what it found",
        "invoices 007 what it found",
        "invoices  7 what it found",
        " invoices 7 what it found",
        "invoice 7 what it found",
        "invoices 7 what it found ",
        "7 what it found",
    ] {
        assert!(regressions(line).is_err(), "{line:?}");
    }
    assert!(regressions("apart 7 once\napart 7 twice\n").is_err());
}

#[test]
fn a_commit_draws_sixteen_seeds_of_all_families_and_another_commit_others() {
    let (one, other) = (drawn("a1"), drawn("a2"));
    assert_eq!(one, drawn("a1"));
    assert_eq!(one.len(), 16);
    for family in Family::ALL {
        assert!(one.iter().any(|seed| seed.family == family));
    }
    assert!(one.iter().all(|seed| !other.contains(seed)));
}

#[test]
fn seeds_of_each_remainder_are_dealt_to_all_shares() {
    for remainder in 0..4 {
        let mut dealt = [0; 4];
        for turn in 0..250 {
            let number = 41_000_000 + 4 * turn + remainder;
            let family = Family::Subscriptions;
            dealt[Seed { family, number }.share(4) as usize] += 1;
        }
        assert!(
            dealt.iter().all(|count| (50..=75).contains(count)),
            "{dealt:?}"
        );
    }
}
