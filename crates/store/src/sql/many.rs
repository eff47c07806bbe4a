//! How each engine takes many rows: SQLite by sizes of a ladder, PostgreSQL as arrays.

use crate::{StoreError, Val};

/// SQLite: statements are prepared and cached by their text, so rows go in by these sizes only: few texts per
/// insert instead of one for each number, and for up to 64 rows at most three statements, mostly two.
pub(super) const ROWS_LADDER: [usize; 12] = [64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1];

/// The same for look-ups, of which there may be thousands at once: all that streams watch are asked for together.
pub(super) const KEYS_LADDER: [usize; 14] = [1_024, 256, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1];

/// SQLite takes 32,766 parameters in a statement.
const PARAMETERS_MAX: usize = 32_766;

/// A statement and the rows that go into it.
pub(crate) type Chunk<'r> = (String, &'r [Vec<Val>]);

pub(super) fn by_ladder<'r>(
    ladder: &[usize],
    table: &str,
    rows: &'r [Vec<Val>],
    width: usize,
    statement: impl Fn(usize) -> String,
) -> Result<Vec<Chunk<'r>>, StoreError> {
    let mut chunks = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let size = ladder
            .iter()
            .copied()
            .find(|size| *size <= rest.len() && size * width <= PARAMETERS_MAX)
            .ok_or_else(|| StoreError::Other(format!("{table}: {width} columns are too many")))?;
        let (chunk, others) = rest.split_at(size);
        chunks.push((statement(size), chunk));
        rest = others;
    }
    Ok(chunks)
}

/// Without numbers: SQLite takes `$1` for a name and looks every name up among all the others.
pub(super) fn values(rows: usize, width: usize) -> String {
    let row = format!("({})", vec!["?"; width].join(", "));
    format!("VALUES {}", vec![row.as_str(); rows].join(", "))
}

/// Each column is one array, behind `bound` other arguments, so that one text, parsed and planned once, serves any
/// number of rows.
pub(super) fn unnested(bound: usize, width: usize) -> String {
    format!(
        "SELECT * FROM UNNEST({}) AS u ({})",
        numbered("$", bound, width),
        numbered("column", 0, width)
    )
}

pub(super) fn numbered(prefix: &str, after: usize, count: usize) -> String {
    let names: Vec<String> = (1..=count)
        .map(|n| format!("{prefix}{}", after + n))
        .collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_rows_go_in_by_smaller_sizes() {
        let rows = vec![vec![Val::Int(1); 600]; 64];
        let chunks = by_ladder(&ROWS_LADDER, "t", &rows, 600, |_| String::new()).expect("they fit");
        let sizes: Vec<usize> = chunks.iter().map(|(_, rows)| rows.len()).collect();
        assert_eq!(sizes, [48, 16]);
    }
}
