//! All rules of one layer, found by what they are about.

use offshoot_vocabulary::{CommandPart, EffectCategory};

use crate::category::Categories;
use crate::rules::built_in::{BEYOND_WALLS, Opinion};
use crate::rules::defaults::Defaults;
use crate::rules::facts::{Facts, is_system_program, name};
use crate::rules::globs::{Globs, Slash};
use crate::rules::prefixes::Prefixes;
use crate::rules::rule::Rule;

/// The rules of a layer. Each is found by its most telling matcher; the others are looked at when it was found.
#[derive(Debug, Default)]
pub(crate) struct LayerRules {
    pub(crate) rules: Vec<Rule>,
    pub(crate) defaults: Defaults,
    by_prefix: Prefixes,
    by_category: [Vec<usize>; EffectCategory::ALL.len()],
    by_network: Vec<usize>,
    words: Globs,
    absolute: Globs,
    at_home: Globs,
    inside: Globs,
}

/// What the rules of a layer say about a part.
pub(crate) struct Said<'a> {
    /// The strictest of them.
    pub(crate) strictest: Opinion<'a>,
    /// Whether they may allow more than stands: what of the part they do not cover, if they cover anything.
    pub(crate) uncovered: Option<Categories>,
}

/// What globs fit a part.
#[derive(Default)]
struct Hits {
    words: Vec<usize>,
    /// The place of the rule and that of the path.
    paths: Vec<(usize, usize)>,
}

impl LayerRules {
    /// Lays out rules so that they are found quickly.
    pub(crate) fn new(rules: Vec<Rule>, defaults: Defaults) -> Result<Self, globset::Error> {
        let mut layer = Self { defaults, ..Self::default() };
        for (index, rule) in rules.iter().enumerate() {
            layer.file(index, rule);
        }
        let globs = rules
            .iter()
            .enumerate()
            .flat_map(|(index, rule)| rule.globs.iter().map(move |glob| (index, glob.as_str())));
        layer.words = Globs::new(globs, Slash::Plain)?;
        let paths = |first: fn(&str) -> bool| {
            let paths = rules.iter().enumerate().flat_map(|(index, rule)| {
                rule.paths.iter().map(move |path| (index, path.as_str()))
            });
            Globs::new(paths.filter(move |(_, path)| first(path)), Slash::Separates)
        };
        layer.absolute = paths(|path| path.starts_with('/'))?;
        layer.at_home = paths(|path| path.starts_with('~'))?;
        layer.inside = paths(|path| !path.starts_with(['/', '~']))?;
        layer.rules = rules;
        Ok(layer)
    }

    fn file(&mut self, index: usize, rule: &Rule) {
        if !rule.prefix.is_empty() {
            self.by_prefix.add(&rule.prefix, index);
        } else if rule.globs.is_empty() && rule.paths.is_empty() {
            match rule.categories {
                Some(categories) => {
                    for category in categories.iter() {
                        self.by_category[category as usize].push(index);
                    }
                }
                None => self.by_network.push(index),
            }
        }
    }

    /// What the rules say about a part; nothing where none fits.
    pub(crate) fn say<'a>(&'a self, facts: &Facts<'_>) -> Option<Said<'a>> {
        if facts.judged.unread {
            return self.say_of_anything(facts);
        }
        let hits = self.hits(facts);
        let mut said: Option<Said<'a>> = None;
        self.candidates(facts, &hits, |index| {
            let rule = &self.rules[index];
            let Some(start) = self.fits(index, facts, &hits) else { return };
            let opinion = Opinion { decision: rule.decision, rule: &rule.info };
            let uncovered = self.uncovered(index, start, facts, &hits);
            said = Some(match said.take() {
                None => Said { strictest: opinion, uncovered },
                Some(before) => Said {
                    strictest: before.strictest.stricter(opinion),
                    uncovered: least(before.uncovered, uncovered),
                },
            });
        });
        said
    }

