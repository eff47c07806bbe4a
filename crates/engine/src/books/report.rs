//! The report: the journal, the chain and the invoices of a period, each added up by itself, and their differences.
//! It is walked through some invoices at a time, so that no period is too long for the memory.

use std::collections::HashMap;
use std::sync::Arc;

use till_core::asset::Registry;
use till_core::chain::Tips;
use till_core::invoice::Status;
use till_core::ledger::Group;
use till_core::money::Units;
use till_core::payment::PaymentStatus;
use till_core::reconciliation::{Period, Severity, Totals, Views, differences};
use till_core::refund::RefundStatus;
use till_core::scope::Scope;
use till_store::ReadSource;
use till_store::books::{BookInvoice, BookLine, BookPayment, BookRefund, BookTips, Books, Orphan};
use till_store::transfers::TransferRow;

use super::amounts::{shown, wide};
use super::prefetch::{BooksPart, Prefetch, Reading};
use super::query::{BooksQuery, BooksRequest};
use super::views::{AssetView, Assets, DiscrepancyView};
use super::{sent_refunds, signed};
use crate::base::Engine;
use crate::base::fail::Fail;

const ROWS_AT_ONCE: i64 = 1_000;

/// Where a walk has got to.
enum Stage {
    Invoices(Prefetch),
    Orphans(Reading<Vec<Orphan>>),
    Unattributed { after: Option<Box<TransferRow>> },
    Digests,
    Done,
}

pub struct Walk {
    reads: ReadSource,
    scope: Scope,
    query: BooksQuery,
    assets: Assets,
    stage: Stage,
    /// Days whose journal is not what was signed. It is the primary's that is looked at: of a copy nobody wants to know.
    misfits: Reading<Vec<DiscrepancyView>>,
}

/// By invoice and asset.
type InvoiceViews<'r> = HashMap<(&'r str, &'r str), Views>;

impl Walk {
    pub async fn begin(
        engine: &Arc<Engine>,
        reads: &ReadSource,
        scope: &Scope,
        asked: &BooksRequest,
    ) -> Result<Walk, Fail> {
        let query = BooksQuery::of(engine, reads, scope, asked).await?;
        let between = (query.period.from, query.period.to);
        let ahead = Prefetch::begin(reads, scope, between);
        Ok(Walk {
            reads: reads.clone(),
            scope: scope.clone(),
            query,
            assets: Assets::new(),
            stage: Stage::Invoices(ahead),
            misfits: Reading::begin(signed::misfits(Arc::clone(engine), scope.clone(), between)),
        })
    }

    pub fn period(&self) -> Period {
        self.query.period
    }

