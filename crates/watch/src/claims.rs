//! A transfer as an endpoint reports it is a claim: place, asset, senders, recipient and units in one block. It becomes
//! a fact when enough endpoints make the same claim, or when the block's receipts prove it.

use std::collections::{BTreeMap, HashSet};

use futures::FutureExt as _;
use till_chains::observer::{Header, Receipt, Receipts, Transfer};
use till_chains::{BlockHash, tx_hash_of};
use till_core::money::Units;

use crate::endpoint::{Endpoint, TransactionInBlock};
use crate::heads::grouped;
use crate::latecomers::ask_in_turn;
use crate::pool::{EndpointTrouble, Pool};
use crate::proof::prove_block;
use crate::update::SeenTransfer;

/// A transfer to us, as an endpoint reports it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub place: i64,
    pub asset: String,
    pub senders: Vec<String>,
    pub recipient: String,
    pub units: u128,
}

impl Claim {
    fn of(transfer: &Transfer) -> Claim {
        Claim {
            place: i64::from(transfer.place),
            asset: transfer.asset.code.clone(),
            senders: transfer.senders.clone(),
            recipient: transfer.recipient.clone(),
            units: transfer.units.0,
        }
    }

    pub(crate) fn seen(&self, pool: Pool<'_>, transaction: &[u8; 32], height: i64) -> SeenTransfer {
        SeenTransfer {
            tx_hash: tx_hash_of(pool.network().family, transaction),
            place: self.place,
            asset: self.asset.clone(),
            units: Units(self.units),
            arrived: None,
            strayed: false,
            registers: None,
            senders: self.senders.clone(),
            recipient: self.recipient.clone(),
            height: Some(height),
        }
    }
}

/// One endpoint's claims by transaction. Empty for a transaction that it does not have in the block, or that moved
/// nothing to us.
pub type ClaimsByTransaction = BTreeMap<[u8; 32], Vec<Claim>>;

/// The question what transactions of one block moved to us.
#[derive(Clone, Copy)]
pub struct ClaimQuestion<'q> {
    pub height: i64,
    pub block: BlockHash,
    pub transactions: &'q [[u8; 32]],
    /// Our addresses among the recipients.
    pub ours: &'q HashSet<String>,
    /// The block's header, where it is agreed on already.
    pub header: Option<&'q Header>,
    /// How many endpoints must make the same claims.
    pub need: usize,
    /// Whether the database has these transfers already. An endpoint that denies one may be slow: its denial is checked
    /// against the block's receipts where they prove contents.
    pub is_known: bool,
}

/// The decision about one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Enough endpoints make these claims, or the block's receipts prove them. Empty if nothing was moved to us.
    Agreed(Vec<Claim>),
    /// Too few endpoints make the same claims, or those that deny them may be slow.
    Open,
}

/// One endpoint's claims, from its receipts.
pub(crate) async fn told(
    pool: Pool<'_>,
    source: &Endpoint,
    question: ClaimQuestion<'_>,
) -> Result<ClaimsByTransaction, EndpointTrouble> {
    let ClaimQuestion {
        block,
        transactions,
        ours,
        ..
    } = question;
    let receipts = pool.receipts(source, &block, transactions).await?;
    let mut told = ClaimsByTransaction::new();
    for transaction in transactions {
        let receipt = receipts.get(transaction);
        let mut claims = Vec::new();
        if let Some(receipt) = receipt.filter(|it| it.block_hash == block) {
            if !receipt.is_whole {
                return Err(pool.false_contents(source, "a receipt with logs left out"));
            }
            claims.extend(claims_in(receipt, ours));
        }
        told.insert(*transaction, claims);
    }
    Ok(told)
}

/// The claims of each endpoint that answered.
pub type Answers<'s> = Vec<(&'s Endpoint, ClaimsByTransaction)>;

/// Asks further endpoints until enough of them make the same claims about every transaction. If they do not, the
/// block's receipts decide; where these prove nothing, an endpoint that a quorum contradicts is excluded for a while.
pub async fn decide<'s>(
    pool: Pool<'s>,
    question: ClaimQuestion<'_>,
    mut answers: Answers<'s>,
) -> BTreeMap<[u8; 32], Verdict> {
    let mut unheard = pool.usable();
    unheard.retain(|source| {
        !answers
            .iter()
            .any(|(known, _)| std::ptr::eq(*known, *source))
    });
    let missing = question.need.saturating_sub(answers.len()).max(1);
    let ask = |source| async move { told(pool, source, question).await.ok() }.boxed();
    let is_enough = |answer| {
        answers.extend(answer);
        are_of_one_mind(question, &answers)
    };
    ask_in_turn(pool, unheard, missing, ask, is_enough).await;
    let is_missed = question.is_known && says_nothing(question, &answers);
    if (is_missed || !are_of_one_mind(question, &answers))
        && let Some(receipts) =
            prove_block(pool, (question.height, question.block), question.header).await
    {
        return proven(pool, question, &receipts, &answers);
    }
    let verdict = |transaction: &[u8; 32]| {
        let groups = groups(&answers, transaction);
        (*transaction, judge(pool, question, transaction, groups))
    };
    question.transactions.iter().map(verdict).collect()
}

