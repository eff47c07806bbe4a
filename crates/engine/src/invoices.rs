//! Invoices after they were made: reading, cancelling, and deciding reviews.

use serde_json::json;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::id::Kind;
use till_core::invoice::Status;
use till_core::payment::Verdict;
use till_core::scope::Scope;
use till_store::invoices::InvoiceRow;
use till_store::{Queries, Tx};

use crate::change::{self, Extra, Held};
use crate::context::Context;
use crate::fail::{Fail, missing, missing_or_in_mode};

/// An id of the caller's other mode is missing too, but the answer says where it is.
pub async fn missing_invoice(
    q: &mut impl Queries,
    scope: &Scope,
    id: &str,
) -> Result<Refusal, Fail> {
    if !till_core::id::is(Kind::Invoice, id) {
        return Ok(missing("invoice", id));
    }
    let found = till_store::invoices::find(q, &scope.in_other_mode(), id).await?;
    Ok(missing_or_in_mode("invoice", id, scope, found))
}

pub async fn find(q: &mut impl Queries, scope: &Scope, id: &str) -> Result<InvoiceRow, Fail> {
    if till_core::id::is(Kind::Invoice, id)
        && let Some(row) = till_store::invoices::find(q, scope, id).await?
    {
        return Ok(row);
    }
    Err(missing_invoice(q, scope, id).await?.into())
}

pub async fn find_locked(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<Held, Fail> {
    if till_core::id::is(Kind::Invoice, id)
        && let Some(held) = change::hold(tx, &context.scope, id).await?
    {
        return Ok(held);
    }
    Err(missing_invoice(tx, &context.scope, id).await?.into())
}

/// Only an invoice nothing was paid to can be cancelled; cancelling a cancelled one changes nothing.
pub async fn cancel(tx: &mut Tx, context: &Context<'_>, id: &str) -> Result<InvoiceRow, Fail> {
    let mut held = find_locked(tx, context, id).await?;
    if held.row.status()? == Status::Cancelled {
        return Ok(held.row);
    }
    let status = held.assess(context.now).status;
    if status != Status::AwaitingPayment {
        let message = format!("The invoice is {} and cannot be cancelled", status.as_str());
        return Err(Refusal::new(Code::InvoiceNotCancellable, message).into());
    }
    held.row.cancelled_at = Some(context.now);
    change::settle(tx, context, held, None).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Accept,
    Reject,
}

/// Who decides: in live mode a key may not wave a risk through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Api,
    Dashboard,
}

pub async fn resolve_review(
    tx: &mut Tx,
    context: &Context<'_>,
    id: &str,
    decision: Decision,
    reason: &str,
    via: Via,
) -> Result<InvoiceRow, Fail> {
    let mut held = find_locked(tx, context, id).await?;
    if held.assess(context.now).status != Status::UnderReview {
        return Err(Refusal::of(Code::ReviewNotOpen).into());
    }
    let is_held = |verdict: Option<Verdict>| matches!(verdict, Some(Verdict::Held(_)));
    match decision {
        Decision::Accept => {
            let risky = held.payments.iter().any(|payment| {
                !payment.fact.reversed
                    && matches!(payment.fact.verdict, Some(Verdict::Held(hold)) if hold.is_risk())
            });
            if risky && context.is_live() && via == Via::Api {
                return Err(Refusal::of(Code::ReviewRequiresDashboard).into());
            }
            for payment in held
                .payments
                .iter_mut()
                .filter(|payment| is_held(payment.fact.verdict))
            {
                payment.fact.verdict = Some(Verdict::Accepted);
                payment.row.verdict = Some(Verdict::Accepted.show());
            }
        }
        Decision::Reject => held.row.cancelled_at = Some(context.now),
    }
    let (decision, via) = match (decision, via) {
        (Decision::Accept, Via::Api) => ("accept", "api"),
        (Decision::Accept, Via::Dashboard) => ("accept", "dashboard"),
        (Decision::Reject, Via::Api) => ("reject", "api"),
        (Decision::Reject, Via::Dashboard) => ("reject", "dashboard"),
    };
    let extra = Extra {
        event: EventType::InvoiceReviewResolved,
        name: "review",
        json: json!({ "decision": decision, "reason": reason, "via": via }).to_string(),
    };
    change::settle(tx, context, held, Some(extra)).await
}
