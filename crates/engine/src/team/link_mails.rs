//! Links that are mailed: queued in the unit of work that makes them, sent by a worker.

use serde::{Deserialize, Serialize};
use till_core::id::IdKind;
use till_store::Tx;
use till_store::link_mails::LinkMailRow;

use super::emails::Email;
use crate::base::Engine;
use crate::base::fail::Fail;

/// What is encrypted of a mail until it was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkMail {
    pub email: String,
    pub link: String,
}

/// What the content of a mail is encrypted for.
pub fn purpose(id: &str) -> String {
    format!("link_mail/{id}")
}

/// Puts a link into the queue of mails; `kind` says what it is for.
pub async fn queue(
    tx: &mut Tx,
    engine: &Engine,
    kind: &str,
    (email, locale): (&Email, Option<&str>),
    link: &str,
    expires_at: i64,
) -> Result<(), Fail> {
    let id = engine.ids.make(IdKind::Notice);
    let content = LinkMail {
        email: email.as_str().to_owned(),
        link: link.to_owned(),
    };
    let content = serde_json::to_vec(&content).map_err(Fail::broken)?;
    let mail = LinkMailRow {
        kind: kind.to_owned(),
        locale: locale.map(str::to_owned),
        content: engine.vault.seal(&engine.ids, &purpose(&id), &content)?,
        expires_at,
        due_at: engine.clock.now_ms(),
        fence: 0,
        attempts: 0,
        id,
    };
    Ok(till_store::link_mails::insert(tx, &mail).await?)
}
