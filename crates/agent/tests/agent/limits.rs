//! Each limit: a turn that passes it pauses, and goes on when it is raised.

use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::{Agent, MemoryLog, PauseReason, Rested, TurnLimits, UserDecision, replay};
use offshoot_provider::{AnswerEvent, Cost, ErrorKind, ProviderError};

use crate::models::{Model, calls, events, script, text};
use crate::pruning::assert_sound;
use crate::support::{StepClock, World, begin, block_on, parts, settings};

/// A model that always has one more call, each with other arguments.
fn restless() -> Model {
    Model::new(|_, number| {
        let arguments = format!("{{\"path\":\"{number}\",\"text\":\"x\"}}");
        events(calls(&[("write", &arguments)]))
    })
}

/// Runs until it rests, within limits.
async fn run(model: Model, limits: TurnLimits) -> (Agent, Rested) {
    let world = World::new();
    let mut settings = settings();
    settings.limits = limits;
    let mut agent = begin(parts(model, &world, MemoryLog::default()), settings).await;
    let rested = agent.say("Go").await.unwrap();
    (agent, rested)
}

#[test]
fn steps_are_limited() {
    block_on(async {
        let limits = TurnLimits { steps: Some(3), ..TurnLimits::default() };
        let model = restless();
        let (mut agent, rested) = run(model.clone(), limits).await;
        assert_eq!(rested, Rested::Paused(PauseReason::Steps { limit: 3 }));
        assert_eq!(model.requests().len(), 3);
        // The user lets it go on: as many again, or as many as they say.
        agent.resume(None).await.unwrap();
        assert_eq!(model.requests().len(), 6);
        agent.resume(Some(TurnLimits { steps: Some(1), ..limits })).await.unwrap();
        assert_eq!(model.requests().len(), 7);
    });
}

/// Whoever opens a conversation says which limits hold from then on.
#[test]
fn limits_are_those_of_whoever_opened_it() {
    block_on(async {
        let (world, model, log) = (World::new(), restless(), MemoryLog::default());
        let within = |steps| {
            let mut settings = settings();
            settings.limits = TurnLimits { steps: Some(steps), ..TurnLimits::default() };
            settings
        };
        let mut agent = begin(parts(model.clone(), &world, log.clone()), within(2)).await;
        agent.say("Go").await.unwrap();
        for (steps, asked) in [(5, 7), (1, 8)] {
            let parts = parts(model.clone(), &world, log.clone());
            agent = Agent::open(parts, Some(within(steps)), Vec::new()).await.unwrap();
            let rested = agent.resume(None).await.unwrap();
            assert_eq!(rested, Rested::Paused(PauseReason::Steps { limit: steps }));
            assert_eq!(model.requests().len(), asked);
        }
        assert_eq!(&replay(&log.records()).unwrap().state, agent.state());
    });
}

/// What was ended is told to the model behind the results of open calls, and begins no turn.
#[test]
fn what_is_ended_with_the_agent_is_told_to_the_model() {
    block_on(async {
        let (world, log) = (World::new(), MemoryLog::default());
        let model = Model::says(vec![calls(&[("question", "{}")]), text("Red."), text("Yes.")]);
        let mut agent = begin(parts(model.clone(), &world, log.clone()), settings()).await;
        let Rested::Waiting(questions) = agent.say("Go").await.unwrap() else { panic!() };
        *world.left.lock().unwrap() = vec!["command 1: sleep".to_owned()];
        assert_eq!(agent.finish().await.unwrap(), ["command 1: sleep"]);
        let answer = UserDecision::Answer { text: "red".to_owned() };
        agent.decide(&questions[0].key, answer, None).await.unwrap();
        *world.left.lock().unwrap() = vec!["command 2: sleep".to_owned()];
        agent.finish().await.unwrap();
        assert_eq!(agent.finish().await.unwrap(), [""; 0]);
        assert_eq!(model.requests().len(), 2);
        agent.say("Well?").await.unwrap();
        for (request, told) in [(1, "command 1"), (2, "command 2")] {
            let messages = &model.requests()[request].messages;
            assert_sound(messages);
            let texts: Vec<String> = messages.iter().map(|message| message.text()).collect();
            assert!(texts.iter().any(|text| text.contains(told)), "{texts:?}");
        }
        assert_eq!(&replay(&log.records()).unwrap().state, agent.state());
    });
}

#[test]
fn tokens_are_limited_also_where_none_are_reported() {
    for reports in [true, false] {
        block_on(async {
            let limits = TurnLimits { tokens: Some(200), ..TurnLimits::default() };
            let model = Model::new(move |_, number| {
                let arguments = format!("{{\"path\":\"{number}\"}}");
                let mut events = events(calls(&[("read", &arguments)]));
                if !reports {
                    events.retain(|event| !matches!(event, Ok(AnswerEvent::Usage { .. })));
                }
                events
            });
            let (mut agent, rested) = run(model.clone(), limits).await;
            let Rested::Paused(PauseReason::Tokens { limit: 200, spent }) = rested else {
                panic!("{rested:?}")
            };
            assert!(spent >= 200);
            let asked = model.requests().len();
            assert!(asked < 8, "{asked}");
            // It is still passed.
            let rested = agent.resume(None).await.unwrap();
            assert!(matches!(rested, Rested::Paused(PauseReason::Tokens { .. })));
            assert_eq!(model.requests().len(), asked);
            agent.resume(Some(TurnLimits { tokens: Some(100_000), ..limits })).await.unwrap();
            assert!(model.requests().len() > asked);
        });
    }
}

