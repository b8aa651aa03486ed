//! Bringing what a branch has and what a snapshot has together, commit by commit.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::sync::Arc;

use offshoot_host::read_regular;
use offshoot_store::Id;
use offshoot_tree::TreeError;
use offshoot_tree::diff;
use offshoot_tree::{Entry, RootId, VaultPath};
use offshoot_vault::{Snapshot, Vault};

use super::content::{Contents, mode_of};
use super::stream::{NewCommit, Signature, Stream};
use super::visible::{Nested, Sight, Visibility};
use super::{ExportRequest, ExportedCommit, LeftOut};
use crate::error::{Result, ServiceError};
use crate::git::error::GitResult;
use crate::git::folder::GitFolder;
use crate::git::identity::Identity;
use crate::ignore_rules::IgnoreRules;

const SUBMODULE: u32 = 0o160_000;

/// What a branch has below the folder, and the way to change it.
pub(super) struct Sync<'a> {
    vault: &'a Vault,
    folder: &'a GitFolder,
    identity: Identity,
    visibility: Visibility<'a>,
    contents: Contents<'a>,
    stream: Option<Stream>,
    reference: String,
    /// The commit that the first one follows; none from then on.
    parent: Option<String>,
    /// Mode and object by path below the folder.
    files: BTreeMap<Vec<u8>, (u32, String)>,
    /// What the next commit does.
    deleted: Vec<Vec<u8>>,
    written: Vec<(u32, String, Vec<u8>)>,
}

/// A file that git can see: where it lies below the folder, and what it is.
type Seen = (Vec<u8>, Entry);

impl<'a> Sync<'a> {
    pub(super) fn begin(
        vault: &'a Vault,
        folder: &'a GitFolder,
        request: &ExportRequest<'_>,
        parent: Option<&str>,
        newest: &Snapshot,
    ) -> Result<Self> {
        let identity = Identity::of(&folder.git)?;
        let files = match parent {
            Some(parent) => listing(folder, parent)?,
            None => BTreeMap::new(),
        };
        let modules = files.iter().filter(|(_, (mode, _))| *mode == SUBMODULE);
        let submodules: BTreeSet<Vec<u8>> = modules.map(|(path, _)| path.clone()).collect();
        let base = vault.snapshot(&request.workspace.state.base)?.root;
        let rules = match request.ignored {
            true => None,
            false => Some(rules(vault, folder, &[base, newest.root])?),
        };
        let visibility = Visibility { at: request.at.clone(), rules, submodules };
        let contents = Contents::new(vault, folder)?;
        let stream = Some(Stream::start(folder)?);
        let reference = format!("refs/offshoot/export-{}", Id::random());
        let (parent, deleted, written) = (parent.map(str::to_owned), Vec::new(), Vec::new());
        Ok(Self {
            vault,
            folder,
            identity,
            visibility,
            contents,
            stream,
            reference,
            parent,
            files,
            deleted,
            written,
        })
    }

    /// The ref that is written to.
    pub(super) fn reference(&self) -> &str {
        &self.reference
    }

    /// Makes the next commit what a snapshot has, whatever the branch has; says whether there is a difference.
    pub(super) fn whole(&mut self, snapshot: &Snapshot) -> Result<bool> {
        let seen = self.seen(&snapshot.root, &mut LeftOut::default())?;
        let there: BTreeSet<&[u8]> = seen.iter().map(|(path, _)| path.as_slice()).collect();
        let gone = self
            .files
            .iter()
            .filter(|(path, (mode, _))| *mode != SUBMODULE && !there.contains(path.as_slice()));
        let gone: Vec<Vec<u8>> = gone.map(|(path, _)| path.clone()).collect();
        gone.into_iter().for_each(|path| self.delete(path));
        self.write_all(seen)
    }

    /// Makes the next commit what changed from one snapshot to the next; says whether git can see anything of it.
    pub(super) fn changes(&mut self, before: &Snapshot, after: &Snapshot) -> Result<bool> {
        let changes = diff::compare(self.vault.objects()?, &before.root, &after.root)?;
        let tree = self.vault.tree(&after.root)?;
        let mut nested = Nested::of(&tree);
        let (mut gone, mut seen) = (Vec::new(), Vec::new());
        for change in changes {
            let Some(below) = self.visibility.below(&change.path) else { continue };
            let below = below.join(&b'/');
            let known = self.files.get(&below).is_some_and(|(mode, _)| *mode != SUBMODULE);
            let sight = match &change.after {
                Some(entry) => {
                    let files = &self.files;
                    self.visibility
                        .of(&mut nested, &change.path, entry, |p| files.contains_key(p))?
                }
                None => Sight::Nothing,
            };
            match (sight, change.after) {
                (Sight::Visible, Some(entry)) => seen.push((below, Arc::unwrap_or_clone(entry))),
                _ if known => gone.push(below),
                _ => {}
            }
        }
        gone.into_iter().for_each(|path| self.delete(path));
        self.write_all(seen)
    }

    fn delete(&mut self, path: Vec<u8>) {
        if self.files.remove(&path).is_some() {
            self.deleted.push(self.folder.in_repository(&path));
        }
    }

    fn write_all(&mut self, seen: Vec<Seen>) -> Result<bool> {
        let mut unknown = Vec::new();
        for (below, entry) in seen {
            let path = self.folder.in_repository(&below);
            match self.contents.known(&path, &entry) {
                Some(object) => self.write(below, &entry, object),
                None => unknown.push((below, path, entry)),
            }
        }
        let paths: Vec<Vec<u8>> = unknown.iter().map(|(_, path, _)| path.clone()).collect();
        self.contents.prepare(&paths)?;
        for (below, path, entry) in unknown {
            let stream = self.stream.as_mut().ok_or_else(closed)?;
            let object = self.contents.store(stream, &path, &entry)?;
            self.write(below, &entry, object);
        }
        Ok(!self.deleted.is_empty() || !self.written.is_empty())
    }

