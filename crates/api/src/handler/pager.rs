//! Lists, page by page. A cursor is the last id of a page, tagged for its list, account and mode: a forged or
//! borrowed one is refused. Where there are replicas it has a position, too: the page after it is read where everything is that was there
//! for this one, or items that it was read without would be left out.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use till_core::error::{Code, Refusal};
use till_core::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use till_core::page::{Page, Paged};
use till_core::scope::Scope;
use till_engine::{Engine, Fail, Position, ReadSource};
use till_http::query::{Query, integer, text};
use till_http::read::Read;

use super::answers::{Answered, List, shown};
use super::callers::Secret;
use super::got::Got;
use super::request::{NoParams, Params, params};
use super::state::Api;

const TAG_BYTES: usize = 10;
const CURSOR_CHARS_MAX: usize = 200;
/// Between the id and the position of a cursor.
const AT: char = '#';

params! {
    pub struct PageParams {
        /// How many to a page.
        #[param(value_type = Option<i32>, minimum = 1, maximum = 100, default = 10)]
        limit: Option<i64> = integer(1..=i64::from(PAGE_LIMIT_MAX)),
        /// The previous page's `next_cursor`.
        cursor: Option<String> = text,
    }
}

/// The parameters of a list: which page, of which items.
#[derive(Clone, Debug)]
pub struct Listing<F = NoParams> {
    asked: PageParams,
    pub filter: F,
}

impl<F: Params> Params for Listing<F> {
    fn names(known: &mut Vec<&'static str>) {
        PageParams::names(known);
        F::names(known);
    }

    fn read(query: &mut Query) -> Read<Listing<F>> {
        Ok(Listing {
            asked: PageParams::read(query)?,
            filter: F::read(query)?,
        })
    }
}

/// Pages through one list of one account and mode.
pub struct Pager<'a> {
    engine: &'a Engine,
    purpose: String,
    /// The page that was asked for.
    pub page: Page,
    /// Where it is read.
    pub reads: ReadSource,
    /// What the page before it was read with.
    seen: Position,
    /// Whether its length was asked for as well.
    is_limited: bool,
}

impl<R, F> Got<R, Listing<F>> {
    pub fn filter(&self) -> &F {
        &self.query.filter
    }

    /// `list` names it in its cursors.
    pub fn pager_at_primary<'a>(&self, api: &'a Api, list: &str) -> Result<Pager<'a>, Refusal> {
        let Scope { account, mode } = self.scope();
        let purpose = format!("cursor/{list}/{account}/{}", mode.as_str());
        self.query.pager(api, purpose)
    }
}

impl<F> Got<Secret, Listing<F>> {
    /// The same for what a replica may answer.
    pub async fn pager<'a>(&self, api: &'a Api, list: &str) -> Result<Pager<'a>, Refusal> {
        let pager = self.pager_at_primary(api, list)?;
        let reads = self.reads_after(api, pager.seen).await;
        Ok(Pager { reads, ..pager })
    }
}

impl<F> Listing<F> {
    /// `purpose` is what its cursors are tagged for: the list, and whose it is.
    pub fn pager<'a>(&self, api: &'a Api, purpose: String) -> Result<Pager<'a>, Refusal> {
        // The reader has bounded it by a u32.
        let limit = self.asked.limit.map(u32::try_from);
        let mut pager = Pager {
            engine: &api.engine,
            purpose,
            is_limited: limit.is_some(),
            page: Page {
                limit: limit.map_or(PAGE_LIMIT_DEFAULT, |limit| limit.unwrap_or(PAGE_LIMIT_MAX)),
                before: None,
            },
            reads: api.engine.db.primary(),
            seen: Position::START,
        };
        if let Some(cursor) = &self.asked.cursor {
            let (before, seen) = pager.open(cursor).ok_or_else(|| {
                let message = "cursor is not one that this list gave out";
                Refusal::new(Code::ParameterInvalid, message).param("cursor")
            })?;
            pager.page.before = Some(before);
            pager.seen = seen;
        }
        Ok(pager)
    }
}

impl Pager<'_> {
    /// For lists that are short by nature: on one page, unless a shorter one was asked for.
    #[must_use]
    pub fn on_one_page(mut self) -> Self {
        if !self.is_limited {
            self.page.limit = PAGE_LIMIT_MAX;
        }
        self
    }

    /// What was found, and how to go on.
    pub async fn shown<T: Serialize>(&self, found: Paged<T>) -> Answered {
        let next_cursor = match found.next {
            None => None,
            Some(id) => Some(self.cursor(id).await?),
        };
        shown(&List {
            object: "list",
            data: found.items,
            next_cursor,
        })
    }

    async fn cursor(&self, id: String) -> Result<String, Fail> {
        Ok(match self.reads.position().await? {
            Position::START => self.seal(&id),
            position => self.seal(&format!("{id}{AT}{position}")),
        })
    }

    fn seal(&self, id: &str) -> String {
        let tag = self.engine.vault.tag(&self.purpose, id.as_bytes());
        let mut bytes = tag[..TAG_BYTES].to_vec();
        bytes.extend_from_slice(id.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The id, and what the page was read with.
    fn open(&self, cursor: &str) -> Option<(String, Position)> {
        if cursor.len() > CURSOR_CHARS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (tag, id) = bytes.split_at_checked(TAG_BYTES)?;
        let id = std::str::from_utf8(id).ok()?;
        let vault = &self.engine.vault;
        if !vault.is_short_tag(&self.purpose, id.as_bytes(), tag) {
            return None;
        }
        let at = id.rsplit_once(AT);
        let at = at.and_then(|(id, at)| Some((id, Position::parse(at)?)));
        let (id, seen) = at.unwrap_or((id, Position::START));
        Some((id.to_owned(), seen))
    }
}
