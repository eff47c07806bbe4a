//! Ceremonies with passkeys: what a browser is asked, kept until it is answered once, and how the answer is held
//! against it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::time::{self, MINUTE_MS};
use till_store::Tx;
use till_store::ceremonies::CeremonyRow;
use till_store::passkeys::PasskeyRow;
use webauthn_rs::prelude::{
    DiscoverableAuthentication, Passkey, PublicKeyCredential, Url, Uuid, Webauthn, WebauthnBuilder,
    WebauthnError,
};

use super::notices::{self, To};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::CeremonyView;

/// How long an answer is awaited.
pub const LIFE_MS: i64 = 5 * MINUTE_MS;

/// What a ceremony is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    SignIn,
    SecondFactor,
    Register,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::SignIn => "sign_in",
            Kind::SecondFactor => "second_factor",
            Kind::Register => "register",
        }
    }
}

/// Who a ceremony belongs to; nobody yet where it signs somebody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder<'h> {
    pub session: Option<&'h str>,
    pub user: Option<&'h str>,
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    Wrong {
        /// Whose the passkey is that was named, where it is known.
        user: Option<String>,
    },
    /// The signature is good and the counter went backwards: there may be a copy of this passkey.
    Suspicious { user: String, passkey: String },
}

pub fn webauthn(engine: &Engine) -> Result<Webauthn, Fail> {
    let config = &engine.config.dashboard;
    let (host, origin) = (config.host(), config.origin());
    let origin = Url::parse(&origin).map_err(Fail::broken)?;
    // Browsers know passkeys of names alone, not of IP addresses.
    let unavailable = |_| Refusal::of(Code::FeatureUnavailable);
    let builder = WebauthnBuilder::new(&host, &origin).map_err(unavailable)?;
    let built = builder.rp_name("Till").build().map_err(unavailable)?;
    Ok(built)
}

/// How passkeys call a user: a name that tells nothing.
pub fn handle(user: &str) -> Result<Uuid, Fail> {
    let digest = Sha256::digest(user.as_bytes());
    let short = digest.get(..16).unwrap_or_default();
    Uuid::from_slice(short).map_err(Fail::broken)
}

pub fn expired() -> Refusal {
    Refusal::of(Code::CeremonyExpired)
}

pub fn failed() -> Refusal {
    Refusal::of(Code::PasskeyFailed)
}

/// Options for a passkey of these, or for any that the browser knows; and what the answer is held against.
pub fn ask(engine: &Engine, passkeys: &[PasskeyRow]) -> Result<(Value, String), Fail> {
    let started = webauthn(engine)?.start_discoverable_authentication();
    let (asked, state) = started.map_err(Fail::broken)?;
    let mut options = serde_json::to_value(asked.public_key).map_err(Fail::broken)?;
    if let Some(options) = options.as_object_mut() {
        let allow = |row: &PasskeyRow| {
            let id = URL_SAFE_NO_PAD.encode(&row.credential_id);
            json!({"type": "public-key", "id": id})
        };
        let allowed: Vec<Value> = passkeys.iter().map(allow).collect();
        match allowed.is_empty() {
            true => options.remove("allowCredentials"),
            false => options.insert("allowCredentials".to_owned(), allowed.into()),
        };
    }
    Ok((options, to_text(&state)?))
}

/// Keeps a ceremony until it is answered.
pub async fn keep(
    tx: &mut Tx,
    engine: &Engine,
    kind: Kind,
    holder: Holder<'_>,
    (options, state): (Value, String),
) -> Result<CeremonyView, Fail> {
    let expires_at = engine.clock.now_ms() + LIFE_MS;
    let ceremony = CeremonyRow {
        id: engine.ids.make(IdKind::Ceremony),
        kind: kind.as_str().to_owned(),
        session_id: holder.session.map(str::to_owned),
        user_id: holder.user.map(str::to_owned),
        state,
        expires_at,
        used_at: None,
    };
    till_store::ceremonies::insert(tx, &ceremony).await?;
    Ok(CeremonyView {
        object: "ceremony",
        id: ceremony.id,
        options,
        expires_at: time::show(expires_at),
    })
}

