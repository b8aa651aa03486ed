//! What is spent, and how much of it may be.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What something takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Amount {
    /// Tokens of models.
    pub tokens: u64,
    /// Money, in millionths of the currency's unit.
    pub micros: u64,
    /// Time in which an attempt ran, in milliseconds.
    pub ms: u64,
    /// Commands that were run.
    pub execs: u64,
}

/// Limits of an account. One that is absent does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Tokens of models.
    pub tokens: Option<u64>,
    /// Money, in millionths.
    pub micros: Option<u64>,
    /// Time of attempts, in milliseconds.
    pub ms: Option<u64>,
    /// Commands.
    pub execs: Option<u64>,
}

/// What can be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Tokens of models.
    Tokens,
    /// Money, in millionths.
    Micros,
    /// Time of attempts, in milliseconds.
    Ms,
    /// Commands.
    Execs,
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tokens, Self::Micros, Self::Ms, Self::Execs];
}

impl Amount {
    /// So many tokens.
    #[must_use]
    pub fn tokens(tokens: u64) -> Self {
        Self { tokens, ..Self::default() }
    }

    /// So much money, in millionths.
    #[must_use]
    pub fn micros(micros: u64) -> Self {
        Self { micros, ..Self::default() }
    }

    /// So many commands.
    #[must_use]
    pub fn execs(execs: u64) -> Self {
        Self { execs, ..Self::default() }
    }

    /// So much time, in milliseconds.
    #[must_use]
    pub fn ms(ms: u64) -> Self {
        Self { ms, ..Self::default() }
    }

    /// How much of one resource.
    #[must_use]
    pub fn of(&self, resource: Resource) -> u64 {
        match resource {
            Resource::Tokens => self.tokens,
            Resource::Micros => self.micros,
            Resource::Ms => self.ms,
            Resource::Execs => self.execs,
        }
    }

    pub(crate) fn of_mut(&mut self, resource: Resource) -> &mut u64 {
        match resource {
            Resource::Tokens => &mut self.tokens,
            Resource::Micros => &mut self.micros,
            Resource::Ms => &mut self.ms,
            Resource::Execs => &mut self.execs,
        }
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl Budget {
    /// The limit of one resource.
    #[must_use]
    pub fn of(&self, resource: Resource) -> Option<u64> {
        match resource {
            Resource::Tokens => self.tokens,
            Resource::Micros => self.micros,
            Resource::Ms => self.ms,
            Resource::Execs => self.execs,
        }
    }

    /// What it takes to set all of it aside.
    pub(crate) fn amount(&self) -> Amount {
        Amount {
            tokens: self.tokens.unwrap_or(0),
            micros: self.micros.unwrap_or(0),
            ms: self.ms.unwrap_or(0),
            execs: self.execs.unwrap_or(0),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tokens => "tokens",
            Self::Micros => "millionths of money",
            Self::Ms => "milliseconds",
            Self::Execs => "execs",
        })
    }
}
