//! What the outside sees of our things. Events carry these too, so they stand below HTTP.

mod asset;
mod customer;
mod delivery;
mod derivation;
mod event;
mod invoice;
mod link;
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

pub use asset::AssetView;
pub use customer::CustomerView;
pub use delivery::DeliveryView;
pub use derivation::AddressDerivation;
pub use event::{event_body, event_object};
pub use invoice::{
    FiatAmount, InvoiceView, PaymentOptionView, PendingOptionView, ReviewView, TokenAmount,
};
pub use link::{LinkView, PayerLinkView};
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
pub use team::{InviteOfferView, OfferedOrganization, OrganizationView, SessionView, UserView};
pub use team_changes::{ChangeView, DestinationNetwork, DestinationView, PersonView};
pub use team_home::{
    AuditActorView, AuditEventView, AuditTargetView, DepositView, HomeView, NeedView,
    NetworkHealthView, SetupStepView, VolumeView,
};
pub use team_keys::{ApiKeyView, KeyCreatorView};

use till_core::asset::Registry;
use till_core::money::{Units, show};

/// Whole tokens of an asset; an asset the registry has lost shows its base units.
pub fn tokens((asset, units): &(String, Units)) -> TokenAmount {
    let decimals = Registry::builtin()
        .asset(asset)
        .map_or(0, |asset| asset.decimals);
    TokenAmount {
        amount: show(*units, decimals),
        asset: asset.clone(),
    }
}
