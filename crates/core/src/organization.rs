//! Organisations: an account and the people who work with it.

use crate::limits::{DISPLAY_NAME_CHARS_MAX, chars};
use crate::text::is_deceptive;

/// What an organisation may be called: one line of text. Spaces around it do not count.
pub fn organization_name(text: &str) -> Option<&str> {
    let name = text.trim();
    let fits = (1..=DISPLAY_NAME_CHARS_MAX).contains(&chars(name));
    (fits && !name.chars().any(is_deceptive)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_organisation_s_name_is_one_line() {
        assert_eq!(organization_name(" Acme "), Some("Acme"));
        let long = "x".repeat(DISPLAY_NAME_CHARS_MAX + 1);
        for bad in ["", "  ", "a\nb", "a\u{202e}b", &long] {
            assert_eq!(organization_name(bad), None, "{bad:?}");
        }
    }
}
