//! The languages mails are written in.

const TAG_CHARS_MAX: usize = 35;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Locale {
    En,
    Es,
    De,
    Fr,
    Pt,
}

impl Locale {
    pub const ALL: [Locale; 5] = [Locale::En, Locale::Es, Locale::De, Locale::Fr, Locale::Pt];

    /// BCP 47, and the same as the tag of an HTML page.
    pub fn as_str(self) -> &'static str {
        match self {
            Locale::En => "en",
            Locale::Es => "es",
            Locale::De => "de",
            Locale::Fr => "fr",
            Locale::Pt => "pt",
        }
    }

    /// Reads `pt`, `pt-BR` or `pt_BR`: the language decides, and one we do not write becomes English. None
    /// for what is no tag at all.
    pub fn parse(tag: &str) -> Option<Locale> {
        let part = |part: &str| {
            (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        if tag.len() > TAG_CHARS_MAX || !tag.split(['-', '_']).all(part) {
            return None;
        }
        let language = tag.split(['-', '_']).next()?;
        let known = Locale::ALL
            .into_iter()
            .find(|locale| locale.as_str().eq_ignore_ascii_case(language));
        Some(known.unwrap_or(Locale::En))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_tag_decides_and_unknown_ones_fall_back_to_english() {
        for (tag, locale) in [
            ("en", Locale::En),
            ("en_US", Locale::En),
            ("pt-BR", Locale::Pt),
            ("PT_br", Locale::Pt),
            ("de-CH-1996", Locale::De),
            ("es-419", Locale::Es),
            ("fr", Locale::Fr),
            ("ja", Locale::En),
            ("zh-Hant-TW", Locale::En),
            ("pto", Locale::En),
        ] {
            assert_eq!(Locale::parse(tag), Some(locale), "{tag}");
        }
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        let long = "a-".repeat(18);
        for tag in [
            "",
            "-",
            "en-",
            "_en",
            "en US",
            "en\r\nBcc: x",
            "e\u{301}n",
            "englishman",
            &long,
        ] {
            assert_eq!(Locale::parse(tag), None, "{tag:?}");
        }
    }
}
