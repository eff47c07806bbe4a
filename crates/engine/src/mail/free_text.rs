//! Texts that a merchant fills as they like, as they are put into mails: without anything like an address. Whoever broke
//! into the server could write one there, beside words that the reader trusts.
//!
//! The checkout pages do the same (`web/shared/api/free.ts`); `testdata/free_text.json` holds both.

use std::borrow::Cow;

/// Stands where something like an address was.
const LEFT_OUT: &str = "[…]";
/// Addresses are longer than this, in one piece or in groups; so much may stand between two groups.
const SHORTEST: usize = 30;
const LONGEST: usize = 120;
const GAP: usize = 3;
/// Bitcoin's oldest kind can be this short.
const SHORTEST_BASE58: usize = 26;
/// How long the groups of a UUID are.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];
/// A digest of this length is no address.
const DIGEST: usize = 32;

/// A run of letters and digits, by its place among the characters.
struct Piece {
    word: String,
    from: usize,
    to: usize,
}

/// The text as it may be shown, and whether something was left out.
pub fn without_addresses(said: &str) -> (Cow<'_, str>, bool) {
    // What nobody sees must not hide an address.
    let bare: Vec<char> = said.chars().filter(|c| !is_format(*c)).collect();
    let pieces = pieces(&bare);
    let mut kept = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(first) = pieces.get(at) {
        if let Some(last) = last_of(&pieces, at) {
            kept.extend(bare.get(from..first.from).into_iter().flatten());
            kept.push_str(LEFT_OUT);
            from = pieces.get(last).map_or(from, |piece| piece.to);
            at = last;
        }
        at += 1;
    }
    if kept.is_empty() {
        return (Cow::Borrowed(said), false);
    }
    kept.extend(bare.get(from..).into_iter().flatten());
    (Cow::Owned(kept), true)
}

fn pieces(bare: &[char]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (at, c) in bare.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            continue;
        }
        match pieces.last_mut() {
            Some(piece) if piece.to == at => {
                piece.word.push(*c);
                piece.to = at + 1;
            }
            _ => pieces.push(Piece {
                word: c.to_string(),
                from: at,
                to: at + 1,
            }),
        }
    }
    without_uuids(bare, pieces)
}

/// Order numbers are often such, and no address is.
fn without_uuids(bare: &[char], pieces: Vec<Piece>) -> Vec<Piece> {
    let is_uuid = |group: &[Piece]| {
        let fits = group.iter().zip(UUID).all(|(piece, length)| {
            piece.word.len() == length && piece.word.bytes().all(|b| b.is_ascii_hexdigit())
        });
        let dashes = group.windows(2).all(|pair| match pair {
            [left, right] => right.from == left.to + 1 && bare.get(left.to) == Some(&'-'),
            _ => false,
        });
        fits && dashes
    };
    let starts: Vec<usize> = pieces
        .windows(UUID.len())
        .enumerate()
        .filter(|(_, group)| is_uuid(group))
        .map(|(at, _)| at)
        .collect();
    let is_part = |at: usize| {
        starts
            .iter()
            .any(|start| (*start..start + UUID.len()).contains(&at))
    };
    pieces
        .into_iter()
        .enumerate()
        .filter(|(at, _)| !is_part(*at))
        .map(|(_, piece)| piece)
        .collect()
}

/// Which is the last piece of an address that begins with this one; none when it begins none.
fn last_of(pieces: &[Piece], first: usize) -> Option<usize> {
    let begin = pieces.get(first)?;
    if is_whole(&begin.word) {
        return Some(first);
    }
    let (mut joined, mut odd, mut tiny, mut count) = (0, 0, 0, 0);
    let (mut last, mut end) = (None, begin.from);
    for (at, piece) in pieces.iter().enumerate().skip(first) {
        if joined >= LONGEST || piece.word.len() >= SHORTEST || piece.from - end > GAP {
            break;
        }
        end = piece.to;
        count += 1;
        joined += piece.word.len();
        odd += usize::from(is_odd(&piece.word));
        tiny += usize::from(piece.word.len() < 3);
        let is_grouped = is_odd(&begin.word) && is_odd(&piece.word) && odd * 2 >= count;
        if joined >= SHORTEST && (is_grouped || tiny == count) {
            last = Some(at);
        }
    }
    last
}

fn has(word: &str, kind: fn(&u8) -> bool) -> bool {
    word.bytes().any(|b| kind(&b))
}

fn has_both(word: &str) -> bool {
    has(word, u8::is_ascii_digit) && has(word, u8::is_ascii_alphabetic)
}

/// Not as words are written: digits among letters, or a capital in the middle. Shorter ones are counts ("2x").
fn is_odd(word: &str) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    let mixed = has(word, u8::is_ascii_lowercase) && has(rest, u8::is_ascii_uppercase);
    word.len() > 2 && (has_both(word) || mixed)
}

/// An address in one piece.
fn is_whole(word: &str) -> bool {
    let is_digest = word.len() == DIGEST && word.bytes().all(|b| b.is_ascii_hexdigit());
    let is_long = word.len() >= SHORTEST && has_both(word) && !is_digest;
    let is_old_bitcoin = word.len() >= SHORTEST_BASE58
        && word.starts_with(['1', '2', '3', 'm', 'n'])
        && has(word, u8::is_ascii_digit)
        && has(word, u8::is_ascii_lowercase)
        && has(word, u8::is_ascii_uppercase);
    is_long || is_old_bitcoin
}

/// Unicode's format characters (`Cf`), which have no picture of their own.
fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Examples {
        kept: Vec<String>,
        cut: Vec<(String, String)>,
    }

    #[test]
    fn what_is_like_an_address_is_left_out_and_nothing_else() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/free_text.json");
        let examples: Examples =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for said in &examples.kept {
            assert_eq!(without_addresses(said), (Cow::Borrowed(&**said), false));
        }
        for (said, shown) in &examples.cut {
            assert_eq!(
                without_addresses(said),
                (Cow::Borrowed(&**shown), true),
                "{said}"
            );
        }
    }
}
