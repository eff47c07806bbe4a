//! What can happen in one of two processes while the other stands where it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::FutureExt as _;
use scoped_futures::ScopedFutureExt as _;
use serde_json::Value;
use till_core::actor::Actor;
use till_core::money::{Units, show};
use till_core::scope::{Credential, Scope};
use till_engine::base::clock::Clock as _;
use till_engine::checkout::{notify, session, stream};
use till_engine::invoices::cancel;
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::once::Once;
use till_engine::test_mode::{self, Simulation};
use till_engine::workers::{mail, timers, webhooks};
use till_engine::{Answer, Context, Engine, Fail, Tx};
use till_store::Queries as _;

use super::{ASTRAY_MS, Process, Reader, Story};
use crate::world::Check;

const ASSET: &str = "USDC@eip155:84532";
const MINUTE_MS: i64 = 60_000;

pub async fn step(story: &mut Story) -> Check {
    let process = story.world.rng.below(2);
    match story.world.rng.below(24) {
        0 | 1 => invoice(story, process).await,
        2..=4 => pay(story, process).await,
        5 => reverse(story, process).await,
        6 => call_off(story, process).await,
        7 | 8 => leave_address(story, process).await,
        9 => watch(story, process).await,
        10..=13 => read(story).await,
        14 | 15 => deliver(story, process).await,
        16 | 17 => send_mail(story, process).await,
        18 | 19 => fire(story, process).await,
        20 | 21 => set_clock(story, process),
        _ => pass_time(story),
    }
}

/// Some correction of a clock, as a time server would make it.
fn set_clock(story: &mut Story, process: usize) -> Check {
    let astray = story.world.rng.between(-ASTRAY_MS, ASTRAY_MS);
    let shall_be = story.world.real_now() + astray;
    let clock = &story.processes[process].clock;
    let by = shall_be - clock.now_ms();
    clock.advance(by);
    if by < 0 {
        story.world.visit("a clock set back");
    }
    story
        .world
        .note(format!("the clock of {process} is set by {by} ms"));
    Ok(())
}

fn pass_time(story: &mut Story) -> Check {
    let ms = story.world.rng.between(1, 15 * MINUTE_MS);
    advance(story, ms);
    story.world.note(format!("{ms} ms pass"));
    Ok(())
}

pub fn advance(story: &Story, ms: i64) {
    story.world.clock.advance(ms);
    for process in &story.processes {
        process.clock.advance(ms);
    }
}

fn some<T: Clone + std::fmt::Debug>(story: &mut Story, of: &[T]) -> Option<T> {
    (!of.is_empty()).then(|| story.world.rng.pick(of).clone())
}

async fn invoice(story: &mut Story, process: usize) -> Check {
    let key = key(story);
    let request = CreateInvoice {
        scope: story.scope(),
        once: Once::new(
            Actor::key("key_1"),
            Credential::Merchant,
            key,
            "POST",
            "/v1/invoices",
            b"",
        ),
        request: NewInvoice {
            amount: "25.00".to_owned(),
            currency: "USD".to_owned(),
            assets: Some(vec![ASSET.to_owned()]),
            description: Some(story.world.model.merchants[super::M].mark.clone()),
            customer_ref: None,
            return_url: None,
            metadata: BTreeMap::new(),
        },
        wanted: PendingRequest::default(),
    };
    let engine = &story.processes[process].engine;
    match create_all(engine, &[request]).await.remove(0) {
        Ok(answer) => {
            let made: Value = serde_json::from_slice(&answer.body).unwrap();
            story.invoices.push(made["id"].as_str().unwrap().to_owned());
            Ok(())
        }
        // The pool of some seeds is small.
        Err(Fail::Refused(refusal)) => {
            story.world.visit(refusal.code.as_str());
            Ok(())
        }
        Err(fail) => Err(format!("{fail:?}")),
    }
}

fn key(story: &mut Story) -> String {
    story.world.keys_made += 1;
    format!("key-{}", story.world.keys_made)
}

#[derive(Clone, Debug)]
enum Ask {
    Pay { invoice: String, with: Simulation },
    Reverse { payment: String },
    Cancel { invoice: String },
    Address { invoice: String, token: String },
}

async fn pay(story: &mut Story, process: usize) -> Check {
    let invoices = story.invoices.clone();
    let Some(invoice) = some(story, &invoices) else {
        return Ok(());
    };
    let cents = match story.world.rng.percent(50) {
        true => 2_500,
        false => u128::try_from(story.world.rng.between(1, 3_000)).unwrap(),
    };
    let with = Simulation {
        amount: Some(show(Units(cents), 2)),
        finality_steps: story
            .world
            .rng
            .percent(20)
            .then(|| vec!["included".to_owned()]),
        ..Simulation::default()
    };
    ask(story, process, Ask::Pay { invoice, with }).await
}

