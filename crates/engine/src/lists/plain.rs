//! A list with an address a line.

use std::io::{BufRead, Read as _};

use till_chains::is_whole_address;

use super::parsed::{ListError, ParsedList};

/// Longer than an address of any network.
const LINE_BYTES_MAX: u64 = 1024;

pub(super) fn parse(mut text: impl BufRead) -> Result<ParsedList, ListError> {
    let mut found = ParsedList::default();
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
            // What never matches clears everybody, so a list that broke off must not pass for another edition.
            if !is_whole_address(text) {
                return Err(wrong());
            }
            found.add(text).map_err(|error| error.at(number))?;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVM: &str = "0xae0cf0b1a09f16ff1ebab390fdb66f839cc2f29b";
    const TRON: &str = "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t";
    const BASE58: &str = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa";
    const BECH32: &str = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";

    #[test]
    fn comments_and_empty_lines_are_passed_over() {
        let (upper, lower) = (
            format!("0x{}", "AB".repeat(20)),
            format!("0x{}", "ab".repeat(20)),
        );
        let text = format!("\u{feff}# own list\r\n{upper}  # somebody\r\n\r\n  {TRON}\n{lower}");
        let found = parse(text.as_bytes()).unwrap();
        let mut addresses: Vec<_> = found.addresses.iter().map(|one| &**one).collect();
        addresses.sort_unstable();
        assert_eq!(addresses, [&*lower, TRON]);
    }

    #[test]
    fn part_of_an_address_or_one_that_nothing_would_match_is_none() {
        let monero = "888tNkZrPN6JsEgekjMnABU4TBzc2Dt29EPAvkRxbANsAnjyPbb3iQ1YBRk1UXcdRsiKc9dhwMVgN5S9cQUiyoogDavup3H";
        let whole = [EVM, TRON, BASE58, BECH32, &BECH32.to_uppercase(), monero];
        for address in whole {
            assert!(parse(address.as_bytes()).is_ok(), "{address}");
        }
        for address in [EVM, TRON, BASE58, BECH32] {
            for end in 1..address.len() {
                let text = format!("{EVM}\n{}", &address[..end]);
                assert!(parse(text.as_bytes()).is_err(), "{text}");
            }
        }
        let digits = EVM.trim_start_matches("0x");
        for unmatched in [
            digits.to_owned(),
            format!("41{digits}"),
            format!("0x41{digits}"),
        ] {
            assert!(parse(unmatched.as_bytes()).is_err(), "{unmatched}");
        }
    }

    #[test]
    fn what_is_no_address_spoils_the_whole_list() {
        for (text, line) in [
            ("\n<html><body>Not found</body></html>\n", 2),
            ("\n\nzwei worte\n", 3),
            ("\u{e4}b\n", 1),
        ] {
            let text = format!("{EVM}{text}");
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(&format!("line {line}")), "{error}");
        }
        assert!(parse(&b"\xff\xfe0"[..]).is_err());
        assert!(parse(&vec![b'a'; 5_000][..]).is_err());
    }
}
