//! The layers: which source had the last word on each setting.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::error::ConfigError;
use super::flags::Flags;
use super::origin::{GivenValue, Origin};
use super::sections::{Network, settings};
use super::setting::{Kind, Setting};

/// Variables are upper case, but these ids are not: what the environment calls them in capitals.
const MIXED_CASE_NETWORKS: &[&str] = &[
    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
];

/// Ours, but not settings: what the tests and the logging read.
const OTHER_VARIABLES: &[&str] = &["TILL_TEST_", "TILL_REQUIRE_"];
const LOG_VARIABLE: &str = "TILL_LOG";
/// What the commands read that call the API.
const CLIENT_VARIABLES: &[&str] = &["TILL_URL", "TILL_SECRET_KEY", "TILL_WEBHOOK_SECRET"];

/// A variable that begins like ours. Its value is nobody's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownVariable {
    pub name: String,
    /// The one it may be a misspelling of.
    pub meant: Option<String>,
}

/// The winning value of every setting that somebody gave, by its dotted name.
#[derive(Default, Clone)]
pub(super) struct Layers {
    pub settings: BTreeMap<String, GivenValue>,
    pub networks: BTreeMap<String, BTreeMap<String, GivenValue>>,
    pub unknown_variables: Vec<UnknownVariable>,
}

pub(super) fn gather(
    file_text: Option<&str>,
    env: impl Iterator<Item = (String, String)>,
    flags: &Flags,
) -> Result<Layers, ConfigError> {
    let mut layers = Layers::default();
    if let Some(text) = file_text {
        add_file(&mut layers, text)?;
    }
    for (name, text) in env {
        add_variable(&mut layers, &name, &text)?;
    }
    for given in &flags.set {
        add_set(&mut layers, given)?;
    }
    for (flag, key, text) in [
        ("--listen", "listen", &flags.listen),
        ("--database", "url", &flags.database),
    ] {
        if let Some(text) = text {
            let section = if key == "url" { "database" } else { "server" };
            layers.put(
                section,
                key,
                Origin::Flag(flag),
                Value::String(text.clone()),
            );
        }
    }
    Ok(layers)
}

impl Layers {
    fn put(&mut self, section: &str, key: &str, origin: Origin, value: Value) {
        self.settings
            .insert(format!("{section}.{key}"), GivenValue { origin, value });
    }

    fn put_network(&mut self, id: &str, key: &str, origin: Origin, value: Value) {
        self.networks
            .entry(id.to_owned())
            .or_default()
            .insert(key.to_owned(), GivenValue { origin, value });
    }
}

fn add_file(layers: &mut Layers, text: &str) -> Result<(), ConfigError> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        ConfigError::File {
            line: before.matches('\n').count() + 1,
            problem: error.message().replace('\n', "; "),
        }
    })?;
    for (section, content) in table {
        let known = section == Network::SECTION || settings().any(|it| it.section == section);
        if !known {
            return Err(unknown(Origin::File, section));
        }
        for (key, value) in as_table(&section, content)? {
            if section == Network::SECTION {
                for (setting, value) in as_table(&format!("networks.{key:?}"), value)? {
                    if network_kind(&setting).is_none() {
                        return Err(unknown(Origin::File, format!("networks.{key:?}.{setting}")));
                    }
                    layers.put_network(&key, &setting, Origin::File, value);
                }
            } else if kind(&section, &key).is_none() {
                return Err(unknown(Origin::File, format!("{section}.{key}")));
            } else {
                layers.put(&section, &key, Origin::File, value);
            }
        }
    }
    Ok(())
}

fn as_table(key: &str, value: Value) -> Result<Table, ConfigError> {
    match value {
        Value::Table(table) => Ok(table),
        _ => Err(ConfigError::Value {
            origin: Origin::File,
            key: key.to_owned(),
            problem: "is a section: write its keys below its name in brackets".to_owned(),
        }),
    }
}

fn add_variable(layers: &mut Layers, name: &str, text: &str) -> Result<(), ConfigError> {
    let Some(rest) = name.strip_prefix("TILL_") else {
        return Ok(());
    };
    if name == LOG_VARIABLE
        || CLIENT_VARIABLES.contains(&name)
        || OTHER_VARIABLES
            .iter()
            .any(|prefix| name.starts_with(prefix))
    {
        return Ok(());
    }
    let origin = Origin::Variable(name.to_owned());
    if let Some(setting) = settings().find(|it| it.variable() == name) {
        let value = from_text(setting.kind, text, &origin, &setting.name())?;
        layers.put(setting.section, setting.key, origin, value);
        return Ok(());
    }
    let network = rest.strip_prefix("NETWORKS_").and_then(|rest| {
        Network::SETTINGS.iter().find_map(|setting| {
            let id = rest.strip_suffix(&format!("_{}", setting.key.to_uppercase()))?;
            Some((id, setting.key, setting.kind))
        })
    });
    let found = network.and_then(|(shouted, key, kind)| {
        let id = network_id(layers, shouted)?;
        Some((id, key, kind))
    });
    let Some((id, key, kind)) = found else {
        // Whoever set it may not have meant us: Kubernetes names a service's variables after the service.
        layers.unknown_variables.push(UnknownVariable {
            name: name.to_owned(),
            meant: look_alike(name),
        });
        return Ok(());
    };
    let value = from_text(kind, text, &origin, &format!("networks.{id:?}.{key}"))?;
    layers.put_network(&id, key, origin, value);
    Ok(())
}

