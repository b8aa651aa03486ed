//! The same events give the same outputs.

use std::sync::Arc;

use offshoot_agent::{
    Agent, AgentEvent, EventRecord, MemoryLog, ReplayError, Rested, State, TurnOutput,
    UserDecision, replay,
};
use offshoot_provider::Request;

use crate::models::{Model, calls, text};
use crate::support::{CutLog, World, begin, block_on, parts, settings};

fn model() -> Model {
    Model::says(vec![
        calls(&[("read", "{}"), ("nothing", "{}")]),
        calls(&[("danger", "{}"), ("write", "{}")]),
        calls(&[("late", "{}")]),
        calls(&[("question", "{}"), ("broken", "{}")]),
        text("Done."),
    ])
}

/// Works to the end, opening the conversation again after each pause.
async fn work(world: &Arc<World>, model: &Model, log: &MemoryLog) {
    let mut agent = begin(parts(model.clone(), world, log.clone()), settings()).await;
    agent.pin("a fact").await.unwrap();
    let mut rested = agent.say("Go").await.unwrap();
    loop {
        drop(agent);
        agent =
            Agent::open(parts(model.clone(), world, log.clone()), None, Vec::new()).await.unwrap();
        rested = match rested {
            Rested::Idle { .. } => return,
            Rested::Paused(_) => agent.resume(None).await.unwrap(),
            Rested::Waiting(questions) => {
                let decision = match questions[0].is_approval {
                    true => UserDecision::Allow,
                    false => UserDecision::Answer { text: "blue".to_owned() },
                };
                agent.decide(&questions[0].key, decision, None).await.unwrap()
            }
            Rested::Open(phase) => panic!("{phase:?}"),
        };
    }
}

fn requests(outputs: &[TurnOutput]) -> Vec<Request> {
    let request = |output: &TurnOutput| match output {
        TurnOutput::AskModel(request) => Some((**request).clone()),
        _ => None,
    };
    outputs.iter().filter_map(request).collect()
}

#[test]
fn a_replay_gives_the_same_events_and_requests() {
    let (world, model, log) = (World::new(), model(), MemoryLog::default());
    block_on(work(&world, &model, &log));
    let records = log.records();
    assert!(records.len() > 40);
    let calls = world.calls.load(std::sync::atomic::Ordering::SeqCst);
    let replayed = replay(&records).unwrap();
    let appended: Vec<EventRecord> = replayed
        .outputs
        .iter()
        .filter_map(|output| match output {
            TurnOutput::Append(record) => Some(record.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(appended, records);
    assert_eq!(requests(&replayed.outputs), model.requests());
    assert_eq!(replayed.state, State::from_events(&records));
    assert_eq!(world.calls.load(std::sync::atomic::Ordering::SeqCst), calls, "nothing is called");
    assert_eq!(replay(&records).unwrap(), replayed);
    // A beginning is a conversation, too.
    for at in 0..records.len() {
        replay(&records[..at]).unwrap();
    }
}

#[test]
fn a_replay_of_a_conversation_that_was_killed_is_the_same() {
    for most in 3..30 {
        let (world, model, log) = (World::new(), model(), MemoryLog::default());
        block_on(async {
            let cut = CutLog { log: log.clone(), most, at_once: false };
            let mut agent = begin(parts(model.clone(), &world, cut), settings()).await;
            if agent.say("Go").await.is_err() {
                drop(agent);
                let mut agent =
                    Agent::open(parts(model.clone(), &world, log.clone()), None, Vec::new())
                        .await
                        .unwrap();
                agent.run().await.unwrap();
            }
        });
        let records = log.records();
        assert_eq!(replay(&records).unwrap().state, State::from_events(&records), "{most}");
    }
}

#[test]
fn a_log_that_was_changed_is_found_out() {
    let (world, model, log) = (World::new(), model(), MemoryLog::default());
    block_on(work(&world, &model, &log));
    let records = log.records();
    let at = records
        .iter()
        .position(|record| matches!(record.event(), AgentEvent::CallStarted { .. }))
        .unwrap();
    let mut value = serde_json::to_value(&records[at]).unwrap();
    value["event"]["attempt"] = 7.into();
    let mut changed = records.clone();
    changed[at] = serde_json::from_value(value).unwrap();
    let error = replay(&changed).unwrap_err();
    let number = at as u64 + 1;
    assert!(matches!(error, ReplayError::Differs { number: found, .. } if found == number));
    let mut shortened = records;
    shortened.remove(at);
    assert!(replay(&shortened).is_err());
}
