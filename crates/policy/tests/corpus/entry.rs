//! One command and what it is.

use std::fmt::Write;
use std::path::PathBuf;

use offshoot_policy::script::Script;
use offshoot_policy::{
    Categories, Context, EffectCategory, Network, classify, parse_argv, parse_text,
};
use serde::Deserialize;

/// A command of the corpus.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// A text for the shell.
    run: Option<String>,
    /// Or a program and its arguments.
    argv: Option<Vec<String>>,
    /// The exact set of categories.
    pub(crate) is: String,
    pub(crate) group: String,
    /// Why it is so, where that is not plain to see.
    note: Option<String>,
}

#[derive(Deserialize)]
struct Corpus {
    command: Vec<Entry>,
}

/// The commands of a set.
pub(crate) fn read(text: &str) -> Vec<Entry> {
    let corpus: Corpus = toml::from_str(text).expect("the corpus is TOML of the agreed form");
    corpus.command
}

impl Entry {
    /// What people say that it is.
    pub(crate) fn expected(&self) -> Categories {
        let category =
            |word: &str| word.parse::<EffectCategory>().expect("a category of the design");
        self.is.split(' ').map(category).collect()
    }

    /// What the crate says that it is.
    pub(crate) fn judged(&self) -> Categories {
        let judged = classify(&self.script(), &context());
        judged.iter().fold(Categories::READ_ONLY, |all, one| all.union(one.categories))
    }

    fn script(&self) -> Script {
        match (&self.run, &self.argv) {
            (Some(text), None) => parse_text(text.as_bytes()),
            (None, Some(words)) => parse_argv(words),
            _ => panic!("either run or argv: {}", self.shown()),
        }
    }

    /// The command and the note on it, in one line.
    pub(crate) fn shown(&self) -> String {
        let mut line = match (&self.run, &self.argv) {
            (Some(text), _) => format!("{text:?}"),
            (None, words) => format!("{words:?}"),
        };
        if let Some(note) = &self.note {
            write!(line, "  ({note})").expect("a string takes everything");
        }
        line
    }
}

/// Where every command of the corpus would run.
fn context() -> Context {
    Context {
        workspace: PathBuf::from("/home/dev/project"),
        cwd: PathBuf::from("/home/dev/project"),
        home: Some(PathBuf::from("/home/dev")),
        network: Network::Host,
        ..Context::default()
    }
}
