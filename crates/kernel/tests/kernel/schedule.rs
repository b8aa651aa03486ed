//! Who is next, retries, time limits, cancelling, and hosts.

use offshoot_kernel::{
    Budget, CrashLimit, DeathCause, DeliveryPromise, KernelInput, KernelLimits, KernelReply,
    LifeState, TaskClass, TaskId, TaskMessage, TaskOutcome, TaskRetry,
};
use serde_json::json;

use crate::sim::{Sim, scripted};

fn accept(sim: &mut Sim, message: TaskMessage) -> TaskId {
    match sim.send(message).unwrap().unwrap() {
        KernelReply::Accepted(id) => id,
        reply => panic!("{reply:?}"),
    }
}

fn outcome(sim: &Sim, id: TaskId) -> &TaskOutcome {
    sim.world.closed.get(&id).unwrap_or_else(|| panic!("task {id} is open"))
}

fn cause(sim: &Sim, id: TaskId) -> DeathCause {
    match outcome(sim, id) {
        TaskOutcome::Dead { cause, .. } => *cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_loud_sender_does_not_hold_up_a_quiet_one() {
    let mut sim = Sim::with_limits(KernelLimits { concurrency: 1, ..KernelLimits::default() });
    for number in 0..200 {
        let mut message = scripted(&format!("loud{number}"), &["done"]);
        message.sender = "loud".to_owned();
        accept(&mut sim, message);
    }
    let mut quiet = scripted("quiet", &["done"]);
    quiet.sender = "quiet".to_owned();
    let quiet = accept(&mut sim, quiet);
    let mut before = 0;
    while !sim.world.closed.contains_key(&quiet) {
        sim.step(sim.running()[0]).unwrap();
        before += 1;
    }
    assert!(before <= 3, "it waited for {before} others");
}

#[test]
fn background_work_goes_on_beside_messages() {
    let mut sim = Sim::with_limits(KernelLimits { concurrency: 1, ..KernelLimits::default() });
    let background = scripted("background", &["done"]).class(TaskClass::Background);
    let first = accept(&mut sim, scripted("first", &["done"]));
    let background = accept(&mut sim, background);
    let mut messages = 0;
    while !sim.world.closed.contains_key(&background) {
        accept(&mut sim, scripted(&format!("m{messages}"), &["done"]));
        sim.step(sim.running()[0]).unwrap();
        messages += 1;
    }
    assert!(sim.world.closed.contains_key(&first));
    assert!((15..=20).contains(&messages), "{messages} messages went before it");
}

#[test]
fn concurrency_is_bounded() {
    let mut sim = Sim::with_limits(KernelLimits { concurrency: 3, ..KernelLimits::default() });
    for number in 0..10 {
        accept(&mut sim, scripted(&number.to_string(), &["wait", "done"]));
    }
    assert_eq!(sim.running().len(), 3);
    sim.settle().unwrap();
    assert_eq!(sim.world.done.len(), 10);
}

#[test]
fn retries_back_off_and_end() {
    let mut sim = Sim::with_limits(KernelLimits::default());
    let retry = TaskRetry { attempts: 4, base_ms: 1_000, max_ms: 3_000 };
    let id = accept(&mut sim, scripted("a", &["fail"]).retry(retry));
    let mut waits = Vec::new();
    while sim.machine.state().task(id).is_some() {
        if let Some(key) = sim.running().first() {
            sim.step(*key).unwrap();
            continue;
        }
        let wait = sim.machine.wake().wall_ms.unwrap() - sim.now.wall_ms;
        waits.push(wait);
        sim.pass(wait - 1).unwrap();
        assert!(sim.running().is_empty(), "not before its time");
        sim.pass(1).unwrap();
    }
    assert_eq!(waits.len(), 3);
    for (wait, (least, most)) in waits.iter().zip([(500, 1_000), (1_000, 2_000), (1_500, 3_000)]) {
        assert!((least..=most).contains(wait), "{waits:?}");
    }
    assert_eq!(cause(&sim, id), DeathCause::Failed);
    assert_eq!(sim.world.starts["a"], 4);
}

#[test]
fn a_deadline_cancels_what_waits_and_what_runs() {
    let mut sim = Sim::with_limits(KernelLimits { concurrency: 1, ..KernelLimits::default() });
    let deadline = sim.now.wall_ms + 1_000;
    let running = accept(&mut sim, scripted("running", &["hang"]).deadline_ms(deadline));
    let waiting = accept(&mut sim, scripted("waiting", &["done"]).deadline_ms(deadline));
    sim.pass(999).unwrap();
    assert!(sim.world.closed.is_empty());
    sim.pass(1).unwrap();
    assert_eq!(cause(&sim, waiting), DeathCause::Deadline);
    // It is told to end, and does.
    sim.settle().unwrap();
    assert_eq!(cause(&sim, running), DeathCause::Deadline);
    let late = sim.send(scripted("late", &["done"]).deadline_ms(deadline)).unwrap();
    assert!(late.is_err());
}

#[test]
fn an_attempt_that_does_not_end_is_dropped() {
    let limits = KernelLimits { task_ms: 10_000, grace_ms: 500, ..KernelLimits::default() };
    let mut sim = Sim::with_limits(limits);
    let once = scripted("once", &["hang"]).promise(DeliveryPromise::Once);
    let once = accept(&mut sim, once);
    let retry = TaskRetry { attempts: 2, base_ms: 1, max_ms: 1 };
    let again = accept(&mut sim, scripted("again", &["hang"]).retry(retry));
    sim.pass(10_000).unwrap();
    assert_eq!(sim.running().len(), 2, "they have time to end");
    sim.pass(500).unwrap();
    assert_eq!(cause(&sim, once), DeathCause::Interrupted);
    sim.pass(1).unwrap();
    assert_eq!(sim.running(), [(again, 2)]);
    sim.pass(10_000).unwrap();
    sim.pass(500).unwrap();
    assert_eq!(cause(&sim, again), DeathCause::Interrupted);
    // What an attempt reports that was dropped is ignored.
    let report = offshoot_kernel::AttemptReport::Done(json!(1));
    let late = offshoot_kernel::AttemptInput::End(report);
    assert!(sim.input(KernelInput::Attempt(again, 2, late)).unwrap().is_err());
}

#[test]
fn a_silent_task_is_hung() {
    let limits =
        KernelLimits { heartbeat_ms: Some(1_000), grace_ms: 100, ..KernelLimits::default() };
    let mut sim = Sim::with_limits(limits);
    let id = accept(&mut sim, scripted("a", &["hang"]).promise(DeliveryPromise::Once));
    let beat = || KernelInput::Attempt(id, 1, offshoot_kernel::AttemptInput::Beat);
    for _ in 0..5 {
        sim.pass(900).unwrap();
        assert!(sim.input(beat()).unwrap().is_ok());
    }
    // A clock that jumps is no silence.
    sim.now.wall_ms += 1_000_000;
    sim.pass(99).unwrap();
    assert_eq!(sim.running().len(), 1);
    sim.pass(901).unwrap();
    sim.pass(100).unwrap();
    assert_eq!(cause(&sim, id), DeathCause::Interrupted);
    assert!(sim.machine.state().letters[&id].why.contains("no heartbeat for 1000 ms"));
}

#[test]
fn cancelling_takes_sub_tasks_along() {
    let mut sim = Sim::with_limits(KernelLimits { concurrency: 1, ..KernelLimits::default() });
    let id = accept(&mut sim, scripted("a", &["spawn:s", "spawn:t", "join:s", "done"]));
    for _ in 0..3 {
        sim.step((id, 1)).unwrap();
    }
    assert_eq!(sim.machine.state().tasks.len(), 3);
    assert!(sim.input(KernelInput::Cancel(id)).unwrap().is_ok());
    sim.settle().unwrap();
    assert!(sim.machine.state().tasks.is_empty());
    assert!(sim.world.closed.values().all(|outcome| *outcome == TaskOutcome::Cancelled));
    assert!(sim.input(KernelInput::Cancel(id)).unwrap().is_err());
}

#[test]
fn cancelling_survives_a_crash() {
    let mut sim = Sim::with_limits(KernelLimits::default());
    let id = accept(&mut sim, scripted("a", &["hang"]));
    assert!(sim.input(KernelInput::Cancel(id)).unwrap().is_ok());
    sim.restart().unwrap();
    assert_eq!(outcome(&sim, id), &TaskOutcome::Cancelled);
}

#[test]
fn many_crashes_suspend_the_agent() {
    let crashes = CrashLimit { max: 2, window_ms: 10_000 };
    let mut sim = Sim::with_limits(KernelLimits { crashes, ..KernelLimits::default() });
    for number in 0..3 {
        let message = scripted(&number.to_string(), &["panic"]).promise(DeliveryPromise::Once);
        accept(&mut sim, message);
        assert_eq!(sim.machine.state().life, LifeState::Active);
        sim.settle().unwrap();
    }
    assert_eq!(sim.machine.state().life, LifeState::Suspended);
    sim.life(offshoot_kernel::LifeStep::Resume);
    // One of those that crashed is sent again: one crash does not suspend a second time.
    let letter = *sim.machine.state().letters.keys().next().unwrap();
    assert!(sim.input(KernelInput::Resend(letter)).unwrap().is_ok());
    sim.settle().unwrap();
    assert_eq!(sim.machine.state().life, LifeState::Active);
}

#[test]
fn a_question_is_answered_once_or_falls_back() {
    let mut sim = Sim::with_limits(KernelLimits::default());
    let id = accept(&mut sim, scripted("a", &["ask:q", "done"]));
    let other = accept(&mut sim, scripted("b", &["ask:q", "done"]));
    sim.step((id, 1)).unwrap();
    sim.step((other, 1)).unwrap();
    assert_eq!(sim.machine.state().questions().count(), 2);
    assert!(sim.running().is_empty(), "a task that asks uses no slot");
    sim.restart().unwrap();
    let answer =
        |key: &str| KernelInput::Answer(id, key.to_owned(), json!("this"), "somebody".to_owned());
    assert!(sim.input(answer("other")).unwrap().is_err());
    assert!(sim.input(answer("q")).unwrap().is_ok());
    assert!(sim.input(answer("q")).unwrap().is_err(), "the first answer counts");
    sim.pass(59_999).unwrap();
    assert_eq!(sim.machine.state().questions().count(), 1);
    sim.pass(1).unwrap();
    sim.settle().unwrap();
    let done = TaskOutcome::Done { answer: json!("answer") };
    assert_eq!((outcome(&sim, id), outcome(&sim, other)), (&done, &done));
}

#[test]
fn dead_letters_are_sent_again_with_what_is_known() {
    let mut sim = Sim::with_limits(KernelLimits::default());
    let message = scripted("a", &["effect:x", "fail:2", "done"]).promise(DeliveryPromise::Once);
    let id = accept(&mut sim, message.clone());
    sim.settle().unwrap();
    assert_eq!(cause(&sim, id), DeathCause::Failed);
    assert!(sim.input(KernelInput::Resend(id)).unwrap().is_ok());
    assert!(sim.input(KernelInput::Resend(id)).unwrap().is_err());
    sim.settle().unwrap();
    assert_eq!(sim.world.effects["a/x"], 1, "the effect is known");
    assert_eq!(sim.world.starts["a"], 2);
    assert!(sim.input(KernelInput::DropLetter(id)).unwrap().is_ok());
    assert!(sim.input(KernelInput::DropLetter(id)).unwrap().is_err());
    assert!(matches!(sim.send(message).unwrap(), Ok(KernelReply::Duplicate(_, Some(_)))));
}

#[test]
fn tasks_draw_on_their_budgets() {
    let mut sim = Sim::with_limits(KernelLimits::default());
    let budget = |tokens| Budget { tokens: Some(tokens), ..Budget::default() };
    assert!(sim.input(KernelInput::SetBudget(budget(100))).unwrap().is_ok());
    let small = scripted("small", &["spend:30", "spend:30", "done"]).budget(budget(50));
    let small = accept(&mut sim, small);
    let refused = sim.send(scripted("large", &["done"]).budget(budget(51))).unwrap();
    assert!(refused.is_err(), "50 of 100 are set aside");
    sim.settle().unwrap();
    assert_eq!(cause(&sim, small), DeathCause::OverBudget);
    let agent = |sim: &Sim| {
        let ledger = &sim.machine.state().ledger;
        ledger.account(offshoot_kernel::AccountId::AGENT).unwrap().clone()
    };
    assert_eq!((agent(&sim).spent.tokens, agent(&sim).reserved.tokens), (30, 0));
    let fits = accept(&mut sim, scripted("fits", &["spend:70", "done"]).budget(budget(70)));
    sim.settle().unwrap();
    assert!(matches!(outcome(&sim, fits), TaskOutcome::Done { .. }));
    let none = accept(&mut sim, scripted("none", &["spend:1", "done"]));
    sim.settle().unwrap();
    assert_eq!(cause(&sim, none), DeathCause::OverBudget);
}

#[test]
fn a_budget_of_time_ends_an_attempt() {
    let mut sim = Sim::with_limits(KernelLimits { grace_ms: 10, ..KernelLimits::default() });
    let budget = Budget { ms: Some(1_000), ..Budget::default() };
    let id = accept(&mut sim, scripted("a", &["fail:2", "hang"]).budget(budget));
    sim.pass(400).unwrap();
    sim.step((id, 1)).unwrap();
    let ledger = |sim: &Sim| sim.machine.state().ledger.clone();
    assert_eq!(ledger(&sim).account(offshoot_kernel::AccountId(id.0)).unwrap().spent.ms, 400);
    let wake = sim.machine.wake().wall_ms.unwrap();
    sim.pass(wake - sim.now.wall_ms).unwrap();
    assert_eq!(sim.running(), [(id, 2)]);
    sim.pass(599).unwrap();
    sim.pass(1).unwrap();
    sim.pass(10).unwrap();
    assert_eq!(cause(&sim, id), DeathCause::OverBudget);
    let agent = ledger(&sim);
    let agent = agent.account(offshoot_kernel::AccountId::AGENT).unwrap();
    assert_eq!((agent.spent.ms, agent.overrun.ms), (1_000, 10));
}
