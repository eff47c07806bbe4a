//! Keeps a slow endpoint from slowing down a network: once enough endpoints have answered, the others have a grace
//! time, and are left out after that.

use std::time::Duration;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::time::timeout;

use crate::endpoint::Endpoint;
use crate::pool::Pool;

/// How much longer the others have once enough have answered.
pub(crate) const GRACE: Duration = Duration::from_millis(500);
/// The least extra time of the slowest reader, where another endpoint could be read instead.
const READING_GRACE: Duration = Duration::from_secs(2);
/// The time limit of a single reader: there is no other to compare it with.
const READING_ALONE: Duration = Duration::from_secs(10);
/// How long to wait for an answer before the next endpoint is asked as well.
const TURN: Duration = Duration::from_secs(2);

/// Asks all in parallel until `is_enough`, and then for a grace time. Returns the answers in the order of the
/// questions, None for those that were too late.
pub(crate) async fn answers_in_time<T>(
    asked: Vec<BoxFuture<'_, T>>,
    grace: impl FnOnce() -> Duration,
    is_enough: impl Fn(&[Option<T>]) -> bool,
) -> Vec<Option<T>> {
    let mut answers: Vec<Option<T>> = asked.iter().map(|_| None).collect();
    let asked = asked.into_iter().enumerate();
    let asked = asked.map(|(at, it)| async move { (at, it.await) });
    let mut asked: FuturesUnordered<_> = asked.collect();
    while !is_enough(&answers)
        && let Some((at, answer)) = asked.next().await
    {
        answers[at] = Some(answer);
    }
    let others = async {
        while let Some((at, answer)) = asked.next().await {
            answers[at] = Some(answer);
        }
    };
    // Whether they were in time is seen by their answers.
    let _ = timeout(grace(), others).await;
    answers
}

/// The answers that arrived by the time `enough` endpoints had one, and a grace time after that.
pub async fn first_answers<T>(asked: Vec<BoxFuture<'_, Option<T>>>, enough: usize) -> Vec<T> {
    let is_enough =
        |answers: &[Option<Option<T>>]| answers.iter().flatten().flatten().count() >= enough;
    let answers = answers_in_time(asked, || GRACE, is_enough).await;
    answers.into_iter().flatten().flatten().collect()
}

