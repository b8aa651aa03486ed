//! Deciding who gets a path that several files came to. The others go back to where the chosen side has them.

use offshoot_tree::{
    Body, ConflictRecord, DirRef, Entry, RecordedSide, Tree, TreeEditor, VaultPath,
};
use offshoot_tree::{ConflictKind, Version};

use super::decide::{decided, put, put_away_beside, remove, undecidable};
use super::{OpenConflict, Resolution};
use crate::error::Result;

/// The side that is to have its way about a path that several files came to; nothing where it is another conflict, or no side
/// is chosen.
pub(super) fn chosen_side<'c>(
    conflict: &'c OpenConflict,
    resolution: &Resolution,
) -> Result<Option<&'c str>> {
    if !is_dispute(&conflict.record) {
        return Ok(None);
    }
    let side = match resolution {
        Resolution::First => contenders(conflict).into_iter().next(),
        Resolution::Last => contenders(conflict).into_iter().last(),
        Resolution::Side(name) => {
            let at = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let numbered = at.and_then(|at| conflict.record.sides.get(at));
            let labelled = conflict.side_called(name);
            match labelled {
                None if name == "base" => return for_base(conflict),
                _ => labelled.or(numbered),
            }
        }
        Resolution::Base => return for_base(conflict),
        Resolution::Union | Resolution::Content(_) | Resolution::AsIs => None,
    };
    Ok(side.map(|side| side.label.as_str()))
}

/// What was there before says nothing of files that came from elsewhere.
fn for_base(conflict: &OpenConflict) -> Result<Option<&str>> {
    let is_elsewhere = |version: &Version| version.path != conflict.path;
    match conflict.record.versions().any(is_elsewhere) {
        true => Err(undecidable(conflict, "is over a file that was somewhere else before")),
        false => Ok(None),
    }
}

/// The sides that put something at the path, or took it away, in the order of the sides: one that has files elsewhere, too, is
/// recorded for each of them.
fn contenders(conflict: &OpenConflict) -> Vec<&RecordedSide> {
    let base = conflict.record.base.as_ref().filter(|base| base.path == conflict.path);
    let sides = &conflict.record.sides;
    let is_contender = |side: &&RecordedSide| match &side.version {
        // Who keeps a directory that is in question did something in it, though it is the same itself.
        Some(version) => {
            let is_directory = version.entry.directory().is_some();
            version.path == conflict.path && (is_directory || Some(version) != base)
        }
        None => base.is_some(),
    };
    let mut contenders: Vec<&RecordedSide> = sides.iter().filter(is_contender).collect();
    contenders.sort_by_key(|side| sides.iter().position(|other| other.label == side.label));
    contenders
}

fn is_dispute(record: &ConflictRecord) -> bool {
    record.kinds.iter().any(|kind| is_over_path(*kind))
}

fn is_over_path(kind: ConflictKind) -> bool {
    matches!(kind, ConflictKind::SamePath | ConflictKind::DirectoryFile)
}

/// The conflict at a path, where several files came to it.
pub(super) fn dispute_at(
    editor: &mut TreeEditor<'_>,
    path: &VaultPath,
) -> Result<Option<Box<ConflictRecord>>> {
    let record = editor.get(path)?.and_then(|entry| entry.conflict);
    Ok(record.filter(|record| is_dispute(record)))
}

/// Refuses where something else is at a path that a file is to have.
pub(super) fn check_free(
    editor: &mut TreeEditor<'_>,
    conflict: &OpenConflict,
    path: &VaultPath,
    wanted: &Entry,
) -> Result<()> {
    let taken = editor.get(path)?.filter(|found| found.conflict.is_none());
    match taken {
        Some(found) if *path != conflict.path && found.body != wanted.body => {
            Err(undecidable(conflict, TAKEN))
        }
        _ => Ok(()),
    }
}

const TAKEN: &str = "is over a file whose place has something else by now";

/// Gives the path to what a side has there. What else that side has of the files in question goes to where it has it.
pub(super) fn give(
    editor: &mut TreeEditor<'_>,
    tree: &Tree<'_>,
    conflict: &OpenConflict,
    now: Entry,
    label: &str,
) -> Result<()> {
    let dispute = Dispute::new(editor, conflict, now, label)?;
    let winner = dispute.winner()?;
    let returning = dispute.returning(editor, winner.as_ref().and_then(|(at, _)| *at))?;
    let directory = dispute.versions(true, true).find_map(|version| version.entry.directory());
    put_away_beside(editor, conflict)?;
    match winner {
        Some((_, entry)) => put(editor, &conflict.path, entry)?,
        None => remove(editor, &conflict.path)?,
    }
    if let Some(directory) = directory {
        fill(editor, tree, &conflict.path, directory)?;
    }
    for (path, entry) in returning {
        clear_way(editor, conflict, &path)?;
        put(editor, &path, entry)?;
    }
    Ok(())
}

/// Makes room for the directories of a file that goes back to where the chosen side has it: a link that another side made of one of them
/// goes. Anything else there is somebody's work, and not part of the decision.
fn clear_way(editor: &mut TreeEditor<'_>, conflict: &OpenConflict, path: &VaultPath) -> Result<()> {
    let mut above = path.parent();
    while let Some(directory) = above {
        if let Some(found) = editor.get(&directory)? {
            return match found.body {
                Body::Directory(_) => Ok(()),
                Body::Symlink { .. } => remove(editor, &directory),
                _ => Err(undecidable(conflict, TAKEN)),
            };
        }
        above = directory.parent();
    }
    Ok(())
}

