//! Who may change whom in an organisation. In which order mistakes are told is decided here, too.

use crate::error::{Code, Refusal};
use crate::role::Role;

/// Decides on giving a member another role.
pub fn change_role(caller: Role, is_self: bool, from: Role, to: Role) -> Result<(), Refusal> {
    act_on(caller, is_self, from)?;
    if !caller.may_assign(to) {
        return Err(Refusal::of(Code::RoleNotAssignable).param("role"));
    }
    match from == to {
        true => Err(Refusal::of(Code::NoChange)),
        false => Ok(()),
    }
}

/// Decides on removing a member.
pub fn remove(caller: Role, is_self: bool, role: Role) -> Result<(), Refusal> {
    act_on(caller, is_self, role)
}

fn act_on(caller: Role, is_self: bool, role: Role) -> Result<(), Refusal> {
    if is_self {
        return Err(Refusal::of(Code::CannotChangeSelf));
    }
    match caller.may_assign(role) {
        true => Ok(()),
        false => Err(Refusal::of(Code::RoleNotAssignable)),
    }
}

/// Decides on leaving. `owners` is how many there are, whoever leaves among them.
pub fn leave(role: Role, owners: usize) -> Result<(), Refusal> {
    match role == Role::Owner && owners <= 1 {
        true => Err(Refusal::of(Code::LastOwner)),
        false => Ok(()),
    }
}

/// Whether a passkey must say yes to giving or touching these roles: in a live organisation owners and admins move
/// real money.
pub fn needs_passkey(is_live: bool, roles: &[Role]) -> bool {
    is_live && roles.iter().any(|role| role.leads())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(decided: Result<(), Refusal>) -> Option<Code> {
        decided.err().map(|refusal| refusal.code)
    }

    #[test]
    fn nobody_changes_themselves_and_admins_do_not_touch_owners() {
        use Role::{Admin, Owner, Viewer};
        assert_eq!(code(change_role(Owner, false, Viewer, Owner)), None);
        assert_eq!(code(change_role(Admin, false, Viewer, Admin)), None);
        let own = change_role(Owner, true, Owner, Owner);
        assert_eq!(code(own), Some(Code::CannotChangeSelf));
        let up = change_role(Admin, false, Viewer, Owner);
        assert_eq!(code(up), Some(Code::RoleNotAssignable));
        let down = change_role(Admin, false, Owner, Owner);
        assert_eq!(code(down), Some(Code::RoleNotAssignable));
        let same = change_role(Owner, false, Viewer, Viewer);
        assert_eq!(code(same), Some(Code::NoChange));
        assert_eq!(code(remove(Owner, false, Owner)), None);
        assert_eq!(
            code(remove(Admin, false, Owner)),
            Some(Code::RoleNotAssignable)
        );
        assert_eq!(
            code(remove(Admin, true, Admin)),
            Some(Code::CannotChangeSelf)
        );
    }

    #[test]
    fn the_only_owner_stays() {
        assert_eq!(code(leave(Role::Owner, 1)), Some(Code::LastOwner));
        assert_eq!(code(leave(Role::Owner, 2)), None);
        assert_eq!(code(leave(Role::Admin, 0)), None);
    }

    #[test]
    fn a_passkey_is_for_those_who_lead_a_live_organisation() {
        assert!(needs_passkey(true, &[Role::Viewer, Role::Admin]));
        assert!(needs_passkey(true, &[Role::Owner]));
        assert!(!needs_passkey(true, &[Role::Viewer, Role::Developer]));
        assert!(!needs_passkey(false, &[Role::Owner]));
    }
}
