//! Writes of many rows, as data: which table, which columns, which key.

use std::fmt::Write as _;

use super::many::{Chunk, ROWS_LADDER, by_ladder, unnested, values};
use super::table::Record;
use crate::{StoreError, Val};

/// What becomes of a row whose key is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// The unit of work fails.
    Fail,
    /// The new row is left out.
    Ignore,
    /// The row that is there takes over these columns of the new one.
    Replace {
        key: &'static str,
        columns: &'static [&'static str],
    },
}

/// Changes of rows that are there, by their key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowChanges {
    key: Vec<&'static str>,
    columns: Vec<&'static str>,
    /// Columns whose values are added to what is there.
    adding: Vec<&'static str>,
    /// Further assignments, alike for all rows.
    also: &'static str,
    /// The part of the table whose index has the key.
    part: &'static str,
    /// A further condition on the row that is there.
    only: &'static str,
}

impl RowChanges {
    /// Whether every row must be there.
    fn finds_all(&self) -> bool {
        self.part.is_empty() && self.only.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum WriteKind {
    Insert {
        columns: &'static [&'static str],
        conflict: Conflict,
    },
    Update(RowChanges),
    /// Deletes rows by key.
    Delete {
        key: &'static [&'static str],
    },
}

/// Rows for one table.
#[derive(Clone, Debug)]
pub struct Write {
    table: &'static str,
    how: WriteKind,
    pub(crate) rows: Vec<Vec<Val>>,
}

