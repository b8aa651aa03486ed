//! Plans of several prompts.

pub(crate) mod check;
pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod outcome;
pub(crate) mod state;

use std::collections::BTreeMap;

use crate::engine::PromptEngine;
use crate::error::TemplateError;
use crate::graph::error::GraphError;
use crate::graph::file::{Draft, END, Node};
use crate::graph::outcome::OutcomeValue;
use crate::graph::state::{GraphState, GraphStatus, MAX_ANSWER};
use crate::request::PromptRequest;
use crate::source::PromptSource;
use crate::value::PromptValue;

/// A plan: prompts, and which follows which answer. It is walked step by step, without I/O; where one is, is data.
///
/// ```
/// use offshoot_prompt::{GraphStatus, PromptEngine, PromptGraph, PromptSource};
///
/// let templates = r#"
/// version = 1
/// [[template]]
/// name = "ask"
/// version = 1
/// layer = "task"
/// text = "Is it done? Answer yes or no."
/// "#;
/// let plan = r#"
/// version = 1
/// name = "until-done"
/// start = "ask"
/// [[node]]
/// name = "ask"
/// task_type = "check"
/// task = "ask"
/// visits = 3
/// outcome = { from = "answer", type = "enum", values = ["yes", "no"] }
/// edges = [{ is = "yes", to = "end" }, { is = "no", to = "ask" }]
/// "#;
/// let engine = PromptEngine::load(&[PromptSource::new("t.toml", templates)])?;
/// let graph = PromptGraph::load(&PromptSource::new("plan.toml", plan), &engine)?;
/// let state = graph.begin(Default::default());
/// let state = graph.advance(&state, "no")?;
/// assert_eq!(graph.prompt(&state)?.request.task, "ask");
/// let state = graph.advance(&state, "Yes")?;
/// assert_eq!(state.status, GraphStatus::Ended { outcome: "yes".to_owned() });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PromptGraph {
    pub(crate) name: String,
    pub(crate) start: String,
    pub(crate) max_steps: u32,
    pub(crate) nodes: BTreeMap<String, Node>,
    pub(crate) digest: String,
}

/// The prompt of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphPrompt {
    /// The node.
    pub node: String,
    /// What to build. Context and a budget may be added.
    pub request: PromptRequest,
}

impl PromptGraph {
    /// Reads a plan whose templates are those of an engine; or says all that is wrong with it.
    pub fn load(source: &PromptSource, engine: &PromptEngine) -> Result<Self, TemplateError> {
        let mut draft = file::read(source)?;
        let problems = check::check(&mut draft, source, engine);
        if !problems.is_empty() {
            return Err(TemplateError { problems });
        }
        let mut hasher = blake3::Hasher::new_derive_key("offshoot prompt graph 1");
        hasher.update(source.text.as_bytes());
        let digest = hasher.finalize().to_string();
        let Draft { name, start: (start, _), max_steps, nodes } = draft;
        Ok(Self { name, start, max_steps, nodes, digest })
    }

    /// What the plan is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where a walk begins, with the variables that all its prompts may use.
    pub fn begin(&self, variables: BTreeMap<String, PromptValue>) -> GraphState {
        let mut state = GraphState {
            version: state::VERSION,
            graph: self.digest.clone(),
            status: GraphStatus::Asking { node: self.start.clone() },
            steps: 0,
            visits: BTreeMap::new(),
            answers: BTreeMap::new(),
            variables,
        };
        state.enter(self, &self.start);
        state
    }

    /// The prompt that is next.
    pub fn prompt(&self, state: &GraphState) -> Result<GraphPrompt, GraphError> {
        let (name, node) = self.asking(state)?;
        let mut variables = BTreeMap::new();
        for (name, value) in &state.variables {
            if node.variables.contains(name) {
                variables.insert(name.clone(), value.clone());
            }
        }
        for (variable, of) in &node.answers {
            if let Some(answer) = state.answers.get(of) {
                variables.insert(variable.clone(), PromptValue::Text(answer.clone()));
            }
        }
        let request = PromptRequest {
            task_type: node.task_type.clone(),
            role: node.role.clone(),
            task: node.task.clone(),
            variables,
            ..PromptRequest::default()
        };
        Ok(GraphPrompt { node: name.to_owned(), request })
    }

    /// The state after an answer. The one before stays as it is.
    pub fn advance(&self, state: &GraphState, answer: &str) -> Result<GraphState, GraphError> {
        let (name, node) = self.asking(state)?;
        if answer.len() > MAX_ANSWER {
            return Err(GraphError::AnswerTooLong { bytes: answer.len(), most: MAX_ANSWER });
        }
        let mut next = state.clone();
        next.answers.insert(name.to_owned(), answer.to_owned());
        let value = match &node.outcome {
            None => OutcomeValue::None,
            Some(outcome) => match outcome.read(answer) {
                Some(value) => value,
                None => {
                    match &node.unclear {
                        Some(to) => next.enter(self, to),
                        None => next
                            .fail(format!("the answer of `{name}` has no {}", outcome.expected())),
                    }
                    return Ok(next);
                }
            },
        };
        let edge = node.edges.iter().find(|edge| edge.test.fits(&value));
        match edge.map(|edge| edge.to.as_str()) {
            Some(END) => next.status = GraphStatus::Ended { outcome: value.to_string() },
            Some(to) => next.enter(self, to),
            // What was checked when it was loaded leaves nothing out.
            None => next.fail(format!("no edge of `{name}` is for `{value}`")),
        }
        Ok(next)
    }

    /// The node that waits for an answer.
    fn asking<'a>(&'a self, state: &'a GraphState) -> Result<(&'a str, &'a Node), GraphError> {
        if state.version != state::VERSION {
            return Err(GraphError::Version { version: state.version });
        }
        if state.graph != self.digest {
            let (graph, name) = (state.graph.clone(), self.name.clone());
            return Err(GraphError::OtherGraph { graph, name });
        }
        match &state.status {
            GraphStatus::Asking { node } => match self.nodes.get_key_value(node) {
                Some((name, node)) => Ok((name, node)),
                None => Err(GraphError::UnknownNode { node: node.clone() }),
            },
            GraphStatus::Ended { .. } => Err(GraphError::Over { how: "it ended".to_owned() }),
            GraphStatus::Failed { reason } => Err(GraphError::Over { how: reason.clone() }),
        }
    }
}
