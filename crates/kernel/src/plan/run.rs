//! Carrying a plan out.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::machine::{PlanInvocation, PlanMachine};
use super::report::{CritiqueVerdict, PlanOp, PlanReport};
use super::spec::{PlanError, PlanSpec, PlanStep};
use super::state::{PlanEnd, PlanState};
use super::store::PlanStore;

/// Names something that is done for a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCall {
    /// The same before and after a crash, and no other call has it.
    pub key: String,
    /// Whether an earlier process may have begun it. Then it may have happened, in whole or in part.
    pub again: bool,
}

/// An attempt at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRun {
    /// The step.
    pub step: PlanStep,
    /// Which attempt it is; the first is 1.
    pub attempt: u32,
    /// What was said of earlier attempts.
    pub notes: Vec<String>,
    /// The results of the steps that it comes after.
    pub before: Vec<(String, Value)>,
}

/// What a plan does outside. Each key has to happen once, also if it is called again.
pub trait PlanEffects: Send + Sync {
    /// Runs a step.
    fn run(
        &self,
        call: PlanCall,
        step: StepRun,
    ) -> impl Future<Output = Result<Value, String>> + Send;

    /// Judges the result of a step.
    fn critique(
        &self,
        call: PlanCall,
        step: StepRun,
        result: Value,
    ) -> impl Future<Output = Result<CritiqueVerdict, String>> + Send;

    /// Takes a checkpoint at the start of a branch, and says what names it.
    fn checkpoint(
        &self,
        call: PlanCall,
        branch: String,
    ) -> impl Future<Output = Result<Value, String>> + Send;

    /// Brings a branch back to its checkpoint.
    fn rollback(
        &self,
        call: PlanCall,
        branch: String,
        checkpoint: Value,
    ) -> impl Future<Output = Result<(), String>> + Send;

    /// Merges a branch whose steps are done.
    fn merge(
        &self,
        call: PlanCall,
        branch: String,
    ) -> impl Future<Output = Result<(), String>> + Send;

    /// Steps in place of a branch that failed, if there is another way.
    fn replan(
        &self,
        branch: String,
        plan: PlanState,
    ) -> impl Future<Output = Option<Vec<PlanStep>>> + Send {
        drop((branch, plan));
        std::future::ready(None)
    }
}

/// Why a plan stopped before its end. It can be taken up again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanRunError {
    /// The plan cannot be carried out.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its events cannot be kept or read.
    #[error("the events of the plan cannot be kept: {0}")]
    Store(String),
    /// A branch could not be rolled back.
    #[error("branch {branch} could not be rolled back: {why}; run the plan again to try once more")]
    Rollback {
        /// The branch.
        branch: String,
        /// Why.
        why: String,
    },
    /// It was cancelled.
    #[error("the plan was cancelled; run it again to go on")]
    Cancelled,
}

/// Joins a plan with its effects and a store.
#[derive(Debug)]
pub struct Planner<E, S> {
    effects: E,
    store: S,
}

impl<E: PlanEffects, S: PlanStore> Planner<E, S> {
    /// A planner for one plan.
    pub fn new(effects: E, store: S) -> Self {
        Self { effects, store }
    }

    /// Carries a plan out, from where it is. It can be dropped at any time and run again.
    pub async fn run(
        &self,
        spec: &PlanSpec,
        cancel: &CancellationToken,
    ) -> Result<PlanEnd, PlanRunError> {
        let state = self.store.load().await.map_err(PlanRunError::Store)?;
        let mut machine = PlanMachine::new(state);
        let mut events = machine.load(spec)?;
        let mut flight: FuturesUnordered<BoxFuture<'_, (PlanOp, PlanReport)>> =
            FuturesUnordered::new();
        loop {
            let (more, calls) = machine.advance();
            events.extend(more);
            if !events.is_empty() {
                let events = std::mem::take(&mut events);
                self.store.append(events).await.map_err(PlanRunError::Store)?;
            }
            if let Some(end) = machine.state().end {
                return Ok(end);
            }
            for call in calls {
                flight.push(self.call(&spec.id, machine.state(), call));
            }
            let ended = tokio::select! {
                ended = flight.next() => ended,
                () = cancel.cancelled() => return Err(PlanRunError::Cancelled),
            };
            // Something is in flight, or the plan had ended.
            let Some((op, report)) = ended else { return Ok(PlanEnd::Failed) };
            if let (PlanOp::Rollback(branch), PlanReport::Done(Err(why))) = (&op, &report) {
                return Err(PlanRunError::Rollback { branch: branch.clone(), why: why.clone() });
            }
            events = machine.done(&op, report);
        }
    }

    fn call(
        &self,
        plan: &str,
        state: &PlanState,
        call: PlanInvocation,
    ) -> BoxFuture<'_, (PlanOp, PlanReport)> {
        let PlanInvocation { op, again } = call;
        let call = PlanCall { key: op.key(plan), again };
        let effects = &self.effects;
        let future: BoxFuture<'_, PlanReport> = match op.clone() {
            PlanOp::Checkpoint(branch) => {
                effects.checkpoint(call, branch).map(PlanReport::Value).boxed()
            }
            PlanOp::Run(step, attempt) => match step_run(state, &step, attempt) {
                Some(step) => effects.run(call, step).map(PlanReport::Value).boxed(),
                None => std::future::ready(PlanReport::Value(Err(unknown(&step)))).boxed(),
            },
            PlanOp::Critique(step, attempt) => {
                let result = state.steps.get(&step).and_then(|state| state.result.clone());
                match step_run(state, &step, attempt).zip(result) {
                    Some((step, result)) => {
                        effects.critique(call, step, result).map(PlanReport::Judged).boxed()
                    }
                    None => std::future::ready(PlanReport::Judged(Err(unknown(&step)))).boxed(),
                }
            }
            PlanOp::Merge(branch) => effects.merge(call, branch).map(PlanReport::Done).boxed(),
            PlanOp::Rollback(branch) => {
                let of = state.branches.get(&branch);
                let checkpoint = of.and_then(|of| of.checkpoint.clone()).unwrap_or_default();
                effects.rollback(call, branch, checkpoint).map(PlanReport::Done).boxed()
            }
            PlanOp::Replan(branch) => {
                effects.replan(branch, state.clone()).map(PlanReport::Steps).boxed()
            }
        };
        let kind = op.clone();
        let caught = AssertUnwindSafe(future).catch_unwind();
        caught.map(move |report| (op, report.unwrap_or_else(|_| panicked(&kind)))).boxed()
    }
}

fn step_run(state: &PlanState, step: &str, attempt: u32) -> Option<StepRun> {
    let spec = state.spec_of(step)?.clone();
    let notes = state.steps.get(step)?.notes.clone();
    let result = |before: &str| Some((before.to_owned(), state.steps.get(before)?.result.clone()?));
    let before = state.before(&spec).filter_map(result).collect();
    Some(StepRun { step: spec, attempt, notes, before })
}

fn unknown(step: &str) -> String {
    format!("there is no step {step}")
}

fn panicked(op: &PlanOp) -> PlanReport {
    let why = || "panicked".to_owned();
    match op {
        PlanOp::Checkpoint(_) | PlanOp::Run(..) => PlanReport::Value(Err(why())),
        PlanOp::Critique(..) => PlanReport::Judged(Err(why())),
        PlanOp::Merge(_) | PlanOp::Rollback(_) => PlanReport::Done(Err(why())),
        PlanOp::Replan(_) => PlanReport::Steps(None),
    }
}
