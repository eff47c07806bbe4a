//! The guides, written in Markdown below `docs/guides`. A test runs their samples.

use super::page::Page;
use super::pieces::{list, p};

pub(super) struct Guide {
    slug: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    text: &'static str,
}

impl Guide {
    /// Relative to where the documentation is served.
    pub(super) fn path(&self) -> String {
        format!("/guides/{}", self.slug)
    }
}

macro_rules! guide {
    ($slug:literal, $title:literal, $about:literal) => {
        Guide {
            slug: $slug,
            title: $title,
            about: $about,
            text: include_str!(concat!("../../../../../docs/guides/", $slug, ".md")),
        }
    };
}

pub(super) const GUIDES: &[Guide] = &[
    guide!(
        "quickstart",
        "Quickstart",
        "from nothing to a paid test invoice and a webhook, with curl, Node, Python or PHP"
    ),
    guide!(
        "accept-a-payment",
        "Accept a payment",
        "one order, one invoice, and what else can happen"
    ),
    guide!(
        "payment-links",
        "Payment links",
        "a price to share, without a server"
    ),
    guide!(
        "refunds",
        "Refunds",
        "give money back that you never gave away"
    ),
    guide!(
        "subscriptions",
        "Subscriptions",
        "plans, renewals, reminders and credit"
    ),
    guide!(
        "receive-webhooks",
        "Receive webhooks",
        "a receiver in Node and in Python, tried on your own machine"
    ),
    guide!(
        "test-your-integration",
        "Test your integration",
        "the cases that a shop must get right, and how to make each happen"
    ),
    guide!(
        "go-live",
        "Go live",
        "what to check before real money comes"
    ),
    guide!(
        "run-it",
        "Run it",
        "a server with systemd, PostgreSQL, backups and alarms"
    ),
    guide!("upgrade", "Upgrade", "to a newer version, without a pause"),
    guide!(
        "security-model",
        "Security model",
        "who can do what, and what nobody can"
    ),
    guide!(
        "move-to-till",
        "Move from BTCPay Server or Stripe",
        "their words and ours"
    ),
];

pub(super) fn find(slug: &str) -> Option<Page> {
    let guide = GUIDES.iter().find(|guide| guide.slug == slug)?;
    Some(Page::new("/guides", guide.title, guide.text.to_owned()))
}

pub(super) fn contents() -> String {
    list(
        GUIDES
            .iter()
            .map(|guide| format!("[{}](/docs{}): {}", guide.title, guide.path(), guide.about)),
    )
}

pub(super) fn index() -> Page {
    let text = p(
        "Programs in them are run by a test, in the languages that stand here; what is typed at a terminal is not.",
    );
    Page::new("/guides", "Guides", [text, contents()].concat())
}