    fn write(&mut self, below: Vec<u8>, entry: &Entry, object: String) {
        let Some(mode) = mode_of(entry) else { return };
        let file = (mode, object);
        if self.files.get(&below) != Some(&file) {
            self.written.push((mode, file.1.clone(), self.folder.in_repository(&below)));
            self.files.insert(below, file);
        }
    }

    /// Writes the next commit.
    pub(super) fn commit(&mut self, of: &Snapshot, message: String) -> Result<ExportedCommit> {
        let seconds = of.time_ms / 1000;
        let Identity { author, committer } = &self.identity;
        let new = NewCommit {
            reference: &self.reference,
            parent: self.parent.as_deref(),
            author: Signature { name: &author.name, mail: &author.mail, seconds },
            committer: Signature { name: &committer.name, mail: &committer.mail, seconds },
            message: &message,
            deleted: &self.deleted,
            written: &self.written,
        };
        let commit = self.stream.as_mut().ok_or_else(closed)?.commit(&new)?;
        self.parent = None;
        self.deleted.clear();
        self.written.clear();
        let subject = message.lines().next().unwrap_or_default().to_owned();
        Ok(ExportedCommit { commit, snapshot: of.id, subject })
    }

    /// Keeps what was written.
    pub(super) fn finish(&mut self) -> GitResult<()> {
        self.stream.take().map_or(Ok(()), Stream::finish)
    }

    /// Gives up.
    pub(super) fn abandon(&mut self, error: ServiceError) -> ServiceError {
        match self.stream.take() {
            Some(stream) => stream.abandon(error),
            None => error,
        }
    }

    /// What of a snapshot stays out of git.
    pub(super) fn left_out(&mut self, snapshot: &Snapshot) -> Result<LeftOut> {
        let mut left = LeftOut::default();
        self.seen(&snapshot.root, &mut left)?;
        Ok(left)
    }

    /// Every file of a state that git can see.
    fn seen(&mut self, root: &RootId, left: &mut LeftOut) -> Result<Vec<Seen>> {
        let tree = self.vault.tree(root)?;
        let mut nested = Nested::of(&tree);
        let top = self.visibility.at.clone();
        let Some(dir) = tree.get(&top)?.and_then(|entry| entry.directory().copied()) else {
            return Ok(Vec::new());
        };
        let (mut seen, mut repositories) = (Vec::new(), BTreeSet::new());
        let mut failed = None;
        let walked = tree.walk(&top, &dir, &mut |path, entry| {
            let files = &self.files;
            let sight = self.visibility.of(&mut nested, path, entry, |p| files.contains_key(p));
            match sight {
                Ok(Sight::Visible) => {
                    let below = path.names()[top.names().len()..].join(&b'/');
                    seen.push((below, entry.clone()));
                }
                Ok(Sight::Ignored) => left.ignored += 1,
                Ok(Sight::Pipe) => left.pipes.push(path.clone()),
                Ok(Sight::Repository(depth)) => {
                    repositories.insert(crate::git::repository::path_of(&path.names()[..depth]));
                }
                Ok(Sight::Nothing | Sight::Directory) => {
                    let empty = entry.directory().is_some_and(|dir| dir.entries == 0);
                    left.empty_directories += u64::from(empty && !is_own(path));
                }
                Err(error) => {
                    failed = Some(error);
                    return Err(TreeError::TopDirectory);
                }
            }
            Ok(())
        });
        if let Some(error) = failed {
            return Err(error);
        }
        walked?;
        left.repositories = repositories.into_iter().collect();
        Ok(seen)
    }
}

fn is_own(path: &VaultPath) -> bool {
    crate::git::names::within_repository(path).is_some()
}

fn closed() -> ServiceError {
    ServiceError::Internal("the stream to git is closed".to_owned())
}

/// Every file of a commit that lies in the folder.
fn listing(folder: &GitFolder, commit: &str) -> GitResult<BTreeMap<Vec<u8>, (u32, String)>> {
    let mut arguments =
        vec![OsStr::new("ls-tree"), OsStr::new("-r"), OsStr::new("-z"), OsStr::new(commit)];
    if !folder.prefix.is_empty() {
        arguments.extend([OsStr::new("--"), folder.scope()]);
    }
    let listed = folder.git.output(&arguments)?;
    let mut files = BTreeMap::new();
    for line in listed.split(|byte| *byte == 0) {
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
        let (head, path) = (String::from_utf8_lossy(&line[..tab]).into_owned(), &line[tab + 1..]);
        let mut words = head.split(' ');
        let mode = words.next().and_then(|mode| u32::from_str_radix(mode, 8).ok());
        let object = words.nth(1);
        if let (Some(mode), Some(object), Some(below)) = (mode, object, folder.in_folder(path)) {
            files.insert(below.to_vec(), (mode, object.to_owned()));
        }
    }
    Ok(files)
}

/// The rules of what is ignored: of the states, and of the repository itself.
fn rules<'v>(vault: &'v Vault, folder: &GitFolder, roots: &[RootId]) -> Result<IgnoreRules<'v>> {
    let excludes = read_regular(&folder.git_dir.join("info/exclude"), u64::MAX).unwrap_or_default();
    IgnoreRules::new(vault.objects()?, roots, &excludes)
}
