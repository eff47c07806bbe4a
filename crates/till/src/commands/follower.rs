//! Following a list that is newest first: each item once, in the order of its ids, whatever was read twice.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use till_core::id::{self, IdKind};

use crate::api_client::{ApiClient, ApiError};
use crate::failure::Failure;

/// How often a list is asked for news.
const POLL: Duration = Duration::from_secs(1);
/// After a failure; doubled with each that follows, up to [`BACKOFF_MAX`].
const BACKOFF: Duration = Duration::from_secs(1);
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// An item that is written at the same time as another may appear after it, though its id is lower: the last minutes are
/// read again.
const OVERLAP_MS: i64 = 2 * 60 * 1_000;
const FIRST_PAGE: usize = 10;
const NEXT_PAGES: usize = 100;

/// An item of the list, as the server wrote it.
pub struct Item {
    pub id: String,
    pub raw: Box<RawValue>,
    pub json: Value,
}

/// What has been given out of a list.
pub struct Follower {
    kind: IdKind,
    path: &'static str,
    /// Items with this id or a lower one are not wanted any more.
    floor: String,
    /// Given out, and above the floor.
    seen: BTreeSet<String>,
}

impl Follower {
    /// Everything after this id, which may be given in another run.
    pub fn after(kind: IdKind, path: &'static str, id: String) -> Follower {
        Follower {
            kind,
            path,
            floor: id,
            seen: BTreeSet::new(),
        }
    }

    /// Everything that is not in the list yet.
    pub async fn from_now(
        api: &ApiClient,
        kind: IdKind,
        path: &'static str,
    ) -> Result<Follower, ApiError> {
        let mut follower = Follower::after(kind, path, String::new());
        let newest = api.list(path, &[("limit", "1")]).await?;
        if let Some(newest) = newest.data.first() {
            follower.floor = follower.below(&item(newest.clone()).id);
            for item in follower.read(api).await? {
                follower.seen.insert(item.id);
            }
        }
        Ok(follower)
    }

    /// Waits for what is new and `is_ready`, lowest id first. Goes on after a break, and says so.
    pub async fn next(
        &mut self,
        api: &ApiClient,
        is_ready: impl Fn(&Value) -> bool,
    ) -> Result<Vec<Item>, Failure> {
        let mut backoff = BACKOFF;
        loop {
            match self.read(api).await {
                Ok(items) => {
                    let ready: Vec<Item> =
                        items.into_iter().filter(|it| is_ready(&it.json)).collect();
                    if backoff > BACKOFF {
                        eprintln!("till: the server answers again");
                        backoff = BACKOFF;
                    }
                    if !ready.is_empty() {
                        return Ok(ready);
                    }
                    tokio::time::sleep(POLL).await;
                }
                Err(error) if error.is_passing() => {
                    eprintln!("till: {error}; trying again in {} s", backoff.as_secs());
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// This item is done with.
    pub fn took(&mut self, id: &str) {
        self.seen.insert(id.to_owned());
        if let Some(newest) = self.seen.last() {
            let floor = self.below(newest);
            if floor > self.floor {
                self.seen = self.seen.split_off(&floor);
                self.floor = floor;
            }
        }
    }

    /// What is in the list, wanted and not given out, lowest id first.
    async fn read(&self, api: &ApiClient) -> Result<Vec<Item>, ApiError> {
        let mut found = Vec::new();
        let mut cursor: Option<String> = None;
        let mut limit = FIRST_PAGE;
        loop {
            let items_max = limit.to_string();
            let mut query = vec![("limit", &*items_max)];
            if let Some(cursor) = &cursor {
                query.push(("cursor", cursor));
            }
            let page = api.list(self.path, &query).await?;
            let items = page.data.into_iter().map(item);
            let wanted: Vec<Item> = items.take_while(|it| it.id > self.floor).collect();
            let is_last = page.next_cursor.is_none();
            let reached_floor = wanted.len() < limit;
            found.extend(wanted.into_iter().filter(|it| !self.seen.contains(&it.id)));
            if is_last || reached_floor {
                break;
            }
            (cursor, limit) = (page.next_cursor, NEXT_PAGES);
        }
        found.reverse();
        Ok(found)
    }

    /// An id of the time so far before this one that nothing older can still appear.
    fn below(&self, id: &str) -> String {
        let made = id::time_of(id).unwrap_or(0);
        id::make(self.kind, made.saturating_sub(OVERLAP_MS), 0, 0)
    }
}

fn item(raw: Box<RawValue>) -> Item {
    let json: Value = serde_json::from_str(raw.get()).unwrap_or(Value::Null);
    let id = json["id"].as_str().unwrap_or_default().to_owned();
    Item { id, raw, json }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_out_is_remembered_as_long_as_it_is_read_again() {
        let id = |ms: i64| id::make(IdKind::Event, ms, 0, 7);
        let mut follower = Follower::after(IdKind::Event, "/v1/events", id(1_000_000));
        follower.took(&id(1_000_500));
        follower.took(&id(1_060_000));
        assert_eq!(follower.floor, id(1_000_000), "the floor does not sink");
        assert_eq!(follower.seen.len(), 2);
        follower.took(&id(1_121_000));
        assert!(follower.floor > id(1_000_500) && follower.floor < id(1_060_000));
        assert_eq!(
            follower.seen.len(),
            2,
            "what is below the floor is forgotten"
        );
    }
}
