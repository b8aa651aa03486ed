//! Where one is in a plan.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::graph::PromptGraph;
use crate::graph::error::GraphError;
use crate::graph::file::END;
use crate::value::PromptValue;

/// How long an answer may be.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// The version of states that is written and read here.
pub(super) const VERSION: u32 = 1;

/// How far a walk came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "status")]
pub enum GraphStatus {
    /// A node waits for an answer.
    Asking {
        /// The node.
        node: String,
    },
    /// The plan came to its end.
    Ended {
        /// The outcome of the last node; empty where it has none.
        outcome: String,
    },
    /// The plan cannot go on.
    Failed {
        /// Why.
        reason: String,
    },
}

/// Where one is in a plan: data that may be stored, and goes on where it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphState {
    pub(super) version: u32,
    /// The digest of the plan.
    pub graph: String,
    /// How far it came.
    #[serde(flatten)]
    pub status: GraphStatus,
    /// How many prompts there were, the one that waits among them.
    pub steps: u32,
    /// How often each node was entered.
    pub visits: BTreeMap<String, u32>,
    /// The last answer of each node.
    pub answers: BTreeMap<String, String>,
    /// Variables for all prompts.
    pub variables: BTreeMap<String, PromptValue>,
}

impl GraphState {
    /// The state as JSON, to be stored.
    pub fn to_json(&self) -> Result<String, GraphError> {
        serde_json::to_string(self).map_err(|error| GraphError::Damaged(error.to_string()))
    }

    /// Reads a state that was stored.
    pub fn from_json(text: &str) -> Result<Self, GraphError> {
        serde_json::from_str(text).map_err(|error| GraphError::Damaged(error.to_string()))
    }

    /// Goes to a node, if it may be entered once more.
    pub(super) fn enter(&mut self, graph: &PromptGraph, to: &str) {
        if to == END {
            self.status = GraphStatus::Ended { outcome: String::new() };
            return;
        }
        let Some(node) = graph.nodes.get(to) else {
            return self.fail(format!("the plan has no node `{to}`"));
        };
        if self.steps >= graph.max_steps {
            return self.fail(format!("the plan has more than {} steps", graph.max_steps));
        }
        let visits = self.visits.entry(to.to_owned()).or_default();
        if *visits >= node.visits {
            return self
                .fail(format!("`{to}` was visited {} times, and that is the most", node.visits));
        }
        *visits += 1;
        self.steps += 1;
        self.status = GraphStatus::Asking { node: to.to_owned() };
    }

    pub(super) fn fail(&mut self, reason: String) {
        self.status = GraphStatus::Failed { reason };
    }
}
