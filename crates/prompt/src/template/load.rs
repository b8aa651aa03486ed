//! From texts of files to templates that are ready.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use crate::error::{PromptProblem, TemplateError};
use crate::section::{MessageLayer, SectionRule, TrimRule};
use crate::source::{PromptSource, did_you_mean};
use crate::template::digest::TemplateDigest;
use crate::template::file::{RawTemplate, check_length, read};
use crate::template::library::Library;
use crate::template::parse::{Node, is_variable, parse};
use crate::template::task_pattern::TaskPattern;
use crate::template::variable::{VariableKind, VariableRule};
use crate::template::{Place, Template, TemplateKey};

/// How deep templates may include one another.
const DEEPEST: usize = 8;

/// How many templates there may be.
const MOST: usize = 10_000;

/// Reads all files; all that is wrong with them is listed.
pub(crate) fn load(sources: &[PromptSource]) -> Result<Library, TemplateError> {
    let mut loader = Loader {
        sources,
        library: Library::default(),
        texts: BTreeMap::new(),
        problems: Vec::new(),
    };
    for source in sources {
        if source.name.ends_with(".toml") {
            loader.read(source);
        } else {
            loader.problems.extend(check_length(source).err());
        }
    }
    // What refers to a template is looked at when all are there.
    if loader.problems.is_empty() {
        loader.link();
    }
    if loader.problems.is_empty() {
        loader.check();
    }
    match loader.problems.is_empty() {
        true => Ok(loader.library),
        false => Err(TemplateError { problems: loader.problems }),
    }
}

struct Loader<'a> {
    sources: &'a [PromptSource],
    library: Library,
    /// Where the text of each template is.
    texts: BTreeMap<TemplateKey, TextPlace<'a>>,
    problems: Vec<PromptProblem>,
}

/// Where the text of a template is: a whole file, or a part of one.
#[derive(Clone)]
struct TextPlace<'a> {
    source: &'a PromptSource,
    span: Range<usize>,
}

impl TextPlace<'_> {
    /// Something that is wrong at a byte of the text.
    fn problem(
        &self,
        text: &str,
        at: usize,
        message: String,
        hint: Option<String>,
    ) -> PromptProblem {
        let written = &self.source.text[self.span.clone()];
        match written.find(text) {
            Some(start) => {
                let at = self.span.start + start + at;
                self.source.problem(Some(at..at), message, hint)
            }
            // It has escapes, so only its beginning is known in the file.
            None => {
                let line = text[..at].matches('\n').count() + 1;
                let message = format!("{message} (line {line} of the text)");
                self.source.problem(Some(self.span.clone()), message, hint)
            }
        }
    }
}

impl<'a> Loader<'a> {
    fn read(&mut self, source: &'a PromptSource) {
        let raw = match read(source) {
            Ok(raw) => raw,
            Err(problem) => return self.problems.push(problem),
        };
        for raw in &raw.templates {
            if let Err(problem) = self.template(source, raw) {
                self.problems.push(problem);
            }
        }
        if self.library.keys().len() > MOST {
            let message = format!("there are more than {MOST} templates");
            self.problems.push(source.problem(None, message, None));
        }
    }

