//! What a transaction moved to us is a claim of whoever says so: place, asset, sender, recipient and units in one block. It
//! is a fact when as many say the very same as must agree.

use std::collections::{BTreeMap, HashSet};

use till_chains::evm::decode::Transfer;
use till_chains::tx_hash_of;
use till_core::money::Units;
use till_store::transfers::TransferRow;

use super::Trouble;
use super::ask::{Asking, shown};
use super::heads::grouped;
use crate::intake::chain::Seen;
use till_watch::Endpoint;

/// A transfer to us, as an endpoint tells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) place: i64,
    pub(super) asset: String,
    pub(super) sender: Option<String>,
    pub(super) recipient: String,
    pub(super) units: u128,
}

impl Claim {
    fn of(transfer: &Transfer) -> Claim {
        Claim {
            place: i64::from(transfer.place),
            asset: transfer.asset.code.clone(),
            sender: Some(transfer.sender.clone()),
            recipient: transfer.recipient.clone(),
            units: transfer.units.0,
        }
    }

    pub(super) fn of_row(row: &TransferRow) -> Claim {
        Claim {
            place: row.place,
            asset: row.asset.clone(),
            sender: row.sender.clone(),
            recipient: row.recipient.clone(),
            units: row.units.0,
        }
    }

    pub(super) fn seen(&self, asking: Asking<'_>, transaction: &[u8; 32], height: i64) -> Seen {
        Seen {
            tx_hash: tx_hash_of(asking.network().family, transaction),
            place: self.place,
            asset: self.asset.clone(),
            units: Units(self.units),
            arrived: None,
            registers: None,
            sender: self.sender.clone(),
            recipient: self.recipient.clone(),
            height: Some(height),
        }
    }
}

/// What one endpoint says of each transaction that it was asked for: nothing where it does not have it in that block, or
/// where it moved nothing to us.
pub(super) type Told = BTreeMap<[u8; 32], Vec<Claim>>;

/// What is asked about: transactions of one block.
#[derive(Clone, Copy)]
pub(super) struct Question<'q> {
    pub(super) height: i64,
    pub(super) block: [u8; 32],
    pub(super) transactions: &'q [[u8; 32]],
    /// Our addresses among the recipients.
    pub(super) ours: &'q HashSet<String>,
    /// How many must say the same.
    pub(super) need: usize,
    /// Whether they are known to have moved something to us: who does not have it now may be slow.
    pub(super) is_known: bool,
}

/// What came of asking about a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Enough say this, or that there is nothing.
    Agreed(Vec<Claim>),
    /// Not enough say the same, or those who do not have it may merely be slow.
    Open,
}

/// What an endpoint says, from its receipts.
pub(super) async fn told(
    asking: Asking<'_>,
    source: &Endpoint,
    question: Question<'_>,
) -> Result<Told, Trouble> {
    let Question {
        block,
        transactions,
        ours,
        ..
    } = question;
    let receipts = asking.receipts(source, &block, transactions).await?;
    let mut told = Told::new();
    for transaction in transactions {
        let receipt = receipts.get(transaction);
        let mut claims = Vec::new();
        if let Some(receipt) = receipt.filter(|it| it.block_hash == block) {
            if !receipt.is_whole {
                return Err(asking.lied(source, "a receipt with logs left out"));
            }
            let to_us = receipt.transfers.iter();
            let to_us = to_us.filter(|transfer| ours.contains(&transfer.recipient));
            claims.extend(to_us.map(Claim::of));
        }
        told.insert(*transaction, claims);
    }
    Ok(told)
}

/// Who said what.
pub(super) type Answers<'s> = Vec<(&'s Endpoint, Told)>;