    /// What the rules say about a part that may be anything: all that stop something stop it, and none allows it.
    fn say_of_anything<'a>(&'a self, facts: &Facts<'_>) -> Option<Said<'a>> {
        let fitting = self.rules.iter().filter(|rule| rule.is_for(facts.context));
        let rules = fitting.map(|rule| Opinion { decision: rule.decision, rule: &rule.info });
        let stopping = rules.chain(self.defaults.iter()).filter(|said| !said.decision.runs());
        let strictest = stopping.reduce(Opinion::stricter)?;
        Some(Said { strictest, uncovered: None })
    }

    /// Whether one rule fits a part.
    pub(crate) fn rule_fits(&self, index: usize, facts: &Facts<'_>) -> bool {
        self.fits(index, facts, &self.hits(facts)).is_some()
    }

    fn hits(&self, facts: &Facts<'_>) -> Hits {
        let mut hits = Hits::default();
        if facts.is_program() && !self.words.is_empty() {
            self.add_word_hits(facts, &mut hits.words);
        }
        if !(self.absolute.is_empty() && self.at_home.is_empty() && self.inside.is_empty()) {
            let mut rules = Vec::new();
            for (place, touched) in facts.judged.paths.iter().enumerate() {
                self.add_path_hits(facts, &touched.path, &mut rules);
                hits.paths.extend(rules.drain(..).map(|rule| (rule, place)));
            }
        }
        hits
    }

    fn add_word_hits(&self, facts: &Facts<'_>, hits: &mut Vec<usize>) {
        let written = facts.joined();
        let named = &written[facts.before_name()..];
        self.words.add_hits(named, hits);
        if written != named {
            self.words.add_hits(&written, hits);
        }
        if !facts.judged.wrappers.is_empty() {
            let wrapped = format!("{} {named}", facts.judged.wrappers.join(" "));
            self.words.add_hits(&wrapped, hits);
        }
    }

    fn add_path_hits(&self, facts: &Facts<'_>, path: &str, hits: &mut Vec<usize>) {
        self.absolute.add_hits(path, hits);
        if let (false, Some(path)) = (self.inside.is_empty(), facts.inside(path)) {
            self.inside.add_hits(&path, hits);
        }
        if let (false, Some(path)) = (self.at_home.is_empty(), facts.at_home(path)) {
            self.at_home.add_hits(&path, hits);
        }
    }

    /// Calls for every rule whose most telling matcher fits; for some more than once.
    fn candidates(&self, facts: &Facts<'_>, hits: &Hits, mut call: impl FnMut(usize)) {
        if facts.is_program() && !self.by_prefix.is_empty() {
            for start in 0..=facts.judged.wrappers.len() {
                self.by_prefix.find(facts.words_from(start), &mut call);
            }
        }
        let mut call_all = |found: &[usize]| found.iter().for_each(|index| call(*index));
        for category in facts.categories.iter() {
            call_all(&self.by_category[category as usize]);
        }
        call_all(&self.by_network);
        call_all(&hits.words);
        hits.paths.iter().for_each(|(index, _)| call(*index));
    }

    /// Whether all matchers of a rule fit: the wrapper where the rule begins to, or the number of wrappers.
    fn fits(&self, index: usize, facts: &Facts<'_>, hits: &Hits) -> Option<usize> {
        let rule = &self.rules[index];
        let others = (rule.globs.is_empty() || hits.words.contains(&index))
            && (rule.paths.is_empty() || self.touches(index, facts, hits).next().is_some())
            && rule.categories.is_none_or(|named| named.any_of(facts.categories))
            && rule.is_for(facts.context)
            && rule.is_in(facts.judged.directory.as_deref());
        if !others {
            return None;
        }
        let wrappers = facts.judged.wrappers.len();
        if rule.prefix.is_empty() {
            return Some(wrappers);
        }
        let begins = |start: &usize| has_prefix(rule, facts, *start);
        if facts.is_program() { (0..=wrappers).find(begins) } else { None }
    }

