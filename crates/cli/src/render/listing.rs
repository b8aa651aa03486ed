//! A list of changes for people: files one by one, and folded what nobody reads file by file.

use std::collections::BTreeMap;

use offshoot_engine::binding::bound_path;
use offshoot_engine::change::{
    Change, ChangeKind, Folded, FoldedKind, Noise, Sorted, is_telling_metadata, sorted,
};
use offshoot_engine::file::VaultPath;
use offshoot_engine::git::GitActivity;
use offshoot_engine::text::display_bytes;
use offshoot_protocol::Hint;

use super::{DIM, change, count, line, paint, path};
use crate::error::Result;
use crate::invocation::{next, next_in};

/// How to see what changed in its metadata alone, for a command that has the option.
pub(crate) const METADATA: &str = "--metadata";

/// How to see what is folded, for a command that has the option.
pub(crate) const EXPAND: &str = "--expand lists all files";

/// How to see what a workspace would bring home in its metadata alone.
pub(crate) fn status_metadata(workspace: &str) -> String {
    format!("`{}`", next_in(workspace, "offshoot status --metadata"))
}

/// How to see what a workspace, or the main line, got in its metadata alone, for a command that changed it.
pub(crate) fn show_metadata(workspace: &str) -> String {
    format!("`{}`", next(Hint::command("offshoot show").arg(workspace).words("--metadata")))
}

/// The same for all of it: what it did can be looked at later.
pub(crate) fn show_expanded(workspace: &str) -> String {
    let show = next(Hint::command("offshoot show").arg(workspace).words("--expand"));
    format!("`{show}` lists all files")
}

/// More directories of one name are shown as one.
const MOST_ALIKE: usize = 2;

/// Changes, ready to be shown.
#[derive(Debug)]
pub(crate) struct Listing<'c> {
    single: Vec<&'c Change>,
    folded: Vec<Folded<&'c Change>>,
    /// Paths of which only times, owners and the like changed, and that are not listed.
    metadata: Vec<&'c Change>,
    /// How to see those, where they have a line of their own.
    metadata_hint: Option<String>,
    /// Nothing is folded or cut.
    expanded: bool,
}

impl<'c> Listing<'c> {
    /// Of changes by path; without noise nothing is folded.
    pub(crate) fn new(changes: &'c [Change], noise: Option<&mut Noise<'_>>) -> Result<Self> {
        let expanded = noise.is_none();
        let Sorted { single, folded } = sorted(changes, noise)?;
        Ok(Self { single, folded, metadata: Vec::new(), metadata_hint: None, expanded })
    }

    /// With paths that are left out because only their metadata changed, and a line that says how to see them.
    pub(crate) fn and_metadata(self, metadata: Vec<&'c Change>, hint: impl Into<String>) -> Self {
        Self { metadata, metadata_hint: Some(hint.into()), ..self }
    }

    /// With changes of metadata counted and not listed.
    pub(crate) fn without_metadata(mut self) -> Self {
        let is_listed = |change: &&Change| change.kind() != ChangeKind::Metadata;
        let is_left = |change: &&Change| !is_listed(change) && is_telling_metadata(change);
        self.metadata.extend(self.single.iter().copied().filter(is_left));
        self.single.retain(is_listed);
        for folded in &mut self.folded {
            folded.items.retain(is_listed);
        }
        self.folded.retain(|folded| !folded.items.is_empty());
        self
    }

    /// What is shown one by one.
    pub(crate) fn single(&self) -> &[&'c Change] {
        &self.single
    }

    /// What is folded, in a few words each.
    pub(crate) fn folded(&self) -> Vec<String> {
        folded_texts(&self.folded)
    }

    /// "2 modified, 1 added; /target/ 131 files": all there is, on one line.
    pub(crate) fn summary(&self) -> String {
        let kinds = Some(self.kinds()).filter(|kinds| !kinds.is_empty());
        let parts: Vec<String> = kinds.into_iter().chain(self.folded()).collect();
        if parts.is_empty() { "nothing changed".to_owned() } else { parts.join("; ") }
    }

