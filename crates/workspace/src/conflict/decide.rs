//! Putting a decision in the place of a conflict.

use std::path::Path;

use offshoot_host::Mtime;
use offshoot_text::decide::Pick;
use offshoot_text::markers::union;
use offshoot_tree::{Body, ConflictRecord, Entry, Meta, RecordedSide, Tree, TreeEditor, VaultPath};
use offshoot_tree::{ConflictKind, Version};
use offshoot_vault::{NewContent, Vault};

use super::{OpenConflict, Resolution, ResolveOptions, dispute};
use crate::error::{Result, ServiceError};

/// Decides conflicts in one way.
pub(super) struct Decider<'a> {
    pub(super) vault: &'a Vault,
    /// What is to be decided is in it.
    pub(super) tree: &'a Tree<'a>,
    pub(super) resolution: &'a Resolution,
    pub(super) options: ResolveOptions,
}

/// Whose version is taken: the base's, or that of a side.
#[derive(Clone, Copy)]
enum Chosen<'c> {
    Base(Option<&'c Version>),
    Side(&'c RecordedSide),
}

impl<'c> Chosen<'c> {
    fn version(self) -> Option<&'c Version> {
        match self {
            Self::Base(version) => version,
            Self::Side(side) => side.version.as_ref(),
        }
    }

    fn label(self) -> Option<&'c str> {
        match self {
            Self::Base(_) => None,
            Self::Side(side) => Some(&side.label),
        }
    }
}

/// What a side, or `base`, has of a conflict.
pub(super) fn named<'c>(conflict: &'c OpenConflict, name: &str) -> Result<Option<&'c Version>> {
    Ok(chosen(conflict, name)?.version())
}

fn chosen<'c>(conflict: &'c OpenConflict, name: &str) -> Result<Chosen<'c>> {
    let sides = &conflict.record.sides;
    if let Some(side) = conflict.side_called(name) {
        return Ok(Chosen::Side(side));
    }
    if name == "base" {
        return Ok(Chosen::Base(conflict.record.base.as_ref()));
    }
    let at = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    match at.and_then(|at| sides.get(at)) {
        Some(side) => Ok(Chosen::Side(side)),
        None => Err(ServiceError::NoSide {
            path: conflict.path.to_string(),
            side: name.to_owned(),
            sides: conflict.side_names(),
        }),
    }
}

