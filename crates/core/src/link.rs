//! Payment links: what a link may say, and whether it takes payments.

use crate::error::{Code, Refusal};
use crate::invoice::Status;
use crate::money::Currency;
use crate::pricing::price_minor;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmountType {
    Fixed,
    PayerChosen,
}

impl AmountType {
    pub const ALL: [AmountType; 2] = [AmountType::Fixed, AmountType::PayerChosen];

    pub fn as_str(self) -> &'static str {
        match self {
            AmountType::Fixed => "fixed",
            AmountType::PayerChosen => "payer_chosen",
        }
    }

    pub fn parse(text: &str) -> Option<AmountType> {
        AmountType::ALL
            .into_iter()
            .find(|amount_type| amount_type.as_str() == text)
    }
}

/// The price of a link: one amount, or bounds for the payer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPrice<'a> {
    pub amount_type: AmountType,
    pub currency: Currency,
    pub amount: Option<&'a str>,
    pub min_amount: Option<&'a str>,
    pub max_amount: Option<&'a str>,
}

fn invalid(param: &str, message: String) -> Refusal {
    Refusal::new(Code::ParameterInvalid, message).param(param)
}

/// A fixed link has an amount and no bounds; a payer-chosen one may have bounds and no amount.
pub fn check_price(price: &LinkPrice<'_>) -> Result<(), Refusal> {
    let read = |param: &str, text: Option<&str>| {
        text.map(|text| price_minor(param, text, price.currency))
            .transpose()
    };
    let amount = read("amount", price.amount)?;
    let least = read("min_amount", price.min_amount)?;
    let most = read("max_amount", price.max_amount)?;
    match price.amount_type {
        AmountType::Fixed => {
            for (param, bound) in [("min_amount", least), ("max_amount", most)] {
                if bound.is_some() {
                    return Err(invalid(param, format!("a fixed link has no {param}")));
                }
            }
            if amount.is_none() {
                let message = "amount is required for a fixed link";
                return Err(Refusal::new(Code::ParameterMissing, message).param("amount"));
            }
        }
        AmountType::PayerChosen => {
            if amount.is_some() {
                return Err(invalid(
                    "amount",
                    "a payer-chosen link has no amount of its own".to_owned(),
                ));
            }
            if let (Some(least), Some(most)) = (least, most)
                && least > most
            {
                return Err(invalid(
                    "min_amount",
                    "min_amount is above max_amount".to_owned(),
                ));
            }
        }
    }
    Ok(())
}

/// What the payer of a link pays, in minor units. `chosen` is what the payer sent.
pub fn payer_amount(price: &LinkPrice<'_>, chosen: Option<&str>) -> Result<u64, Refusal> {
    match (price.amount_type, chosen, price.amount) {
        (AmountType::Fixed, Some(_), _) => Err(invalid(
            "amount",
            "the amount of this link is fixed: send none".to_owned(),
        )),
        (AmountType::Fixed, None, Some(amount)) => price_minor("amount", amount, price.currency),
        (_, None, _) => {
            let message = "amount is required: the payer of this link chooses it";
            Err(Refusal::new(Code::ParameterMissing, message).param("amount"))
        }
        (AmountType::PayerChosen, Some(text), _) => {
            let minor = price_minor("amount", text, price.currency)?;
            if let Some(least) = price.min_amount
                && minor < price_minor("min_amount", least, price.currency)?
            {
                let message = format!("amount is below the least of {least}");
                return Err(Refusal::new(Code::AmountTooSmall, message).param("amount"));
            }
            if let Some(most) = price.max_amount
                && minor > price_minor("max_amount", most, price.currency)?
            {
                let message = format!("amount is above the most of {most}");
                return Err(Refusal::new(Code::AmountTooLarge, message).param("amount"));
            }
            Ok(minor)
        }
    }
}

/// What decides whether a link takes payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkState {
    pub active: bool,
    pub expires_at: Option<i64>,
    pub limit: Option<i64>,
    pub used: i64,
    pub reserved: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkStatus {
    Active,
    Inactive,
    Expired,
    SoldOut,
    FullyReserved,
}

impl LinkStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            LinkStatus::Active => "active",
            LinkStatus::Inactive => "inactive",
            LinkStatus::Expired => "expired",
            LinkStatus::SoldOut => "sold_out",
            LinkStatus::FullyReserved => "fully_reserved",
        }
    }

    pub fn refusal(self) -> Option<Refusal> {
        let code = match self {
            LinkStatus::Active => return None,
            LinkStatus::Inactive => Code::PaymentLinkInactive,
            LinkStatus::Expired => Code::PaymentLinkExpired,
            LinkStatus::SoldOut => Code::PaymentLinkSoldOut,
            LinkStatus::FullyReserved => Code::PaymentLinkFullyReserved,
        };
        Some(Refusal::of(code))
    }
}

