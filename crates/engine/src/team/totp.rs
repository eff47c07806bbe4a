//! Authenticator codes: six digits of thirty seconds each, a second factor for signing in.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::time::{self, MINUTE_MS, SECOND_MS};
use till_store::Tx;
use till_store::users::UserRow;
use totp_rs::{Algorithm, Builder, Secret};

use super::attempts::{self, Counted};
use super::notices::{self, To};
use super::own_log::{self, LogOwner};
use super::unit::TeamContext;
use super::{emails, users};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::{TotpSetupView, UserView};

const OFFER_MS: i64 = 15 * MINUTE_MS;
const DIGITS: usize = 6;

/// What a seed is encrypted for.
pub fn purpose(user: &str) -> String {
    format!("totp_of/{user}")
}

pub fn wrong_code() -> Refusal {
    let message = "`code` is not the code of this moment, or was used already.";
    Refusal::new(Code::ParameterInvalid, message).param("code")
}

fn not_set_up() -> Refusal {
    Refusal::of(Code::TotpNotSetUp)
}

/// Which step a code is of, if it is one of now or of the steps beside it.
fn step_of(engine: &Engine, user: &str, sealed: &[u8], code: &str) -> Result<Option<i64>, Fail> {
    if code.len() != DIGITS || !code.bytes().all(|digit| digit.is_ascii_digit()) {
        return Ok(None);
    }
    let seed = engine.vault.open(&purpose(user), sealed);
    let seed = seed.map_err(Fail::broken)?.to_vec();
    let totp = Builder::new()
        .with_algorithm(Algorithm::SHA1)
        .with_digits(6)
        .with_skew(1)
        .with_step_duration(30)
        .with_secret(Secret::from(seed));
    let totp = totp.build().map_err(Fail::broken)?;
    let now_s = u64::try_from(engine.clock.now_ms() / SECOND_MS).map_err(Fail::broken)?;
    let step = totp.check(code, now_s);
    step.map(i64::try_from).transpose().map_err(Fail::broken)
}

/// Takes a code of a user who has them switched on: false where it is wrong or was used. The user's row must be held.
pub async fn take(tx: &mut Tx, engine: &Engine, user: &UserRow, code: &str) -> Result<bool, Fail> {
    let sealed = user.totp_seed.as_deref().ok_or_else(not_set_up)?;
    match step_of(engine, &user.id, sealed, code)? {
        Some(step) => Ok(till_store::users::use_totp_step(tx, &user.id, step).await?),
        None => Ok(false),
    }
}

async fn held(tx: &mut Tx, context: &TeamContext<'_>) -> Result<UserRow, Fail> {
    let user = till_store::users::find_for_update(tx, &context.asked.user).await?;
    user.ok_or_else(|| Fail::broken("a user is missing"))
}

/// Makes a seed, which is shown once and counts from its first code on.
pub async fn set_up(tx: &mut Tx, context: &TeamContext<'_>) -> Result<TotpSetupView, Fail> {
    let engine = context.engine;
    let user = held(tx, context).await?;
    if user.totp_seed.is_some() {
        return Err(Refusal::of(Code::TotpAlreadyEnabled).into());
    }
    let seed = engine.ids.random::<20>();
    let sealed = engine.vault.seal(&engine.ids, &purpose(&user.id), &seed)?;
    let until = context.now + OFFER_MS;
    till_store::users::offer_totp(tx, &user.id, sealed, until).await?;
    let secret = Secret::from(seed).to_base32();
    let email = emails::open(engine, &user.id, &user.email)?;
    let email: String = url::form_urlencoded::byte_serialize(email.as_bytes()).collect();
    let otpauth_url = format!(
        "otpauth://totp/Till:{email}?secret={secret}&issuer=Till&algorithm=SHA1&digits=6&period=30"
    );
    Ok(TotpSetupView {
        object: "totp_setup",
        secret,
        otpauth_url,
        expires_at: time::show(until),
    })
}

/// Switches the codes on with the first of them.
pub async fn confirm(tx: &mut Tx, context: &TeamContext<'_>, code: &str) -> Result<UserView, Fail> {
    let engine = context.engine;
    let user = held(tx, context).await?;
    let is_open = user
        .totp_offer_until
        .is_some_and(|until| context.now < until);
    let offer = user.totp_offer.clone().filter(|_| is_open);
    let offer = offer.ok_or_else(not_set_up)?;
    let step = step_of(engine, &user.id, &offer, code)?.ok_or_else(wrong_code)?;
    till_store::users::enable_totp(tx, &user.id, offer, step).await?;
    told(tx, context, Action::TotpEnabled, "totp.enabled").await?;
    users::shown(tx, engine, &user.id).await
}

/// Switches the codes off: with one of them, where the user has no passkey. Whoever has one confirms it with that.
pub async fn disable(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    code: Option<&str>,
) -> Result<UserView, Fail> {
    let engine = context.engine;
    let user = held(tx, context).await?;
    if user.totp_seed.is_none() {
        return Err(not_set_up().into());
    }
    if till_store::passkeys::count_of(tx, &user.id).await? == 0 {
        let missing = || Refusal::new(Code::ParameterMissing, "`code` is missing.").param("code");
        let code = code.ok_or_else(missing)?;
        if !take(tx, engine, &user, code).await? {
            return Err(wrong_code().into());
        }
    }
    till_store::users::disable_totp(tx, &user.id).await?;
    told(tx, context, Action::TotpDisabled, "totp.disabled").await?;
    users::shown(tx, engine, &user.id).await
}

async fn told(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    action: Action,
    kind: &str,
) -> Result<(), Fail> {
    let (engine, user) = (context.engine, &*context.asked.user);
    let of = LogOwner {
        user,
        origin: &context.asked.origin,
    };
    own_log::record(tx, engine, of, action, user, &json!({})).await?;
    notices::tell(tx, engine, To::User(user), kind, user).await
}

/// Counts a try with a code before it is looked at, so that many at once are no way around the limit.
pub async fn begin_try(engine: &Engine, user: &str) -> Result<String, Fail> {
    let begun = engine.db.write(move |tx: &mut Tx| {
        async move {
            till_store::users::find_for_update(tx, user).await?;
            attempts::check(tx, engine, Counted::WrongCodes, user).await?;
            attempts::count(tx, engine, Counted::WrongCodes, user).await
        }
        .scope_boxed()
    });
    begun.await
}

/// Takes the count back where the code was not wrong.
pub async fn forgive_try(engine: &Engine, tried: &str) -> Result<(), Fail> {
    let forgiven = engine.db.write(move |tx: &mut Tx| {
        async move { Ok(till_store::attempts::remove(tx, tried).await?) }.scope_boxed()
    });
    forgiven.await
}
