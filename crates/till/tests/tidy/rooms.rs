//! The rooms inside the crates: a room knows only rooms with a lower number, no two files import each other in a
//! circle, and a folder's files do not import from the file that lists them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FLOORS, Source, before_tests, check, sources};

/// The rooms of each crate, from the ground up. Those in one row stand side by side and do not know each other.
const ROOMS: &[(&str, &[&[&str]])] = &[
    (
        "core",
        &[
            &[
                "actor",
                "asset",
                "attribution",
                "error",
                "exchange",
                "id",
                "limits",
                "money",
                "page",
                "screening",
                "text",
                "time",
                "timer",
                "webhook",
            ],
            &[
                "binding",
                "calendar",
                "country",
                "credit",
                "digest",
                "email",
                "ledger",
                "organization",
                "pricing",
                "role",
                "scope",
                "subject",
            ],
            &[
                "application",
                "change",
                "member",
                "page_link",
                "payment",
                "plan",
                "reconciliation",
            ],
            &["chain", "invoice"],
            &["event", "link", "refund", "subscription"],
        ],
    ),
    (
        "net",
        &[&["stream", "tls"], &["dial"], &["connector"], &["anywhere"]],
    ),
    (
        "engine",
        &[
            &["outbound", "smtp"],
            &["lists"],
            &["base"],
            &["testing", "addresses"],
            &["offers"],
            &["view"],
            &["audit", "mail", "once", "outbox", "screening"],
            &["settlement"],
            &["intake", "invoices", "merchants"],
            &["customers", "digests", "links", "refunds", "team"],
            &["books", "checkout", "shell", "subscriptions", "watch"],
            &["rotation"],
            &["workers"],
            &["test_mode"],
        ],
    ),
    (
        "chains",
        &[
            &["block_hash", "error", "rpc", "tx_hash", "watched", "zmq"],
            &["address", "bitcoin", "solana"],
            &["raw"],
            &["evm"],
            &["tron"],
            &["derive", "feed", "lookup", "observer", "registers"],
            &["examples", "nobodys", "proof", "testing"],
        ],
    ),
    (
        "watch",
        &[
            &["endpoint", "settings", "update"],
            &["disputes", "endpoint_tips", "hints", "unconfirmed"],
            &["watching"],
            &["pool"],
            &["latecomers", "mempool", "news", "scripted"],
            &["heads", "identity", "quorum", "tips"],
            &["amount_arrived", "nodes", "proof", "registers", "rounds"],
            &["claims", "fork", "headers", "height_at", "holdings", "logs"],
            &["our_transfers"],
        ],
    ),
    ("store", &[&["sql"], &["stored"], &["tables"], &["testing"]]),
    (
        "http",
        &[&["client", "message", "rate_limit"], &["connection"]],
    ),
    (
        "api",
        &[
            &["handler"],
            &["checkout", "dashboard", "health", "v1", "well_known"],
            &["document"],
            &["server"],
        ],
    ),
    (
        "till",
        &[
            &["config", "pages", "progress", "service_manager", "system"],
            &["failure", "handles"],
            &[
                "api_client",
                "database",
                "keyfile",
                "logging",
                "metrics",
                "output",
                "tls",
            ],
            &["compose", "reload", "warnings"],
            &["server"],
            &["commands"],
            &["cli"],
        ],
    ),
];

/// What a file imports from its own crate, as far as names go: `crate::a::b::C` gives `a`, `b`, `C`.
type Import = Vec<String>;

/// The module path of a file: `src/a/b.rs` and `src/a/b/mod.rs` are both `a`, `b`; the crate's root is empty.
fn module_of(path_in_src: &str) -> Vec<String> {
    let path = path_in_src.trim_end_matches(".rs");
    let path = path.trim_end_matches("/mod");
    if path == "lib" || path == "main" || path == "mod" {
        return Vec::new();
    }
    path.split('/').map(str::to_owned).collect()
}

/// The code before its tests, without comments: tests may look around.
fn code(source: &Source) -> String {
    let lines: Vec<&str> = source.code().map(|(_, line)| line).collect();
    before_tests(&lines).join("\n")
}

fn imports(code: &str, module: &[String]) -> Vec<Import> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let inside_a_word =
            code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$');
        // `pub(in crate::a)` says who may import, and imports nothing.
        let is_visibility = code[..at].ends_with("(in ");
        if !inside_a_word && !is_visibility {
            expand(&code[at + "crate::".len()..], Vec::new(), &mut found);
        }
    }
    for (at, _) in code.match_indices("super::") {
        if code[..at].ends_with("::") {
            continue;
        }
        let mut rest = &code[at..];
        let mut base = module.to_vec();
        while let Some(after) = rest.strip_prefix("super::") {
            base.pop();
            rest = after;
        }
        expand(rest, base, &mut found);
    }
    found
}

