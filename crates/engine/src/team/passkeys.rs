//! Passkeys of the signed-in user: registered, named and removed.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::page::{Page, Paged};
use till_core::time;
use till_store::Tx;
use till_store::passkeys::PasskeyRow;
use webauthn_rs::prelude::{Passkey, PasskeyRegistration, RegisterPublicKeyCredential};

use super::attempts::{self, Counted};
use super::ceremonies::{self, Holder, Kind};
use super::notices::{self, To};
use super::own_log::{self, LogOwner};
use super::sessions::Signed;
use super::unit::{SignedRequest, TeamContext};
use super::{emails, users};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{CeremonyView, PasskeyView};

const PASSKEYS_MAX: usize = 20;

pub fn view(passkey: &PasskeyRow) -> PasskeyView {
    PasskeyView {
        id: passkey.id.clone(),
        object: "passkey",
        name: passkey.name.clone(),
        created_at: time::show(passkey.created_at),
        last_used_at: passkey.last_used_at.map(time::show),
        backed_up: passkey.backed_up,
    }
}

/// The user's own, the newest first.
pub async fn list(
    engine: &Engine,
    signed: &Signed,
    page: &Page,
) -> Result<Paged<PasskeyView>, Fail> {
    let mut reader = engine.db.read().await?;
    let all = till_store::passkeys::of_user(&mut reader, &signed.user.id).await?;
    let is_after = |of: &PasskeyRow| page.before.as_ref().is_none_or(|before| of.id < *before);
    let after = all.into_iter().filter(is_after).collect();
    Ok(page
        .cut(after, |of: &PasskeyRow| &of.id)
        .map(|of| view(&of)))
}

fn holder(asked: &SignedRequest) -> Holder<'_> {
    Holder {
        session: Some(&asked.session),
        user: Some(&asked.user),
    }
}

/// Refuses where the user has as many as anybody may have.
fn check_room(own: &[PasskeyRow]) -> Result<(), Refusal> {
    if own.len() < PASSKEYS_MAX {
        return Ok(());
    }
    let message = format!("A user has at most {PASSKEYS_MAX} passkeys.");
    Err(Refusal::new(Code::ParameterInvalid, message))
}

/// Asks the browser for a new passkey.
pub async fn begin(tx: &mut Tx, context: &TeamContext<'_>) -> Result<CeremonyView, Fail> {
    let (engine, asked) = (context.engine, context.asked);
    let user = users::find(tx, &asked.user).await?;
    let own = till_store::passkeys::of_user(tx, &asked.user).await?;
    check_room(&own)?;
    let email = emails::open(engine, &user.id, &user.email)?;
    let name = user.name.as_deref().unwrap_or(&email);
    let mut known = Vec::new();
    for row in &own {
        let passkey: Passkey = ceremonies::kept(&row.credential)?;
        known.push(passkey.cred_id().clone());
    }
    let handle = ceremonies::handle(&user.id)?;
    let started =
        ceremonies::webauthn(engine)?.start_passkey_registration(handle, &email, name, Some(known));
    let (options, state) = started.map_err(Fail::broken)?;
    let mut options = serde_json::to_value(options.public_key).map_err(Fail::broken)?;
    let selection = options.pointer_mut("/authenticatorSelection");
    if let Some(selection) = selection.and_then(Value::as_object_mut) {
        // So that it can sign in without anybody typing an address.
        selection.insert("residentKey".to_owned(), json!("required"));
        selection.insert("requireResidentKey".to_owned(), json!(true));
    }
    let kept = (options, ceremonies::to_text(&state)?);
    ceremonies::keep(tx, engine, Kind::Register, holder(asked), kept).await
}

