//! Events, as committed with their cause.

use till_core::event::EventType;
use till_core::scope::Scope;

use crate::sql::table;
use crate::{Queries, StoreError, Write, vals};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    scoped struct EventRow in "events" by id {
        id: String,
        event_type as "type": EventType,
        /// What it is about: an invoice, a payment link, and others to come. Older events of links have none.
        subject: Option<String>,
        /// Its place on the subject's live stream, if it is told there.
        stream_seq: Option<i64>,
        created_at: i64,
        /// The webhook's body. An attempt leaves out the addresses in it that are not the invoice's any more.
        body: String,
        /// The payments as the payer saw them at that moment, for the live stream.
        payments: Option<String>,
    }
}

pub fn rows(events: &[EventRow]) -> Write {
    Write::records(events)
}

#[derive(Clone, Debug, sqlx::FromRow)]
pub struct StreamedEvent {
    #[sqlx(rename = "type")]
    pub event_type: String,
    pub stream_seq: i64,
    pub created_at: i64,
    pub body: String,
    pub payments: Option<String>,
}

/// The subject's stream after `after`, oldest first.
pub async fn stream(
    q: &mut impl Queries,
    scope: &Scope,
    subject: &str,
    after: i64,
    at_most: i64,
) -> Result<Vec<StreamedEvent>, StoreError> {
    let sql = "SELECT type, stream_seq, created_at, body, payments FROM events \
         WHERE subject = $3 AND stream_seq > $4 AND account = $1 AND mode = $2 ORDER BY stream_seq LIMIT $5";
    let args = vals![&scope.account, scope.mode.as_str(), subject, after, at_most];
    q.all(sql, &args).await
}
