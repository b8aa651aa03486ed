//! Whatever is left out of requests: calls and results stay together.

use std::collections::BTreeSet;

use offshoot_agent::{MemoryLog, Rested, TurnLimits};
use offshoot_provider::{Message, Role};

use crate::models::{Model, calls, text, uncounted};
use crate::support::{World, begin, block_on, kinds, parts, settings};

/// Each call has one result, in the next message; no result is without its call; roles take turns, and the user begins.
#[track_caller]
pub(crate) fn assert_sound(messages: &[Message]) {
    let mut ids = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { Role::User } else { Role::Assistant };
        assert_eq!(message.role, expected, "message {at} of {messages:#?}");
        assert!(!message.blocks.is_empty(), "message {at} is empty");
        let calls: Vec<&str> = message.calls().map(|call| call.id.as_str()).collect();
        for id in &calls {
            assert!(ids.insert((*id).to_owned()), "the id {id:?} is used twice");
        }
        let next = messages.get(at + 1).map(Message::results).into_iter().flatten();
        let results: Vec<&str> = next.map(|result| result.id.as_str()).collect();
        assert_eq!(calls, results, "message {at} of {messages:#?}");
        assert!(message.calls().next().is_none() || message.role == Role::Assistant);
        assert!(message.results().next().is_none() || message.role == Role::User);
    }
    let orphans = messages.first().map(Message::results).into_iter().flatten().count();
    assert_eq!(orphans, 0);
}

/// A model that calls whatever comes to its mind, and summarises when it is asked to.
fn busy(seed: u64) -> Model {
    Model::new(move |request, number| {
        let mut random = fastrand::Rng::with_seed(seed * 977 + number as u64);
        if request.tools.is_empty() {
            return uncounted(text(&"A summary. ".repeat(random.usize(0..20))));
        }
        let made: Vec<(&str, String)> = (0..random.usize(0..4))
            .map(|_| {
                let bytes = random.usize(1..3000);
                ("big", format!("{{\"bytes\":{bytes},\"name\":\"{number}\"}}"))
            })
            .collect();
        let made: Vec<(&str, &str)> = made.iter().map(|(tool, it)| (*tool, it.as_str())).collect();
        match made.is_empty() {
            true => uncounted(text(&"Some words. ".repeat(random.usize(1..30)))),
            false => uncounted(calls(&made)),
        }
    })
}

#[test]
fn no_request_has_a_call_without_its_result() {
    let (mut pruned, mut summarised) = (0, 0);
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let world = World::new();
        let model = busy(seed);
        let log = MemoryLog::default();
        let window = random.u64(1500..9000);
        block_on(async {
            let mut settings = settings();
            settings.window = window;
            settings.limits =
                TurnLimits { steps: Some(30), failures: 99, repeats: 99, ..TurnLimits::default() };
            let mut agent = begin(parts(model.clone(), &world, log.clone()), settings).await;
            for _ in 0..6 {
                let rested = agent.say("word ".repeat(random.usize(1..200))).await.unwrap();
                if let Rested::Paused(_) = rested {
                    agent.cancel().await.unwrap();
                }
            }
        });
        for request in model.requests() {
            assert_sound(&request.messages);
        }
        let kinds = kinds(&log.records());
        pruned += kinds.iter().filter(|kind| *kind == "pruned").count();
        summarised += kinds.iter().filter(|kind| *kind == "summarised").count();
    }
    assert!(pruned > 20 && summarised > 20, "{pruned} and {summarised}: the test tests nothing");
}

/// What the user said, what is pinned, and the last results stay.
#[test]
fn old_results_go_first_and_originals_stay_in_the_log() {
    let world = World::new();
    let model = Model::new(|_, number| match number {
        0..6 => {
            uncounted(calls(&[("big", &format!("{{\"bytes\":4000,\"name\":\"r{number}-\"}}"))]))
        }
        _ => uncounted(text("Done.")),
    });
    let log = MemoryLog::default();
    block_on(async {
        let mut settings = settings();
        settings.window = 5000;
        let mut agent = begin(parts(model.clone(), &world, log.clone()), settings).await;
        agent.pin("the sky is blue").await.unwrap();
        agent.say("Remember the task").await.unwrap();
    });
    let last = model.requests().pop().unwrap();
    let all = format!("{last:?}");
    assert!(!all.contains("r0-r0-") && all.contains("bytes of this result are left out"));
    assert!(all.contains("r5-r5-") && all.contains("r4-r4-"));
    assert!(all.contains("the sky is blue") && all.contains("Remember the task"));
    assert!(offshoot_agent::to_json_lines(&log.records()).unwrap().contains("r0-r0-"));
    assert!(kinds(&log.records()).contains(&"pruned".to_owned()));
}
