//! One endpoint of a network: whether it may be asked now, how much at a time, and for how long it is excluded. Times
//! are arguments, in microseconds of a monotonic clock.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use till_chains::BlockHash;
use till_chains::rpc::{self, RpcError};

const SECOND_US: u64 = 1_000_000;
/// Backoff after a call that failed.
const FAILED_US: u64 = SECOND_US / 2;
const FAILED_US_MAX: u64 = 15 * SECOND_US;
/// The longest `Retry-After` that is honoured. An endpoint that wants more is called again all the same, for it may be
/// the only one left.
const ASKED_WAIT_US_MAX: u64 = 600 * SECOND_US;
/// Exclusion after an answer that was proven false or outvoted; doubled each time.
const LIED_US: u64 = 60 * SECOND_US;
const LIED_US_MAX: u64 = 600 * SECOND_US;
/// How long an identity check holds, and how soon an endpoint of another chain is checked again.
const IDENTIFIED_US: u64 = 600 * SECOND_US;
const WRONG_US: u64 = 60 * SECOND_US;

/// The most blocks that are read in one step: a step is written in one unit of work.
const BLOCKS_MAX: i64 = 200;
/// The most concurrent calls to one endpoint.
const AT_ONCE_MAX: usize = 16;
/// After this many halvings a step is a single block.
const RESTRAINT_MAX: u32 = 8;

/// How long an endpoint that could not serve its blocks is read after the others.
const DEPRIORITISED_US: u64 = 60 * SECOND_US;
/// An endpoint whose head did not move for this long while others advanced has stalled.
const STALLED_US: u64 = 20 * SECOND_US;

/// How long an endpoint may have a block without its contents: nodes write receipts and logs after the block.
pub(crate) const SLOW_US: u64 = 5 * SECOND_US;
/// How long a claim that other endpoints deny counts against its endpoint, and how many such claims are kept.
const UNSHARED_US: u64 = 60 * SECOND_US;
const UNSHARED_MAX: usize = 100;

/// How long an endpoint gets no contract calls after one of them timed out.
const CALLS_PAUSED_US: u64 = 60 * SECOND_US;

/// A block and a transaction in it.
pub(crate) type TransactionInBlock = (BlockHash, [u8; 32]);

pub struct Endpoint {
    pub address: rpc::Endpoint,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Until when it is not asked.
    excluded_until: u64,
    identified_until: u64,
    /// It has named the network that it is configured for, and nothing else since.
    is_of_network: bool,
    failures: u32,
    lies: u32,
    exclusion: Option<Exclusion>,
    head: Option<i64>,
    deprioritised_until: u64,
    late_until: u64,
    /// Until when the contents of blocks are not read from this endpoint.
    contents_doubted_until: u64,
    /// How often its contents were found false: each time it is distrusted for longer.
    contents_doubts: u32,
    contents_doubt: String,
    /// Until when it gets no contract calls. None while it answers them.
    calls_paused_until: Option<u64>,
    /// How often its share was halved because of rate limits.
    restraint: u32,
    /// Since when others are ahead of its head.
    behind_since: Option<u64>,
    was_reported_stalled: bool,
    /// Transactions that it says pay us and that other endpoints deny, each with the time of the first claim.
    unshared: HashMap<TransactionInBlock, u64>,
}

/// Whether an endpoint keeps up with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Moving,
    /// Others are ahead, and its head has not moved for long.
    Stalled {
        is_news: bool,
    },
}

/// Why an endpoint is not asked, with a reason for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// It does not answer, or with an answer that cannot be read.
    Failed(String),
    /// It gave an answer that was proven false or outvoted.
    Lied(String),
    /// It serves another chain, or one without our contracts.
    Wrong(String),
}

impl Exclusion {
    pub fn why(&self) -> &str {
        match self {
            Exclusion::Failed(why) | Exclusion::Lied(why) | Exclusion::Wrong(why) => why,
        }
    }
}

