//! From paths as people type them to paths of a vault.

use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use offshoot_host::disk::bytes_path;
use offshoot_tree::{VaultPath, display_bytes};
use offshoot_vault::{Vault, VaultError};

use crate::error::{Result, ServiceError};
use crate::path_pattern::PathPattern;

/// Where somebody stands in a vault: what they type starts there, unless it starts with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathContext {
    at: VaultPath,
    /// The folder of the host, where it is one of the vault's.
    here: Option<PathBuf>,
    /// The folders of the vault: where they are on the host, and where in the tree.
    folders: Vec<(PathBuf, VaultPath)>,
}

impl PathContext {
    /// Of somebody in this folder of the host; at the top where the vault is not bound to it. `here` has no links in it.
    pub fn new(vault: &Vault, here: &Path) -> Result<Self> {
        let folders = vault.bindings()?.iter().map(|it| (it.host_path(), it.at())).collect();
        Ok(Self::among(folders, here))
    }

    fn among(folders: Vec<(PathBuf, VaultPath)>, here: &Path) -> Self {
        let mut found = Self { folders, ..Self::default() };
        if let Some(at) = found.in_vault(here) {
            (found.at, found.here) = (at, Some(here.to_owned()));
        }
        found
    }

    /// Of somebody who stands in no folder of the vault: its further folders are where they are on the host.
    pub(crate) fn outside(vault: &Vault) -> Result<Self> {
        let folders = vault.bindings()?.iter().map(|it| (it.host_path(), it.at())).collect();
        Ok(Self { folders, ..Self::default() })
    }

    /// Where something of the host is in the vault.
    fn in_vault(&self, host_path: &Path) -> Option<VaultPath> {
        // A folder of a vault never lies in another one.
        self.folders.iter().find_map(|(folder, at)| {
            let below = host_path.strip_prefix(folder).ok()?;
            let names = below.components().map(|name| name.as_os_str().as_bytes());
            Some(names.fold(at.clone(), |path, name| path.join(name)))
        })
    }

    /// The path of a file that somebody names by where it is on the host; none where that is in no folder of the vault.
    pub fn on_host(&self, text: &[u8]) -> Option<VaultPath> {
        let host_path = text.starts_with(b"/").then(|| resolved(Path::new("/"), bytes_path(text)));
        self.in_vault(&host_path?)
    }

    /// The path that somebody means. From one folder of the vault `..` leads to another as it does on the host.
    pub fn path(&self, text: &[u8]) -> Result<VaultPath> {
        let parse = |path: &[u8]| {
            let parsed = VaultPath::parse(path).map_err(|error| error.of_typed(text));
            Ok(parsed.map_err(VaultError::from)?)
        };
        if text.is_empty() {
            // A variable of the shell that is not set, more often than not: nobody means the whole folder by that.
            let why = "an empty path names nothing; \".\" is the current folder";
            return Err(ServiceError::Request(why.to_owned()));
        }
        if text.starts_with(b"/") {
            return parse(text);
        }
        let on_host = self.here.as_ref().map(|here| resolved(here, bytes_path(text)));
        if let Some(path) = on_host.and_then(|host_path| self.in_vault(&host_path)) {
            // What is no name is told about.
            return parse(&path.to_bytes());
        }
        parse(&[&self.at.to_bytes(), b"/".as_slice(), text].concat())
    }

    /// A path as people read it, and can type it here: from the top of the vault, and in its further folders from where they stand. Without
    /// standing in a folder of the vault, the path of the host.
    pub fn display(&self, path: &VaultPath) -> String {
        let further = self.folders.iter().filter(|(_, at)| !at.is_top());
        let Some((folder, at)) = further.into_iter().find(|(_, at)| path.is_within(at)) else {
            return path.to_string();
        };
        let mut host_path = folder.clone();
        host_path.extend(path.names()[at.names().len()..].iter().map(|name| bytes_path(name)));
        let shown = self.here.as_ref().map(|here| relative(here, &host_path));
        display_bytes(shown.unwrap_or(host_path).as_os_str().as_bytes())
    }

    /// A text with the paths in further folders of the vault as people read them, such as the message of an error.
    pub fn display_in(&self, text: &str) -> String {
        let further = self.folders.iter().map(|(_, at)| at).filter(|at| !at.is_top());
        further.fold(text.to_owned(), |text, at| {
            let (inside, shown) = (at.to_string(), self.display(at));
            let mut parts = text.split(inside.as_str());
            let mut told = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                // The name of another folder may start with this one's.
                let goes_on = |c: char| c.is_alphanumeric() || "-_.".contains(c);
                told.push_str(if part.starts_with(goes_on) { &inside } else { &shown });
                told.push_str(part);
            }
            told
        })
    }

    /// The paths that somebody means by a path or a glob.
    pub fn pattern(&self, text: &[u8]) -> Result<PathPattern> {
        match PathPattern::is_glob(text) {
            true => PathPattern::glob(text, &self.at, self.path(text).ok()),
            false => Ok(PathPattern::below(text, self.path(text)?)),
        }
    }
}

/// A path of the host without `.` and `..`, from its names alone.
pub(crate) fn resolved(here: &Path, path: &Path) -> PathBuf {
    let mut found = here.to_owned();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(found.pop()),
            Component::CurDir => {}
            part => found.push(part),
        }
    }
    found
}

