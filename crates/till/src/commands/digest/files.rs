//! Checking files: what `till journal export` and `till digest list --json` printed, with neither server nor database.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Lines};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use till_core::digest::{self, Covered, Misfit, Presented, Sum};
use till_core::time;

use super::verification::{Fitting, Verify, misfit};
use crate::failure::{Failure, remedy};
use crate::output;

pub struct Files {
    pub journal: PathBuf,
    pub digests: PathBuf,
}

/// A digest as the file has it. A list of the API names neither account nor mode: then they are asked for.
#[derive(Deserialize)]
struct Written {
    account: Option<String>,
    mode: Option<String>,
    day: String,
    entries: u64,
    first_entry: String,
    last_entry: String,
    root: String,
    previous: String,
    key_id: String,
    signature: String,
}

/// As much of a line as it takes to know where it belongs.
#[derive(Deserialize)]
struct Head {
    entry: String,
    created_at: String,
}

struct JournalLine {
    entry: String,
    day: i64,
    text: String,
}

type Journal = Peekable<JournalLines>;

struct JournalLines {
    path: PathBuf,
    lines: Lines<BufReader<File>>,
    number: u64,
}

impl JournalLines {
    fn read(&self, text: std::io::Result<String>) -> Result<JournalLine, Failure> {
        let place = || format!("{}, line {}", self.path.display(), self.number);
        let text = text.map_err(|error| Failure::new(format!("{}: {error}", place())))?;
        let unreadable = || Failure::new(format!("{} is no entry of a journal", place()));
        let head: Head = serde_json::from_str(&text).map_err(|_| unreadable())?;
        let at = time::parse(&head.created_at).ok_or_else(unreadable)?;
        Ok(JournalLine {
            entry: head.entry,
            day: time::day_of(at),
            text,
        })
    }
}

impl Iterator for JournalLines {
    type Item = Result<JournalLine, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.lines.next()?;
        self.number += 1;
        Some(self.read(text))
    }
}

pub fn verify_files(verify: &Verify, files: &Files) -> Result<(), Failure> {
    for key in &verify.public_key {
        if digest::key_id(key).is_none() {
            let line =
                "--public-key must be 64 hexadecimal digits, as in /.well-known/till-ledger.json";
            return Err(Failure::Usage(line.to_owned()));
        }
    }
    let (first, last) = verify.days.range();
    let mut digests = read_digests(verify, &files.digests)?;
    digests.retain(|digest| (first..=last).contains(&digest.day));
    let file = File::open(&files.journal).map_err(|error| cannot_read(&files.journal, &error))?;
    let lines = JournalLines {
        path: files.journal.clone(),
        lines: BufReader::new(file).lines(),
        number: 0,
    };
    let mut journal = lines.peekable();
    let mut fitting = Fitting::default();
    let mut before: Option<&str> = None;
    for (at, digest) in digests.iter().enumerate() {
        let next = digests.get(at + 1);
        let covered = take(&mut journal, digest, next)?;
        digest::check(digest, before, &covered, &verify.public_key)
            .map_err(|why| misfit(digest.day, &why.to_string()))?;
        fitting.add(digest.day, digest.covered.entries);
        before = Some(&digest.covered.root);
    }
    let mut open = 0;
    for line in journal {
        line?;
        open += 1;
    }
    if open > 0 {
        output::remark(&[format!("{open} more entries have no digest in the file")]);
    }
    output::print(&fitting.shown())
}

/// The entries of a digest are the next so many. What follows them and is of its days belongs to it, too, unless the next
/// digest begins with it.
fn take(
    journal: &mut Journal,
    digest: &Presented,
    next: Option<&Presented>,
) -> Result<Covered, Failure> {
    let Some(mut sum) = Sum::after(&digest.previous) else {
        return Err(misfit(digest.day, &Misfit::Chain.to_string()));
    };
    while sum.entries() < digest.covered.entries {
        let Some(line) = journal.next().transpose()? else {
            break;
        };
        sum.add(&line.entry, &line.text);
    }
    if let Some(Ok(line)) = journal.peek()
        && line.day <= digest.day
        && next.is_none_or(|next| next.covered.first_entry != line.entry)
    {
        sum.add(&line.entry, &line.text);
    }
    Ok(sum.end())
}

/// In the order of days, whichever order the file has.
fn read_digests(verify: &Verify, path: &Path) -> Result<Vec<Presented>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| cannot_read(path, &error))?;
    let unreadable = || Failure::new(format!("{} has no list of digests", path.display()));
    let mut digests = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        let mut value = value.map_err(|_| unreadable())?;
        if let Some(data) = value.get_mut("data") {
            value = data.take();
        }
        let some = match value {
            Value::Array(some) => some,
            one => vec![one],
        };
        for one in some {
            let written: Written = serde_json::from_value(one).map_err(|_| unreadable())?;
            digests.push(presented(verify, written)?);
        }
    }
    digests.sort_by_key(|digest| digest.day);
    Ok(digests)
}

fn presented(verify: &Verify, written: Written) -> Result<Presented, Failure> {
    let missing = || {
        let line = "the digests do not say whose they are: give --account and --mode";
        Failure::Usage(line.to_owned())
    };
    let typed = verify.mode.map(|mode| mode.of_assets().as_str().to_owned());
    let unreadable = || Failure::new(format!("{:?} is no day", written.day));
    Ok(Presented {
        account: verify
            .account
            .clone()
            .or(written.account)
            .ok_or_else(missing)?,
        mode: typed.or(written.mode).ok_or_else(missing)?,
        day: time::parse_day(&written.day).ok_or_else(unreadable)?,
        previous: written.previous,
        covered: Covered {
            entries: written.entries,
            first_entry: written.first_entry,
            last_entry: written.last_entry,
            root: written.root,
        },
        key_id: written.key_id,
        signature: written.signature,
    })
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(format!(
        "{} cannot be read: {error}{}",
        path.display(),
        remedy(error)
    ))
}
