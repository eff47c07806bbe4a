//! The door through which transfers come in, observed on a chain or simulated.

use till_core::asset::{Family, Registry};
use till_core::id::Kind;
use till_core::ledger::Position;
use till_core::money::Units;
use till_core::payment::{Level, Payment};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::leases::LeaseRow;
use till_store::payments::PaymentRow;

use crate::change::{self, HeldPayment};
use crate::context::Context;
use crate::fail::Fail;

/// A transfer as some source saw it at some moment. Its identity is network, transaction and place in it.
#[derive(Clone, Debug)]
pub struct Observation {
    pub network: String,
    pub tx_hash: String,
    pub place: i64,
    pub asset: String,
    pub units: Units,
    pub sender: Option<String>,
    pub recipient: String,
    pub sighting: Sighting,
    pub source: Source,
}

#[derive(Clone, Debug)]
pub enum Sighting {
    /// Not in a block yet.
    Pending,
    InBlock {
        level: Level,
        number: i64,
        hash: String,
        time: i64,
    },
    /// No longer part of the canonical chain.
    Removed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Chain,
    Simulation,
}

impl Sighting {
    fn level(&self) -> Option<Level> {
        match self {
            Sighting::Pending => Some(Level::Pending),
            Sighting::InBlock { level, .. } => Some(*level),
            Sighting::Removed => None,
        }
    }
}

/// Takes observations in, in order. Answers with the id of the payment each belongs to, or none where it
/// is nobody's or changes nothing.
pub async fn take_in(
    tx: &mut Tx,
    context: &Context<'_>,
    observations: &[Observation],
) -> Result<Vec<Option<String>>, Fail> {
    let mut payments = Vec::with_capacity(observations.len());
    for observation in observations {
        payments.push(take_in_one(tx, context, observation).await?);
    }
    Ok(payments)
}

async fn take_in_one(
    tx: &mut Tx,
    context: &Context<'_>,
    observation: &Observation,
) -> Result<Option<String>, Fail> {
    // Zero-value transfers are how addresses are poisoned; they are nothing, everywhere.
    if observation.units.is_zero() {
        return Ok(None);
    }
    let (network, tx_hash, place) = (
        &observation.network,
        &observation.tx_hash,
        observation.place,
    );
    let known = till_store::payments::by_identity(tx, network, tx_hash, place).await?;
    let (scope, invoice) = match &known {
        Some(payment) => (payment.scope()?, payment.invoice.clone()),
        None => match attribute(tx, context, observation).await? {
            Some(holder) => holder,
            None => return Ok(None),
        },
    };
    // A unit of work is one account's. Another's transfer is taken in by a unit of its own.
    if scope != context.scope {
        return Ok(None);
    }
    if let Some(known) = &known
        && is_undone(known, observation)?
    {
        // It is told and journalled as a reversal first, and then taken in as what it is now.
        let gone = Observation {
            units: known.units()?,
            sighting: Sighting::Removed,
            ..observation.clone()
        };
        Box::pin(take_in_one(tx, context, &gone)).await?;
    }
    let Some(mut held) = change::hold(tx, &scope, &invoice).await? else {
        return Err(Fail::broken(format!(
            "invoice {invoice} of a lease or payment is missing"
        )));
    };
    // Looked for again now that the invoice is held: another process may have seen the transfer meanwhile.
    let this_transfer = |held: &&mut HeldPayment| {
        (&held.row.network, &held.row.tx_hash, held.row.place) == (network, tx_hash, place)
    };
    let id = match (held.payments.iter_mut().find(this_transfer), known) {
        (Some(payment), _) => {
            update(payment, observation)?;
            payment.row.id.clone()
        }
        (None, Some(payment)) => {
            return Err(Fail::broken(format!(
                "payment {} is not among its invoice's",
                payment.id
            )));
        }
        (None, None) => {
            let Some(payment) = first_sighting(context, &invoice, observation)? else {
                return Ok(None);
            };
            let id = payment.row.id.clone();
            held.payments.push(payment);
            id
        }
    };
    change::settle(tx, context, held, None).await?;
    Ok(Some(id))
}

/// Whether a transfer that stands in the books left its block without anybody saying so: it waits again, or is
/// in another block and not deep enough there, or of another amount.
fn is_undone(known: &PaymentRow, observation: &Observation) -> Result<bool, Fail> {
    if !known.status()?.is_posted() {
        return Ok(false);
    }
    Ok(match &observation.sighting {
        Sighting::Removed => false,
        Sighting::Pending => true,
        Sighting::InBlock { level, hash, .. } => {
            known.block_hash.as_ref() != Some(hash)
                && (*level < known.fact()?.credit_at || known.units()? != observation.units)
        }
    })
}

