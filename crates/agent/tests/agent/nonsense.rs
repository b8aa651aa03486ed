//! Models that answer nonsense: nothing panics, every request is sound, and it ends.

use offshoot_agent::{MemoryLog, Rested, TurnLimits, replay};
use offshoot_provider::{
    AnswerEvent, Block, Content, ErrorKind, Message, ProviderError, ResultBlock, StopReason,
};

use crate::models::{Model, calls, events, text};
use crate::pruning::assert_sound;
use crate::support::{World, begin, block_on, parts, settings};

/// Whatever a model might say.
fn nonsense(random: &mut fastrand::Rng) -> Vec<Result<AnswerEvent, ProviderError>> {
    let mut blocks = Vec::new();
    let call = |id: &str, name: &str, arguments: &str| Block::call(id, name, arguments);
    for _ in 0..random.usize(0..5) {
        blocks.push(match random.u32(0..12) {
            0 => Block::text(""),
            1 => Block::text("  \n "),
            2 => Block::text("Some text."),
            3 => Block::reasoning("hm"),
            4 => call("", "read", "{}"),
            5 => call("same", "read", r#"{"path":"a"}"#),
            6 => call("same", "write", "{"),
            7 => call("x", "no such tool", "{}"),
            8 => call("y", "", ""),
            9 => call("z", "read", "[1]"),
            10 => Block::new(Content::ToolResult(ResultBlock {
                id: "same".to_owned(),
                name: "read".to_owned(),
                blocks: vec![Block::text("made up")],
                failed: false,
            })),
            _ => call("big", "big", "{\"bytes\": 300}"),
        });
    }
    let mut events = events(Message::assistant(blocks));
    match random.u32(0..14) {
        0 => events.truncate(random.usize(0..=events.len())),
        1 => {
            events.pop();
            events.push(Ok(AnswerEvent::Stopped(StopReason::Length)));
        }
        2 => {
            events.pop();
            events.push(Ok(AnswerEvent::Stopped(StopReason::Paused)));
        }
        3 => {
            events.pop();
            events.push(Ok(AnswerEvent::Stopped(StopReason::Context)));
        }
        4 => {
            events.pop();
            events.push(Ok(AnswerEvent::Stopped(StopReason::Other("odd".to_owned()))));
        }
        5 => events.insert(0, Err(ProviderError::new(ErrorKind::ContextTooLong, "too long"))),
        6 => events.insert(0, Err(ProviderError::new(ErrorKind::TooLarge, "too large"))),
        7 => {
            events.insert(0, Ok(AnswerEvent::ToolCallDelta { block: 9, arguments: "{".to_owned() }))
        }
        8 => events.push(Ok(AnswerEvent::Stopped(StopReason::End))),
        9 => {
            let done = events.clone();
            events.extend(done);
        }
        _ => {}
    }
    events
}

#[test]
fn no_nonsense_breaks_a_conversation() {
    for seed in 0..150 {
        let world = World::new();
        let model = Model::new(move |_, number| {
            let mut random = fastrand::Rng::with_seed(seed * 1000 + number as u64);
            nonsense(&mut random)
        });
        let log = MemoryLog::default();
        block_on(async {
            let mut settings = settings();
            settings.window = 3000;
            settings.limits = TurnLimits { steps: Some(15), ..TurnLimits::default() };
            let mut agent = begin(parts(model.clone(), &world, log.clone()), settings).await;
            let mut rested = agent.say("Go").await.unwrap();
            for _ in 0..4 {
                rested = match rested {
                    Rested::Paused(_) => agent.resume(None).await.unwrap(),
                    Rested::Idle { .. } => agent.say("More").await.unwrap(),
                    Rested::Waiting(_) | Rested::Open(_) => panic!("seed {seed}: {rested:?}"),
                };
            }
        });
        for request in model.requests() {
            assert_sound(&request.messages);
        }
        replay(&log.records()).unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
    }
}

#[test]
fn an_answer_of_many_calls_is_bounded() {
    let world = World::new();
    let many: Vec<(&str, &str)> = vec![("write", "{}"); 100];
    let model = Model::says(vec![calls(&many), text("Done.")]);
    block_on(async {
        let mut agent = begin(parts(model, &world, MemoryLog::default()), settings()).await;
        agent.say("Go").await.unwrap();
    });
    assert_eq!(world.writes.lock().unwrap().len(), 64);
}

#[test]
fn an_answer_that_was_cut_goes_on() {
    let world = World::new();
    let model = Model::new(|_, number| {
        let mut events = events(text(if number == 0 { "Half" } else { "and half" }));
        if number == 0 {
            events.pop();
            events.push(Ok(AnswerEvent::Stopped(StopReason::Length)));
        }
        events
    });
    block_on(async {
        let mut agent = begin(parts(model.clone(), &world, MemoryLog::default()), settings()).await;
        let rested = agent.say("Go").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "and half".to_owned() });
    });
    let last = model.requests()[1].messages.last().unwrap().text();
    assert!(last.contains("Go on where it ends"), "{last}");
}
