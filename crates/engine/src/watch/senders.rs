//! Who sent a transfer, held against the registers on its chain: the issuer's own blacklist and the sanctions oracle. What
//! they say is kept with the transfer, for whoever judges it; a register that does not answer says nothing.

use std::collections::BTreeMap;

use futures::{FutureExt as _, StreamExt as _, stream};
use till_chains::registers::{self, Register};
use till_core::asset::Registry;
use till_core::screening::Finding;

use super::ask::Asking;
use super::heads::grouped;
use crate::intake::chain::Seen;
use crate::nodes::Source;
use crate::screening::{Answers, is_asked_on_chains, written};

/// Senders at the same time.
const AT_ONCE: usize = 16;

/// Notes what so many of the readers say that each register says.
pub(super) async fn note(
    asking: Asking<'_>,
    (readers, need): (&[&Source], usize),
    seen: &mut [Seen],
) {
    if !is_asked_on_chains(asking.engine) {
        return;
    }
    let mut senders: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (index, it) in seen.iter().enumerate() {
        if let Some(sender) = &it.sender {
            let of_sender = senders.entry((sender.clone(), it.asset.clone()));
            of_sender.or_default().push(index);
        }
    }
    let asked = senders.into_iter().map(|((sender, asset), of)| {
        async move { (of, ask(asking, (readers, need), &sender, &asset).await) }.boxed()
    });
    let asked: Vec<_> = asked.collect();
    let answers: Vec<(Vec<usize>, Answers)> = stream::iter(asked).buffered(AT_ONCE).collect().await;
    for (of, answers) in answers {
        for index in of {
            seen[index].registers = written(&answers);
        }
    }
}

async fn ask(asking: Asking<'_>, who: (&[&Source], usize), sender: &str, asset: &str) -> Answers {
    let Some(asset) = Registry::builtin().asset(asset) else {
        return Answers::new();
    };
    let mut answers = Answers::new();
    for register in registers::of(asking.network(), asset) {
        let finding = agreed(asking, who, &register, sender).await;
        answers.push((register.name, finding));
    }
    answers
}

/// One endpoint clears nobody and names nobody where several must agree.
async fn agreed(
    asking: Asking<'_>,
    (readers, need): (&[&Source], usize),
    register: &Register,
    sender: &str,
) -> Finding {
    let asked = readers.iter().map(|reader| {
        async move {
            let (network, endpoint) = (asking.network(), &reader.endpoint);
            let named = registers::names(asking.rpc, endpoint, network, register, sender).await;
            match named {
                Ok(named) => Some((*reader, named)),
                Err(error) => {
                    let (network, register) = (&*network.id, register.name);
                    tracing::warn!(network, %endpoint, register, %error, "a register did not answer");
                    None
                }
            }
        }
        .boxed()
    });
    let answers = futures::future::join_all(asked).await;
    let groups = grouped(answers.into_iter().flatten(), |named: &bool| *named);
    let agreed = groups
        .into_iter()
        .find(|(_, sources)| sources.len() >= need);
    match agreed {
        Some((true, _)) => Finding::Match,
        Some((false, _)) => Finding::Clear,
        None => Finding::Unavailable,
    }
}
