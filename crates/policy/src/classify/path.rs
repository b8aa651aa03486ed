//! What touching a path means: inside, private, outside, a device, or somebody's credentials.

use std::path::Path;

use offshoot_vocabulary::{CommandPart, EffectCategory, PathAccess};

use crate::context::Context;
use crate::judged::OUTSIDE;
use crate::knowledge::{self, CredentialLocation};
use crate::script::{Redirect, RedirectKind, ShellWord, WordPiece};

use super::Classifier;
use super::draft::Draft;
use super::pattern::fits;

/// What lies here goes with the command, or nearly so.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/run"];
/// Devices that keep nothing.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
];
/// Where the machine keeps its programs.
const SYSTEM: &[&str] =
    &["/bin", "/sbin", "/usr", "/opt", "/snap", "/nix/store", "/home/linuxbrew"];
/// Where a project keeps programs that others made.
const PACKAGES: &[&str] = &["/node_modules/.bin/", "/.venv/bin/", "/venv/bin/", "/vendor/bin/"];
/// Stands for a piece of a path that is not known.
const UNKNOWN: char = '\u{1}';

/// Where a program lies, the most trusted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProgramOrigin {
    /// With the programs of the machine or of the user: its name says what it is.
    System,
    /// With the packages of the project: its name says what it is, but it is code of the project.
    Packages,
    /// Anywhere else.
    Elsewhere,
}

/// A path as far as it is known. Patterns stay as they were written, and [`UNKNOWN`] stands for the rest.
enum Spot {
    Absolute(String),
    /// Below a home, but nobody knows where that is.
    Home(String),
    /// Its beginning is not known.
    Floating(String),
}

