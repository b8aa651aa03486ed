//! The life of an agent against a plain state machine.

use fastrand::Rng;
use offshoot_kernel::{
    KernelInput, KernelLimits, KernelRefusal, KernelReply, KernelSettings, LifeHook, LifeState,
    LifeStep,
};

use crate::sim::{Sim, scripted};

const STEPS: [LifeStep; 7] = [
    LifeStep::Boot,
    LifeStep::Activate,
    LifeStep::Suspend,
    LifeStep::Resume,
    LifeStep::Retire,
    LifeStep::Terminate,
    LifeStep::Abort,
];

/// The table of the design page.
fn expected(from: LifeState, step: LifeStep) -> Option<LifeState> {
    use LifeState::{Active, Init, Ready, Retiring, Suspended, Terminated};
    let table = [
        (Init, LifeStep::Boot, Ready),
        (Ready, LifeStep::Activate, Active),
        (Active, LifeStep::Suspend, Suspended),
        (Suspended, LifeStep::Resume, Active),
        (Ready, LifeStep::Retire, Retiring),
        (Active, LifeStep::Retire, Retiring),
        (Suspended, LifeStep::Retire, Retiring),
        (Retiring, LifeStep::Terminate, Terminated),
        (Init, LifeStep::Abort, Terminated),
        (Ready, LifeStep::Abort, Terminated),
        (Active, LifeStep::Abort, Terminated),
        (Suspended, LifeStep::Abort, Terminated),
        (Retiring, LifeStep::Abort, Terminated),
    ];
    table.iter().find(|(of, by, _)| (*of, *by) == (from, step)).map(|(_, _, to)| *to)
}

/// What the agent should be like.
struct Model {
    life: LifeState,
    suspended_accepted: usize,
}

#[test]
fn the_life_of_an_agent_is_the_table() {
    const BOUND: usize = 3;
    let limits = KernelLimits { suspended_queue: BOUND, concurrency: 2, ..KernelLimits::default() };
    for seed in 0..100 {
        let mut rng = Rng::with_seed(seed);
        let settings = KernelSettings { limits, ..KernelSettings::default() };
        let mut sim = Sim::new(settings, seed);
        let mut model = Model { life: LifeState::Init, suspended_accepted: 0 };
        let mut accepted = Vec::new();
        for event in 0..60 {
            let context = format!("seed {seed}, event {event}, {}", model.life);
            match rng.u32(0..10) {
                0..=2 => {
                    let step = match rng.u32(0..8) {
                        // Most lives would be short otherwise.
                        0 => STEPS[rng.usize(4..7)],
                        _ => STEPS[rng.usize(0..4)],
                    };
                    let taken = sim.input(KernelInput::Life(step)).unwrap();
                    sim.run_hooks().unwrap();
                    match expected(model.life, step) {
                        None => {
                            let from = model.life;
                            let refused = Err(KernelRefusal::Step { from, step });
                            assert_eq!(taken, refused, "{context}");
                        }
                        Some(to) => {
                            assert_eq!(taken, Ok(KernelReply::Done), "{context}: {step}");
                            model.life = to;
                            if to == LifeState::Suspended {
                                model.suspended_accepted = 0;
                            }
                        }
                    }
                }
                3..=5 => {
                    let name = format!("{seed}-{event}");
                    let sent = sim.send(scripted(&name, &["wait", "effect:x", "done"])).unwrap();
                    let room = model.suspended_accepted < BOUND;
                    match model.life {
                        LifeState::Ready | LifeState::Active => {
                            assert!(sent.is_ok(), "{context}: {sent:?}");
                        }
                        LifeState::Suspended if room => {
                            assert!(sent.is_ok(), "{context}: {sent:?}");
                            model.suspended_accepted += 1;
                        }
                        LifeState::Suspended => {
                            let full =
                                matches!(sent, Err(KernelRefusal::Full { limit: BOUND, .. }));
                            assert!(full, "{context}: {sent:?}");
                        }
                        life => {
                            assert_eq!(sent, Err(KernelRefusal::NotAccepting(life)), "{context}");
                        }
                    }
                    if let Ok(KernelReply::Accepted(id)) = sent {
                        accepted.push((name, id));
                    }
                }
                6..=7 => {
                    for key in sim.running() {
                        sim.step(key).unwrap();
                    }
                    sim.run_hooks().unwrap();
                }
                8 => sim.restart().unwrap(),
                _ => sim.pass(rng.u64(1..2_000)).unwrap(),
            }
            let open = sim.machine.state().tasks.len();
            // Retiring ends by itself.
            let drained = model.life == LifeState::Retiring && open == 0;
            let over_time = sim.machine.state().life == LifeState::Terminated;
            if drained || model.life == LifeState::Retiring && over_time {
                model.life = LifeState::Terminated;
            }
            assert_eq!(sim.machine.state().life, model.life, "{context}");
            if !model.life.works() {
                let queued_only = sim.machine.state().life != LifeState::Terminated || open == 0;
                assert!(queued_only, "{context}");
            }
            if event % 8 == 7 {
                sim.check();
            }
        }
        // What was accepted is open, closed or a dead letter.
        for (name, id) in accepted {
            let state = sim.machine.state();
            let closed = state.seen("tester", &name).is_some_and(|(_, outcome)| outcome.is_some());
            assert!(state.tasks.contains_key(&id) || closed, "seed {seed}: {name} is lost");
        }
    }
}

