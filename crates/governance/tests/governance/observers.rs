//! Observers that are slow, fail, hang or die.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use offshoot_governance::{
    CompositeObserver, FileOutbox, GovernanceDecision, GovernanceEvent, GovernanceEventKind,
    GovernanceGate, GovernanceObserver, GovernanceOutbox, MemoryOutbox, OUTBOX_BYTES,
    ObserverError, ObserverQueue, QueueLimits,
};

use crate::support::{engine, event, tool, user};

/// Keeps what it is told, and does what it is told to.
#[derive(Default)]
struct Sink {
    events: Mutex<Vec<GovernanceEvent>>,
    fails: AtomicBool,
    panics: AtomicBool,
    /// Times of events that never arrive.
    poison: Mutex<BTreeSet<u64>>,
    tries: AtomicU64,
}

impl Sink {
    fn times(&self) -> Vec<u64> {
        self.events.lock().unwrap().iter().map(|event| event.at_ms).collect()
    }
}

impl GovernanceObserver for Sink {
    fn name(&self) -> &str {
        "sink"
    }

    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        assert!(!self.panics.load(Ordering::SeqCst), "the sink is dead");
        let is_poison = self.poison.lock().unwrap().contains(&event.at_ms);
        if is_poison || self.fails.load(Ordering::SeqCst) {
            return Err(ObserverError::new("sink", "no"));
        }
        self.events.lock().unwrap().push(event.clone());
        Ok(())
    }
}

fn queue(sink: &Arc<Sink>, outbox: &Arc<MemoryOutbox>, limits: QueueLimits) -> ObserverQueue {
    ObserverQueue::new(Arc::clone(sink) as _, Arc::clone(outbox) as _, limits)
}

fn parts() -> (Arc<Sink>, Arc<MemoryOutbox>) {
    (Arc::default(), Arc::default())
}

#[test]
fn what_must_arrive_goes_first_and_in_order() {
    let (sink, outbox) = parts();
    let queue = queue(&sink, &outbox, QueueLimits::default());
    for number in 0..6 {
        queue.observe(&event(number, number % 2 == 0)).unwrap();
    }
    assert_eq!((outbox.len(), queue.waiting()), (3, 3));
    assert_eq!(queue.pump(0, 2).unwrap().delivered, 2, "no more than asked for");
    assert_eq!(queue.pump(0, 100).unwrap().delivered, 4);
    assert_eq!(sink.times(), [1, 3, 5, 0, 2, 4]);
    assert!(outbox.is_empty());
    let numbers: Vec<Option<u64>> =
        sink.events.lock().unwrap().iter().map(|event| event.number).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3), None, None, None]);
}

#[test]
fn only_what_may_be_lost_is_dropped() {
    let (sink, outbox) = parts();
    let limits = QueueLimits { capacity: 4, ..QueueLimits::default() };
    let queue = queue(&sink, &outbox, limits);
    for number in 0..200 {
        queue.observe(&event(number, number % 2 == 0)).unwrap();
    }
    assert_eq!((outbox.len(), queue.waiting()), (100, 4));
    assert_eq!(queue.stats().dropped, 96);
    assert_eq!(queue.pump(0, 1_000).unwrap().delivered, 104);
}

#[test]
fn an_observer_that_fails_is_given_time() {
    let (sink, outbox) = parts();
    let limits = QueueLimits { first_wait_ms: 100, longest_wait_ms: 350, ..QueueLimits::default() };
    let queue = queue(&sink, &outbox, limits);
    sink.fails.store(true, Ordering::SeqCst);
    for number in 0..10 {
        queue.observe(&event(number, false)).unwrap();
    }
    let mut now = 0;
    for wait in [100, 200, 350, 350] {
        let tries = sink.tries.load(Ordering::SeqCst);
        let report = queue.pump(now, 100).unwrap();
        assert_eq!((report.failed, report.wait_until_ms), (3, Some(now + wait)));
        assert_eq!(sink.tries.load(Ordering::SeqCst), tries + 3);
        assert_eq!(queue.pump(now + wait - 1, 100).unwrap().failed, 0, "it was not left alone");
        now += wait;
    }
    sink.fails.store(false, Ordering::SeqCst);
    let report = queue.pump(now, 100).unwrap();
    assert_eq!((report.delivered, report.wait_until_ms), (10, None));
    let times: BTreeSet<u64> = sink.times().into_iter().collect();
    assert_eq!(times.len(), 10);
    // After that it begins with the shortest time again.
    sink.fails.store(true, Ordering::SeqCst);
    queue.observe(&event(11, false)).unwrap();
    assert_eq!(queue.pump(now, 100).unwrap().wait_until_ms, Some(now + 100));
}

