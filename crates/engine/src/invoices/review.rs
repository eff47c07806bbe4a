//! Deciding reviews.

use serde_json::json;
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::invoice::Status;
use till_core::payment::Verdict;
use till_store::Tx;
use till_store::invoices::InvoiceRow;

use super::find_locked;
use crate::base::Context;
use crate::base::fail::Fail;
use crate::settlement::{self, Extra};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Accept,
    Reject,
}

impl Decision {
    pub const ALL: [Decision; 2] = [Decision::Accept, Decision::Reject];

    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Accept => "accept",
            Decision::Reject => "reject",
        }
    }
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
    let now = held.moment(context);
    if held.assess(now).status != Status::UnderReview {
        return Err(Refusal::of(Code::ReviewNotOpen).into());
    }
    let is_held = |verdict: Option<Verdict>| matches!(verdict, Some(Verdict::Held(_)));
    match decision {
        Decision::Accept => {
            let risky = held.payments.iter().any(|payment| {
                !payment.is.reversed
                    && matches!(payment.is.verdict, Some(Verdict::Held(hold)) if hold.is_risk())
            });
            if risky && context.is_live() && via == Via::Api {
                return Err(Refusal::of(Code::ReviewRequiresDashboard).into());
            }
            for payment in held
                .payments
                .iter_mut()
                .filter(|payment| is_held(payment.is.verdict))
            {
                payment.is.verdict = Some(Verdict::Accepted);
            }
        }
        Decision::Reject => held.invoice.is.cancelled_at = Some(now),
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
    settlement::settle(tx, context, held, Some(extra)).await
}