async fn reverse(story: &mut Story, process: usize) -> Check {
    let mut reader = story.world.engine.db.read().await.unwrap();
    let sql = "SELECT id FROM payments WHERE gone_at IS NULL ORDER BY id";
    let found: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
    drop(reader);
    let Some((payment,)) = some(story, &found) else {
        return Ok(());
    };
    story.world.visit("reversed");
    ask(story, process, Ask::Reverse { payment }).await
}

async fn call_off(story: &mut Story, process: usize) -> Check {
    let invoices = story.invoices.clone();
    match some(story, &invoices) {
        Some(invoice) => ask(story, process, Ask::Cancel { invoice }).await,
        None => Ok(()),
    }
}

/// On the page that somebody has open, under the token it was loaded with.
async fn leave_address(story: &mut Story, process: usize) -> Check {
    let invoices = story.invoices.clone();
    let Some(invoice) = some(story, &invoices) else {
        return Ok(());
    };
    let scope = story.scope();
    let engine = &story.processes[process].engine;
    let token = story
        .sessions
        .entry(invoice.clone())
        .or_insert_with(|| session::issue(engine, &scope, &invoice))
        .clone();
    ask(story, process, Ask::Address { invoice, token }).await
}

/// Whoever dies asks again under the same key, of whichever process.
async fn ask(story: &mut Story, process: usize, ask: Ask) -> Check {
    let key = key(story);
    let scope = story.scope();
    let doom = story.world.doom();
    let engine = Arc::clone(&story.processes[process].engine);
    let work = exec(&engine, &scope, &key, &ask);
    let mut done = story.world.mortal(doom, work).await;
    if done.is_none() {
        story.restart(process);
        let engine = Arc::clone(&story.processes[1 - process].engine);
        let again = exec(&engine, &scope, &key, &ask).await;
        story.world.visit(match &again {
            Ok(answer) if answer.replayed => "killed when done",
            _ => "killed and undone",
        });
        done = Some(again);
    }
    let outcome = match done.unwrap() {
        Ok(_) => "done",
        Err(Fail::Refused(refusal)) => refusal.code.as_str(),
        Err(fail) => return Err(format!("{ask:?}: {fail:?}")),
    };
    if outcome == "done" {
        match ask {
            Ask::Cancel { .. } => story.world.visit("cancelled"),
            Ask::Address { .. } => story.world.visit("an address left"),
            Ask::Pay { .. } | Ask::Reverse { .. } => {}
        }
    }
    story
        .world
        .note(format!("{process} {key} {ask:?} -> {outcome}"));
    Ok(())
}

async fn exec(engine: &Engine, scope: &Scope, key: &str, ask: &Ask) -> Result<Answer, Fail> {
    let credential = match ask {
        Ask::Address { .. } => Credential::Payer,
        _ => Credential::Merchant,
    };
    let request = format!("{ask:?}");
    let once = Once::new(
        Actor::key("key_1"),
        credential,
        key.to_owned(),
        "POST",
        "/",
        request.as_bytes(),
    );
    engine
        .once(scope, &once, |tx, context| {
            async move { perform(tx, context, ask).await }.scope_boxed()
        })
        .await
}

async fn perform(tx: &mut Tx, context: &Context<'_>, ask: &Ask) -> Result<Answer, Fail> {
    match ask {
        Ask::Pay { invoice, with } => {
            let row = test_mode::simulate_payment(tx, context, invoice, with).await?;
            Answer::json(200, &row.id)
        }
        Ask::Reverse { payment } => {
            let row = test_mode::reverse_payment(tx, context, payment).await?;
            Answer::json(200, &row.id)
        }
        Ask::Cancel { invoice } => Answer::json(200, &cancel(tx, context, invoice).await?.id),
        Ask::Address { invoice, token } => {
            let email = format!("{invoice}@payer.example");
            let left = notify::leave_address(tx, context, invoice, &email, None, token);
            Answer::json(200, &left.await?)
        }
    }
}

async fn watch(story: &mut Story, process: usize) -> Check {
    let invoices = story.invoices.clone();
    let Some(invoice) = some(story, &invoices) else {
        return Ok(());
    };
    let scope = story.scope();
    let engine = &story.processes[process].engine;
    let followed = stream::follow(engine, &scope, &invoice).await;
    story.readers.push(Reader {
        process,
        invoice,
        subscription: followed.map_err(|fail| format!("{fail:?}"))?,
        seen: 0,
    });
    Ok(())
}

