//! A plan as a state machine, without I/O.

use std::collections::{BTreeMap, BTreeSet};

use super::event::PlanEvent;
use super::report::{CritiqueVerdict, PlanOp, PlanReport};
use super::spec::{PlanError, PlanSpec, PlanStep, check_steps};
use super::state::{BranchPhase, BranchState, PlanEnd, PlanState, StepPhase};

/// A plan: what was done goes in, events and what is to be done come out. It does nothing itself.
#[derive(Debug)]
pub struct PlanMachine {
    state: PlanState,
    /// What this process has in flight. It is no state.
    flight: BTreeSet<PlanOp>,
    /// What an earlier process may have begun.
    begun: BTreeSet<PlanOp>,
}

/// Something that is to be done once the events before it are durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanInvocation {
    /// What.
    pub op: PlanOp,
    /// Whether an earlier process may have begun it.
    pub again: bool,
}

impl PlanMachine {
    /// The machine of a plan with this state.
    #[must_use]
    pub fn new(state: PlanState) -> Self {
        let mut begun = BTreeSet::new();
        for (name, branch) in &state.branches {
            begun.extend(match branch.phase {
                BranchPhase::Checkpointing => Some(PlanOp::Checkpoint(name.clone())),
                BranchPhase::Merging => Some(PlanOp::Merge(name.clone())),
                BranchPhase::RollingBack => Some(PlanOp::Rollback(name.clone())),
                _ => None,
            });
        }
        for (name, step) in &state.steps {
            begun.extend(match step.phase {
                StepPhase::Running => Some(PlanOp::Run(name.clone(), step.attempt)),
                StepPhase::Judging => Some(PlanOp::Critique(name.clone(), step.attempt)),
                _ => None,
            });
        }
        Self { state, flight: BTreeSet::new(), begun }
    }

    /// How far the plan is.
    #[must_use]
    pub fn state(&self) -> &PlanState {
        &self.state
    }

    /// Loads a plan. One that was loaded already goes on.
    pub fn load(&mut self, spec: &PlanSpec) -> Result<Vec<PlanEvent>, PlanError> {
        spec.check()?;
        if let Some(known) = &self.state.spec {
            // Steps that were added later are behind those of the plan.
            let same = known.id == spec.id && known.steps.starts_with(&spec.steps);
            return if same { Ok(Vec::new()) } else { Err(PlanError::Loaded(spec.id.clone())) };
        }
        let mut events = Vec::new();
        self.record(&mut events, PlanEvent::Loaded { spec: spec.clone() });
        Ok(events)
    }

    /// Takes what came of something that was to be done.
    pub fn done(&mut self, op: &PlanOp, report: PlanReport) -> Vec<PlanEvent> {
        let mut events = Vec::new();
        if !self.flight.remove(op) {
            return events;
        }
        match (op, report) {
            (PlanOp::Checkpoint(branch), PlanReport::Value(Ok(checkpoint))) => {
                let branch = branch.clone();
                self.record(&mut events, PlanEvent::CheckpointTaken { branch, checkpoint });
            }
            (PlanOp::Checkpoint(branch), report) => {
                let why = format!("no checkpoint: {}", reason(report));
                self.record(&mut events, PlanEvent::BranchFailed { branch: branch.clone(), why });
            }
            (PlanOp::Run(step, _), PlanReport::Value(Ok(result))) => {
                self.record(&mut events, PlanEvent::StepRan { step: step.clone(), result });
            }
            (PlanOp::Run(step, _), report) => {
                self.attempt_failed(&mut events, step, reason(report))
            }
            (PlanOp::Critique(step, _), PlanReport::Judged(Ok(verdict))) => {
                let judged = PlanEvent::Judged { step: step.clone(), verdict: verdict.clone() };
                self.record(&mut events, judged);
                match verdict {
                    CritiqueVerdict::Accept => {}
                    CritiqueVerdict::Revise { notes } => {
                        self.attempt_failed(&mut events, step, notes);
                    }
                    CritiqueVerdict::Reject { why } => {
                        self.record(&mut events, PlanEvent::StepFailed { step: step.clone(), why });
                    }
                }
            }
            (PlanOp::Critique(step, _), report) => {
                let why = format!("cannot be judged: {}", reason(report));
                self.attempt_failed(&mut events, step, why);
            }
            (PlanOp::Merge(branch), PlanReport::Done(Ok(()))) => {
                self.record(&mut events, PlanEvent::Merged { branch: branch.clone() });
            }
            (PlanOp::Merge(branch), report) => {
                let why = format!("cannot be merged: {}", reason(report));
                self.record(&mut events, PlanEvent::RollbackBegan { branch: branch.clone(), why });
            }
            (PlanOp::Rollback(branch), PlanReport::Done(Ok(()))) => {
                self.record(&mut events, PlanEvent::RolledBack { branch: branch.clone() });
            }
            // It stays to be done. Whoever runs the plan says so.
            (PlanOp::Rollback(_), _) => drop(self.begun.insert(op.clone())),
            (PlanOp::Replan(branch), PlanReport::Steps(Some(steps))) => {
                let branch = branch.clone();
                let event = match self.check_replan(&branch, &steps) {
                    Ok(()) => PlanEvent::Replanned { branch, steps },
                    Err(error) => PlanEvent::NotReplanned { branch, why: error.to_string() },
                };
                self.record(&mut events, event);
            }
            (PlanOp::Replan(branch), _) => {
                let (branch, why) = (branch.clone(), "there is no other way".to_owned());
                self.record(&mut events, PlanEvent::NotReplanned { branch, why });
            }
        }
        events
    }

