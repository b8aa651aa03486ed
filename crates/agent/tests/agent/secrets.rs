//! Credentials: neither the log nor the model gets them.

use std::sync::Arc;

use offshoot_agent::{Agent, MemoryLog, PromptLayer, Rested, to_json_lines};
use offshoot_provider::{Block, Message};
use offshoot_scrub::Redactor;

use crate::models::{Model, calls, events, text};
use crate::support::{CutLog, World, block_on, kinds, parts, settings};

const TOKEN: &str = "ghp_abcdefghijklmnopqrst0123456789";
const KNOWN: &str = "correct-horse-battery";

/// A credential in each place that a text can come from.
#[test]
fn no_credential_gets_into_the_log_or_to_the_model() {
    let world = World::new();
    std::fs::write(world.directory.path().join("env"), format!("GITHUB_TOKEN={TOKEN}\n{KNOWN}"))
        .unwrap();
    let arguments = serde_json::json!({ "path": "out", "text": format!("x {TOKEN}"), "password": "hunter2hunter" });
    let model = Model::new(move |_, number| match number {
        0 => events(calls(&[("read", r#"{"path":"env"}"#)])),
        1 => events(Message::assistant([
            Block::reasoning(format!("the token is {TOKEN}")),
            Block::text(format!("I found {TOKEN}.")),
            Block::call("c", "write", arguments.to_string()),
            Block::call("d", "write", format!("no JSON {TOKEN}")),
            Block::call("e", TOKEN, "{}"),
        ])),
        2 => vec![Err(offshoot_provider::ProviderError::new(
            offshoot_provider::ErrorKind::Network,
            format!("https://me:{KNOWN}@host"),
        ))],
        _ => events(text("Done.")),
    });
    let log = MemoryLog::default();
    block_on(async {
        let mut parts = parts(model.clone(), &world, log.clone());
        parts.redactor = Redactor::new([KNOWN]);
        let layers = vec![PromptLayer::Base { text: format!("Base {KNOWN}") }];
        let id = offshoot_agent::ConversationId::new("c");
        let mut agent = Agent::begin(parts, id, settings(), layers).await.unwrap();
        agent.pin(format!("the key is {TOKEN}")).await.unwrap();
        let rested = agent.say(format!("Use {TOKEN}")).await.unwrap();
        assert!(matches!(rested, Rested::Paused(_)));
        agent.resume(None).await.unwrap();
    });
    let kept = to_json_lines(&log.records()).unwrap();
    let sent: String =
        model.requests().iter().map(|it| serde_json::to_string(it).unwrap()).collect();
    for secret in [TOKEN, KNOWN, "hunter2hunter"] {
        assert!(!kept.contains(secret), "the log has {secret}");
        assert!(!sent.contains(secret), "the model got {secret}");
    }
    assert!(kept.contains("[redacted]") && sent.contains("[redacted]"));
    // The call did what the model wrote.
    let written = std::fs::read_to_string(world.directory.path().join("out")).unwrap();
    assert_eq!(written, format!("x {TOKEN}"));
}

/// What was meant is not kept, so it is not made with something else in its place.
#[test]
fn a_call_with_a_credential_is_not_made_after_a_crash() {
    let model =
        Model::says(vec![calls(&[("write", &format!("{{\"text\":\"{TOKEN}\"}}"))]), text("Done.")]);
    let mut lost = 0;
    for most in 3..8 {
        let world = World::new();
        let log = MemoryLog::default();
        block_on(async {
            let cut = CutLog { log: log.clone(), most, at_once: true };
            let mut agent =
                crate::support::begin(parts(model.clone(), &world, cut), settings()).await;
            agent.say("Go").await.unwrap_err();
            drop(agent);
            let mut agent =
                Agent::open(parts(model.clone(), &world, log.clone()), None, Vec::new())
                    .await
                    .unwrap();
            agent.run().await.unwrap();
        });
        let file = std::fs::read_to_string(world.directory.path().join("file")).unwrap_or_default();
        assert!(file.is_empty() || file == TOKEN, "{most}: {file}");
        let text = offshoot_agent::to_markdown(&log.records());
        lost += usize::from(text.contains("held a credential, which is not kept"));
        assert!(kinds(&log.records()).contains(&"turn_ended".to_owned()));
    }
    assert!(lost >= 2, "{lost}");
}

#[test]
fn known_secrets_stay_out_of_messages_about_the_redactor() {
    let parts = parts(Model::says(vec![text("Done.")]), &World::new(), MemoryLog::default());
    let redactor = Arc::new(Redactor::new([KNOWN]));
    assert!(!format!("{redactor:?}").contains(KNOWN));
    drop(parts);
}
