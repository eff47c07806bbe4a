//! What enough of those say who are asked at the same time.

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;

/// The first answer that so many give; who hangs is not waited for once they have. Else why the last one failed that did.
pub async fn agreed<T: PartialEq, E>(
    asked: impl Iterator<Item = impl Future<Output = Result<T, E>>>,
    quorum: usize,
) -> Result<T, Option<E>> {
    let mut asked: FuturesUnordered<_> = asked.collect();
    let (mut told, mut why) = (Vec::new(), None);
    while let Some(answer) = asked.next().await {
        match answer {
            Err(error) => why = Some(error),
            Ok(answer) => {
                let same = told.iter().filter(|it| **it == answer).count();
                if same + 1 >= quorum {
                    return Ok(answer);
                }
                told.push(answer);
            }
        }
    }
    Err(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn heard(
        answers: &[Result<u8, &'static str>],
        quorum: usize,
    ) -> Result<u8, Option<&'static str>> {
        let asked = answers.iter().map(|it| std::future::ready(*it));
        agreed(asked, quorum).await
    }

    #[tokio::test]
    async fn an_answer_counts_when_enough_give_it() {
        assert_eq!(heard(&[Ok(7), Ok(9), Ok(9)], 2).await, Ok(9));
        assert_eq!(heard(&[Ok(7)], 1).await, Ok(7));
        assert_eq!(heard(&[Ok(7), Ok(9)], 2).await, Err(None));
        assert_eq!(heard(&[Ok(7), Err("away")], 2).await, Err(Some("away")));
        assert_eq!(heard(&[], 1).await, Err(None));
    }

    #[tokio::test]
    async fn who_hangs_is_not_waited_for_once_enough_have_answered() {
        let asked = (0..3).map(|at| async move {
            if at == 1 {
                std::future::pending::<()>().await;
            }
            Ok::<_, ()>(7)
        });
        assert_eq!(agreed(asked, 2).await, Ok(7));
    }
}
