//! What would have let a request run.

use offshoot_vocabulary::{CommandPart, PathAccess, PolicyLayer};

use crate::category::Categories;
use crate::context::Context;
use crate::judged::Judged;
use crate::parse::parse_text;
use crate::rules::built_in::{built_in, effective};
use crate::rules::facts::{Facts, is_system_program, name};
use crate::script::ShellWord;
use crate::verdict::part::PartVerdict;
use crate::verdict::remedy::Remedy;
use crate::verdict::rule_info::RuleInfo;

/// Wrappers that run a text and bring nothing of their own.
const SHELLS: [&str; 3] = ["sh -c", "bash -c", "dash -c"];

/// The smallest rules of the user that would have let all parts run, or why there are none. `is_taken` says whether the user
/// has a rule of a name.
pub(crate) fn remedy(
    parts: &[PartVerdict],
    context: &Context,
    is_taken: impl Fn(&str) -> bool,
) -> Remedy {
    let mut rules: Vec<Allowing> = Vec::new();
    for part in parts.iter().filter(|part| !part.decision.runs()) {
        // A default of the user's own layer holds for what no rule of that layer names.
        let by_default = part.rule.layer == PolicyLayer::User && part.rule.is_default;
        if part.rule.layer != PolicyLayer::BuiltIn && !by_default {
            return Remedy::none(why_it_stays(&part.rule));
        }
        match allowing(part, context) {
            Ok(rule) if rules.iter().any(|other| other.matcher == rule.matcher) => {}
            Ok(mut rule) => {
                let is_used = |name: &str| is_taken(name) || rules.iter().any(|r| r.name == name);
                rule.name = unused(&rule.name, is_used);
                rules.push(rule);
            }
            Err(advice) => return Remedy::none(advice),
        }
    }
    let advice = match rules.len() {
        1 => "a rule in the user's file would allow it",
        _ => "rules in the user's file would allow it",
    };
    let rules: Vec<String> = rules.iter().map(Allowing::to_toml).collect();
    Remedy { rule: Some(rules.join("\n")), exact: None, inexact: None, advice: advice.to_owned() }
}

/// A rule that allows one command and nothing else, in the directory and with the network that it has. There is none where the same
/// words may do something else: with other variables, another input or another way to run them.
pub(crate) fn exact(
    alone: &[ShellWord],
    judged: &Judged,
    context: &Context,
    is_taken: impl Fn(&str) -> bool,
) -> Result<String, &'static str> {
    if !context.environment.is_empty() {
        return Err("it was given variables, which no rule names");
    }
    if judged.runs_input {
        return Err("it runs what it reads");
    }
    if judged.part != CommandPart::Program
        || judged.has_arguments
        || !judged.wrapped.is_read_only()
        || !is_run_by(alone, judged)
    {
        return Err("it is more than a program and its words");
    }
    let unknown = "the directory that it runs in is not known beforehand";
    let directory = judged.directory.as_deref().ok_or(unknown)?;
    let words: Option<Vec<_>> = Facts::new(judged, context).words_from(0).collect();
    let words =
        words.ok_or("its words are known only when it runs, such as those of * or $NAME")?;
    if words.iter().any(|word| is_lossy(word)) {
        return Err("it has a word that is not UTF-8, which no rule can name");
    }
    // Rules see no difference between the home and a file that is called `~`.
    if words.iter().any(|word| word.starts_with('~')) {
        return Err("it has a word that starts with ~, which rules read as the home");
    }
    let shown: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let quoted: Vec<String> = shown.iter().map(|word| quote(word)).collect();
    let (directory, network) = (quote(directory), quote(context.network.as_str()));
    let mut matcher = format!(
        "prefix = [{}]\nexact = true\ncwd = {directory}\nnetwork = {network}\n",
        quoted.join(", ")
    );
    if context.unconfined {
        matcher.push_str("unconfined = true\n");
    }
    let name = unused(&rule_name(&shown), is_taken);
    Ok(Allowing { name, matcher }.to_toml())
}

/// Whether the words of a request are those of the program that was judged, or give a shell a text of just these.
fn is_run_by(alone: &[ShellWord], judged: &Judged) -> bool {
    let is_text = |word: &ShellWord| {
        let text = word.literal().unwrap_or_default();
        parse_text(text.as_bytes()).alone() == Some(&judged.words)
    };
    match judged.wrappers.as_slice() {
        [] => alone == judged.words,
        [wrapper] if SHELLS.contains(&wrapper.as_str()) => alone.iter().any(is_text),
        _ => false,
    }
}