/// One who reads gets what comes next, number by number; one who waits is woken when there is something.
async fn read(story: &mut Story) -> Check {
    if story.readers.is_empty() {
        return Ok(());
    }
    let at = story.world.rng.below(story.readers.len());
    // Some come back elsewhere, with the number they had seen.
    if story.world.rng.percent(30) {
        let reader = &mut story.readers[at];
        reader.process = 1 - reader.process;
        let engine = Arc::clone(&story.processes[reader.process].engine);
        let scope = story.world.model.merchants[super::M].scope.clone();
        let followed = stream::follow(&engine, &scope, &reader.invoice).await;
        reader.subscription = followed.map_err(|fail| format!("{fail:?}"))?;
        story.world.visit("read after coming back");
        return catch_up(story, at).await;
    }
    let engine = Arc::clone(&story.processes[story.readers[at].process].engine);
    stream::poll(&engine)
        .await
        .map_err(|fail| format!("{fail:?}"))?;
    let reader = &mut story.readers[at];
    let is_woken = reader.subscription.changed().now_or_never().is_some();
    let seen = reader.seen;
    catch_up(story, at).await?;
    let reader = &story.readers[at];
    if reader.seen > seen {
        if !is_woken && seen > 0 {
            return Err(format!("a reader of {} was not woken", reader.invoice));
        }
        story.world.visit("woken by the other process");
    }
    Ok(())
}

async fn catch_up(story: &mut Story, at: usize) -> Check {
    let scope = story.scope();
    let reader = &mut story.readers[at];
    let engine = &story.processes[reader.process].engine;
    let items = stream::events_after(engine, &scope, &reader.invoice, reader.seen).await;
    for item in items.map_err(|fail| format!("{fail:?}"))? {
        let invoice = &reader.invoice;
        if item.seq != reader.seen + 1 {
            let seen = reader.seen;
            return Err(format!("{} came after {seen} in {invoice}", item.seq));
        }
        reader.seen = item.seq;
        let told = without_options(&item.data);
        let known = story.told.entry((invoice.clone(), item.seq));
        let before = known.or_insert_with(|| told.clone());
        if *before != told {
            let seq = item.seq;
            return Err(format!(
                "{seq} of {invoice} was told as {before}, then as {told}"
            ));
        }
        story
            .world
            .visited
            .insert(item.event_type.trim_start_matches("invoice.").to_owned());
    }
    Ok(())
}

/// What an event said, but for the ways to pay: an address that is no longer the invoice's is not told again.
fn without_options(data: &str) -> Value {
    let mut told: Value = serde_json::from_str(data).unwrap();
    let invoice = told["invoice"].as_object_mut();
    if let Some(invoice) = invoice {
        invoice.remove("payment_options");
        invoice.remove("pending_options");
    }
    told
}

async fn deliver(story: &mut Story, process: usize) -> Check {
    let receiver = Arc::clone(&story.world.receiver);
    let engine = Arc::clone(&story.processes[process].engine);
    let (before, doom) = (receiver.posts(), story.world.doom());
    let sending = webhooks::run_due(&engine, &*receiver);
    match story.world.mortal(doom, sending).await {
        Some(done) => done.map_err(|fail| format!("{fail:?}"))?,
        None => story.restart(process),
    }
    let sent = receiver.posts() - before;
    story.world.note(format!("{process} sends {sent} webhooks"));
    Ok(())
}

async fn send_mail(story: &mut Story, process: usize) -> Check {
    let refuses = story.world.rng.percent(25);
    story.post.refuses.store(refuses, Ordering::SeqCst);
    let before = story.post.taken().len();
    let engine = Arc::clone(&story.processes[process].engine);
    let doom = story.world.doom();
    let tried = story.world.mortal(doom, mail::send_due(&engine)).await;
    match tried {
        Some(Ok(1..)) if refuses => story.world.visit("a mail refused"),
        Some(Err(fail)) => return Err(format!("{fail:?}")),
        Some(Ok(_)) => {}
        None => story.restart(process),
    }
    if story.post.taken().len() > before {
        story.world.visit("a mail");
    }
    story.world.note(format!("{process} sends mail"));
    Ok(())
}

async fn fire(story: &mut Story, process: usize) -> Check {
    let engine = Arc::clone(&story.processes[process].engine);
    let doom = story.world.doom();
    let round = async {
        timers::run_due(&engine).await?;
        timers::look_after(&engine).await
    };
    match story.world.mortal(doom, round).await {
        Some(done) => done.map_err(|fail| format!("{fail:?}"))?,
        None => story.restart(process),
    }
    story.world.note(format!("{process} fires timers"));
    Ok(())
}

/// Both clocks are right again, time passes, and both work until there is nothing to do.
pub async fn come_to_rest(story: &mut Story) -> Check {
    story.post.refuses.store(false, Ordering::SeqCst);
    for _ in 0..40 {
        advance(story, 3 * 60 * MINUTE_MS);
        let now = story.world.real_now();
        for Process { clock, engine } in &story.processes {
            clock.advance(now - clock.now_ms());
            let done = async {
                timers::run_due(engine).await?;
                timers::look_after(engine).await?;
                mail::send_due(engine).await?;
                webhooks::run_due(engine, &*story.world.receiver).await
            };
            done.await.map_err(|fail| format!("{fail:?}"))?;
        }
    }
    for at in 0..story.readers.len() {
        catch_up(story, at).await?;
    }
    Ok(())
}
