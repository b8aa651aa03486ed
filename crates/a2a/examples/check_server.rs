//! The server that `tests/outside/a2a/run.sh` has the official client ask. It ends with its standard input.
//!
//!     check_server TOKEN

#![expect(clippy::print_stdout, reason = "the script reads where it listens")]

use std::sync::Arc;

use offshoot_a2a::{
    A2aAccess, A2aAgent, A2aArtifact, A2aCard, A2aMemoryTasks, A2aMessage, A2aPart, A2aPause,
    A2aReach, A2aServer, A2aServerOptions, A2aSkill, A2aTaskFailure, A2aWork,
};
use tokio_util::sync::CancellationToken;

struct Checked;

impl A2aAgent for Checked {
    async fn handle(&self, message: A2aMessage, work: A2aWork) -> Result<(), A2aTaskFailure> {
        let text = message.text();
        let (verb, rest) = text.split_once(' ').unwrap_or((&text, ""));
        match verb {
            "echo" => {
                work.progress("listening").await?;
                work.artifact(A2aArtifact::new("echo", vec![A2aPart::text(rest)])).await?;
            }
            "chunks" => {
                work.begin_artifact(A2aArtifact::new("c", vec![A2aPart::text("a")])).await?;
                work.append_artifact("c", vec![A2aPart::text("b")], false).await?;
                work.append_artifact("c", vec![A2aPart::text("c")], true).await?;
            }
            "ask" => work.pause(A2aPause::Input, vec![A2aPart::text("which one?")]).await?,
            "answer" => work.complete(format!("it is {rest}")).await?,
            "wait" => work.cancelled().await,
            "fail" => return Err(A2aTaskFailure("it failed".to_owned())),
            _ => work.reject("no such verb").await?,
        }
        Ok(())
    }

    async fn answer(&self, message: &A2aMessage, _: &str) -> Option<Vec<A2aPart>> {
        (message.text() == "now").then(|| vec![A2aPart::text("at once")])
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let token = std::env::args().nth(1).ok_or("a token is needed")?;
    let skill = A2aSkill {
        id: "check".into(),
        name: "Check".into(),
        description: "Does what the first word says".into(),
        tags: vec!["test".into()],
        ..A2aSkill::default()
    };
    let mut card = A2aCard::new("Checked", "An agent for checks", "1.0.0").with_skill(skill);
    card.default_input_modes.push("application/json".into());
    let mut options = A2aServerOptions::loopback(A2aAccess::tokens([("checker", token)]));
    options.push = Some(Arc::new(A2aReach::Loopback));
    options.extended_card =
        Some(A2aCard { description: "For those it knows".into(), ..card.clone() });
    let store = Arc::new(A2aMemoryTasks::default());
    let server = A2aServer::bind(options, card, Checked, store).await?;
    println!("http://{}", server.address());
    let over = CancellationToken::new();
    let ends = over.clone();
    std::thread::spawn(move || {
        drop(std::io::read_to_string(std::io::stdin()));
        ends.cancel();
    });
    server.serve(over).await;
    Ok(())
}
