//! What cannot be proven counts when a quorum of endpoints says the same. Fewer decide nothing.

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;

use crate::endpoint::Endpoint;
use crate::latecomers::ask_in_turn;
use crate::pool::Pool;

/// Asks all in parallel. Returns the first answer that `quorum` of them give, without waiting for the others, or else
/// the last error.
pub async fn first_agreed<T: PartialEq, E>(
    asked: impl Iterator<Item = impl Future<Output = Result<T, E>>>,
    quorum: usize,
) -> Result<T, Option<E>> {
    let mut asked: FuturesUnordered<_> = asked.collect();
    let (mut told, mut why) = (Vec::new(), None);
    while let Some(answer) = asked.next().await {
        match answer {
            Err(error) => why = Some(error),
            Ok(answer) => {
                told.push(answer);
                if let Some(at) = enough(&told, quorum) {
                    return Ok(told.swap_remove(at));
                }
            }
        }
    }
    Err(why)
}

/// The outcome of asking a quorum.
#[derive(Debug, PartialEq, Eq)]
pub enum QuorumAnswer<T> {
    /// Enough say the same.
    Agreed(T),
    /// Enough answer, and they contradict each other: whoever is right, somebody lies.
    Contradicted,
    /// Too few answer.
    Unknown,
}

/// Asks as many endpoints as must agree in parallel, and the others one by one while these disagree or take long.
pub async fn ask_quorum<'e, 'f, T: PartialEq + Send>(
    pool: Pool<'e>,
    ask: impl Fn(&'e Endpoint) -> BoxFuture<'f, Option<T>> + Send + Sync,
) -> QuorumAnswer<T> {
    let (quorum, sources) = (pool.net.quorum, pool.usable());
    if sources.len() < quorum {
        return QuorumAnswer::Unknown;
    }
    let mut told = Vec::new();
    let is_enough = |answer: Option<(&'e Endpoint, T)>| {
        told.extend(answer.map(|(_, answer)| answer));
        enough(&told, quorum).is_some()
    };
    ask_in_turn(pool, sources, quorum, ask, is_enough).await;
    told_by(told, quorum)
}

fn told_by<T: PartialEq>(mut told: Vec<T>, quorum: usize) -> QuorumAnswer<T> {
    match enough(&told, quorum) {
        Some(at) => QuorumAnswer::Agreed(told.swap_remove(at)),
        None if told.len() >= quorum => QuorumAnswer::Contradicted,
        None => QuorumAnswer::Unknown,
    }
}

/// The index of an answer that `quorum` endpoints give.
fn enough<T: PartialEq>(told: &[T], quorum: usize) -> Option<usize> {
    let same = |it: &T| told.iter().filter(|other| *other == it).count();
    told.iter().position(|it| same(it) >= quorum)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn heard(
        answers: &[Result<u8, &'static str>],
        quorum: usize,
    ) -> Result<u8, Option<&'static str>> {
        let asked = answers.iter().map(|it| std::future::ready(*it));
        first_agreed(asked, quorum).await
    }

    #[tokio::test]
    async fn an_answer_counts_when_enough_give_it() {
        assert_eq!(heard(&[Ok(7), Ok(9), Ok(9)], 2).await, Ok(9));
        assert_eq!(heard(&[Ok(7)], 1).await, Ok(7));
        assert_eq!(heard(&[Ok(7), Ok(9)], 2).await, Err(None));
        assert_eq!(heard(&[Ok(7), Err("away")], 2).await, Err(Some("away")));
        assert_eq!(heard(&[], 1).await, Err(None));
    }

    #[test]
    fn those_who_contradict_each_other_are_told_from_those_who_are_too_few() {
        assert_eq!(told_by(vec![7, 9, 9], 2), QuorumAnswer::Agreed(9));
        assert_eq!(told_by(vec![7], 1), QuorumAnswer::Agreed(7));
        assert_eq!(told_by(vec![7, 9], 2), QuorumAnswer::Contradicted);
        assert_eq!(told_by(vec![7], 2), QuorumAnswer::Unknown);
        assert_eq!(told_by::<u8>(vec![], 1), QuorumAnswer::Unknown);
    }

    #[tokio::test]
    async fn who_hangs_is_not_waited_for_once_enough_have_answered() {
        let asked = (0..3).map(|at| async move {
            if at == 1 {
                std::future::pending::<()>().await;
            }
            Ok::<_, ()>(7)
        });
        assert_eq!(first_agreed(asked, 2).await, Ok(7));
    }
}
