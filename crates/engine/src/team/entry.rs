//! Getting in: by link, by passkey, by signing up, and with a second factor. A failure is written down in the unit of
//! work that finds it: these requests are not repeated under a key.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::{Action, Origin};
use till_core::error::{Code, Refusal};
use till_core::role::Role;
use till_store::Tx;
use till_store::members::MemberRow;
use till_store::sessions::SessionRow;
use till_store::users::UserRow;

use super::attempts::{self, Counted};
use super::ceremonies::{self, Holder, Kind, Rejected};
use super::emails::Email;
use super::links::{self, LinkKind};
use super::own_log::{self, LogOwner};
use super::sessions::{self, Issued, Signed};
use super::tokens::{self, Token};
use super::totp;
use super::users::{self, Proof};
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::CeremonyView;

/// Who comes in, and with what.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub origin: Origin,
    /// The token of a session that came along; signing in ends it.
    pub session: Option<String>,
    /// The token of the browser's cookie.
    pub browser: Option<String>,
}

impl Arrival {
    fn client(&self) -> String {
        attempts::client_of(&self.origin)
    }
}

/// Somebody who is in, and the token for the cookie.
pub type Entered = (Signed, Token);

/// What a unit of work came to. A refusal is a value here, so that what it wrote (a failed attempt, say) is committed before the caller
/// is refused.
type RecordedOutcome<T> = Result<T, Refusal>;

fn settled<T>(found: Result<RecordedOutcome<T>, Fail>) -> Result<T, Fail> {
    Ok(found??)
}

async fn entered(tx: &mut Tx, engine: &Engine, issued: Issued) -> Result<Entered, Fail> {
    let signed = sessions::load(engine, tx, issued.session).await?;
    Ok((signed, issued.token))
}

/// What coming in this way says about the user's address: by a link, that it is theirs.
fn proof_of(method: &str) -> Option<Proof> {
    match method {
        "link" | "sign_up" => Some(Proof::Mail),
        "cli" => Some(Proof::Shell),
        _ => None,
    }
}

/// Starts a session in place of the one that came along.
async fn begin(
    tx: &mut Tx,
    engine: &Engine,
    user: &UserRow,
    method: &str,
    arrival: &Arrival,
) -> Result<Entered, Fail> {
    if let Some(token) = &arrival.session {
        let old = till_store::sessions::by_token(tx, &tokens::hash(token)).await?;
        if let Some(old) = old {
            till_store::sessions::end(tx, &old.id, engine.clock.now_ms()).await?;
        }
    }
    let passkeys = till_store::passkeys::count_of(tx, &user.id).await?;
    let has_second = passkeys > 0 || user.totp_seed.is_some();
    let proof = proof_of(method);
    let state = match proof.is_some() && has_second {
        true => sessions::PENDING,
        false => sessions::ACTIVE,
    };
    // Who still has to give a second factor may not be who set it up: then the link alone shows nothing.
    if let (Some(proof), sessions::ACTIVE) = (proof, state) {
        users::prove(tx, engine, user, proof, "").await?;
    }
    let issued = sessions::start(tx, engine, user, method, state, &arrival.origin).await?;
    if state == sessions::ACTIVE {
        succeeded(tx, engine, &issued.session, &arrival.origin).await?;
    }
    entered(tx, engine, issued).await
}

/// Writes down that somebody signed in.
pub async fn succeeded(
    tx: &mut Tx,
    engine: &Engine,
    session: &SessionRow,
    origin: &Origin,
) -> Result<(), Fail> {
    let origin = Origin {
        session: Some(session.id.clone()),
        ..origin.clone()
    };
    let of = LogOwner {
        user: &session.user_id,
        origin: &origin,
    };
    let details = json!({"method": &session.method});
    own_log::record(
        tx,
        engine,
        of,
        Action::SignInSucceeded,
        &session.id,
        &details,
    )
    .await
}

async fn failed(
    tx: &mut Tx,
    engine: &Engine,
    user: &str,
    origin: &Origin,
    method: &str,
) -> Result<(), Fail> {
    let (of, details) = (LogOwner { user, origin }, json!({"method": method}));
    own_log::record(tx, engine, of, Action::SignInFailed, user, &details).await
}

