//! The states of an agent, and the steps between them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where an agent is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifeState {
    /// It was not started yet.
    #[default]
    Init,
    /// It accepts and queues.
    Ready,
    /// It accepts and works.
    Active,
    /// It queues a few, and starts nothing.
    Suspended,
    /// It works off what it accepted, and accepts nothing.
    Retiring,
    /// It is over.
    Terminated,
}

/// A step from one state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifeStep {
    /// From `Init` to `Ready`.
    Boot,
    /// From `Ready` to `Active`.
    Activate,
    /// From `Active` to `Suspended`.
    Suspend,
    /// From `Suspended` to `Active`.
    Resume,
    /// From `Ready`, `Active` or `Suspended` to `Retiring`.
    Retire,
    /// From `Retiring` to `Terminated`.
    Terminate,
    /// From anywhere to `Terminated`.
    Abort,
}

impl LifeState {
    /// Where a step leads from here, if it is one.
    ///
    /// ```
    /// use offshoot_kernel::{LifeState, LifeStep};
    ///
    /// assert_eq!(LifeState::Ready.after(LifeStep::Activate), Some(LifeState::Active));
    /// assert_eq!(LifeState::Ready.after(LifeStep::Resume), None);
    /// ```
    #[must_use]
    pub fn after(self, step: LifeStep) -> Option<Self> {
        match (self, step) {
            (Self::Init, LifeStep::Boot) => Some(Self::Ready),
            (Self::Ready, LifeStep::Activate) | (Self::Suspended, LifeStep::Resume) => {
                Some(Self::Active)
            }
            (Self::Active, LifeStep::Suspend) => Some(Self::Suspended),
            (Self::Ready | Self::Active | Self::Suspended, LifeStep::Retire) => {
                Some(Self::Retiring)
            }
            (Self::Retiring, LifeStep::Terminate) => Some(Self::Terminated),
            (Self::Terminated, _) => None,
            (_, LifeStep::Abort) => Some(Self::Terminated),
            _ => None,
        }
    }

    /// Whether tasks start.
    #[must_use]
    pub fn works(self) -> bool {
        matches!(self, Self::Active | Self::Retiring)
    }

    /// The name of the state.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Ready => "ready",
            Self::Active => "active",
            Self::Suspended => "suspended",
            Self::Retiring => "retiring",
            Self::Terminated => "terminated",
        }
    }
}

impl fmt::Display for LifeState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for LifeStep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Boot => "boot",
            Self::Activate => "activate",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Retire => "retire",
            Self::Terminate => "terminate",
            Self::Abort => "abort",
        })
    }
}
