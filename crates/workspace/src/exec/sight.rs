//! What a command sees of the host: the places that a profile names, as far as they are there.

mod checked;
mod explain;
mod includes;
mod links;
mod settings;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use offshoot_host::read_regular;
use offshoot_profile::{ALL, Group, HostTool, Preset, Profile, groups};
use offshoot_sandbox::{CacheMount, Overlay, WrittenFile};
use offshoot_scrub::{OmittedLines, Scrubbed, scrub};

use crate::cache::{KNOWN, KnownCache};

pub use explain::Explanation;

/// Larger files are no settings.
const LARGEST_COPY: u64 = 256 * 1024;
/// So many stores of objects are looked at.
const MOST_LENDERS: usize = 16;
/// Larger files that somebody named are shown, not copied.
const LARGEST_NAMED: u64 = 16 * 1024 * 1024;

/// The caller as far as it says what can be seen. Variables that were given with a command are no part of it: whoever asks for a command must not
/// choose by them what it sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Viewer {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The caller's own variables.
    pub variables: Vec<(OsString, OsString)>,
}

impl Viewer {
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.variables.iter().rev().find(|(set, _)| set == name);
        found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// A preset with the directories of its agent where the viewer's variables say that they are; what is told about it.
    pub fn moved(&self, preset: Preset) -> (Preset, Vec<String>) {
        preset.moved(&self.homes(), |name| self.variable(name).map(OsStr::to_owned))
    }

    /// Where a cache is for the viewer; none where that is too much to show.
    pub(super) fn cache(&self, known: &KnownCache) -> Option<PathBuf> {
        known.path(&self.with_home()).filter(|path| !holds(&self.homes(), path))
    }

    /// Its variables, with the home that it has.
    fn with_home(&self) -> Vec<(OsString, OsString)> {
        let home = self.home.iter().map(|home| ("HOME".into(), home.clone().into_os_string()));
        let others = self.variables.iter().filter(|(name, _)| name != "HOME").cloned();
        home.chain(others).collect()
    }

    /// A place of a table as a path; none where its variable is not set.
    pub(super) fn path(&self, place: &str) -> Option<PathBuf> {
        if let Some(below) = place.strip_prefix("~/") {
            return Some(self.home.as_ref()?.join(below));
        }
        let Some(named) = place.strip_prefix('$') else { return Some(PathBuf::from(place)) };
        let (name, below) = named.split_once('/').unwrap_or((named, ""));
        let first = self.variable(name)?.as_bytes().split(|byte| *byte == b':').next()?;
        let path = Path::new(OsStr::from_bytes(first));
        path.is_absolute()
            .then(|| if below.is_empty() { path.to_owned() } else { path.join(below) })
    }

    /// The home by all its names.
    fn homes(&self) -> Vec<PathBuf> {
        let names =
            self.home.iter().flat_map(|home| [Some(home.clone()), home.canonicalize().ok()]);
        names.flatten().collect()
    }
}

/// Directories of a home that belong to many tools, or hold what none shows: no variable shows one of them as a whole.
const SHARED: [&str; 17] = [
    ".aws",
    ".azure",
    ".cache",
    ".config",
    ".docker",
    ".gnupg",
    ".gradle",
    ".kube",
    ".local",
    ".local/share",
    ".local/state",
    ".m2",
    ".mozilla",
    ".password-store",
    ".ssh",
    "Documents",
    "Downloads",
];

/// Whether a directory is too much to show because it was named by a variable: one of these homes, what they lie in, or what many share there.
fn holds(homes: &[PathBuf], path: &Path) -> bool {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_shared = |home: &PathBuf| {
        path.strip_prefix(home)
            .is_ok_and(|below| SHARED.iter().any(|name| below == Path::new(name)))
    };
    path.parent().is_none() || homes.iter().any(|home| home.starts_with(&path) || is_shared(home))
}