    fn template(
        &mut self,
        source: &'a PromptSource,
        raw: &Spanned<RawTemplate>,
    ) -> Result<(), PromptProblem> {
        let wrong = |span: Range<usize>, message: String, hint: &str| {
            source.problem(Some(span), message, Some(hint.to_owned()))
        };
        let span = raw.span();
        let raw = raw.get_ref();
        let name = raw.name.get_ref();
        if !is_template_name(name) {
            let message = format!("`{name}` is no name of a template");
            return Err(wrong(raw.name.span(), message, "write letters, digits and -_."));
        }
        let version = u32::try_from(*raw.version.get_ref()).ok().filter(|version| *version > 0);
        let Some(version) = version else {
            let message = format!("`{}` is no version", raw.version.get_ref());
            return Err(wrong(raw.version.span(), message, "write a whole number from 1"));
        };
        let place = self.place(source, raw)?;
        let (text, at) = self.text(source, raw, span.clone())?;
        let nodes = parse(&text).map_err(|problem| {
            at.problem(&text, problem.at, problem.message, problem.hint.map(str::to_owned))
        })?;
        let mut variables = BTreeMap::new();
        for (name, raw) in &raw.variables {
            if !is_variable(name) {
                let message = format!("`{name}` is no name of a variable");
                return Err(wrong(raw.span(), message, "write letters, digits and `_`"));
            }
            let rule = raw.get_ref().rule().map_err(|why| {
                source.problem(Some(raw.span()), format!("the variable `{name}`: {why}"), None)
            })?;
            variables.insert(name.clone(), rule);
        }
        let patterns = |texts: &[String]| texts.iter().map(|text| TaskPattern::new(text)).collect();
        let template = Template {
            name: name.clone(),
            version,
            place,
            for_tasks: patterns(&raw.for_tasks),
            not_for_tasks: patterns(&raw.not_for_tasks),
            order: raw.order,
            text,
            nodes,
            variables,
            rule: rule(source, raw)?,
            digest: TemplateDigest::UNKNOWN,
            includes: Vec::new(),
        };
        let key = (name.clone(), version);
        if !self.library.add(template) {
            let message = format!("there are two templates `{name}` of the version {version}");
            return Err(wrong(raw.name.span(), message, "give one another version"));
        }
        self.texts.insert(key, at);
        Ok(())
    }

    fn place(&self, source: &PromptSource, raw: &RawTemplate) -> Result<Place, PromptProblem> {
        let wrong = |message: &str, hint: &str| {
            Err(source.problem(Some(raw.layer.span()), message, Some(hint.to_owned())))
        };
        let place = match raw.layer.get_ref().as_str() {
            "system" => Place::Message(MessageLayer::System),
            "role" => Place::Message(MessageLayer::Role),
            "task" => Place::Message(MessageLayer::Task),
            "part" => Place::Part,
            other => {
                let message = format!("`{other}` is no layer");
                return wrong(&message, "write `system`, `role`, `task` or `part`");
            }
        };
        let has_section = raw.priority.is_some()
            || raw.min_tokens.is_some()
            || raw.max_tokens.is_some()
            || raw.trim.is_some()
            || raw.required.is_some()
            || !raw.for_tasks.is_empty()
            || !raw.not_for_tasks.is_empty();
        if place == Place::Part && has_section {
            let hint =
                "say to the templates that include it for which tasks they are, and what is cut";
            return wrong("a part is no section of its own", hint);
        }
        if place != Place::Message(MessageLayer::System) && raw.order != 0 {
            return wrong("only system templates have an `order`", "take it away");
        }
        Ok(place)
    }

    /// The text of a template, and where it is.
    fn text(
        &self,
        source: &'a PromptSource,
        raw: &RawTemplate,
        span: Range<usize>,
    ) -> Result<(String, TextPlace<'a>), PromptProblem> {
        match (&raw.text, &raw.text_file) {
            (Some(text), None) => {
                Ok((text.get_ref().clone(), TextPlace { source, span: text.span() }))
            }
            (None, Some(file)) => {
                let texts = || self.sources.iter().filter(|source| !source.name.ends_with(".toml"));
                match texts().find(|source| source.name == *file.get_ref()) {
                    Some(found) => {
                        let span = 0..found.text.len();
                        Ok((found.text.clone(), TextPlace { source: found, span }))
                    }
                    None => {
                        let message = format!("there is no text `{}`", file.get_ref());
                        let known = texts().map(|source| source.name.as_str());
                        let hint = did_you_mean(file.get_ref(), known);
                        Err(source.problem(Some(file.span()), message, hint))
                    }
                }
            }
            _ => {
                let message = format!("the template `{}` has no text, or two", raw.name.get_ref());
                let hint = Some("write `text` or `text_file`".to_owned());
                Err(source.problem(Some(span), message, hint))
            }
        }
    }