/// Reads `a::b`, `a::{b, c::D}` or `A` behind a path.
fn expand(text: &str, path: Import, found: &mut Vec<Import>) {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('{') {
        let mut depth = 0;
        let mut start = 0;
        for (at, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    let item = inner[start..at].trim();
                    if !item.is_empty() {
                        expand(item, path.clone(), found);
                    }
                    start = at + 1;
                    if c == '}' {
                        return;
                    }
                }
                _ => {}
            }
        }
        return;
    }
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let mut path = path;
    if !name.is_empty() && name != "self" {
        path.push(name.to_owned());
    }
    match rest.strip_prefix("::") {
        Some(rest) if !name.is_empty() => expand(rest, path, found),
        _ => found.push(path),
    }
}

struct File {
    path: String,
    module: Vec<String>,
    imports: Vec<Import>,
}

fn files_of(name: &str, all: &[Source]) -> Vec<File> {
    let folder = format!("crates/{name}/src/");
    let ours = all
        .iter()
        .filter(|source| source.is_rust() && source.path.starts_with(&folder))
        .filter(|source| !source.path.ends_with("/tests.rs") && !source.path.contains("/tests/"));
    ours.map(|source| {
        let module = module_of(&source.path[folder.len()..]);
        let imports = imports(&code(source), &module);
        File {
            path: source.path.clone(),
            module,
            imports,
        }
    })
    .collect()
}

fn floor_of(rooms: &[&[&str]], room: &str) -> Option<usize> {
    rooms.iter().position(|row| row.contains(&room))
}

fn arrows_up(name: &str, rooms: &[&[&str]], files: &[File]) -> Vec<String> {
    let mut violations = Vec::new();
    for file in files {
        let Some(room) = file.module.first() else {
            continue;
        };
        let Some(floor) = floor_of(rooms, room) else {
            violations.push(format!("{name}: {room} is no room: give it a place"));
            continue;
        };
        for import in &file.imports {
            let Some(other) = import.first().filter(|other| *other != room) else {
                continue;
            };
            if floor_of(rooms, other).is_some_and(|other| other >= floor) {
                violations.push(format!("{}: knows {}", file.path, import.join("::")));
            }
        }
    }
    violations
}

/// Crates without an order of rooms.
fn without_rooms<'c>(crates: &[&'c str], ordered: &[&str]) -> Vec<&'c str> {
    let missing = crates.iter().filter(|name| !ordered.contains(name));
    missing.copied().collect()
}

/// Rooms that are listed and have no file.
fn empty_rooms(rooms: &[&[&str]], files: &[File]) -> Vec<String> {
    let listed = rooms.iter().copied().flatten();
    let has_file = |room: &str| {
        let mut rooms = files.iter().filter_map(|it| it.module.first());
        rooms.any(|it| it == room)
    };
    let empty = listed.filter(|room| !has_file(room));
    empty.map(ToString::to_string).collect()
}

#[test]
fn every_crate_has_rooms_and_every_room_has_a_file() {
    let crates: Vec<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    let ordered: Vec<&str> = ROOMS.iter().map(|(name, _)| *name).collect();
    let missing = without_rooms(&crates, &ordered).into_iter();
    let mut violations: Vec<String> = missing.map(|name| format!("{name} has no rooms")).collect();
    let all = sources();
    for (name, rooms) in ROOMS {
        let empty = empty_rooms(rooms, &files_of(name, &all));
        violations.extend(
            empty
                .iter()
                .map(|room| format!("{name}: {room} has no file")),
        );
    }
    check("rooms that are missing or empty", violations);
}

#[test]
fn every_room_knows_only_rooms_below_it() {
    let all = sources();
    let mut violations = Vec::new();
    for (name, rooms) in ROOMS {
        violations.extend(arrows_up(name, rooms, &files_of(name, &all)));
    }
    check("no arrow runs up between rooms", violations);
}

/// Which file an import leads to: that of the longest module path it begins with.
fn target<'f>(files: &'f [File], import: &Import) -> Option<&'f File> {
    (1..=import.len())
        .rev()
        .find_map(|length| files.iter().find(|file| file.module == import[..length]))
}

