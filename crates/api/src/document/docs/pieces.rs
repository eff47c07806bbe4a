//! The few pieces of Markdown that pages are made of. What stands between backticks is code.

/// Where the server mounts the pages.
pub(super) const ROOT: &str = "/docs";

pub(super) fn p(text: &str) -> String {
    format!("{text}\n\n")
}

pub(super) fn h2(id: &str, text: &str) -> String {
    format!("## {text} {{#{id}}}\n\n")
}

pub(super) fn h3(id: &str, text: &str) -> String {
    format!("### {text} {{#{id}}}\n\n")
}

/// `path` is relative to where the documentation is served.
pub(super) fn link(path: &str, text: &str) -> String {
    format!("[{text}]({ROOT}{path})")
}

pub(super) fn list(items: impl IntoIterator<Item = String>) -> String {
    let items: String = items
        .into_iter()
        .map(|item| format!("- {item}\n"))
        .collect();
    format!("{items}\n")
}

pub(super) fn steps(items: &[String]) -> String {
    let items: String = items.iter().map(|item| format!("1. {item}\n")).collect();
    format!("{items}\n")
}

/// The label is what a screen reader announces for the block.
pub(super) fn sample(language: &str, label: &str, text: &str) -> String {
    format!("```{language} {label}\n{}\n```\n\n", text.trim_end())
}

/// The first cell of a row is its header.
pub(super) fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head_line = line(head.iter().map(ToString::to_string).collect());
    let rule = line(vec!["---".to_owned(); head.len()]);
    let cell = |text: &String| text.replace('|', "\\|").replace('\n', " ");
    let rows = rows
        .iter()
        .map(|row| line(row.iter().map(cell).collect()))
        .collect::<String>();
    format!("*{caption}*\n\n{head_line}{rule}{rows}\n")
}

/// Text that was not written as Markdown, but for its backticks.
pub(super) fn plain(text: &str) -> String {
    let pieces = text.split('`').enumerate();
    let shown = pieces.map(|(index, piece)| match index % 2 {
        0 => piece
            .replace('<', "&lt;")
            .replace('*', "\\*")
            .replace('[', "\\["),
        _ => format!("`{piece}`"),
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_what_would_end_them_and_plain_text_means_nothing() {
        let shown = table("All", &["A"], &[vec!["`a|b`\nc".to_owned()]]);
        assert_eq!(shown, "*All*\n\n| A |\n| --- |\n| `a\\|b` c |\n\n");
        assert_eq!(plain("a < b, `c<d>`, [e]*"), "a &lt; b, `c<d>`, \\[e]\\*");
    }
}
