//! Real repositories, in which git prints and applies patches.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::patch::{PatchContent, PatchSide};

pub(super) const FILE: u32 = 0o100_644;
pub(super) const PROGRAM: u32 = 0o100_755;
pub(super) const LINK: u32 = 0o120_000;

/// One file as owned data: path, mode, content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry(pub(super) Vec<u8>, pub(super) u32, pub(super) Vec<u8>);

impl Entry {
    pub(super) fn side(&self) -> PatchSide<'_> {
        PatchSide { path: &self.0, mode: self.1, content: PatchContent::Bytes(&self.2) }
    }
}

pub(super) fn entry(path: impl AsRef<[u8]>, mode: u32, content: impl AsRef<[u8]>) -> Option<Entry> {
    Some(Entry(path.as_ref().to_vec(), mode, content.as_ref().to_vec()))
}

/// A repository in a temporary directory, unaffected by the configuration of whoever runs the test.
pub(super) struct Repository(tempfile::TempDir);

impl Repository {
    pub(super) fn with(entry: Option<&Entry>) -> Self {
        Self::made(&["init", "-q"], entry)
    }

    /// One that names its objects by SHA-256.
    pub(super) fn with_sha256() -> Self {
        Self::made(&["init", "-q", "--object-format=sha256"], None)
    }

    fn made(init: &[&str], entry: Option<&Entry>) -> Self {
        let repository = Self(tempfile::tempdir().unwrap());
        repository.git(init, b"");
        // A neighbour, so that the tree is never empty and a patch that touches too much is seen.
        fs::write(repository.path(b"neighbour"), "untouched\n").unwrap();
        repository.write(entry);
        repository
    }

    pub(super) fn path(&self, path: &[u8]) -> PathBuf {
        self.0.path().join(OsStr::from_bytes(path))
    }

    pub(super) fn write(&self, entry: Option<&Entry>) {
        let Some(Entry(path, mode, content)) = entry else {
            return;
        };
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if *mode == LINK {
            return symlink(OsStr::from_bytes(content), path).unwrap();
        }
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode & 0o777)).unwrap();
    }

    pub(super) fn replace(&self, before: Option<&Entry>, after: Option<&Entry>) {
        if let Some(Entry(path, ..)) = before {
            fs::remove_file(self.path(path)).unwrap();
        }
        self.write(after);
    }

    pub(super) fn git(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let input_text = || String::from_utf8_lossy(input);
        let ran = self.try_git(arguments, input);
        ran.unwrap_or_else(|errors| panic!("git {arguments:?}: {errors}\n{}", input_text()))
    }

    /// What git prints, or what it says where it fails.
    pub(super) fn try_git(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
        let mut child = Command::new("git")
            .args([
                "-c",
                "core.autocrlf=false",
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@localhost",
            ])
            .args(arguments)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env_remove("GIT_DIR")
            .env_remove("GIT_INDEX_FILE")
            .env_remove("GIT_WORK_TREE")
            .env("GIT_CEILING_DIRECTORIES", self.0.path().parent().unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Every file of the tree with its mode and content.
    pub(super) fn tree(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        read_tree(self.0.path(), &mut found);
        found
    }

    /// The patch git writes for the change, without what this module leaves out: object ids and
    /// section headings.
    pub(super) fn expected_patch(&self, before: Option<&Entry>, after: Option<&Entry>) -> Vec<u8> {
        let printed = self.printed_patch(before, after, &[]);
        printed
            .split_inclusive(|byte| *byte == b'\n')
            .flat_map(without_git_only_parts)
            .copied()
            .collect()
    }

    /// The patch git writes for the change of a binary file.
    pub(super) fn binary_patch(&self, before: Option<&Entry>, after: Option<&Entry>) -> Vec<u8> {
        self.printed_patch(before, after, &["--binary"])
    }

    fn printed_patch(
        &self,
        before: Option<&Entry>,
        after: Option<&Entry>,
        options: &[&str],
    ) -> Vec<u8> {
        self.git(&["add", "-A", "-f"], b"");
        self.git(&["commit", "-q", "-m", "before"], b"");
        self.replace(before, after);
        self.git(&["add", "-A", "-f"], b"");
        let arguments = ["diff", "--cached", "--histogram", "-M40%"];
        self.git(&[&arguments, options].concat(), b"")
    }
}

pub(super) fn read_tree(directory: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_symlink() {
            let target = fs::read_link(&path).unwrap().into_os_string().into_vec();
            found.insert(path, (LINK, target));
        } else if metadata.is_file() {
            let executable = metadata.permissions().mode() & 0o100 != 0;
            let mode = if executable { PROGRAM } else { FILE };
            found.insert(path.clone(), (mode, fs::read(&path).unwrap()));
        } else if path.file_name() != Some(OsStr::new(".git")) {
            read_tree(&path, found);
        }
    }
}

pub(super) fn without_git_only_parts(line: &[u8]) -> &[u8] {
    if line.starts_with(b"index ") {
        return b"";
    }
    if line.starts_with(b"@@ ") {
        let end = line.windows(3).skip(3).position(|window| window == b" @@").unwrap();
        assert_eq!(&line[end + 6..], b"\n", "test texts must not produce section headings");
    }
    line
}
