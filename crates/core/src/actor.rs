//! Who makes a change. Rights are asked of the actor, and histories keep it.

use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A secret key of the merchant, by its id.
    Key(Arc<str>),
    /// A member of the merchant's organisation, by the id of the user.
    Member(Arc<str>),
    /// Whoever has a publishable key or the link of a refund.
    Payer,
    /// Whoever has a shell on the server's machine.
    Operator,
    /// Till itself: what a chain, a timer or a list calls for.
    System,
}

impl Actor {
    pub fn key(id: &str) -> Actor {
        Actor::Key(id.into())
    }

    pub fn member(user: &str) -> Actor {
        Actor::Member(user.into())
    }

    /// As histories keep it: the kind, and the id where there is one.
    pub fn show(&self) -> String {
        match self {
            Actor::Key(id) => format!("api_key:{id}"),
            Actor::Member(id) => format!("user:{id}"),
            Actor::Payer => "payer".to_owned(),
            Actor::Operator => "cli".to_owned(),
            Actor::System => "system".to_owned(),
        }
    }

    pub fn parse(text: &str) -> Option<Actor> {
        match text.split_once(':') {
            Some(("api_key", id)) if !id.is_empty() => Some(Actor::key(id)),
            Some(("user", id)) if !id.is_empty() => Some(Actor::member(id)),
            Some(_) => None,
            None => [Actor::Payer, Actor::Operator, Actor::System]
                .into_iter()
                .find(|actor| actor.show() == text),
        }
    }
}

/// Where a request came from, as far as the audit log tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub ip: Option<String>,
    pub user_agent: Option<String>,
    /// The session of a member, by its id.
    pub session: Option<String>,
    pub request: Option<String>,
}

/// What is written into the audit log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    ApiKeyCreated,
    ApiKeyRevoked,
    ApiKeyRolled,
    ApiKeyTakenOver,
    ApplicationApproved,
    ApplicationRejected,
    ApplicationSubmitted,
    ApplicationUpdated,
    ApplicationWithdrawn,
    ChangeCancelled,
    ChangeEffective,
    ChangeRequested,
    DepositDismissed,
    DestinationAdded,
    InviteCreated,
    InviteWithdrawn,
    MemberJoined,
    MemberLeft,
    MemberRemoved,
    MemberRoleChanged,
    OrganizationCreated,
    OrganizationDisabled,
    OrganizationEnabled,
    OrganizationRenamed,
    PasskeyAdded,
    PasskeyRemoved,
    PasskeyRenamed,
    RefundCancelled,
    RefundClaimed,
    RefundCreated,
    RefundSent,
    ReviewResolved,
    SessionEnded,
    SessionRevoked,
    SettingsUpdated,
    SignInFailed,
    SignInSucceeded,
    TotpDisabled,
    TotpEnabled,
    WebhookSecretRolled,
}

impl Action {
    pub const ALL: [Action; 40] = [
        Action::ApiKeyCreated,
        Action::ApiKeyRevoked,
        Action::ApiKeyRolled,
        Action::ApiKeyTakenOver,
        Action::ApplicationApproved,
        Action::ApplicationRejected,
        Action::ApplicationSubmitted,
        Action::ApplicationUpdated,
        Action::ApplicationWithdrawn,
        Action::ChangeCancelled,
        Action::ChangeEffective,
        Action::ChangeRequested,
        Action::DepositDismissed,
        Action::DestinationAdded,
        Action::InviteCreated,
        Action::InviteWithdrawn,
        Action::MemberJoined,
        Action::MemberLeft,
        Action::MemberRemoved,
        Action::MemberRoleChanged,
        Action::OrganizationCreated,
        Action::OrganizationDisabled,
        Action::OrganizationEnabled,
        Action::OrganizationRenamed,
        Action::PasskeyAdded,
        Action::PasskeyRemoved,
        Action::PasskeyRenamed,
        Action::RefundCancelled,
        Action::RefundClaimed,
        Action::RefundCreated,
        Action::RefundSent,
        Action::ReviewResolved,
        Action::SessionEnded,
        Action::SessionRevoked,
        Action::SettingsUpdated,
        Action::SignInFailed,
        Action::SignInSucceeded,
        Action::TotpDisabled,
        Action::TotpEnabled,
        Action::WebhookSecretRolled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Action::ApiKeyCreated => "api_key.created",
            Action::ApiKeyRevoked => "api_key.revoked",
            Action::ApiKeyRolled => "api_key.rolled",
            Action::ApiKeyTakenOver => "api_key.taken_over",
            Action::ApplicationApproved => "application.approved",
            Action::ApplicationRejected => "application.rejected",
            Action::ApplicationSubmitted => "application.submitted",
            Action::ApplicationUpdated => "application.updated",
            Action::ApplicationWithdrawn => "application.withdrawn",
            Action::ChangeCancelled => "change.cancelled",
            Action::ChangeEffective => "change.effective",
            Action::ChangeRequested => "change.requested",
            Action::DepositDismissed => "deposit.dismissed",
            Action::DestinationAdded => "destination.added",
            Action::InviteCreated => "invite.created",
            Action::InviteWithdrawn => "invite.withdrawn",
            Action::MemberJoined => "member.joined",
            Action::MemberLeft => "member.left",
            Action::MemberRemoved => "member.removed",
            Action::MemberRoleChanged => "member.role_changed",
            Action::OrganizationCreated => "organization.created",
            Action::OrganizationDisabled => "organization.disabled",
            Action::OrganizationEnabled => "organization.enabled",
            Action::OrganizationRenamed => "organization.renamed",
            Action::PasskeyAdded => "passkey.added",
            Action::PasskeyRemoved => "passkey.removed",
            Action::PasskeyRenamed => "passkey.renamed",
            Action::RefundCancelled => "refund.cancelled",
            Action::RefundClaimed => "refund.claimed",
            Action::RefundCreated => "refund.created",
            Action::RefundSent => "refund.sent",
            Action::ReviewResolved => "review.resolved",
            Action::SessionEnded => "session.ended",
            Action::SessionRevoked => "session.revoked",
            Action::SettingsUpdated => "settings.updated",
            Action::SignInFailed => "sign_in.failed",
            Action::SignInSucceeded => "sign_in.succeeded",
            Action::TotpDisabled => "totp.disabled",
            Action::TotpEnabled => "totp.enabled",
            Action::WebhookSecretRolled => "webhook_secret.rolled",
        }
    }

    pub fn parse(text: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|of| of.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_actor_is_read_back_as_it_was_written() {
        let all = [
            Actor::key("key_1"),
            Actor::member("usr_1"),
            Actor::Payer,
            Actor::Operator,
            Actor::System,
        ];
        for actor in all {
            assert_eq!(Actor::parse(&actor.show()), Some(actor));
        }
    }

    #[test]
    fn nobody_is_not_an_actor() {
        for text in [
            "", "api_key", "api_key:", "user:", "payer:1", "root", "system:",
        ] {
            assert_eq!(Actor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_action_is_read_back_as_it_was_written() {
        for action in Action::ALL {
            assert_eq!(Action::parse(action.as_str()), Some(action));
        }
        assert_eq!(Action::parse("refund"), None);
    }
}
