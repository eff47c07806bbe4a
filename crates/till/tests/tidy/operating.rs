//! What operators are told holds: metrics are documented, what is encrypted can be encrypted anew, and nothing builds in silence.

use std::collections::BTreeSet;

use super::{Source, check, read, sources};

/// The program without its tests.
fn program() -> impl Iterator<Item = Source> {
    let all = sources().into_iter();
    all.filter(|source| source.is_rust() && !source.is_outside_look())
}

/// Every name that begins like a metric of ours.
fn metric_names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit();
    let words = text.split(|c: char| !is_part(c));
    let names = words.filter(|word| word.starts_with("till_") && word.len() > 8);
    names.map(str::to_owned).collect()
}

#[test]
fn every_metric_is_documented_and_alerts_ask_for_those_there_are() {
    let mut made = BTreeSet::new();
    for source in program() {
        for macros in ["counter!(", "gauge!(", "gauge(", "histogram!("] {
            for call in source.text.split(macros).skip(1) {
                made.extend(metric_names(call.split(')').next().unwrap_or_default()));
            }
        }
    }
    assert!(made.len() > 15, "{made:?}");
    let described: String = read("crates/till/src/metrics.rs")
        .split_whitespace()
        .collect();
    let has_line = |name: &str| described.contains(&format!("(\"{name}\","));
    let nameless = made
        .iter()
        .filter(|name| !has_line(name))
        .cloned()
        .collect();
    check(
        "every metric has its line in crates/till/src/metrics.rs",
        nameless,
    );
    // Those of chains and of lists are told on pages of their own.
    let pages = ["operations", "chains", "screening"].map(|page| read(&format!("docs/{page}.md")));
    let documented = |name: &String| pages.iter().any(|page| page.contains(name.as_str()));
    let undocumented = made
        .iter()
        .filter(|name| !documented(name))
        .cloned()
        .collect();
    check("every metric is documented", undocumented);
    let asked = metric_names(&read("docs/alerts.yml"));
    let whole = |name: &String| {
        let name = name.strip_suffix("_bucket").or(name.strip_suffix("_count"));
        name.map(str::to_owned)
    };
    let is_made =
        |name: &&String| has_line(name) || whole(name).is_some_and(|name| has_line(&name));
    let unknown = asked
        .iter()
        .filter(|name| !is_made(name))
        .cloned()
        .collect();
    check("docs/alerts.yml asks for metrics that there are", unknown);
}

#[test]
fn every_alert_says_how_bad_it_is_and_what_to_do() {
    let alerts = read("docs/alerts.yml");
    let rules: Vec<&str> = alerts.split("- alert: ").skip(1).collect();
    assert!(rules.len() > 15, "{}", rules.len());
    let lacking = rules.iter().filter(|rule| {
        let severity = ["page", "ticket"].map(|it| format!("severity: {it}\n"));
        let has_severity = severity.iter().any(|it| rule.contains(it));
        let parts = ["expr: ", "summary: \"", "runbook: \""];
        !has_severity || !parts.iter().all(|part| rule.contains(part))
    });
    let name = |rule: &&str| rule.lines().next().unwrap_or_default().to_owned();
    check(
        "every alert has a severity and a line for whoever is called",
        lacking.map(name).collect(),
    );
}

/// Whoever encrypts something new teaches `engine/src/rotation.rs` and `store/src/tables/sealed.rs` to encrypt it anew, and
/// adds itself here.
const SEALERS: [&str; 8] = [
    "crates/engine/src/base/vault.rs",
    "crates/engine/src/customers/mod.rs",
    "crates/engine/src/digests/key.rs",
    "crates/engine/src/mail/address.rs",
    "crates/engine/src/merchants/secrets.rs",
    "crates/engine/src/once.rs",
    "crates/engine/src/refunds/create.rs",
    "crates/engine/src/rotation.rs",
];

#[test]
fn what_is_encrypted_can_be_encrypted_anew() {
    let seals = |text: &str| {
        text.split_whitespace()
            .collect::<String>()
            .contains("vault.seal(")
    };
    let found: Vec<String> = program()
        .filter(|source| seals(&source.text) && !SEALERS.contains(&source.path.as_str()))
        .map(|source| source.path)
        .collect();
    check(
        "a key that takes over must reach everything that is encrypted",
        found,
    );
}

#[test]
fn the_demo_says_what_it_is_building() {
    let makefile = read("Makefile");
    let (_, demo) = makefile.split_once("\ndemo:").expect("there is a demo");
    let (demo, _) = demo.split_once("\n\n").expect("it ends");
    let build = demo.lines().find(|line| line.contains("build -p till"));
    assert!(build.is_some_and(|line| !line.contains("-q")), "{demo}");
}
