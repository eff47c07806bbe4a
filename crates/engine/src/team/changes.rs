//! Changes of destinations, webhook URLs and webhook secrets: asked for by a member, stopped by one who may, and in
//! effect at their time.

use scoped_futures::ScopedFutureExt as _;
use serde_json::{Value, json};
use till_core::actor::{Action, Actor};
use till_core::asset::{Family, Mode};
use till_core::change::{ChangeKind, ChangeStatus, can_cancel, delay_ms};
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::limits::SECRET_OVERLAP_H;
use till_core::page::{Page, Paged};
use till_core::role::Role;
use till_core::scope::Scope;
use till_core::time::{self, HOUR_MS, SECOND_MS};
use till_core::timer::TimerKind;
use till_core::webhook::{new_secret, vet_url};
use till_store::accounts::MerchantRow;
use till_store::changes::ChangeRow;
use till_store::timers::TimerRow;
use till_store::{Queries, Tx};

use super::notices::{self, To};
use super::unit::TeamContext;
use super::{destinations, users};
use crate::audit;
use crate::base::asker;
use crate::base::fail::Fail;
use crate::base::{Context, Engine, Merchant, not_configured};
use crate::merchants::secrets;
use crate::merchants::settings::{url_forbidden, url_policy};
use crate::view::{ChangeView, PersonView};

/// Who asked for a change or stopped it, where it was the command line.
const CLI: &str = "cli";

/// A change as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewChange {
    pub asked: ChangeValue,
    /// In test mode, how long it waits.
    pub delay_s: i64,
}

/// What is to be changed, and what it is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeValue {
    Destination {
        family: String,
        /// None takes it away.
        address: Option<String>,
    },
    /// None stops deliveries.
    WebhookUrl(Option<String>),
    WebhookSecret,
}

impl ChangeValue {
    pub fn kind(&self) -> ChangeKind {
        match self {
            ChangeValue::Destination { .. } => ChangeKind::Destination,
            ChangeValue::WebhookUrl(_) => ChangeKind::WebhookUrl,
            ChangeValue::WebhookSecret => ChangeKind::WebhookSecret,
        }
    }
}

/// What is changed: the family of a destination, what it is now, and what it will be.
struct Subject {
    family: Option<Family>,
    from: Option<String>,
    to: Option<String>,
}

impl Subject {
    fn family(&self) -> &'static str {
        self.family.map_or("", Family::namespace)
    }
}

/// Checks the values that were asked for.
async fn subject(
    tx: &mut Tx,
    engine: &Engine,
    scope: &Scope,
    merchant: &MerchantRow,
    asked: &ChangeValue,
) -> Result<Subject, Fail> {
    Ok(match asked {
        ChangeValue::Destination { family, address } => {
            let family = destinations::family(family)?;
            // One that was enabled once can still be taken away.
            if address.is_some() {
                destinations::check_enabled(engine, scope.mode, family)?;
            }
            let to = match address {
                None => None,
                Some(address) => Some(destinations::accept(tx, scope, family, address).await?),
            };
            let from = merchant.destinations.get(family.namespace()).cloned();
            let family = Some(family);
            Subject { family, from, to }
        }
        ChangeValue::WebhookUrl(to) => {
            if let Some(url) = to {
                let policy = url_policy(engine.config.allow_private_webhooks);
                vet_url(url, policy).map_err(url_forbidden)?;
            }
            Subject {
                family: None,
                from: merchant.webhook_url.clone(),
                to: to.clone(),
            }
        }
        ChangeValue::WebhookSecret => Subject {
            family: None,
            from: None,
            to: None,
        },
    })
}

/// Asks for a change. Where nothing makes it wait it takes effect at once.
pub async fn request(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    new: &NewChange,
) -> Result<ChangeView, Fail> {
    let (engine, scope) = (context.engine, &context.scope()?);
    context.require(new.asked.kind().needs())?;
    let (change, secret) = make(tx, engine, scope, &context.asked.user, new).await?;
    let (action, details) = (made_by(&change), details(&change));
    context.record(tx, action, &change.id, details).await?;
    tell(tx, engine, &change, action).await?;
    let mut shown = view(engine, tx, &change).await?;
    shown.secret = secret;
    Ok(shown)
}