/// Signs in with a link that was mailed or made at the command line.
pub async fn by_link(engine: &Engine, token: &str, arrival: &Arrival) -> Result<Entered, Fail> {
    let found = engine.db.write(move |tx: &mut Tx| {
        async move {
            let by = Counted::FailuresByClient;
            attempts::check(tx, engine, by, &arrival.client()).await?;
            let kinds = [LinkKind::SignIn, LinkKind::Cli];
            let browser = arrival.browser.as_deref();
            let link = links::take(tx, engine, &kinds, token, browser).await?;
            let Some((link, user)) = link.and_then(|link| Some((link.kind, link.user_id?))) else {
                attempts::count(tx, engine, by, &arrival.client()).await?;
                return Ok(Err(Refusal::of(Code::MagicLinkInvalid)));
            };
            let user = users::find(tx, &user).await?;
            let is_cli = link == LinkKind::Cli.as_str();
            let method = if is_cli { "cli" } else { "link" };
            Ok(Ok(begin(tx, engine, &user, method, arrival).await?))
        }
        .scope_boxed()
    });
    settled(found.await)
}

/// Makes a user of whoever has a link to sign up with.
pub async fn by_sign_up(engine: &Engine, token: &str, arrival: &Arrival) -> Result<Entered, Fail> {
    let found = engine.db.write(move |tx: &mut Tx| {
        async move {
            let by = Counted::FailuresByClient;
            attempts::check(tx, engine, by, &arrival.client()).await?;
            let browser = arrival.browser.as_deref();
            let link = links::take(tx, engine, &[LinkKind::SignUp], token, browser).await?;
            // One that no key opens any more is as good as none.
            let email = link.map(|link| links::sign_up_email(engine, &link));
            let Some(Ok(email)) = email else {
                attempts::count(tx, engine, by, &arrival.client()).await?;
                return Ok(Err(Refusal::of(Code::SignupLinkInvalid)));
            };
            let user = match users::by_email(engine, tx, &email).await? {
                Some(user) => user,
                None => users::create(tx, engine, &email, None).await?,
            };
            Ok(Ok(begin(tx, engine, &user, "sign_up", arrival).await?))
        }
        .scope_boxed()
    });
    settled(found.await)
}

/// Asks for any passkey that the browser has for this place.
pub async fn begin_passkey(engine: &Engine) -> Result<CeremonyView, Fail> {
    let nobody = Holder {
        session: None,
        user: None,
    };
    let asked = &ceremonies::ask(engine, &[])?;
    let begun = engine.db.write(move |tx: &mut Tx| {
        async move { ceremonies::keep(tx, engine, Kind::SignIn, nobody, asked.clone()).await }
            .scope_boxed()
    });
    begun.await
}

/// Signs in with a passkey, which is complete by itself.
pub async fn by_passkey(
    engine: &Engine,
    ceremony: &str,
    answer: &Value,
    arrival: &Arrival,
) -> Result<Entered, Fail> {
    let found = engine.db.write(move |tx: &mut Tx| {
        async move {
            attempts::check(tx, engine, Counted::FailuresByClient, &arrival.client()).await?;
            let nobody = Holder {
                session: None,
                user: None,
            };
            let state = ceremonies::take(tx, engine, Kind::SignIn, nobody, ceremony).await?;
            match ceremonies::verify(tx, engine, &state, answer, None).await? {
                Ok(passkey) => {
                    let user = users::find(tx, &passkey.user_id).await?;
                    Ok(Ok(begin(tx, engine, &user, "passkey", arrival).await?))
                }
                Err(rejected) => {
                    let user = match &rejected {
                        Rejected::Wrong { user } => user.as_deref(),
                        Rejected::Suspicious { user, .. } => Some(&**user),
                    };
                    reject(tx, engine, &rejected, user, &arrival.origin).await
                }
            }
        }
        .scope_boxed()
    });
    settled(found.await)
}

/// Writes down that a passkey's answer did not count.
async fn reject<T>(
    tx: &mut Tx,
    engine: &Engine,
    rejected: &Rejected,
    user: Option<&str>,
    origin: &Origin,
) -> Result<RecordedOutcome<T>, Fail> {
    let client = &attempts::client_of(origin);
    ceremonies::warn(tx, engine, rejected).await?;
    attempts::count(tx, engine, Counted::FailuresByClient, client).await?;
    if let Some(user) = user {
        failed(tx, engine, user, origin, "passkey").await?;
    }
    Ok(Err(ceremonies::failed()))
}

fn pending_holder(signed: &Signed) -> Holder<'_> {
    Holder {
        session: Some(&signed.session.id),
        user: Some(&signed.user.id),
    }
}

/// Asks whoever came by a link for one of their passkeys.
pub async fn begin_second_factor(engine: &Engine, signed: &Signed) -> Result<CeremonyView, Fail> {
    let begun = engine.db.write(move |tx: &mut Tx| {
        async move {
            let own = till_store::passkeys::of_user(tx, &signed.user.id).await?;
            if own.is_empty() {
                return Err(Refusal::of(Code::PasskeyRequired).into());
            }
            let asked = ceremonies::ask(engine, &own)?;
            let holder = pending_holder(signed);
            ceremonies::keep(tx, engine, Kind::SecondFactor, holder, asked).await
        }
        .scope_boxed()
    });
    begun.await
}

