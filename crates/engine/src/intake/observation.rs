//! A transfer as it was seen, and which payment it is about.

use till_core::money::Units;
use till_core::payment::{AttributedBy, Level};
use till_store::payments::PaymentRow;

/// A transfer as the chain has it at some moment. Its identity is network, transaction and place in it.
#[derive(Clone, Debug)]
pub struct Observation {
    pub network: String,
    pub tx_hash: String,
    pub place: i64,
    /// The asset's code; for a token that nobody knows, its contract.
    pub asset: String,
    /// What its log says.
    pub units: Units,
    /// What arrived, where that is less, or went elsewhere at once.
    pub arrived: Option<Units>,
    /// What registers on the chain say of the senders.
    pub registers: Option<String>,
    /// Whose it was before; empty where nobody is known.
    pub senders: Vec<String>,
    pub recipient: String,
    pub sighting: Sighting,
    pub source: TransferOrigin,
}

#[derive(Clone, Debug)]
pub enum Sighting {
    /// Not in a block yet. Says nothing about a transfer that a block has: only a replaced block undoes one.
    Pending,
    InBlock {
        level: Level,
        number: i64,
        hash: String,
        time: i64,
    },
    /// No longer part of the canonical chain.
    Removed,
    /// It was in a block that had been final, and is replaced: a person must look.
    Disputed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferOrigin {
    Chain,
    Simulation,
}

/// Network, transaction and place in it.
pub(crate) type Identity<'o> = (&'o str, &'o str, i64);

/// A transfer and who gets it. Run again in another block, a transaction may pay somebody else at the same place: that is
/// another payment.
pub(super) type Receipt<'o> = (Identity<'o>, &'o str);

pub(super) fn receipt_of(row: &PaymentRow) -> Receipt<'_> {
    ((&row.network, &row.tx_hash, row.place), &row.recipient)
}

/// Whether the transfer at a payment's place is not that payment any more. At a merchant's own destination an invoice is
/// recognised by sender, asset and amount: run again after a reorganisation, or simulated again while it is pending, a
/// transaction may send something else there.
pub(super) fn is_rerouted(row: &PaymentRow, observation: &Observation) -> bool {
    let stands = row.gone_at.is_none();
    let is_same_sighting = match &observation.sighting {
        Sighting::InBlock { hash, .. } => stands && row.block_hash.as_ref() == Some(hash),
        Sighting::Pending => stands && row.block_hash.is_some(),
        // Nothing is at this place any more, so the payment is not either, whatever it brought.
        Sighting::Removed | Sighting::Disputed => stands,
    };
    row.attributed_by == AttributedBy::WalletBinding
        && !is_same_sighting
        && !is_sent_alike(row, observation)
}

pub(super) fn is_sent_alike(row: &PaymentRow, observation: &Observation) -> bool {
    // Of a payment that brought less than its log says it is known what it brought.
    let is_as_much = row.units == observation.units || (row.short && row.units < observation.units);
    (&row.senders, &row.asset) == (&observation.senders, &observation.asset) && is_as_much
}

/// Which of the payments to the same recipient at its place an observation is about.
pub(super) fn told_of<'r>(
    rows: impl IntoIterator<Item = (usize, &'r PaymentRow)>,
    observation: &Observation,
) -> Option<usize> {
    let rows = rows.into_iter();
    let rows = rows.filter(|(_, row)| !is_rerouted(row, observation));
    let fit =
        |(_, row): &(usize, &PaymentRow)| (!is_sent_alike(row, observation), row.gone_at.is_some());
    rows.min_by_key(fit).map(|(at, _)| at)
}

impl Observation {
    /// What it brought, as far as that is known.
    pub(super) fn brought(&self) -> Units {
        self.arrived.unwrap_or(self.units)
    }

    pub(crate) fn identity(&self) -> Identity<'_> {
        (&self.network, &self.tx_hash, self.place)
    }

    pub(super) fn receipt(&self) -> Receipt<'_> {
        (self.identity(), &self.recipient)
    }
}

impl Sighting {
    pub(super) fn level(&self) -> Option<Level> {
        match self {
            Sighting::Pending => Some(Level::Pending),
            Sighting::InBlock { level, .. } => Some(*level),
            Sighting::Removed | Sighting::Disputed => None,
        }
    }
}