/// Puts all that a side has in a directory into what is shown of it. What others did to it where that fits, and what is to be decided for
/// itself, stays.
fn fill(
    editor: &mut TreeEditor<'_>,
    tree: &Tree<'_>,
    path: &VaultPath,
    directory: &DirRef,
) -> Result<()> {
    for entry in tree.list(directory)? {
        let path = path.join(&entry.name);
        match (editor.get(&path)?, entry.directory()) {
            (Some(found), _) if found.conflict.is_some() => {}
            (Some(found), Some(below)) if found.directory().is_some() => {
                fill(editor, tree, &path, below)?;
            }
            (Some(found), None) if found.directory().is_none() => {}
            _ => editor.put(&path, entry)?,
        }
    }
    Ok(())
}

/// A path that several files came to, seen from the side that is to have its way.
struct Dispute<'c> {
    conflict: &'c OpenConflict,
    label: &'c str,
    /// What is shown at the path, then what was put beside, each with what else is to be decided about it.
    shown: Vec<(Entry, Vec<ConflictKind>)>,
}

impl<'c> Dispute<'c> {
    fn new(
        editor: &mut TreeEditor<'_>,
        conflict: &'c OpenConflict,
        now: Entry,
        label: &'c str,
    ) -> Result<Self> {
        let mut shown = vec![with_kinds(now)];
        for path in &conflict.record.beside {
            shown.extend(editor.get(path)?.map(with_kinds));
        }
        Ok(Self { conflict, label, shown })
    }

    fn versions(&self, is_chosen: bool, is_here: bool) -> impl Iterator<Item = &'c Version> {
        let (label, path) = (self.label, &self.conflict.path);
        let sides = self.conflict.record.sides.iter();
        let sides = sides.filter(move |side| (side.label == label) == is_chosen);
        let versions = sides.filter_map(|side| side.version.as_ref());
        versions.filter(move |version| (version.path == *path) == is_here)
    }

    /// What the side has at the path, with what others did to the same file, and which of the shown it is.
    fn winner(&self) -> Result<Option<(Option<usize>, Entry)>> {
        let Some(version) = self.versions(true, true).next() else { return Ok(None) };
        if version.entry.directory().is_some() {
            let entry = decided(&[], self.shown[0].0.clone(), &version.entry);
            let is_shown = entry.directory().is_some();
            let entry = if is_shown { entry } else { version.entry.clone() };
            return Ok(Some((is_shown.then_some(0), entry)));
        }
        let at = self.shown_as(version)?;
        let entry = at.map_or_else(|| version.entry.clone(), |at| self.settled(at, version));
        Ok(Some((at, entry)))
    }

    /// Which of the shown a version at the path has become. What another side did to the same file may be in it.
    fn shown_as(&self, version: &Version) -> Result<Option<usize>> {
        let bodies = || self.shown.iter().map(|(entry, _)| &entry.body).enumerate();
        if let Some((at, _)) = bodies().find(|(_, body)| **body == version.entry.body) {
            return Ok(Some(at));
        }
        let others: Vec<&Body> = self
            .versions(false, true)
            .chain(self.versions(true, false))
            .map(|version| &version.entry.body)
            .collect();
        let is_open = |body: &Body| !matches!(body, Body::Directory(_)) && !others.contains(&body);
        let open: Vec<usize> =
            bodies().filter(|(_, body)| is_open(body)).map(|(at, _)| at).collect();
        match open.as_slice() {
            [] => Ok(None),
            [at] => Ok(Some(*at)),
            _ => Err(undecidable(self.conflict, "is over several files that all sides changed")),
        }
    }

    /// What the side has of the other files, and where: they are not part of the decision.
    fn returning(
        &self,
        editor: &mut TreeEditor<'_>,
        winner: Option<usize>,
    ) -> Result<Vec<(VaultPath, Entry)>> {
        let versions: Vec<&Version> = self.versions(true, false).collect();
        let others: Vec<usize> = (0..self.shown.len())
            .filter(|at| Some(*at) != winner && self.shown[*at].0.directory().is_none())
            .collect();
        let mut returning = Vec::new();
        for version in &versions {
            if let Some(found) = editor.get(&version.path)? {
                let is_it = found.body == version.entry.body
                    || self.conflict.record.kinds.contains(&ConflictKind::RenameRename);
                if !is_it {
                    return Err(undecidable(self.conflict, TAKEN));
                }
                continue;
            }
            let entry = match (winner, others.as_slice(), versions.len()) {
                (Some(_), [at], 1) => self.settled(*at, version),
                _ => version.entry.clone(),
            };
            returning.push((version.path.clone(), entry));
        }
        Ok(returning)
    }

    /// What is shown of a version, where nothing else is to be decided about it.
    fn settled(&self, at: usize, version: &Version) -> Entry {
        let (shown, kinds) = &self.shown[at];
        decided(kinds, Entry { conflict: None, ..shown.clone() }, &version.entry)
    }
}

/// Something that is shown, with what is to be decided about it but for its place.
fn with_kinds(entry: Entry) -> (Entry, Vec<ConflictKind>) {
    let is_other =
        |kind: &ConflictKind| !is_over_path(*kind) && *kind != ConflictKind::RenameDelete;
    let kinds = entry.conflict.iter().flat_map(|record| record.kinds.iter().copied());
    let kinds = kinds.filter(is_other).collect();
    (entry, kinds)
}

/// Removes what was put beside and is no more than what a side has at the path itself.
pub(super) fn put_away_losers(editor: &mut TreeEditor<'_>, conflict: &OpenConflict) -> Result<()> {
    for path in &conflict.record.beside {
        let found = editor.get(path)?;
        let is_loser = |version: &Version| {
            version.path == conflict.path
                && found.as_ref().is_some_and(|entry| entry.body == version.entry.body)
        };
        if conflict.record.versions().any(is_loser) {
            remove(editor, path)?;
        }
    }
    Ok(())
}
