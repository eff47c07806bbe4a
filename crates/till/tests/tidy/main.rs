//! The walls of the house, held by reading the repository.
//!
//! What the compiler cannot say is said here: which crate may name what, and what must not exist at
//! all. Forbidden words are written in two halves so that this file does not find itself.

mod features;
mod licences;
mod operating;
mod rooms;
mod threats;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use toml::{Table, Value};

/// From the ground up. A crate may depend only on crates of a lower floor.
const FLOORS: &[(&str, u8)] = &[
    ("core", 0),
    ("net", 0),
    ("http", 1),
    ("store", 1),
    ("chains", 1),
    ("watch", 2),
    ("engine", 3),
    ("api", 4),
    ("till", 5),
];

/// Which crate alone may stand on which library.
const LIBRARY_WALLS: &[(&str, &[&str])] = &[
    ("sqlx", &["store"]),
    ("axum", &["api", "http"]),
    ("utoipa", &["api", "engine"]),
    ("utoipa-axum", &["api"]),
    ("till-store", &["engine", "till"]),
    ("alloy-primitives", &["chains"]),
    ("bitcoin", &["chains"]),
    ("bs58", &["chains"]),
    ("getrandom", &["till"]),
];

/// The core asks nobody: no input, no output, no time, no chance.
const CORE_BANS: &[&str] = &[
    "sqlx",
    "tokio",
    "axum",
    "hyper",
    "fs",
    "TcpStream",
    "UdpSocket",
    "SystemTime",
    "Instant",
    "getrandom",
    "rand",
    "std::env",
    "std::process",
    "println!",
    "tracing",
];

const SQL_OPENINGS: &[&str] = &[
    "SELECT ",
    "INSERT ",
    "UPDATE ",
    "DELETE ",
    "CREATE ",
    "ALTER ",
    "DROP ",
    "PRAGMA ",
    "WITH ",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT ",
];

/// The one file that asks the machine what time it is and for random bytes.
const SYSTEM_FILE: &str = "crates/till/src/system.rs";
const SYSTEM_WORDS: &[&str] = &[
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "getrandom",
    "OsRng",
    "SysRng",
    "ThreadRng",
    "thread_rng",
    "rand::rng",
    "rand::random",
];

const UNFINISHED: &[&str] = &[
    concat!("to", "do!"),
    concat!("un", "implemented!"),
    concat!("db", "g!"),
    concat!("#[ig", "nore"),
    concat!("#[al", "low("),
    concat!("#![al", "low("),
];

const MACHINE_PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
];

/// How a private mirror gets into a repository: lines of tools' settings that begin so.
const MIRROR_WORDS: &[&str] = &[
    concat!("replace", "-with"),
    concat!("index", "-url"),
    concat!("registry", "="),
    concat!("registry", " ="),
];
const CRATES_INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NPM_REGISTRY: &str = "https://registry.npmjs.org/";

const FILE_LINES_MAX: usize = 600;

struct Source {
    /// Relative to the repository, with forward slashes.
    path: String,
    text: String,
}

impl Source {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_in_crate(&self, name: &str) -> bool {
        self.path.starts_with(&format!("crates/{name}/"))
    }

    /// Suites and benchmarks stand outside the house and look in: they may open a raw database or
    /// stop the time.
    fn is_outside_look(&self) -> bool {
        self.path.contains("/tests/") || self.path.contains("/benches/")
    }

    /// Lines with their numbers, without those that are only a comment.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self
            .text
            .lines()
            .enumerate()
            .map(|(at, line)| (at + 1, line));
        numbered.filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// The same with the lines of a `use` joined to one, numbered by its first.
    fn joined_code(&self) -> Vec<(usize, String)> {
        let mut joined: Vec<(usize, String)> = Vec::new();
        let mut is_in_use = false;
        for (at, line) in self.code() {
            match joined.last_mut().filter(|_| is_in_use) {
                Some((_, use_line)) => {
                    use_line.push(' ');
                    use_line.push_str(line.trim());
                }
                None => {
                    let words = line.trim_start();
                    let words = match words.strip_prefix("pub") {
                        Some(public) => public.trim_start_matches(|c: char| c != ' ').trim_start(),
                        None => words,
                    };
                    is_in_use = words.starts_with("use ") && words.contains("::");
                    joined.push((at, line.to_owned()));
                }
            }
            is_in_use &= !line.contains(';');
        }
        joined
    }
}

