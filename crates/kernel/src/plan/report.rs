//! What a plan has done for it, and what came of that.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spec::PlanStep;

/// Something that is to be done for a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanOp {
    /// A checkpoint for a branch.
    Checkpoint(String),
    /// An attempt at a step.
    Run(String, u32),
    /// A look at the result of an attempt.
    Critique(String, u32),
    /// Merging a branch.
    Merge(String),
    /// Rolling a branch back.
    Rollback(String),
    /// Asking for steps in place of a failed branch.
    Replan(String),
}

impl PlanOp {
    /// What names it among those of all plans, before and after a crash.
    #[must_use]
    pub fn key(&self, plan: &str) -> String {
        match self {
            Self::Checkpoint(branch) => format!("{plan}/{branch}/checkpoint"),
            Self::Run(step, attempt) => format!("{plan}/{step}/{attempt}"),
            Self::Critique(step, attempt) => format!("{plan}/{step}/{attempt}/critique"),
            Self::Merge(branch) => format!("{plan}/{branch}/merge"),
            Self::Rollback(branch) => format!("{plan}/{branch}/rollback"),
            Self::Replan(branch) => format!("{plan}/{branch}/replan"),
        }
    }
}

/// What came of something that was done for a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanReport {
    /// A result of a step, or what names a checkpoint.
    Value(Result<Value, String>),
    /// How a result was judged.
    Judged(Result<CritiqueVerdict, String>),
    /// It was merged or rolled back.
    Done(Result<(), String>),
    /// Steps in place of a failed branch.
    Steps(Option<Vec<PlanStep>>),
}

/// How a result is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum CritiqueVerdict {
    /// It is good.
    Accept,
    /// It can be made better.
    Revise {
        /// How.
        notes: String,
    },
    /// It is no good.
    Reject {
        /// Why.
        why: String,
    },
}
