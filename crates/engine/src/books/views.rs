//! What a reconciliation looks like, and the sums behind it.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::ledger::Group;
use till_core::reconciliation::{Difference, Totals, Views};
use utoipa::ToSchema;

use super::amounts::shown;

/// Three views of a period, and what they disagree about.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Reconciliation)]
pub struct ReportView {
    #[schema(example = "reconciliation", pattern = "^reconciliation$")]
    pub object: &'static str,
    #[schema(format = DateTime)]
    pub from: String,
    #[schema(format = DateTime)]
    pub to: String,
    pub discrepancies: Vec<DiscrepancyView>,
    pub assets: Vec<AssetView>,
}

/// One asset, as each view has it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = ReconciledAsset)]
pub struct AssetView {
    pub asset: String,
    /// What was posted about the period's invoices, by account group.
    pub ledger: Vec<Figure>,
    /// What arrived on chains for them, and what arrived for nobody.
    pub chain: Vec<Figure>,
    /// What they show, and their refunds.
    pub invoices: Vec<Figure>,
}

/// A sum.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Figure {
    pub item: &'static str,
    pub amount: String,
}

/// Something that the views disagree about.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Discrepancy)]
pub struct DiscrepancyView {
    /// Null for `digest_mismatch`, which is about a day and not about an asset.
    #[schema(required)]
    pub asset: Option<String>,
    /// `refunded_beyond_received`, `chain`, `ledger_chain`, `invoice_chain`, `refund_not_paid`, `sent_in_review`,
    /// `sent_after_cancel`, `unknown_payment`, `unattributed` or `digest_mismatch`, which are flagged; `pending`, `reversed`, `held`, `dust`, `excess_not_shown`,
    /// `excess_is_credit` or `sent_in_another_asset`, which explain;
    /// `refunded_and_reversed`, which is flagged until its invoice is paid.
    pub kind: &'static str,
    pub amount: String,
    /// `explained` or `flagged`.
    pub severity: &'static str,
    #[schema(required)]
    pub invoice: Option<String>,
    #[schema(required)]
    pub network: Option<String>,
    #[schema(required)]
    pub tx_hash: Option<String>,
    #[schema(required)]
    pub index: Option<i64>,
    pub detail: String,
}

impl DiscrepancyView {
    /// What the views of one invoice disagree about.
    pub(super) fn of(invoice: &str, asset: &str, one: &Difference) -> DiscrepancyView {
        DiscrepancyView {
            asset: Some(asset.to_owned()),
            kind: one.kind,
            amount: shown(asset, one.amount),
            severity: one.severity.as_str(),
            invoice: Some(invoice.to_owned()),
            network: None,
            tx_hash: None,
            index: None,
            detail: one.detail.to_owned(),
        }
    }
}

/// The sums of one asset.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) ledger: Totals,
    pub(super) views: Views,
    pub(super) unattributed: i128,
    pub(super) overpaid: i128,
    pub(super) refunds_open: i128,
    pub(super) refunds_sent: i128,
}

pub(super) type Assets = BTreeMap<String, Sums>;

impl AssetView {
    pub(super) fn of(asset: &str, sums: &Sums) -> AssetView {
        let figure = |item, units| Figure {
            item,
            amount: shown(asset, units),
        };
        let ledger = Group::ALL.map(|group| figure(group.as_str(), sums.ledger.of(group)));
        AssetView {
            asset: asset.to_owned(),
            ledger: ledger.into(),
            chain: vec![
                figure("final", sums.views.chain),
                figure("pending", sums.views.pending),
                figure("reversed", sums.views.reversed),
                figure("unattributed", sums.unattributed),
            ],
            invoices: vec![
                figure("received", sums.views.invoice),
                figure("overpaid", sums.overpaid),
                figure("refunds_open", sums.refunds_open),
                figure("refunds_sent", sums.refunds_sent),
            ],
        }
    }
}
