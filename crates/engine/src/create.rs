//! Creating invoices, many at once: a few statements for all of them, an answer for each.

use std::collections::{BTreeMap, HashMap, HashSet};

use till_core::asset::{Family, Registry};
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::id::Kind;
use till_core::invoice::{Deposit, Status};
use till_core::scope::Scope;
use till_store::Tx;
use till_store::deliveries::NewDelivery;
use till_store::events::NewEvent;
use till_store::invoices::InvoiceRow;
use till_store::leases::NewLease;

use crate::context::{Answer, Context, Effects, Engine};
use crate::fail::Fail;
use crate::idempotency::{self, Once};
use crate::plan::{NewInvoice, Plan, plan};
use crate::view::{InvoiceView, event_body};

/// One request among those created together.
#[derive(Clone, Debug)]
pub struct CreateInvoice {
    pub scope: Scope,
    pub once: Once,
    pub request: NewInvoice,
}

pub const EXPIRE_TIMER: &str = "expire_invoice";

/// An invoice that will be written, still without addresses.
struct Draft<'a> {
    /// Which of the requests it answers.
    index: usize,
    context: &'a Context<'a>,
    request: &'a NewInvoice,
    plan: Plan,
    id: String,
}

/// Creates what can be created. What is refused is refused alone; a failure of ours undoes all of them.
pub async fn create_invoices(
    engine: &Engine,
    tx: &mut Tx,
    requests: &[CreateInvoice],
    effects: &Effects,
) -> Result<Vec<Result<Answer, Fail>>, Fail> {
    let mut answers: Vec<Option<Result<Answer, Fail>>> = vec![None; requests.len()];
    let contexts = load_contexts(engine, tx, requests, effects).await?;
    let bound = bound_keys(tx, requests).await?;
    let mut drafts = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let context = match &contexts[&request.scope] {
            Ok(context) => context,
            Err(fail) => {
                answers[index] = Some(Err(fail.clone()));
                continue;
            }
        };
        if bound.contains(&(request.scope.clone(), request.once.key.clone())) {
            match idempotency::look_up(tx, context, &request.once).await {
                Ok(Some(kept)) => {
                    answers[index] = Some(Ok(kept));
                    continue;
                }
                Err(Fail::Refused(refusal)) => {
                    answers[index] = Some(Err(refusal.into()));
                    continue;
                }
                Err(fail) => return Err(fail),
                Ok(None) => {}
            }
        }
        let is_same = |draft: &Draft<'_>| {
            let earlier: &CreateInvoice = &requests[draft.index];
            (&earlier.scope, &earlier.once.key) == (&request.scope, &request.once.key)
        };
        if drafts.iter().any(is_same) {
            // Its answer is the earlier one's, which must be bound first: let each request go alone.
            return Err(idempotency::key_taken().into());
        }
        match plan(context, &request.request) {
            Err(refusal) => answers[index] = Some(Err(refusal.into())),
            Ok(plan) => {
                let id = engine.ids.make(Kind::Invoice);
                drafts.push(Draft {
                    index,
                    context,
                    request: &request.request,
                    plan,
                    id,
                });
            }
        }
    }
    let deposits = deposits_for(tx, &mut drafts, &mut answers).await?;
    write(engine, tx, requests, &drafts, &deposits, &mut answers).await?;
    let unanswered = || {
        Err(Fail::broken(
            "a request to create an invoice was left without an answer",
        ))
    };
    Ok(answers
        .into_iter()
        .map(|answer| answer.unwrap_or_else(unanswered))
        .collect())
}

async fn bound_keys(
    tx: &mut Tx,
    requests: &[CreateInvoice],
) -> Result<HashSet<(Scope, String)>, Fail> {
    let keys: Vec<(&Scope, &str)> = requests
        .iter()
        .map(|request| (&request.scope, request.once.key.as_str()))
        .collect();
    let bound = till_store::idempotency::bound_keys(tx, &keys).await?;
    let read = |key: till_store::idempotency::KeyInUse| {
        let mode = till_core::asset::Mode::parse(&key.mode)?;
        Some((Scope::new(&key.account, mode), key.key))
    };
    Ok(bound.into_iter().filter_map(read).collect())
}

async fn load_contexts<'e>(
    engine: &'e Engine,
    tx: &mut Tx,
    requests: &[CreateInvoice],
    effects: &'e Effects,
) -> Result<HashMap<Scope, Result<Context<'e>, Fail>>, Fail> {
    let mut contexts = HashMap::new();
    for request in requests {
        if contexts.contains_key(&request.scope) {
            continue;
        }
        let context = match Context::load(engine, tx, &request.scope, effects).await {
            Err(Fail::Refused(refusal)) => Err(Fail::Refused(refusal)),
            Err(fail) => return Err(fail),
            Ok(context) => Ok(context),
        };
        contexts.insert(request.scope.clone(), context);
    }
    Ok(contexts)
}

