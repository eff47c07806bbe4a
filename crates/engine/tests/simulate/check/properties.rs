//! What must be true of the tables whatever happened before: no model, no history, none of the engine's rules. A model that
//! repeats the engine's mistakes agrees with them; these do not.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use till_core::asset::{Mode, Registry};
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::view::InvoiceView;
use till_store::Queries as _;

use crate::model::Merchant;
use crate::world::{Check, World};

pub async fn check(world: &World) -> Check {
    for (what, sql) in NEVER {
        let mut reader = world.engine.db.read().await.unwrap();
        let found: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
        if let Some((first,)) = found.first() {
            return Err(format!("{what}: {first}, and {} in all", found.len()));
        }
    }
    received_once(world).await?;
    overpaid_has_its_price(world).await?;
    addresses_are_held(world).await?;
    an_address_has_one_asker(world).await?;
    for (m, merchant) in world.model.merchants.iter().enumerate() {
        limits(world, m, merchant).await?;
    }
    webhooks_in_order(world).await
}

/// Each finds what may never be there.
const NEVER: [(&str, &str); 8] = [
    (
        "a transfer that is neither somebody's nor nobody's, or both",
        "SELECT tx_hash FROM transfers t WHERE gone = 0 AND units <> '0' AND (payment IS NULL) = (reason IS NULL) \
         AND NOT EXISTS (SELECT 1 FROM quarantine q WHERE (q.network, q.tx_hash, q.place) = (t.network, t.tx_hash, t.place))",
    ),
    (
        "a payment without its transfer, or of more than it",
        "SELECT id FROM payments p WHERE gone_at IS NULL AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.payment = p.id \
         AND (t.network, t.tx_hash, t.place) = (p.network, p.tx_hash, p.place) AND t.units = p.units AND t.gone = 0)",
    ),
    (
        "a payment that no block has at the level it is said to have",
        "SELECT p.id FROM payments p JOIN transfers t ON t.payment = p.id JOIN networks n ON n.id = t.network \
         WHERE p.gone_at IS NULL AND t.simulated = 0 AND n.frozen_at IS NULL AND ((p.level = 'final' \
         AND (t.height IS NULL OR n.final_height IS NULL OR t.height > n.final_height)) OR (p.level = 'safe' \
         AND (t.height IS NULL OR n.safe_height IS NULL OR t.height > n.safe_height)))",
    ),
    (
        "a payment in a block that does not have it",
        "SELECT p.id FROM payments p JOIN transfers t ON t.payment = p.id JOIN networks n ON n.id = t.network \
         WHERE p.gone_at IS NULL AND p.block_hash IS NOT NULL AND t.simulated = 0 AND n.frozen_at IS NULL \
         AND t.block_hash IS NOT p.block_hash",
    ),
    (
        "a sweep that pays",
        "SELECT p.id FROM payments p JOIN leases l ON p.senders LIKE '%' || l.address || '%'",
    ),
    (
        "two payments of one transfer",
        "SELECT tx_hash FROM payments WHERE gone_at IS NULL GROUP BY network, tx_hash, place HAVING count(*) > 1",
    ),
    (
        "settled money that left in silence",
        "SELECT j.entry FROM journal j WHERE j.debit = 'settled' AND j.kind <> 'reversal' \
         AND NOT EXISTS (SELECT 1 FROM events e WHERE e.subject = j.invoice AND e.created_at = j.created_at) \
         AND NOT (j.credit = 'held' AND EXISTS (SELECT 1 FROM events e WHERE e.subject = j.invoice \
         AND e.type = 'invoice.under_review' AND e.created_at <= j.created_at)) \
         AND NOT EXISTS (SELECT 1 FROM review_decisions r WHERE r.subject = j.invoice AND r.decided_at = j.created_at)",
    ),
    (
        // One that is paid in part, whose time is over, closes when what is on its way arrives or is gone.
        "an invoice that waits, and neither a timer nor a payment on its way will end that",
        "SELECT i.id FROM invoices i WHERE i.status IN ('awaiting_payment', 'partially_paid') AND i.closed_at IS NULL AND NOT EXISTS (SELECT 1 FROM timers t \
         WHERE t.account = i.account AND t.mode = i.mode AND t.kind = 'expire_invoice' AND t.subject = i.id) \
         AND NOT (i.status = 'partially_paid' AND EXISTS (SELECT 1 FROM payments p WHERE p.account = i.account AND p.mode = i.mode \
         AND p.invoice = i.id AND p.status IN ('pending', 'confirming')))",
    ),
];

/// How often each invoice has told where it stands, besides that something was seen.
pub async fn told(world: &World) -> BTreeMap<String, i64> {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT subject, CAST(count(*) AS BIGINT) FROM events \
         WHERE stream_seq IS NOT NULL AND type <> 'invoice.detected' GROUP BY subject";
    let rows: Vec<(String, i64)> = reader.all(sql, &[]).await.unwrap();
    rows.into_iter().collect()
}

