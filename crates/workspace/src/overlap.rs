//! What every workspace has changed so far, and where two of them changed the same lines: found before the second one is committed.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use offshoot_store::Id;
use offshoot_text::lines::is_binary;
use offshoot_text::merge::TextMerge;
use offshoot_tree::diff::{Change, ChangeKind, compare};
use offshoot_tree::{Body, ConflictKind, Entry, EntryKind, Objects, RootId, Tree, VaultPath};
use offshoot_vault::{ExecNote, RunningExec, Vault, WorkspaceRecord};

use crate::error::Result;
use crate::git::TrackedPaths;
use crate::live::{LiveFile, LiveFiles, LiveService};
use crate::noise::{Noise, sorted};

/// After a command, at most so many of its files are looked for in other workspaces.
const MOST_COMPARED: usize = 1000;

/// What a workspace has that is not committed: what is recorded, and what a command that runs in it has written so far.
#[derive(Debug)]
pub struct WorkSoFar {
    /// The workspace.
    pub workspace: WorkspaceRecord,
    /// The commands that run in it, oldest first.
    pub running: Vec<ExecNote>,
    /// What differs from its base, without what is folded in lists.
    pub changes: Vec<Change>,
    /// How many more paths are build output or git's own.
    pub folded: u64,
    state: State,
}

/// Something that two workspaces changed in ways which do not fit together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// Where.
    pub path: VaultPath,
    /// What does not fit.
    pub kind: ConflictKind,
    /// The two.
    pub sides: [OverlapSide; 2],
}

/// One of two workspaces that changed the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlapSide {
    /// How it is called.
    pub workspace: String,
    /// The lines in its own version, first and last, counted from 1; none where the file is not merged by lines. Where it deleted lines, the
    /// one before them.
    pub lines: Vec<LineSpan>,
}

/// Finds what several workspaces changed at the same time. It waits for nobody, and nobody waits for it.
#[derive(Debug)]
pub struct OverlapService<'v> {
    vault: &'v Vault,
    tracked: Rc<TrackedPaths>,
    /// Longer files are not merged by lines.
    longest: u64,
}

/// A state of files that a workspace has now.
#[derive(Debug)]
struct State {
    name: String,
    /// The newest snapshot that it came from.
    snapshot: Id,
    /// What it had of the main line.
    base: RootId,
    now: Now,
}

#[derive(Debug)]
enum Now {
    Recorded(RootId),
    /// With what a running command wrote.
    Live(RootId, Arc<Objects>),
    /// What is recorded, but for files that a running command touched, which are read when they are asked for.
    Inside(RootId, LiveFiles),
}

/// One file in one state.
enum Version {
    Nothing,
    Directory,
    Bytes(Vec<u8>),
    /// Something that is not merged by lines.
    Other(Option<Box<Entry>>),
}

impl<'v> OverlapService<'v> {
    /// Works on a vault; files longer than this are not merged by lines.
    pub fn new(vault: &'v Vault, tracked: TrackedPaths, longest: u64) -> Self {
        Self { vault, tracked: Rc::new(tracked), longest }
    }

    /// What every workspace has changed so far, oldest first, and what does not fit together.
    pub fn all(&self) -> Result<(Vec<WorkSoFar>, Vec<Overlap>)> {
        let _kept = self.vault.objects()?.keep_nodes();
        let running = self.vault.running()?;
        let mut all = Vec::new();
        for workspace in self.vault.workspaces()? {
            all.push(self.so_far(workspace, &running)?);
        }
        let mut found = Vec::new();
        for (at, one) in all.iter().enumerate() {
            let own: HashSet<&VaultPath> = one.changes.iter().map(|change| &change.path).collect();
            for other in &all[at + 1..] {
                let paths = other.changes.iter().map(|change| &change.path);
                let shared: Vec<&VaultPath> = paths.filter(|path| own.contains(path)).collect();
                found.extend(self.between(&one.state, &other.state, &shared)?);
            }
        }
        Ok((all, found))
    }

    /// What one workspace, in which nothing runs any more, changed in another way than others did. Costs as much as its own changes, for
    /// each of the others.
    pub fn of(&self, workspace: &WorkspaceRecord) -> Result<Vec<Overlap>> {
        let _kept = self.vault.objects()?.keep_nodes();
        let running = self.vault.running()?;
        let own = self.so_far(workspace.clone(), &[])?;
        let paths: Vec<&VaultPath> =
            own.changes.iter().map(|change| &change.path).take(MOST_COMPARED).collect();
        let mut found = Vec::new();
        if paths.is_empty() {
            return Ok(found);
        }
        for other in self.vault.workspaces()?.into_iter().filter(|it| it.id != workspace.id) {
            let mut state = self.recorded(&other)?;
            let files =
                writer(&running, &other.id).map(|it| LiveService::new(self.vault).files(it));
            if let (Some(files), Now::Recorded(root)) = (files.transpose()?.flatten(), &state.now) {
                state.now = Now::Inside(*root, files);
            }
            found.extend(self.between(&own.state, &state, &paths)?);
        }
        Ok(found)
    }

