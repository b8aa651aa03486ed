//! What prompt is wanted, and what came of it.

use std::collections::BTreeMap;

use crate::record::PromptRecord;
use crate::section::{MessageLayer, SectionRule, TrimRule};
use crate::value::PromptValue;

/// A piece of context: history, a file, a memory. It is data, and a fence says so unless it is told not to.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSection {
    /// What it is called; no other section of the prompt is called so.
    pub name: String,
    /// What it says.
    pub text: String,
    /// What the budget may do to it.
    pub rule: SectionRule,
    /// Whether there is a fence around it.
    pub fenced: bool,
}

impl ContextSection {
    /// A section whose end is cut off when it is too long, and that goes before any template does.
    pub fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            rule: SectionRule::CONTEXT,
            fenced: true,
        }
    }

    /// With this priority: 0 goes first.
    pub fn with_priority(mut self, priority: u8) -> Self {
        self.rule.priority = priority;
        self
    }

    /// With another way to be cut.
    pub fn with_trim(mut self, trim: TrimRule) -> Self {
        self.rule.trim = trim;
        self
    }

    /// With a smallest and a largest size.
    pub fn with_tokens(mut self, least: usize, most: Option<usize>) -> Self {
        (self.rule.min_tokens, self.rule.max_tokens) = (least, most);
        self
    }

    /// Never dropped.
    pub fn required(mut self) -> Self {
        self.rule.required = true;
        self
    }

    /// Without a fence.
    pub fn unfenced(mut self) -> Self {
        self.fenced = false;
        self
    }
}

/// A prompt that is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptRequest {
    /// What kind of task it is: templates say which they are for.
    pub task_type: String,
    /// The template of the role: `name` or `name@version`.
    pub role: Option<String>,
    /// The template of the task.
    pub task: String,
    /// Values of variables.
    pub variables: BTreeMap<String, PromptValue>,
    /// What stands behind the task.
    pub context: Vec<ContextSection>,
    /// How many tokens there are; none for as many as it takes.
    pub budget: Option<usize>,
}

impl PromptRequest {
    /// A prompt of a task.
    pub fn new(task_type: &str, task: &str) -> Self {
        Self { task_type: task_type.to_owned(), task: task.to_owned(), ..Self::default() }
    }

    /// With a role.
    pub fn with_role(mut self, role: &str) -> Self {
        self.role = Some(role.to_owned());
        self
    }

    /// With the value of a variable.
    pub fn with(mut self, name: &str, value: impl Into<PromptValue>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// With a piece of context.
    pub fn with_context(mut self, section: ContextSection) -> Self {
        self.context.push(section);
        self
    }

    /// With so many tokens.
    pub fn with_budget(mut self, tokens: usize) -> Self {
        self.budget = Some(tokens);
        self
    }
}

/// A text of one layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptMessage {
    /// The layer.
    pub layer: MessageLayer,
    /// What it says.
    pub text: String,
}

/// What stands between two sections, and between two messages.
pub(crate) const BETWEEN: &str = "\n\n";

/// A prompt that is ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub struct BuiltPrompt {
    /// The texts, one for each layer that has any.
    pub messages: Vec<PromptMessage>,
    /// How it was made.
    pub record: PromptRecord,
}

impl BuiltPrompt {
    /// All texts in one.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.messages.iter().map(|message| message.text.as_str()).collect();
        texts.join(BETWEEN)
    }
}
