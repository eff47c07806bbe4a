//! Asks all endpoints for their tips, round after round. Once a quorum has answered, an endpoint that is late is left
//! out of the round. The call to it goes on, so that it still counts as answering, and is waited for if the others
//! disagree.

use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use tokio::time::timeout;

use crate::endpoint::Endpoint;
use crate::endpoint_tips::EndpointTips;
use crate::identity::identify;
use crate::latecomers::GRACE;
use crate::pool::Pool;

/// Asks all endpoints for their tips once, and waits for each of them.
pub async fn ask_all(pool: Pool<'_>) -> Vec<EndpointTips<'_>> {
    let mut rounds = Rounds::new(pool);
    rounds.begin();
    rounds.wait_for_late().await
}

/// A call under way. It yields the endpoint's place in the operator's order, and its tips.
type TipsQuestion<'e> = BoxFuture<'e, (usize, Option<EndpointTips<'e>>)>;

/// The calls under way, at most one to each endpoint.
pub struct Rounds<'e> {
    pool: Pool<'e>,
    /// A mutex makes rounds shareable between threads; it is reached by `get_mut` alone, so nothing ever waits for it.
    under_way: Mutex<FuturesUnordered<TipsQuestion<'e>>>,
    /// Whether a call is under way, by place in the operator's order.
    is_asked: Vec<bool>,
}

impl<'e> Rounds<'e> {
    pub fn new(pool: Pool<'e>) -> Rounds<'e> {
        Rounds {
            pool,
            under_way: Mutex::default(),
            is_asked: pool.net.endpoints.iter().map(|_| false).collect(),
        }
    }

    /// The tips of the endpoints that answer this round in time, in the operator's order. Late answers to earlier
    /// rounds count only while there is no quorum without them.
    pub async fn ask(&mut self) -> Vec<EndpointTips<'e>> {
        let mut open = self.begin();
        let quorum = self.pool.net.quorum;
        let (mut in_time, mut late) = (Vec::new(), Vec::new());
        let mut hear = |open: &mut Vec<usize>, place: usize, said: Option<EndpointTips<'e>>| {
            let is_of_this_round = open.contains(&place);
            open.retain(|it| *it != place);
            match is_of_this_round {
                true => in_time.extend(said),
                false => late.extend(said),
            }
            in_time.len() + late.len() >= quorum
        };
        while let Some((place, said)) = self.next().await {
            if hear(&mut open, place, said) {
                break;
            }
        }
        let others = async {
            while !open.is_empty()
                && let Some((place, said)) = self.next().await
            {
                hear(&mut open, place, said);
            }
        };
        // Whether they were in time is seen by what they said.
        let _ = timeout(GRACE, others).await;
        for place in open {
            self.pool.net.endpoints[place].mark_late(self.pool.now_us());
        }
        // Who is late may be slow in everything: it is asked for more only where it is needed.
        if in_time.len() < quorum {
            in_time.append(&mut late);
        }
        self.in_order(in_time)
    }

    /// Waits for the endpoints that were left out, and returns their tips.
    pub async fn wait_for_late(&mut self) -> Vec<EndpointTips<'e>> {
        let mut said = Vec::new();
        while let Some((_, late)) = self.next().await {
            said.extend(late);
        }
        self.in_order(said)
    }

    /// Calls every endpoint that may be asked and has no call under way. Returns their places.
    fn begin(&mut self) -> Vec<usize> {
        let (pool, now_us) = (self.pool, self.pool.now_us());
        let under_way = self.under_way.get_mut();
        let under_way = under_way.unwrap_or_else(PoisonError::into_inner);
        let mut places = Vec::new();
        for (place, source) in pool.net.endpoints.iter().enumerate() {
            if source.may_be_asked(now_us) && !self.is_asked[place] {
                self.is_asked[place] = true;
                places.push(place);
                let asked = async move { (place, ask(pool, source).await) };
                under_way.push(asked.boxed());
            }
        }
        places
    }

    async fn next(&mut self) -> Option<(usize, Option<EndpointTips<'e>>)> {
        let under_way = self.under_way.get_mut();
        let under_way = under_way.unwrap_or_else(PoisonError::into_inner);
        let (place, said) = under_way.next().await?;
        self.is_asked[place] = false;
        Some((place, said))
    }

    fn in_order(&self, mut said: Vec<EndpointTips<'e>>) -> Vec<EndpointTips<'e>> {
        said.sort_by_key(|it| self.pool.net.place_of(it.source));
        said
    }
}

async fn ask<'e>(pool: Pool<'e>, source: &'e Endpoint) -> Option<EndpointTips<'e>> {
    if !source.is_identified(pool.now_us()) {
        identify(pool, source).await;
    }
    if !source.is_identified(pool.now_us()) {
        return None;
    }
    let tips = pool.observer().tips(pool.rpc, &source.address).await;
    let tips = tips.map_err(|error| pool.failed(source, &error)).ok()?;
    // It was set aside while it was asked.
    if !source.may_be_asked(pool.now_us()) {
        return None;
    }
    if let Some(was) = source.mark_answered(tips.head.height) {
        let (network, was) = (&*pool.network().id, was.why());
        tracing::info!(network, endpoint = %source.address, was, "an endpoint answers again");
    }
    Some(EndpointTips {
        source,
        latest: tips.head,
        safe: tips.safe,
        last_final: tips.last_final,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::scripted::Scripted;

    fn places(scripted: &Scripted, said: &[EndpointTips<'_>]) -> Vec<usize> {
        scripted.places(said.iter().map(|it| it.source))
    }

    #[tokio::test]
    async fn who_answers_late_is_left_out_of_the_round_and_stays_counted() {
        let scripted = Scripted::of(&["ab", "ab", "abc"]).await;
        let late = &scripted.endpoints()[2];
        scripted.change(2, |it| it.answers_after = 3 * GRACE);
        let mut rounds = Rounds::new(scripted.pool());
        let said = timeout(2 * GRACE, rounds.ask()).await;
        let said = said.expect("it is not waited for");
        assert_eq!(places(&scripted, &said), [0, 1]);
        assert!(!late.is_prompt(7) && late.is_steady(7));
        // The question to it is still under way, and the others are asked again.
        assert_eq!(places(&scripted, &rounds.ask().await), [0, 1]);
        assert_eq!(late.head(), None);
        let said = rounds.wait_for_late().await;
        assert_eq!(places(&scripted, &said), [2]);
        assert_eq!(late.head(), Some(2));
        assert_eq!(late.exclusion(), None);
    }

    #[tokio::test]
    async fn who_answers_late_is_waited_for_where_the_others_are_too_few() {
        let scripted = Scripted::of(&["ab", "ab"]).await;
        scripted.change(1, |it| it.answers_after = 2 * GRACE);
        let said = Rounds::new(scripted.pool()).ask().await;
        assert_eq!(places(&scripted, &said), [0, 1]);
    }

    #[tokio::test]
    async fn who_never_answers_is_excluded() {
        let scripted = Scripted::of(&["ab", "ab", "ab"]).await;
        scripted.change(1, |it| it.answers_after = Duration::from_secs(3_600));
        let mut rounds = Rounds::new(scripted.pool());
        assert_eq!(places(&scripted, &rounds.ask().await), [0, 2]);
        assert!(rounds.wait_for_late().await.is_empty());
        assert!(scripted.endpoints()[1].exclusion().is_some());
    }
}