/// The first reason that applies, in the order of the contract.
pub fn link_status(link: &LinkState, now: i64) -> LinkStatus {
    let full = |taken: i64| link.limit.is_some_and(|limit| taken >= limit);
    if !link.active {
        LinkStatus::Inactive
    } else if link.expires_at.is_some_and(|at| now >= at) {
        LinkStatus::Expired
    } else if full(link.used) {
        LinkStatus::SoldOut
    } else if full(link.used + link.reserved) {
        LinkStatus::FullyReserved
    } else {
        LinkStatus::Active
    }
}

/// An unpaid invoice that a client has open where there is no room left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening<'a> {
    pub client: &'a str,
    pub invoice: &'a str,
    /// Its payer has picked a network, and keeps the place.
    pub picked: bool,
}

/// Whose place somebody with `own` invoices open may take, the first choice first: an invoice of the client that has most,
/// the oldest before the younger. Nobody loses the only one, and nobody loses to a client that has as many.
pub fn places_to_take<'a>(oldest_first: &[Opening<'a>], own: usize) -> Vec<&'a str> {
    let mut clients: Vec<(&str, usize)> = Vec::new();
    for opening in oldest_first {
        match clients
            .iter_mut()
            .find(|(client, _)| *client == opening.client)
        {
            Some((_, count)) => *count += 1,
            None => clients.push((opening.client, 1)),
        }
    }
    clients.retain(|(_, count)| *count >= 2 && *count > own);
    clients.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let of_client = |client: &str| {
        let unpicked = oldest_first.iter().filter(|opening| !opening.picked);
        let own = unpicked.filter(|opening| opening.client == client);
        own.map(|opening| opening.invoice).collect::<Vec<_>>()
    };
    clients
        .iter()
        .flat_map(|(client, _)| of_client(client))
        .collect()
}

/// What an invoice does with the unit of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Reserved,
    Used,
    Released,
}

