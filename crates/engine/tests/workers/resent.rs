//! Run again in another block, a transaction brings from others what it brought from some: whoever sends is who is judged,
//! and at a merchant's own destination, who is known by the sender.

use scoped_futures::ScopedFutureExt as _;
use till_core::money::Units;
use till_core::payment::Level;
use till_core::scope::Scope;
use till_engine::checkout::wallets::{self, NewBinding};
use till_engine::intake::chain::{NetworkUpdate, SeenTransfer, advance};
use till_store::both_engines;

use crate::remined::{USDC, is_done, mined, payments, step, transfer};
use crate::rerouted::{flagged, the_report_agrees};
use crate::world::{World, account};

const NETWORK: &str = "eip155:84532";
const LISTED: &str = "0xaE0CF0b1a09f16Ff1eBab390fDb66F839Cc2F29B";
const WALLETS: [&str; 2] = [
    "0x1111111111111111111111111111111111111111",
    "0x2222222222222222222222222222222222222222",
];

/// An invoice, whose it is, and what its wallet is to send.
struct Bound {
    scope: Scope,
    invoice: String,
    sent: SeenTransfer,
}

async fn bound(world: &World, scope: &Scope, wallet: &str) -> Bound {
    let invoice = world.invoices(scope, 1).await.remove(0);
    let sent = binding(world, scope, (&invoice, wallet)).await;
    Bound {
        scope: scope.clone(),
        invoice,
        sent,
    }
}

/// What a wallet is to send for an invoice.
async fn binding(world: &World, scope: &Scope, (invoice, wallet): (&str, &str)) -> SeenTransfer {
    let request = NewBinding {
        invoice,
        asset: USDC,
        sender: wallet,
        proof: None,
    };
    let request = &request;
    let binding = world.engine.unit(scope, |tx, context| {
        wallets::bind(tx, context, request).scope_boxed()
    });
    let binding = binding.await.unwrap();
    SeenTransfer {
        tx_hash: "bundle".into(),
        place: 0,
        asset: USDC.into(),
        units: Units(binding.amount_base_units.parse().unwrap()),
        arrived: None,
        strayed: false,
        registers: None,
        senders: vec![wallet.into()],
        recipient: binding.destination,
        height: Some(2),
    }
}

/// What these send, one behind the other.
fn bundle(of: &[&Bound]) -> Vec<SeenTransfer> {
    let placed = (0..).zip(of);
    let placed = placed.map(|(place, of)| SeenTransfer {
        place,
        ..of.sent.clone()
    });
    placed.collect()
}

/// The invoice's status, and what stands of its own: places, senders and units.
async fn stands(world: &World, of: &Bound) -> (&'static str, Vec<(i64, Vec<String>, Units)>) {
    let mut reader = world.db.read().await.unwrap();
    let found = till_store::payments::of_invoice(&mut reader, &of.scope, &of.invoice).await;
    let found = found.unwrap();
    drop(reader);
    let standing = found.into_iter().filter(|row| row.gone_at.is_none());
    let standing = standing.map(|row| (row.place, row.senders, row.units));
    let status = world.row(&of.scope, &of.invoice).await.status.as_str();
    (status, standing.collect())
}

async fn has_its_own(world: &World, of: &Bound, place: i64) {
    let own = vec![(place, of.sent.senders.clone(), of.sent.units)];
    assert_eq!(stands(world, of).await, ("paid", own));
}

fn payees(of: &[&Bound]) -> Vec<(Scope, String)> {
    let each = of.iter().map(|of| (of.scope.clone(), of.invoice.clone()));
    each.collect()
}

async fn two_bound(db: till_store::Db, is_one_account: bool) -> (World, Bound, Bound) {
    let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
    let other = match is_one_account {
        true => world.scope.clone(),
        false => account(&world.engine).await,
    };
    let one = bound(&world, &world.scope, WALLETS[0]).await;
    let two = bound(&world, &other, WALLETS[1]).await;
    assert_eq!(one.sent.recipient, two.sent.recipient, "one destination");
    (world, one, two)
}

/// The same amount, at the same place, from somebody who is on a list: before it is credited, or after.
async fn is_screened_anew(db: till_store::Db, credit_at: Level) {
    let world = World::crediting(db, [(NETWORK.into(), credit_at)].into()).await;
    let invoice = world.invoice().await;
    let from = async |sender: &str| {
        let sent = transfer(&world, &invoice, USDC, 2).await;
        let senders = vec![sender.to_owned()];
        vec![SeenTransfer { senders, ..sent }]
    };
    mined(&world, "clean", from(WALLETS[0]).await, false).await;
    mined(&world, "listed", from(LISTED).await, true).await;
    let [payment] = &payments(&world, &invoice).await[..] else {
        panic!("one payment")
    };
    let shown = (payment.senders.as_slice(), payment.status.as_str());
    assert_eq!(shown, (&[LISTED.to_owned()][..], "held"));
    assert_eq!(world.status(&invoice).await, "under_review");
}

