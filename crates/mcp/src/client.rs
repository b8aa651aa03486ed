//! Tools of other servers: started in a workspace or reached over HTTP, and called only as they were trusted.
//!
//! All of it blocks; a thread of its own speaks the protocol. Not for callers that are asynchronous themselves.

mod call;
mod handler;
mod lines;
mod link;
mod listing;
mod options;
mod process;
mod progress;
mod web;

pub use call::{ToolAnswer, ToolCall, ToolCancel};
pub use listing::{ListedTool, ToolListing};
pub use options::ToolClientOptions;
pub use progress::ToolProgress;

use std::sync::Mutex;

use offshoot_engine::tool_server::ToolServer;
use offshoot_engine::tool_trust::{ToolDefinition, ToolTrust};
use offshoot_engine::{Error, Result};
use offshoot_protocol::{ExitCode, Hint, ToolState};

use self::link::Link;
use crate::shared::locked;

/// A connection to a server.
#[derive(Debug)]
pub struct ToolClient {
    server: ToolServer,
    options: ToolClientOptions,
    link: Link,
    /// What the server said last; none where it said that this is no longer true.
    said: Mutex<Option<Said>>,
}

/// What a server says about itself.
#[derive(Clone, Debug)]
struct Said {
    program: String,
    instructions: Option<String>,
    tools: Vec<ToolDefinition>,
}

impl ToolClient {
    /// Starts a server or connects to it. Nothing is called, and nothing of what it says is trusted.
    pub fn connect(server: ToolServer, options: ToolClientOptions) -> Result<Self> {
        let link = Link::open(&server, &options)?;
        Ok(Self { server, options, link, said: Mutex::default() })
    }

    /// The server.
    pub fn server(&self) -> &ToolServer {
        &self.server
    }

    /// Everything that the server says, with what of it is trusted. It is asked again if it said that its tools changed.
    pub fn listing(&self) -> Result<ToolListing> {
        let said = self.said()?;
        let trust = self.options.engine.tool_trust(&self.server)?;
        Ok(ToolListing::new(said.program, said.instructions, said.tools, trust))
    }

    /// The tools that can be called: those whose definition is trusted.
    pub fn tools(&self) -> Result<Vec<ToolDefinition>> {
        let listing = self.listing()?;
        let trusted = listing.tools.into_iter().filter(|tool| tool.state == ToolState::Trusted);
        Ok(trusted.map(|tool| tool.definition).collect())
    }

    /// What a model is told about all tools of the server, if it is trusted.
    pub fn instructions(&self) -> Result<Option<String>> {
        let listing = self.listing()?;
        let trusted = listing.instructions.filter(|(state, _)| *state == ToolState::Trusted);
        Ok(trusted.map(|(_, text)| text))
    }

    /// Trusts what was shown to a person, and nothing that the server says since. Tools that are in no listing are trusted no more.
    pub fn trust(&self, shown: &ToolListing) -> Result<()> {
        let trust = shown.to_trust();
        self.options.engine.trust_tools(&self.server, &trust)?;
        self.record_trust(&trust)
    }

    fn record_trust(&self, trust: &ToolTrust) -> Result<()> {
        match &self.options.project {
            Some(project) => project.record_tool_trust(&self.server, trust),
            None => Ok(()),
        }
    }

    /// Calls a tool, if its definition is trusted, and waits for its answer.
    pub fn call(&self, call: &ToolCall) -> Result<ToolAnswer> {
        let tool = self.callable(&call.tool)?;
        call::call(&self.server, &self.link, self.options.project.as_ref(), &tool, call)
    }

    /// The definition of a tool that can be called.
    fn callable(&self, name: &str) -> Result<ToolDefinition> {
        let (listing, server) = (self.listing()?, &self.server.name);
        let shown = offshoot_engine::text::line(name);
        let Some(tool) = listing.tools.iter().find(|tool| tool.definition.name == name) else {
            let trusted = listing.tools.iter().filter(|tool| tool.state == ToolState::Trusted);
            let names = trusted.map(|tool| tool.definition.name.clone()).collect();
            let message = format!("server {server} has no tool {shown}");
            let hint = Hint::command("offshoot mcp tools").arg(server).text(" lists them");
            return Err(Error::new(ExitCode::NotFound, message).hint(hint).candidates(names));
        };
        let why = match tool.state {
            ToolState::Trusted => return Ok(tool.definition.clone()),
            ToolState::Removed => format!("server {server} does not offer tool {shown} any more"),
            ToolState::Changed => {
                format!("the definition of tool {shown} of server {server} changed")
            }
            ToolState::New if self.options.engine.was_another_server(&self.server)? => {
                format!("server {server} has another command or address than when it was trusted")
            }
            ToolState::New => format!("tool {shown} of server {server} is not trusted"),
        };
        let hint = Hint::from("it can be called when you trust it: ")
            .then("offshoot mcp trust")
            .arg(server);
        Err(Error::new(ExitCode::Denied, format!("{why}; nothing was called")).hint(hint))
    }

    fn said(&self) -> Result<Said> {
        let mut said = locked(&self.said);
        if self.link.take_changed() {
            *said = None;
        }
        if let Some(said) = &*said {
            return Ok(said.clone());
        }
        let (program, instructions) = self.link.about();
        let tools = self.link.list(&self.server)?;
        Ok(said.insert(Said { program, instructions, tools }).clone())
    }

    /// Ends the connection, and a server that was started for it. Gives the name of the workspace if the server wrote something there.
    pub fn close(self) -> Option<String> {
        self.link.close()
    }
}

#[cfg(test)]
mod tests;