impl Write {
    pub(crate) fn insert(
        table: &'static str,
        columns: &'static [&'static str],
        rows: Vec<Vec<Val>>,
    ) -> Write {
        Write {
            table,
            how: WriteKind::Insert {
                columns,
                conflict: Conflict::Fail,
            },
            rows,
        }
    }

    /// Whole records.
    pub fn records<'r, T: Record + 'r>(records: impl IntoIterator<Item = &'r T>) -> Write {
        let rows = records.into_iter().map(T::values).collect();
        Write::insert(T::TABLE, T::COLUMNS, rows)
    }

    /// These columns of whole records; the others keep their defaults.
    pub(crate) fn some_columns<'r, T: Record + 'r>(
        columns: &'static [&'static str],
        records: impl IntoIterator<Item = &'r T>,
    ) -> Result<Write, StoreError> {
        let rows = picked(columns, records)?;
        Ok(Write::insert(T::TABLE, columns, rows))
    }

    pub(crate) fn on_conflict(mut self, chosen: Conflict) -> Write {
        if let WriteKind::Insert { conflict, .. } = &mut self.how {
            *conflict = chosen;
        }
        self
    }

    /// Rows that hold the key's values and then the columns'.
    pub(crate) fn update(
        table: &'static str,
        key: &[&'static str],
        columns: &[&'static str],
        rows: Vec<Vec<Val>>,
    ) -> Write {
        Write {
            table,
            how: WriteKind::Update(RowChanges {
                key: key.to_vec(),
                columns: columns.to_vec(),
                adding: Vec::new(),
                also: "",
                part: "",
                only: "",
            }),
            rows,
        }
    }

    /// Rows that hold the key's values. Whether they are still there is for `RETURNING` to say.
    pub(crate) fn delete(
        table: &'static str,
        key: &'static [&'static str],
        rows: Vec<Vec<Val>>,
    ) -> Write {
        Write {
            table,
            how: WriteKind::Delete { key },
            rows,
        }
    }

    /// These columns of whole records.
    pub(crate) fn update_records<'r, T: Record + 'r>(
        key: &[&'static str],
        columns: &[&'static str],
        records: impl IntoIterator<Item = &'r T>,
    ) -> Result<Write, StoreError> {
        let all: Vec<&'static str> = key.iter().chain(columns).copied().collect();
        let rows = picked(&all, records)?;
        Ok(Write::update(T::TABLE, key, columns, rows))
    }

    /// Rows that hold, behind the key's and the columns' values, what is added to these columns.
    pub(crate) fn adding(mut self, columns: &[&'static str]) -> Write {
        if let WriteKind::Update(set) = &mut self.how {
            set.adding = columns.to_vec();
        }
        self
    }

    pub(crate) fn also(mut self, assignments: &'static str) -> Write {
        if let WriteKind::Update(set) = &mut self.how {
            set.also = assignments;
        }
        self
    }

    /// Rows of a part of the table, where only an index of that part has the key.
    pub(crate) fn in_part(mut self, condition: &'static str) -> Write {
        if let WriteKind::Update(set) = &mut self.how {
            set.part = condition;
        }
        self
    }

    pub(crate) fn only(mut self, condition: &'static str) -> Write {
        if let WriteKind::Update(set) = &mut self.how {
            set.only = condition;
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it does the same to the same table.
    fn is_like(&self, other: &Write) -> bool {
        self.table == other.table && self.how == other.how
    }

    /// Whether how many rows it touches is worth a look.
    fn is_counted(&self) -> bool {
        matches!(&self.how, WriteKind::Update(set) if set.finds_all()) && !self.rows.is_empty()
    }

    /// How many rows it must touch; none where that depends on what is there.
    fn expected(&self) -> Option<u64> {
        let count = self.rows.len() as u64;
        match &self.how {
            WriteKind::Insert { conflict, .. } => (*conflict != Conflict::Ignore).then_some(count),
            WriteKind::Update(set) => set.finds_all().then_some(count),
            WriteKind::Delete { .. } => None,
        }
    }

    /// How wide its rows are, which must be the same for all.
    fn width(&self) -> Result<usize, StoreError> {
        let width = match &self.how {
            WriteKind::Insert { columns, .. } => columns.len(),
            WriteKind::Update(set) => set.key.len() + set.columns.len() + set.adding.len(),
            WriteKind::Delete { key } => key.len(),
        };
        match self.rows.iter().all(|row| row.len() == width) {
            true => Ok(width),
            false => Err(StoreError::Other(format!(
                "{}: a row without a value for each column",
                self.table
            ))),
        }
    }

    /// The statement around `rows`, which reads as a table with the columns `column1` and so on.
    fn around(&self, rows: &str) -> String {
        match &self.how {
            WriteKind::Insert { columns, conflict } => {
                let columns = columns.join(", ");
                let mut sql = format!("INSERT INTO {} ({columns}) {rows}", self.table);
                match conflict {
                    Conflict::Fail => {}
                    Conflict::Ignore => sql.push_str(" ON CONFLICT DO NOTHING"),
                    Conflict::Replace { key, columns } => {
                        let set = |column: &&str| format!("{column} = excluded.{column}");
                        let set: Vec<String> = columns.iter().map(set).collect();
                        let _ =
                            write!(sql, " ON CONFLICT ({key}) DO UPDATE SET {}", set.join(", "));
                    }
                }
                sql
            }
            WriteKind::Update(set) => {
                let (table, keys) = (self.table, set.key.len());
                let mut assigned: Vec<String> = (keys + 1..)
                    .zip(&set.columns)
                    .map(|(at, column)| format!("{column} = v.column{at}"))
                    .collect();
                let first = keys + set.columns.len() + 1;
                assigned.extend(
                    (first..)
                        .zip(&set.adding)
                        .map(|(at, column)| format!("{column} = {table}.{column} + v.column{at}")),
                );
                if !set.also.is_empty() {
                    assigned.push(set.also.to_owned());
                }
                let found: Vec<String> = (1..)
                    .zip(&set.key)
                    .map(|(at, column)| format!("{table}.{column} = v.column{at}"))
                    .collect();
                let mut sql = format!(
                    "UPDATE {table} SET {} FROM ({rows}) AS v WHERE {}",
                    assigned.join(", "),
                    found.join(" AND ")
                );
                if !set.part.is_empty() {
                    let _ = write!(sql, " AND {}", set.part);
                }
                if !set.only.is_empty() {
                    // Inside a CASE no index serves it: rows are found by their key, and never among all that are alike.
                    let _ = write!(sql, " AND CASE WHEN {} THEN 1 ELSE 0 END = 1", set.only);
                }
                sql
            }
            WriteKind::Delete { key } => {
                let (table, key) = (self.table, key.join(", "));
                format!("DELETE FROM {table} WHERE ({key}) IN ({rows})")
            }
        }
    }
}

/// The values of these columns, of each record.
fn picked<'r, T: Record + 'r>(
    columns: &[&'static str],
    records: impl IntoIterator<Item = &'r T>,
) -> Result<Vec<Vec<Val>>, StoreError> {
    let place = |name: &&'static str| {
        let at = T::COLUMNS.iter().position(|column| column == name);
        at.ok_or_else(|| StoreError::Other(format!("{} has no column {name}", T::TABLE)))
    };
    let places: Vec<usize> = columns.iter().map(place).collect::<Result<_, _>>()?;
    let pick = |record: &T| {
        let mut values = record.values();
        let pick = |at: &usize| std::mem::replace(&mut values[*at], Val::Null);
        places.iter().map(pick).collect()
    };
    Ok(records.into_iter().map(pick).collect())
}

/// Those for one table as one, in the order in which the tables come first.
pub fn merged(writes: Vec<Write>) -> Vec<Write> {
    let mut merged: Vec<Write> = Vec::with_capacity(writes.len());
    for write in writes.into_iter().filter(|write| !write.is_empty()) {
        let alike = merged.iter_mut().find(|known| known.is_like(&write));
        match alike {
            Some(known) => known.rows.extend(write.rows),
            None => merged.push(write),
        }
    }
    merged
}
/// For SQLite: rows as rows.
pub(crate) fn chunks<'w>(write: &'w Write, returning: &str) -> Result<Vec<Chunk<'w>>, StoreError> {
    let width = write.width()?;
    by_ladder(&ROWS_LADDER, write.table, &write.rows, width, |size| {
        let mut sql = write.around(&values(size, width));
        // Whatever a statement did before it failed is undone with its unit of work: it need not keep a
        // journal of its own to undo itself with.
        if matches!(
            &write.how,
            WriteKind::Insert {
                conflict: Conflict::Fail,
                ..
            }
        ) {
            sql.replace_range(.."INSERT".len(), "INSERT OR FAIL");
        }
        sql.push_str(returning);
        sql
    })
}

/// Statements that are sent together, and the rows that go into them one after the other.
pub(crate) type StatementBatch<'r> = (String, Vec<&'r [Vec<Val>]>);

/// For SQLite: the first chunks of all tables as one text, then the second ones, and so on. Every text sent is
/// a trip to SQLite's thread and back, which costs more than a row does.
pub(crate) fn steps(writes: &[Write]) -> Result<Vec<StatementBatch<'_>>, StoreError> {
    let mut steps: Vec<StatementBatch<'_>> = Vec::new();
    for write in writes {
        for (index, (sql, rows)) in chunks(write, "")?.into_iter().enumerate() {
            match steps.get_mut(index) {
                Some((text, all)) => {
                    text.push_str("; ");
                    text.push_str(&sql);
                    all.push(rows);
                }
                None => steps.push((sql, vec![rows])),
            }
        }
    }
    Ok(steps)
}

/// One statement for the rows of several tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CombinedStatement {
    pub(crate) sql: String,
    /// It answers with one row: how many rows were touched.
    pub(crate) is_counted: bool,
}

