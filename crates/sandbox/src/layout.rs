//! What the root of the inside is made of: a list of places, each after the one that it lies in.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::error::Result;
use crate::looked::Looked;
use crate::script::c_path;

/// Longer chains of links lead nowhere, as the kernel has it.
const MOST_LINKS: usize = 40;

/// A place in the new root.
pub(crate) struct Place {
    /// From the root on.
    pub(crate) path: CString,
    pub(crate) kind: PlaceKind,
    /// Where it is in a home that is kept: its directory as seen from the new root, and its name there.
    pub(crate) in_home: Option<(CString, CString)>,
}

impl Place {
    /// The path without its slash, as seen from the new root before it is the root.
    pub(crate) fn below(&self) -> &CStr {
        let bytes = self.path.as_bytes_with_nul();
        CStr::from_bytes_with_nul(bytes.strip_prefix(b"/").unwrap_or(bytes)).unwrap_or(c"")
    }
}

/// What is at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// An empty directory, for what lies in it.
    Directory,
    /// An empty directory that the command can write to, with this mode.
    Private(&'static CStr),
    /// The same, whose changes can be looked at afterwards.
    Home,
    /// A directory of the host with all that is in it, read-only.
    Tree,
    /// The same that the command can write to, in a home that is kept.
    Shared,
    /// A file of the host, read-only.
    File,
    /// A link.
    Link(CString),
}

/// The places of a root, as they are found.
pub(crate) struct Layout<'l> {
    places: HashMap<PathBuf, PlaceKind>,
    looked: &'l mut Looked,
}

impl<'l> Layout<'l> {
    pub(crate) fn new(looked: &'l mut Looked) -> Self {
        Self { places: HashMap::new(), looked }
    }

    /// Adds something that is not the host's.
    pub(crate) fn add(&mut self, path: &Path, kind: PlaceKind) {
        // What lies around a place is there already.
        let parents = path.ancestors().skip(1).filter(|parent| parent.parent().is_some());
        for parent in
            parents.take_while(|parent| !self.places.contains_key(*parent)).collect::<Vec<_>>()
        {
            self.places.insert(parent.to_owned(), PlaceKind::Directory);
        }
        self.places.insert(path.to_owned(), kind);
    }

    /// Shows what the host has there, by its own path and by those of the links that lead to it. Nothing where there is nothing, and no pipe,
    /// socket or device: others listen there.
    pub(crate) fn show(&mut self, path: &Path) -> Result<()> {
        let Some(path) = self.reach(path)? else { return Ok(()) };
        let kind = match self.looked.kind(&path) {
            _ if path.parent().is_none() => return Ok(()),
            Some(found) if found.is_dir() => PlaceKind::Tree,
            Some(found) if found.is_file() => PlaceKind::File,
            _ => return Ok(()),
        };
        if matches!(self.places.get(&path), None | Some(PlaceKind::Directory)) {
            self.add(&path, kind);
        }
        Ok(())
    }

