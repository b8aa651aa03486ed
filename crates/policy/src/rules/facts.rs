//! What rules look at in one part of a command line.

use std::borrow::Cow;
use std::path::Path;

use offshoot_vocabulary::CommandPart;

use crate::category::Categories;
use crate::context::Context;
use crate::judged::Judged;
use crate::rules::built_in::effective;
use crate::script::{ShellWord, WordPiece};

/// Where programs of the system lie. A rule that allows `git` means the one in there, not any file of that name.
const SYSTEM_PROGRAMS: [&str; 6] =
    ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/"];

/// One part and what surrounds it.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) judged: &'a Judged,
    pub(crate) context: &'a Context,
    /// The categories that count.
    pub(crate) categories: Categories,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(judged: &'a Judged, context: &'a Context) -> Self {
        Self { judged, context, categories: effective(judged.categories, context) }
    }

    pub(crate) fn is_program(&self) -> bool {
        self.judged.part == CommandPart::Program
    }

    /// The program as it was written, where it is known.
    pub(crate) fn program(&self) -> Option<Cow<'a, str>> {
        self.judged.words.first().and_then(text)
    }

    /// Whether all words are known.
    pub(crate) fn all_known(&self) -> bool {
        self.judged.words.iter().all(|word| text(word).is_some())
    }

    /// The words from a wrapper on, that one included; with the number of wrappers, those of the program alone.
    pub(crate) fn words_from(
        &self,
        wrapper: usize,
    ) -> impl Iterator<Item = Option<Cow<'a, str>>> + Clone {
        let wrappers = self.judged.wrappers.get(wrapper..).unwrap_or_default();
        let wrappers = wrappers.iter().flat_map(|wrapper| wrapper.split_whitespace());
        wrappers.map(|word| Some(Cow::Borrowed(word))).chain(self.judged.words.iter().map(text))
    }

    /// The words joined with single spaces, as they were written.
    pub(crate) fn joined(&self) -> String {
        let mut joined = String::with_capacity(64);
        for (index, word) in self.judged.words.iter().enumerate() {
            if index > 0 {
                joined.push(' ');
            }
            word.display_into(&mut joined);
        }
        joined
    }

    /// How much of the joined words is the path ahead of the program's name.
    pub(crate) fn before_name(&self) -> usize {
        let program = self.judged.words.first().map(ShellWord::display).unwrap_or_default();
        program.len() - name(&program).len()
    }

    /// A path as it is below the workspace, where it is.
    pub(crate) fn inside<'p>(&self, path: &'p str) -> Option<Cow<'p, str>> {
        let below = below(path, &self.context.workspace)?;
        Some(Cow::Borrowed(if below.is_empty() { "." } else { below }))
    }

    /// A path as `~` and what is below it, where it is in the user's home.
    pub(crate) fn at_home(&self, path: &str) -> Option<String> {
        match below(path, self.context.home.as_deref()?)? {
            "" => Some("~".to_owned()),
            below => Some(format!("~/{below}")),
        }
    }
}

/// The text of a word, where nothing in it depends on variables or on the files that there are.
pub(crate) fn text(word: &ShellWord) -> Option<Cow<'_, str>> {
    let is_known = |piece: &WordPiece| matches!(piece, WordPiece::Literal(_) | WordPiece::Tilde(_));
    match word.literal() {
        None if word.pieces.iter().all(is_known) => Some(Cow::Owned(word.display())),
        literal => literal,
    }
}

/// The last part of a program's path.
pub(crate) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Whether a program is the one that its name stands for.
pub(crate) fn is_system_program(program: &str) -> bool {
    match program.len() - name(program).len() {
        0 => true,
        place => SYSTEM_PROGRAMS.contains(&&program[..place]),
    }
}

fn below<'p>(path: &'p str, place: &Path) -> Option<&'p str> {
    if place.as_os_str().is_empty() {
        return None;
    }
    Path::new(path).strip_prefix(place).ok()?.to_str()
}
