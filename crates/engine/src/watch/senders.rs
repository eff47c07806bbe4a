//! Checks every sender of a transfer against the registers on its chain: the issuer's own blocklist and the sanctions
//! oracle. The answers are kept with the transfer, for whoever judges it; a register that does not answer says nothing.

use std::collections::{BTreeMap, BTreeSet};

use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::registers;
use till_core::asset::Registry;
use till_core::screening::Finding;
use till_watch::{QuorumAnswer, SeenTransfer, names};

use super::network_watch::NetworkWatch;
use crate::screening::{Answers, is_asked_on_chains, is_open, of_senders, over, written};

/// How many senders are asked about in parallel.
const AT_ONCE: usize = 16;

/// Notes what each register says of the senders, by a quorum. Answers that are known stay. Returns the first block with
/// a sender about whom endpoints contradict each other.
pub(super) async fn note(watch: NetworkWatch<'_>, seen: &mut [SeenTransfer]) -> Option<i64> {
    if !is_asked_on_chains(watch.engine) {
        return None;
    }
    let is_asked = |it: &&SeenTransfer| is_open(it.registers.as_deref());
    let of_seen = |it: &SeenTransfer| {
        let asset = it.asset.clone();
        let each = it.senders.clone().into_iter();
        each.map(move |sender| (sender, asset.clone()))
    };
    let senders: BTreeSet<(String, String)> =
        seen.iter().filter(is_asked).flat_map(of_seen).collect();
    let asked = senders.into_iter().map(|(sender, asset)| {
        async move {
            let said = ask(watch, &sender, &asset).await;
            ((sender, asset), said)
        }
        .boxed()
    });
    let asked: Vec<_> = asked.collect();
    let answers: BTreeMap<(String, String), RegisterAnswers> =
        stream::iter(asked).buffered(AT_ONCE).collect().await;
    let mut open: Option<i64> = None;
    for it in seen {
        let own: Vec<&RegisterAnswers> = of_seen(it).filter_map(|it| answers.get(&it)).collect();
        if own.is_empty() || !is_asked(&&*it) {
            continue;
        }
        let said = of_senders(own.iter().map(|it| &it.answers));
        let kept = it.registers.take();
        it.registers = written(&over(kept.as_deref(), &said));
        if own.iter().any(|it| it.is_contradicted) {
            open = open.into_iter().chain(it.height).min();
        }
    }
    open
}

/// What the registers say of one sender.
struct RegisterAnswers {
    answers: Answers,
    /// Whether endpoints contradict each other about a register. Then neither answer is believed.
    is_contradicted: bool,
}

async fn ask(watch: NetworkWatch<'_>, sender: &str, asset: &str) -> RegisterAnswers {
    let mut asked = RegisterAnswers {
        answers: Answers::new(),
        is_contradicted: false,
    };
    let Some(asset) = Registry::builtin().asset(asset) else {
        return asked;
    };
    for register in registers::of(watch.network(), asset) {
        let finding = match names(watch.pool, &register, sender).await {
            QuorumAnswer::Agreed(true) => Finding::Match,
            QuorumAnswer::Agreed(false) => Finding::Clear,
            QuorumAnswer::Contradicted => {
                asked.is_contradicted = true;
                Finding::Unavailable
            }
            QuorumAnswer::Unknown => Finding::Unavailable,
        };
        asked.answers.push((register.name, finding));
    }
    asked
}
