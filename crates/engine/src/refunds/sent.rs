//! Sent: the merchant paid a refund from its own wallet and says by which transaction.

use scoped_futures::ScopedFutureExt as _;
use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::refund::{RefundStatus, ReviewReason, paid_as};
use till_core::scope::Scope;
use till_core::screening::Finding;
use till_store::Tx;
use till_store::refunds::RefundRow;

use super::followed::follow;
use super::refund::{change, find, find_locked, render, settle};
use super::shown::{PayoutSeen, ask_chain, payout};
use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::screening::{self, Answers, Screened};
use crate::settlement::LockedInvoice;
use crate::view::RefundView;

/// The key by which a transaction sends one refund of an account.
const SENT_ONCE: &str = "refunds(account,mode,payout_network,tx_hash)";

/// Whether a text can be the hash of a transaction, on whichever network.
pub fn is_tx_hash(text: &str) -> bool {
    till_chains::normalise_tx_hash(text).is_some()
}

/// What has to be asked outside before a refund is marked sent: the lists about the address of one that is ready, and the
/// chain about the payout. A call that finds the address listed is refused; the merchant who has paid already says so again.
pub async fn look_before_sent(
    engine: &Engine,
    scope: &Scope,
    id: &str,
    tx_hash: &str,
) -> Result<PayoutSeen, Fail> {
    let mut reader = engine.db.read().await?;
    let row = find(&mut reader, scope, id).await?;
    drop(reader);
    match row.status {
        RefundStatus::ReadyToSend => {
            screen_again(engine, scope, &row).await?;
            // What is ready needs no proof: only what speaks against the payout is of interest.
            Ok(match ask_chain(engine, &row, tx_hash).await? {
                PayoutSeen::Otherwise => PayoutSeen::Otherwise,
                PayoutSeen::Shown
                | PayoutSeen::NotShown
                | PayoutSeen::Unknown
                | PayoutSeen::Unobserved => PayoutSeen::NotShown,
            })
        }
        RefundStatus::InReview | RefundStatus::Cancelled if row.ready_at.is_some() => {
            ask_chain(engine, &row, tx_hash).await
        }
        _ => Ok(PayoutSeen::NotShown),
    }
}

/// Only what is ready can be marked sent, or was when it was paid out, which the chain has to show.
fn check_ready(row: &RefundRow, seen: PayoutSeen) -> Result<(), Refusal> {
    let was_ready = row.ready_at.is_some();
    match (row.status, seen) {
        (RefundStatus::ReadyToSend, _) => Ok(()),
        (RefundStatus::InReview, PayoutSeen::Shown | PayoutSeen::Unobserved) if was_ready => Ok(()),
        (RefundStatus::Cancelled, PayoutSeen::Shown) if was_ready => Ok(()),
        (RefundStatus::InReview, _) => {
            let reason = row.review_reason.map_or("unknown", ReviewReason::as_str);
            let message = match was_ready {
                true => format!(
                    "The refund is in review ({reason}), and the chain does not show that this transaction paid it"
                ),
                false => format!("The refund is in review ({reason}) and must not be paid"),
            };
            Err(Refusal::new(Code::RefundNotReady, message))
        }
        _ => Err(Refusal::of(Code::RefundNotReady)),
    }
}

/// Records that a refund was sent: once, and by a transaction that sent nothing else. `seen` is what
/// [`look_before_sent`] found.
pub async fn mark_sent(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    tx_hash: &str,
    seen: PayoutSeen,
) -> Result<RefundView, Fail> {
    let (mut held, at) = find_locked(tx, context, id).await?;
    let row = held.refunds[at].is.clone();
    check_ready(&row, seen)?;
    let tx_hash = its_own(tx, context, &row, tx_hash).await?;
    let now = held.moment(context);
    take_sent(&mut held, at, now)?;
    let sent = &mut held.refunds[at].is;
    (sent.sent_at, sent.tx_hash) = (Some(now), Some(tx_hash));
    sent.sent_despite = row.review_reason;
    sent.paid_otherwise = seen == PayoutSeen::Otherwise;
    match settle(tx, context, held, id).await {
        // Another refund took the same transaction between our look and our write.
        Err(Fail::Store(error, _)) if error.violates(SENT_ONCE) => Err(Fail::Again),
        done => {
            let row = done?;
            follow(tx, context, &row).await?;
            let details = json!({"tx_hash": &row.tx_hash});
            audit::record(tx, context, Action::RefundSent, id, details).await?;
            render(context.engine, &row)
        }
    }
}

/// The hash of a transaction that sent no other refund and paid no invoice, as its network writes it.
async fn its_own(
    tx: &mut Tx,
    context: &Context<'_>,
    row: &RefundRow,
    tx_hash: &str,
) -> Result<String, Fail> {
    let (network, _) = payout(row)?;
    let form = till_chains::normalise_tx_hash(tx_hash).and_then(|form| form.on(network.family));
    let tx_hash = form.ok_or_else(|| {
        let message = format!("tx_hash is no transaction of {}", network.name);
        Refusal::new(Code::ParameterInvalid, message).param("tx_hash")
    })?;
    let scope = &context.scope;
    if till_store::refunds::is_sent_by(tx, scope, &network.id, &tx_hash).await? {
        let message = "Another refund was sent by this transaction.";
        return Err(Refusal::new(Code::RefundNotReady, message)
            .param("tx_hash")
            .into());
    }
    if till_store::payments::is_paid_by(tx, scope, &network.id, &tx_hash).await? {
        let message = "This transaction paid an invoice: it is not the one that sent the refund.";
        return Err(Refusal::new(Code::ParameterInvalid, message)
            .param("tx_hash")
            .into());
    }
    Ok(tx_hash)
}

