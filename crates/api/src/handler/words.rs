//! The words that stand for something in requests and answers, listed for the document by those who know them.

use till_core::event::EventType;
use till_core::limits::DISPLAY_NAME_CHARS_MAX;
use till_core::organization::organization_name;
use till_core::{
    application, calendar, change, invoice, link, payment, plan, refund, role, subscription, time,
    webhook,
};
use till_engine::invoices;
use till_engine::merchants::{accounts, names};
use till_engine::team::deposits;
use till_engine::team::emails::Email;
use till_http::fields::{JsonType, Typed};
use till_http::json::Json;
use till_http::query;
use till_http::read::{self, Read};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// A word in a request that stands for a value of ours.
pub trait Word: Sized {
    type Of: Copy + 'static;
    const ALL: &'static [Self::Of];

    fn as_str(of: Self::Of) -> &'static str;
    fn new(of: Self::Of) -> Self;
}

/// Reads a word from a body.
pub fn word<W: Word>(at: &str, value: Json) -> Read<W> {
    read::one_of(W::ALL, W::as_str)(at, value).map(W::new)
}

/// Reads a word from a query.
pub fn word_param<W: Word>(at: &str, value: String) -> Read<W> {
    query::one_of(W::ALL, W::as_str)(at, value).map(W::new)
}

/// Describes the words of an enum that has `ALL` and `as_str`.
macro_rules! described {
    ($Name:ident of $type:ty, $about:expr) => {
        impl PartialSchema for $Name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .description($about)
                    .enum_values(Some(<$type>::ALL.map(<$type>::as_str)))
                    .into()
            }
        }

        impl ToSchema for $Name {}
    };
}

/// The same for those that requests have.
macro_rules! words {
    ($Name:ident of $type:ty, $about:expr) => {
        #[derive(Clone, Copy, Debug)]
        pub struct $Name(pub $type);

        described!($Name of $type, $about);

        impl Typed for $Name {
            const JSON: JsonType = JsonType::Text;
        }

        impl Word for $Name {
            type Of = $type;
            const ALL: &'static [$type] = &<$type>::ALL;

            fn as_str(of: $type) -> &'static str {
                of.as_str()
            }

            fn new(of: $type) -> $Name {
                $Name(of)
            }
        }
    };
}

words!(InvoiceStatus of invoice::Status, Some("Where an invoice stands."));
words!(PaymentStatus of payment::PaymentStatus, Some("Where a payment stands."));
words!(DeliveryStatus of webhook::DeliveryStatus, Some("What became of a delivery attempt."));
words!(AmountType of link::AmountType, Some("Who sets the amount of a payment link."));
words!(IntervalUnit of calendar::Unit, Some("What periods are counted in."));
words!(SubscriptionStatus of subscription::Status, Some("Where a subscription stands."));
words!(Decision of invoices::Decision, None::<String>);
words!(RefundStatus of refund::RefundStatus, Some("Where a refund stands."));
words!(KeyKind of accounts::KeyKind, Some("Whether a key is secret."));
words!(ChangeKind of change::ChangeKind, Some("What is changed."));
words!(ChangeStatus of change::ChangeStatus, Some("Where a change stands."));
words!(DepositStatus of deposits::DepositStatus, Some("Whether somebody has to look at a deposit."));
words!(RefundReason of refund::RefundReason, Some("Why a refund is made."));
words!(MemberRole of role::Role, Some("What a member is in an organization."));
words!(ApplicationStatus of application::ApplicationStatus, Some("Where an application for live mode stands."));

pub struct PlanStatus;
described!(PlanStatus of plan::PlanStatus, Some("Whether a plan takes new subscriptions."));

pub struct Finality;
described!(Finality of payment::Level, Some("How settled the chain holds a transfer to be."));

/// A moment: RFC 3339 in a request, milliseconds here.
#[derive(Clone, Copy, Debug)]
pub struct Moment(pub i64);

impl Typed for Moment {
    const JSON: JsonType = JsonType::Text;
}

impl Moment {
    pub fn read(at: &str, value: Json) -> Read<Moment> {
        let text = read::text(at, value)?;
        let moment = time::parse(&text).map(Moment);
        moment.ok_or_else(|| read::invalid(at, format!("`{at}` must be an RFC 3339 date-time.")))
    }

    /// Of a query, where a date stands for its midnight in UTC.
    pub fn param(at: &str, value: String) -> Read<Moment> {
        let moment = time::parse_or_date(&value).map(Moment);
        let message = || format!("`{at}` must be an RFC 3339 date-time or a date.");
        moment.ok_or_else(|| read::invalid(at, message()))
    }
}

/// The type of an event that webhooks deliver.
#[derive(Clone, Copy, Debug)]
pub struct WebhookEventType(pub EventType);

impl PartialSchema for WebhookEventType {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("What an event tells of."))
            .enum_values(Some(EventType::WEBHOOKS.map(EventType::as_str)))
            .into()
    }
}

impl ToSchema for WebhookEventType {}

impl Typed for WebhookEventType {
    const JSON: JsonType = JsonType::Text;
}

impl Word for WebhookEventType {
    type Of = EventType;
    const ALL: &'static [EventType] = &EventType::WEBHOOKS;

    fn as_str(of: EventType) -> &'static str {
        of.as_str()
    }

    fn new(of: EventType) -> WebhookEventType {
        WebhookEventType(of)
    }
}

/// The address of a person, in the form in which it is kept.
#[derive(Clone, Debug)]
pub struct EmailAddress(pub Email);

impl Typed for EmailAddress {
    const JSON: JsonType = JsonType::Text;
}

impl EmailAddress {
    pub fn read(at: &str, value: Json) -> Read<EmailAddress> {
        let text = read::text(at, value)?;
        let email = Email::parse(&text).map(EmailAddress);
        email.map_err(|refusal| refusal.param(at))
    }
}

/// Reads what an organisation is to be called.
pub fn organization(at: &str, value: Json) -> Read<String> {
    let text = read::text(at, value)?;
    let name = organization_name(&text).ok_or_else(|| {
        let message =
            format!("`{at}` must be 1 to {DISPLAY_NAME_CHARS_MAX} characters on one line.");
        read::invalid(at, message)
    })?;
    // Payers are shown it where there is no display name.
    names::check(name).map_err(|error| read::invalid(at, format!("`{at}` {error}.")))?;
    Ok(name.to_owned())
}
