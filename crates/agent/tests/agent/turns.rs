//! Whole turns.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use offshoot_agent::{AgentEvent, AgentProgress, HistoryEntry, MemoryLog, Phase, Rested, State};
use offshoot_provider::{AnswerEvent, Block};

use crate::models::{Model, calls, script, text};
use crate::support::{World, begin, block_on, kinds, parts, settings};

#[test]
fn a_scripted_model_works_in_a_directory() {
    let world = World::new();
    std::fs::write(world.directory.path().join("a"), "one").unwrap();
    let model = script(
        r#"
        [[turn]]
        expect = { last_contains = "Go", tools = ["read", "write"] }
        say = [{ text = "Let me see." }, { call = "read", id = "r", arguments = { path = "a" } }]
        [[turn]]
        expect = { result_contains = "one" }
        say = [{ call = "write", id = "w", arguments = { path = "b", text = "two" } }]
        [[turn]]
        expect = { result_contains = "written" }
        say = [{ text = "Done." }]
        "#,
    );
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        let rested = agent.say("Go").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
        assert_eq!(agent.state().phase(), Phase::Idle);
    });
    assert_eq!(std::fs::read_to_string(world.directory.path().join("b")).unwrap(), "two");
    let expected = [
        "started",
        "user_said",
        "asked",
        "answered",
        "assessed",
        "call_started",
        "call_ended",
        "asked",
        "answered",
        "assessed",
        "call_started",
        "call_ended",
        "asked",
        "answered",
        "turn_ended",
    ];
    assert_eq!(kinds(&log.records()), expected);
}

#[test]
fn the_state_is_what_the_events_say() {
    let world = World::new();
    let model = Model::says(vec![calls(&[("read", "{}"), ("write", "{}")]), text("Done.")]);
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        agent.say("Go").await.unwrap();
        agent.pin("a fact").await.unwrap();
        assert_eq!(*agent.state(), State::from_events(&log.records()));
        assert_eq!(agent.state().pinned(), ["a fact"]);
    });
}

#[test]
fn what_comes_is_told_as_it_comes() {
    let world = World::new();
    let told = Arc::new(Mutex::new((String::new(), 0)));
    let listener = {
        let told = told.clone();
        move |progress: AgentProgress| match progress {
            AgentProgress::Answer(AnswerEvent::TextDelta { text, .. }) => {
                told.lock().unwrap().0.push_str(&text);
            }
            AgentProgress::Event(_) => told.lock().unwrap().1 += 1,
            _ => {}
        }
    };
    let model = script("[[turn]]\nsay = [{ text = \"A longer text in pieces.\" }]");
    let log = MemoryLog::default();
    block_on(async {
        let mut parts = parts(model, &world, log.clone());
        parts.listener = Arc::new(listener);
        begin(parts, settings()).await.say("Go").await.unwrap();
    });
    let told = told.lock().unwrap();
    assert_eq!(told.0, "A longer text in pieces.");
    assert_eq!(told.1, log.records().len());
}

#[test]
fn steering_reaches_the_model_behind_the_results() {
    let world = World::new();
    let model = Model::says(vec![calls(&[("read", "{}")]), text("Done.")]);
    block_on(async {
        let agent_parts = parts(model.clone(), &world, MemoryLog::default());
        let mut agent = begin(agent_parts, settings()).await;
        assert!(agent.handle().steer("rather blue"));
        agent.say("Go").await.unwrap();
    });
    let requests = model.requests();
    // It came while the first request was under way.
    assert!(!requests[0].messages.iter().any(|message| message.text().contains("blue")));
    let last = requests[1].messages.last().unwrap();
    assert_eq!(last.results().count(), 1);
    assert_eq!(last.blocks.last().and_then(Block::as_text), Some("rather blue"));
}

/// Who cancels twice ends one turn, and not the next one before it began.
#[test]
fn cancelling_nothing_cancels_nothing() {
    let world = World::new();
    let model = Model::says(vec![text("Done.")]);
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        agent.handle().cancel();
        agent.cancel().await.unwrap();
        assert_eq!(agent.say("Go").await.unwrap(), Rested::Idle { said: "Done.".to_owned() });
    });
    assert!(!kinds(&log.records()).contains(&"cancelled".to_owned()));
}

/// The model says that it is done, but the user said something meanwhile.
#[test]
fn a_turn_does_not_end_before_the_user_was_heard() {
    let world = World::new();
    let model = Model::says(vec![text("Done."), text("Blue, then.")]);
    block_on(async {
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        agent.handle().steer("rather blue");
        let rested = agent.say("Go").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Blue, then.".to_owned() });
    });
}