both_engines! {
    async fn who_sends_it_now_is_who_is_screened(db: Db) {
        is_screened_anew(db, Level::Final).await;
    }

    async fn who_sends_it_now_is_who_is_screened_where_it_was_credited(db: Db) {
        is_screened_anew(db, Level::Included).await;
    }

    async fn what_a_stranger_sends_at_its_place_is_counted_once(db: Db) {
        let (world, one, _) = two_bound(db, true).await;
        mined(&world, "ours", bundle(&[&one]), false).await;
        let stranger = SeenTransfer {
            senders: vec!["0x9999999999999999999999999999999999999999".into()],
            units: Units(5_000_000),
            ..one.sent.clone()
        };
        mined(&world, "theirs", vec![stranger], true).await;
        assert_eq!(stands(&world, &one).await, ("awaiting_payment", vec![]));
        assert_eq!(flagged(&world, &one.scope).await, [("unattributed", "5.00".to_owned())]);
    }

    async fn what_was_seen_before_a_wallet_was_bound_is_not_its_at_another_place(db: Db) {
        let (world, one, two) = two_bound(db, true).await;
        let unbound = world.invoices(&world.scope, 1).await.remove(0);
        let third = SeenTransfer {
            senders: vec!["0x3333333333333333333333333333333333333333".into()],
            place: 1,
            units: Units(25_000_000),
            ..one.sent.clone()
        };
        mined(&world, "before", vec![one.sent.clone(), third.clone()], false).await;
        world.clock.advance(1_000);
        let late = binding(&world, &world.scope, (&unbound, &third.senders[0])).await;
        assert_eq!(late.units, third.units, "the very amount");
        let moved = SeenTransfer { place: 0, ..third };
        mined(&world, "after", vec![moved, SeenTransfer { place: 1, ..one.sent.clone() }], true).await;
        has_its_own(&world, &one, 1).await;
        assert_eq!(world.row(&world.scope, &unbound).await.status.as_str(), "awaiting_payment");
        assert_eq!(stands(&world, &two).await, ("awaiting_payment", vec![]));
    }

    async fn what_a_waiting_transaction_would_send_instead_is_not_the_bound_wallets(db: Db) {
        let world = World::crediting(db, [(NETWORK.into(), Level::Safe)].into()).await;
        let one = bound(&world, &world.scope, WALLETS[0]).await;
        let waits = async |units: Units| {
            let waiting = SeenTransfer { units, height: None, ..one.sent.clone() };
            let told = NetworkUpdate { transfers: vec![waiting], ..step(&world).await };
            is_done(advance(&world.engine, &told).await);
        };
        waits(one.sent.units).await;
        assert_eq!(stands(&world, &one).await.0, "detected");
        waits(Units(one.sent.units.0 / 2)).await;
        assert_eq!(stands(&world, &one).await, ("awaiting_payment", vec![]));
        let half = SeenTransfer { units: Units(one.sent.units.0 / 2), ..one.sent.clone() };
        mined(&world, "half", vec![half], false).await;
        assert_eq!(stands(&world, &one).await, ("awaiting_payment", vec![]));
        mined(&world, "whole", bundle(&[&one]), false).await;
        has_its_own(&world, &one, 0).await;
    }

    async fn a_bundle_that_loses_one_pays_the_other_and_nobody_else(db: Db) {
        let (world, one, two) = two_bound(db, true).await;
        mined(&world, "both", bundle(&[&one, &two]), false).await;
        has_its_own(&world, &one, 0).await;
        has_its_own(&world, &two, 1).await;
        mined(&world, "one", bundle(&[&two]), false).await;
        the_report_agrees(&world, &payees(&[&one, &two])).await;
        assert_eq!(stands(&world, &one).await, ("awaiting_payment", vec![]));
        has_its_own(&world, &two, 0).await;
        mined(&world, "both again", bundle(&[&one, &two]), true).await;
        has_its_own(&world, &one, 0).await;
        has_its_own(&world, &two, 1).await;
        the_report_agrees(&world, &payees(&[&one, &two])).await;
    }

    async fn senders_that_change_places_keep_their_own_also_of_two_accounts(db: Db) {
        let (world, one, two) = two_bound(db, false).await;
        for (turn, order) in [[&one, &two], [&two, &one], [&one, &two]].into_iter().enumerate() {
            mined(&world, &format!("branch {turn}"), bundle(&order), turn == 2).await;
            let place = i64::try_from(turn % 2).unwrap();
            has_its_own(&world, &one, place).await;
            has_its_own(&world, &two, 1 - place).await;
            the_report_agrees(&world, &payees(&[&one, &two])).await;
        }
    }
}