/// The lines before the module of unit tests. `#[cfg(test)]` above anything else ends nothing: code follows it. A file whose
/// first import is for tests is a file of tests.
fn before_tests<'l>(lines: &[&'l str]) -> Vec<&'l str> {
    let mut code = lines.iter().filter(|line| !line.trim().is_empty());
    let first = (code.next(), code.next());
    if matches!(first, (Some(&"#[cfg(test)]"), Some(next)) if next.starts_with("use ")) {
        return Vec::new();
    }
    let opens_tests = |pair: &[&str]| {
        let module = pair[1].trim();
        pair[0].trim() == "#[cfg(test)]" && module.starts_with("mod ") && module.ends_with('{')
    };
    let end = lines.windows(2).position(opens_tests);
    lines[..end.unwrap_or(lines.len())].to_vec()
}

/// From this package's folder, where tests run: the place they were compiled at may be another clone's.
fn root() -> PathBuf {
    PathBuf::from("../..")
}

fn read(path: &str) -> String {
    let full = root().join(path);
    fs::read_to_string(full).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every text file of the repository.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let made_here = [".git", "target", "node_modules", "dist"];
            if made_here.contains(&name.as_str()) {
                continue;
            }
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                // What is not UTF-8 is a picture or a database.
                let Ok(text) = fs::read_to_string(entry.path()) else {
                    continue;
                };
                let path = entry.path().strip_prefix(root()).unwrap().to_owned();
                let path = path.to_string_lossy().replace('\\', "/");
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let rust = found.iter().filter(|source| source.is_rust()).count();
    assert!(
        rust >= FLOORS.len(),
        "the walk found {rust} Rust files: it is lost"
    );
    found
}

/// Whether the line has the word by itself: `axum` is not in `maxum` nor in `axum_extras`.
fn names(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let starts = !word.starts_with(part) || !before.is_some_and(part);
        let ends = !word.ends_with(part) || !after.is_some_and(part);
        starts && ends
    })
}

/// A string that opens with SQL. Only the quote tells `"UPDATE invoices …"` from prose.
fn opens_sql(line: &str) -> bool {
    SQL_OPENINGS
        .iter()
        .any(|opening| line.contains(&format!("\"{opening}")))
}

/// An absolute path, and not the same letters inside an address or a relative path.
fn has_machine_path(line: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "._-~})".contains(c);
    MACHINE_PATHS.iter().any(|path| {
        line.match_indices(path)
            .any(|(at, _)| !line[..at].chars().next_back().is_some_and(inside))
    })
}

fn check(rule: &str, violations: Vec<String>) {
    let mut list = String::new();
    for violation in &violations {
        let _ = write!(list, "\n  {violation}");
    }
    assert!(violations.is_empty(), "{rule}:{list}");
}

fn check_code(rule: &str, applies: impl Fn(&Source) -> bool, is_forbidden: impl Fn(&str) -> bool) {
    let mut violations = Vec::new();
    for source in sources().iter().filter(|s| s.is_rust() && applies(s)) {
        let lines = source.joined_code().into_iter();
        let lines = lines.filter(|(_, line)| is_forbidden(line));
        violations.extend(lines.map(|(at, line)| format!("{}:{at}: {}", source.path, line.trim())));
    }
    check(rule, violations);
}

fn manifest(name: &str) -> Table {
    read(&format!("crates/{name}/Cargo.toml")).parse().unwrap()
}

fn dependencies(manifest: &Table, section: &str) -> Vec<String> {
    let table = manifest.get(section).and_then(Value::as_table);
    table
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

#[test]
fn every_crate_stands_only_on_lower_floors() {
    let floor_of = |name: &str| {
        FLOORS
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, floor)| *floor)
    };
    let mut violations = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        let Some(floor) = floor_of(&name) else {
            violations.push(format!("crates/{name} has no floor: give it one here"));
            continue;
        };
        let manifest = manifest(&name);
        let all = ["dependencies", "dev-dependencies", "build-dependencies"];
        for on in all
            .iter()
            .flat_map(|section| dependencies(&manifest, section))
        {
            let Some(on) = on.strip_prefix("till-") else {
                continue;
            };
            if floor_of(on).is_none_or(|below| below >= floor) {
                violations.push(format!("{name} depends on {on}"));
            }
        }
    }
    check("no arrow runs up", violations);
}

#[test]
fn each_walled_library_is_a_dependency_of_its_crate_alone() {
    let mut violations = Vec::new();
    for (name, _) in FLOORS {
        let manifest = manifest(name);
        for section in ["dependencies", "build-dependencies"] {
            for on in dependencies(&manifest, section) {
                let wall = LIBRARY_WALLS.iter().find(|(library, _)| *library == on);
                if wall.is_some_and(|(_, owners)| !owners.contains(name)) {
                    violations.push(format!("{name} depends on {on}"));
                }
            }
        }
    }
    check("a library behind a wall", violations);
}

