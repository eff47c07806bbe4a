//! Transfers in, settled invoices out: found, locked, worked out and written together.

use std::collections::HashMap;

use till_core::id::IdKind;
use till_core::ledger::Position;
use till_core::money::Units;
use till_core::payment::{AttributedBy, Hold, Level, PaymentStatus, Verdict};
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_store::Tx;
use till_store::payments::PaymentRow;
use till_store::transfers::TransferRow;

use super::attribute::{Contexts, Found, Known, Reason, load_contexts};
use super::{Identity, Observation, Sighting, Source};
use crate::base::fail::Fail;
use crate::base::{Context, Effects, Engine};
use crate::settlement::{self, Held, Settling, Tracked, reopen};

/// Where transfers come in.
#[derive(Clone, Copy)]
pub struct Door<'e> {
    pub engine: &'e Engine,
    pub effects: &'e Effects,
    /// Only this account's invoices are touched: a simulated transfer concerns nobody else.
    pub only: Option<&'e Scope>,
}

/// What became of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It belongs to this payment.
    Payment(String),
    Nobody(Reason),
    /// It says nothing that concerns us.
    Nothing,
}

impl Taken {
    pub fn payment(&self) -> Option<&str> {
        match self {
            Taken::Payment(id) => Some(id),
            Taken::Nobody(_) | Taken::Nothing => None,
        }
    }
}