    /// What is to be done next. The events are durable before any of it begins.
    pub fn advance(&mut self) -> (Vec<PlanEvent>, Vec<PlanInvocation>) {
        let (mut events, mut calls) = (Vec::new(), Vec::new());
        if self.state.spec.is_none() || self.state.end.is_some() {
            return (events, calls);
        }
        while self.skip(&mut events) {}
        let parallel = self.state.spec.as_ref().map_or(1, |spec| spec.parallel.max(1));
        for branch in self.branches() {
            if self.flight.len() >= parallel {
                break;
            }
            if self.flight.iter().any(|op| self.branch_of(op) == branch) {
                continue;
            }
            if let Some(op) = self.next_of(&branch, &mut events) {
                let again = self.begun.remove(&op);
                self.flight.insert(op.clone());
                calls.push(PlanInvocation { op, again });
            }
        }
        if self.flight.is_empty() && calls.is_empty() {
            let end = self.end();
            self.record(&mut events, PlanEvent::Ended { end });
        }
        (events, calls)
    }

    fn record(&mut self, events: &mut Vec<PlanEvent>, event: PlanEvent) {
        self.state.apply(&event);
        events.push(event);
    }

    /// Branches in the order in which the plan first names them.
    fn branches(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut known = BTreeSet::new();
        for step in self.steps() {
            if known.insert(step.branch_name()) {
                names.push(step.branch_name().to_owned());
            }
        }
        names
    }

    fn steps(&self) -> impl Iterator<Item = &PlanStep> {
        self.state.spec.iter().flat_map(|spec| &spec.steps)
    }

    fn branch_of<'s>(&'s self, op: &'s PlanOp) -> &'s str {
        match op {
            PlanOp::Run(step, _) | PlanOp::Critique(step, _) => {
                self.state.spec_of(step).map_or("", PlanStep::branch_name)
            }
            PlanOp::Checkpoint(branch)
            | PlanOp::Merge(branch)
            | PlanOp::Rollback(branch)
            | PlanOp::Replan(branch) => branch,
        }
    }

    fn next_of(&mut self, branch: &str, events: &mut Vec<PlanEvent>) -> Option<PlanOp> {
        let name = branch.to_owned();
        let steps = self.state.steps_of(branch);
        match self.state.branch_phase(branch) {
            BranchPhase::Fresh => {
                let ready = steps.iter().any(|step| self.is_ready(step));
                ready.then(|| {
                    self.record(events, PlanEvent::CheckpointBegan { branch: name.clone() });
                    PlanOp::Checkpoint(name)
                })
            }
            BranchPhase::Checkpointing => Some(PlanOp::Checkpoint(name)),
            BranchPhase::Open => self.next_step(&name, &steps, events),
            BranchPhase::Merging => Some(PlanOp::Merge(name)),
            BranchPhase::RollingBack => Some(PlanOp::Rollback(name)),
            BranchPhase::Merged => None,
            BranchPhase::Failed => (!self.is_decided(branch)).then_some(PlanOp::Replan(name)),
        }
    }

    fn next_step(
        &mut self,
        branch: &str,
        steps: &[String],
        events: &mut Vec<PlanEvent>,
    ) -> Option<PlanOp> {
        let attempt = |machine: &Self, step: &String| {
            machine.state.steps.get(step).map_or(0, |state| state.attempt)
        };
        for step in steps {
            let why = match self.state.phase(step) {
                StepPhase::Running => return Some(PlanOp::Run(step.clone(), attempt(self, step))),
                StepPhase::Judging => {
                    return Some(PlanOp::Critique(step.clone(), attempt(self, step)));
                }
                StepPhase::Failed { why } => why.clone(),
                StepPhase::Skipped { because } => format!("{because} failed"),
                _ => continue,
            };
            let branch = branch.to_owned();
            self.record(events, PlanEvent::RollbackBegan { branch: branch.clone(), why });
            return Some(PlanOp::Rollback(branch));
        }
        if let Some(step) = steps.iter().find(|step| self.is_ready(step)).cloned() {
            self.record(events, PlanEvent::StepStarted { step: step.clone() });
            let attempt = attempt(self, &step);
            return Some(PlanOp::Run(step, attempt));
        }
        let all_done = steps.iter().all(|step| *self.state.phase(step) == StepPhase::Done);
        all_done.then(|| {
            self.record(events, PlanEvent::MergeBegan { branch: branch.to_owned() });
            PlanOp::Merge(branch.to_owned())
        })
    }

