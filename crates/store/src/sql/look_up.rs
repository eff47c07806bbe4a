//! Look-ups of many rows by their keys, as data.

use super::many::{Chunk, KEYS_LADDER, by_ladder, numbered, values};
use super::table::Record;
use crate::{StoreError, Val};

/// Rows found by their keys.
#[derive(Clone, Copy, Debug)]
pub struct LookUp {
    pub(crate) table: &'static str,
    pub(crate) columns: &'static [&'static str],
    pub(crate) key: &'static [&'static str],
    pub(crate) rows: PerKey,
}

/// How many rows a key has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerKey {
    One,
    /// One, kept from changing until the unit of work ends, in the order of the keys.
    OneLocked,
    /// The same, but nothing where somebody else holds the row.
    OneIfFree,
    Many,
}

impl LookUp {
    pub(crate) fn records<T: Record>(key: &'static [&'static str], rows: PerKey) -> LookUp {
        LookUp {
            table: T::TABLE,
            columns: T::COLUMNS,
            key,
            rows,
        }
    }

    fn found(&self, name: &str) -> String {
        let found: Vec<String> = (1..)
            .zip(self.key)
            .map(|(at, column)| format!("{column} = {name}{at}"))
            .collect();
        found.join(" AND ")
    }

    /// For SQLite.
    pub(crate) fn chunks<'k>(&self, keys: &'k [Vec<Val>]) -> Result<Vec<Chunk<'k>>, StoreError> {
        let (width, found) = (self.width(keys)?, self.found("v.column"));
        let (table, columns) = (self.table, self.columns.join(", "));
        by_ladder(&KEYS_LADDER, table, keys, width, |size| {
            // A cross join is what SQLite does not turn around.
            format!(
                "SELECT {columns} FROM ({}) AS v CROSS JOIN {table} WHERE {found}",
                values(size, width)
            )
        })
    }

    /// For PostgreSQL. The limit keeps each look-up what it is: joined with the keys, PostgreSQL would go on
    /// reading the whole of a table that was small when the statement was planned.
    pub(crate) fn lateral(&self, keys: &[Vec<Val>]) -> Result<String, StoreError> {
        let width = self.width(keys)?;
        let limit = match self.rows {
            PerKey::One => "LIMIT 1",
            PerKey::OneLocked => "LIMIT 1 FOR UPDATE",
            PerKey::OneIfFree => "LIMIT 1 FOR UPDATE SKIP LOCKED",
            PerKey::Many => "LIMIT 1000000",
        };
        Ok(format!(
            "SELECT f.* FROM UNNEST({}) AS k ({}) CROSS JOIN LATERAL (SELECT {} FROM {} WHERE {} {limit}) AS f",
            numbered("$", 0, width),
            numbered("key", 0, width),
            self.columns.join(", "),
            self.table,
            self.found("k.key")
        ))
    }

    fn width(&self, keys: &[Vec<Val>]) -> Result<usize, StoreError> {
        let width = self.key.len();
        match keys.iter().all(|key| key.len() == width) {
            true => Ok(width),
            false => Err(StoreError::Other(format!(
                "{}: keys of another width",
                self.table
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_thousand_streams_are_asked_for_in_few_statements() {
        let heads = LookUp {
            table: "invoices",
            columns: &["id", "stream_seq"],
            key: &["account", "mode", "id"],
            rows: PerKey::One,
        };
        let key = |n: i64| vec![Val::from("a"), Val::from("test"), Val::from(n)];
        let keys: Vec<Vec<Val>> = (0..10_000).map(key).collect();
        let chunks = heads.chunks(&keys).unwrap();
        // SQLite is asked once a second, PostgreSQL twice with one statement each.
        assert!(chunks.len() < 20, "{}", chunks.len());
        assert_eq!(
            chunks.iter().map(|(_, keys)| keys.len()).sum::<usize>(),
            10_000
        );
        assert!(heads.lateral(&keys).unwrap().contains("UNNEST"));
    }

    #[test]
    fn a_look_up_is_repeated_for_every_key() {
        let keys = vec![vec![Val::Int(1); 2]; 2];
        let look_up = LookUp {
            table: "t",
            columns: &["a"],
            key: &["b", "c"],
            rows: PerKey::One,
        };
        let chunks = look_up.chunks(&keys).expect("even keys");
        assert_eq!(
            chunks[0].0,
            "SELECT a FROM (VALUES (?, ?), (?, ?)) AS v CROSS JOIN t WHERE b = v.column1 AND c = v.column2"
        );
        assert_eq!(
            look_up.lateral(&keys).expect("even keys"),
            "SELECT f.* FROM UNNEST($1, $2) AS k (key1, key2) CROSS JOIN LATERAL \
             (SELECT a FROM t WHERE b = k.key1 AND c = k.key2 LIMIT 1) AS f"
        );
    }
}