#[test]
fn a_cancelled_answer_keeps_what_was_said() {
    let world = World::new();
    let model = Model::hangs_behind(text("Half a sen"));
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        let handle = agent.handle();
        let cancel = async move {
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            handle.cancel();
        };
        let (rested, ()) = tokio::join!(agent.say("Go"), cancel);
        assert_eq!(rested.unwrap(), Rested::Idle { said: "Half a sen".to_owned() });
    });
    assert_eq!(kinds(&log.records()).last().unwrap(), "turn_ended");
}

#[test]
fn cancelled_calls_have_results_and_are_stopped() {
    let world = World::new();
    let model = Model::says(vec![
        calls(&[("hang_read", "{}"), ("hang_read", "{\"a\":1}"), ("write", "{}")]),
        text("What now?"),
    ]);
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model.clone(), &world, log.clone()), settings()).await;
        let handle = agent.handle();
        let cancel = async move {
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            handle.cancel();
        };
        let (rested, ()) = tokio::join!(agent.say("Go"), cancel);
        assert!(matches!(rested, Ok(Rested::Idle { .. })));
        // Nothing of it runs any more.
        assert_eq!(world.running.load(Ordering::SeqCst), 0);
        let Some(HistoryEntry::Results(results)) = agent.state().entries().last() else { panic!() };
        assert_eq!(results.len(), 3);
        assert!(results.iter().all(|call| call.report.failed));
        assert!(results[0].report.to_text().contains("may have taken effect"));
        assert!(results[2].report.to_text().contains("before this call ran"));
        assert_eq!(world.stopped.lock().unwrap().len(), 2);
        assert!(world.writes.lock().unwrap().is_empty());
        // The conversation goes on from there.
        let rested = agent.say("Again").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "What now?".to_owned() });
    });
    let last = model.requests().pop().unwrap();
    crate::pruning::assert_sound(&last.messages);
}

/// What is said while a stopped call has not ended yet waits for its end.
#[test]
fn what_is_said_after_cancelling_waits_for_the_end() {
    let world = World::new();
    let model = Model::says(vec![calls(&[("hang", "{}")]), calls(&[("write", "{}")]), text("So.")]);
    block_on(async {
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        let handle = agent.handle();
        let cancel = async move {
            tokio::time::sleep(std::time::Duration::from_millis(30)).await;
            handle.cancel();
            handle.steer("Rather write");
        };
        let (rested, ()) = tokio::join!(agent.say("Go"), cancel);
        assert!(matches!(rested, Ok(Rested::Idle { .. })));
        assert_eq!(agent.run().await.unwrap(), Rested::Idle { said: "So.".to_owned() });
    });
    let most = world.most.load(Ordering::SeqCst);
    assert_eq!(most, 1, "the write ran beside the call that was stopped");
}

/// Cancelling at each event leaves a conversation that goes on.
#[test]
fn a_turn_can_be_cancelled_at_any_event() {
    let answers = || {
        vec![calls(&[("read", "{}"), ("danger", "{}")]), calls(&[("write", "{}")]), text("Done.")]
    };
    for at in 2..12 {
        let world = World::new();
        let model = Model::says(answers());
        let log = MemoryLog::default();
        block_on(async {
            let mut agent_parts = parts(model.clone(), &world, log.clone());
            let handle: Arc<Mutex<Option<offshoot_agent::AgentHandle>>> = Arc::default();
            let shared = handle.clone();
            agent_parts.listener = Arc::new(move |progress: AgentProgress| {
                if let AgentProgress::Event(record) = progress
                    && record.number() == at
                    && let Some(handle) = shared.lock().unwrap().as_ref()
                {
                    handle.cancel();
                }
            });
            let mut agent = begin(agent_parts, settings()).await;
            *handle.lock().unwrap() = Some(agent.handle());
            let mut rested = agent.say("Go").await.unwrap();
            while let Rested::Waiting(questions) = rested {
                let allow = offshoot_agent::UserDecision::Allow;
                rested = agent.decide(&questions[0].key, allow, None).await.unwrap();
            }
            assert!(matches!(rested, Rested::Idle { .. }), "{at}: {rested:?}");
            let rested = agent.say("And now?").await.unwrap();
            assert!(!matches!(rested, Rested::Paused(_) | Rested::Open(_)), "{at}: {rested:?}");
        });
        let records = log.records();
        let ends = |record: &&offshoot_agent::EventRecord| {
            matches!(record.event(), AgentEvent::Cancelled { .. })
        };
        // Behind the last event of the turn there is nothing to cancel.
        assert!(records.iter().filter(ends).count() <= 1);
        for request in model.requests() {
            crate::pruning::assert_sound(&request.messages);
        }
        assert!(world.writes.lock().unwrap().values().all(|writes| *writes == 1));
        assert!(world.calls.load(Ordering::SeqCst) <= 6);
    }
}
