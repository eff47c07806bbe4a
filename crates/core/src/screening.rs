//! What holding an address against the lists came to.

/// What one list says of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finding {
    Clear,
    Match,
    /// The list is too old, unreadable or silent: it says nothing, which clears nobody.
    Unavailable,
}

impl Finding {
    pub const ALL: [Finding; 3] = [Finding::Clear, Finding::Match, Finding::Unavailable];

    pub fn as_str(self) -> &'static str {
        match self {
            Finding::Clear => "clear",
            Finding::Match => "match",
            Finding::Unavailable => "unavailable",
        }
    }

    pub fn parse(text: &str) -> Option<Finding> {
        Finding::ALL
            .into_iter()
            .find(|finding| finding.as_str() == text)
    }
}

/// An address held against one list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    pub list: String,
    /// Which edition of the list it was.
    pub version: Option<String>,
    pub finding: Finding,
    pub checked_at: i64,
}

/// An address held against all lists there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screening {
    pub lists: Vec<Checked>,
}

impl Screening {
    /// One match is a match. Nobody is cleared by a list that said nothing, or by no list at all.
    pub fn result(&self) -> Finding {
        let found = |finding| self.lists.iter().any(|list| list.finding == finding);
        if found(Finding::Match) {
            Finding::Match
        } else if self.lists.is_empty() || found(Finding::Unavailable) {
            Finding::Unavailable
        } else {
            Finding::Clear
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(findings: &[Finding], expected: Finding) {
        let lists = findings.iter().map(|finding| Checked {
            list: "l".to_owned(),
            version: None,
            finding: *finding,
            checked_at: 0,
        });
        let screening = Screening {
            lists: lists.collect(),
        };
        assert_eq!(screening.result(), expected);
    }

    #[test]
    fn only_lists_that_all_answered_clear_an_address() {
        use Finding::{Clear, Match, Unavailable};
        check(&[Clear, Clear], Clear);
        check(&[Clear, Match, Unavailable], Match);
        check(&[Clear, Unavailable], Unavailable);
        check(&[], Unavailable);
    }

    #[test]
    fn the_names_of_findings_read_back() {
        for finding in Finding::ALL {
            assert_eq!(Finding::parse(finding.as_str()), Some(finding));
        }
    }
}
