//! Text that merchants write and payers read.

/// Characters that can make a text look like another one: what is not printed, and what turns the direction of
/// reading round.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{061c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

/// Whether a text holds characters that nobody sees, and that let two texts look the same. Joiners are part of how some scripts and
/// pictures are written, so they may stand where neither neighbour is ASCII.
pub fn has_invisible(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let joins = |place: usize| {
        let before = place.checked_sub(1).and_then(|it| chars.get(it));
        let after = chars.get(place + 1);
        before
            .zip(after)
            .is_some_and(|(a, b)| !a.is_ascii() && !b.is_ascii())
    };
    let is_invisible = |(place, c): (usize, &char)| match c {
        '\u{200c}' | '\u{200d}' => !joins(place),
        '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => true,
        '\u{180b}'..='\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{206f}' | '\u{2800}' => true,
        '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    };
    chars.iter().enumerate().any(is_invisible)
}

/// Whether a text of several lines may be shown to a payer.
pub fn may_be_shown(text: &str) -> bool {
    !text
        .chars()
        .any(|c| is_deceptive(c) && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_may_be_shown() {
        for text in [
            "",
            "Two coffees\n\tand cake",
            "שתי כוסות קפה",
            "قهوة",
            "👩‍🚀 naïve",
        ] {
            assert!(may_be_shown(text), "{text:?}");
        }
    }

    #[test]
    fn what_deceives_may_not() {
        for c in [
            '\0', '\u{1b}', '\r', '\u{7f}', '\u{85}', '\u{202e}', '\u{2066}', '\u{2029}',
            '\u{200f}', '\u{061c}',
        ] {
            assert!(!may_be_shown(&format!("fdp.eciovni{c}x")), "{c:?}");
        }
        assert!(is_deceptive('\n'), "a name has one line");
    }
}
