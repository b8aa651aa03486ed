//! Times as programs see them.

use offshoot_host::Mtime;

/// A time as RFC 3339 in UTC, to the millisecond.
pub fn time(time_ms: u64) -> String {
    let time =
        i64::try_from(time_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("@{time_ms}ms"), |time| format!("{time:.3}"))
}

/// A time as RFC 3339 in UTC, to the nanosecond; seconds since 1970 where the calendar ends.
pub fn mtime(mtime: Mtime) -> String {
    let nanoseconds = i32::try_from(mtime.nanoseconds).unwrap_or(0);
    match jiff::Timestamp::new(mtime.seconds, nanoseconds) {
        Ok(time) => format!("{time:.9}"),
        Err(_) => format!("@{}.{:09}", mtime.seconds, mtime.nanoseconds),
    }
}