impl Classifier<'_> {
    /// A redirection of a command.
    pub(super) fn redirect(&mut self, redirect: &Redirect, apart: bool) {
        let accesses: &[PathAccess] = match redirect.kind {
            RedirectKind::Read => &[PathAccess::Read],
            RedirectKind::Write | RedirectKind::Append => &[PathAccess::Write],
            RedirectKind::ReadWrite => &[PathAccess::Read, PathAccess::Write],
        };
        let mut draft = Draft::default();
        for access in accesses {
            self.path(&mut draft, *access, &redirect.target, apart);
        }
        if draft.categories.is_read_only() && draft.paths.is_empty() {
            return;
        }
        let sign = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
        };
        self.emit(
            CommandPart::Redirection,
            vec![ShellWord::new(sign), redirect.target.clone()],
            draft,
        );
    }

    /// A path that a command touches.
    pub(super) fn path(
        &self,
        draft: &mut Draft,
        access: PathAccess,
        word: &ShellWord,
        apart: bool,
    ) {
        if is_relative(word) {
            for directory in self.directories.candidates(apart) {
                self.spot(draft, access, spot(word, directory, self.context));
            }
        } else {
            self.spot(draft, access, spot(word, None, self.context));
        }
    }

    fn spot(&self, draft: &mut Draft, access: PathAccess, spot: Spot) {
        match spot {
            Spot::Absolute(path) => self.absolute(draft, access, &path),
            Spot::Home(rest) => {
                let shown = format!("~/{rest}");
                credentials_below(draft, &rest, &shown);
                outside(draft, access, &shown);
            }
            Spot::Floating(rest) => {
                if let Some(rest) =
                    rest.strip_prefix(UNKNOWN).and_then(|rest| rest.strip_prefix('/'))
                {
                    credentials_below(draft, rest, &format!("…/{rest}"));
                }
                inside(draft, access, "a path that is only known when it runs");
            }
        }
    }

    fn absolute(&self, draft: &mut Draft, access: PathAccess, path: &str) {
        if is_device(path) {
            return;
        }
        let shown = shown(path);
        let wholly_known = !path.contains(UNKNOWN);
        if wholly_known || access != PathAccess::Read {
            draft.touch(access, &shown);
        }
        if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
            draft.add(EffectCategory::Networked, format!("{shown} is a connection in bash"));
        }
        self.credentials(draft, path, &shown);
        if self.is_ours(path) {
            inside(draft, access, &shown);
        } else {
            outside(draft, access, &shown);
        }
    }

    /// Whether a path lies in the workspace or in a private place.
    fn is_ours(&self, path: &str) -> bool {
        let mut folders = std::iter::once(&self.context.workspace).chain(&self.context.folders);
        folders.any(|folder| is_below(path, folder))
            || PRIVATE.iter().any(|place| is_below(path, Path::new(place)))
    }

    fn credentials(&self, draft: &mut Draft, path: &str, shown: &str) {
        let below_root = knowledge::places().iter().filter(|place| !place.home);
        let from_root = path.trim_start_matches('/');
        for place in below_root {
            if may_be_below(from_root, place.path) && !self.is_around_us(place) {
                return reveal(draft, place, shown);
            }
        }
        if let Some(rest) = self.below_home(path)
            && let Some(place) =
                knowledge::places().iter().find(|p| p.home && may_be_below(rest, p.path))
        {
            reveal(draft, place, shown);
        }
    }

    /// Whether the workspace or the user's home lies in a place, as for `root`.
    fn is_around_us(&self, place: &CredentialLocation) -> bool {
        let ours = [Some(&self.context.workspace), self.context.home.as_ref()];
        ours.into_iter().flatten().any(|path| {
            path.to_str().is_some_and(|path| may_be_below(path.trim_start_matches('/'), place.path))
        })
    }

    /// The part of a path below somebody's home.
    fn below_home<'p>(&self, path: &'p str) -> Option<&'p str> {
        let home = self.context.home.as_deref().and_then(Path::to_str);
        if let Some(rest) = home.and_then(|home| path.strip_prefix(home)) {
            return rest.strip_prefix('/');
        }
        let rest = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
        match rest {
            Some(rest) => rest.split_once('/').map(|(_, rest)| rest),
            None => path.strip_prefix("/root/"),
        }
    }

    /// Where a program lies that is called by its path; the worst of the places that it may be in.
    pub(super) fn origin_of_program(&self, path: &ShellWord, apart: bool) -> ProgramOrigin {
        let home = |directory| match spot(path, directory, self.context) {
            Spot::Absolute(path) => self.origin_of_path(&path),
            Spot::Home(rest) if is_own_tool(&rest) => ProgramOrigin::System,
            Spot::Home(_) | Spot::Floating(_) => ProgramOrigin::Elsewhere,
        };
        self.directories.candidates(apart).map(home).max().unwrap_or(ProgramOrigin::Elsewhere)
    }

    fn origin_of_path(&self, path: &str) -> ProgramOrigin {
        let system = SYSTEM.iter().any(|place| is_below(path, Path::new(place)));
        let ours = self.is_ours(path);
        let own = self.below_home(path).is_some_and(is_own_tool);
        if ours && PACKAGES.iter().any(|place| path.contains(place)) {
            ProgramOrigin::Packages
        } else if !ours && (system || own) {
            ProgramOrigin::System
        } else {
            ProgramOrigin::Elsewhere
        }
    }

    /// Where a word leads as a directory, where that is known.
    pub(super) fn directory(&self, word: &ShellWord) -> Option<String> {
        match spot(word, self.directories.now(), self.context) {
            Spot::Absolute(path) if !path.contains(['*', '?', '[', UNKNOWN]) => Some(path),
            _ => None,
        }
    }

    /// A place outside where the shell may be now.
    pub(super) fn directory_outside(&self, apart: bool) -> Option<String> {
        let mut places = self.directories.candidates(apart).flatten();
        places.find(|place| !self.is_ours(place)).map(str::to_owned)
    }

    /// Whether a word is known to lead out of the workspace and of the private places.
    pub(super) fn is_outside(&self, word: &ShellWord, apart: bool) -> bool {
        let mut draft = Draft::default();
        self.path(&mut draft, PathAccess::Write, word, apart);
        draft.categories.contains(EffectCategory::HostEscapeRisk)
    }
}

fn inside(draft: &mut Draft, access: PathAccess, shown: &str) {
    match access {
        PathAccess::Read => {}
        PathAccess::Write => draft.add(EffectCategory::Mutating, format!("writes to {shown}")),
        PathAccess::Delete => {
            draft.add(EffectCategory::Mutating, format!("deletes {shown}"));
            draft.add(EffectCategory::Destructive, format!("deletes {shown}"));
        }
    }
}

fn outside(draft: &mut Draft, access: PathAccess, shown: &str) {
    inside(draft, access, shown);
    let does = match access {
        PathAccess::Read => return,
        PathAccess::Write => "writes to",
        PathAccess::Delete => "deletes",
    };
    draft.outside = true;
    draft.add(EffectCategory::HostEscapeRisk, format!("{does} {shown}{OUTSIDE}"));
}

fn reveal(draft: &mut Draft, place: &CredentialLocation, shown: &str) {
    draft.add(EffectCategory::HostEscapeRisk, format!("{shown}: {}", place.why));
}

/// What a place below somebody's home holds, if that is credentials.
pub fn credentials_in_home(below: &str) -> Option<&'static str> {
    let mut places = knowledge::places().iter().filter(|place| place.home);
    places.find(|place| may_be_below(below, place.path)).map(|place| place.why)
}

