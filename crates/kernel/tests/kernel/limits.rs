//! Each bound has a test that fails when it is ignored.

use offshoot_kernel::{
    AttemptInput, JobSchedule, KernelInput, KernelJob, KernelLimits, KernelRefusal, KernelReply,
    PlanEvent, SubTask, TaskClass,
};
use serde_json::{Value, json};

use crate::sim::{Sim, scripted};

fn full(reply: &Result<KernelReply, KernelRefusal>, bound: usize) -> bool {
    matches!(reply, Err(KernelRefusal::Full { limit, .. }) if *limit == bound)
}

#[test]
fn the_queue_is_bounded_in_all_and_for_each_sender() {
    let limits = KernelLimits { queue: 3, queue_per_sender: 2, ..KernelLimits::default() };
    let mut sim = Sim::with_limits(limits);
    let from = |name: &str, sender: &str| {
        let mut message = scripted(name, &["hang"]);
        message.sender = sender.to_owned();
        message
    };
    assert!(sim.send(from("1", "a")).unwrap().is_ok());
    assert!(sim.send(from("2", "a")).unwrap().is_ok());
    assert!(full(&sim.send(from("3", "a")).unwrap(), 2));
    sim.restart().unwrap();
    assert!(full(&sim.send(from("3", "a")).unwrap(), 2), "also after a restart");
    assert!(sim.send(from("3", "b")).unwrap().is_ok());
    assert!(full(&sim.send(from("4", "b")).unwrap(), 3));
}

#[test]
fn keys_are_remembered_within_a_window() {
    let limits = KernelLimits { dedup_keys: 2, dedup_ms: 1_000, ..KernelLimits::default() };
    let mut sim = Sim::with_limits(limits);
    let send = |sim: &mut Sim, name: &str| {
        let reply = sim.send(scripted(name, &["done"])).unwrap().unwrap();
        sim.settle().unwrap();
        matches!(reply, KernelReply::Duplicate(..))
    };
    for name in ["1", "2", "3"] {
        assert!(!send(&mut sim, name));
    }
    assert!(send(&mut sim, "3"));
    assert!(send(&mut sim, "2"));
    assert!(!send(&mut sim, "1"), "two were closed after it");
    sim.pass(1_001).unwrap();
    assert!(!send(&mut sim, "4"));
    assert!(!send(&mut sim, "1"), "its time is over");
}

#[test]
fn dead_letters_are_bounded() {
    let mut sim = Sim::with_limits(KernelLimits { dead_letters: 2, ..KernelLimits::default() });
    for name in ["1", "2", "3"] {
        let message = scripted(name, &["fail"]);
        let once = message.promise(offshoot_kernel::DeliveryPromise::Once);
        assert!(sim.send(once).unwrap().is_ok());
        sim.settle().unwrap();
    }
    let letters: Vec<u64> = sim.machine.state().letters.keys().map(|id| id.0).collect();
    assert_eq!(letters, [2, 3]);
}

#[test]
fn values_are_bounded() {
    let mut sim = Sim::with_limits(KernelLimits { value_bytes: 64, ..KernelLimits::default() });
    let large = || json!("x".repeat(63));
    let too_large = |reply: Result<KernelReply, KernelRefusal>| {
        matches!(reply, Err(KernelRefusal::TooLarge { bytes: 65, limit: 64, .. }))
    };
    let mut message = scripted("a", &["effect:x", "hang"]);
    message.body = large();
    assert!(too_large(sim.send(message).unwrap()));
    assert!(sim.send(scripted("a", &["hang"])).unwrap().is_ok());
    let id = sim.running()[0].0;
    let mut attempt = |input| sim.input(KernelInput::Attempt(id, 1, input)).unwrap();
    assert!(too_large(attempt(AttemptInput::Progress(large()))));
    assert!(attempt(AttemptInput::BeginEffect("e".to_owned())).is_ok());
    assert!(too_large(attempt(AttemptInput::EndEffect("e".to_owned(), Ok(large())))));
    let child = Box::new(SubTask::new(large()));
    assert!(too_large(attempt(AttemptInput::Spawn("c".to_owned(), child))));
    let name = "n".repeat(1_025);
    assert!(attempt(AttemptInput::BeginEffect(name)).is_err());
    let report = offshoot_kernel::AttemptReport::Done(large());
    assert!(attempt(AttemptInput::End(report)).is_ok());
    let letter = &sim.machine.state().letters[&id];
    assert!(letter.why.contains("the limit is 64"), "{}", letter.why);
}

