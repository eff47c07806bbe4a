//! Run again in another block, a transaction pays the same addresses in another order: everybody has what it paid them.

use till_core::money::Units;
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::books::{BooksRequest, Walk};
use till_engine::intake::chain::SeenTransfer;
use till_store::{Queries as _, both_engines};

use crate::remined::{USDC, mined};
use crate::world::{NOW, World, account};

const NETWORK: &str = "eip155:84532";

/// An invoice and whose it is.
type Payee = (Scope, String);

/// A world that credits what is safe, with two invoices in it.
async fn routed(db: till_store::Db, is_one_account: bool) -> (World, [Payee; 2]) {
    let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
    let other = match is_one_account {
        true => world.scope.clone(),
        false => account(&world.engine).await,
    };
    let mut payees = Vec::new();
    for scope in [world.scope.clone(), other] {
        let invoice = world.invoices(&scope, 1).await.remove(0);
        payees.push((scope, invoice));
    }
    (world, payees.try_into().unwrap())
}

/// What a router's transaction pays, each 25 at its place, in a block above the first that replaces what was there.
async fn routes(world: &World, branch: &str, order: &[&Payee], is_final: bool) {
    let mut transfers = Vec::new();
    for (place, (scope, invoice)) in (0..).zip(order) {
        let row = world.row(scope, invoice).await;
        transfers.push(SeenTransfer {
            tx_hash: "routed".into(),
            place,
            asset: USDC.into(),
            units: Units(25_000_000),
            arrived: None,
            strayed: false,
            registers: None,
            senders: Vec::new(),
            recipient: row.options[0].deposit.as_ref().unwrap().address.clone(),
            height: Some(2),
        });
    }
    mined(world, branch, transfers, is_final).await;
}

/// The invoice's status, and its payments by place.
async fn stands(
    world: &World,
    (scope, invoice): &Payee,
) -> (&'static str, Vec<(i64, &'static str)>) {
    let mut reader = world.db.read().await.unwrap();
    let found = till_store::payments::of_invoice(&mut reader, scope, invoice).await;
    let mut places: Vec<(i64, &str)> = found
        .unwrap()
        .iter()
        .map(|row| (row.place, row.status.as_str()))
        .collect();
    places.sort_unstable();
    drop(reader);
    (world.row(scope, invoice).await.status.as_str(), places)
}

/// Each has its 25 in the books once, and no transfer is anybody else's or nobody's.
async fn the_books_have_each_once(world: &World, payees: &[Payee]) {
    let mut reader = world.db.read().await.unwrap();
    for (_, invoice) in payees {
        let sql = "SELECT CAST(COALESCE(SUM(CASE WHEN debit = 'received' THEN CAST(amount AS BIGINT) \
             WHEN credit = 'received' THEN -CAST(amount AS BIGINT) ELSE 0 END), 0) AS BIGINT) FROM journal WHERE invoice = $1";
        let (received,): (i64,) = reader
            .one(sql, &[invoice.as_str().into()])
            .await
            .unwrap()
            .unwrap();
        assert_eq!(received, 25_000_000, "{invoice}");
    }
    let never = [
        "SELECT id FROM payments p WHERE gone_at IS NULL AND NOT EXISTS (SELECT 1 FROM transfers t \
         WHERE t.payment = p.id AND t.recipient = p.recipient AND t.place = p.place AND t.gone = 0)",
        "SELECT tx_hash FROM transfers WHERE gone = 0 AND (payment IS NULL OR reason IS NOT NULL)",
    ];
    for sql in never {
        let found: Vec<(String,)> = reader.all(sql, &[]).await.unwrap();
        assert!(found.is_empty(), "{sql}: {found:?}");
    }
}

/// Reconciliation flags nothing.
pub async fn the_report_agrees(world: &World, payees: &[Payee]) {
    for (scope, _) in payees {
        assert_eq!(flagged(world, scope).await, []);
    }
}

/// What the report of an account flags, and how much of it.
pub async fn flagged(world: &World, scope: &Scope) -> Vec<(&'static str, String)> {
    let asked = BooksRequest {
        from: Some(NOW - 1),
        to: Some(NOW + 1),
        asset: None,
    };
    let walk = Walk::begin(&world.engine, &world.engine.db.primary(), scope, &asked).await;
    let (mut walk, mut flagged) = (walk.unwrap(), Vec::new());
    while let Some(found) = walk.next().await.unwrap() {
        let found = found.into_iter().filter(|one| one.severity == "flagged");
        flagged.extend(found.map(|one| (one.kind, one.amount)));
    }
    assert_eq!(walk.assets().count(), 1);
    flagged
}

both_engines! {
    async fn paid_in_another_order_both_are_paid_once_and_there_and_back_again(db: Db) {
        let (world, [a, b]) = routed(db, true).await;
        let orders = [[&a, &b], [&b, &a], [&a, &b], [&b, &a]];
        for (turn, order) in orders.iter().enumerate() {
            routes(&world, &format!("branch {turn}"), order, false).await;
            let (here, there) = ("credited", "reversed");
            let of_a = match (turn, turn % 2) {
                (0, _) => vec![(0, here)],
                (_, 0) => vec![(0, here), (1, there)],
                _ => vec![(0, there), (1, here)],
            };
            let of_b = match (turn, turn % 2) {
                (0, _) => vec![(1, here)],
                (_, 0) => vec![(0, there), (1, here)],
                _ => vec![(0, here), (1, there)],
            };
            assert_eq!(stands(&world, &a).await, ("paid", of_a), "turn {turn}");
            assert_eq!(stands(&world, &b).await, ("paid", of_b), "turn {turn}");
            the_books_have_each_once(&world, &[a.clone(), b.clone()]).await;
        }
        routes(&world, "branch 3", &orders[3], true).await;
        the_report_agrees(&world, &[a.clone(), b.clone()]).await;
        let reversals = world.event_types(&a.1).await;
        let reversals = reversals.iter().filter(|kind| *kind == "invoice.payment_reversed");
        assert_eq!(reversals.count(), 3);
    }

    async fn what_moves_to_the_place_of_another_account_s_is_its_own_again(db: Db) {
        let (world, [a, b]) = routed(db, false).await;
        routes(&world, "both", &[&a, &b], false).await;
        routes(&world, "one", &[&b], false).await;
        let gone = ("awaiting_payment", vec![(0, "reversed")]);
        assert_eq!(stands(&world, &a).await, gone);
        let moved = ("paid", vec![(0, "credited"), (1, "reversed")]);
        assert_eq!(stands(&world, &b).await, moved);
        routes(&world, "turned", &[&b, &a], true).await;
        let moved = ("paid", vec![(0, "reversed"), (1, "credited")]);
        assert_eq!(stands(&world, &a).await, moved);
        the_books_have_each_once(&world, &[a.clone(), b.clone()]).await;
        the_report_agrees(&world, &[a, b]).await;
    }
}
