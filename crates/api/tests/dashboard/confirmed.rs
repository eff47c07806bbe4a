//! Passkeys that are there, and their yes to a request, without the ceremonies that lead to them.

use scoped_futures::ScopedFutureExt as _;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use till_core::asset::Mode;
use till_core::id::IdKind;
use till_engine::Engine;
use till_engine::merchants::accounts::{Modes, create_account};
use till_engine::team::confirming::{self, Target};
use till_store::Tx;
use till_store::confirmations::{self, ConfirmationRow};
use till_store::passkeys::{self, PasskeyRow};

use crate::browser::Browser;
use crate::harness::{Reply, Till, id};

const MINUTE_MS: i64 = 60_000;

/// Another organisation on the same server, which has not applied for live mode.
pub async fn in_test_mode_alone(till: &Till) -> Till {
    let account = create_account(till.engine(), "newcomer", Modes::TestOnly, &[]).await;
    Till {
        server: till.server.clone(),
        account: account.unwrap().into(),
    }
}

/// Registers a passkey of the user who is signed in.
pub async fn give_passkey(till: &Till, browser: &Browser) {
    let engine = till.engine();
    let user = id(&browser.get("session").await.ok(200)["user"]);
    let passkey = &PasskeyRow {
        id: engine.ids.make(IdKind::Passkey),
        user_id: user,
        credential_id: engine.ids.random::<32>().into(),
        name: "key".to_owned(),
        credential: "{}".to_owned(),
        created_at: engine.clock.now_ms(),
        last_used_at: None,
        backed_up: false,
    };
    let given = engine
        .db
        .write(move |tx: &mut Tx| async move { passkeys::insert(tx, passkey).await }.scope_boxed());
    given.await.unwrap();
}

/// What a passkey that is asked now is asked about.
async fn about(engine: &Engine, path: &str) -> String {
    let mut reader = engine.db.read().await.unwrap();
    let target = Target {
        path: format!("/v1/dashboard/{path}"),
        body_hash: [0; 32],
        account: None,
        mode: None,
    };
    confirming::about(&mut reader, &target).await.unwrap()
}

/// The id of a passkey's yes to a POST of these bytes, in the organisation that is named.
pub async fn confirm(
    till: &Till,
    browser: &Browser,
    account: &str,
    path: &str,
    body: &[u8],
) -> String {
    let engine = till.engine();
    let session = browser.get("session").await.ok(200);
    let now = engine.clock.now_ms();
    let mut reader = engine.db.read().await.unwrap();
    let own = passkeys::of_user(&mut reader, &id(&session["user"]))
        .await
        .unwrap();
    drop(reader);
    let passkey = own.first().map_or("", |passkey| &passkey.id);
    let row = &ConfirmationRow {
        id: engine.ids.make(IdKind::Confirmation),
        session_id: id(&session),
        user_id: id(&session["user"]),
        account: account.to_owned(),
        mode: browser
            .mode
            .and_then(Mode::parse)
            .map_or("", Mode::as_str)
            .to_owned(),
        path: format!("/v1/dashboard/{path}"),
        body_hash: Sha256::digest(body).to_vec(),
        about: about(engine, path).await,
        state: "{}".to_owned(),
        created_at: now,
        expires_at: now + 5 * MINUTE_MS,
        answered_at: Some(now),
        confirmed_at: None,
        passkey: None,
        used_at: None,
    };
    let made = engine.db.write(move |tx: &mut Tx| {
        async move {
            confirmations::insert(tx, row).await?;
            confirmations::confirm(tx, &row.id, passkey, now, now + 5 * MINUTE_MS).await
        }
        .scope_boxed()
    });
    made.await.unwrap();
    row.id.clone()
}

/// A POST with a passkey's yes, about the till's organisation.
pub async fn post_confirmed(till: &Till, browser: &Browser, path: &str, body: Value) -> Reply {
    let account = &*till.account.id;
    post_confirmed_at(till, browser, account, path, Some(body)).await
}

/// The same for operators, who speak for no organisation.
pub async fn operate(till: &Till, browser: &Browser, path: &str, body: Option<Value>) -> Reply {
    post_confirmed_at(till, browser, "", path, body).await
}

pub async fn post_confirmed_at(
    till: &Till,
    browser: &Browser,
    account: &str,
    path: &str,
    body: Option<Value>,
) -> Reply {
    let bytes = body.as_ref().map(|body| body.to_string().into_bytes());
    let yes = confirm(
        till,
        browser,
        account,
        path,
        bytes.as_deref().unwrap_or_default(),
    )
    .await;
    let call = browser.call("POST", path).header("till-confirmation", &yes);
    match bytes {
        Some(bytes) => call.bytes(&bytes).send().await,
        None => call.send().await,
    }
}