#[test]
fn what_no_sink_takes_holds_up_nothing_else() {
    let (sink, outbox) = parts();
    let queue = queue(&sink, &outbox, QueueLimits::default());
    sink.poison.lock().unwrap().extend([0, 1, 2, 3, 8]);
    for number in 0..10 {
        queue.observe(&event(number, false)).unwrap();
    }
    for pass in 0..20 {
        queue.pump(pass * 100_000, 100).unwrap();
    }
    assert_eq!(sink.times(), [4, 5, 6, 7, 9]);
    assert_eq!(outbox.len(), 5, "none is lost");
}

#[test]
fn a_dead_observer_is_an_error_and_no_more() {
    let (sink, outbox) = parts();
    let queue = queue(&sink, &outbox, QueueLimits::default());
    sink.panics.store(true, Ordering::SeqCst);
    queue.observe(&event(1, false)).unwrap();
    queue.observe(&event(2, true)).unwrap();
    assert_eq!(queue.pump(0, 10).unwrap().failed, 2);
    sink.panics.store(false, Ordering::SeqCst);
    queue.pump(100_000, 10).unwrap();
    assert_eq!(sink.times(), [1, 2]);
}

/// Takes an event only when it is let go.
struct Hanging {
    entered: Sender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl GovernanceObserver for Hanging {
    fn name(&self) -> &str {
        "hanging"
    }

    fn observe(&self, _: &GovernanceEvent) -> Result<(), ObserverError> {
        let gone = |_| ObserverError::new("hanging", "gone");
        self.entered.send(()).map_err(|_| ObserverError::new("hanging", "gone"))?;
        self.go_on.lock().unwrap().recv().map_err(gone)
    }
}

/// One that hangs holds the thread that delivers, and nobody else.
#[test]
fn work_goes_on_while_an_observer_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("outbox");
    let (entered, has_entered) = channel();
    let (go_on, let_go) = channel();
    let hanging = Hanging { entered, go_on: Mutex::new(let_go) };
    let outbox = Arc::new(FileOutbox::open(&path, OUTBOX_BYTES).unwrap());
    let queue = ObserverQueue::new(Arc::new(hanging), outbox, QueueLimits::default());
    std::thread::scope(|scope| {
        queue.observe(&event(0, false)).unwrap();
        scope.spawn(|| queue.pump(0, 1_000));
        has_entered.recv().unwrap();
        let started = Instant::now();
        let allowed = event(1, true);
        for _ in 0..10_000 {
            queue.observe(&allowed).unwrap();
        }
        for number in 2..20 {
            queue.observe(&event(number, false)).unwrap();
        }
        assert!(started.elapsed() < Duration::from_secs(20));
        // As a crash would leave it: everything that must arrive is in the file.
        let copy = directory.path().join("copy");
        std::fs::copy(&path, &copy).unwrap();
        assert_eq!(FileOutbox::open(&copy, OUTBOX_BYTES).unwrap().len(), 19);
        assert_eq!(queue.waiting(), 1024);
        // The sink dies, so that the thread ends.
        drop(go_on);
    });
    assert_eq!(queue.stats().dropped, 10_000 - 1024);
    drop(queue);
    let sink = Arc::new(Sink::default());
    let outbox = Arc::new(FileOutbox::open(&path, OUTBOX_BYTES).unwrap());
    let queue = ObserverQueue::new(Arc::clone(&sink) as _, outbox, QueueLimits::default());
    queue.pump(0, 1_000).unwrap();
    assert_eq!(sink.times(), [&[0][..], &(2..20).collect::<Vec<_>>()].concat());
}

