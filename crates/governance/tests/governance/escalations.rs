//! Escalations, beside a model that knows nothing of how they are made.

use std::sync::{Arc, Mutex};

use fastrand::Rng;
use offshoot_governance::{
    EscalationAnswer, EscalationAsker, EscalationDesk, EscalationError, EscalationEvent,
    EscalationFallback, EscalationRecord, EscalationState, EscalationStore, EscalationTarget,
    GovernanceDecision, GovernanceEngine, GovernanceEvent, GovernanceEventKind, GovernanceObserver,
    GovernanceRequest, MemoryEscalations, ObserverError,
};

use crate::support::{engine, rule, tool, user, word};

fn asking(terms: &str) -> GovernanceEngine {
    let conditions = format!("target = \"*\"\n{terms}");
    engine(vec![user(&rule("escalate", &conditions, "{ action = \"use_tool\" }"))])
}

fn answer(by: &str, grant: bool) -> EscalationAnswer {
    let by = EscalationTarget::parse(by).unwrap();
    EscalationAnswer { by, grant, reason: "because".to_owned() }
}

/// What holds of an escalation, told as a history instead of a state.
#[derive(Default)]
struct Model {
    answered: Option<(u64, bool)>,
    expired: bool,
    used: bool,
}

const WITHIN_MS: u64 = 10_000;

impl Model {
    fn look(&mut self, now: u64) {
        self.expired |= self.answered.is_none() && now >= WITHIN_MS;
    }

    fn may_use(&self, now: u64, fallback: EscalationFallback) -> bool {
        let is_in_time = match self.answered {
            Some((at, granted)) => granted && now < at + WITHIN_MS,
            None => self.expired && fallback == EscalationFallback::Allow && now < 2 * WITHIN_MS,
        };
        is_in_time && !self.used
    }

    fn state(&self) -> EscalationState {
        match self.answered {
            Some((_, true)) => EscalationState::Granted,
            Some((_, false)) => EscalationState::Denied,
            None if self.expired => EscalationState::Expired,
            None => EscalationState::Pending,
        }
    }
}

#[test]
fn the_machine_does_what_the_model_says() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    let engines = EscalationFallback::ALL.iter().map(|fallback| {
        asking(&format!("ask = \"person:p\"\nwithin_s = 10\nfallback = \"{fallback}\""))
    });
    let engines: Vec<GovernanceEngine> = engines.collect();
    for _ in 0..2_000 {
        let at = rng.usize(..2);
        let (fallback, engine) = (EscalationFallback::ALL[at], &engines[at]);
        let request = tool("x");
        let verdict = engine.decide(&request);
        let mut record = EscalationRecord::open("e", &request, &verdict, 0).unwrap();
        let mut model = Model::default();
        let mut now = 0;
        for _ in 0..rng.usize(1..12) {
            // Clocks go back, too.
            now = if rng.u8(..10) == 0 { rng.u64(..=now) } else { now + rng.u64(..6_000) };
            model.look(now);
            let before = record.clone();
            let (event, should_work) = match rng.u8(..6) {
                0 => (EscalationEvent::Tick, true),
                1 | 2 => {
                    let by = if rng.u8(..4) == 0 { "agent:p" } else { "person:p" };
                    let grant = rng.bool();
                    let may = by == "person:p" && model.state() == EscalationState::Pending;
                    if may {
                        model.answered = Some((now, grant));
                    }
                    (EscalationEvent::Answer(answer(by, grant)), may)
                }
                kind => {
                    let request = if kind == 3 { tool("y") } else { tool("x") };
                    let may = kind != 3 && model.may_use(now, fallback);
                    model.used |= may;
                    (EscalationEvent::Use { request: request.digest() }, may)
                }
            };
            let done = record.apply(now, event.clone());
            assert_eq!(
                done.is_ok(),
                should_work,
                "seed {seed}: {event:?} at {now} of {before:?}: {done:?}"
            );
            assert_eq!(record.state, model.state(), "seed {seed}");
            assert_eq!(record.used_ms.is_some(), model.used, "seed {seed}");
            if done.is_err() && before.state == record.state {
                assert_eq!(
                    before, record,
                    "seed {seed}: a step that was refused changed something"
                );
            }
            // It goes on wherever it was stored.
            record = EscalationRecord::from_json(&record.to_json().unwrap()).unwrap();
        }
    }
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let engine = asking("ask = \"agent:helper\"");
    let request = tool("x");
    let verdict = engine.decide(&request);
    let itself = EscalationRecord::open("e", &request, &verdict, 0).unwrap_err();
    assert_eq!(itself, EscalationError::AsksItself { agent: "helper".to_owned() });
    let other = GovernanceRequest { agent: "other".to_owned(), ..request.clone() };
    assert!(
        EscalationRecord::open("e", &other, &verdict, 0).is_err(),
        "the verdict of another request"
    );
    let verdict = engine.decide(&other);
    let record = EscalationRecord::open("e", &other, &verdict, 0).unwrap();
    let json = record.to_json().unwrap();
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("\"target\":\"x\"", "\"target\":\"y\""),
        ("agent:helper", "agent:other"),
        ("agent:helper", "nobody"),
        ("\"pending\"", "\"gone\""),
    ] {
        assert!(json.contains(from), "{json}");
        let changed = EscalationRecord::from_json(&json.replace(from, to));
        assert!(
            matches!(
                changed,
                Err(EscalationError::Damaged(_) | EscalationError::AsksItself { .. })
            ),
            "{to}"
        );
    }
    let denied = crate::support::engine(Vec::new()).decide(&request);
    let refused = EscalationRecord::open("e", &request, &denied, 0);
    assert_eq!(refused, Err(EscalationError::NoEscalation { id: "e".to_owned() }));
}

