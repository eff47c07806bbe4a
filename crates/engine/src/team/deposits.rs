//! Deposits that are nobody's payment: shown, and dismissed with a note. Nothing is ever credited by hand.
//!
//! A deposit's id is worked out from its transfer and from when that was first seen: it needs no row of its own.

use std::collections::HashMap;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use till_core::actor::Action;
use till_core::asset::Registry;
use till_core::error::{Code, Refusal};
use till_core::id::{self, IdKind};
use till_core::money;
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_core::time;
use till_store::dismissals::DismissalRow;
use till_store::transfers::TransferRow;
use till_store::{Queries, Tx};

use super::unit::TeamContext;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::view::DepositView;

/// So many transfers are looked at together.
const AT_ONCE: i64 = 500;
/// The home page counts no further.
const COUNTED_MAX: i64 = 10_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepositStatus {
    Open,
    Dismissed,
}

impl DepositStatus {
    pub const ALL: [DepositStatus; 2] = [DepositStatus::Open, DepositStatus::Dismissed];

    pub fn as_str(self) -> &'static str {
        match self {
            DepositStatus::Open => "open",
            DepositStatus::Dismissed => "dismissed",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct DepositFilter {
    pub status: Option<DepositStatus>,
    pub network: Option<String>,
}

/// Newer ones have greater ids, as everywhere.
fn id_of(transfer: &TransferRow) -> String {
    let mut hash = Sha256::new();
    for part in [&transfer.network, &transfer.tx_hash] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update(transfer.place.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    let step = u16::from_be_bytes([hash[0], hash[1]]) & 0xfff;
    let [.., a, b, c, d, e, f, g, h] = hash;
    let random = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    id::make(
        IdKind::UnattributedDeposit,
        transfer.first_seen_at,
        step,
        random,
    )
}

fn networks(scope: &Scope) -> Vec<&'static str> {
    let all = Registry::builtin().networks().iter();
    let of_mode = all.filter(|network| network.mode == scope.mode);
    of_mode.map(|network| &*network.id).collect()
}

type Dismissals = HashMap<String, DismissalRow>;

async fn dismissals(q: &mut impl Queries, scope: &Scope) -> Result<Dismissals, Fail> {
    let all = till_store::dismissals::all(q, scope).await?;
    Ok(all.into_iter().map(|row| (row.id.clone(), row)).collect())
}

/// Deposits that were first seen at `newest` or before, the newest first, in turns.
async fn turn(
    q: &mut impl Queries,
    scope: &Scope,
    newest: i64,
    at_most: i64,
) -> Result<Vec<(String, TransferRow)>, Fail> {
    let networks = networks(scope);
    let found = till_store::transfers::unattributed_before(q, scope, &networks, newest, at_most);
    let mut found: Vec<_> = found
        .await?
        .into_iter()
        .map(|transfer| (id_of(&transfer), transfer))
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0));
    Ok(found)
}

pub async fn list(
    engine: &Engine,
    scope: &Scope,
    filter: &DepositFilter,
    page: &Page,
) -> Result<Paged<DepositView>, Fail> {
    let mut reader = engine.db.read().await?;
    let dismissed = dismissals(&mut reader, scope).await?;
    let wanted = usize::try_from(page.limit)
        .unwrap_or(usize::MAX)
        .saturating_add(1);
    let mut newest = page.before.as_deref().and_then(id::time_of);
    let mut last = page.before.clone();
    let (mut found, mut at_most) = (Vec::new(), AT_ONCE);
    loop {
        let some = turn(&mut reader, scope, newest.unwrap_or(i64::MAX), at_most).await?;
        let is_all = i64::try_from(some.len()).is_ok_and(|count| count < at_most);
        let oldest = some.last().map(|(_, transfer)| transfer.first_seen_at);
        let before = found.len();
        for (id, transfer) in some {
            // Those of the oldest moment may not all be here yet.
            if !is_all && Some(transfer.first_seen_at) == oldest {
                continue;
            }
            if last.as_ref().is_some_and(|last| id >= *last) {
                continue;
            }
            last = Some(id.clone());
            let shown = view(scope, id, &transfer, &dismissed);
            let fits = filter
                .status
                .is_none_or(|status| shown.status == status.as_str());
            let of_network = filter.network.as_ref();
            if fits && of_network.is_none_or(|network| shown.network == *network) {
                found.push(shown);
            }
        }
        if is_all || found.len() >= wanted {
            found.truncate(wanted);
            return Ok(page.cut(found, |deposit| &deposit.id));
        }
        // All of one moment: look at more of them at a time.
        if newest == oldest && found.len() == before {
            at_most = at_most.saturating_mul(2);
        }
        newest = oldest;
    }
}

