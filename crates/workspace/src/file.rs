//! Files of a workspace without a mount.

mod import;
mod regroup;

use std::io::Read;
use std::path::Path;

use offshoot_host::Mtime;
use offshoot_tree::{
    BlobReader, Body, Entry, EntryKind, Meta, RootId, Tree, TreeEditor, TreeError, VaultPath,
};
use offshoot_vault::{Actor, CallKey, ExportOptions, Snapshot, Vault, VaultError, WorkspaceRecord};

use crate::edit::{EditKind, Edited, edit};
use crate::error::{Result, ServiceError};
use crate::resolve::Point;
use crate::suggest::similar;
use crate::undecided;
use regroup::regroup;

/// How to copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopyOptions {
    /// Directories too, with everything in them.
    pub recursive: bool,
}

/// A file, open for reading.
#[derive(Debug)]
pub struct FileContent {
    /// Where it is, symbolic links followed.
    pub path: VaultPath,
    /// The file.
    pub entry: Entry,
    /// Its bytes.
    pub reader: BlobReader,
}

/// One version of a file in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// The snapshot that brought it.
    pub snapshot: Snapshot,
    /// The file in it; `None` where the snapshot removed it.
    pub entry: Option<Entry>,
}

/// Reads and changes the files of workspaces.
#[derive(Debug)]
pub struct FileService<'a> {
    vault: &'a Vault,
    actor: Actor,
    call: Option<CallKey>,
}

