//! Days whose journal is not what was signed.

use std::sync::Arc;

use till_core::reconciliation::Severity;
use till_core::scope::Scope;
use till_core::time::{day_of, show_day};

use super::views::DiscrepancyView;
use crate::base::Engine;
use crate::base::fail::Fail;
use crate::digests::{Checked, Checks};

/// Of all days that the period touches.
pub(super) async fn misfits(
    engine: Arc<Engine>,
    scope: Scope,
    (from, to): (i64, i64),
) -> Result<Vec<DiscrepancyView>, Fail> {
    let days = (day_of(from), day_of(to.saturating_sub(1)));
    let mut checks = Checks::begin(&engine, &scope, days).await?;
    let mut found = Vec::new();
    while let Some(checked) = checks.next().await? {
        found.extend(mismatch(&checked));
    }
    Ok(found)
}

fn mismatch(checked: &Checked) -> Option<DiscrepancyView> {
    let why = checked.misfit.as_deref()?;
    Some(DiscrepancyView {
        asset: None,
        kind: "digest_mismatch",
        amount: "0".to_owned(),
        severity: Severity::Flagged.as_str(),
        invoice: None,
        network: None,
        tx_hash: None,
        index: None,
        detail: format!(
            "The journal of {} is not what was signed: {why}.",
            show_day(checked.day)
        ),
    })
}
