//! Deposit addresses: one invoice at a time, a rest in between, and never further ahead of what was paid
//! than a wallet looks. (I06, I15)

use std::collections::BTreeMap;
use std::ops::Range;

use till_store::Queries as _;

use super::{of, same};
use crate::model::{Lease, Merchant};
use crate::world::{Check, GAP_LIMIT, World};

type Row = (String, i64, String, String, i64, Option<i64>, i64);

pub async fn check(world: &World, merchant: &Merchant) -> Check {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT family, number, address, invoice, leased_at, free_at, freed FROM leases \
         WHERE account = $1 AND mode = $2 ORDER BY family, number, leased_at";
    let rows: Vec<Row> = reader.all(sql, &of(&merchant.scope)).await.unwrap();
    for of_address in rows.chunk_by(|a, b| (&a.0, a.1) == (&b.0, b.1)) {
        for pair in of_address.windows(2) {
            let (free_at, next_at) = (pair[0].5, pair[1].4);
            if pair[0].6 != 1 || free_at.is_none_or(|free_at| free_at > next_at) {
                return Err(format!("{} was leased twice: {pair:?}", pair[0].2));
            }
        }
        let (family, number, address, ..) = &of_address[0];
        let Some(places) = places(merchant, family, address) else {
            return Err(format!("{address} was leased unseen"));
        };
        let is_one = usize::try_from(*number).is_ok_and(|number| places.contains(&number));
        if !leaves_gaps(merchant, family) && !is_one {
            return Err(format!("{address} has number {number}, not of {places:?}"));
        }
    }
    let mut expected: Vec<_> = merchant.leases.iter().map(row_of).collect();
    let mut found: Vec<_> = rows
        .into_iter()
        .map(|(family, _, address, invoice, at, free_at, freed)| {
            (family, address, at, invoice, free_at, freed)
        })
        .collect();
    expected.sort();
    found.sort();
    for (found, expected) in found.iter().zip(&expected) {
        same("a lease", found, expected)?;
    }
    if let Some(extra) = found.get(expected.len()).or(expected.get(found.len())) {
        return Err(format!("one lease more or less: {extra:?}"));
    }
    let sql = "SELECT last_paid_number FROM address_pools WHERE account = $1 AND mode = $2 AND family = 'bip122'";
    if let Some((last_paid,)) = reader.one(sql, &of(&merchant.scope)).await.unwrap() {
        same(
            "the last Bitcoin number paid",
            last_paid,
            last_paid_number(merchant),
        )?;
    }
    Ok(())
}

fn row_of(lease: &Lease) -> (String, String, i64, String, Option<i64>, i64) {
    (
        lease.family.to_owned(),
        lease.address.clone(),
        lease.leased_at,
        lease.invoice.clone(),
        lease.free_at,
        i64::from(lease.freed),
    )
}

/// A process that dies may hold numbers of a large pool, which nobody uses then; of Bitcoin's never.
fn leaves_gaps(merchant: &Merchant, family: &str) -> bool {
    merchant.pool_max > 1_000 && family != "bip122"
}

/// A family's addresses in the order in which they were first leased.
fn numbers<'a>(merchant: &'a Merchant, family: &'a str) -> impl Iterator<Item = &'a String> {
    let mut known: Vec<&String> = Vec::new();
    for lease in merchant
        .leases
        .iter()
        .filter(|lease| lease.family == family)
    {
        if !known.contains(&&lease.address) {
            known.push(&lease.address);
        }
    }
    known.into_iter()
}

/// The numbers that an address may have: of several first leased at one time, the server says which came first.
fn places(merchant: &Merchant, family: &str, address: &str) -> Option<Range<usize>> {
    let first = |address: &str| {
        let mut of_it = merchant.leases.iter().filter(|it| it.address == address);
        of_it.next().map(|lease| lease.leased_at)
    };
    let at = first(address)?;
    let all: Vec<i64> = numbers(merchant, family)
        .filter_map(|it| first(it))
        .collect();
    let before = all.iter().filter(|it| **it < at).count();
    let by_then = all.iter().filter(|it| **it <= at).count();
    Some(before..by_then)
}

/// The highest number of a Bitcoin address that was credited.
fn last_paid_number(merchant: &Merchant) -> i64 {
    let credited = |address: &&String| merchant.credited.contains(*address);
    let last = numbers(merchant, "bip122").collect::<Vec<_>>();
    last.iter()
        .rposition(credited)
        .map_or(-1, |number| i64::try_from(number).unwrap())
}

/// The same for a payer's pick: of what a Bitcoin wallet looks ahead, payers get half.
pub fn available_to_payers(merchant: &Merchant, family: &str, now: i64) -> i64 {
    let beyond = last_paid_number(merchant);
    let ahead = |lease: &&Lease| {
        let number = numbers(merchant, family).position(|known| *known == lease.address);
        i64::try_from(number.unwrap()).unwrap() > beyond
    };
    let of_family = || {
        merchant
            .leases
            .iter()
            .filter(|it| it.family == family && !it.freed)
    };
    let rests = |lease: &&Lease| lease.free_at.is_none_or(|at| at > now);
    let picked = of_family()
        .filter(|it| it.picked)
        .filter(rests)
        .filter(ahead);
    if family != "bip122" || picked.count() < usize::try_from(GAP_LIMIT / 2).unwrap() {
        return available(merchant, family, now);
    }
    let cooled = of_family().filter(|it| !rests(it)).filter(|it| !ahead(it));
    i64::try_from(cooled.count()).unwrap()
}

/// How many addresses of a family could be handed out at a moment.
pub fn available(merchant: &Merchant, family: &str, now: i64) -> i64 {
    let cooled = merchant.leases.iter().filter(|lease| {
        lease.family == family && !lease.freed && lease.free_at.is_some_and(|at| at <= now)
    });
    let made = i64::try_from(numbers(merchant, family).count()).unwrap();
    let mut end = merchant.pool_max;
    if family == "bip122" {
        end = end.min(last_paid_number(merchant) + 1 + GAP_LIMIT);
    }
    i64::try_from(cooled.count()).unwrap() + (end - made).max(0)
}

/// Which address each invoice holds, as the server has it.
pub async fn leased_now(world: &World, merchant: &Merchant) -> BTreeMap<(String, String), String> {
    let mut reader = world.engine.db.read().await.unwrap();
    let sql = "SELECT invoice, family, address FROM leases WHERE account = $1 AND mode = $2 AND freed = 0";
    let rows: Vec<(String, String, String)> = reader.all(sql, &of(&merchant.scope)).await.unwrap();
    let by_invoice = |(invoice, family, address)| ((invoice, family), address);
    rows.into_iter().map(by_invoice).collect()
}