/// Takes observations in, in their order, and says what became of each.
pub async fn take_in(
    tx: &mut Tx,
    door: Door<'_>,
    observations: &[Observation],
) -> Result<Vec<Taken>, Fail> {
    let (contexts, owners) = find_owners(tx, door, observations).await?;
    let mut wanted: Vec<(&Scope, &str)> = owners
        .values()
        .filter_map(|owner| owner.as_ref().ok())
        .map(|found| (&found.scope, &*found.invoice))
        .collect();
    wanted.sort_unstable_by_key(|(_, invoice)| *invoice);
    wanted.dedup();
    let mut of_invoices: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut taken = Vec::with_capacity(observations.len());
    for (index, observation) in observations.iter().enumerate() {
        taken.push(match &owners[&observation.identity()] {
            Err(Some(reason)) => Taken::Nobody(*reason),
            Err(None) => Taken::Nothing,
            Ok(found) => {
                of_invoices.entry(&found.invoice).or_default().push(index);
                Taken::Nothing
            }
        });
    }
    let mut settled: Vec<Settling<'_>> = Vec::with_capacity(of_invoices.len());
    for held in settlement::hold_many(tx, &wanted).await? {
        let context = contexts
            .get(&held.invoice.is.scope)
            .ok_or_else(|| Fail::broken("an invoice without an account"))?;
        let indexes = of_invoices.remove(held.id()).unwrap_or_default();
        let news: Vec<News<'_>> = indexes
            .iter()
            .filter_map(|index| {
                let observation = &observations[*index];
                let found = owners[&observation.identity()].as_ref().ok()?;
                Some((found, observation))
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

/// What was seen, and whose it is.
type News<'n> = (&'n Found, &'n Observation);

async fn settle_one<'c>(
    tx: &mut Tx,
    context: &'c Context<'c>,
    mut held: Held,
    news: &[News<'_>],
) -> Result<(Settling<'c>, Vec<Taken>), Fail> {
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
    stop_refunds(tx, &settling).await?;
    Ok((settling, taken))
}

/// A refund of money that is not there any more is not ready to be sent: somebody must look.
async fn stop_refunds(tx: &mut Tx, settling: &Settling<'_>) -> Result<(), Fail> {
    let is_undone = |payment: &&Tracked<PaymentRow>| {
        let was_posted = payment.stored().is_some_and(|it| it.status.is_posted());
        was_posted && !payment.is.status.is_posted() && !payment.is.refunds_due.is_zero()
    };
    let undone = settling.held.payments.iter().filter(is_undone);
    let undone: Vec<&str> = undone.map(|payment| &*payment.is.id).collect();
    if undone.is_empty() {
        return Ok(());
    }
    let (scope, invoice) = (&settling.context.scope, settling.held.id());
    for mut refund in till_store::refunds::of_invoice(tx, scope, invoice).await? {
        let is_of = |(payment, _): &(String, Units)| undone.contains(&&**payment);
        if refund.status == RefundStatus::ReadyToSend && refund.sources.iter().any(is_of) {
            refund.status = RefundStatus::InReview;
            till_store::refunds::update(tx, &mut refund, settling.at).await?;
        }
    }
    Ok(())
}

fn apply_all(settling: &mut Settling<'_>, news: &[News<'_>]) -> Result<Vec<Taken>, Fail> {
    let apply = |(found, observation): &News<'_>| apply(settling, found, observation);
    news.iter().map(apply).collect()
}

/// Whose each transfer is, or why it is nobody's; no reason where it says nothing at all.
type Owners<'o> = HashMap<Identity<'o>, Result<Found, Option<Reason>>>;

async fn find_owners<'o, 'e>(
    tx: &mut Tx,
    door: Door<'e>,
    observations: &'o [Observation],
) -> Result<(Contexts<'e>, Owners<'o>), Fail> {
    let mut identities: Vec<Identity<'o>> =
        observations.iter().map(Observation::identity).collect();
    identities.sort_unstable();
    identities.dedup();
    let payments = till_store::payments::by_identity(tx, &identities).await?;
    let payments: HashMap<Identity<'_>, &PaymentRow> = payments
        .iter()
        .map(|row| ((&*row.network, &*row.tx_hash, row.place), row))
        .collect();
    // Zero-value transfers are how addresses are poisoned; they are nothing, everywhere.
    let is_first = |it: &&Observation| {
        !payments.contains_key(&it.identity())
            && it.sighting.level().is_some()
            && !it.units.is_zero()
    };
    let unknown: Vec<&Observation> = observations.iter().filter(is_first).collect();
    let known = Known::read(tx, &unknown).await?;
    let mut contexts = Contexts::new();
    let scopes = payments
        .values()
        .map(|row| &row.scope)
        .chain(known.scopes());
    load_contexts(tx, door.engine, door.effects, scopes, &mut contexts).await?;
    let mut owners: Owners<'o> = HashMap::with_capacity(identities.len());
    for identity in identities {
        let owner = match payments.get(&identity) {
            Some(row) => Ok(Found {
                scope: row.scope.clone(),
                invoice: row.invoice.clone(),
                by: super::attribute::By::DepositAddress,
                first_seen_at: row.first_seen_at,
            }),
            None => match unknown.iter().find(|it| it.identity() == identity) {
                Some(first) => known.attribute(&contexts, first).map_err(Some),
                None => Err(None),
            },
        };
        let allowed = |found: &Found| door.only.is_none_or(|only| *only == found.scope);
        owners.insert(
            identity,
            match owner {
                Ok(found) if !allowed(&found) => Err(Some(Reason::NoLease)),
                owner => owner,
            },
        );
    }
    Ok((contexts, owners))
}

/// Puts what was seen over what was known, and works out what follows.
fn apply(
    settling: &mut Settling<'_>,
    found: &Found,
    observation: &Observation,
) -> Result<Taken, Fail> {
    let identity = observation.identity();
    let place = settling.held.payments.iter().position(|payment| {
        let row = &payment.is;
        (&*row.network, &*row.tx_hash, row.place) == identity
    });
    let (context, now) = (settling.context, settling.at);
    let Some(place) = place else {
        let Some(row) = first_sighting(context, now, &settling.held, (found, observation)) else {
            return Ok(Taken::Nothing);
        };
        let id = row.id.clone();
        settling.held.payments.push(Tracked::new(row));
        settling.step(None)?;
        return Ok(Taken::Payment(id));
    };
    let known = settling.held.payments[place].is.clone();
    if is_another(&known, observation) {
        // Run again on another chain, a transaction may do something else at the same place: what it did is undone.
        remove(&mut settling.held.payments[place].is, now);
        settling.step(None)?;
        let row = &mut settling.held.payments[place].is;
        if !may_become(row, observation) {
            return Ok(Taken::Nobody(Reason::NoLease));
        }
        (row.asset, row.sender) = (observation.asset.clone(), observation.sender.clone());
    }
    if is_undone(&known, observation) {
        // It is told and journalled as a reversal first, and then taken in as what it is now.
        remove(&mut settling.held.payments[place].is, now);
        settling.step(None)?;
    }
    update(&mut settling.held.payments[place].is, observation, now);
    settling.step(None)?;
    Ok(Taken::Payment(known.id))
}

fn is_another(known: &PaymentRow, observation: &Observation) -> bool {
    (&known.asset, &known.recipient) != (&observation.asset, &observation.recipient)
}

/// Whether a payment may be of another asset now: its address is the invoice's, whatever is sent there, and nobody was
/// promised anything of what it was.
fn may_become(row: &PaymentRow, observation: &Observation) -> bool {
    let taken = [
        row.refunds_due,
        row.refunds_sent,
        row.withdrawn,
        row.credit_used,
    ];
    row.attributed_by == AttributedBy::DepositAddress
        && row.recipient == observation.recipient
        && matches!(observation.sighting, Sighting::InBlock { .. })
        && taken.iter().all(|units| units.is_zero())
}

/// Whether a transfer that stands in the books left its block: another has it now and is not deep enough, or it is
/// of another amount there.
fn is_undone(known: &PaymentRow, observation: &Observation) -> bool {
    let Sighting::InBlock { level, hash, .. } = &observation.sighting else {
        return false;
    };
    known.status.is_posted()
        && known.block_hash.as_ref() != Some(hash)
        && (*level < known.credit_at || known.units != observation.units)
}

fn first_sighting(
    context: &Context<'_>,
    now: i64,
    held: &Held,
    (found, observation): News<'_>,
) -> Option<PaymentRow> {
    let invoice = &held.invoice.is;
    let level = observation.sighting.level()?;
    let engine = context.engine;
    let mut row = PaymentRow {
        scope: context.scope.clone(),
        id: engine.ids.make(IdKind::Payment),
        invoice: found.invoice.clone(),
        status: PaymentStatus::Pending,
        level,
        first_level: level,
        credit_at: engine.credit_at(&observation.network, invoice.amount_minor, invoice.currency),
        verdict: None,
        asset: observation.asset.clone(),
        network: observation.network.clone(),
        units: observation.units,
        tx_hash: observation.tx_hash.clone(),
        place: observation.place,
        block_number: None,
        block_hash: None,
        block_time: None,
        sender: observation.sender.clone(),
        recipient: observation.recipient.clone(),
        attributed_by: found.by.name(),
        simulated: observation.source == Source::Simulation,
        first_seen_at: found.first_seen_at.min(now),
        by_sight: observation.source == Source::Chain && context.merchant.row.clock_offset_ms != 0,
        credited_at: None,
        gone_at: None,
        credit_turn: None,
        position: Position::default(),
        entries: 0,
        suffix: found.by.suffix(),
        short: observation.short,
        registers: observation.registers.clone(),
        refunds_due: Units::ZERO,
        refunds_sent: Units::ZERO,
        withdrawn: Units::ZERO,
        credit_used: Units::ZERO,
    };
    update(&mut row, observation, now);
    Some(row)
}

fn update(row: &mut PaymentRow, observation: &Observation, now: i64) {
    match &observation.sighting {
        Sighting::Removed => return remove(row, now),
        // A transfer that became worth nothing is gone.
        _ if observation.units.is_zero() => return remove(row, now),
        Sighting::Disputed => {
            if row.status == PaymentStatus::Credited {
                row.verdict = Some(Verdict::Held(Hold::FinalityViolation));
            }
            return;
        }
        // Whoever still sees it waiting is behind: only a replaced block undoes what a block has.
        Sighting::Pending if row.block_hash.is_some() && row.gone_at.is_none() => return,
        Sighting::Pending => {
            row.level = Level::Pending;
            (row.block_time, row.block_number, row.block_hash) = (None, None, None);
        }
        Sighting::InBlock {
            level,
            number,
            hash,
            time,
        } => {
            // The same block seen by a slower source does not take a level back; another block does.
            let same_block = row.block_hash.as_deref() == Some(hash) && row.gone_at.is_none();
            if same_block {
                // Nor can it be another amount there.
                row.level = row.level.max(*level);
                return;
            }
            row.level = *level;
            (row.block_time, row.block_number) = (Some(*time), Some(*number));
            row.block_hash = Some(hash.clone());
        }
    }
    row.gone_at = None;
    (row.units, row.short) = (observation.units, observation.short);
    row.registers.clone_from(&observation.registers);
}

fn remove(row: &mut PaymentRow, now: i64) {
    row.gone_at = row.gone_at.or(Some(now));
    // Should it come back, it is judged anew: its first verdict was about another block.
    row.verdict = None;
}

/// What the chain says of each transfer at last, and what it means.
fn facts(engine: &Engine, observations: &[Observation], taken: &[Taken]) -> Vec<TransferRow> {
    let now = engine.clock.now_ms();
    let mut rows: HashMap<Identity<'_>, TransferRow> = HashMap::new();
    for (observation, taken) in observations.iter().zip(taken) {
        if *taken == Taken::Nothing {
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
            arrived: None,
            registers: observation.registers.clone(),
            sender: observation.sender.clone(),
            recipient: observation.recipient.clone(),
            simulated: observation.source == Source::Simulation,
            first_seen_at: now,
            height,
            block_hash: hash,
            block_time: time,
            gone: matches!(observation.sighting, Sighting::Removed),
            payment: taken.payment().map(str::to_owned),
            unattributed: match taken {
                Taken::Nobody(reason) => Some(reason.as_str().to_owned()),
                Taken::Payment(_) | Taken::Nothing => None,
            },
        };
        rows.insert(observation.identity(), row);
    }
    let mut rows: Vec<TransferRow> = rows.into_values().collect();
    rows.sort_by(|a, b| a.identity().cmp(&b.identity()));
    rows
}
