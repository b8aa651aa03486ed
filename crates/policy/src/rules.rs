//! Rules in files, laid over each other and over what is built in.

pub(crate) mod built_in;
mod defaults;
mod examples;
pub(crate) mod facts;
mod file;
mod globs;
mod layer_rules;
pub(crate) mod load;
mod prefixes;
pub(crate) mod remedy;
mod rule;

use offshoot_vocabulary::CommandPart;

use crate::context::Context;
use crate::script::ShellWord;
use crate::verdict::part::PartVerdict;
use crate::verdict::remedy::Remedy;
use built_in::{Opinion, counting};
use facts::Facts;
use layer_rules::LayerRules;

/// The rules of all files.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    user: LayerRules,
    project: LayerRules,
    request: LayerRules,
    /// How many examples were checked.
    pub(crate) examples: usize,
    /// Rules that can have no effect.
    pub(crate) warnings: Vec<String>,
}

/// What stands about one part, layer by layer.
pub(crate) struct Standing<'a> {
    /// After the user's layer.
    pub(crate) widened: Opinion<'a>,
    /// What the user's layer itself says.
    pub(crate) own: Option<Opinion<'a>>,
    /// The strictest that project and request say.
    pub(crate) narrowed: Option<Opinion<'a>>,
}

impl<'a> Standing<'a> {
    /// What was decided.
    pub(crate) fn decided(&self) -> Opinion<'a> {
        self.narrowed.map_or(self.widened, |narrowed| self.widened.stricter(narrowed))
    }
}

impl Rules {
    /// How many rules there are.
    pub(crate) fn count(&self) -> usize {
        [&self.user, &self.project, &self.request].into_iter().map(|layer| layer.rules.len()).sum()
    }

    /// What stands about a part.
    pub(crate) fn stand(&self, facts: &Facts<'_>) -> Standing<'_> {
        let (widened, own) = self.widen(facts);
        let narrowed = [&self.project, &self.request]
            .into_iter()
            .filter_map(|layer| narrow(layer, facts))
            .reduce(Opinion::stricter);
        Standing { widened, own, narrowed }
    }

    /// What would have let parts run that did not.
    pub(crate) fn remedy(&self, parts: &[PartVerdict], context: &Context) -> Remedy {
        let is_taken = |name: &str| self.user.rules.iter().any(|rule| rule.info.name == name);
        remedy::remedy(parts, context, is_taken)
    }

    /// The rule that allows this one command alone, or why there is none.
    pub(crate) fn exact(
        &self,
        alone: &[ShellWord],
        parts: &[PartVerdict],
        context: &Context,
    ) -> Result<String, &'static str> {
        let is_taken = |name: &str| self.user.rules.iter().any(|rule| rule.info.name == name);
        let [part] = parts else {
            return Err("it is several commands, or has a pipe or a redirection");
        };
        remedy::exact(alone, &part.judged, context, is_taken)
    }

    /// What the user's layer makes of what is built in, and what it says itself.
    fn widen(&self, facts: &Facts<'_>) -> (Opinion<'_>, Option<Opinion<'_>>) {
        let network = facts.context.network;
        let stands = built_in::stands(facts.categories, facts.context);
        let Some(said) = self.user.say(facts) else {
            let default = self.user.defaults.in_place(facts.categories, network);
            let own = self.user.defaults.strictest(facts.categories);
            // To do without walls takes a rule that says so.
            let may_widen = facts.judged.part != CommandPart::Unclear && !facts.context.unconfined;
            return match default {
                Some(default) if may_widen || default.decision >= stands.decision => (default, own),
                _ => (stands, own),
            };
        };
        let own = said.strictest;
        if facts.judged.unread {
            return (stands.stricter(own), Some(own));
        }
        if own.decision >= stands.decision {
            return (own, Some(own));
        }
        let Some(uncovered) = said.uncovered else { return (stands, Some(own)) };
        let uncovered = built_in::stands(counting(uncovered, facts.context), facts.context);
        (own.stricter(uncovered), Some(own))
    }
}

/// What a layer says that may only narrow.
fn narrow<'a>(layer: &'a LayerRules, facts: &Facts<'_>) -> Option<Opinion<'a>> {
    match layer.say(facts) {
        Some(said) => Some(said.strictest),
        None => layer.defaults.strictest(facts.categories),
    }
}
