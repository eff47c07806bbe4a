//! Periods, held against a calendar that somebody else wrote.

use chrono::{
    DateTime, Datelike as _, Days, LocalResult, NaiveDate, NaiveDateTime, Offset as _, TimeDelta,
    TimeZone as _, Utc,
};
use chrono_tz::Tz;
use proptest::prelude::*;

use super::*;
use crate::time::{DAY_MS, HOUR_MS, parse, show};

fn at(text: &str) -> i64 {
    parse(text).unwrap()
}

#[track_caller]
fn check(anchor: &str, zone: &str, unit: Unit, expected: &[(i64, &str)]) {
    let zone = Zone::parse(zone).unwrap();
    for (count, text) in expected {
        let moved = after(at(anchor), &zone, unit, *count);
        assert_eq!(
            show(moved),
            *text,
            "{count} {} after {anchor}",
            unit.as_str()
        );
    }
}

#[test]
fn the_31st_stays_the_31st() {
    check(
        "2027-01-31T12:00:00Z",
        "UTC",
        Unit::Month,
        &[
            (1, "2027-02-28T12:00:00Z"),
            (2, "2027-03-31T12:00:00Z"),
            (3, "2027-04-30T12:00:00Z"),
            (12, "2028-01-31T12:00:00Z"),
            (13, "2028-02-29T12:00:00Z"),
        ],
    );
}

#[test]
fn a_year_from_the_29th_of_february_comes_back_to_it() {
    check(
        "2028-02-29T00:00:00Z",
        "UTC",
        Unit::Year,
        &[
            (1, "2029-02-28T00:00:00Z"),
            (4, "2032-02-29T00:00:00Z"),
            (72, "2100-02-28T00:00:00Z"),
        ],
    );
}

#[test]
fn the_day_is_that_of_the_zone() {
    // Still the 31st of January in New York, though the 1st of February in UTC.
    check(
        "2027-02-01T03:00:00Z",
        "America/New_York",
        Unit::Month,
        &[(1, "2027-03-01T03:00:00Z"), (2, "2027-04-01T02:00:00Z")],
    );
}

#[test]
fn a_skipped_hour_moves_the_boundary_on_and_a_doubled_one_takes_the_first() {
    // 02:30 in Berlin: skipped on 28 March 2027, twice on 31 October 2027.
    check(
        "2027-03-27T01:30:00Z",
        "Europe/Berlin",
        Unit::Day,
        &[(1, "2027-03-28T01:30:00Z"), (2, "2027-03-29T00:30:00Z")],
    );
    check(
        "2027-10-30T00:30:00Z",
        "Europe/Berlin",
        Unit::Day,
        &[(1, "2027-10-31T00:30:00Z"), (2, "2027-11-01T01:30:00Z")],
    );
    // Half an hour only on Lord Howe Island.
    check(
        "2027-10-01T15:45:00Z",
        "Australia/Lord_Howe",
        Unit::Day,
        &[
            (0, "2027-10-01T15:45:00Z"),
            (1, "2027-10-02T15:45:00Z"),
            (2, "2027-10-03T15:15:00Z"),
        ],
    );
}

#[test]
fn only_names_of_zones_are_zones() {
    for name in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"] {
        assert_eq!(Zone::parse(name).unwrap().name(), name);
    }
    for bad in [
        "",
        "utc",
        "Berlin",
        "europe/berlin",
        "+02:00",
        "../etc/passwd",
        "Mars/Base",
        " UTC",
    ] {
        assert!(Zone::parse(bad).is_none(), "{bad}");
    }
}

#[test]
fn the_calendar_ends_with_the_year_9999() {
    let zone = Zone::utc();
    assert_eq!(after(LATEST_MS - DAY_MS, &zone, Unit::Year, 1), LATEST_MS);
    assert_eq!(after(0, &zone, Unit::Day, i64::MAX), LATEST_MS);
}

/// The same question answered by another library, another copy of the rules and plain counting of months.
fn oracle(anchor: i64, zone: Tz, unit: Unit, count: i64) -> i64 {
    let local = Utc
        .timestamp_millis_opt(anchor)
        .unwrap()
        .with_timezone(&zone)
        .naive_local();
    let date = match unit {
        Unit::Day => local.date() + Days::new(count.cast_unsigned()),
        Unit::Week => local.date() + Days::new(7 * count.cast_unsigned()),
        Unit::Month => months_on(local.date(), count),
        Unit::Year => months_on(local.date(), 12 * count),
    };
    resolve(zone, date.and_time(local.time())).timestamp_millis()
}

fn months_on(date: NaiveDate, months: i64) -> NaiveDate {
    let month0 = i64::from(date.year()) * 12 + i64::from(date.month0()) + months;
    let year = i32::try_from(month0.div_euclid(12)).unwrap();
    let month = u32::try_from(month0.rem_euclid(12)).unwrap() + 1;
    (1..=date.day())
        .rev()
        .find_map(|day| NaiveDate::from_ymd_opt(year, month, day))
        .unwrap()
}

fn resolve(zone: Tz, local: NaiveDateTime) -> DateTime<Tz> {
    match zone.from_local_datetime(&local) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => at,
        LocalResult::None => {
            // Read with the offset before the gap, which lands as far behind it as the time lay inside it.
            let before = zone.from_utc_datetime(&(local - TimeDelta::hours(26)));
            let utc = local - TimeDelta::seconds(before.offset().fix().local_minus_utc().into());
            zone.from_utc_datetime(&utc)
        }
    }
}

/// Zones of every kind: none, whole and half hours of daylight saving, both hemispheres, odd offsets.
const ZONES: [&str; 14] = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Lisbon",
    "America/New_York",
    "America/Los_Angeles",
    "America/St_Johns",
    "America/Sao_Paulo",
    "Asia/Tokyo",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Pacific/Chatham",
    "Pacific/Auckland",
];

#[test]
fn every_boundary_of_fifty_years_is_where_the_oracle_has_it() {
    for name in ZONES {
        let (zone, tz) = (Zone::parse(name).unwrap(), name.parse::<Tz>().unwrap());
        // In the middle of the nights in which clocks are set, and at the ends of months.
        for anchor in [
            "2026-01-31T01:30:00Z",
            "2028-02-29T15:40:00Z",
            "2027-03-28T01:15:00Z",
        ] {
            let anchor = at(anchor);
            for (unit, counts) in [
                (Unit::Day, 50 * 365),
                (Unit::Week, 50 * 52),
                (Unit::Month, 50 * 12),
                (Unit::Year, 50),
            ] {
                let mut last = anchor;
                for count in 1..=counts {
                    let moved = after(anchor, &zone, unit, count);
                    assert_eq!(
                        moved,
                        oracle(anchor, tz, unit, count),
                        "{name} {unit:?} {count}"
                    );
                    assert!(moved > last, "{name} {unit:?} {count}");
                    last = moved;
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn any_boundary_is_where_the_oracle_has_it(
        zone in 0..ZONES.len(),
        // From 2026 on, for about ten years, to the quarter of an hour.
        quarter in 0i64..(10 * 366 * 96),
        unit in 0usize..4,
        count in 1i64..600,
    ) {
        let unit = Unit::ALL[unit];
        let count = if unit == Unit::Year { count % 40 + 1 } else { count };
        let anchor = at("2026-01-01T00:00:00Z") + quarter * HOUR_MS / 4;
        let (zone, tz) = (Zone::parse(ZONES[zone]).unwrap(), ZONES[zone].parse::<Tz>().unwrap());
        prop_assert_eq!(after(anchor, &zone, unit, count), oracle(anchor, tz, unit, count));
    }
}