#[test]
fn the_core_names_no_input_output_time_or_chance() {
    check_code(
        "core is pure",
        |source| source.path.starts_with("crates/core/src/"),
        |line| CORE_BANS.iter().any(|word| names(line, word)),
    );
}

#[test]
fn sql_is_written_in_the_store_alone() {
    check_code(
        "SQL outside store",
        |source| !source.is_in_crate("store") && !source.is_outside_look(),
        |line| opens_sql(line) || names(line, "sqlx"),
    );
}

#[test]
fn axum_is_named_where_http_is_spoken_alone() {
    check_code(
        "axum outside api and http",
        |source| {
            !source.is_in_crate("api") && !source.is_in_crate("http") && !source.is_outside_look()
        },
        |line| names(line, "axum"),
    );
}

#[test]
fn chain_types_stay_in_chains() {
    // `till_chains::bitcoin` is our own module; the library can only be named from the crate root.
    check_code(
        "chain types above chains",
        |source| !source.is_in_crate("chains") && !source.is_outside_look(),
        |line| {
            let line = line.trim_start();
            names(line, "alloy_primitives")
                || names(line, "secp256k1")
                || line.starts_with("use bitcoin::")
        },
    );
}

/// The modules of `till_chains` that belong to one family of chains, or to how one writes addresses down.
const CHAIN_FORMATS: &[&str] = &["bitcoin", "evm", "raw", "solana", "tron"];

fn names_a_chain_format(line: &str) -> bool {
    let names_one = CHAIN_FORMATS.iter().any(|format| names(line, format));
    line.contains("till_chains::") && names_one
}

#[test]
fn how_a_chain_writes_things_down_is_known_in_chains_alone() {
    check_code(
        "what is watched is asked of an observer, whatever the family",
        |source| {
            let is_above = source.is_in_crate("engine") || source.is_in_crate("watch");
            // Benchmarks make transactions of their own.
            is_above && !source.path.contains("/benches/")
        },
        names_a_chain_format,
    );
}

#[test]
fn the_clock_and_chance_are_asked_in_one_file() {
    check_code(
        "time and randomness are arguments; only system.rs asks the machine",
        |source| source.path != SYSTEM_FILE && !source.is_outside_look(),
        |line| SYSTEM_WORDS.iter().any(|word| names(line, word)),
    );
}

#[test]
fn the_environment_is_read_by_the_binary_alone() {
    check_code(
        "settings are arguments; only crates/till reads variables",
        |source| {
            // The test support of the store finds the server that the tests were started with.
            !source.path.starts_with("crates/till/src/")
                // Cargo tells a build script where to write by a variable.
                && source.path != "crates/till/build.rs"
                && source.path != "crates/store/src/testing.rs"
                && !source.path.ends_with("/tests.rs")
                && !source.is_outside_look()
        },
        |line| {
            ["env::var", "env::vars", "env::var_os", "env::vars_os"]
                .iter()
                .any(|word| names(line, word))
        },
    );
}

#[test]
fn there_is_no_float_where_money_is() {
    check_code(
        "floats",
        |source| source.is_in_crate("core") || source.is_in_crate("engine"),
        |line| names(line, "f32") || names(line, "f64"),
    );
}

#[test]
fn nothing_is_unfinished_skipped_or_silenced() {
    check_code(
        "unfinished, skipped or silenced (use #[expect] with a reason)",
        |_| true,
        |line| UNFINISHED.iter().any(|word| names(line, word)),
    );
}

/// What decides about money is read at the primary. A handler is given a replica by `Got<Secret, _>` alone, and hands it to what
/// takes a `ReadSource`.
#[test]
fn replicas_are_asked_for_in_one_place() {
    check_code(
        "asks for a replica",
        |source| {
            !source.is_in_crate("store")
                && !source.is_outside_look()
                && source.path != "crates/api/src/handler/got.rs"
        },
        |line| line.contains(".replica("),
    );
}

#[test]
fn both_engines_have_the_same_migrations() {
    let list = |engine: &str| {
        let folder = root().join("crates/store/migrations").join(engine);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        let mut files: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        files.sort();
        files
    };
    let sqlite = list("sqlite");
    assert!(!sqlite.is_empty());
    assert_eq!(sqlite, list("postgres"));
}

#[test]
fn no_file_names_a_path_of_somebodys_machine_or_a_mirror() {
    let mut violations = Vec::new();
    for source in sources() {
        for (at, line) in source.text.lines().enumerate() {
            let mirror = MIRROR_WORDS
                .iter()
                .any(|word| line.trim_start().starts_with(word));
            if has_machine_path(line) || mirror {
                violations.push(format!("{}:{}: {}", source.path, at + 1, line.trim()));
            }
        }
    }
    check("machine paths and mirrors", violations);
}

