//! Jobs across restarts and jumps of the clock.

use fastrand::Rng;
use offshoot_kernel::{
    Budget, JobSchedule, KernelInput, KernelJob, KernelLimits, KernelSettings, LifeStep, MissedRuns,
};
use serde_json::json;

use crate::sim::Sim;

const HOUR: u64 = 3_600_000;

fn with_job(missed: MissedRuns) -> Sim {
    let job = KernelJob::new("hourly", JobSchedule::cron("0 * * * *", "UTC"))
        .body(json!({ "do": ["done"] }))
        .missed(missed);
    let settings = KernelSettings { jobs: vec![job], ..KernelSettings::default() };
    Sim::active(settings, 1)
}

fn runs(sim: &Sim) -> Vec<u64> {
    sim.world.runs.keys().map(|(_, due)| *due).collect()
}

#[test]
fn each_due_time_runs_once() {
    let mut sim = with_job(MissedRuns::RunOnce);
    for _ in 0..48 {
        sim.pass(HOUR / 2).unwrap();
        sim.settle().unwrap();
        sim.restart().unwrap();
    }
    assert_eq!(runs(&sim).len(), 24);
    assert!(sim.world.runs.values().all(|times| *times == 1));
}

#[test]
fn what_was_missed_while_no_process_ran_is_handled() {
    for (missed, expected) in [
        (MissedRuns::Skip { grace_ms: 1_000 }, 0),
        (MissedRuns::RunOnce, 1),
        (MissedRuns::RunAll { bound: 4 }, 4),
    ] {
        let mut sim = with_job(missed);
        sim.now.wall_ms += 10 * HOUR;
        sim.restart().unwrap();
        sim.pass(1).unwrap();
        sim.settle().unwrap();
        assert_eq!(runs(&sim).len(), expected, "{missed:?}");
        let state = &sim.machine.state().jobs["hourly"];
        assert_eq!(state.missed as usize, 10 - expected, "{missed:?}");
    }
}

#[test]
fn what_was_missed_while_suspended_is_handled_on_resume() {
    let mut sim = with_job(MissedRuns::RunOnce);
    sim.life(LifeStep::Suspend);
    sim.pass(5 * HOUR).unwrap();
    assert!(runs(&sim).is_empty());
    sim.life(LifeStep::Resume);
    sim.settle().unwrap();
    assert_eq!(runs(&sim).len(), 1);
}

#[test]
fn no_due_time_runs_twice_whatever_the_clock_does() {
    for seed in 0..20 {
        let mut rng = Rng::with_seed(seed);
        let missed = match seed % 3 {
            0 => MissedRuns::Skip { grace_ms: 10 * 60_000 },
            1 => MissedRuns::RunOnce,
            _ => MissedRuns::RunAll { bound: 5 },
        };
        let mut sim = with_job(missed);
        for _ in 0..100 {
            match rng.u32(0..10) {
                0 => sim.now.wall_ms += rng.u64(0..30 * HOUR),
                1 => sim.now.wall_ms -= rng.u64(0..30 * HOUR),
                2 => sim.restart().unwrap(),
                _ => {}
            }
            sim.pass(rng.u64(0..HOUR)).unwrap();
            sim.settle().unwrap();
        }
        assert!(!sim.world.runs.is_empty(), "seed {seed}");
        for (run, times) in &sim.world.runs {
            assert_eq!(*times, 1, "seed {seed}: {run:?}");
        }
    }
}

#[test]
fn a_run_that_is_open_makes_others_wait() {
    let job = KernelJob::new("long", JobSchedule::Every { ms: 1_000 })
        .body(json!({ "do": ["hang"] }))
        .missed(MissedRuns::RunOnce);
    let mut sim = Sim::with_limits(KernelLimits::default());
    assert!(sim.input(KernelInput::SetJob(Box::new(job))).unwrap().is_ok());
    for _ in 0..10 {
        sim.pass(1_000).unwrap();
    }
    assert_eq!(runs(&sim).len(), 1);
    assert_eq!(sim.machine.state().jobs["long"].missed, 9);
    assert!(sim.input(KernelInput::RemoveJob("long".to_owned())).unwrap().is_ok());
    assert!(sim.input(KernelInput::RemoveJob("long".to_owned())).unwrap().is_err());
}

#[test]
fn runs_have_budgets() {
    let job = KernelJob::new("costly", JobSchedule::Every { ms: 1_000 })
        .body(json!({ "do": ["spend:6", "spend:6", "done"] }))
        .budget(Budget { tokens: Some(10), ..Budget::default() });
    let mut sim = Sim::with_limits(KernelLimits::default());
    let all = Budget { tokens: Some(15), ..Budget::default() };
    assert!(sim.input(KernelInput::SetBudget(all)).unwrap().is_ok());
    assert!(sim.input(KernelInput::SetJob(Box::new(job))).unwrap().is_ok());
    for _ in 0..3 {
        sim.pass(1_000).unwrap();
        sim.settle().unwrap();
    }
    let state = sim.machine.state();
    assert_eq!(runs(&sim).len(), 1, "the second run has no budget, so it is missed");
    assert_eq!(state.jobs["costly"].missed, 2);
    let letter = state.letters.values().next().unwrap();
    assert_eq!(letter.cause, offshoot_kernel::DeathCause::OverBudget);
}

#[test]
fn a_job_that_runs_at_one_time_runs_once() {
    let mut sim = Sim::with_limits(KernelLimits::default());
    let at_ms = sim.now.wall_ms + 500;
    let job = KernelJob::new("once", JobSchedule::Once { at_ms }).body(json!({ "do": ["done"] }));
    assert!(sim.input(KernelInput::SetJob(Box::new(job))).unwrap().is_ok());
    for _ in 0..5 {
        sim.pass(200).unwrap();
        sim.settle().unwrap();
        sim.restart().unwrap();
    }
    assert_eq!(runs(&sim), [at_ms]);
}