/// What making a change is called: asking for it, or putting it in effect.
fn made_by(change: &ChangeRow) -> Action {
    match change.status {
        ChangeStatus::Effective => Action::ChangeEffective,
        _ => Action::ChangeRequested,
    }
}

/// Writes a change down, with what is shown of its secret once.
async fn make(
    tx: &mut Tx,
    engine: &Engine,
    scope: &Scope,
    requested_by: &str,
    new: &NewChange,
) -> Result<(ChangeRow, Option<String>), Fail> {
    let kind = new.asked.kind();
    // Held, so that changes of one merchant are asked for and take effect one after the other.
    let merchant = till_store::accounts::merchant_for_update(tx, scope).await?;
    let mut merchant = merchant.ok_or_else(not_configured)?;
    let subject = subject(tx, engine, scope, &merchant, &new.asked).await?;
    if kind != ChangeKind::WebhookSecret && subject.from == subject.to {
        return Err(Refusal::of(Code::NoChange).into());
    }
    let waiting = till_store::changes::pending(tx, scope).await?;
    let is_same = |of: &ChangeRow| of.kind == kind && of.family == subject.family();
    if waiting.iter().any(is_same) {
        return Err(Refusal::of(Code::ChangePending).into());
    }
    let delay_ms = delay(tx, engine, scope, new).await?;
    let row = merchant.clone();
    let now = Merchant { row }.now(engine.clock.now_ms());
    let secret = (kind == ChangeKind::WebhookSecret).then(|| new_secret(engine.ids.random()));
    let sealed = secret.as_deref().map(|of| secrets::seal(engine, scope, of));
    let mut change = ChangeRow {
        scope: scope.clone(),
        id: engine.ids.make(IdKind::Change),
        kind,
        family: subject.family().to_owned(),
        from_value: subject.from,
        to_value: subject.to,
        secret: sealed.transpose()?,
        status: ChangeStatus::Pending,
        requested_by: requested_by.to_owned(),
        requested_at: now,
        effective_at: now.saturating_add(delay_ms).min(time::LATEST_MS),
        cancelled_by: None,
        cancelled_at: None,
    };
    if delay_ms == 0 {
        apply(tx, engine, &mut merchant, &change).await?;
        change.status = ChangeStatus::Effective;
        change.secret = None;
    } else {
        let (kind, at) = (TimerKind::ApplyChange, change.effective_at);
        let timer = TimerRow::new(scope, kind, &change.id, at);
        till_store::timers::set(tx, &[timer]).await?;
    }
    till_store::changes::insert(tx, &change).await?;
    Ok((change, secret))
}

async fn delay(tx: &mut Tx, engine: &Engine, scope: &Scope, new: &NewChange) -> Result<i64, Fail> {
    let live = Scope::new(&scope.account, Mode::Live);
    let has_live_invoice = till_store::invoices::any(tx, &live).await?;
    let asked_ms = new.delay_s.saturating_mul(SECOND_MS);
    let server_ms = engine.config.dashboard.change_delay_ms;
    Ok(delay_ms(scope.mode, asked_ms, server_ms, has_live_invoice))
}

/// A change of a destination that was asked for at the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedDestination {
    /// None where the family had no destination.
    pub from: Option<String>,
    pub to: String,
    pub effective_at: i64,
    /// Whether it is in effect already.
    pub is_effective: bool,
}

/// Refuses where nothing may be changed: nobody's account, a disabled one, or live mode that is not approved.
async fn check_open(tx: &mut Tx, scope: &Scope) -> Result<(), Fail> {
    if till_store::accounts::is_disabled_for_share(tx, &scope.account).await? {
        return Err(Refusal::of(Code::AccountDisabled).into());
    }
    asker::check_approved(tx, &scope.account, scope.mode).await
}

