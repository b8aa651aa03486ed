//! What was decided, and why.

use std::borrow::Cow;
use std::sync::Arc;

use crate::category::{Categories, Category};
use crate::decision::Decision;
use crate::engine::Appeal;
use crate::judged::Judged;
use crate::layer::Layer;

/// What was decided about a whole request.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whether it may run.
    pub decision: Decision,
    /// What kinds of thing all of its parts do.
    pub categories: Categories,
    /// Every part, in the order of the text.
    pub parts: Vec<PartVerdict>,
    /// The rule that decided.
    pub rule: Arc<RuleInfo>,
    /// The place in `parts` of the first one that this rule decided; none where the rule is about the whole request.
    pub part: Option<usize>,
    /// Why, for people.
    pub reason: Cow<'static, str>,
    /// What a remedy is found with; only where it does not run.
    pub(crate) appeal: Option<Box<Appeal>>,
}

impl Verdict {
    /// The first part of this category.
    pub fn first_part(&self, category: Category) -> Option<&Judged> {
        let mut parts = self.parts.iter().map(|part| &part.judged);
        parts.find(|judged| judged.categories.contains(category))
    }

    /// The worst of the categories.
    pub fn category(&self) -> Category {
        self.categories.worst()
    }

    /// What would have let it run; only where it does not. It is found out now: that takes longer than it took to decide.
    pub fn remedy(&self) -> Option<Remedy> {
        self.appeal.as_ref().map(|appeal| appeal.remedy(&self.parts))
    }
}

/// What rules say about one part. Rego speaks about the whole request only, so that a part may be stricter than the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartVerdict {
    /// The part.
    pub judged: Judged,
    /// What was decided about it alone.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: Arc<RuleInfo>,
}

/// A rule that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Whose it is.
    pub layer: Layer,
    /// Its name: as it was given, `defaults.CATEGORY` for a default, `data.offshoot.NAME` for Rego.
    pub name: String,
    /// The file that it is in, as it was called; none for what is built in.
    pub file: Option<Arc<str>>,
    /// Its reason, where it gives one.
    pub reason: Option<Cow<'static, str>>,
}

/// What would have let a request run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The smallest rules that would have allowed it, as TOML for the user's file; none where no rule of the user can.
    pub rule: Option<String>,
    /// Where they belong, or why there are none.
    pub advice: String,
}
