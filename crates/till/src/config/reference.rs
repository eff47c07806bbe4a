//! Every setting with its default and meaning, and what it is set to and by whom: what `till config` prints.

use std::fmt::Write as _;

use serde::Serialize;
use toml::Value;

use super::error::ConfigError;
use super::flags::Flags;
use super::layers;
use super::model::Config;
use super::origin::{GivenValue, Origin};
use super::read;
use super::sections::Network;
use super::sections::{SECTIONS, settings};
use super::setting::{DefaultValue, Kind, Setting};

/// Shown instead of a value that may hold a password or a key.
const HIDDEN: &str = "(set, not shown)";
/// The network that examples are about.
const EXAMPLE_NETWORK: &str = "networks.\"eip155:8453\"";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    pub name: String,
    /// None for a network's settings, whose variables have the network's id in them.
    pub environment: Option<String>,
    /// As it would be written in the file; none where there is no fixed one.
    pub default: Option<String>,
    /// As it would be written in the file; none where nothing is set.
    pub value: Option<String>,
    pub origin: String,
    pub meaning: String,
}

/// Explains every setting, and those of the networks that are configured. Fails as the server would.
pub fn explain(
    file_text: Option<&str>,
    env: impl Iterator<Item = (String, String)>,
    flags: &Flags,
) -> Result<(Config, Vec<Explained>), ConfigError> {
    let layers = layers::gather(file_text, env, flags)?;
    let config = read::config(layers.clone())?;
    let mut explained: Vec<Explained> = settings()
        .map(|setting| {
            let name = setting.name();
            let given = layers.settings.get(&name);
            one(setting, name, Some(setting.variable()), given)
        })
        .collect();
    for (id, given) in &layers.networks {
        for setting in Network::SETTINGS {
            let name = format!("networks.{id:?}.{}", setting.key);
            explained.push(one(setting, name, None, given.get(setting.key)));
        }
    }
    Ok((config, explained))
}

fn one(
    setting: &Setting,
    name: String,
    environment: Option<String>,
    given: Option<&GivenValue>,
) -> Explained {
    let default = written(setting);
    let (value, origin) = match given {
        None => (default.clone(), "default".to_owned()),
        Some(GivenValue { origin, .. }) if setting.is_secret => {
            (Some(HIDDEN.to_owned()), words(origin))
        }
        Some(GivenValue { origin, value }) => (Some(value.to_string()), words(origin)),
    };
    Explained {
        name,
        environment,
        default,
        value,
        origin,
        meaning: meaning(setting).to_owned(),
    }
}

fn words(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::Variable(name) => format!("environment variable {name}"),
        other => other.to_string(),
    }
}

fn meaning(setting: &Setting) -> &'static str {
    setting.meaning.trim()
}

/// The default, as it would be written in the file.
fn written(setting: &Setting) -> Option<String> {
    match (setting.default, setting.kind) {
        (DefaultValue::Text(text), _) => Some(Value::from(text).to_string()),
        (DefaultValue::Flag(flag), _) => Some(flag.to_string()),
        (DefaultValue::Number(number), _) => Some(number.to_string()),
        (DefaultValue::None, Kind::List | Kind::Tables) => Some("[]".to_owned()),
        (DefaultValue::None, _) => None,
    }
}

/// For people: a line with name, value and where it comes from, and one with the meaning.
pub fn text(explained: &[Explained]) -> String {
    let mut text = String::new();
    for it in explained {
        let value = it.value.as_deref().unwrap_or("not set");
        let _ = writeln!(text, "{} = {value}  ({})", it.name, it.origin);
        let _ = writeln!(text, "    {}", it.meaning);
    }
    text
}

/// A file to begin with: every setting with its meaning, commented out at its default.
pub fn example() -> String {
    let mut text =
        "# Till's settings, each at its default. Remove the # before a line to change it.\n\
                    # Flags beat environment variables, which beat this file.\n"
            .to_owned();
    for section in SECTIONS {
        let Some(first) = section.first() else {
            continue;
        };
        let _ = writeln!(text, "\n[{}]", first.section);
        section
            .iter()
            .for_each(|setting| add_example(&mut text, setting));
    }
    let _ = writeln!(
        text,
        "\n# One section for each network that is watched, named by its CAIP-2 id.\n# [{EXAMPLE_NETWORK}]"
    );
    Network::SETTINGS
        .iter()
        .for_each(|setting| add_example(&mut text, setting));
    text
}

fn add_example(text: &mut String, setting: &Setting) {
    let value = written(setting).unwrap_or_else(|| match setting.kind {
        Kind::Number => "1".to_owned(),
        Kind::Map => "{}".to_owned(),
        _ => "\"\"".to_owned(),
    });
    let _ = writeln!(text, "# {}", meaning(setting));
    let _ = writeln!(text, "# {} = {value}", setting.key);
}

