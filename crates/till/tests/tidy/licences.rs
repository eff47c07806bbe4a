//! The licences of what we stand on.

use std::process::Command;

use toml::{Table, Value};

use crate::{check, read, root};

#[test]
fn every_dependency_has_a_licence_that_deny_toml_allows() {
    let deny: Table = read("deny.toml").parse().unwrap();
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().expect("a list");
        list.iter()
            .map(|item| item.as_str().expect("a text").to_owned())
            .collect()
    };
    let allowed = texts(&deny["licenses"]["allow"]);
    let exceptions = deny["licenses"]["exceptions"].as_array().expect("a list");
    let excepted = |name: &str| {
        let entry = exceptions
            .iter()
            .find(|entry| entry["crate"].as_str() == Some(name));
        entry
            .map(|entry| texts(&entry["allow"]))
            .unwrap_or_default()
    };

    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Offline, because what is being tested has just been built from these very packages.
    let output = Command::new(cargo)
        .args([
            "tree",
            "--workspace",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}|{l}", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree: {said}");

    let list = String::from_utf8(output.stdout).unwrap();
    let packages = list
        .lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once('|'));
    let mut violations: Vec<String> = packages
        .filter(|(package, licence)| {
            let name = package.split(' ').next().unwrap_or_default();
            let mut allowed = allowed.clone();
            allowed.extend(excepted(name));
            !licence_allowed(licence, &allowed)
        })
        .map(|(package, licence)| format!("{package}: {licence:?}"))
        .collect();
    violations.dedup();
    check("licences", violations);
}

/// Evaluates an SPDX expression; AND binds tighter than OR, and the old slash means OR.
fn licence_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &tokens[..];
    let verdict = either(&mut rest, allowed);
    verdict && rest.is_empty()
}

fn either(tokens: &mut &[&str], allowed: &[String]) -> bool {
    let mut verdict = both(tokens, allowed);
    while let Some(("OR", rest)) = tokens.split_first().map(|(first, rest)| (*first, rest)) {
        *tokens = rest;
        verdict |= both(tokens, allowed);
    }
    verdict
}

fn both(tokens: &mut &[&str], allowed: &[String]) -> bool {
    let mut verdict = single(tokens, allowed);
    while let Some(("AND", rest)) = tokens.split_first().map(|(first, rest)| (*first, rest)) {
        *tokens = rest;
        verdict &= single(tokens, allowed);
    }
    verdict
}

fn single(tokens: &mut &[&str], allowed: &[String]) -> bool {
    let Some((first, rest)) = tokens.split_first() else {
        return false;
    };
    *tokens = rest;
    if *first == "(" {
        let verdict = either(tokens, allowed);
        let closed = tokens.first() == Some(&")");
        *tokens = tokens.get(1..).unwrap_or_default();
        return verdict && closed;
    }
    // An exception to a licence only gives more.
    if let ["WITH", _, rest @ ..] = *tokens {
        *tokens = rest;
    }
    allowed.iter().any(|licence| licence == first)
}

#[test]
fn a_licence_expression_is_read_as_spdx_says() {
    let allowed = ["MIT".to_owned(), "ISC".to_owned()];
    for good in [
        "MIT",
        "GPL-3.0/MIT",
        "MIT AND ISC",
        "GPL-3.0 AND X OR MIT",
        "MIT WITH E",
        "(X OR MIT) AND ISC",
    ] {
        assert!(licence_allowed(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR X) AND Y",
        "(MIT",
        "MIT ISC",
        "MIT)",
    ] {
        assert!(!licence_allowed(bad, &allowed), "{bad}");
    }
}
