//! What libraries offer to our code when no test is compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::{FLOORS, check, dependencies, manifest, root};

/// Features that only tests ask of libraries that our code names, and that offer it nothing to name.
const OFFER_NOTHING: &[(&str, &str)] = &[
    // How floats are read, which ours never are.
    ("serde_json", "float_roundtrip"),
    // `num-bigint/std`, which is on by the workspace's own list.
    ("num-rational", "num-bigint-std"),
    // `std`, which is on by the workspace's own list.
    ("rustix", "default"),
];

type Features = BTreeMap<String, BTreeSet<String>>;

/// The features that each library is built with, all its versions together.
fn features(scope: &[&str], edges: &str) -> Features {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--edges", edges, "--prefix", "none", "--no-dedupe"])
        .args(["--format", "{p}|{f}", "--locked", "--offline"])
        .args(scope)
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree: {said}");
    let mut all = Features::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let Some((package, list)) = line.split_once('|') else {
            continue;
        };
        let name = package.split(' ').next().unwrap_or_default().to_owned();
        let list = list.split(',').filter(|it| !it.is_empty());
        all.entry(name).or_default().extend(list.map(str::to_owned));
    }
    all
}

/// The program of `make demo` and `make release` is built without what only tests ask of its libraries, the tests' with
/// it. Code that names such a feature would compile in every test and nowhere else.
#[test]
fn our_code_does_without_what_only_tests_ask_of_its_libraries() {
    let with_tests = features(&["--workspace"], "normal,build,dev");
    let alone = features(&["--package", "till"], "normal,build");
    let mut named = BTreeSet::new();
    for (crate_name, _) in FLOORS {
        named.extend(dependencies(&manifest(crate_name), "dependencies"));
    }
    let mut violations = Vec::new();
    for library in named.iter().filter(|it| !it.starts_with("till-")) {
        let (Some(more), Some(fewer)) = (with_tests.get(library), alone.get(library)) else {
            violations.push(format!("{library} is not in cargo's tree"));
            continue;
        };
        for feature in more.difference(fewer) {
            if !OFFER_NOTHING.contains(&(library.as_str(), feature.as_str())) {
                violations.push(format!(
                    "{library} has {feature} in tests alone: ask for it in Cargo.toml, or list it here"
                ));
            }
        }
    }
    check("features that only tests have", violations);
}
