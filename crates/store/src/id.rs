//! Ids that sort by time.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use ulid::Ulid;

/// An id of 128 bits: 48 bits of Unix milliseconds, then 80 random bits.
///
/// Printed as 26 characters of Crockford base32 in lower case; text order is creation order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id([u8; 16]);

impl Id {
    /// How many characters an id has.
    pub const LENGTH: usize = 26;

    /// How many characters identify an id inside one vault to a person: the time part and two more.
    pub const SHORT: usize = 12;

    /// A new id from the clock, unique by its random part alone.
    ///
    /// Ids that must be in order inside a vault come from [`crate::Writer::new_id`] instead.
    pub fn random() -> Self {
        Self::at(now_ms())
    }

    /// A new id whose time part is `time_ms`.
    pub fn at(time_ms: u64) -> Self {
        let mut random = [0u8; 16];
        // The kernel's generator can only fail before it is seeded at boot; the time part still orders
        // ids then, and uniqueness inside a vault does not rest on the random part.
        let filled =
            rustix::rand::getrandom(&mut random[6..], rustix::rand::GetRandomFlags::empty());
        if filled.is_err() {
            random[6..].copy_from_slice(&std::process::id().to_le_bytes().repeat(3)[..10]);
        }
        Self(Ulid::from_parts(time_ms, u128::from_be_bytes(random)).to_bytes())
    }

    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id, in sort order.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The time part in Unix milliseconds.
    pub fn time_ms(&self) -> u64 {
        Ulid::from_bytes(self.0).timestamp_ms()
    }

    /// The first characters, enough to name it inside a vault.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(Self::SHORT);
        text
    }
}

/// Milliseconds since 1970 by the system clock; 0 when the clock is before that.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = [0u8; Self::LENGTH];
        let text = Ulid::from_bytes(self.0).array_to_str(&mut buffer);
        text.make_ascii_lowercase();
        f.pad(text)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

/// The text is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an id: an id is 26 characters of base32")]
pub struct ParseIdError(String);

impl FromStr for Id {
    type Err = ParseIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // 26 characters have room for two bits more than an id, which would be left out: another text would name the same.
        let is_too_large = text.as_bytes().first().is_some_and(|first| *first > b'7');
        match Ulid::from_string(text) {
            Ok(ulid) if !is_too_large => Ok(Self(ulid.to_bytes())),
            _ => Err(ParseIdError(text.to_owned())),
        }
    }
}

impl serde::Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_and_sorts_by_time() {
        let early = Id::at(1_700_000_000_000);
        let late = Id::at(1_700_000_000_001);
        assert!(early < late);
        assert!(early.to_string() < late.to_string());
        assert_eq!(early.to_string().parse::<Id>().unwrap(), early);
        assert_eq!(early.to_string().len(), 26);
        assert_eq!(late.time_ms(), 1_700_000_000_001);
    }

    #[test]
    fn text_that_is_no_id_is_refused() {
        for bad in [
            "",
            "x",
            "01h455vb4pex5vsknk084sn02",
            "uuuuuuuuuuuuuuuuuuuuuuuuuu",
            "81h455vb4pex5vsknk084sn02q",
        ] {
            assert!(bad.parse::<Id>().is_err(), "{bad} parsed");
        }
    }

    #[test]
    fn ten_thousand_ids_of_one_millisecond_differ() {
        let ids: std::collections::HashSet<Id> = (0..10_000).map(|_| Id::at(7)).collect();
        assert_eq!(ids.len(), 10_000);
    }
}