    /// Finds what templates include.
    fn link(&mut self) {
        for key in self.library.keys() {
            let Some(template) = self.library.get(&key) else { continue };
            let mut nodes = template.nodes.clone();
            let mut includes = Vec::new();
            let mut problems = Vec::new();
            for_each_include(&mut nodes, &mut |reference, at| {
                let (message, hint) = match self.library.find(reference) {
                    Ok(part) if part.place == Place::Part => {
                        *reference = format!("{}@{}", part.name, part.version);
                        includes.push((part.name.clone(), part.version));
                        return;
                    }
                    Ok(part) => {
                        let message =
                            format!("`{}` is of the layer `{}`", part.name, part.place.as_str());
                        (
                            message,
                            Some("only templates of the layer `part` are included".to_owned()),
                        )
                    }
                    Err(hint) => (format!("there is no template `{reference}`"), hint),
                };
                problems.push(self.texts[&key].problem(&template.text, at, message, hint));
            });
            self.problems.extend(problems);
            if let Some(template) = self.library.get_mut(&key) {
                (template.nodes, template.includes) = (nodes, includes);
            }
        }
        let mut known = BTreeMap::new();
        for key in self.library.keys() {
            self.digest(&key, &mut Vec::new(), &mut known);
        }
        for (key, (digest, _)) in known {
            if let Some(template) = self.library.get_mut(&key) {
                template.digest = digest;
            }
        }
    }

    /// The digest of a template and how deep it includes others, parts first; none where it includes itself or is too deep.
    fn digest(
        &mut self,
        key: &TemplateKey,
        path: &mut Vec<TemplateKey>,
        known: &mut BTreeMap<TemplateKey, (TemplateDigest, usize)>,
    ) -> Option<(TemplateDigest, usize)> {
        if let Some(known) = known.get(key) {
            return Some(*known);
        }
        let names = |path: &[TemplateKey]| {
            let names: Vec<&str> = path.iter().chain([key]).map(|key| key.0.as_str()).collect();
            names.join(" > ")
        };
        if path.contains(key) {
            return self.refuse(key, format!("these include one another: {}", names(path)));
        }
        let mut deepest = 0;
        let mut digests = Vec::new();
        if path.len() <= DEEPEST {
            path.push(key.clone());
            for part in self.library.get(key)?.includes.clone() {
                let (digest, depth) = self.digest(&part, path, known)?;
                digests.push(digest);
                deepest = deepest.max(depth + 1);
            }
            path.pop();
        }
        if path.len() > DEEPEST || deepest > DEEPEST {
            let message =
                format!("templates include one another deeper than {DEEPEST}: {}", names(path));
            return self.refuse(key, message);
        }
        let digest = TemplateDigest::of(self.library.get(key)?, &digests);
        known.insert(key.clone(), (digest, deepest));
        Some((digest, deepest))
    }

    fn refuse<T>(&mut self, key: &TemplateKey, message: String) -> Option<T> {
        let template = self.library.get(key)?;
        let problem = self.texts[key].problem(&template.text, 0, message, None);
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
        None
    }

    /// Checks variables: everything that is used is declared, and the other way round.
    fn check(&mut self) {
        let mut problems = Vec::new();
        for key in self.library.keys() {
            let Some(template) = self.library.get(&key) else { continue };
            let at = &self.texts[&key];
            let mut unused: Vec<&String> = template.variables.keys().collect();
            for_each_use(&template.nodes, &mut |name, at_byte, usage| {
                unused.retain(|other| *other != name);
                let (message, hint) = match (template.variables.get(name), usage) {
                    (None, _) => {
                        let known = template.variables.keys().map(String::as_str);
                        let hint = did_you_mean(name, known);
                        let hint = hint.or_else(|| Some("declare it in `variables`".to_owned()));
                        (format!("the variable `{name}` is not declared"), hint)
                    }
                    (Some(rule), usage) => match misused(rule, usage) {
                        Some(why) => (format!("the variable `{name}`: {why}"), None),
                        None => return,
                    },
                };
                problems.push(at.problem(&template.text, at_byte, message, hint));
            });
            for name in unused {
                let message = format!("`{}` declares `{name}` and does not use it", template.name);
                let hint = Some("take it away, or use it".to_owned());
                problems.push(at.problem(&template.text, 0, message, hint));
            }
            problems.extend(
                self.check_whole(template)
                    .map(|(message, hint)| at.problem(&template.text, 0, message, Some(hint))),
            );
        }
        self.problems.extend(problems);
    }

