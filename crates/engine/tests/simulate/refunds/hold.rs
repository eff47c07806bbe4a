//! What must hold of refunds, worked out from the tables without the engine's rules.

use std::collections::{BTreeMap, BTreeSet};

use till_core::money::Units;
use till_core::scope::Scope;
use till_engine::books::{self, BooksRequest, Walk};
use till_engine::digests::{Checks, check_open_days};
use till_store::refunds::RefundRow;
use till_store::{Queries as _, Val};

use super::Story;
use crate::world::Check;

fn of(scope: &Scope) -> [Val; 2] {
    [(&*scope.account).into(), scope.mode.as_str().into()]
}

#[derive(Clone, Debug)]
pub struct Payment {
    pub id: String,
    pub invoice: String,
    pub is_held: bool,
    /// It arrived for good, and is still there.
    is_there: bool,
    /// When it left the chain, if it was credited before.
    undone_at: Option<i64>,
    units: u128,
}

type PaymentLine = (String, String, String, String, Option<i64>, Option<i64>);

pub async fn payments(story: &Story) -> Vec<Payment> {
    let sql = "SELECT id, invoice, status, units, credited_at, gone_at FROM payments \
         WHERE account = $1 AND mode = $2 ORDER BY id";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<PaymentLine> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let payment = |(id, invoice, status, units, credited_at, gone_at): PaymentLine| Payment {
        id,
        invoice,
        is_held: status == "held",
        is_there: matches!(&*status, "credited" | "held" | "refundable"),
        undone_at: credited_at.and(gone_at),
        units: units.parse().unwrap(),
    };
    rows.into_iter().map(payment).collect()
}

#[derive(Clone, Debug)]
struct Refund {
    id: String,
    invoice: String,
    units: u128,
    status: String,
    created_at: i64,
    counts: bool,
}

type RefundLine = (String, String, String, String, Option<i64>, i64);

async fn refunds(story: &Story) -> Vec<Refund> {
    let sql = "SELECT id, invoice, units, status, lapsed_at, created_at FROM refunds \
         WHERE account = $1 AND mode = $2 ORDER BY id";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<RefundLine> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let refund = |(id, invoice, units, status, lapsed_at, created_at): RefundLine| Refund {
        id,
        invoice,
        units: units.parse().unwrap(),
        counts: status != "cancelled" && lapsed_at.is_none(),
        status,
        created_at,
    };
    rows.into_iter().map(refund).collect()
}

/// A refund that the server calls ready to be sent, and where to.
#[derive(Clone, Debug)]
pub struct Ready {
    pub refund: String,
    pub invoice: String,
    pub units: u128,
    pub address: String,
}

pub async fn ready_payouts(story: &Story) -> Vec<Ready> {
    let sql = "SELECT id, invoice, units, payout_address FROM refunds \
         WHERE account = $1 AND mode = $2 AND status = 'ready_to_send' ORDER BY id";
    type Line = (String, String, String, String);
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<Line> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let ready = |(refund, invoice, units, address): Line| Ready {
        refund,
        invoice,
        units: units.parse().unwrap(),
        address,
    };
    rows.into_iter().map(ready).collect()
}

pub async fn status_of(story: &Story, refund: &str) -> String {
    let all = refunds(story).await;
    let found = all.into_iter().find(|it| it.id == refund);
    found.expect("a refund that was made").status
}

/// What was paid out is not offered again: what the server has answered was sent of an invoice, and what it calls ready to
/// be sent, is never more than what the invoice received.
async fn offered_once(story: &Story) -> Check {
    let (refunds, ready) = (refunds(story).await, ready_payouts(story).await);
    for invoice in &story.invoices {
        let offered = ready.iter().filter(|it| it.invoice == *invoice);
        let offered: u128 = offered.map(|it| it.units).sum();
        let sent = refunds
            .iter()
            .filter(|it| it.invoice == *invoice && story.sent.contains(&it.id));
        let sent: u128 = sent.map(|it| it.units).sum();
        let received = stands(story, invoice).await.received;
        if offered > 0 && sent + offered > received {
            return Err(format!(
                "{invoice} received {received} and paid {sent} out, and {offered} are ready to be sent"
            ));
        }
    }
    Ok(())
}

/// What an invoice received and what was promised of it.
#[derive(Clone, Debug, Default)]
pub struct Stands {
    pub received: u128,
    /// Without what a review has yet to decide about.
    pub decided: u128,
    /// By refunds that are open or sent, whose links have not expired.
    pub refunded: u128,
}

