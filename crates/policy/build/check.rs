//! What the data must keep to beyond its shape.

use std::collections::BTreeMap;

use offshoot_vocabulary::{EffectCategory, Word};

use crate::Source;
use crate::format::{Effect, Tool, When};

const STYLES: &[&str] = &["gnu", "posix", "long", "keys", "tar", "none"];
const ROLES: &[&str] = &[
    "text",
    "read",
    "write",
    "output",
    "delete",
    "command",
    "command_until",
    "shell",
    "script",
    "code",
    "host",
    "remote",
    "variable",
    "directory",
    "upload",
];
/// These stand among operands alone.
const OPERAND_ROLES: &[&str] = &["last_write", "assignments", "skip"];
const INPUTS: &[&str] = &["script", "shell"];

/// Finds every fault; the text of the error has one a line.
pub(crate) fn check(sources: &[Source]) -> Result<(), String> {
    let mut faults = Vec::new();
    let mut seen = BTreeMap::new();
    for source in sources {
        for tool in &source.file.tool {
            for name in tool.names.split_whitespace() {
                if let Some(other) = seen.insert(name, &source.name) {
                    faults.push(format!("{}: {name}: is in {other} as well", source.name));
                }
            }
            let place = format!("{}: {}", source.name, first_name(tool));
            Checker { faults: &mut faults, place, outer: &[] }.tool(tool);
        }
        let mut checker = Checker { faults: &mut faults, place: source.name.clone(), outer: &[] };
        for variable in &source.file.variable {
            checker.categories(&variable.adds);
        }
        for place in &source.file.place {
            checker.demand(
                place.absolute.split_whitespace().all(|path| path.starts_with('/')),
                || format!("{}: an absolute path starts with /", place.absolute),
            );
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

struct Checker<'a> {
    faults: &'a mut Vec<String>,
    place: String,
    /// The tools around a subcommand, outermost first.
    outer: &'a [&'a Tool],
}

impl Checker<'_> {
    fn demand(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(format!("{}: {}", self.place, fault()));
        }
    }

    fn word(&mut self, kind: &str, word: &str, allowed: &[&str]) {
        self.demand(allowed.contains(&word), || {
            format!("{word} is no {kind}; these are: {}", allowed.join(" "))
        });
    }

    fn categories(&mut self, words: &str) {
        for word in words.split_whitespace() {
            self.word("category", word, &EffectCategory::names());
        }
        let has = |category| words.split_whitespace().any(|word| word == category);
        self.demand(!words.trim().is_empty(), || "there is an empty set of categories".to_owned());
        self.demand(!has("read_only") || words.trim() == "read_only", || {
            format!("read_only stands alone: {words}")
        });
        self.demand(!has("destructive") || has("mutating"), || {
            format!("destructive is mutating too: {words}")
        });
    }

    fn operands(&mut self, words: &str) {
        let mut words = words.split_whitespace().peekable();
        self.demand(words.peek().is_some(), || "operands is empty".to_owned());
        while let Some(word) = words.next() {
            self.demand(ROLES.contains(&word) || OPERAND_ROLES.contains(&word), || {
                format!(
                    "{word} is no role; these are: {} {}",
                    ROLES.join(" "),
                    OPERAND_ROLES.join(" ")
                )
            });
            if word == "skip" {
                let number = words.next().and_then(|word| word.parse::<u8>().ok());
                self.demand(number.is_some(), || "skip needs a number".to_owned());
                self.demand(words.peek().is_some(), || "a role follows skip".to_owned());
            }
            let rest = matches!(word, "last_write" | "command");
            self.demand(!rest || words.peek().is_none(), || format!("nothing follows {word}"));
        }
    }

    fn tool(&mut self, tool: &Tool) {
        self.demand(tool.names.split_whitespace().next().is_some(), || "has no name".to_owned());
        self.demand(!self.outer.is_empty() || !tool.about.is_empty(), || "has no about".to_owned());
        self.categories(&tool.is);
        if let Some(style) = &tool.style {
            self.word("style", style, STYLES);
        }
        for role in tool.operands.iter().chain(&tool.first) {
            self.operands(role);
        }
        self.demand(tool.unless.is_empty() || tool.first.is_some(), || {
            "unless goes with first".to_owned()
        });
        if let Some(input) = &tool.input {
            self.word("input", input, INPUTS);
        }
        self.demand(!tool.versioned || self.outer.is_empty(), || {
            "only programs are versioned".to_owned()
        });
        self.demand(!tool.default || !self.outer.is_empty(), || {
            "default is for subcommands".to_owned()
        });
        self.options_once(tool);
        for effect in &tool.option {
            self.effect(tool, effect);
        }
        for when in &tool.when {
            self.when(tool, when);
        }
        self.references(tool, &tool.unless);
        self.subcommands(tool);
    }

    fn options_once(&mut self, tool: &Tool) {
        let mut seen = BTreeMap::new();
        for (list, names) in lists(tool) {
            for name in names.split_whitespace() {
                let fits = name.len() > 1
                    && (name.starts_with(['-', '+'])
                        || (tool.style.as_deref() == Some("keys") && name.ends_with('=')));
                self.demand(fits, || format!("{name} is no name of an option"));
                if let Some(other) = seen.insert(name, list) {
                    self.demand(false, || format!("{name} is in {other} and in {list}"));
                }
            }
        }
    }

    fn effect(&mut self, tool: &Tool, effect: &Effect) {
        let names = &effect.names;
        let silent = effect.value.is_none()
            && effect.adds.is_none()
            && effect.is.is_none()
            && effect.operands.is_none()
            && effect.input.is_none();
        self.demand(!silent, || format!("{names} changes nothing: it belongs in flags"));
        self.demand(!effect.why.is_empty(), || format!("{names} has no why"));
        if let Some(value) = &effect.value {
            self.word("role of a value", value, ROLES);
        }
        self.demand(!effect.optional || effect.value.is_some(), || {
            format!("{names} has an optional value without a role")
        });
        for words in effect.adds.iter().chain(&effect.is) {
            self.categories(words);
        }
        if let Some(operands) = &effect.operands {
            self.operands(operands);
        }
        if let Some(input) = &effect.input {
            self.word("input", input, INPUTS);
        }
        let chosen = !effect.only.is_empty() || !effect.except.is_empty();
        self.demand(!chosen || effect.value.is_some(), || {
            format!("{names} has only or except, but takes no value")
        });
        self.references(tool, &effect.write_with);
    }

    fn when(&mut self, tool: &Tool, when: &When) {
        let bare = when.operands_at_least.is_none()
            && when.operands_at_most.is_none()
            && when.words.is_empty()
            && when.with.is_empty()
            && when.without.is_empty();
        self.demand(!bare, || "a when has no condition".to_owned());
        self.demand(when.adds.is_some() || when.is.is_some(), || {
            "a when changes nothing".to_owned()
        });
        self.demand(!when.why.is_empty(), || "a when has no why".to_owned());
        for words in when.adds.iter().chain(&when.is) {
            self.categories(words);
        }
        self.references(tool, &when.with);
        self.references(tool, &when.without);
    }

    /// Options that are spoken of must be there.
    fn references(&mut self, tool: &Tool, names: &str) {
        for name in names.split_whitespace() {
            let known = self.outer.iter().chain([&tool]).any(|tool| {
                lists(tool).any(|(_, names)| names.split_whitespace().any(|known| known == name))
            });
            self.demand(known, || format!("{name} is not among the options"));
        }
    }

    fn subcommands(&mut self, tool: &Tool) {
        let mut seen = BTreeMap::new();
        for sub in &tool.sub {
            for name in sub.names.split_whitespace() {
                if seen.insert(name, ()).is_some() {
                    self.demand(false, || format!("{name} is there twice"));
                }
            }
        }
        let defaults = tool.sub.iter().filter(|sub| sub.default).count();
        self.demand(defaults <= 1, || "has more than one default".to_owned());
        for sub in &tool.sub {
            let mut outer = self.outer.to_vec();
            outer.push(tool);
            let place = format!("{} {}", self.place, first_name(sub));
            Checker { faults: self.faults, place, outer: &outer }.tool(sub);
        }
    }
}

fn first_name(tool: &Tool) -> &str {
    tool.names.split_whitespace().next().unwrap_or_default()
}

/// All lists of options of a tool, with their names in the data.
fn lists(tool: &Tool) -> impl Iterator<Item = (&'static str, &str)> {
    let harmless = [
        ("flags", tool.flags.as_str()),
        ("values", &tool.values),
        ("reads", &tool.reads),
        ("optional", &tool.optional),
    ];
    harmless.into_iter().chain(tool.option.iter().map(|effect| ("option", effect.names.as_str())))
}
