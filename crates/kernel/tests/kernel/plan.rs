//! Plans, killed at every event.

use std::collections::BTreeMap;

use futures::FutureExt;
use offshoot_kernel::{
    BranchPhase, CritiqueVerdict, JournalPlanStore, MemoryJournal, PlanCall, PlanEffects, PlanEnd,
    PlanEvent, PlanMachine, PlanOp, PlanReport, PlanRunError, PlanSpec, PlanState, PlanStep,
    Planner, StepPhase, StepRun,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn step(id: &str) -> PlanStep {
    PlanStep::new(id, format!("Step {id}"))
}

/// Two branches beside each other, one of which fails for good; one that comes after both; one that is judged.
fn spec() -> PlanSpec {
    PlanSpec::new("p", "Ship it")
        .step(step("design"))
        .step(step("code").after(["design"]).branch("work").retries(1))
        .step(step("test").after(["code"]).branch("work"))
        .step(step("bad").after(["design"]).branch("doomed"))
        .step(step("worse").after(["bad"]).branch("doomed"))
        .step(step("text").after(["design"]).judged().retries(2))
        .step(step("ship").after(["test", "worse"]))
        .step(step("thank").after(["test", "text"]))
}

/// What the steps come to, whoever runs them: a function of step and attempt.
fn report(op: &PlanOp) -> PlanReport {
    match op {
        PlanOp::Run(step, 1) if step == "code" => PlanReport::Value(Err("flaky".to_owned())),
        PlanOp::Run(step, _) if step == "worse" => PlanReport::Value(Err("broken".to_owned())),
        PlanOp::Run(step, attempt) => PlanReport::Value(Ok(json!(format!("{step} {attempt}")))),
        PlanOp::Critique(_, 1) => {
            PlanReport::Judged(Ok(CritiqueVerdict::Revise { notes: "longer".to_owned() }))
        }
        PlanOp::Critique(..) => PlanReport::Judged(Ok(CritiqueVerdict::Accept)),
        PlanOp::Checkpoint(branch) => PlanReport::Value(Ok(json!(format!("at {branch}")))),
        PlanOp::Merge(_) | PlanOp::Rollback(_) => PlanReport::Done(Ok(())),
        PlanOp::Replan(_) => PlanReport::Steps(None),
    }
}

/// A world in which each key happens once, as effects have to see to.
#[derive(Default)]
struct World {
    began: BTreeMap<String, u32>,
}

/// Runs a plan; the process dies when it has recorded so many events.
fn run(spec: &PlanSpec, log: &mut Vec<PlanEvent>, world: &mut World, dies_at: usize) -> PlanState {
    let mut machine = PlanMachine::new(PlanState::from_events(log.iter()));
    let mut pending = machine.load(spec).unwrap();
    let mut calls = Vec::new();
    loop {
        let (events, more) = machine.advance();
        pending.extend(events);
        for event in pending.drain(..) {
            if log.len() == dies_at {
                return PlanState::from_events(log.iter());
            }
            log.push(event);
        }
        calls.extend(more);
        if machine.state().end.is_some() || calls.is_empty() {
            assert_eq!(machine.state(), &PlanState::from_events(log.iter()));
            return machine.state().clone();
        }
        // The last one first: an order that is not that of the plan.
        let call: offshoot_kernel::PlanInvocation = calls.pop().unwrap();
        let key = call.op.key("p");
        let began = world.began.entry(key.clone()).or_default();
        assert_eq!(*began > 0, call.again && *began > 0, "{key} is called twice");
        *began += 1;
        pending = machine.done(&call.op, report(&call.op));
    }
}

fn check(state: &PlanState) {
    let phase = |step: &str| state.steps[step].phase.clone();
    for done in ["design", "code", "test", "text", "thank"] {
        assert_eq!(phase(done), StepPhase::Done, "{done}");
    }
    assert_eq!(phase("bad"), StepPhase::RolledBack);
    assert!(matches!(phase("worse"), StepPhase::Failed { .. }));
    assert_eq!(phase("ship"), StepPhase::Skipped { because: "worse".to_owned() });
    assert_eq!(state.branches["doomed"].phase, BranchPhase::Failed);
    assert_eq!(state.branches["work"].phase, BranchPhase::Merged);
    assert_eq!(state.end, Some(PlanEnd::Partly));
    assert_eq!(state.steps["text"].notes, ["longer"]);
}

#[test]
fn a_failed_branch_is_rolled_back_and_leaves_the_others() {
    let mut log = Vec::new();
    let state = run(&spec(), &mut log, &mut World::default(), usize::MAX);
    check(&state);
    let tree = state.tree().unwrap();
    assert_eq!(tree.steps.len(), 1);
    let below: Vec<&str> = tree.steps[0].steps.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(below, ["code", "bad", "text"]);
    let test = &tree.steps[0].steps[0].steps[0];
    assert_eq!(test.steps[0].also_after, ["worse"]);
    let again: offshoot_kernel::PlanTree =
        serde_json::from_value(serde_json::to_value(&tree).unwrap()).unwrap();
    assert_eq!(again, tree);
}

#[test]
fn a_plan_goes_on_wherever_it_was_killed() {
    let mut whole = Vec::new();
    run(&spec(), &mut whole, &mut World::default(), usize::MAX);
    for dies_at in 0..whole.len() {
        let (mut log, mut world) = (Vec::new(), World::default());
        run(&spec(), &mut log, &mut world, dies_at);
        assert_eq!(log.len(), dies_at);
        check(&run(&spec(), &mut log, &mut world, usize::MAX));
        let twice = world.began.values().filter(|times| **times > 1).count();
        assert!(twice <= spec().parallel, "only what was in flight is called again");
    }
}

#[test]
fn a_failed_branch_can_be_replaced() {
    let mut spec =
        PlanSpec::new("p", "goal").step(step("worse")).step(step("after").after(["worse"]));
    spec.replans = 1;
    let mut machine = PlanMachine::new(PlanState::default());
    let mut log = machine.load(&spec).unwrap();
    let mut asked = 0;
    while machine.state().end.is_none() {
        let (events, calls) = machine.advance();
        log.extend(events);
        for call in calls {
            let report = match &call.op {
                PlanOp::Replan(branch) => {
                    asked += 1;
                    assert_eq!(branch, "worse");
                    PlanReport::Steps(Some(vec![step("better").replaces("worse")]))
                }
                op => report(op),
            };
            log.extend(machine.done(&call.op, report));
        }
    }
    let state = machine.state();
    assert_eq!((asked, state.end), (1, Some(PlanEnd::Done)));
    assert_eq!(state.steps["after"].phase, StepPhase::Done);
    assert_eq!(&PlanState::from_events(log.iter()), state);
}

#[test]
fn steps_that_do_not_fit_replace_nothing() {
    let mut spec = PlanSpec::new("p", "goal")
        .step(step("worse"))
        .step(step("good"))
        .step(step("x").after(["worse"]));
    spec.replans = 1;
    for bad in [
        step("good"),
        step("new").replaces("good"),
        step("new").branch("good"),
        step("new").after(["unknown"]),
        step("new").replaces("worse").after(["x"]),
    ] {
        let mut machine = PlanMachine::new(PlanState::default());
        machine.load(&spec).unwrap();
        while machine.state().end.is_none() {
            for call in machine.advance().1 {
                let report = match &call.op {
                    PlanOp::Replan(_) => PlanReport::Steps(Some(vec![bad.clone()])),
                    op => report(op),
                };
                machine.done(&call.op, report);
            }
        }
        let state = machine.state();
        assert_eq!(state.end, Some(PlanEnd::Partly), "{bad:?}");
        assert!(matches!(state.steps["x"].phase, StepPhase::Skipped { .. }), "{bad:?}");
    }
}

struct Effects {
    panics: bool,
}

impl PlanEffects for Effects {
    async fn run(&self, call: PlanCall, step: StepRun) -> Result<Value, String> {
        assert!(!(self.panics && step.step.id == "worse"), "planned");
        tokio::task::yield_now().await;
        match report(&PlanOp::Run(step.step.id, step.attempt)) {
            PlanReport::Value(result) => result,
            report => panic!("{call:?}: {report:?}"),
        }
    }

    async fn critique(
        &self,
        _: PlanCall,
        step: StepRun,
        _: Value,
    ) -> Result<CritiqueVerdict, String> {
        match report(&PlanOp::Critique(step.step.id, step.attempt)) {
            PlanReport::Judged(result) => result,
            report => panic!("{report:?}"),
        }
    }

    async fn checkpoint(&self, _: PlanCall, branch: String) -> Result<Value, String> {
        Ok(json!(format!("at {branch}")))
    }

    async fn rollback(&self, _: PlanCall, branch: String, to: Value) -> Result<(), String> {
        assert_eq!(to, json!(format!("at {branch}")));
        Ok(())
    }

    async fn merge(&self, _: PlanCall, _: String) -> Result<(), String> {
        Ok(())
    }
}

#[tokio::test]
async fn a_planner_runs_a_plan_and_survives_panics() {
    for panics in [false, true] {
        let journal = MemoryJournal::default();
        let planner = Planner::new(Effects { panics }, JournalPlanStore::new(journal.clone()));
        let cancel = CancellationToken::new();
        assert_eq!(planner.run(&spec(), &cancel).await, Ok(PlanEnd::Partly));
        // It ended, and is not run again.
        assert_eq!(planner.run(&spec(), &cancel).await, Ok(PlanEnd::Partly));
        let other = PlanSpec::new("p", "other").step(step("new"));
        assert!(matches!(planner.run(&other, &cancel).await, Err(PlanRunError::Plan(_))));
    }
}

#[tokio::test]
async fn a_planner_that_was_dropped_goes_on() {
    for polls in 0..60 {
        let journal = MemoryJournal::default();
        let cancel = CancellationToken::new();
        {
            let planner =
                Planner::new(Effects { panics: false }, JournalPlanStore::new(journal.clone()));
            let spec = spec();
            let mut run = Box::pin(planner.run(&spec, &cancel));
            for _ in 0..polls {
                if (&mut run).now_or_never().is_some() {
                    break;
                }
            }
        }
        let store = JournalPlanStore::new(journal.reopened());
        let planner = Planner::new(Effects { panics: false }, store);
        assert_eq!(planner.run(&spec(), &cancel).await, Ok(PlanEnd::Partly), "{polls} polls");
    }
    let cancel = CancellationToken::new();
    cancel.cancel();
    let store = JournalPlanStore::new(MemoryJournal::default());
    let planner = Planner::new(Effects { panics: false }, store);
    let ended = planner.run(&spec(), &cancel).await;
    assert!(matches!(ended, Err(PlanRunError::Cancelled) | Ok(_)), "{ended:?}");
}
