//! One endpoint of a watched network: whether it may be asked, and for how long it is left alone. Times are given, in
//! microseconds of a clock that only rises.

use std::sync::{Mutex, MutexGuard, PoisonError};

use till_chains::rpc::{Endpoint, RpcError};

const SECOND_US: u64 = 1_000_000;
/// One that did not answer is asked again soon, and then less often.
const FAILED_US: u64 = SECOND_US / 2;
const FAILED_US_MAX: u64 = 15 * SECOND_US;
/// One that lied is left alone for a minute, then longer.
const LIED_US: u64 = 60 * SECOND_US;
const LIED_US_MAX: u64 = 600 * SECOND_US;
/// How often it is asked again whether it is what it is configured as, and how soon when it was not.
const VOUCHED_US: u64 = 600 * SECOND_US;
const WRONG_US: u64 = 60 * SECOND_US;

/// Blocks of one step at most: they are one unit of work.
const BLOCKS_MAX: i64 = 200;
/// Questions at the same time at most.
const AT_ONCE_MAX: usize = 16;
/// So often halved, a step is one block.
const RESTRAINT_MAX: u32 = 8;

/// One that could not give what it was read for is read after the others for so long.
const STUMBLED_US: u64 = 60 * SECOND_US;
/// One that did not move for so long while others went ahead is not waited for.
const STILL_US: u64 = 20 * SECOND_US;

/// One that did not answer where a contract is called is not asked to for so long.
const MUTE_US: u64 = 60 * SECOND_US;

pub struct Source {
    pub endpoint: Endpoint,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Asked again from then on.
    left_until: u64,
    vouched_until: u64,
    failures: u32,
    lies: u32,
    left: Option<Left>,
    head: Option<i64>,
    stumbled_until: u64,
    /// Until when no contract is called through it; none while it answers such questions.
    mute_until: Option<u64>,
    /// How often what it is asked for was halved, because it wanted to be asked less.
    restraint: u32,
    /// Since when others are ahead of where it stands.
    behind_since: Option<u64>,
    was_told_still: bool,
}

/// Whether an endpoint goes along with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Moves,
    /// Others are ahead, and it has not moved for long.
    Still {
        is_news: bool,
    },
}

/// Why an endpoint is not asked, in words for operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Left {
    /// It does not answer, or not in a way that can be used.
    Failed(String),
    /// It said what cannot be so.
    Lied(String),
    /// It is not what it is configured as.
    Wrong(String),
}

impl Left {
    pub fn why(&self) -> &str {
        match self {
            Left::Failed(why) | Left::Lied(why) | Left::Wrong(why) => why,
        }
    }
}

