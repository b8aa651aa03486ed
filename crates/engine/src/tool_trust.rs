//! What the user trusts of servers of tools: each definition by its hash, so that no server can quietly say something else.

mod definition;
mod record;

pub use definition::{ToolDefinition, differing_lines, hash_json};
pub use record::ToolCallRecord;

use std::collections::BTreeMap;
use std::path::PathBuf;

use offshoot_protocol::{ExitCode, Hint, Notation, ToolState};
use serde::{Deserialize, Serialize};

use crate::config_file;
use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::tool_server::ToolServer;

/// The directory of what is trusted, beside the vaults: no command sees it.
const FOLDER: &str = "mcp";
const VERSION: u32 = 1;

/// What is trusted of a server.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// let server = offshoot.tool_server("github")?;
/// println!("{} tools are trusted", offshoot.tool_trust(&server)?.tools.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolTrust {
    /// What it tells models about all of its tools.
    pub instructions: Option<String>,
    /// Its tools, by name.
    pub tools: BTreeMap<String, ToolDefinition>,
}

impl ToolTrust {
    /// Whether a tool can be called that the server defines so.
    ///
    /// ```
    /// use offshoot_engine::tool_trust::{ToolDefinition, ToolTrust};
    /// use offshoot_protocol::ToolState;
    ///
    /// assert_eq!(ToolTrust::default().state(&ToolDefinition::default()), ToolState::New);
    /// ```
    pub fn state(&self, tool: &ToolDefinition) -> ToolState {
        match self.tools.get(&tool.name) {
            Some(trusted) if trusted.hash() == tool.hash() => ToolState::Trusted,
            Some(_) => ToolState::Changed,
            None => ToolState::New,
        }
    }

    /// Whether a model is told these instructions.
    ///
    /// ```
    /// use offshoot_engine::tool_trust::ToolTrust;
    /// use offshoot_protocol::ToolState;
    ///
    /// assert_eq!(ToolTrust::default().instructions_state("Always call send_mail"), ToolState::New);
    /// ```
    pub fn instructions_state(&self, text: &str) -> ToolState {
        match &self.instructions {
            Some(trusted) if trusted == text => ToolState::Trusted,
            Some(_) => ToolState::Changed,
            None => ToolState::New,
        }
    }
}

/// What is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// The command or the address of the server.
    identity: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    tools: Vec<Pin>,
}

/// A definition that is trusted.
#[derive(Serialize, Deserialize)]
struct Pin {
    hash: String,
    definition: ToolDefinition,
}

impl Offshoot {
    /// What is trusted of a server: nothing where it never was, or where its command or address is another one now.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let trust = offshoot.tool_trust(&offshoot.tool_server("github")?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool_trust(&self, server: &ToolServer) -> Result<ToolTrust> {
        let stored = self.stored_trust(&server.name)?;
        let Some(stored) = stored.filter(|stored| stored.identity == server.identity()) else {
            return Ok(ToolTrust::default());
        };
        let tools =
            stored.tools.into_iter().map(|pin| (pin.definition.name.clone(), pin.definition));
        Ok(ToolTrust { instructions: stored.instructions, tools: tools.collect() })
    }

    /// Whether a server of this name was trusted with another command or address than it has now.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let moved = offshoot.was_another_server(&offshoot.tool_server("github")?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn was_another_server(&self, server: &ToolServer) -> Result<bool> {
        let stored = self.stored_trust(&server.name)?;
        Ok(stored.is_some_and(|stored| stored.identity != server.identity()))
    }

    /// Trusts what a server says now, in the place of whatever was trusted before. Only a person can.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::tool_trust::ToolTrust;
    ///
    /// offshoot.trust_tools(&offshoot.tool_server("github")?, &ToolTrust::default())?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn trust_tools(&self, server: &ToolServer, trust: &ToolTrust) -> Result<()> {
        self.actor().require_person("trust the tools of a server")?;
        let pin = |definition: &ToolDefinition| Pin {
            hash: definition.hash(),
            definition: definition.clone(),
        };
        let stored = Stored {
            version: VERSION,
            identity: server.identity(),
            instructions: trust.instructions.clone(),
            tools: trust.tools.values().map(pin).collect(),
        };
        let path = self.trust_file(&server.name);
        let text = serde_json::to_string_pretty(&stored)
            .map_err(|error| Error::new(ExitCode::Failure, error.to_string()))?;
        config_file::replace(&path, &(text + "\n")).map_err(|error| {
            let message = format!("cannot write {}: {error}", crate::text::host_path(&path));
            Error::new(ExitCode::Storage, message)
        })
    }

    /// Trusts nothing of a server any more, and says how many tools were trusted; none where nothing was. Only a person can.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("{:?}", offshoot.forget_tools("github")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget_tools(&self, name: &str) -> Result<Option<u64>> {
        self.actor().require_person("forget the tools of a server")?;
        let path = self.trust_file(name);
        // A file that cannot be read is forgotten as well: that is the way out.
        let tools = self
            .stored_trust(name)
            .map_or(Some(0), |stored| stored.map(|stored| stored.tools.len() as u64));
        match std::fs::remove_file(&path) {
            Ok(()) => Ok(tools),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                let message = format!("cannot remove {}: {error}", crate::text::host_path(&path));
                Err(Error::new(ExitCode::Storage, message))
            }
        }
    }

    fn stored_trust(&self, name: &str) -> Result<Option<Stored>> {
        let path = self.trust_file(name);
        let damaged = |problem: String| {
            let message = format!("cannot read {}: {problem}", crate::text::host_path(&path));
            let hint = Hint::command("offshoot mcp forget").arg(name).text(" removes it");
            Error::new(ExitCode::Damaged, message).hint(hint)
        };
        let text = config_file::read(&path).map_err(|error| damaged(error.to_string()))?;
        let Some(text) = text else { return Ok(None) };
        let stored: Stored = serde_json::from_str(&text)
            .map_err(|error| damaged(Notation::Json.explain(&error.to_string())))?;
        if stored.version != VERSION {
            return Err(damaged(format!("it has version {}, which is unknown", stored.version)));
        }
        match stored.tools.iter().find(|pin| pin.hash != pin.definition.hash()) {
            Some(pin) => {
                let name = crate::text::line(&pin.definition.name);
                Err(damaged(format!("the definition of {name} does not fit its hash")))
            }
            None => Ok(Some(stored)),
        }
    }

    /// Names of servers have letters, digits, `-` and `_` alone; nothing else becomes a part of a path.
    fn trust_file(&self, name: &str) -> PathBuf {
        let plain: String = name
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_') {
                    letter
                } else {
                    '~'
                }
            })
            .collect();
        self.registry().dir().join(FOLDER).join(format!("{plain}.json"))
    }
}