/// Whether enough endpoints answered, and all make the same claims about every transaction.
fn are_of_one_mind(question: ClaimQuestion<'_>, answers: &Answers<'_>) -> bool {
    question.transactions.iter().all(|transaction| {
        let groups = groups(answers, transaction);
        let enough = |(_, sources): &(_, Vec<_>)| sources.len() >= question.need;
        groups.len() == 1 && groups.iter().all(enough)
    })
}

/// Whether some endpoint claims nothing about one of the transactions.
fn says_nothing(question: ClaimQuestion<'_>, answers: &Answers<'_>) -> bool {
    let is_empty = |told: &ClaimsByTransaction, transaction: &[u8; 32]| {
        told.get(transaction).is_some_and(Vec::is_empty)
    };
    let mut transactions = question.transactions.iter();
    transactions.any(|it| answers.iter().any(|(_, told)| is_empty(told, it)))
}

/// Decides by a block's proven receipts. An endpoint that claims nothing may be slow; one that claims something else is
/// distrusted about contents.
fn proven(
    pool: Pool<'_>,
    question: ClaimQuestion<'_>,
    receipts: &Receipts,
    answers: &Answers<'_>,
) -> BTreeMap<[u8; 32], Verdict> {
    let mut verdicts = BTreeMap::new();
    for transaction in question.transactions {
        let dispute = (question.block, *transaction);
        pool.net.disputes.settled(&dispute);
        let claims = receipts.get(transaction);
        let claims = claims.map_or(Vec::new(), |it| claims_in(it, question.ours));
        for (source, told) in answers {
            let told = told.get(transaction).map_or(&[][..], Vec::as_slice);
            let is_other = match is_whole(told) {
                true => told != claims,
                false => !told.is_empty() && claims.is_empty(),
            };
            if is_other {
                let what = "a transfer that its block does not have";
                pool.false_contents(source, what);
            } else {
                source.mark_shared(&dispute);
            }
        }
        verdicts.insert(*transaction, Verdict::Agreed(claims));
    }
    verdicts
}

/// What a transaction moved to us, by its receipt.
fn claims_in(receipt: &Receipt, ours: &HashSet<String>) -> Vec<Claim> {
    let to_us = receipt.transfers.iter();
    let to_us = to_us.filter(|transfer| ours.contains(&transfer.recipient));
    to_us.map(Claim::of).collect()
}

/// Endpoints grouped by identical claims.
type Groups<'s> = Vec<(Vec<Claim>, Vec<&'s Endpoint>)>;

fn groups<'s>(answers: &Answers<'s>, transaction: &[u8; 32]) -> Groups<'s> {
    let told = answers.iter().filter_map(|(source, told)| {
        let claims = told.get(transaction)?;
        Some((*source, claims.clone()))
    });
    grouped(told, Vec::clone)
}

/// Whether there are claims and each has a place, as those from receipts do.
fn is_whole(claims: &[Claim]) -> bool {
    !claims.is_empty() && claims.iter().all(|claim| claim.place >= 0)
}