/// Takes one address per draft and family of its options. A draft that finds its pool empty is refused and
/// gives up what it had; the order of pools is fixed so that allocations never wait in a circle.
async fn deposits_for(
    tx: &mut Tx,
    drafts: &mut Vec<Draft<'_>>,
    answers: &mut [Option<Result<Answer, Fail>>],
) -> Result<HashMap<(String, Family), Deposit>, Fail> {
    let mut wanted: BTreeMap<(String, &'static str, Family), Vec<usize>> = BTreeMap::new();
    for (position, draft) in drafts.iter().enumerate() {
        let scope = &draft.context.scope;
        for family in families(&draft.plan) {
            wanted
                .entry((scope.account.to_string(), scope.mode.as_str(), family))
                .or_default()
                .push(position);
        }
    }
    // Scarce pools first: a draft that fails there must not have taken numbers elsewhere.
    let mut order: Vec<_> = wanted.into_iter().collect();
    order.sort_by_key(|((account, mode, family), _)| {
        (*family != Family::Bitcoin, account.clone(), *mode, *family)
    });
    let mut deposits = HashMap::new();
    let mut refused = vec![false; drafts.len()];
    for ((_, _, family), positions) in order {
        let positions: Vec<usize> = positions
            .into_iter()
            .filter(|position| !refused[*position])
            .collect();
        let Some(first) = positions.first() else {
            continue;
        };
        let context = drafts[*first].context;
        let network = drafts[*first]
            .plan
            .options
            .iter()
            .filter_map(|option| Registry::builtin().asset(&option.asset))
            .find(|asset| asset.family == family)
            .and_then(|asset| Registry::builtin().network(&asset.network))
            .ok_or_else(|| Fail::broken("a family without a network"))?;
        let got = crate::addresses::allocate(tx, context, network, positions.len()).await?;
        let mut got = got.into_iter();
        for position in positions {
            match got.next() {
                Some(deposit) => {
                    deposits.insert((drafts[position].id.clone(), family), deposit);
                }
                None => {
                    refused[position] = true;
                    answers[drafts[position].index] =
                        Some(Err(exhausted(network.name.as_str()).into()));
                }
            }
        }
    }
    if refused.contains(&true) && !all_single_family(drafts) {
        // Addresses taken for a draft that was refused elsewhere would be lost to the pool: undo everything
        // and let each request try alone.
        return Err(Fail::Refused(exhausted("a chain of this invoice")));
    }
    let mut keep = refused.iter().map(|refused| !refused);
    drafts.retain(|_| keep.next().unwrap_or(false));
    Ok(deposits)
}

fn all_single_family(drafts: &[Draft<'_>]) -> bool {
    drafts.iter().all(|draft| families(&draft.plan).len() == 1)
}

fn families(plan: &Plan) -> Vec<Family> {
    let mut families: Vec<Family> = plan
        .options
        .iter()
        .filter_map(|option| Registry::builtin().asset(&option.asset))
        .map(|asset| asset.family)
        .collect();
    families.sort_unstable();
    families.dedup();
    families
}

pub fn exhausted(network: &str) -> Refusal {
    let message =
        format!("No deposit address is free on {network}: all are leased or cooling down");
    Refusal::new(Code::DepositAddressesExhausted, message)
}

async fn write(
    engine: &Engine,
    tx: &mut Tx,
    requests: &[CreateInvoice],
    drafts: &[Draft<'_>],
    deposits: &HashMap<(String, Family), Deposit>,
    answers: &mut [Option<Result<Answer, Fail>>],
) -> Result<(), Fail> {
    if drafts.is_empty() {
        return Ok(());
    }
    let (mut rows, mut events, mut deliveries) = (Vec::new(), Vec::new(), Vec::new());
    for draft in drafts {
        let row = row_of(engine, draft, deposits)?;
        let context = draft.context;
        let view = InvoiceView::of(
            &row,
            &engine.config.checkout_url,
            context.merchant.row.publishable_key.as_deref(),
        )?;
        let object = serde_json::to_string(&view).map_err(Fail::broken)?;
        let event = created_event(engine, context, &row, &object);
        deliveries.extend(delivery_of(engine, context, &event));
        events.push(event);
        answers[draft.index] = Some(Ok(Answer::new(201, object)));
        rows.push(row);
        context.effects.stream(&draft.id);
    }
    let leases: Vec<NewLease<'_>> = drafts
        .iter()
        .flat_map(|draft| {
            families(&draft.plan).into_iter().filter_map(|family| {
                let deposit = deposits.get(&(draft.id.clone(), family))?;
                Some(NewLease {
                    scope: &draft.context.scope,
                    family,
                    number: i64::try_from(deposit.number).ok()?,
                    address: &deposit.address,
                    invoice: &draft.id,
                    leased_at: draft.context.now,
                })
            })
        })
        .collect();
    let timers: Vec<(&Scope, &str, &str, i64)> = drafts
        .iter()
        .zip(&rows)
        .map(|(draft, row)| {
            (
                &draft.context.scope,
                EXPIRE_TIMER,
                draft.id.as_str(),
                row.expires_at,
            )
        })
        .collect();
    till_store::invoices::insert(tx, &rows).await?;
    till_store::leases::insert(tx, &leases).await?;
    till_store::events::insert(tx, &events).await?;
    till_store::deliveries::insert(tx, &deliveries).await?;
    till_store::timers::set(tx, &timers).await?;
    let mut kept = Vec::with_capacity(drafts.len());
    for draft in drafts {
        if let Some(Ok(answer)) = &answers[draft.index] {
            let request = &requests[draft.index];
            kept.push((&request.scope, &request.once, answer));
        }
    }
    idempotency::keep(tx, drafts[0].context, &kept).await?;
    Ok(())
}

/// An invoice of a payment link: no address yet, and a time by which a network must be picked.
pub async fn create_link_invoice(
    tx: &mut Tx,
    context: &Context<'_>,
    request: &NewInvoice,
    link: &str,
) -> Result<InvoiceRow, Fail> {
    let engine = context.engine;
    let plan = plan(context, request)?;
    let id = engine.ids.make(Kind::Invoice);
    let draft = Draft {
        index: 0,
        context,
        request,
        plan,
        id,
    };
    let mut row = row_of(engine, &draft, &HashMap::new())?;
    row.select_by = Some(context.now.saturating_add(engine.config.select_ms));
    row.payment_link = Some(link.to_owned());
    row.link_unit = Some(till_core::link::Unit::Reserved.as_str().to_owned());
    let object = crate::change::render(context, &row)?;
    let event = created_event(engine, context, &row, &object);
    let deliveries: Vec<NewDelivery> = delivery_of(engine, context, &event).into_iter().collect();
    till_store::invoices::insert(tx, std::slice::from_ref(&row)).await?;
    till_store::events::insert(tx, &[event]).await?;
    till_store::deliveries::insert(tx, &deliveries).await?;
    let deadline = row.terms()?.deadline();
    till_store::timers::set(
        tx,
        &[(&context.scope, EXPIRE_TIMER, row.id.as_str(), deadline)],
    )
    .await?;
    context.effects.stream(&row.id);
    Ok(row)
}

fn row_of(
    engine: &Engine,
    draft: &Draft<'_>,
    deposits: &HashMap<(String, Family), Deposit>,
) -> Result<InvoiceRow, Fail> {
    let (context, plan) = (draft.context, &draft.plan);
    let mut options = plan.options.clone();
    for option in &mut options {
        let asset = Registry::builtin()
            .asset(&option.asset)
            .ok_or_else(|| Fail::broken("an asset vanished"))?;
        option.deposit = deposits.get(&(draft.id.clone(), asset.family)).cloned();
    }
    let life_ms = if plan.volatile {
        engine.config.volatile_life_ms
    } else {
        engine.config.life_ms
    };
    Ok(InvoiceRow {
        account: context.scope.account.to_string(),
        mode: context.scope.mode.as_str().to_owned(),
        id: draft.id.clone(),
        status: Status::AwaitingPayment.as_str().to_owned(),
        amount_minor: i64::try_from(plan.amount_minor).map_err(Fail::broken)?,
        currency: plan.currency.code().to_owned(),
        description: draft.request.description.clone(),
        customer_ref: draft.request.customer_ref.clone(),
        metadata: serde_json::to_string(&draft.request.metadata).map_err(Fail::broken)?,
        options: serde_json::to_string(&options).map_err(Fail::broken)?,
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

fn created_event(
    engine: &Engine,
    context: &Context<'_>,
    row: &InvoiceRow,
    object: &str,
) -> NewEvent {
    let id = engine.ids.make(Kind::Event);
    let event_type = EventType::InvoiceCreated.as_str();
    let body = event_body(
        &id,
        event_type,
        context.is_live(),
        context.now,
        Some(&row.id),
        object,
        None,
    );
    NewEvent {
        id,
        scope: context.scope.clone(),
        event_type,
        invoice: Some(row.id.clone()),
        stream_seq: Some(1),
        created_at: context.now,
        body,
        payments: None,
    }
}

/// The first delivery of an event, when the merchant has somewhere to deliver it to.
pub fn delivery_of(
    engine: &Engine,
    context: &Context<'_>,
    event: &NewEvent,
) -> Option<NewDelivery> {
    let url = context.merchant.row.webhook_url.clone()?;
    context.effects.delivery(&context.scope);
    Some(NewDelivery {
        id: engine.ids.make(Kind::Delivery),
        scope: context.scope.clone(),
        event: event.id.clone(),
        event_type: event.event_type.to_owned(),
        invoice: event.invoice.clone(),
        url,
        attempt: 1,
        created_at: context.real_now,
        due_at: context.real_now,
        fence: 0,
    })
}