/// Asks for another destination at the command line, for merchants without a dashboard: after the same delay.
pub async fn request_at_command_line(
    engine: &Engine,
    scope: &Scope,
    family: Family,
    address: &str,
) -> Result<ChangedDestination, Fail> {
    let new = &NewChange {
        asked: ChangeValue::Destination {
            family: family.namespace().to_owned(),
            address: Some(address.to_owned()),
        },
        delay_s: 0,
    };
    let made = engine.db.write(move |tx: &mut Tx| {
        async move {
            check_open(tx, scope).await?;
            let (change, _) = make(tx, engine, scope, CLI, new).await?;
            let (by, action) = ((scope, &Actor::Operator), made_by(&change));
            audit::record_by(tx, engine, by, action, &change.id, details(&change)).await?;
            tell(tx, engine, &change, action).await?;
            Ok(ChangedDestination {
                is_effective: change.status == ChangeStatus::Effective,
                from: change.from_value,
                to: change.to_value.unwrap_or_default(),
                effective_at: change.effective_at,
            })
        }
        .scope_boxed()
    });
    made.await
}

/// Stops the change of a destination that waits, whoever asked for it, and says where it would have led.
pub async fn cancel_at_command_line(
    engine: &Engine,
    scope: &Scope,
    family: Family,
) -> Result<Option<String>, Fail> {
    let ended = engine.db.write(move |tx: &mut Tx| {
        async move {
            let row = till_store::accounts::merchant_for_update(tx, scope).await?;
            let row = row.ok_or_else(not_configured)?;
            let now = Merchant { row }.now(engine.clock.now_ms());
            let waiting = till_store::changes::pending(tx, scope).await?;
            let is_it = |of: &ChangeRow| {
                of.kind == ChangeKind::Destination && of.family == family.namespace()
            };
            let found = waiting.into_iter().find(is_it);
            let found = found.filter(|of| can_stop(engine, of, now));
            let mut change = found.ok_or_else(|| Refusal::of(Code::ChangeNotPending))?;
            change.cancelled_by = Some(CLI.to_owned());
            end(tx, engine, &mut change, now).await?;
            let (by, action) = ((scope, &Actor::Operator), Action::ChangeCancelled);
            audit::record_by(tx, engine, by, action, &change.id, details(&change)).await?;
            Ok(change.to_value)
        }
        .scope_boxed()
    });
    ended.await
}

/// What the audit log says of a change. URLs are left out: they may carry tokens.
fn details(change: &ChangeRow) -> Value {
    match change.kind {
        ChangeKind::Destination => json!({
            "kind": change.kind.as_str(), "family": &change.family, "from": &change.from_value, "to": &change.to_value
        }),
        kind => json!({ "kind": kind.as_str() }),
    }
}

async fn tell(
    tx: &mut Tx,
    engine: &Engine,
    change: &ChangeRow,
    action: Action,
) -> Result<(), Fail> {
    let to = To::Managers(&change.scope.account);
    notices::tell(tx, engine, to, action.as_str(), &change.id).await
}

/// Makes it so. The caller holds the merchant's row.
async fn apply(
    tx: &mut Tx,
    engine: &Engine,
    merchant: &mut MerchantRow,
    change: &ChangeRow,
) -> Result<(), Fail> {
    let scope = &change.scope;
    match change.kind {
        ChangeKind::Destination => {
            let name = change.family.clone();
            match &change.to_value {
                Some(address) => merchant.destinations.insert(name, address.clone()),
                None => merchant.destinations.remove(&name),
            };
            till_store::accounts::set_destinations(tx, scope, &merchant.destinations).await?;
        }
        ChangeKind::WebhookUrl => {
            merchant.webhook_url.clone_from(&change.to_value);
            till_store::accounts::update_settings(tx, merchant).await?;
        }
        ChangeKind::WebhookSecret => {
            let secret = change.secret.as_ref();
            let secret = secret.ok_or_else(|| Fail::broken("a change of a secret without one"))?;
            let now = engine.clock.now_ms();
            let until = now + i64::from(SECRET_OVERLAP_H) * HOUR_MS;
            till_store::accounts::add_webhook_secret(tx, scope, secret, now, until).await?;
        }
    }
    Ok(())
}

