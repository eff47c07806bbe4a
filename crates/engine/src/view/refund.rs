//! A refund, as its merchant and as its payer see it.

use serde::Serialize;
use till_core::asset::Registry;
use till_core::money::show;
use till_core::refund::paid_as;
use till_core::screening::Screening;
use till_core::time;
use till_store::refunds::RefundRow;
use utoipa::ToSchema;

use super::payer::MerchantName;
use super::tokens::tokens;
use crate::base::Merchant;

/// Money to be sent back to a payer, by the merchant's own wallet.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Refund)]
pub struct RefundView {
    pub id: String,
    #[schema(example = "refund", pattern = "^refund$")]
    pub object: &'static str,
    pub livemode: bool,
    pub invoice: String,
    /// `unclaimed`, `ready_to_send`, `in_review`, `sent` or `cancelled`.
    pub status: String,
    /// Why it is `in_review`, null otherwise. `sanctions`, `blacklist` or `screening_unavailable`: what the lists say of
    /// the address, or of who paid. `payment_reversed`: a payment that it is drawn from left the chain. `price_uncovered`:
    /// the price was paid beside it, and is not any more. `finality_violation`: the network took back final blocks. Where
    /// several apply, the first of these.
    #[schema(required)]
    pub review_reason: Option<&'static str>,
    /// Whole tokens.
    pub amount: String,
    pub asset: String,
    /// Why, if it was said: `overpaid`, `late_payment`, `wrong_asset`, `review_rejected`, `requested_by_payer`,
    /// `duplicate` or `other`.
    #[schema(required)]
    pub reason: Option<&'static str>,
    /// The link to send to the payer: whoever has it says where the money goes. Null in events, which are kept, and for those who
    /// may only read.
    #[schema(required)]
    pub claim_url: Option<String>,
    /// The credential in that link; null where that is.
    #[schema(required)]
    pub claim_token: Option<String>,
    /// Where to send it; null until the payer said so.
    #[schema(required)]
    pub payout: Option<PayoutView>,
    /// The transaction that sent it.
    #[schema(required)]
    pub tx_hash: Option<String>,
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When the link stops working unless it was used.
    #[schema(format = DateTime)]
    pub expires_at: String,
    #[schema(required, format = DateTime)]
    pub claimed_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub sent_at: Option<String>,
    #[schema(required, format = DateTime)]
    pub cancelled_at: Option<String>,
}

/// Where the payer wants the refund, and what the lists say of it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Payout)]
pub struct PayoutView {
    pub address: String,
    /// CAIP-2 id.
    pub network: String,
    /// What to send there: the refund's token on that network. The books have the refund under the asset received, which is
    /// the refund's own `asset`.
    pub asset: String,
    pub screening: ScreeningView,
}

/// What the lists say of an address.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Screening)]
pub struct ScreeningView {
    /// `clear`, `match`, or `unavailable` when a list could not be asked: only what is clear may be paid.
    pub result: &'static str,
    pub lists: Vec<CheckedView>,
}

/// What one list says.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ScreenedList)]
pub struct CheckedView {
    pub list: String,
    /// `clear`, `match` or `unavailable`.
    pub result: &'static str,
    #[schema(format = DateTime)]
    pub checked_at: String,
}

impl ScreeningView {
    fn of(screening: &Screening) -> ScreeningView {
        let lists = screening.lists.iter().map(|list| CheckedView {
            list: list.list.clone(),
            result: list.finding.as_str(),
            checked_at: time::show(list.checked_at),
        });
        ScreeningView {
            result: screening.result().as_str(),
            lists: lists.collect(),
        }
    }
}

impl RefundView {
    /// For those who may only read: with the link they could say where the money goes.
    pub fn without_link(self) -> RefundView {
        RefundView {
            claim_url: None,
            claim_token: None,
            ..self
        }
    }

    /// `token` is the payer's credential, where it may be shown.
    pub fn of(row: &RefundRow, checkout_url: &str, token: Option<String>) -> RefundView {
        let amount = tokens(&(row.asset.clone(), row.units));
        RefundView {
            id: row.id.clone(),
            object: "refund",
            livemode: row.scope.mode.is_live(),
            invoice: row.invoice.clone(),
            status: row.status.as_str().to_owned(),
            review_reason: row.review_reason.map(|reason| reason.as_str()),
            amount: amount.amount,
            asset: amount.asset,
            reason: row.reason.map(|reason| reason.as_str()),
            claim_url: token
                .as_ref()
                .map(|token| format!("{checkout_url}/r/{token}")),
            claim_token: token,
            payout: payout_of(row),
            tx_hash: row.tx_hash.clone(),
            created_at: time::show(row.created_at),
            expires_at: time::show(row.expires_at),
            claimed_at: row.claimed_at.map(time::show),
            sent_at: row.sent_at.map(time::show),
            cancelled_at: row.cancelled_at.map(time::show),
        }
    }
}

fn payout_of(row: &RefundRow) -> Option<PayoutView> {
    let network = row.payout_network.clone()?;
    let sent = paid_as(&row.asset, row.units, &network);
    Some(PayoutView {
        address: row.payout_address.clone()?,
        asset: sent.map_or_else(|| row.asset.clone(), |(asset, _)| asset.code.clone()),
        network,
        screening: ScreeningView::of(row.screening.as_ref()?),
    })
}

/// A refund as its payer sees it. What the lists say is the merchant's to know.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = RefundClaim)]
pub struct ClaimView {
    #[schema(example = "refund_claim", pattern = "^refund_claim$")]
    pub object: &'static str,
    /// `unclaimed`, `ready_to_send`, `in_review` or `sent`.
    pub status: String,
    /// Whole tokens.
    pub amount: String,
    pub asset: String,
    pub symbol: String,
    pub merchant: MerchantName,
    /// Where it can be received.
    pub networks: Vec<ClaimNetwork>,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// What the payer chose; null until then.
    #[schema(required)]
    pub payout: Option<ClaimPayout>,
    /// The transaction that sent it.
    #[schema(required)]
    pub tx_hash: Option<String>,
}

/// A network on which a refund can be received.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClaimNetwork {
    /// CAIP-2 id.
    pub network: String,
    pub network_name: String,
}

/// Where a payer wants a refund.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClaimPayout {
    pub network: String,
    pub address: String,
}

impl ClaimView {
    pub fn of(row: &RefundRow, merchant: &Merchant, networks: Vec<ClaimNetwork>) -> ClaimView {
        let asset = Registry::builtin().asset(&row.asset);
        let payout = row.payout_network.clone().zip(row.payout_address.clone());
        ClaimView {
            object: "refund_claim",
            status: row.status.as_str().to_owned(),
            amount: show(row.units, asset.map_or(0, |asset| asset.decimals)),
            asset: row.asset.clone(),
            symbol: asset.map_or_else(|| row.asset.clone(), |asset| asset.symbol.clone()),
            merchant: MerchantName::of(merchant),
            networks,
            expires_at: time::show(row.expires_at),
            payout: payout.map(|(network, address)| ClaimPayout { network, address }),
            tx_hash: row.tx_hash.clone(),
        }
    }
}