    /// What is wrong with a template and its parts together.
    fn check_whole(&self, template: &Template) -> Option<(String, String)> {
        let mut known: BTreeMap<&String, (&Template, &VariableRule)> = BTreeMap::new();
        let mut is_fenced = false;
        for part in self.library.with_parts(template) {
            for (name, rule) in &part.variables {
                is_fenced |= rule.fence.is_some();
                if template.place == Place::Message(MessageLayer::System) && rule.speaks() {
                    let message =
                        format!("`{name}` of `{}` could speak in the system layer", part.name);
                    let hint = "give it a `fence`, or make it a `name` or an `enum`".to_owned();
                    return Some((message, hint));
                }
                let other = *known.entry(name).or_insert((part, rule));
                if other.1.kind != rule.kind {
                    let message = format!(
                        "`{name}` is something else in `{}` and `{}`",
                        other.0.name, part.name
                    );
                    return Some((message, "declare it alike, or call one otherwise".to_owned()));
                }
            }
        }
        let cuts = matches!(template.rule.trim, TrimRule::Head | TrimRule::Tail);
        (cuts && is_fenced).then(|| {
            let message = format!("`{}` has a fence that could be cut", template.name);
            (message, "write `trim = \"keep\"`, `\"drop\"` or `\"summarise\"`".to_owned())
        })
    }
}

/// What the budget may do to a template.
fn rule(source: &PromptSource, raw: &RawTemplate) -> Result<SectionRule, PromptProblem> {
    let usual = SectionRule::TEMPLATE;
    let mut rule = SectionRule {
        priority: raw.priority.unwrap_or(usual.priority),
        min_tokens: raw.min_tokens.unwrap_or(usual.min_tokens),
        max_tokens: raw.max_tokens.as_ref().map(|most| *most.get_ref()),
        trim: usual.trim,
        required: raw.required.unwrap_or(usual.required),
    };
    if let Some(word) = &raw.trim {
        let known = TrimRule::ALL.iter().find(|rule| rule.as_str() == word.get_ref());
        rule.trim = *known.ok_or_else(|| {
            let message = format!("`{}` is no way to cut", word.get_ref());
            let hint = "write `keep`, `drop`, `head`, `tail` or `summarise`".to_owned();
            source.problem(Some(word.span()), message, Some(hint))
        })?;
    }
    match &raw.max_tokens {
        Some(most) if *most.get_ref() < rule.min_tokens => {
            let hint = Some("raise `max_tokens`".to_owned());
            Err(source.problem(Some(most.span()), "`min_tokens` is above `max_tokens`", hint))
        }
        _ => Ok(rule),
    }
}

/// Whether a text is a name of a template.
pub(crate) fn is_template_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// How a variable is used.
enum Usage<'a> {
    Value,
    Condition(Option<&'a str>),
    Loop,
}

fn misused(rule: &VariableRule, usage: Usage<'_>) -> Option<String> {
    match (usage, &rule.kind) {
        (Usage::Condition(Some(word)), VariableKind::Enum { values }) => {
            let is_known = values.iter().any(|value| value == word);
            (!is_known).then(|| {
                let hint = did_you_mean(word, values.iter().map(String::as_str));
                let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
                format!("`{word}` is none of {}{hint}", values.join(", "))
            })
        }
        (Usage::Condition(Some(_)), _) => Some("only an enum is compared with a word".to_owned()),
        (Usage::Loop, VariableKind::List { .. }) => None,
        (Usage::Loop, _) => Some("a loop goes over a list".to_owned()),
        (Usage::Value | Usage::Condition(None), _) => None,
    }
}

fn for_each_use<'a>(nodes: &'a [Node], call: &mut impl FnMut(&'a str, usize, Usage<'a>)) {
    for node in nodes {
        match node {
            Node::Text(_) | Node::Item | Node::Include { .. } => {}
            Node::Value { name, at } => call(name, *at, Usage::Value),
            Node::If { name, is, at, then, otherwise } => {
                call(name, *at, Usage::Condition(is.as_deref()));
                for_each_use(then, call);
                for_each_use(otherwise, call);
            }
            Node::Each { name, at, body } => {
                call(name, *at, Usage::Loop);
                for_each_use(body, call);
            }
        }
    }
}

fn for_each_include(nodes: &mut [Node], call: &mut impl FnMut(&mut String, usize)) {
    for node in nodes {
        match node {
            Node::Text(_) | Node::Item | Node::Value { .. } => {}
            Node::Include { reference, at } => call(reference, *at),
            Node::If { then, otherwise, .. } => {
                for_each_include(then, call);
                for_each_include(otherwise, call);
            }
            Node::Each { body, .. } => for_each_include(body, call),
        }
    }
}
