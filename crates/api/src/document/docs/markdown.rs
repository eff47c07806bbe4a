//! Markdown to HTML: a page is written once, in Markdown, and served as both.
//!
//! What the library writes is completed with what people need who do not see a page: blocks that scroll can be reached by the
//! keyboard and have a name, and tables have a caption and headers. A line in emphasis before a table is its caption; what
//! follows the language of a code block is its name.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

pub(super) fn to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let events: Vec<Event<'_>> = Parser::new_ext(markdown, options).collect();
    let mut out = Vec::with_capacity(events.len());
    let mut rest = &events[..];
    let mut caption: &[Event<'_>] = &[];
    let mut cells = Cells::default();
    while let Some((event, after)) = rest.split_first() {
        rest = after;
        if let Some((found, after)) = table_caption(event, after) {
            (caption, rest) = (found, after);
            continue;
        }
        match event {
            Event::Start(Tag::CodeBlock(kind)) => out.push(raw(code_block(kind))),
            Event::End(TagEnd::CodeBlock) => out.push(raw("</code></pre>\n</figure>\n".to_owned())),
            Event::Start(Tag::Table(_)) => {
                out.push(raw(region("div class=\"scroll\"", &words(caption))));
                out.push(event.clone());
                out.push(raw("\n<caption>".to_owned()));
                out.extend(caption.iter().cloned());
                out.push(raw("</caption>\n".to_owned()));
                caption = &[];
            }
            Event::End(TagEnd::Table) => {
                out.push(event.clone());
                out.push(raw("</div>\n".to_owned()));
            }
            _ => out.push(cells.tag(event).unwrap_or_else(|| event.clone())),
        }
    }
    let mut html = String::with_capacity(markdown.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut html, out.into_iter());
    html
}

/// Which cell of a table comes next.
#[derive(Default)]
struct Cells {
    is_head: bool,
    is_first: bool,
}

impl Cells {
    /// A cell's tag, where it is a header: those of the first row and the first of every other.
    fn tag(&mut self, event: &Event<'_>) -> Option<Event<'static>> {
        match event {
            Event::Start(Tag::TableHead) => self.is_head = true,
            Event::End(TagEnd::TableHead) => self.is_head = false,
            Event::Start(Tag::TableRow) => self.is_first = true,
            Event::Start(Tag::TableCell) if self.is_head => {
                return Some(raw("<th scope=\"col\">".to_owned()));
            }
            Event::Start(Tag::TableCell) if self.is_first => {
                return Some(raw("<th scope=\"row\">".to_owned()));
            }
            Event::End(TagEnd::TableCell) if self.is_head || self.is_first => {
                self.is_first = false;
                return Some(raw("</th>".to_owned()));
            }
            _ => {}
        }
        None
    }
}

fn raw(html: String) -> Event<'static> {
    Event::Html(html.into())
}

/// The words of a paragraph that is nothing but emphasis, if a table follows it, and what comes then.
fn table_caption<'e, 'm>(
    event: &Event<'m>,
    after: &'e [Event<'m>],
) -> Option<(&'e [Event<'m>], &'e [Event<'m>])> {
    if *event != Event::Start(Tag::Paragraph) || *after.first()? != Event::Start(Tag::Emphasis) {
        return None;
    }
    let is_end = |event: &Event<'_>| *event == Event::End(TagEnd::Paragraph);
    let end = after.iter().position(is_end)?;
    let (paragraph, rest) = (after.get(1..end)?, after.get(end + 1..)?);
    let (last, caption) = paragraph.split_last()?;
    let is_caption = *last == Event::End(TagEnd::Emphasis)
        && matches!(rest.first()?, Event::Start(Tag::Table(_)));
    is_caption.then_some((caption, rest))
}

fn words(events: &[Event<'_>]) -> String {
    let text = |event: &Event<'_>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

fn code_block(kind: &CodeBlockKind<'_>) -> String {
    let info = match kind {
        CodeBlockKind::Fenced(info) => info.as_ref(),
        CodeBlockKind::Indented => "",
    };
    let label = info.split_once(' ').map_or("Sample", |(_, label)| label);
    // Who hears the page is told the region's name, and not twice.
    let caption = format!(
        "<figcaption aria-hidden=\"true\">{}</figcaption>",
        escape(label)
    );
    format!("<figure>\n{caption}\n{}<code>", region("pre", label))
}

/// The opening tag of a block that may scroll.
fn region(tag: &str, label: &str) -> String {
    let label = escape(label);
    format!("<{tag} tabindex=\"0\" role=\"region\" aria-label=\"{label}\">")
}

/// Text as a part of HTML, also inside an attribute.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_tables_are_named_regions() {
        let html = to_html("```bash Creating <it>\ncurl \"$X\" <a>\n```\n");
        let pre = "<pre tabindex=\"0\" role=\"region\" aria-label=\"Creating &lt;it&gt;\"><code>";
        let caption = "<figcaption aria-hidden=\"true\">Creating &lt;it&gt;</figcaption>";
        let code = format!("{pre}curl \"$X\" &lt;a&gt;\n</code></pre>");
        assert_eq!(html, format!("<figure>\n{caption}\n{code}\n</figure>\n"));
        let html = to_html("*Headers of `it`*\n\n| A | B |\n|---|---|\n| `c` | d |\n");
        assert!(html.starts_with(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Headers of it\">"
        ));
        for part in [
            "<caption>Headers of <code>it</code></caption>",
            "<th scope=\"col\">A</th><th scope=\"col\">B</th>",
            "<th scope=\"row\"><code>c</code></th><td>d</td>",
        ] {
            assert!(html.contains(part), "{html}");
        }
        assert!(!html.contains("<em>"), "the caption is no paragraph");
    }

    #[test]
    fn headings_have_the_ids_that_they_are_given() {
        assert_eq!(to_html("## Keys {#keys}\n"), "<h2 id=\"keys\">Keys</h2>\n");
        assert_eq!(to_html("a *b* c\n"), "<p>a <em>b</em> c</p>\n");
    }
}
