//! HTML that cannot be injected into: markup is written in the program, everything else is escaped.

#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// Markup is part of the program, which is what `'static` says.
    pub fn tag(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Html {
        for c in text.chars() {
            match c {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                c => self.0.push(c),
            }
        }
        self
    }

    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_markup_of_the_program_is_markup() {
        let mut html = Html::default();
        html.tag("<p title=\"")
            .text("\"'><script>&amp;")
            .tag("\">")
            .text("a < b")
            .tag("</p>");
        assert_eq!(
            html.finish(),
            "<p title=\"&quot;&#39;&gt;&lt;script&gt;&amp;amp;\">a &lt; b</p>"
        );
    }
}
