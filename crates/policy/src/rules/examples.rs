//! Rules are held to their own examples.

use std::path::PathBuf;

use toml::Spanned;

use crate::context::Context;
use crate::error::Problem;
use crate::judged::Judged;
use crate::rules::facts::Facts;
use crate::rules::file::Source;
use crate::rules::layer_rules::LayerRules;
use crate::rules::rule::Rule;

/// Judges a text for the shell.
pub(crate) type Judge<'a> = &'a dyn Fn(&str, &Context) -> Vec<Judged>;

/// The examples of one rule.
pub(crate) struct Examples {
    /// The place of the rule in its layer.
    pub(crate) rule: usize,
    pub(crate) matches: Vec<Spanned<String>>,
    pub(crate) not_matches: Vec<Spanned<String>>,
}

impl Examples {
    pub(crate) fn len(&self) -> usize {
        self.matches.len() + self.not_matches.len()
    }

    /// What is wrong with them.
    pub(crate) fn check(
        &self,
        layer: &LayerRules,
        source: &Source<'_>,
        judge: Judge<'_>,
    ) -> Vec<Problem> {
        let name = &layer.rules[self.rule].info.name;
        let should = self.matches.iter().map(|example| (example, true));
        let should_not = self.not_matches.iter().map(|example| (example, false));
        let mut problems = Vec::new();
        for (example, wanted) in should.chain(should_not) {
            if self.fits(layer, example.get_ref(), judge) == wanted {
                continue;
            }
            let (verb, key) =
                if wanted { ("does not fit", "not_matches") } else { ("fits", "matches") };
            let message = format!("the rule `{name}` {verb} `{}`", example.get_ref());
            let hint = format!("mend the rule, or move the example to `{key}`");
            problems.push(source.problem(Some(example.span()), message, Some(hint)));
        }
        problems
    }

    /// Whether the rule fits a part of a text.
    fn fits(&self, layer: &LayerRules, text: &str, judge: Judge<'_>) -> bool {
        let context = context(&layer.rules[self.rule]);
        judge(text, &context)
            .iter()
            .any(|judged| layer.rule_fits(self.rule, &Facts::new(judged, &context)))
    }

    /// Calls for every part of the examples that the rule fits.
    pub(crate) fn for_each_fit(
        &self,
        layer: &LayerRules,
        judge: Judge<'_>,
        mut call: impl FnMut(&Facts<'_>),
    ) {
        let context = context(&layer.rules[self.rule]);
        for example in &self.matches {
            for judged in judge(example.get_ref(), &context) {
                let facts = Facts::new(&judged, &context);
                if layer.rule_fits(self.rule, &facts) {
                    call(&facts);
                }
            }
        }
    }
}

/// Where the examples of a rule run, in thought.
fn context(rule: &Rule) -> Context {
    Context {
        workspace: PathBuf::from("/workspace"),
        cwd: PathBuf::from(rule.cwd.as_deref().unwrap_or("/workspace")),
        home: Some(PathBuf::from("/users/me")),
        network: rule.network.unwrap_or_default(),
        unconfined: rule.unconfined.unwrap_or_default(),
        ..Context::default()
    }
}
