//! A whole page: its Markdown, and the HTML around it.

use super::markdown::{escape, to_html};
use super::pieces::ROOT;

/// The first pages of the documentation, on top of each.
const PAGES: &[(&str, &str)] = &[
    ("", "Overview"),
    ("/guides", "Guides"),
    ("/api", "API reference"),
    ("/errors", "Errors"),
    ("/webhooks", "Webhooks"),
    ("/testing", "Testing"),
];

/// What a page with a search has before its text. Without scripts it stays hidden, and the browser's own search does.
const SEARCH: &str = "<search id=\"search\" hidden>\n<label for=\"search-words\">Search this page</label>\n\
     <input id=\"search-words\" type=\"search\" autocomplete=\"off\">\n<ol id=\"search-found\"></ol>\n\
     <p id=\"search-said\" role=\"status\"></p>\n</search>\n\
     <script src=\"/docs/search.js\" defer></script>\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The page of the navigation that it is or belongs to.
    pub(super) nav: &'static str,
    pub(super) title: String,
    /// Markdown, without the title.
    pub(super) body: String,
    pub(super) has_search: bool,
}

impl Page {
    pub(super) fn new(nav: &'static str, title: &str, body: String) -> Page {
        Page {
            nav,
            title: title.to_owned(),
            body,
            has_search: false,
        }
    }

    pub fn markdown(&self) -> String {
        format!("# {}\n\n{}\n", self.title, self.body.trim_end())
    }

    pub fn has_search(&self) -> bool {
        self.has_search
    }

    pub fn html(&self) -> String {
        let nav: String = PAGES.iter().map(|page| self.nav_item(page)).collect();
        let title = escape(&self.title.replace('`', ""));
        let heading = to_html(&self.title);
        let heading = heading.trim().trim_start_matches("<p>");
        let heading = heading.trim_end_matches("</p>");
        let search = if self.has_search { SEARCH } else { "" };
        let body = to_html(&self.body);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title} – Till</title>\n\
             <link rel=\"stylesheet\" href=\"{ROOT}/style.css\">\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
             <header>\n<nav aria-label=\"Documentation\">\n<ul>\n{nav}</ul>\n</nav>\n</header>\n\
             <main id=\"main\">\n<h1>{heading}</h1>\n{search}{body}</main>\n</body>\n</html>\n"
        )
    }

    fn nav_item(&self, (target, name): &(&str, &str)) -> String {
        let current = match *target == self.nav {
            true => " aria-current=\"page\"",
            false => "",
        };
        format!("<li><a href=\"{ROOT}{target}\"{current}>{name}</a></li>\n")
    }
}