fn judge(
    pool: Pool<'_>,
    question: ClaimQuestion<'_>,
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
            sources.iter().for_each(|it| it.mark_shared(&dispute));
            // Those who have nothing, or no receipt yet, may be slow; those who have something else are not.
            let others = others.iter().filter(|(claims, _)| is_whole(claims));
            if sources.len() >= quorum {
                for source in others.flat_map(|(_, sources)| sources) {
                    pool.lied(source, "a transfer that is another elsewhere");
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
            let claiming = claiming.iter().flat_map(|(_, sources)| sources);
            // Each of them is asked, and not only up to the first: every claim counts for whoever makes it.
            let is_known_to_lie = |it: &&Endpoint| it.mark_unshared(dispute, pool.now_us());
            let known: Vec<bool> = claiming.clone().map(is_known_to_lie).collect();
            let are_slow_no_more = !known.contains(&false);
            if !pool.is_old_dispute(dispute, question.height) && !are_slow_no_more {
                return Verdict::Open;
            }
            for source in claiming {
                pool.lied(source, "a transfer that the others do not have");
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
    /// Whether endpoints have disagreed for longer than an honest one can lag. The first call for a dispute logs an error.
    fn is_old_dispute(&self, dispute: TransactionInBlock, height: i64) -> bool {
        let standing = self.net.disputes.is_old(dispute, self.now_us());
        if standing.is_none() {
            let (network, transaction) = (&*self.network().id, BlockHash::from(dispute.1).text());
            tracing::error!(
                network,
                height,
                transaction,
                "not enough endpoints say the same of a transfer, so nothing from its block on is taken in until they do; look the transaction up and remove the endpoint that is wrong"
            );
            metrics::counter!("till_network_disagreements_total", "network" => network)
                .increment(1);
        }
        standing.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use till_chains::rpc::{self, RpcClient};
    use till_core::asset::Registry;
    use till_core::time::Clock;

    use super::*;
    use crate::settings::EndpointSettings;
    use crate::watching::Watching;

    const USDC: &str = "USDC@eip155:84532";

    /// Microseconds that pass when the test says so.
    struct Time(AtomicU64);

    impl Clock for Time {
        fn now_ms(&self) -> i64 {
            0
        }

        fn monotonic_us(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }
    }

    fn watching(network: &str) -> Watching {
        let endpoint = |port: usize| rpc::Endpoint::parse(&format!("http://127.0.0.1:{port}"));
        let of = (1..=4).map(endpoint).collect::<Result<_, _>>().unwrap();
        let endpoints = EndpointSettings { of, quorum: None };
        let all = BTreeMap::from([(network.to_owned(), endpoints)]);
        Watching::once(all, RpcClient::new().unwrap())
    }

    fn claim(place: i64, units: u128) -> Claim {
        Claim {
            place,
            asset: USDC.to_owned(),
            senders: vec!["payer".to_owned()],
            recipient: "shop".to_owned(),
            units,
        }
    }

    fn receipt(units: u128) -> Receipt {
        let transfer = Transfer {
            asset: Registry::builtin().asset(USDC).unwrap(),
            log_index: 9,
            place: 3,
            senders: vec!["payer".to_owned()],
            recipient: "shop".to_owned(),
            units: Units(units),
        };
        Receipt {
            block_hash: [1; 32].into(),
            height: 5,
            transfers: vec![transfer],
            is_whole: true,
        }
    }

    #[test]
    fn what_is_proven_counts_and_who_says_otherwise_is_not_read_while_its_blocks_count() {
        let (watching, time) = (watching("eip155:84532"), Time(AtomicU64::new(7)));
        let pool = Pool::all(&watching, &time).next().unwrap();
        let [honest, liar, slow, inventor] = &pool.net.endpoints[..] else {
            panic!("four endpoints")
        };
        let (paid, invented) = ([2; 32], [3; 32]);
        let question = ClaimQuestion {
            height: 5,
            block: [1; 32].into(),
            transactions: &[paid, invented],
            ours: &HashSet::from(["shop".to_owned()]),
            header: None,
            need: 2,
            is_known: false,
        };
        let told = |paid_claims: Vec<Claim>, invented_claims: Vec<Claim>| {
            ClaimsByTransaction::from([(paid, paid_claims), (invented, invented_claims)])
        };
        let right = vec![claim(3, 25)];
        let answers = vec![
            (honest, told(right.clone(), Vec::new())),
            (liar, told(vec![claim(3, 99)], Vec::new())),
            (slow, told(Vec::new(), Vec::new())),
            (inventor, told(right.clone(), vec![claim(-1, 7)])),
        ];
        assert!(!are_of_one_mind(question, &answers));
        let receipts = Receipts::from([(paid, receipt(25))]);
        let verdicts = proven(pool, question, &receipts, &answers);
        assert_eq!(verdicts[&paid], Verdict::Agreed(right));
        assert_eq!(verdicts[&invented], Verdict::Agreed(Vec::new()));
        let doubted = [honest, liar, slow, inventor].map(|it| it.is_contents_doubted(8));
        assert_eq!(doubted, [false, true, false, true]);
        assert!(pool.net.endpoints.iter().all(|it| it.may_be_asked(8)));
    }
    // One liar of three, on a network where nothing can be proven: its claims are new each time, and what is true is
    // claimed beside them.
    #[test]
    fn who_invents_another_transfer_each_time_is_set_aside_like_who_repeats_one() {
        let (watching, time) = (watching("tron:3448148188"), Time(AtomicU64::new(7)));
        let pool = Pool::all(&watching, &time).next().unwrap();
        let [one, other, liar, _] = &pool.net.endpoints[..] else {
            panic!("four endpoints")
        };
        let ours = HashSet::from(["shop".to_owned()]);
        let paid = [2; 32];
        let mut rounds = 0_u8;
        while liar.may_be_asked(pool.now_us()) {
            rounds += 1;
            let invented = [100 + rounds; 32];
            let question = ClaimQuestion {
                height: 5,
                block: [rounds; 32].into(),
                transactions: &[paid, invented],
                ours: &ours,
                header: None,
                need: 2,
                is_known: false,
            };
            let right = vec![claim(3, 25)];
            let honest = ClaimsByTransaction::from([(paid, right.clone()), (invented, Vec::new())]);
            let lie =
                ClaimsByTransaction::from([(paid, right.clone()), (invented, vec![claim(0, 7)])]);
            let answers = vec![(one, honest.clone()), (other, honest), (liar, lie)];
            let judged = |it: [u8; 32]| judge(pool, question, &it, groups(&answers, &it));
            assert_eq!(judged(paid), Verdict::Agreed(right));
            let expected = match rounds {
                ..6 => Verdict::Open,
                _ => Verdict::Agreed(Vec::new()),
            };
            assert_eq!(judged(invented), expected, "{rounds}");
            time.0.fetch_add(1_000_000, Ordering::Relaxed);
        }
        assert_eq!(rounds, 6, "after five seconds");
        assert!([one, other].iter().all(|it| it.may_be_asked(pool.now_us())));
    }
}
