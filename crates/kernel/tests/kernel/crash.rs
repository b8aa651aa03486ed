//! The process dies at every step that is recorded.

use std::collections::BTreeMap;

use offshoot_kernel::{
    Budget, DeathCause, DeliveryPromise, JournalFault, KernelLimits, KernelReply, KernelSettings,
    KernelState, TaskMessage, TaskOutcome, TaskRetry,
};

use crate::sim::{Died, Sim, scripted};

fn messages() -> Vec<TaskMessage> {
    let once = |name, script: &[&str]| scripted(name, script).promise(DeliveryPromise::Once);
    vec![
        scripted("a", &["effect:x", "progress:1", "effect:y", "spend:5", "done"]),
        once("b", &["effect:x", "wait", "effect:y", "done"]),
        scripted("c", &["fail:2", "effect:x", "done"]),
        scripted("d", &["spawn:s", "spawn:t", "effect:x", "join:s", "join:t", "done"]),
        once("e", &["ask:q", "effect:x", "done"]),
        once("f", &["fail"]),
        scripted("g", &["hold:7", "wait", "done"])
            .budget(Budget { tokens: Some(20), ..Budget::default() })
            .retry(TaskRetry { attempts: 2, ..TaskRetry::default() }),
    ]
}

fn settings() -> KernelSettings {
    let limits = KernelLimits { concurrency: 3, ..KernelLimits::default() };
    let budget = Some(Budget { tokens: Some(1_000), ms: Some(10_000_000), ..Budget::default() });
    KernelSettings { limits, budget, jobs: Vec::new() }
}

/// Sends all that was not acknowledged, and goes on to the end.
fn go_on(
    sim: &mut Sim,
    acknowledged: &mut BTreeMap<String, offshoot_kernel::TaskId>,
) -> Result<(), Died> {
    for message in messages() {
        let key = message.key.clone().unwrap();
        if acknowledged.contains_key(&key) {
            continue;
        }
        match sim.send(message)?.unwrap() {
            KernelReply::Accepted(id) | KernelReply::Duplicate(id, _) => {
                acknowledged.insert(key, id);
            }
            reply => panic!("{reply:?}"),
        }
        sim.check();
    }
    // Attempts take turns, so that many are cut off at once.
    for _ in 0..1_000 {
        let running = sim.running();
        if running.is_empty() {
            break;
        }
        for key in running {
            sim.step(key)?;
        }
    }
    sim.settle()
}

/// One run that dies at an append; returns how many appends there were.
fn run(fault: Option<(u64, JournalFault)>) -> u64 {
    let mut sim = Sim::active(settings(), 7);
    let start = sim.appends;
    sim.fault = fault.map(|(append, fault)| (append + start, fault));
    let mut acknowledged = BTreeMap::new();
    let mut ended = go_on(&mut sim, &mut acknowledged);
    for _ in 0..3 {
        if ended.is_ok() {
            break;
        }
        ended = sim.restart().and_then(|()| {
            sim.check();
            go_on(&mut sim, &mut acknowledged)
        });
    }
    ended.unwrap();
    check(&sim, &acknowledged, fault);
    sim.appends - start
}

fn check(
    sim: &Sim,
    acknowledged: &BTreeMap<String, offshoot_kernel::TaskId>,
    fault: Option<(u64, JournalFault)>,
) {
    sim.check();
    let state = sim.machine.state();
    assert!(state.tasks.is_empty(), "{fault:?}: {:?}", state.tasks);
    for (key, id) in acknowledged {
        let (found, outcome) = state.seen("tester", key).expect("what was accepted is known");
        assert_eq!(found, *id, "{fault:?}: {key}");
        let outcome = outcome.expect("it is closed");
        match outcome {
            TaskOutcome::Done { .. } => {}
            TaskOutcome::Dead { cause, .. } => {
                assert!(state.letters.contains_key(id), "{fault:?}: {key}");
                let expected = match key.as_str() {
                    "f" if *cause == DeathCause::Failed => true,
                    "b" | "e" | "f" => *cause == DeathCause::Interrupted,
                    _ => false,
                };
                assert!(expected, "{fault:?}: {key}: {outcome:?}");
            }
            TaskOutcome::Cancelled => panic!("{fault:?}: {key} was cancelled"),
        }
    }
    for (name, starts) in &sim.world.starts {
        let most = match name.as_str() {
            // It is entered again when there is an answer.
            "e" => 2,
            "b" | "f" => 1,
            _ => continue,
        };
        assert!(*starts <= most, "{fault:?}: {name} was started {starts} times");
    }
    for (effect, times) in &sim.world.effects {
        assert_eq!(*times, 1, "{fault:?}: {effect}");
    }
    assert_eq!(state.ledger.accounts().count(), 1, "{fault:?}");
    let spent = state.ledger.account(offshoot_kernel::AccountId::AGENT).unwrap();
    assert_eq!(spent.reserved, offshoot_kernel::Amount::default(), "{fault:?}");
}

#[test]
fn nothing_is_lost_or_done_twice_wherever_the_process_dies() {
    let appends = run(None);
    assert!(appends > 50, "{appends}");
    for append in 1..=appends {
        for fault in [JournalFault::Before, JournalFault::After, JournalFault::Torn] {
            run(Some((append, fault)));
        }
    }
}

#[test]
fn a_snapshot_stands_for_its_records() {
    let mut sim = Sim::active(settings(), 7);
    let mut acknowledged = BTreeMap::new();
    for message in messages() {
        assert!(sim.send(message).unwrap().is_ok());
    }
    for round in 0..40 {
        for key in sim.running() {
            sim.step(key).unwrap();
        }
        let snapshot = sim.machine.state().to_snapshot().unwrap();
        assert_eq!(&KernelState::from_snapshot(&snapshot).unwrap(), sim.machine.state());
        if round % 7 == 3 {
            sim.compact();
            sim.restart().unwrap();
        }
    }
    go_on(&mut sim, &mut acknowledged).unwrap();
    sim.check();
    assert!(sim.machine.state().tasks.is_empty());
}

#[test]
fn the_same_inputs_make_the_same_records() {
    let records = |seed| {
        let mut sim = Sim::active(settings(), seed);
        go_on(&mut sim, &mut BTreeMap::new()).unwrap();
        sim.disk.records
    };
    assert_eq!(records(3), records(3));
    assert_ne!(records(3), records(4), "the seed decides how long to wait");
}
