//! What a script does: each simple command is looked up in the knowledge and gets its categories.

mod arguments;
mod awk;
mod builtins;
mod code;
mod command;
mod directory;
mod draft;
mod finding;
mod operands;
mod path;
mod pattern;
mod program;
mod sed;
mod source;
#[cfg(test)]
mod tests;
mod words;

use std::borrow::Cow;

use offshoot_vocabulary::{CommandPart, EffectCategory};

use crate::category::Categories;
use crate::context::Context;
use crate::judged::{Judged, Reason};
use crate::knowledge;
use crate::script::{InputSource, NotUnderstood, Script, ShellWord, Simple};

use directory::Directories;
use draft::{Draft, Wrapper};
pub use path::credentials_in_home;
use source::Pending;

/// How deep commands may be wrapped in each other.
const DEEPEST: usize = 24;
const TOO_DEEP: &str = "commands are wrapped too deep to follow";

/// Judges everything that a script does, in the order of the script.
pub fn classify(script: &Script, context: &Context) -> Vec<Judged> {
    let mut classifier = Classifier::new(context);
    for (name, value) in &context.environment {
        classifier.assignment(name, &ShellWord::new(value.as_str()), false);
    }
    classifier.script(script, None);
    classifier.judged
}

/// What is known while a script is judged.
struct Classifier<'a> {
    context: &'a Context,
    directories: Directories,
    /// What is around the command, outermost first.
    wrappers: Vec<Wrapper>,
    judged: Vec<Judged>,
    /// Code of which only the end of a script shows where it comes from.
    pending: Vec<Pending>,
    /// How many scripts are around.
    level: usize,
}

/// What surrounds a program within its script.
#[derive(Clone, Copy)]
struct Scene<'s> {
    input: &'s InputSource,
    level: usize,
    /// It runs apart from the shell: what it changes there does not last.
    apart: bool,
    script: &'s Script,
    /// Where the text stands that this script is.
    outer: Option<&'s Scene<'s>>,
}

impl<'s> Scene<'s> {
    /// The scene whose input this one has in the end.
    fn with_input(&'s self) -> &'s Self {
        match (self.input, self.outer) {
            (InputSource::Inherited, Some(outer)) => outer.with_input(),
            _ => self,
        }
    }
}

impl<'a> Classifier<'a> {
    fn new(context: &'a Context) -> Self {
        Self {
            context,
            directories: Directories::new(context),
            wrappers: Vec::new(),
            judged: Vec::new(),
            pending: Vec::new(),
            level: 0,
        }
    }

    fn script(&mut self, script: &Script, outer: Option<&Scene<'_>>) {
        self.level += 1;
        let mut bounds = Vec::with_capacity(script.commands.len() + 1);
        bounds.push(self.judged.len());
        for simple in &script.commands {
            self.simple(simple, script, outer);
            bounds.push(self.judged.len());
        }
        for unclear in &script.unclear {
            self.unclear(unclear);
        }
        self.settle(script, &bounds);
        self.level -= 1;
    }

    fn simple(&mut self, simple: &Simple, script: &Script, outer: Option<&Scene<'_>>) {
        for assignment in &simple.assignments {
            self.assignment(&assignment.name, &assignment.value, simple.words.is_empty());
        }
        for redirect in &simple.redirects {
            self.redirect(redirect, simple.apart);
        }
        if simple.words.is_empty() {
            return;
        }
        let input = &simple.input;
        let scene = Scene { input, level: self.level, apart: simple.apart, script, outer };
        if simple.calls_function && self.is_only_function(simple) {
            return;
        }
        self.program(&simple.words, &scene);
    }

    /// Whether a word that names a function names nothing else: what the function does is judged where it is defined.
    fn is_only_function(&self, simple: &Simple) -> bool {
        let name = simple.words.first().and_then(ShellWord::literal);
        name.is_some_and(|name| knowledge::program(&name).is_none())
    }

    /// A variable that is set, if it matters to programs.
    fn assignment(&mut self, name: &str, value: &ShellWord, lasts: bool) {
        let Some(variable) = knowledge::variable(name) else { return };
        if !variable.matters(value.literal().as_deref()) || (variable.lasting && !lasts) {
            return;
        }
        let mut draft = Draft::default();
        draft.add_all(variable.adds, || format!("{name}: {}", variable.why).into());
        let shown = format!("{name}={}", value.display());
        self.emit(CommandPart::Assignment, vec![ShellWord::new(shown)], draft);
    }

    fn unclear(&mut self, unclear: &NotUnderstood) {
        let words = vec![ShellWord::new(unclear.text.as_str())];
        if unclear.unread {
            return self.unread(words, unclear.why.clone());
        }
        let mut draft = Draft::default();
        draft.add(EffectCategory::Mutating, unclear.why.clone());
        self.emit(CommandPart::Unclear, words, draft);
    }

    /// Something that was not read, and so may be anything: like code that is fetched or decoded, nobody sees it beforehand.
    fn unread(&mut self, words: Vec<ShellWord>, why: impl Into<Cow<'static, str>>) {
        let mut draft = Draft::default();
        draft.unread = true;
        let why = why.into();
        draft.add(EffectCategory::Mutating, why.clone());
        draft.add(EffectCategory::HostEscapeRisk, why);
        self.emit(CommandPart::Unclear, words, draft);
    }

    /// Puts down what was found, with what the wrappers bring.
    fn emit(&mut self, part: CommandPart, words: Vec<ShellWord>, draft: Draft) {
        let Draft { categories, mut reasons, mut paths, unread, runs_input, directory, .. } = draft;
        let mut wrapped = Categories::READ_ONLY;
        for wrapper in &self.wrappers {
            wrapped = wrapped.union(wrapper.draft.categories);
            reasons.extend(wrapper.draft.reasons.iter().cloned());
            paths.extend(wrapper.draft.paths.iter().cloned());
        }
        let categories = categories.union(wrapped);
        let wrappers = self.wrappers.iter().map(|wrapper| wrapper.name.clone()).collect();
        let has_arguments = self.wrappers.iter().any(|wrapper| wrapper.passes_arguments);
        debug_assert!(explained(categories.iter(), &reasons), "{words:?} {reasons:?}");
        self.judged.push(Judged {
            part,
            words,
            wrappers,
            has_arguments,
            categories,
            wrapped,
            reasons,
            paths,
            unread,
            runs_input,
            directory,
        });
    }
}

/// Whether each category has a reason.
fn explained(mut categories: impl Iterator<Item = EffectCategory>, reasons: &[Reason]) -> bool {
    categories.all(|category| {
        category == EffectCategory::ReadOnly
            || reasons.iter().any(|reason| reason.category == category)
    })
}
