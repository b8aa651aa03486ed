//! What commands of the shell do to the shell itself.

use std::borrow::Cow;

use offshoot_vocabulary::EffectCategory;

use crate::knowledge::Tool;
use crate::script::ShellWord;

use super::Classifier;
use super::command::Inner;
use super::operands::variable;
use super::program::Work;
use super::words;

impl Classifier<'_> {
    /// What is particular to a command of the shell.
    pub(super) fn builtin(&mut self, tool: &'static Tool, work: &mut Work<'_, '_>) {
        match tool.name {
            "cd" | "pushd" => self.change_directory(work),
            "popd" => self.directories.go(None, work.scene.apart),
            "alias" => alias(work),
            "declare" => reference(work),
            "wait" => waits(work),
            "test" | "[" => test(work),
            _ => {}
        }
    }

    fn change_directory(&mut self, work: &Work<'_, '_>) {
        let to = match work.reading.operands.first() {
            None => self.context.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            Some(word) => match word.literal().as_deref() {
                Some("-") => self.directories.before(),
                _ => self.directory(word),
            },
        };
        self.directories.go(to, work.scene.apart);
    }
}

/// `declare -n name=other`: what is assigned to the one reaches the other, and nobody sees it.
fn reference(work: &mut Work<'_, '_>) {
    if work.reading.options.iter().any(|given| given.name == "-n") {
        let why = "-n: makes another name for a variable, so nobody sees which one is set by it";
        work.draft.add(EffectCategory::Mutating, why);
    }
}

/// `wait -p name` sets a variable.
fn waits(work: &mut Work<'_, '_>) {
    let named = work.reading.options.iter().filter(|given| given.name == "-p");
    let named: Vec<_> = named.filter_map(|given| given.value).collect();
    named.into_iter().for_each(|value| variable(work, &value.word()));
}

/// `alias name=text`: the text is judged here, since nobody knows what is called by that name later.
fn alias(work: &mut Work<'_, '_>) {
    let defined: Vec<&ShellWord> =
        work.reading.operands.iter().copied().filter(|w| defines(w)).collect();
    for word in defined {
        let why = format!("{} gives a command another meaning", word.display());
        work.draft.add(EffectCategory::Mutating, why);
        work.inner.push(Inner::text(words::assigned(word), Some("text")));
    }
}

fn defines(word: &ShellWord) -> bool {
    word.literal().is_none_or(|text: Cow<'_, str>| text.contains('='))
}

/// `test -v 'a[$(rm x)]'` runs what stands in the index.
fn test(work: &mut Work<'_, '_>) {
    for pair in work.reading.operands.windows(2) {
        let asks = matches!(pair[0].beginning(), "-v" | "-R");
        let hidden = |text: Cow<'_, str>| text.contains("$(") || text.contains('`');
        if asks && pair[1].literal().is_some_and(hidden) {
            let why = format!("{} may run a command when it is evaluated", pair[1].display());
            work.draft.add(EffectCategory::Mutating, why);
        }
    }
}
