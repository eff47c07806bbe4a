//! Who sent a transfer, held against the registers on its chain: the issuer's own blacklist and the sanctions oracle. What
//! they say is kept with the transfer, for whoever judges it; a register that does not answer says nothing.

use std::collections::BTreeMap;

use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::registers;
use till_core::asset::Registry;
use till_core::screening::Finding;
use till_watch::{QuorumAnswer, Seen, names};

use super::network_watch::NetworkWatch;
use crate::screening::{Answers, is_asked_on_chains, is_open, over, written};

/// Senders at the same time.
const AT_ONCE: usize = 16;

/// Notes what as many endpoints as must agree say that each register says. What is known already stays. Answers with the first
/// block with a sender about whom they contradict each other.
pub(super) async fn note(watch: NetworkWatch<'_>, seen: &mut [Seen]) -> Option<i64> {
    if !is_asked_on_chains(watch.engine) {
        return None;
    }
    let mut senders: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (index, it) in seen.iter().enumerate() {
        if let Some(sender) = &it.sender
            && is_open(it.registers.as_deref())
        {
            let of_sender = senders.entry((sender.clone(), it.asset.clone()));
            of_sender.or_default().push(index);
        }
    }
    let asked = senders.into_iter().map(|((sender, asset), of)| {
        async move { (of, ask(watch, &sender, &asset).await) }.boxed()
    });
    let asked: Vec<_> = asked.collect();
    let answers: Vec<(Vec<usize>, RegisterAnswers)> =
        stream::iter(asked).buffered(AT_ONCE).collect().await;
    let mut open: Option<i64> = None;
    for (of, asked) in answers {
        for index in of {
            let it = &mut seen[index];
            let kept = it.registers.take();
            it.registers = written(&over(kept.as_deref(), &asked.answers));
            if asked.is_contradicted {
                open = open.into_iter().chain(it.height).min();
            }
        }
    }
    open
}

/// What the registers say of one sender.
struct RegisterAnswers {
    answers: Answers,
    /// Some endpoints say that one names it, and some that it does not: whoever lies, neither is believed.
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
