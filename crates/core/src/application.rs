//! The application for live mode: what may be done with it in which state.

use crate::error::{Code, Refusal};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationStatus {
    Draft,
    Pending,
    Approved,
    Rejected,
}

impl ApplicationStatus {
    pub const ALL: [ApplicationStatus; 4] = [
        ApplicationStatus::Draft,
        ApplicationStatus::Pending,
        ApplicationStatus::Approved,
        ApplicationStatus::Rejected,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            ApplicationStatus::Draft => "draft",
            ApplicationStatus::Pending => "pending",
            ApplicationStatus::Approved => "approved",
            ApplicationStatus::Rejected => "rejected",
        }
    }

    pub fn parse(text: &str) -> Option<ApplicationStatus> {
        let mut all = ApplicationStatus::ALL.into_iter();
        all.find(|status| status.as_str() == text)
    }

    /// Whether its fields may be changed, and whether it may be handed in: not while somebody looks at it, nor after it
    /// was approved.
    fn check_open(self) -> Result<(), Refusal> {
        match self {
            ApplicationStatus::Draft | ApplicationStatus::Rejected => Ok(()),
            ApplicationStatus::Pending => Err(Refusal::of(Code::ApplicationPending)),
            ApplicationStatus::Approved => Err(Refusal::of(Code::ApplicationApproved)),
        }
    }

    /// Its state once a field was changed.
    pub fn edited(self) -> Result<ApplicationStatus, Refusal> {
        self.check_open().map(|()| ApplicationStatus::Draft)
    }

    /// Its state once it was handed in. `missing` names the first field that is asked for and empty.
    pub fn submitted(self, missing: Option<&str>) -> Result<ApplicationStatus, Refusal> {
        self.check_open()?;
        match missing {
            Some(field) => {
                let message = format!("The application says nothing about `{field}` yet.");
                Err(Refusal::new(Code::ParameterMissing, message).param(field))
            }
            None => Ok(ApplicationStatus::Pending),
        }
    }

    pub fn withdrawn(self) -> Result<ApplicationStatus, Refusal> {
        self.check_reviewable().map(|()| ApplicationStatus::Draft)
    }

    /// Its state once an operator decided.
    pub fn decided(self, is_approved: bool) -> Result<ApplicationStatus, Refusal> {
        self.check_reviewable().map(|()| match is_approved {
            true => ApplicationStatus::Approved,
            false => ApplicationStatus::Rejected,
        })
    }

    fn check_reviewable(self) -> Result<(), Refusal> {
        match self {
            ApplicationStatus::Pending => Ok(()),
            _ => Err(Refusal::of(Code::ApplicationNotReviewable)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ApplicationStatus::{Approved, Draft, Pending, Rejected};
    use super::*;

    #[test]
    fn names_are_read_back() {
        for status in ApplicationStatus::ALL {
            assert_eq!(ApplicationStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(ApplicationStatus::parse(""), None);
    }

    #[test]
    fn what_waits_or_is_approved_is_neither_edited_nor_handed_in() {
        let code = |wrong: Refusal| wrong.code;
        for (status, wrong) in [
            (Pending, Code::ApplicationPending),
            (Approved, Code::ApplicationApproved),
        ] {
            assert_eq!(status.edited().map_err(code), Err(wrong));
            assert_eq!(status.submitted(Some("country")).map_err(code), Err(wrong));
        }
        for status in [Draft, Rejected] {
            assert_eq!(status.edited().map_err(code), Ok(Draft));
            assert_eq!(status.submitted(None).map_err(code), Ok(Pending));
            let missing = status.submitted(Some("country")).unwrap_err();
            assert_eq!(missing.code, Code::ParameterMissing);
            assert_eq!(missing.param.as_deref(), Some("country"));
        }
    }

    #[test]
    fn only_what_waits_is_withdrawn_or_decided() {
        assert_eq!(Pending.withdrawn().ok(), Some(Draft));
        assert_eq!(Pending.decided(true).ok(), Some(Approved));
        assert_eq!(Pending.decided(false).ok(), Some(Rejected));
        for status in [Draft, Approved, Rejected] {
            for wrong in [
                status.withdrawn(),
                status.decided(true),
                status.decided(false),
            ] {
                assert_eq!(wrong.unwrap_err().code, Code::ApplicationNotReviewable);
            }
        }
    }
}
