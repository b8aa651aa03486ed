//! Reading the published versions of packages.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git_repo::Files;

/// Files that name the version, and so are in conflict in every merge.
const ALWAYS_DIFFERENT: &[&str] =
    &[".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"];

/// A package with its versions in order.
pub(crate) struct Package {
    pub(crate) registry: String,
    pub(crate) name: String,
    pub(crate) versions: Vec<(String, Files)>,
}

/// The packages of a registry, whose versions are folders `NAME-VERSION`.
pub(crate) fn packages(registry: &str, dir: &Path) -> Vec<Package> {
    let mut found: BTreeMap<String, BTreeMap<Vec<u64>, (String, PathBuf)>> = BTreeMap::new();
    for dir in entries(dir) {
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let Some((name, version)) = name.rsplit_once('-') else { continue };
        let numbers: Option<Vec<u64>> = version.split('.').map(|n| n.parse().ok()).collect();
        if let Some(numbers) = numbers {
            let versions = found.entry(name.to_owned()).or_default();
            versions.insert(numbers, (version.to_owned(), dir));
        }
    }
    let package = |(name, versions): (String, BTreeMap<_, (String, PathBuf)>)| {
        let versions = versions.into_values().map(|(version, dir)| (version, read(&dir)));
        Package { registry: registry.to_owned(), name, versions: versions.collect() }
    };
    found.into_iter().map(package).collect()
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn read(dir: &Path) -> Files {
    let mut files = Files::new();
    read_below(dir, dir, &mut files);
    files
}

fn read_below(top: &Path, dir: &Path, files: &mut Files) {
    for path in entries(dir) {
        let found = std::fs::symlink_metadata(&path).unwrap();
        let name = path.strip_prefix(top).unwrap();
        if found.is_dir() && name.extension().is_none_or(|end| end != "dist-info") {
            read_below(top, &path, files);
        } else if found.is_file() && !ALWAYS_DIFFERENT.iter().any(|other| name == Path::new(other))
        {
            let executable = found.permissions().mode() & 0o111 != 0;
            let mode = if executable { 0o100_755 } else { 0o100_644 };
            let mut bytes = std::fs::read(&path).unwrap();
            if name == Path::new("package.json") {
                bytes = without_version(&bytes);
            }
            files.insert(name.as_os_str().as_bytes().to_vec(), (mode, bytes));
        }
    }
}

/// A manifest without the line that names its version.
fn without_version(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.trim_ascii_start().starts_with(b"\"version\":"))
        .flatten()
        .copied()
        .collect()
}
