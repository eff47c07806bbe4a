//! The door through which transfers come in, observed on a chain or simulated.

use till_core::asset::{Network, Registry};
use till_core::binding::{self, Candidate};
use till_core::id::IdKind;
use till_core::ledger::Position;
use till_core::money::Units;
use till_core::payment::{AttributedBy, Level, PaymentStatus};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::leases::LeaseRow;
use till_store::payments::PaymentRow;

use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{self, Tracked};

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
    let known = till_store::payments::by_identity(tx, &[(network, tx_hash, place)])
        .await?
        .pop();
    // Zero-value transfers are how addresses are poisoned; they are nothing, everywhere. One that was
    // something before a reorganisation is gone.
    let nothing;
    let observation = match (&known, observation.units.is_zero()) {
        (_, false) => observation,
        (None, true) => return Ok(None),
        (Some(payment), true) => {
            nothing = Observation {
                units: payment.units,
                sighting: Sighting::Removed,
                ..observation.clone()
            };
            &nothing
        }
    };
    let mut attribution = By::DepositAddress;
    let (scope, invoice) = match &known {
        Some(payment) => (payment.scope.clone(), payment.invoice.clone()),
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
        && is_undone(known, observation)
    {
        // It is told and journalled as a reversal first, and then taken in as what it is now.
        let gone = Observation {
            units: known.units,
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
    let this_transfer = |payment: &&mut Tracked<PaymentRow>| {
        let row = &payment.is;
        (&row.network, &row.tx_hash, row.place) == (network, tx_hash, place)
    };
    let id = match (held.payments.iter_mut().find(this_transfer), known) {
        (Some(payment), _) => {
            update(&mut payment.is, observation, context.now);
            payment.is.id.clone()
        }
        (None, Some(payment)) => {
            return Err(Fail::broken(format!(
                "payment {} is not among its invoice's",
                payment.id
            )));
        }
        (None, None) => {
            let Some(payment) = first_sighting(context, &invoice, observation, attribution) else {
                return Ok(None);
            };
            let id = payment.id.clone();
            held.payments.push(Tracked::new(payment));
            id
        }
    };
    settlement::settle(tx, context, held, None).await?;
    Ok(Some(id))
}

/// Whether a transfer that stands in the books left its block without anybody saying so: it waits again, or is
/// in another block and not deep enough there, or of another amount.
fn is_undone(known: &PaymentRow, observation: &Observation) -> bool {
    if !known.status.is_posted() {
        return false;
    }
    match &observation.sighting {
        Sighting::Removed => false,
        Sighting::Pending => true,
        Sighting::InBlock { level, hash, .. } => {
            known.block_hash.as_ref() != Some(hash)
                && (*level < known.credit_at || known.units != observation.units)
        }
    }
}

/// What a transfer was recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    DepositAddress,
    WalletBinding { suffix: Units },
}

impl By {
    fn name(self) -> AttributedBy {
        match self {
            By::DepositAddress => AttributedBy::DepositAddress,
            By::WalletBinding { .. } => AttributedBy::WalletBinding,
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
    let of_mode = |lease: &&LeaseRow| lease.scope.mode == network.mode;
    let own = |lease: &&LeaseRow| of_mode(lease) && lease.scope == context.scope;
    let held_then = |lease: &&LeaseRow| lease.leased_at <= at;
    // A block's clock may run ahead of or behind ours: before the first lease means the first.
    let latest_of = |whose: &dyn Fn(&&LeaseRow) -> bool| {
        let mut candidates = holders.iter().filter(|lease| whose(lease));
        let first = candidates.clone().next_back();
        candidates.find(held_then).or(first)
    };
    let holder = latest_of(&own).or_else(|| latest_of(&of_mode));
    Ok(holder.map(|lease| Found {
        scope: lease.scope.clone(),
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
    let rows = till_store::bindings::fitting(
        tx,
        &observation.recipient,
        sender,
        &observation.asset,
        observation.units,
    )
    .await?;
    let rows: Vec<_> = rows
        .into_iter()
        .filter(|row| row.scope.mode == network.mode)
        .collect();
    let candidates: Vec<Candidate> = rows
        .iter()
        .map(|row| Candidate {
            created_at: row.created_at,
            expires_at: row.expires_at,
            open: row.open,
        })
        .collect();
    let Some(index) = binding::attribute(&candidates, at) else {
        return Ok(None);
    };
    let row = &rows[index];
    Ok(Some(Found {
        scope: row.scope.clone(),
        invoice: row.invoice.clone(),
        by: By::WalletBinding { suffix: row.suffix },
    }))
}

fn first_sighting(
    context: &Context<'_>,
    invoice: &str,
    observation: &Observation,
    attribution: By,
) -> Option<PaymentRow> {
    let level = observation.sighting.level()?;
    let engine = context.engine;
    let mut row = PaymentRow {
        scope: context.scope.clone(),
        id: engine.ids.make(IdKind::Payment),
        invoice: invoice.to_owned(),
        status: PaymentStatus::Pending,
        level,
        first_level: level,
        credit_at: engine.credit_at(&observation.network),
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
        attributed_by: attribution.name(),
        simulated: observation.source == Source::Simulation,
        first_seen_at: context.now,
        credited_at: None,
        gone_at: None,
        credit_turn: None,
        position: Position::default(),
        entries: 0,
        suffix: attribution.suffix(),
        refunds_due: Units::ZERO,
        refunds_sent: Units::ZERO,
    };
    update(&mut row, observation, context.now);
    Some(row)
}

/// Puts what was seen now over what was known.
fn update(row: &mut PaymentRow, observation: &Observation, now: i64) {
    match &observation.sighting {
        Sighting::Removed => {
            row.gone_at = row.gone_at.or(Some(now));
            // Should it come back, it is judged anew: its first verdict was about another block.
            row.verdict = None;
        }
        Sighting::Pending => {
            row.level = Level::Pending;
            row.gone_at = None;
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
            row.level = match same_block {
                true => row.level.max(*level),
                false => *level,
            };
            row.gone_at = None;
            (row.block_time, row.block_number) = (Some(*time), Some(*number));
            row.block_hash = Some(hash.clone());
        }
    }
    row.units = observation.units;
}
