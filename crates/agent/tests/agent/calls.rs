//! Calls: in order, at the same time, asked about, failing.

use std::sync::atomic::Ordering;

use offshoot_agent::{
    Agent, AgentError, AgentEvent, HistoryEntry, MemoryLog, PauseReason, Rested, TurnMisuse,
    UserDecision,
};

use crate::models::{Model, calls, text};
use crate::support::{World, begin, block_on, kinds, parts, settings};

#[test]
fn reads_run_at_the_same_time_up_to_a_limit() {
    for (limit, expected) in [(8, 4), (2, 2), (1, 1), (0, 1)] {
        let world = World::new();
        let reads: Vec<(&str, &str)> = vec![("read", "{}"); 4];
        let model = Model::says(vec![calls(&reads), text("Done.")]);
        let mut settings = settings();
        settings.limits.parallel = limit;
        block_on(async {
            let mut agent = begin(parts(model, &world, MemoryLog::default()), settings).await;
            agent.say("Go").await.unwrap();
        });
        assert_eq!(world.most.load(Ordering::SeqCst), expected, "{limit}");
    }
}

#[test]
fn a_write_runs_alone_and_in_its_place() {
    let world = World::new();
    let model = Model::says(vec![
        calls(&[
            ("write", r#"{"text":"1"}"#),
            ("read", "{}"),
            ("write", r#"{"text":"2"}"#),
            ("read", "{}"),
        ]),
        text("Done."),
    ]);
    block_on(async {
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        agent.say("Go").await.unwrap();
        let Some(HistoryEntry::Results(results)) = agent.state().entries().get(2) else { panic!() };
        let texts: Vec<String> = results.iter().map(|call| call.report.to_text()).collect();
        assert_eq!(texts, ["written", "1", "written", "12"]);
    });
    assert_eq!(world.most.load(Ordering::SeqCst), 1);
}

#[test]
fn an_approval_survives_a_restart() {
    for (decision, writes) in
        [(UserDecision::Allow, 1), (UserDecision::Deny { why: Some("not today".to_owned()) }, 0)]
    {
        for tool in ["danger", "late"] {
            let world = World::new();
            let model = Model::says(vec![calls(&[("read", "{}"), (tool, "{}")]), text("Done.")]);
            let log = MemoryLog::default();
            block_on(async {
                let mut agent = begin(parts(model.clone(), &world, log.clone()), settings()).await;
                let Rested::Waiting(questions) = agent.say("Go").await.unwrap() else { panic!() };
                drop(agent);
                let mut agent =
                    Agent::open(parts(model.clone(), &world, log.clone()), None, Vec::new())
                        .await
                        .unwrap();
                assert_eq!(agent.run().await.unwrap(), Rested::Waiting(questions.clone()));
                assert!(world.writes.lock().unwrap().is_empty());
                let key = &questions[0].key;
                let rested = agent.decide(key, decision.clone(), Some("me")).await.unwrap();
                assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() }, "{tool}");
                let again = agent.decide(key, UserDecision::Allow, None).await;
                assert_eq!(again, Err(AgentError::Misuse(TurnMisuse::NoSuchQuestion)));
            });
            let written: u32 = world.writes.lock().unwrap().values().sum();
            assert_eq!(written, writes, "{tool}");
            let last = model.requests().pop().unwrap();
            let result = format!("{:?}", last.messages.last().unwrap());
            assert_eq!(result.contains("not today"), writes == 0);
        }
    }
}

#[test]
fn nothing_runs_before_all_approvals_of_an_answer_are_decided() {
    let world = World::new();
    let model = Model::says(vec![calls(&[("write", "{}"), ("danger", "{}")]), text("Done.")]);
    block_on(async {
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        let Rested::Waiting(questions) = agent.say("Go").await.unwrap() else { panic!() };
        assert_eq!(questions.len(), 1);
        assert!(questions[0].is_approval);
        assert!(world.writes.lock().unwrap().is_empty());
        agent.decide(&questions[0].key, UserDecision::Allow, None).await.unwrap();
        assert_eq!(world.writes.lock().unwrap().len(), 2);
    });
}

#[test]
fn the_answer_to_a_question_is_its_result() {
    let world = World::new();
    let model = Model::says(vec![calls(&[("question", "{}")]), text("Done.")]);
    block_on(async {
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        let Rested::Waiting(questions) = agent.say("Go").await.unwrap() else { panic!() };
        assert_eq!(questions[0].choices, ["red", "blue"]);
        let key = &questions[0].key;
        let wrong = agent.decide(key, UserDecision::Allow, None).await;
        assert_eq!(wrong, Err(AgentError::Misuse(TurnMisuse::WrongDecision)));
        agent.decide(key, UserDecision::Answer { text: "blue".to_owned() }, None).await.unwrap();
        let Some(HistoryEntry::Results(results)) = agent.state().entries().get(2) else { panic!() };
        assert_eq!(results[0].report.to_text(), "blue");
    });
}

#[test]
fn what_the_tools_refuse_does_not_run() {
    let world = World::new();
    let model = Model::says(vec![calls(&[("forbidden", "{}")]), text("Done.")]);
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        agent.say("Go").await.unwrap();
    });
    assert_eq!(world.calls.load(Ordering::SeqCst), 0);
    assert!(!kinds(&log.records()).contains(&"call_started".to_owned()));
}

#[test]
fn a_tool_that_cannot_work_pauses_the_turn() {
    for (tool, why) in [("broken", "the disk is gone"), ("panics", "a tool of the test panics")] {
        let world = World::new();
        let model = Model::says(vec![calls(&[(tool, "{}")]), text("Done.")]);
        block_on(async {
            let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
            let rested = agent.say("Go").await.unwrap();
            let Rested::Paused(PauseReason::ToolBroken { why: said }) = rested else { panic!() };
            assert!(said.contains(why), "{said}");
            let rested = agent.resume(None).await.unwrap();
            assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
        });
    }
}

/// The model sees its mistake, and does it right.
#[test]
fn the_model_can_correct_itself() {
    let world = World::new();
    let model = Model::says(vec![
        calls(&[("raed", "{}")]),
        calls(&[("read", "{path: a}")]),
        calls(&[("write", "{}")]),
        text("Done."),
    ]);
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model, &world, log.clone()), settings()).await;
        let rested = agent.say("Go").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
    });
    let failed: Vec<String> = log
        .records()
        .iter()
        .filter_map(|record| match record.event() {
            AgentEvent::CallEnded { report, .. } if report.failed => Some(report.to_text()),
            _ => None,
        })
        .collect();
    assert!(failed[0].contains("no tool \"raed\"") && failed[0].contains("read, write"));
    assert!(failed[1].contains("no JSON"));
    assert_eq!(failed.len(), 2);
}