#[test]
fn effects_sub_tasks_and_their_depth_are_bounded() {
    let limits = KernelLimits {
        effects_per_task: 1,
        children_per_task: 1,
        depth: 2,
        ..KernelLimits::default()
    };
    let mut sim = Sim::with_limits(limits);
    assert!(sim.send(scripted("a", &["hang"])).unwrap().is_ok());
    let body = json!({ "do": ["hang"] });
    let mut attempt = |id: u64, input| {
        sim.input(KernelInput::Attempt(offshoot_kernel::TaskId(id), 1, input)).unwrap()
    };
    assert!(attempt(1, AttemptInput::BeginEffect("e".to_owned())).is_ok());
    assert!(full(&attempt(1, AttemptInput::BeginEffect("f".to_owned())), 1));
    let spawn = |key: &str| {
        AttemptInput::Spawn(key.to_owned(), Box::new(SubTask::new(Value::clone(&body))))
    };
    assert_eq!(attempt(1, spawn("c")), Ok(KernelReply::Spawned(offshoot_kernel::TaskId(2))));
    assert_eq!(attempt(1, spawn("c")), Ok(KernelReply::Spawned(offshoot_kernel::TaskId(2))));
    assert!(full(&attempt(1, spawn("d")), 1));
    assert!(attempt(2, spawn("c")).is_ok());
    assert!(full(&attempt(3, spawn("c")), 2), "that would be the third level");
}

#[test]
fn jobs_and_plans_are_bounded() {
    let limits = KernelLimits { jobs: 1, plans: 1, ..KernelLimits::default() };
    let mut sim = Sim::with_limits(limits);
    let job = |name: &str| {
        let job = KernelJob::new(name, JobSchedule::Every { ms: 1_000 });
        KernelInput::SetJob(Box::new(job))
    };
    assert!(sim.input(job("a")).unwrap().is_ok());
    assert!(sim.input(job("a")).unwrap().is_ok());
    assert!(full(&sim.input(job("b")).unwrap(), 1));
    let bad = KernelJob::new("a", JobSchedule::cron("nonsense", "UTC"));
    assert!(sim.input(KernelInput::SetJob(Box::new(bad))).unwrap().is_err());
    assert!(sim.send(scripted("a", &["hang"]).class(TaskClass::Background)).unwrap().is_ok());
    let id = sim.running()[0].0;
    let mut plan = |name: &str| {
        let skipped = PlanEvent::Merged { branch: "none".to_owned() };
        let input = AttemptInput::Plan(name.to_owned(), vec![skipped]);
        sim.input(KernelInput::Attempt(id, 1, input)).unwrap()
    };
    assert!(plan("p").is_ok());
    assert!(full(&plan("q"), 1));
}

#[test]
fn inputs_before_the_journal_is_open_are_refused() {
    let state = offshoot_kernel::KernelState::new();
    let mut machine = offshoot_kernel::KernelMachine::new(state, 0);
    let now = offshoot_kernel::Moment::default();
    let handled = machine.handle(now, KernelInput::Tick);
    assert_eq!(handled.reply, Err(KernelRefusal::Order));
    assert!(handled.records.is_empty());
}

#[test]
fn other_versions_and_kinds_are_refused() {
    use offshoot_kernel::{KernelRecord, KernelState, RecordError, SnapshotError};
    let sim = Sim::with_limits(KernelLimits::default());
    let known = String::from_utf8(sim.disk.records[0].clone()).unwrap();
    assert!(known.starts_with("{\"version\":1,\"number\":1,"), "{known}");
    let newer = known.replacen("\"version\":1", "\"version\":2", 1).replace("opened", "invented");
    let refused = KernelRecord::from_bytes(newer.as_bytes());
    assert!(matches!(refused, Err(RecordError::Version(2))), "{refused:?}");
    let unknown = known.replace("opened", "invented");
    let refused = KernelRecord::from_bytes(unknown.as_bytes());
    assert!(matches!(refused, Err(RecordError::Unreadable(_))), "{refused:?}");
    let snapshot = String::from_utf8(sim.machine.state().to_snapshot().unwrap()).unwrap();
    let newer = snapshot.replacen("\"version\":1", "\"version\":2", 1);
    let refused = KernelState::from_snapshot(newer.as_bytes());
    assert!(matches!(refused, Err(SnapshotError::Version(2))), "{refused:?}");
}
