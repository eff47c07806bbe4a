//! The report: the journal, the chain and the invoices of a period, each added up by itself, and their differences.

use std::collections::BTreeMap;

use serde::Serialize;
use till_core::ledger::Group;
use till_core::money::Units;
use till_core::payment::PaymentStatus;
use till_core::reconciliation::{Difference, Severity, Totals, Views, differences};
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_core::time;
use till_store::Reader;
use till_store::invoices::InvoiceRow;
use till_store::journal::PostedLine;
use till_store::payments::PaymentRow;
use till_store::refunds::RefundRow;
use till_store::transfers::TransferRow;
use utoipa::ToSchema;

use super::{Asked, Question, ROWS_AT_ONCE, moved, shown};
use crate::base::Engine;
use crate::base::fail::Fail;

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
    pub assets: Vec<AssetView>,
    pub discrepancies: Vec<DiscrepancyView>,
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
    pub asset: String,
    /// `refunded_beyond_received`, `ledger_chain`, `invoice_chain`, `pending`, `reversed` or `unattributed`.
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

/// The sums of one asset.
#[derive(Default)]
struct Sums {
    ledger: Totals,
    chain: Views,
    unattributed: i128,
    overpaid: i128,
    refunds_open: i128,
    refunds_sent: i128,
}

type Assets = BTreeMap<String, Sums>;

/// By invoice and asset.
type InvoiceViews<'r> = BTreeMap<(&'r str, &'r str), Views>;

pub async fn report(engine: &Engine, scope: &Scope, asked: &Asked) -> Result<ReportView, Fail> {
    let question = Question::of(engine, scope, asked).await?;
    let period = (question.period.from, question.period.to);
    let mut reader = engine.db.read().await?;
    let (mut assets, mut found) = (Assets::new(), Vec::new());
    let mut after = String::new();
    loop {
        let page =
            till_store::invoices::made_between(&mut reader, scope, period, &after, ROWS_AT_ONCE);
        let page = page.await?;
        let Some(last) = page.last() else { break };
        after.clone_from(&last.id);
        let rows = Rows::of(&mut reader, scope, &page).await?;
        let views = views_of(&page, &rows)?;
        add(&mut assets, &page, &rows, &views)?;
        let asked = views
            .iter()
            .filter(|((_, asset), _)| question.is_about(asset));
        for ((invoice, asset), of) in asked {
            found.extend(disagreements(invoice, asset, of));
        }
    }
    for transfer in till_store::transfers::unattributed(&mut reader, scope, period).await? {
        if question.is_about(&transfer.asset) {
            let sums = assets.entry(transfer.asset.clone()).or_default();
            sums.unattributed += wide(transfer.units);
            found.push(nobodys(&transfer));
        }
    }
    assets.retain(|asset, _| question.is_about(asset));
    Ok(ReportView {
        object: "reconciliation",
        from: time::show(period.0),
        to: time::show(period.1),
        assets: assets
            .iter()
            .map(|(asset, sums)| view(asset, sums))
            .collect(),
        discrepancies: found,
    })
}

fn wide(units: Units) -> i128 {
    i128::try_from(units.0).unwrap_or(i128::MAX)
}

/// What belongs to some invoices, each view's rows by themselves.
struct Rows {
    payments: Vec<PaymentRow>,
    lines: Vec<PostedLine>,
    refunds: Vec<RefundRow>,
}

impl Rows {
    async fn of(reader: &mut Reader, scope: &Scope, page: &[InvoiceRow]) -> Result<Rows, Fail> {
        let ids: Vec<(&Scope, &str)> = page.iter().map(|row| (scope, &*row.id)).collect();
        let names: Vec<&str> = page.iter().map(|row| &*row.id).collect();
        let payments = till_store::payments::of_invoices(reader, &ids).await?;
        let subjects: Vec<&str> = payments.iter().map(|payment| &*payment.id).collect();
        let lines = till_store::journal::of_subjects(reader, scope, &subjects).await?;
        let refunds = till_store::refunds::of_invoices(reader, scope, &names).await?;
        Ok(Rows {
            payments,
            lines,
            refunds,
        })
    }
}

