//! Cursors: the last id of a page, tagged for its list, account and mode. A forged or borrowed one is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use till_core::error::{Code, Refusal};
use till_core::scope::Scope;
use till_engine::Engine;
use till_store::Page;

use till_http::query;

const TAG_BYTES: usize = 10;

fn purpose(scope: &Scope, list: &str) -> String {
    format!("cursor/{list}/{}/{}", scope.account, scope.mode.as_str())
}

fn make(engine: &Engine, scope: &Scope, list: &str, id: &str) -> String {
    let tag = engine.vault.tag(&purpose(scope, list), id.as_bytes());
    let mut bytes = tag[..TAG_BYTES].to_vec();
    bytes.extend_from_slice(id.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn read(engine: &Engine, scope: &Scope, list: &str, cursor: &str) -> Option<String> {
    if cursor.len() > 200 {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    let (tag, id) = bytes.split_at_checked(TAG_BYTES)?;
    let id = std::str::from_utf8(id).ok()?;
    engine
        .vault
        .is_short_tag(&purpose(scope, list), id.as_bytes(), tag)
        .then(|| id.to_owned())
}

/// The page that was asked for, one row longer: the extra row tells whether there is another page.
pub fn page(
    engine: &Engine,
    scope: &Scope,
    list: &str,
    asked: &query::Page,
) -> Result<Page, Refusal> {
    let before = match &asked.cursor {
        None => None,
        Some(cursor) => Some(read(engine, scope, list, cursor).ok_or_else(|| {
            Refusal::new(
                Code::ParameterInvalid,
                "cursor is not one that this list gave out",
            )
            .param("cursor")
        })?),
    };
    Ok(Page {
        limit: asked.limit + 1,
        before,
    })
}

/// Cuts the extra row off and says how to go on.
pub fn next<T>(
    engine: &Engine,
    scope: &Scope,
    list: &str,
    asked: &query::Page,
    rows: &mut Vec<T>,
    id: impl Fn(&T) -> &str,
) -> Option<String> {
    let limit = asked.limit as usize;
    if rows.len() <= limit {
        return None;
    }
    rows.truncate(limit);
    rows.last().map(|last| make(engine, scope, list, id(last)))
}