/// A rule that lets something run.
struct Allowing {
    name: String,
    matcher: String,
}

impl Allowing {
    fn to_toml(&self) -> String {
        let name = quote(&self.name);
        let matcher = &self.matcher;
        format!("[[rule]]\nname = {name}\ndecision = \"allow_with_checkpoint\"\n{matcher}")
    }
}

/// A name that no other rule has.
fn unused(name: &str, is_used: impl Fn(&str) -> bool) -> String {
    let numbered = (2_usize..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !is_used(name)).unwrap_or_default()
}

/// Why adding a rule of the user does not help against a rule that has decided.
pub(crate) fn why_it_stays(rule: &RuleInfo) -> String {
    let RuleInfo { layer, name, file, .. } = rule;
    let file = file.as_deref().unwrap_or("what is built in");
    match layer {
        PolicyLayer::User => format!(
            "`{name}` in {file} says so, and the strictest rule of a layer counts: change it there"
        ),
        _ => format!(
            "no rule of the user can allow it: `{name}` in {file}, a rule of the {layer}, says so"
        ),
    }
}

/// The smallest rule that lets a part run.
fn allowing(part: &PartVerdict, context: &Context) -> Result<Allowing, String> {
    let judged = &part.judged;
    let mut rule = match judged.part {
        _ if judged.unread => Err(no_rule("what was not read")),
        CommandPart::Program if judged.runs_input => {
            Err(no_rule("a program that runs what it reads"))
        }
        CommandPart::Program => program(judged, context),
        // Without walls a rule says which command it is about.
        CommandPart::Redirection if context.unconfined => {
            Err(no_rule("a redirection of a command without walls"))
        }
        CommandPart::Redirection => match judged.paths.as_slice() {
            [touched] => Ok(path(touched.access, &touched.path)),
            _ => Err(no_rule("a redirection to a file that is not known beforehand")),
        },
        CommandPart::Assignment => Err(no_rule("setting this variable")),
        CommandPart::Unclear => Err(no_rule("what could not be understood")),
    }?;
    if context.unconfined {
        rule.matcher.push_str("unconfined = true\n");
    }
    Ok(rule)
}

/// Whether a word may stand for others: what is no UTF-8 is read as U+FFFD.
fn is_lossy(word: &str) -> bool {
    word.contains('\u{fffd}')
}

fn no_rule(what: &str) -> String {
    format!("no rule can allow {what}: a person has to approve it")
}

/// A rule for a program: all of its words and no others. Fewer would allow what nobody looked at, such as every script of an interpreter.
fn program(judged: &Judged, context: &Context) -> Result<Allowing, String> {
    let stops = |categories: Categories| {
        !built_in(effective(categories, context), context.network).decision.runs()
    };
    let facts = Facts::new(judged, context);
    // Rights that a wrapper brings are only allowed by a rule that begins with it.
    let start = if stops(judged.wrapped) { 0 } else { judged.wrappers.len() };
    if start < judged.wrappers.len() && judged.has_arguments {
        return Err(no_rule("a text for the shell that is given arguments"));
    }
    let before = facts.words_from(start).count() - judged.words.len();
    let Some(mut words) = facts.words_from(start).collect::<Option<Vec<_>>>() else {
        return Err(no_rule("a command whose words are not known beforehand"));
    };
    if words.iter().any(|word| is_lossy(word)) {
        return Err(no_rule("a command with a word that is not UTF-8"));
    }
    if let Some(program) = words.get_mut(before).filter(|program| is_system_program(program)) {
        *program = name(program).to_owned().into();
    }
    let shown: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let quoted: Vec<String> = shown.iter().map(|word| quote(word)).collect();
    let name = rule_name(&shown);
    Ok(Allowing { name, matcher: format!("prefix = [{}]\nexact = true\n", quoted.join(", ")) })
}

fn path(access: PathAccess, path: &str) -> Allowing {
    let glob = quote(&globset::escape(path));
    let access = access.as_str();
    let matcher = format!("path = {glob}\naccess = \"{access}\"\n");
    Allowing { name: rule_name(&[access, path]), matcher }
}

/// A name made of words.
fn rule_name(words: &[&str]) -> String {
    let mut name = "allow".to_owned();
    for part in words.iter().flat_map(|word| word.split(|c: char| !c.is_alphanumeric())) {
        if !part.is_empty() && name.len() < 40 {
            name.push('-');
            name.push_str(part);
        }
    }
    name
}

/// A text as TOML writes it.
fn quote(text: &str) -> String {
    toml::Value::from(text).to_string()
}
