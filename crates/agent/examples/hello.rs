//! An agent in a few lines: a model that answers from a script, and no tools.

use offshoot_agent::{Agent, AgentParts, ConversationId, MemoryLog, NoTools, Rested, TurnSettings};
use offshoot_provider::Scripted;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Scripted::parse("version = 1\n[[turn]]\nsay = [{ text = \"Hello!\" }]")?;
    let parts = AgentParts::new(model, NoTools, MemoryLog::default());
    let settings = TurnSettings::new("scripted");
    let id = ConversationId::new("example");
    let mut agent = Agent::begin(parts, id, settings, Vec::new()).await?;
    let rested = agent.say("Hi").await?;
    assert_eq!(rested, Rested::Idle { said: "Hello!".to_owned() });
    assert_eq!(agent.state().entries().len(), 2);
    Ok(())
}
