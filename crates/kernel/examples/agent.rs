//! An agent that greets, with its journal in a directory. Run it twice: the second time it knows whom it greeted.

use offshoot_kernel::{
    AgentHooks, AgentKernel, FileJournal, LifeState, TaskContext, TaskFailure, TaskMessage,
};
use serde_json::{Value, json};

struct Greeter;

impl AgentHooks for Greeter {
    async fn on_message(&self, task: TaskContext) -> Result<Value, TaskFailure> {
        let name = task.body().as_str().ok_or(TaskFailure::fatal("a name is needed"))?.to_owned();
        let greet = || async move { Ok(json!(format!("Hello, {name}!"))) };
        Ok(task.effect_once("greet", greet).await?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("usage: agent DIRECTORY [NAME]")?;
    let name = std::env::args().nth(2).unwrap_or_else(|| "Ada".to_owned());
    let journal = FileJournal::open(directory.as_ref())?;
    let kernel = AgentKernel::builder(Greeter, journal).start().await?;
    if *kernel.life().borrow() == LifeState::Init {
        kernel.boot().await?;
        kernel.activate().await?;
    }
    let message = TaskMessage::new("user", json!(name.clone())).key(name);
    let receipt = kernel.send(message).await?;
    let known = receipt.duplicate;
    let outcome = receipt.outcome().await?;
    kernel.stop().await;
    let text = serde_json::to_string(&json!({ "known": known, "outcome": outcome }))?;
    std::io::Write::write_all(&mut std::io::stdout(), format!("{text}\n").as_bytes())?;
    Ok(())
}