impl Source {
    pub fn new(endpoint: Endpoint) -> Source {
        Source {
            endpoint,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn may_be_asked(&self, now_us: u64) -> bool {
        self.state().left_until <= now_us
    }

    pub fn is_vouched(&self, now_us: u64) -> bool {
        now_us < self.state().vouched_until
    }

    pub fn left(&self) -> Option<Left> {
        self.state().left.clone()
    }

    pub fn head(&self) -> Option<i64> {
        self.state().head
    }

    pub fn vouch(&self, now_us: u64) {
        let mut state = self.state();
        state.vouched_until = now_us + VOUCHED_US;
    }

    /// It answered a round of questions.
    pub fn answered(&self, head: i64) -> Option<Left> {
        let mut state = self.state();
        state.failures = 0;
        if state.head != Some(head) {
            (state.behind_since, state.was_told_still) = (None, false);
        }
        state.head = Some(head);
        state.left.take()
    }

    /// It has the blocks and could not give what is in them: it may have forgotten, and another may not.
    pub fn stumble(&self, now_us: u64) {
        self.state().stumbled_until = now_us + STUMBLED_US;
    }

    pub fn has_stumbled(&self, now_us: u64) -> bool {
        now_us < self.state().stumbled_until
    }

    pub fn is_mute(&self, now_us: u64) -> bool {
        self.state().mute_until.is_some_and(|until| now_us < until)
    }

    /// It did not answer where a contract is called. Says whether this is news.
    pub fn fell_mute(&self, now_us: u64) -> bool {
        let before = self.state().mute_until.replace(now_us + MUTE_US);
        before.is_none()
    }

    pub fn spoke(&self) {
        self.state().mute_until = None;
    }

    /// It was asked too much.
    pub fn refused(&self) {
        let mut state = self.state();
        state.restraint = (state.restraint + 1).min(RESTRAINT_MAX);
    }

    /// It gave all that it was asked for.
    pub fn went_well(&self) {
        let mut state = self.state();
        state.restraint = state.restraint.saturating_sub(1);
    }

    pub fn blocks_at_most(&self) -> i64 {
        (BLOCKS_MAX >> self.state().restraint).max(1)
    }

    pub fn at_once(&self) -> usize {
        (AT_ONCE_MAX >> self.state().restraint).max(1)
    }

    /// How it stands beside whoever is furthest.
    pub fn pace(&self, now_us: u64, furthest: i64) -> Pace {
        let mut state = self.state();
        if state.head.is_some_and(|head| head >= furthest) {
            (state.behind_since, state.was_told_still) = (None, false);
            return Pace::Moves;
        }
        let since = *state.behind_since.get_or_insert(now_us);
        if now_us - since < STILL_US {
            return Pace::Moves;
        }
        let is_news = !std::mem::replace(&mut state.was_told_still, true);
        Pace::Still { is_news }
    }

    /// Says whether this is news.
    pub fn failed(&self, now_us: u64, error: &RpcError) -> bool {
        let mut state = self.state();
        if now_us < state.left_until && matches!(state.left, Some(Left::Lied(_))) {
            return false;
        }
        let wait = FAILED_US << state.failures.min(8);
        state.failures += 1;
        state.left_until = now_us + wait.min(FAILED_US_MAX);
        let is_news = state.left.is_none();
        state.left = Some(Left::Failed(error.to_string()));
        is_news
    }

    /// Says whether this is news: what one that is left alone for a lie said before is one lie with it.
    pub fn lied(&self, now_us: u64, what: &str) -> bool {
        let mut state = self.state();
        if now_us < state.left_until && matches!(state.left, Some(Left::Lied(_))) {
            return false;
        }
        let wait = LIED_US << state.lies.min(8);
        state.lies += 1;
        state.left_until = now_us + wait.min(LIED_US_MAX);
        state.left = Some(Left::Lied(what.to_owned()));
        true
    }

    /// Says whether this is news.
    pub fn is_wrong(&self, now_us: u64, what: &str) -> bool {
        let mut state = self.state();
        state.left_until = now_us + WRONG_US;
        // It is used again once it was looked at again.
        state.vouched_until = 0;
        let left = Left::Wrong(what.to_owned());
        let is_news = state.left.as_ref() != Some(&left);
        state.left = Some(left);
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_too_much_is_asked_for_less_down_to_one_block_and_for_more_when_it_goes_well() {
        let source = source();
        let most = || (source.blocks_at_most(), source.at_once());
        assert_eq!(most(), (200, 16));
        source.refused();
        assert_eq!(most(), (100, 8));
        (0..20).for_each(|_| source.refused());
        assert_eq!(most(), (1, 1));
        (0..8).for_each(|_| source.went_well());
        assert_eq!(most(), (200, 16));
    }

    fn source() -> Source {
        Source::new(Endpoint::parse("http://127.0.0.1:1/secret-key").unwrap())
    }

    /// How long it is left alone after each of so many events.
    fn waits(times: usize, event: impl Fn(&Source, u64)) -> Vec<u64> {
        let (source, mut now) = (source(), 0);
        let mut waits = Vec::new();
        for _ in 0..times {
            event(&source, now);
            let wait = (0..=700).find(|s| source.may_be_asked(now + s * SECOND_US));
            waits.push(wait.unwrap());
            now += 1_000 * SECOND_US;
        }
        waits
    }

    #[test]
    fn who_lied_is_left_alone_for_a_minute_and_then_longer_up_to_ten() {
        let waits = waits(6, |source, now| {
            assert!(source.lied(now, "a log"));
            assert!(!source.lied(now, "another log"));
        });
        assert_eq!(waits, [60, 120, 240, 480, 600, 600]);
    }

    #[test]
    fn who_lied_is_not_asked_sooner_for_not_answering_either() {
        let source = source();
        source.lied(0, "a log");
        assert!(!source.failed(1, &RpcError::CutOff));
        assert!(!source.may_be_asked(59 * SECOND_US));
        assert!(source.may_be_asked(60 * SECOND_US));
    }

    #[test]
    fn who_does_not_answer_is_asked_again_soon_and_then_less_often() {
        let failed = |source: &Source, now| {
            source.failed(now, &RpcError::CutOff);
        };
        assert_eq!(waits(7, failed), [1, 1, 2, 4, 8, 15, 15]);
        let answering = |source: &Source, now| {
            source.failed(now, &RpcError::CutOff);
            source.answered(7);
            source.failed(now, &RpcError::CutOff);
        };
        assert_eq!(waits(3, answering), [1, 1, 1]);
    }

    #[test]
    fn who_does_not_move_while_others_do_is_not_waited_for() {
        let source = source();
        let at = |seconds: u64, head: i64, furthest: i64| {
            source.answered(head);
            source.pace(seconds * SECOND_US, furthest)
        };
        let still = |is_news| Pace::Still { is_news };
        // A chain that stands still has nobody ahead.
        assert_eq!([0, 1_000].map(|now| at(now, 7, 7)), [Pace::Moves; 2]);
        assert_eq!([1_000, 1_019].map(|now| at(now, 7, 8)), [Pace::Moves; 2]);
        assert_eq!(at(1_020, 7, 9), still(true));
        assert_eq!(at(1_021, 7, 9), still(false));
        // One that lags and moves is waited for.
        assert_eq!([1_030, 1_049].map(|now| at(now, 8, 90)), [Pace::Moves; 2]);
        assert_eq!(at(1_050, 8, 90), still(true));
        assert_eq!(at(1_051, 90, 90), Pace::Moves);
    }

    #[test]
    fn who_is_mute_is_asked_again_after_a_minute_and_told_of_once() {
        let source = source();
        assert!(!source.is_mute(0));
        assert!(source.fell_mute(7));
        assert!(source.is_mute(6 + MUTE_US) && !source.is_mute(7 + MUTE_US));
        assert!(!source.fell_mute(7 + MUTE_US), "still so");
        source.spoke();
        assert!(!source.is_mute(8 + MUTE_US));
        assert!(source.fell_mute(9 + MUTE_US), "again");
    }

    #[test]
    fn an_outage_and_its_end_are_told_once() {
        let source = source();
        assert!(source.failed(0, &RpcError::CutOff));
        assert!(!source.failed(1, &RpcError::Status(502)));
        assert!(matches!(source.answered(3), Some(Left::Failed(_))));
        assert_eq!(source.answered(4), None);
        assert_eq!(source.head(), Some(4));
        assert!(source.is_wrong(5, "it is on eip155:1"));
        assert!(!source.is_wrong(6, "it is on eip155:1"));
        assert_eq!(source.left().unwrap().why(), "it is on eip155:1");
    }
}