#[test]
fn money_is_limited_and_an_unknown_price_is_asked_about() {
    block_on(async {
        let limits = TurnLimits { money: Some(Cost { picodollars: 25 }), ..TurnLimits::default() };
        let model = Model::new(|_, number| {
            let arguments = format!("{{\"path\":\"{number}\"}}");
            let mut events = events(calls(&[("read", &arguments)]));
            for event in &mut events {
                if let Ok(AnswerEvent::Usage { cost, .. }) = event {
                    *cost = Some(Cost { picodollars: 10 });
                }
            }
            events
        });
        let (_, rested) = run(model.clone(), limits).await;
        let (limit, spent) = (Cost { picodollars: 25 }, Cost { picodollars: 30 });
        assert_eq!(rested, Rested::Paused(PauseReason::Money { limit, spent }));
        assert_eq!(model.requests().len(), 3);

        let unpriced = Model::says(vec![calls(&[("read", "{}")]), text("Done.")]);
        let (mut agent, rested) = run(unpriced, limits).await;
        assert_eq!(rested, Rested::Paused(PauseReason::CostUnknown));
        assert_eq!(agent.resume(None).await.unwrap(), Rested::Idle { said: "Done.".to_owned() });
    });
}

/// A model that never ends, a tool that never ends, and one more answer than there is time for.
#[test]
fn time_is_limited_wherever_it_passes() {
    let limits = TurnLimits { time_ms: Some(80), ..TurnLimits::default() };
    let expected = Rested::Paused(PauseReason::Time { limit_ms: 80 });
    block_on(async {
        let world = World::new();
        let mut limited = settings();
        limited.limits = limits;
        let real = |model: Model| {
            let mut parts = parts(model, &world, MemoryLog::default());
            parts.clock = Arc::new(offshoot_agent::SystemClock);
            parts
        };
        let mut agent = begin(real(Model::hangs_behind(text("I"))), limited.clone()).await;
        assert_eq!(agent.say("Go").await.unwrap(), expected);
        assert_eq!(agent.resume(None).await.unwrap(), expected, "it is still over");

        let model = Model::says(vec![calls(&[("hang", "{}")]), text("Done.")]);
        let mut agent = begin(real(model), limited.clone()).await;
        assert_eq!(agent.say("Go").await.unwrap(), expected);
        assert_eq!(world.stopped.lock().unwrap().len(), 1);
        let more = TurnLimits { time_ms: Some(60_000), ..limits };
        assert_eq!(agent.resume(Some(more)).await.unwrap(), Rested::Idle { said: "Done.".into() });

        let mut stepping = parts(restless(), &world, MemoryLog::default());
        stepping.clock = Arc::new(StepClock::new(Duration::from_millis(30)));
        let mut agent = begin(stepping, limited).await;
        assert_eq!(agent.say("Go").await.unwrap(), expected);
    });
}

/// Time that the user takes to decide is theirs.
#[test]
fn waiting_for_the_user_takes_no_time() {
    block_on(async {
        let world = World::new();
        let mut limited = settings();
        limited.limits.time_ms = Some(300);
        let model = Model::says(vec![calls(&[("danger", "{}")]), text("Done.")]);
        let mut agent_parts = parts(model, &world, MemoryLog::default());
        agent_parts.clock = Arc::new(offshoot_agent::SystemClock);
        let mut agent = begin(agent_parts, limited).await;
        let Rested::Waiting(questions) = agent.say("Go").await.unwrap() else { panic!() };
        tokio::time::sleep(Duration::from_millis(400)).await;
        let rested = agent.decide(&questions[0].key, UserDecision::Allow, None).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
    });
}

#[test]
fn failures_in_a_row_are_limited() {
    block_on(async {
        let limits = TurnLimits { failures: 4, ..TurnLimits::default() };
        let failing = |always: bool| {
            Model::new(move |_, number| {
                let tool = if always || number % 3 != 2 { "fail" } else { "read" };
                // One file is there, so that some calls work.
                events(calls(&[(tool, &format!("{{\"n\":{number}}}"))]))
            })
        };
        let model = failing(true);
        let (mut agent, rested) = run(model.clone(), limits).await;
        assert_eq!(rested, Rested::Paused(PauseReason::Failures { answers: 4 }));
        assert_eq!(model.requests().len(), 4);
        agent.resume(None).await.unwrap();
        assert_eq!(model.requests().len(), 8);

        // Some that work between them begin the count anew.
        let world = World::new();
        std::fs::write(world.directory.path().join("file"), "x").unwrap();
        let mut limited = settings();
        limited.limits = TurnLimits { steps: Some(9), ..limits };
        let mut agent = begin(parts(failing(false), &world, MemoryLog::default()), limited).await;
        let rested = agent.say("Go").await.unwrap();
        assert_eq!(rested, Rested::Paused(PauseReason::Steps { limit: 9 }));
    });
}