/// Files that reach themselves again. A module and its own children are one thing here: the front page of a
/// folder lists what is in it.
fn circles(files: &[File]) -> Vec<String> {
    let mut edges: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.module.is_empty()) {
        for import in &file.imports {
            let Some(to) = target(files, import) else {
                continue;
            };
            let own = to.module.starts_with(&file.module) || file.module.starts_with(&to.module);
            if !own {
                edges.entry(&file.path).or_default().insert(&to.path);
            }
        }
    }
    let mut found = BTreeSet::new();
    for start in edges.keys() {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = edges[start].iter().copied().collect();
        while let Some(at) = next.pop() {
            if at == *start {
                found.insert(format!("{start} reaches itself"));
                break;
            }
            if seen.insert(at) {
                next.extend(edges.get(at).into_iter().flatten());
            }
        }
    }
    found.into_iter().collect()
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let all = sources();
    let names = FLOORS.iter().map(|(name, _)| name);
    let violations = names.flat_map(|name| circles(&files_of(name, &all)));
    check("circles", violations.collect());
}

/// Imports from the module that a file is in.
fn imports_of_parents(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let imports: BTreeSet<&Import> = file.imports.iter().collect();
        for import in imports {
            let is_parent = |to: &File| {
                let is_above = to.module.len() < file.module.len();
                is_above && !to.module.is_empty() && file.module.starts_with(&to.module)
            };
            if target(files, import).is_some_and(is_parent) {
                found.push(format!("{} imports {}", file.path, import.join("::")));
            }
        }
    }
    found
}

#[test]
fn nothing_imports_from_the_front_page_of_its_own_folder() {
    let all = sources();
    let names = FLOORS.iter().map(|(name, _)| name);
    let violations = names.flat_map(|name| imports_of_parents(&files_of(name, &all)));
    check("parents and children", violations.collect());
}

/// A file of a made-up crate.
fn file(path: &str, code: &str) -> File {
    let module = module_of(path);
    File {
        path: path.to_owned(),
        imports: imports(code, &module),
        module,
    }
}

#[test]
fn an_arrow_turned_round_is_noticed() {
    let rooms: &[&[&str]] = &[&["low"], &["beside", "high"]];
    let up = [file(
        "low/a.rs",
        "use crate::{high::{self, b::Thing}, Other};",
    )];
    assert_eq!(arrows_up("x", rooms, &up).len(), 2);
    let inline = [file("low/a.rs", "fn f() { crate::high::b::go(); }")];
    assert_eq!(
        arrows_up("x", rooms, &inline),
        ["low/a.rs: knows high::b::go"]
    );
    let by_super = [file("low/a.rs", "use super::super::high::b;")];
    assert_eq!(arrows_up("x", rooms, &by_super).len(), 1);
    let beside = [file("high/b.rs", "use crate::beside::c;")];
    assert_eq!(arrows_up("x", rooms, &beside).len(), 1);
    let down = [file(
        "high/b.rs",
        "use crate::low::a::Thing;\nuse super::b;",
    )];
    assert_eq!(arrows_up("x", rooms, &down), [""; 0]);

    let round = [
        file("room/a.rs", "use super::b::B;"),
        file("room/b.rs", "use crate::room::c;"),
        file("room/c.rs", "use super::{d, a::A};"),
        file("room/d.rs", "use super::helper;"),
        file("room/mod.rs", "pub use a::A; use crate::room::d;"),
    ];
    assert_eq!(circles(&round).len(), 3);
}

#[test]
fn a_child_that_imports_from_its_parent_is_noticed() {
    let files = [
        file("room/mod.rs", "use a::A; pub use b::B;"),
        file("room/a.rs", "use super::b::B; use crate::room::c::deep;"),
        file("room/b.rs", "use super::{A, c}; use super::A;"),
        file(
            "room/c.rs",
            "pub(in crate::room) fn f() -> crate::other::Thing {}",
        ),
        file(
            "room/c/deep.rs",
            "use super::super::a::A; use crate::room::helper;",
        ),
        file("other.rs", "use crate::room::A;"),
    ];
    let found = imports_of_parents(&files);
    let expected = [
        "room/b.rs imports room::A",
        "room/c/deep.rs imports room::helper",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_crate_without_rooms_and_a_room_without_files_are_noticed() {
    assert_eq!(without_rooms(&["core", "new"], &["core"]), ["new"]);
    let files = [file("low/a.rs", ""), file("high.rs", "")];
    let rooms: &[&[&str]] = &[&["low"], &["gone", "high"]];
    assert_eq!(empty_rooms(rooms, &files), ["gone"]);
    let nowhere = [file("attic/a.rs", "")];
    assert_eq!(
        arrows_up("x", rooms, &nowhere),
        ["x: attic is no room: give it a place"]
    );
}
