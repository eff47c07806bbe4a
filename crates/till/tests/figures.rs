//! How `make bench` comes from rounds to a verdict.

use figures::{Change, Hundredths, Pairs, Spread, Verdict, has_moved, median, spread};

#[path = "../benches/bench/figures.rs"]
mod figures;

fn pairs(limit: &[u64], program: &[u64]) -> Pairs {
    let mut pairs = Pairs::default();
    for (limit, program) in limit.iter().zip(program) {
        pairs.push(*limit, *program);
    }
    pairs
}

#[test]
fn the_median_is_the_middle_whatever_the_order() {
    assert_eq!(median(&[9, 1, 5]), 5);
    assert_eq!(median(&[4, 1, 3, 2]), 3);
    assert_eq!(median(&[7]), 7);
    assert_eq!(median::<u64>(&[]), 0);
}

#[test]
fn the_spread_leaves_out_a_quarter_on_each_side() {
    let of = |rounds: &[u64]| spread(rounds);
    assert_eq!(of(&[5, 1, 9]), Spread { low: 1, high: 9 });
    let nine = [1, 90, 30, 40, 50, 60, 70, 80, 20];
    assert_eq!(of(&nine), Spread { low: 30, high: 70 });
    assert_eq!(of(&[8, 2, 4, 6]), Spread { low: 4, high: 6 });
    assert_eq!(of(&[]), Spread { low: 0, high: 0 });
}

#[test]
fn ratios_are_taken_of_each_pair_and_not_of_the_medians() {
    // The machine became half as fast in the middle: each pair still says the same.
    let slowed = pairs(&[1_000, 1_000, 500], &[1_500, 1_500, 750]);
    assert_eq!(slowed.ratios(), [Hundredths(150); 3]);
    assert_eq!(slowed.costs(), [Hundredths(66); 3]);
    assert_eq!(slowed.at_least(Hundredths(150)), Verdict::Reached);
}

#[test]
fn a_target_within_the_spread_is_close_and_neither_reached_nor_missed() {
    let measured = pairs(&[100; 4], &[140, 150, 160, 170]);
    assert_eq!(measured.at_least(Hundredths(150)), Verdict::Reached);
    assert_eq!(measured.at_least(Hundredths(155)), Verdict::Close);
    assert_eq!(measured.at_least(Hundredths(161)), Verdict::Missed);
    let dearer = pairs(&[150, 160, 140, 170], &[100; 4]);
    assert_eq!(dearer.at_most(Hundredths(160)), Verdict::Reached);
    assert_eq!(dearer.at_most(Hundredths(155)), Verdict::Close);
    assert_eq!(dearer.at_most(Hundredths(149)), Verdict::Missed);
}

#[test]
fn nothing_is_said_when_the_limit_moved_by_more_than_half() {
    assert!(!has_moved(&[1_000, 500, 1_500]));
    assert!(has_moved(&[1_000, 499, 1_100]));
    assert!(has_moved(&[1_000, 900, 1_501]));
    assert!(!has_moved(&[2_000; 9]));
    let moved = pairs(&[1_000, 400, 1_000], &[5_000, 5_000, 5_000]);
    assert_eq!(moved.at_least(Hundredths(100)), Verdict::NotMeasured);
    assert_eq!(moved.at_most(Hundredths(100)), Verdict::NotMeasured);
    assert_eq!(moved.change_of_speed(), Change::NotMeasured);
    assert_eq!(moved.change_of_time(), Change::NotMeasured);
}

#[test]
fn a_program_that_moves_beside_a_steady_limit_is_measured() {
    let measured = pairs(&[100; 3], &[300, 900, 400]);
    assert_eq!(measured.at_least(Hundredths(150)), Verdict::Reached);
}

#[test]
fn two_builds_differ_only_where_most_pairs_say_so() {
    let of = |program: &[u64]| pairs(&[1_000; 9], program).change_of_speed();
    let up = [1_100, 1_200, 1_150, 1_300, 1_090, 1_100, 1_250, 1_110];
    let down = up.map(|rate| rate - 400);
    assert_eq!(of(&[&up[..], &[900]].concat()), Change::Better);
    assert_eq!(of(&[&down[..], &[1_100]].concat()), Change::Worse);
    // Two of nine on the other side is what chance does with equal builds, too.
    assert_eq!(of(&[&up[..7], &[900, 950]].concat()), Change::Same);
    // Two hundredths are nothing, even where every pair has them.
    assert_eq!(of(&[1_020; 9]), Change::Same);
    // A time that became longer is worse.
    let longer = pairs(&[1_000; 9], &[1_200; 9]);
    assert_eq!(longer.change_of_time(), Change::Worse);
    let few = pairs(&[1_000; 5], &[2_000; 5]);
    assert_eq!(few.change_of_speed(), Change::NotMeasured);
}
