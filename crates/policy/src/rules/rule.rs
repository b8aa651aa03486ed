//! One rule, checked and ready to be compared with commands.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use offshoot_vocabulary::{EffectCategory, Network, PathAccess, PolicyDecision, PolicyLayer, Word};
use toml::Spanned;

use crate::category::Categories;
use crate::context::Context;
use crate::error::Problem;
use crate::rules::file::{OneOrMany, RawRule, Source};
use crate::verdict::rule_info::RuleInfo;

/// A rule that has at least one matcher.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) info: Arc<RuleInfo>,
    pub(crate) decision: PolicyDecision,
    /// Words in order, each one of several; empty where the rule has no prefix.
    pub(crate) prefix: Vec<Vec<String>>,
    /// Nothing may follow the prefix.
    pub(crate) exact: bool,
    /// Over the words; empty where the rule has none.
    pub(crate) globs: Vec<String>,
    /// Over paths; empty where the rule has none.
    pub(crate) paths: Vec<String>,
    /// What is done to the path; none for anything.
    pub(crate) access: Option<PathAccess>,
    pub(crate) categories: Option<Named>,
    pub(crate) network: Option<Network>,
    /// Whether the command runs without walls; none for either.
    pub(crate) unconfined: Option<bool>,
    /// The directory where a program runs; none for any.
    pub(crate) cwd: Option<String>,
}

/// Categories that a rule names, read-only among them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Named([bool; EffectCategory::ALL.len()]);

impl Named {
    fn has(self, category: EffectCategory) -> bool {
        self.0[category as usize]
    }

    /// Those that are named.
    pub(crate) fn iter(self) -> impl Iterator<Item = EffectCategory> {
        EffectCategory::ALL.iter().copied().filter(move |category| self.has(*category))
    }

    /// Whether one of a command's categories is named.
    pub(crate) fn any_of(self, categories: Categories) -> bool {
        categories.iter().any(|category| self.has(category))
    }

    /// Whether all of a command's categories are named. What is destructive is mutating as well, which goes without saying.
    pub(crate) fn all_of(self, categories: Categories) -> bool {
        categories.iter().all(|category| {
            self.has(category)
                || (category == EffectCategory::Mutating
                    && self.has(EffectCategory::Destructive)
                    && categories.contains(EffectCategory::Destructive))
        })
    }
}

/// Turns rules of one file into rules that can be compared.
pub(crate) struct RuleReader<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) file: &'a Arc<str>,
    pub(crate) layer: PolicyLayer,
}

