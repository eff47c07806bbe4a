//! Statements around many rows. Each engine has its own way to take them at once; the text that the callers
//! write is the same: `… VALUES` for rows, a SELECT by `$1` and so on for keys.

use std::borrow::Cow;

use crate::{StoreError, Val};

/// Rows for one table, with what comes before and after them in their statement.
#[derive(Clone, Debug)]
pub struct Insert {
    /// `INSERT INTO t (a, b) VALUES`
    pub(crate) head: Cow<'static, str>,
    pub(crate) tail: &'static str,
    pub(crate) rows: Vec<Vec<Val>>,
}

/// SQLite: statements are prepared and cached by their text, so rows go in by these sizes only: few texts per
/// insert instead of one for each number, and for up to 64 rows at most three statements, mostly two.
const ROWS_LADDER: [usize; 12] = [64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1];

/// SQLite takes 32,766 parameters in a statement.
const PARAMETERS_MAX: usize = 32_766;

/// A statement and the rows that go into it.
pub(crate) type Chunk<'r> = (String, &'r [Vec<Val>]);

/// For SQLite: rows as rows.
pub(crate) fn chunks<'r>(
    head: &str,
    tail: &str,
    rows: &'r [Vec<Val>],
) -> Result<Vec<Chunk<'r>>, StoreError> {
    // Whatever a statement did before it failed is undone with its unit of work: it need not keep a journal of
    // its own to undo itself with.
    let head = match head.strip_prefix("INSERT INTO") {
        Some(table) if tail.is_empty() => Cow::Owned(format!("INSERT OR FAIL INTO{table}")),
        _ => Cow::Borrowed(head),
    };
    by_ladder(&head, rows, |size, width| {
        let row = format!("({})", vec!["?"; width].join(", "));
        // Without numbers: SQLite takes `$1` for a name and looks every name up among all the others.
        let rows = vec![row.as_str(); size].join(", ");
        around(&head, &rows, tail)
    })
}

/// Statements that are sent together, and the rows that go into them one after the other.
pub(crate) type Step<'r> = (String, Vec<&'r [Vec<Val>]>);

/// For SQLite: the first chunks of all tables as one text, then the second ones, and so on. Every text sent is
/// a trip to SQLite's thread and back, which costs more than a row does.
pub(crate) fn steps(inserts: &[Insert]) -> Result<Vec<Step<'_>>, StoreError> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for insert in inserts {
        for (index, (sql, rows)) in chunks(&insert.head, insert.tail, &insert.rows)?
            .into_iter()
            .enumerate()
        {
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

/// For PostgreSQL: all tables by one statement. Nothing when there are no rows.
pub(crate) fn together(inserts: &[Insert]) -> Result<Option<String>, StoreError> {
    let mut bound = 0;
    let mut parts = Vec::with_capacity(inserts.len());
    for insert in inserts.iter().filter(|insert| !insert.rows.is_empty()) {
        let width = width(&insert.head, &insert.rows)?;
        parts.push(unnested_from(bound, &insert.head, insert.tail, width)?);
        bound += width;
    }
    let Some(last) = parts.pop() else {
        return Ok(None);
    };
    if parts.is_empty() {
        return Ok(Some(last));
    }
    let with: Vec<String> = parts
        .iter()
        .enumerate()
        .map(|(index, sql)| format!("part{index} AS ({sql})"))
        .collect();
    Ok(Some(format!("WITH {} {last}", with.join(", "))))
}

/// For PostgreSQL: each column is one array, so that one text, parsed and planned once, serves any number.
pub(crate) fn unnested(head: &str, tail: &str, width: usize) -> Result<String, StoreError> {
    unnested_from(0, head, tail, width)
}

/// The same behind `bound` other arguments.
fn unnested_from(bound: usize, head: &str, tail: &str, width: usize) -> Result<String, StoreError> {
    let head = head
        .strip_suffix("VALUES")
        .ok_or_else(|| StoreError::Other(format!("{head}: does not end in VALUES")))?;
    let rows = format!(
        "SELECT * FROM UNNEST({}) AS u ({})",
        numbered("$", bound, width),
        numbered("column", 0, width)
    );
    Ok(around(head.trim_end(), &rows, tail))
}

/// For SQLite: a SELECT of one row by its key, made one for many keys. It names one table and no join.
pub(crate) fn lookups<'r>(
    select: &str,
    keys: &'r [Vec<Val>],
) -> Result<Vec<Chunk<'r>>, StoreError> {
    let select = replaced(select, |number| format!("v.column{number}"));
    let (columns, table) = select
        .split_once(" FROM ")
        .ok_or_else(|| StoreError::Other(format!("{select}: selects from nothing")))?;
    // A cross join is what SQLite does not turn around.
    chunks(
        &format!("{columns} FROM (VALUES"),
        &format!(") AS v CROSS JOIN {table}"),
        keys,
    )
}

/// For PostgreSQL: the same for any number of keys. The limit keeps each look-up what it is: joined with the
/// keys, PostgreSQL would go on reading the whole of a table that was small when the statement was planned.
pub(crate) fn lateral(select: &str, width: usize) -> String {
    let select = replaced(select, |number| format!("k.key{number}"));
    format!(
        "SELECT f.* FROM UNNEST({}) AS k ({}) CROSS JOIN LATERAL ({select} LIMIT 1) AS f",
        numbered("$", 0, width),
        numbered("key", 0, width)
    )
}

/// How wide the rows are, which must be the same for all.
pub(crate) fn width(head: &str, rows: &[Vec<Val>]) -> Result<usize, StoreError> {
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width) || (width == 0 && !rows.is_empty()) {
        return Err(StoreError::Other(format!(
            "{head}: rows of different or no width"
        )));
    }
    Ok(width)
}

