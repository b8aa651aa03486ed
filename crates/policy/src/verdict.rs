//! What was decided, and why.

pub(crate) mod appeal;
pub(crate) mod part;
pub(crate) mod remedy;
pub(crate) mod rule_info;

use std::borrow::Cow;
use std::sync::Arc;

use offshoot_vocabulary::{EffectCategory, PolicyDecision};

use crate::category::Categories;
use appeal::Appeal;
use part::PartVerdict;
use remedy::Remedy;
use rule_info::RuleInfo;

/// What was decided about a whole request.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Whether it may run.
    pub decision: PolicyDecision,
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
    /// The worst of the categories.
    pub fn category(&self) -> EffectCategory {
        self.categories.worst()
    }

    /// Whether all of it is known to make no use of the network.
    pub fn stays_off_network(&self) -> bool {
        self.parts.iter().all(|part| part.judged.stays_off_network())
    }

    /// Whether there are walls around it; true of what runs anyway.
    pub fn is_confined(&self) -> bool {
        self.appeal.as_ref().is_none_or(|appeal| !appeal.context.unconfined)
    }

    /// What would have let it run; only where it does not. It is found out now: that takes longer than it took to decide.
    pub fn remedy(&self) -> Option<Remedy> {
        self.appeal.as_ref().map(|appeal| appeal.remedy(&self.parts))
    }
}
