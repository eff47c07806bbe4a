//! What the operator does at the shell of the server's machine, for merchants without a dashboard: in live mode, too, where a
//! key may not. Owners and admins, where there are some, are told in the same unit of work.

use std::collections::BTreeMap;

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::{Action, Actor};
use till_core::asset::{Family, Mode};
use till_core::change::{ChangeKind, ChangeStatus};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::invoice::{Decision, Via};
use till_core::scope::Scope;
use till_core::webhook::vet_url;
use till_store::Tx;
use till_store::accounts::MerchantRow;
use till_store::changes::ChangeRow;
use till_store::invoices::InvoiceRow;

use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine, Merchant, not_configured};
use crate::invoices::{Resolve, held_payments, resolve_review};
use crate::merchants::accounts::KeyKind;
use crate::merchants::settings::{url_forbidden, url_policy};
use crate::merchants::{accounts, destinations, secrets};
use crate::team::notices::{self, To};

/// Who asked for a change, where it was the command line.
const CLI: &str = "cli";

/// Where webhooks go from now on.
pub async fn set_webhook(engine: &Engine, scope: &Scope, url: &str) -> Result<(), Fail> {
    let policy = url_policy(engine.config.allow_private_webhooks);
    vet_url(url, policy).map_err(url_forbidden)?;
    let by = Actor::Operator.into();
    let set = engine.unit_by(&by, scope, move |tx, context| {
        async move {
            let mut row = till_store::accounts::merchant_for_update(tx, &context.scope)
                .await?
                .ok_or_else(not_configured)?;
            nothing_waits(tx, context, ChangeKind::WebhookUrl).await?;
            let from = row.webhook_url.replace(url.to_owned());
            till_store::accounts::update_settings(tx, &row).await?;
            let details = json!({"settings": ["webhook_url"]});
            let target = &context.scope.account;
            audit::record(tx, context, Action::SettingsUpdated, target, details).await?;
            let values = (from, Some(url.to_owned()));
            changed(tx, context.engine, &row, Changed::WebhookUrl, values).await
        }
        .scope_boxed()
    });
    set.await
}

/// Another key beside those there are.
pub async fn create_key(engine: &Engine, scope: &Scope, kind: KeyKind) -> Result<String, Fail> {
    new_key(engine, scope, kind, OlderKeys::Stay).await
}