    fn recorded(&self, workspace: &WorkspaceRecord) -> Result<State> {
        let (base, head) = (workspace.state.base, workspace.state.head);
        let (base, now) = (self.vault.snapshot(&base)?.root, self.vault.snapshot(&head)?.root);
        Ok(State { name: workspace.name.clone(), snapshot: head, base, now: Now::Recorded(now) })
    }

    fn so_far(&self, workspace: WorkspaceRecord, running: &[RunningExec]) -> Result<WorkSoFar> {
        let (vault, id) = (self.vault, workspace.id);
        let mut state = self.recorded(&workspace)?;
        let live = writer(running, &id).map(|it| (it, LiveService::new(vault).preview(it)));
        match live {
            Some((writer, Ok(preview))) => {
                state.snapshot = writer.note.snapshot;
                state.now = Now::Live(preview.root, preview.objects);
            }
            // It ended meanwhile: what it did is recorded.
            Some((writer, Err(_))) if writer.is_over() => {
                if let Some(newer) = vault.workspace(&id)? {
                    state = self.recorded(&newer)?;
                }
            }
            Some((_, Err(error))) => return Err(error),
            None => {}
        }
        let objects = state.objects(vault)?;
        let mut changes = compare(objects, &state.base, state.now.root())?;
        changes.retain(|change| change.kind() != ChangeKind::Metadata);
        let mut noise = Noise::new(vault, &[state.base], self.tracked.clone())?.reading(objects);
        let sorted = sorted(&changes, Some(&mut noise))?;
        let single: Vec<Change> = sorted.single.into_iter().cloned().collect();
        let folded = sorted.folded.iter().map(|folded| folded.items.len() as u64).sum();
        let of_it = running.iter().filter(|running| running.note.workspace == id);
        let running = of_it.map(|running| running.note.clone()).collect();
        Ok(WorkSoFar { workspace, running, changes: single, folded, state })
    }

    /// What two states changed at these paths in ways that do not fit together.
    fn between(&self, one: &State, other: &State, paths: &[&VaultPath]) -> Result<Vec<Overlap>> {
        let mut found = Vec::new();
        let mut common = None;
        for path in paths {
            let (true, Some(theirs)) = (one.touched(self.vault, path)?, self.theirs(other, path)?)
            else {
                continue;
            };
            let common = match common {
                Some(common) => common,
                None => *common.insert(self.common(one, other)?),
            };
            let Some(ours) = self.version(one, path)? else { continue };
            let objects = self.vault.objects()?;
            let before = match common {
                Some(root) => Tree::open(objects, &root)?.get(path)?,
                None => None,
            };
            let Some(before) = version_of(objects, before, self.longest) else { continue };
            if let Some((kind, lines)) = clash(&before, &ours, &theirs) {
                let [ours, theirs] = lines;
                let side =
                    |state: &State, lines| OverlapSide { workspace: state.name.clone(), lines };
                let sides = [side(one, ours), side(other, theirs)];
                found.push(Overlap { path: (*path).clone(), kind, sides });
            }
        }
        Ok(found)
    }

    /// The newest state that both came from.
    fn common(&self, one: &State, other: &State) -> Result<Option<RootId>> {
        let common = self.vault.common_ancestors(&[one.snapshot, other.snapshot])?;
        let newest = common.iter().max();
        Ok(newest.map(|id| self.vault.snapshot(id)).transpose()?.map(|snapshot| snapshot.root))
    }

    /// What a state has at a path, if it changed that.
    fn theirs(&self, state: &State, path: &VaultPath) -> Result<Option<Version>> {
        if let Now::Inside(_, files) = &state.now {
            let version = match files.read(path, self.longest) {
                LiveFile::Bytes(bytes) => Some(Version::Bytes(bytes)),
                LiveFile::Gone => Some(Version::Nothing),
                LiveFile::Other => Some(Version::Other(None)),
                LiveFile::Unknown => return Ok(None),
                LiveFile::Untouched => None,
            };
            if let Some(version) = version {
                let objects = self.vault.objects()?;
                let base = Tree::open(objects, &state.base)?.get(path)?;
                let base = version_of(objects, base, self.longest);
                return Ok(Some(version).filter(|it| base.is_none_or(|base| !same(&base, it))));
            }
        }
        match state.touched(self.vault, path)? {
            true => self.version(state, path),
            false => Ok(None),
        }
    }

    /// What a state has at a path; none where that cannot be read now.
    fn version(&self, state: &State, path: &VaultPath) -> Result<Option<Version>> {
        let objects = state.objects(self.vault)?;
        let entry = Tree::open(objects, state.now.root())?.get(path)?;
        Ok(version_of(objects, entry, self.longest))
    }
}

impl State {
    fn objects<'s>(&'s self, vault: &'s Vault) -> Result<&'s Objects> {
        match &self.now {
            Now::Live(_, objects) => Ok(objects),
            Now::Recorded(_) | Now::Inside(..) => Ok(vault.objects()?),
        }
    }

