//! From texts of files to rules that are ready.

use std::collections::HashSet;
use std::sync::Arc;

use offshoot_vocabulary::{EffectCategory, PolicyDecision, PolicyLayer};
use toml::Spanned;

use crate::error::{PolicyError, Problem};
use crate::rules::Rules;
use crate::rules::built_in::built_in;
use crate::rules::defaults::Defaults;
use crate::rules::examples::{Examples, Judge};
use crate::rules::file::{RawDefaults, Source};
use crate::rules::layer_rules::LayerRules;
use crate::rules::rule::{Rule, RuleReader};
use crate::verdict::rule_info::RuleInfo;

/// A layer and the text of one of its files, with what to call it.
pub(crate) type LayerText<'a> = (PolicyLayer, &'a str, &'a str);

/// Reads all files; their examples are checked with `judge`.
pub(crate) fn load(files: &[LayerText<'_>], judge: Judge<'_>) -> Result<Rules, PolicyError> {
    let mut problems = Vec::new();
    let mut drafts =
        [PolicyLayer::User, PolicyLayer::Project, PolicyLayer::Request].map(Draft::new);
    for (layer, name, text) in files {
        let source = Source { name, text };
        match drafts.iter_mut().find(|draft| draft.layer == *layer) {
            Some(draft) => draft.read(source, &mut problems),
            None => problems.push(source.problem(None, "what is built in has no file", None)),
        }
    }
    if !problems.is_empty() {
        return Err(PolicyError { problems });
    }
    let examples = drafts.iter().map(Draft::example_count).sum();
    let [user, project, request] = drafts.map(|draft| draft.finish(judge, &mut problems));
    if !problems.is_empty() {
        return Err(PolicyError { problems });
    }
    let ((user, own), (project, projects), (request, requests)) = (user, project, request);
    let mut rules = Rules { user, project, request, examples, warnings: Vec::new() };
    let mut warnings = rules.warn_user(&own, judge);
    warnings.extend(rules.warn_narrowing(&rules.project, &projects, judge));
    warnings.extend(rules.warn_narrowing(&rules.request, &requests, judge));
    rules.warnings = warnings;
    Ok(rules)
}

/// A layer while its files are read.
struct Draft<'a> {
    layer: PolicyLayer,
    rules: Vec<Rule>,
    defaults: Defaults,
    examples: Vec<(Source<'a>, Vec<Examples>)>,
}

impl<'a> Draft<'a> {
    fn new(layer: PolicyLayer) -> Self {
        Self { layer, rules: Vec::new(), defaults: Defaults::default(), examples: Vec::new() }
    }

    fn example_count(&self) -> usize {
        self.examples.iter().flat_map(|(_, examples)| examples).map(Examples::len).sum()
    }

    /// Reads a file; all that is wrong with it is listed.
    fn read(&mut self, source: Source<'a>, problems: &mut Vec<Problem>) {
        let raw = match source.parse() {
            Ok(raw) => raw,
            Err(problem) => return problems.push(problem),
        };
        let file: Arc<str> = Arc::from(source.name);
        let reader = RuleReader { source: &source, file: &file, layer: self.layer };
        if let Err(problem) = self.read_defaults(&raw.defaults, &reader) {
            problems.push(problem);
        }
        let mut examples = Vec::new();
        // Files of a layer may be of different projects: a rule is named by its file too.
        let mut names = HashSet::new();
        for raw in raw.rules {
            match reader.read(&raw) {
                Ok(rule) => self.rules.push(rule),
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            }
            let raw = raw.into_inner();
            if let Some(name) = &raw.name
                && !names.insert(name.get_ref().clone())
            {
                problems.push(duplicate(&source, name));
            }
            let rule = self.rules.len() - 1;
            let (matches, not_matches) = (raw.matches, raw.not_matches);
            examples.push(Examples { rule, matches, not_matches });
        }
        self.examples.push((source, examples));
    }

    fn read_defaults(&mut self, raw: &RawDefaults, reader: &RuleReader<'_>) -> Result<(), Problem> {
        let words = [
            &raw.read_only,
            &raw.interactive,
            &raw.mutating,
            &raw.networked,
            &raw.destructive,
            &raw.host_escape_risk,
        ];
        for (category, word) in EffectCategory::ALL.iter().copied().zip(words) {
            let Some(word) = word else { continue };
            let decision = reader.decision(word)?;
            // Where two files of a layer differ, the stricter holds, as among rules.
            if self.defaults.get(category).is_some_and(|before| before.decision >= decision) {
                continue;
            }
            let rule = RuleInfo {
                layer: self.layer,
                name: format!("defaults.{category}"),
                file: Some(Arc::clone(reader.file)),
                reason: None,
                is_default: true,
            };
            self.defaults.set(category, decision, rule);
        }
        Ok(())
    }

    /// Lays the rules out and checks their examples.
    fn finish(self, judge: Judge<'_>, problems: &mut Vec<Problem>) -> (LayerRules, Vec<Examples>) {
        let rules = match LayerRules::new(self.rules, self.defaults) {
            Ok(rules) => rules,
            Err(error) => {
                let message = format!("the globs are too much together: {error}");
                problems.extend(self.examples.first().map(|(source, _)| {
                    source.problem(None, message, Some("write fewer or shorter ones".to_owned()))
                }));
                return (LayerRules::default(), Vec::new());
            }
        };
        let mut all = Vec::new();
        for (source, examples) in self.examples {
            for example in &examples {
                problems.extend(example.check(&rules, &source, judge));
            }
            all.extend(examples);
        }
        (rules, all)
    }
}

fn duplicate(source: &Source<'_>, name: &Spanned<String>) -> Problem {
    let message = format!("there are two rules with the name `{}`", name.get_ref());
    source.problem(Some(name.span()), message, Some("give one of them another name".to_owned()))
}

impl Rules {
    /// Rules of the user that do not allow what they fit.
    fn warn_user(&self, examples: &[Examples], judge: Judge<'_>) -> Vec<String> {
        let mut warnings = Vec::new();
        for examples in examples {
            let rule = &self.user.rules[examples.rule];
            let names_nothing = rule.paths.is_empty() && !rule.names_program();
            if rule.decision == PolicyDecision::Allow && names_nothing && rule.categories.is_none()
            {
                let why = "to allow, a rule has to say which program or category it is about";
                warnings.push(warning(&rule.info, why));
                continue;
            }
            let (mut fits, mut in_vain) = (0, 0);
            examples.for_each_fit(&self.user, judge, |facts| {
                let built_in = built_in(facts.categories, facts.context.network).decision;
                let stands = self.stand(facts).widened.decision;
                fits += 1;
                in_vain += usize::from(rule.decision < built_in && stands >= built_in);
            });
            if fits > 0 && in_vain == fits {
                let why =
                    "it does not cover all that its examples do, so that it allows none of them";
                warnings.push(warning(&rule.info, why));
            }
        }
        warnings
    }

    /// Rules of a layer that only narrows, which would widen.
    fn warn_narrowing(
        &self,
        layer: &LayerRules,
        examples: &[Examples],
        judge: Judge<'_>,
    ) -> Vec<String> {
        const NEVER: &str = "only the user's own rules allow more than what stands";
        let defaults =
            layer.defaults.iter().filter(|default| default.decision == PolicyDecision::Allow);
        let mut warnings: Vec<_> = defaults.map(|default| warning(default.rule, NEVER)).collect();
        for examples in examples {
            let rule = &layer.rules[examples.rule];
            if rule.decision == PolicyDecision::Allow {
                warnings.push(warning(&rule.info, NEVER));
                continue;
            }
            let (mut fits, mut in_vain) = (0, 0);
            examples.for_each_fit(layer, judge, |facts| {
                fits += 1;
                in_vain += usize::from(self.stand(facts).widened.decision > rule.decision);
            });
            if fits > 0 && in_vain == fits {
                warnings.push(warning(&rule.info, "what stands is stricter for all its examples"));
            }
        }
        warnings
    }
}

fn warning(rule: &RuleInfo, why: &str) -> String {
    let file = rule.file.as_deref().unwrap_or_default();
    format!("{file}: the {} rule `{}` can have no effect: {why}", rule.layer, rule.name)
}