/// The time of a change has come. One that was stopped meanwhile stays so; of a disabled organisation none takes effect.
pub async fn take_effect(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<(), Fail> {
    let (engine, scope) = (context.engine, &context.scope);
    let merchant = till_store::accounts::merchant_for_update(tx, scope).await?;
    let mut merchant = merchant.ok_or_else(not_configured)?;
    let found = till_store::changes::find_for_update(tx, scope, id).await?;
    let Some(mut change) = found.filter(|of| of.status == ChangeStatus::Pending) else {
        return Ok(());
    };
    if is_stopped(tx, engine, scope).await? {
        return end_all(tx, engine, scope).await;
    }
    apply(tx, engine, &mut merchant, &change).await?;
    change.status = ChangeStatus::Effective;
    change.secret = None;
    till_store::changes::set_status(tx, &change).await?;
    let action = Action::ChangeEffective;
    audit::record(tx, context, action, id, details(&change)).await?;
    tell(tx, engine, &change, action).await
}

/// Puts changes in effect whose time has come, before anybody reads what they are about.
pub async fn catch_up(engine: &Engine, scope: &Scope) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let is_due = till_store::changes::is_due(&mut reader, scope, engine.clock.now_ms()).await?;
    drop(reader);
    match is_due {
        true => put_in_effect(engine, scope).await,
        false => Ok(()),
    }
}

/// The same where it is known that there are some.
pub async fn put_in_effect(engine: &Engine, scope: &Scope) -> Result<(), Fail> {
    // By a clock that is wrong their time has not come: another server knows.
    if engine.readiness.clock_off_s().is_some() {
        return Ok(());
    }
    let done = engine.unit(scope, |tx, context| {
        async move {
            let mut due = till_store::changes::pending(tx, &context.scope).await?;
            due.retain(|change| change.effective_at <= context.now);
            due.sort_by_key(|change| change.effective_at);
            for change in due {
                take_effect(tx, context, &change.id).await?;
            }
            Ok(())
        }
        .scope_boxed()
    });
    done.await
}

fn missing() -> Refusal {
    Refusal::of(Code::ResourceMissing).param("id")
}

/// While nothing falls due here, because the clocks differ, a change that nobody has put in effect waits whatever the time.
fn can_stop(engine: &Engine, change: &ChangeRow, now: i64) -> bool {
    let is_held_back = engine.readiness.clock_off_s().is_some();
    can_cancel(change.status, change.effective_at, now)
        || (is_held_back && change.status == ChangeStatus::Pending)
}

/// Stops a change that waits.
pub async fn cancel(tx: &mut Tx, context: &TeamContext<'_>, id: &str) -> Result<ChangeView, Fail> {
    let (engine, scope) = (context.engine, &context.scope()?);
    // Held before the change, as everybody who ends one holds it.
    let row = till_store::accounts::merchant_for_update(tx, scope).await?;
    let row = row.ok_or_else(not_configured)?;
    let found = till_store::changes::find_for_update(tx, scope, id).await?;
    let mut change = found.ok_or_else(missing)?;
    let now = Merchant { row }.now(context.now);
    if !can_stop(engine, &change, now) {
        return Err(Refusal::of(Code::ChangeNotPending).into());
    }
    change.cancelled_by = Some(context.asked.user.to_string());
    end(tx, engine, &mut change, now).await?;
    let action = Action::ChangeCancelled;
    context.record(tx, action, id, details(&change)).await?;
    view(engine, tx, &change).await
}

async fn end(tx: &mut Tx, engine: &Engine, change: &mut ChangeRow, now: i64) -> Result<(), Fail> {
    change.status = ChangeStatus::Cancelled;
    change.cancelled_at = Some(now);
    change.secret = None;
    till_store::changes::set_status(tx, change).await?;
    forget_unused(tx, change).await?;
    tell(tx, engine, change, Action::ChangeCancelled).await
}

/// A destination that was asked for and never in effect belongs to nobody: a Bitcoin account key can be another's.
async fn forget_unused(tx: &mut Tx, change: &ChangeRow) -> Result<(), Fail> {
    let Some(address) = &change.to_value else {
        return Ok(());
    };
    let Some(family) = Family::from_namespace(&change.family) else {
        return Ok(());
    };
    let merchant = till_store::accounts::merchant(tx, &change.scope).await?;
    let now = merchant.as_ref();
    let now = now.and_then(|of| of.destinations.get(&change.family));
    if now != Some(address) {
        till_store::destinations::forget_unused(tx, &change.scope, family, address).await?;
    }
    Ok(())
}

