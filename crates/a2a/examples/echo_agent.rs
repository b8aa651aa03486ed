//! An agent that says what it hears, as a server and asked by a client.

use std::sync::Arc;

use offshoot_a2a::{
    A2aAccess, A2aAgent, A2aArtifact, A2aCard, A2aClient, A2aClientOptions, A2aMemoryTasks,
    A2aMessage, A2aPart, A2aReply, A2aServer, A2aServerOptions, A2aSkill, A2aTaskFailure, A2aWork,
};
use tokio_util::sync::CancellationToken;

const TOKEN: &str = "a-token-of-the-example";

struct Echo;

impl A2aAgent for Echo {
    async fn handle(&self, message: A2aMessage, work: A2aWork) -> Result<(), A2aTaskFailure> {
        work.progress("listening").await?;
        let said = vec![A2aPart::text(message.text())];
        work.artifact(A2aArtifact::new("echo", said)).await?;
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let skill = A2aSkill { id: "echo".into(), name: "Echo".into(), ..A2aSkill::default() };
    let card = A2aCard::new("Echo", "Says what it hears", "1.0.0").with_skill(skill);
    let options = A2aServerOptions::loopback(A2aAccess::tokens([("example", TOKEN)]));
    let store = Arc::new(A2aMemoryTasks::default());
    let server = A2aServer::bind(options, card, Echo, store).await?;
    let url = format!("http://{}", server.address());
    let over = CancellationToken::new();
    let serving = tokio::spawn(server.serve(over.clone()));

    let client = A2aClient::connect(&url, A2aClientOptions::with_token(TOKEN)).await?;
    let message = A2aMessage::user(vec![A2aPart::text("hello")]);
    let A2aReply::Task(task) = client.send(message).await? else { return Err("no task".into()) };
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some("hello"));
    over.cancel();
    Ok(serving.await?)
}
