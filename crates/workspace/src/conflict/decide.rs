//! Putting a decision in the place of a conflict.

use std::path::Path;

use offshoot_vault::merge::conflict::{ConflictKind, Version, union};
use offshoot_vault::{
    Body, ConflictRecord, Entry, Meta, Mtime, NewContent, TreeEditor, Vault, VaultPath,
};

use super::{OpenConflict, Resolution, place};
use crate::error::{Result, ServiceError};

/// Decides conflicts in one way.
pub(super) struct Decider<'a> {
    pub(super) vault: &'a Vault,
    pub(super) resolution: &'a Resolution,
    /// Markers that are left do not matter.
    pub(super) force: bool,
}

/// What a side, or `base`, has of a conflict.
pub(super) fn named<'c>(conflict: &'c OpenConflict, name: &str) -> Result<Option<&'c Version>> {
    let sides = &conflict.record.sides;
    if let Some(side) = sides.iter().find(|side| side.label == name) {
        return Ok(side.version.as_ref());
    }
    if name == "base" {
        return Ok(conflict.record.base.as_ref());
    }
    let at = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match at.and_then(|at| sides.get(at)) {
        Some(side) => Ok(side.version.as_ref()),
        None => Err(ServiceError::NoSide {
            path: conflict.path.to_string(),
            side: name.to_owned(),
            sides: conflict.side_names(),
        }),
    }
}

impl Decider<'_> {
    pub(super) fn decide(
        &self,
        editor: &mut TreeEditor<'_>,
        conflict: &OpenConflict,
    ) -> Result<()> {
        // It may have gone with another one, as something that was put beside.
        let Some(now) = editor.get(&conflict.path)?.filter(|entry| entry.conflict.is_some()) else {
            return Ok(());
        };
        if let Some(label) = place::chosen_side(conflict, self.resolution)? {
            return place::give(editor, conflict, now, label);
        }
        let sides = conflict.active_sides();
        let chosen = match self.resolution {
            Resolution::AsIs => {
                self.check_markers(conflict, &conflict.shown.body)?;
                return Ok(editor.put(&conflict.path, Entry { conflict: None, ..now })?);
            }
            Resolution::Content(content) => return self.write(editor, conflict, now, *content),
            Resolution::Union => {
                let content = self.union(conflict)?;
                return self.write(editor, conflict, now, content);
            }
            Resolution::First => sides.first().and_then(|side| side.version.as_ref()),
            Resolution::Last => sides.last().and_then(|side| side.version.as_ref()),
            Resolution::Side(name) => named(conflict, name)?,
            Resolution::Base => conflict.record.base.as_ref(),
        };
        self.take(editor, conflict, now, chosen)
    }

    /// Puts the version of a side in place, or nothing.
    fn take(
        &self,
        editor: &mut TreeEditor<'_>,
        conflict: &OpenConflict,
        now: Entry,
        chosen: Option<&Version>,
    ) -> Result<()> {
        put_away_beside(editor, conflict)?;
        let place = match chosen {
            Some(version) if has(conflict, ConflictKind::RenameRename) => version.path.clone(),
            _ => conflict.path.clone(),
        };
        let disputed = place::dispute_at(editor, &place)?.filter(|_| place != conflict.path);
        for other in moved_to(editor, conflict, &place)? {
            let is_beside = |record: &ConflictRecord| record.beside.contains(&other);
            if !disputed.as_deref().is_some_and(is_beside) {
                editor.remove(&other)?;
            }
        }
        let Some(version) = chosen else { return remove(editor, &conflict.path) };
        let entry = decided(&conflict.record.kinds, now, &version.entry);
        match disputed {
            // It is at that place or beside already, and what else wanted to be there is decided there.
            Some(record) if record.beside.contains(&conflict.path) => {
                Ok(editor.put(&conflict.path, entry)?)
            }
            Some(_) => Ok(()),
            None => {
                place::check_free(editor, conflict, &place, &entry)?;
                put(editor, &place, entry)
            }
        }
    }

    /// Puts other content in place.
    fn write(
        &self,
        editor: &mut TreeEditor<'_>,
        conflict: &OpenConflict,
        now: Entry,
        content: NewContent,
    ) -> Result<()> {
        let body = Body::File { size: content.size, blob: content.blob };
        self.check_markers(conflict, &body)?;
        let meta = match now.body {
            Body::Directory(_) => return Err(undecidable(conflict, "is over a directory")),
            Body::File { .. } => Meta { mtime: Mtime::now(), ..now.meta },
            _ => Meta::of_new(0o644),
        };
        place::put_away_losers(editor, conflict)?;
        Ok(editor.put(&conflict.path, Entry::new(meta, body))?)
    }

    fn check_markers(&self, conflict: &OpenConflict, body: &Body) -> Result<()> {
        let Body::File { blob, .. } = body else { return Ok(()) };
        if self.force || !conflict.record.has_markers() {
            return Ok(());
        }
        match conflict.record.is_marked(&self.vault.objects()?.blob(blob)?) {
            true => Err(ServiceError::StillMarked(conflict.path.to_string())),
            false => Ok(()),
        }
    }

    /// All lines of all sides.
    fn union(&self, conflict: &OpenConflict) -> Result<NewContent> {
        if !conflict.record.has_markers() {
            return Err(undecidable(conflict, "is not over lines of a text"));
        }
        let text = |version: Option<&Version>| match version.map(|version| &version.entry.body) {
            Some(Body::File { blob, .. }) => Ok(self.vault.objects()?.blob(blob)?),
            _ => Ok::<Vec<u8>, ServiceError>(Vec::new()),
        };
        let base = text(conflict.record.base.as_ref())?;
        let sides = conflict.record.sides.iter().map(|side| text(side.version.as_ref()));
        let sides: Vec<Vec<u8>> = sides.collect::<Result<_>>()?;
        let sides: Vec<&[u8]> = sides.iter().map(Vec::as_slice).collect();
        let bytes = union(&base, &sides);
        Ok(self.vault.add_content(&mut bytes.as_slice(), Path::new("the merged file"))?)
    }
}

