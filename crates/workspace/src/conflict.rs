//! Conflicts that a workspace holds: listing and deciding them.

mod decide;
mod dispute;

use offshoot_tree::{ConflictRecord, Entry, RecordedSide, RootId, Tree, TreeEditor, VaultPath};
use offshoot_vault::{Actor, NewContent, Vault, WorkspaceRecord};

use crate::edit::{EditKind, Edited, current, edit};
use crate::error::{Result, ServiceError};
use crate::side_label::{FOLDER_LABEL, HEAD_LABEL};

/// Something that is to be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenConflict {
    /// Where it is.
    pub path: VaultPath,
    /// What is shown there until it is decided, without the conflict.
    pub shown: Entry,
    /// Why, and what every side has.
    pub record: ConflictRecord,
}

impl OpenConflict {
    /// All conflicts of a state.
    pub fn all(tree: &Tree<'_>) -> Result<Vec<Self>> {
        Self::below(tree, &VaultPath::top())
    }

    /// Those at a path and below.
    pub fn below(tree: &Tree<'_>, path: &VaultPath) -> Result<Vec<Self>> {
        let found = tree.conflicts(path)?.into_iter();
        Ok(found.filter_map(|(path, entry)| Self::of(path, entry)).collect())
    }

    fn of(path: VaultPath, mut shown: Entry) -> Option<Self> {
        let record = *shown.conflict.take()?;
        Some(Self { path, shown, record })
    }

    /// The sides that did something to it, with what they have; all where none did.
    pub(crate) fn active_sides(&self) -> Vec<&RecordedSide> {
        let all = self.record.sides.iter();
        let active: Vec<&RecordedSide> =
            all.clone().filter(|side| side.version != self.record.base).collect();
        if active.is_empty() { all.collect() } else { active }
    }

    /// The side with a label. The main line is `folder` and `head` alike: markers had the latter once.
    pub(crate) fn side_called(&self, name: &str) -> Option<&RecordedSide> {
        let labelled = |label: &str| self.record.sides.iter().find(|side| side.label == label);
        labelled(name).or_else(|| match name {
            HEAD_LABEL => labelled(FOLDER_LABEL),
            FOLDER_LABEL => labelled(HEAD_LABEL),
            _ => None,
        })
    }

    /// What a side is to be called by: its label, or its number where several share one.
    pub fn side_names(&self) -> Vec<String> {
        let labels: Vec<&str> = self.record.sides.iter().map(|side| side.label.as_str()).collect();
        let name = |(at, label): (usize, &&str)| {
            let unique = labels.iter().filter(|other| *other == label).count() == 1;
            if unique { (*label).to_owned() } else { (at + 1).to_string() }
        };
        labels.iter().enumerate().map(name).collect()
    }
}

/// How to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// What the first side has that did something to it.
    First,
    /// What the last side has that did something to it.
    Last,
    /// What a side has: by its label, its number from 1, or `base`.
    Side(String),
    /// What it was before the sides.
    Base,
    /// The lines of all sides, one after the other where they differ; for texts.
    Union,
    /// Something else, which is stored already.
    Content(NewContent),
    /// What is shown.
    AsIs,
}

/// What else to know about a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResolveOptions {
    /// Texts with markers left are taken.
    pub force: bool,
    /// All of the chosen side is taken, not only its lines where the sides do not fit.
    pub whole: bool,
}

/// What was decided.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The conflicts.
    pub paths: Vec<VaultPath>,
    /// Those where all of one side was taken.
    pub whole: Vec<VaultPath>,
    /// How many are left.
    pub left: u64,
    /// What that changed.
    pub edited: Edited,
}

/// Lists and decides conflicts.
#[derive(Debug)]
pub struct ConflictService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

impl<'a> ConflictService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// The conflicts of a state, at these paths and below; all of them where there are none. A path without one is an error.
    pub fn list(&self, root: &RootId, paths: &[VaultPath]) -> Result<Vec<OpenConflict>> {
        let tree = self.vault.tree(root)?;
        if paths.is_empty() {
            return OpenConflict::all(&tree);
        }
        let mut all: Vec<OpenConflict> = Vec::new();
        for path in paths {
            let found = OpenConflict::below(&tree, path)?;
            if found.is_empty() {
                return Err(ServiceError::NoConflict(path.to_string()));
            }
            all.extend(found);
        }
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all.dedup_by(|a, b| a.path == b.path);
        Ok(all)
    }

    /// How many conflicts a state has; known without looking for them.
    pub fn count(&self, root: &RootId) -> Result<u64> {
        Ok(self.vault.tree(root)?.conflict_count())
    }

    /// What a side, or `base`, has of a conflict; nothing where it is not there.
    pub fn version(&self, conflict: &OpenConflict, side: &str) -> Result<Option<Entry>> {
        let version = decide::named(conflict, side)?;
        Ok(version.map(|version| version.entry.clone()))
    }

    /// Decides conflicts at these paths and below, all where there are none. Where a side is chosen for a text, that is about the lines
    /// that do not fit; all else stays as it was merged.
    pub fn resolve(
        &self,
        workspace: &WorkspaceRecord,
        paths: &[VaultPath],
        resolution: &Resolution,
        options: ResolveOptions,
    ) -> Result<Resolved> {
        let _held = self.vault.hold()?;
        let names: Vec<String> = paths.iter().map(VaultPath::to_string).collect();
        let what = if names.is_empty() { "all conflicts".to_owned() } else { names.join(" ") };
        let summary = format!("resolve {what}");
        let words =
            EditKind { kind: "resolve", reason: "resolve", summary: &summary, stamps: false };
        let mut decided: Vec<VaultPath> = Vec::new();
        let mut whole: Vec<VaultPath> = Vec::new();
        let change = |editor: &mut TreeEditor<'_>| {
            let root = self.vault.snapshot(&current(self.vault, workspace)?.state.head)?.root;
            let conflicts = self.list(&root, paths)?;
            decided = conflicts.iter().map(|conflict| conflict.path.clone()).collect();
            let tree = &self.vault.tree(&root)?;
            let decider = decide::Decider { vault: self.vault, tree, resolution, options };
            whole.clear();
            // Putting a directory takes what is in it as it was, so directories come first, each after its parent.
            let (folders, others): (Vec<_>, Vec<_>) =
                conflicts.iter().partition(|conflict| conflict.shown.directory().is_some());
            for conflict in folders.into_iter().chain(others) {
                if decider.decide(editor, conflict)? {
                    whole.push(conflict.path.clone());
                }
            }
            whole.sort_unstable();
            Ok(())
        };
        let edited = edit((self.vault, None), &self.actor, workspace, words, change, |_| Ok(()))?;
        let left = self.count(&edited.snapshot.root)?;
        Ok(Resolved { paths: decided, whole, left, edited })
    }
}
