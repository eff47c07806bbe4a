//! What is written for new invoices.

use till_core::asset::{Family, Registry};
use till_core::event::EventType;
use till_core::invoice::{Deposit, PayOption, Status, Summary};
use till_core::page_link::way_back;
use till_core::scope::Scope;
use till_core::timer::TimerKind;
use till_store::events::EventRow;
use till_store::invoices::InvoiceRow;
use till_store::leases::LeaseRow;
use till_store::timers::TimerRow;
use till_store::{Metadata, Write};

use super::draft::{Answered, CreateInvoice, Draft};
use crate::base::fail::Fail;
use crate::base::{Answer, Context, Engine};
use crate::invoices::quote::{NewInvoice, Quote};
use crate::once::{self, Once};
use crate::outbox::{self, EventContent};
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
    pub(super) writes: Vec<Write>,
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
        let row = row_of(context, draft.request, &draft.quote, &draft.id, options);
        let view = InvoiceView::of(
            &row,
            &engine.config.checkout_url,
            context.merchant.row.publishable_key.as_deref(),
            context.now,
        )?;
        let object = serde_json::to_string(&view).map_err(Fail::broken)?;
        let event = created(context, &row.id, &object);
        deliveries.extend(outbox::delivery(context, &event));
        told.push(event);
        answers.push((draft.index, Answer::new(201, object)));
        rows.push(row);
        context.effects.stream(&draft.id);
        leases.extend(leases_of(context, &draft.id, deposits)?);
    }
    let timers: Vec<TimerRow> = rows.iter().map(expiry).collect();
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
    let writes = vec![
        once::rows_by_event(&kept, real_now),
        till_store::invoices::rows(&rows),
        till_store::leases::rows(&leases)?,
        till_store::events::rows(&told),
        till_store::deliveries::rows(&deliveries)?,
        till_store::timers::rows(&timers),
    ];
    Ok(Batch { writes, answers })
}

pub(super) fn leases_of(
    context: &Context<'_>,
    invoice: &str,
    deposits: &[(Family, Deposit)],
) -> Result<Vec<LeaseRow>, Fail> {
    let lease = |(family, deposit): &(Family, Deposit)| {
        let number = i64::try_from(deposit.number).map_err(Fail::broken)?;
        let (scope, address) = (&context.scope, &deposit.address);
        Ok(LeaseRow::new(
            scope,
            *family,
            number,
            address,
            invoice,
            context.now,
        ))
    };
    deposits.iter().map(lease).collect()
}

pub(super) fn options_with(
    quote: &Quote,
    deposits: &[(Family, Deposit)],
) -> Result<Vec<PayOption>, Fail> {
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

pub(super) fn row_of(
    context: &Context<'_>,
    request: &NewInvoice,
    quote: &Quote,
    id: &str,
    options: Vec<PayOption>,
) -> InvoiceRow {
    let config = &context.engine.config;
    let life_ms = if quote.volatile {
        config.volatile_life_ms
    } else {
        config.life_ms
    };
    let expires_at = context.now.saturating_add(life_ms);
    let default_way_back = context.merchant.row.return_url.as_deref();
    let return_url = request.return_url.as_deref().or(default_way_back);
    let volatile_until = expires_at.saturating_add(config.volatile_rest_ms);
    InvoiceRow {
        scope: context.scope.clone(),
        id: id.to_owned(),
        status: Status::AwaitingPayment,
        amount_minor: quote.amount_minor,
        currency: quote.currency,
        description: request.description.clone(),
        customer_ref: request.customer_ref.clone(),
        return_url: return_url.map(|url| way_back(url, id)),
        metadata: Metadata::new(&request.metadata),
        options,
        tolerance_bps: context.merchant.row.underpay_tolerance_bps,
        created_at: context.now,
        expires_at,
        select_by: None,
        paid_at: None,
        closed_at: None,
        cancelled_at: None,
        payment_link: None,
        customer: None,
        subscription: None,
        summary: Summary::default(),
        stream_seq: 1,
        link_unit: None,
        due_minor: None,
        takes_until: None,
        volatile_until: quote.volatile.then_some(volatile_until),
    }
}

pub(super) fn expiry(row: &InvoiceRow) -> TimerRow {
    let deadline = row.terms().deadline();
    TimerRow::new(&row.scope, TimerKind::ExpireInvoice, &row.id, deadline)
}

pub(super) fn created(context: &Context<'_>, invoice: &str, object: &str) -> EventRow {
    let told = EventContent {
        event: EventType::InvoiceCreated,
        subject: invoice,
        invoice: Some(invoice),
        stream_seq: Some(1),
        object,
        extra: None,
        payments: None,
    };
    outbox::make(context, told)
}
