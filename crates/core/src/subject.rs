//! What an event, a delivery, a timer or a journal entry is about: a kind of thing and its id.
//!
//! Only the id is kept. Its prefix says the kind, so the two can never disagree.

use std::fmt;

use crate::id::{self, IdKind};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject {
    id: String,
    kind: IdKind,
}

impl Subject {
    /// Kinds of things that something can be about.
    pub const KINDS: [IdKind; 7] = [
        IdKind::CreditEntry,
        IdKind::Customer,
        IdKind::Invoice,
        IdKind::Payment,
        IdKind::PaymentLink,
        IdKind::Refund,
        IdKind::Subscription,
    ];

    /// None for an id of nothing that things are about.
    pub fn of(id: &str) -> Option<Subject> {
        let kind = Subject::KINDS.into_iter().find(|kind| id::is(*kind, id))?;
        Some(Subject {
            id: id.to_owned(),
            kind,
        })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn kind(&self) -> IdKind {
        self.kind
    }

    /// The id, if it is of that kind.
    pub fn as_kind(&self, kind: IdKind) -> Option<&str> {
        (self.kind == kind).then_some(self.id.as_str())
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_says_the_kind() {
        for kind in Subject::KINDS {
            let id = id::make(kind, 7, 0, 9);
            let subject = Subject::of(&id).unwrap();
            assert_eq!((subject.kind(), subject.id()), (kind, id.as_str()));
            assert_eq!(subject.to_string(), id);
            assert_eq!(subject.as_kind(kind), Some(id.as_str()));
        }
        let invoice = Subject::of(&id::make(IdKind::Invoice, 7, 0, 9)).unwrap();
        assert_eq!(invoice.as_kind(IdKind::Payment), None);
    }

    #[test]
    fn nothing_is_about_a_request_or_a_text_that_is_no_id() {
        for other in ["", "inv_", "inv_1", &id::make(IdKind::Request, 7, 0, 9)] {
            assert_eq!(Subject::of(other), None, "{other}");
        }
    }
}
