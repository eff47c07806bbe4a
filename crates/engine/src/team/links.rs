//! Links to sign in or up with: asked for by mail or made at the command line, used once.

use scoped_futures::ScopedFutureExt as _;
use till_core::error::{Code, Refusal};
use till_core::time::{HOUR_MS, MINUTE_MS};
use till_store::Tx;
use till_store::sign_in_links::SignInLinkRow;
use till_store::users::UserRow;

use super::attempts::{self, Counted};
use super::emails::{self, Email};
use super::tokens::{self, Token};
use super::{link_mails, users};
use crate::base::Engine;
use crate::base::Signup;
use crate::base::fail::Fail;

/// What the address of a sign-up is encrypted for.
const SIGN_UP: &str = "sign_up";

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    SignIn,
    SignUp,
    /// Made at the command line, to sign in with in any browser.
    Cli,
}

impl LinkKind {
    pub fn as_str(self) -> &'static str {
        match self {
            LinkKind::SignIn => "sign_in",
            LinkKind::SignUp => "sign_up",
            LinkKind::Cli => "cli",
        }
    }

    fn life_ms(self) -> i64 {
        match self {
            LinkKind::SignIn => 10 * MINUTE_MS,
            LinkKind::SignUp | LinkKind::Cli => HOUR_MS,
        }
    }

    /// The address to open; the token stands in its fragment, which no server and no log sees.
    fn address(self, engine: &Engine, token: &Token) -> String {
        let said = match self {
            LinkKind::SignUp => "sign_up",
            LinkKind::SignIn | LinkKind::Cli => "sign_in",
        };
        format!("{}/link#{said}={}", engine.config.dashboard.url, token.0)
    }
}

/// A link that was made, with its token in it, and until when it works.
#[derive(Clone, Debug)]
pub struct NewLink {
    pub link: String,
    pub expires_at: i64,
}

/// Makes a link and ends older ones of its kind to the same address.
async fn create(
    tx: &mut Tx,
    engine: &Engine,
    kind: LinkKind,
    (user, email): (Option<&str>, &Email),
    browser: Option<&str>,
) -> Result<NewLink, Fail> {
    let (now, token) = (engine.clock.now_ms(), Token::new(engine));
    till_store::sign_in_links::end_older(tx, kind.as_str(), &email.tags(engine), now).await?;
    let link = SignInLinkRow {
        token_hash: token.hash().into(),
        kind: kind.as_str().to_owned(),
        user_id: user.map(str::to_owned),
        email: match kind {
            LinkKind::SignUp => Some(email.seal(engine, SIGN_UP)?),
            LinkKind::SignIn | LinkKind::Cli => None,
        },
        email_tag: email.tag(engine),
        browser_hash: browser.map(|browser| tokens::hash(browser).into()),
        created_at: now,
        expires_at: now + kind.life_ms(),
        ended_at: None,
    };
    till_store::sign_in_links::insert(tx, &link).await?;
    Ok(NewLink {
        link: kind.address(engine, &token),
        expires_at: link.expires_at,
    })
}

/// A link for whoever has a shell on the server to hand on.
pub async fn create_cli_link(
    tx: &mut Tx,
    engine: &Engine,
    user: &UserRow,
) -> Result<NewLink, Fail> {
    let email = own_email(engine, user)?;
    create(tx, engine, LinkKind::Cli, (Some(&user.id), &email), None).await
}

fn own_email(engine: &Engine, user: &UserRow) -> Result<Email, Fail> {
    Ok(Email::parse(&emails::open(engine, &user.id, &user.email)?)?)
}

/// Who asks for a link.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    pub email: &'a Email,
    /// The token of the browser's cookie.
    pub browser: &'a str,
    pub client: &'a str,
}

fn need_mail(engine: &Engine) -> Result<(), Refusal> {
    match engine.mailer {
        Some(_) => Ok(()),
        None => Err(Refusal::of(Code::FeatureUnavailable)),
    }
}

