//! What is written for new invoices.

use till_core::asset::{Family, Registry};
use till_core::event::EventType;
use till_core::id::Kind;
use till_core::invoice::{Deposit, PayOption, Status};
use till_core::link::Unit;
use till_core::scope::Scope;
use till_core::timer::TimerKind;
use till_store::events::NewEvent;
use till_store::invoices::InvoiceRow;
use till_store::leases::NewLease;
use till_store::{Insert, Tx};

use super::{Answered, CreateInvoice, Draft};
use crate::base::fail::Fail;
use crate::base::{Answer, Context, Engine};
use crate::invoices::quote::{NewInvoice, Quote, quote};
use crate::once::{self, Once};
use crate::outbox::{self, Told};
use crate::view::InvoiceView;

/// A draft with all its addresses, one for each family of its options.
pub(super) struct Ready<'d> {
    draft: &'d Draft<'d>,
    pub(super) deposits: Vec<(Family, Deposit)>,
}

impl<'d> From<&'d Draft<'d>> for Ready<'d> {
    fn from(draft: &'d Draft<'d>) -> Ready<'d> {
        Ready {
            draft,
            deposits: draft.deposits.clone(),
        }
    }
}

/// Everything that a unit of work writes for its invoices, and what it answers.
pub(super) struct Batch {
    pub(super) inserts: Vec<Insert>,
    answers: Vec<(usize, Answer)>,
}

impl Batch {
    pub(super) fn answered(self) -> impl Iterator<Item = Answered> {
        let answers = self.answers.into_iter();
        answers.map(|(index, answer)| (index, Ok(answer)))
    }
}

pub(super) fn assemble(
    engine: &Engine,
    requests: &[CreateInvoice],
    ready: &[Ready<'_>],
) -> Result<Batch, Fail> {
    let (mut rows, mut told, mut deliveries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut answers, mut leases) = (Vec::new(), Vec::new());
    for Ready { draft, deposits } in ready {
        let context = draft.context;
        let options = options_with(&draft.quote, deposits)?;
        let row = row_of(context, draft.request, &draft.quote, &draft.id, &options)?;
        let view = InvoiceView::with_options(
            &row,
            options,
            &engine.config.checkout_url,
            context.merchant.row.publishable_key.as_deref(),
        )?;
        let object = serde_json::to_string(&view).map_err(Fail::broken)?;
        let event = created(context, &row.id, &object);
        deliveries.extend(outbox::delivery(context, &event));
        told.push(event);
        answers.push((draft.index, Answer::new(201, object)));
        rows.push(row);
        context.effects.stream(&draft.id);
        for (family, deposit) in deposits {
            leases.push(NewLease {
                scope: &context.scope,
                family: *family,
                number: i64::try_from(deposit.number).map_err(Fail::broken)?,
                address: &deposit.address,
                invoice: &draft.id,
                leased_at: context.now,
            });
        }
    }
    let timers: Vec<(&Scope, &str, &str, i64)> = ready
        .iter()
        .zip(&rows)
        .map(|(ready, row)| {
            let scope = &ready.draft.context.scope;
            (
                scope,
                TimerKind::ExpireInvoice.as_str(),
                row.id.as_str(),
                row.expires_at,
            )
        })
        .collect();
    let kept: Vec<(&Scope, &Once, &Answer, &str)> = answers
        .iter()
        .zip(&told)
        .map(|((index, answer), event)| {
            let request = &requests[*index];
            (&request.scope, &request.once, answer, event.id.as_str())
        })
        .collect();
    let real_now = ready
        .first()
        .map_or(0, |ready| ready.draft.context.real_now);
    // The keys first: whoever must wait for another process's answer has not written anything yet.
    let inserts = vec![
        once::rows_by_event(&kept, real_now),
        till_store::invoices::rows(&rows),
        till_store::leases::rows(&leases),
        till_store::events::rows(&told),
        till_store::deliveries::rows(&deliveries),
        till_store::timers::rows(&timers),
    ];
    Ok(Batch { inserts, answers })
}

/// An invoice of a payment link: no address yet, and a time by which a network must be picked.
pub async fn create_link_invoice(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewInvoice,
    link: &str,
) -> Result<InvoiceRow, Fail> {
    let engine = context.engine;
    let quote = quote(context, request)?;
    let id = engine.ids.make(Kind::Invoice);
    let mut row = row_of(context, request, &quote, &id, &quote.options)?;
    row.select_by = Some(context.now.saturating_add(engine.config.select_ms));
    row.payment_link = Some(link.to_owned());
    row.link_unit = Some(Unit::Reserved.as_str().to_owned());
    let object = crate::settlement::render(context, &row)?;
    till_store::invoices::insert(tx, std::slice::from_ref(&row)).await?;
    outbox::record(tx, context, &[created(context, &row.id, &object)]).await?;
    let timer = (
        &context.scope,
        TimerKind::ExpireInvoice.as_str(),
        row.id.as_str(),
        row.terms()?.deadline(),
    );
    till_store::timers::set(tx, &[timer]).await?;
    context.effects.stream(&row.id);
    Ok(row)
}

fn options_with(quote: &Quote, deposits: &[(Family, Deposit)]) -> Result<Vec<PayOption>, Fail> {
    let mut options = quote.options.clone();
    for option in &mut options {
        let asset = Registry::builtin()
            .asset(&option.asset)
            .ok_or_else(|| Fail::broken("an asset vanished"))?;
        option.deposit = deposits
            .iter()
            .find(|(family, _)| *family == asset.family)
            .map(|(_, deposit)| deposit.clone());
    }
    Ok(options)
}

fn row_of(
    context: &Context<'_>,
    request: &NewInvoice,
    quote: &Quote,
    id: &str,
    options: &[PayOption],
) -> Result<InvoiceRow, Fail> {
    let config = &context.engine.config;
    let life_ms = if quote.volatile {
        config.volatile_life_ms
    } else {
        config.life_ms
    };
    Ok(InvoiceRow {
        account: context.scope.account.to_string(),
        mode: context.scope.mode.as_str().to_owned(),
        id: id.to_owned(),
        status: Status::AwaitingPayment.as_str().to_owned(),
        amount_minor: i64::try_from(quote.amount_minor).map_err(Fail::broken)?,
        currency: quote.currency.code().to_owned(),
        description: request.description.clone(),
        customer_ref: request.customer_ref.clone(),
        metadata: serde_json::to_string(&request.metadata).map_err(Fail::broken)?,
        options: serde_json::to_string(options).map_err(Fail::broken)?,
        tolerance_bps: context.merchant.row.underpay_tolerance_bps,
        created_at: context.now,
        expires_at: context.now.saturating_add(life_ms),
        select_by: None,
        paid_at: None,
        closed_at: None,
        cancelled_at: None,
        payment_link: None,
        customer: None,
        subscription: None,
        summary: None,
        stream_seq: 1,
        link_unit: None,
    })
}

fn created(context: &Context<'_>, invoice: &str, object: &str) -> NewEvent {
    let told = Told {
        event: EventType::InvoiceCreated,
        invoice: Some(invoice),
        stream_seq: Some(1),
        object,
        extra: None,
        payments: None,
    };
    outbox::make(context, told)
}
