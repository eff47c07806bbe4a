//! Accounts and their API keys: made on the command line, checked at every request.

use scoped_futures::ScopedFutureExt as _;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use till_core::actor::{Action, Actor};
use till_core::application::ApplicationStatus;
use till_core::asset::{DEFAULT_TEST_ASSETS, Family, Mode, Registry};
use till_core::error::{Code, Refusal};
use till_core::id::{self, IdKind};
use till_core::role::Role;
use till_core::scope::Scope;
use till_store::Tx;
use till_store::keys::{KeyRow, NewKey};

use crate::audit;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::merchants::{destinations, secrets};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    Secret,
    Publishable,
}

impl KeyKind {
    pub const ALL: [KeyKind; 2] = [KeyKind::Secret, KeyKind::Publishable];

    pub fn as_str(self) -> &'static str {
        match self {
            KeyKind::Secret => "secret",
            KeyKind::Publishable => "publishable",
        }
    }

    pub fn parse(text: &str) -> Option<KeyKind> {
        KeyKind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    fn short(self) -> &'static str {
        match self {
            KeyKind::Secret => "sk",
            KeyKind::Publishable => "pk",
        }
    }
}

/// The credentials of one mode, in the clear: shown once.
#[derive(Clone, Debug)]
pub struct ModeKeys {
    pub secret_key: String,
    pub publishable_key: String,
    pub webhook_secret: String,
}

#[derive(Clone, Debug)]
pub struct NewAccount {
    pub id: String,
    pub test: ModeKeys,
    pub live: Option<ModeKeys>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modes {
    TestOnly,
    TestAndLive,
}

/// `destinations` are canonical addresses by family; none of test mode means the documented examples there.
pub async fn create_account(
    engine: &Engine,
    name: &str,
    modes: Modes,
    destinations: &[(Family, Mode, String)],
) -> Result<NewAccount, Fail> {
    let created = engine.db.write(move |tx| {
        async move { create_in(tx, engine, name, modes, destinations, &Actor::Operator).await }
            .scope_boxed()
    });
    created.await
}

/// The same, as part of a unit of work. Its keys are `by`'s, where that is a member.
pub async fn create_in(
    tx: &mut Tx,
    engine: &Engine,
    name: &str,
    modes: Modes,
    destinations: &[(Family, Mode, String)],
    by: &Actor,
) -> Result<NewAccount, Fail> {
    let now = engine.clock.now_ms();
    let account = engine.ids.make(IdKind::Account);
    till_store::accounts::insert_account(tx, &account, name, now).await?;
    let application = engine.ids.make(IdKind::Application);
    let status = match modes {
        Modes::TestOnly => ApplicationStatus::Draft,
        Modes::TestAndLive => ApplicationStatus::Approved,
    };
    till_store::applications::insert(tx, &application, &account, status).await?;
    let test = set_up_mode(
        engine,
        tx,
        &Scope::new(&account, Mode::Test),
        destinations,
        by,
    )
    .await?;
    let live = match modes {
        Modes::TestOnly => None,
        Modes::TestAndLive => {
            let scope = Scope::new(&account, Mode::Live);
            Some(set_up_mode(engine, tx, &scope, destinations, by).await?)
        }
    };
    Ok(NewAccount {
        id: account,
        test,
        live,
    })
}

/// Live mode of an account whose application was approved: without a destination, without keys, and with a webhook
/// secret that nobody has seen. What is there already stays as it is.
pub async fn set_up_live(tx: &mut Tx, engine: &Engine, account: &str) -> Result<(), Fail> {
    let scope = Scope::new(account, Mode::Live);
    if till_store::accounts::merchant(tx, &scope).await?.is_some() {
        return Ok(());
    }
    till_store::accounts::insert_merchant(tx, &scope, None, &BTreeMap::new()).await?;
    secrets::add(tx, engine, &scope).await.map(drop)
}

async fn set_up_mode(
    engine: &Engine,
    tx: &mut Tx,
    scope: &Scope,
    given: &[(Family, Mode, String)],
    by: &Actor,
) -> Result<ModeKeys, Fail> {
    let named = |family: Family, address: &str| (family.namespace().to_owned(), address.to_owned());
    let mut own: BTreeMap<String, String> = given
        .iter()
        .filter(|(_, mode, _)| *mode == scope.mode)
        .map(|(family, _, address)| named(*family, address))
        .collect();
    for address in own.values() {
        destinations::check_not_ours(tx, address).await?;
    }
    if own.is_empty() && scope.mode == Mode::Test {
        for family in Family::ALL {
            let example = till_chains::example_destination_of(family, &scope.account);
            own.extend([named(family, &example.map_err(Fail::broken)?)]);
        }
    }
    let defaults: Vec<String> = DEFAULT_TEST_ASSETS
        .into_iter()
        .filter(|code| {
            let asset = Registry::builtin().asset(code);
            asset.is_some_and(|asset| {
                asset.mode == scope.mode && own.contains_key(asset.family.namespace())
            })
        })
        .map(str::to_owned)
        .collect();
    let defaults = (!defaults.is_empty()).then_some(defaults);
    till_store::accounts::insert_merchant(tx, scope, defaults, &own).await?;
    destinations::register(tx, scope, &own).await?;
    Ok(ModeKeys {
        secret_key: add_key(engine, tx, scope, KeyKind::Secret, by).await?.key,
        publishable_key: add_key(engine, tx, scope, KeyKind::Publishable, by)
            .await?
            .key,
        webhook_secret: secrets::add(tx, engine, scope).await?,
    })
}

/// Another key beside those there are, and its line in the audit log.
pub async fn add_key(
    engine: &Engine,
    tx: &mut Tx,
    scope: &Scope,
    kind: KeyKind,
    by: &Actor,
) -> Result<MadeKey, Fail> {
    let member = match by {
        Actor::Member(user) => Some((None, &**user)),
        _ => None,
    };
    let made = make_key(engine, tx, scope, kind, member).await?;
    let details = json!({"kind": kind.as_str(), "hint": &made.hint});
    audit::record_by(
        tx,
        engine,
        (scope, by),
        Action::ApiKeyCreated,
        &made.id,
        details,
    )
    .await?;
    Ok(made)
}

/// A key that was made; the key itself is shown once.
#[derive(Clone, Debug)]
pub struct MadeKey {
    pub id: String,
    pub key: String,
    pub hint: String,
}

/// Makes a key: 256 random bits after a prefix that says what it is. `by` is its name and the member who makes it, if
/// it is not made on the command line.
pub async fn make_key(
    engine: &Engine,
    tx: &mut Tx,
    scope: &Scope,
    kind: KeyKind,
    by: Option<(Option<&str>, &str)>,
) -> Result<MadeKey, Fail> {
    let random = id::token(&engine.ids.random::<32>());
    let own = engine.config.with_shard(&random);
    let key = format!("till_{}_{}_{own}", scope.mode.as_str(), kind.short());
    let id = engine.ids.make(IdKind::ApiKey);
    let hint = format!(
        "{}…{}",
        &key[..key.len() - random.len()],
        &random[random.len() - 4..]
    );
    let row = NewKey {
        id: &id,
        kind: kind.as_str(),
        hash: &hash_key(&key),
        hint: &hint,
        public_key: (kind == KeyKind::Publishable).then_some(key.as_str()),
        name: by.and_then(|(name, _)| name),
        created_by: by.map(|(_, user)| user),
    };
    till_store::keys::insert_key(tx, scope, &row, engine.clock.now_ms()).await?;
    Ok(MadeKey { id, key, hint })
}

/// A key is random enough that its plain hash tells nothing.
pub fn hash_key(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

/// Who is calling, once a key was found good.
#[derive(Clone, Debug)]
pub struct Caller {
    pub scope: Scope,
    pub key_id: String,
    pub kind: KeyKind,
    pub publishable_key: Option<String>,
    /// The member who made the key, where one did.
    pub creator: Option<Creator>,
    /// The time of a change of destinations or webhooks has come, and nobody has put it in effect yet.
    pub has_due_change: bool,
}

/// Whose role decides what a secret key may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Creator {
    pub user: Arc<str>,
    /// None once they are no member any more.
    pub role: Option<Role>,
}

/// A signed-in member in the place of a key, by the id of the session.
pub async fn caller_by_session(
    engine: &Engine,
    scope: &Scope,
    session: &str,
) -> Result<Caller, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::keys::set_up(&mut reader, scope).await?;
    let set_up = found
        .filter(|row| row.is_set_up != 0)
        .ok_or_else(crate::base::not_configured)?;
    Ok(Caller {
        scope: scope.clone(),
        key_id: session.to_owned(),
        kind: KeyKind::Secret,
        publishable_key: set_up.publishable_key,
        creator: None,
        has_due_change: false,
    })
}

