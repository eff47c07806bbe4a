//! The home page: what needs somebody, what came in, how the networks do, and what is left to set up.

use std::collections::BTreeMap;

use till_chains::{example_destination, example_destination_of};
use till_core::asset::{Family, Mode, Registry};
use till_core::id::{self, IdKind};
use till_core::money::{self, Units};
use till_core::scope::Scope;
use till_core::time::{self, DAY_MS};
use till_store::Queries;
use till_store::home::Waiting;

use super::sessions::Signed;
use super::{deposits, networks};
use crate::base::fail::Fail;
use crate::base::{Engine, Merchant};
use crate::lists::Lists;
use crate::view::{HomeView, NeedView, NetworkHealthView, SetupStepView, VolumeView};

/// So many payments are read together.
const AT_ONCE: i64 = 1_000;
/// A payment is credited at most so long after it was first seen, in live mode.
const CREDIT_TIME_MAX_MS: i64 = 30 * DAY_MS;

/// A copy of the database that is older than this is as good as none.
const COPY_AGE_MAX_MS: i64 = 7 * DAY_MS;

/// Whether what the database holds would not be lost with it.
pub fn is_backed_up(copied_at: Option<i64>, now: i64) -> bool {
    copied_at.is_some_and(|at| now.saturating_sub(at) <= COPY_AGE_MAX_MS)
}

/// `days` of volumes, today's among them.
pub async fn show(
    engine: &Engine,
    signed: &Signed,
    scope: &Scope,
    days: i64,
) -> Result<HomeView, Fail> {
    let mut reader = engine.db.read().await?;
    let row = till_store::accounts::merchant(&mut reader, scope).await?;
    let merchant = row.map(|row| Merchant { row });
    let real_now = engine.clock.now_ms();
    let now = merchant.as_ref().map_or(real_now, |of| of.now(real_now));
    let networks = networks::health(engine, &mut reader, scope.mode).await?;
    let first_day = now.div_euclid(DAY_MS) - days + 1;
    Ok(HomeView {
        object: "home",
        livemode: scope.mode.is_live(),
        now: time::show(now),
        needs_you: needs(&mut reader, scope, &networks, real_now).await?,
        volumes: volumes(&mut reader, scope, first_day.saturating_mul(DAY_MS)).await?,
        setup: setup(engine, &mut reader, signed, scope, merchant.as_ref()).await?,
        missing: missing(engine, &mut reader, scope.mode, real_now).await?,
        networks,
    })
}

async fn needs(
    q: &mut impl Queries,
    scope: &Scope,
    networks: &[NetworkHealthView],
    now: i64,
) -> Result<Vec<NeedView>, Fail> {
    let counted = [
        ("review_open", Waiting::Reviews),
        ("refund_ready_to_send", Waiting::RefundsToSend),
        ("refund_in_review", Waiting::RefundsInReview),
        ("webhook_failing", Waiting::Webhooks),
        ("change_pending", Waiting::Changes),
        ("key_exposed", Waiting::ExposedKeys),
    ];
    let mut all = Vec::new();
    for (kind, what) in counted {
        let (count, oldest) = till_store::home::count(q, scope, what).await?;
        all.push((kind, count, oldest.map(time::show)));
    }
    let (count, oldest) = deposits::open(q, scope).await?;
    all.push(("unattributed_deposit", count, oldest.map(time::show)));
    let ill = |of: &&NetworkHealthView| matches!(of.status, "behind" | "halted");
    let count = networks.iter().filter(ill).count();
    let oldest = networks
        .iter()
        .filter(ill)
        .filter_map(|of| of.head_at.clone())
        .min();
    let count = i64::try_from(count).map_err(Fail::broken)?;
    all.push(("network_degraded", count, oldest));
    let some = all.into_iter().filter(|(_, count, _)| *count > 0);
    let view = |(kind, count, oldest): (&'static str, i64, Option<String>)| NeedView {
        kind,
        count,
        oldest_at: oldest.unwrap_or_else(|| time::show(now)),
    };
    Ok(some.map(view).collect())
}

