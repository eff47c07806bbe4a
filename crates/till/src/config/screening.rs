//! `screening.*`: the lists that addresses are held against.

use toml::{Table, Value};
use url::Url;

use super::error::ConfigError;
use super::origin::GivenValue;
use super::settings::{Settings, wrong};
use super::values::ScreeningList;

const NAME_CHARS_MAX: usize = 40;
/// What the program itself calls what it finds.
const NAMES_TAKEN: [&str; 4] = [
    "sanctions",
    "blacklist",
    "issuer_blacklist",
    "sanctions_oracle",
];
const FORMATS: [&str; 2] = ["ofac_sdn_advanced", "plain"];

impl Settings {
    pub(super) fn screening_lists(&mut self, key: &str) -> Result<Vec<ScreeningList>, ConfigError> {
        let Some(GivenValue { origin, value }) = self.0.remove(key) else {
            return Ok(Vec::new());
        };
        let Value::Array(items) = value else {
            return Err(wrong(origin, key, "must be a list of tables"));
        };
        let mut lists: Vec<ScreeningList> = Vec::new();
        for item in items {
            let Value::Table(table) = item else {
                let problem = "must hold tables of name, source and format";
                return Err(wrong(origin, key, problem));
            };
            let list = list(table).map_err(|problem| wrong(origin.clone(), key, problem))?;
            if lists.iter().any(|other| other.name == list.name) {
                return Err(wrong(origin, key, "must not have one name twice"));
            }
            lists.push(list);
        }
        Ok(lists)
    }
}

fn list(mut table: Table) -> Result<ScreeningList, &'static str> {
    let mut text = |key: &str| match table.remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err("must give each list a name, a source and a format, as texts"),
    };
    let list = ScreeningList {
        name: text("name")?,
        source: text("source")?,
        format: text("format")?,
    };
    if !table.is_empty() {
        return Err("must give a list nothing but a name, a source and a format");
    }
    let is_name = (1..=NAME_CHARS_MAX).contains(&list.name.len())
        && list.name.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte)
        });
    if !is_name {
        return Err("must name lists in small letters, digits, _ and -");
    }
    if NAMES_TAKEN.contains(&&*list.name) {
        return Err(
            "must not be named sanctions, blacklist, issuer_blacklist or sanctions_oracle: those are what is found",
        );
    }
    if !FORMATS.contains(&&*list.format) {
        return Err("must have the format ofac_sdn_advanced or plain");
    }
    if !is_source(&list.source) {
        return Err("must have a path or an https address without credentials as source");
    }
    Ok(list)
}

fn is_source(text: &str) -> bool {
    if !text.contains("://") {
        return !text.is_empty();
    }
    Url::parse(text).is_ok_and(|url| {
        url.scheme() == "https"
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    })
}
