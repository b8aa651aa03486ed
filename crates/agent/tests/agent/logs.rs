//! Logs in files.

use std::io::Write;

use offshoot_agent::{Agent, EventLog, EventRecord, FileLog, LogError, Rested};

use crate::models::{Model, calls, text};
use crate::support::{World, begin, block_on, parts, settings};

#[test]
fn a_conversation_in_a_file_goes_on() {
    let world = World::new();
    let path = world.directory.path().join("log.jsonl");
    let model = Model::says(vec![calls(&[("danger", "{}")]), text("Done."), text("Again.")]);
    block_on(async {
        let log = FileLog::open(&path).unwrap();
        let mut agent = begin(parts(model.clone(), &world, log), settings()).await;
        let Rested::Waiting(questions) = agent.say("Go").await.unwrap() else { panic!() };
        drop(agent);
        // A crash cut off what was written last.
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"version\":1,\"number\":7,\"at\"").unwrap();
        let log = FileLog::open(&path).unwrap();
        let mut agent = Agent::open(parts(model, &world, log), None, Vec::new()).await.unwrap();
        let allow = offshoot_agent::UserDecision::Allow;
        let rested = agent.decide(&questions[0].key, allow, None).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
    });
    let records = block_on(async { FileLog::open(&path).unwrap().read(1).await.unwrap() });
    assert!(records.iter().map(EventRecord::number).eq(1..=records.len() as u64));
    let rest = block_on(async { FileLog::open(&path).unwrap().read(5).await.unwrap() });
    assert_eq!(rest, records[4..]);
}

#[test]
fn two_writers_do_not_overwrite_one_another() {
    let world = World::new();
    let path = world.directory.path().join("log.jsonl");
    let model = Model::says(vec![text("Done.")]);
    block_on(async {
        let log = FileLog::open(&path).unwrap();
        let mut agent = begin(parts(model.clone(), &world, log), settings()).await;
        let other = FileLog::open(&path).unwrap();
        let mut other = Agent::open(parts(model, &world, other), None, Vec::new()).await.unwrap();
        other.say("I was here").await.unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = agent.say("Me too").await.unwrap_err();
        let moved = matches!(error, offshoot_agent::AgentError::Log(LogError::Moved { .. }));
        assert!(moved, "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert!(agent.say("Again").await.is_err(), "it does not go on with what was not kept");
    });
}

#[test]
fn a_log_of_another_version_or_with_a_gap_is_refused() {
    let world = World::new();
    let path = world.directory.path().join("log.jsonl");
    let model = Model::says(vec![text("Done.")]);
    block_on(async {
        let log = FileLog::open(&path).unwrap();
        begin(parts(model, &world, log), settings()).await.say("Go").await.unwrap();
    });
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let gap = format!("{}\n{}\n", lines[0], lines[2]);
    let version = text.replacen("\"version\":1", "\"version\":2", 1);
    let kind = text.replacen("\"kind\":\"user_said\"", "\"kind\":\"user_sang\"", 1);
    for (wrong, number) in [(gap, 2), (version, 1), (kind, 2)] {
        std::fs::write(&path, wrong).unwrap();
        let error = FileLog::open(&path).unwrap_err();
        assert!(matches!(error, LogError::Damaged { number: at, .. } if at == number), "{error}");
    }
}
