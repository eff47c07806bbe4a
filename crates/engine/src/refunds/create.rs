//! Making a refund.

use serde_json::json;
use sha2::{Digest as _, Sha256};
use till_core::actor::Action;
use till_core::asset::Registry;
use till_core::error::{Code, Refusal};
use till_core::id::{self, IdKind};
use till_core::invoice::Purpose;
use till_core::ledger::{Position, refund_from};
use till_core::money::{self, Units};
use till_core::payment::PaymentStatus;
use till_core::refund::{
    CLAIM_LIFE_MS, RefundReason, RefundSource, RefundStatus, other_excess, refund_amount,
    refund_asset, refundable,
};
use till_core::timer::TimerKind;
use till_store::Tx;
use till_store::payments::PaymentRow;
use till_store::refunds::RefundRow;
use till_store::timers::TimerRow;

use super::refund::{has_lapsed, lapse, render, token_purpose};
use crate::audit;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::invoices::find_locked;
use crate::settlement::follow::receipt;
use crate::settlement::{self, LockedInvoice, Tracked, Withdrawn};
use crate::view::{RefundView, TokenAmount};

/// What a merchant says about a new refund.
#[derive(Clone, Debug, Default)]
pub struct NewRefund {
    pub amount: Option<String>,
    pub asset: Option<String>,
    pub reason: Option<RefundReason>,
}

/// 160 random bits.
const TOKEN_BYTES: usize = 20;

pub(super) fn hash_token(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

pub async fn create(
    tx: &mut Tx,
    context: &Context<'_>,
    invoice: &str,
    request: &NewRefund,
) -> Result<RefundView, Fail> {
    let mut held = find_locked(tx, context, invoice).await?;
    let now = held.moment(context);
    if lapse_expired(tx, context, &held, now).await? {
        held = find_locked(tx, context, invoice).await?;
    }
    let (asset, units) = decide(&held, request, now)?;
    let drawn = draw(&mut held, asset, units, now)?;
    let mut row = new_row(context, invoice, drawn, request.reason, now)?;
    row.was_covered = held.assess(now).is_covered && is_beside_price(&held, &row);
    held.refunds.push(Tracked::new(row.clone()));
    settlement::settle(tx, context, held, None).await?;
    let timer = TimerRow::new(
        &context.scope,
        TimerKind::ExpireClaim,
        &row.id,
        row.expires_at,
    );
    till_store::timers::set(tx, &[timer]).await?;
    let view = render(context.engine, &row)?;
    let refunded = TokenAmount {
        amount: view.amount.clone(),
        asset: view.asset.clone(),
    };
    let details = json!({"invoice": invoice, "amount": &view.amount, "asset": &view.asset});
    audit::record(tx, context, Action::RefundCreated, &row.id, details).await?;
    receipt::on_refund(tx, context, invoice, &refunded).await?;
    Ok(view)
}

/// Whether a refund takes what was paid beyond the price, and nothing of the price itself: that would be given up on purpose.
fn is_beside_price(held: &LockedInvoice, row: &RefundRow) -> bool {
    let mut of_price = row.sources.iter().filter(|(id, units)| {
        let payments = held.payments.iter().map(|payment| &payment.is);
        let mut credited = payments.filter(|it| it.status == PaymentStatus::Credited);
        let Some(payment) = credited.find(|payment| payment.id == *id) else {
            return false;
        };
        let counted = payment.fact().counted_units().min(*units);
        let withdrawn = row.withdrawn.iter().find(|(of, _)| of == id);
        withdrawn.is_none_or(|(_, withdrawn)| *withdrawn < counted)
    });
    !row.withdrawn.is_empty() && of_price.next().is_none()
}

/// Links whose time is over stop counting now, whether or not their timers have fired.
async fn lapse_expired(
    tx: &mut Tx,
    context: &Context<'_>,
    held: &LockedInvoice,
    now: i64,
) -> Result<bool, Fail> {
    let refunds = held.refunds.iter().map(|refund| &refund.is);
    let lapsed: Vec<&str> = refunds
        .filter(|row| has_lapsed(row, now))
        .map(|row| &*row.id)
        .collect();
    for id in &lapsed {
        lapse(tx, context, id).await?;
    }
    Ok(!lapsed.is_empty())
}

/// Which asset and how much of it, held against what was received.
fn decide(held: &LockedInvoice, request: &NewRefund, now: i64) -> Result<(String, Units), Refusal> {
    let registry = Registry::builtin();
    let not_received = || Refusal::of(Code::AssetNotReceived).param("asset");
    let asked = match &request.asset {
        None => None,
        Some(code) => Some(registry.asset(code).ok_or_else(not_received)?),
    };
    let (invoice, terms, as_it_is) = (&held.invoice.is, held.terms(), held.assess(now));
    let sources = held.payments.iter().map(|payment| match terms.purpose {
        Purpose::Sale => source(&payment.is, payment.is.position.overpaid),
        // All of it is credit in the books.
        Purpose::TopUp => source(&payment.is, as_it_is.excess_left(&payment.is.fact())),
    });
    let sources: Vec<RefundSource<'_>> = sources.collect();
    let asked = asked.map(|asset| asset.code.as_str());
    let asset = refund_asset(&terms, &invoice.summary, &sources, asked)?;
    let decimals = registry.asset(&asset).ok_or_else(not_received)?.decimals;
    let amount = match &request.amount {
        None => None,
        Some(text) => Some(money::parse(text, decimals).map_err(|error| {
            Refusal::new(Code::AmountInvalid, format!("amount {error}")).param("amount")
        })?),
    };
    let of = refundable(&sources, &asset);
    let others = other_excess(&sources, &asset);
    let units = refund_amount(of, &invoice.summary, &asset, amount, &others)?;
    // Credit may have given back by now what a webhook told of as excess: who asks for that much would send back a part of the price.
    let is_of_excess = request.reason == Some(RefundReason::Overpaid);
    if is_of_excess && invoice.subscription.is_some() && units > of.excess {
        let left = money::show(of.excess, decimals);
        let message = format!(
            "{left} {asset} of what was overpaid is left: the rest is the customer's credit again. Send no `amount` to refund what is left."
        );
        return Err(Refusal::new(Code::RefundExceedsReceived, message).param("amount"));
    }
    Ok((asset, units))
}

/// What a refund may look at. Whoever sets credit aside holds the invoice too, so neither sees less than is taken.
fn free(payment: &PaymentRow) -> Position {
    payment.position.without_used(payment.credit_used)
}

fn source(payment: &PaymentRow, excess: Units) -> RefundSource<'_> {
    RefundSource {
        asset: &payment.asset,
        received: match payment.status.is_posted() {
            true => payment.units,
            false => Units::ZERO,
        },
        refunded: payment.refunds_due.plus(payment.refunds_sent),
        position: free(payment),
        excess,
    }
}

