//! `screening.*`: the lists that addresses are held against.

use toml::{Table, Value};
use url::Url;

use super::layers::{Given, Origin};
use super::settings::{Settings, wrong};
use super::{ConfigError, Screening, ScreeningList};

const LISTS: &str = "screening.lists";
const NAME_CHARS_MAX: usize = 40;
/// What the program itself calls what it finds.
const NAMES_TAKEN: [&str; 4] = [
    "sanctions",
    "blacklist",
    "issuer_blacklist",
    "sanctions_oracle",
];
const FORMATS: [&str; 2] = ["ofac_sdn_advanced", "plain"];

pub(super) fn read(s: &mut Settings) -> Result<Screening, ConfigError> {
    let origin =
        s.0.get("screening.max_age_h")
            .map_or(Origin::Default, |given| given.origin.clone());
    let screening = Screening {
        lists: lists(s)?,
        refresh_h: s.number("screening.refresh_h", 12, 1..=8_760)?,
        max_age_h: s.number("screening.max_age_h", 48, 1..=8_760)?,
        on_chain: s.flag_or("screening.on_chain", true)?,
    };
    if screening.max_age_h <= screening.refresh_h {
        let problem = "must be more than screening.refresh_h, or every list is too old before it is read again";
        return Err(wrong(origin, "screening.max_age_h", problem));
    }
    Ok(screening)
}

fn lists(s: &mut Settings) -> Result<Vec<ScreeningList>, ConfigError> {
    let Some(Given { origin, value }) = s.0.remove(LISTS) else {
        return Ok(Vec::new());
    };
    let Value::Array(items) = value else {
        return Err(wrong(origin, LISTS, "must be a list of tables"));
    };
    let mut lists: Vec<ScreeningList> = Vec::new();
    for item in items {
        let Value::Table(table) = item else {
            return Err(wrong(
                origin,
                LISTS,
                "must hold tables of name, source and format",
            ));
        };
        let list = list(table).map_err(|problem| wrong(origin.clone(), LISTS, problem))?;
        if lists.iter().any(|other| other.name == list.name) {
            return Err(wrong(origin, LISTS, "must not have one name twice"));
        }
        lists.push(list);
    }
    Ok(lists)
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