/// Mails a link to sign in with. Whether anybody has the address shows in nothing: the same rows are written.
pub async fn ask_to_sign_in(engine: &Engine, asking: Asking<'_>) -> Result<(), Fail> {
    need_mail(engine)?;
    let asked = engine.db.write(move |tx: &mut Tx| {
        async move {
            let address = asking.email.as_str().to_ascii_lowercase();
            let (of, by) = (Counted::LinksToAddress, Counted::LinksByClient);
            attempts::take(tx, engine, of, &address).await?;
            attempts::take(tx, engine, by, asking.client).await?;
            mail_sign_in(tx, engine, asking).await
        }
        .scope_boxed()
    });
    asked.await?;
    engine.nudges.mail();
    Ok(())
}

async fn mail_sign_in(tx: &mut Tx, engine: &Engine, asking: Asking<'_>) -> Result<(), Fail> {
    let user = users::by_email(engine, tx, asking.email).await?;
    let of = (user.as_ref().map(|user| &*user.id), asking.email);
    let link = create(tx, engine, LinkKind::SignIn, of, Some(asking.browser)).await?;
    let kind = match user {
        Some(_) => LinkKind::SignIn.as_str(),
        None => link_mails::TO_NOBODY,
    };
    let locale = user.as_ref().and_then(|user| user.locale.as_deref());
    // As they wrote it once: to some hosts another spelling is another mailbox.
    let own = user.as_ref().map(|user| own_email(engine, user));
    let own = own.transpose()?;
    let to = (own.as_ref().unwrap_or(asking.email), locale);
    link_mails::queue(tx, engine, kind, to, &link.link, link.expires_at).await
}

/// Mails a link to sign up with; to an address that somebody has, one to sign in.
pub async fn ask_to_sign_up(engine: &Engine, asking: Asking<'_>) -> Result<(), Fail> {
    need_mail(engine)?;
    if engine.config.dashboard.signup != Signup::Open {
        return Err(Refusal::of(Code::FeatureUnavailable).into());
    }
    let asked = engine.db.write(move |tx: &mut Tx| {
        async move {
            let address = asking.email.as_str().to_ascii_lowercase();
            let (of, by) = (Counted::LinksToAddress, Counted::SignUpsByClient);
            attempts::take(tx, engine, by, asking.client).await?;
            // Whoever asks from many places must not flood somebody's mailbox; nobody is told that they did.
            match attempts::take(tx, engine, of, &address).await {
                Err(Fail::Refused(_)) => return Ok(()),
                other => other?,
            }
            mail_sign_up(tx, engine, asking).await
        }
        .scope_boxed()
    });
    asked.await?;
    engine.nudges.mail();
    Ok(())
}

async fn mail_sign_up(tx: &mut Tx, engine: &Engine, asking: Asking<'_>) -> Result<(), Fail> {
    if users::by_email(engine, tx, asking.email).await?.is_some() {
        return mail_sign_in(tx, engine, asking).await;
    }
    let (kind, of) = (LinkKind::SignUp, (None, asking.email));
    let link = create(tx, engine, kind, of, Some(asking.browser)).await?;
    let to = (asking.email, None);
    link_mails::queue(tx, engine, kind.as_str(), to, &link.link, link.expires_at).await
}

/// Uses a link up, in the browser that asked for it. None where it is no link of these kinds, was used or is too old.
pub async fn take(
    tx: &mut Tx,
    engine: &Engine,
    kinds: &[LinkKind],
    token: &str,
    browser: Option<&str>,
) -> Result<Option<SignInLinkRow>, Fail> {
    let (now, hash) = (engine.clock.now_ms(), tokens::hash(token));
    let found = till_store::sign_in_links::by_token_for_update(tx, &hash).await?;
    let fits = |link: &SignInLinkRow| {
        let is_kind = kinds.iter().any(|kind| kind.as_str() == link.kind);
        let sent = browser.map(|browser| tokens::hash(browser).to_vec());
        let is_here = link.browser_hash.is_none() || link.browser_hash == sent;
        is_kind && is_here && link.is_open(now)
    };
    let Some(link) = found.filter(fits) else {
        return Ok(None);
    };
    till_store::sign_in_links::end(tx, &hash, now).await?;
    Ok(Some(link))
}

/// The address that a sign-up is for.
pub fn sign_up_email(engine: &Engine, link: &SignInLinkRow) -> Result<Email, Fail> {
    let sealed = link.email.as_deref();
    let sealed = sealed.ok_or_else(|| Fail::broken("a sign-up without an address"))?;
    Ok(Email::parse(&emails::open(engine, SIGN_UP, sealed)?)?)
}
