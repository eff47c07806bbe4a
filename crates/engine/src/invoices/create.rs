//! Creating invoices, many at once: an answer for each, and one short unit of work for all of them. What they
//! will be is worked out before it begins, so that it does nothing but write.

mod deposits;
mod draft;
mod rows;
mod single;

pub use draft::CreateInvoice;
pub use single::{Billed, create_billed, create_link_invoice};

use std::collections::{BTreeSet, HashMap, HashSet};

use draft::{Answered, Draft};
use rows::Ready;
use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::error::{Code, Refusal};
use till_core::id::IdKind;
use till_core::scope::Scope;
use till_store::Tx;
use till_store::idempotency::{BoundKey, KeyOf};

use crate::base::asker::Member;
use crate::base::fail::Fail;
use crate::base::{Answer, Context, Effects, Engine};
use crate::invoices::quote::quote;
use crate::once::{self, KeyState};

type Answers = Vec<Option<Result<Answer, Fail>>>;

/// Creates what can be created. What is refused is refused alone; a failure of ours undoes all of them.
pub async fn create_invoices(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<Vec<Result<Answer, Fail>>, Fail> {
    let effects = Effects::default();
    let mut answers: Answers = vec![None; requests.len()];
    let (contexts, (bound, good)) = futures::try_join!(
        load_contexts(engine, requests, &effects),
        keys(engine, requests)
    )?;
    let ended = requests.iter().map(|request| {
        let key = request.once.asker.key.as_deref();
        key.is_some_and(|key| !good.contains(key))
    });
    for (answer, _) in answers.iter_mut().zip(ended).filter(|(_, ended)| *ended) {
        *answer = Some(Err(Refusal::of(Code::ApiKeyInvalid).into()));
    }
    let mut drafts = draft(engine, &contexts, &bound, requests, &mut answers).await?;
    if !drafts.is_empty() {
        deposits::reserve(engine, &mut drafts).await?;
        for (index, answer) in write(engine, requests, &drafts, &effects).await? {
            answers[index] = Some(answer);
        }
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
    bound: &[BoundKey],
    requests: &'a [CreateInvoice],
    answers: &mut Answers,
) -> Result<Vec<Draft<'a>>, Fail> {
    let bound: HashSet<KeyOf<'_>> = bound.iter().map(BoundKey::key).collect();
    let mut drafted: HashSet<KeyOf<'_>> = HashSet::with_capacity(requests.len());
    let mut drafts = Vec::with_capacity(requests.len());
    for (index, request) in requests.iter().enumerate() {
        if answers[index].is_some() {
            continue;
        }
        let context = match &contexts[&request.scope] {
            Ok(context) => context,
            Err(fail) => {
                answers[index] = Some(Err(fail.clone()));
                continue;
            }
        };
        let key = request.once.key_of(&request.scope);
        if bound.contains(&key) {
            let mut reader = engine.db.read().await?;
            match once::key_state(&mut reader, context, &request.once).await {
                Ok(KeyState::Answer(kept)) => {
                    answers[index] = Some(Ok(kept));
                    continue;
                }
                Err(Fail::Refused(refusal)) => {
                    answers[index] = Some(Err(refusal.into()));
                    continue;
                }
                Err(fail) => return Err(fail),
                Ok(KeyState::Expired) => forget(engine, request).await?,
                Ok(KeyState::Nothing) => {}
            }
        }
        if !drafted.insert(key) {
            // Its answer is the earlier one's, which must be bound first: let each request go alone.
            return Err(Fail::Again);
        }
        match quote(context, &request.request) {
            Err(refusal) => answers[index] = Some(Err(refusal.into())),
            Ok(quote) => drafts.push(Draft {
                index,
                context,
                request: &request.request,
                quote,
                id: engine.ids.make(IdKind::Invoice),
                deposits: Vec::new(),
                scarce: Vec::new(),
            }),
        }
    }
    Ok(drafts)
}

/// The idempotency keys that are bound already, and those API keys that were shown and are good: as late as can be asked
/// without holding them, so that creating invoices stays one write.
async fn keys(
    engine: &Engine,
    requests: &[CreateInvoice],
) -> Result<(Vec<BoundKey>, HashSet<String>), Fail> {
    let keys: Vec<KeyOf<'_>> = requests
        .iter()
        .map(|request| request.once.key_of(&request.scope))
        .collect();
    let shown = requests.iter().map(|request| &request.once.asker.key);
    let shown: BTreeSet<&str> = shown.filter_map(Option::as_deref).collect();
    let mut reader = engine.db.read().await?;
    let bound = till_store::idempotency::bound_keys(&mut reader, &keys).await?;
    let good = till_store::keys::good_among(&mut reader, &shown).await?;
    Ok((bound, good))
}

/// Frees a key whose answer is past its retention.
async fn forget(engine: &Engine, request: &CreateInvoice) -> Result<(), Fail> {
    let once = &request.once;
    engine
        .unit(&request.scope, move |tx, context| {
            async move { once::forget(tx, context, once).await }.scope_boxed()
        })
        .await
}

async fn load_contexts<'e>(
    engine: &'e Engine,
    requests: &[CreateInvoice],
    effects: &'e Effects,
) -> Result<HashMap<Scope, Result<Context<'e>, Fail>>, Fail> {
    let mut reader = engine.db.read().await?;
    let (mut contexts, by) = (HashMap::new(), Actor::System.into());
    for request in requests {
        if contexts.contains_key(&request.scope) {
            continue;
        }
        let context = Context::load(engine, &mut reader, &request.scope, &by, effects).await;
        let context = match context {
            Err(Fail::Refused(refusal)) => Err(Fail::Refused(refusal)),
            Err(fail) => return Err(fail),
            Ok(context) => Ok(context),
        };
        contexts.insert(request.scope.clone(), context);
    }
    Ok(contexts)
}

