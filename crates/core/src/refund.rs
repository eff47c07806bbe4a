//! Refunds: what may be refunded, where a refund stands, and what its payer may still do.

mod payout;
mod refund_status;
mod status;

pub use payout::{FollowedPayout, PayoutAnswer, PayoutStep, follow_payout};
pub use refund_status::RefundStatus;
pub use status::{Cover, Facts, ReviewReason, source_doubt, status};

use crate::asset::{Asset, Registry};
use crate::error::{Code, Refusal};
use crate::invoice::{Summary, Terms};
use crate::ledger::Position;
use crate::limits::CLAIM_LIFE_DAYS;
use crate::money::{Units, show};
use crate::time::DAY_MS;

/// How long a refund's link is open.
pub const CLAIM_LIFE_MS: i64 = CLAIM_LIFE_DAYS as i64 * DAY_MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefundReason {
    Overpaid,
    LatePayment,
    WrongAsset,
    ReviewRejected,
    RequestedByPayer,
    Duplicate,
    Other,
}

impl RefundReason {
    pub const ALL: [RefundReason; 7] = [
        RefundReason::Overpaid,
        RefundReason::LatePayment,
        RefundReason::WrongAsset,
        RefundReason::ReviewRejected,
        RefundReason::RequestedByPayer,
        RefundReason::Duplicate,
        RefundReason::Other,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            RefundReason::Overpaid => "overpaid",
            RefundReason::LatePayment => "late_payment",
            RefundReason::WrongAsset => "wrong_asset",
            RefundReason::ReviewRejected => "review_rejected",
            RefundReason::RequestedByPayer => "requested_by_payer",
            RefundReason::Duplicate => "duplicate",
            RefundReason::Other => "other",
        }
    }

    pub fn parse(text: &str) -> Option<RefundReason> {
        RefundReason::ALL
            .into_iter()
            .find(|reason| reason.as_str() == text)
    }
}

/// What a payment has to do with refunds of its invoice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefundSource<'a> {
    pub asset: &'a str,
    /// What arrived for good; nothing when it is not there yet, or no longer.
    pub received: Units,
    /// What refunds that are open or sent have taken of it.
    pub refunded: Units,
    /// Where it stands, without credit of it that was set aside or used.
    pub position: Position,
    /// What of it is beyond the price and not refunded yet.
    pub excess: Units,
}

/// What was received in one asset, and what of it a refund may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refundable {
    pub received: Units,
    pub refunded: Units,
    /// What is beyond the price and not refunded yet.
    pub excess: Units,
    pub available: Units,
}