impl RuleReader<'_> {
    /// Checks a rule.
    pub(crate) fn read(&self, raw: &Spanned<RawRule>) -> Result<Rule, Problem> {
        let span = raw.span();
        let raw = raw.get_ref();
        let missing = |field, hint: &str| self.source.missing(span.clone(), field, hint);
        let name = raw.name.as_ref();
        let name = name.ok_or_else(|| missing("name", "write `name = \"what-it-is-for\"`"))?;
        if name.get_ref().trim().is_empty() {
            return Err(self.wrong(name, "a rule needs a name", "write what it is for"));
        }
        let decision =
            raw.decision.as_ref().ok_or_else(|| missing("decision", &write_a_decision()))?;
        let rule = Rule {
            info: self.info(name.get_ref(), raw),
            decision: self.decision(decision)?,
            prefix: self.prefix(raw)?,
            exact: raw.exact.as_ref().is_some_and(|exact| *exact.get_ref()),
            globs: self.globs(raw.glob.as_ref())?,
            paths: self.paths(raw.path.as_ref())?,
            access: self.access(raw)?,
            categories: raw.category.as_ref().map(|named| self.categories(named)).transpose()?,
            network: raw.network.as_ref().map(|network| self.network(network)).transpose()?,
            unconfined: raw.unconfined,
            cwd: raw.cwd.as_ref().map(|cwd| self.cwd(cwd)).transpose()?,
        };
        if rule.has_matcher() {
            return Ok(rule);
        }
        let message = format!("the rule `{}` fits nothing: it has no matcher", name.get_ref());
        let hint = "write `prefix`, `glob`, `path`, `category`, `network`, `unconfined` or `cwd`";
        Err(self.source.problem(Some(span), message, Some(hint.to_owned())))
    }

    fn info(&self, name: &str, raw: &RawRule) -> Arc<RuleInfo> {
        Arc::new(RuleInfo {
            layer: self.layer,
            name: name.to_owned(),
            file: Some(Arc::clone(self.file)),
            reason: raw.reason.clone().map(Cow::Owned),
            is_default: false,
        })
    }

    /// The decision that a word stands for.
    pub(crate) fn decision(&self, word: &Spanned<String>) -> Result<PolicyDecision, Problem> {
        let unknown = |_| self.unknown(word, "decision", &PolicyDecision::names());
        word.get_ref().parse().map_err(unknown)
    }

    fn prefix(&self, raw: &RawRule) -> Result<Vec<Vec<String>>, Problem> {
        let Some(prefix) = &raw.prefix else {
            return match &raw.exact {
                Some(exact) => {
                    Err(self.wrong(exact, "`exact` is about a prefix", "write `prefix` as well"))
                }
                None => Ok(Vec::new()),
            };
        };
        let is_empty = |element: &OneOrMany| element.0.is_empty();
        let elements = prefix.get_ref();
        if elements.is_empty() || elements.iter().any(is_empty) {
            let hint = "write the program and its first words: `prefix = [\"git\", \"push\"]`";
            return Err(self.wrong(prefix, "an empty prefix fits nothing", hint));
        }
        if elements[0].0.iter().any(|program| program.is_empty() || program.ends_with('/')) {
            let hint = "write the name of the program first";
            return Err(self.wrong(prefix, "a prefix begins with a program", hint));
        }
        Ok(elements.iter().map(|element| element.0.clone()).collect())
    }

    /// The texts of globs; whether they are well formed is found when they are compiled together.
    fn globs(&self, globs: Option<&Spanned<OneOrMany>>) -> Result<Vec<String>, Problem> {
        let Some(globs) = globs else { return Ok(Vec::new()) };
        let texts = &globs.get_ref().0;
        if texts.is_empty() || texts.iter().any(String::is_empty) {
            let hint = "write a pattern, such as `git push *` or `src/**`";
            return Err(self.wrong(globs, "an empty glob fits nothing", hint));
        }
        for text in texts {
            if let Err(error) = globset::Glob::new(text) {
                let hint =
                    "special characters are * ? [ ] { } and \\, which takes their meaning away";
                return Err(self.wrong(globs, format!("not a glob: {error}"), hint));
            }
        }
        Ok(texts.clone())
    }

    /// The texts of globs over paths.
    fn paths(&self, paths: Option<&Spanned<OneOrMany>>) -> Result<Vec<String>, Problem> {
        let Some(at) = paths else { return Ok(Vec::new()) };
        let mut texts = self.globs(paths)?;
        for text in &mut texts {
            if text.starts_with('~') && *text != "~" && !text.starts_with("~/") {
                let hint = "only `~/` stands for a home, the user's own";
                return Err(self.wrong(at, format!("`{text}` fits no path"), hint));
            }
            if text.split('/').any(|name| name == "..") {
                let hint = "write the path from `/`, from `~/` or from the workspace";
                return Err(self.wrong(at, format!("`{text}` fits no path"), hint));
            }
            if let Some(rest) = text.strip_prefix("./").filter(|rest| !rest.is_empty()) {
                *text = rest.to_owned();
            }
        }
        Ok(texts)
    }

    fn access(&self, raw: &RawRule) -> Result<Option<PathAccess>, Problem> {
        let Some(access) = &raw.access else { return Ok(None) };
        if raw.path.is_none() {
            return Err(self.wrong(access, "`access` is about a path", "write `path` as well"));
        }
        match access.get_ref().as_str() {
            "read" => Ok(Some(PathAccess::Read)),
            "write" => Ok(Some(PathAccess::Write)),
            "delete" => Ok(Some(PathAccess::Delete)),
            "any" => Ok(None),
            _ => Err(self.unknown(access, "access", &["read", "write", "delete", "any"])),
        }
    }

    fn categories(&self, named: &Spanned<OneOrMany>) -> Result<Named, Problem> {
        let words = &named.get_ref().0;
        if words.is_empty() {
            let hint = "write at least one category";
            return Err(self.wrong(named, "an empty list of categories fits nothing", hint));
        }
        let mut categories = Named::default();
        for word in words {
            let Ok(category) = word.parse::<EffectCategory>() else {
                let hint = one_of(&EffectCategory::names());
                return Err(self.wrong(named, format!("`{word}` is no category"), hint));
            };
            categories.0[category as usize] = true;
        }
        Ok(categories)
    }

    fn cwd(&self, cwd: &Spanned<String>) -> Result<String, Problem> {
        if cwd.get_ref().starts_with('/') {
            return Ok(cwd.get_ref().clone());
        }
        let message = format!("`{}` is no absolute path", cwd.get_ref());
        Err(self.wrong(cwd, message, "write the directory from `/` on"))
    }

    fn network(&self, word: &Spanned<String>) -> Result<Network, Problem> {
        word.get_ref().parse().map_err(|_| self.unknown(word, "network", &Network::names()))
    }

    fn unknown(&self, word: &Spanned<String>, key: &str, words: &[&str]) -> Problem {
        self.wrong(word, format!("`{}` is no {key}", word.get_ref()), one_of(words))
    }

    fn wrong<T>(
        &self,
        at: &Spanned<T>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Problem {
        self.source.problem(Some(at.span()), message, Some(hint.into()))
    }
}

impl Rule {
    fn has_matcher(&self) -> bool {
        self.names_program()
            || !self.paths.is_empty()
            || self.categories.is_some()
            || self.network.is_some()
            || self.unconfined.is_some()
            || self.cwd.is_some()
    }

    /// Whether it is about commands in these surroundings.
    pub(crate) fn is_for(&self, context: &Context) -> bool {
        self.network.is_none_or(|network| network == context.network)
            && self.unconfined.is_none_or(|unconfined| unconfined == context.unconfined)
    }

    /// Whether it is about programs in this directory. One that is not known may be any: a rule that stops fits it.
    pub(crate) fn is_in(&self, directory: Option<&str>) -> bool {
        match (&self.cwd, directory) {
            (None, _) => true,
            (Some(cwd), Some(directory)) => Path::new(cwd) == Path::new(directory),
            (Some(_), None) => !self.decision.runs(),
        }
    }

    /// Whether it says which program it is about.
    pub(crate) fn names_program(&self) -> bool {
        !self.prefix.is_empty() || !self.globs.is_empty()
    }
}

fn write_a_decision() -> String {
    let usual = PolicyDecision::RequireApproval.as_str();
    let mut others = PolicyDecision::names();
    others.retain(|name| *name != usual);
    let last = others.pop().unwrap_or_default();
    let others = others.join(", ");
    format!("write `decision = \"{usual}\"`, or another of {others} and {last}")
}

fn one_of(words: &[&str]) -> String {
    format!("write one of {}", words.join(", "))
}
