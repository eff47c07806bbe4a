//! A list with an address a line.

use std::io::{BufRead, Read as _};

use super::found::{Found, ListError};

/// Longer than an address of any network.
const LINE_BYTES_MAX: u64 = 1024;

pub(super) fn parse(mut text: impl BufRead) -> Result<Found, ListError> {
    let mut found = Found::default();
    let mut line = Vec::new();
    for number in 1u64.. {
        line.clear();
        let read = (&mut text)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        let wrong = || ListError::Malformed(format!("line {number} is no address"));
        if read as u64 == LINE_BYTES_MAX && !line.ends_with(b"\n") {
            return Err(wrong());
        }
        let text = std::str::from_utf8(&line).map_err(|_| wrong())?;
        // Some editors begin a file with a mark of its encoding.
        let text = text.trim_start_matches('\u{feff}');
        let text = text.split('#').next().unwrap_or_default().trim();
        if !text.is_empty() {
            found.add(text).map_err(|error| error.at(number))?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        let text = "\u{feff}# own list\r\n0xAB  # somebody\r\n\r\n  TAbc\n0xab";
        let found = parse(text.as_bytes()).unwrap();
        let mut addresses: Vec<_> = found.addresses.iter().map(|one| &**one).collect();
        addresses.sort_unstable();
        assert_eq!(addresses, ["0xab", "TAbc"]);
    }

    #[test]
    fn what_is_no_address_spoils_the_whole_list() {
        for (text, line) in [
            ("0xab\n<html><body>Not found</body></html>\n", 2),
            ("0xab\n\nzwei worte\n", 3),
            ("0x\u{e4}b\n", 1),
        ] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}")), "{error}");
        }
        assert!(parse(&b"\xff\xfe0"[..]).is_err());
        assert!(parse(&vec![b'a'; 5_000][..]).is_err());
    }
}
