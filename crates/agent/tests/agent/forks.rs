//! Forks and exports of conversations.

use offshoot_agent::{
    Agent, ConversationId, ForkError, MemoryLog, Rested, State, Timestamp, fork, replay,
    to_json_lines, to_markdown,
};

use crate::models::{Model, calls, text};
use crate::pruning::assert_sound;
use crate::support::{World, begin, block_on, parts, settings};

fn conversation() -> (std::sync::Arc<World>, MemoryLog) {
    let world = World::new();
    let model = Model::says(vec![
        calls(&[("read", "{}"), ("write", "{}")]),
        calls(&[("write", r#"{"path":"other"}"#)]),
        text("Done."),
    ]);
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        agent.say("Go").await.unwrap();
    });
    (world, log)
}

#[test]
fn a_conversation_can_be_forked_behind_any_event() {
    let (world, log) = conversation();
    let records = log.records();
    for at in 1..=records.len() as u64 {
        let now = records.last().unwrap().at();
        let forked = fork(&records, at, ConversationId::new("f"), now).unwrap();
        let before = world.writes.lock().unwrap().clone();
        let model = Model::says(vec![text("In the fork.")]);
        let fork_log = MemoryLog::with(forked);
        block_on(async {
            let agent_parts = parts(model.clone(), &world, fork_log.clone());
            let mut agent = Agent::open(agent_parts, None, Vec::new()).await.unwrap();
            let rested = agent.run().await.unwrap();
            assert!(matches!(rested, Rested::Idle { .. }), "{at}: nothing goes on by itself");
            let rested = agent.say("Other").await.unwrap();
            assert_eq!(rested, Rested::Idle { said: "In the fork.".to_owned() });
            assert_eq!(agent.state().conversation(), Some(&ConversationId::new("f")));
        });
        for request in model.requests() {
            assert_sound(&request.messages);
        }
        assert_eq!(*world.writes.lock().unwrap(), before, "{at}: no call of the parent is made");
        assert_eq!(log.records(), records, "the parent stays as it is");
        let fork_records = fork_log.records();
        assert_eq!(replay(&fork_records).unwrap().state, State::from_events(&fork_records));
    }
}

/// Calls of a fork have keys of their own.
#[test]
fn a_fork_shares_no_key_with_its_parent() {
    let (world, log) = conversation();
    let forked = fork(&log.records(), 2, ConversationId::new("f"), Timestamp(0)).unwrap();
    let model = Model::says(vec![calls(&[("write", "{}")]), text("Done.")]);
    block_on(async {
        let agent_parts = parts(model, &world, MemoryLog::with(forked));
        let mut agent = Agent::open(agent_parts, None, Vec::new()).await.unwrap();
        agent.say("Other").await.unwrap();
    });
    let writes = world.writes.lock().unwrap();
    assert!(writes.contains_key("f/1/0") && writes.contains_key("c/1/1"), "{writes:?}");
}

#[test]
fn what_cannot_be_forked_is_said() {
    let (_world, log) = conversation();
    let records = log.records();
    let events = records.len() as u64;
    for at in [0, events + 1] {
        let error = fork(&records, at, ConversationId::new("f"), Timestamp(0)).unwrap_err();
        assert_eq!(error, ForkError::NoSuchEvent { at, events });
    }
    let error = fork(&records[1..], 1, ConversationId::new("f"), Timestamp(0)).unwrap_err();
    assert_eq!(error, ForkError::NotBegun);
}

#[test]
fn a_conversation_can_be_exported() {
    let (_world, log) = conversation();
    let records = log.records();
    let lines = to_json_lines(&records).unwrap();
    let read: Vec<offshoot_agent::EventRecord> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, records);
    let page = to_markdown(&records);
    for part in
        ["# Conversation c", "## User\n\nGo", "Calls `write`", "```json", "written", "Done."]
    {
        assert!(page.contains(part), "{part} in {page}");
    }
}
