//! Agents that are killed at every event, and go on.

use std::sync::Arc;

use offshoot_agent::{Agent, ConversationId, HistoryEntry, MemoryLog, Rested, UserDecision};

use crate::models::{Model, calls, text};
use crate::support::{CutLog, World, block_on, parts, settings};

/// A turn with reads beside one another, a write, an approval before a call and one within, a question, and a failure.
fn model() -> Model {
    Model::says(vec![
        calls(&[("read", r#"{"path":"a"}"#), ("read", r#"{"path":"b"}"#)]),
        calls(&[("write", r#"{"text":"1"}"#), ("fail", "{}")]),
        calls(&[("danger", r#"{"text":"2"}"#), ("write", r#"{"text":"3"}"#)]),
        calls(&[("late", r#"{"text":"4"}"#)]),
        calls(&[("nothing", "{}"), ("question", "{}"), ("write", r#"{"text":"5"}"#)]),
        text("Done."),
    ])
}

/// Goes on with a conversation until it is over, as a user would who allows everything.
async fn finish(
    world: &Arc<World>,
    log: impl offshoot_agent::EventLog + Clone + 'static,
) -> Result<Agent, offshoot_agent::AgentError> {
    let agent_parts = parts(model(), world, log.clone());
    let is_new = log.read(1).await?.is_empty();
    let mut agent = match is_new {
        true => Agent::begin(agent_parts, ConversationId::new("c"), settings(), Vec::new()).await?,
        false => Agent::open(agent_parts, None, Vec::new()).await?,
    };
    let mut rested = match agent.state().entries().is_empty() {
        true => agent.say("Go").await?,
        false => agent.run().await?,
    };
    while let Rested::Waiting(questions) = &rested {
        let question = &questions[0];
        let decision = match question.is_approval {
            true => UserDecision::Allow,
            false => UserDecision::Answer { text: "blue".to_owned() },
        };
        let key = question.key.clone();
        rested = agent.decide(&key, decision, None).await?;
    }
    assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
    Ok(agent)
}

/// What was done to the world, and what was said, without being killed.
fn whole() -> (Vec<HistoryEntry>, u64, String) {
    let world = World::new();
    let log = MemoryLog::default();
    let entries =
        block_on(async { finish(&world, log.clone()).await.unwrap().state().entries().to_vec() });
    let file = std::fs::read_to_string(world.directory.path().join("file")).unwrap();
    (entries, log.records().len() as u64, file)
}

#[test]
fn an_agent_that_is_killed_at_any_event_goes_on_as_if_it_was_not() {
    let (entries, events, file) = whole();
    assert_eq!(file, "12345");
    assert!(events > 40, "{events}");
    for most in 0..=events {
        for at_once in [true, false] {
            let world = World::new();
            let log = MemoryLog::default();
            block_on(async {
                let cut = CutLog { log: log.clone(), most, at_once };
                let killed = finish(&world, cut).await.is_err();
                assert!(killed || most == events, "{most}");
                assert!(log.records().len() as u64 <= most);
                let agent = finish(&world, log.clone()).await.unwrap();
                assert_eq!(agent.state().entries(), entries, "killed at {most}, {at_once}");
            });
            let writes = world.writes.lock().unwrap();
            assert_eq!(writes.len(), 4 + 1, "killed at {most}, {at_once}: {writes:?}");
            assert!(writes.values().all(|times| *times == 1), "killed at {most}: {writes:?}");
            let now = std::fs::read_to_string(world.directory.path().join("file")).unwrap();
            assert_eq!(now, file, "killed at {most}, {at_once}");
        }
    }
}

/// Tools that do not know what became of a call: it may be lost then, but is never made twice.
#[test]
fn no_call_that_writes_is_made_twice_by_tools_that_know_nothing() {
    let (_, events, _) = whole();
    let mut lost = 0;
    for most in 0..=events {
        let world = World::with(false);
        let log = MemoryLog::default();
        block_on(async {
            let cut = CutLog { log: log.clone(), most, at_once: false };
            assert!(finish(&world, cut).await.is_err() || most == events);
            finish(&world, log.clone()).await.unwrap();
        });
        let text = offshoot_agent::to_markdown(&log.records());
        lost += usize::from(text.contains("it is not known whether it took effect"));
        let writes = world.writes.lock().unwrap();
        assert!(writes.values().all(|times| *times == 1), "killed at {most}: {writes:?}");
    }
    assert!(lost >= 4, "the model is told of each call that was cut off: {lost}");
}

/// Killed again and again, at each event that is new.
#[test]
fn an_agent_that_is_killed_all_the_time_gets_to_its_end() {
    let (entries, ..) = whole();
    let world = World::new();
    let log = MemoryLog::default();
    block_on(async {
        let mut kills = 0;
        loop {
            // To open it, find two calls, start and end them: with less none would ever end.
            let most = log.records().len() as u64 + 7;
            let cut = CutLog { log: log.clone(), most, at_once: true };
            match finish(&world, cut).await {
                Ok(agent) => {
                    assert_eq!(agent.state().entries(), entries);
                    break;
                }
                Err(_) => kills += 1,
            }
            assert!(kills < 200);
        }
        assert!(kills > 8, "{kills}");
    });
    assert!(world.writes.lock().unwrap().values().all(|times| *times == 1));
}
