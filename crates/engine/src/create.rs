//! Creating invoices, many at once: an answer for each, and one short unit of work for all of them. What they
//! will be is worked out before it begins, so that it does nothing but write.

use std::collections::{BTreeMap, HashMap, HashSet};

use scoped_futures::ScopedFutureExt as _;
use till_core::asset::{Family, Network, Registry};
use till_core::error::{Code, Refusal};
use till_core::event::EventType;
use till_core::id::Kind;
use till_core::invoice::{Deposit, PayOption, Status};
use till_core::scope::Scope;
use till_store::deliveries::NewDelivery;
use till_store::events::NewEvent;
use till_store::invoices::InvoiceRow;
use till_store::leases::NewLease;
use till_store::{Insert, Tx};

use crate::context::{Answer, Context, Effects, Engine};
use crate::fail::Fail;
use crate::idempotency::{self, Kept, Once};
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

type Answers = Vec<Option<Result<Answer, Fail>>>;

/// An invoice that will be written.
struct Draft<'a> {
    /// Which of the requests it answers.
    index: usize,
    context: &'a Context<'a>,
    request: &'a NewInvoice,
    plan: Plan,
    id: String,
    /// One address for each family of its options that could be taken ahead.
    deposits: Vec<(Family, Deposit)>,
    /// The families whose addresses are allocated by the unit of work that leases them.
    scarce: Vec<Family>,
}

/// Creates what can be created. What is refused is refused alone; a failure of ours undoes all of them.
pub async fn create_invoices(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<Vec<Result<Answer, Fail>>, Fail> {
    let effects = Effects::default();
    let mut answers: Answers = vec![None; requests.len()];
    let (contexts, bound) = futures::try_join!(
        load_contexts(engine, requests, &effects),
        bound_keys(engine, requests)
    )?;
    let mut drafts = draft(engine, &contexts, &bound, requests, &mut answers).await?;
    if !drafts.is_empty() {
        reserve(engine, &mut drafts).await?;
        write(engine, requests, &drafts, &effects, &mut answers).await?;
        engine.tell(&effects);
    }
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

/// Answers what was answered before or cannot be done, and drafts the rest. A key that somebody binds after
/// this look at it fails the unit of work that would bind it again.
async fn draft<'a>(
    engine: &'a Engine,
    contexts: &'a HashMap<Scope, Result<Context<'a>, Fail>>,
    bound: &HashSet<(Scope, String)>,
    requests: &'a [CreateInvoice],
    answers: &mut Answers,
) -> Result<Vec<Draft<'a>>, Fail> {
    let mut drafted: HashSet<(&Scope, &str)> = HashSet::with_capacity(requests.len());
    let mut drafts = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        let context = match &contexts[&request.scope] {
            Ok(context) => context,
            Err(fail) => {
                answers[index] = Some(Err(fail.clone()));
                continue;
            }
        };
        let key = (request.scope.clone(), request.once.key.clone());
        if bound.contains(&key) {
            let mut reader = engine.db.read().await?;
            match idempotency::kept(&mut reader, context, &request.once).await {
                Ok(Kept::Answer(kept)) => {
                    answers[index] = Some(Ok(kept));
                    continue;
                }
                Err(Fail::Refused(refusal)) => {
                    answers[index] = Some(Err(refusal.into()));
                    continue;
                }
                Err(fail) => return Err(fail),
                Ok(Kept::Expired) => forget(engine, request).await?,
                Ok(Kept::Nothing) => {}
            }
        }
        if !drafted.insert((&request.scope, &request.once.key)) {
            // Its answer is the earlier one's, which must be bound first: let each request go alone.
            return Err(idempotency::key_taken().into());
        }
        match plan(context, &request.request) {
            Err(refusal) => answers[index] = Some(Err(refusal.into())),
            Ok(plan) => drafts.push(Draft {
                index,
                context,
                request: &request.request,
                plan,
                id: engine.ids.make(Kind::Invoice),
                deposits: Vec::new(),
                scarce: Vec::new(),
            }),
        }
    }
    Ok(drafts)
}

async fn bound_keys(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<HashSet<(Scope, String)>, Fail> {
    let keys: Vec<(&Scope, &str)> = requests
        .iter()
        .map(|request| (&request.scope, request.once.key.as_str()))
        .collect();
    let mut reader = engine.db.read().await?;
    let bound = till_store::idempotency::bound_keys(&mut reader, &keys).await?;
    let read = |key: till_store::idempotency::KeyInUse| {
        let mode = till_core::asset::Mode::parse(&key.mode)?;
        Some((Scope::new(&key.account, mode), key.key))
    };
    Ok(bound.into_iter().filter_map(read).collect())
}

/// Frees a key whose answer is past its retention.
async fn forget(engine: &Engine, request: &CreateInvoice) -> Result<(), Fail> {
    let once = &request.once;
    engine
        .unit(&request.scope, move |tx, context| {
            async move { idempotency::look_up(tx, context, once).await.map(drop) }.scope_boxed()
        })
        .await
}

async fn load_contexts<'e>(
    engine: &'e Engine,
    requests: &[CreateInvoice],
    effects: &'e Effects,
) -> Result<HashMap<Scope, Result<Context<'e>, Fail>>, Fail> {
    let mut reader = engine.db.read().await?;
    let mut contexts = HashMap::new();
    for request in requests {
        if contexts.contains_key(&request.scope) {
            continue;
        }
        let context = match Context::load(engine, &mut reader, &request.scope, effects).await {
            Err(Fail::Refused(refusal)) => Err(Fail::Refused(refusal)),
            Err(fail) => return Err(fail),
            Ok(context) => Ok(context),
        };
        contexts.insert(request.scope.clone(), context);
    }
    Ok(contexts)
}