/// The payments have sent what was promised of them. What a cancelled refund had given back is taken again: it is not
/// offered a second time, and is held against the price as it is now.
fn take_sent(held: &mut LockedInvoice, at: usize, now: i64) -> Result<(), Fail> {
    let is_promised = held.refunds[at].is.counts();
    if !is_promised {
        let withdrawn = held.withdraw(now, &held.refunds[at].is.sources);
        let row = &mut held.refunds[at].is;
        (row.withdrawn, row.excess_until) = (withdrawn.parts, withdrawn.excess_until);
    }
    let row = held.refunds[at].is.clone();
    change(held, &row, &row.sources, |payment, units| {
        if is_promised {
            payment.refunds_due = payment.refunds_due.minus(units)?;
        }
        payment.refunds_sent = payment.refunds_sent.plus(units);
        Some(())
    })?;
    change(held, &row, &row.withdrawn, |payment, units| {
        if !is_promised {
            payment.withdrawn = payment.withdrawn.plus(units);
        }
        payment.withdrawn_sent = payment.withdrawn_sent.plus(units);
        Some(())
    })
}

/// Looks at a refund's address once more before it counts as sent, in a unit of work of its own: what is found
/// stays found, though the call that asked is refused.
async fn screen_again(engine: &Engine, scope: &Scope, row: &RefundRow) -> Result<(), Fail> {
    let (network, address) = payout(row)?;
    let (screened, asset) = (
        Screened {
            network,
            address: &address,
        },
        paid_as(&row.asset, row.units, &network.id),
    );
    let answers = match asset {
        Some((asset, _)) => screening::ask(engine, screened, asset).await,
        None => Answers::new(),
    };
    let (answers, id) = (&answers, &*row.id);
    let found = engine
        .unit(scope, |tx, context| {
            async move { screen_locked(tx, context, id, answers).await }.scope_boxed()
        })
        .await?;
    match found {
        Finding::Clear | Finding::Match => Ok(()),
        Finding::Unavailable => {
            let message = "The screening lists cannot be read now; try again shortly.";
            Err(Refusal::new(Code::ServiceUnavailable, message).into())
        }
    }
}

fn is_unscreened(row: &RefundRow) -> bool {
    row.review_reason == Some(ReviewReason::ScreeningUnavailable)
}

/// So many accounts are looked at together.
const SCREENED_AT_ONCE: i64 = 256;

/// Addresses that could not be held against the lists when they were given are, once the lists can be asked: one of each
/// account, another one at each `turn`.
pub async fn screen_waiting(engine: &Engine, turn: i64) -> Result<(), Fail> {
    let mut reader = engine.db.read().await?;
    let waiting = till_store::refunds::unscreened(&mut reader, turn, SCREENED_AT_ONCE).await?;
    drop(reader);
    for row in &waiting {
        match screen_again(engine, &row.scope, row).await {
            Ok(()) | Err(Fail::Refused(_)) => {}
            Err(fail) => return Err(fail),
        }
    }
    Ok(())
}

/// A new edition of a list may name an address that a refund is ready to be sent to: the merchant sees that before it pays, and
/// not only when it says that it has paid.
pub async fn screen_ready(engine: &Engine) -> Result<(), Fail> {
    let Some((lists, loaded)) = engine.lists.as_ref().map(|it| (it, it.loaded())) else {
        return Ok(());
    };
    if lists.were_held_against_payouts(&loaded) {
        return Ok(());
    }
    let mut last: Option<RefundRow> = None;
    loop {
        let mut reader = engine.db.read().await?;
        let some = till_store::refunds::ready(&mut reader, last.as_ref(), SCREENED_AT_ONCE).await?;
        drop(reader);
        for row in &some {
            let address = row.payout_address.as_deref();
            if address.is_some_and(|it| loaded.names(it)) {
                match screen_again(engine, &row.scope, row).await {
                    Ok(()) | Err(Fail::Refused(_)) => {}
                    Err(fail) => return Err(fail),
                }
            }
        }
        match some.into_iter().next_back() {
            Some(row) => last = Some(row),
            None => break,
        }
    }
    lists.held_against_payouts(&loaded);
    Ok(())
}

async fn screen_locked(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    answers: &Answers,
) -> Result<Finding, Fail> {
    let (mut held, at) = find_locked(tx, context, id).await?;
    let row = held.refunds[at].is.clone();
    let waits = is_unscreened(&row);
    if !waits && row.status != RefundStatus::ReadyToSend {
        return Ok(Finding::Clear);
    }
    let (network, address) = payout(&row)?;
    let screened = Screened {
        network,
        address: &address,
    };
    let screening = screening::screen(context, screened, answers);
    let found = screening.result();
    // A server that has fewer lists clears nobody whom another could not.
    let is_asked = |list: &str| screening.lists.iter().any(|it| it.list == list);
    let mut before = row.screening.iter().flat_map(|it| &it.lists);
    let all_asked = before.all(|it| is_asked(&it.list));
    if waits && (found == Finding::Unavailable || (found == Finding::Clear && !all_asked)) {
        return Ok(Finding::Unavailable);
    }
    let kept = screening::kept(context, &row.id, screened, &screening);
    tx.write(&till_store::screenings::rows([&kept])).await?;
    if waits || found == Finding::Match {
        held.refunds[at].is.screening = Some(screening);
        settle(tx, context, held, id).await?;
    }
    Ok(found)
}