impl Unit {
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Reserved => "reserved",
            Unit::Used => "used",
            Unit::Released => "released",
        }
    }

    pub fn parse(text: &str) -> Option<Unit> {
        [Unit::Reserved, Unit::Used, Unit::Released]
            .into_iter()
            .find(|unit| unit.as_str() == text)
    }

    /// Paid for, given back, or still spoken for: a function of where the invoice stands, of whether anything more is
    /// waited for, and of whether it would be paid if its refunds were not sent after all.
    pub fn of(status: Status, is_over: bool, is_paid_without_refunds: bool) -> Unit {
        let may_be_paid = status == Status::PartiallyPaid && is_paid_without_refunds;
        match (status.is_paid(), is_over && !may_be_paid) {
            (true, _) => Unit::Used,
            (false, true) => Unit::Released,
            (false, false) => Unit::Reserved,
        }
    }

    /// How the change from one to another moves the link's counts of used and reserved units.
    pub fn moves(from: Unit, to: Unit) -> (i64, i64) {
        let count = |unit: Unit| {
            (
                i64::from(unit == Unit::Used),
                i64::from(unit == Unit::Reserved),
            )
        };
        let ((used_from, reserved_from), (used_to, reserved_to)) = (count(from), count(to));
        (used_to - used_from, reserved_to - reserved_from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openings(text: &str) -> Vec<Opening<'_>> {
        text.split(' ')
            .map(|word| Opening {
                client: &word[..1],
                invoice: word.trim_end_matches('!'),
                picked: word.ends_with('!'),
            })
            .collect()
    }

    #[test]
    fn the_oldest_unpicked_one_of_the_client_that_has_most_makes_way() {
        for (open, own, expected) in [
            ("a1 b1 b2", 0, "b1 b2"),
            ("a1 b1 b2 a2 a3", 0, "a1 a2 a3 b1 b2"),
            ("a1 b1 b2 a2 a3", 2, "a1 a2 a3"),
            ("a1 b1 b2 a2 a3", 3, ""),
            ("a1! b1 b2 a2 a3", 0, "a2 a3 b1 b2"),
            ("a1! a2! b1 b2", 1, "b1 b2"),
            ("a1! a2!", 0, ""),
            ("a1 b1 c1", 0, ""),
        ] {
            let taken = places_to_take(&openings(open), own).join(" ");
            assert_eq!(taken, expected, "{open} for somebody with {own}");
        }
        assert!(places_to_take(&[], 0).is_empty());
    }

    fn price<'a>(
        amount_type: AmountType,
        amount: Option<&'a str>,
        min_amount: Option<&'a str>,
        max_amount: Option<&'a str>,
    ) -> LinkPrice<'a> {
        let currency = Currency::parse("USD").unwrap();
        LinkPrice {
            amount_type,
            currency,
            amount,
            min_amount,
            max_amount,
        }
    }

    #[track_caller]
    fn check(price: &LinkPrice<'_>, expected: Option<(&str, &str)>) {
        let refused = check_price(price).err();
        let seen = refused.as_ref().map(|refusal| {
            (
                refusal.code.as_str(),
                refusal.param.as_deref().unwrap_or(""),
            )
        });
        assert_eq!(seen, expected);
    }

    use AmountType::{Fixed, PayerChosen};

    #[test]
    fn a_fixed_link_has_an_amount_and_no_bounds() {
        check(&price(Fixed, Some("5"), None, None), None);
        check(
            &price(Fixed, None, None, None),
            Some(("parameter_missing", "amount")),
        );
        check(
            &price(Fixed, Some("5"), Some("1"), None),
            Some(("parameter_invalid", "min_amount")),
        );
        check(
            &price(Fixed, Some("5"), None, Some("9")),
            Some(("parameter_invalid", "max_amount")),
        );
        check(
            &price(Fixed, Some("5.001"), None, None),
            Some(("parameter_invalid", "amount")),
        );
    }

    #[test]
    fn a_payer_chosen_link_has_bounds_in_order_and_no_amount() {
        check(&price(PayerChosen, None, Some("1"), Some("1")), None);
        check(&price(PayerChosen, None, None, None), None);
        check(
            &price(PayerChosen, Some("5"), None, None),
            Some(("parameter_invalid", "amount")),
        );
        check(
            &price(PayerChosen, None, Some("2"), Some("1")),
            Some(("parameter_invalid", "min_amount")),
        );
        check(
            &price(PayerChosen, None, Some("0"), None),
            Some(("parameter_invalid", "min_amount")),
        );
    }

    #[test]
    fn the_payer_stays_within_the_bounds() {
        let chosen = price(PayerChosen, None, Some("1"), Some("10"));
        let code = |text| payer_amount(&chosen, text).map_err(|refusal| refusal.code.as_str());
        assert_eq!(code(Some("1")), Ok(100));
        assert_eq!(code(Some("10.00")), Ok(1000));
        assert_eq!(code(Some("0.99")), Err("amount_too_small"));
        assert_eq!(code(Some("10.01")), Err("amount_too_large"));
        assert_eq!(code(None), Err("parameter_missing"));
        let fixed = price(Fixed, Some("5"), None, None);
        assert_eq!(payer_amount(&fixed, None), Ok(500));
        assert_eq!(
            payer_amount(&fixed, Some("5")).unwrap_err().code,
            Code::ParameterInvalid
        );
    }

    #[test]
    fn the_first_reason_in_order_wins() {
        let mut link = LinkState {
            active: false,
            expires_at: Some(10),
            limit: Some(1),
            used: 1,
            reserved: 0,
        };
        assert_eq!(link_status(&link, 10), LinkStatus::Inactive);
        link.active = true;
        assert_eq!(link_status(&link, 10), LinkStatus::Expired);
        assert_eq!(link_status(&link, 9), LinkStatus::SoldOut);
        (link.used, link.reserved) = (0, 1);
        assert_eq!(link_status(&link, 9), LinkStatus::FullyReserved);
        link.reserved = 0;
        assert_eq!(link_status(&link, 9), LinkStatus::Active);
    }

    #[test]
    fn a_unit_is_given_back_by_whatever_is_over_unpaid() {
        assert_eq!(Unit::of(Status::PaidLate, true, true), Unit::Used);
        assert_eq!(Unit::of(Status::Expired, true, false), Unit::Released);
        assert_eq!(Unit::of(Status::Cancelled, true, true), Unit::Released);
        assert_eq!(Unit::of(Status::PartiallyPaid, true, false), Unit::Released);
        assert_eq!(Unit::of(Status::PartiallyPaid, true, true), Unit::Reserved);
        assert_eq!(
            Unit::of(Status::PartiallyPaid, false, false),
            Unit::Reserved
        );
    }

    #[test]
    fn a_unit_is_counted_once_wherever_it_goes() {
        let all = [Unit::Reserved, Unit::Used, Unit::Released];
        for from in all {
            for to in all {
                let (used, reserved) = Unit::moves(from, to);
                let back = Unit::moves(to, from);
                assert_eq!((used + back.0, reserved + back.1), (0, 0));
            }
        }
        assert_eq!(Unit::moves(Unit::Reserved, Unit::Used), (1, -1));
    }
}