impl Stands {
    /// Whether nothing could stand against promising so much.
    pub fn must_give(&self, units: u128) -> bool {
        units <= self.decided.saturating_sub(self.refunded)
    }
}

pub async fn stands(story: &Story, invoice: &str) -> Stands {
    let now = story.world.real_now();
    let mut stands = Stands::default();
    for payment in payments(story).await {
        if payment.invoice == invoice && payment.is_there {
            stands.received += payment.units;
            stands.decided += if payment.is_held { 0 } else { payment.units };
        }
    }
    let expired = expired(story, now).await;
    let counting = refunds(story)
        .await
        .into_iter()
        .filter(|refund| refund.counts);
    for refund in counting.filter(|refund| refund.invoice == invoice) {
        if !expired.contains(&refund.id) {
            stands.refunded += refund.units;
        }
    }
    stands
}

/// Unclaimed refunds whose links are over, whether or not somebody noted it.
async fn expired(story: &Story, now: i64) -> BTreeSet<String> {
    let sql = "SELECT id FROM refunds WHERE account = $1 AND mode = $2 AND status = 'unclaimed' AND expires_at <= $3";
    let [account, mode] = of(&story.scope());
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String,)> = reader.all(sql, &[account, mode, now.into()]).await.unwrap();
    rows.into_iter().map(|(id,)| id).collect()
}

/// After every step.
pub async fn always(story: &mut Story) -> Check {
    bound(story).await?;
    machine(story).await?;
    groups(story).await?;
    offered_once(story).await?;
    sold_once(story).await?;
    kept(story).await
}

pub const UNITS_OF_LINK: i64 = 1;

/// I14: whatever refunds become, no more orders of the link are paid than it has units.
async fn sold_once(story: &Story) -> Check {
    let sql = "SELECT id, status FROM invoices WHERE account = $1 AND mode = $2 AND payment_link IS NOT NULL ORDER BY id";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let orders: Vec<(String, String)> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let paid = orders.iter().filter(|(_, status)| is_paid(status));
    let paid: Vec<&String> = paid.map(|(id, _)| id).collect();
    match i64::try_from(paid.len()).unwrap() <= UNITS_OF_LINK {
        true => Ok(()),
        false => Err(format!("{paid:?} are paid, of {UNITS_OF_LINK} to be sold")),
    }
}

/// How an invoice stands in the tables: its status, and what the journal has of it in a group.
async fn invoice(story: &Story, invoice: &str, group: &str) -> (String, u128) {
    let [account, mode] = of(&story.scope());
    let args = [account, mode, invoice.into()];
    let mut reader = story.world.engine.db.read().await.unwrap();
    let sql = "SELECT status FROM invoices WHERE account = $1 AND mode = $2 AND id = $3";
    let status: Option<(String,)> = reader.one(sql, &args).await.unwrap();
    let sql = "SELECT debit, credit, amount FROM journal WHERE account = $1 AND mode = $2 AND invoice = $3";
    let lines: Vec<(String, String, String)> = reader.all(sql, &args).await.unwrap();
    let mut sum: i128 = 0;
    for (debit, credit, amount) in lines {
        let amount: i128 = amount.parse().unwrap();
        sum += i128::from(credit == group) * amount - i128::from(debit == group) * amount;
    }
    (status.unwrap().0, u128::try_from(sum).unwrap())
}

fn is_paid(status: &str) -> bool {
    matches!(status, "paid" | "overpaid" | "paid_late")
}

/// What a refund of so much would give back of a price that is paid.
pub async fn gives(story: &Story, of: &str, units: u128) -> u128 {
    let (status, overpaid) = invoice(story, of, "overpaid").await;
    let forgotten = expired(story, story.world.real_now()).await;
    match &*status {
        // What expired in between may change both.
        _ if !forgotten.is_empty() => units,
        "under_review" => units,
        status if is_paid(status) => units.saturating_sub(overpaid),
        _ => 0,
    }
}

const PRICE: u128 = 25_000_000;

/// Refunds that no price depends on: promised of payments that are gone, and not sent; or paid out though they had been cancelled.
async fn outside_the_price(story: &Story) -> BTreeSet<String> {
    let sql = "SELECT r.id FROM refunds r WHERE r.account = $1 AND r.mode = $2 \
         AND ((r.sent_at IS NOT NULL AND r.cancelled_at IS NOT NULL) OR (r.sent_at IS NULL AND EXISTS \
         (SELECT 1 FROM payments p WHERE p.gone_at IS NOT NULL AND instr(r.sources, p.id) > 0)))";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String,)> = reader.all(sql, &of(&story.scope())).await.unwrap();
    rows.into_iter().map(|(id,)| id).collect()
}