fn by_ladder<'r>(
    head: &str,
    rows: &'r [Vec<Val>],
    statement: impl Fn(usize, usize) -> String,
) -> Result<Vec<Chunk<'r>>, StoreError> {
    let width = width(head, rows)?;
    let mut chunks = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let size = ROWS_LADDER
            .into_iter()
            .find(|size| *size <= rest.len() && size * width <= PARAMETERS_MAX)
            .ok_or_else(|| StoreError::Other(format!("{head}: {width} columns are too many")))?;
        let (chunk, others) = rest.split_at(size);
        chunks.push((statement(size, width), chunk));
        rest = others;
    }
    Ok(chunks)
}

fn around(head: &str, rows: &str, tail: &str) -> String {
    let mut sql = format!("{head} {rows}");
    if !tail.is_empty() {
        sql.push(' ');
        sql.push_str(tail.trim_start());
    }
    sql
}

fn numbered(prefix: &str, after: usize, count: usize) -> String {
    let names: Vec<String> = (1..=count)
        .map(|n| format!("{prefix}{}", after + n))
        .collect();
    names.join(", ")
}

/// The statement with something else in place of each `$1`.
fn replaced(sql: &str, by: impl Fn(usize) -> String) -> String {
    let mut parts = sql.split('$');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        out.push_str(&by(part[..digits].parse().unwrap_or(0)));
        out.push_str(&part[digits..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(count: usize, width: usize) -> Vec<usize> {
        let rows = vec![vec![Val::Int(1); width]; count];
        let chunks = chunks("INSERT INTO t (a) VALUES", "", &rows).expect("rows of one width");
        chunks.iter().map(|(_, rows)| rows.len()).collect()
    }

    #[test]
    fn rows_go_in_by_the_sizes_of_the_ladder_only() {
        assert_eq!(sizes(0, 3), Vec::<usize>::new());
        assert_eq!(sizes(1, 3), [1]);
        assert_eq!(sizes(7, 3), [6, 1]);
        assert_eq!(sizes(150, 3), [64, 64, 16, 6]);
    }

    #[test]
    fn up_to_sixty_four_rows_take_at_most_three_statements() {
        for count in 1..=64 {
            assert!(sizes(count, 3).len() <= 3, "{count}");
        }
    }

    #[test]
    fn wide_rows_go_in_by_smaller_sizes() {
        assert_eq!(sizes(64, 600), [48, 16]);
    }

    #[test]
    fn rows_stand_between_what_comes_before_and_after() {
        let rows = vec![vec![Val::Int(1), Val::Int(2)]; 3];
        let (head, tail) = ("INSERT INTO t (a, b) VALUES", " ON CONFLICT DO NOTHING");
        let chunks = chunks(head, tail, &rows).expect("even rows");
        assert_eq!(
            chunks[0].0,
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?), (?, ?) ON CONFLICT DO NOTHING"
        );
        let plain = super::chunks(head, "", &rows).expect("even rows");
        assert_eq!(
            plain[0].0,
            "INSERT OR FAIL INTO t (a, b) VALUES (?, ?), (?, ?), (?, ?)"
        );
        assert_eq!(
            unnested(head, tail, 2).expect("a head for rows"),
            "INSERT INTO t (a, b) SELECT * FROM UNNEST($1, $2) AS u (column1, column2) ON CONFLICT DO NOTHING"
        );
        assert!(unnested("DELETE FROM t", "", 2).is_err());
    }

    #[test]
    fn tables_go_in_together() {
        let insert = |table: &str, count| Insert {
            head: format!("INSERT INTO {table} (a, b) VALUES").into(),
            tail: "",
            rows: vec![vec![Val::Int(1), Val::Int(2)]; count],
        };
        let inserts = [insert("x", 1), insert("none", 0), insert("y", 5)];
        let steps = steps(&inserts).expect("even rows");
        assert_eq!(steps.len(), 2, "y takes a second chunk");
        assert_eq!(
            steps[0].0,
            "INSERT OR FAIL INTO x (a, b) VALUES (?, ?); \
             INSERT OR FAIL INTO y (a, b) VALUES (?, ?), (?, ?), (?, ?), (?, ?)"
        );
        assert_eq!(
            together(&inserts).expect("even rows").as_deref(),
            Some(
                "WITH part0 AS (INSERT INTO x (a, b) SELECT * FROM UNNEST($1, $2) AS u (column1, column2)) \
                 INSERT INTO y (a, b) SELECT * FROM UNNEST($3, $4) AS u (column1, column2)"
            )
        );
        assert_eq!(together(&inserts[1..2]).expect("no rows"), None);
    }

    #[test]
    fn a_look_up_is_repeated_for_every_key() {
        let keys = vec![vec![Val::Int(1), Val::Int(2)]; 2];
        let select = "SELECT a FROM t WHERE b = $1 AND c = $2";
        let chunks = lookups(select, &keys).expect("even keys");
        assert_eq!(
            chunks[0].0,
            "SELECT a FROM (VALUES (?, ?), (?, ?) ) AS v CROSS JOIN t WHERE b = v.column1 AND c = v.column2"
        );
        assert_eq!(
            lateral(select, 2),
            "SELECT f.* FROM UNNEST($1, $2) AS k (key1, key2) CROSS JOIN LATERAL \
             (SELECT a FROM t WHERE b = k.key1 AND c = k.key2 LIMIT 1) AS f"
        );
    }

    #[test]
    fn uneven_rows_are_refused() {
        let rows = vec![vec![Val::Int(1)], vec![Val::Int(1), Val::Int(2)]];
        assert!(chunks("INSERT INTO t (a) VALUES", "", &rows).is_err());
    }
}
