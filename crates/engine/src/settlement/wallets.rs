//! The exact amounts that wallets are told to send for an invoice.

use till_core::asset::{Asset, Registry};
use till_core::attribution::given_up_by;
use till_core::binding::exact_amount;
use till_core::error::{Code, Refusal};
use till_core::money::Units;
use till_store::Tx;
use till_store::bindings::{BindingQuery, BindingRow};

use super::facts::LockedInvoice;
use crate::base::Context;
use crate::base::fail::Fail;

/// What the invoice asks for in this asset now.
pub fn asked(context: &Context<'_>, held: &LockedInvoice, asset: &Asset) -> Result<Units, Fail> {
    held.assess(held.moment(context))
        .asked_in(&held.terms(), &asset.code)
        .ok_or_else(|| Fail::broken("a wallet was bound to what is not offered"))
}

/// Whether a wallet was told this amount, or what tells it from others of the same amount besides.
pub fn was_told(binding: &BindingRow, asked: Units) -> bool {
    binding.units.minus(binding.suffix) == Some(asked)
}

/// Tells a wallet what to send: what it was told last, unless the invoice asks for something else by now, another invoice has
/// that amount now or had it a moment ago; or the amount asked for, or a little more. None when every such amount is taken.
pub async fn tell(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &LockedInvoice,
    asset: &Asset,
    sender: &str,
    last: Option<&BindingRow>,
) -> Result<Option<BindingRow>, Fail> {
    let asked_for = asked(context, held, asset)?;
    let destination = context
        .merchant
        .destination(asset.family)
        .ok_or_else(|| Refusal::of(Code::FeatureUnavailable))?
        .to_owned();
    let query = BindingQuery {
        scope: &context.scope,
        invoice: held.id(),
        destination: &destination,
        sender,
        asset: &asset.code,
        given_up_after: given_up_by(context.real_now),
    };
    let taken = till_store::bindings::taken_amounts(tx, &query).await?;
    let again = last
        .filter(|last| last.destination == destination && was_told(last, asked_for))
        .filter(|last| !taken.contains(&last.units))
        .map(|last| (last.units, last.suffix));
    let Some((units, suffix)) = again.or_else(|| exact_amount(asked_for, asset.decimals, &taken))
    else {
        return Ok(None);
    };
    let row = BindingRow {
        scope: context.scope.clone(),
        invoice: held.id().to_owned(),
        asset: asset.code.clone(),
        network: asset.network.clone(),
        sender: sender.to_owned(),
        turn: last.map_or(0, |last| last.turn + 1),
        destination,
        units,
        suffix,
        created_at: context.now,
        expires_at: held.terms().deadline(),
        open: true,
        closed_at: None,
        replaced_at: None,
    };
    if last.is_some() {
        till_store::bindings::replace(tx, &row).await?;
    }
    match till_store::bindings::insert(tx, &row).await {
        // Another invoice took the same amount between our look and our write: look again from the start.
        Err(error) if error.violates("wallet_bindings") => Err(Fail::Again),
        done => {
            done?;
            Ok(Some(row))
        }
    }
}

/// The wallets of an invoice that waits again after a reversal are bound again. One for which no amount is left
/// stays closed; asked again, it is told so.
pub(super) async fn rebind(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &LockedInvoice,
) -> Result<(), Fail> {
    let known = till_store::bindings::of_invoice(tx, &context.scope, held.id()).await?;
    for (at, row) in known.iter().enumerate() {
        let is_same =
            |other: &BindingRow| (&other.sender, &other.asset) == (&row.sender, &row.asset);
        let is_last = !known[at + 1..].iter().any(is_same);
        if let Some(asset) = Registry::builtin().asset(&row.asset)
            && is_last
            && !row.open
        {
            tell(tx, context, held, asset, &row.sender, Some(row)).await?;
        }
    }
    Ok(())
}
