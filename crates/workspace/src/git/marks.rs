//! Marks of files in the index: those that git was told to overlook, and those that were only announced. Git forgets them whenever a file
//! gets another version in the index, so they are put back.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::error::GitResult;
use super::folder::GitFolder;
use super::index::Index;
use super::own_index::OwnIndex;
use super::run::Git;
use crate::exec::request::shell_word;

type Paths = BTreeSet<Vec<u8>>;

/// The marked files of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// Those to take for unchanged (`assume-unchanged`).
    assumed: Paths,
    /// Those that are not looked for in the working tree (`skip-worktree`).
    skipped: Paths,
    /// Those that are to be added later (`intent-to-add`), where they are known.
    announced: Paths,
}

impl Marks {
    /// What git is told to overlook in the index of a repository.
    pub(super) fn overlooked(git: &Git) -> GitResult<Self> {
        let mut marks = Self::default();
        for line in git.output(&["ls-files", "-v", "-z"])?.split(|byte| *byte == 0) {
            let [tag, b' ', path @ ..] = line else { continue };
            if tag.is_ascii_lowercase() {
                marks.assumed.insert(path.to_vec());
            }
            if tag.eq_ignore_ascii_case(&b'S') {
                marks.skipped.insert(path.to_vec());
            }
        }
        Ok(marks)
    }

    /// All marks of an index.
    pub(super) fn in_index(index: &Index) -> Self {
        let mut marks = Self::default();
        for ((path, _), entry) in index {
            let (assumed, skipped) = entry.overlooked;
            let all = [
                (assumed, &mut marks.assumed),
                (skipped, &mut marks.skipped),
                (entry.announced, &mut marks.announced),
            ];
            for (_, paths) in all.into_iter().filter(|(is_marked, _)| *is_marked) {
                paths.insert(path.clone());
            }
        }
        marks
    }

    /// Those of some files.
    pub(super) fn of(&self, paths: &Paths) -> Self {
        let both = |marked: &Paths| marked.intersection(paths).cloned().collect();
        Self {
            assumed: both(&self.assumed),
            skipped: both(&self.skipped),
            announced: both(&self.announced),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.assumed.is_empty() && self.skipped.is_empty() && self.announced.is_empty()
    }

    pub(super) fn contains(&self, path: &[u8]) -> bool {
        self.assumed.contains(path) || self.skipped.contains(path) || self.announced.contains(path)
    }

    /// Whether a file is not looked for in the working tree, or a directory that it is in: a sparse index lists that, with a `/`.
    pub(super) fn leaves_out(&self, path: &[u8]) -> bool {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
        ends.chain([path.len()]).any(|end| self.skipped.contains(&path[..end]))
    }

    /// Marks files again. Those that the index does not have can only be announced.
    pub(super) fn put_back(&self, git: &Git) -> GitResult<()> {
        if self.is_empty() {
            return Ok(());
        }
        let listed = git.output(&["ls-files", "-z"])?;
        let known: Paths = listed.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        let there = |paths: &Paths| paths.intersection(&known).cloned().collect::<Paths>();
        mark(git, "--assume-unchanged", &there(&self.assumed))?;
        mark(git, "--skip-worktree", &there(&self.skipped))?;
        let new: Vec<u8> = lines(self.announced.difference(&known));
        if !new.is_empty() {
            let announce = ["--literal-pathspecs", "add", "--intent-to-add", "--force", "--sparse"];
            let given = ["--pathspec-from-file=-", "--pathspec-file-nul"];
            // One that is not in the folder any more cannot be announced, nor be missed.
            drop(git.try_output(&[&announce[..], &given[..]].concat(), &new)?);
        }
        Ok(())
    }

    /// The overlooked files that are something else in the folder than in the index or in the commit that is checked out. What is not to
    /// be in the working tree may be missing there.
    pub(super) fn changed(&self, folder: &GitFolder) -> GitResult<Self> {
        let is_there =
            |path: &&Vec<u8>| folder.top().join(OsStr::from_bytes(path)).symlink_metadata().is_ok();
        let skipped: Paths = self.skipped.iter().filter(is_there).cloned().collect();
        if self.assumed.is_empty() && skipped.is_empty() {
            return Ok(Self::default());
        }
        let Some(index) = OwnIndex::copy_of(folder)? else { return Ok(Self::default()) };
        let git = index.git(folder);
        mark(&git, "--no-assume-unchanged", &self.assumed)?;
        mark(&git, "--no-skip-worktree", &skipped)?;
        Ok(self.of(&changed(&git)?))
    }

    /// The commands that make git look at these files of a folder again.
    pub(super) fn commands(&self, folder: &GitFolder) -> Vec<String> {
        let all = [("assume-unchanged", &self.assumed), ("skip-worktree", &self.skipped)];
        let marked = all.into_iter().filter(|(_, paths)| !paths.is_empty());
        let command = marked.map(|(mark, paths)| {
            let below = paths.iter().filter_map(|path| folder.in_folder(path));
            let words: Vec<String> =
                below.map(|path| shell_word(&String::from_utf8_lossy(path))).collect();
            format!("git update-index --no-{mark} -- {}", words.join(" "))
        });
        command.collect()
    }
}

/// Files with changes that are not committed, as far as git looks at them.
pub(super) fn changed(git: &Git) -> GitResult<Paths> {
    let arguments = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=no",
        "--no-renames",
        "--ignore-submodules=all",
    ];
    let listed = git.output(&arguments)?;
    let lines = listed.split(|byte| *byte == 0).filter(|line| line.len() > 3);
    Ok(lines.map(|line| line[3..].to_vec()).collect())
}

/// Gives files other versions in the index, in the words of `update-index --index-info`. They keep their marks.
pub(super) fn put_entries(git: &Git, entries: &[u8]) -> GitResult<()> {
    let of_line = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        Some(line[tab + 1..].to_vec())
    };
    let paths: Paths = entries.split(|byte| *byte == 0).filter_map(of_line).collect();
    let marks = Marks::overlooked(git)?.of(&paths);
    git.output_of(&["update-index", "-z", "--index-info"], entries)?;
    marks.put_back(git)
}

fn mark(git: &Git, flag: &str, paths: &Paths) -> GitResult<()> {
    match lines(paths.iter()) {
        lines if lines.is_empty() => Ok(()),
        lines => git.output_of(&["update-index", flag, "-z", "--stdin"], &lines).map(drop),
    }
}

fn lines<'p>(paths: impl Iterator<Item = &'p Vec<u8>>) -> Vec<u8> {
    paths.flat_map(|path| [path.as_slice(), b"\0"].concat()).collect()
}
