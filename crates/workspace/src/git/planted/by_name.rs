//! What a change plants, as far as its name tells.

use offshoot_tree::{Entry, EntryKind, VaultPath};

use crate::git::names::{is_name, within_repository};
use crate::git::repository::path_of;

/// What is planted, and so held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Planted {
    /// A program that git runs at some occasion.
    Hook,
    /// Settings, some of which name programs that git runs.
    Config,
    /// Which files go through which programs.
    Attributes,
    /// Another place that git takes objects, settings or a whole repository from.
    Redirect,
    /// An object that git takes in place of another one.
    Replacement,
    /// A branch, a tag or a stash with files that something on the host runs or obeys.
    TrustedRef,
    /// A repository with commits or an index that have such files.
    TrustedRepository,
    /// A branch of a remote, which a fetch on the host moves.
    RemoteRef,
    /// A ref that git would find in place of another one, or of `HEAD` and the like.
    Shadow,
    /// What keeps git from showing that files changed.
    Hidden,
    /// How conflicts were resolved: git does the same by itself when it meets them again.
    Resolution,
    /// Steps that git goes on with when it is told to continue.
    Todo,
    /// A symbolic link inside of a repository.
    Link,
    /// A named pipe inside of a repository.
    Pipe,
    /// A directory that git would take for a repository.
    Repository,
    /// A part of a repository that is of no use without what is planted in it.
    Dependent,
    /// What belongs to another checkout of the same repository.
    OtherCheckout,
    /// A repository that is gone.
    Gone,
    /// A working tree that the folder has newer work in.
    Newer,
    /// An object that is not what its name says, or a pack whose objects are not what its index says.
    FalseObject,
    /// A pack that could not be looked at.
    Unchecked,
    /// A table that git makes anew.
    Cache,
}

impl Planted {
    /// What it is, for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hook => "a git hook",
            Self::Config => "a git configuration",
            Self::Attributes => "git attributes",
            Self::Redirect => "a place that git is sent to",
            Self::Replacement => "an object that git takes for another one",
            Self::TrustedRef => "a ref with files that this machine would run or obey",
            Self::TrustedRepository => {
                "a git repository with files that this machine would run or obey"
            }
            Self::RemoteRef => "a branch of a remote, which only a fetch on this machine moves",
            Self::Shadow => "a ref that git would take for another one of the same name",
            Self::Hidden => "something that hides changes from git status",
            Self::Resolution => "what git resolves conflicts with by itself",
            Self::Todo => "steps for git to take",
            Self::Link => "a link inside of a git repository",
            Self::Pipe => "a named pipe inside of a git repository",
            Self::Repository => "a git repository",
            Self::Dependent => "part of a git repository that needs what is held back",
            Self::OtherCheckout => "part of another checkout",
            Self::Gone => "a deleted git repository",
            Self::Newer => "a working tree with newer work in the folder",
            Self::FalseObject => "a git object that is not what its name says",
            Self::Unchecked => "a git pack that could not be checked",
            Self::Cache => "a cache of git, which it makes anew",
        }
    }
}

/// What a change to a path plants, as far as its name tells: inside of anything that is called `.git`.
///
/// Whatever changes what git runs counts, also a hook that goes or is no longer executable. What only got another time or
/// owner does not, and neither do directories that are there before and after.
pub fn planted(path: &VaultPath, before: Option<&Entry>, after: Option<&Entry>) -> Option<Planted> {
    if !matters(before, after) {
        return None;
    }
    match within_repository(path)? {
        [] => gitlink(before, after),
        inside => in_repository(inside, after),
    }
}

/// Whether anything but times, owners and attributes changed.
pub(crate) fn matters(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            let directories = before.directory().is_some() && after.directory().is_some();
            !directories && !before.same_content(after)
        }
        _ => true,
    }
}

/// Whether something becomes a named pipe that was none.
pub(crate) fn is_new_pipe(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    let is_pipe = |entry: Option<&Entry>| entry.is_some_and(|it| it.kind() == EntryKind::Fifo);
    is_pipe(after) && !is_pipe(before)
}

/// A `.git` that is no directory sends git elsewhere.
fn gitlink(before: Option<&Entry>, after: Option<&Entry>) -> Option<Planted> {
    let elsewhere = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.directory().is_none());
    (elsewhere(before) || elsewhere(after)).then_some(Planted::Redirect)
}

