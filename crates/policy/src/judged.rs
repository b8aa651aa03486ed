//! A simple command after it was judged.

use std::borrow::Cow;

use offshoot_vocabulary::{CommandPart, EffectCategory, PathAccess};

use crate::category::Categories;
use crate::script::ShellWord;

/// One thing that a script does, and what kind of thing that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// What part of a simple command this is.
    pub part: CommandPart,
    /// The program and its arguments, wrappers removed; for other parts, what people should see.
    pub words: Vec<ShellWord>,
    /// The wrappers that were looked through, outermost first: `sudo`, `env`, `xargs`, `sh -c`.
    pub wrappers: Vec<String>,
    /// A shell among them gives its text arguments, as `sh -c TEXT A B` does, which are no words of it: no rule that begins with the shell
    /// is exact about it.
    pub has_arguments: bool,
    /// What kinds of thing it does, those of its wrappers included.
    pub categories: Categories,
    /// Those that its wrappers bring by themselves, such as the rights of `sudo`.
    pub wrapped: Categories,
    /// Why, at least one for each category.
    pub reasons: Vec<Reason>,
    /// The paths that it is known to touch.
    pub paths: Vec<TouchedPath>,
    /// It was not read, and may be anything: rules that forbid something forbid it as well.
    pub unread: bool,
    /// It runs code that comes on its input: the same words may do anything.
    pub runs_input: bool,
    /// The directory where it runs, an absolute path; none where that is not known, and for what is no program.
    pub directory: Option<String>,
}

/// How a reason ends that is about a path outside of the workspace.
pub(crate) const OUTSIDE: &str = ", outside the workspace";

/// What tells a program to do without the network.
const OFFLINE: [&str; 5] = [
    "--offline",
    "--no-index",
    "--prefer-offline",
    "--prefer-offline=true",
    "--no-build-isolation",
];

/// Programs that change files and connect to nobody, whatever their arguments are.
const ON_FILES_ALONE: [&str; 14] = [
    "chgrp", "chmod", "chown", "cp", "dd", "ln", "mkdir", "mv", "rm", "rmdir", "shred", "touch",
    "truncate", "unlink",
];
/// Where the system keeps them.
const SYSTEM_FOLDERS: [&str; 2] = ["/bin", "/usr/bin"];

impl Judged {
    /// What people call it: the program, and which of its commands.
    pub fn name(&self) -> String {
        let Some(program) = self.program() else { return "this command".to_owned() };
        let mut words = self.words.iter().skip(1).map_while(|word| word.literal());
        let is_command = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        match words.next().filter(|word| !word.starts_with('-') && is_command(word)) {
            Some(command) => format!("{program} {command}"),
            None => program,
        }
    }

    /// The name of the program, without the folders that lead to it.
    pub fn program(&self) -> Option<String> {
        let word = self.words.first().filter(|_| self.part == CommandPart::Program)?.literal()?;
        word.rsplit('/').next().map(str::to_owned)
    }

    /// Whether it says of itself that it does without the network.
    pub fn is_offline(&self) -> bool {
        let mut words = self.words.iter().filter_map(ShellWord::literal);
        words.any(|word| OFFLINE.contains(&&*word))
    }

    /// Whether it is known to make no use of the network: it is no program, only reads, or is one of those that work on files alone.
    pub fn stays_off_network(&self) -> bool {
        let works_on_files = || {
            let word = self.words.first().and_then(ShellWord::literal);
            let word = word.as_deref().unwrap_or_default();
            let name = word.rsplit_once('/').map_or(word, |(folder, name)| {
                if SYSTEM_FOLDERS.contains(&folder) { name } else { "" }
            });
            ON_FILES_ALONE.contains(&name)
        };
        !self.unread
            && !self.runs_input
            && !self.categories.contains(EffectCategory::Networked)
            && (self.part != CommandPart::Program
                || self.categories.is_read_only()
                || works_on_files())
    }

    /// Whether all that reaches beyond the workspace is that files are written or deleted there.
    pub fn only_writes_outside(&self) -> bool {
        let mut reaching =
            self.reasons.iter().filter(|reason| reason.category == EffectCategory::HostEscapeRisk);
        let writes = self.paths.iter().any(|touched| touched.access != PathAccess::Read);
        writes && reaching.all(|reason| reason.why.ends_with(OUTSIDE))
    }
}

/// Why a command has a category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The category.
    pub category: EffectCategory,
    /// Why it has it.
    pub why: Cow<'static, str>,
}

/// A path that a command touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedPath {
    /// What is done to it.
    pub access: PathAccess,
    /// Absolute, without `.` and `..`, as far as that can be said without looking.
    pub path: String,
}