/// Who a key belongs to, and whether it may be used at all.
pub async fn caller(engine: &Engine, key: &str) -> Result<Caller, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::keys::key_by_hash(&mut reader, &hash_key(key)).await?;
    admit(engine, found.as_ref())
}

/// Decides about a key that was looked up. Unknown and rolled keys are told apart by nobody.
fn admit(engine: &Engine, found: Option<&KeyRow>) -> Result<Caller, Fail> {
    let invalid = || Refusal::of(Code::ApiKeyInvalid);
    let key = found
        .filter(|key| key.rolled_at.is_none())
        .ok_or_else(invalid)?;
    let mode = Mode::parse(&key.mode).ok_or_else(|| Fail::broken("an API key has no mode"))?;
    if key.disabled_at.is_some() {
        return Err(invalid().into());
    }
    if mode.is_live() && !engine.config.live_mode {
        return Err(Refusal::of(Code::LivemodeDisabled).into());
    }
    let approved = ApplicationStatus::Approved.as_str();
    let is_approved = key.application_status.as_deref() == Some(approved);
    if key.is_set_up == 0 || (mode.is_live() && !is_approved) {
        return Err(crate::base::not_configured().into());
    }
    let kind = KeyKind::parse(&key.kind).unwrap_or(KeyKind::Publishable);
    let now = engine.clock.now_ms().saturating_add(key.clock_offset_ms);
    Ok(Caller {
        scope: Scope::new(&key.account, mode),
        key_id: key.id.clone(),
        kind,
        publishable_key: key.publishable_key.clone(),
        creator: key.created_by.as_deref().map(|user| Creator {
            user: user.into(),
            role: key.creator_role.as_deref().and_then(Role::parse),
        }),
        has_due_change: key.change_at.is_some_and(|at| at <= now),
    })
}
