//! Transfers in, settled invoices out: found, locked, worked out and written together.

use std::collections::HashMap;

use till_core::scope::Scope;
use till_store::Tx;
use till_store::payments::PaymentRow;
use till_store::transfers::TransferRow;

use super::apply::{AttributedObservation, IntakeOutcome, apply_all};
use super::attribute::{Attribution, AttributionFacts, Contexts, Reason, load_contexts};
use super::depth::FinalHeights;
use super::displaced::with_displaced;
use super::observation::{
    Identity, Observation, Receipt, Sighting, TransferOrigin, receipt_of, told_of,
};
use crate::base::fail::Fail;
use crate::base::{Context, Effects, Engine};
use crate::settlement::{self, LockedInvoice, Settling, reopen};

/// Where transfers come in.
#[derive(Clone, Copy)]
pub struct Door<'e> {
    pub engine: &'e Engine,
    pub effects: &'e Effects,
    /// Only this account's invoices are touched: a simulated transfer concerns nobody else.
    pub only: Option<&'e Scope>,
}

/// Takes observations in, in their order, and says what became of each.
pub async fn take_in(
    tx: &mut Tx,
    door: Door<'_>,
    observations: &[Observation],
) -> Result<Vec<IntakeOutcome>, Fail> {
    let payments = till_store::payments::by_identity(tx, &identities(observations)).await?;
    let told = with_displaced(observations, &payments);
    let said: Vec<&Observation> = told.said.iter().map(AsRef::as_ref).collect();
    let (contexts, owners) = find_owners(tx, door, &said, &payments).await?;
    let heights = FinalHeights::read(tx, door.engine, observations).await?;
    let mut wanted: Vec<(&Scope, &str)> = owners
        .iter()
        .filter_map(|owner| owner.as_ref().ok())
        .map(|found| (&found.scope, &*found.invoice))
        .collect();
    wanted.sort_unstable_by_key(|(_, invoice)| *invoice);
    wanted.dedup();
    let mut of_invoices: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut taken = Vec::with_capacity(said.len());
    for (index, owner) in owners.iter().enumerate() {
        taken.push(match owner {
            Err(Some(reason)) => IntakeOutcome::Nobody(*reason),
            Err(None) => IntakeOutcome::Nothing,
            Ok(found) => {
                of_invoices.entry(&found.invoice).or_default().push(index);
                IntakeOutcome::Nothing
            }
        });
    }
    let mut settled: Vec<Settling<'_>> = Vec::with_capacity(of_invoices.len());
    for held in settlement::hold_many(tx, &wanted).await? {
        let context = contexts
            .get(&held.invoice.is.scope)
            .ok_or_else(|| Fail::broken("an invoice without an account"))?;
        let indexes = of_invoices.remove(held.id()).unwrap_or_default();
        let lowered = |index: &usize| heights.lowered(&held.invoice.is, said[*index]);
        let lowered: Vec<Option<Observation>> = indexes.iter().map(lowered).collect();
        let news: Vec<AttributedObservation<'_>> = indexes
            .iter()
            .zip(&lowered)
            .filter_map(|(index, lowered)| {
                let found = owners[*index].as_ref().ok()?;
                Some((found, lowered.as_ref().unwrap_or(said[*index])))
            })
            .collect();
        let (settling, became) = settle_one(tx, context, held, &news).await?;
        for (index, became) in indexes.into_iter().zip(became) {
            taken[index] = became;
        }
        settled.push(settling);
    }
    if let Some(missing) = of_invoices.keys().next() {
        return Err(Fail::broken(format!(
            "invoice {missing} of a lease or payment is missing"
        )));
    }
    if told.displaces_any() {
        make_room(tx, &settled).await?;
    }
    let taken: Vec<IntakeOutcome> = told.seen.iter().map(|at| taken[*at].clone()).collect();
    let (made_up, observed): (Vec<TransferRow>, Vec<TransferRow>) =
        facts(door.engine, observations, &taken)
            .into_iter()
            .partition(|fact| fact.simulated);
    let writes = [
        till_store::transfers::facts_and_meaning(&made_up),
        till_store::transfers::meanings(&observed),
    ];
    settlement::commit(tx, settled, writes).await?;
    Ok(taken)
}

