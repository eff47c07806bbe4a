//! The types of errors, and the chapters of their documentation.

/// The `type` of an error object: what sort of problem a client has to handle.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorType {
    InvalidRequest,
    Authentication,
    Permission,
    Idempotency,
    RateLimit,
    Api,
}

impl ErrorType {
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorType::InvalidRequest => "invalid_request_error",
            ErrorType::Authentication => "authentication_error",
            ErrorType::Permission => "permission_error",
            ErrorType::Idempotency => "idempotency_error",
            ErrorType::RateLimit => "rate_limit_error",
            ErrorType::Api => "api_error",
        }
    }
}

/// The chapter of the documentation a code belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Section {
    Requests,
    Keys,
    Idempotency,
    Invoices,
    Checkout,
    Refunds,
    PaymentLinks,
    Subscriptions,
    Settings,
    Server,
    Dashboard,
    Demo,
}

impl Section {
    pub const ALL: &'static [Section] = &[
        Section::Requests,
        Section::Keys,
        Section::Idempotency,
        Section::Invoices,
        Section::Checkout,
        Section::Refunds,
        Section::PaymentLinks,
        Section::Subscriptions,
        Section::Settings,
        Section::Server,
        Section::Dashboard,
        Section::Demo,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Section::Requests => "Requests",
            Section::Keys => "Authentication and keys",
            Section::Idempotency => "Idempotency",
            Section::Invoices => "Invoices",
            Section::Checkout => "Checkout and wallet payments",
            Section::Refunds => "Refunds and refund claims",
            Section::PaymentLinks => "Payment links",
            Section::Subscriptions => "Subscriptions",
            Section::Settings => "Settings and webhooks",
            Section::Server => "Rate limits and server errors",
            Section::Dashboard => "Dashboard",
            Section::Demo => "Demo server only",
        }
    }
}