/// Whatever fails and however often the process ends: what must arrive arrives, and what comes twice has the same number.
#[test]
fn nothing_that_must_arrive_is_lost() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let (allowed, denied) = (event(0, true), event(0, false));
    for _ in 0..4 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("outbox");
        let sink = Arc::new(Sink::default());
        let start = || {
            let outbox = Arc::new(FileOutbox::open(&path, OUTBOX_BYTES).unwrap());
            let limits = QueueLimits { capacity: 3, ..QueueLimits::default() };
            ObserverQueue::new(Arc::clone(&sink) as _, outbox, limits)
        };
        let mut queue = start();
        let (mut now, mut told) = (0, BTreeSet::new());
        for at_ms in 1..120 {
            match rng.u8(..8) {
                0 => sink.fails.store(rng.bool(), Ordering::SeqCst),
                1 => drop(queue.pump(now, rng.usize(..5)).unwrap()),
                2 => now += rng.u64(..300),
                3 if rng.bool() => {
                    drop(queue);
                    queue = start();
                }
                4 => queue.observe(&GovernanceEvent { at_ms, ..allowed.clone() }).unwrap(),
                _ => {
                    queue.observe(&GovernanceEvent { at_ms, ..denied.clone() }).unwrap();
                    told.insert(at_ms);
                }
            }
        }
        sink.fails.store(false, Ordering::SeqCst);
        queue.pump(now + 1_000_000, 1_000).unwrap();
        let events = sink.events.lock().unwrap();
        let arrived: BTreeSet<(u64, u64)> =
            events.iter().filter_map(|event| Some((event.at_ms, event.number?))).collect();
        assert_eq!(arrived.iter().map(|(at, _)| *at).collect::<BTreeSet<_>>(), told, "seed {seed}");
        assert_eq!(arrived.len(), told.len(), "seed {seed}: a number was given twice");
    }
}

#[test]
fn whoever_delivers_is_woken() {
    let (sink, outbox) = parts();
    let queue = queue(&sink, &outbox, QueueLimits::default());
    assert!(queue.wait(Duration::ZERO), "something may be left from before");
    assert!(!queue.wait(Duration::ZERO));
    std::thread::scope(|scope| {
        let woken = scope.spawn(|| queue.wait(Duration::from_secs(60)));
        queue.observe(&event(0, true)).unwrap();
        assert!(woken.join().unwrap());
    });
}

#[test]
fn one_observer_keeps_none_of_the_others_from_being_told() {
    let sinks: [Arc<Sink>; 3] = Default::default();
    sinks[0].fails.store(true, Ordering::SeqCst);
    sinks[1].panics.store(true, Ordering::SeqCst);
    let all = CompositeObserver::new(sinks.iter().map(|sink| Arc::clone(sink) as _).collect());
    let error = all.observe(&event(7, false)).unwrap_err();
    assert_eq!(error.to_string(), "sink: no; sink: it panicked");
    assert_eq!(sinks[2].times(), [7]);
    // With a queue before each, all are well.
    let outboxes: [Arc<MemoryOutbox>; 3] = Default::default();
    let queues: Vec<Arc<ObserverQueue>> = sinks
        .iter()
        .zip(&outboxes)
        .map(|(sink, outbox)| Arc::new(queue(sink, outbox, QueueLimits::default())))
        .collect();
    let all = CompositeObserver::new(queues.iter().map(|queue| Arc::clone(queue) as _).collect());
    all.observe(&event(8, false)).unwrap();
    for queue in &queues {
        queue.pump(0, 10).unwrap();
    }
    assert_eq!(sinks[2].times(), [7, 8]);
    assert_eq!(outboxes.each_ref().map(|outbox| outbox.len()), [1, 1, 0]);
}

#[test]
fn what_cannot_be_told_is_denied() {
    let sink = Arc::new(Sink::default());
    let engine = Arc::new(engine(vec![user("[defaults]\nuse_tool = \"allow\"\n")]));
    let gate = GovernanceGate::new(Arc::clone(&engine), Arc::clone(&sink) as _);
    assert!(gate.decide(&tool("x"), 5).decision.is_allowed());
    sink.fails.store(true, Ordering::SeqCst);
    let verdict = gate.decide(&tool("x"), 6);
    assert_eq!(
        (verdict.decision, verdict.rule.name.as_str()),
        (GovernanceDecision::Deny, "unrecorded")
    );
    assert_eq!(sink.times(), [5]);
    assert_eq!(sink.events.lock().unwrap()[0].kind, GovernanceEventKind::Allowed);
    // A full outbox is such a case.
    let directory = tempfile::tempdir().unwrap();
    let outbox = Arc::new(FileOutbox::open(&directory.path().join("o"), 1_000).unwrap());
    let queue = Arc::new(ObserverQueue::new(sink as _, outbox, QueueLimits::default()));
    let gate = GovernanceGate::new(Arc::new(crate::support::engine(Vec::new())), queue as _);
    let rules: BTreeSet<String> =
        (0..10).map(|now| gate.decide(&tool("x"), now).rule.name.clone()).collect();
    assert_eq!(rules, ["default".to_owned(), "unrecorded".to_owned()].into());
}