/// What stands where a side was chosen. Of conflicts over metadata or places alone the merged content stays.
pub(super) fn decided(kinds: &[ConflictKind], now: Entry, chosen: &Entry) -> Entry {
    use ConflictKind::{Mode, Owner, RenameRename, Xattr};
    let only = |these: &[ConflictKind]| kinds.iter().all(|kind| these.contains(kind));
    let shows_directory = now.directory().is_some() && chosen.directory().is_some();
    let mut entry = if shows_directory || only(&[Mode, Owner, Xattr, RenameRename]) {
        now
    } else {
        let changes = now.body != chosen.body;
        let mtime = if changes { Mtime::now() } else { chosen.meta.mtime };
        return Entry {
            meta: Meta { mtime, ..chosen.meta.clone() },
            conflict: None,
            ..chosen.clone()
        };
    };
    if kinds.contains(&Mode) {
        entry.meta.mode = chosen.meta.mode;
    }
    if kinds.contains(&Owner) {
        (entry.meta.uid, entry.meta.gid) = (chosen.meta.uid, chosen.meta.gid);
    }
    if kinds.contains(&Xattr) {
        entry.meta.xattrs.clone_from(&chosen.meta.xattrs);
    }
    Entry { conflict: None, ..entry }
}

fn has(conflict: &OpenConflict, kind: ConflictKind) -> bool {
    conflict.record.kinds.contains(&kind)
}

/// Where else a file is that sides moved to different paths, but for the one where it stays.
fn moved_to(
    editor: &mut TreeEditor<'_>,
    conflict: &OpenConflict,
    stays: &VaultPath,
) -> Result<Vec<VaultPath>> {
    let mut others = Vec::new();
    if !has(conflict, ConflictKind::RenameRename) {
        return Ok(others);
    }
    let sides = conflict.record.sides.iter().filter_map(|side| side.version.as_ref());
    let paths = sides.map(|version| &version.path).chain([&conflict.path]);
    for path in paths.filter(|path| *path != stays) {
        let same = editor.get(path)?.and_then(|entry| entry.conflict).is_some_and(|record| {
            record.sides == conflict.record.sides
                && record.kinds.contains(&ConflictKind::RenameRename)
        });
        if same && !others.contains(path) {
            others.push(path.clone());
        }
    }
    Ok(others)
}

/// What could not be at the path goes with the decision about it.
pub(super) fn put_away_beside(editor: &mut TreeEditor<'_>, conflict: &OpenConflict) -> Result<()> {
    conflict.record.beside.iter().try_for_each(|path| remove(editor, path))
}

/// Puts something at a path, with the directories that it needs.
pub(super) fn put(editor: &mut TreeEditor<'_>, path: &VaultPath, entry: Entry) -> Result<()> {
    if let Some(parent) = path.parent() {
        editor.make_directories(&parent, &Meta::of_new(0o755))?;
    }
    Ok(editor.put(path, entry)?)
}

pub(super) fn remove(editor: &mut TreeEditor<'_>, path: &VaultPath) -> Result<()> {
    if editor.get(path)?.is_some() {
        editor.remove(path)?;
    }
    Ok(())
}

pub(super) fn undecidable(conflict: &OpenConflict, why: &'static str) -> ServiceError {
    ServiceError::Undecidable { path: conflict.path.to_string(), why }
}
