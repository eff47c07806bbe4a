//! Events, as committed with their cause.

use till_core::event::EventType;
use till_core::scope::Scope;

use crate::{Insert, Queries, StoreError, Tx, vals};

#[derive(Clone, Debug)]
pub struct NewEvent {
    pub id: String,
    pub scope: Scope,
    pub event_type: EventType,
    pub invoice: Option<String>,
    pub stream_seq: Option<i64>,
    pub created_at: i64,
    pub body: String,
    pub payments: Option<String>,
}

pub async fn insert(tx: &mut Tx, events: &[NewEvent]) -> Result<(), StoreError> {
    tx.insert_all(&[rows(events)]).await
}

pub fn rows(events: &[NewEvent]) -> Insert {
    let rows = events
        .iter()
        .map(|event| {
            vals![
                &event.id,
                &event.scope.account,
                event.scope.mode.as_str(),
                event.event_type.as_str(),
                event.invoice.as_ref(),
                event.stream_seq,
                event.created_at,
                &event.body,
                event.payments.as_ref(),
            ]
            .into()
        })
        .collect();
    Insert {
        head: "INSERT INTO events (id, account, mode, type, invoice, stream_seq, created_at, body, payments) VALUES".into(),
        tail: "",
        rows,
    }
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

/// The invoice's stream after `after`, oldest first.
pub async fn stream(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
    after: i64,
    at_most: i64,
) -> Result<Vec<StreamedEvent>, StoreError> {
    let sql = "SELECT type, stream_seq, created_at, body, payments FROM events \
         WHERE invoice = $3 AND stream_seq > $4 AND account = $1 AND mode = $2 ORDER BY stream_seq LIMIT $5";
    q.all(
        sql,
        &vals![
            &*scope.account,
            scope.mode.as_str(),
            invoice,
            after,
            at_most
        ],
    )
    .await
}
