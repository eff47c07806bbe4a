//! The few HTML pieces the pages are made of. Every piece takes plain text and escapes it; text
//! between backticks becomes code.

/// Where the server mounts the pages.
const ROOT: &str = "/docs";

const PAGES: &[(&str, &str)] = &[
    ("", "Overview"),
    ("/errors", "Errors"),
    ("/webhooks", "Webhooks"),
    ("/testing", "Testing"),
];

pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// Escaped text in which what stands between backticks is code.
pub(super) fn prose(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    pieces
        .map(|(index, piece)| match index % 2 {
            0 => escape(piece),
            _ => format!("<code>{}</code>", escape(piece)),
        })
        .collect()
}

pub(super) fn p(text: &str) -> String {
    format!("<p>{}</p>\n", prose(text))
}

pub(super) fn h2(id: &str, text: &str) -> String {
    format!("<h2 id=\"{}\">{}</h2>\n", escape(id), prose(text))
}

/// `path` is relative to where the documentation is served.
pub(super) fn link(path: &str, text: &str) -> String {
    let href = escape(path);
    format!("<a href=\"{ROOT}{href}\">{}</a>", prose(text))
}

/// Items are HTML already.
pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: String = items
        .into_iter()
        .map(|item| format!("<li>{item}</li>\n"))
        .collect();
    format!("<ul>\n{items}</ul>\n")
}

pub(super) fn steps(items: &[String]) -> String {
    let items: String = items
        .iter()
        .map(|item| format!("<li>{}</li>\n", prose(item)))
        .collect();
    format!("<ol>\n{items}</ol>\n")
}

/// The label is what a screen reader announces for the scrollable block.
pub(super) fn sample(label: &str, text: &str) -> String {
    format!(
        "<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\"><code>{}</code></pre>\n",
        escape(label),
        escape(text.trim_end())
    )
}

/// Cells are HTML already; the first cell of a row is its header.
pub(super) fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let head: String = head
        .iter()
        .map(|cell| format!("<th scope=\"col\">{}</th>", prose(cell)))
        .collect();
    let rows: String = rows.iter().map(|row| table_row(row)).collect();
    let caption_html = prose(caption);
    let label = escape(&caption.replace('`', ""));
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}\">\n<table>\n\
         <caption>{caption_html}</caption>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

fn table_row(cells: &[String]) -> String {
    let cells = cells.iter().enumerate();
    let cells: String = cells
        .map(|(index, cell)| match index {
            0 => format!("<th scope=\"row\">{cell}</th>"),
            _ => format!("<td>{cell}</td>"),
        })
        .collect();
    format!("<tr>{cells}</tr>\n")
}

/// A whole page: `path` is the page of the navigation it belongs to, `body` is HTML.
pub(super) fn page(path: &str, title: &str, body: &str) -> String {
    let nav: String = PAGES
        .iter()
        .map(|(target, name)| {
            let current = if *target == path {
                " aria-current=\"page\""
            } else {
                ""
            };
            format!("<li><a href=\"{ROOT}{target}\"{current}>{name}</a></li>\n")
        })
        .collect();
    let title_text = escape(&title.replace('`', ""));
    let heading = prose(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title_text} – Till</title>\n\
         <link rel=\"stylesheet\" href=\"{ROOT}/style.css\">\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <header>\n<nav aria-label=\"Documentation\">\n<ul>\n{nav}</ul>\n</nav>\n</header>\n\
         <main id=\"main\">\n<h1>{heading}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}
