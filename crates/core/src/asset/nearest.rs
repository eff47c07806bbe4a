//! What somebody may have meant by a code that is no asset's.

use super::registry::{Asset, Mode, Registry};

/// Texts longer than this stand for nothing anybody meant.
const CHARS_MAX: usize = 80;
/// How many are named where one is meant.
const NAMED_MAX: usize = 3;
/// How many letters of a symbol may be wrong.
const SLIPS_MAX: usize = 1;

impl Registry {
    /// The assets of this mode that a wrong code comes nearest to, the nearest first: all of its symbol where it names no
    /// network.
    pub fn nearest(&self, mode: Mode, code: &str) -> Vec<&Asset> {
        let wanted: String = code.chars().take(CHARS_MAX).collect();
        let wanted = wanted.trim().to_lowercase();
        let (symbol, network) = match wanted.split_once('@') {
            Some((symbol, network)) => (symbol, Some(network)),
            None => (wanted.as_str(), None),
        };
        let of_mode = self.assets().iter();
        let of_mode = of_mode.filter(|asset| asset.offered && asset.mode == mode);
        let slips = |asset: &Asset| distance(&asset.symbol.to_lowercase(), symbol);
        let mut near: Vec<(usize, &Asset)> = of_mode
            .map(|asset| (slips(asset), asset))
            .filter(|(slips, _)| *slips <= SLIPS_MAX)
            .collect();
        let fewest = near.iter().map(|(slips, _)| *slips).min();
        near.retain(|(slips, _)| Some(*slips) == fewest);
        let Some(network) = network else {
            return near.into_iter().map(|(_, asset)| asset).collect();
        };
        near.sort_by_key(|(_, asset)| {
            let is_named = asset.network_name.to_lowercase().contains(network);
            (!is_named, distance(&asset.network.to_lowercase(), network))
        });
        let near = near.into_iter().map(|(_, asset)| asset);
        near.take(NAMED_MAX).collect()
    }
}

/// How many characters must be put in, left out or replaced to make one text the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, a) in one.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        row[0] = left;
        for (column, b) in other.iter().enumerate() {
            let above = row[column + 1];
            let replaced = diagonal + usize::from(a != *b);
            left = replaced.min(above + 1).min(left + 1);
            diagonal = above;
            row[column + 1] = left;
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(mode: Mode, code: &str) -> Vec<&'static str> {
        let near = Registry::builtin().nearest(mode, code);
        near.iter().map(|asset| asset.code.as_str()).collect()
    }

    #[test]
    fn a_symbol_alone_may_mean_it_on_every_network_of_the_mode() {
        let near = named(Mode::Test, "USDC");
        assert!(near.contains(&"USDC@eip155:84532") && near.contains(&"USDC@eip155:11155111"));
        assert!(
            near.iter().all(|code| code.starts_with("USDC@")),
            "{near:?}"
        );
        assert!(!near.contains(&"USDC@eip155:8453"), "the other mode's");
        assert_eq!(named(Mode::Test, "usdc"), near);
    }

    #[test]
    fn the_network_that_is_named_or_nearly_named_comes_first() {
        assert_eq!(named(Mode::Test, "USDC@base")[0], "USDC@eip155:84532");
        assert_eq!(named(Mode::Live, "USDC@base")[0], "USDC@eip155:8453");
        assert_eq!(named(Mode::Live, "USDC@eip155:8543")[0], "USDC@eip155:8453");
        assert_eq!(
            named(Mode::Test, "USCD@eip155:84532").len(),
            0,
            "two letters"
        );
        assert_eq!(
            named(Mode::Test, "USD@eip155:84532")[0],
            "USDC@eip155:84532"
        );
        assert_eq!(named(Mode::Live, "USDC@eip155:1x").len(), NAMED_MAX);
    }

    #[test]
    fn what_is_like_nothing_is_like_nothing() {
        for code in ["", "@", "DOGE@eip155:1", "\u{1f4a9}", &"x".repeat(10_000)] {
            assert_eq!(named(Mode::Live, code), Vec::<&str>::new(), "{code}");
        }
    }

    #[test]
    fn slips_are_counted() {
        for (one, other, slips) in [
            ("usdc", "usdc", 0),
            ("usdc", "usdt", 1),
            ("usd", "usdc", 1),
            ("", "btc", 3),
            ("btc", "", 3),
            ("abcd", "bcde", 2),
        ] {
            assert_eq!(distance(one, other), slips, "{one} {other}");
        }
    }
}