    /// Whether all that a step comes after is done, and merged where it is of another branch.
    fn is_ready(&self, step: &str) -> bool {
        let Some(spec) = self.state.spec_of(step) else { return false };
        let is_there = |before: &str| {
            let of = self.state.spec_of(before).map_or("", PlanStep::branch_name);
            *self.state.phase(before) == StepPhase::Done
                && (of == spec.branch_name() || self.state.branch_phase(of) == BranchPhase::Merged)
        };
        *self.state.phase(step) == StepPhase::Pending && self.state.before(spec).all(is_there)
    }

    /// Skips what cannot run any more; says whether there was anything.
    fn skip(&mut self, events: &mut Vec<PlanEvent>) -> bool {
        let mut skipped = Vec::new();
        for step in self.steps() {
            if *self.state.phase(&step.id) != StepPhase::Pending {
                continue;
            }
            let own = step.branch_name();
            let of_branch = (self.is_lost(own) || self.is_broken(own)).then(|| own.to_owned());
            let before = self.state.before(step).find(|before| {
                let of = self.state.spec_of(before).map_or("", PlanStep::branch_name);
                let is_skipped = matches!(self.state.phase(before), StepPhase::Skipped { .. });
                of != own && self.is_lost(of) || is_skipped && self.is_decided(of)
            });
            if let Some(because) = before.map(str::to_owned).or(of_branch) {
                skipped.push(PlanEvent::Skipped { step: step.id.clone(), because });
            }
        }
        let any = !skipped.is_empty();
        for event in skipped {
            self.record(events, event);
        }
        any
    }

    /// Whether a branch failed, and nothing will stand for it.
    fn is_lost(&self, branch: &str) -> bool {
        self.state.branch_phase(branch) == BranchPhase::Failed && self.is_decided(branch)
    }

    fn is_decided(&self, branch: &str) -> bool {
        let left = self.state.spec.as_ref().map_or(0, |spec| spec.replans);
        self.state.replans >= left
            || self
                .state
                .branches
                .get(branch)
                .is_none_or(|state| state.replanned || state.phase == BranchPhase::Fresh)
            || self.was_dragged(branch)
    }

    /// Whether a branch failed because of another one alone. That one is what can be replaced.
    fn was_dragged(&self, branch: &str) -> bool {
        self.state.steps_of(branch).iter().any(|step| match self.state.phase(step) {
            StepPhase::Skipped { because } => because != branch,
            _ => false,
        })
    }

    /// Whether a step of the branch failed or was skipped: its steps stand or fall together.
    fn is_broken(&self, branch: &str) -> bool {
        self.state.branch_phase(branch) == BranchPhase::Failed
            || self.state.steps_of(branch).iter().any(|step| {
                matches!(
                    self.state.phase(step),
                    StepPhase::Failed { .. } | StepPhase::Skipped { .. }
                )
            })
    }

    fn attempt_failed(&mut self, events: &mut Vec<PlanEvent>, step: &str, why: String) {
        let attempt = self.state.steps.get(step).map_or(0, |state| state.attempt);
        let retries = self.state.spec_of(step).map_or(0, |spec| spec.retries);
        let step = step.to_owned();
        let event = if attempt <= retries {
            PlanEvent::StepRetrying { step, why }
        } else {
            PlanEvent::StepFailed { step, why }
        };
        self.record(events, event);
    }

    /// Whether steps can stand for a failed branch.
    fn check_replan(&self, branch: &str, steps: &[PlanStep]) -> Result<(), PlanError> {
        let failed = self.state.steps_of(branch);
        let mut replaced: BTreeMap<String, String> = self.state.replaced.clone();
        for step in steps {
            let name = step.branch_name();
            if self.state.branches.contains_key(name) {
                let (step, branch) = (step.id.clone(), name.to_owned());
                return Err(PlanError::OldBranch { step, branch });
            }
            let Some(replaces) = &step.replaces else { continue };
            if !failed.contains(replaces) {
                let (step, replaces) = (step.id.clone(), replaces.clone());
                return Err(PlanError::Replaces { step, replaces });
            }
            replaced.insert(replaces.clone(), step.id.clone());
        }
        let all: Vec<PlanStep> = self.steps().chain(steps).cloned().collect();
        check_steps(&all, &replaced)
    }

    fn end(&self) -> PlanEnd {
        let is_done = |step: &PlanStep| {
            self.state.replaced.contains_key(&step.id)
                || self.state.branch_phase(step.branch_name()) == BranchPhase::Merged
        };
        let merged = |state: &BranchState| state.phase == BranchPhase::Merged;
        if self.steps().all(is_done) {
            PlanEnd::Done
        } else if self.state.branches.values().any(merged) {
            PlanEnd::Partly
        } else {
            PlanEnd::Failed
        }
    }
}

/// What a report that is no success says.
fn reason(report: PlanReport) -> String {
    let why = match report {
        PlanReport::Value(result) => result.err(),
        PlanReport::Judged(result) => result.err(),
        PlanReport::Done(result) => result.err(),
        PlanReport::Steps(_) => None,
    };
    why.unwrap_or_else(|| "the report does not fit".to_owned())
}
