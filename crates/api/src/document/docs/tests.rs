//! The pages link only to what is there, and carry nothing that a strict policy forbids.

use std::collections::HashSet;

use till_core::error::{Code, Section};

use super::html::{escape, prose};
use super::*;

const ADDRESSES: &[(&str, &str, &str)] = &[("eip155", "sanctions", "0x<b>\"&'")];

fn every_page() -> Vec<String> {
    let mut pages = vec![
        home_html(true),
        index_html(),
        errors_html(),
        webhooks_html(),
        testing_html(ADDRESSES),
    ];
    pages.extend(Code::ALL.iter().map(|&code| error_html(code)));
    pages
}

/// The values of an attribute, in the order they appear.
fn attribute<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let opening = format!(" {name}=\"");
    let values = html.split(&opening).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn text_is_escaped_and_backticks_become_code() {
    assert_eq!(escape("<a b='\"'>&"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;");
    assert_eq!(prose("a < `b > c`."), "a &lt; <code>b &gt; c</code>.");
}

#[test]
fn addresses_given_from_outside_are_escaped() {
    let html = testing_html(ADDRESSES);
    assert!(html.contains("<code>0x&lt;b&gt;&quot;&amp;&#39;</code>"));
    assert!(!html.contains("0x<b>"));
    assert!(testing_html(&[]).contains("no such addresses"));
}

#[test]
fn no_page_needs_more_than_the_strictest_content_security_policy() {
    for html in every_page() {
        assert!(!html.contains("<script"));
        assert!(!html.contains("<style"));
        assert!(!html.contains(" style="));
        assert!(!html.contains(" onclick="));
        assert!(!html.contains("javascript:"));
    }
    assert!(!STYLE_CSS.contains("url("));
    assert!(!STYLE_CSS.contains("@import"));
}

#[test]
fn every_page_is_one_document_with_one_main_heading_and_unique_ids() {
    for html in every_page() {
        assert!(html.starts_with("<!doctype html>\n<html lang=\"en\">"));
        assert_eq!(html.matches("<h1>").count(), 1);
        assert_eq!(html.matches("<main").count(), 1);
        assert_eq!(html.matches(" aria-current=").count(), 1);
        let ids = attribute(&html, "id");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        for tag in [
            "a", "p", "ul", "ol", "li", "table", "tr", "th", "td", "code", "pre", "div", "dl",
            "span",
        ] {
            let opened = html.matches(&format!("<{tag}>")).count()
                + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }
}

#[test]
fn every_link_leads_to_a_page_and_an_anchor_that_exist() {
    let beside = ["/docs/style.css", "/openapi.json", "/healthz"];
    let mut targets: HashSet<String> = beside.map(str::to_owned).into();
    let mut add = |path: String, html: String| {
        let anchors = attribute(&html, "id").into_iter();
        targets.extend(anchors.map(|id| format!("{path}#{id}")));
        targets.insert(path);
    };
    add("/docs".to_owned(), index_html());
    add("/docs/errors".to_owned(), errors_html());
    add("/docs/webhooks".to_owned(), webhooks_html());
    add("/docs/testing".to_owned(), testing_html(&[]));
    for &code in Code::ALL {
        add(format!("/docs/errors/{}", code.as_str()), error_html(code));
    }
    for html in every_page() {
        for href in attribute(&html, "href") {
            match href.strip_prefix('#') {
                Some(id) => assert!(attribute(&html, "id").contains(&id), "{href}"),
                None => assert!(targets.contains(href), "{href}"),
            }
        }
    }
}

#[test]
fn the_catalogue_page_lists_every_code_under_its_section_with_an_anchor() {
    let html = errors_html();
    let mut chapters = html.split("<h2 ").skip(1);
    for &section in Section::ALL {
        let chapter = chapters.next().expect("a chapter for each section");
        assert!(chapter.contains(section.title()));
        for code in Code::ALL.iter().filter(|code| code.section() == section) {
            assert!(chapter.contains(&format!("id=\"{}\"", code.as_str())));
            assert!(chapter.contains(&prose(code.remedy())));
        }
    }
    assert!(chapters.next().is_none());
}

#[test]
fn a_code_page_says_what_happened_and_what_to_do() {
    let html = error_html(Code::IdempotencyKeyReused);
    assert!(html.contains("<title>idempotency_key_reused – Till</title>"));
    assert!(html.contains("<h1><code>idempotency_key_reused</code></h1>"));
    assert!(html.contains("<code>idempotency_error</code>"));
    assert!(html.contains("<dd>409</dd>"));
    assert!(html.contains(&prose(Code::IdempotencyKeyReused.summary())));
    assert!(html.contains(&prose(Code::IdempotencyKeyReused.remedy())));
}
