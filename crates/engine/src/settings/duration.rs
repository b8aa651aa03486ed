//! Durations as text, such as `90m` or `1h 30m`, in settings and back.

use std::time::Duration;

use jiff::{SignedDuration, Span, SpanRelativeTo};
use serde::{Deserialize, Deserializer, Serializer, de};

/// Reads a duration; days count as 24 hours. Nothing for text without units, for months and for negative ones.
///
/// ```
/// use std::time::Duration;
/// use offshoot_engine::settings::parse_duration;
///
/// assert_eq!(parse_duration("1h 30m"), Some(Duration::from_secs(90 * 60)));
/// assert_eq!(parse_duration("90"), None);
/// ```
pub fn parse(text: &str) -> Option<Duration> {
    let span: Span = text.trim().parse().ok()?;
    let signed = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    Duration::try_from(signed).ok()
}

/// Writes a duration so that [`parse`] reads the same one.
///
/// ```
/// use std::time::Duration;
/// use offshoot_engine::settings::format_duration;
///
/// assert_eq!(format_duration(Duration::from_secs(90)), "1m 30s");
/// ```
pub fn format(duration: Duration) -> String {
    match SignedDuration::try_from(duration) {
        Ok(signed) => format!("{signed:#}"),
        Err(_) => format!("{}s", duration.as_secs()),
    }
}

pub(super) fn serialize<S: Serializer>(
    duration: &Duration,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*duration))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| {
        de::Error::invalid_value(de::Unexpected::Str(&text), &"a duration such as \"90m\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, seconds) in [
            ("24h", 86_400),
            ("90m", 5_400),
            ("1h30m", 5_400),
            ("1h 30m", 5_400),
            ("30s", 30),
            ("0s", 0),
            ("7d", 604_800),
            (" 5s ", 5),
        ] {
            assert_eq!(parse(text), Some(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse("250ms"), Some(Duration::from_millis(250)));
    }

    #[test]
    fn refuses_what_is_no_length_of_time() {
        for text in ["", "30", "soon", "-5m", "1 month", "5 parsecs", "h"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn writes_what_it_reads() {
        for millis in [0, 1, 999, 1_000, 30_000, 5_400_000, 86_400_000, 604_801_001] {
            let duration = Duration::from_millis(millis);
            let text = format(duration);
            assert_eq!(parse(&text), Some(duration), "{text}");
        }
        assert_eq!(format(Duration::from_secs(86_400)), "24h");
        assert_eq!(format(Duration::from_secs(30)), "30s");
    }
}
