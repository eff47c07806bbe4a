//! What can happen to refunds, each under a key, as clients ask: one that lost its answer asks again.

use std::collections::BTreeMap;
use std::sync::Arc;

use scoped_futures::ScopedFutureExt as _;
use serde_json::Value;
use till_core::actor::Actor;
use till_core::asset::Family;
use till_core::invoice::Decision;
use till_core::link::AmountType;
use till_core::money::{Units, show};
use till_core::scope::{Credential, Scope};
use till_engine::base::Change;
use till_engine::checkout;
use till_engine::invoices::create::CreateInvoice;
use till_engine::invoices::gather::create_all;
use till_engine::invoices::pending_request::PendingRequest;
use till_engine::invoices::quote::NewInvoice;
use till_engine::invoices::{Resolve, Via, held_payments, resolve_review};
use till_engine::links::{self, LinkChange};
use till_engine::once::Once;
use till_engine::refunds::{self, ClaimRequest, NewRefund, PayoutSeen};
use till_engine::test_mode::{self, Simulation};
use till_engine::workers::{digests, sums, timers};
use till_engine::{Answer, Engine, Fail};
use till_store::transfers::TransferRow;

use super::hold::{self, Stands};
use super::{Made, PaidOut, Story};
use crate::world::Check;

const ASSET: &str = "USDC@eip155:84532";
const NETWORK: &str = "eip155:84532";
const PAYERS: [&str; 2] = [
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
];

#[derive(Clone, Debug)]
enum Ask {
    NewLink,
    Order {
        slug: String,
    },
    Pay {
        invoice: String,
        with: Simulation,
    },
    Reverse {
        payment: String,
    },
    Review {
        invoice: String,
        decision: Decision,
    },
    Refund {
        invoice: String,
        amount: Option<String>,
    },
    Claim {
        token: String,
        address: &'static str,
    },
    Sent {
        refund: String,
        tx_hash: String,
    },
    Cancel {
        refund: String,
    },
}

pub async fn step(story: &mut Story) -> Check {
    match story.world.rng.below(24) {
        0 | 1 => invoice(story).await,
        2..=4 => pay(story).await,
        5 => reverse(story).await,
        6 => review(story).await,
        7..=10 => refund(story).await,
        11..=14 => claim(story).await,
        15 | 16 => send(story).await,
        17 => cancel(story).await,
        18 | 19 => pay_out(story).await,
        20 | 21 => tell(story).await,
        _ => pass_time(story).await,
    }
}

pub fn listed() -> &'static str {
    let lists = till_chains::test_screening();
    let found = lists.iter().find(|(family, ..)| *family == Family::Evm);
    found.expect("a documented address").2
}