/// A payment that was refunded and left the chain afterwards is made up for by the others: what is refunded never
/// exceeds what is there.
pub fn refundable(sources: &[RefundSource<'_>], asset: &str) -> Refundable {
    let of_asset = || sources.iter().filter(|source| source.asset == asset);
    let sum = |of: fn(&RefundSource<'_>) -> Units| {
        of_asset().fold(Units::ZERO, |sum, source| sum.plus(of(source)))
    };
    let received = sum(|source| source.received);
    let refunded = sum(|source| source.refunded);
    let left = received.0.saturating_sub(refunded.0);
    let standing = sum(|source| source.position.may_be_refunded());
    Refundable {
        received,
        refunded,
        excess: Units(sum(|source| source.excess).0.min(left)),
        available: Units(standing.0.min(left)),
    }
}

/// The asset of a refund: the one that was asked for, or the one the invoice was paid in.
pub fn refund_asset(
    terms: &Terms,
    summary: &Summary,
    sources: &[RefundSource<'_>],
    asked: Option<&str>,
) -> Result<String, Refusal> {
    let received = |asset: &str| !refundable(sources, asset).received.is_zero();
    let Some(asset) = asked else {
        let overpaid = summary.overpaid.as_ref().map(|(asset, _)| asset.as_str());
        let offered = sources
            .iter()
            .map(|source| source.asset)
            .find(|asset| terms.due(asset).is_some() && received(asset));
        let any = || sources.iter().map(|source| source.asset);
        let found = overpaid
            .or(offered)
            .or_else(|| any().find(|asset| received(asset)));
        return found
            .map(str::to_owned)
            .ok_or_else(|| Refusal::of(Code::NothingReceived));
    };
    if received(asset) {
        Ok(asset.to_owned())
    } else if terms.due(asset).is_some() {
        Err(Refusal::of(Code::NothingReceived).param("asset"))
    } else {
        Err(Refusal::of(Code::AssetNotReceived).param("asset"))
    }
}

/// What is beyond the price in the assets beside this one, and not refunded yet.
pub fn other_excess(sources: &[RefundSource<'_>], asset: &str) -> Vec<(String, Units)> {
    let mut found: Vec<(String, Units)> = Vec::new();
    for source in sources.iter().filter(|source| source.asset != asset) {
        let excess = refundable(sources, source.asset).excess;
        let is_known = found.iter().any(|(known, _)| known == source.asset);
        if !excess.is_zero() && !is_known {
            found.push((source.asset.to_owned(), excess));
        }
    }
    found
}

/// The amount of a refund: the one that was asked for, or what is left of the excess that the invoice shows. `others` is
/// what is left of it in other assets.
pub fn refund_amount(
    of: Refundable,
    summary: &Summary,
    asset: &str,
    asked: Option<Units>,
    others: &[(String, Units)],
) -> Result<Units, Refusal> {
    let amount = match asked {
        Some(amount) if amount.is_zero() => {
            return Err(Refusal::of(Code::AmountInvalid).param("amount"));
        }
        Some(amount) => amount,
        None => excess(of, summary, asset, others)?,
    };
    if amount > of.available {
        return Err(Refusal::of(Code::RefundExceedsReceived).param("amount"));
    }
    Ok(amount)
}

/// What is beyond the price of an invoice that is not overpaid is dust, or waits with it for a review: that takes an amount.
fn excess(
    of: Refundable,
    summary: &Summary,
    asset: &str,
    others: &[(String, Units)],
) -> Result<Units, Refusal> {
    let required = || Refusal::of(Code::AmountRequired).param("amount");
    let (shown, _) = summary.overpaid.as_ref().ok_or_else(required)?;
    let is_shown = shown == asset;
    match of.excess.is_zero() {
        false => Ok(of.excess),
        true if is_shown && others.is_empty() => Err(Refusal::of(Code::RefundExceedsReceived)),
        true if is_shown => Err(elsewhere(asset, others)),
        true => {
            let message = format!("None of the excess is in {asset}. Send the `amount` to refund.");
            Err(Refusal::new(Code::AmountRequired, message).param("amount"))
        }
    }
}

/// One refund is of one asset: what is left in others has to be asked for by name.
fn elsewhere(asset: &str, others: &[(String, Units)]) -> Refusal {
    let registry = Registry::builtin();
    let each = others.iter().map(|(code, units)| {
        let decimals = registry.asset(code).map_or(0, |asset| asset.decimals);
        format!("{} {code}", show(*units, decimals))
    });
    let each: Vec<String> = each.collect();
    let message = format!(
        "Nothing is left of the excess in {asset}; left in other assets: {}. Name the asset, or an amount.",
        each.join(", ")
    );
    Refusal::new(Code::AmountRequired, message).param("amount")
}

/// What a payer gets for a refund on the network that was chosen: the same token there, and how much of it.
pub fn paid_as(asset: &str, units: Units, network: &str) -> Option<(&'static Asset, Units)> {
    let registry = Registry::builtin();
    let own = registry.asset(asset)?;
    let there = registry.asset_on(&own.symbol, network)?;
    let scale = |more: u32| 10u128.checked_pow(more);
    let units = match there.decimals >= own.decimals {
        true => units.0.checked_mul(scale(there.decimals - own.decimals)?)?,
        false => units.0 / scale(own.decimals - there.decimals)?,
    };
    Some((there, Units(units)))
}

/// Whether the payer may still look at the claim: not when it was taken back, or was left alone too long.
pub fn check_open(status: RefundStatus, expires_at: i64, now: i64) -> Result<(), Refusal> {
    match status {
        RefundStatus::Cancelled => Err(Refusal::of(Code::ClaimCancelled)),
        RefundStatus::Unclaimed if now >= expires_at => Err(Refusal::of(Code::ClaimExpired)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invoice::PayOption;

    fn source(asset: &str, received: u128, refunded: u128, position: Position) -> RefundSource<'_> {
        RefundSource {
            asset,
            received: Units(received),
            refunded: Units(refunded),
            position,
            excess: position.overpaid,
        }
    }

    fn settled(units: u128) -> Position {
        Position {
            settled: Units(units),
            ..Position::default()
        }
    }

    fn terms(assets: &[&str]) -> Terms {
        let option = |asset: &&str| PayOption {
            asset: (*asset).to_owned(),
            due: Units(10),
            decimals: 6,
            rate: None,
            deposit: None,
        };
        Terms {
            amount_minor: 10,
            price_minor: 10,
            options: assets.iter().map(option).collect(),
            tolerance_bps: 0,
            expires_at: 0,
            select_by: None,
            takes_until: None,
            volatile_until: None,
            purpose: crate::invoice::Purpose::Sale,
        }
    }

    #[test]
    fn the_names_of_statuses_and_reasons_read_back() {
        for status in RefundStatus::ALL {
            assert_eq!(RefundStatus::parse(status.as_str()), Some(status));
        }
        for reason in RefundReason::ALL {
            assert_eq!(RefundReason::parse(reason.as_str()), Some(reason));
        }
    }

    #[test]
    fn what_was_refunded_of_a_payment_that_is_gone_is_made_up_for_by_the_others() {
        let gone = source("A", 0, 10, Position::default());
        let there = source("A", 10, 0, settled(10));
        assert_eq!(refundable(&[gone, there], "A").available, Units(0));
        assert_eq!(refundable(&[there], "A").available, Units(10));
    }

    #[test]
    fn held_payments_are_received_but_not_refundable() {
        let held = Position {
            held: Units(10),
            ..Position::default()
        };
        let of = refundable(&[source("A", 10, 0, held)], "A");
        assert_eq!((of.received, of.available), (Units(10), Units(0)));
        let code = refund_amount(of, &Summary::default(), "A", Some(Units(1)), &[])
            .unwrap_err()
            .code;
        assert_eq!(code, Code::RefundExceedsReceived);
    }

    fn overpaid(asset: &str, units: u128) -> Summary {
        Summary {
            overpaid: Some((asset.to_owned(), Units(units))),
            ..Summary::default()
        }
    }

    #[test]
    fn the_default_amount_is_what_is_left_of_the_excess() {
        let of = |excess| Refundable {
            received: Units(13),
            refunded: Units(0),
            excess: Units(excess),
            available: Units(13),
        };
        let shown = overpaid("A", 3);
        let default = |of, summary: &Summary, asset: &str| {
            refund_amount(of, summary, asset, None, &[]).map_err(|refusal| refusal.code)
        };
        assert_eq!(default(of(3), &shown, "A"), Ok(Units(3)));
        assert_eq!(default(of(1), &shown, "B"), Ok(Units(1)));
        assert_eq!(
            default(of(0), &shown, "A"),
            Err(Code::RefundExceedsReceived)
        );
        assert_eq!(
            default(of(0), &shown, "B"),
            Err(Code::AmountRequired),
            "none of it is beyond"
        );
        // What is beyond the price of one that is not overpaid is never sent back by itself.
        for excess in [0, 3] {
            assert_eq!(
                default(of(excess), &Summary::default(), "A"),
                Err(Code::AmountRequired)
            );
        }
        let asked = |units| {
            refund_amount(of(0), &Summary::default(), "A", Some(Units(units)), &[])
                .map_err(|refusal| refusal.code)
        };
        assert_eq!(asked(3), Ok(Units(3)));
        assert_eq!(asked(13), Ok(Units(13)));
        assert_eq!(asked(0), Err(Code::AmountInvalid));
        assert_eq!(asked(14), Err(Code::RefundExceedsReceived));
    }

    #[test]
    fn an_asset_is_refunded_only_where_it_arrived() {
        let (terms, none) = (terms(&["A", "B"]), Summary::default());
        let sources = [source("W", 5, 0, settled(5)), source("A", 5, 0, settled(5))];
        let asset =
            |sources: &[RefundSource<'_>], asked| refund_asset(&terms, &none, sources, asked);
        assert_eq!(asset(&sources, None).as_deref(), Ok("A"));
        assert_eq!(asset(&sources[..1], None).as_deref(), Ok("W"));
        assert_eq!(asset(&sources, Some("W")).as_deref(), Ok("W"));
        let code = |done: Result<String, Refusal>| done.unwrap_err().code;
        assert_eq!(code(asset(&[], None)), Code::NothingReceived);
        assert_eq!(code(asset(&sources, Some("B"))), Code::NothingReceived);
        assert_eq!(code(asset(&sources, Some("X"))), Code::AssetNotReceived);
    }

    #[test]
    fn a_link_is_closed_by_cancelling_and_by_time_while_nobody_claimed() {
        let code = |status, now| {
            check_open(status, 10, now)
                .err()
                .map(|refusal| refusal.code)
        };
        assert_eq!(code(RefundStatus::Unclaimed, 9), None);
        assert_eq!(code(RefundStatus::Unclaimed, 10), Some(Code::ClaimExpired));
        assert_eq!(code(RefundStatus::ReadyToSend, 10), None);
        assert_eq!(code(RefundStatus::Cancelled, 9), Some(Code::ClaimCancelled));
    }
}
