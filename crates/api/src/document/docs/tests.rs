//! The pages link only to what is there, and carry nothing that a strict policy forbids.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use till_core::error::{Code, Section};

use super::markdown::escape;
use super::*;

const SITE: Site<'_> = Site {
    server_url: "https://till.example",
    screened: &[("eip155", "sanctions", "0x<b>\"&'")],
};

/// By path below `/docs`.
fn every_page() -> BTreeMap<String, Page> {
    let mut paths: Vec<String> = ["", "guides", "api", "errors", "webhooks", "testing"]
        .map(str::to_owned)
        .into();
    paths.extend(
        Code::ALL
            .iter()
            .map(|code| format!("errors/{}", code.as_str())),
    );
    let guides = guides::GUIDES.iter();
    paths.extend(guides.map(|guide| guide.path().trim_start_matches('/').to_owned()));
    let page = |path: String| {
        let page = find(&path, &SITE).unwrap_or_else(|| panic!("{path}"));
        (path, page)
    };
    paths.into_iter().map(page).collect()
}

fn html_of(path: &str) -> String {
    find(path, &SITE).unwrap().html()
}

/// The values of an attribute, in the order they appear.
fn attribute<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let opening = format!(" {name}=\"");
    let values = html.split(&opening).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn addresses_given_from_outside_are_escaped() {
    assert_eq!(escape("<a b='\"'>&"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;");
    let html = html_of("testing");
    assert!(html.contains("<code>0x&lt;b&gt;\"&amp;'</code>"));
    assert!(!html.contains("0x<b>"));
    let none = Site {
        screened: &[],
        ..SITE
    };
    let html = find("testing", &none).unwrap().html();
    assert!(html.contains("no such addresses"));
}

#[test]
fn no_page_needs_more_than_a_strict_content_security_policy() {
    let home = [("home".to_owned(), home(true))];
    for (path, page) in every_page().into_iter().chain(home) {
        let html = page.html();
        let scripts = html.matches("<script").count();
        let own = html.matches("<script src=\"/docs/search.js\" defer></script>");
        assert_eq!(scripts, own.count(), "{path}");
        assert_eq!(scripts > 0, page.has_search(), "{path}");
        assert!(
            !html.contains("<style") && !html.contains(" style="),
            "{path}"
        );
        assert!(
            !html.contains(" onclick=") && !html.contains("javascript:"),
            "{path}"
        );
    }
    assert!(!STYLE_CSS.contains("url("));
    assert!(!STYLE_CSS.contains("@import"));
}

#[test]
fn every_page_is_one_document_with_one_main_heading_and_unique_ids() {
    for (path, page) in every_page() {
        let html = page.html();
        assert!(html.starts_with("<!doctype html>\n<html lang=\"en\">"));
        assert_eq!(html.matches("<h1>").count(), 1);
        assert_eq!(html.matches("<main").count(), 1);
        assert_eq!(html.matches(" aria-current=").count(), 1);
        let ids = attribute(&html, "id");
        assert_eq!(
            ids.iter().collect::<HashSet<_>>().len(),
            ids.len(),
            "{path}"
        );
        for tag in [
            "a", "p", "ul", "ol", "li", "table", "tr", "th", "td", "code", "pre", "div", "dl",
            "span",
        ] {
            let opened = html.matches(&format!("<{tag}>")).count()
                + html.matches(&format!("<{tag} ")).count();
            let closed = html.matches(&format!("</{tag}>")).count();
            assert_eq!(opened, closed, "{path}: {tag}");
        }
    }
}

#[test]
fn every_link_leads_to_a_page_and_an_anchor_that_exist() {
    let beside = ["/docs/style.css", "/openapi.json", "/llms.txt", "/healthz"];
    let mut targets: HashSet<String> = beside.map(str::to_owned).into();
    let pages: Vec<(String, String)> = every_page()
        .into_iter()
        .map(|(path, page)| {
            let path = format!("/docs/{path}").trim_end_matches('/').to_owned();
            (path, page.html())
        })
        .collect();
    for (path, html) in &pages {
        let anchors = attribute(html, "id").into_iter();
        targets.extend(anchors.map(|id| format!("{path}#{id}")));
        targets.insert(path.clone());
    }
    for (path, html) in &pages {
        for href in attribute(html, "href") {
            match href.strip_prefix('#') {
                Some(id) => assert!(attribute(html, "id").contains(&id), "{path}: {href}"),
                None => assert!(targets.contains(href), "{path}: {href}"),
            }
        }
    }
}

/// The anchors of the reference that somebody may have linked to: sorted, one a line.
const ANCHORS: &str = "src/document/docs/anchors.txt";

/// With TILL_TEST_RECORD=1 new anchors are added to the list. One that vanished is taken out by hand, by whoever means it.
#[test]
fn no_anchor_of_the_reference_vanishes() {
    let html = html_of("api");
    let now: BTreeSet<&str> = attribute(&html, "id").into_iter().collect();
    let listed = std::fs::read_to_string(ANCHORS).unwrap_or_default();
    let listed: Vec<&str> = listed.lines().collect();
    assert!(listed.is_sorted(), "{ANCHORS} is sorted");
    let listed: BTreeSet<&str> = listed.into_iter().collect();
    if std::env::var_os("TILL_TEST_RECORD").is_some() {
        let all: Vec<&str> = listed.union(&now).copied().collect();
        std::fs::write(ANCHORS, format!("{}\n", all.join("\n"))).unwrap();
    } else {
        let new: Vec<&&str> = now.difference(&listed).collect();
        assert!(
            new.is_empty(),
            "new anchors, to be added with `TILL_TEST_RECORD=1 cargo nextest run -p till-api --lib no_anchor`: {new:?}"
        );
    }
    let gone: Vec<&&str> = listed.difference(&now).collect();
    assert!(
        gone.is_empty(),
        "links to these anchors of /docs/api break; if that is meant, take them out of {ANCHORS}: {gone:?}"
    );
}

#[test]
fn every_page_has_its_markdown_and_the_list_for_models_names_the_first_of_each() {
    for (path, page) in every_page() {
        let markdown = page.markdown();
        assert!(
            markdown.starts_with(&format!("# {}\n\n", page.title)),
            "{path}"
        );
        assert!(!markdown.contains(reference::SERVER), "{path}");
    }
    let listed = llms_txt("https://till.example");
    assert!(listed.starts_with("# Till\n"));
    for (path, _) in every_page() {
        let is_listed = listed.contains(&format!("(https://till.example/docs/{path}.md)"));
        let is_minor = path.is_empty() || path == "guides" || path.starts_with("errors/");
        assert_eq!(is_listed, !is_minor, "{path}");
    }
    assert!(listed.contains("(https://till.example/docs.md)"));
}

#[test]
fn an_unknown_page_is_none() {
    for path in [
        "nowhere",
        "errors/nowhere",
        "guides/nowhere",
        "api/nowhere",
        "errors/",
    ] {
        assert_eq!(find(path, &SITE), None, "{path}");
    }
}

#[test]
fn the_catalogue_page_lists_every_code_under_its_section_with_an_anchor() {
    let html = html_of("errors");
    let mut chapters = html.split("<h2 ").skip(1);
    for &section in Section::ALL {
        let chapter = chapters.next().expect("a chapter for each section");
        assert!(chapter.contains(section.title()));
        for code in Code::ALL.iter().filter(|code| code.section() == section) {
            assert!(chapter.contains(&format!("id=\"{}\"", code.as_str())));
            let remedy = markdown::to_html(&pieces::plain(code.remedy()));
            let remedy = remedy.trim_start_matches("<p>").trim_end_matches("</p>\n");
            assert!(chapter.contains(remedy), "{remedy}");
        }
    }
    assert!(chapters.next().is_none());
}

#[test]
fn a_code_page_says_what_happened_and_what_to_do() {
    let html = html_of("errors/idempotency_key_reused");
    assert!(html.contains("<title>idempotency_key_reused – Till</title>"));
    assert!(html.contains("<h1><code>idempotency_key_reused</code></h1>"));
    assert!(html.contains("<code>idempotency_error</code>"));
    assert!(html.contains("<strong>HTTP status</strong>: 409"));
    assert!(html.contains("<strong>What to do</strong>: "));
}

/// The Rust sample of the page about webhooks, as it stands there.
mod rust_sample {
    include!("verify/verify_rs.txt");
}

const SECRET: &str = "whsec_1";
const BODY: &str = "{\"id\":\"evt_1\",\"text\":\"é\"}";
const NOW_S: i64 = 1_767_225_600;

/// Headers, and whether each is right.
fn signatures() -> Vec<(String, bool)> {
    let sign = |secret: &str, at_s: i64| till_core::webhook::sign(&[secret], at_s, BODY.as_bytes());
    let right = sign(SECRET, NOW_S);
    let mac = right.split_once("v1=").unwrap().1;
    vec![
        (right.clone(), true),
        (sign(SECRET, NOW_S - 300), true),
        (sign(SECRET, NOW_S - 301), false),
        (sign(SECRET, NOW_S + 301), false),
        (sign("whsec_2", NOW_S), false),
        (format!("t={NOW_S},v1=00,v0=1,v1={mac}"), true),
        (format!("t={NOW_S},v1=é,v1"), false),
        (format!("v1={mac}"), false),
        (format!("t=x,v1={mac}"), false),
        (String::new(), false),
    ]
}

/// Runs a sample with a line at its end that prints what it says of each header; nothing where the language is not installed.
fn judged(program: &str, arguments: &[&str], source: &str) -> Option<Vec<bool>> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(source.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program}");
    let said = String::from_utf8(output.stdout).unwrap();
    Some(said.lines().map(|line| line == "true").collect())
}

/// Go takes files: the sample, and one that calls it.
fn go_program(folder: &std::path::Path, list: &str, body: &str) -> [String; 2] {
    let sample = include_str!("verify/verify.go").replace("package webhook", "package main");
    let list = list.trim_start_matches('[').trim_end_matches(']');
    let main = format!(
        "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n\nfunc main() {{\n\tfor _, header := range []string{{{list}}} {{\n\
         \t\tfmt.Println(Verify([]byte({body}), header, \"{SECRET}\", time.Unix({NOW_S}, 0)))\n\t}}\n}}\n"
    );
    [("verify.go", sample), ("main.go", main)].map(|(name, text)| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    })
}