    /// "2 modified, 1 added": the line above a list.
    pub(crate) fn heading(&self) -> String {
        let has = |git: bool| {
            let mut kinds = self.folded.iter().map(|folded| &folded.kind);
            kinds.any(|kind| matches!(kind, FoldedKind::Git(_)) == git)
        };
        let nothing = match (has(false), has(true)) {
            (false, false) => "nothing changed",
            (true, false) => "build output only",
            (false, true) => "git only",
            (true, true) => "build output and git only",
        };
        let kinds = self.kinds();
        if kinds.is_empty() { nothing.to_owned() } else { kinds }
    }

    fn kinds(&self) -> String {
        let kinds = [
            ChangeKind::Added,
            ChangeKind::Modified,
            ChangeKind::Deleted,
            ChangeKind::Renamed,
            ChangeKind::Mode,
            ChangeKind::Metadata,
        ];
        let counted = kinds.iter().filter_map(|kind| {
            let listed = self.single.iter().filter(|change| change.kind() == *kind).count() as u64;
            let (number, word) = match kind {
                ChangeKind::Mode => (listed, "with another mode"),
                ChangeKind::Metadata => (listed + self.metadata.len() as u64, "with metadata only"),
                kind => (listed, kind.word()),
            };
            (number > 0).then(|| format!("{number} {word}"))
        });
        counted.collect::<Vec<_>>().join(", ")
    }

    /// A line for each change, at most so many, and one for each folded directory. The last one says how to see all.
    pub(crate) fn lines(&self, indent: &str, most: usize, hint: &str) -> String {
        let most = if self.expanded { usize::MAX } else { most };
        let shown = self.single.iter().take(most);
        let mut text: String = shown.map(|it| format!("{indent}{}\n", change(it))).collect();
        let mut rest: Vec<String> = Vec::new();
        if self.single.len() > most {
            rest.push(format!("and {} more", self.single.len() - most));
        }
        rest.extend(self.folded());
        if let Some(last) = rest.last_mut() {
            last.push_str(&format!("   ({hint})"));
        }
        let hint = self.metadata_hint.as_deref();
        rest.extend(hint.and_then(|hint| metadata_line(&self.metadata, hint)));
        rest.iter().for_each(|it| text.push_str(&format!("{indent}{}\n", paint(DIM, it))));
        text
    }
}

/// "1 file with metadata only", and how to see it; nothing where there is none.
pub(crate) fn metadata_line(changes: &[&Change], hint: &str) -> Option<String> {
    let them = if changes.len() == 1 { "it" } else { "them" };
    let are_files = changes.iter().all(|change| change.entry().directory().is_none());
    let paths = count(changes.len() as u64, if are_files { "file" } else { "path" });
    let line = || format!("{paths} with metadata only   ({hint} lists {them})");
    (!changes.is_empty()).then(line)
}

/// Folded directories in a few words each; many of one name together.
pub(crate) fn folded_texts(folded: &[Folded<&Change>]) -> Vec<String> {
    let mut alike: BTreeMap<&[u8], (usize, usize)> = BTreeMap::new();
    for one in folded.iter().filter(|one| one.kind == FoldedKind::Output) {
        let (directories, files) = alike.entry(one.at.name().unwrap_or_default()).or_default();
        *directories += 1;
        *files += number_of_files(one.items.iter().copied());
    }
    alike.retain(|_, (directories, _)| *directories > MOST_ALIKE);
    let many = alike.iter().map(|(name, (directories, files))| {
        format!("{}/ in {directories} places, {}", display_bytes(name), files_text(*files))
    });
    let is_single = |one: &&Folded<&Change>| match (&one.kind, one.at.name()) {
        (FoldedKind::Output, Some(name)) => !alike.contains_key(name),
        _ => true,
    };
    let single = folded.iter().filter(is_single);
    let (git, output): (Vec<_>, Vec<_>) =
        single.partition(|one| matches!(one.kind, FoldedKind::Git(_)));
    let output = output.into_iter().map(folded_text);
    output.chain(many).chain(git.into_iter().map(folded_text)).collect()
}

fn folded_text(folded: &Folded<&Change>) -> String {
    place_text(&folded.at, &folded.kind, folded.items.iter().copied())
}