    /// The places of the paths that a rule fits.
    fn touches<'h>(
        &'h self,
        index: usize,
        facts: &'h Facts<'_>,
        hits: &'h Hits,
    ) -> impl Iterator<Item = usize> + 'h {
        let access = self.rules[index].access;
        hits.paths.iter().filter(move |(rule, _)| *rule == index).map(|(_, place)| *place).filter(
            move |place| access.is_none_or(|access| facts.judged.paths[*place].access == access),
        )
    }

    /// What a rule that fits does not speak about, so that it cannot allow it; none where it speaks about too little to allow
    /// anything. To forbid, it is enough to fit; to allow, a rule has to account for all that the part does.
    fn uncovered(
        &self,
        index: usize,
        start: usize,
        facts: &Facts<'_>,
        hits: &Hits,
    ) -> Option<Categories> {
        let rule = &self.rules[index];
        let covers_paths = rule.paths.is_empty()
            || (facts.all_known()
                && (0..facts.judged.paths.len())
                    .all(|place| self.touches(index, facts, hits).any(|hit| hit == place)));
        let all_named = rule.categories.is_some_and(|named| named.all_of(facts.categories));
        if !covers_paths {
            return None;
        }
        let uncovered = match facts.judged.part {
            CommandPart::Unclear => None,
            CommandPart::Program if rule.names_program() => {
                let all = start == 0 || glob_names_wrapper(rule, facts);
                let uncovered = if all { Categories::READ_ONLY } else { facts.judged.wrapped };
                (reaches_program(rule, facts, start) && is_meant(rule, facts)).then_some(uncovered)
            }
            CommandPart::Redirection if !rule.paths.is_empty() => Some(facts.judged.wrapped),
            _ => all_named.then_some(Categories::READ_ONLY),
        };
        // Without walls a command reaches anything, which a rule has to mean.
        let beyond = facts.context.unconfined && rule.unconfined != Some(true);
        uncovered.map(|uncovered| if beyond { uncovered.union(BEYOND_WALLS) } else { uncovered })
    }
}

fn has_prefix(rule: &Rule, facts: &Facts<'_>, start: usize) -> bool {
    let mut words = facts.words_from(start);
    for (index, any) in rule.prefix.iter().enumerate() {
        let Some(Some(word)) = words.next() else { return false };
        let equal = |text: &String| match index {
            0 if !text.contains('/') => name(&word) == text,
            _ => word == text.as_str(),
        };
        if !any.iter().any(equal) {
            return false;
        }
    }
    let names_all = start == facts.judged.wrappers.len() || !facts.judged.has_arguments;
    !rule.exact || (words.next().is_none() && names_all)
}

/// Whether a prefix that begins with a wrapper goes as far as the program: who allows `env` has not allowed all that it can run.
fn reaches_program(rule: &Rule, facts: &Facts<'_>, start: usize) -> bool {
    let wrappers = facts.words_from(start).count() - facts.judged.words.len();
    rule.prefix.is_empty() || rule.prefix.len() > wrappers
}

/// Whether the program is one that a rule means which names it: the system's own, or one whose place the rule names too.
fn is_meant(rule: &Rule, facts: &Facts<'_>) -> bool {
    let Some(program) = facts.program() else { return false };
    let names_place = |word: &str| word.contains('/');
    let by_prefix = rule.prefix.iter().flatten().any(|text| *text == program);
    let by_glob = rule.globs.iter().any(|glob| {
        let literal = glob.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
        names_place(literal.split(' ').next().unwrap_or_default())
    });
    is_system_program(&program) || (names_place(&program) && (by_prefix || by_glob))
}

/// Whether a glob begins with the outermost wrapper.
fn glob_names_wrapper(rule: &Rule, facts: &Facts<'_>) -> bool {
    let Some(wrapper) = facts.judged.wrappers.first() else { return true };
    rule.globs
        .iter()
        .any(|glob| glob.strip_prefix(wrapper.as_str()).is_some_and(|rest| rest.starts_with(' ')))
}

/// What remains uncovered where two rules fit: as little as one of them leaves.
fn least(first: Option<Categories>, second: Option<Categories>) -> Option<Categories> {
    let covers_all = |uncovered: &Categories| uncovered.is_read_only();
    first.filter(covers_all).or(second.filter(covers_all)).or(first).or(second)
}