/// Why something is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It belongs to a group of the table, and there to a tool.
    Group(&'static str, Option<&'static str>),
    /// The profile names it.
    Profile,
    /// It was asked for with the command.
    Request,
    /// The preset of an agent names it.
    Preset,
}

/// Something that a command sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub source: Source,
    /// A copy of it; otherwise it is the host's own, read-only.
    pub copy: Option<Copied>,
}

/// A copy of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    content: Vec<u8>,
    modified: Option<SystemTime>,
    /// What seemed to be a credential and is not in it; none where that cannot be left out and there is no copy.
    pub left_out: Option<OmittedLines>,
    /// The line for which there is no copy, since it could not be left out.
    pub withheld_for: Option<usize>,
}

impl Copied {
    /// The content of a file as what a name says that it is, without what seems to be a credential.
    fn of(name: &str, path: &Path, content: Vec<u8>) -> Self {
        let modified =
            fs::metadata(path).as_ref().ok().and_then(|found| Metadata::modified(found).ok());
        let (content, left_out, withheld_for) = match scrub(name, &content) {
            Scrubbed::Whole => (content, Some(OmittedLines::default()), None),
            Scrubbed::Without(rest, left_out) => (rest, Some(left_out), None),
            Scrubbed::Nothing(line) => (Vec::new(), None, Some(line)),
        };
        Self { content, modified, left_out, withheld_for }
    }

    /// None of a file that cannot be looked at.
    fn none() -> Self {
        Self { content: Vec::new(), modified: None, left_out: None, withheld_for: None }
    }
}

/// All that a command sees of the host beside its workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// What is there.
    pub seen: Vec<Seen>,
    /// What is covered.
    pub hidden: Vec<PathBuf>,
    /// What the profile names and the machine does not have.
    pub missing: Vec<PathBuf>,
    /// There is no end to it.
    pub everything: bool,
    /// What is there besides, in directories of the command's own.
    pub(super) written: Vec<WrittenFile>,
}

impl Sight {
    /// What a profile lets a viewer's commands see, with what was asked for besides.
    pub fn new(profile: &Profile, viewer: &Viewer, asked: &[PathBuf]) -> Self {
        let mut finder = Finder::new(viewer);
        finder.sight.everything = profile.is_open();
        let wanted = groups().iter().filter(|group| profile.reads.contains(group.name));
        // What a list names is told of as such; a variable may name the same.
        let (lists, variables): (Vec<_>, Vec<_>) = wanted.partition(|it| it.variable.is_none());
        for group in lists.into_iter().chain(variables) {
            finder.group(group);
        }
        for path in profile.show.iter().filter_map(|place| viewer.path(place)) {
            if !path.as_os_str().as_bytes().ends_with(b"*") && path.symlink_metadata().is_err() {
                finder.sight.missing.push(path);
            } else {
                finder.show(path, Source::Profile);
            }
        }
        for path in asked {
            finder.show(path.clone(), Source::Request);
        }
        if profile.is_open() {
            finder.show_everything();
        }
        let mut sight = finder.sight;
        // What somebody named is not covered because a tool keeps credentials there.
        let Self { seen, hidden: covered, .. } = &mut sight;
        covered.retain(|path| {
            !seen.iter().any(|seen| seen.is_named() && path.starts_with(&seen.path))
        });
        let hidden = hidden_places(profile, viewer);
        // What is hidden as it was found need not be covered.
        sight.seen.retain(|seen| !hidden.iter().any(|hidden| seen.path.starts_with(hidden)));
        let target = |path: PathBuf| path.canonicalize().unwrap_or(path);
        sight.hidden.extend(hidden.into_iter().map(target));
        sight
    }

    /// Shows the caches of the host that are not there as those of the vault.
    pub(super) fn add_caches(&mut self, viewer: &Viewer, mounts: &[CacheMount]) {
        let (variables, homes) = (viewer.with_home(), viewer.homes());
        for known in KNOWN {
            let path = known.path(&variables).filter(|path| path.is_dir() && !holds(&homes, path));
            let Some(path) = path.and_then(|path| path.canonicalize().ok()) else { continue };
            if !mounts.iter().any(|mount| mount.target == path) {
                let source = Source::Group("caches", Some(known.name));
                self.seen.push(Seen { path, source, copy: None });
            }
        }
    }

