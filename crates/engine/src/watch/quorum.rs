//! What cannot be proven counts when as many endpoints as must agree say the same. Fewer decide nothing.

use futures::future::BoxFuture;

use super::ask::Asking;
use till_watch::Endpoint;

/// What endpoints say of one thing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told<T> {
    /// Enough say the same.
    Agreed(T),
    /// Enough answer, and they contradict each other: whoever is right, somebody lies.
    Contradicted,
    /// Too few answer.
    Unknown,
}

/// So many as must agree are asked together, and the others, one after the other, where these do not agree.
pub(super) async fn ask<'e, 'f, T: PartialEq + Send>(
    asking: Asking<'e>,
    ask: impl Fn(&'e Endpoint) -> BoxFuture<'f, Option<T>> + Send + Sync,
) -> Told<T> {
    let quorum = asking.net.quorum;
    let mut sources = asking.usable();
    if sources.len() < quorum {
        return Told::Unknown;
    }
    let others = sources.split_off(quorum);
    let asked: Vec<BoxFuture<'f, Option<T>>> = sources.into_iter().map(&ask).collect();
    let told = futures::future::join_all(asked).await;
    let mut told: Vec<T> = told.into_iter().flatten().collect();
    for other in others {
        if enough(&told, quorum).is_some() {
            break;
        }
        let asked = ask(other);
        told.extend(asked.await);
    }
    told_by(told, quorum)
}

fn told_by<T: PartialEq>(mut told: Vec<T>, quorum: usize) -> Told<T> {
    match enough(&told, quorum) {
        Some(at) => Told::Agreed(told.swap_remove(at)),
        None if told.len() >= quorum => Told::Contradicted,
        None => Told::Unknown,
    }
}

/// The place of an answer that so many give.
fn enough<T: PartialEq>(told: &[T], quorum: usize) -> Option<usize> {
    let same = |it: &T| told.iter().filter(|other| *other == it).count();
    told.iter().position(|it| same(it) >= quorum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_when_enough_give_it() {
        assert_eq!(told_by(vec![7, 9, 9], 2), Told::Agreed(9));
        assert_eq!(told_by(vec![7], 1), Told::Agreed(7));
        assert_eq!(told_by(vec![7, 9], 2), Told::Contradicted);
        assert_eq!(told_by(vec![7], 2), Told::Unknown);
        assert_eq!(told_by::<u8>(vec![], 1), Told::Unknown);
    }
}
