//! How far PostgreSQL has written, and how far a replica has replayed it.

use std::fmt;

/// What the log holds is flushed when a COMMIT returns, unless the operator has turned waiting for that off.
pub(crate) const WRITTEN: &str = "SELECT CAST(pg_wal_lsn_diff(CASE current_setting('synchronous_commit') \
     WHEN 'off' THEN pg_current_wal_insert_lsn() ELSE pg_current_wal_flush_lsn() END, '0/0') AS BIGINT)";

pub(crate) const REPLAYED: &str =
    "SELECT CAST(coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0) AS BIGINT)";

/// A place in PostgreSQL's write-ahead log: what was committed before it is there for whoever has replayed as much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(i64);

impl Position {
    /// Before everything, so that everybody has as much. It stands for every position where there are no replicas.
    pub const START: Position = Position(0);

    pub(crate) fn new(bytes: i64) -> Position {
        Position(bytes)
    }

    /// As it is shown: digits, and nothing else.
    pub fn parse(text: &str) -> Option<Position> {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_plain).map(Position)
    }

    /// How many bytes of the log lie between an earlier one and this.
    pub fn bytes_since(self, earlier: Position) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_shown_and_in_no_other_form() {
        for text in ["0", "50424384", "9223372036854775807"] {
            let read = Position::parse(text).map(|it| it.to_string());
            assert_eq!(read.as_deref(), Some(text));
        }
        for text in [
            "",
            " 1",
            "1 ",
            "+1",
            "-1",
            "1.0",
            "0x10",
            "16/B374D848",
            "9223372036854775808",
            "١",
        ] {
            assert_eq!(Position::parse(text), None, "{text:?}");
        }
    }
}