    /// Shows the stores of objects that repositories in these folders of the host borrow from. What a workspace says about that does not count.
    pub(super) fn add_borrowed_objects(&mut self, folders: &[PathBuf]) {
        // What lies in a folder with a repository is a part of the project, which anybody may have written.
        let store = |folder: &PathBuf| match folder.join(".git").symlink_metadata() {
            Ok(_) => Some(folder.join(".git/objects")),
            Err(_) if folder.join("HEAD").is_file() => Some(folder.join("objects")),
            Err(_) => None,
        };
        let mut stores: Vec<PathBuf> = folders.iter().filter_map(store).collect();
        for _ in 0..MOST_LENDERS {
            let Some(store) = stores.pop() else { break };
            let Ok(text) = read_regular(&store.join("info/alternates"), LARGEST_COPY) else {
                continue;
            };
            for line in text
                .split(|byte| *byte == b'\n')
                .filter(|line| line.starts_with(b"/") || line.starts_with(b".."))
            {
                let lender = store.join(OsStr::from_bytes(line));
                let Ok(lender) = lender.canonicalize() else { continue };
                if lender.ends_with("objects") && lender.join("pack").is_dir() {
                    let source = Source::Group("git", Some("borrowed objects"));
                    self.seen.push(Seen { path: lender.clone(), source, copy: None });
                    stores.push(lender);
                }
            }
        }
    }

    /// What somebody named of the home: what is written there is thrown away.
    pub(super) fn scratch(&self, home: Option<&Path>) -> Vec<CacheMount> {
        let Some(home) = home.and_then(|home| home.canonicalize().ok()) else { return Vec::new() };
        let mut directories: Vec<PathBuf> =
            if self.everything { vec![home.clone()] } else { Vec::new() };
        for seen in self.seen.iter().filter(|seen| seen.is_named() && seen.copy.is_none()) {
            let path = seen.path.canonicalize().ok().filter(|path| path.is_dir());
            directories.extend(path.filter(|path| path.starts_with(&home) && *path != home));
        }
        let mount = |directory: PathBuf| CacheMount {
            name: None,
            layers: Overlay {
                directory: directory.clone(),
                lower: vec![PathBuf::from(".")],
                data: Vec::new(),
                upper: None,
                look_up: Vec::new(),
            },
            target: directory,
        };
        directories.into_iter().map(mount).collect()
    }

    /// What the sandbox shows.
    pub(super) fn shown(&self) -> Vec<PathBuf> {
        self.seen.iter().filter(|seen| seen.copy.is_none()).map(|seen| seen.path.clone()).collect()
    }

    /// What the sandbox writes.
    pub(super) fn copies(&self) -> impl Iterator<Item = WrittenFile> {
        // What lies in something that is shown is there as it is, unless it is covered.
        let is_there = |path: &Path| {
            self.seen.iter().any(|seen| seen.copy.is_none() && path.starts_with(&seen.path))
                && !self.hidden.iter().any(|hidden| hidden == path)
        };
        let copied = self.seen.iter().filter_map(move |seen| {
            let copy = seen.copy.as_ref().filter(|copy| copy.left_out.is_some())?;
            let (content, modified) = (copy.content.clone(), copy.modified);
            let written = || WrittenFile { path: seen.path.clone(), content, modified };
            (!is_there(&seen.path)).then(written)
        });
        copied.chain(self.written.iter().cloned())
    }
}

/// Where a profile hides something.
pub(super) fn hidden_places(profile: &Profile, viewer: &Viewer) -> Vec<PathBuf> {
    profile.hide.iter().filter_map(|place| viewer.path(place)).collect()
}

/// What is known of a path before it is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    None,
    Possible,
    /// Its directory has it.
    Listed,
}