/// Asks the rights of every member whom a draft rests on, each once. One who lost them fails the whole group: whoever
/// then goes alone is refused alone.
async fn check_members(
    tx: &mut Tx,
    requests: &[CreateInvoice],
    drafts: &[Draft<'_>],
) -> Result<(), Fail> {
    let mut asked: Vec<(&Scope, &Member)> = Vec::new();
    for draft in drafts {
        let request = &requests[draft.index];
        let Some(member) = &request.once.asker.member else {
            continue;
        };
        if !asked.contains(&(&request.scope, member)) {
            request.once.asker.admit(tx, &request.scope).await?;
            asked.push((&request.scope, member));
        }
    }
    Ok(())
}

/// Writes the drafts, in one trip when nothing must be looked at meanwhile. Gives an answer for each, by the
/// index of its request.
async fn write(
    engine: &Engine,
    requests: &[CreateInvoice],
    drafts: &[Draft<'_>],
    effects: &Effects,
) -> Result<Vec<Answered>, Fail> {
    let rests_on_member = |draft: &Draft<'_>| requests[draft.index].once.asker.member.is_some();
    let is_plain = |draft: &Draft<'_>| draft.scarce.is_empty() && !rests_on_member(draft);
    if drafts.iter().all(is_plain) {
        let ready: Vec<Ready<'_>> = drafts.iter().map(Ready::from).collect();
        let batch = rows::assemble(engine, requests, &ready)?;
        let written = engine.db.write_rows(&batch.writes).await;
        written.map_err(once::key_error)?;
        return Ok(batch.answered().collect());
    }
    let written = engine
        .db
        .write(move |tx| {
            async move {
                effects.clear();
                check_members(tx, requests, drafts).await?;
                let (ready, refused) = deposits::allocate(tx, drafts).await?;
                let batch = rows::assemble(engine, requests, &ready)?;
                tx.write_all(&batch.writes).await.map_err(once::key_error)?;
                Ok::<_, Fail>((batch, refused))
            }
            .scope_boxed()
        })
        .await;
    let (batch, refused) = match written {
        Err(Fail::Refused(refusal)) => {
            deposits::give_back(engine, drafts);
            return Err(refusal.into());
        }
        written => written?,
    };
    let refused = refused
        .into_iter()
        .map(|(draft, refusal): (&Draft<'_>, Refusal)| {
            deposits::give_back(engine, std::slice::from_ref(draft));
            (draft.index, Err(refusal.into()))
        });
    Ok(batch.answered().chain(refused).collect())
}