/// Hears those who were not heard yet, until enough say the same of every transaction. Who is contradicted by as many as
/// must agree is not believed for a while.
pub(super) async fn decide<'s>(
    asking: Asking<'s>,
    question: Question<'_>,
    mut answers: Answers<'s>,
) -> BTreeMap<[u8; 32], Verdict> {
    let heard = |answers: &Answers<'s>, source: &Endpoint| {
        answers
            .iter()
            .any(|(known, _)| std::ptr::eq(*known, source))
    };
    for source in asking.usable() {
        let is_settled = |transaction: &[u8; 32]| {
            let groups = groups(&answers, transaction);
            let enough = |(_, sources): &(_, Vec<_>)| sources.len() >= question.need;
            groups.len() == 1 && groups.iter().all(enough)
        };
        if question.transactions.iter().all(is_settled) {
            break;
        }
        if !heard(&answers, source)
            && let Ok(told) = told(asking, source, question).await
        {
            answers.push((source, told));
        }
    }
    let verdict = |transaction: &[u8; 32]| {
        let groups = groups(&answers, transaction);
        (*transaction, judge(asking, question, transaction, groups))
    };
    question.transactions.iter().map(verdict).collect()
}

/// The same claims, and who makes them.
type Groups<'s> = Vec<(Vec<Claim>, Vec<&'s Endpoint>)>;

fn groups<'s>(answers: &Answers<'s>, transaction: &[u8; 32]) -> Groups<'s> {
    let told = answers.iter().filter_map(|(source, told)| {
        let claims = told.get(transaction)?;
        Some((*source, claims.clone()))
    });
    grouped(told, Vec::clone)
}

/// Whether these are transfers whose places are known.
fn is_whole(claims: &[Claim]) -> bool {
    !claims.is_empty() && claims.iter().all(|claim| claim.place >= 0)
}

fn judge(
    asking: Asking<'_>,
    question: Question<'_>,
    transaction: &[u8; 32],
    mut groups: Groups<'_>,
) -> Verdict {
    let dispute = (question.block, *transaction);
    // Sorting is stable: among equals the operator's order holds.
    groups.sort_by_key(|(claims, sources)| std::cmp::Reverse((!claims.is_empty(), sources.len())));
    let quorum = asking.net.quorum;
    match &groups[..] {
        [(claims, sources), others @ ..] if is_whole(claims) && sources.len() >= question.need => {
            asking.net.disputes.settled(&dispute);
            // Those who have nothing, or no receipt yet, may be slow; those who have something else are not.
            let others = others.iter().filter(|(claims, _)| is_whole(claims));
            if sources.len() >= quorum {
                for source in others.flat_map(|(_, sources)| sources) {
                    drop::<Trouble>(asking.lied(source, "a transfer that is another elsewhere"));
                }
            }
            Verdict::Agreed(claims.clone())
        }
        [(claims, sources)]
            if claims.is_empty() && sources.len() >= question.need && !question.is_known =>
        {
            asking.net.disputes.settled(&dispute);
            Verdict::Agreed(Vec::new())
        }
        [claiming @ .., (claims, sources)] if claims.is_empty() && sources.len() >= quorum => {
            if !asking.is_old_dispute(dispute, question.height) {
                return Verdict::Open;
            }
            for source in claiming.iter().flat_map(|(_, sources)| sources) {
                drop::<Trouble>(asking.lied(source, "a transfer that the others do not have"));
            }
            asking.net.disputes.settled(&dispute);
            Verdict::Agreed(Vec::new())
        }
        _ => {
            asking.is_old_dispute(dispute, question.height);
            Verdict::Open
        }
    }
}

impl Asking<'_> {
    /// Whether it was disputed for so long that nobody can merely be slow. The first time it is told to operators.
    fn is_old_dispute(&self, dispute: ([u8; 32], [u8; 32]), height: i64) -> bool {
        let now_us = self.engine.clock.monotonic_us();
        let standing = self.net.disputes.is_old(dispute, now_us);
        if standing.is_none() {
            let (network, transaction) = (&*self.network().id, shown(&dispute.1));
            tracing::error!(
                network,
                height,
                transaction,
                "not enough endpoints say the same of a transfer; nothing from here on is taken in"
            );
            metrics::counter!("till_network_disagreements_total", "network" => network)
                .increment(1);
        }
        standing.unwrap_or(false)
    }
}
