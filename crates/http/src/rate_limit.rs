//! How often one client may call the endpoints that cost something, with one key.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock};

use governor::Quota;
use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use till_core::error::{Code, Refusal};

/// How many clients are remembered at most.
const CLIENTS_MAX: usize = 100_000;
/// How many calls pass between two looks at what can be forgotten.
const CALLS_PER_SWEEP: u32 = 1_024;

/// The endpoint, the key and the client.
type BucketKey = (Box<str>, Box<str>, IpAddr);
type Buckets<C> = governor::RateLimiter<
    BucketKey,
    HashMapStateStore<BucketKey>,
    C,
    NoOpMiddleware<<C as Clock>::Instant>,
>;

/// A bucket per endpoint, key and client: a minute's calls may come at once, then one at a time.
pub struct RateLimiter<C: Clock = DefaultClock> {
    quota: Quota,
    clock: C,
    buckets: RwLock<Buckets<C>>,
    calls: AtomicU32,
    clients_max: usize,
}

impl RateLimiter {
    pub fn new(per_minute: u32) -> RateLimiter {
        RateLimiter::with_clock(per_minute, DefaultClock::default(), CLIENTS_MAX)
    }
}

impl<C: Clock + Clone> RateLimiter<C> {
    fn with_clock(per_minute: u32, clock: C, clients_max: usize) -> RateLimiter<C> {
        // None at all would close the endpoints, which is no limit but a mistake.
        let quota = Quota::per_minute(NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN));
        RateLimiter {
            buckets: RwLock::new(Buckets::hashmap_with_clock(quota, clock.clone())),
            quota,
            clock,
            calls: AtomicU32::new(0),
            clients_max,
        }
    }

    /// Counts a call. `client` is what `client_addr::limit_key` made of the caller's address.
    pub fn check(&self, endpoint: &str, key: &str, client: IpAddr) -> Result<(), Refusal> {
        if self.calls.fetch_add(1, Ordering::Relaxed) % CALLS_PER_SWEEP == CALLS_PER_SWEEP - 1 {
            self.sweep();
        }
        let buckets = self.buckets.read().unwrap_or_else(PoisonError::into_inner);
        buckets
            .check_key(&(endpoint.into(), key.into(), client))
            .map_err(|until| {
                let wait = until.wait_time_from(self.clock.now());
                // Whole seconds, rounded up: who waits as told must get through.
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                let seconds = u32::try_from(seconds).unwrap_or(u32::MAX).max(1);
                Refusal::of(Code::RateLimited).retry_after(seconds)
            })
    }

    /// Forgets clients whose bucket is full again. Should there still be too many, all are forgotten: each
    /// of them gains one bucket by it, which takes more calls to bring about than it is worth.
    fn sweep(&self) {
        let mut buckets = self.buckets.write().unwrap_or_else(PoisonError::into_inner);
        buckets.retain_recent();
        if buckets.len() > self.clients_max {
            tracing::warn!(
                clients = buckets.len(),
                "too many clients to keep track of; all rate limits were reset; block the flood before the server, if there is one"
            );
            *buckets = Buckets::hashmap_with_clock(self.quota, self.clock.clone());
        } else {
            buckets.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use governor::clock::FakeRelativeClock;

    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    fn limiter(per_minute: u32) -> (RateLimiter<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (
            RateLimiter::with_clock(per_minute, clock.clone(), 100),
            clock,
        )
    }

    fn client(number: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(number))
    }

    fn remembered(limiter: &RateLimiter<FakeRelativeClock>) -> usize {
        limiter.buckets.read().unwrap().len()
    }

    #[test]
    fn a_minutes_calls_pass_and_the_next_waits_as_told() {
        let (limiter, clock) = limiter(6);
        for _ in 0..6 {
            assert_eq!(limiter.check("lookup", "pk", CLIENT), Ok(()));
        }
        clock.advance(Duration::from_millis(500));
        let refused = limiter.check("lookup", "pk", CLIENT).unwrap_err();
        assert_eq!(
            (refused.code, refused.retry_after_s),
            (Code::RateLimited, Some(10))
        );
        clock.advance(Duration::from_secs(9));
        assert!(limiter.check("lookup", "pk", CLIENT).is_err());
        clock.advance(Duration::from_secs(1));
        assert_eq!(limiter.check("lookup", "pk", CLIENT), Ok(()));
        assert!(limiter.check("lookup", "pk", CLIENT).is_err());
    }

    #[test]
    fn a_wait_below_a_second_is_told_as_one() {
        let (limiter, _) = limiter(600);
        let refused = (0..601).find_map(|_| limiter.check("lookup", "pk", CLIENT).err());
        assert_eq!(refused.and_then(|refused| refused.retry_after_s), Some(1));
    }

    #[test]
    fn endpoints_keys_and_clients_are_counted_apart() {
        let (limiter, _) = limiter(1);
        assert_eq!(limiter.check("lookup", "pk", CLIENT), Ok(()));
        assert!(limiter.check("lookup", "pk", CLIENT).is_err());
        assert_eq!(limiter.check("notify", "pk", CLIENT), Ok(()));
        assert_eq!(limiter.check("lookup", "pk2", CLIENT), Ok(()));
        assert_eq!(limiter.check("lookup", "pk", client(7)), Ok(()));
    }

    #[test]
    fn whoever_waited_long_enough_is_forgotten() {
        let (limiter, clock) = limiter(60);
        for number in 0..50 {
            limiter.check("lookup", "pk", client(number)).unwrap();
        }
        assert_eq!(remembered(&limiter), 50);
        clock.advance(Duration::from_secs(61));
        limiter.sweep();
        assert_eq!(remembered(&limiter), 0);
    }

    #[test]
    fn a_flood_of_clients_cannot_fill_the_memory() {
        let (limiter, _) = limiter(60);
        let sweeps = 3;
        let mut most = 0;
        for number in 0..sweeps * CALLS_PER_SWEEP + 1 {
            limiter.check("lookup", "pk", client(number)).unwrap();
            most = most.max(remembered(&limiter));
        }
        assert!(most <= 100 + CALLS_PER_SWEEP as usize, "{most}");
        assert!(remembered(&limiter) < most);
    }

    #[test]
    fn a_sweep_keeps_those_who_called_too_often() {
        let (limiter, _) = limiter(2);
        for _ in 0..2 {
            limiter.check("lookup", "pk", CLIENT).unwrap();
        }
        limiter.sweep();
        assert!(limiter.check("lookup", "pk", CLIENT).is_err());
    }

    #[test]
    fn a_limit_of_nothing_still_lets_one_through() {
        let (limiter, _) = limiter(0);
        assert_eq!(limiter.check("lookup", "pk", CLIENT), Ok(()));
        assert!(limiter.check("lookup", "pk", CLIENT).is_err());
    }
}