#[test]
fn the_samples_judge_signatures_as_the_server_does() {
    let (headers, expected): (Vec<String>, Vec<bool>) = signatures().into_iter().unzip();
    let rust = headers.iter();
    let rust = rust.map(|header| rust_sample::verify(BODY.as_bytes(), header, SECRET, NOW_S));
    assert_eq!(rust.collect::<Vec<_>>(), expected, "Rust");
    let list = serde_json::to_string(&headers).unwrap();
    let body = serde_json::to_string(BODY).unwrap();
    let node = format!(
        "{}\nfor (const header of {list}) console.log(verify(Buffer.from({body}), header, \"{SECRET}\", {NOW_S}));\n",
        include_str!("verify/verify.mjs")
    );
    let python = format!(
        "{}\nfor header in {list}:\n    print(str(verify({body}.encode(), header, \"{SECRET}\", {NOW_S})).lower())\n",
        include_str!("verify/verify.py")
    );
    let php = format!(
        "{}\nforeach (json_decode('{list}') as $header) {{ echo var_export(verify(json_decode('{body}'), $header, '{SECRET}', {NOW_S}), true), \"\\n\"; }}\n",
        include_str!("verify/verify.php")
    );
    let ruby = format!(
        "require \"json\"\n{}\nJSON.parse('{list}').each {{ |header| puts verify({body}, header, \"{SECRET}\", {NOW_S}) }}\n",
        include_str!("verify/verify.rb")
    );
    let folder = tempfile::tempdir().unwrap();
    let go = go_program(folder.path(), &list, &body);
    for (program, arguments, source) in [
        ("node", &["--input-type=module", "-"][..], node),
        ("python3", &["-"], python),
        ("php", &[], php),
        ("ruby", &["-"], ruby),
        ("go", &["run", &go[0], &go[1]], String::new()),
    ] {
        match judged(program, arguments, &source) {
            Some(said) => assert_eq!(said, expected, "{program}"),
            None => {
                let required = std::env::var("TILL_REQUIRE_LANGUAGES");
                let is_required = required.is_ok_and(|value| value == "1");
                assert!(!is_required, "{program} is not installed");
                eprintln!("{program} is not installed: its sample was not run");
            }
        }
    }
}