/// For PostgreSQL: all tables by one statement. Nothing when there are no rows.
pub(crate) fn combined(writes: &[Write]) -> Result<Option<CombinedStatement>, StoreError> {
    let plain = |sql| CombinedStatement {
        sql,
        is_counted: false,
    };
    let mut bound = 0;
    let mut parts = Vec::with_capacity(writes.len());
    for write in writes.iter().filter(|write| !write.rows.is_empty()) {
        let width = write.width()?;
        parts.push(write.around(&unnested(bound, width)));
        bound += width;
    }
    if parts.len() <= 1 {
        return Ok(parts.pop().map(plain));
    }
    let mut sql = "WITH ".to_owned();
    if !writes.iter().any(Write::is_counted) {
        // An insert without a rule for taken keys inserts all of its rows or fails.
        let last = parts.pop().unwrap_or_default();
        for (index, part) in parts.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            let _ = write!(sql, "{comma}part{index} AS ({part})");
        }
        return Ok(Some(plain(format!("{sql} {last}"))));
    }
    for (index, part) in parts.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(sql, "{comma}part{index} AS ({part} RETURNING 1)");
    }
    // Data-modifying parts run whether they are asked or not; asking says how many rows each touched.
    let counted: Vec<String> = (0..parts.len())
        .map(|index| format!("(SELECT count(*) FROM part{index})"))
        .collect();
    let _ = write!(sql, " SELECT CAST({} AS BIGINT)", counted.join(" + "));
    Ok(Some(CombinedStatement {
        sql,
        is_counted: true,
    }))
}

