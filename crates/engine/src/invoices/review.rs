//! Deciding reviews.

use serde_json::json;
use till_core::actor::Action;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::id::IdKind;
use till_core::invoice::{Decision, Facts, Question, Undecidable, Via, decide};
use till_core::payment::{PaymentStatus, Verdict};
use till_core::role::Permission;
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::payments::PaymentRow;
use till_store::reviews::{self, ReviewDecisionRow};
use till_store::{Queries, Tx};

use super::find::find_locked;
use crate::audit;
use crate::base::fail::Fail;
use crate::base::{Context, Engine};
use crate::settlement::{self, Extra, LockedInvoice};

/// A decision as it was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Resolve<'a> {
    pub decision: Decision,
    pub reason: &'a str,
    pub via: Via,
    /// The payments that were held when it was asked for. What is held since then stays so.
    pub payments: &'a [String],
}

/// The payments of an invoice that wait for a decision now. Asked before the unit of work, which may have to wait
/// while more of them arrive.
pub async fn held_payments(
    engine: &Engine,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<String>, Fail> {
    let mut reader = engine.db.read().await?;
    held_in(&mut reader, scope, invoice).await
}

/// The same for whoever reads already.
pub async fn held_in(
    q: &mut impl Queries,
    scope: &Scope,
    invoice: &str,
) -> Result<Vec<String>, Fail> {
    let payments = till_store::payments::of_invoice(q, scope, invoice).await?;
    let held = payments
        .into_iter()
        .filter(|payment| payment.status == PaymentStatus::Held);
    Ok(held.map(|payment| payment.id).collect())
}

/// What a passkey's yes to accepting is about: these payments, and none that is held later.
pub fn accepted(payments: &[String]) -> String {
    let mut sorted: Vec<&str> = payments.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    sorted.join(" ")
}

pub async fn resolve_review(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    asked: &Resolve<'_>,
) -> Result<InvoiceRow, Fail> {
    if asked.decision == Decision::Accept {
        context.require(Permission::ReviewsAccept)?;
    }
    let mut held = find_locked(tx, context, id).await?;
    if asked.decision == Decision::Accept {
        check_not_frozen(tx, &held, asked.payments).await?;
    }
    let now = held.moment(context);
    let facts = Facts {
        terms: &held.terms(),
        payments: &held.facts(),
        cancelled_at: held.invoice.is.cancelled_at,
    };
    let question = Question {
        decision: asked.decision,
        payments: asked.payments,
        // With real money a key may not wave a risk through.
        may_accept_risk: asked.via == Via::Dashboard || !context.is_live(),
    };
    let verdicts = decide(&facts, now, &question).map_err(|why| {
        Refusal::of(match why {
            Undecidable::NotOpen => Code::ReviewNotOpen,
            Undecidable::RiskNeedsPerson => Code::ReviewRequiresDashboard,
        })
    })?;
    held.give(&verdicts);
    let cancelled_at = &mut held.invoice.is.cancelled_at;
    if asked.decision == Decision::Reject {
        *cancelled_at = cancelled_at.or(Some(now));
    }
    reviews::insert(tx, &record(context, id, asked, &verdicts, now)).await?;
    let details = json!({"decision": asked.decision.as_str()});
    audit::record(tx, context, Action::ReviewResolved, id, details).await?;
    let review = json!({
        "decision": asked.decision.as_str(), "reason": asked.reason, "via": asked.via.as_str()
    });
    let extra = Extra {
        event: EventType::InvoiceReviewResolved,
        name: "review",
        json: review.to_string(),
    };
    let settled = settlement::settle(tx, context, held, Some(extra)).await?;
    // Last of all, so that nobody is asked for a passkey in vain.
    if asked.decision == Decision::Accept && context.is_live() {
        let (asker, scope) = (&context.asker, &context.scope);
        let about = accepted(asked.payments);
        asker.confirm(tx, scope, &about, context.real_now).await?;
    }
    Ok(settled)
}

/// What a network that is frozen has shown may yet be replaced: it is not credited before an operator has looked.
async fn check_not_frozen(tx: &mut Tx, held: &LockedInvoice, asked: &[String]) -> Result<(), Fail> {
    let payments = held.payments.iter().map(|payment| &payment.is);
    let is_asked = |row: &&PaymentRow| {
        let is_held = row.status == PaymentStatus::Held && asked.contains(&row.id);
        is_held && !row.simulated
    };
    let mut networks: Vec<&str> = payments.filter(is_asked).map(|row| &*row.network).collect();
    networks.sort_unstable();
    networks.dedup();
    for id in networks {
        let row = till_store::networks::find(tx, id).await?;
        let Some(row) = row.filter(|row| row.frozen_at.is_some()) else {
            continue;
        };
        let reason = row.frozen_reason.as_deref().unwrap_or("no reason is known");
        let message = format!(
            "A payment on {id} cannot be accepted while that network is frozen: {reason}. Reject it, or accept it once \
             the operator has thawed the network"
        );
        return Err(Refusal::new(Code::ReviewNotOpen, message).into());
    }
    Ok(())
}

fn record(
    context: &Context<'_>,
    invoice: &str,
    asked: &Resolve<'_>,
    verdicts: &[(String, Verdict)],
    now: i64,
) -> ReviewDecisionRow {
    ReviewDecisionRow {
        scope: context.scope.clone(),
        id: context.engine.ids.make(IdKind::ReviewDecision),
        subject: invoice.to_owned(),
        decision: asked.decision,
        reason: asked.reason.to_owned(),
        via: asked.via,
        decided_by: context.actor().clone(),
        decided_at: now,
        payments: verdicts
            .iter()
            .map(|(payment, _)| payment.clone())
            .collect(),
    }
}
