//! Deciding reviews.

use serde_json::json;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::invoice::{Decision, Facts, Question, Undecidable, decide};
use till_core::payment::PaymentStatus;
use till_store::Tx;
use till_store::invoices::InvoiceRow;

use super::find_locked;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{self, Extra};

/// Who decides: in live mode a key may not wave a risk through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Api,
    Dashboard,
}

impl Via {
    fn as_str(self) -> &'static str {
        match self {
            Via::Api => "api",
            Via::Dashboard => "dashboard",
        }
    }
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
    let now = held.moment(context);
    let asked: Vec<String> = held
        .payments
        .iter()
        .filter(|payment| payment.is.status == PaymentStatus::Held)
        .map(|payment| payment.is.id.clone())
        .collect();
    let facts = Facts {
        terms: &held.terms(),
        payments: &held.facts(),
        cancelled_at: held.invoice.is.cancelled_at,
    };
    let question = Question {
        decision,
        payments: &asked,
        may_accept_risk: via == Via::Dashboard || !context.is_live(),
    };
    let verdicts = decide(&facts, now, &question).map_err(|why| {
        Refusal::of(match why {
            Undecidable::NotOpen => Code::ReviewNotOpen,
            Undecidable::RiskNeedsPerson => Code::ReviewRequiresDashboard,
        })
    })?;
    held.give(&verdicts);
    let cancelled_at = &mut held.invoice.is.cancelled_at;
    if decision == Decision::Reject {
        *cancelled_at = cancelled_at.or(Some(now));
    }
    let review = json!({ "decision": decision.as_str(), "reason": reason, "via": via.as_str() });
    let extra = Extra {
        event: EventType::InvoiceReviewResolved,
        name: "review",
        json: review.to_string(),
    };
    settlement::settle(tx, context, held, Some(extra)).await
}
