//! Rows that come as one text. Each row wakes who asked for it, and each of its values is copied by itself: where a report goes
//! through millions of them, that costs more than reading them. There the statement puts many rows into one.
//!
//! Nothing that is packed may be empty, for that stands for a null, or hold a separator: our ids, names, numbers and
//! JSON do neither.

use sqlx::error::BoxDynError;

use super::table::Cells;

/// Stands between the values of a row.
pub(crate) const UNIT: char = '\u{1f}';
/// Stands between a row and those that belong to it.
pub(crate) const RECORD: char = '\u{1e}';
/// Stands between rows.
pub(crate) const GROUP: char = '\u{1d}';

/// A separator, for a statement.
pub(crate) fn text(separator: char) -> String {
    separator.to_string()
}

pub(crate) struct Packed<'t>(Vec<&'t str>);

impl<'t> Packed<'t> {
    pub(crate) fn of(row: &'t str) -> Packed<'t> {
        Packed(row.split(UNIT).collect())
    }
}

impl Cells for Packed<'_> {
    fn is_null(&self, at: usize) -> Result<bool, BoxDynError> {
        Ok(self.text(at)?.is_empty())
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
