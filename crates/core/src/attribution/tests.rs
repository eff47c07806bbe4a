//! Whose transfers are, case by case and as properties.

use proptest::prelude::*;

use super::*;

fn by_lease(leases: &[Lease], at: i64) -> Option<usize> {
    super::by_lease(leases, at, CLOCK_SLACK_MS)
}

#[test]
fn where_clocks_are_worse_an_earlier_block_is_still_the_first_holders() {
    let hour = 3_600_000;
    let lease = |leased_at, free_at| Lease { leased_at, free_at };
    let only = [lease(NOW, None)];
    assert_eq!(super::by_lease(&only, NOW - hour, CLOCK_SLACK_MS), None);
    assert_eq!(super::by_lease(&only, NOW - hour, 2 * hour), Some(0));
    // Who held the address before keeps what came until it was another's.
    let two = [
        lease(NOW - 9 * hour, Some(NOW - hour / 2)),
        lease(NOW, None),
    ];
    assert_eq!(super::by_lease(&two, NOW - hour, 2 * hour), Some(0));
    assert_eq!(super::by_lease(&two, NOW - hour / 4, 2 * hour), Some(1));
}

const NOW: i64 = 1_800_000_000_000;

fn lease(leased_at: i64, free_at: Option<i64>) -> Lease {
    Lease { leased_at, free_at }
}

fn binding(created_at: i64, expires_at: i64, closed_at: Option<i64>) -> Binding<'static> {
    Binding {
        invoice: "inv_a",
        created_at,
        expires_at,
        closed_at,
        replaced_at: None,
    }
}