/// Stops the changes that a member asked for and may not ask for any more. `role` is what they are from now on; none
/// for somebody who is no member any more.
pub async fn end_of_member(
    tx: &mut Tx,
    engine: &Engine,
    account: &str,
    user: &str,
    role: Option<Role>,
) -> Result<(), Fail> {
    for mode in [Mode::Test, Mode::Live] {
        // One whose time has come waits no more, though nobody has put it in effect yet.
        let lost = |change: &ChangeRow, now: i64| {
            let may = |role: Role| change.kind.needs().is_granted(role, Some(mode));
            let waits = can_stop(engine, change, now);
            waits && change.requested_by == user && !role.is_some_and(may)
        };
        end_where(tx, engine, &Scope::new(account, mode), lost).await?;
    }
    Ok(())
}

/// Stops all changes of an account and mode: it was disabled, or its live mode was taken away, and nobody could stop them
/// any more.
pub async fn end_all(tx: &mut Tx, engine: &Engine, scope: &Scope) -> Result<(), Fail> {
    end_where(tx, engine, scope, |_, _| true).await
}

async fn end_where(
    tx: &mut Tx,
    engine: &Engine,
    scope: &Scope,
    is_ended: impl Fn(&ChangeRow, i64) -> bool + Send,
) -> Result<(), Fail> {
    // Held, so that none of them takes effect meanwhile.
    let Some(row) = till_store::accounts::merchant_for_update(tx, scope).await? else {
        return Ok(());
    };
    let now = Merchant { row }.now(engine.clock.now_ms());
    let waiting = till_store::changes::pending(tx, scope).await?;
    for mut change in waiting.into_iter().filter(|it| is_ended(it, now)) {
        end(tx, engine, &mut change, now).await?;
        let (by, action) = ((scope, &Actor::System), Action::ChangeCancelled);
        audit::record_by(tx, engine, by, action, &change.id, details(&change)).await?;
    }
    Ok(())
}

/// Whether nothing of this account and mode may take effect, because nobody could stop it: it is disabled, or it is live
/// and live mode is off here or not approved.
async fn is_stopped(tx: &mut Tx, engine: &Engine, scope: &Scope) -> Result<bool, Fail> {
    if till_store::accounts::is_disabled(tx, &scope.account).await? {
        return Ok(true);
    }
    let is_approved = till_store::applications::is_approved(tx, &scope.account).await?;
    Ok(scope.mode.is_live() && !(is_approved && engine.config.live_mode))
}

pub async fn retrieve(engine: &Engine, scope: &Scope, id: &str) -> Result<ChangeView, Fail> {
    let mut reader = engine.db.read().await?;
    let found = till_store::changes::find(&mut reader, scope, id).await?;
    view(engine, &mut reader, &found.ok_or_else(missing)?).await
}

pub async fn list(
    engine: &Engine,
    scope: &Scope,
    filter: (Option<ChangeStatus>, Option<ChangeKind>),
    page: &Page,
) -> Result<Paged<ChangeView>, Fail> {
    let mut reader = engine.db.read().await?;
    let rows = till_store::changes::list(&mut reader, scope, filter, &page.and_one()).await?;
    let Paged { items, next } = page.cut(rows, |row| &row.id);
    let mut shown = Vec::with_capacity(items.len());
    for row in &items {
        shown.push(view(engine, &mut reader, row).await?);
    }
    Ok(Paged { items: shown, next })
}

async fn person(engine: &Engine, q: &mut impl Queries, id: &str) -> Result<PersonView, Fail> {
    Ok(PersonView {
        email: users::email_of(engine, q, id).await?.unwrap_or_default(),
        id: id.to_owned(),
    })
}

async fn view(engine: &Engine, q: &mut impl Queries, row: &ChangeRow) -> Result<ChangeView, Fail> {
    let cancelled_by = match &row.cancelled_by {
        Some(user) => Some(person(engine, q, user).await?),
        None => None,
    };
    Ok(ChangeView {
        id: row.id.clone(),
        object: "change",
        livemode: row.scope.mode.is_live(),
        kind: row.kind.as_str(),
        family: Some(row.family.clone()).filter(|family| !family.is_empty()),
        from: row.from_value.clone(),
        to: row.to_value.clone(),
        status: row.status.as_str(),
        requested_by: person(engine, q, &row.requested_by).await?,
        requested_at: time::show(row.requested_at),
        effective_at: time::show(row.effective_at),
        cancelled_by,
        cancelled_at: row.cancelled_at.map(time::show),
        secret: None,
    })
}
