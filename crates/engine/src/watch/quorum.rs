//! What cannot be proven counts when as many endpoints as must agree say the same. Fewer decide nothing.

use futures::future::BoxFuture;

use super::ask::Asking;
use crate::nodes::Source;

/// What enough endpoints say: so many are asked together, and the others, one after the other, where these do not agree.
/// None while not enough say the same.
pub(super) async fn agreed<'e, 'f, T: PartialEq + Send>(
    asking: Asking<'e>,
    ask: impl Fn(&'e Source) -> BoxFuture<'f, Option<T>> + Send + Sync,
) -> Option<T> {
    let quorum = asking.net.quorum;
    let mut sources = asking.usable();
    if sources.len() < quorum {
        return None;
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
    let at = enough(&told, quorum)?;
    Some(told.swap_remove(at))
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
        assert_eq!(enough(&[7, 9, 9], 2), Some(1));
        assert_eq!(enough(&[7, 9], 2), None);
        assert_eq!(enough(&[7], 1), Some(0));
        assert_eq!(enough::<u8>(&[], 1), None);
    }
}
