//! What must be true of two processes that share nothing but a database.

use std::collections::BTreeMap;

use till_store::Queries as _;

use super::Story;
use crate::check::properties;
use crate::world::Check;

/// Each finds what may never be there, whichever clock wrote it.
const NEVER: [(&str, &str); 4] = [
    (
        "expired before its deadline",
        "SELECT e.subject FROM events e JOIN invoices i ON i.account = e.account AND i.mode = e.mode AND i.id = e.subject \
         WHERE e.type = 'invoice.expired' AND e.created_at < i.expires_at",
    ),
    (
        "a stream whose events go back in time",
        "SELECT a.subject FROM events a JOIN events b ON b.account = a.account AND b.mode = a.mode AND b.subject = a.subject \
         AND b.stream_seq = a.stream_seq + 1 WHERE b.created_at < a.created_at",
    ),
    (
        "a stream with a gap",
        "SELECT subject FROM events WHERE stream_seq IS NOT NULL GROUP BY account, mode, subject \
         HAVING max(stream_seq) <> count(*)",
    ),
    (
        "a receipt for what was never paid",
        "SELECT n.id FROM notices n WHERE n.kind = 'receipt' AND n.status = 'sent' AND NOT EXISTS (SELECT 1 FROM events e \
         WHERE e.subject = n.invoice AND e.type IN ('invoice.paid', 'invoice.overpaid', 'invoice.paid_late'))",
    ),
];

async fn none_of(story: &Story, never: &[(&str, &str)]) -> Check {
    let mut reader = story.world.engine.db.read().await.unwrap();
    for (what, sql) in never {
        let found: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
        if let Some((first,)) = found.first() {
            return Err(format!("{what}: {first}, and {} in all", found.len()));
        }
    }
    Ok(())
}

pub async fn always(story: &Story) -> Check {
    properties::check(&story.world).await?;
    none_of(story, &NEVER).await?;
    if let Some(wrong) = story.world.receiver.wrongs().first() {
        return Err(wrong.clone());
    }
    one_receipt_each(story)
}

/// Addresses here are left for one invoice each.
fn one_receipt_each(story: &Story) -> Check {
    let twice = story.post.by_address().into_iter();
    match twice.into_iter().find(|(_, mails)| mails.len() > 1) {
        Some((to, mails)) => Err(format!("{to} was sent {mails:?}")),
        None => Ok(()),
    }
}

const NEVER_AT_REST: [(&str, &str); 3] = [
    (
        "an invoice that still waits",
        "SELECT id FROM invoices WHERE status = 'awaiting_payment'",
    ),
    (
        "a webhook that was never delivered",
        "SELECT event FROM deliveries d WHERE NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.account = d.account \
         AND o.mode = d.mode AND o.event = d.event AND o.status = 'succeeded')",
    ),
    (
        "a receipt that is still due",
        "SELECT n.id FROM notices n JOIN invoices i ON i.account = n.account AND i.mode = n.mode AND i.id = n.invoice \
         WHERE n.is_current = 1 AND n.status <> 'sent' AND i.status IN ('paid', 'overpaid', 'paid_late')",
    ),
];

pub async fn at_rest(story: &Story) -> Check {
    none_of(story, &NEVER_AT_REST).await?;
    let mut reader = story.world.engine.db.read().await.unwrap();
    let sql =
        "SELECT subject, max(stream_seq) FROM events WHERE stream_seq IS NOT NULL GROUP BY subject";
    let heads: Vec<(String, i64)> = reader.all(sql, &[]).await.unwrap();
    let heads: BTreeMap<String, i64> = heads.into_iter().collect();
    for reader in &story.readers {
        if heads.get(&reader.invoice) != Some(&reader.seen) {
            let (invoice, seen) = (&reader.invoice, reader.seen);
            return Err(format!("a reader of {invoice} stands at {seen}"));
        }
    }
    let sql = "SELECT id FROM notices WHERE status = 'sent'";
    let sent: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    let taken = story.post.taken();
    for (id,) in sent {
        let is_it = |letter: &super::post::Letter| letter.message_id.starts_with(&format!("{id}@"));
        if !taken.iter().any(is_it) {
            return Err(format!("{id} is said to be sent, and never came"));
        }
    }
    Ok(())
}