/// At a place one payment stands at a time, which the database sees to: who leaves is written before who comes.
async fn make_room(tx: &mut Tx, settled: &[Settling<'_>]) -> Result<(), Fail> {
    let payments = settled.iter().flat_map(|done| &done.held.payments);
    let leaving = payments.filter(|payment| {
        let stood = payment.stored().is_some_and(|was| was.gone_at.is_none());
        stood && payment.is.gone_at.is_some()
    });
    let leaving = till_store::payments::updates(leaving.map(|payment| &payment.is))?;
    tx.write(&leaving).await?;
    Ok(())
}

async fn settle_one<'c>(
    tx: &mut Tx,
    context: &'c Context<'c>,
    mut held: LockedInvoice,
    news: &[AttributedObservation<'_>],
) -> Result<(Settling<'c>, Vec<IntakeOutcome>), Fail> {
    // Tried first without writing anything: whatever makes a closed invoice wait again needs the database.
    if held.invoice.is.closed_at.is_some() {
        let mut trial = Settling::new(context, held.clone());
        apply_all(&mut trial, news)?;
        if trial.has_reopened {
            reopen::renew(tx, context, &mut held).await?;
        }
    }
    let mut settling = Settling::new(context, held);
    let taken = apply_all(&mut settling, news)?;
    Ok((settling, taken))
}

/// Whose each transfer is that was told of, or why it is nobody's; no reason where it says nothing at all.
type Owners = Vec<Result<Attribution, Option<Reason>>>;

fn identities(observations: &[Observation]) -> Vec<Identity<'_>> {
    let mut identities: Vec<Identity<'_>> =
        observations.iter().map(Observation::identity).collect();
    identities.sort_unstable();
    identities.dedup();
    identities
}

async fn find_owners<'e>(
    tx: &mut Tx,
    door: Door<'e>,
    said: &[&Observation],
    payments: &[PaymentRow],
) -> Result<(Contexts<'e>, Owners), Fail> {
    let mut by_receipt: HashMap<Receipt<'_>, Vec<(usize, &PaymentRow)>> = HashMap::new();
    for (at, row) in payments.iter().enumerate() {
        let of_receipt = by_receipt.entry(receipt_of(row)).or_default();
        of_receipt.push((at, row));
    }
    let payment_of = |observation: &Observation| {
        let rows = by_receipt.get(&observation.receipt())?;
        told_of(rows.iter().copied(), observation).map(|at| &payments[at])
    };
    // Zero-value transfers are how addresses are poisoned; they are nothing, everywhere.
    let is_first = |it: &&Observation| {
        payment_of(it).is_none() && it.sighting.level().is_some() && !it.brought().is_zero()
    };
    let unknown: Vec<&Observation> = said.iter().copied().filter(is_first).collect();
    let known = AttributionFacts::read(tx, &unknown).await?;
    let mut firsts: HashMap<Receipt<'_>, &Observation> = HashMap::with_capacity(unknown.len());
    for first in &unknown {
        firsts.entry(first.receipt()).or_insert(first);
    }
    let mut contexts = Contexts::new();
    let scopes = payments.iter().map(|row| &row.scope);
    let scopes = scopes.chain(known.scopes());
    load_contexts(tx, door.engine, door.effects, scopes, &mut contexts).await?;
    let mut owners = Owners::with_capacity(said.len());
    for observation in said.iter().copied() {
        let owner = match payment_of(observation) {
            Some(row) => Ok(Attribution {
                scope: row.scope.clone(),
                invoice: row.invoice.clone(),
                by: super::attribute::By::DepositAddress,
                first_seen_at: row.first_seen_at,
            }),
            None => match firsts.get(&observation.receipt()) {
                Some(first) => known.attribute(&contexts, first).map_err(Some),
                None => Err(None),
            },
        };
        let allowed = |found: &Attribution| door.only.is_none_or(|only| *only == found.scope);
        owners.push(match owner {
            Ok(found) if !allowed(&found) => Err(Some(Reason::NoLease)),
            owner => owner,
        });
    }
    Ok((contexts, owners))
}

/// What the chain says of each transfer at last, and what it means.
fn facts(
    engine: &Engine,
    observations: &[Observation],
    taken: &[IntakeOutcome],
) -> Vec<TransferRow> {
    let now = engine.clock.now_ms();
    let mut rows: HashMap<Identity<'_>, TransferRow> = HashMap::new();
    for (observation, taken) in observations.iter().zip(taken) {
        if *taken == IntakeOutcome::Nothing {
            continue;
        }
        let (height, hash, time) = match &observation.sighting {
            Sighting::InBlock {
                number, hash, time, ..
            } => (Some(*number), Some(hash.clone()), Some(*time)),
            _ => (None, None, None),
        };
        let row = TransferRow {
            network: observation.network.clone(),
            tx_hash: observation.tx_hash.clone(),
            place: observation.place,
            asset: observation.asset.clone(),
            units: observation.units,
            arrived: observation.arrived,
            whole: false,
            registers: observation.registers.clone(),
            senders: observation.senders.clone(),
            recipient: observation.recipient.clone(),
            simulated: observation.source == TransferOrigin::Simulation,
            first_seen_at: now,
            height,
            block_hash: hash,
            block_time: time,
            gone: matches!(observation.sighting, Sighting::Removed),
            payment: taken.payment().map(str::to_owned),
            unattributed: match taken {
                IntakeOutcome::Nobody(reason) => Some(reason.as_str().to_owned()),
                IntakeOutcome::Payment(_) | IntakeOutcome::Nothing => None,
            },
        };
        rows.insert(observation.identity(), row);
    }
    let mut rows: Vec<TransferRow> = rows.into_values().collect();
    rows.sort_by(|a, b| a.identity().cmp(&b.identity()));
    rows
}