impl<'a> FileService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone(), call: None }
    }

    /// Has the next change be what an agent calls so: nothing else is ever done under that key. It is recorded also where the files are
    /// as wanted already.
    #[must_use]
    pub fn call(mut self, call: Option<CallKey>) -> Self {
        self.call = call;
        self
    }

    /// A state of files, to look at.
    pub fn tree(&self, root: &RootId) -> Result<Tree<'a>> {
        Ok(self.vault.tree(root)?)
    }

    /// The entries of a directory, or the one entry where the path is something else. Symbolic links are followed.
    pub fn list(&self, root: &RootId, path: &VaultPath) -> Result<(VaultPath, Vec<Entry>)> {
        let tree = self.tree(root)?;
        let (path, entry) = tree.resolve(path).map_err(|error| missing(&tree, path, error))?;
        match entry.directory() {
            Some(dir) => Ok((path, tree.list(dir)?)),
            None => Ok((path, vec![entry])),
        }
    }

    /// What is at a path, a symbolic link itself included.
    pub fn stat(&self, root: &RootId, path: &VaultPath) -> Result<Entry> {
        let tree = self.tree(root)?;
        tree.find(path).map_err(|error| missing(&tree, path, error))
    }

    /// Opens a file for reading; symbolic links are followed. Nothing that is damaged is ever handed out: its bytes are verified
    /// before the first of them is read.
    pub fn open(&self, root: &RootId, path: &VaultPath) -> Result<FileContent> {
        let tree = self.tree(root)?;
        let (path, entry) = tree.resolve(path).map_err(|error| missing(&tree, path, error))?;
        match entry.body {
            Body::File { blob, .. } => {
                let mut reader = self.vault.objects()?.reader(&blob)?;
                reader.verify_first()?;
                Ok(FileContent { path, entry, reader })
            }
            _ => Err(not_a_file(&path, &entry)),
        }
    }

    /// Writes a file from its start; what was there is replaced and its mode and owner are kept.
    pub fn write(
        &self,
        workspace: &WorkspaceRecord,
        path: &VaultPath,
        source: &mut dyn Read,
        source_name: &Path,
        parents: bool,
    ) -> Result<Edited> {
        let _held = self.vault.hold()?;
        // Looked at before the content is read, so that a hopeless call fails at once.
        let head = self.vault.snapshot(&workspace.state.head)?;
        self.check_writable(&head.root, path)?;
        let content = self.vault.add_content(source, source_name)?;
        let words = EditKind {
            kind: "fs write",
            reason: "write",
            summary: &format!("write {path}"),
            stamps: false,
        };
        let change = |editor: &mut TreeEditor<'_>| {
            if let Some(parent) = path.parent().filter(|_| parents) {
                editor.make_directories(&parent, &Meta::of_new(0o755))?;
            }
            let body = Body::File { size: content.size, blob: content.blob };
            let mut written = Entry::new(Meta::of_new(0o644), body);
            if let Some(entry) = editor.get(path)? {
                match entry.body {
                    Body::File { blob, .. } if blob == content.blob => return Ok(()),
                    Body::File { .. } => {}
                    _ => return Err(not_a_file(path, &entry)),
                }
                written.conflict = self.vault.objects()?.still_open(&entry, &written)?;
                written.meta = Meta { mtime: Mtime::now(), ..entry.meta };
            }
            Ok(editor.put(path, written)?)
        };
        self.edit(workspace, words, change)
    }

    fn check_writable(&self, root: &RootId, path: &VaultPath) -> Result<()> {
        match self.tree(root)?.get(path)? {
            Some(entry) if entry.kind() != EntryKind::File => Err(not_a_file(path, &entry)),
            _ => Ok(()),
        }
    }

    /// Makes a directory.
    pub fn mkdir(
        &self,
        workspace: &WorkspaceRecord,
        path: &VaultPath,
        parents: bool,
    ) -> Result<Edited> {
        let words = EditKind {
            kind: "fs mkdir",
            reason: "mkdir",
            summary: &format!("mkdir {path}"),
            stamps: false,
        };
        self.edit(workspace, words, |editor| {
            if parents {
                return Ok(editor.make_directories(path, &Meta::of_new(0o755))?);
            }
            if editor.get(path)?.is_some() {
                return Err(TreeError::EntryExists { path: path.to_string() }.into());
            }
            let directory = editor.empty_directory(Meta::of_new(0o755))?;
            Ok(editor.put(path, directory)?)
        })
    }

    /// Removes files, and directories where `recursive` is set.
    pub fn remove(
        &self,
        workspace: &WorkspaceRecord,
        paths: &[VaultPath],
        recursive: bool,
    ) -> Result<Edited> {
        let names: Vec<String> = paths.iter().map(VaultPath::to_string).collect();
        let summary = format!("remove {}", names.join(" "));
        let words = EditKind { kind: "fs rm", reason: "rm", summary: &summary, stamps: false };
        self.edit(workspace, words, |editor| {
            for path in paths {
                let entry = find(editor, path)?;
                if let Some(dir) = entry.directory().filter(|_| !recursive)
                    && !editor.is_empty(path)?
                {
                    let (path, entries) = (path.to_string(), dir.entries);
                    return Err(TreeError::NotEmpty { path, entries }.into());
                }
                editor.remove(path)?;
            }
            Ok(())
        })
    }

    /// Moves something; into the target where that is a directory, else in place of it where it is not one.
    pub fn rename(
        &self,
        workspace: &WorkspaceRecord,
        from: &VaultPath,
        to: &VaultPath,
    ) -> Result<Edited> {
        let summary = format!("move {from} to {to}");
        let words = EditKind { kind: "fs mv", reason: "mv", summary: &summary, stamps: false };
        self.edit(workspace, words, |editor| {
            let entry = find(editor, from)?;
            let to = target(editor, from, to)?;
            if to == *from {
                return Ok(());
            }
            check_target(editor, from, &to, &entry)?;
            let mut entry = editor.remove(from)?;
            self.keep_open(editor, &to, &mut entry)?;
            Ok(editor.put(&to, entry)?)
        })
    }

    /// Copies something; nothing is read, the copy shares its content.
    pub fn copy(
        &self,
        workspace: &WorkspaceRecord,
        from: &VaultPath,
        to: &VaultPath,
        options: CopyOptions,
    ) -> Result<Edited> {
        let summary = format!("copy {from} to {to}");
        let words = EditKind { kind: "fs cp", reason: "cp", summary: &summary, stamps: false };
        self.edit(workspace, words, |editor| {
            let entry = find(editor, from)?;
            if entry.directory().is_some() && !options.recursive {
                return Err(not_a_file(from, &entry));
            }
            let to = target(editor, from, to)?;
            check_target(editor, from, &to, &entry)?;
            // A copy is not another name of the same inode.
            let mut entry = regroup(self.vault, entry, &to)?;
            self.keep_open(editor, &to, &mut entry)?;
            Ok(editor.put(&to, entry)?)
        })
    }

    /// Brings a path back to what it was at another root; removes it where it was not there.
    pub fn revert(
        &self,
        workspace: &WorkspaceRecord,
        paths: &[VaultPath],
        source: &Point,
    ) -> Result<Edited> {
        let (tree, label) = (self.tree(&source.snapshot.root)?, &source.label);
        let past = undecided::admit(self.vault, &self.actor, source)?;
        let names: Vec<String> = paths.iter().map(VaultPath::to_string).collect();
        let summary = format!("revert {} to {label}", names.join(" "));
        let words =
            EditKind { kind: "fs revert", reason: "revert", summary: &summary, stamps: true };
        let change = |editor: &mut TreeEditor<'_>| {
            for path in paths {
                match (tree.get(path)?, editor.get(path)?) {
                    (None, None) => {
                        return Err(TreeError::NoEntry { path: path.to_string() }.into());
                    }
                    (None, Some(_)) => drop(editor.remove(path)?),
                    (Some(entry), _) => {
                        if let Some(parent) = path.parent() {
                            editor.make_directories(&parent, &Meta::of_new(0o755))?;
                        }
                        editor.put(path, entry)?;
                    }
                }
            }
            Ok(())
        };
        edit((self.vault, self.call.as_ref()), &self.actor, workspace, words, change, |tx| {
            undecided::note(tx, past.as_slice());
            Ok(())
        })
    }

    /// Writes something to the host.
    pub fn export(
        &self,
        root: &RootId,
        path: &VaultPath,
        destination: &Path,
        options: &ExportOptions,
    ) -> Result<Entry> {
        self.vault.export(root, path, destination, options).map_err(|error| match error {
            VaultError::Tree(error) => match self.tree(root) {
                Ok(tree) => missing(&tree, path, error),
                Err(_) => error.into(),
            },
            other => other.into(),
        })
    }

    /// The versions of a file, newest first: every snapshot that changed it.
    pub fn history(&self, from: &Snapshot, path: &VaultPath) -> Result<Vec<FileVersion>> {
        let snapshots = self.vault.ancestry(from.id, usize::MAX)?;
        let mut versions = Vec::new();
        let mut seen_file = false;
        for (at, snapshot) in snapshots.iter().enumerate() {
            if self.vault.is_collected(snapshot)? {
                continue;
            }
            let entry = self.tree(&snapshot.root)?.get(path)?;
            seen_file |= entry.is_some();
            let parent = snapshot.parents.first();
            let parent = parent.and_then(|id| snapshots[at..].iter().find(|s| s.id == *id));
            let before = match parent {
                Some(parent) if parent.root == snapshot.root => continue,
                // How a file was before what was collected cannot be known: it counts as new.
                Some(parent) if self.vault.is_collected(parent)? => None,
                Some(parent) => self.tree(&parent.root)?.get(path)?,
                None => None,
            };
            if entry != before {
                versions.push(FileVersion { snapshot: snapshot.clone(), entry });
            }
        }
        if !seen_file {
            return Err(ServiceError::NoHistory(path.to_string()));
        }
        Ok(versions)
    }

    /// Something without a conflict of its own that takes the place of something with one decides it only as writing would.
    fn keep_open(
        &self,
        editor: &mut TreeEditor<'_>,
        to: &VaultPath,
        entry: &mut Entry,
    ) -> Result<()> {
        if let (Some(old), None) = (editor.get(to)?, &entry.conflict) {
            entry.conflict = self.vault.objects()?.still_open(&old, entry)?;
        }
        Ok(())
    }

    fn edit(
        &self,
        workspace: &WorkspaceRecord,
        words: EditKind<'_>,
        change: impl FnMut(&mut TreeEditor<'_>) -> Result<()>,
    ) -> Result<Edited> {
        let place = (self.vault, self.call.as_ref());
        edit(place, &self.actor, workspace, words, change, |_| Ok(()))
    }
}

