//! Passkeys and confirmations as they are in the database, for tests of what needs one: the ceremonies have tests of
//! their own.

use scoped_futures::ScopedFutureExt as _;
use sha2::{Digest as _, Sha256};
use till_core::asset::Mode;
use till_core::id::IdKind;
use till_engine::team::confirming::{self, Target};
use till_store::confirmations::ConfirmationRow;
use till_store::passkeys::PasskeyRow;
use till_store::{StoreError, Tx};

use crate::browser::Browser;
use crate::harness::{Till, text};

pub async fn user_of(browser: &Browser) -> String {
    text(&browser.get("session").await.ok(200)["user"]["id"])
}

/// Gives whoever is signed in a passkey.
pub async fn give_passkey(till: &Till, browser: &Browser) {
    let engine = till.engine();
    let id = engine.ids.make(IdKind::Passkey);
    let passkey = PasskeyRow {
        user_id: user_of(browser).await,
        credential_id: id.clone().into_bytes(),
        name: "key".to_owned(),
        credential: "{}".to_owned(),
        created_at: engine.clock.now_ms(),
        last_used_at: None,
        backed_up: false,
        id,
    };
    let passkey = &passkey;
    let given: Result<(), StoreError> = engine
        .db
        .write(move |tx: &mut Tx| {
            async move { till_store::passkeys::insert(tx, passkey).await }.scope_boxed()
        })
        .await;
    given.unwrap();
}

/// A confirmation that a passkey has said yes to: for this path and body, in the browser's mode.
pub async fn confirmed(till: &Till, browser: &Browser, path: &str, body: &[u8]) -> String {
    let engine = till.engine();
    let session = browser.get("session").await.ok(200);
    let now = engine.clock.now_ms();
    let target = Target {
        path: path.to_owned(),
        body_hash: Sha256::digest(body).into(),
        account: Some(till.account.id.clone()),
        mode: browser.mode.and_then(Mode::parse),
    };
    let mut reader = engine.db.read().await.unwrap();
    let about = confirming::about(&mut reader, &target).await.unwrap();
    let user = text(&session["user"]["id"]);
    let own = till_store::passkeys::of_user(&mut reader, &user)
        .await
        .unwrap();
    drop(reader);
    let row = ConfirmationRow {
        id: engine.ids.make(IdKind::Confirmation),
        session_id: text(&session["id"]),
        user_id: user,
        account: till.account.id.clone(),
        mode: browser.mode.unwrap_or_default().to_owned(),
        path: target.path,
        body_hash: target.body_hash.to_vec(),
        about,
        state: "{}".to_owned(),
        created_at: now,
        expires_at: now + 300_000,
        answered_at: Some(now),
        confirmed_at: Some(now),
        passkey: own.into_iter().map(|passkey| passkey.id).next(),
        used_at: None,
    };
    let confirmation = &row;
    let given: Result<(), StoreError> = engine
        .db
        .write(move |tx: &mut Tx| {
            async move { till_store::confirmations::insert(tx, confirmation).await }.scope_boxed()
        })
        .await;
    given.unwrap();
    row.id
}

/// Takes a member out of the organisation, or gives them another role.
pub async fn set_role(till: &Till, browser: &Browser, role: Option<till_core::role::Role>) {
    let (user, account) = (&*user_of(browser).await, &*till.account.id);
    let set: Result<(), StoreError> = till
        .engine()
        .db
        .write(move |tx: &mut Tx| {
            async move {
                match role {
                    Some(role) => till_store::members::set_role(tx, account, user, role).await,
                    None => till_store::members::remove(tx, account, user).await,
                }
            }
            .scope_boxed()
        })
        .await;
    set.unwrap();
}