/// What whoever came by a link gives besides.
#[derive(Clone, Copy, Debug)]
pub enum SecondFactor<'f> {
    Passkey {
        ceremony: &'f str,
        answer: &'f Value,
    },
    Code(&'f str),
}

/// Completes a session with the second factor.
pub async fn by_second_factor(
    engine: &Engine,
    signed: &Signed,
    origin: &Origin,
    factor: SecondFactor<'_>,
) -> Result<Entered, Fail> {
    let found = engine.db.write(move |tx: &mut Tx| {
        async move {
            // Held, so that one of two answers at once finds the session complete.
            let session = till_store::sessions::find_for_update(tx, &signed.session.id).await?;
            let session = session.filter(|session| session.ended_at.is_none());
            let session = session.ok_or_else(|| Refusal::of(Code::SessionExpired))?;
            if session.state != sessions::PENDING {
                return Err(Refusal::of(Code::MfaNotPending).into());
            }
            let given = match factor {
                SecondFactor::Passkey { ceremony, answer } => {
                    give_passkey(tx, engine, signed, origin, (ceremony, answer)).await?
                }
                SecondFactor::Code(code) => give_code(tx, engine, signed, origin, code).await?,
            };
            let method = match given {
                Ok(method) => method,
                Err(refusal) => return Ok(Err(refusal)),
            };
            if let Some(proof) = proof_of(&session.method) {
                let user = users::find(tx, &signed.user.id).await?;
                users::prove(tx, engine, &user, proof, &session.id).await?;
            }
            let issued = sessions::renew(tx, engine, &session, method).await?;
            succeeded(tx, engine, &issued.session, origin).await?;
            Ok(Ok(entered(tx, engine, issued).await?))
        }
        .scope_boxed()
    });
    settled(found.await)
}

async fn give_passkey(
    tx: &mut Tx,
    engine: &Engine,
    signed: &Signed,
    origin: &Origin,
    (ceremony, answer): (&str, &Value),
) -> Result<RecordedOutcome<&'static str>, Fail> {
    let client = &attempts::client_of(origin);
    attempts::check(tx, engine, Counted::FailuresByClient, client).await?;
    let (kind, holder) = (Kind::SecondFactor, pending_holder(signed));
    let state = ceremonies::take(tx, engine, kind, holder, ceremony).await?;
    let user = &*signed.user.id;
    match ceremonies::verify(tx, engine, &state, answer, Some(user)).await? {
        Ok(_) => Ok(Ok("link_passkey")),
        Err(rejected) => reject(tx, engine, &rejected, Some(user), origin).await,
    }
}

async fn give_code(
    tx: &mut Tx,
    engine: &Engine,
    signed: &Signed,
    origin: &Origin,
    code: &str,
) -> Result<RecordedOutcome<&'static str>, Fail> {
    let id = &*signed.user.id;
    let user = till_store::users::find_for_update(tx, id).await?;
    let user = user.ok_or_else(|| Fail::broken("a user is missing"))?;
    attempts::check(tx, engine, Counted::WrongCodes, id).await?;
    if totp::take(tx, engine, &user, code).await? {
        return Ok(Ok("link_totp"));
    }
    attempts::count(tx, engine, Counted::WrongCodes, id).await?;
    failed(tx, engine, id, origin, "totp").await?;
    Ok(Err(totp::wrong_code()))
}

/// Signs in the owner of everything that a demo has.
pub async fn to_demo(engine: &Engine, arrival: &Arrival) -> Result<Entered, Fail> {
    let email = &Email::parse("demo@example.com")?;
    let done = engine.db.write(move |tx: &mut Tx| {
        async move {
            let user = match users::by_email(engine, tx, email).await? {
                Some(user) => user,
                None => users::create(tx, engine, email, None).await?,
            };
            for account in till_store::accounts::all(tx).await? {
                let own = till_store::members::find(tx, &account.id, &user.id).await?;
                if own.is_none() {
                    let member = MemberRow {
                        account: account.id,
                        user_id: user.id.clone(),
                        role: Role::Owner,
                        joined_at: engine.clock.now_ms(),
                        last_active_at: None,
                    };
                    till_store::members::insert(tx, &member).await?;
                }
            }
            begin(tx, engine, &user, "demo", arrival).await
        }
        .scope_boxed()
    });
    done.await
}
