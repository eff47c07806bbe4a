//! Who may do what, as the contract's table has it: written down by hand, and not asked of the engine.

/// In which modes owners, admins, developers, support and viewers may: `T` test, `L` live, `x` where there is no mode.
const TABLE: [(&str, [&str; 5]); 5] = [
    ("destination", ["TL", "T", "T", "", ""]),
    ("webhook, change, key, setting", ["TL", "TL", "T", "", ""]),
    ("member, organization", ["x", "x", "", "", ""]),
    ("application", ["x", "", "", "", ""]),
    ("own", ["x", "x", "x", "x", "x"]),
];

const ROLES: [&str; 5] = ["owner", "admin", "developer", "support", "viewer"];

fn granted(right: &str, role: &str, mode: Option<&str>) -> bool {
    let row = TABLE.iter().find(|(name, _)| *name == right);
    let (_, row) = row.expect("a right of the table");
    let place = ROLES.iter().position(|name| *name == role);
    let modes = row[place.expect("a role")];
    modes.contains(match mode {
        Some("test") => "T",
        Some("live") => "L",
        _ => "x",
    })
}

/// Whether somebody of this role may do what the log calls so. `kind` is that of a change.
pub fn may(action: &str, kind: &str, role: &str, mode: Option<&str>) -> bool {
    match action {
        "change.requested" | "change.effective" => may_request(kind, role, mode),
        "change.cancelled" | "api_key.created" | "api_key.rolled" | "api_key.revoked"
        | "api_key.taken_over" | "settings.updated" => {
            granted("webhook, change, key, setting", role, mode)
        }
        "member.role_changed"
        | "member.removed"
        | "invite.created"
        | "invite.withdrawn"
        | "organization.renamed" => granted("member, organization", role, None),
        "application.updated" | "application.submitted" | "application.withdrawn" => {
            granted("application", role, None)
        }
        "member.left" | "member.joined" => granted("own", role, None),
        _ => is_own(action),
    }
}

/// Whether somebody of this role may ask for a change of this kind.
pub fn may_request(kind: &str, role: &str, mode: Option<&str>) -> bool {
    let right = match kind {
        "destination" => "destination",
        _ => "webhook, change, key, setting",
    };
    granted(right, role, mode)
}

/// Whether somebody of this role may give the other, or act on somebody who has it.
pub fn may_give(role: &str, other: &str) -> bool {
    role == "owner" || (role == "admin" && other != "owner")
}

pub fn leads(role: &str) -> bool {
    matches!(role, "owner" | "admin")
}

/// What is a user's own, and told in each organisation they are in.
pub fn is_own(action: &str) -> bool {
    let kinds = ["sign_in.", "session.", "passkey.", "totp."];
    kinds.iter().any(|kind| action.starts_with(kind))
}

/// What operators do, who have no role.
pub fn is_operators(action: &str) -> bool {
    matches!(
        action,
        "organization.disabled"
            | "organization.enabled"
            | "application.approved"
            | "application.rejected"
    )
}
