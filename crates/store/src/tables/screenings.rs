//! Screenings: what the lists said of which address, when. Appended to, never changed.

use till_core::scope::Scope;
use till_core::screening::{Finding, Screening};

use crate::sql::{select, table};
use crate::{Queries, StoreError, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct ScreeningRow in "screenings" by subject {
        /// The refund or payment whose address it was.
        subject: String,
        network: String,
        address: String,
        /// What it came to.
        result: Finding,
        /// What each list said, and which edition of it.
        screening as "lists": Screening,
        at: i64,
    }
}

pub fn rows<'r>(screenings: impl IntoIterator<Item = &'r ScreeningRow>) -> Write {
    Write::records(screenings)
}

pub async fn of_subject(
    q: &mut impl Queries,
    scope: &Scope,
    subject: &str,
) -> Result<Vec<ScreeningRow>, StoreError> {
    let sql = format!(
        "{} WHERE subject = $3 AND account = $1 AND mode = $2 ORDER BY at",
        select::<ScreeningRow>()
    );
    q.all(&sql, &vals![&scope.account, scope.mode.as_str(), subject])
        .await
}