#[derive(Default)]
struct Sink {
    events: Mutex<Vec<GovernanceEvent>>,
    fails: Mutex<bool>,
}

impl Sink {
    fn kinds(&self) -> Vec<GovernanceEventKind> {
        self.events.lock().unwrap().iter().map(|event| event.kind).collect()
    }
}

impl GovernanceObserver for Sink {
    fn name(&self) -> &str {
        "sink"
    }

    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
        if *self.fails.lock().unwrap() {
            return Err(ObserverError::new("sink", "full"));
        }
        self.events.lock().unwrap().push(event.clone());
        Ok(())
    }
}

#[derive(Default)]
struct Asked {
    asked: Mutex<Vec<String>>,
    fails: Mutex<bool>,
}

impl EscalationAsker for Asked {
    fn ask(&self, record: &EscalationRecord) -> Result<(), EscalationError> {
        if *self.fails.lock().unwrap() {
            return Err(EscalationError::Ask("nobody is there".to_owned()));
        }
        self.asked.lock().unwrap().push(record.id.clone());
        Ok(())
    }
}

struct Office {
    sink: Arc<Sink>,
    asked: Arc<Asked>,
    store: Arc<MemoryEscalations>,
    desk: EscalationDesk<Arc<MemoryEscalations>, Arc<Asked>>,
}

fn office() -> Office {
    let (sink, asked) = (Arc::new(Sink::default()), Arc::new(Asked::default()));
    let store = Arc::new(MemoryEscalations::default());
    let observer: Arc<dyn GovernanceObserver> = Arc::clone(&sink) as _;
    let desk = EscalationDesk::new(Arc::clone(&store), Arc::clone(&asked), observer);
    Office { sink, asked, store, desk }
}

#[test]
fn a_grant_is_used_once_and_after_deciding_again() {
    let Office { sink, asked, desk, .. } = office();
    let engine = asking("ask = \"person:p\"\nwithin_s = 10");
    let request = tool("x");
    let verdict = engine.decide(&request);
    desk.open("e", &request, &verdict, 0).unwrap();
    assert_eq!(*asked.asked.lock().unwrap(), ["e"]);
    let again = desk.open("e", &request, &verdict, 0);
    assert_eq!(again, Err(EscalationError::Exists { id: "e".to_owned() }));
    assert!(desk.redeem(&engine, &request, "e", 1).is_err(), "nobody answered yet");
    desk.answer("e", answer("person:p", true), 2).unwrap();

    // Rules may have changed meanwhile.
    let denying = crate::support::engine(Vec::new());
    assert_eq!(desk.redeem(&denying, &request, "e", 3).unwrap().decision, GovernanceDecision::Deny);
    let elsewhere = asking("ask = \"person:q\"");
    let moved = desk.redeem(&elsewhere, &request, "e", 3);
    assert!(matches!(moved, Err(EscalationError::AsksAnother { .. })), "{moved:?}");
    let other = desk.redeem(&engine, &tool("y"), "e", 3);
    assert_eq!(other, Err(EscalationError::OtherRequest { id: "e".to_owned() }));

    let used = desk.redeem(&engine, &request, "e", 3).unwrap();
    assert_eq!((used.decision, used.rule.name.as_str()), (GovernanceDecision::Allow, "grant"));
    assert!(used.reason.contains("person:p"));
    let twice = desk.redeem(&engine, &request, "e", 3);
    assert_eq!(twice, Err(EscalationError::Used { id: "e".to_owned(), at_ms: 3 }));
    assert_eq!(sink.kinds(), [GovernanceEventKind::Granted, GovernanceEventKind::Used]);
    assert_eq!(word(&engine, &request), "escalate", "a grant changes no rule");
    let unknown = desk.answer("f", answer("person:p", true), 2);
    assert_eq!(unknown, Err(EscalationError::Unknown { id: "f".to_owned() }));
}

