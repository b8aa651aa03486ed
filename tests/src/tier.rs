//! How much the randomised tests do: little with every change, a lot now and then.

use std::env;

/// The environment variable that says `quick` or `long`.
pub const TIER_VARIABLE: &str = "OFFSHOOT_TEST_TIER";
/// The environment variable that gives a number of cases in place of the tier's own.
pub const CASES_VARIABLE: &str = "OFFSHOOT_TEST_CASES";

/// How much to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// What runs with every change.
    Quick,
    /// What runs for as long as it takes.
    Long,
}

impl Tier {
    /// The tier that the environment asks for; quick where it asks for none.
    ///
    /// # Panics
    ///
    /// If it asks for one that there is not: a run that was meant to be long must not be a short one.
    pub fn from_env() -> Self {
        match env::var(TIER_VARIABLE).as_deref() {
            Ok("long") => Self::Long,
            Ok("quick") | Err(env::VarError::NotPresent) => Self::Quick,
            other => panic!("{TIER_VARIABLE} is {other:?}, neither quick nor long"),
        }
    }

    /// One of two, by the tier.
    pub fn pick<T>(self, quick: T, long: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Long => long,
        }
    }
}

/// How many cases to run: what the environment says, or else what the tier does.
///
/// # Panics
///
/// If the variable is not a number.
pub fn cases(quick: u64, long: u64) -> u64 {
    match env::var(CASES_VARIABLE) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{CASES_VARIABLE}={text} is no number")),
        Err(_) => Tier::from_env().pick(quick, long),
    }
}
