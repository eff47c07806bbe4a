//! What the outside sees of our things. Events carry these too, so they stand below HTTP.

mod asset;
mod customer;
mod delivery;
mod derivation;
mod digest;
mod event;
mod invoice;
mod link;
mod network_health;
mod notice;
mod page_config;
mod payer;
mod payment;
mod plan;
mod refund;
mod settings;
mod streamed;
mod subscription;
mod team;
mod team_changes;
mod team_home;
mod team_keys;
mod team_live;
mod team_own;
mod tokens;

pub use asset::AssetView;
pub use customer::CustomerView;
pub use delivery::DeliveryView;
pub use derivation::AddressDerivation;
pub use digest::{DigestView, LedgerKeyView, LedgerKeysView};
pub use event::{event_body, event_object};
pub use invoice::{FiatAmount, InvoiceView, PaymentOptionView, PendingOptionView, ReviewView};
pub use link::{LinkView, PayerLinkView};
pub use network_health::{
    EndpointView, MailTestView, NetworkHealthView, OperatedNetworkView, QueueView, QueuesView,
};
pub use notice::NoticeView;
pub use page_config::PageConfig;
pub use payer::{
    Capabilities, CheckoutInvoiceView, MerchantName, PayerOptionView, PayerPage, PayerPaymentView,
    offered, payer_payments,
};
pub use payment::PaymentView;
pub use plan::PlanView;
pub use refund::{
    CheckedView, ClaimNetwork, ClaimPayout, ClaimView, PayoutView, RefundView, ScreeningView,
};
pub use settings::{SettingsView, WebhookSecretView};
pub use streamed::{InvoiceEventView, StreamedInvoice, stream_event};
pub use subscription::SubscriptionView;
pub use team::{
    InviteOfferView, InviteView, MemberKeys, MemberView, OfferedOrganization, OrganizationView,
    PersonView, SessionView, UserView,
};
pub use team_changes::{ChangeView, DestinationNetwork, DestinationView};
pub use team_home::{
    AuditActorView, AuditEventView, AuditTargetView, DepositView, HomeView, NeedView,
    SetupStepView, VolumeView,
};
pub use team_keys::{ApiKeyView, KeyCreatorView};
pub use team_live::{
    ApplicationView, DecidedBy, InvitedOrganizationView, OperatedOrganizationView,
    ReviewedApplicationView,
};
pub use team_own::{
    CeremonyView, ConfirmationView, MemberNoticeView, NewOrganizationView, PasskeyView,
    TestKeysView, TotpSetupView,
};
pub use tokens::{TokenAmount, tokens};