/// What one step of a network brings is told as one: nobody hears that an invoice is paid in part while other transfers of the same
/// blocks pay the rest.
pub async fn told_once(world: &World, before: &BTreeMap<String, i64>) -> Check {
    for (invoice, times) in told(world).await {
        let news = times - before.get(&invoice).copied().unwrap_or_default();
        if news > 1 {
            return Err(format!("{invoice} told {news} statuses of one step"));
        }
    }
    Ok(())
}

/// An open invoice holds every address it shows: money sent there can be no other invoice's.
async fn addresses_are_held(world: &World) -> Check {
    for merchant in &world.model.merchants {
        let leased = super::leases::leased_now(world, merchant).await;
        let mut reader = world.engine.db.read().await.unwrap();
        for id in merchant.invoices.keys() {
            let row = till_store::invoices::find(&mut reader, &merchant.scope, id).await;
            let row = row.unwrap().ok_or("an acknowledged invoice is gone")?;
            for option in row.options.iter().filter(|_| row.closed_at.is_none()) {
                let Some(deposit) = &option.deposit else {
                    continue;
                };
                let family = Registry::builtin().asset(&option.asset).unwrap().family;
                let key = (id.clone(), family.namespace().to_owned());
                if leased.get(&key) != Some(&deposit.address) {
                    return Err(format!(
                        "{id} shows {}, which it does not hold",
                        deposit.address
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Of all invoices that a merchant is shown, open or closed, one at most names an address: whoever sends there pays that one.
async fn an_address_has_one_asker(world: &World) -> Check {
    let mut asked: BTreeMap<(String, String), String> = BTreeMap::new();
    for (m, merchant) in world.model.merchants.iter().enumerate() {
        let mut reader = world.engine.db.read().await.unwrap();
        for id in merchant.invoices.keys() {
            let row = till_store::invoices::find(&mut reader, &merchant.scope, id).await;
            let row = row.unwrap().ok_or("an acknowledged invoice is gone")?;
            let shown = InvoiceView::of(&row, "https://till.example", None, world.now(m)).unwrap();
            for option in &shown.payment_options {
                let Some(address) = &option.address else {
                    continue;
                };
                let family = Registry::builtin().asset(option.asset).unwrap().family;
                let key = (family.namespace().to_owned(), address.clone());
                let other = asked.insert(key, id.clone());
                if let Some(other) = other.filter(|other| other != id) {
                    return Err(format!("{other} and {id} both ask for money at {address}"));
                }
            }
        }
    }
    Ok(())
}

/// What stands in the journal of a payment is all of it or nothing, and nothing once it is gone.
async fn received_once(world: &World) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT subject, debit, amount FROM journal WHERE debit = 'received' OR credit = 'received'";
    let lines: Vec<(String, String, String)> = reader.all(sql, &[]).await.unwrap();
    let mut posted: BTreeMap<String, i128> = BTreeMap::new();
    for (subject, debit, amount) in lines {
        let amount: i128 = amount.parse().map_err(|_| "an amount that is no number")?;
        *posted.entry(subject).or_default() += if debit == "received" { amount } else { -amount };
    }
    let sql = "SELECT id, units, gone_at FROM payments";
    let payments: Vec<(String, String, Option<i64>)> = reader.all(sql, &[]).await.unwrap();
    for (id, units, gone_at) in payments {
        let posted = posted.remove(&id).unwrap_or_default();
        let whole: i128 = units.parse().map_err(|_| "units that are no number")?;
        if posted != 0 && (posted != whole || gone_at.is_some()) {
            return Err(format!(
                "{posted} of {whole} received by {id}, gone {gone_at:?}"
            ));
        }
    }
    match posted.into_iter().find(|(_, posted)| *posted != 0) {
        Some((subject, posted)) => Err(format!(
            "{posted} received by {subject}, which is no payment"
        )),
        None => Ok(()),
    }
}

/// An invoice that is overpaid has received at least what it asks for, by the payments that are credited and on the chain,
/// whatever the merchant tolerates.
pub async fn overpaid_has_its_price(world: &World) -> Check {
    let sql = "SELECT p.invoice, p.account, p.mode, p.asset, p.units, p.suffix FROM payments p JOIN invoices i \
         ON i.account = p.account AND i.mode = p.mode AND i.id = p.invoice WHERE i.status = 'overpaid' \
         AND p.status = 'credited' AND p.gone_at IS NULL ORDER BY p.id";
    let mut reader = world.engine.db.read().await.unwrap();
    let rows: Vec<(String, String, String, String, String, String)> =
        reader.all(sql, &[]).await.unwrap();
    let mut received: BTreeMap<(String, String, String), Vec<(String, u128)>> = BTreeMap::new();
    for (invoice, account, mode, asset, units, suffix) in rows {
        let number = |text: &str| text.parse::<u128>().map_err(|_| "units that are no number");
        let counted = number(&units)?.saturating_sub(number(&suffix)?);
        let of = received.entry((account, mode, invoice)).or_default();
        of.push((asset, counted));
    }
    let overpaid = "SELECT account, mode, id FROM invoices WHERE status = 'overpaid' ORDER BY id";
    let overpaid: Vec<(String, String, String)> = reader.all(overpaid, &[]).await.unwrap();
    for key in overpaid {
        let (account, mode, id) = &key;
        let mode = Mode::parse(mode).ok_or("a mode that is none")?;
        let scope = Scope::new(account, mode);
        let row = till_store::invoices::find(&mut reader, &scope, id).await;
        let row = row.unwrap().ok_or("an overpaid invoice is gone")?;
        let due: Vec<(String, u128)> = row
            .options
            .iter()
            .map(|option| (option.asset.clone(), option.due.0))
            .collect();
        let received = received.remove(&key).unwrap_or_default();
        if !is_enough(&due, &received) {
            return Err(format!("{id} is overpaid with {received:?} of {due:?}"));
        }
    }
    Ok(())
}

/// Whether amounts in several assets are together at least the whole of what is due in each of them.
fn is_enough(due: &[(String, u128)], received: &[(String, u128)]) -> bool {
    let whole: BigUint = due.iter().map(|(_, due)| BigUint::from(*due)).product();
    let share = |(asset, units): &(String, u128)| {
        let option = due.iter().find(|(known, due)| known == asset && *due > 0);
        option.map_or(BigUint::ZERO, |(_, due)| &whole / *due * *units)
    };
    received.iter().map(share).sum::<BigUint>() >= whole
}

#[test]
fn an_overpaid_invoice_without_its_price_would_be_seen() {
    let amounts = |of: &[(&str, u128)]| -> Vec<(String, u128)> {
        let of = of.iter();
        of.map(|(asset, units)| ((*asset).to_owned(), *units))
            .collect()
    };
    let due = amounts(&[("A", 1_000), ("B", 30)]);
    for (received, expected) in [
        (amounts(&[("A", 995)]), false),
        (amounts(&[("A", 1_000)]), true),
        (amounts(&[("A", 500), ("B", 15)]), true),
        (amounts(&[("A", 499), ("B", 15)]), false),
        (amounts(&[("C", 5_000)]), false),
        (amounts(&[]), false),
    ] {
        assert_eq!(is_enough(&due, &received), expected, "{received:?}");
    }
}

type Credited = (String, String, String, String, String, i64);

/// What was credited without anybody looking, since the limit was set, is worth less than the limit.
async fn limits(world: &World, m: usize, merchant: &Merchant) -> Check {
    let Some(cents) = merchant.review_cents else {
        return Ok(());
    };
    let since = world.limit_set.get(&m).copied().unwrap_or(i64::MIN);
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT invoice, asset, units, suffix, level, credited_at FROM payments WHERE account = $1 AND mode = $2 \
         AND status = 'credited' AND verdict = 'passed'";
    let rows: Vec<Credited> = reader.all(sql, &super::of(&merchant.scope)).await.unwrap();
    // In minor units, over the product of what is due in each asset.
    let mut sums: BTreeMap<String, BigUint> = BTreeMap::new();
    for (invoice, asset, units, suffix, level, credited_at) in rows {
        let terms = &merchant.invoices[&invoice].terms;
        let offer = terms.offers.iter().find(|offer| offer.asset == asset);
        let Some(offer) = offer.filter(|_| credited_at > since) else {
            continue;
        };
        if Level::parse(&level).is_none() {
            return Err(format!("a level that is none: {level}"));
        }
        let number = |text: &str| text.parse::<u128>().map_err(|_| "units that are no number");
        let counted = number(&units)?.saturating_sub(number(&suffix)?);
        let whole: BigUint = terms
            .offers
            .iter()
            .map(|it| BigUint::from(it.due))
            .product();
        let worth = BigUint::from(counted) * terms.amount_minor * (&whole / offer.due);
        // What is worth less than a cent is never too much.
        if worth >= whole {
            *sums.entry(invoice).or_default() += worth;
        }
    }
    for (invoice, worth) in sums {
        let known = &merchant.invoices[&invoice];
        let whole: BigUint = known
            .terms
            .offers
            .iter()
            .map(|it| BigUint::from(it.due))
            .product();
        let limit = cents * 10u64.pow(known.currency_decimals) / 100;
        if worth >= whole * limit {
            return Err(format!("{invoice} was credited beyond the limit unseen"));
        }
    }
    Ok(())
}

/// Of one invoice, what happened first is tried first, whoever died in between. What could not be tried because no URL was set
/// is over: that a merchant sends it again later is no first attempt.
async fn webhooks_in_order(world: &World) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT event, subject FROM deliveries WHERE subject LIKE 'inv%' AND event NOT IN \
         (SELECT event FROM deliveries WHERE attempt = 1 AND error = 'no webhook URL is set any more') GROUP BY event, subject ORDER BY MIN(seq)";
    let events: Vec<(String, String)> = reader.all(sql, &[]).await.unwrap();
    let tried = world.receiver.first_tries();
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (event, subject) in &events {
        let Some(turn) = tried.get(event).copied() else {
            continue;
        };
        if let Some(before) = last.insert(subject, turn)
            && before > turn
        {
            return Err(format!(
                "{event} of {subject} was tried before an earlier one"
            ));
        }
    }
    Ok(())
}
