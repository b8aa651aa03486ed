//! What values of options and operands bring by their roles.

use std::borrow::Cow;

use offshoot_vocabulary::{EffectCategory, PathAccess};

use crate::knowledge::{self, Known, Language, Operands, Role};
use crate::script::{ShellWord, WordPiece};

use super::Classifier;
use super::arguments::Value;
use super::command::Inner;
use super::program::Work;
use super::words;

impl Work<'_, '_> {
    /// What runs beside or in place of the tool.
    fn runs(&mut self, inner: Inner) {
        self.inner.push(inner);
    }
}

impl Classifier<'_> {
    /// The values of options.
    pub(super) fn values(&mut self, work: &mut Work<'_, '_>) {
        for index in 0..work.reading.options.len() {
            let given = &work.reading.options[index];
            let (name, value) = (given.name, given.value);
            let (role, language, writes) = match given.known {
                Known::Value(role) => (role, Language::Other(""), false),
                Known::Matters(effect) => match effect.value {
                    Some(role) => (role, effect.language, work.reading.has_any(effect.write_with)),
                    None => continue,
                },
                Known::Flag | Known::Optional => continue,
            };
            let role = if writes { Role::Output } else { role };
            match value {
                None => missing(work, role, name),
                Some(Value::Words(words)) => work.runs(Inner::until(name, words.to_vec())),
                Some(value @ Value::JoinedWords(_, _, rest)) => {
                    let mut words = vec![value.word().into_owned()];
                    words.extend_from_slice(rest);
                    work.runs(Inner::until(name, words));
                }
                Some(_) if role == Role::Text => {}
                Some(value) => self.value(work, role, language, value.word(), Some(name)),
            }
        }
    }

    /// The operands, by the roles that the tool or its options give them.
    pub(super) fn operands(&mut self, work: &mut Work<'_, '_>) {
        for assignment in std::mem::take(&mut work.reading.assignments) {
            set(work, assignment);
        }
        let tool = work.reading.tool();
        let mut operands = work.reading.operands.clone();
        if let Some(first) = &tool.first
            && !work.reading.has_any(first.unless)
            && !operands.is_empty()
        {
            let word = operands.remove(0);
            self.value(work, first.role, tool.language, Cow::Borrowed(word), None);
        }
        let overrides: Vec<&'static Operands> = work.reading.overrides().collect();
        if overrides.is_empty() {
            self.roles(work, &tool.operands, &operands);
        }
        for roles in overrides {
            self.roles(work, roles, &operands);
        }
        self.input(work);
    }

    fn roles<'w>(&mut self, work: &mut Work<'w, '_>, roles: &Operands, operands: &[&'w ShellWord]) {
        let language = work.reading.tool().language;
        let ahead = roles.ahead.iter().filter(|role| **role != Role::Assignments);
        let mut rest = operands;
        for role in ahead.clone() {
            let Some((word, behind)) = rest.split_first() else { break };
            if word.splits() {
                break;
            }
            self.value(work, *role, language, Cow::Borrowed(*word), None);
            rest = behind;
        }
        // From a word on that may become several, or none, each may have any of the roles that are left.
        if rest.iter().any(|word| word.splits()) {
            for role in ahead.skip(operands.len() - rest.len()) {
                for word in rest {
                    self.value(work, *role, language, Cow::Borrowed(*word), None);
                }
            }
        }
        match roles.rest {
            Role::Shell if !rest.is_empty() => work.runs(Inner::text(joined(rest), None)),
            Role::LastWrite => self.last_write(work, rest),
            Role::Remote => self.remotes(work, rest),
            role => {
                for word in rest {
                    self.value(work, role, language, Cow::Borrowed(*word), None);
                }
            }
        }
    }

    /// `cp a b`: the last one is written. One alone is, too: where it is not known how many there are.
    fn last_write(&mut self, work: &mut Work<'_, '_>, words: &[&ShellWord]) {
        let apart = work.scene.apart;
        let Some((last, others)) = words.split_last() else { return };
        for word in others {
            self.path(&mut work.draft, PathAccess::Read, word, apart);
        }
        self.path(&mut work.draft, PathAccess::Write, last, apart);
    }

    fn remotes(&mut self, work: &mut Work<'_, '_>, words: &[&ShellWord]) {
        let apart = work.scene.apart;
        for (index, word) in words.iter().enumerate() {
            if is_remote(word) {
                let why = format!("{} is on another machine", word.display());
                work.draft.add(EffectCategory::Networked, why);
            } else {
                let last = index + 1 == words.len();
                let access = if last && index > 0 { PathAccess::Write } else { PathAccess::Read };
                // What only reads stays so: it is for the tool to say whether it writes.
                let writes = work.draft.categories.contains(EffectCategory::Mutating);
                let access = if writes { access } else { PathAccess::Read };
                self.path(&mut work.draft, access, word, apart);
            }
        }
    }

    /// One value or operand by its role.
    pub(super) fn value<'w>(
        &mut self,
        work: &mut Work<'w, '_>,
        role: Role,
        language: Language,
        word: Cow<'w, ShellWord>,
        option: Option<&'static str>,
    ) {
        let apart = work.scene.apart;
        match role {
            Role::Text => {}
            Role::Read => self.path(&mut work.draft, PathAccess::Read, &word, apart),
            Role::Output if is_dash(&word) => {}
            Role::Write | Role::Output | Role::LastWrite => {
                self.path(&mut work.draft, PathAccess::Write, &word, apart);
            }
            Role::Delete => self.path(&mut work.draft, PathAccess::Delete, &word, apart),
            Role::Directory => {
                self.path(&mut work.draft, PathAccess::Read, &word, apart);
                work.directories.push(word.into_owned());
            }
            Role::Upload => {
                if let Some(path) = uploaded(&word) {
                    self.path(&mut work.draft, PathAccess::Read, &path, apart);
                }
            }
            Role::Assignments => set(work, &word),
            Role::Variable => variable(work, &word),
            Role::Command | Role::CommandUntil => {
                let name = option.unwrap_or_default();
                let why = format!("{name}: runs {}", word.display());
                work.draft.add(EffectCategory::Mutating, why);
                work.runs(Inner::fed(word.into_owned(), name));
            }
            Role::Shell => work.runs(Inner::text(word.into_owned(), option)),
            Role::Script => self.script_file(work, &word),
            Role::Code => self.code(work, language, &word, option),
            Role::Host => {
                let why = format!("{} is in the network", word.display());
                work.draft.add(EffectCategory::Networked, why);
            }
            Role::Remote => self.remotes(work, &[&word]),
        }
    }
}

