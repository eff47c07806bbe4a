//! Whether a payment that reached its policy's level may be credited, or a person must look first.

use num_bigint::BigInt;
use num_rational::BigRational;

use super::model::Facts;
use super::weigh::{Weighed, weigh};
use crate::payment::{Hold, Payment, Verdict};

/// Judges the payments that reached their policy's level and were not judged yet. Every sender is screened,
/// also of what will not count. Whether an amount needs a person is judged by all that has reached its level,
/// in whatever order it came; a payment already credited stays so. Dust never needs a person.
pub fn judge(
    facts: &Facts<'_>,
    manual_review_minor: Option<u64>,
    risk: impl Fn(&Payment) -> Option<Hold>,
) -> Vec<(String, Verdict)> {
    let weighed = weigh(facts);
    let reached = |it: &&Weighed<'_>| it.payment.reached_policy();
    let total: BigRational = weighed
        .iter()
        .filter(reached)
        .filter(|it| it.creditable)
        .map(|it| &it.share)
        .sum();
    let value = total * BigInt::from(facts.terms.amount_minor);
    let over = manual_review_minor
        .is_some_and(|limit| value >= BigRational::from_integer(BigInt::from(limit)));
    let verdict = |it: &Weighed<'_>| match (risk(it.payment), it.creditable) {
        (Some(hold), _) => Verdict::Held(hold),
        (None, true) if over && !it.dust => Verdict::Held(Hold::ManualReview),
        (None, true) => Verdict::Passed,
        (None, false) => Verdict::Screened,
    };
    let unjudged = |it: &&Weighed<'_>| match it.payment.verdict {
        None => true,
        Some(Verdict::Screened) => it.creditable,
        Some(_) => false,
    };
    weighed
        .iter()
        .filter(reached)
        .filter(unjudged)
        .map(|it| (it.payment.id.clone(), verdict(it)))
        .collect()
}