    /// The links at the top of the host: `/bin` on many systems, `/home` on some.
    pub(crate) fn top_links(&mut self) -> Result<()> {
        let Ok(entries) = fs::read_dir("/") else { return Ok(()) };
        for entry in entries.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.link(&entry.path())?;
            }
        }
        Ok(())
    }

    /// A path of the host without links; those on the way to it are added. None where there is nothing.
    pub(crate) fn reach(&mut self, path: &Path) -> Result<Option<PathBuf>> {
        self.follow(path, MOST_LINKS)
    }

    fn follow(&mut self, path: &Path, left: usize) -> Result<Option<PathBuf>> {
        let mut at = PathBuf::from("/");
        let mut parts = path.components();
        while let Some(part) = parts.next() {
            match part {
                Component::ParentDir => drop(at.pop()),
                Component::Normal(name) => at.push(name),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
            }
            match self.looked.kind(&at) {
                None => return Ok(None),
                Some(found) if found.is_symlink() && left > 0 => {
                    let Some(target) = self.link(&at)? else { return Ok(None) };
                    at.pop();
                    return self.follow(&at.join(target).join(parts.as_path()), left - 1);
                }
                Some(found) if found.is_symlink() => return Ok(None),
                Some(_) => {}
            }
        }
        Ok(Some(at))
    }

    fn link(&mut self, path: &Path) -> Result<Option<PathBuf>> {
        let Ok(target) = fs::read_link(path) else { return Ok(None) };
        self.add(path, PlaceKind::Link(c_path(&target)?));
        Ok(Some(target))
    }

    /// The places in order. What lies in a directory of the host is there already. `kept` is a home that others write to as well.
    pub(crate) fn finish(self, kept: Option<&Path>) -> Result<Vec<Place>> {
        let mut around: Vec<(PathBuf, bool)> = Vec::new();
        let mut places = Vec::new();
        let mut all: Vec<(PathBuf, PlaceKind)> = self.places.into_iter().collect();
        all.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        for (path, kind) in all {
            while around.last().is_some_and(|(outer, _)| !path.starts_with(outer)) {
                around.pop();
            }
            let in_tree = around.last().is_some_and(|(_, is_tree)| *is_tree);
            let (is_own, is_tree) = match kind {
                PlaceKind::Private(_) | PlaceKind::Home => (true, false),
                PlaceKind::Tree | PlaceKind::Shared => (false, true),
                _ => (false, in_tree),
            };
            if in_tree && !is_own {
                continue;
            }
            around.push((path.clone(), is_tree));
            let in_home = kept.filter(|home| path.starts_with(home) && path != *home);
            let in_home = in_home.map(|_| below_root(&path)).transpose()?;
            places.push(Place { path: c_path(&path)?, kind, in_home });
        }
        Ok(places)
    }
}

/// The directory of a path, as seen from the root, and its name there.
fn below_root(path: &Path) -> Result<(CString, CString)> {
    let parent = path.parent().and_then(|parent| parent.strip_prefix("/").ok());
    let name = Path::new(path.file_name().unwrap_or_default());
    Ok((c_path(parent.unwrap_or(Path::new(".")))?, c_path(name)?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn paths(layout: Layout<'_>) -> Vec<(String, PlaceKind)> {
        let places = layout.finish(None).unwrap();
        places.into_iter().map(|place| (place.path.into_string().unwrap(), place.kind)).collect()
    }

    #[test]
    fn every_place_comes_after_what_it_lies_in() {
        let mut looked = Looked::default();
        let mut layout = Layout::new(&mut looked);
        layout.show(Path::new("/usr/bin")).unwrap();
        layout.add(Path::new("/usr/tmp"), PlaceKind::Private(c"1777"));
        layout.show(Path::new("/usr")).unwrap();
        layout.show(Path::new("/usr/lib")).unwrap();
        let expected = [
            ("/usr".to_owned(), PlaceKind::Tree),
            ("/usr/tmp".to_owned(), PlaceKind::Private(c"1777")),
        ];
        assert_eq!(paths(layout), expected);
    }

    #[test]
    fn links_are_shown_with_what_they_lead_to() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("there/deep")).unwrap();
        symlink("there", top.join("first")).unwrap();
        symlink(top.join("first/deep"), top.join("second")).unwrap();
        symlink("circle", top.join("circle")).unwrap();
        let mut looked = Looked::default();
        let mut layout = Layout::new(&mut looked);
        for name in ["second", "circle", "absent"] {
            layout.show(&top.join(name)).unwrap();
        }
        let found = paths(layout);
        let kind = |name: &str| {
            let path = top.join(name);
            found.iter().find(|(found, _)| Path::new(found) == path).map(|(_, kind)| kind.clone())
        };
        assert_eq!(kind("there/deep"), Some(PlaceKind::Tree));
        assert_eq!(kind("there"), Some(PlaceKind::Directory));
        assert_eq!(kind("first"), Some(PlaceKind::Link(c"there".to_owned())));
        assert!(matches!(kind("second"), Some(PlaceKind::Link(_))));
        assert_eq!(kind("absent"), None);
    }

    #[test]
    fn nobody_listens_at_what_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600))
            .unwrap();
        let mut looked = Looked::default();
        let mut layout = Layout::new(&mut looked);
        layout.show(&pipe).unwrap();
        layout.show(Path::new("/dev/null")).unwrap();
        layout.show(Path::new("/")).unwrap();
        assert!(paths(layout).is_empty());
    }
}