/// The reference page of the documentation.
pub fn markdown() -> String {
    let mut text = "# Configuration\n\n\
        Every setting, as `till config --markdown` prints it. A setting is given in the configuration file (TOML), by an \
        environment variable or by\n`--set section.key=value`; flags beat variables, variables beat the file. `till config` shows \
        what applies here and where it comes from,\n`till config --example` prints a file to begin with.\n"
        .to_owned();
    for section in SECTIONS {
        let Some(first) = section.first() else {
            continue;
        };
        let _ = writeln!(text, "\n## {}\n", first.section);
        let _ = writeln!(
            text,
            "| Setting | Variable | Default | Meaning |\n|---|---|---|---|"
        );
        for setting in *section {
            let (name, default) = (setting.name(), cell(setting));
            let (variable, meaning) = (setting.variable(), meaning(setting));
            let _ = writeln!(text, "| `{name}` | `{variable}` | {default} | {meaning} |");
        }
    }
    let _ = writeln!(
        text,
        "\n## networks\n\n\
         One section for each network, named by its CAIP-2 id: `[{EXAMPLE_NETWORK}]`. As a variable, `:` becomes `_`:\n\
         `TILL_NETWORKS_EIP155_8453_RPC`.\n\n\
         | Setting | Default | Meaning |\n|---|---|---|"
    );
    for setting in Network::SETTINGS {
        let (key, default, meaning) = (setting.key, cell(setting), meaning(setting));
        let _ = writeln!(text, "| `networks.<caip2>.{key}` | {default} | {meaning} |");
    }
    text
}

fn cell(setting: &Setting) -> String {
    written(setting).map_or_else(|| "none".to_owned(), |it| format!("`{it}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(file: &str, env: &[(&str, &str)], flags: &Flags) -> Vec<Explained> {
        let env = env
            .iter()
            .map(|(name, text)| (name.to_string(), text.to_string()));
        explain(Some(file), env, flags).unwrap().1
    }

    fn find<'a>(all: &'a [Explained], name: &str) -> &'a Explained {
        all.iter().find(|it| it.name == name).unwrap()
    }

    #[test]
    fn each_setting_has_a_meaning_and_says_where_its_value_comes_from() {
        let file = "[limits]\nconnections = 7\n[networks.\"eip155:8453\"]\nrpc = [\"https://node.example/key\"]\n";
        let env = [
            ("TILL_LIMITS_STREAMS_PER_CLIENT", "8"),
            ("TILL_DATABASE_URL", "postgres://till:hunter2@db/till"),
        ];
        let flags = Flags {
            listen: Some("127.0.0.1:9".to_owned()),
            ..Flags::default()
        };
        let all = explained(file, &env, &flags);
        assert!(all.iter().all(|it| it.meaning.ends_with('.')), "{all:#?}");
        for (name, value, origin) in [
            ("limits.connections", Some("7"), "configuration file"),
            (
                "limits.streams_per_client",
                Some("8"),
                "environment variable TILL_LIMITS_STREAMS_PER_CLIENT",
            ),
            ("server.listen", Some("\"127.0.0.1:9\""), "--listen"),
            ("server.drain_s", Some("5"), "default"),
            ("mail.from", None, "default"),
            (
                "database.url",
                Some(HIDDEN),
                "environment variable TILL_DATABASE_URL",
            ),
            (
                "networks.\"eip155:8453\".rpc",
                Some(HIDDEN),
                "configuration file",
            ),
            (
                "networks.\"eip155:8453\".credit_at",
                Some("\"final\""),
                "default",
            ),
        ] {
            let it = find(&all, name);
            assert_eq!(
                (it.value.as_deref(), &*it.origin),
                (value, origin),
                "{name}"
            );
        }
        let shown = text(&all);
        assert!(
            !shown.contains("hunter2") && !shown.contains("node.example"),
            "{shown}"
        );
    }

    #[test]
    fn what_the_server_refuses_is_refused() {
        let wrong = explain(
            Some("[server]\ndrain_s = 99\n"),
            std::iter::empty(),
            &Flags::default(),
        );
        assert_eq!(
            wrong.unwrap_err().to_string(),
            "configuration file: server.drain_s must be between 0 and 60"
        );
    }

    #[test]
    fn the_example_is_a_configuration_whichever_of_its_lines_count() {
        let load = |file: &str| Config::load(Some(file), std::iter::empty(), &Flags::default());
        let defaults = load("").unwrap();
        assert_eq!(load(&example()).unwrap(), defaults);
        let is_prose =
            |line: &&str| line.starts_with("# ") && !line.contains(" = ") && !line.contains('[');
        let all_count: String = example()
            .lines()
            .filter(|line| !is_prose(line))
            .map(|line| line.trim_start_matches("# ").to_owned() + "\n")
            .filter(|line| {
                line.starts_with('[')
                    || line
                        .split(" = ")
                        .next()
                        .is_some_and(|key| !key.contains(' '))
            })
            // Nobody is asked by them: a network with no endpoints has no quorum either.
            .filter(|line| !line.starts_with("quorum") && !line.starts_with("scan_from"))
            .collect();
        let given = load(&all_count).unwrap();
        assert_eq!(given.server, defaults.server);
        assert_eq!(given.invoices, defaults.invoices);
        assert_eq!(given.networks.len(), 1);
    }
}