fn credentials_below(draft: &mut Draft, rest: &str, shown: &str) {
    if let Some(place) =
        knowledge::places().iter().find(|place| place.home && may_be_below(rest, place.path))
    {
        reveal(draft, place, shown);
    }
}

/// Whether a path below a home is a program that its owner installed: `.cargo/bin/x`, `go/bin/x`.
fn is_own_tool(rest: &str) -> bool {
    let directory = rest.rsplit_once('/').map_or("", |(directory, _)| directory);
    (rest.starts_with('.') || rest.starts_with("go/"))
        && (directory.ends_with("/bin") || directory.ends_with("/shims"))
}

fn is_relative(word: &ShellWord) -> bool {
    match word.pieces.first() {
        Some(WordPiece::Literal(text) | WordPiece::Pattern(text)) => !text.starts_with('/'),
        Some(WordPiece::Tilde(tilde)) => tilde == "~+",
        Some(WordPiece::Unknown { .. }) => false,
        None => true,
    }
}

/// Where a word leads, seen from a directory.
fn spot(word: &ShellWord, directory: Option<&str>, context: &Context) -> Spot {
    let mut text = String::new();
    let mut pieces = word.pieces.iter();
    match pieces.as_slice().first() {
        Some(WordPiece::Tilde(tilde)) => {
            pieces.next();
            if let Some(spot) = tilde_spot(tilde, pieces.as_slice(), directory, context) {
                return spot;
            }
            text.push(UNKNOWN);
        }
        Some(WordPiece::Unknown { .. }) => {}
        _ if is_relative(word) => match directory {
            Some(directory) => {
                text.push_str(directory);
                text.push('/');
            }
            None => text.push(UNKNOWN),
        },
        _ => {}
    }
    append(&mut text, pieces.as_slice());
    if text.starts_with('/') { Spot::Absolute(normal(&text)) } else { Spot::Floating(text) }
}

fn tilde_spot(
    tilde: &str,
    rest: &[WordPiece],
    directory: Option<&str>,
    context: &Context,
) -> Option<Spot> {
    let start = match tilde {
        "~" => match &context.home {
            Some(home) => home.to_string_lossy().into_owned(),
            None => {
                let mut text = String::new();
                append(&mut text, rest);
                return Some(Spot::Home(text.trim_start_matches('/').to_owned()));
            }
        },
        "~root" => "/root".to_owned(),
        "~+" => directory?.to_owned(),
        "~-" => return None,
        other => format!("/home/{}", other.trim_start_matches('~')),
    };
    let mut text = start;
    append(&mut text, rest);
    Some(Spot::Absolute(normal(&text)))
}

fn append(text: &mut String, pieces: &[WordPiece]) {
    for piece in pieces {
        match piece {
            WordPiece::Literal(known) | WordPiece::Pattern(known) | WordPiece::Tilde(known) => {
                text.push_str(known);
            }
            WordPiece::Unknown { .. } => text.push(UNKNOWN),
        }
    }
}

/// An absolute path without `.`, `..` and doubled slashes.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut text = String::with_capacity(path.len());
    for part in parts {
        text.push('/');
        text.push_str(part);
    }
    if text.is_empty() {
        text.push('/');
    }
    text
}

fn shown(path: &str) -> String {
    path.replace(UNKNOWN, "…")
}

fn is_device(path: &str) -> bool {
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"));
    DEVICES.contains(&path)
        || number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a path is a directory or lies below it, as far as it is known.
fn is_below(path: &str, directory: &Path) -> bool {
    Path::new(path).starts_with(directory)
}

/// Whether a path may be a place or lie below it. Both may have patterns in them.
#[inline]
fn may_be_below(path: &str, place: &str) -> bool {
    // Nearly all places are ruled out by their first letter.
    let first = |text: &str| text.as_bytes().first().copied().unwrap_or_default();
    let (letter, wanted) = (first(path), first(place));
    (letter == wanted || is_open(letter) || is_open(wanted)) && leads_below(path, place)
}

fn leads_below(path: &str, place: &str) -> bool {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    place.split('/').all(|wanted| parts.next().is_some_and(|part| may_be(part, wanted)))
}

fn may_be(part: &str, wanted: &str) -> bool {
    if wanted.contains('*') {
        return part.contains(UNKNOWN) || is_pattern(part) || fits(wanted, part);
    }
    if is_pattern(part) {
        return (part.starts_with('.') || !wanted.starts_with('.')) && fits(part, wanted);
    }
    part == wanted
}

/// Whether a letter may stand for others.
fn is_open(letter: u8) -> bool {
    matches!(letter, b'*' | b'?' | b'[' | b'/') || char::from(letter) == UNKNOWN
}

fn is_pattern(part: &str) -> bool {
    part.contains(['*', '?', '['])
}