/// What a path inside of a repository is to git; the repositories of modules and other working trees lie in it.
pub(super) fn in_repository(inside: &[Vec<u8>], after: Option<&Entry>) -> Option<Planted> {
    let is_link = after.is_some_and(|entry| entry.kind() == EntryKind::Symlink);
    if let Some(planted) = addresses(inside) {
        return Some(planted);
    }
    let inside = own_part(inside);
    let named = match inside {
        [] => None,
        [first, rest @ ..] => sensitive(first, rest),
    };
    named.or(is_link.then_some(Planted::Link))
}

/// Arcanist, Sapling and git-branchless.
const OTHERS: [&str; 3] = ["arc", "sl", "branchless"];

/// Files that name remotes as git's settings do: git still looks for them where it did before its settings had them. Refs have the same names.
pub(in crate::git) fn addresses(inside: &[Vec<u8>]) -> Option<Planted> {
    let is_ref = |name: &Vec<u8>| is_name(name, "refs") || is_name(name, "logs");
    match inside {
        [kind, _, rest @ ..] if is_name(kind, "worktrees") => addresses(rest),
        [kind, _, rest @ ..] if is_name(kind, "modules") => {
            let end = rest.iter().position(is_ref).unwrap_or(rest.len());
            (0..end).find_map(|at| addresses(&rest[at..]))
        }
        [first, _, ..] if is_name(first, "remotes") || is_name(first, "branches") => {
            Some(Planted::Redirect)
        }
        // Settings of other programs that work in git directories.
        [first, last] if OTHERS.iter().any(|it| is_name(first, it)) && is_name(last, "config") => {
            Some(Planted::Config)
        }
        // By this name shells find programs of a project that somebody called safe.
        [first, ..] if is_name(first, "safe") => Some(Planted::Config),
        _ => None,
    }
}

/// The part of a path that is inside the innermost repository: below `modules/NAME`, where the name may have slashes, and
/// `worktrees/NAME`.
fn own_part(inside: &[Vec<u8>]) -> &[Vec<u8>] {
    match inside {
        [kind, rest @ ..] if is_name(kind, "modules") => {
            // The name of a module may be a path, so each part may be where its repository starts.
            let starts = (1..rest.len()).rev();
            let found =
                starts.map(|at| &rest[at..]).find(|part| sensitive(&part[0], &part[1..]).is_some());
            found.unwrap_or(rest)
        }
        // A working tree has modules of its own.
        [kind, _, rest @ ..] if is_name(kind, "worktrees") => own_part(rest),
        _ => inside,
    }
}

/// The directory of steps that a path is, or is in.
pub(crate) fn steps(path: &VaultPath) -> Option<VaultPath> {
    let inside = own_part(within_repository(path)?);
    let (first, rest) = inside.split_first()?;
    let end = path.names().len() - rest.len();
    (sensitive(first, rest) == Some(Planted::Todo)).then(|| path_of(&path.names()[..end]))
}

/// What a path means to git that starts with these names below a repository.
pub(in crate::git) fn sensitive(first: &[u8], rest: &[Vec<u8>]) -> Option<Planted> {
    let is = |wanted: &str| is_name(first, wanted);
    let below = |names: &[&str]| {
        rest.len() == names.len() && rest.iter().zip(names).all(|(a, b)| is_name(a, b))
    };
    if is("hooks") {
        // Git makes these with every repository and never runs them.
        let is_sample = matches!(rest, [name] if name.ends_with(b".sample"));
        return (!is_sample).then_some(Planted::Hook);
    }
    if is("rr-cache") {
        return Some(Planted::Resolution);
    }
    if is("rebase-merge") || is("rebase-apply") || is("sequencer") {
        return Some(Planted::Todo);
    }
    if rest.is_empty() {
        return match () {
            () if is("config") || is("config.worktree") => Some(Planted::Config),
            () if is("commondir") || is("gitdir") => Some(Planted::Redirect),
            () => None,
        };
    }
    if is("refs") && rest.len() > 1 && is_name(&rest[0], "replace") {
        return Some(Planted::Replacement);
    }
    if is("info") && (below(&["attributes"]) || below(&["grafts"])) {
        return Some(Planted::Attributes);
    }
    let stores = [&["info", "alternates"][..], &["info", "http-alternates"]];
    // A store of its own is a directory that has the same at its top.
    let elsewhere = is("objects") && stores.iter().any(|names| below(names));
    let of_store = is("info") && (below(&["alternates"]) || below(&["http-alternates"]));
    (elsewhere || of_store).then_some(Planted::Redirect)
}
