//! Names that nobody can guess, and the time.

use std::time::{SystemTime, UNIX_EPOCH};

use ulid::Ulid;

/// A new name, 26 characters with 80 random bits.
pub(crate) fn fresh() -> String {
    let time = u64::try_from(now()).unwrap_or_default();
    Ulid::from_parts(time, random()).to_string()
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A time as RFC 3339 in UTC with milliseconds.
pub(crate) fn time_text(milliseconds: i64) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds) {
        Ok(time) => format!("{time:.3}"),
        // Beyond the year 9999, which no clock of a user says.
        Err(_) => format!("{:.3}", jiff::Timestamp::MAX),
    }
}

fn random() -> u128 {
    let mut bytes = [0; 16];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    match filled {
        Ok(16) => u128::from_be_bytes(bytes),
        // The kernel has random bytes for everybody; if it does not say so, names stay different all the same.
        _ => fastrand::u128(..),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ() {
        let mut names: Vec<String> = (0..1000).map(|_| fresh()).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| name.len() == 26));
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(time_text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(time_text(1_700_000_000_120), "2023-11-14T22:13:20.120Z");
        assert!(time_text(i64::MAX).starts_with("9999-12-30T"));
    }
}
