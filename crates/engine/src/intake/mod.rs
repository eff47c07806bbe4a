//! The door through which transfers come in, observed on a chain or simulated.

use till_core::asset::{Network, Registry};
use till_core::binding::{self, Candidate};
use till_core::id::Kind;
use till_core::ledger::Position;
use till_core::money::Units;
use till_core::payment::{Level, Payment};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::leases::LeaseRow;
use till_store::payments::PaymentRow;

use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{self, HeldPayment};

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
    let (network, tx_hash, place) = (
        &observation.network,
        &observation.tx_hash,
        observation.place,
    );
    let known = till_store::payments::by_identity(tx, network, tx_hash, place).await?;
    // Zero-value transfers are how addresses are poisoned; they are nothing, everywhere. One that was
    // something before a reorganisation is gone.
    let nothing;
    let observation = match (&known, observation.units.is_zero()) {
        (_, false) => observation,
        (None, true) => return Ok(None),
        (Some(payment), true) => {
            nothing = Observation {
                units: payment.units()?,
                sighting: Sighting::Removed,
                ..observation.clone()
            };
            &nothing
        }
    };
    let mut attribution = By::DepositAddress;
    let (scope, invoice) = match &known {
        Some(payment) => (payment.scope()?, payment.invoice.clone()),
        None => match attribute(tx, context, observation).await? {
            Some(found) => {
                attribution = found.by;
                (found.scope, found.invoice)
            }
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
    let Some(mut held) = settlement::hold(tx, &scope, &invoice).await? else {
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
            let Some(payment) = first_sighting(context, &invoice, observation, attribution)? else {
                return Ok(None);
            };
            let id = payment.row.id.clone();
            held.payments.push(payment);
            id
        }
    };
    settlement::settle(tx, context, held, None).await?;
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

/// What a transfer was recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    DepositAddress,
    WalletBinding { suffix: Units },
}

impl By {
    fn as_str(self) -> &'static str {
        match self {
            By::DepositAddress => "deposit_address",
            By::WalletBinding { .. } => "wallet_binding",
        }
    }

    fn suffix(self) -> Units {
        match self {
            By::DepositAddress => Units::ZERO,
            By::WalletBinding { suffix } => suffix,
        }
    }
}

struct Found {
    scope: Scope,
    invoice: String,
    by: By,
}

/// By the address it went to, or else by who sent exactly how much to a merchant's own destination.
async fn attribute(
    tx: &mut Tx,
    context: &Context<'_>,
    observation: &Observation,
) -> Result<Option<Found>, Fail> {
    let Some(network) = Registry::builtin().network(&observation.network) else {
        return Ok(None);
    };
    let at = match &observation.sighting {
        Sighting::InBlock { time, .. } => (*time).min(context.now),
        _ => context.now,
    };
    if let Some(found) = by_lease(tx, context, network, observation, at).await? {
        return Ok(Some(found));
    }
    by_binding(tx, network, observation, at).await
}

/// The invoice that held the address's lease when the transfer was made, or held it last.
async fn by_lease(
    tx: &mut Tx,
    context: &Context<'_>,
    network: &Network,
    observation: &Observation,
    at: i64,
) -> Result<Option<Found>, Fail> {
    let holders = till_store::leases::holders(tx, network.family, &observation.recipient).await?;
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
    Ok(holder.map(|lease| Found {
        scope: Scope::new(&lease.account, network.mode),
        invoice: lease.invoice.clone(),
        by: By::DepositAddress,
    }))
}

async fn by_binding(
    tx: &mut Tx,
    network: &Network,
    observation: &Observation,
    at: i64,
) -> Result<Option<Found>, Fail> {
    let Some(sender) = &observation.sender else {
        return Ok(None);
    };
    let units = observation.units.0.to_string();
    let rows = till_store::bindings::fitting(
        tx,
        &observation.recipient,
        sender,
        &observation.asset,
        &units,
    )
    .await?;
    let rows: Vec<_> = rows
        .into_iter()
        .filter(|row| row.mode == network.mode.as_str())
        .collect();
    let candidates: Vec<Candidate> = rows
        .iter()
        .map(|row| Candidate {
            created_at: row.created_at,
            expires_at: row.expires_at,
            open: row.open != 0,
        })
        .collect();
    let Some(index) = binding::attribute(&candidates, at) else {
        return Ok(None);
    };
    let row = &rows[index];
    let suffix = Units(row.suffix.parse().map_err(Fail::broken)?);
    Ok(Some(Found {
        scope: Scope::new(&row.account, network.mode),
        invoice: row.invoice.clone(),
        by: By::WalletBinding { suffix },
    }))
}

fn first_sighting(
    context: &Context<'_>,
    invoice: &str,
    observation: &Observation,
    attribution: By,
) -> Result<Option<HeldPayment>, Fail> {
    let Some(level) = observation.sighting.level() else {
        return Ok(None);
    };
    let engine = context.engine;
    let fact = Payment {
        id: engine.ids.make(Kind::Payment),
        asset: observation.asset.clone(),
        units: observation.units,
        suffix: attribution.suffix(),
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
        attributed_by: attribution.as_str().to_owned(),
        simulated: i64::from(observation.source == Source::Simulation),
        first_seen_at: context.now,
        credited_at: None,
        reversed: 0,
        position: serde_json::to_string(&Position::default()).map_err(Fail::broken)?,
        entries: 0,
        suffix: attribution.suffix().0.to_string(),
    };
    let mut payment = HeldPayment {
        row,
        fact,
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
