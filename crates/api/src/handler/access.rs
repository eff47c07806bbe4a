//! What every endpoint needs of a signed-in caller: the one table that the router, the document and the tests
//! take it from.

use http::Method;
use till_core::role::Permission;

/// Who may call an endpoint with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nobody needs to be signed in.
    Public,
    /// A session that awaits its second factor.
    Pending,
    /// Any session, also one that awaits its second factor.
    AnySession,
    /// The user's own things.
    Own(Confirm),
    /// An organisation's things.
    Organization {
        needs: Need,
        has_mode: bool,
        confirm: Confirm,
    },
    Operator(Confirm),
    /// A resource of the API, with a session in place of a key.
    Resource(Permission),
}

/// What a member must be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing but to be a member.
    AnyRole,
    Permission(Permission),
    /// The body decides; the handler asks.
    ByContent,
}

/// Whether a passkey must say yes to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    No,
    /// If the user has a passkey.
    IfPasskey,
    Always,
    /// Always, and only on a server that takes live mode at all.
    ToGoLive,
    InLiveMode,
    /// The handler decides by body and target.
    ByContent,
}

const fn organization(needs: Need) -> Access {
    Access::Organization {
        needs,
        has_mode: false,
        confirm: Confirm::No,
    }
}

const fn confirmed(needs: Need, confirm: Confirm) -> Access {
    Access::Organization {
        needs,
        has_mode: false,
        confirm,
    }
}

const fn in_mode(needs: Need, confirm: Confirm) -> Access {
    Access::Organization {
        needs,
        has_mode: true,
        confirm,
    }
}

const GET: Method = Method::GET;
const POST: Method = Method::POST;

