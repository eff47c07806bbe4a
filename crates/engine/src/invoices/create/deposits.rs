//! The addresses of invoices that are about to be created: taken ahead where that can be, otherwise together
//! with their leases.

use std::collections::BTreeMap;

use till_core::asset::{Family, Network, Registry};
use till_core::error::Refusal;
use till_core::invoice::Deposit;
use till_store::Tx;

use super::draft::Draft;
use super::rows::Ready;
use crate::addresses::{self, ahead};
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::invoices::quote::Quote;

/// Takes the addresses that can be taken ahead.
pub(super) async fn reserve(engine: &Engine, drafts: &mut [Draft<'_>]) -> Result<(), Fail> {
    for (family, positions) in by_pool(drafts, |draft| families(&draft.quote)) {
        let (context, network) = where_paid(drafts, positions[0], family)?;
        match ahead::take(context, network, positions.len()).await {
            Ok(Some(deposits)) => {
                for (position, deposit) in positions.into_iter().zip(deposits) {
                    drafts[position].deposits.push((family, deposit));
                }
            }
            Ok(None) => {
                for position in positions {
                    drafts[position].scarce.push(family);
                }
            }
            Err(fail) => {
                give_back(engine, drafts);
                return Err(fail);
            }
        }
    }
    Ok(())
}

/// Only of drafts that were not written: of those whose commit is in doubt, nothing may be used again.
pub(super) fn give_back(engine: &Engine, drafts: &[Draft<'_>]) {
    for draft in drafts {
        for (family, deposit) in &draft.deposits {
            let scope = &draft.context.scope;
            ahead::give_back(engine, scope, *family, deposit);
        }
    }
}

/// Takes the addresses that must be taken together with their leases. Drafts that find their pool exhausted
/// are refused alone as long as nothing is taken for them elsewhere; otherwise all of them are undone, and
/// each is to be tried by itself.
pub(super) async fn allocate<'d>(
    tx: &mut Tx,
    drafts: &'d [Draft<'d>],
) -> Result<(Vec<Ready<'d>>, Vec<(&'d Draft<'d>, Refusal)>), Fail> {
    let mut ready: Vec<Ready<'d>> = drafts.iter().map(Ready::from).collect();
    let mut refused: BTreeMap<usize, Refusal> = BTreeMap::new();
    for (family, positions) in by_pool(drafts, |draft| draft.scarce.clone()) {
        let (context, network) = where_paid(drafts, positions[0], family)?;
        let got = addresses::allocate(tx, context, network, positions.len()).await?;
        let mut got = got.into_iter();
        for position in positions {
            match got.next() {
                Some(deposit) => ready[position].deposits.push((family, deposit)),
                None => {
                    let refusal = addresses::exhausted(&network.name);
                    if drafts[position].scarce.len() > 1 {
                        return Err(refusal.into());
                    }
                    refused.insert(position, refusal);
                }
            }
        }
    }
    let mut position = 0..;
    ready.retain(|_| position.next().is_some_and(|at| !refused.contains_key(&at)));
    let refused = refused.into_iter();
    let refused = refused.map(|(position, refusal)| (&drafts[position], refusal));
    Ok((ready, refused.collect()))
}

/// The addresses of one invoice, for a unit of work that makes it beside other things.
pub(super) async fn allocate_one(
    tx: &mut Tx,
    context: &Context<'_>,
    quote: &Quote,
) -> Result<Vec<(Family, Deposit)>, Fail> {
    let mut deposits = Vec::new();
    for family in families(quote) {
        let network = network_of(quote, family)?;
        let got = addresses::allocate(tx, context, network, 1).await?.pop();
        let deposit = got.ok_or_else(|| addresses::exhausted(&network.name))?;
        deposits.push((family, deposit));
    }
    Ok(deposits)
}

/// Which drafts want an address of which pool, by their position, always in the same order of pools: two
/// units of work that want the same ones never wait for each other in a circle.
fn by_pool(
    drafts: &[Draft<'_>],
    families: impl Fn(&Draft<'_>) -> Vec<Family>,
) -> Vec<(Family, Vec<usize>)> {
    let mut wanted: BTreeMap<(&str, &'static str, Family), Vec<usize>> = BTreeMap::new();
    for (position, draft) in drafts.iter().enumerate() {
        let scope = &draft.context.scope;
        for family in families(draft) {
            wanted
                .entry((&scope.account, scope.mode.as_str(), family))
                .or_default()
                .push(position);
        }
    }
    wanted
        .into_iter()
        .map(|((_, _, family), positions)| (family, positions))
        .collect()
}

fn where_paid<'a>(
    drafts: &[Draft<'a>],
    position: usize,
    family: Family,
) -> Result<(&'a Context<'a>, &'static Network), Fail> {
    let draft = &drafts[position];
    Ok((draft.context, network_of(&draft.quote, family)?))
}

fn network_of(quote: &Quote, family: Family) -> Result<&'static Network, Fail> {
    let registry = Registry::builtin();
    let options = quote.options.iter();
    options
        .filter_map(|option| registry.asset(&option.asset))
        .find(|asset| asset.family == family)
        .and_then(|asset| registry.network(&asset.network))
        .ok_or_else(|| Fail::broken("a family without a network"))
}

fn families(quote: &Quote) -> Vec<Family> {
    let mut families: Vec<Family> = quote
        .options
        .iter()
        .filter_map(|option| Registry::builtin().asset(&option.asset))
        .map(|asset| asset.family)
        .collect();
    families.sort_unstable();
    families.dedup();
    families
}