#[test]
fn nothing_starts_before_activation_or_after_suspension() {
    let mut sim = Sim::new(KernelSettings::default(), 1);
    sim.life(LifeStep::Boot);
    assert!(sim.send(scripted("a", &["done"])).unwrap().is_ok());
    assert!(sim.running().is_empty());
    sim.life(LifeStep::Activate);
    assert_eq!(sim.running().len(), 1);
    sim.life(LifeStep::Suspend);
    assert!(sim.send(scripted("b", &["done"])).unwrap().is_ok());
    sim.settle().unwrap();
    assert!(sim.world.done.contains_key("a"), "what runs when it is suspended goes on");
    assert!(!sim.world.starts.contains_key("b"));
    sim.life(LifeStep::Resume);
    sim.settle().unwrap();
    assert!(sim.world.done.contains_key("b"));
}

#[test]
fn retiring_drains_and_has_a_time_limit() {
    let limits = KernelLimits { drain_ms: 5_000, grace_ms: 100, ..KernelLimits::default() };
    let mut sim = Sim::with_limits(limits);
    assert!(sim.send(scripted("short", &["spawn:s", "join:s", "done"])).unwrap().is_ok());
    assert!(sim.send(scripted("long", &["hang"])).unwrap().is_ok());
    sim.life(LifeStep::Retire);
    let refused = sim.send(scripted("late", &["done"])).unwrap();
    assert_eq!(refused, Err(KernelRefusal::NotAccepting(LifeState::Retiring)));
    for _ in 0..20 {
        for key in sim.running() {
            sim.step(key).unwrap();
        }
    }
    assert!(sim.world.done.contains_key("short"), "sub-tasks of what was accepted run");
    assert_eq!(sim.machine.state().life, LifeState::Retiring);
    sim.pass(5_000).unwrap();
    assert_eq!(sim.machine.state().life, LifeState::Terminated);
    let letter = sim.machine.state().letters.values().next().unwrap();
    assert_eq!(letter.cause, offshoot_kernel::DeathCause::NotDrained);
    assert_eq!(sim.world.announced.last(), Some(&LifeState::Terminated));
}

#[test]
fn a_failed_bootstrap_leaves_the_agent_where_it_was() {
    let mut sim = Sim::new(KernelSettings::default(), 1);
    assert!(sim.input(KernelInput::Life(LifeStep::Boot)).unwrap().is_ok());
    let failed = Err("no network".to_owned());
    assert!(sim.input(KernelInput::HookEnded(LifeHook::Bootstrap, failed)).unwrap().is_ok());
    assert_eq!(sim.machine.state().life, LifeState::Init);
}