/// The way from a folder of the host to something.
fn relative(here: &Path, host_path: &Path) -> PathBuf {
    let shared = here.components().zip(host_path.components()).take_while(|(a, b)| a == b).count();
    let up = here.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(host_path.components().skip(shared)).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> VaultPath {
        VaultPath::parse(text.as_bytes()).unwrap()
    }

    fn standing(at: &str) -> PathContext {
        PathContext { at: path(at), ..PathContext::default() }
    }

    fn among(here: &str) -> PathContext {
        let folders = [("/srv/ada/project", "/"), ("/srv/ada/conf", "/.offshoot/bound/conf")];
        let folder = |(host, at): (&str, &str)| (PathBuf::from(host), path(at));
        PathContext::among(folders.map(folder).into(), Path::new(here))
    }

    #[test]
    fn paths_of_further_folders_are_shown_as_they_are_typed() {
        let bound = path("/.offshoot/bound/conf/app/main.conf");
        for (here, shown) in [
            ("/srv/ada/project", "../conf/app/main.conf"),
            ("/srv/ada/project/src", "../../conf/app/main.conf"),
            ("/srv/ada/conf", "app/main.conf"),
            ("/srv/ada/conf/app", "main.conf"),
        ] {
            let standing = among(here);
            assert_eq!(standing.display(&bound), shown, "{here}");
            assert_eq!(standing.path(shown.as_bytes()).unwrap(), bound, "{here}");
            assert_eq!(standing.display(&path("/src/main.c")), "/src/main.c");
        }
        assert_eq!(among("/srv/ada/conf/app").display(&path("/.offshoot/bound/conf/app")), ".");
        assert_eq!(among("/opt").display(&bound), "/srv/ada/conf/app/main.conf");
        let other = path("/.offshoot/bound/other/x");
        assert_eq!(among("/srv/ada/project").display(&other), other.to_string());
        let back = among("/srv/ada/conf").path(b"../project/src/main.c").unwrap();
        assert_eq!(back, path("/src/main.c"));
        assert!(among("/srv/ada/project").path(b"../else").is_err(), "it leads out of the vault");
    }

    #[test]
    fn what_is_typed_starts_where_one_stands() {
        let typed = |at: &str, text: &str| standing(at).path(text.as_bytes()).unwrap();
        assert_eq!(typed("/", "main.c"), path("/main.c"));
        assert_eq!(typed("/src", "main.c"), path("/src/main.c"));
        assert_eq!(typed("/src", "./main.c"), path("/src/main.c"));
        assert_eq!(typed("/src/deep", "../main.c"), path("/src/main.c"));
        assert_eq!(typed("/src", "."), path("/src"));
        assert_eq!(typed("/src", "/main.c"), path("/main.c"));
        let error =
            |at: &str, text: &str| standing(at).path(text.as_bytes()).unwrap_err().to_string();
        let told = "../../main.c is not a path inside a vault: it leads out of the vault";
        assert_eq!(error("/src", "../../main.c"), told);
        assert_eq!(error("/", "../../main.c"), told);
        // Nobody means everything by a variable that is not set.
        assert!(error("/src", "").contains("an empty path names nothing"));
        assert!(standing("/").pattern(b"").is_err());
    }

    #[test]
    fn globs_start_there_too() {
        let fits = |at: &str, glob: &str, candidate: &str| {
            standing(at).pattern(glob.as_bytes()).unwrap().matches(&path(candidate))
        };
        assert!(fits("/", "*.c", "/src/main.c"));
        assert!(fits("/src", "*.c", "/src/main.c"));
        assert!(fits("/src", "*.c", "/src/deep/main.c"));
        assert!(!fits("/src", "*.c", "/lib/main.c"));
        assert!(fits("/src", "deep/*.c", "/src/deep/main.c"));
        assert!(!fits("/src", "deep/*.c", "/deep/main.c"));
        assert!(fits("/src", "/deep/*.c", "/deep/main.c"));
        assert!(fits("/src", "main.c", "/src/main.c"));
        assert!(!fits("/src", "main.c", "/main.c"));
        assert!(fits("/a[b]", "*.c", "/a[b]/main.c"), "a name is not a pattern");
        assert!(fits("/src/deep", "../*.c", "/src/main.c"));
        assert!(fits("/src/deep", "../[x]", "/src/[x]") && fits("/src/deep", "../[x]", "/src/x"));
        assert!(fits("/src/deep", r"../\[x\]", "/src/[x]"));
        assert!(!fits("/src/deep", r"../\[x\]", "/src/x"));
    }

    #[test]
    fn texts_have_paths_as_people_know_them() {
        let folders = [
            ("/srv/project", "/"),
            ("/srv/conf", "/.offshoot/bound/conf"),
            ("/srv/project.git", "/.offshoot/bound/conf.git"),
        ];
        let folders = folders.map(|(folder, at)| (PathBuf::from(folder), path(at)));
        let standing = PathContext::among(folders.to_vec(), Path::new("/srv/project"));
        for (text, told) in [
            ("there is no /.offshoot/bound/conf/x", "there is no ../conf/x"),
            ("/.offshoot/bound/conf: gone", "../conf: gone"),
            ("a, /.offshoot/bound/conf.git/HEAD", "a, ../project.git/HEAD"),
            ("no /.offshoot/bound/config", "no /.offshoot/bound/config"),
            ("nothing of it", "nothing of it"),
        ] {
            assert_eq!(standing.display_in(text), told);
        }
    }
}