/// An error about a path; where nothing is there, with the paths that may have been meant: those with another name in the first place where
/// the way ends, if there are any.
fn missing(tree: &Tree<'_>, path: &VaultPath, error: TreeError) -> ServiceError {
    let TreeError::NoEntry { path: named } = &error else { return error.into() };
    match meant(tree, path) {
        Some(suggestions) if !suggestions.is_empty() => {
            ServiceError::NoPath { path: named.clone(), suggestions }
        }
        _ => error.into(),
    }
}

fn meant(tree: &Tree<'_>, path: &VaultPath) -> Option<Vec<String>> {
    let mut at = VaultPath::top();
    for (depth, name) in path.names().iter().enumerate() {
        let next = at.join(name);
        if tree.get(&next).ok()?.is_some() {
            at = next;
            continue;
        }
        let entries = tree.list(tree.find(&at).ok()?.directory()?).ok()?;
        let names = entries.iter().filter_map(|entry| std::str::from_utf8(&entry.name).ok());
        let near = similar(std::str::from_utf8(name).ok()?, names).into_iter().map(|near| {
            let rest = path.names()[depth + 1..].iter();
            rest.fold(at.join(near.as_bytes()), |path, name| path.join(name))
        });
        let there = near.filter(|path| matches!(tree.get(path), Ok(Some(_))));
        return Some(there.map(|path| path.to_string()).collect());
    }
    None
}

fn find(editor: &mut TreeEditor<'_>, path: &VaultPath) -> Result<Entry> {
    let entry = editor.get(path)?;
    entry.ok_or_else(|| TreeError::NoEntry { path: path.to_string() }.into())
}

/// Where something goes: into the target if that is a directory.
fn target(editor: &mut TreeEditor<'_>, from: &VaultPath, to: &VaultPath) -> Result<VaultPath> {
    match (editor.get(to)?, from.name()) {
        (Some(entry), Some(name)) if entry.directory().is_some() && to != from => Ok(to.join(name)),
        _ => Ok(to.clone()),
    }
}

/// Refuses targets inside the source and targets that would swallow a directory.
fn check_target(
    editor: &mut TreeEditor<'_>,
    from: &VaultPath,
    to: &VaultPath,
    entry: &Entry,
) -> Result<()> {
    if from.is_top() || (entry.directory().is_some() && to.is_within(from)) {
        let (from, to) = (from.to_string(), to.to_string());
        return Err(TreeError::IntoItself { from, to }.into());
    }
    match editor.get(to)? {
        Some(existing) if existing.directory().is_some() || entry.directory().is_some() => {
            Err(TreeError::EntryExists { path: to.to_string() }.into())
        }
        _ => Ok(()),
    }
}

fn not_a_file(path: &VaultPath, entry: &Entry) -> ServiceError {
    TreeError::NotAFile { path: path.to_string(), kind: entry.kind().word() }.into()
}
