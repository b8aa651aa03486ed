//! Amounts in files: time and money.

use offshoot_engine::settings::{parse_duration, parse_money};
use serde::{Deserialize, Deserializer};

/// A time, written like `30s`, `10m` or `2h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) ms: u64,
}

/// An amount of money, written like `"0.50"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dollars {
    pub(crate) micros: u64,
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = parse_duration(&text).and_then(|time| u64::try_from(time.as_millis()).ok());
        let ms = time.filter(|ms| *ms > 0);
        let wrong = || serde::de::Error::custom(format!("{text:?} is no time such as \"10m\""));
        Ok(Self { ms: ms.ok_or_else(wrong)? })
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom(format!("{text:?} is no amount such as \"0.50\""));
        Ok(Self { micros: parse_money(&text).ok_or_else(wrong)? })
    }
}

/// A time such as `2031-05-01T09:00:00Z`, in milliseconds.
pub(super) fn instant(text: &str) -> Result<u64, String> {
    let read = text.parse::<jiff::Timestamp>().ok();
    let ms = read.and_then(|time| u64::try_from(time.as_millisecond()).ok());
    ms.ok_or_else(|| format!("{text:?} is no time such as 2031-05-01T09:00:00Z"))
}
