//! How a confirmation comes about: a passkey is asked about one request, and says yes.

use std::sync::Mutex;

use scoped_futures::ScopedFutureExt as _;
use serde_json::Value;
use till_core::asset::Mode;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_core::time;
use till_store::confirmations::ConfirmationRow;
use till_store::{Queries, Tx};

use super::attempts::{self, Counted};
use super::ceremonies::{self, LIFE_MS};
use super::tokens::Token;
use super::unit::{SignedRequest, TeamContext};
use super::{applications, sessions};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::invoices;
use crate::view::ConfirmationView;

/// The request to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub path: String,
    pub body_hash: [u8; 32],
    /// None where no organisation or mode is involved.
    pub account: Option<String>,
    pub mode: Option<Mode>,
}

/// Asks for a passkey's yes to a request.
pub async fn begin(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    target: &Target,
) -> Result<ConfirmationView, Fail> {
    let (engine, asked) = (context.engine, context.asked);
    let own = till_store::passkeys::of_user(tx, &asked.user).await?;
    if own.is_empty() {
        return Err(Refusal::of(Code::PasskeyRequired).into());
    }
    let (options, state) = ceremonies::ask(engine, &own)?;
    let confirmation = ConfirmationRow {
        id: engine.ids.make(IdKind::Confirmation),
        session_id: asked.session.to_string(),
        user_id: asked.user.to_string(),
        account: target.account.clone().unwrap_or_default(),
        mode: target.mode.map_or("", Mode::as_str).to_owned(),
        path: target.path.clone(),
        body_hash: target.body_hash.to_vec(),
        about: about(tx, target).await?,
        state,
        created_at: context.now,
        expires_at: context.now + LIFE_MS,
        answered_at: None,
        confirmed_at: None,
        passkey: None,
        used_at: None,
    };
    till_store::confirmations::insert(tx, &confirmation).await?;
    Ok(view(&confirmation, Some(options)))
}

/// What a request is about, where that may change before it is sent: of a decision on an application, which of its
/// submissions; of a decision on an invoice, which payments are held.
pub async fn about(q: &mut impl Queries, target: &Target) -> Result<String, Fail> {
    let path = &*target.path;
    let invoice = path
        .strip_prefix("/v1/invoices/")
        .and_then(|rest| rest.strip_suffix("/resolve_review"));
    if let (Some(invoice), Some(account), Some(mode)) = (invoice, &target.account, target.mode) {
        let scope = Scope::new(account, mode);
        let held = invoices::held_in(q, &scope, invoice).await?;
        return Ok(invoices::accepted(&held));
    }
    let rest = path.strip_prefix("/v1/dashboard/operator/applications/");
    match rest.and_then(|rest| rest.split_once('/')) {
        Some((id, _)) => {
            let found = till_store::applications::find(q, id).await?;
            Ok(found
                .as_ref()
                .map(applications::submission)
                .unwrap_or_default())
        }
        None => Ok(String::new()),
    }
}

fn view(confirmation: &ConfirmationRow, options: Option<Value>) -> ConfirmationView {
    let status = match confirmation.confirmed_at {
        Some(_) => "confirmed",
        None => "pending",
    };
    ConfirmationView {
        object: "confirmation",
        id: confirmation.id.clone(),
        status,
        path: confirmation.path.clone(),
        options,
        expires_at: time::show(confirmation.expires_at),
    }
}

/// Takes the one answer that a confirmation has; nothing where it is another's, was answered or is too old.
async fn take(
    tx: &mut Tx,
    asked: &SignedRequest,
    id: &str,
    now: i64,
) -> Result<ConfirmationRow, Fail> {
    if !till_store::confirmations::answer(tx, id, now).await? {
        return Err(ceremonies::expired().into());
    }
    let found = till_store::confirmations::find(tx, id).await?;
    let own = found.filter(|of| *of.session_id == *asked.session && *of.user_id == *asked.user);
    Ok(own.ok_or_else(ceremonies::expired)?)
}

/// Takes the passkey's answer. The session gets a new token, which is left in `renewed`.
pub async fn answer(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
    credential: &Value,
    renewed: &Mutex<Option<Token>>,
) -> Result<ConfirmationView, Fail> {
    let (engine, asked, now) = (context.engine, context.asked, context.now);
    let client = &attempts::client_of(&asked.origin);
    attempts::check(tx, engine, Counted::FailuresByClient, client).await?;
    let confirmation = take(tx, asked, id, now).await?;
    let state = &confirmation.state;
    let verified = ceremonies::verify(tx, engine, state, credential, Some(&asked.user)).await?;
    let passkey = verified.map_err(|_| ceremonies::failed())?;
    let expires_at = now + LIFE_MS;
    till_store::confirmations::confirm(tx, id, &passkey.id, now, expires_at).await?;
    let session = till_store::sessions::find_for_update(tx, &asked.session).await?;
    let session = session.ok_or_else(|| Refusal::of(Code::SessionExpired))?;
    let issued = sessions::renew(tx, engine, &session, &session.method).await?;
    if let Ok(mut renewed) = renewed.lock() {
        *renewed = Some(issued.token);
    }
    let confirmed = ConfirmationRow {
        confirmed_at: Some(now),
        expires_at,
        ..confirmation
    };
    Ok(view(&confirmed, None))
}

/// After an answer that failed: it was the only one, it counts, and a counter that went backwards is told.
pub async fn answer_failed(
    engine: &Engine,
    asked: &SignedRequest,
    id: &str,
    credential: &Value,
) -> Result<(), Fail> {
    let client = &attempts::client_of(&asked.origin);
    let noted = engine.db.write(move |tx: &mut Tx| {
        async move {
            let now = engine.clock.now_ms();
            let taken = take(tx, asked, id, now).await;
            if let Some(ConfirmationRow { state, .. }) = ceremonies::if_there(taken)? {
                let user = Some(&*asked.user);
                let verified = ceremonies::verify(tx, engine, &state, credential, user).await?;
                if let Err(rejected) = verified {
                    ceremonies::warn(tx, engine, &rejected).await?;
                }
            }
            attempts::count(tx, engine, Counted::FailuresByClient, client).await?;
            Ok(())
        }
        .scope_boxed()
    });
    noted.await
}
