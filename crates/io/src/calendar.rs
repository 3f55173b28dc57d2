//! Dates and times in UTC, for provenance.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// Returns today's date, as YYYY-MM-DD.
pub fn today() -> String {
    date_of_day(seconds_since_epoch() / SECONDS_PER_DAY)
}

/// Returns the present date and time to the second, by ISO 8601.
pub fn now() -> String {
    date_and_time(seconds_since_epoch())
}

fn seconds_since_epoch() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Returns the date and time of seconds since 1970, by ISO 8601.
pub fn date_and_time(seconds: u64) -> String {
    let (day, rest) = (seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY);
    format!("{}T{:02}:{:02}:{:02}Z", date_of_day(day), rest / 3600, rest / 60 % 60, rest % 60)
}

/// Returns the date of a day since 1970-01-01 in the Gregorian calendar.
fn date_of_day(day: u64) -> String {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let (mut year, mut rest) = (1970, day);
    while rest >= 365 + u64::from(is_leap(year)) {
        rest -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if rest < days {
            break;
        }
        rest -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (day, date) in
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_782, "2026-11-25")]
        {
            assert_eq!(date_of_day(day), date);
            assert_eq!(date_and_time(SECONDS_PER_DAY * day + 3 * 3600 + 62), format!("{date}T03:01:02Z"));
        }
    }
}
