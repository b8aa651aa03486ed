//! Coding agents that run outside and use Offshoot for their commands.

use crate::word::words;

words! {
    /// A coding agent that can be made to use Offshoot.
    pub enum IntegratedAgent {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// opencode.
        Opencode = "opencode",
    }
}

words! {
    /// Whose configuration of an agent is meant.
    pub enum IntegrationScope, default User {
        /// Yours, for all projects.
        User = "user",
        /// The project's, for everybody who works on it.
        Project = "project",
    }
}

words! {
    /// What is put into the configuration of an agent.
    pub enum IntegrationPart {
        /// The MCP server.
        Mcp = "mcp",
        /// The hook that asks policy about each shell command.
        Hook = "hook",
        /// Where the agent runs its tools: in a workspace.
        Environment = "environment",
    }
}

words! {
    /// Whether something is in the configuration of an agent.
    pub enum IntegrationState {
        /// It is there.
        Present = "present",
        /// It is not there.
        Absent = "absent",
        /// Something else has its name or its place.
        Other = "other",
        /// The file cannot be read.
        Unreadable = "unreadable",
    }
}