/// Every endpoint that takes a session, by its method and route.
pub const TABLE: &[(Method, &str, Access)] = {
    use Access::{AnySession, Operator, Own, Pending, Public, Resource};
    use Confirm::{Always, ByContent, IfPasskey, InLiveMode, No, ToGoLive};
    use Need::AnyRole;
    use Permission::{
        ApplicationWrite, AuditRead, ChangesCancel, KeysRead, KeysWrite, MembersWrite,
        OrganizationWrite, Read, RefundsWrite, ReviewsReject, SalesWrite, SettingsWrite,
        TestHelpers, WebhooksReplay, WebhooksWrite,
    };
    &[
        // Getting in.
        (POST, "/v1/dashboard/sign_in/link", Public),
        (POST, "/v1/dashboard/sign_in/link/confirm", Public),
        (POST, "/v1/dashboard/sign_in/passkey/begin", Public),
        (POST, "/v1/dashboard/sign_in/passkey", Public),
        (POST, "/v1/dashboard/sign_in/second_factor/begin", Pending),
        (POST, "/v1/dashboard/sign_in/second_factor", Pending),
        (POST, "/v1/dashboard/sign_in/demo", Public),
        (POST, "/v1/dashboard/sign_up", Public),
        (POST, "/v1/dashboard/sign_up/confirm", Public),
        (POST, "/v1/dashboard/invites/open", Public),
        (POST, "/v1/dashboard/invites/accept", Public),
        // The user's own.
        (GET, "/v1/dashboard/session", AnySession),
        (POST, "/v1/dashboard/sign_out", AnySession),
        (GET, "/v1/dashboard/sessions", Own(No)),
        (POST, "/v1/dashboard/sessions/{id}/revoke", Own(No)),
        (POST, "/v1/dashboard/sessions/revoke_others", Own(No)),
        (GET, "/v1/dashboard/user", Own(No)),
        (POST, "/v1/dashboard/user", Own(No)),
        (GET, "/v1/dashboard/passkeys", Own(No)),
        (POST, "/v1/dashboard/passkeys/begin", Own(IfPasskey)),
        (POST, "/v1/dashboard/passkeys", Own(No)),
        (POST, "/v1/dashboard/passkeys/{id}", Own(No)),
        (POST, "/v1/dashboard/passkeys/{id}/remove", Own(IfPasskey)),
        (POST, "/v1/dashboard/totp/setup", Own(IfPasskey)),
        (POST, "/v1/dashboard/totp/confirm", Own(No)),
        (POST, "/v1/dashboard/totp/disable", Own(IfPasskey)),
        (GET, "/v1/dashboard/sign_ins", Own(No)),
        (GET, "/v1/dashboard/notices", Own(No)),
        (POST, "/v1/dashboard/notices/{id}/read", Own(No)),
        (POST, "/v1/dashboard/organizations", Own(No)),
        (POST, "/v1/dashboard/confirmations", Own(No)),
        (POST, "/v1/dashboard/confirmations/{id}", Own(No)),
        // The organisation.
        (
            GET,
            "/v1/dashboard/organization",
            organization(Need::Permission(Read)),
        ),
        (
            POST,
            "/v1/dashboard/organization",
            organization(Need::Permission(OrganizationWrite)),
        ),
        (
            GET,
            "/v1/dashboard/members",
            organization(Need::Permission(Read)),
        ),
        (
            POST,
            "/v1/dashboard/members/{id}",
            confirmed(Need::Permission(MembersWrite), ByContent),
        ),
        (
            POST,
            "/v1/dashboard/members/{id}/remove",
            confirmed(Need::Permission(MembersWrite), ByContent),
        ),
        (POST, "/v1/dashboard/members/leave", organization(AnyRole)),
        (
            GET,
            "/v1/dashboard/invites",
            organization(Need::Permission(MembersWrite)),
        ),
        (
            POST,
            "/v1/dashboard/invites",
            confirmed(Need::Permission(MembersWrite), ByContent),
        ),
        (
            POST,
            "/v1/dashboard/invites/{id}/withdraw",
            organization(Need::Permission(MembersWrite)),
        ),
        (
            GET,
            "/v1/dashboard/application",
            organization(Need::Permission(AuditRead)),
        ),
        (
            POST,
            "/v1/dashboard/application",
            organization(Need::Permission(ApplicationWrite)),
        ),
        (
            POST,
            "/v1/dashboard/application/submit",
            confirmed(Need::Permission(ApplicationWrite), ToGoLive),
        ),
        (
            POST,
            "/v1/dashboard/application/withdraw",
            organization(Need::Permission(ApplicationWrite)),
        ),
        (
            GET,
            "/v1/dashboard/destinations",
            in_mode(Need::Permission(Read), No),
        ),
        (
            GET,
            "/v1/dashboard/changes",
            in_mode(Need::Permission(Read), No),
        ),
        (
            GET,
            "/v1/dashboard/changes/{id}",
            in_mode(Need::Permission(Read), No),
        ),
        (
            POST,
            "/v1/dashboard/changes",
            in_mode(Need::ByContent, InLiveMode),
        ),
        (
            POST,
            "/v1/dashboard/changes/{id}/cancel",
            in_mode(Need::Permission(ChangesCancel), No),
        ),
        (
            GET,
            "/v1/dashboard/checkout_config",
            in_mode(Need::Permission(Read), No),
        ),
        (
            GET,
            "/v1/dashboard/api_keys",
            in_mode(Need::Permission(KeysRead), No),
        ),
        (
            POST,
            "/v1/dashboard/api_keys",
            in_mode(Need::Permission(KeysWrite), ByContent),
        ),
        (
            POST,
            "/v1/dashboard/api_keys/{id}/roll",
            in_mode(Need::Permission(KeysWrite), ByContent),
        ),
        (
            POST,
            "/v1/dashboard/api_keys/{id}/revoke",
            in_mode(Need::Permission(KeysWrite), No),
        ),
        (
            POST,
            "/v1/dashboard/api_keys/{id}/take_over",
            in_mode(Need::Permission(KeysWrite), ByContent),
        ),
        (
            GET,
            "/v1/dashboard/home",
            in_mode(Need::Permission(Read), No),
        ),
        (
            GET,
            "/v1/dashboard/unattributed_deposits",
            in_mode(Need::Permission(Read), No),
        ),
        (
            POST,
            "/v1/dashboard/unattributed_deposits/{id}/dismiss",
            in_mode(Need::Permission(RefundsWrite), No),
        ),
        (
            GET,
            "/v1/dashboard/audit_events",
            organization(Need::Permission(AuditRead)),
        ),
        (
            GET,
            "/v1/dashboard/ledger_digests",
            in_mode(Need::Permission(AuditRead), No),
        ),
        // The operator.
        (GET, "/v1/dashboard/operator/applications", Operator(No)),
        (
            GET,
            "/v1/dashboard/operator/applications/{id}",
            Operator(No),
        ),
        (
            POST,
            "/v1/dashboard/operator/applications/{id}/approve",
            Operator(Always),
        ),
        (
            POST,
            "/v1/dashboard/operator/applications/{id}/reject",
            Operator(Always),
        ),
        (GET, "/v1/dashboard/operator/organizations", Operator(No)),
        (
            POST,
            "/v1/dashboard/operator/organizations",
            Operator(Always),
        ),
        (
            POST,
            "/v1/dashboard/operator/organizations/{id}/disable",
            Operator(Always),
        ),
        (
            POST,
            "/v1/dashboard/operator/organizations/{id}/enable",
            Operator(Always),
        ),
        (GET, "/v1/dashboard/operator/networks", Operator(No)),
        (GET, "/v1/dashboard/operator/queues", Operator(No)),
        (POST, "/v1/dashboard/operator/mail_test", Operator(No)),
        // The API's resources.
        (GET, "/v1/invoices", Resource(Read)),
        (POST, "/v1/invoices", Resource(SalesWrite)),
        (GET, "/v1/invoices/{id}", Resource(Read)),
        (POST, "/v1/invoices/{id}/cancel", Resource(SalesWrite)),
        (
            POST,
            "/v1/invoices/{id}/resolve_review",
            Resource(ReviewsReject),
        ),
        (POST, "/v1/invoices/{id}/refunds", Resource(RefundsWrite)),
        (GET, "/v1/invoices/{id}/events", Resource(Read)),
        (GET, "/v1/payments", Resource(Read)),
        (GET, "/v1/payment_links", Resource(Read)),
        (POST, "/v1/payment_links", Resource(SalesWrite)),
        (GET, "/v1/payment_links/{id}", Resource(Read)),
        (POST, "/v1/payment_links/{id}", Resource(SalesWrite)),
        (GET, "/v1/refunds", Resource(Read)),
        (GET, "/v1/refunds/{id}", Resource(Read)),
        (POST, "/v1/refunds/{id}/cancel", Resource(RefundsWrite)),
        (POST, "/v1/refunds/{id}/mark_sent", Resource(RefundsWrite)),
        (GET, "/v1/customers", Resource(Read)),
        (POST, "/v1/customers", Resource(SalesWrite)),
        (GET, "/v1/customers/{id}", Resource(Read)),
        (POST, "/v1/customers/{id}/top_up", Resource(SalesWrite)),
        (GET, "/v1/plans", Resource(Read)),
        (POST, "/v1/plans", Resource(SalesWrite)),
        (GET, "/v1/plans/{id}", Resource(Read)),
        (POST, "/v1/plans/{id}/archive", Resource(SalesWrite)),
        (GET, "/v1/subscriptions", Resource(Read)),
        (POST, "/v1/subscriptions", Resource(SalesWrite)),
        (GET, "/v1/subscriptions/{id}", Resource(Read)),
        (POST, "/v1/subscriptions/{id}/cancel", Resource(SalesWrite)),
        (POST, "/v1/subscriptions/{id}/pause", Resource(SalesWrite)),
        (POST, "/v1/subscriptions/{id}/resume", Resource(SalesWrite)),
        (GET, "/v1/events", Resource(Read)),
        (GET, "/v1/events/{id}", Resource(Read)),
        (GET, "/v1/webhook_deliveries", Resource(Read)),
        (
            POST,
            "/v1/webhook_deliveries/{id}/replay",
            Resource(WebhooksReplay),
        ),
        (GET, "/v1/merchant/settings", Resource(Read)),
        (POST, "/v1/merchant/settings", Resource(SettingsWrite)),
        (
            POST,
            "/v1/merchant/webhook_secret/roll",
            Resource(WebhooksWrite),
        ),
        (GET, "/v1/reconciliation", Resource(Read)),
        (GET, "/v1/reconciliation/balances", Resource(Read)),
        (GET, "/v1/reconciliation/export", Resource(Read)),
        (GET, "/v1/assets", Resource(Read)),
        (GET, "/v1/test_helpers/clock", Resource(Read)),
        (POST, "/v1/test_helpers/clock", Resource(TestHelpers)),
        (
            POST,
            "/v1/test_helpers/invoices/{id}/simulate_payment",
            Resource(TestHelpers),
        ),
        (
            POST,
            "/v1/test_helpers/payments/{id}/reverse",
            Resource(TestHelpers),
        ),
    ]
};

/// What an endpoint needs; nothing where it takes no session.
pub fn of(method: &Method, route: &str) -> Option<Access> {
    // A HEAD asks for a GET's head.
    let method = if *method == Method::HEAD {
        &GET
    } else {
        method
    };
    let is_it = |(of, path, _): &&(Method, &str, Access)| of == method && *path == route;
    TABLE.iter().find(is_it).map(|(.., access)| *access)
}

/// The same by the path of a request; a fixed route goes before one with an id in it.
pub fn of_path(method: &Method, path: &str) -> Option<Access> {
    let is_it = |route: &str| {
        let (parts, given): (Vec<_>, Vec<_>) =
            (route.split('/').collect(), path.split('/').collect());
        let fits = |(part, given): (&&str, &&str)| {
            part == given || (part.starts_with('{') && !given.is_empty())
        };
        parts.len() == given.len() && parts.iter().zip(&given).all(fits)
    };
    of(method, path).or_else(|| {
        let mut fitting = TABLE
            .iter()
            .filter(|(of, route, _)| of == method && is_it(route));
        fitting.next().map(|(.., access)| *access)
    })
}
