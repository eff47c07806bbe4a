//! Changes of where money and webhooks go. They may wait before they take effect, so that whoever notices one that is
//! not theirs can stop it.

use crate::asset::Mode;
use crate::role::Permission;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    Destination,
    WebhookUrl,
    WebhookSecret,
}

impl ChangeKind {
    pub const ALL: [ChangeKind; 3] = [
        ChangeKind::Destination,
        ChangeKind::WebhookUrl,
        ChangeKind::WebhookSecret,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Destination => "destination",
            ChangeKind::WebhookUrl => "webhook_url",
            ChangeKind::WebhookSecret => "webhook_secret",
        }
    }

    pub fn parse(text: &str) -> Option<ChangeKind> {
        ChangeKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }

    /// What a member must be allowed to ask for one.
    pub fn needs(self) -> Permission {
        match self {
            ChangeKind::Destination => Permission::DestinationsWrite,
            ChangeKind::WebhookUrl | ChangeKind::WebhookSecret => Permission::WebhooksWrite,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeStatus {
    Pending,
    Effective,
    Cancelled,
}

impl ChangeStatus {
    pub const ALL: [ChangeStatus; 3] = [
        ChangeStatus::Pending,
        ChangeStatus::Effective,
        ChangeStatus::Cancelled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ChangeStatus::Pending => "pending",
            ChangeStatus::Effective => "effective",
            ChangeStatus::Cancelled => "cancelled",
        }
    }

    pub fn parse(text: &str) -> Option<ChangeStatus> {
        ChangeStatus::ALL
            .into_iter()
            .find(|status| status.as_str() == text)
    }
}

/// How long a change waits that is asked for now. In live mode the server decides, but for the first ones: before the
/// first live invoice there is nothing to steal. In test mode whoever asks decides.
pub fn delay_ms(mode: Mode, asked_ms: i64, server_ms: i64, has_live_invoice: bool) -> i64 {
    match (mode, has_live_invoice) {
        (Mode::Test, _) => asked_ms.max(0),
        (Mode::Live, true) => server_ms.max(0),
        (Mode::Live, false) => 0,
    }
}

/// Whether a change can still be stopped: not once its time has come, whoever is late to act on it.
pub fn can_cancel(status: ChangeStatus, effective_at: i64, now: i64) -> bool {
    status == ChangeStatus::Pending && now < effective_at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in ChangeKind::ALL {
            assert_eq!(ChangeKind::parse(kind.as_str()), Some(kind));
        }
        for status in ChangeStatus::ALL {
            assert_eq!(ChangeStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(ChangeKind::parse("Destination"), None);
        assert_eq!(ChangeStatus::parse(""), None);
    }

    #[test]
    fn live_changes_wait_once_there_is_something_to_steal() {
        assert_eq!(delay_ms(Mode::Live, 0, 86_400_000, true), 86_400_000);
        assert_eq!(delay_ms(Mode::Live, 0, 86_400_000, false), 0);
        assert_eq!(delay_ms(Mode::Test, 5_000, 86_400_000, true), 5_000);
        assert_eq!(delay_ms(Mode::Test, 0, 86_400_000, false), 0);
    }

    #[test]
    fn a_change_is_stopped_only_before_its_time() {
        assert!(can_cancel(ChangeStatus::Pending, 10, 9));
        assert!(!can_cancel(ChangeStatus::Pending, 10, 10));
        assert!(!can_cancel(ChangeStatus::Effective, 10, 9));
        assert!(!can_cancel(ChangeStatus::Cancelled, 10, 9));
    }
}
