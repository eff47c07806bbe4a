//! What a transaction moved to us is a claim of whoever says so: place, asset, sender, recipient and units in one block. It
//! is a fact when as many say the very same as must agree.

use std::collections::{BTreeMap, HashSet};

use till_chains::observer::{Transfer, hash_text};
use till_chains::tx_hash_of;
use till_core::money::Units;

use crate::endpoint::Endpoint;
use crate::heads::grouped;
use crate::pool::{EndpointTrouble, Pool};
use crate::update::Seen;

/// A transfer to us, as an endpoint tells it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub place: i64,
    pub asset: String,
    pub sender: Option<String>,
    pub recipient: String,
    pub units: u128,
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

    pub(crate) fn seen(&self, pool: Pool<'_>, transaction: &[u8; 32], height: i64) -> Seen {
        Seen {
            tx_hash: tx_hash_of(pool.network().family, transaction),
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
pub type Told = BTreeMap<[u8; 32], Vec<Claim>>;

/// What is asked about: transactions of one block.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    pub height: i64,
    pub block: [u8; 32],
    pub transactions: &'q [[u8; 32]],
    /// Our addresses among the recipients.
    pub ours: &'q HashSet<String>,
    /// How many must say the same.
    pub need: usize,
    /// Whether they are known to have moved something to us: who does not have it now may be slow.
    pub is_known: bool,
}

/// What came of asking about a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Enough say this, or that there is nothing.
    Agreed(Vec<Claim>),
    /// Not enough say the same, or those who do not have it may merely be slow.
    Open,
}

/// What an endpoint says, from its receipts.
pub(crate) async fn told(
    pool: Pool<'_>,
    source: &Endpoint,
    question: Question<'_>,
) -> Result<Told, EndpointTrouble> {
    let Question {
        block,
        transactions,
        ours,
        ..
    } = question;
    let receipts = pool.receipts(source, &block, transactions).await?;
    let mut told = Told::new();
    for transaction in transactions {
        let receipt = receipts.get(transaction);
        let mut claims = Vec::new();
        if let Some(receipt) = receipt.filter(|it| it.block_hash == block) {
            if !receipt.is_whole {
                return Err(pool.lied(source, "a receipt with logs left out"));
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
pub type Answers<'s> = Vec<(&'s Endpoint, Told)>;

/// Hears those who were not heard yet, until enough say the same of every transaction. Who is contradicted by as many as
/// must agree is not believed for a while.
pub async fn decide<'s>(
    pool: Pool<'s>,
    question: Question<'_>,
    mut answers: Answers<'s>,
) -> BTreeMap<[u8; 32], Verdict> {
    let heard = |answers: &Answers<'s>, source: &Endpoint| {
        answers
            .iter()
            .any(|(known, _)| std::ptr::eq(*known, source))
    };
    for source in pool.usable() {
        let is_settled = |transaction: &[u8; 32]| {
            let groups = groups(&answers, transaction);
            let enough = |(_, sources): &(_, Vec<_>)| sources.len() >= question.need;
            groups.len() == 1 && groups.iter().all(enough)
        };
        if question.transactions.iter().all(is_settled) {
            break;
        }
        if !heard(&answers, source)
            && let Ok(told) = told(pool, source, question).await
        {
            answers.push((source, told));
        }
    }
    let verdict = |transaction: &[u8; 32]| {
        let groups = groups(&answers, transaction);
        (*transaction, judge(pool, question, transaction, groups))
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
    pool: Pool<'_>,
    question: Question<'_>,
    transaction: &[u8; 32],
    mut groups: Groups<'_>,
) -> Verdict {
    let dispute = (question.block, *transaction);
    // Sorting is stable: among equals the operator's order holds.
    groups.sort_by_key(|(claims, sources)| std::cmp::Reverse((!claims.is_empty(), sources.len())));
    let quorum = pool.net.quorum;
    match &groups[..] {
        [(claims, sources), others @ ..] if is_whole(claims) && sources.len() >= question.need => {
            pool.net.disputes.settled(&dispute);
            // Those who have nothing, or no receipt yet, may be slow; those who have something else are not.
            let others = others.iter().filter(|(claims, _)| is_whole(claims));
            if sources.len() >= quorum {
                for source in others.flat_map(|(_, sources)| sources) {
                    drop::<EndpointTrouble>(
                        pool.lied(source, "a transfer that is another elsewhere"),
                    );
                }
            }
            Verdict::Agreed(claims.clone())
        }
        [(claims, sources)]
            if claims.is_empty() && sources.len() >= question.need && !question.is_known =>
        {
            pool.net.disputes.settled(&dispute);
            Verdict::Agreed(Vec::new())
        }
        [claiming @ .., (claims, sources)] if claims.is_empty() && sources.len() >= quorum => {
            if !pool.is_old_dispute(dispute, question.height) {
                return Verdict::Open;
            }
            for source in claiming.iter().flat_map(|(_, sources)| sources) {
                drop::<EndpointTrouble>(
                    pool.lied(source, "a transfer that the others do not have"),
                );
            }
            pool.net.disputes.settled(&dispute);
            Verdict::Agreed(Vec::new())
        }
        _ => {
            pool.is_old_dispute(dispute, question.height);
            Verdict::Open
        }
    }
}

impl Pool<'_> {
    /// Whether it was disputed for so long that nobody can merely be slow. The first time it is told to operators.
    fn is_old_dispute(&self, dispute: ([u8; 32], [u8; 32]), height: i64) -> bool {
        let standing = self.net.disputes.is_old(dispute, self.now_us());
        if standing.is_none() {
            let (network, transaction) = (&*self.network().id, hash_text(&dispute.1));
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