/// I07, for what was refunded: whatever is paid keeps its price, but for what was given back of a price that was paid.
async fn kept(story: &Story) -> Check {
    let counting: BTreeMap<String, u128> = refunds(story)
        .await
        .into_iter()
        .filter(|refund| refund.counts)
        .map(|refund| (refund.id, refund.units))
        .collect();
    let outside = outside_the_price(story).await;
    for id in &story.invoices {
        let (status, settled) = invoice(story, id, "settled").await;
        if !is_paid(&status) {
            continue;
        }
        let made = story.refunds.iter().filter(|made| made.invoice == *id);
        let given = made.filter_map(|made| {
            let units = counting.get(&made.id)?;
            Some(match outside.contains(&made.id) {
                true => *units,
                false => made.gives,
            })
        });
        let given: u128 = given.sum();
        if settled + given < PRICE {
            return Err(format!(
                "{id} is {status} with {settled} kept and {given} given back"
            ));
        }
    }
    Ok(())
}

/// I12: what is refunded is there, except after a reversal or a payout that was recorded late.
async fn bound(story: &mut Story) -> Check {
    for invoice in story.invoices.clone() {
        let stands = stands(story, &invoice).await;
        if stands.refunded <= stands.received {
            continue;
        }
        if !story.may_exceed.contains(&invoice) {
            return Err(format!(
                "{invoice} is refunded beyond what it received: {stands:?}"
            ));
        }
        story.world.visit("refunded beyond received");
    }
    Ok(())
}

/// I13: the history of each refund is a legal one, and only grows.
async fn machine(story: &mut Story) -> Check {
    let sql = "SELECT refund, status, payout_address, tx_hash, at FROM refund_steps \
         WHERE account = $1 AND mode = $2 ORDER BY refund, step";
    type Step = (String, String, Option<String>, Option<String>, i64);
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<Step> = reader.all(sql, &of(&story.scope())).await.unwrap();
    drop(reader);
    let mut sent_by = BTreeSet::new();
    for steps in rows.chunk_by(|a, b| a.0 == b.0) {
        let id = &steps[0].0;
        let shown: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
        let known = story.histories.insert(id.clone(), shown.clone());
        if !shown.starts_with(&known.unwrap_or_default()) {
            return Err(format!("the history of {id} was rewritten"));
        }
        for pair in steps.windows(2) {
            let [before, after] = pair else { continue };
            legal(before.1.as_str(), after.1.as_str()).map_err(|wrong| format!("{id}: {wrong}"))?;
            if before.2.is_some() && before.2 != after.2 {
                return Err(format!("{id} changed its address"));
            }
        }
        let was_ready = steps.iter().any(|step| step.1 == "ready_to_send");
        if steps.iter().any(|step| step.1 == "sent") && !was_ready {
            return Err(format!("{id} was sent and never ready"));
        }
        let last = &steps[steps.len() - 1];
        if last.1 == "sent" && !sent_by.insert(last.3.clone()) {
            return Err(format!("{id} was sent by another's transaction"));
        }
    }
    let now: BTreeMap<String, String> = rows.into_iter().map(|step| (step.0, step.1)).collect();
    for refund in refunds(story).await {
        if now.get(&refund.id) != Some(&refund.status) {
            return Err(format!("{} is not where its history ends", refund.id));
        }
        if refund.status == "unclaimed" && !refund.counts {
            story.world.visit("lapsed");
        }
    }
    Ok(())
}

fn legal(before: &str, after: &str) -> Check {
    let is_legal = matches!(
        (before, after),
        (
            "unclaimed",
            "unclaimed" | "ready_to_send" | "in_review" | "cancelled"
        ) | ("ready_to_send", "sent" | "in_review" | "cancelled")
            // Another reason is a step, too.
            | ("in_review", "in_review" | "ready_to_send" | "sent" | "cancelled")
            | ("cancelled", "sent")
    );
    match is_legal {
        true => Ok(()),
        false => Err(format!("{before} became {after}")),
    }
}