struct Finder<'a> {
    viewer: &'a Viewer,
    /// The viewer's home by all its names.
    homes: Vec<PathBuf>,
    /// Names in directories that many places lie in; none where the system does not let them be listed.
    listings: HashMap<PathBuf, Option<HashSet<OsString>>>,
    /// Where in the list something is.
    places: HashMap<PathBuf, usize>,
    sight: Sight,
}

impl<'a> Finder<'a> {
    fn new(viewer: &'a Viewer) -> Self {
        let (listings, places) = (HashMap::new(), HashMap::new());
        Self { viewer, homes: viewer.homes(), listings, places, sight: Sight::default() }
    }

    fn holds_home(&self, path: &Path) -> bool {
        holds(&self.homes, path)
    }

    fn group(&mut self, group: &Group) {
        let source = Source::Group(group.name, None);
        for place in group.show {
            if let Some(path) = self.viewer.path(place) {
                self.show(path, source.clone());
            }
        }
        for place in group.copy {
            if let Some(path) = self.viewer.path(place) {
                self.copy(path, source.clone());
            }
        }
        if let Some(list) = group.variable.and_then(|name| self.viewer.variable(name)) {
            let mut known = BTreeSet::new();
            for directory in list.as_bytes().split(|byte| *byte == b':') {
                let path = Path::new(OsStr::from_bytes(directory));
                if path.is_absolute() && known.insert(directory) && !self.holds_home(path) {
                    self.show(path.to_owned(), source.clone());
                    self.libraries_beside(path, &source);
                    self.linked_programs(path, group.name);
                }
            }
        }
        for tool in group.tools {
            self.tool(group.name, tool);
        }
        for place in group.check {
            self.check(Path::new("/"), place.trim_start_matches('/'), &source);
        }
    }

    /// What programs in a directory of programs need beside it.
    fn libraries_beside(&mut self, programs: &Path, source: &Source) {
        const LIBRARIES: [&str; 4] = ["lib", "lib64", "libexec", "include"];
        let Some(above) = programs.parent().filter(|_| programs.ends_with("bin")) else { return };
        for name in LIBRARIES {
            self.show(above.join(name), source.clone());
        }
    }

    fn tool(&mut self, group: &'static str, tool: &HostTool) {
        let source = Source::Group(group, Some(tool.name));
        for place in tool.at {
            let Some(path) = self.viewer.path(place) else { continue };
            let by_variable = place.starts_with('$');
            if by_variable && self.holds_home(&path) {
                continue;
            }
            if tool.show.is_empty() && tool.copy.is_empty() {
                self.show(path.clone(), source.clone());
            } else if self.may_be_there(&path) {
                for below in tool.show {
                    self.show(path.join(below), source.clone());
                }
                for below in tool.copy {
                    self.copy(path.join(below), source.clone());
                }
            }
            for below in tool.hide {
                let hidden = path.join(below);
                if self.may_be_there(&hidden) && hidden.exists() {
                    self.sight.hidden.push(hidden);
                }
            }
            if self.may_be_there(&path) {
                for below in tool.check {
                    self.check(&path, below, &source);
                }
            }
            if by_variable {
                return;
            }
        }
    }

    fn show(&mut self, path: PathBuf, source: Source) {
        let name = path.file_name().unwrap_or_default().as_bytes();
        if let (Some(start), Some(parent)) = (name.strip_suffix(b"*"), path.parent()) {
            let starts = |found: &&OsString| found.as_bytes().starts_with(start);
            let found: Vec<OsString> =
                self.listing(parent).into_iter().flatten().filter(starts).cloned().collect();
            for name in found {
                self.add(parent.join(name), source.clone(), None);
            }
            return;
        }
        let presence = self.presence(&path);
        let is_named = matches!(source, Source::Request | Source::Profile);
        if presence == Presence::Listed && !is_named {
            self.add(path, source, None);
        } else if presence != Presence::None
            && let Ok(found) = path.symlink_metadata()
        {
            let of_home = self.viewer.home.as_ref().is_some_and(|home| path.starts_with(home));
            match of_home && found.is_file() && is_named {
                true => self.copy_whole(path, source),
                false => self.add(path, source, None),
            }
        }
    }