/// A new key; every older one of its kind stops working at once.
pub async fn roll_key(engine: &Engine, scope: &Scope, kind: KeyKind) -> Result<String, Fail> {
    new_key(engine, scope, kind, OlderKeys::End).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OlderKeys {
    Stay,
    End,
}

async fn new_key(
    engine: &Engine,
    scope: &Scope,
    kind: KeyKind,
    previous: OlderKeys,
) -> Result<String, Fail> {
    let by = &Actor::Operator;
    let made = engine.db.write(move |tx| {
        async move {
            if till_store::accounts::merchant(tx, scope).await?.is_none() {
                return Err(not_configured().into());
            }
            if previous == OlderKeys::End {
                let now = engine.clock.now_ms();
                till_store::keys::roll_keys(tx, scope, kind.as_str(), now).await?;
                let details = json!({"kind": kind.as_str()});
                let (action, target) = (Action::ApiKeyRolled, &*scope.account);
                audit::record_by(tx, engine, (scope, by), action, target, details).await?;
            }
            let made = accounts::add_key(engine, tx, scope, kind, by).await?;
            if scope.mode.is_live() && kind == KeyKind::Secret {
                let (to, notice) = (To::Managers(&scope.account), Action::ApiKeyCreated.as_str());
                notices::tell(tx, engine, to, notice, &made.id).await?;
            }
            Ok(made.key)
        }
        .scope_boxed()
    });
    made.await
}

/// A change that a member asked for and that waits would undo what the operator does now.
async fn nothing_waits(tx: &mut Tx, context: &Context<'_>, kind: ChangeKind) -> Result<(), Fail> {
    let waiting = till_store::changes::pending(tx, &context.scope).await?;
    match waiting.iter().find(|change| change.kind == kind) {
        None => Ok(()),
        Some(change) => {
            let message = format!(
                "The change {} waits and would undo this when it takes effect: stop it in the dashboard first.",
                change.id
            );
            Err(Refusal::new(Code::ChangePending, message).into())
        }
    }
}

/// The new secret; those before go on signing beside it for a while.
pub async fn roll_webhook_secret(engine: &Engine, scope: &Scope) -> Result<String, Fail> {
    let by = Actor::Operator.into();
    let rolled = engine.unit_by(&by, scope, move |tx, context| {
        async move {
            // Two rolls at once must not both take over from the same secret.
            let row = till_store::accounts::merchant_for_update(tx, &context.scope)
                .await?
                .ok_or_else(not_configured)?;
            nothing_waits(tx, context, ChangeKind::WebhookSecret).await?;
            let (target, action) = (&context.scope.account, Action::WebhookSecretRolled);
            audit::record(tx, context, action, target, json!({})).await?;
            let values = (None, None);
            changed(tx, context.engine, &row, Changed::WebhookSecret, values).await?;
            secrets::add(tx, context.engine, &context.scope).await
        }
        .scope_boxed()
    });
    rolled.await
}

/// Adds canonical addresses of families that have none yet. What is there stays: addresses that were handed out, or taken
/// ahead, depend on it.
pub async fn add_destinations(
    engine: &Engine,
    scope: &Scope,
    added: &[(Family, String)],
) -> Result<(), Fail> {
    let write = engine.db.write(|tx: &mut Tx| {
        async move {
            let merchant = till_store::accounts::merchant_for_update(tx, scope).await?;
            let merchant = merchant.ok_or_else(not_configured)?;
            let mut all = merchant.destinations.clone();
            let mut new = BTreeMap::new();
            for (family, address) in added {
                destinations::check(tx, scope, *family, address).await?;
                let name = family.namespace().to_owned();
                if all.insert(name.clone(), address.clone()).is_some() {
                    let message =
                        format!("There is a destination of {name} already, which is not replaced.");
                    return Err(Refusal::new(Code::DestinationImmutable, message).into());
                }
                new.insert(name, address.clone());
            }
            till_store::accounts::set_destinations(tx, scope, &all).await?;
            destinations::register(tx, scope, &new).await?;
            for (family, address) in added {
                let values = (None, Some(address.clone()));
                changed(tx, engine, &merchant, Changed::Destination(*family), values).await?;
            }
            let (by, action) = ((scope, &Actor::Operator), Action::DestinationAdded);
            let details = json!({"destinations": &new});
            audit::record_by(tx, engine, by, action, &scope.account, details).await
        }
        .scope_boxed()
    });
    write.await
}

/// What was changed, and is in effect.
#[derive(Clone, Copy)]
enum Changed {
    Destination(Family),
    WebhookUrl,
    WebhookSecret,
}

/// Lists it among the changes at the dashboard, as what a member asks for and what takes effect at once, and tells whoever
/// would have been told of that. `values` are what it was and what it is.
async fn changed(
    tx: &mut Tx,
    engine: &Engine,
    merchant: &MerchantRow,
    what: Changed,
    values: (Option<String>, Option<String>),
) -> Result<(), Fail> {
    let (kind, family) = match what {
        Changed::Destination(family) => (ChangeKind::Destination, family.namespace()),
        Changed::WebhookUrl => (ChangeKind::WebhookUrl, ""),
        Changed::WebhookSecret => (ChangeKind::WebhookSecret, ""),
    };
    let row = merchant.clone();
    let now = Merchant { row }.now(engine.clock.now_ms());
    let (from_value, to_value) = values;
    let change = ChangeRow {
        scope: merchant.scope.clone(),
        id: engine.ids.make(IdKind::Change),
        kind,
        family: family.to_owned(),
        from_value,
        to_value,
        secret: None,
        status: ChangeStatus::Effective,
        requested_by: CLI.to_owned(),
        requested_at: now,
        effective_at: now,
        cancelled_by: None,
        cancelled_at: None,
    };
    till_store::changes::insert(tx, &change).await?;
    let (to, notice) = (
        To::Managers(&merchant.scope.account),
        Action::ChangeEffective.as_str(),
    );
    notices::tell(tx, engine, to, notice, &change.id).await
}

/// Decides about what is held of an invoice, with the rights of a person on the dashboard. Gives the invoice as it is then;
/// nothing where nobody has one of this id.
pub async fn decide_review(
    engine: &Engine,
    id: &str,
    decision: Decision,
    reason: &str,
) -> Result<Option<InvoiceRow>, Fail> {
    let Some(scope) = scope_of(engine, id).await? else {
        return Ok(None);
    };
    let payments = held_payments(engine, &scope, id).await?;
    let asked = &Resolve {
        decision,
        reason,
        via: Via::Dashboard,
        payments: &payments,
    };
    let by = Actor::Operator.into();
    let decided = engine.unit_by(&by, &scope, move |tx, context| {
        async move {
            let invoice = resolve_review(tx, context, id, asked).await?;
            let (to, notice) = (
                To::Managers(&context.scope.account),
                Action::ReviewResolved.as_str(),
            );
            notices::tell(tx, context.engine, to, notice, id).await?;
            Ok(invoice)
        }
        .scope_boxed()
    });
    decided.await.map(Some)
}

/// Whose an invoice is. Each account is asked: nothing is ever looked up by its id alone.
async fn scope_of(engine: &Engine, id: &str) -> Result<Option<Scope>, Fail> {
    let mut reader = engine.db.read().await?;
    for account in till_store::accounts::all(&mut reader).await? {
        for mode in [Mode::Test, Mode::Live] {
            let scope = Scope::new(&account.id, mode);
            let found = till_store::invoices::find(&mut reader, &scope, id).await?;
            if found.is_some() {
                return Ok(Some(scope));
            }
        }
    }
    Ok(None)
}