/// I01, I03, I05: each payment's groups add up to it, none is below zero, and what is due and sent is what refunds say.
async fn groups(story: &Story) -> Check {
    let sql = "SELECT subject, debit, credit, amount FROM journal WHERE account = $1 AND mode = $2";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String, String, String, String)> =
        reader.all(sql, &of(&story.scope())).await.unwrap();
    drop(reader);
    let mut books: BTreeMap<String, BTreeMap<String, i128>> = BTreeMap::new();
    for (subject, debit, credit, amount) in rows {
        let amount: i128 = amount.parse().unwrap();
        let groups = books.entry(subject).or_default();
        *groups.entry(debit).or_default() -= amount;
        *groups.entry(credit).or_default() += amount;
    }
    let mut refunded: i128 = 0;
    let mut of_invoice: BTreeMap<String, (u128, i128, i128)> = BTreeMap::new();
    for payment in payments(story).await {
        let groups = books.remove(&payment.id).unwrap_or_default();
        let group = |name: &str| groups.get(name).copied().unwrap_or_default();
        let below = groups
            .iter()
            .find(|(name, sum)| *name != "received" && **sum < 0);
        if let Some((name, sum)) = below {
            return Err(format!("{name} of {} is {sum}", payment.id));
        }
        let taken = group("refunds_due") + group("refunds_sent");
        let units = i128::try_from(payment.units).unwrap();
        let expected = if payment.is_there {
            units.max(taken)
        } else {
            taken
        };
        if -group("received") != expected {
            let found = -group("received");
            return Err(format!(
                "{} stands with {found}, not {expected}",
                payment.id
            ));
        }
        refunded += taken;
        let (there, promised, posted) = of_invoice.entry(payment.invoice).or_default();
        *there += if payment.is_there { payment.units } else { 0 };
        *promised += taken;
        *posted -= group("received");
    }
    for (invoice, (there, promised, posted)) in of_invoice {
        let most = i128::try_from(there).unwrap().max(promised);
        if posted != most {
            return Err(format!(
                "{invoice} stands with {posted}: {there} is there, {promised} refunded"
            ));
        }
    }
    let counting = refunds(story)
        .await
        .into_iter()
        .filter(|refund| refund.counts);
    let promised: i128 = counting
        .map(|refund| i128::try_from(refund.units).unwrap())
        .sum();
    if promised != refunded {
        return Err(format!(
            "refunds come to {promised}, the journal to {refunded}"
        ));
    }
    match books.keys().next() {
        None => Ok(()),
        Some(subject) => Err(format!("only the journal knows {subject}")),
    }
}

/// By refund: the payments that it was drawn from, and whether the price was paid beside it.
type Drawn = BTreeMap<String, (Vec<(String, Units)>, bool)>;

async fn drawn(story: &Story) -> Drawn {
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows = crate::check::select::<RefundRow>("account = $1 AND mode = $2");
    let rows: Vec<RefundRow> = reader.all(&rows, &of(&story.scope())).await.unwrap();
    let of = |row: RefundRow| (row.id, (row.sources, row.was_covered));
    rows.into_iter().map(of).collect()
}

/// What reconciliation is to flag: what is refunded beyond what was received, and what was refunded before a payment left
/// the chain while the invoice is not paid.
async fn to_be_flagged(story: &Story) -> BTreeMap<(String, &'static str), String> {
    let mut flagged = BTreeMap::new();
    let (payments, refunds) = (payments(story).await, refunds(story).await);
    let drawn = drawn(story).await;
    for id in &story.invoices {
        let counting = || refunds.iter().filter(|it| it.counts && it.invoice == *id);
        let refunded: u128 = counting().map(|refund| refund.units).sum();
        let received = stands(story, id).await.received;
        let beyond = refunded.saturating_sub(received);
        if beyond > 0 {
            flagged.insert((id.clone(), "refunded_beyond_received"), show(beyond));
        }
        let exposed: u128 = counting()
            .map(|refund| {
                let of_invoice = payments.iter().filter(|payment| payment.invoice == *id);
                let undone = of_invoice.filter(|it| Some(refund.created_at) <= it.undone_at);
                let undone: Vec<&str> = undone.map(|payment| &*payment.id).collect();
                let (sources, was_covered) = &drawn[&refund.id];
                let lost = sources.iter().filter(|(id, _)| undone.contains(&&**id));
                let own: u128 = lost.map(|(_, units)| units.0).sum();
                let is_beside = *was_covered && refund.status == "sent";
                match own == 0 && is_beside && !undone.is_empty() {
                    true => refund.units,
                    false => own,
                }
            })
            .sum();
        let (status, _) = invoice(story, id, "settled").await;
        if exposed > beyond && !is_paid(&status) {
            flagged.insert(
                (id.clone(), "refunded_and_reversed"),
                show(exposed - beyond),
            );
        }
    }
    flagged.extend(unexpectedly_sent(story, &refunds).await);
    flagged
}