/// What was promised, out of which payments, and what of it counts towards the price no more.
struct Drawn {
    asset: String,
    units: Units,
    sources: Vec<(String, Units)>,
    withdrawn: Withdrawn,
}

/// Promises the amount out of the invoice's payments.
fn draw(held: &mut LockedInvoice, asset: String, units: Units, now: i64) -> Result<Drawn, Refusal> {
    let positions: Vec<(&str, Position)> = held
        .payments
        .iter()
        .filter(|payment| payment.is.asset == asset)
        .map(|payment| (payment.is.id.as_str(), free(&payment.is)))
        .collect();
    let sources = refund_from(&positions, units)
        .ok_or_else(|| Refusal::of(Code::RefundExceedsReceived).param("amount"))?;
    let withdrawn = held.withdraw(now, &sources);
    let of = |taken: &[(String, Units)], id: &str| {
        let found = taken.iter().find(|(payment, _)| payment == id);
        found.map_or(Units::ZERO, |(_, units)| *units)
    };
    for payment in &mut held.payments {
        let row = &mut payment.is;
        row.refunds_due = row.refunds_due.plus(of(&sources, &row.id));
        row.withdrawn = row.withdrawn.plus(of(&withdrawn.parts, &row.id));
    }
    Ok(Drawn {
        asset,
        units,
        sources,
        withdrawn,
    })
}

fn new_row(
    context: &Context<'_>,
    invoice: &str,
    drawn: Drawn,
    reason: Option<RefundReason>,
    now: i64,
) -> Result<RefundRow, Refusal> {
    let engine = context.engine;
    let id = engine.ids.make(IdKind::Refund);
    let random = id::token(&engine.ids.random::<TOKEN_BYTES>());
    let token = engine.config.with_shard(&random);
    let purpose = token_purpose(&context.scope, &id);
    Ok(RefundRow {
        scope: context.scope.clone(),
        invoice: invoice.to_owned(),
        asset: drawn.asset,
        units: drawn.units,
        reason,
        status: RefundStatus::Unclaimed,
        review_reason: None,
        sources: drawn.sources,
        withdrawn: drawn.withdrawn.parts,
        excess_until: drawn.withdrawn.excess_until,
        was_covered: false,
        token_hash: hash_token(&token).to_vec(),
        token_sealed: engine.vault.seal(&engine.ids, &purpose, token.as_bytes())?,
        created_at: now,
        expires_at: now.saturating_add(CLAIM_LIFE_MS),
        claimed_at: None,
        ready_at: None,
        sent_at: None,
        cancelled_at: None,
        lapsed_at: None,
        payout_network: None,
        payout_address: None,
        screening: None,
        tx_hash: None,
        sent_despite: None,
        paid_otherwise: false,
        steps: 0,
        id,
    })
}
