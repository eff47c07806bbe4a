//! Events, as committed with their cause.

use till_core::event::EventType;
use till_core::scope::Scope;

use crate::sql::listing::newest_first;
use crate::sql::{Filter, select, table};
use crate::{Page, Queries, StoreError, Write, vals};

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

/// Which events are wanted.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    pub event_type: Option<EventType>,
    /// The first moment, and the moment after the last, on the account's clock.
    pub from: Option<i64>,
    pub to: Option<i64>,
}

/// What webhooks told of, or would have told of had there been a URL.
pub async fn list(
    q: &mut impl Queries,
    scope: &Scope,
    filter: EventFilter,
    page: &Page,
) -> Result<Vec<EventRow>, StoreError> {
    let filters = [
        Filter::not("type", EventType::CONFIRMING),
        Filter::on("type", filter.event_type),
        Filter::from("created_at", filter.from),
        Filter::to("created_at", filter.to),
    ];
    newest_first(q, scope, filters, page).await
}

/// An event of the log.
pub async fn find(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Option<EventRow>, StoreError> {
    let sql = format!(
        "{} WHERE account = $1 AND mode = $2 AND id = $3 AND type <> $4",
        select::<EventRow>()
    );
    let unlisted = EventType::CONFIRMING.as_str();
    let args = vals![&scope.account, scope.mode.as_str(), id, unlisted];
    q.one(&sql, &args).await
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
