//! Documents about Offshoot's own agent.

use offshoot_vocabulary::{AgentEnding, ExitCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::change::ChangeDoc;
use crate::commit::CommitDoc;
use crate::document::Kind;
use crate::schema::{self, Schema};

/// The schemas of what is here.
pub(crate) const SCHEMAS: &[Schema] = &[schema::of::<AgentRunDoc>];

/// What a run of the agent came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentRunDoc {
    /// The name of the session that keeps the conversation.
    pub session: String,
    /// The workspace that it worked in.
    pub workspace: String,
    /// How it ended.
    pub ending: AgentEnding,
    /// The last words of the model; empty unless it is done.
    pub said: String,
    /// Why it paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a person is asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<AgentQuestionDoc>,
    /// Tokens that were sent in the whole conversation, where the server says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_in: Option<u64>,
    /// Tokens that came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_out: Option<u64>,
    /// What that cost in US dollars, as a decimal number, where prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// What differs between the workspace and what it was forked from.
    pub changes: Vec<ChangeDoc>,
    /// Whether something was committed to the folder.
    pub committed: bool,
    /// What the commit came to, where one was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Box<CommitDoc>>,
}

/// Something that the agent cannot go on without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentQuestionDoc {
    /// The tool that was called.
    pub tool: String,
    /// Its arguments, as the model wrote them.
    pub arguments: String,
    /// What is asked.
    pub text: String,
    /// Answers to choose from; any answer where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Whether the call waits to be allowed; else the answer is its result.
    pub is_approval: bool,
    /// The approvals that it waits for, by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<String>,
}

impl Kind for AgentRunDoc {
    const KIND: &'static str = "agent.run";

    fn exit_code(&self) -> ExitCode {
        match self.ending {
            AgentEnding::Done => {
                self.commit.as_ref().map_or(ExitCode::Success, |commit| commit.exit_code())
            }
            AgentEnding::Waiting => ExitCode::PendingApproval,
            AgentEnding::Paused => ExitCode::Failure,
            AgentEnding::TimedOut => ExitCode::Timeout,
            AgentEnding::Cancelled => ExitCode::Interrupted,
            AgentEnding::HungUp => ExitCode::HungUp,
            AgentEnding::Quit => ExitCode::Quit,
            AgentEnding::Terminated => ExitCode::Terminated,
        }
    }
}