impl Decider<'_> {
    /// Decides a conflict. Says whether all of one side was taken, and not only its lines where sides differ.
    pub(super) fn decide(
        &self,
        editor: &mut TreeEditor<'_>,
        conflict: &OpenConflict,
    ) -> Result<bool> {
        // It may have gone with another one, as something that was put beside.
        let Some(now) = editor.current(&conflict.path)?.filter(|entry| entry.conflict.is_some())
        else {
            return Ok(false);
        };
        if let Some(label) = dispute::chosen_side(conflict, self.resolution)? {
            dispute::give(editor, self.tree, conflict, now, label)?;
            return Ok(true);
        }
        let sides = conflict.active_sides();
        let chosen = match self.resolution {
            Resolution::AsIs => {
                self.check_markers(conflict, &conflict.shown.body)?;
                editor.put(&conflict.path, Entry { conflict: None, ..now })?;
                return Ok(false);
            }
            Resolution::Content(content) => {
                self.write(editor, conflict, now, *content)?;
                return Ok(false);
            }
            Resolution::Union => {
                let content = self.union(conflict)?;
                self.write(editor, conflict, now, content)?;
                return Ok(false);
            }
            Resolution::First => sides.first().copied().map(Chosen::Side),
            Resolution::Last => sides.last().copied().map(Chosen::Side),
            Resolution::Side(name) => Some(chosen(conflict, name)?),
            Resolution::Base => Some(Chosen::Base(conflict.record.base.as_ref())),
        };
        let lines = chosen.map(|chosen| self.lines(conflict, &now, chosen)).transpose()?.flatten();
        let version = chosen.and_then(Chosen::version);
        match lines {
            Some(lines) => {
                self.take(editor, conflict, now, Some(&lines))?;
                Ok(false)
            }
            None => {
                let is_whole = !conflict.record.kinds.iter().all(|kind| is_of_fields(*kind));
                self.take(editor, conflict, now, version)?;
                Ok(is_whole)
            }
        }
    }

    /// What is shown, with the lines of a side where they do not fit. Nothing where the file is not merged by lines, or the side has
    /// none, or all of the side is wanted.
    fn lines(
        &self,
        conflict: &OpenConflict,
        now: &Entry,
        chosen: Chosen<'_>,
    ) -> Result<Option<Version>> {
        let record = &conflict.record;
        let Some(version) = chosen.version().filter(|_| !self.options.whole) else {
            return Ok(None);
        };
        let (Body::File { blob: shown, .. }, Body::File { blob, .. }) =
            (&now.body, &version.entry.body)
        else {
            return Ok(None);
        };
        if !record.has_markers() {
            return Ok(None);
        }
        let objects = self.vault.objects()?;
        let (shown, own) = (objects.blob(shown)?, objects.blob(blob)?);
        let pick = Pick { label: chosen.label(), version: &own };
        let decided = pick.apply(&shown, &record.marker_lengths);
        let decided = decided.ok_or_else(|| ServiceError::Undecidable {
            path: conflict.path.to_string(),
            why: "has markers that were changed",
            whole: true,
        })?;
        let NewContent { blob, size, .. } = self.add(&decided)?;
        let entry = Entry { body: Body::File { size, blob }, ..version.entry.clone() };
        Ok(Some(Version { path: version.path.clone(), entry }))
    }

    fn add(&self, mut bytes: &[u8]) -> Result<NewContent> {
        Ok(self.vault.add_content(&mut bytes, Path::new("the merged file"))?)
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
        let disputed = dispute::dispute_at(editor, &place)?.filter(|_| place != conflict.path);
        for other in moved_to(editor, conflict, &place)? {
            let is_beside = |record: &ConflictRecord| record.beside.contains(&other);
            if !disputed.as_deref().is_some_and(is_beside) {
                editor.remove(&other)?;
            }
        }
        let Some(version) = chosen else { return remove(editor, &conflict.path) };
        let entry = match has(conflict, ConflictKind::DirectoryFile) {
            true => version.entry.clone(),
            false => decided(&conflict.record.kinds, now, &version.entry),
        };
        match disputed {
            // It is at that place or beside already, and what else wanted to be there is decided there.
            Some(record) if record.beside.contains(&conflict.path) => {
                Ok(editor.put(&conflict.path, entry)?)
            }
            Some(_) => Ok(()),
            None => {
                dispute::check_free(editor, conflict, &place, &entry)?;
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
        dispute::put_away_losers(editor, conflict)?;
        Ok(editor.put(&conflict.path, Entry::new(meta, body))?)
    }

    fn check_markers(&self, conflict: &OpenConflict, body: &Body) -> Result<()> {
        let Body::File { blob, .. } = body else { return Ok(()) };
        if self.options.force || !conflict.record.has_markers() {
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
        self.add(&union(&base, &sides))
    }
}

/// What stands where a side was chosen. All that is not in conflict stays as it was merged.
pub(super) fn decided(kinds: &[ConflictKind], now: Entry, chosen: &Entry) -> Entry {
    use ConflictKind::{Content, Mode, Owner, Xattr};
    let only_fields =
        |but: &[ConflictKind]| kinds.iter().all(|kind| is_of_fields(*kind) || but.contains(kind));
    let shows_directory = now.directory().is_some() && chosen.directory().is_some();
    let mtime = if now.body == chosen.body { chosen.meta.mtime } else { Mtime::now() };
    let mut entry = if shows_directory || only_fields(&[]) {
        now
    } else if only_fields(&[Content]) && now.kind() == chosen.kind() {
        let meta = Meta { mtime, ..now.meta };
        Entry { meta, body: chosen.body.clone(), ..now }
    } else {
        let meta = Meta { mtime, ..chosen.meta.clone() };
        return Entry { meta, conflict: None, ..chosen.clone() };
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

/// Whether a conflict of this kind is over fields that are chosen one by one.
fn is_of_fields(kind: ConflictKind) -> bool {
    use ConflictKind::{Mode, Owner, RenameRename, Xattr};
    matches!(kind, Mode | Owner | Xattr | RenameRename)
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
    ServiceError::Undecidable { path: conflict.path.to_string(), why, whole: false }
}
