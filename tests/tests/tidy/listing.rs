//! The files that the rules look at.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files by path, relative to the top directory and with `/` between names.
pub(crate) struct Listing {
    files: BTreeMap<String, Vec<u8>>,
}

/// The top directory of the repository.
pub(crate) fn repository_root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in the repository").to_owned()
}

impl Listing {
    /// All files that are tracked or could be: what is new counts before it is added, what is ignored never does.
    pub(crate) fn of_repository() -> Self {
        let root = repository_root();
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .expect("these rules need git");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git cannot list the files: {complaint}");
        let names = output.stdout.split(|byte| *byte == 0);
        let files: BTreeMap<String, Vec<u8>> = names
            .filter(|name| !name.is_empty())
            .filter_map(|name| {
                let name = String::from_utf8_lossy(name).into_owned();
                Some((name.clone(), content(&root.join(name))?))
            })
            .collect();
        assert!(files.contains_key("Cargo.toml"), "git lists another directory");
        Self { files }
    }

    /// A listing for a test of a rule.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect();
        Self { files }
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Paths and texts of the files whose name ends so.
    pub(crate) fn ending<'a>(
        &'a self,
        suffix: &'a str,
    ) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(suffix))
            .map(|(path, bytes)| (path.as_str(), String::from_utf8_lossy(bytes)))
    }

    /// The text of a file, if it is there.
    pub(crate) fn text(&self, path: &str) -> Option<Cow<'_, str>> {
        self.files.get(path).map(|bytes| String::from_utf8_lossy(bytes))
    }

    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether any file lies below a directory of that path; the top directory is the empty one.
    pub(crate) fn has_directory(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        path.is_empty() || self.paths().any(|file| file.starts_with(&prefix))
    }
}

/// What git would store of a path; nothing for what was deleted but not yet staged.
fn content(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if metadata.is_symlink() {
        let target = fs::read_link(path).expect("a link can be read");
        return Some(target.into_os_string().into_vec());
    }
    metadata
        .is_file()
        .then(|| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

#[test]
fn directories_are_found_by_their_files() {
    let listing = Listing::of(&[("a/b/c.md", "")]);
    for present in ["", "a", "a/b"] {
        assert!(listing.has_directory(present), "{present}");
    }
    for absent in ["b", "a/b/c", "a/b/c.md"] {
        assert!(!listing.has_directory(absent), "{absent}");
    }
}

#[test]
fn the_repository_lists_this_very_file() {
    let listing = Listing::of_repository();
    assert!(listing.has_file("tests/tests/tidy/listing.rs"));
    assert!(!listing.paths().any(|path| path.starts_with("target/")));
}
