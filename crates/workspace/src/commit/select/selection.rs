//! What somebody wants to commit.

use std::collections::BTreeMap;

use offshoot_tree::VaultPath;
use offshoot_vault::Binding;

use crate::error::Result;
use crate::git::TrackedPaths;
use crate::path_pattern::PathPattern;
use crate::trusted::TrustedTable;

/// What somebody decided about one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The change is committed.
    Take,
    /// It stays in the workspace.
    Leave,
    /// The file is committed with these bytes, and what is different from them stays.
    Content(Vec<u8>),
    /// The same with this mode, whatever it has in the workspace.
    File {
        /// The bytes.
        content: Vec<u8>,
        /// The permission bits.
        mode: u16,
    },
}

/// What may be committed although it is held back otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allow {
    /// Modes that run a program as somebody else.
    pub setuid: bool,
    /// What git runs by itself.
    pub git: bool,
    /// What something on the host runs or obeys without being asked.
    pub trusted: bool,
    /// Texts with markers of conflicts.
    pub markers: bool,
}

impl Allow {
    /// All of it.
    pub fn everything() -> Self {
        Self { setuid: true, git: true, trusted: true, markers: true }
    }
}

/// Tells whether git tracks a path.
pub type Tracked<'a> = &'a dyn Fn(&VaultPath) -> Result<bool>;

/// What to commit.
#[derive(Clone)]
pub struct Selection<'a> {
    /// Only these; all where there are none.
    pub only: Vec<PathPattern>,
    /// Not these.
    pub exclude: Vec<PathPattern>,
    /// Also what ignore files ignore.
    pub ignored: bool,
    /// Also what is held back for safety.
    pub allow: Allow,
    /// Of what is held back for safety, these.
    pub take: Vec<PathPattern>,
    /// Which files something on the host runs or obeys without being asked.
    pub trusted: &'a TrustedTable,
    /// What was decided path by path. A path that is not in it is taken.
    pub choices: BTreeMap<VaultPath, Choice>,
    /// Which paths git tracks: an ignored one that it tracks is committed. Only asked for ignored paths.
    pub tracked: Tracked<'a>,
    /// The git of the folders, which is asked what it obeys on the host beside what the vault has; without it that does not count.
    pub git: Option<&'a TrackedPaths>,
}

impl Default for Selection<'_> {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            exclude: Vec::new(),
            ignored: false,
            allow: Allow::default(),
            take: Vec::new(),
            trusted: TrustedTable::built_in(),
            choices: BTreeMap::new(),
            tracked: &|_| Ok(false),
            git: None,
        }
    }
}

impl Selection<'_> {
    /// The same in a vault with these folders: without any there is nothing to keep anything from.
    pub(crate) fn in_folders(self, bindings: &[Binding]) -> Self {
        match bindings.is_empty() {
            true => Self { ignored: true, allow: Allow::everything(), ..self },
            false => self,
        }
    }
}

impl std::fmt::Debug for Selection<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { only, exclude, ignored, allow, take, trusted: _, choices, tracked: _, git: _ } =
            self;
        f.debug_struct("Selection")
            .field("only", only)
            .field("exclude", exclude)
            .field("ignored", ignored)
            .field("allow", allow)
            .field("take", take)
            .field("choices", choices)
            .finish_non_exhaustive()
    }
}
