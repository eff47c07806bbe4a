//! Sent: the merchant paid a refund from its own wallet and says by which transaction.

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::{Asset, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_core::screening::Finding;
use till_store::Tx;
use till_store::refunds::RefundRow;

use super::{change, find, find_locked, render, settle};
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::screening::{self, Answers, Screened};
use crate::view::RefundView;

/// Whether a text can be the hash of a transaction, on whichever network.
pub fn is_tx_hash(text: &str) -> bool {
    till_chains::normalise_tx_hash(text).is_some()
}

/// Only what is ready can be sent, once, and by a transaction that sent nothing else.
pub async fn mark_sent(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    tx_hash: &str,
) -> Result<RefundView, Fail> {
    let (mut held, at) = find_locked(tx, context, id).await?;
    let row = held.refunds[at].is.clone();
    if row.status != RefundStatus::ReadyToSend {
        return Err(Refusal::of(Code::RefundNotReady).into());
    }
    let (network, _) = payout(&row)?;
    let form = till_chains::normalise_tx_hash(tx_hash).and_then(|form| form.on(network.family));
    let tx_hash = form.ok_or_else(|| {
        let message = format!("tx_hash is no transaction of {}", network.name);
        Refusal::new(Code::ParameterInvalid, message).param("tx_hash")
    })?;
    let scope = &context.scope;
    if till_store::refunds::is_sent_by(tx, scope, &network.id, &tx_hash).await? {
        let message = "Another refund was sent by this transaction";
        return Err(Refusal::new(Code::RefundNotReady, message)
            .param("tx_hash")
            .into());
    }
    if till_store::payments::is_paid_by(tx, scope, &network.id, &tx_hash).await? {
        let message = "This transaction paid an invoice: it is not the one that sent the refund";
        return Err(Refusal::new(Code::ParameterInvalid, message)
            .param("tx_hash")
            .into());
    }
    change(&mut held, &row, &row.sources, |payment, units| {
        payment.refunds_due = payment.refunds_due.minus(units)?;
        payment.refunds_sent = payment.refunds_sent.plus(units);
        Some(())
    })?;
    let now = held.moment(context);
    let sent = &mut held.refunds[at].is;
    (sent.sent_at, sent.tx_hash) = (Some(now), Some(tx_hash));
    match settle(tx, context, held, id).await {
        // Another refund took the same transaction between our look and our write.
        Err(Fail::Store(error, _)) if error.violates("refunds_sent_once") => Err(Fail::Again),
        done => render(context.engine, &done?),
    }
}

/// Looks at a refund's address once more before it counts as sent, in a unit of work of its own: what is found
/// stays found, though the call that asked is refused.
pub async fn screen_again(engine: &Engine, scope: &Scope, id: &str) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let row = find(&mut reader, scope, id).await?;
    drop(reader);
    if row.status != RefundStatus::ReadyToSend {
        return Ok(());
    }
    let (network, address) = payout(&row)?;
    let (screened, asset) = (
        Screened {
            network,
            address: &address,
        },
        received_as(&row, network),
    );
    let answers = match asset {
        Some(asset) => screening::ask(engine, screened, asset).await,
        None => Answers::new(),
    };
    let answers = &answers;
    let found = engine
        .unit(scope, |tx, context| {
            async move { screen_locked(tx, context, id, answers).await }.scope_boxed()
        })
        .await?;
    match found {
        Finding::Clear | Finding::Match => Ok(()),
        Finding::Unavailable => {
            let message = "The lists that addresses are held against cannot be asked now";
            Err(Refusal::new(Code::ServiceUnavailable, message).into())
        }
    }
}

async fn screen_locked(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    answers: &Answers,
) -> Result<Finding, Fail> {
    let (mut held, at) = find_locked(tx, context, id).await?;
    let row = held.refunds[at].is.clone();
    if row.status != RefundStatus::ReadyToSend {
        return Ok(Finding::Clear);
    }
    let (network, address) = payout(&row)?;
    let screened = Screened {
        network,
        address: &address,
    };
    let screening = screening::screen(context, screened, answers);
    let kept = screening::kept(context, &row.id, screened, &screening);
    tx.write(&till_store::screenings::rows([&kept])).await?;
    let found = screening.result();
    if found == Finding::Match {
        held.refunds[at].is.screening = Some(screening);
        settle(tx, context, held, id).await?;
    }
    Ok(found)
}

/// What the payer gets: the same token, on the network that was chosen.
fn received_as(row: &RefundRow, network: &Network) -> Option<&'static Asset> {
    let registry = Registry::builtin();
    let own = registry.asset(&row.asset)?;
    registry.asset_on(&own.symbol, &network.id)
}

fn payout(row: &RefundRow) -> Result<(&'static Network, String), Fail> {
    let network = row.payout_network.as_deref();
    let network = network.and_then(|id| Registry::builtin().network(id));
    let payout = network.zip(row.payout_address.clone());
    payout.ok_or_else(|| Fail::broken("a refund is ready without an address"))
}
