//! What a peer is called.

use std::fmt;
use std::sync::Arc;

use crate::error::IdentityError;

/// The longest name.
const LONGEST: usize = 128;

/// What a peer is called: 1 to 128 characters of `a-z`, `0-9`, `.`, `-` and `_`, the first a letter or a digit.
///
/// ```
/// use offshoot_transport::PeerName;
///
/// assert_eq!(PeerName::parse("planner.example")?.as_str(), "planner.example");
/// assert!(PeerName::parse("Planner").is_err());
/// # Ok::<(), offshoot_transport::IdentityError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerName(Arc<str>);

impl PeerName {
    /// Checks a name.
    pub fn parse(name: &str) -> Result<Self, IdentityError> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let starts = name.bytes().next().is_some_and(is_plain);
        let goes_on = name.bytes().all(|byte| is_plain(byte) || b".-_".contains(&byte));
        if starts && goes_on && name.len() <= LONGEST {
            return Ok(Self(name.into()));
        }
        let shown: String = name.chars().take(LONGEST).collect();
        Err(IdentityError::Name(shown))
    }

    /// Its characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PeerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for PeerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_names() {
        for good in ["a", "7", "agent-1.example_x", &"a".repeat(128)] {
            assert_eq!(PeerName::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "A", ".a", "-a", "a b", "a/b", "\u{e4}", "a\n", &"a".repeat(129)] {
            assert!(PeerName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
