//! Rows that come as one text. Each row wakes who asked for it, and each of its values is copied by itself: where a report goes
//! through millions of them, that costs more than reading them. There the statement puts many rows into one.
//!
//! Nothing that is packed may be empty or -1, for these stand for a null, or hold a separator: our ids, names, times, amounts
//! and JSON do neither.

use sqlx::error::BoxDynError;

use super::table::Cells;

/// Stands between the values of a row.
pub(crate) const UNIT: char = '\u{1f}';
/// Stands between rows.
pub(crate) const RECORD: char = '\u{1e}';

/// A separator, for a statement.
pub(crate) fn text(separator: char) -> String {
    separator.to_string()
}

/// Texts are empty where there is none. A number would have to be made a text for that, which costs.
const NULL_NUMBER: &str = "-1";

#[derive(Default)]
pub(crate) struct Packed<'t>(Vec<&'t str>);

impl<'t> Packed<'t> {
    /// The next row, in the place of the one before.
    pub(crate) fn of(&mut self, row: &'t str) -> &Packed<'t> {
        self.0.clear();
        self.0.extend(row.split(UNIT));
        self
    }
}

impl Cells for Packed<'_> {
    fn is_null(&self, at: usize) -> Result<bool, BoxDynError> {
        Ok(matches!(self.text(at)?, "" | NULL_NUMBER))
    }

    fn text(&self, at: usize) -> Result<&str, BoxDynError> {
        let value = self.0.get(at);
        value.copied().ok_or_else(|| "is missing".into())
    }

    fn int(&self, at: usize) -> Result<i64, BoxDynError> {
        Ok(self.text(at)?.parse()?)
    }

    fn blob(&self, _at: usize) -> Result<&[u8], BoxDynError> {
        Err("bytes are not packed".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_by_position_and_says_what_it_lacks() {
        let mut rows = Packed::default();
        rows.of("inv_0\u{1f}9");
        let row = rows.of("inv_1\u{1f}\u{1f}-1\u{1f}17");
        assert_eq!(row.text(0).unwrap(), "inv_1");
        let nulls: Vec<bool> = (0..4).map(|at| row.is_null(at).unwrap()).collect();
        assert_eq!(nulls, [false, true, true, false]);
        assert_eq!(row.int(3).unwrap(), 17);
        assert!(row.int(0).is_err() && row.text(4).is_err() && row.blob(0).is_err());
    }
}