/// Whose a transfer is, as far as that can be said.
fn by_binding(bindings: &[Binding<'_>], at: i64, first_seen_at: i64) -> Option<usize> {
    super::by_binding(bindings, at, first_seen_at)?.index
}

fn of_another(binding: Binding<'static>) -> Binding<'static> {
    Binding {
        invoice: "inv_b",
        ..binding
    }
}

#[test]
fn a_lease_counts_from_two_minutes_before_it_was_made() {
    let only = [lease(NOW + 750, None)];
    // The block that has the payer's transfer names the second in which the lease was made.
    assert_eq!(by_lease(&only, NOW), Some(0));
    assert_eq!(by_lease(&only, NOW + 750 - CLOCK_SLACK_MS), Some(0));
    assert_eq!(by_lease(&only, NOW + 749 - CLOCK_SLACK_MS), None);
    assert_eq!(by_lease(&only, NOW + 1_000_000_000), Some(0));
}

#[test]
fn a_lease_never_reaches_back_into_another_s() {
    let free_at = NOW - 30_000;
    let leases = [lease(NOW - 9_000_000, Some(free_at)), lease(NOW, None)];
    assert_eq!(by_lease(&leases, free_at - 1), Some(0));
    assert_eq!(by_lease(&leases, free_at), Some(1));
    let long_free = [lease(0, Some(1_000)), lease(NOW, None)];
    assert_eq!(by_lease(&long_free, NOW - CLOCK_SLACK_MS), Some(1));
    // Between the two it is the last holder's: an address once shown is paid to for years.
    assert_eq!(by_lease(&long_free, NOW - CLOCK_SLACK_MS - 1), Some(0));
}

#[test]
fn a_lease_that_never_ended_in_the_books_holds_until_the_next_was_made() {
    let leases = [lease(NOW - 10_000, None), lease(NOW, None)];
    assert_eq!(by_lease(&leases, NOW - 1), Some(0));
    assert_eq!(by_lease(&leases, NOW), Some(1));
}

#[test]
fn a_binding_counts_from_two_minutes_before_it_was_made_and_for_good() {
    let only = [binding(NOW + 999, NOW + 60_000, None)];
    assert_eq!(by_binding(&only, NOW, NOW + 999), Some(0));
    assert_eq!(
        by_binding(&only, NOW + 999 - CLOCK_SLACK_MS, NOW + 5_000),
        Some(0)
    );
    assert_eq!(
        by_binding(&only, NOW + 998 - CLOCK_SLACK_MS, NOW + 5_000),
        None
    );
    assert_eq!(by_binding(&only, NOW + 59_999, NOW + 70_000), Some(0));
    // What is sent after its time is still its invoice's, late.
    assert_eq!(by_binding(&only, NOW + 60_000, NOW + 70_000), Some(0));
}

#[test]
fn an_ended_binding_has_what_its_wallet_sends_late_until_somebody_else_has_it() {
    let over = binding(NOW, NOW + 1_000, Some(NOW + 1_000));
    let years = NOW + 100_000_000_000;
    let found = super::by_binding(&[over], years, years);
    let bound = |fit, index| Some(Bound { fit, index });
    assert_eq!(found, bound(Fit::Over, Some(0)));
    // Somebody else has the same now, or had it last.
    let open = of_another(binding(years - 10, years + 1_000, None));
    assert_eq!(
        super::by_binding(&[over, open], years, years),
        bound(Fit::Holds, Some(1))
    );
    let last = of_another(binding(NOW + 2_000, NOW + 3_000, Some(NOW + 3_000)));
    assert_eq!(
        super::by_binding(&[over, last], years, years),
        bound(Fit::Over, Some(1))
    );
    // Two that could still be paid so fit alike.
    let paid = binding(NOW, years + 1, Some(NOW + 1_000));
    let also = of_another(binding(NOW + 2_000, years + 1, Some(NOW + 3_000)));
    assert_eq!(
        super::by_binding(&[paid, also], years, years),
        bound(Fit::InTime, None)
    );
}

#[test]
fn a_replaced_binding_stays_ended() {
    let replaced = Binding {
        replaced_at: Some(NOW + 5_000),
        ..binding(NOW, NOW + 900_000, Some(NOW + 1_000))
    };
    assert_eq!(by_binding(&[replaced], NOW + 4_999, NOW + 9_000), Some(0));
    assert_eq!(by_binding(&[replaced], NOW + 5_000, NOW + 9_000), None);
    assert_eq!(by_binding(&[replaced], NOW + 900_000, NOW + 900_000), None);
}

#[test]
fn what_was_seen_before_a_wallet_was_bound_is_not_that_binding_s() {
    let only = [binding(NOW, NOW + 60_000, None)];
    assert_eq!(by_binding(&only, NOW - 1_000, NOW - 1), None);
    // Waiting for a block when the wallet was bound, and mined after: still not.
    assert_eq!(by_binding(&only, NOW + 12_000, NOW - 1), None);
    assert_eq!(by_binding(&only, NOW - 1_000, NOW), Some(0));
}

#[test]
fn the_binding_that_held_the_amount_has_the_transfer() {
    let bindings = [
        binding(NOW, NOW + 900_000, Some(NOW + 300_000)),
        of_another(binding(NOW + 310_000, NOW + 900_000, None)),
    ];
    let seen = NOW + 400_000;
    assert_eq!(by_binding(&bindings, NOW + 299_999, seen), Some(0));
    assert_eq!(by_binding(&bindings, NOW + 300_000, seen), Some(1));
    assert_eq!(by_binding(&bindings, NOW + 350_000, seen), Some(1));
}

#[test]
fn a_paid_invoice_s_wallet_still_pays_it_and_two_such_leave_it_to_nobody() {
    let paid = binding(NOW, NOW + 900_000, Some(NOW + 1_000));
    assert_eq!(by_binding(&[paid], NOW + 5_000, NOW + 5_000), Some(0));
    let also = of_another(binding(NOW + 2_000, NOW + 900_000, Some(NOW + 3_000)));
    assert_eq!(by_binding(&[paid, also], NOW + 5_000, NOW + 5_000), None);
    assert_eq!(by_binding(&[paid, also], NOW + 2_500, NOW + 5_000), Some(1));
}

#[test]
fn a_wallet_told_the_same_again_pays_the_same_invoice() {
    let once = binding(NOW, NOW + 900_000, Some(NOW + 1_000));
    let again = binding(NOW + 5_000, NOW + 900_000, Some(NOW + 6_000));
    assert_eq!(
        by_binding(&[once, again], NOW + 9_000, NOW + 9_000),
        Some(1)
    );
    let between = of_another(binding(NOW + 2_000, NOW + 900_000, Some(NOW + 4_000)));
    let all = [once, between, again];
    assert_eq!(by_binding(&all, NOW + 500, NOW + 9_000), Some(0));
    assert_eq!(by_binding(&all, NOW + 3_000, NOW + 9_000), Some(1));
    assert_eq!(by_binding(&all, NOW + 5_500, NOW + 9_000), Some(2));
    assert_eq!(by_binding(&all, NOW + 9_000, NOW + 9_000), None);
}

/// Bindings of one amount as wallets are given them: each once the one before has been given up for long enough.
fn given() -> impl Strategy<Value = Vec<Binding<'static>>> {
    const INVOICES: [&str; 5] = ["inv_a", "inv_b", "inv_c", "inv_d", "inv_e"];
    let step = (0..400_000_i64, 1..400_000_i64, 0..900_000_i64);
    prop::collection::vec(step, 1..6).prop_map(|steps| {
        let mut at = NOW;
        let mut given = Vec::new();
        for ((pause, open, rest), invoice) in steps.into_iter().zip(INVOICES) {
            at += pause;
            let closed_at = at + open;
            let told = binding(at, closed_at + rest, Some(closed_at));
            given.push(Binding { invoice, ..told });
            while given_up_by(at) < closed_at {
                at += 1_000;
            }
        }
        given
    })
}

/// Leases of one address as the pool makes them: each after the one before is free.
fn pool() -> impl Strategy<Value = Vec<Lease>> {
    let step = (0..400_000_i64, 0..400_000_i64, 0..400_000_i64);
    prop::collection::vec(step, 1..6).prop_map(|steps| {
        let mut at = NOW;
        let mut leases = Vec::new();
        for (pause, open, cooling) in steps {
            at += pause;
            let free_at = at + open + cooling;
            leases.push(lease(at, Some(free_at)));
            at = free_at;
        }
        leases
    })
}

proptest! {
    #[test]
    fn whoever_holds_an_address_has_what_is_sent_to_it(leases in pool(), pick in 0..6_usize, part in 0..1_000_i64) {
        let index = pick % leases.len();
        let Lease { leased_at, free_at } = leases[index];
        let held = free_at.unwrap() - leased_at;
        prop_assume!(held > 0);
        prop_assert_eq!(by_lease(&leases, leased_at + (held - 1) * part / 1_000), Some(index));
    }

    #[test]
    fn time_never_leads_back_to_an_earlier_holder(leases in pool(), a in -200_000..4_000_000_i64, b in -200_000..4_000_000_i64) {
        let (early, late) = (a.min(b), a.max(b));
        prop_assert!(by_lease(&leases, NOW + early) <= by_lease(&leases, NOW + late));
    }

    #[test]
    fn the_order_of_the_rows_says_nothing(leases in pool(), at in -200_000..4_000_000_i64) {
        let mut made: Vec<i64> = leases.iter().map(|lease| lease.leased_at).collect();
        made.dedup();
        prop_assume!(made.len() == leases.len());
        let mut reversed = leases.clone();
        reversed.reverse();
        let found = by_lease(&leases, NOW + at).map(|index| leases[index]);
        let again = by_lease(&reversed, NOW + at).map(|index| reversed[index]);
        prop_assert_eq!(found, again);
    }

    #[test]
    fn at_most_two_minutes_before_the_first_holder_there_is_nobody(leases in pool(), before in 0..1_000_000_i64) {
        let first = leases[0].leased_at - CLOCK_SLACK_MS;
        prop_assert_eq!(by_lease(&leases, first), Some(0));
        prop_assert_eq!(by_lease(&leases, first - 1 - before), None);
    }

    #[test]
    fn a_binding_made_after_a_transfer_was_seen_never_gets_it(
        leases in pool(), at in -200_000..4_000_000_i64, seen in -200_000..4_000_000_i64,
    ) {
        let bindings: Vec<Binding<'_>> = leases
            .iter()
            .map(|lease| binding(lease.leased_at, lease.leased_at + 600_000, lease.free_at))
            .collect();
        if let Some(index) = by_binding(&bindings, NOW + at, NOW + seen) {
            prop_assert!(bindings[index].created_at <= NOW + seen);
            prop_assert!(bindings[index].created_at - CLOCK_SLACK_MS <= NOW + at);
        }
    }

    #[test]
    fn what_a_wallet_was_given_leads_to_nobody_else_by_a_slow_clock(
        given in given(), pick in 0..6_usize, part in 0..1_000_i64, behind in 0..=CLOCK_SLACK_MS,
    ) {
        let index = pick % given.len();
        let Binding { created_at, closed_at, .. } = given[index];
        let seen = created_at + (closed_at.unwrap() - 1 - created_at) * part / 1_000;
        prop_assert_eq!(by_binding(&given, seen - behind, seen), Some(index));
    }

    #[test]
    fn an_open_binding_has_what_its_wallet_sends_while_it_is_open(leases in pool(), after in 0..600_000_i64) {
        let mut bindings: Vec<Binding<'_>> = leases
            .iter()
            .map(|lease| binding(lease.leased_at, lease.leased_at + 600_000, lease.free_at))
            .collect();
        let last = bindings.len() - 1;
        bindings[last].closed_at = None;
        let at = bindings[last].created_at + after;
        prop_assert_eq!(by_binding(&bindings, at, at), Some(last));
    }
}
