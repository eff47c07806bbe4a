//! The Debian package and the bill of materials, as `make dist` makes them, of the program that the tests are run with.

use std::path::Path;
use std::process::{Command, Output};

const SCRIPTS: &str = "../../scripts";

fn script(name: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(Path::new(SCRIPTS).join(name));
    command.args(arguments).env("DEB_COMPRESSION", "none");
    let output = command.output().expect("the script starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    output
}

fn text(output: Output) -> String {
    String::from_utf8(output.stdout).expect("text")
}

fn is_debian() -> bool {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    has("dpkg-deb") && has("dpkg")
}

#[test]
fn a_package_is_installed_into_an_empty_root_checked_and_removed_without_the_books() {
    if !is_debian() {
        eprintln!("this is no Debian: the package was not tried");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let make = || {
        let to = folder.path().to_str().unwrap();
        let made = text(script("package-deb", &[env!("CARGO_BIN_EXE_till"), to]));
        made.trim().to_owned()
    };
    let package = make();
    let said = text(script("check-package", &[&package]));
    assert!(said.starts_with("installed, checked "), "{said}");
    let first = std::fs::read(&package).unwrap();
    assert!(first == std::fs::read(make()).unwrap(), "the same bytes");
}

#[test]
fn the_bill_of_materials_has_what_the_program_is_made_of_and_nothing_of_its_tests() {
    let bill = text(script("sbom", &["x86_64-unknown-linux-gnu"]));
    let bill: serde_json::Value = serde_json::from_str(&bill).unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    assert_eq!(bill["metadata"]["component"]["name"], "till");
    let names: Vec<&str> = bill["components"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|component| component["name"].as_str())
        .collect();
    for (name, is_shipped) in [
        ("till-core", true),
        ("rustls", true),
        ("tempfile", false),
        ("preact", true),
        ("@noble/secp256k1", true),
        ("vitest", false),
    ] {
        assert_eq!(names.contains(&name), is_shipped, "{name}");
    }
}