/// So many letters may be wrong, missing or exchanged in a name that was meant to be one of ours.
const SLIPS_MAX: usize = 2;

/// The setting's variable that a name is probably a misspelling of.
fn look_alike(name: &str) -> Option<String> {
    let known = settings().map(Setting::variable);
    known
        .map(|known| (strsim::damerau_levenshtein(&known, name), known))
        .filter(|(slips, _)| *slips <= SLIPS_MAX)
        .min()
        .map(|(_, known)| known)
}

/// A variable's name has lost the colon and the case. An id the file already named wins, so that the
/// variable overrides it; then the ids known to be of mixed case; the other families are lower case.
fn network_id(layers: &Layers, shouted: &str) -> Option<String> {
    let named = layers.networks.keys().map(String::as_str);
    named
        .chain(MIXED_CASE_NETWORKS.iter().copied())
        .find(|id| id.replace([':', '-'], "_").to_uppercase() == shouted)
        .map(str::to_owned)
        .or_else(|| {
            let (family, reference) = shouted.split_once('_')?;
            Some(format!("{family}:{reference}").to_lowercase())
        })
}

fn add_set(layers: &mut Layers, given: &str) -> Result<(), ConfigError> {
    let name = given.split('=').next().unwrap_or_default();
    let malformed = || ConfigError::Set {
        given: match name.contains('/') {
            // No setting is called so: it is an address, and may hold a key.
            true => "…".to_owned(),
            false => name.to_owned(),
        },
    };
    let (path, text) = given.split_once('=').ok_or_else(malformed)?;
    if path.contains('/') {
        return Err(malformed());
    }
    let (section, rest) = path.trim().split_once('.').ok_or_else(malformed)?;
    let origin = Origin::Flag("--set");
    if section == Network::SECTION {
        let (id, key) = rest.rsplit_once('.').ok_or_else(malformed)?;
        let id = id.trim_matches('"');
        let full = format!("networks.{id:?}.{key}");
        let kind = network_kind(key).ok_or_else(|| unknown(origin.clone(), full.clone()))?;
        let value = from_text(kind, text, &origin, &full)?;
        layers.put_network(id, key, origin, value);
        return Ok(());
    }
    let full = format!("{section}.{rest}");
    let kind = kind(section, rest).ok_or_else(|| unknown(origin.clone(), full.clone()))?;
    let value = from_text(kind, text, &origin, &full)?;
    layers.put(section, rest, origin, value);
    Ok(())
}

fn kind(section: &str, key: &str) -> Option<Kind> {
    let found = settings().find(|it| it.section == section && it.key == key);
    found.map(|it| it.kind)
}

fn network_kind(key: &str) -> Option<Kind> {
    let found = Network::SETTINGS.iter().find(|it| it.key == key);
    found.map(|it| it.kind)
}

fn unknown(origin: Origin, key: String) -> ConfigError {
    let section = key.split('.').next().unwrap_or_default();
    let keys: Vec<&str> = match section {
        Network::SECTION => Network::SETTINGS.iter().map(|it| it.key).collect(),
        _ => {
            let inside = settings().filter(|it| it.section == section);
            inside.map(|it| it.key).collect()
        }
    };
    let hint = if keys.is_empty() {
        let mut sections: Vec<&str> = settings().map(|it| it.section).collect();
        sections.dedup();
        format!("the sections are {}, networks", sections.join(", "))
    } else {
        format!("{section} has {}", keys.join(", "))
    };
    let key = key.escape_debug().to_string().replace("\\\"", "\"");
    ConfigError::UnknownSetting { origin, key, hint }
}

fn from_text(kind: Kind, text: &str, origin: &Origin, key: &str) -> Result<Value, ConfigError> {
    let text = text.trim();
    let wrong = |problem: &str| ConfigError::Value {
        origin: origin.clone(),
        key: key.to_owned(),
        problem: problem.to_owned(),
    };
    match kind {
        Kind::Text => Ok(Value::String(text.to_owned())),
        Kind::Flag => match text {
            "true" => Ok(Value::Boolean(true)),
            "false" => Ok(Value::Boolean(false)),
            _ => Err(wrong("must be true or false")),
        },
        Kind::Number => text
            .parse()
            .map(Value::Integer)
            .map_err(|_| wrong(not_a_number(text))),
        Kind::List if text.starts_with('[') => literal(text)
            .filter(Value::is_array)
            .ok_or_else(|| wrong("is not a list: write a,b or [\"a\", \"b\"]")),
        Kind::List => Ok(Value::Array(
            text.split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty())
                .map(|item| Value::String(item.to_owned()))
                .collect(),
        )),
        Kind::Tables => literal(text)
            .filter(Value::is_array)
            .ok_or_else(|| wrong("is not a list of tables: write [{name = \"…\", …}]")),
        Kind::Map => literal(text)
            .filter(Value::is_table)
            .ok_or_else(|| wrong("is not a table: write {\"BTC/USD\" = \"50000\"}")),
    }
}

fn not_a_number(text: &str) -> &'static str {
    let digits = text.strip_prefix('-').unwrap_or(text);
    match !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) {
        true => "is a number beyond all that can be set; `till config` shows what it is by default",
        false => "must be a whole number",
    }
}

/// One TOML value, or the same in JSON: people paste both into variables.
fn literal(text: &str) -> Option<Value> {
    let toml = format!("it = {text}").parse::<Table>().ok();
    match toml {
        Some(mut table) if table.len() == 1 => table.remove("it"),
        _ => serde_json::from_str(text).ok(),
    }
}
