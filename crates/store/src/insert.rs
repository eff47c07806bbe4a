//! How many rows go into one statement.

use crate::{StoreError, Val};

/// Statements are prepared and cached by their text, so rows go in by these sizes only: any number of rows
/// makes at most seven texts per insert instead of one for each number, and few statements.
const ROWS_LADDER: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

/// SQLite takes 32,766 parameters in a statement, PostgreSQL 65,535.
const PARAMETERS_MAX: usize = 32_766;

/// A statement and the rows that go into it.
pub(crate) type Chunk<'r> = (String, &'r [Vec<Val>]);

pub(crate) fn chunks<'r>(
    head: &str,
    tail: &str,
    rows: &'r [Vec<Val>],
) -> Result<Vec<Chunk<'r>>, StoreError> {
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width) || (width == 0 && !rows.is_empty()) {
        return Err(StoreError::Other(format!(
            "{head}: rows of different or no width"
        )));
    }
    let mut chunks = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let size = ROWS_LADDER
            .into_iter()
            .find(|size| *size <= rest.len() && size * width <= PARAMETERS_MAX)
            .ok_or_else(|| StoreError::Other(format!("{head}: {width} columns are too many")))?;
        let (chunk, others) = rest.split_at(size);
        chunks.push((statement(head, tail, size, width), chunk));
        rest = others;
    }
    Ok(chunks)
}

fn statement(head: &str, tail: &str, rows: usize, width: usize) -> String {
    let mut sql = String::with_capacity(head.len() + tail.len() + rows * width * 6);
    sql.push_str(head);
    for row in 0..rows {
        sql.push_str(if row == 0 { " (" } else { ", (" });
        for column in 0..width {
            sql.push_str(if column == 0 { "$" } else { ", $" });
            sql.push_str(&(row * width + column + 1).to_string());
        }
        sql.push(')');
    }
    if !tail.is_empty() {
        sql.push(' ');
        sql.push_str(tail.trim_start());
    }
    sql
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
        assert_eq!(sizes(7, 3), [4, 2, 1]);
        assert_eq!(sizes(150, 3), [64, 64, 16, 4, 2]);
    }

    #[test]
    fn wide_rows_go_in_by_smaller_sizes() {
        assert_eq!(sizes(64, 600), [32, 32]);
    }

    #[test]
    fn placeholders_run_on_over_the_rows() {
        let rows = vec![vec![Val::Int(1), Val::Int(2)]; 4];
        let chunks = chunks(
            "INSERT INTO t (a, b) VALUES",
            " ON CONFLICT DO NOTHING",
            &rows,
        )
        .expect("even rows");
        assert_eq!(
            chunks[0].0,
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4), ($5, $6), ($7, $8) ON CONFLICT DO NOTHING"
        );
    }

    #[test]
    fn uneven_rows_are_refused() {
        let rows = vec![vec![Val::Int(1)], vec![Val::Int(1), Val::Int(2)]];
        assert!(chunks("INSERT INTO t (a) VALUES", "", &rows).is_err());
    }
}
