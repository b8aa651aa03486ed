//! What the events of a plan come to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::PlanEvent;
use super::report::CritiqueVerdict;
use super::spec::{PlanSpec, PlanStep, resolve};

/// The state of a plan: a fold over its events, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanState {
    /// The plan, with the steps that were added.
    pub spec: Option<PlanSpec>,
    /// How far each step is.
    pub steps: BTreeMap<String, StepState>,
    /// How far each branch is.
    pub branches: BTreeMap<String, BranchState>,
    /// Steps that stand for others.
    #[serde(default)]
    pub replaced: BTreeMap<String, String>,
    /// How often steps were added.
    #[serde(default)]
    pub replans: u32,
    /// How it ended, if it did.
    #[serde(default)]
    pub end: Option<PlanEnd>,
}

/// How far a step is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepState {
    /// What it does.
    pub phase: StepPhase,
    /// The attempt that runs or ran last.
    pub attempt: u32,
    /// The result of the last attempt that had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// What was said of earlier attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a step does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum StepPhase {
    /// It waits.
    #[default]
    Pending,
    /// An attempt runs.
    Running,
    /// Its result is judged.
    Judging,
    /// It is done.
    Done,
    /// It failed for good.
    Failed {
        /// Why.
        why: String,
    },
    /// It was done, and its branch was rolled back.
    RolledBack,
    /// It will not run.
    Skipped {
        /// The step or branch that failed.
        because: String,
    },
}

/// How far a branch is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BranchState {
    /// What it does.
    pub phase: BranchPhase,
    /// What names its checkpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether it was decided what stands for it, if it failed.
    #[serde(default)]
    pub replanned: bool,
}

/// What a branch does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchPhase {
    /// It did not begin.
    #[default]
    Fresh,
    /// Its checkpoint is taken.
    Checkpointing,
    /// Its steps run.
    Open,
    /// It is merged now.
    Merging,
    /// It was merged.
    Merged,
    /// It is rolled back now.
    RollingBack,
    /// It failed, and nothing of it is left.
    Failed,
}

/// How a plan ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanEnd {
    /// Every step is done and merged.
    Done,
    /// Some branches were merged.
    Partly,
    /// Nothing was merged.
    Failed,
}

impl PlanState {
    /// The state after events.
    pub fn from_events<'e>(events: impl IntoIterator<Item = &'e PlanEvent>) -> Self {
        let mut state = Self::default();
        for event in events {
            state.apply(event);
        }
        state
    }

    /// Applies the next event. What does not fit is left out.
    pub fn apply(&mut self, event: &PlanEvent) {
        match event {
            PlanEvent::Loaded { spec } => {
                self.add(&spec.steps);
                self.spec = Some(spec.clone());
            }
            PlanEvent::CheckpointBegan { branch } => {
                self.branch(branch, BranchPhase::Checkpointing)
            }
            PlanEvent::CheckpointTaken { branch, checkpoint } => {
                self.branch(branch, BranchPhase::Open);
                if let Some(state) = self.branches.get_mut(branch) {
                    state.checkpoint = Some(checkpoint.clone());
                }
            }
            PlanEvent::BranchFailed { branch, why } => {
                self.branch(branch, BranchPhase::Failed);
                if let Some(state) = self.branches.get_mut(branch) {
                    state.why = Some(why.clone());
                }
            }
            PlanEvent::StepStarted { step } => self.step(step, |state| {
                state.attempt += 1;
                state.phase = StepPhase::Running;
            }),
            PlanEvent::StepRan { step, result } => {
                let judged = self.spec_of(step).is_some_and(|spec| spec.critique);
                self.step(step, |state| {
                    state.result = Some(result.clone());
                    state.phase = if judged { StepPhase::Judging } else { StepPhase::Done };
                });
            }
            PlanEvent::StepRetrying { step, why } => self.step(step, |state| {
                state.notes.push(why.clone());
                state.phase = StepPhase::Pending;
            }),
            PlanEvent::StepFailed { step, why } => self.step(step, |state| {
                state.notes.push(why.clone());
                state.phase = StepPhase::Failed { why: why.clone() };
            }),
            PlanEvent::Judged { step, verdict } => {
                if *verdict == CritiqueVerdict::Accept {
                    self.step(step, |state| state.phase = StepPhase::Done);
                }
            }
            PlanEvent::MergeBegan { branch } => self.branch(branch, BranchPhase::Merging),
            PlanEvent::Merged { branch } => self.branch(branch, BranchPhase::Merged),
            PlanEvent::RollbackBegan { branch, why } => {
                self.branch(branch, BranchPhase::RollingBack);
                if let Some(state) = self.branches.get_mut(branch) {
                    state.why = Some(why.clone());
                }
            }
            PlanEvent::RolledBack { branch } => {
                self.branch(branch, BranchPhase::Failed);
                for step in self.steps_of(branch) {
                    self.step(&step, |state| {
                        if state.phase == StepPhase::Done {
                            state.phase = StepPhase::RolledBack;
                        }
                    });
                }
            }
            PlanEvent::Replanned { branch, steps } => {
                self.replans += 1;
                self.decided(branch);
                self.add(steps);
                if let Some(spec) = &mut self.spec {
                    spec.steps.extend(steps.iter().cloned());
                }
            }
            PlanEvent::NotReplanned { branch, .. } => self.decided(branch),
            PlanEvent::Skipped { step, because } => self.step(step, |state| {
                state.phase = StepPhase::Skipped { because: because.clone() };
            }),
            PlanEvent::Ended { end } => self.end = Some(*end),
        }
    }

    /// A step as it was planned.
    #[must_use]
    pub fn spec_of(&self, step: &str) -> Option<&PlanStep> {
        self.spec.as_ref()?.steps.iter().find(|spec| spec.id == step)
    }

    /// The steps of a branch, in the order of the plan.
    #[must_use]
    pub fn steps_of(&self, branch: &str) -> Vec<String> {
        let steps = self.spec.iter().flat_map(|spec| &spec.steps);
        steps.filter(|step| step.branch_name() == branch).map(|step| step.id.clone()).collect()
    }

    pub(super) fn phase(&self, step: &str) -> &StepPhase {
        const PENDING: &StepPhase = &StepPhase::Pending;
        self.steps.get(step).map_or(PENDING, |state| &state.phase)
    }

    pub(super) fn branch_phase(&self, branch: &str) -> BranchPhase {
        self.branches.get(branch).map_or(BranchPhase::Fresh, |state| state.phase)
    }

    /// The steps that a step comes after, as they stand now.
    pub(super) fn before<'s>(&'s self, step: &'s PlanStep) -> impl Iterator<Item = &'s str> {
        step.after.iter().map(|after| resolve(after, &self.replaced))
    }

    fn add(&mut self, steps: &[PlanStep]) {
        for step in steps {
            self.steps.entry(step.id.clone()).or_default();
            self.branches.entry(step.branch_name().to_owned()).or_default();
            if let Some(replaces) = &step.replaces {
                self.replaced.insert(replaces.clone(), step.id.clone());
            }
        }
    }

    fn branch(&mut self, branch: &str, phase: BranchPhase) {
        if let Some(state) = self.branches.get_mut(branch) {
            state.phase = phase;
        }
    }

    fn decided(&mut self, branch: &str) {
        if let Some(state) = self.branches.get_mut(branch) {
            state.replanned = true;
        }
    }

    fn step(&mut self, step: &str, change: impl FnOnce(&mut StepState)) {
        if let Some(state) = self.steps.get_mut(step) {
            change(state);
        }
    }
}
