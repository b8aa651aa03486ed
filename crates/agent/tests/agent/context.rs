//! What the model reads.

use std::collections::BTreeMap;

use offshoot_agent::{
    Agent, ConversationId, MemoryLog, PauseReason, PromptLayer, Rested, WithSkills, instructions,
    skills,
};
use offshoot_provider::{AnswerEvent, Block, ErrorKind, ProviderError, TokenUsage};

use crate::models::{Model, calls, events, text, uncounted};
use crate::support::{World, begin, block_on, kinds, parts, settings};

#[test]
fn the_system_prompt_has_layers_and_skills_are_read_on_demand() {
    let files: BTreeMap<String, String> = [
        ("AGENTS.md", "Use tabs."),
        ("web/AGENTS.md", "Use spaces."),
        (
            "skills/pdf/SKILL.md",
            "---\nname: pdf\ndescription: Reads PDF files\n---\nThe secret of PDF.\n",
        ),
    ]
    .into_iter()
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .collect();
    let found = skills(&files, "skills", &mut Vec::new());
    let mut layers = vec![PromptLayer::Base { text: "You write code.".to_owned() }];
    layers.extend(instructions(&files, "web", &mut Vec::new()));
    layers.extend(found.iter().map(offshoot_agent::Skill::layer));
    let world = World::new();
    let model = Model::says(vec![
        calls(&[("skill", r#"{"name":"pdf"}"#), ("skill", r#"{"name":"doc"}"#)]),
        text("Done."),
    ]);
    block_on(async {
        let mut parts = parts(model.clone(), &world, MemoryLog::default());
        parts.tools = std::sync::Arc::new(WithSkills::new(world.tools(), found));
        let mut agent =
            Agent::begin(parts, ConversationId::new("c"), settings(), layers).await.unwrap();
        agent.say("Go").await.unwrap();
    });
    let [first, second] = model.requests().try_into().unwrap();
    let system: Vec<&str> = first.system.iter().filter_map(Block::as_text).collect();
    let system = system.join("\n");
    let (tabs, spaces) = (system.find("tabs").unwrap(), system.find("spaces").unwrap());
    assert!(system.starts_with("You write code.") && tabs < spaces);
    assert!(system.contains("- pdf: Reads PDF files") && !system.contains("The secret of PDF"));
    let results = format!("{:?}", second.messages.last().unwrap());
    assert!(results.contains("The secret of PDF") && results.contains("no such skill"));
}

/// The estimate of tokens learns from what the server counts.
#[test]
fn the_estimate_learns_from_the_server() {
    let reported = |input: u64| {
        let world = World::new();
        let model = Model::new(move |_, number| {
            let answer = match number {
                0..4 => calls(&[("big", &format!("{{\"bytes\":2000,\"name\":\"{number}\"}}"))]),
                _ => text("Done."),
            };
            let mut events = events(answer);
            for event in &mut events {
                if let Ok(AnswerEvent::Usage { usage, .. }) = event {
                    *usage = TokenUsage {
                        input: Some(input * (number as u64 + 1)),
                        output: Some(1),
                        ..TokenUsage::default()
                    };
                }
            }
            events
        });
        let log = MemoryLog::default();
        block_on(async {
            let mut settings = settings();
            settings.window = 8000;
            let mut agent = begin(parts(model, &world, log.clone()), settings).await;
            agent.say("word ".repeat(500)).await.unwrap();
        });
        let kinds = kinds(&log.records());
        kinds.iter().any(|kind| kind == "pruned" || kind == "summarised")
    };
    assert!(!reported(700), "nothing is left out when tokens are as estimated");
    assert!(reported(4000), "and something when they are several times as many");
}

#[test]
fn a_summary_by_the_model_stands_for_what_was_said() {
    let world = World::new();
    let model = Model::new(|request, _| match request.tools.is_empty() {
        true => uncounted(text("They talked about bees.")),
        false => uncounted(text(&"Some words. ".repeat(60))),
    });
    let log = MemoryLog::default();
    block_on(async {
        let mut settings = settings();
        settings.window = 2000;
        let mut agent = begin(parts(model.clone(), &world, log.clone()), settings).await;
        for number in 0..9 {
            let said = format!("Question {number}: {}", "what? ".repeat(80));
            agent.say(said).await.unwrap();
        }
        assert!(agent.state().summary().is_some());
        assert_eq!(agent.state().entries().len(), 18, "nothing is taken out");
    });
    let last = model.requests().pop().unwrap();
    let first = last.messages[0].text();
    assert!(first.contains("They talked about bees.") && !first.contains("Question 0"), "{first}");
    assert!(last.messages.last().unwrap().text().contains("Question 8"));
    let summary = model.requests().into_iter().find(|request| request.tools.is_empty()).unwrap();
    assert!(summary.messages[0].text().contains("Question 0"));
}

#[test]
fn without_a_usable_summary_what_the_user_said_is_listed() {
    let world = World::new();
    let model = Model::new(|request, _| match request.tools.is_empty() {
        true => uncounted(text("  ")),
        false => uncounted(text(&"Some words. ".repeat(60))),
    });
    block_on(async {
        let mut settings = settings();
        settings.window = 2000;
        let mut agent = begin(parts(model.clone(), &world, MemoryLog::default()), settings).await;
        for number in 0..9 {
            agent.say(format!("Question {number}: {}", "what? ".repeat(80))).await.unwrap();
        }
        let summary = &agent.state().summary().unwrap().text;
        assert!(summary.contains("no summary") && summary.contains("Question 0"), "{summary}");
    });
}

#[test]
fn a_conversation_that_cannot_fit_pauses() {
    let world = World::new();
    let model = Model::says(vec![text("Done.")]);
    block_on(async {
        let mut settings = settings();
        settings.window = 1000;
        let mut agent = begin(parts(model.clone(), &world, MemoryLog::default()), settings).await;
        let rested = agent.say("word ".repeat(2000)).await.unwrap();
        assert!(matches!(rested, Rested::Paused(PauseReason::ContextFull { .. })), "{rested:?}");
        assert!(model.requests().is_empty());
    });
}

/// The model reads less than its catalog says: it is asked for less, and not for ever.
#[test]
fn a_smaller_window_than_told_is_found_out() {
    let world = World::new();
    let model = Model::new(|request, number| {
        if request.tools.is_empty() {
            return uncounted(text("Bees."));
        }
        let size: usize = format!("{:?}", request.messages).len();
        match number {
            _ if size > 14_000 => vec![Err(ProviderError::new(ErrorKind::ContextTooLong, "long"))],
            0..8 => {
                uncounted(calls(&[("big", &format!("{{\"bytes\":3000,\"name\":\"{number}\"}}"))]))
            }
            _ => uncounted(text("Done.")),
        }
    });
    let log = MemoryLog::default();
    block_on(async {
        let mut agent = begin(parts(model.clone(), &world, log.clone()), settings()).await;
        let rested = agent.say("Go").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Done.".to_owned() });
    });
    let kinds = kinds(&log.records());
    assert!(kinds.contains(&"answer_failed".to_owned()) && kinds.contains(&"pruned".to_owned()));

    let model = Model::new(|_, _| vec![Err(ProviderError::new(ErrorKind::ContextTooLong, "long"))]);
    block_on(async {
        let mut agent = begin(parts(model.clone(), &world, MemoryLog::default()), settings()).await;
        let rested = agent.say("Go").await.unwrap();
        assert!(matches!(rested, Rested::Paused(PauseReason::ContextFull { .. })), "{rested:?}");
    });
    assert!(model.requests().len() <= 3);
}