async fn invoice(story: &mut Story) -> Check {
    if story.world.rng.percent(40) {
        return order(story).await;
    }
    story.world.keys_made += 1;
    let key = format!("key-{}", story.world.keys_made);
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
            description: None,
            customer_ref: None,
            return_url: None,
            metadata: BTreeMap::new(),
        },
        wanted: PendingRequest::default(),
    };
    let done = create_all(&story.world.engine, &[request]).await.remove(0);
    match done {
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

/// Somebody orders what there is one of, and picks a network.
async fn order(story: &mut Story) -> Check {
    let slug = match story.link.clone() {
        Some(slug) => slug,
        None => {
            let made = ask(story, Ask::NewLink).await??;
            let slug = made["slug"].as_str().unwrap_or_default().to_owned();
            story.link.insert(slug).clone()
        }
    };
    if let Ok(made) = ask(story, Ask::Order { slug }).await? {
        story.world.visit("ordered");
        story.invoices.push(made.as_str().unwrap().to_owned());
    }
    Ok(())
}

fn some<T: Clone + std::fmt::Debug>(story: &mut Story, of: &[T]) -> Option<T> {
    (!of.is_empty()).then(|| story.world.rng.pick(of).clone())
}

fn some_invoice(story: &mut Story) -> Option<String> {
    let invoices = story.invoices.clone();
    some(story, &invoices)
}

fn some_refund(story: &mut Story) -> Option<Made> {
    let refunds = story.refunds.clone();
    some(story, &refunds)
}

async fn pay(story: &mut Story) -> Check {
    let Some(invoice) = some_invoice(story) else {
        return Ok(());
    };
    let cents = u128::try_from(story.world.rng.between(1, 4_000)).unwrap();
    let steps = match story.world.rng.percent(80) {
        true => None,
        false => Some(vec!["included".to_owned()]),
    };
    let with = Simulation {
        amount: Some(show(Units(cents), 2)),
        finality_steps: steps,
        sender: story.world.rng.percent(15).then(|| listed().to_owned()),
        ..Simulation::default()
    };
    ask(story, Ask::Pay { invoice, with }).await.map(drop)
}

async fn reverse(story: &mut Story) -> Check {
    let payments = hold::payments(story).await;
    let Some(payment) = some(story, &payments) else {
        return Ok(());
    };
    story.may_exceed.insert(payment.invoice);
    let payment = payment.id;
    ask(story, Ask::Reverse { payment }).await.map(drop)
}

async fn review(story: &mut Story) -> Check {
    let held = hold::payments(story).await;
    let held: Vec<_> = held.into_iter().filter(|it| it.is_held).collect();
    let Some(payment) = some(story, &held) else {
        return Ok(());
    };
    let decision = *story.world.rng.pick(&[Decision::Accept, Decision::Reject]);
    let invoice = payment.invoice;
    ask(story, Ask::Review { invoice, decision })
        .await
        .map(drop)
}

/// I12, I26: no more is promised than is there and decided about, and what is there may be promised.
async fn refund(story: &mut Story) -> Check {
    let Some(invoice) = some_invoice(story) else {
        return Ok(());
    };
    let before = hold::stands(story, &invoice).await;
    let amount = match story.world.rng.below(4) {
        0 => None,
        1 => Some(before.received.saturating_sub(before.refunded).max(1)),
        _ => Some(u128::try_from(story.world.rng.between(1, 30_000_000)).unwrap()),
    };
    promise(story, invoice, amount).await
}

/// Makes a refund: of this much, or of the excess.
async fn promise(story: &mut Story, invoice: String, amount: Option<u128>) -> Check {
    let before = hold::stands(story, &invoice).await;
    let text = amount.map(|units| show(Units(units), 6));
    let amount_text = text.clone();
    let gives = hold::gives(story, &invoice, amount.unwrap_or_default()).await;
    let asked = Ask::Refund {
        invoice: invoice.clone(),
        amount: text,
    };
    let done = ask(story, asked).await?;
    match (done, amount) {
        (Ok(made), _) => {
            let units = units_of(&made["amount"])?;
            let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
            story.refunds.push(Made {
                id: text("id"),
                token: text("claim_token"),
                invoice,
                // Without an amount it is the excess, and nothing of the price.
                gives,
            });
            story.world.visit("refunded");
            may(&before, units)
        }
        (Err(code), Some(units)) if before.must_give(units) => {
            Err(format!("{amount_text:?} of {before:?} was refused: {code}"))
        }
        _ => Ok(()),
    }
}

fn may(before: &Stands, units: u128) -> Check {
    let left = before.received.saturating_sub(before.refunded);
    match units <= left && units <= before.decided {
        true => Ok(()),
        false => Err(format!("{units} were promised of {before:?}")),
    }
}

fn units_of(amount: &Value) -> Result<u128, String> {
    let text = amount.as_str().unwrap_or_default();
    let units = till_core::money::parse(text, 6).map_err(|error| error.to_string())?;
    Ok(units.0)
}

async fn claim(story: &mut Story) -> Check {
    let Some(made) = some_refund(story) else {
        return Ok(());
    };
    let address = *story.world.rng.pick(&[PAYERS[0], PAYERS[1], listed()]);
    claim_at(story, made.token, address).await
}

async fn claim_at(story: &mut Story, token: String, address: &'static str) -> Check {
    match ask(story, Ask::Claim { token, address }).await? {
        Ok(claim) if claim["status"] == "in_review" => story.world.visit("in review"),
        Ok(_) => story.world.visit("claimed"),
        Err(_) => {}
    }
    Ok(())
}

async fn send(story: &mut Story) -> Check {
    let Some(made) = some_refund(story) else {
        return Ok(());
    };
    // So few that some are named twice.
    let number = u8::try_from(story.world.rng.below(40)).unwrap();
    let tx_hash = format!("0x{}", hex::encode([number; 32]));
    let refund = made.id;
    let asked = Ask::Sent {
        refund: refund.clone(),
        tx_hash,
    };
    if ask(story, asked).await?.is_ok() {
        story.world.visit("sent");
        story.sent.insert(refund);
    }
    Ok(())
}

/// The merchant's wallet pays out what is ready to be sent: the chain shows it from now on. Some cancel the refund by
/// mistake before they tell the server, and some payments are gone by then.
async fn pay_out(story: &mut Story) -> Check {
    let ready = hold::ready_payouts(story).await;
    let paid: Vec<String> = story.paid_out.iter().map(|it| it.refund.clone()).collect();
    let ready: Vec<_> = ready
        .into_iter()
        .filter(|ready| !paid.contains(&ready.refund))
        .collect();
    let Some(ready) = some(story, &ready) else {
        return Ok(());
    };
    story.world.keys_made += 1;
    let number = story.world.keys_made;
    let tx_hash = format!("0x{}{number:016x}", "fe".repeat(24));
    let row = TransferRow {
        network: NETWORK.to_owned(),
        tx_hash: tx_hash.clone(),
        place: 0,
        asset: ASSET.to_owned(),
        units: Units(ready.units),
        senders: Vec::new(),
        recipient: ready.address,
        simulated: false,
        first_seen_at: story.world.real_now(),
        height: Some(1),
        block_hash: Some("block".to_owned()),
        block_time: None,
        gone: false,
        payment: None,
        unattributed: None,
        arrived: None,
        registers: None,
        whole: false,
    };
    let write = &till_store::transfers::facts([&row]);
    let engine = Arc::clone(&story.world.engine);
    let done: Result<(), till_store::StoreError> = engine
        .db
        .write(|tx| async move { tx.write(write).await.map(drop) }.scope_boxed())
        .await;
    done.map_err(|error| error.to_string())?;
    let refund = ready.refund;
    story.world.note(format!("{refund} is paid out"));
    story.paid_out.push(PaidOut {
        refund: refund.clone(),
        tx_hash,
    });
    match story.world.rng.below(5) {
        0 => ask(story, Ask::Cancel { refund }).await.map(drop),
        1 => {
            ask(story, Ask::Cancel { refund }).await.map(drop)?;
            promise_again(story, ready.invoice, ready.units).await
        }
        2 => reverse_one_of(story, ready.invoice).await,
        _ => Ok(()),
    }
}

/// The same is promised once more, by somebody who does not know that it was paid out, and claimed.
async fn promise_again(story: &mut Story, invoice: String, units: u128) -> Check {
    let known = story.refunds.len();
    promise(story, invoice, Some(units)).await?;
    match story.refunds.get(known) {
        Some(made) => claim_at(story, made.token.clone(), PAYERS[0]).await,
        None => Ok(()),
    }
}

/// A payment of this invoice leaves the chain.
async fn reverse_one_of(story: &mut Story, invoice: String) -> Check {
    let payments = hold::payments(story).await;
    let payments: Vec<_> = payments
        .into_iter()
        .filter(|payment| payment.invoice == invoice)
        .collect();
    let Some(payment) = some(story, &payments) else {
        return Ok(());
    };
    story.may_exceed.insert(invoice);
    let payment = payment.id;
    ask(story, Ask::Reverse { payment }).await.map(drop)
}

/// The merchant tells of a payout, now or long after it was made: what the chain shows is recorded, whatever became of the
/// refund in between.
async fn tell(story: &mut Story) -> Check {
    if story.paid_out.is_empty() {
        return Ok(());
    }
    let at = story.world.rng.below(story.paid_out.len());
    let PaidOut { refund, tx_hash } = story.paid_out.remove(at);
    if story.sent.contains(&refund) {
        return Ok(());
    }
    let before = hold::status_of(story, &refund).await;
    let asked = Ask::Sent {
        refund: refund.clone(),
        tx_hash,
    };
    match ask(story, asked).await? {
        Ok(_) => {
            story.world.visit(match &*before {
                "in_review" => "paid out and recorded in review",
                "cancelled" => "paid out and recorded after cancel",
                _ => "paid out and recorded",
            });
            if before == "cancelled" {
                let made = story.refunds.iter().find(|made| made.id == refund);
                let invoice = made.map(|made| made.invoice.clone());
                story.may_exceed.extend(invoice);
            }
            story.sent.insert(refund);
            Ok(())
        }
        Err(code) => Err(format!(
            "the chain shows that {refund} was paid out, and it is {before}: {code}"
        )),
    }
}

async fn cancel(story: &mut Story) -> Check {
    let Some(made) = some_refund(story) else {
        return Ok(());
    };
    let refund = made.id;
    if ask(story, Ask::Cancel { refund }).await?.is_ok() {
        story.world.visit("cancelled");
    }
    Ok(())
}

/// Timers fire, what was posted is folded, and days that are over get their digests; each may be cut off.
async fn pass_time(story: &mut Story) -> Check {
    let days = story.world.rng.between(0, 12);
    story.world.clock.advance(days * 86_400_000 + 1);
    story.world.note(format!("{days} days pass"));
    let engine = Arc::clone(&story.world.engine);
    let doom = story.world.doom();
    let work = async {
        timers::run_due(&engine).await?;
        sums::fold(&engine).await?;
        digests::make_due(&engine).await
    };
    match story.world.mortal(doom, work).await {
        Some(done) => done.map_err(|fail| format!("{fail:?}")),
        None => {
            story.world.restart().await;
            let engine = Arc::clone(&story.world.engine);
            let done = timers::run_due(&engine).await;
            done.map(drop).map_err(|fail| format!("{fail:?}"))
        }
    }
}

/// The answer, or the code it was refused with. Whoever dies asks again under the same key.
async fn ask(story: &mut Story, ask: Ask) -> Result<Result<Value, &'static str>, String> {
    let world = &mut story.world;
    world.keys_made += 1;
    let key = format!("key-{}", world.keys_made);
    let scope = world.model.merchants[super::M].scope.clone();
    let doom = world.doom();
    let engine = Arc::clone(&world.engine);
    let mut done = world.mortal(doom, exec(&engine, &scope, &key, &ask)).await;
    if done.is_none() {
        world.restart().await;
        let engine = Arc::clone(&world.engine);
        let again = exec(&engine, &scope, &key, &ask).await;
        world.visit(match &again {
            Ok(answer) if answer.replayed => "killed when done",
            _ => "killed and undone",
        });
        done = Some(again);
    }
    let shown = match done.unwrap() {
        Ok(answer) => Ok(serde_json::from_slice(&answer.body).unwrap_or_default()),
        Err(Fail::Refused(refusal)) => {
            world.visit(refusal.code.as_str());
            Err(refusal.code.as_str())
        }
        Err(fail) => return Err(format!("{ask:?}: {fail:?}")),
    };
    world.note(format!("{key} {ask:?} -> {}", shown.is_ok()));
    Ok(shown)
}