    /// Whether it has something else at a path than its base.
    fn touched(&self, vault: &Vault, path: &VaultPath) -> Result<bool> {
        let objects = self.objects(vault)?;
        let before = Tree::open(objects, &self.base)?.get(path)?;
        let now = Tree::open(objects, self.now.root())?.get(path)?;
        Ok(match (before, now) {
            (Some(before), Some(now)) => !before.same_content(&now),
            (before, now) => before.is_some() != now.is_some(),
        })
    }
}

impl Now {
    fn root(&self) -> &RootId {
        match self {
            Self::Recorded(root) | Self::Live(root, _) | Self::Inside(root, _) => root,
        }
    }
}

/// The command that changes a workspace.
fn writer<'r>(running: &'r [RunningExec], workspace: &Id) -> Option<&'r RunningExec> {
    let writes = |note: &ExecNote| !note.read_only && !note.trial && note.joined.is_none();
    running.iter().find(|it| it.note.workspace == *workspace && writes(&it.note))
}

/// One file; none where it cannot be read, since it is being written.
fn version_of(objects: &Objects, entry: Option<Entry>, longest: u64) -> Option<Version> {
    let Some(entry) = entry else { return Some(Version::Nothing) };
    match &entry.body {
        Body::File { size, blob } if *size <= longest => {
            objects.blob(blob).ok().map(Version::Bytes)
        }
        _ if entry.kind() == EntryKind::Directory => Some(Version::Directory),
        _ => Some(Version::Other(Some(Box::new(entry)))),
    }
}

fn same(one: &Version, other: &Version) -> bool {
    match (one, other) {
        (Version::Nothing, Version::Nothing) | (Version::Directory, Version::Directory) => true,
        (Version::Bytes(one), Version::Bytes(other)) => one == other,
        (Version::Other(Some(one)), Version::Other(Some(other))) => one.same_content(other),
        _ => false,
    }
}

/// The first line and the last.
type LineSpan = (u64, u64);

/// Merges two versions of a file, and says what does not fit, with the lines of each.
fn clash(
    before: &Version,
    one: &Version,
    other: &Version,
) -> Option<(ConflictKind, [Vec<LineSpan>; 2])> {
    if same(one, other) || same(before, one) || same(before, other) {
        return None;
    }
    let whole = |kind| Some((kind, [Vec::new(), Vec::new()]));
    let is_new = matches!(before, Version::Nothing);
    let kind = if is_new { ConflictKind::AddAdd } else { ConflictKind::Content };
    match (one, other) {
        (Version::Nothing, _) | (_, Version::Nothing) => whole(ConflictKind::DeleteModify),
        (Version::Directory, _) | (_, Version::Directory) => whole(ConflictKind::DirectoryFile),
        (Version::Bytes(one), Version::Bytes(other)) if !is_binary(one) && !is_binary(other) => {
            let before: &[u8] = match before {
                Version::Bytes(before) if is_binary(before) => return whole(kind),
                Version::Bytes(before) => before,
                Version::Nothing => &[],
                Version::Directory | Version::Other(_) => return whole(kind),
            };
            let merge = TextMerge::of(before, &[one, other]);
            let side = |side: usize| {
                merge.conflicts().map(|region| counted(&region.sides[side])).collect::<Vec<_>>()
            };
            let lines = [side(0), side(1)];
            (!lines[0].is_empty()).then_some((kind, lines))
        }
        _ => whole(kind),
    }
}

/// Lines as people count them.
fn counted(lines: &Range<usize>) -> (u64, u64) {
    let (first, last) = (lines.start as u64 + 1, lines.end as u64);
    if first > last { (last.max(1), last.max(1)) } else { (first, last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Version {
        Version::Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn only_what_does_not_fit_is_told() {
        let before = text("1\n2\n3\n4\n5\n");
        let lines = |one, other| clash(&before, &text(one), &text(other)).map(|it| it.1);
        assert_eq!(lines("a\n2\n3\n4\n5\n", "1\n2\n3\n4\nb\n"), None);
        assert_eq!(lines("1\na\n3\n4\n5\n", "1\na\n3\n4\n5\n"), None);
        let both = lines("0\n1\na\n3\n4\n5\n", "1\nb\nc\n3\n4\n5\n");
        assert_eq!(both, Some([vec![(3, 3)], vec![(2, 3)]]));
        let gone = lines("1\n3\n4\n5\n", "1\nb\n3\n4\n5\n");
        assert_eq!(gone, Some([vec![(1, 1)], vec![(2, 2)]]));
    }

    #[test]
    fn what_is_no_text_is_told_as_a_whole() {
        let kind = |one: Version, other: Version| clash(&text("x\n"), &one, &other).map(|it| it.0);
        assert_eq!(kind(Version::Nothing, text("y\n")), Some(ConflictKind::DeleteModify));
        assert_eq!(kind(text("\0a"), text("\0b")), Some(ConflictKind::Content));
        assert_eq!(kind(Version::Directory, text("y\n")), Some(ConflictKind::DirectoryFile));
        assert_eq!(kind(Version::Nothing, Version::Nothing), None);
        let new = clash(&Version::Nothing, &text("a\n"), &text("b\n"));
        assert_eq!(new, Some((ConflictKind::AddAdd, [vec![(1, 1)], vec![(1, 1)]])));
    }
}
