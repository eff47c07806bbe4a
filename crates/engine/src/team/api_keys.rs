//! API keys, as members make and end them.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_core::time;
use till_store::keys::ApiKeyRow;
use till_store::{Queries, Tx};

use super::notices::{self, To};
use super::unit::TeamContext;
use super::users;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::merchants::accounts::{self, KeyKind};
use crate::view::{ApiKeyView, KeyCreatorView};

/// Keys of an account and mode that work at a time.
const ACTIVE_MAX: i64 = 50;

pub async fn list(engine: &Engine, scope: &Scope, page: &Page) -> Result<Paged<ApiKeyView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::keys::list(&mut reader, scope, &page.and_one()).await?;
    let Paged { items, next } = page.cut(rows, |row| &row.id);
    let mut shown = Vec::with_capacity(items.len());
    for row in &items {
        shown.push(view(engine, &mut reader, row, None).await?);
    }
    Ok(Paged { items: shown, next })
}

/// `key` is the whole of a secret key that was just made.
async fn view(
    engine: &Engine,
    q: &mut impl Queries,
    row: &ApiKeyRow,
    key: Option<String>,
) -> Result<ApiKeyView, Fail> {
    let created_by = match &row.created_by {
        None => KeyCreatorView {
            r#type: "cli",
            id: None,
            email: None,
        },
        Some(user) => KeyCreatorView {
            r#type: "user",
            id: Some(user.clone()),
            email: users::email_of(engine, q, user).await?,
        },
    };
    let used = engine.key_uses.of(&row.id).max(row.last_used_at);
    Ok(ApiKeyView {
        id: row.id.clone(),
        object: "api_key",
        livemode: row.scope.mode.is_live(),
        kind: row.kind.clone(),
        name: row.name.clone(),
        hint: row.hint.clone(),
        key: key.or_else(|| row.public_key.clone()),
        created_by,
        created_at: time::show(row.created_at),
        last_used_at: used.map(time::show),
        exposed_at: row.exposed_at.map(time::show),
        revoked_at: row.rolled_at.map(time::show),
    })
}

/// A secret key of live mode moves real money: making one, or answering for one, takes a passkey's yes.
fn needs_passkey(scope: &Scope, kind: KeyKind) -> bool {
    scope.mode.is_live() && kind == KeyKind::Secret
}

pub async fn create(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    kind: KeyKind,
    name: &str,
) -> Result<ApiKeyView, Fail> {
    let scope = &context.scope()?;
    let not_ready = || Refusal::of(Code::DestinationsNotReady);
    // Held, so that two who make keys at once count each other's.
    let merchant = till_store::accounts::merchant_for_update(tx, scope).await?;
    let merchant = merchant.ok_or_else(not_ready)?;
    if scope.mode.is_live() && merchant.destinations.is_empty() {
        return Err(not_ready().into());
    }
    if till_store::keys::count_active(tx, scope).await? >= ACTIVE_MAX {
        let message = format!("A mode has at most {ACTIVE_MAX} keys that work. Revoke one first.");
        return Err(Refusal::new(Code::ParameterInvalid, message).into());
    }
    make(tx, context, kind, Some(name), None).await
}

/// `old` is the key in whose place the new one comes.
async fn make(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    kind: KeyKind,
    name: Option<&str>,
    old: Option<&str>,
) -> Result<ApiKeyView, Fail> {
    let (engine, scope) = (context.engine, &context.scope()?);
    let by = (name, &*context.asked.user);
    let made = accounts::make_key(engine, tx, scope, kind, Some(by)).await?;
    let (action, details) = match old {
        None => (
            Action::ApiKeyCreated,
            json!({"kind": kind.as_str(), "hint": &made.hint}),
        ),
        Some(old) => (
            Action::ApiKeyRolled,
            json!({"kind": kind.as_str(), "hint": &made.hint, "from": old}),
        ),
    };
    context.record(tx, action, &made.id, details).await?;
    if needs_passkey(scope, kind) {
        context.require_confirmation();
        let to = To::Managers(&scope.account);
        notices::tell(tx, engine, to, "api_key.created", &made.id).await?;
    }
    let row = find(tx, scope, &made.id).await?;
    let key = (kind == KeyKind::Secret).then_some(made.key);
    view(engine, tx, &row, key).await
}

async fn find(tx: &mut Tx, scope: &Scope, id: &str) -> Result<ApiKeyRow, Fail> {
    let found = till_store::keys::find_for_update(tx, scope, id).await?;
    found.ok_or_else(|| missing().into())
}

fn missing() -> Refusal {
    Refusal::of(Code::ResourceMissing).param("id")
}

/// The key, if it works.
async fn find_active(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
) -> Result<(ApiKeyRow, KeyKind), Fail> {
    let row = find(tx, &context.scope()?, id).await?;
    if row.rolled_at.is_some() {
        return Err(missing().into());
    }
    let kind = KeyKind::parse(&row.kind).ok_or_else(|| Fail::broken("a key of no kind"))?;
    Ok((row, kind))
}

/// A new key in the place of this one, which stops at once. All others go on.
pub async fn roll(tx: &mut Tx, context: &TeamContext<'_>, id: &str) -> Result<ApiKeyView, Fail> {
    let (row, kind) = find_active(tx, context, id).await?;
    till_store::keys::revoke(tx, &row.scope, id, context.now).await?;
    make(tx, context, kind, row.name.as_deref(), Some(id)).await
}

/// Ends a key; one that has ended already stays as it is.
pub async fn revoke(tx: &mut Tx, context: &TeamContext<'_>, id: &str) -> Result<ApiKeyView, Fail> {
    let scope = &context.scope()?;
    let row = find(tx, scope, id).await?;
    if till_store::keys::revoke(tx, scope, id, context.now).await? == 1 {
        let details = json!({"kind": &row.kind, "hint": &row.hint});
        context
            .record(tx, Action::ApiKeyRevoked, id, details)
            .await?;
    }
    let row = find(tx, scope, id).await?;
    view(context.engine, tx, &row, None).await
}

/// The caller becomes the one whose role decides what the key may do.
pub async fn take_over(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
) -> Result<ApiKeyView, Fail> {
    let (row, kind) = find_active(tx, context, id).await?;
    till_store::keys::set_creator(tx, &row.scope, id, &context.asked.user).await?;
    let details = json!({"from": &row.created_by, "hint": &row.hint});
    context
        .record(tx, Action::ApiKeyTakenOver, id, details)
        .await?;
    if needs_passkey(&row.scope, kind) {
        context.require_confirmation();
    }
    let row = find(tx, &row.scope, id).await?;
    view(context.engine, tx, &row, None).await
}
