//! Why a hook did not succeed.

use crate::error::KernelError;
use crate::input::{AttemptReport, KernelRefusal};
use crate::question::TaskQuestion;

/// Why a hook did not succeed, or why it goes on later.
#[derive(Debug, thiserror::Error)]
pub enum TaskFailure {
    /// It may go better the next time.
    #[error("{0}")]
    Retry(String),
    /// It will not.
    #[error("{0}")]
    Fatal(String),
    /// The budget does not allow it.
    #[error("{0}")]
    OverBudget(String),
    /// It goes on when there is an answer. Made by [`TaskContext::ask`](crate::TaskContext::ask).
    #[error("waits for an answer to {:?}", .0.key)]
    Asks(Box<TaskQuestion>),
    /// It goes on when sub-tasks ended. Made by [`TaskContext::join`](crate::TaskContext::join).
    #[error("waits for sub-tasks {}", .0.join(", "))]
    Waits(Vec<String>),
    /// It was told to end.
    #[error("cancelled")]
    Cancelled,
}

/// Why an effect has no result.
#[derive(Debug, thiserror::Error)]
pub enum EffectError {
    /// An earlier attempt began it, and what became of it is not known.
    #[error("effect {key} may have happened; find out and say so with resolve_effect")]
    Unknown {
        /// Its key.
        key: String,
    },
    /// This attempt began it already.
    #[error("effect {key} runs already")]
    Busy {
        /// Its key.
        key: String,
    },
    /// It did not happen.
    #[error("{0}")]
    Failed(String),
    /// The kernel does not allow it.
    #[error(transparent)]
    Kernel(#[from] KernelError),
}

impl TaskFailure {
    /// A failure that may go better the next time.
    pub fn retry(why: impl ToString) -> Self {
        Self::Retry(why.to_string())
    }

    /// A failure that will not.
    pub fn fatal(why: impl ToString) -> Self {
        Self::Fatal(why.to_string())
    }
}

impl From<KernelError> for TaskFailure {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Refused(KernelRefusal::Stale { .. }) | KernelError::Stopped => {
                Self::Cancelled
            }
            KernelError::Refused(KernelRefusal::Budget(error)) => {
                Self::OverBudget(error.to_string())
            }
            error => Self::Fatal(error.to_string()),
        }
    }
}

impl From<EffectError> for TaskFailure {
    fn from(error: EffectError) -> Self {
        match error {
            EffectError::Failed(why) => Self::Retry(why),
            EffectError::Kernel(error) => error.into(),
            error => Self::Fatal(error.to_string()),
        }
    }
}

impl From<TaskFailure> for AttemptReport {
    fn from(failure: TaskFailure) -> Self {
        match failure {
            TaskFailure::Retry(why) => Self::Failed(why),
            TaskFailure::Fatal(why) => Self::Fatal(why),
            TaskFailure::OverBudget(why) => Self::OverBudget(why),
            TaskFailure::Asks(question) => Self::Asks(question),
            TaskFailure::Waits(on) => Self::Waits(on),
            TaskFailure::Cancelled => Self::Cancelled,
        }
    }
}