    /// A file of the home that somebody named, which programs may want to write.
    fn copy_whole(&mut self, path: PathBuf, source: Source) {
        let copy = read_regular(&path, LARGEST_NAMED).ok().map(|content| Copied {
            content,
            modified: fs::metadata(&path).ok().and_then(|found| found.modified().ok()),
            left_out: Some(OmittedLines::default()),
            withheld_for: None,
        });
        self.add(path, source, copy);
    }

    /// All that the host has, but for what commands have of their own.
    fn show_everything(&mut self) {
        const OWN: [&str; 4] = ["dev", "proc", "tmp", "lost+found"];
        let names: Vec<OsString> =
            self.listing(Path::new("/")).into_iter().flatten().cloned().collect();
        for name in names.into_iter().filter(|name| !OWN.iter().any(|own| name == own)) {
            self.add(Path::new("/").join(name), Source::Group(ALL, None), None);
        }
    }

    fn copy(&mut self, path: PathBuf, source: Source) {
        let name = path.to_string_lossy().into_owned();
        let Some(content) = self.copy_as(&name, path.clone(), source.clone()) else { return };
        if includes::is_git_config(&path) {
            self.git_includes(&name, vec![(path, content)], &source);
        }
    }

    /// Copies a file as what a name says that it is; what the copy has then.
    fn copy_as(&mut self, name: &str, path: PathBuf, source: Source) -> Option<Vec<u8>> {
        if !self.may_be_there(&path) || self.places.contains_key(&path) {
            return None;
        }
        let content = read_regular(&path, LARGEST_COPY).ok()?;
        let copy = Copied::of(name, &path, content);
        let content = copy.content.clone();
        self.add(path, source, Some(copy));
        Some(content)
    }

    /// Adds something, unless it is there already; what somebody named comes before what the table says of it.
    fn add(&mut self, path: PathBuf, source: Source, copy: Option<Copied>) {
        let new = Seen { path, source, copy };
        let seen = &mut self.sight.seen;
        match self.places.get(&new.path).and_then(|at| seen.get_mut(*at)) {
            None => {
                self.places.insert(new.path.clone(), seen.len());
                seen.push(new);
            }
            Some(seen) if new.is_named() => *seen = new,
            Some(_) => {}
        }
    }

    fn may_be_there(&mut self, path: &Path) -> bool {
        self.presence(path) != Presence::None
    }

    /// What lies in `/etc`, in the home and in its `.config` is looked up in a list of names, since most places of the table are not there.
    fn presence(&mut self, path: &Path) -> Presence {
        let etc = Path::new("/etc");
        let home = self.viewer.home.as_deref();
        let config = home.filter(|home| path.starts_with(home)).map(|home| home.join(".config"));
        for above in config.as_deref().into_iter().chain(home).chain([etc]) {
            let Ok(below) = path.strip_prefix(above) else { continue };
            let mut below = below.components();
            // `.config` itself is in the list of the home.
            let Some(first) = below.next() else { continue };
            let Some(names) = self.listing(above) else { return Presence::Possible };
            return match names.contains(first.as_os_str()) {
                true if below.next().is_none() => Presence::Listed,
                true => Presence::Possible,
                false => Presence::None,
            };
        }
        Presence::Possible
    }

    fn listing(&mut self, directory: &Path) -> Option<&HashSet<OsString>> {
        let listing = self.listings.entry(directory.to_owned());
        let names = listing.or_insert_with(|| match fs::read_dir(directory) {
            Ok(entries) => Some(entries.flatten().map(|entry| entry.file_name()).collect()),
            Err(error) => {
                let is_absent =
                    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
                is_absent.then(HashSet::new)
            }
        });
        names.as_ref()
    }
}

#[cfg(test)]
mod tests;
