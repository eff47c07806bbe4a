//! The `Idempotency-Key` header, and the requests of this process that hold one right now.

use std::borrow::Cow;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderMap, HeaderName};
use till_core::error::{Code, Refusal};
use till_core::limits::IDEMPOTENCY_KEY_CHARS_MAX;

pub const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
/// How the header's line begins, before anything is made of it.
pub const HEADER_LINE: &[u8] = b"idempotency-key:";
const PARAM: &str = "Idempotency-Key";

pub fn key(headers: &HeaderMap) -> Result<String, Refusal> {
    let mut values = headers.get_all(HEADER).iter();
    let value = values
        .next()
        .ok_or_else(|| Refusal::of(Code::IdempotencyKeyRequired).param(PARAM))?
        .as_bytes();
    if values.next().is_some() {
        return Err(invalid("The request has more than one `Idempotency-Key`."));
    }
    if value.is_empty() {
        return Err(invalid("The `Idempotency-Key` is empty."));
    }
    if value.len() > IDEMPOTENCY_KEY_CHARS_MAX {
        return Err(invalid(format!(
            "The `Idempotency-Key` is {} characters long; at most {IDEMPOTENCY_KEY_CHARS_MAX} are taken.",
            value.len()
        )));
    }
    match value.iter().find(|byte| !byte.is_ascii_graphic()) {
        Some(byte) => Err(unusable_byte(*byte)),
        None => Ok(value.iter().copied().map(char::from).collect()),
    }
}

/// Refuses a key for a byte in it.
pub fn unusable_byte(byte: u8) -> Refusal {
    let name = match byte {
        b' ' => "a space".to_owned(),
        b'\t' => "a tab".to_owned(),
        0x80.. => format!("the byte 0x{byte:02X}, which is not ASCII"),
        _ => format!("the control character 0x{byte:02X}"),
    };
    invalid(format!(
        "The `Idempotency-Key` contains {name}. Use 1 to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters; a UUID will do."
    ))
}

fn invalid(message: impl Into<Cow<'static, str>>) -> Refusal {
    Refusal::new(Code::IdempotencyKeyInvalid, message).param(PARAM)
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
    fn what_is_wrong_with_a_key_is_said() {
        let said = |values: &[&[u8]]| {
            let values = values.iter().map(|value| HeaderValue::from_bytes(value));
            let headers = values.map(|value| (HEADER, value.unwrap()));
            key(&headers.collect()).unwrap_err().message.into_owned()
        };
        for (value, part) in [
            (&b""[..], "is empty"),
            (&[b'k'; 256], "is 256 characters long"),
            (b"a b", "contains a space."),
            (b"a\tb", "contains a tab."),
            (
                "é".as_bytes(),
                "contains the byte 0xC3, which is not ASCII.",
            ),
        ] {
            let said = said(&[value]);
            assert!(said.contains(part), "{said}");
        }
        assert!(said(&[b"a", b"a"]).contains("more than one"));
        let del = unusable_byte(0x7f).message;
        assert!(del.contains("the control character 0x7F"), "{del}");
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