/// Each invoice's money in each asset, as each view has it.
fn views_of<'r>(page: &'r [InvoiceRow], rows: &'r Rows) -> Result<InvoiceViews<'r>, Fail> {
    let mut views = InvoiceViews::new();
    let mut invoice_of: BTreeMap<&str, &str> = BTreeMap::new();
    for payment in &rows.payments {
        invoice_of.insert(&payment.id, &payment.invoice);
        let of = views.entry((&payment.invoice, &payment.asset)).or_default();
        let units = wide(payment.units);
        match payment.status {
            PaymentStatus::Pending | PaymentStatus::Confirming => of.pending += units,
            PaymentStatus::Reversed => of.reversed += units,
            PaymentStatus::Credited | PaymentStatus::Held | PaymentStatus::Refundable => {
                of.chain += units;
            }
        }
    }
    for line in &rows.lines {
        let (debit, credit, amount) = moved(line)?;
        let invoice = invoice_of.get(&*line.subject).copied().unwrap_or_default();
        let mut received = Totals::default();
        received.add(debit, credit, amount);
        let of = views.entry((invoice, &line.asset)).or_default();
        of.ledger += received.of(Group::Received);
    }
    for row in page {
        for (asset, units) in &row.summary.received {
            views.entry((&row.id, asset)).or_default().invoice += wide(*units);
        }
    }
    for refund in rows.refunds.iter().filter(|refund| refund.counts()) {
        let of = views.entry((&refund.invoice, &refund.asset)).or_default();
        of.refunded += wide(refund.units);
    }
    Ok(views)
}

/// Adds some invoices up.
fn add(
    assets: &mut Assets,
    page: &[InvoiceRow],
    rows: &Rows,
    views: &InvoiceViews<'_>,
) -> Result<(), Fail> {
    for line in &rows.lines {
        let (debit, credit, amount) = moved(line)?;
        let sums = assets.entry(line.asset.clone()).or_default();
        sums.ledger.add(debit, credit, amount);
    }
    for (asset, units) in page.iter().filter_map(|row| row.summary.overpaid.as_ref()) {
        assets.entry(asset.clone()).or_default().overpaid += wide(*units);
    }
    for refund in rows.refunds.iter().filter(|refund| refund.counts()) {
        let sums = assets.entry(refund.asset.clone()).or_default();
        match refund.status {
            RefundStatus::Sent => sums.refunds_sent += wide(refund.units),
            _ => sums.refunds_open += wide(refund.units),
        }
    }
    for ((_, asset), of) in views {
        let sums = &mut assets.entry((*asset).to_owned()).or_default().chain;
        sums.chain += of.chain;
        sums.invoice += of.invoice;
        sums.pending += of.pending;
        sums.reversed += of.reversed;
    }
    Ok(())
}

fn disagreements<'v>(
    invoice: &'v str,
    asset: &'v str,
    views: &Views,
) -> impl Iterator<Item = DiscrepancyView> + 'v {
    let view = move |one: Difference| DiscrepancyView {
        asset: asset.to_owned(),
        kind: one.kind,
        amount: shown(asset, one.amount),
        severity: one.severity.as_str(),
        invoice: Some(invoice.to_owned()),
        network: None,
        tx_hash: None,
        index: None,
        detail: one.detail.to_owned(),
    };
    differences(views).into_iter().map(view)
}

fn nobodys(transfer: &TransferRow) -> DiscrepancyView {
    let why = transfer.unattributed.as_deref().unwrap_or("unknown");
    DiscrepancyView {
        asset: transfer.asset.clone(),
        kind: "unattributed",
        amount: shown(&transfer.asset, wide(transfer.units)),
        severity: Severity::Flagged.as_str(),
        invoice: None,
        network: Some(transfer.network.clone()),
        tx_hash: Some(transfer.tx_hash.clone()),
        index: Some(transfer.place),
        detail: format!("Arrived at an address of this account and is nobody's: {why}."),
    }
}

fn view(asset: &str, sums: &Sums) -> AssetView {
    let figure = |item, units| Figure {
        item,
        amount: shown(asset, units),
    };
    let ledger = Group::ALL.map(|group| figure(group.as_str(), sums.ledger.of(group)));
    AssetView {
        asset: asset.to_owned(),
        ledger: ledger.into(),
        chain: vec![
            figure("final", sums.chain.chain),
            figure("pending", sums.chain.pending),
            figure("reversed", sums.chain.reversed),
            figure("unattributed", sums.unattributed),
        ],
        invoices: vec![
            figure("received", sums.chain.invoice),
            figure("overpaid", sums.overpaid),
            figure("refunds_open", sums.refunds_open),
            figure("refunds_sent", sums.refunds_sent),
        ],
    }
}