/// Which drafts want an address of which pool, by their position, always in the same order of pools: two
/// units of work that want the same ones never wait for each other in a circle.
fn by_pool(
    drafts: &[Draft<'_>],
    families: impl Fn(&Draft<'_>) -> Vec<Family>,
) -> Vec<(Family, Vec<usize>)> {
    let mut wanted: BTreeMap<(&str, &'static str, Family), Vec<usize>> = BTreeMap::new();
    for (position, draft) in drafts.iter().enumerate() {
        let scope = &draft.context.scope;
        for family in families(draft) {
            wanted
                .entry((&scope.account, scope.mode.as_str(), family))
                .or_default()
                .push(position);
        }
    }
    wanted
        .into_iter()
        .map(|((_, _, family), positions)| (family, positions))
        .collect()
}

/// Takes the addresses that can be taken ahead.
async fn reserve(engine: &Engine, drafts: &mut [Draft<'_>]) -> Result<(), Fail> {
    for (family, positions) in by_pool(drafts, |draft| families(&draft.plan)) {
        let (context, network) = where_paid(drafts, positions[0], family)?;
        match engine.reserve.take(context, network, positions.len()).await {
            Ok(Some(deposits)) => {
                for (position, deposit) in positions.into_iter().zip(deposits) {
                    drafts[position].deposits.push((family, deposit));
                }
            }
            Ok(None) => {
                for position in positions {
                    drafts[position].scarce.push(family);
                }
            }
            Err(fail) => {
                give_back(engine, drafts);
                return Err(fail);
            }
        }
    }
    Ok(())
}

/// Only of drafts that were not written: of those whose commit is in doubt, nothing may be used again.
fn give_back(engine: &Engine, drafts: &[Draft<'_>]) {
    for draft in drafts {
        for (family, deposit) in &draft.deposits {
            let scope = &draft.context.scope;
            engine.reserve.give_back(scope, *family, deposit);
        }
    }
}

/// Addresses of scarce pools, by the drafts' positions.
type Allocated = HashMap<(usize, Family), Deposit>;

/// Takes the addresses that must be taken together with their leases. Drafts that find their pool exhausted
/// are refused alone as long as nothing is taken for them elsewhere; otherwise all of them are undone, and
/// each is to be tried by itself.
async fn allocate(
    tx: &mut Tx,
    drafts: &[Draft<'_>],
) -> Result<(Allocated, HashMap<usize, Refusal>), Fail> {
    let (mut allocated, mut refused) = (Allocated::new(), HashMap::new());
    for (family, positions) in by_pool(drafts, |draft| draft.scarce.clone()) {
        let (context, network) = where_paid(drafts, positions[0], family)?;
        let got = crate::addresses::allocate(tx, context, network, positions.len()).await?;
        let mut got = got.into_iter();
        for position in positions {
            match got.next() {
                Some(deposit) => drop(allocated.insert((position, family), deposit)),
                None => {
                    let refusal = exhausted(network.name.as_str());
                    if drafts[position].scarce.len() > 1 {
                        return Err(refusal.into());
                    }
                    refused.insert(position, refusal);
                }
            }
        }
    }
    Ok((allocated, refused))
}

fn where_paid<'a>(
    drafts: &[Draft<'a>],
    position: usize,
    family: Family,
) -> Result<(&'a Context<'a>, &'static Network), Fail> {
    let draft = &drafts[position];
    let registry = Registry::builtin();
    let network = draft
        .plan
        .options
        .iter()
        .filter_map(|option| registry.asset(&option.asset))
        .find(|asset| asset.family == family)
        .and_then(|asset| registry.network(&asset.network))
        .ok_or_else(|| Fail::broken("a family without a network"))?;
    Ok((draft.context, network))
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

/// Everything that a unit of work writes for its invoices, and what it answers.
struct Batch {
    inserts: Vec<Insert>,
    answers: Vec<(usize, Answer)>,
}

async fn write(
    engine: &Engine,
    requests: &[CreateInvoice],
    drafts: &[Draft<'_>],
    effects: &Effects,
    answers: &mut Answers,
) -> Result<(), Fail> {
    if drafts.iter().all(|draft| draft.scarce.is_empty()) {
        let every = drafts.iter().enumerate();
        let batch = assemble(engine, requests, every, &Allocated::new())?;
        engine.db.write_rows(&batch.inserts).await?;
        for (index, answer) in batch.answers {
            answers[index] = Some(Ok(answer));
        }
        return Ok(());
    }
    let done = engine
        .db
        .write(move |tx| {
            async move {
                effects.clear();
                let (allocated, refused) = allocate(tx, drafts).await?;
                let written = drafts.iter().enumerate();
                let written = written.filter(|(position, _)| !refused.contains_key(position));
                let batch = assemble(engine, requests, written, &allocated)?;
                tx.insert_all(&batch.inserts).await?;
                Ok::<_, Fail>((batch.answers, refused))
            }
            .scope_boxed()
        })
        .await;
    let (written, refused) = match done {
        Err(Fail::Refused(refusal)) => {
            give_back(engine, drafts);
            return Err(refusal.into());
        }
        done => done?,
    };
    for (index, answer) in written {
        answers[index] = Some(Ok(answer));
    }
    for (position, refusal) in refused {
        let draft = &drafts[position];
        give_back(engine, std::slice::from_ref(draft));
        answers[draft.index] = Some(Err(refusal.into()));
    }
    Ok(())
}

fn assemble<'a>(
    engine: &Engine,
    requests: &[CreateInvoice],
    drafts: impl Iterator<Item = (usize, &'a Draft<'a>)>,
    allocated: &Allocated,
) -> Result<Batch, Fail> {
    let (mut rows, mut events, mut deliveries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut answers, mut deposits) = (Vec::new(), Vec::new());
    let drafts: Vec<(usize, &Draft<'_>)> = drafts.collect();
    for (position, draft) in &drafts {
        let own = |family: &Family| {
            let deposit = allocated.get(&(*position, *family))?;
            Some((*family, deposit.clone()))
        };
        let own = draft.scarce.iter().filter_map(own);
        deposits.push(own.chain(draft.deposits.iter().cloned()).collect());
    }
    let deposits: Vec<Vec<(Family, Deposit)>> = deposits;
    let drafts: Vec<&Draft<'_>> = drafts.into_iter().map(|(_, draft)| draft).collect();
    for (draft, deposits) in drafts.iter().zip(&deposits) {
        let (row, options) = row_of(engine, draft, deposits)?;
        let context = draft.context;
        let view = InvoiceView::with_options(
            &row,
            options,
            &engine.config.checkout_url,
            context.merchant.row.publishable_key.as_deref(),
        )?;
        let object = serde_json::to_string(&view).map_err(Fail::broken)?;
        let event = created_event(engine, context, &row, &object);
        deliveries.extend(delivery_of(engine, context, &event));
        events.push(event);
        answers.push((draft.index, Answer::new(201, object)));
        rows.push(row);
        context.effects.stream(&draft.id);
    }
    let mut leases = Vec::with_capacity(drafts.len());
    for (draft, deposits) in drafts.iter().zip(&deposits) {
        for (family, deposit) in deposits {
            leases.push(NewLease {
                scope: &draft.context.scope,
                family: *family,
                number: i64::try_from(deposit.number).map_err(Fail::broken)?,
                address: &deposit.address,
                invoice: &draft.id,
                leased_at: draft.context.now,
            });
        }
    }
    let timers: Vec<(&Scope, &str, &str, i64)> = drafts
        .iter()
        .zip(&rows)
        .map(|(draft, row)| {
            let scope = &draft.context.scope;
            (scope, EXPIRE_TIMER, draft.id.as_str(), row.expires_at)
        })
        .collect();
    let kept: Vec<(&Scope, &Once, &Answer, &str)> = answers
        .iter()
        .zip(&events)
        .map(|((index, answer), event)| {
            let request = &requests[*index];
            (&request.scope, &request.once, answer, event.id.as_str())
        })
        .collect();
    let real_now = drafts.first().map_or(0, |draft| draft.context.real_now);
    // The keys first: whoever must wait for another process's answer has not written anything yet.
    let inserts = vec![
        idempotency::rows_by_event(&kept, real_now),
        till_store::invoices::rows(&rows),
        till_store::leases::rows(&leases),
        till_store::events::rows(&events),
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
    let plan = plan(context, request)?;
    let id = engine.ids.make(Kind::Invoice);
    let draft = Draft {
        index: 0,
        context,
        request,
        plan,
        id,
        deposits: Vec::new(),
        scarce: Vec::new(),
    };
    let (mut row, _) = row_of(engine, &draft, &[])?;
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
    deposits: &[(Family, Deposit)],
) -> Result<(InvoiceRow, Vec<PayOption>), Fail> {
    let (context, plan) = (draft.context, &draft.plan);
    let mut options = plan.options.clone();
    for option in &mut options {
        let asset = Registry::builtin()
            .asset(&option.asset)
            .ok_or_else(|| Fail::broken("an asset vanished"))?;
        option.deposit = deposits
            .iter()
            .find(|(family, _)| *family == asset.family)
            .map(|(_, deposit)| deposit.clone());
    }
    let life_ms = if plan.volatile {
        engine.config.volatile_life_ms
    } else {
        engine.config.life_ms
    };
    let row = InvoiceRow {
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
    };
    Ok((row, options))
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
