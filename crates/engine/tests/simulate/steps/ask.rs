//! Requests under a key whose answer only the server can make up: ids, slugs, addresses, exact amounts. A
//! client that lost its answer asks again, and the answer says which of the two times the work was done.

use scoped_futures::ScopedFutureExt as _;
use till_core::actor::Actor;
use till_core::scope::{Credential, Scope};
use till_engine::checkout::{self, wallets};
use till_engine::links::{self, LinkChange};
use till_engine::once::Once;
use till_engine::settlement::render;
use till_engine::{Answer, Engine, Fail};

use super::ops::Moment;
use crate::check;
use crate::model::Kept;
use crate::world::{Check, World};

#[derive(Clone, Debug)]
pub enum Ask {
    NewLink(LinkChange),
    ChangeLink {
        id: String,
        change: LinkChange,
    },
    LinkInvoice {
        slug: String,
        amount: Option<String>,
    },
    Pick {
        invoice: String,
        asset: String,
    },
    Bind {
        invoice: String,
        asset: String,
        sender: String,
    },
}

/// An answer, and the moment at which the work was done or refused.
pub struct Done {
    pub answer: Result<Answer, Fail>,
    pub at: Moment,
}

impl Done {
    /// What was answered, unless it was refused; a refusal must be the one that is expected.
    pub fn agree(self, expected: Result<(), &'static str>) -> Result<Option<Answer>, String> {
        match (self.answer, expected) {
            (Ok(answer), Ok(())) => Ok(Some(answer)),
            (Err(Fail::Refused(refusal)), Err(code)) if refusal.code.as_str() == code => Ok(None),
            (answer, expected) => Err(format!("answered {answer:?}, expected {expected:?}")),
        }
    }
}

pub async fn ask(world: &mut World, m: usize, ask: Ask) -> Done {
    world.keys_made += 1;
    let key = format!("key-{}", world.keys_made);
    let scope = world.model.merchants[m].scope.clone();
    let doom = world.doom();
    let mut at = moment(world, m);
    let engine = std::sync::Arc::clone(&world.engine);
    let mut done = world.mortal(doom, exec(&engine, &scope, &key, &ask)).await;
    let killed = done.is_none();
    if killed {
        world.restart().await;
        let engine = std::sync::Arc::clone(&world.engine);
        let again = exec(&engine, &scope, &key, &ask).await;
        if again.as_ref().is_ok_and(|answer| answer.replayed) {
            world.visit("killed when done");
        } else {
            world.visit("killed and undone");
            at = moment(world, m);
        }
        done = Some(again);
    }
    let answer = done.unwrap();
    let shown = match &answer {
        Ok(answer) => format!("{} {}", answer.status, answer.replayed),
        Err(Fail::Refused(refusal)) => refusal.code.as_str().to_owned(),
        Err(fail) => format!("{fail:?}"),
    };
    if let Err(Fail::Refused(refusal)) = &answer {
        world.visit(refusal.code.as_str());
    }
    let word = if killed { " (killed once)" } else { "" };
    world.note(format!("m{m} {key} asks{word} {ask:?} -> {shown}"));
    if let Ok(answer) = &answer {
        let kept = Kept {
            request: format!("{ask:?}"),
            status: answer.status,
            body: answer.body.to_vec(),
            at: at.real,
        };
        world.model.merchants[m].keys.insert(key.clone(), kept);
        world.asked.push((m, key, ask));
    }
    Done { answer, at }
}

fn moment(world: &World, m: usize) -> Moment {
    Moment {
        business: world.now(m),
        real: world.real_now(),
    }
}

/// The same request under the same key, much later: the same answer, and nothing happens.
pub async fn again(world: &mut World) -> Check {
    if world.asked.is_empty() {
        return Ok(());
    }
    let (m, key, ask) = world.rng.pick(&world.asked).clone();
    let real_now = world.real_now();
    if world.model.merchants[m].kept(&key, real_now).is_none() {
        return Ok(());
    }
    let scope = world.model.merchants[m].scope.clone();
    let answer = exec(&world.engine, &scope, &key, &ask).await;
    world.note(format!("m{m} {key} asks again"));
    world.visit("asked again");
    let answer = answer.map_err(|fail| format!("asked again: {fail:?}"))?;
    check::answers::follow(world.model.merchants[m].keys.get_mut(&key), &answer)
}

async fn exec(engine: &Engine, scope: &Scope, key: &str, ask: &Ask) -> Result<Answer, Fail> {
    let text = format!("{ask:?}");
    let once = Once::new(
        Actor::key("key_1"),
        Credential::Merchant,
        key.to_owned(),
        "POST",
        "/v1/x",
        text.as_bytes(),
    );
    engine
        .once(scope, &once, |tx, context| {
            async move {
                match ask {
                    Ask::NewLink(change) => {
                        Answer::json(201, &links::create(tx, context, change).await?)
                    }
                    Ask::ChangeLink { id, change } => {
                        Answer::json(200, &links::update(tx, context, id, change).await?)
                    }
                    Ask::LinkInvoice { slug, amount } => {
                        let row = links::create_invoice(tx, context, slug, amount.as_deref(), None)
                            .await?;
                        Ok(Answer::new(201, render(context, &row)?))
                    }
                    Ask::Pick { invoice, asset } => {
                        let row = checkout::pick_option(tx, context, invoice, asset).await?;
                        Ok(Answer::new(200, render(context, &row)?))
                    }
                    Ask::Bind {
                        invoice,
                        asset,
                        sender,
                    } => {
                        let request = wallets::NewBinding {
                            invoice,
                            asset,
                            sender,
                            proof: None,
                        };
                        let bound = wallets::bind(tx, context, &request).await?;
                        Answer::json(200, &bound)
                    }
                }
            }
            .scope_boxed()
        })
        .await
}
