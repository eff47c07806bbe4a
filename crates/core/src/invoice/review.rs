//! Deciding a review: about the payments that were held when the decision was asked for, and no others.

use super::assess;
use super::model::{Facts, Part};
use crate::payment::{PaymentStatus, Verdict};

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

    pub fn parse(text: &str) -> Option<Decision> {
        Decision::ALL
            .into_iter()
            .find(|decision| decision.as_str() == text)
    }
}

/// Where a decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    Api,
    Dashboard,
}

impl Via {
    pub fn as_str(self) -> &'static str {
        match self {
            Via::Api => "api",
            Via::Dashboard => "dashboard",
        }
    }

    pub fn parse(text: &str) -> Option<Via> {
        [Via::Api, Via::Dashboard]
            .into_iter()
            .find(|via| via.as_str() == text)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    pub decision: Decision,
    /// The payments that were held when it was asked: what came later was not looked at.
    pub payments: &'a [String],
    /// With real money only a person on the dashboard may.
    pub may_accept_risk: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecidable {
    NotOpen,
    RiskNeedsPerson,
}

/// The verdicts that a decision gives. Rejecting also cancels the invoice, which is for the caller to write down.
pub fn decide(
    facts: &Facts<'_>,
    now: i64,
    question: &Question<'_>,
) -> Result<Vec<(String, Verdict)>, Undecidable> {
    let assessment = assess(facts, now);
    let asked: Vec<&Part> = assessment
        .parts
        .iter()
        .filter(|part| part.status == PaymentStatus::Held)
        .filter(|part| question.payments.contains(&part.payment))
        .collect();
    // Dust opens no review: it is decided with the rest or not at all.
    if !asked.iter().any(|part| !part.dust) {
        return Err(Undecidable::NotOpen);
    }
    let is_risk = |part: &Part| {
        let payment = facts.payments.iter().find(|it| it.id == part.payment);
        let verdict = payment.and_then(|payment| payment.verdict);
        matches!(verdict, Some(Verdict::Held(hold)) if hold.is_risk())
    };
    let (verdict, mut decided) = match question.decision {
        Decision::Reject => (Verdict::Rejected, asked),
        Decision::Accept => (Verdict::Accepted, asked),
    };
    if question.decision == Decision::Accept && !question.may_accept_risk {
        if decided.iter().any(|part| is_risk(part) && !part.dust) {
            return Err(Undecidable::RiskNeedsPerson);
        }
        // A speck from a listed sender must not keep a merchant from deciding about a customer's money.
        decided.retain(|part| !is_risk(part));
    }
    let verdicts = decided.iter().map(|part| (part.payment.clone(), verdict));
    Ok(verdicts.collect())
}