#[test]
fn lock_files_name_the_public_registries_alone() {
    let mut violations = Vec::new();
    for source in sources() {
        let (field, allowed) = match source.path.rsplit('/').next() {
            Some("Cargo.lock") => ("source = \"", CRATES_INDEX),
            Some("package-lock.json") => ("\"resolved\": \"", NPM_REGISTRY),
            _ => continue,
        };
        for line in source.text.lines() {
            let place = line.trim_start().strip_prefix(field);
            if place.is_some_and(|place| !place.starts_with(allowed)) {
                violations.push(format!("{}: {}", source.path, line.trim()));
            }
        }
    }
    check("lock files", violations);
}

#[test]
fn no_file_is_too_long_to_be_read_in_one_sitting() {
    let mut violations = Vec::new();
    for source in sources()
        .iter()
        .filter(|s| s.is_rust() && !s.is_outside_look())
    {
        if source.path.ends_with("/tests.rs") {
            continue;
        }
        let all: Vec<&str> = source.text.lines().collect();
        let lines = before_tests(&all).len();
        if lines > FILE_LINES_MAX {
            violations.push(format!("{}: {lines} lines", source.path));
        }
    }
    check("long files", violations);
}

#[test]
fn every_source_file_begins_by_saying_what_it_is_for() {
    let is_ours =
        |s: &&Source| s.is_rust() && s.path.starts_with("crates/") && s.path.contains("/src/");
    let silent = sources();
    let silent = silent
        .iter()
        .filter(is_ours)
        .filter(|s| !s.text.starts_with("//!"));
    check(
        "no //! at the top",
        silent.map(|s| s.path.clone()).collect(),
    );
}

#[test]
fn the_changelog_has_a_place_for_what_is_not_released() {
    let text = read("CHANGELOG.md");
    assert!(text.lines().any(|line| line == "## Unreleased"));
}

#[test]
fn the_rules_notice_what_they_forbid() {
    assert!(names_a_chain_format("use till_chains::evm::logs::Log;"));
    assert!(names_a_chain_format("use till_chains::{evm, tron};"));
    assert!(names_a_chain_format(
        "let it = till_chains::raw::raw(family, text);"
    ));
    assert!(!names_a_chain_format("use till_chains::observer::Header;"));
    assert!(names("use axum::Router;", "axum"));
    assert!(names(
        "    let now = std::time::SystemTime::now();",
        "SystemTime::now"
    ));
    assert!(names("fn half(x: f64) -> f64 {", "f64"));
    assert!(names(concat!("    to", "do!()"), UNFINISHED[0]));
    assert!(names(concat!("#[ig", "nore = \"slow\"]"), UNFINISHED[3]));
    assert!(!names("let axum_like = maxum();", "axum"));
    assert!(!names("let offset = 3;", "fs"));

    assert!(opens_sql("query(\"SELECT id FROM invoices\")"));
    assert!(!opens_sql("/// UPDATE is checked"));
    assert!(!opens_sql("\"SELECTED\""));

    assert!(has_machine_path(concat!("target = \"/ho", "me/ann/x\"")));
    assert!(!has_machine_path(concat!(
        "https://example.com/ho",
        "me/ann"
    )));

    let source = Source {
        path: "crates/core/src/money.rs".into(),
        text: "//! floats: f64\nlet a: f64;\n    // f64\n".into(),
    };
    let lines: Vec<usize> = source.code().map(|(at, _)| at).collect();
    assert_eq!(lines, [2]);

    let source = Source {
        path: "crates/engine/src/a.rs".into(),
        text: "use till_chains::{\n    derive,\n    evm,\n};\nfn f() {}\npub(crate) use a::b;\nlet tron = 1;\n"
            .into(),
    };
    let joined = source.joined_code();
    let forbidden = joined.iter().filter(|(_, line)| names_a_chain_format(line));
    assert_eq!(forbidden.map(|(at, _)| *at).collect::<Vec<_>>(), [1]);
    let starts: Vec<usize> = joined.iter().map(|(at, _)| *at).collect();
    assert_eq!(starts, [1, 5, 6, 7]);
}

#[test]
fn only_a_module_of_tests_ends_the_code() {
    let ends_at = |lines: &[&str]| before_tests(lines).len();
    assert_eq!(ends_at(&["#[cfg(test)]", "mod tests;", "use a::b;"]), 3);
    assert_eq!(ends_at(&["#[cfg(test)]", "pub fn f() {", "}"]), 3);
    assert_eq!(ends_at(&["use a::b;", "#[cfg(test)]", "mod tests {"]), 1);
    assert_eq!(ends_at(&["#[cfg(test)]", "use a::b;", "struct A;"]), 0);
}