    /// The sums of what was walked through.
    pub fn assets(&self) -> impl Iterator<Item = AssetView> + '_ {
        let assets = self.assets.iter();
        assets
            .filter(move |(asset, _)| self.query.is_about(asset))
            .map(|(asset, sums)| AssetView::of(asset, sums))
    }

    /// The discrepancies of the next part; none when the whole was walked through. Connections are held while
    /// parts are read.
    pub async fn next(&mut self) -> Result<Option<Vec<DiscrepancyView>>, Fail> {
        let found = match std::mem::replace(&mut self.stage, Stage::Done) {
            Stage::Invoices(ahead) => self.invoices(ahead).await?,
            Stage::Orphans(orphans) => self.orphans(orphans).await?,
            Stage::Unattributed { after } => self.unattributed(after.as_deref()).await?,
            Stage::Digests => self.misfits.end().await?,
            Stage::Done => return Ok(None),
        };
        let asked = |one: &DiscrepancyView| {
            let asset = one.asset.as_deref();
            asset.is_none_or(|asset| self.query.is_about(asset))
        };
        Ok(Some(found.into_iter().filter(asked).collect()))
    }

    fn between(&self) -> (i64, i64) {
        (self.query.period.from, self.query.period.to)
    }

    async fn invoices(&mut self, mut ahead: Prefetch) -> Result<Vec<DiscrepancyView>, Fail> {
        let Some(part) = ahead.next().await? else {
            self.stage = Stage::Orphans(ahead.orphans);
            return Ok(Vec::new());
        };
        self.stage = Stage::Invoices(ahead);
        let BooksPart { books, observed } = part;
        let views = self.add(&books);
        let differing = views.iter().map(|(of, views)| (of, differences(views)));
        let mut differing: Vec<_> = differing.filter(|(_, found)| !found.is_empty()).collect();
        differing.sort_unstable_by_key(|(of, _)| *of);
        let mut found = Vec::new();
        for ((invoice, asset), differences) in &differing {
            let differences = differences.iter();
            found.extend(differences.map(|one| DiscrepancyView::of(invoice, asset, one)));
        }
        let of_period = |refund: &&BookRefund| find(&books, &refund.invoice).is_some();
        for refund in books.refunds.iter().filter(of_period) {
            found.extend(sent_refunds::unpaid(refund, &observed));
            found.extend(sent_refunds::unexpected(refund));
            found.extend(sent_refunds::elsewhere(refund));
        }
        Ok(found)
    }

    /// Adds some invoices up, and says what each view has of each.
    fn add<'r>(&mut self, books: &'r Books) -> InvoiceViews<'r> {
        let tips: HashMap<&str, Tips> = books.tips.iter().map(tips).collect();
        let mut views = InvoiceViews::with_capacity(books.invoices.len());
        let mut undone: HashMap<&str, Vec<ReversedPayment<'_>>> = HashMap::new();
        for invoice in &books.invoices {
            add_invoice(&mut self.assets, &mut views, invoice);
        }
        let mut paid: HashMap<&str, &str> = HashMap::with_capacity(books.payments.len());
        for payment in &books.payments {
            let Some(invoice) = find(books, &payment.invoice) else {
                continue;
            };
            paid.insert(&payment.payment, &invoice.invoice);
            add_chain(&tips, &mut views, payment);
            if let Some(gone_at) = payment.credited_at.and(payment.gone_at) {
                let payment = &*payment.payment;
                let of = undone.entry(&invoice.invoice).or_default();
                of.push(ReversedPayment { payment, gone_at });
            }
        }
        for line in &books.lines {
            if let Some(invoice) = paid.get(&*line.payment) {
                add_line(&mut self.assets, &mut views, (invoice, line));
            }
        }
        for refund in &books.refunds {
            let Some(invoice) = find(books, &refund.invoice) else {
                continue;
            };
            let units = wide(refund.units);
            let of = views.entry((&refund.invoice, &refund.asset)).or_default();
            of.refunded += units;
            of.is_paid = invoice.status.is_paid();
            if let Some(undone) = undone.get(&*refund.invoice) {
                of.exposed += wide(exposed(refund, undone));
            }
            let sums = self.assets.entry(refund.asset.clone()).or_default();
            match refund.status {
                RefundStatus::Sent => sums.refunds_sent += units,
                _ => sums.refunds_open += units,
            }
        }
        for ((_, asset), of) in &views {
            let sums = &mut self.assets.entry((*asset).to_owned()).or_default().views;
            sums.chain += of.chain;
            sums.invoice += of.invoice;
            sums.pending += of.pending;
            sums.reversed += of.reversed;
        }
        views
    }

    async fn orphans(
        &mut self,
        mut orphans: Reading<Vec<Orphan>>,
    ) -> Result<Vec<DiscrepancyView>, Fail> {
        let found = orphans.end().await?;
        self.stage = Stage::Unattributed { after: None };
        Ok(found.iter().map(nothings).collect())
    }

    async fn unattributed(
        &mut self,
        after: Option<&TransferRow>,
    ) -> Result<Vec<DiscrepancyView>, Fail> {
        let mut reader = self.reads.read();
        let (scope, between) = (&self.scope, self.between());
        // A destination may be registered in both modes; a chain is of one.
        let networks = Registry::builtin().networks().iter();
        let networks = networks.filter(|network| network.mode == scope.mode);
        let networks: Vec<&str> = networks.map(|network| &*network.id).collect();
        let found = till_store::transfers::unattributed(
            &mut reader,
            scope,
            &networks,
            between,
            after,
            ROWS_AT_ONCE,
        );
        let found = found.await?;
        for transfer in &found {
            let sums = self.assets.entry(transfer.asset.clone()).or_default();
            sums.unattributed += wide(transfer.brought());
        }
        self.stage = match found.last() {
            None => Stage::Digests,
            Some(last) => Stage::Unattributed {
                after: Some(Box::new(last.clone())),
            },
        };
        Ok(found.iter().map(nobodys).collect())
    }
}

/// A credited payment that left the chain.
struct ReversedPayment<'b> {
    payment: &'b str,
    gone_at: i64,
}

/// What of a refund hangs on payments that left the chain after it was made: what it was drawn from them; or all of it, where it
/// was sent beside a price that these had paid, in whichever asset. What was not sent waits in review.
fn exposed(refund: &BookRefund, undone: &[ReversedPayment<'_>]) -> Units {
    let since = || undone.iter().filter(|it| refund.created_at <= it.gone_at);
    let is_lost = |id: &String| since().any(|it| it.payment == id);
    let sources = refund.sources.iter().filter(|(id, _)| is_lost(id));
    let own = sources.fold(Units::ZERO, |sum, (_, units)| sum.plus(*units));
    let is_lost_beside = refund.was_covered && refund.status == RefundStatus::Sent;
    match own.is_zero() && is_lost_beside && since().next().is_some() {
        true => refund.units,
        false => own,
    }
}

fn tips(row: &BookTips) -> (&str, Tips) {
    let (safe, last_final) = (row.safe, row.last_final);
    (&row.network, Tips { safe, last_final })
}

/// An invoice, if it is one of the period.
fn find<'b>(books: &'b Books, id: &str) -> Option<&'b BookInvoice> {
    let invoices = &books.invoices;
    let at = invoices.binary_search_by(|one| one.invoice.as_str().cmp(id));
    at.ok().map(|at| &invoices[at])
}

