//! What commands print for people and scripts to read.

use std::io::{self, ErrorKind, Write as _};

use serde::Serialize;

use crate::failure::Failure;

/// Writes to standard output and makes sure that it arrived. A reader who has left wanted no more.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::new(format!(
            "standard output cannot be written: {error}"
        ))),
        _ => Ok(()),
    }
}

/// One JSON value on one line.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::new(error.to_string()))?;
    print(&format!("{text}\n"))
}

/// What is worth knowing beside what was asked for, a line each on standard error.
pub fn remark(lines: &[String]) {
    for line in lines {
        eprintln!("till: {line}");
    }
}

/// The same for a script: one JSON value on one line of standard error.
pub fn remark_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::new(error.to_string()))?;
    eprintln!("{text}");
    Ok(())
}

/// Names and values below each other, the values in one column.
pub fn columns(rows: &[(&str, &str)]) -> String {
    let widest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter()
        .map(|(name, value)| format!("  {name:widest$}  {value}\n"))
        .collect()
}