/// An option whose value is missing, or comes from a word that nobody sees.
fn missing(work: &mut Work<'_, '_>, role: Role, name: &'static str) {
    let harmless = matches!(role, Role::Text | Role::Read);
    let optional =
        work.reading.effects().any(|(given, effect)| given.name == name && effect.optional);
    if !harmless && !optional {
        work.draft.add(EffectCategory::Mutating, format!("{name} is given without its value"));
    }
}

/// `NAME=value` as an operand.
fn set(work: &mut Work<'_, '_>, word: &ShellWord) {
    match words::assignment(word) {
        Some(name) => match knowledge::variable(name) {
            Some(variable) if variable.matters(words::assigned(word).literal().as_deref()) => {
                work.draft.add_all(variable.adds, || format!("{name}: {}", variable.why).into());
            }
            _ => runs_in_index(work, word),
        },
        None => variable(work, word),
    }
}

/// A variable that gets a value which nobody knows.
pub(super) fn variable(work: &mut Work<'_, '_>, word: &ShellWord) {
    let start = word.beginning();
    let name = words::leading_name(start);
    if let Some(variable) = knowledge::variable(name) {
        return work.draft.add_all(variable.adds, || format!("{name}: {}", variable.why).into());
    }
    if name.is_empty() && !matches!(word.pieces.first(), Some(WordPiece::Literal(_))) {
        let why = format!("which variable {} is, is only known when it runs", word.display());
        return work.draft.add(EffectCategory::Mutating, why);
    }
    runs_in_index(work, word);
}

/// The shell runs what stands in the index of an array: `a[$(rm x)]`.
fn runs_in_index(work: &mut Work<'_, '_>, word: &ShellWord) {
    let hidden = |piece: &WordPiece| match piece {
        WordPiece::Literal(text) => {
            text.contains("$(") || text.contains('`') || text.contains("${")
        }
        _ => false,
    };
    if word.pieces.iter().any(hidden) {
        let why = format!("{} may run a command when it is evaluated", word.display());
        work.draft.add(EffectCategory::Mutating, why);
    }
}

/// The file that is sent: `@path`, `name=@path`, `name=<path`.
fn uploaded(word: &ShellWord) -> Option<ShellWord> {
    let start = word.beginning();
    let at = if start.starts_with('@') {
        1
    } else {
        start.find("=@").or_else(|| start.find("=<")).map(|at| at + 2)?
    };
    Some(Value::Joined(word, at).word().into_owned())
}

fn is_dash(word: &ShellWord) -> bool {
    matches!(word.pieces.as_slice(), [WordPiece::Literal(text)] if text == "-")
}

/// Whether a word names a path on another machine: `host:path`, `rsync://…`.
fn is_remote(word: &ShellWord) -> bool {
    let start = word.beginning();
    let before_slash = start.split('/').next().unwrap_or_default();
    before_slash.contains(':')
        || matches!(word.pieces.get(1), Some(WordPiece::Literal(rest)) if rest.starts_with(':'))
}

/// Words as one text, as `eval` reads them.
fn joined(words: &[&ShellWord]) -> ShellWord {
    let mut pieces: Vec<WordPiece> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            pieces.push(WordPiece::Literal(" ".to_owned()));
        }
        pieces.extend(word.pieces.iter().cloned());
    }
    ShellWord { pieces }
}