#[test]
fn many_who_use_one_grant_at_once_use_it_once() {
    let Office { desk, .. } = office();
    let engine = asking("ask = \"person:p\"");
    let request = tool("x");
    desk.open("e", &request, &engine.decide(&request), 0).unwrap();
    desk.answer("e", answer("person:p", true), 1).unwrap();
    let used = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                if desk.redeem(&engine, &request, "e", 2).is_ok() {
                    *used.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(*used.lock().unwrap(), 1);
}

#[test]
fn what_cannot_be_recorded_is_not_allowed_and_used_up() {
    let Office { sink, desk, .. } = office();
    let engine = asking("ask = \"person:p\"");
    let request = tool("x");
    desk.open("e", &request, &engine.decide(&request), 0).unwrap();
    desk.answer("e", answer("person:p", true), 1).unwrap();
    *sink.fails.lock().unwrap() = true;
    let refused = desk.redeem(&engine, &request, "e", 2);
    assert!(matches!(refused, Err(EscalationError::Record(_))), "{refused:?}");
    *sink.fails.lock().unwrap() = false;
    assert!(matches!(desk.redeem(&engine, &request, "e", 2), Err(EscalationError::Used { .. })));
}

#[test]
fn questions_outlive_those_who_pass_them_on() {
    let Office { sink, asked, store, desk } = office();
    *asked.fails.lock().unwrap() = true;
    let engine = asking("ask = \"person:p\"\nwithin_s = 10\nfallback = \"allow\"");
    let request = tool("x");
    let verdict = engine.decide(&request);
    assert!(matches!(desk.open("e", &request, &verdict, 0), Err(EscalationError::Ask(_))));
    assert_eq!(store.pending().unwrap().len(), 1);
    assert!(desk.remind(1).is_err());
    *asked.fails.lock().unwrap() = false;
    assert_eq!(desk.remind(2), Ok(1));
    assert_eq!(*asked.asked.lock().unwrap(), ["e"]);
    // Nobody answers, so the fallback holds: once, and not for ever.
    assert_eq!(desk.expire(9_999).unwrap().len(), 0);
    assert_eq!(desk.expire(10_000).unwrap().len(), 1);
    assert_eq!(desk.remind(10_001), Ok(0));
    assert!(desk.answer("e", answer("person:p", false), 10_001).is_err());
    let late = desk.redeem(&engine, &request, "e", 20_000);
    assert_eq!(late, Err(EscalationError::Stale { id: "e".to_owned(), use_by_ms: 20_000 }));
    let used = desk.redeem(&engine, &request, "e", 19_999).unwrap();
    assert!(used.decision.is_allowed() && used.reason.contains("nobody answered"));
    assert!(desk.redeem(&engine, &request, "e", 19_999).is_err());
    assert_eq!(sink.kinds(), [GovernanceEventKind::Expired, GovernanceEventKind::Used]);
}

/// An answer that comes too late is refused, and what it found is stored.
#[test]
fn who_answers_late_ends_the_question() {
    let Office { sink, store, desk, .. } = office();
    let engine = asking("ask = \"person:p\"\nwithin_s = 10");
    let request = tool("x");
    desk.open("e", &request, &engine.decide(&request), 0).unwrap();
    assert!(desk.answer("e", answer("person:p", true), 10_000).is_err());
    assert_eq!(store.get("e").unwrap().unwrap().state, EscalationState::Expired);
    assert!(desk.redeem(&engine, &request, "e", 0).is_err(), "the clock went back");
    assert_eq!(sink.kinds(), [GovernanceEventKind::Expired]);
}