/// What the server lacks, and what one lacks that takes real money.
async fn missing(
    engine: &Engine,
    q: &mut impl Queries,
    mode: Mode,
    now: i64,
) -> Result<Vec<&'static str>, Fail> {
    let lists = engine.lists.as_ref();
    let copied_at = till_store::installation::backed_up_at(q).await?;
    let lacks = |is_missing: bool| mode.is_live() && is_missing;
    let all = [
        (
            "stale_lists",
            lists.is_some_and(|lists| lists.has_stale(now)),
        ),
        (
            "screening_lists",
            lacks(!lists.is_some_and(Lists::has_some)),
        ),
        ("mail", lacks(engine.mailer.is_none())),
        ("backups", lacks(!is_backed_up(copied_at, now))),
    ];
    let missing = all.into_iter().filter(|(_, is_missing)| *is_missing);
    Ok(missing.map(|(what, _)| what).collect())
}

async fn volumes(q: &mut impl Queries, scope: &Scope, from: i64) -> Result<Vec<VolumeView>, Fail> {
    // Ids are of real time: on a test clock they say nothing about when something was credited.
    let mut after = match scope.mode.is_live() {
        true => id::make(IdKind::Payment, (from - CREDIT_TIME_MAX_MS).max(0), 0, 0),
        false => String::new(),
    };
    let mut sums: BTreeMap<(i64, String), (Units, u64)> = BTreeMap::new();
    loop {
        let rows = till_store::home::credited(q, scope, from, &after, AT_ONCE).await?;
        let is_last = i64::try_from(rows.len()).is_ok_and(|count| count < AT_ONCE);
        for (id, asset, credited_at, units) in rows {
            let units: u128 = units.parse().map_err(Fail::broken)?;
            let day = credited_at.div_euclid(DAY_MS);
            let sum = sums.entry((day, asset)).or_insert((Units(0), 0));
            sum.0 = Units(sum.0.0.saturating_add(units));
            sum.1 += 1;
            after = id;
        }
        if is_last {
            break;
        }
    }
    let view = |((day, asset), (units, payments)): ((i64, String), (Units, u64))| VolumeView {
        amount: shown(&asset, units),
        day: time::show_day(day),
        asset,
        payments,
    };
    Ok(sums.into_iter().map(view).collect())
}

fn shown(asset: &str, units: Units) -> String {
    match Registry::builtin().asset(asset) {
        Some(asset) => money::show(units, asset.decimals),
        None => units.0.to_string(),
    }
}

async fn setup(
    engine: &Engine,
    q: &mut impl Queries,
    signed: &Signed,
    scope: &Scope,
    merchant: Option<&Merchant>,
) -> Result<Vec<SetupStepView>, Fail> {
    let has_own = Family::ALL.into_iter().any(|family| {
        let destination = merchant.and_then(|of| of.destination(family));
        destination.is_some_and(|of| !is_example(family, &scope.account, of))
    });
    let mut of = signed.organizations.iter();
    let status = of.find(|of| *of.account == *scope.account);
    let status = status.and_then(|of| of.application_status.as_deref());
    let steps = [
        ("passkey", signed.passkeys > 0),
        ("destinations", has_own),
        (
            "webhook_url",
            merchant.is_some_and(|of| of.row.webhook_url.is_some()),
        ),
        ("api_key_used", has_used_key(engine, q, scope).await?),
        (
            "first_payment",
            till_store::home::has_payment(q, scope).await?,
        ),
        (
            "application",
            matches!(status, Some("pending" | "approved")),
        ),
    ];
    Ok(steps
        .map(|(step, done)| SetupStepView { step, done })
        .into())
}

/// Whether a secret key was used, also where that is not written down yet.
async fn has_used_key(engine: &Engine, q: &mut impl Queries, scope: &Scope) -> Result<bool, Fail> {
    if till_store::home::has_used_key(q, scope).await? {
        return Ok(true);
    }
    let keys = till_store::keys::keys_of(q, &scope.account).await?;
    let of_mode = |key: &&till_store::keys::ListedKey| {
        key.kind == "secret" && key.mode == scope.mode.as_str()
    };
    let mut of_mode = keys.iter().filter(of_mode);
    Ok(of_mode.any(|key| engine.key_uses.of(&key.id).is_some()))
}

fn is_example(family: Family, account: &str, destination: &str) -> bool {
    let own = example_destination_of(family, account);
    destination == example_destination(family) || own.is_ok_and(|own| own == destination)
}
