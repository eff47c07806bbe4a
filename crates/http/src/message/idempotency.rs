//! The `Idempotency-Key` header, and the requests of this process that hold one right now.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName};
use till_core::error::{Code, Refusal};
use till_core::limits::IDEMPOTENCY_KEY_CHARS_MAX;

pub const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const PARAM: &str = "Idempotency-Key";

pub fn key(headers: &HeaderMap) -> Result<String, Refusal> {
    let mut values = headers.get_all(HEADER).iter();
    let value = values
        .next()
        .ok_or_else(|| Refusal::of(Code::IdempotencyKeyRequired).param(PARAM))?
        .as_bytes();
    let fits = values.next().is_none()
        && (1..=IDEMPOTENCY_KEY_CHARS_MAX).contains(&value.len())
        && value.iter().all(u8::is_ascii_graphic);
    std::str::from_utf8(value)
        .ok()
        .filter(|_| fits)
        .map(str::to_owned)
        .ok_or_else(|| Refusal::of(Code::IdempotencyKeyInvalid).param(PARAM))
}

/// Keys in progress. Sharded, because every POST passes through here.
///
/// It only spares the database a collision it would have caught: another process is not seen.
pub struct InFlight<K> {
    shards: Vec<Mutex<HashSet<K>>>,
    hasher: RandomState,
}

const SHARDS: usize = 64;

impl<K: Hash + Eq + Clone> InFlight<K> {
    pub fn new() -> Arc<InFlight<K>> {
        Arc::new(InFlight {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        })
    }

    /// Nothing when the key is already in progress; it is free again once the guard is dropped.
    pub fn enter(self: &Arc<Self>, key: K) -> Option<InFlightGuard<K>> {
        self.shard(&key).insert(key.clone()).then(|| InFlightGuard {
            set: Arc::clone(self),
            key,
        })
    }

    fn shard(&self, key: &K) -> MutexGuard<'_, HashSet<K>> {
        // The remainder is below the number of shards, so it fits an index on any machine.
        let index = (self.hasher.hash_one(key) % SHARDS as u64) as usize;
        // A set of keys cannot be left half-changed, so a panic elsewhere does not spoil it.
        self.shards[index]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[must_use = "the key is free again as soon as the guard is dropped"]
pub struct InFlightGuard<K: Hash + Eq + Clone> {
    set: Arc<InFlight<K>>,
    key: K,
}

impl<K: Hash + Eq + Clone> Drop for InFlightGuard<K> {
    fn drop(&mut self) {
        self.set.shard(&self.key).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn read(values: &[&[u8]]) -> Result<String, Code> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HEADER, HeaderValue::from_bytes(value).unwrap());
        }
        key(&headers).map_err(|refusal| {
            assert_eq!(refusal.param.as_deref(), Some("Idempotency-Key"));
            refusal.code
        })
    }

    #[test]
    fn a_key_is_one_to_255_visible_ascii_characters() {
        assert_eq!(read(&[b"a"]), Ok("a".into()));
        assert_eq!(read(&[b"!~"]), Ok("!~".into()));
        assert_eq!(read(&[&[b'k'; 255]]), Ok("k".repeat(255)));
        for bad in [&b""[..], &[b'k'; 256], b"a b", b"a\tb", "é".as_bytes()] {
            assert_eq!(read(&[bad]), Err(Code::IdempotencyKeyInvalid), "{bad:?}");
        }
        assert_eq!(read(&[b"a", b"a"]), Err(Code::IdempotencyKeyInvalid));
        assert_eq!(read(&[]), Err(Code::IdempotencyKeyRequired));
    }

    #[test]
    fn a_key_in_progress_is_taken_until_its_guard_goes() {
        let set = InFlight::new();
        let guard = set.enter(("acct_1", "k")).unwrap();
        assert!(set.enter(("acct_1", "k")).is_none());
        assert!(set.enter(("acct_2", "k")).is_some());
        drop(guard);
        assert!(set.enter(("acct_1", "k")).is_some());
    }

    #[test]
    fn of_many_that_enter_at_once_exactly_one_succeeds() {
        let set = InFlight::new();
        let entered: Vec<_> = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..8).map(|_| scope.spawn(|| set.enter("k"))).collect();
            tries.into_iter().map(|each| each.join().unwrap()).collect()
        });
        assert_eq!(entered.iter().filter(|guard| guard.is_some()).count(), 1);
    }

    #[test]
    fn a_panic_while_in_progress_frees_the_key() {
        let set = InFlight::new();
        let inside = Arc::clone(&set);
        let died = std::thread::spawn(move || {
            let _guard = inside.enter("k").unwrap();
            panic!("on purpose");
        });
        assert!(died.join().is_err());
        assert!(set.enter("k").is_some());
    }
}