/// The invoice that held the address's lease when the transfer was made, or held it last.
async fn attribute(
    tx: &mut Tx,
    context: &Context<'_>,
    observation: &Observation,
) -> Result<Option<(Scope, String)>, Fail> {
    let Some(network) = Registry::builtin().network(&observation.network) else {
        return Ok(None);
    };
    let family: Family = network.family;
    let holders = till_store::leases::holders(tx, family, &observation.recipient).await?;
    let at = match &observation.sighting {
        Sighting::InBlock { time, .. } => (*time).min(context.now),
        _ => context.now,
    };
    // Two accounts may have one extended key and so the same addresses (new test accounts do): the account
    // whose unit of work this is comes first.
    let of_mode = |lease: &&LeaseRow| lease.mode == network.mode.as_str();
    let own = |lease: &&LeaseRow| of_mode(lease) && lease.account == *context.scope.account;
    let held_then = |lease: &&LeaseRow| lease.leased_at <= at;
    // A block's clock may run ahead of or behind ours: before the first lease means the first.
    let latest_of = |whose: &dyn Fn(&&LeaseRow) -> bool| {
        let mut candidates = holders.iter().filter(|lease| whose(lease));
        let first = candidates.clone().next_back();
        candidates.find(held_then).or(first)
    };
    let holder = latest_of(&own).or_else(|| latest_of(&of_mode));
    Ok(holder.map(|lease| {
        (
            Scope::new(&lease.account, network.mode),
            lease.invoice.clone(),
        )
    }))
}

fn first_sighting(
    context: &Context<'_>,
    invoice: &str,
    observation: &Observation,
) -> Result<Option<HeldPayment>, Fail> {
    let Some(level) = observation.sighting.level() else {
        return Ok(None);
    };
    let engine = context.engine;
    let fact = Payment {
        id: engine.ids.make(Kind::Payment),
        asset: observation.asset.clone(),
        units: observation.units,
        level,
        first_level: level,
        credit_at: engine.credit_at(&observation.network),
        first_seen_at: context.now,
        block_time: None,
        verdict: None,
        reversed: false,
    };
    let row = PaymentRow {
        account: context.scope.account.to_string(),
        mode: context.scope.mode.as_str().to_owned(),
        id: fact.id.clone(),
        invoice: invoice.to_owned(),
        status: String::new(),
        level: level.as_str().to_owned(),
        first_level: level.as_str().to_owned(),
        credit_at: fact.credit_at.as_str().to_owned(),
        verdict: None,
        asset: observation.asset.clone(),
        network: observation.network.clone(),
        units: observation.units.0.to_string(),
        tx_hash: observation.tx_hash.clone(),
        place: observation.place,
        block_number: None,
        block_hash: None,
        block_time: None,
        sender: observation.sender.clone(),
        recipient: observation.recipient.clone(),
        attributed_by: "deposit_address".to_owned(),
        simulated: i64::from(observation.source == Source::Simulation),
        first_seen_at: context.now,
        credited_at: None,
        reversed: 0,
        position: serde_json::to_string(&Position::default()).map_err(Fail::broken)?,
        entries: 0,
    };
    let mut payment = HeldPayment {
        row,
        fact,
        stored: None,
        was: None,
        stored: None,
    };
    update(&mut payment, observation)?;
    Ok(Some(payment))
}

/// Puts what was seen now over what was known.
fn update(payment: &mut HeldPayment, observation: &Observation) -> Result<(), Fail> {
    let (row, fact) = (&mut payment.row, &mut payment.fact);
    match &observation.sighting {
        Sighting::Removed => {
            fact.reversed = true;
            // Should it come back, it is judged anew: its first verdict was about another block.
            fact.verdict = None;
        }
        Sighting::Pending => {
            fact.level = Level::Pending;
            fact.reversed = false;
            (fact.block_time, row.block_number, row.block_hash) = (None, None, None);
        }
        Sighting::InBlock {
            level,
            number,
            hash,
            time,
        } => {
            // The same block seen by a slower source does not take a level back; another block does.
            let same_block = row.block_hash.as_deref() == Some(hash) && !fact.reversed;
            fact.level = if same_block {
                fact.level.max(*level)
            } else {
                *level
            };
            fact.reversed = false;
            fact.block_time = Some(*time);
            (row.block_number, row.block_hash) = (Some(*number), Some(hash.clone()));
        }
    }
    fact.units = observation.units;
    row.units = observation.units.0.to_string();
    row.level = fact.level.as_str().to_owned();
    row.block_time = fact.block_time;
    row.reversed = i64::from(fact.reversed);
    row.verdict = fact.verdict.map(till_core::payment::Verdict::show);
    Ok(())
}
