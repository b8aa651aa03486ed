//! Templates: files, texts, variables, and how they become text.

pub(crate) mod digest;
pub(crate) mod file;
pub(crate) mod library;
pub(crate) mod load;
pub(crate) mod parse;
pub(crate) mod render;
pub(crate) mod task_pattern;
pub(crate) mod variable;

use std::collections::BTreeMap;

use crate::section::{MessageLayer, SectionRule};
use digest::TemplateDigest;
use parse::Node;
use task_pattern::TaskPattern;
use variable::VariableRule;

/// Where a template may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Message(MessageLayer),
    /// In other templates.
    Part,
}

impl Place {
    /// The name of the layer in files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Message(layer) => layer.as_str(),
            Self::Part => "part",
        }
    }
}

/// A name and a version.
pub(crate) type TemplateKey = (String, u32);

/// A template that was read and checked.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) name: String,
    pub(crate) version: u32,
    pub(crate) place: Place,
    pub(crate) for_tasks: Vec<TaskPattern>,
    pub(crate) not_for_tasks: Vec<TaskPattern>,
    pub(crate) order: i64,
    pub(crate) text: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) variables: BTreeMap<String, VariableRule>,
    pub(crate) rule: SectionRule,
    /// With everything that it includes.
    pub(crate) digest: TemplateDigest,
    /// The templates that it includes itself.
    pub(crate) includes: Vec<TemplateKey>,
}

impl Template {
    /// Whether it is for tasks of a type.
    pub(crate) fn is_for(&self, task_type: &str) -> bool {
        let any = |patterns: &[TaskPattern]| patterns.iter().any(|pattern| pattern.fits(task_type));
        (self.for_tasks.is_empty() || any(&self.for_tasks)) && !any(&self.not_for_tasks)
    }
}