async fn exec(engine: &Engine, scope: &Scope, key: &str, ask: &Ask) -> Result<Answer, Fail> {
    let credential = match ask {
        Ask::Claim { .. } => Credential::Claim,
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
    if let Ask::Claim { token, address } = ask {
        return claim_once(engine, &once, token, address).await;
    }
    let (mut held, mut seen) = (Vec::new(), PayoutSeen::NotShown);
    match ask {
        Ask::Sent { refund, tx_hash } => {
            seen = refunds::look_before_sent(engine, scope, refund, tx_hash).await?;
        }
        Ask::Review { invoice, .. } => held = held_payments(engine, scope, invoice).await?,
        _ => {}
    }
    let held = &held;
    engine
        .once(scope, &once, |tx, context| {
            async move { perform(tx, context, ask, held, seen).await }.scope_boxed()
        })
        .await
}

async fn claim_once(
    engine: &Engine,
    once: &Once,
    token: &str,
    address: &str,
) -> Result<Answer, Fail> {
    let claim = &refunds::find_claim(engine, token).await?;
    let request = &ClaimRequest {
        network: NETWORK.to_owned(),
        address: address.to_owned(),
    };
    let answers = &refunds::ask(engine, claim, request).await?;
    engine
        .once(&claim.scope, once, |tx, context| {
            async move {
                let claimed = refunds::claim(tx, context, claim, request, answers).await?;
                Answer::json(200, &claimed)
            }
            .scope_boxed()
        })
        .await
}

async fn perform(
    tx: &mut till_engine::Tx,
    context: &till_engine::Context<'_>,
    ask: &Ask,
    held: &[String],
    seen: PayoutSeen,
) -> Result<Answer, Fail> {
    match ask {
        Ask::NewLink => {
            let link = LinkChange {
                amount_type: Change::Set(AmountType::Fixed),
                currency: Change::Set("USD".to_owned()),
                amount: Change::Set("25.00".to_owned()),
                assets: Change::Set(vec![ASSET.to_owned()]),
                quantity_limit: Change::Set(hold::UNITS_OF_LINK),
                ..LinkChange::default()
            };
            Answer::json(201, &links::create(tx, context, &link).await?)
        }
        Ask::Order { slug } => {
            let row = links::create_invoice(tx, context, slug, None, None).await?;
            checkout::pick_option(tx, context, &row.id, ASSET).await?;
            Answer::json(201, &row.id)
        }
        Ask::Pay { invoice, with } => {
            let row = test_mode::simulate_payment(tx, context, invoice, with).await?;
            Answer::json(200, &row.id)
        }
        Ask::Reverse { payment } => {
            let row = test_mode::reverse_payment(tx, context, payment).await?;
            Answer::json(200, &row.id)
        }
        Ask::Review { invoice, decision } => {
            let asked = Resolve {
                decision: *decision,
                reason: "why",
                via: Via::Api,
                payments: held,
            };
            let row = resolve_review(tx, context, invoice, &asked).await?;
            Answer::json(200, &row.id)
        }
        Ask::Refund { invoice, amount } => {
            let new = NewRefund {
                amount: amount.clone(),
                asset: Some(ASSET.to_owned()),
                reason: None,
            };
            Answer::json(201, &refunds::create(tx, context, invoice, &new).await?)
        }
        Ask::Sent { refund, tx_hash } => Answer::json(
            200,
            &refunds::mark_sent(tx, context, refund, tx_hash, seen).await?,
        ),
        Ask::Cancel { refund } => Answer::json(200, &refunds::cancel(tx, context, refund).await?),
        Ask::Claim { .. } => Err(Fail::broken("claims have a scope of their own")),
    }
}
