//! Pieces of a prompt, and what the budget may do to them.

use crate::word::words;

words! {
    /// Where a text of a prompt stands, from the first to the last.
    pub enum MessageLayer {
        /// What always holds.
        System = "system",
        /// What the agent is.
        Role = "role",
        /// What is to be done.
        Task = "task",
        /// What is known: history, files, memories.
        Context = "context",
    }
}

words! {
    /// What becomes of a section that is too long.
    pub enum TrimRule {
        /// Nothing: it stays as it is.
        Keep = "keep",
        /// It goes as a whole.
        Drop = "drop",
        /// Its beginning is cut off.
        Head = "head",
        /// Its end is cut off.
        Tail = "tail",
        /// A mark takes its place that says it has to be summarised.
        Summarise = "summarise",
    }
}

/// What the budget may do to a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionRule {
    /// Who gives way first: 0 does, 255 is the last.
    pub priority: u8,
    /// What is left of it has at least so many tokens.
    pub min_tokens: usize,
    /// It never has more than so many.
    pub max_tokens: Option<usize>,
    /// What becomes of it when it is too long.
    pub trim: TrimRule,
    /// It is never dropped.
    pub required: bool,
}

impl SectionRule {
    /// What is usual for templates: they stay as they are.
    pub const TEMPLATE: Self = Self {
        priority: 200,
        min_tokens: 0,
        max_tokens: None,
        trim: TrimRule::Keep,
        required: true,
    };

    /// What is usual for context: its end is cut off, or it goes.
    pub const CONTEXT: Self = Self {
        priority: 100,
        min_tokens: 0,
        max_tokens: None,
        trim: TrimRule::Tail,
        required: false,
    };
}

/// A text with its place in a prompt.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) layer: MessageLayer,
    pub(crate) text: String,
    pub(crate) rule: SectionRule,
}
