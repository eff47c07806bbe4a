//! Billing periods on a calendar: days, weeks, months and years of a time zone, always counted from the anchor.
//!
//! Counting from the anchor and never from the last boundary is what keeps the 31st the 31st: February's clamped
//! day is forgotten as soon as March is asked for. The time of day is the wall clock's. Where daylight saving skips
//! it, the boundary moves on by what was skipped; where it comes twice, the first of the two counts.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use crate::limits::{
    PLAN_INTERVAL_DAYS_MAX, PLAN_INTERVAL_MONTHS_MAX, PLAN_INTERVAL_WEEKS_MAX,
    PLAN_INTERVAL_YEARS_MAX,
};
use crate::time::LATEST_MS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    pub const ALL: [Unit; 4] = [Unit::Day, Unit::Week, Unit::Month, Unit::Year];

    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Day => "day",
            Unit::Week => "week",
            Unit::Month => "month",
            Unit::Year => "year",
        }
    }

    pub fn parse(text: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.as_str() == text)
    }

    /// The most of them that one period may have.
    pub fn count_max(self) -> u32 {
        match self {
            Unit::Day => PLAN_INTERVAL_DAYS_MAX,
            Unit::Week => PLAN_INTERVAL_WEEKS_MAX,
            Unit::Month => PLAN_INTERVAL_MONTHS_MAX,
            Unit::Year => PLAN_INTERVAL_YEARS_MAX,
        }
    }
}

/// A time zone by its IANA name, in the name's own spelling. The rules come with the program, not with the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(TimeZone);

impl Zone {
    pub fn parse(name: &str) -> Option<Zone> {
        // The database also answers to other spellings; a name that reads back differently is not one.
        let zone = TimeZone::get(name).ok()?;
        (zone.iana_name() == Some(name)).then_some(Zone(zone))
    }

    pub fn utc() -> Zone {
        Zone(TimeZone::UTC)
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }
}

/// The instant that many units after the anchor; the calendar ends with the year 9999.
pub fn after(anchor: i64, zone: &Zone, unit: Unit, count: i64) -> i64 {
    let moved = || {
        let span = match unit {
            Unit::Day => Span::new().try_days(count),
            Unit::Week => Span::new().try_weeks(count),
            Unit::Month => Span::new().try_months(count),
            Unit::Year => Span::new().try_years(count),
        };
        let local = Timestamp::from_millisecond(anchor)
            .ok()?
            .to_zoned(zone.0.clone());
        let moved = local.checked_add(span.ok()?).ok()?;
        Some(moved.timestamp().as_millisecond())
    };
    if count == 0 {
        return anchor;
    }
    moved().map_or(LATEST_MS, |at| at.min(LATEST_MS))
}

#[cfg(test)]
mod tests;
