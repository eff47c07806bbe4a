//! Picking a network.

use till_core::asset::Registry;
use till_core::error::{Code, Refusal};
use till_core::invoice::Status;
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::invoices::InvoiceRow;
use till_store::leases::LeaseRow;
use till_store::timers::TimerRow;

use crate::base::Context;
use crate::base::fail::Fail;
use crate::invoices::find_locked;
use crate::links;

/// Gives the invoice an address on the picked option's chain, one for all networks of its family. Picking
/// what has its address changes nothing.
pub async fn pick_option(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    asset: &str,
) -> Result<InvoiceRow, Fail> {
    let mut held = find_locked(tx, context, invoice).await?;
    links::leave_picks_to_others(tx, context, &held.invoice.is).await?;
    let registry = Registry::builtin();
    let not_offered = || Refusal::of(Code::AssetNotOffered).param("asset");
    let asset = registry.asset(asset).ok_or_else(not_offered)?;
    let picked = held
        .invoice
        .is
        .options
        .iter()
        .find(|option| option.asset == asset.code)
        .ok_or_else(not_offered)?;
    let now = held.assess(held.moment(context));
    let is_asked = held.terms().is_asked(&asset.code, context.now);
    if now.is_over || now.status == Status::UnderReview || !is_asked {
        return Err(Refusal::of(Code::InvoiceNotAwaitingPayment).into());
    }
    if picked.deposit.is_some() {
        return Ok(held.invoice.is);
    }
    let network = registry.network(&asset.network).ok_or_else(not_offered)?;
    links::leave_bitcoin_to_others(tx, context, &held.invoice.is, network).await?;
    let deposit = crate::addresses::allocate_picked(tx, context, network).await?;
    let deposit = deposit.ok_or_else(|| crate::addresses::exhausted(&network.name))?;
    let mut lease = LeaseRow::new(
        &context.scope,
        asset.family,
        i64::try_from(deposit.number).map_err(Fail::broken)?,
        &deposit.address,
        invoice,
        context.now,
    );
    lease.picked = true;
    till_store::leases::insert(tx, std::slice::from_ref(&lease)).await?;
    let row = &mut held.invoice.is;
    for option in &mut row.options {
        let same_chain = registry
            .asset(&option.asset)
            .is_some_and(|known| known.family == asset.family);
        if same_chain {
            option.deposit = Some(deposit.clone());
        }
    }
    till_store::invoices::update(tx, row).await?;
    links::picked(tx, context, row).await?;
    // A wallet bound before the pick was told `select_by`; what it sends after that must find the invoice too.
    till_store::bindings::extend(tx, &context.scope, invoice, row.expires_at).await?;
    let kind = TimerKind::ExpireInvoice;
    let due_at = match row.status {
        Status::PartiallyPaid => row.terms().looks_at(context.now),
        _ => row.expires_at,
    };
    let timer = TimerRow::new(&context.scope, kind, invoice, due_at);
    till_store::timers::set(tx, &[timer]).await?;
    Ok(held.invoice.is)
}