impl Endpoint {
    pub fn new(address: rpc::Endpoint) -> Endpoint {
        Endpoint {
            address,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn may_be_asked(&self, now_us: u64) -> bool {
        self.state().excluded_until <= now_us
    }

    pub fn is_identified(&self, now_us: u64) -> bool {
        now_us < self.state().identified_until
    }

    /// Whether it is excluded for what it said, and not because it did not answer or lacks what payments need.
    pub(crate) fn is_disbelieved(&self, now_us: u64) -> bool {
        let state = self.state();
        matches!(state.exclusion, Some(Exclusion::Lied(_))) && now_us < state.excluded_until
    }

    pub(crate) fn is_of_network(&self) -> bool {
        self.state().is_of_network
    }

    pub(crate) fn mark_of_network(&self) {
        self.state().is_of_network = true;
    }

    pub fn exclusion(&self) -> Option<Exclusion> {
        self.state().exclusion.clone()
    }

    pub fn head(&self) -> Option<i64> {
        self.state().head
    }

    pub fn mark_identified(&self, now_us: u64) {
        let mut state = self.state();
        state.is_of_network = true;
        state.identified_until = now_us + IDENTIFIED_US;
    }

    /// Records an answered round and the head in it. Returns the exclusion that ends by it, if there was one.
    pub fn mark_answered(&self, head: i64) -> Option<Exclusion> {
        let mut state = self.state();
        state.failures = 0;
        if state.head != Some(head) {
            (state.behind_since, state.was_reported_stalled) = (None, false);
        }
        state.head = Some(head);
        state.exclusion.take()
    }

    /// Has other endpoints read first for a while, because this one could not serve the contents of blocks that it has.
    pub fn deprioritise(&self, now_us: u64) {
        self.state().deprioritised_until = now_us + DEPRIORITISED_US;
    }

    /// Whether it is read in its turn: neither deprioritised nor distrusted about contents.
    pub fn is_steady(&self, now_us: u64) -> bool {
        !self.is_deprioritised(now_us) && !self.is_contents_doubted(now_us)
    }

    pub fn is_deprioritised(&self, now_us: u64) -> bool {
        now_us < self.state().deprioritised_until
    }

    /// Records that it was left out of a round because it did not answer in time.
    pub(crate) fn mark_late(&self, now_us: u64) {
        self.state().late_until = now_us + DEPRIORITISED_US;
    }

    /// Whether it is steady and has answered in time lately. Where there is a choice, such endpoints are asked first.
    pub fn is_prompt(&self, now_us: u64) -> bool {
        self.is_steady(now_us) && self.state().late_until <= now_us
    }

    /// Records that it gave contents of a block that were proven false. Its contents are not read for a while; its
    /// headers still count. Returns false while it is distrusted already.
    pub fn mark_contents_false(&self, now_us: u64, what: &str) -> bool {
        let mut state = self.state();
        if now_us < state.contents_doubted_until {
            return false;
        }
        let wait = LIED_US << state.contents_doubts.min(8);
        state.contents_doubts += 1;
        what.clone_into(&mut state.contents_doubt);
        state.contents_doubted_until = now_us + wait.min(LIED_US_MAX);
        true
    }

    pub fn is_contents_doubted(&self, now_us: u64) -> bool {
        now_us < self.state().contents_doubted_until
    }

    /// Why the contents of blocks are not read from it now. None if they are.
    pub fn contents_doubt(&self, now_us: u64) -> Option<String> {
        let state = self.state();
        (now_us < state.contents_doubted_until).then(|| state.contents_doubt.clone())
    }

    pub fn pauses_calls(&self, now_us: u64) -> bool {
        self.state()
            .calls_paused_until
            .is_some_and(|until| now_us < until)
    }

    /// Records a contract call that timed out, and pauses such calls. Returns true for the first one since a call
    /// succeeded.
    pub fn mark_call_failed(&self, now_us: u64) -> bool {
        let before = self
            .state()
            .calls_paused_until
            .replace(now_us + CALLS_PAUSED_US);
        before.is_none()
    }

    pub fn mark_call_ok(&self) {
        self.state().calls_paused_until = None;
    }

    /// Halves its share of blocks and calls, because it refused a call for its rate limit.
    pub fn mark_rate_limited(&self) {
        let mut state = self.state();
        state.restraint = (state.restraint + 1).min(RESTRAINT_MAX);
    }

    /// Gives back one halving of its share, because it served all that it was asked for.
    pub fn mark_ok(&self) {
        let mut state = self.state();
        state.restraint = state.restraint.saturating_sub(1);
    }

    pub fn blocks_at_most(&self) -> i64 {
        (BLOCKS_MAX >> self.state().restraint).max(1)
    }

    pub fn at_once(&self) -> usize {
        (AT_ONCE_MAX >> self.state().restraint).max(1)
    }

    /// Whether its head keeps up with the furthest one.
    pub fn progress(&self, now_us: u64, furthest: i64) -> Progress {
        let mut state = self.state();
        if state.head.is_some_and(|head| head >= furthest) {
            (state.behind_since, state.was_reported_stalled) = (None, false);
            return Progress::Moving;
        }
        let since = *state.behind_since.get_or_insert(now_us);
        if now_us - since < STALLED_US {
            return Progress::Moving;
        }
        let is_news = !std::mem::replace(&mut state.was_reported_stalled, true);
        Progress::Stalled { is_news }
    }

    /// Records a claim that other endpoints deny. Returns whether it has made such claims, about this transaction or
    /// others, for so long that the others cannot merely be slow.
    pub(crate) fn mark_unshared(&self, about: TransactionInBlock, now_us: u64) -> bool {
        let mut state = self.state();
        let unshared = &mut state.unshared;
        unshared.retain(|_, since| now_us < *since + UNSHARED_US);
        // With so many of them it is the oldest that count.
        if unshared.len() < UNSHARED_MAX {
            unshared.entry(about).or_insert(now_us);
        }
        let oldest = unshared.values().min();
        oldest.is_some_and(|since| since + SLOW_US <= now_us)
    }

    /// Forgets a denied claim: enough others make it by now, so this endpoint was merely first.
    pub(crate) fn mark_shared(&self, about: &TransactionInBlock) {
        self.state().unshared.remove(about);
    }

    /// Forgets all denied claims after a reorg: they may have been true of the replaced blocks.
    pub fn forget_unshared(&self) {
        self.state().unshared.clear();
    }

    /// Excludes it for a while after a failed call, for longer each time. Returns true if it was not excluded, as at
    /// the first failure after an answered round.
    pub fn mark_failed(&self, now_us: u64, error: &RpcError) -> bool {
        let mut state = self.state();
        if now_us < state.excluded_until && matches!(state.exclusion, Some(Exclusion::Lied(_))) {
            return false;
        }
        let wait = FAILED_US << state.failures.min(8);
        let wait = wait.min(FAILED_US_MAX).max(asked_wait_us(error));
        state.failures += 1;
        state.excluded_until = now_us + wait;
        let is_news = state.exclusion.is_none();
        state.exclusion = Some(Exclusion::Failed(error.to_string()));
        is_news
    }

    /// Excludes it after an answer that was outvoted or proven false, for longer each time. Returns false while it is
    /// excluded for that already: further false answers count as the same.
    pub fn mark_lied(&self, now_us: u64, what: &str) -> bool {
        let mut state = self.state();
        if now_us < state.excluded_until && matches!(state.exclusion, Some(Exclusion::Lied(_))) {
            return false;
        }
        let wait = LIED_US << state.lies.min(8);
        state.lies += 1;
        state.excluded_until = now_us + wait.min(LIED_US_MAX);
        state.exclusion = Some(Exclusion::Lied(what.to_owned()));
        true
    }

    /// Excludes an endpoint that is not what it is configured as. Returns whether this is news.
    pub fn mark_wrong(&self, now_us: u64, what: &str) -> bool {
        let mut state = self.state();
        state.excluded_until = now_us + WRONG_US;
        // It must be identified again before it is used.
        (state.identified_until, state.is_of_network) = (0, false);
        let exclusion = Exclusion::Wrong(what.to_owned());
        let is_news = state.exclusion.as_ref() != Some(&exclusion);
        state.exclusion = Some(exclusion);
        is_news
    }
}

/// The `Retry-After` of a rate-limited call, capped. Zero if there is none.
fn asked_wait_us(error: &RpcError) -> u64 {
    let RpcError::TooOften {
        wait: Some(wait), ..
    } = error
    else {
        return 0;
    };
    let wait = u64::try_from(wait.as_micros()).unwrap_or(u64::MAX);
    wait.min(ASKED_WAIT_US_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_too_much_is_asked_for_less_down_to_one_block_and_for_more_when_it_goes_well() {
        let endpoint = endpoint();
        let most = || (endpoint.blocks_at_most(), endpoint.at_once());
        assert_eq!(most(), (200, 16));
        endpoint.mark_rate_limited();
        assert_eq!(most(), (100, 8));
        (0..20).for_each(|_| endpoint.mark_rate_limited());
        assert_eq!(most(), (1, 1));
        (0..8).for_each(|_| endpoint.mark_ok());
        assert_eq!(most(), (200, 16));
    }

    fn endpoint() -> Endpoint {
        Endpoint::new(rpc::Endpoint::parse("http://127.0.0.1:1/secret-key").unwrap())
    }

    /// How long it is excluded after each of so many events.
    fn waits(times: usize, event: impl Fn(&Endpoint, u64)) -> Vec<u64> {
        let (endpoint, mut now) = (endpoint(), 0);
        let mut waits = Vec::new();
        for _ in 0..times {
            event(&endpoint, now);
            let wait = (0..=700).find(|s| endpoint.may_be_asked(now + s * SECOND_US));
            waits.push(wait.unwrap());
            now += 1_000 * SECOND_US;
        }
        waits
    }

    #[test]
    fn who_lied_is_left_alone_for_a_minute_and_then_longer_up_to_ten() {
        let waits = waits(6, |endpoint, now| {
            assert!(endpoint.mark_lied(now, "a log"));
            assert!(!endpoint.mark_lied(now, "another log"));
        });
        assert_eq!(waits, [60, 120, 240, 480, 600, 600]);
    }

    #[test]
    fn who_lied_is_not_asked_sooner_for_not_answering_either() {
        let endpoint = endpoint();
        endpoint.mark_lied(0, "a log");
        assert!(!endpoint.mark_failed(1, &RpcError::CutOff));
        assert!(!endpoint.may_be_asked(59 * SECOND_US));
        assert!(endpoint.may_be_asked(60 * SECOND_US));
    }

    #[test]
    fn who_does_not_answer_is_asked_again_soon_and_then_less_often() {
        let failing = |endpoint: &Endpoint, now| {
            endpoint.mark_failed(now, &RpcError::CutOff);
        };
        assert_eq!(waits(7, failing), [1, 1, 2, 4, 8, 15, 15]);
        let answering = |endpoint: &Endpoint, now| {
            endpoint.mark_failed(now, &RpcError::CutOff);
            endpoint.mark_answered(7);
            endpoint.mark_failed(now, &RpcError::CutOff);
        };
        assert_eq!(waits(3, answering), [1, 1, 1]);
    }

    #[test]
    fn who_says_for_how_long_it_wants_not_to_be_asked_is_left_alone_for_as_long() {
        let asking = |seconds: u64| {
            move |endpoint: &Endpoint, now| {
                let wait = Some(std::time::Duration::from_secs(seconds));
                let message = "status 429".to_owned();
                endpoint.mark_failed(now, &RpcError::TooOften { message, wait });
            }
        };
        assert_eq!(waits(2, asking(90)), [90, 90]);
        assert_eq!(waits(1, asking(86_400)), [600], "but not for a day");
        assert_eq!(waits(4, asking(0)), [1, 1, 2, 4], "as after any failure");
    }

    #[test]
    fn who_does_not_move_while_others_do_is_not_waited_for() {
        let endpoint = endpoint();
        let at = |seconds: u64, head: i64, furthest: i64| {
            endpoint.mark_answered(head);
            endpoint.progress(seconds * SECOND_US, furthest)
        };
        let stalled = |is_news| Progress::Stalled { is_news };
        // A chain that stands still has nobody ahead.
        assert_eq!([0, 1_000].map(|now| at(now, 7, 7)), [Progress::Moving; 2]);
        assert_eq!(
            [1_000, 1_019].map(|now| at(now, 7, 8)),
            [Progress::Moving; 2]
        );
        assert_eq!(at(1_020, 7, 9), stalled(true));
        assert_eq!(at(1_021, 7, 9), stalled(false));
        // One that lags and moves is waited for.
        assert_eq!(
            [1_030, 1_049].map(|now| at(now, 8, 90)),
            [Progress::Moving; 2]
        );
        assert_eq!(at(1_050, 8, 90), stalled(true));
        assert_eq!(at(1_051, 90, 90), Progress::Moving);
    }

    #[test]
    fn who_is_mute_is_asked_again_after_a_minute_and_told_of_once() {
        let endpoint = endpoint();
        assert!(!endpoint.pauses_calls(0));
        assert!(endpoint.mark_call_failed(7));
        assert!(
            endpoint.pauses_calls(6 + CALLS_PAUSED_US)
                && !endpoint.pauses_calls(7 + CALLS_PAUSED_US)
        );
        assert!(!endpoint.mark_call_failed(7 + CALLS_PAUSED_US), "still so");
        endpoint.mark_call_ok();
        assert!(!endpoint.pauses_calls(8 + CALLS_PAUSED_US));
        assert!(endpoint.mark_call_failed(9 + CALLS_PAUSED_US), "again");
    }

    #[test]
    fn whose_contents_were_false_is_asked_for_blocks_and_read_again_after_a_minute() {
        let endpoint = endpoint();
        assert!(!endpoint.is_contents_doubted(0));
        assert!(endpoint.mark_contents_false(7, "a log"));
        assert!(!endpoint.mark_contents_false(8, "a log"), "the same again");
        assert!(endpoint.may_be_asked(8) && endpoint.exclusion().is_none());
        assert!(endpoint.is_contents_doubted(6 + LIED_US));
        assert_eq!(endpoint.contents_doubt(8).as_deref(), Some("a log"));
        assert_eq!(endpoint.contents_doubt(7 + LIED_US), None);
        assert!(!endpoint.is_contents_doubted(7 + LIED_US));
        assert!(endpoint.mark_contents_false(7 + LIED_US, "a log"));
        assert!(
            endpoint.is_contents_doubted(6 + 3 * LIED_US),
            "longer each time"
        );
    }

    #[test]
    fn who_claims_something_new_each_time_is_told_from_who_is_merely_first() {
        let (first, liar) = (endpoint(), endpoint());
        let about = |second: u64| ([1; 32].into(), [u8::try_from(second).unwrap(); 32]);
        for second in 0..20 {
            let now_us = second * SECOND_US;
            assert!(!first.mark_unshared(about(second), now_us));
            first.mark_shared(&about(second));
            let is_slow_no_more = liar.mark_unshared(about(second), now_us);
            assert_eq!(is_slow_no_more, now_us >= SLOW_US, "{second}");
        }
        assert!(!liar.mark_unshared(about(99), 19 * SECOND_US + UNSHARED_US));
        assert!(liar.mark_unshared(about(98), 25 * SECOND_US + UNSHARED_US));
        liar.forget_unshared();
        assert!(!liar.mark_unshared(about(97), 26 * SECOND_US + UNSHARED_US));
    }

    #[test]
    fn an_outage_and_its_end_are_told_once() {
        let endpoint = endpoint();
        assert!(endpoint.mark_failed(0, &RpcError::CutOff));
        assert!(!endpoint.mark_failed(1, &RpcError::Status(502)));
        assert!(matches!(
            endpoint.mark_answered(3),
            Some(Exclusion::Failed(_))
        ));
        assert_eq!(endpoint.mark_answered(4), None);
        assert_eq!(endpoint.head(), Some(4));
        assert!(endpoint.mark_wrong(5, "it is on eip155:1"));
        assert!(!endpoint.mark_wrong(6, "it is on eip155:1"));
        assert_eq!(endpoint.exclusion().unwrap().why(), "it is on eip155:1");
    }
}