/// Uses a ceremony up and gives back what the answer is held against.
pub async fn take(
    tx: &mut Tx,
    engine: &Engine,
    kind: Kind,
    holder: Holder<'_>,
    id: &str,
) -> Result<String, Fail> {
    let now = engine.clock.now_ms();
    let taken = till_store::ceremonies::take(tx, id, kind.as_str(), now).await?;
    let is_own = |of: &CeremonyRow| {
        of.session_id.as_deref() == holder.session && of.user_id.as_deref() == holder.user
    };
    let ceremony = taken.filter(is_own).ok_or_else(expired)?;
    Ok(ceremony.state)
}

/// Ends every registration that the user has begun.
pub async fn end_registrations(tx: &mut Tx, engine: &Engine, user: &str) -> Result<(), Fail> {
    let (kind, now) = (Kind::Register.as_str(), engine.clock.now_ms());
    Ok(till_store::ceremonies::close_all_of(tx, user, kind, now).await?)
}

/// What was taken, or nothing where it could not be answered any more.
pub fn if_there<T>(taken: Result<T, Fail>) -> Result<Option<T>, Fail> {
    match taken {
        Ok(taken) => Ok(Some(taken)),
        Err(Fail::Refused(_)) => Ok(None),
        Err(fail) => Err(fail),
    }
}

/// Whether the browser says that another site's page asked, with ours inside it. The library does not look.
pub fn is_embedded(client_data: &[u8]) -> bool {
    let said: Option<Value> = serde_json::from_slice(client_data).ok();
    said.is_some_and(|said| said["crossOrigin"] == Value::Bool(true))
}

/// Holds a passkey's answer against what it was asked, and writes down that it was used. `user` is whose it must be;
/// where nobody is known yet, the answer says whose it is.
pub async fn verify(
    tx: &mut Tx,
    engine: &Engine,
    state: &str,
    answer: &Value,
    user: Option<&str>,
) -> Result<Result<PasskeyRow, Rejected>, Fail> {
    let Ok(answer) = serde_json::from_value::<PublicKeyCredential>(answer.clone()) else {
        return Ok(Err(Rejected::Wrong { user: None }));
    };
    if is_embedded(&answer.response.client_data_json) {
        return Ok(Err(Rejected::Wrong { user: None }));
    }
    let found =
        till_store::passkeys::by_credential_for_update(tx, answer.get_credential_id()).await?;
    let Some(row) = found.filter(|row| user.is_none_or(|user| row.user_id == user)) else {
        return Ok(Err(Rejected::Wrong { user: None }));
    };
    let own = handle(&row.user_id)?;
    let is_right_user = match answer.get_user_unique_id() {
        Some(said) => said == own.as_bytes(),
        None => user.is_some(),
    };
    if !is_right_user {
        let user = Some(row.user_id);
        return Ok(Err(Rejected::Wrong { user }));
    }
    let asked: DiscoverableAuthentication = kept(state)?;
    let mut passkey: Passkey = kept(&row.credential)?;
    let verified =
        webauthn(engine)?.finish_discoverable_authentication_v2(&answer, asked, &passkey);
    let said = match verified {
        Ok(said) => said,
        Err(WebauthnError::CredentialPossibleCompromise) => {
            return Ok(Err(Rejected::Suspicious {
                user: row.user_id,
                passkey: row.id,
            }));
        }
        Err(_) => {
            let user = Some(row.user_id);
            return Ok(Err(Rejected::Wrong { user }));
        }
    };
    passkey.update_credential(&said);
    let (credential, now) = (to_text(&passkey)?, engine.clock.now_ms());
    till_store::passkeys::set_used(tx, &row.id, &credential, said.backup_state(), now).await?;
    Ok(Ok(row))
}

/// Tells whoever owns a passkey that somebody else may have a copy of it.
pub async fn warn(tx: &mut Tx, engine: &Engine, rejected: &Rejected) -> Result<(), Fail> {
    match rejected {
        Rejected::Wrong { .. } => Ok(()),
        Rejected::Suspicious { user, passkey } => {
            notices::tell(tx, engine, To::User(user), "passkey.suspicious", passkey).await
        }
    }
}

pub fn kept<T: DeserializeOwned>(text: &str) -> Result<T, Fail> {
    serde_json::from_str(text).map_err(Fail::broken)
}

pub fn to_text(value: &impl Serialize) -> Result<String, Fail> {
    serde_json::to_string(value).map_err(Fail::broken)
}
