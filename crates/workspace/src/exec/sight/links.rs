//! Programs of the search path that are links to somewhere else.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, DirEntry};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Finder, Source};

/// Directories of the system: it is seen as a whole, so what they link to is there.
const SYSTEM: [&str; 4] = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
/// Directories whose entries are programs with all that belongs to them.
const INSTALLED: [&str; 2] = ["versions", "node_modules"];

/// Settings that versions of programs keep, which may hold credentials.
const SETTINGS: [&str; 3] = ["etc/npmrc", "pip.conf", ".condarc"];

impl Finder<'_> {
    /// Shows what the programs of a directory lead to: nothing but the program itself, and the directory that it was installed to where that is known. What cannot
    /// be executed is no program, such as a key.
    pub(super) fn linked_programs(&mut self, directory: &Path, group: &'static str) {
        if SYSTEM.iter().any(|system| directory == Path::new(system)) {
            return;
        }
        let entries: Vec<_> = fs::read_dir(directory).into_iter().flatten().flatten().collect();
        let is_link = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let (links, files): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_link);
        let files: HashSet<OsString> = files.iter().map(DirEntry::file_name).collect();
        for link in links.iter().map(DirEntry::path) {
            // Many lead to one beside them, as those of rustup do.
            if fs::read_link(&link).is_ok_and(|target| files.contains(target.as_os_str())) {
                continue;
            }
            let Ok(target) = link.canonicalize() else { continue };
            let is_program = fs::metadata(&target)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
            if !is_program || self.is_shown(&target) {
                continue;
            }
            let source = Source::Group(group, Some("links"));
            if let Some(installed) = installed(&target).filter(|it| !self.holds_home(it)) {
                for settings in SETTINGS {
                    self.check(&installed, settings, &source);
                }
                self.add(installed, source.clone(), None);
            }
            // The links on the way are found from the first one.
            self.add(link, source.clone(), None);
            self.add(target, source, None);
        }
    }

    fn is_shown(&self, path: &Path) -> bool {
        let shown = self.sight.seen.iter().filter(|seen| seen.copy.is_none());
        shown.map(|seen| &seen.path).any(|shown| path.starts_with(shown))
    }
}

/// The directory that a program was installed to, as its path tells: `.../versions/VERSION`, `.../node_modules`.
fn installed(program: &Path) -> Option<PathBuf> {
    let mut below = program;
    for above in program.ancestors().skip(1) {
        match above.file_name() {
            Some(name) if name == INSTALLED[0] && below != program => {
                return Some(below.to_owned());
            }
            Some(name) if name == INSTALLED[1] => return Some(above.to_owned()),
            _ => below = above,
        }
    }
    None
}