/// Whether updates touched as many rows as they must.
pub(crate) fn check_touched(writes: &[Write], touched: u64) -> Result<(), StoreError> {
    if !writes.iter().any(Write::is_counted) {
        return Ok(());
    }
    let expected: Option<u64> = writes.iter().map(Write::expected).sum();
    match expected {
        Some(expected) if expected != touched => {
            let tables: Vec<&str> = writes.iter().map(|write| write.table).collect();
            Err(StoreError::Other(format!(
                "a write to {} touched {touched} rows instead of {expected}",
                tables.join(", ")
            )))
        }
        _ => Ok(()),
    }
}

/// For PostgreSQL: one write, with what it answers.
pub(crate) fn one(write: &Write, returning: &str) -> Result<String, StoreError> {
    Ok(write.around(&unnested(0, write.width()?)) + returning)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize, width: usize) -> Vec<Vec<Val>> {
        vec![vec![Val::Int(1); width]; count]
    }

    fn into(table: &'static str, count: usize) -> Write {
        Write::insert(table, &["a", "b"], rows(count, 2))
    }

    fn sizes(count: usize) -> Vec<usize> {
        let write = into("t", count);
        let chunks = chunks(&write, "").expect("rows of one width");
        chunks.iter().map(|(_, rows)| rows.len()).collect()
    }

    #[test]
    fn rows_go_in_by_the_sizes_of_the_ladder_only() {
        assert_eq!(sizes(0), Vec::<usize>::new());
        assert_eq!(sizes(1), [1]);
        assert_eq!(sizes(7), [6, 1]);
        assert_eq!(sizes(150), [64, 64, 16, 6]);
    }

    #[test]
    fn up_to_sixty_four_rows_take_at_most_three_statements() {
        for count in 1..=64 {
            assert!(sizes(count).len() <= 3, "{count}");
        }
    }

    #[test]
    fn an_insert_says_what_becomes_of_a_taken_key() {
        let sqlite = |write: &Write| chunks(write, "").expect("even rows")[0].0.clone();
        let plain = into("t", 3);
        assert_eq!(
            sqlite(&plain),
            "INSERT OR FAIL INTO t (a, b) VALUES (?, ?), (?, ?), (?, ?)"
        );
        let ignore = into("t", 1).on_conflict(Conflict::Ignore);
        assert_eq!(
            sqlite(&ignore),
            "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO NOTHING"
        );
        let replace = into("t", 1).on_conflict(Conflict::Replace {
            key: "a",
            columns: &["b"],
        });
        assert_eq!(
            one(&replace, "").expect("even rows"),
            "INSERT INTO t (a, b) SELECT * FROM UNNEST($1, $2) AS u (column1, column2) \
             ON CONFLICT (a) DO UPDATE SET b = excluded.b"
        );
    }

    #[test]
    fn an_update_finds_its_rows_by_their_key() {
        let update = Write::update("t", &["a"], &["b"], rows(2, 2))
            .also("c = c + 1")
            .in_part("t.e = 1")
            .only("t.d = 0");
        assert_eq!(
            chunks(&update, " RETURNING a").expect("even rows")[0].0,
            "UPDATE t SET b = v.column2, c = c + 1 FROM (VALUES (?, ?), (?, ?)) AS v \
             WHERE t.a = v.column1 AND t.e = 1 AND CASE WHEN t.d = 0 THEN 1 ELSE 0 END = 1 RETURNING a"
        );
        assert_eq!(
            one(&update, "").expect("even rows"),
            "UPDATE t SET b = v.column2, c = c + 1 FROM (SELECT * FROM UNNEST($1, $2) AS u (column1, column2)) AS v \
             WHERE t.a = v.column1 AND t.e = 1 AND CASE WHEN t.d = 0 THEN 1 ELSE 0 END = 1"
        );
    }

    #[test]
    fn rows_go_by_their_key() {
        let delete = Write::delete("t", &["a", "b"], rows(2, 2));
        assert_eq!(
            chunks(&delete, " RETURNING a").expect("even rows")[0].0,
            "DELETE FROM t WHERE (a, b) IN (VALUES (?, ?), (?, ?)) RETURNING a"
        );
        assert_eq!(
            one(&delete, "").expect("even rows"),
            "DELETE FROM t WHERE (a, b) IN (SELECT * FROM UNNEST($1, $2) AS u (column1, column2))"
        );
    }

    #[test]
    fn tables_are_written_together() {
        let text = |writes: &[Write]| {
            let together = combined(writes).expect("even rows");
            together.map(|together| together.sql)
        };
        let writes = [into("x", 1), into("none", 0), into("y", 5)];
        let steps = steps(&writes).expect("even rows");
        assert_eq!(steps.len(), 2, "y takes a second chunk");
        assert_eq!(
            steps[0].0,
            "INSERT OR FAIL INTO x (a, b) VALUES (?, ?); \
             INSERT OR FAIL INTO y (a, b) VALUES (?, ?), (?, ?), (?, ?), (?, ?)"
        );
        assert_eq!(
            text(&writes).as_deref(),
            Some(
                "WITH part0 AS (INSERT INTO x (a, b) SELECT * FROM UNNEST($1, $2) AS u (column1, column2)) \
                 INSERT INTO y (a, b) SELECT * FROM UNNEST($3, $4) AS u (column1, column2)"
            )
        );
        let updating = [into("x", 1), Write::update("y", &["a"], &["b"], rows(1, 2))];
        assert_eq!(
            text(&updating).as_deref(),
            Some(
                "WITH part0 AS (INSERT INTO x (a, b) SELECT * FROM UNNEST($1, $2) AS u (column1, column2) RETURNING 1), \
                 part1 AS (UPDATE y SET b = v.column2 FROM (SELECT * FROM UNNEST($3, $4) AS u (column1, column2)) AS v \
                 WHERE y.a = v.column1 RETURNING 1) \
                 SELECT CAST((SELECT count(*) FROM part0) + (SELECT count(*) FROM part1) AS BIGINT)"
            )
        );
        assert_eq!(text(&writes[1..2]), None);
    }

    #[test]
    fn a_write_that_touched_too_few_rows_is_noticed() {
        let update = || Write::update("y", &["a"], &["b"], rows(1, 2));
        let writes = [into("x", 2), update()];
        assert!(check_touched(&writes, 3).is_ok());
        assert!(check_touched(&writes, 2).is_err());
        let ignoring = [into("x", 2).on_conflict(Conflict::Ignore), update()];
        assert!(check_touched(&ignoring, 1).is_ok());
    }

    #[test]
    fn uneven_rows_are_refused() {
        let rows = vec![vec![Val::Int(1)], vec![Val::Int(1), Val::Int(2)]];
        assert!(chunks(&Write::insert("t", &["a", "b"], rows), "").is_err());
    }
}
