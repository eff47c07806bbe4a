//! What members of an organisation may do. The whole table of rights is here; routes, the document and the tests
//! take it from here.

use crate::asset::Mode;

/// What a member is in an organisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Owner,
    Admin,
    Developer,
    Support,
    Viewer,
}

impl Role {
    pub const ALL: [Role; 5] = [
        Role::Owner,
        Role::Admin,
        Role::Developer,
        Role::Support,
        Role::Viewer,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Admin => "admin",
            Role::Developer => "developer",
            Role::Support => "support",
            Role::Viewer => "viewer",
        }
    }

    pub fn parse(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether a member of this role may give the other role, or act on a member who has it.
    pub fn may_assign(self, other: Role) -> bool {
        match self {
            Role::Owner => true,
            Role::Admin => other != Role::Owner,
            Role::Developer | Role::Support | Role::Viewer => false,
        }
    }

    /// Owners and admins, who are told of what concerns the whole organisation.
    pub fn leads(self) -> bool {
        matches!(self, Role::Owner | Role::Admin)
    }
}

/// Something that a member may be allowed to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// All resources, the home page, destinations, changes, deposits, members, the organisation.
    Read,
    /// Invoices, links, customers, plans, subscriptions.
    SalesWrite,
    /// Refunds, and dismissing deposits.
    RefundsWrite,
    ReviewsReject,
    ReviewsAccept,
    /// The webhook URL and secret.
    WebhooksWrite,
    /// All other settings.
    SettingsWrite,
    /// Creating, rolling, revoking and taking over API keys.
    KeysWrite,
    ChangesCancel,
    WebhooksReplay,
    KeysRead,
    /// Asking for a change of destination.
    DestinationsWrite,
    /// Simulating, reversing, moving the clock.
    TestHelpers,
    /// Inviting, changing roles, removing.
    MembersWrite,
    /// Renaming.
    OrganizationWrite,
    /// The audit log, the signed books and reading the application.
    AuditRead,
    /// Filling in, submitting and withdrawing the application for live mode.
    ApplicationWrite,
}

/// In which modes a role has a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Granted {
    Both,
    TestOnly,
    No,
}

impl Permission {
    pub const ALL: [Permission; 17] = [
        Permission::Read,
        Permission::SalesWrite,
        Permission::RefundsWrite,
        Permission::ReviewsReject,
        Permission::ReviewsAccept,
        Permission::WebhooksWrite,
        Permission::SettingsWrite,
        Permission::KeysWrite,
        Permission::ChangesCancel,
        Permission::WebhooksReplay,
        Permission::KeysRead,
        Permission::DestinationsWrite,
        Permission::TestHelpers,
        Permission::MembersWrite,
        Permission::OrganizationWrite,
        Permission::AuditRead,
        Permission::ApplicationWrite,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Permission::Read => "read",
            Permission::SalesWrite => "sales.write",
            Permission::RefundsWrite => "refunds.write",
            Permission::ReviewsReject => "reviews.reject",
            Permission::ReviewsAccept => "reviews.accept",
            Permission::WebhooksWrite => "webhooks.write",
            Permission::SettingsWrite => "settings.write",
            Permission::KeysWrite => "keys.write",
            Permission::ChangesCancel => "changes.cancel",
            Permission::WebhooksReplay => "webhooks.replay",
            Permission::KeysRead => "keys.read",
            Permission::DestinationsWrite => "destinations.write",
            Permission::TestHelpers => "test_helpers",
            Permission::MembersWrite => "members.write",
            Permission::OrganizationWrite => "organization.write",
            Permission::AuditRead => "audit.read",
            Permission::ApplicationWrite => "application.write",
        }
    }

    /// The table: what owners, admins, developers, support and viewers are granted.
    fn granted(self, role: Role) -> Granted {
        use Granted::{Both, No, TestOnly};
        let row = match self {
            Permission::Read => [Both, Both, Both, Both, Both],
            Permission::SalesWrite | Permission::RefundsWrite | Permission::ReviewsReject => {
                [Both, Both, TestOnly, Both, No]
            }
            Permission::ReviewsAccept
            | Permission::WebhooksWrite
            | Permission::SettingsWrite
            | Permission::KeysWrite
            | Permission::ChangesCancel => [Both, Both, TestOnly, No, No],
            Permission::WebhooksReplay => [Both, Both, Both, Both, No],
            Permission::KeysRead => [Both, Both, Both, No, No],
            Permission::DestinationsWrite => [Both, TestOnly, TestOnly, No, No],
            Permission::TestHelpers => [TestOnly, TestOnly, TestOnly, TestOnly, No],
            Permission::MembersWrite | Permission::OrganizationWrite | Permission::AuditRead => {
                [Both, Both, No, No, No]
            }
            Permission::ApplicationWrite => [Both, No, No, No, No],
        };
        let [owner, admin, developer, support, viewer] = row;
        match role {
            Role::Owner => owner,
            Role::Admin => admin,
            Role::Developer => developer,
            Role::Support => support,
            Role::Viewer => viewer,
        }
    }

    /// Whether the role has it in this mode; `None` where no mode is involved.
    pub fn is_granted(self, role: Role, mode: Option<Mode>) -> bool {
        match self.granted(role) {
            Granted::Both => true,
            Granted::TestOnly => mode != Some(Mode::Live),
            Granted::No => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
        assert_eq!(Role::parse("Owner"), None);
    }

    #[test]
    fn an_admin_assigns_every_role_but_the_owner_s() {
        for role in Role::ALL {
            assert!(Role::Owner.may_assign(role));
            assert_eq!(Role::Admin.may_assign(role), role != Role::Owner);
            for below in [Role::Developer, Role::Support, Role::Viewer] {
                assert!(!below.may_assign(role));
            }
        }
    }

    /// Written down by hand, as people read it: test and live for each role in turn.
    #[test]
    fn the_table_says_what_the_contract_says() {
        let shown = |permission: Permission| -> String {
            let cell = |role| {
                let (test, live) = (
                    permission.is_granted(role, Some(Mode::Test)),
                    permission.is_granted(role, Some(Mode::Live)),
                );
                match (test, live) {
                    (true, true) => "TL",
                    (true, false) => "T",
                    (false, true) => "L",
                    (false, false) => "-",
                }
            };
            Role::ALL.map(cell).join(" ")
        };
        for (name, expected) in [
            ("read", "TL TL TL TL TL"),
            ("sales.write", "TL TL T TL -"),
            ("refunds.write", "TL TL T TL -"),
            ("reviews.reject", "TL TL T TL -"),
            ("reviews.accept", "TL TL T - -"),
            ("webhooks.write", "TL TL T - -"),
            ("settings.write", "TL TL T - -"),
            ("keys.write", "TL TL T - -"),
            ("changes.cancel", "TL TL T - -"),
            ("webhooks.replay", "TL TL TL TL -"),
            ("keys.read", "TL TL TL - -"),
            ("destinations.write", "TL T T - -"),
            ("test_helpers", "T T T T -"),
            ("members.write", "TL TL - - -"),
            ("organization.write", "TL TL - - -"),
            ("audit.read", "TL TL - - -"),
            ("application.write", "TL - - - -"),
        ] {
            let found = Permission::ALL.into_iter().find(|p| p.as_str() == name);
            assert_eq!(shown(found.unwrap()), expected, "{name}");
        }
    }
}
