//! Decisions by category, for commands that no rule of a layer names.

use std::sync::Arc;

use offshoot_vocabulary::{EffectCategory, Network, PolicyDecision};

use crate::category::Categories;
use crate::rules::built_in::{Opinion, built_in, destroys_elsewhere};
use crate::verdict::rule_info::RuleInfo;

/// What a layer decides by category.
#[derive(Debug, Default)]
pub(crate) struct Defaults([Option<(PolicyDecision, Arc<RuleInfo>)>; EffectCategory::ALL.len()]);

impl Defaults {
    /// Sets what is decided about a category.
    pub(crate) fn set(
        &mut self,
        category: EffectCategory,
        decision: PolicyDecision,
        rule: RuleInfo,
    ) {
        self.0[category as usize] = Some((decision, Arc::new(rule)));
    }

    /// What is decided about a category.
    pub(crate) fn get(&self, category: EffectCategory) -> Option<Opinion<'_>> {
        let (decision, rule) = self.0[category as usize].as_ref()?;
        Some(Opinion { decision: *decision, rule })
    }

    /// Each of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Opinion<'_>> {
        EffectCategory::ALL.iter().copied().filter_map(|category| self.get(category))
    }

    /// The strictest for any of the categories.
    pub(crate) fn strictest(&self, categories: Categories) -> Option<Opinion<'_>> {
        categories.iter().filter_map(|category| self.get(category)).reduce(Opinion::stricter)
    }

    /// What stands when these take the place of what is built in, category by category: one that is not set is decided as
    /// ever. Nothing where none of the categories is set.
    pub(crate) fn in_place(&self, categories: Categories, network: Network) -> Option<Opinion<'_>> {
        let set = self.strictest(categories)?;
        let is_set = |category| self.get(category).is_some();
        // What is destructive is mutating as well: deciding about the one decides about the other.
        let goes_along = |category| {
            category == EffectCategory::Mutating
                && categories.contains(EffectCategory::Destructive)
                && is_set(EffectCategory::Destructive)
        };
        let unset =
            categories.iter().filter(|category| !is_set(*category) && !goes_along(*category));
        let others = unset.map(|category| built_in(Categories::only(category), network));
        let all_set = is_set(EffectCategory::Networked) && is_set(EffectCategory::Destructive);
        let elsewhere = (destroys_elsewhere(categories, network) && !all_set)
            .then(|| built_in(categories, network));
        Some(others.chain(elsewhere).fold(set, Opinion::stricter))
    }
}