/// Payouts that were recorded though their refunds were not ready, by what these were just before.
async fn unexpectedly_sent(
    story: &Story,
    refunds: &[Refund],
) -> BTreeMap<(String, &'static str), String> {
    let sql = "SELECT refund, status FROM refund_steps WHERE account = $1 AND mode = $2 ORDER BY refund, step";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let steps: Vec<(String, String)> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let mut flagged = BTreeMap::new();
    for pair in steps.windows(2) {
        let [(_, before), (id, after)] = pair else {
            continue;
        };
        let kind = match (&**before, &**after) {
            ("in_review", "sent") => "sent_in_review",
            ("cancelled", "sent") => "sent_after_cancel",
            _ => continue,
        };
        let refund = refunds.iter().find(|it| it.id == *id).unwrap();
        flagged.insert((refund.invoice.clone(), kind), show(refund.units));
    }
    flagged
}

/// I32: reconciliation flags exactly that, and balances are the journal's.
pub async fn books(story: &mut Story) -> Check {
    let expected = to_be_flagged(story).await;
    let now = story.world.real_now();
    let asked = BooksRequest {
        from: Some(now - 360 * 86_400_000),
        to: Some(now + 1),
        asset: None,
    };
    let (engine, scope) = (story.world.engine.clone(), story.scope());
    let mut walk = Walk::begin(&engine, &engine.db.primary(), &scope, &asked)
        .await
        .map_err(|fail| format!("{fail:?}"))?;
    let mut flagged = BTreeMap::new();
    while let Some(found) = walk.next().await.map_err(|fail| format!("{fail:?}"))? {
        for one in found.into_iter().filter(|one| one.severity == "flagged") {
            flagged.insert((one.invoice.unwrap_or_default(), one.kind), one.amount);
        }
    }
    if flagged != expected {
        return Err(format!(
            "reconciliation flags {flagged:?}, expected {expected:?}"
        ));
    }
    for (_, kind) in expected.into_keys() {
        story.world.visit(kind);
    }
    digests(story).await?;
    balances(story, &asked).await
}

/// Every entry has a digest or is noted to have none, and every digest fits.
async fn digests(story: &Story) -> Check {
    let (engine, scope) = (&story.world.engine, &story.scope());
    let days = (i64::MIN, i64::MAX);
    let open = check_open_days(engine, scope, days).await;
    let mut found = open.map_err(|fail| format!("{fail:?}"))?;
    let checks = Checks::begin(engine, scope, days).await;
    let mut checks = checks.map_err(|fail| format!("{fail:?}"))?;
    while let Some(checked) = checks.next().await.map_err(|fail| format!("{fail:?}"))? {
        found = found.or(checked.misfit.is_some().then_some(checked));
    }
    match found {
        None => Ok(()),
        Some(checked) => Err(format!("a digest does not fit: {checked:?}")),
    }
}

fn show(units: u128) -> String {
    till_core::money::show(till_core::money::Units(units), 6)
}

async fn balances(story: &Story, asked: &BooksRequest) -> Check {
    let engine = &story.world.engine;
    let seen = books::balances(engine, &engine.db.primary(), &story.scope(), asked).await;
    let seen = seen.map_err(|fail| format!("{fail:?}"))?;
    let sql = "SELECT debit, credit, amount FROM journal WHERE account = $1 AND mode = $2";
    let mut reader = story.world.engine.db.read().await.unwrap();
    let rows: Vec<(String, String, String)> = reader.all(sql, &of(&story.scope())).await.unwrap();
    let mut sums: BTreeMap<String, i128> = BTreeMap::new();
    for (debit, credit, amount) in rows {
        let amount: i128 = amount.parse().unwrap();
        *sums.entry(debit).or_default() -= amount;
        *sums.entry(credit).or_default() += amount;
    }
    for row in seen.balances {
        let sum = sums.get(row.account).copied().unwrap_or_default();
        let sum = if row.account == "received" { -sum } else { sum };
        let expected = show(u128::try_from(sum).map_err(|_| format!("{} is {sum}", row.account))?);
        if row.closing != expected {
            return Err(format!(
                "{} closes with {}, not {expected}",
                row.account, row.closing
            ));
        }
    }
    Ok(())
}