#[test]
fn repeats_are_warned_of_and_limited() {
    block_on(async {
        let limits = TurnLimits { repeats: 4, failures: 100, ..TurnLimits::default() };
        // A loop of two calls is a loop, too.
        let model = Model::new(|_, number| {
            let tool = if number % 2 == 0 { "big" } else { "fail" };
            events(calls(&[(tool, "{}")]))
        });
        let (mut agent, rested) = run(model.clone(), limits).await;
        let tool = "big".to_owned();
        assert_eq!(rested, Rested::Paused(PauseReason::Repeats { tool, times: 4 }));
        let requests = model.requests();
        assert_eq!(requests.len(), 7);
        let warned = |at: usize| {
            let last = requests[at].messages.last().unwrap().text();
            last.contains("same call several times")
        };
        assert!(!warned(2) && warned(3) && !warned(4), "it is warned once");
        agent.resume(None).await.unwrap();
        assert!(model.requests().len() > 12, "resuming begins anew");
    });
}

/// What is called many times in one answer is called once: the model could not react.
#[test]
fn an_answer_is_no_loop() {
    block_on(async {
        let same = vec![("big", "{}"); 64];
        let model = Model::says(vec![calls(&same), text("I see.")]);
        let (_, rested) = run(model, TurnLimits::default()).await;
        assert_eq!(rested, Rested::Idle { said: "I see.".to_owned() });
    });
}

/// Editing and testing in turns is no loop, though the test says the same each time.
#[test]
fn what_is_done_between_edits_is_no_repeat() {
    block_on(async {
        let limits = TurnLimits { repeats: 3, steps: Some(12), ..TurnLimits::default() };
        let model = Model::new(|_, number| match number % 2 {
            0 => events(calls(&[("write", &format!("{{\"path\":\"{number}\"}}"))])),
            _ => events(calls(&[("big", "{}")])),
        });
        let (_, rested) = run(model, limits).await;
        assert_eq!(rested, Rested::Paused(PauseReason::Steps { limit: 12 }));
    });
}

#[test]
fn unusable_answers_are_limited() {
    block_on(async {
        let limits = TurnLimits { nonsense: 2, ..TurnLimits::default() };
        let model = Model::says(vec![text(" \n")]);
        let (_, rested) = run(model.clone(), limits).await;
        assert_eq!(
            rested,
            Rested::Paused(PauseReason::Nonsense {
                answers: 2,
                why: "the last was empty".to_owned()
            })
        );
        assert_eq!(model.requests().len(), 2);
        let last = model.requests()[1].messages.last().unwrap().text();
        assert!(last.contains("Your answer was empty"), "{last}");
    });
}

#[test]
fn long_answers_are_stopped() {
    block_on(async {
        let limits = TurnLimits { answer_bytes: 500, nonsense: 2, ..TurnLimits::default() };
        let model = Model::new(|_, _| events(text(&"blah ".repeat(200))));
        let (agent, rested) = run(model.clone(), limits).await;
        assert_eq!(
            rested,
            Rested::Paused(PauseReason::Nonsense {
                answers: 2,
                why: "the answer is longer than 500 bytes".to_owned()
            })
        );
        assert_eq!(agent.state().last_words(), "");
        let last = model.requests()[1].messages.last().unwrap().text();
        assert!(last.contains("too long"), "{last}");
    });
}

#[test]
fn a_model_that_cannot_be_reached_pauses_the_turn() {
    block_on(async {
        let model = Model::new(|_, number| match number {
            0 => vec![Err(ProviderError::new(ErrorKind::Network, "no route"))],
            1 => Vec::new(),
            2 => vec![Err(ProviderError::new(ErrorKind::Refused, "no"))],
            _ => events(text("Done.")),
        });
        let (mut agent, rested) = run(model, TurnLimits::default()).await;
        let Rested::Paused(PauseReason::ModelFailed { why }) = rested else { panic!() };
        assert!(why.contains("no route"));
        let rested = agent.resume(None).await.unwrap();
        assert!(matches!(rested, Rested::Paused(PauseReason::ModelFailed { .. })), "no end");
        assert_eq!(agent.resume(None).await.unwrap(), Rested::Paused(PauseReason::Refused));
        assert_eq!(agent.resume(None).await.unwrap(), Rested::Idle { said: "Done.".to_owned() });
    });
}

#[test]
fn a_script_that_is_cut_is_asked_again_when_the_user_resumes() {
    block_on(async {
        let world = World::new();
        let model = script(
            "[[turn]]\nsay = [{ text = \"A long answer.\" }]\nfail = { kind = \"network\", after = 2, times = 1 }",
        );
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        let rested = agent.say("Go").await.unwrap();
        assert!(matches!(rested, Rested::Paused(PauseReason::ModelFailed { .. })));
        let rested = agent.resume(None).await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "A long answer.".to_owned() });
    });
}
