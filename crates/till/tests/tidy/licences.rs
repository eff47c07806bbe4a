//! The licences of what we stand on.

use std::process::Command;

use spdx::{Expression, ParseMode};
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

/// Whether an SPDX expression can be satisfied with these licences. Old manifests write a slash for OR, and an
/// exception to a licence only gives more.
fn licence_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = Expression::parse_mode(expression, ParseMode::LAX);
    expression.is_ok_and(|expression| {
        expression.evaluate(|needed| {
            let licence = needed.license.id();
            licence.is_some_and(|id| allowed.iter().any(|name| name == id.name))
        })
    })
}

#[test]
fn a_licence_expression_is_read_as_spdx_says() {
    let allowed = ["MIT", "ISC", "Apache-2.0"].map(str::to_owned);
    for good in [
        "MIT",
        "GPL-3.0-only/MIT",
        "MIT AND ISC",
        "GPL-3.0-only AND BSL-1.0 OR MIT",
        "Apache-2.0 WITH LLVM-exception",
        "(GPL-3.0-only OR MIT) AND ISC",
    ] {
        assert!(licence_allowed(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "(MIT OR GPL-3.0-only) AND BSL-1.0",
        "(MIT",
        "MIT ISC",
        "MIT)",
        "Nobody-knows-1.0",
    ] {
        assert!(!licence_allowed(bad, &allowed), "{bad}");
    }
}