/// "/target/ 131 files", "git: 1 commit on main, 1 new branch".
pub(crate) fn place_text<'c>(
    at: &VaultPath,
    kind: &FoldedKind,
    changes: impl Iterator<Item = &'c Change>,
) -> String {
    let changes: Vec<&Change> = changes.collect();
    let all_gone = changes.iter().all(|change| change.kind() == ChangeKind::Deleted);
    let gone = if all_gone { " deleted" } else { "" };
    let files = match number_of_files(changes.iter().copied()) {
        0 => count(changes.len() as u64, "directory"),
        number => files_text(number),
    };
    let files = format!("{files}{gone}");
    match kind {
        FoldedKind::Output => format!("{}/ {files}", path(at)),
        FoldedKind::Git(activity) => {
            let done = activity_text(activity).unwrap_or(files);
            format!("{}: {done}", git_name(at))
        }
    }
}

/// How many of some changes are to files: directories are none.
fn number_of_files<'c>(changes: impl Iterator<Item = &'c Change>) -> usize {
    changes.filter(|change| change.entry().directory().is_none()).count()
}

fn files_text(number: usize) -> String {
    count(number as u64, "file")
}

/// A git directory as people call it: never by the place that a vault gives it.
pub(crate) fn git_name(directory: &VaultPath) -> String {
    let bound = bound_path();
    if directory.is_within(&bound)
        && directory.names().len() == bound.names().len() + 1
        && let Some(name) = directory.name()
    {
        let name = name.strip_suffix(b".git").unwrap_or(name);
        return format!("git directory of {}", display_bytes(name));
    }
    let modules = directory.names().iter().position(|name| name == b"modules");
    if let Some(at) = modules.filter(|at| *at > 0) {
        let module = directory.names()[at + 1..].join(&b'/');
        return format!("git submodule {}", display_bytes(&module));
    }
    match directory.parent().filter(|_| directory.name() == Some(b".git")) {
        Some(around) if around.is_top() => "git".to_owned(),
        Some(around) => format!("git in {around}"),
        // A bare repository may have any name.
        None => format!("git in {directory}"),
    }
}

/// More branches are counted, and the first of them named.
const MOST_BRANCHES: usize = 6;

fn activity_text(activity: &GitActivity) -> Option<String> {
    let GitActivity {
        created,
        deleted,
        commits,
        moved,
        stashes,
        new_branches,
        deleted_branches,
        new_tags,
    } = activity;
    let name = |branch: &Vec<u8>| line(&String::from_utf8_lossy(branch));
    let mut parts = Vec::new();
    match (created, deleted) {
        (true, false) => parts.push("new repository".to_owned()),
        (false, true) => return Some("repository deleted".to_owned()),
        _ => {}
    }
    let on =
        |(branch, number): (_, &u64)| format!("{} on {}", count(*number, "commit"), name(branch));
    if commits.len() <= MOST_BRANCHES {
        parts.extend(commits.iter().map(on));
    } else {
        let named = MOST_BRANCHES - 1;
        parts.extend(commits.iter().take(named).map(on));
        let rest: u64 = commits.values().skip(named).sum();
        parts.push(format!("{} on {} more branches", count(rest, "commit"), commits.len() - named));
    }
    if moved.len() <= MOST_BRANCHES {
        parts.extend(moved.iter().map(|branch| format!("{} moved", name(branch))));
    } else {
        let named: Vec<String> = moved.iter().take(MOST_BRANCHES - 1).map(name).collect();
        let rest = moved.len() - named.len();
        parts.push(format!("{} and {rest} more branches moved", named.join(", ")));
    }
    if *stashes > 0 {
        parts.push(match stashes {
            1 => "1 new stash".to_owned(),
            many => format!("{many} new stashes"),
        });
    }
    let branches = |number: u64| if number == 1 { "branch" } else { "branches" };
    if !created && *new_branches > 0 {
        parts.push(format!("{new_branches} new {}", branches(*new_branches)));
    }
    if *deleted_branches > 0 {
        parts.push(format!("{deleted_branches} {} deleted", branches(*deleted_branches)));
    }
    if !created && *new_tags > 0 {
        parts.push(count(*new_tags, "new tag"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}
