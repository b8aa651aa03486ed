//! What happened to a plan.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::report::CritiqueVerdict;
use super::spec::{PlanSpec, PlanStep};
use super::state::PlanEnd;

/// What happened to a plan: all that its state is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PlanEvent {
    /// It was loaded.
    Loaded {
        /// The plan.
        spec: PlanSpec,
    },
    /// A branch is about to get its checkpoint.
    CheckpointBegan {
        /// Which one.
        branch: String,
    },
    /// A branch has its checkpoint.
    CheckpointTaken {
        /// Which one.
        branch: String,
        /// What names the checkpoint.
        checkpoint: Value,
    },
    /// A branch failed before it began.
    BranchFailed {
        /// Which one.
        branch: String,
        /// Why.
        why: String,
    },
    /// An attempt at a step began.
    StepStarted {
        /// Which one.
        step: String,
    },
    /// An attempt at a step has a result.
    StepRan {
        /// Which one.
        step: String,
        /// The result.
        result: Value,
    },
    /// An attempt at a step failed, and there will be another one.
    StepRetrying {
        /// Which one.
        step: String,
        /// Why.
        why: String,
    },
    /// A step failed for good.
    StepFailed {
        /// Which one.
        step: String,
        /// Why.
        why: String,
    },
    /// A result was judged.
    Judged {
        /// Of which step.
        step: String,
        /// How.
        verdict: CritiqueVerdict,
    },
    /// A branch is about to be merged.
    MergeBegan {
        /// Which one.
        branch: String,
    },
    /// A branch was merged.
    Merged {
        /// Which one.
        branch: String,
    },
    /// A branch is about to be rolled back.
    RollbackBegan {
        /// Which one.
        branch: String,
        /// Why.
        why: String,
    },
    /// A branch is where it began.
    RolledBack {
        /// Which one.
        branch: String,
    },
    /// Steps stand for those of a failed branch.
    Replanned {
        /// Which one failed.
        branch: String,
        /// The new steps.
        steps: Vec<PlanStep>,
    },
    /// Nothing stands for a failed branch.
    NotReplanned {
        /// Which one failed.
        branch: String,
        /// Why.
        why: String,
    },
    /// A step will not run.
    Skipped {
        /// Which one.
        step: String,
        /// The step or branch that failed.
        because: String,
    },
    /// Nothing is left to do.
    Ended {
        /// How it ended.
        end: PlanEnd,
    },
}
