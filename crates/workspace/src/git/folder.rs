//! The repository that a folder is in.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use offshoot_host::read_regular;

use super::error::{GitError, GitResult};
use super::options::GitOptions;
use super::run::{Git, succeeded};

/// A folder in the working tree of a git repository.
#[derive(Clone, Debug)]
pub struct GitFolder {
    /// Git, in the top of the working tree.
    pub(crate) git: Git,
    /// The folder.
    pub(crate) folder: PathBuf,
    /// The working tree.
    pub(crate) top: PathBuf,
    /// The repository of the working tree.
    pub(crate) git_dir: PathBuf,
    /// Where the folder lies in the working tree: empty, or with a `/` at its end.
    pub(crate) prefix: Vec<u8>,
}

/// What git leaves in a repository while something waits to be finished.
const IN_PROGRESS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

/// How long a git at work is waited for, and how often it is looked at.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// The locks of what a commit changes.
const LOCKS: [&str; 3] = ["index.lock", "HEAD.lock", "packed-refs.lock"];

impl GitFolder {
    /// The repository that a folder is in; none where it is in no working tree, nor where that is a bare one.
    pub fn find(folder: &Path, options: &GitOptions) -> GitResult<Option<Self>> {
        let git = Git::new(options, folder);
        let question = ["rev-parse", "--is-inside-work-tree"];
        let answer = git.try_plain(&question)?;
        let is_none = || String::from_utf8_lossy(&answer.stderr).contains("not a git repository");
        if !answer.status.success() && is_none() {
            return Ok(None);
        }
        if succeeded(&question, answer)? != b"true\n" {
            return Ok(None);
        }
        let path = |argument: &str| -> GitResult<Vec<u8>> {
            let mut bytes = git.output(&["rev-parse", "--path-format=absolute", argument])?;
            bytes.pop_if(|last| *last == b'\n');
            Ok(bytes)
        };
        let top = PathBuf::from(std::ffi::OsString::from_vec(path("--show-toplevel")?));
        let git_dir = PathBuf::from(std::ffi::OsString::from_vec(path("--git-dir")?));
        let prefix = path("--show-prefix")?;
        let git = git.in_directory(&top);
        Ok(Some(Self { git, folder: folder.to_owned(), top, git_dir, prefix }))
    }

    /// The same, and an error where there is none.
    pub fn require(folder: &Path, options: &GitOptions) -> GitResult<Self> {
        Self::find(folder, options)?.ok_or_else(|| GitError::NoRepository(folder.to_owned()))
    }

    /// The top of the working tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Fails where another git is at work in it.
    pub fn check_unlocked(&self) -> GitResult<()> {
        check_unlocked(&self.git_dir)
    }

    /// Fails where a merge, a rebase or the like waits to be finished.
    pub fn check_at_rest(&self) -> GitResult<()> {
        check_at_rest(&self.git_dir)
    }

    /// The commit that a name means, if there is one.
    pub(crate) fn commit(&self, name: &str) -> GitResult<Option<String>> {
        let wanted = format!("{name}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted];
        let ran = self.git.try_output(&arguments, &[])?;
        if !ran.status.success() {
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&ran.stdout).trim().to_owned()))
    }

    /// The id of no object, as long as the repository's are.
    pub(crate) fn no_object(&self) -> GitResult<String> {
        let format = self.git.line(&["rev-parse", "--show-object-format"])?;
        Ok("0".repeat(if format == "sha256" { 64 } else { 40 }))
    }

    /// The full name of the branch that is checked out, if one is.
    pub(crate) fn checked_out(&self) -> GitResult<Option<String>> {
        self.stands_for("HEAD")
    }

    /// A path in the repository of something in the folder.
    pub(crate) fn in_repository(&self, below: &[u8]) -> Vec<u8> {
        [&self.prefix, below].concat()
    }

    /// The bytes of a repository's path below the folder, if it is there.
    pub(crate) fn in_folder<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        path.strip_prefix(self.prefix.as_slice())
    }

    /// The folder as a path in the repository; everything where it is the top.
    pub(crate) fn scope(&self) -> &OsStr {
        let end = self.prefix.len().saturating_sub(1);
        match end {
            0 => OsStr::new("."),
            end => OsStr::from_bytes(&self.prefix[..end]),
        }
    }
}

/// A file that names a directory or a ref has no more, as git itself says.
pub(super) const LARGEST_POINTER: u64 = 1 << 20;

/// The repository of a folder, found as git finds it but without asking it: the nearest `.git` above, or what that points at.
pub(crate) fn repository_dir(folder: &Path) -> Option<PathBuf> {
    let found = folder.ancestors().map(|above| above.join(".git")).find(|git| git.exists())?;
    if found.is_dir() {
        return Some(found);
    }
    let text = read_regular(&found, LARGEST_POINTER).ok()?;
    let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(found.parent()?.join(OsStr::from_bytes(target)))
}

/// Fails where another git is at work in a repository and does not end soon: most locks are gone in a moment.
pub(crate) fn check_unlocked(repository: &Path) -> GitResult<()> {
    let started = Instant::now();
    loop {
        let found = look_unlocked(repository);
        if found.is_ok() || started.elapsed() >= PATIENCE {
            return found;
        }
        std::thread::sleep(PAUSE);
    }
}

fn look_unlocked(repository: &Path) -> GitResult<()> {
    let shared = shared_dir(repository);
    let named = [repository, &shared].into_iter().flat_map(|dir| LOCKS.map(|lock| dir.join(lock)));
    let mut locks = named.filter(|lock| lock.exists());
    match locks.next().or_else(|| lock_below(&shared.join("refs"))) {
        Some(lock) => Err(GitError::Locked(lock)),
        None => Ok(()),
    }
}

/// The repository that a linked working tree belongs to; any other one itself.
pub(crate) fn shared_dir(repository: &Path) -> PathBuf {
    let text = read_regular(&repository.join("commondir"), LARGEST_POINTER).unwrap_or_default();
    match text.trim_ascii() {
        [] => repository.to_owned(),
        name => repository.join(OsStr::from_bytes(name)),
    }
}

/// The lock of a ref. What cannot be read is not looked into: nothing is changed there either.
fn lock_below(directory: &Path) -> Option<PathBuf> {
    for entry in std::fs::read_dir(directory).ok()?.flatten() {
        let path = entry.path();
        let found = match entry.file_type() {
            Ok(kind) if kind.is_dir() => lock_below(&path),
            _ => path.extension().is_some_and(|end| end == "lock").then_some(path),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

pub(crate) fn check_at_rest(repository: &Path) -> GitResult<()> {
    check_unlocked(repository)?;
    match IN_PROGRESS.iter().find(|(name, _)| repository.join(name).exists()) {
        Some((_, what)) => Err(GitError::InProgress { what }),
        None => Ok(()),
    }
}
