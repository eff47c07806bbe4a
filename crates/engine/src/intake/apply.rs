//! What was seen of an invoice's transfers, put over what was known of them.

use std::collections::HashMap;

use till_core::id::IdKind;
use till_core::ledger::Position;
use till_core::money::Units;
use till_core::payment::{AttributedBy, Hold, Level, PaymentStatus, Verdict};
use till_store::payments::PaymentRow;

use super::attribute::{Attribution, Reason};
use super::observation::{Observation, Receipt, Sighting, TransferOrigin, receipt_of, told_of};
use crate::base::Context;
use crate::base::fail::Fail;
use crate::screening;
use crate::settlement::{LockedInvoice, Settling, Tracked};

/// What became of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IntakeOutcome {
    /// It belongs to this payment.
    Payment(String),
    Nobody(Reason),
    /// It says nothing that concerns us.
    Nothing,
}

impl IntakeOutcome {
    pub fn payment(&self) -> Option<&str> {
        match self {
            IntakeOutcome::Payment(id) => Some(id),
            IntakeOutcome::Nobody(_) | IntakeOutcome::Nothing => None,
        }
    }
}

/// What was seen, and whose it is.
pub(super) type AttributedObservation<'n> = (&'n Attribution, &'n Observation);

/// What came together is taken in together, so that nobody hears of a moment between two transfers of one block.
pub(super) fn apply_all(
    settling: &mut Settling<'_>,
    news: &[AttributedObservation<'_>],
) -> Result<Vec<IntakeOutcome>, Fail> {
    let mut taken = vec![IntakeOutcome::Nothing; news.len()];
    for round in rounds(&settling.held, news) {
        let seen: Vec<AttributedObservation<'_>> = round.iter().map(|index| news[*index]).collect();
        for (index, became) in round.into_iter().zip(apply(settling, &seen)?) {
            taken[index] = became;
        }
    }
    Ok(taken)
}

/// Which payment something is said of: one that is known, by its place, or a new one.
#[derive(PartialEq, Eq, Hash)]
enum PaymentRef<'o> {
    OfKnown(usize),
    OfNew(Receipt<'o>),
}

/// By their places: what is said of one payment after the other, in rounds that have each payment once.
fn rounds(held: &LockedInvoice, news: &[AttributedObservation<'_>]) -> Vec<Vec<usize>> {
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    let mut said: HashMap<PaymentRef<'_>, usize> = HashMap::with_capacity(news.len());
    let places = places(held, news);
    for (index, (place, (_, observation))) in places.into_iter().zip(news).enumerate() {
        let of = place.map_or_else(
            || PaymentRef::OfNew(observation.receipt()),
            PaymentRef::OfKnown,
        );
        let round = said.entry(of).or_default();
        if *round == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[*round].push(index);
        *round += 1;
    }
    rounds
}

/// Where each transfer stands among the payments; none for those that are new.
fn places(held: &LockedInvoice, round: &[AttributedObservation<'_>]) -> Vec<Option<usize>> {
    let mut known: HashMap<Receipt<'_>, Vec<(usize, &PaymentRow)>> = HashMap::new();
    for (place, payment) in held.payments.iter().enumerate() {
        let of_receipt = known.entry(receipt_of(&payment.is)).or_default();
        of_receipt.push((place, &payment.is));
    }
    let place = |(_, observation): &AttributedObservation<'_>| {
        let rows = known.get(&observation.receipt())?;
        told_of(rows.iter().copied(), observation)
    };
    round.iter().map(place).collect()
}

/// Works out what follows from a round.
fn apply(
    settling: &mut Settling<'_>,
    round: &[AttributedObservation<'_>],
) -> Result<Vec<IntakeOutcome>, Fail> {
    let places = places(&settling.held, round);
    let undone = undo(settling, round, &places);
    settling.take_back(&undone)?;
    let (context, now, held) = (settling.context, settling.at, &mut settling.held);
    let (mut taken, mut is_changed) = (Vec::with_capacity(round.len()), !undone.is_empty());
    for (place, (found, observation)) in places.into_iter().zip(round) {
        let Some(place) = place else {
            let row = first_sighting(context, now, held, (found, observation));
            taken.push(match &row {
                Some(row) => IntakeOutcome::Payment(row.id.clone()),
                None => IntakeOutcome::Nothing,
            });
            is_changed |= row.is_some();
            held.payments.extend(row.map(Tracked::new));
            continue;
        };
        let row = &mut held.payments[place].is;
        if is_another(row, observation) {
            if !may_become(row, observation) {
                taken.push(IntakeOutcome::Nobody(Reason::NoLease));
                continue;
            }
            (row.asset, row.senders) = (observation.asset.clone(), observation.senders.clone());
        }
        update(row, observation, now);
        taken.push(IntakeOutcome::Payment(row.id.clone()));
        is_changed = true;
    }
    if is_changed {
        settling.step(None)?;
    }
    Ok(taken)
}

/// Takes out what is not there any more as it was, and says where that stands: it is journalled as a reversal first, and
/// then taken in as what it is now.
fn undo(
    settling: &mut Settling<'_>,
    round: &[AttributedObservation<'_>],
    places: &[Option<usize>],
) -> Vec<usize> {
    let (now, mut undone) = (settling.at, Vec::new());
    for (place, (_, observation)) in places.iter().zip(round) {
        let Some(place) = place else { continue };
        let row = &mut settling.held.payments[*place].is;
        // Run again on another chain, a transaction may send something else from the same place to the same address.
        if is_another(row, observation) || is_undone(row, observation) {
            remove(row, now);
            undone.push(*place);
        }
    }
    undone
}

fn is_another(known: &PaymentRow, observation: &Observation) -> bool {
    known.asset != observation.asset
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
        && matches!(observation.sighting, Sighting::InBlock { .. })
        && taken.iter().all(|units| units.is_zero())
}

/// Whether a transfer that stands in the books left its block: another has it now and is not deep enough, or it is
/// of another amount there, or from another. Or it is known by now that less arrived with it than its log says, that it
/// went elsewhere at once, or that a register names who sent it.
fn is_undone(known: &PaymentRow, observation: &Observation) -> bool {
    let Sighting::InBlock { level, hash, .. } = &observation.sighting else {
        return false;
    };
    let names = |kept: &Option<String>| kept.as_deref().is_some_and(screening::names);
    let is_named = names(&observation.registers) && !names(&known.registers);
    let is_less = observation
        .arrived
        .is_some_and(|units| units < known.units || !known.short);
    let is_elsewhere = known.block_hash.as_ref() != Some(hash);
    let is_other = *level < known.credit_at
        || known.units != observation.brought()
        || known.senders != observation.senders;
    known.status.is_posted() && (is_less || is_named || (is_elsewhere && is_other))
}

fn first_sighting(
    context: &Context<'_>,
    now: i64,
    held: &LockedInvoice,
    (found, observation): AttributedObservation<'_>,
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
        units: observation.brought(),
        tx_hash: observation.tx_hash.clone(),
        place: observation.place,
        block_number: None,
        block_hash: None,
        block_time: None,
        senders: observation.senders.clone(),
        recipient: observation.recipient.clone(),
        attributed_by: found.by.name(),
        simulated: observation.source == TransferOrigin::Simulation,
        first_seen_at: found.first_seen_at.min(now),
        by_sight: observation.source == TransferOrigin::Chain
            && context.merchant.row.clock_offset_ms != 0,
        credited_at: None,
        gone_at: None,
        credit_turn: None,
        position: Position::default(),
        entries: 0,
        suffix: found.by.suffix(),
        short: observation.arrived.is_some(),
        disputed: false,
        registers: observation.registers.clone(),
        refunds_due: Units::ZERO,
        refunds_sent: Units::ZERO,
        withdrawn: Units::ZERO,
        withdrawn_sent: Units::ZERO,
        credit_used: Units::ZERO,
    };
    update(&mut row, observation, now);
    Some(row)
}

fn update(row: &mut PaymentRow, observation: &Observation, now: i64) {
    let was_dropped = row.gone_at.is_some() && row.block_hash.is_none();
    match &observation.sighting {
        Sighting::Removed => return remove(row, now),
        // A transfer that became worth nothing is gone.
        _ if observation.brought().is_zero() => return remove(row, now),
        Sighting::Disputed => {
            row.disputed = row.gone_at.is_none();
            // That a person was to look at its amount is not all there is to look at now.
            let is_mere_amount = row.verdict == Some(Verdict::Held(Hold::ManualReview));
            if row.status.is_free() || (row.status.is_posted() && is_mere_amount) {
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
                row.level = row.level.max(*level);
                learn(row, observation);
                return;
            }
            // What was credited came when it first came, whichever block has it by now.
            let before = row
                .block_time
                .filter(|_| row.credit_turn.is_some() && !row.by_sight);
            row.first_seen_at = before.map_or(row.first_seen_at, |it| it.min(row.first_seen_at));
            row.level = *level;
            (row.block_time, row.block_number) = (Some(*time), Some(*number));
            row.block_hash = Some(hash.clone());
        }
    }
    (row.gone_at, row.disputed) = (None, false);
    if was_dropped {
        // It was announced, and nobody had it: it comes now.
        row.first_seen_at = now;
    }
    if row.senders != observation.senders {
        // Who was judged is not who sent it.
        (row.senders, row.verdict) = (observation.senders.clone(), None);
    }
    (row.units, row.short) = (observation.brought(), observation.arrived.is_some());
    row.registers.clone_from(&observation.registers);
}

/// It cannot be another amount in the same block. But what arrived with it, and who sent it, may be known later than it was
/// seen: it counts for what is not in the books yet.
fn learn(row: &mut PaymentRow, observation: &Observation) {
    if row.status.is_posted() {
        return;
    }
    if row.short || observation.arrived.is_some() {
        (row.units, row.short) = (observation.brought(), observation.arrived.is_some());
    }
    if observation.registers.is_some() {
        row.registers.clone_from(&observation.registers);
    }
}

fn remove(row: &mut PaymentRow, now: i64) {
    (row.gone_at, row.disputed) = (row.gone_at.or(Some(now)), false);
    // Should it come back, it is judged anew: its first verdict was about another block.
    row.verdict = None;
}