/// What an invoice shows.
fn add_invoice<'r>(assets: &mut Assets, views: &mut InvoiceViews<'r>, row: &'r BookInvoice) {
    let is_dust = row.status.is_paid() && row.status != Status::Overpaid;
    for (asset, units) in &row.summary.received {
        let of = views.entry((&row.invoice, asset)).or_default();
        of.invoice += wide(*units);
        of.is_dust = is_dust;
    }
    if let Some((asset, units)) = &row.summary.overpaid {
        let of = views.entry((&row.invoice, asset)).or_default();
        of.is_shown = true;
        if row.is_top_up {
            of.top_up_excess = wide(*units);
        }
        assets.entry(asset.clone()).or_default().overpaid += wide(*units);
    }
}

/// What arrived on the chain, from what was observed there, and where it is now.
fn add_chain<'r>(tips: &HashMap<&str, Tips>, views: &mut InvoiceViews<'r>, row: &'r BookPayment) {
    let (asset, units, status) = arrived(tips, row);
    let of = views.entry((&row.invoice, asset)).or_default();
    let units = wide(units);
    match status {
        PaymentStatus::Pending | PaymentStatus::Confirming => of.pending += units,
        PaymentStatus::Reversed => of.reversed += units,
        PaymentStatus::Credited | PaymentStatus::Held | PaymentStatus::Refundable => {
            of.chain += units;
        }
    }
    if status == PaymentStatus::Held {
        of.held += units;
    }
}

/// The asset, the amount and where it is: by the transfer and its network's tips where they are known, and by the payment
/// where the transfer was simulated or taken in before transfers were kept.
fn arrived<'r>(
    tips: &HashMap<&str, Tips>,
    row: &'r BookPayment,
) -> (&'r str, Units, PaymentStatus) {
    let Some((asset, units)) = row.seen_asset.as_deref().zip(row.seen_units) else {
        return (&row.asset, row.units, row.status);
    };
    if row.seen_gone == Some(true) {
        return (asset, units, PaymentStatus::Reversed);
    }
    let tips = tips.get(&*row.network).filter(|_| !row.simulated);
    let Some(tips) = tips else {
        return (asset, units, row.status);
    };
    let level = row.seen_height.map(|height| tips.level_at(height));
    let is_there = level.is_some_and(|at| at >= row.credit_at);
    let status = match (is_there, row.status) {
        (false, _) => PaymentStatus::Confirming,
        (true, PaymentStatus::Held) => PaymentStatus::Held,
        (true, _) => PaymentStatus::Credited,
    };
    (asset, units, status)
}

/// What the journal has.
fn add_line<'r>(
    assets: &mut Assets,
    views: &mut InvoiceViews<'r>,
    (invoice, line): (&'r str, &'r BookLine),
) {
    let mut moved = Totals::default();
    moved.add(line.debit, line.credit, line.amount);
    let of = views.entry((invoice, &line.asset)).or_default();
    of.ledger += moved.of(Group::Received);
    of.excess += moved.of(Group::Overpaid);
    let sums = match assets.get_mut(&line.asset) {
        Some(sums) => sums,
        None => assets.entry(line.asset.clone()).or_default(),
    };
    sums.ledger.add(line.debit, line.credit, line.amount);
}

fn nothings(line: &Orphan) -> DiscrepancyView {
    let amount = line.amount.parse().unwrap_or_default();
    DiscrepancyView {
        asset: Some(line.asset.clone()),
        kind: "unknown_payment",
        amount: shown(&line.asset, amount),
        severity: Severity::Flagged.as_str(),
        invoice: line.invoice.clone(),
        network: None,
        tx_hash: None,
        index: None,
        detail: format!(
            "{} moves {} to {} for {}, which is no payment.",
            line.entry, line.debit, line.credit, line.subject
        ),
    }
}

fn nobodys(transfer: &TransferRow) -> DiscrepancyView {
    let why = transfer.unattributed.as_deref().unwrap_or("unknown");
    DiscrepancyView {
        asset: Some(transfer.asset.clone()),
        kind: "unattributed",
        amount: shown(&transfer.asset, wide(transfer.brought())),
        severity: Severity::Flagged.as_str(),
        invoice: None,
        network: Some(transfer.network.clone()),
        tx_hash: Some(transfer.tx_hash.clone()),
        index: Some(transfer.place),
        detail: format!("Arrived at an address of this account and is nobody's: {why}."),
    }
}