/// Asks the readers in parallel. A reader much slower than the others is left out and read last for a while, if a
/// steady endpoint could be read instead.
pub(crate) async fn readers_in_time<'s, 'f, T>(
    pool: Pool<'_>,
    could_be_read: &[&'s Endpoint],
    readers: &[&'s Endpoint],
    ask: impl Fn(&'s Endpoint) -> BoxFuture<'f, T>,
) -> Vec<Option<T>> {
    let asked: Vec<BoxFuture<'f, T>> = readers.iter().map(|it| ask(it)).collect();
    let now_us = pool.now_us();
    let is_spare = |it: &&'s Endpoint| {
        let is_reader = readers.iter().any(|reader| std::ptr::eq(*reader, *it));
        !is_reader && it.is_steady(now_us)
    };
    if !could_be_read.iter().any(is_spare) {
        let answers = futures::future::join_all(asked).await;
        return answers.into_iter().map(Some).collect();
    }
    // As long again as all readers but one took.
    let grace = || match readers.len() {
        ..2 => READING_ALONE,
        _ => {
            let took = Duration::from_micros(pool.now_us().saturating_sub(now_us));
            took.max(READING_GRACE)
        }
    };
    let is_enough = |answers: &[Option<T>]| answers.iter().flatten().count() + 1 >= answers.len();
    let answers = answers_in_time(asked, grace, is_enough).await;
    for (reader, answer) in readers.iter().zip(&answers) {
        if answer.is_none() {
            let (network, endpoint) = (&*pool.network().id, &reader.address);
            tracing::warn!(network, %endpoint, "an endpoint answers much later than the others; for a while it is read only where the others do not suffice");
            reader.deprioritise(pool.now_us());
        }
    }
    answers
}

/// Asks `at_first` endpoints in parallel and the others one by one, until `is_enough`. A slow endpoint is not waited
/// for alone: the next is asked beside it.
pub(crate) async fn ask_in_turn<'e, 'f, T>(
    pool: Pool<'e>,
    mut sources: Vec<&'e Endpoint>,
    at_first: usize,
    ask: impl Fn(&'e Endpoint) -> BoxFuture<'f, Option<T>>,
    mut is_enough: impl FnMut(Option<(&'e Endpoint, T)>) -> bool,
) {
    if is_enough(None) {
        return;
    }
    let now_us = pool.now_us();
    sources.sort_by_key(|source| !source.is_prompt(now_us));
    let mut sources = sources.into_iter();
    let question = |source: &'e Endpoint| {
        let answer = ask(source);
        async move { answer.await.map(|answer| (source, answer)) }
    };
    let mut asked: FuturesUnordered<_> = sources.by_ref().take(at_first).map(&question).collect();
    loop {
        let answer = match sources.len() {
            0 => Ok(asked.next().await),
            _ => timeout(TURN, asked.next()).await,
        };
        match answer {
            Ok(Some(answer)) => {
                if is_enough(answer) {
                    return;
                }
            }
            // Those who were asked do not suffice, or take long.
            Ok(None) | Err(_) => match sources.next() {
                Some(source) => asked.push(question(source)),
                None if asked.is_empty() => return,
                None => {}
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;
    use crate::scripted::Scripted;

    fn after(time: Duration, answer: u8) -> BoxFuture<'static, u8> {
        async move {
            tokio::time::sleep(time).await;
            answer
        }
        .boxed()
    }

    #[tokio::test]
    async fn who_is_late_is_left_out_once_enough_have_answered() {
        let asked = || {
            let times = [Duration::ZERO, 4 * GRACE, GRACE / 4];
            let asked = times.into_iter().zip(1..);
            asked.map(|(time, answer)| after(time, answer)).collect()
        };
        let two = |answers: &[Option<u8>]| answers.iter().flatten().count() >= 2;
        let answers = answers_in_time(asked(), || GRACE, two).await;
        assert_eq!(answers, [Some(1), None, Some(3)]);
        let all = |answers: &[Option<u8>]| answers.iter().flatten().count() >= 3;
        let answers = answers_in_time(asked(), || GRACE, all).await;
        assert_eq!(answers, [Some(1), Some(2), Some(3)]);
    }

    #[tokio::test]
    async fn a_reader_far_behind_the_others_is_left_out_where_somebody_else_can_be_read() {
        let scripted = Scripted::of(&["ab", "ab", "ab"]).await;
        let [one, slow, spare] = scripted.endpoints() else {
            panic!("three endpoints")
        };
        let ask = |reader: &Endpoint| match std::ptr::eq(reader, slow) {
            true => after(2 * READING_GRACE, 2),
            false => after(Duration::ZERO, 1),
        };
        let pool = scripted.pool();
        let answers = readers_in_time(pool, &[one, slow, spare], &[one, slow], ask).await;
        assert_eq!(answers, [Some(1), None]);
        assert!(!slow.is_steady(pool.now_us()) && slow.exclusion().is_none());
        // With nobody else to read it is waited for.
        let answers = readers_in_time(pool, &[one, slow], &[one, slow], ask).await;
        assert_eq!(answers, [Some(1), Some(2)]);
    }

    #[tokio::test]
    async fn who_takes_long_is_not_waited_for_alone() {
        let scripted = Scripted::of(&["ab", "ab", "ab"]).await;
        let [slow, one, other] = scripted.endpoints() else {
            panic!("three endpoints")
        };
        let ask = |source: &Endpoint| match std::ptr::eq(source, slow) {
            true => std::future::pending().boxed(),
            false => after(Duration::ZERO, 7).map(Some).boxed(),
        };
        let mut told = Vec::new();
        let two = |answer: Option<(&Endpoint, u8)>| {
            told.extend(answer.map(|(_, answer)| answer));
            told.len() >= 2
        };
        ask_in_turn(scripted.pool(), vec![slow, one, other], 2, ask, two).await;
        assert_eq!(told, [7, 7]);
    }
}