/// Takes in the passkey that the browser made.
pub async fn register(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    ceremony: &str,
    answer: &Value,
    name: &str,
) -> Result<PasskeyView, Fail> {
    let (engine, asked) = (context.engine, context.asked);
    let client = &attempts::client_of(&asked.origin);
    attempts::check(tx, engine, Counted::FailuresByClient, client).await?;
    let state = ceremonies::take(tx, engine, Kind::Register, holder(asked), ceremony).await?;
    let state: PasskeyRegistration = ceremonies::kept(&state)?;
    let answer: RegisterPublicKeyCredential =
        serde_json::from_value(answer.clone()).map_err(|_| ceremonies::failed())?;
    if ceremonies::is_embedded(&answer.response.client_data_json) {
        return Err(ceremonies::failed().into());
    }
    // Held, so that two registrations at once cannot both be the last that is allowed.
    till_store::users::find_for_update(tx, &asked.user).await?;
    let own = till_store::passkeys::of_user(tx, &asked.user).await?;
    // The library refuses the user's own with an error that other faults have, too.
    let is_own = |of: &PasskeyRow| of.credential_id == answer.raw_id.as_slice();
    let passkey = ceremonies::webauthn(engine)?.finish_passkey_registration(&answer, &state);
    let passkey = passkey.map_err(|_| match own.iter().any(is_own) {
        true => Refusal::of(Code::PasskeyAlreadyRegistered),
        false => ceremonies::failed(),
    })?;
    check_room(&own)?;
    // From the first one on, what gives a way in takes a passkey's yes: what was begun without one ends.
    if own.is_empty() {
        end_what_was_begun(tx, engine, &asked.user).await?;
    }
    let row = PasskeyRow {
        id: engine.ids.make(IdKind::Passkey),
        user_id: asked.user.to_string(),
        credential_id: passkey.cred_id().to_vec(),
        name: name.to_owned(),
        credential: ceremonies::to_text(&passkey)?,
        created_at: context.now,
        last_used_at: None,
        backed_up: is_backed_up(&passkey)?,
    };
    let inserted = till_store::passkeys::insert(tx, &row).await;
    inserted.map_err(|error| match error.violates("passkeys") {
        true => Refusal::of(Code::PasskeyAlreadyRegistered).into(),
        false => Fail::from(error),
    })?;
    let of = LogOwner {
        user: &asked.user,
        origin: &asked.origin,
    };
    let details = json!({"name": name});
    own_log::record(tx, engine, of, Action::PasskeyAdded, &row.id, &details).await?;
    notices::tell(tx, engine, To::User(&asked.user), "passkey.added", &row.id).await?;
    Ok(view(&row))
}

/// The library keeps it to itself, but for what it writes down.
fn is_backed_up(passkey: &Passkey) -> Result<bool, Fail> {
    let written = serde_json::to_value(passkey).map_err(Fail::broken)?;
    let said = written.pointer("/cred/backup_state");
    Ok(said.and_then(Value::as_bool).unwrap_or_default())
}

/// After a registration that failed: its ceremony cannot be answered again, and the failure counts.
pub async fn registration_failed(
    engine: &Engine,
    asked: &SignedRequest,
    ceremony: &str,
) -> Result<(), Fail> {
    let client = &attempts::client_of(&asked.origin);
    let noted = engine.db.write(move |tx: &mut Tx| {
        async move {
            let taken = ceremonies::take(tx, engine, Kind::Register, holder(asked), ceremony).await;
            ceremonies::if_there(taken)?;
            attempts::count(tx, engine, Counted::FailuresByClient, client).await?;
            Ok(())
        }
        .scope_boxed()
    });
    noted.await
}

fn missing() -> Refusal {
    Refusal::of(Code::ResourceMissing).param("id")
}

pub async fn rename(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
    name: &str,
) -> Result<PasskeyView, Fail> {
    let asked = context.asked;
    let found = till_store::passkeys::find(tx, &asked.user, id).await?;
    let passkey = found.ok_or_else(missing)?;
    till_store::passkeys::set_name(tx, id, name).await?;
    record(tx, context, Action::PasskeyRenamed, id, name).await?;
    let name = name.to_owned();
    Ok(view(&PasskeyRow { name, ..passkey }))
}

pub async fn remove(tx: &mut Tx, context: &TeamContext<'_>, id: &str) -> Result<PasskeyView, Fail> {
    let (engine, asked) = (context.engine, context.asked);
    let found = till_store::passkeys::find(tx, &asked.user, id).await?;
    let passkey = found.ok_or_else(missing)?;
    // Before it is gone: what confirms the removal may be this very passkey.
    context.spend_confirmation(tx).await?;
    till_store::passkeys::remove(tx, id).await?;
    // It may have been a thief's, who has said yes with it.
    end_what_was_begun(tx, engine, &asked.user).await?;
    record(tx, context, Action::PasskeyRemoved, id, &passkey.name).await?;
    notices::tell(tx, engine, To::User(&asked.user), "passkey.removed", id).await?;
    Ok(view(&passkey))
}

/// Whatever way in the user has begun to make cannot be finished.
async fn end_what_was_begun(tx: &mut Tx, engine: &Engine, user: &str) -> Result<(), Fail> {
    ceremonies::end_registrations(tx, engine, user).await?;
    Ok(till_store::users::withdraw_totp_offer(tx, user).await?)
}

async fn record(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    action: Action,
    id: &str,
    name: &str,
) -> Result<(), Fail> {
    let of = LogOwner {
        user: &context.asked.user,
        origin: &context.asked.origin,
    };
    let details = json!({"name": name});
    own_log::record(tx, context.engine, of, action, id, &details).await
}
