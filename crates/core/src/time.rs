//! Instants as milliseconds since the Unix epoch, and their text form on the wire.

use jiff::Timestamp;

pub const SECOND_MS: i64 = 1_000;
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// The last instant that RFC 3339 can write (year 9999); arithmetic on business time stops here.
pub const LATEST_MS: i64 = 253_402_300_799_999;

/// Real time, handed in by whoever runs the program. Business time is an account's own and starts from this one.
pub trait Clock: Send + Sync {
    fn now_ms(&self) -> i64;

    /// For measuring how long something took; has no zero.
    fn monotonic_us(&self) -> u64;

    /// What the machine's own clock shows, whatever `now_ms` goes by.
    fn machine_ms(&self) -> i64 {
        self.now_ms()
    }

    /// Told what the clock that all servers share has just shown. Who can, goes by it from now on.
    fn follow(&self, _shared_ms: i64) {}
}

/// RFC 3339 in UTC with `Z`, at most millisecond precision.
pub fn show(ms: i64) -> String {
    // The library's last instant is some hours earlier, and not a whole second.
    let latest = LATEST_MS.min((Timestamp::MAX.as_second() - 1) * SECOND_MS);
    let clamped = ms.clamp(-62_135_596_800_000, latest);
    Timestamp::from_millisecond(clamped).map_or_else(|_| String::new(), |t| t.to_string())
}

/// Reads an RFC 3339 date-time with an offset; finer than milliseconds is cut off.
pub fn parse(text: &str) -> Option<i64> {
    // A date-time with a zone annotation in brackets is valid for the parser but not RFC 3339.
    if text.contains('[') || text.len() > 40 {
        return None;
    }
    let ms = text.parse::<Timestamp>().ok()?.as_millisecond();
    (0..=LATEST_MS).contains(&ms).then_some(ms)
}

/// The same, or a plain date, which is midnight UTC.
pub fn parse_or_date(text: &str) -> Option<i64> {
    match text.len() {
        10 => parse(&format!("{text}T00:00:00Z")),
        _ => parse(text),
    }
}

/// The UTC day of an instant, counted from 1970.
pub fn day_of(ms: i64) -> i64 {
    ms.div_euclid(DAY_MS)
}

/// `2026-11-15`
pub fn show_day(day: i64) -> String {
    let mut text = show(day.saturating_mul(DAY_MS));
    text.truncate("2026-11-15".len());
    text
}

/// Reads `2026-11-15`.
pub fn parse_day(text: &str) -> Option<i64> {
    let ms = (text.len() == "2026-11-15".len()).then(|| parse_or_date(text))?;
    ms.map(day_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_round_trip_through_text() {
        let day = day_of(1_794_712_419_123);
        assert_eq!(show_day(day), "2026-11-15");
        assert_eq!(parse_day("2026-11-15"), Some(day));
        for bad in ["", "2026-11-31", "15.11.2026", "2026-11-15T00:00:00Z"] {
            assert_eq!(parse_day(bad), None, "{bad}");
        }
    }

    #[test]
    fn instants_round_trip_through_text() {
        assert_eq!(show(1_794_712_419_123), "2026-11-15T03:13:39.123Z");
        assert_eq!(show(1_794_712_419_000), "2026-11-15T03:13:39Z");
        assert_eq!(parse("2026-11-15T03:13:39.123Z"), Some(1_794_712_419_123));
        assert_eq!(
            parse("2026-11-15T05:13:39.123+02:00"),
            Some(1_794_712_419_123)
        );
    }

    #[test]
    fn there_is_a_text_for_every_number() {
        for ms in [i64::MIN, -1, 0, LATEST_MS - 1, LATEST_MS, i64::MAX] {
            assert!(!show(ms).is_empty(), "{ms}");
        }
    }

    #[test]
    fn a_plain_date_is_midnight_where_it_is_taken() {
        assert_eq!(parse_or_date("1970-01-02"), Some(DAY_MS));
        assert_eq!(parse_or_date("1970-01-02T00:00:00Z"), Some(DAY_MS));
        assert_eq!(parse_or_date("1970-02-30"), None);
    }

    #[test]
    fn what_is_not_a_date_time_is_refused() {
        for bad in [
            "",
            "2026-11-15",
            "yesterday",
            "2026-11-15T03:13:39",
            "2026-11-15T03:13:39Z[UTC]",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
