//! Has the agent work in a fork of the folder it is started in, by a script in place of a model, and prints what it changed.

use offshoot_coder::{Coder, CoderOptions, Rested};
use offshoot_engine::{Offshoot, Options};
use offshoot_provider::Scripted;

const SCRIPT: &str = r#"
version = 1
[[turn]]
say = [{ call = "write_file", id = "a", arguments = { path = "greeting", content = "hello\n" } }]
[[turn]]
say = [{ text = "I wrote a greeting." }]
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    let options = Options::from_process().registry(scratch.path().join("vaults"));
    let folder = scratch.path().join("project");
    std::fs::create_dir(&folder)?;
    let workspace = Offshoot::open(options)?.project(&folder)?.fork("greet")?;
    let options = CoderOptions::new(Scripted::parse(SCRIPT)?, "scripted");
    let mut coder = Coder::begin(&workspace, options).await?;
    let rested = coder.say("Greet me").await?;
    assert_eq!(rested, Rested::Idle { said: "I wrote a greeting.".to_owned() });
    assert!(String::from_utf8(workspace.patch()?)?.contains("+hello"));
    Ok(())
}