/// How many are open, and since when the oldest.
pub async fn open(q: &mut impl Queries, scope: &Scope) -> Result<(i64, Option<i64>), Fail> {
    let dismissed = dismissals(q, scope).await?;
    let all = turn(q, scope, i64::MAX, COUNTED_MAX).await?;
    let open = all.iter().filter(|(id, _)| !dismissed.contains_key(id));
    let seen: Vec<i64> = open.map(|(_, transfer)| transfer.first_seen_at).collect();
    let count = i64::try_from(seen.len()).map_err(Fail::broken)?;
    Ok((count, seen.into_iter().min()))
}

fn view(scope: &Scope, id: String, transfer: &TransferRow, dismissed: &Dismissals) -> DepositView {
    let asset = Registry::builtin().asset(&transfer.asset);
    let note = dismissed.get(&id).map(|row| row.note.clone());
    let reason = match (asset, transfer.unattributed.as_deref()) {
        (None, _) => "unknown_token",
        (_, Some("ambiguous")) => "ambiguous",
        _ => "no_lease",
    };
    let units = transfer.brought();
    DepositView {
        object: "unattributed_deposit",
        livemode: scope.mode.is_live(),
        status: match note {
            Some(_) => DepositStatus::Dismissed.as_str(),
            None => DepositStatus::Open.as_str(),
        },
        reason,
        asset: transfer.asset.clone(),
        symbol: asset.map(|asset| asset.symbol.clone()),
        network: transfer.network.clone(),
        amount: match asset {
            Some(asset) => money::show(units, asset.decimals),
            None => units.0.to_string(),
        },
        tx_hash: transfer.tx_hash.clone(),
        index: transfer.place,
        from: transfer.senders.first().cloned(),
        to: transfer.recipient.clone(),
        block_time: transfer.block_time.map(time::show),
        first_seen_at: time::show(transfer.first_seen_at),
        note,
        id,
    }
}

/// Says that nobody has to look at it any more. A second note takes the place of the first.
pub async fn dismiss(
    tx: &mut Tx,
    context: &TeamContext<'_>,
    id: &str,
    note: &str,
) -> Result<DepositView, Fail> {
    let scope = &context.scope()?;
    let missing = || Refusal::of(Code::ResourceMissing).param("id");
    let seen_at = id::time_of(id).ok_or_else(missing)?;
    let networks = networks(scope);
    let at = till_store::transfers::unattributed_at(tx, scope, &networks, seen_at).await?;
    let transfer = at.into_iter().find(|transfer| id_of(transfer) == id);
    let transfer = transfer.ok_or_else(missing)?;
    let row = DismissalRow {
        scope: scope.clone(),
        id: id.to_owned(),
        note: note.to_owned(),
        dismissed_by: context.asked.user.to_string(),
        dismissed_at: context.now,
    };
    till_store::dismissals::put(tx, &row).await?;
    let details = json!({"network": &transfer.network, "tx_hash": &transfer.tx_hash});
    context
        .record(tx, Action::DepositDismissed, id, details)
        .await?;
    let dismissed = [(id.to_owned(), row)].into();
    Ok(view(scope, id.to_owned(), &transfer, &dismissed))
}
