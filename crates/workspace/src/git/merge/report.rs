//! What people should know about repositories that were merged.

use offshoot_protocol::{Goal, RepositoryEvent};
use offshoot_tree::VaultPath;
use offshoot_vault::bound_path;

/// Why a directory stays whole.
pub(super) const CHANGED_SINCE: &str = "it was changed since";
pub(super) const DELETED: &str = "it was deleted there";
pub(super) const BROKEN: &str = "it was deleted or broken there";

/// Everything that is told about the repositories of a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitReport {
    /// What happened, in its order.
    pub notes: Vec<GitNote>,
}

impl GitReport {
    /// The account of two steps of which the second followed the first: a ref that both moved is told once.
    pub(crate) fn then(mut self, next: Self) -> Self {
        for note in next.notes {
            let is_it = |earlier: &GitNote| {
                earlier.repository == note.repository
                    && earlier.name == note.name
                    && earlier.event.moves() == note.event.moves()
                    && (note.event.moves() || note.event.is_like(&earlier.event))
            };
            let earlier = self.notes.iter().position(is_it).map(|at| self.notes.remove(at));
            let note = match earlier {
                Some(earlier) if note.event.moves() => GitNote { from: earlier.from, ..note },
                _ => note,
            };
            if !note.event.moves() || note.from != note.to {
                self.notes.push(note);
            }
        }
        self
    }

    /// The same for a workspace: what is to be done about it is done there.
    pub(crate) fn inside(mut self, workspace: &str) -> Self {
        for note in &mut self.notes {
            let above = note.repository.parent().filter(|above| *above != bound_path());
            let directory = above.map(|above| above.names().join(&b'/'));
            let directory = directory.filter(|names| !names.is_empty());
            let directory = directory.map(|names| String::from_utf8_lossy(&names).into_owned());
            note.way = note.way.take().map(|way| way.inside(workspace, directory.as_deref()));
        }
        self
    }

    /// The same while conflicts are open: nobody is told to commit files with markers in them.
    pub(crate) fn with_open_conflicts(mut self) -> Self {
        for note in &mut self.notes {
            note.way.take_if(|way| way.goal == Goal::Record);
        }
        self
    }

    /// What leaves commits behind, or puts something else in place of what is checked out.
    pub(crate) fn left_behind(mut self) -> Self {
        self.notes.retain(|note| {
            matches!(
                note.event,
                GitEvent::Deleted
                    | GitEvent::Rewound(_)
                    | GitEvent::Replaced(_)
                    | GitEvent::Switched
            )
        });
        self
    }
}

/// Something that happened in a repository, or did not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitNote {
    /// The repository's directory in the vault.
    pub repository: VaultPath,
    /// What happened.
    pub event: GitEvent,
    /// What it happened to: the full name of a ref, or a path in the repository.
    pub name: String,
    /// The side whose change it is.
    pub side: String,
    /// What it was, such as a commit.
    pub from: Option<String>,
    /// What it became, or what the other side has.
    pub to: Option<String>,
    /// What to do about a ref that was kept apart.
    pub way: Option<NextStep>,
    /// Whether a log has what a ref was that was rewritten or went back.
    pub logged: bool,
}

/// What a branch is to a checkout that needs it where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InUse {
    /// It is checked out.
    CheckedOut,
    /// A rebase moves it when it is done, and goes back to it when it is given up.
    Rebased,
    /// A search with `git bisect` goes back to it.
    Bisected,
}

/// What to do about a ref of the other side that was kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStep {
    /// What it comes to.
    pub goal: Goal,
    /// Where or from when on the commands can run, where that is not at once.
    pub when: Option<String>,
    /// Commands for a shell in the directory that the repository belongs to, each only after the one before succeeded.
    pub commands: Vec<String>,
}

/// What happened to a part of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitEvent {
    /// Both sides moved a ref: the target's stays, and the other's has this name now.
    KeptApart(String),
    /// The other side moved a ref that the target's checkout needs where it is, and cannot follow; it has this name now.
    CheckedOut(String, InUse),
    /// It stays because it was changed since.
    Stayed,
    /// It stays because a checkout needs it where it is.
    StayedInUse(InUse),
    /// A ref was moved.
    Moved,
    /// A ref was deleted.
    Deleted,
    /// The target's HEAD, index and what is in progress stay, for this reason.
    CheckoutStayed(String),
    /// A branch or a tag went back, by this many commits where that is known.
    Rewound(Option<u64>),
    /// A branch or a tag is another one now, without the commit that it was. That has this name now, where it would be out of reach.
    Replaced(Option<String>),
    /// Something else is checked out.
    Switched,
    /// Files are not in the target's working tree any more, and stay in git: the other side has a sparse checkout.
    LeftOut {
        /// How many.
        files: u64,
        /// Whether the target has that sparse checkout now.
        taken: bool,
    },
    /// A ref of the other side was not taken, for this reason: it would break the repository.
    NotBrought(String),
    /// So many files among the objects of the other side were not taken: they are not what their names say.
    DamagedObjects(u64),
    /// Both sides changed a file of the repository: the target's stays.
    FileStayed,
    /// Both sides changed the whole directory, or one deleted it: the target's stays, and the other's may lie at this path.
    DirectoryStayed(Option<String>),
    /// The target's whole directory stays, for this reason.
    DirectoryKept(&'static str),
    /// The other side deleted a file in git, and so many more, that no workspace has: they stay on disk.
    KeptOut(u64),
    /// A ref of the other side has no room beside one of the target's, which is named first; it has the second name now.
    NoRoom(String, String),
}

impl GitEvent {
    /// Whether a ref is elsewhere, or gone.
    fn moves(&self) -> bool {
        matches!(self, Self::Moved | Self::Deleted)
    }

    /// Whether it is the same, for whatever reason.
    fn is_like(&self, other: &Self) -> bool {
        let stays = |event: &Self| matches!(event, Self::Stayed | Self::StayedInUse(_));
        self == other || (stays(self) && stays(other))
    }

    /// The word for it.
    pub fn word(&self) -> RepositoryEvent {
        match self {
            Self::KeptApart(_) | Self::NoRoom(..) => RepositoryEvent::KeptApart,
            Self::CheckedOut(..) => RepositoryEvent::CheckedOut,
            Self::Stayed | Self::StayedInUse(_) => RepositoryEvent::Stayed,
            Self::Moved => RepositoryEvent::Moved,
            Self::Deleted => RepositoryEvent::Deleted,
            Self::Rewound(_) => RepositoryEvent::Rewound,
            Self::Replaced(_) => RepositoryEvent::Replaced,
            Self::Switched => RepositoryEvent::Switched,
            Self::LeftOut { .. } => RepositoryEvent::LeftOut,
            Self::NotBrought(_) => RepositoryEvent::NotBrought,
            Self::DamagedObjects(_) => RepositoryEvent::DamagedObjects,
            Self::CheckoutStayed(_) => RepositoryEvent::CheckoutStayed,
            Self::FileStayed => RepositoryEvent::FileStayed,
            Self::KeptOut(_) => RepositoryEvent::KeptOut,
            Self::DirectoryStayed(_) | Self::DirectoryKept(_) => RepositoryEvent::DirectoryStayed,
        }
    }

    /// The name that a ref of the other side was kept under, or the path of a directory.
    pub fn kept_as(&self) -> Option<&str> {
        match self {
            Self::KeptApart(name) | Self::CheckedOut(name, _) | Self::NoRoom(_, name) => Some(name),
            Self::DirectoryStayed(path) | Self::Replaced(path) => path.as_deref(),
            _ => None,
        }
    }

    /// Why something stayed, where there is more than one reason.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::CheckoutStayed(why) | Self::NotBrought(why) => Some(why),
            Self::DirectoryKept(why) => Some(why),
            Self::KeptOut(_) => Some(".offshootignore keeps it out of workspaces"),
            Self::CheckedOut(_, InUse::Rebased) => Some("it is being rebased there"),
            Self::CheckedOut(_, InUse::Bisected) => Some("a search by git bisect started there"),
            Self::StayedInUse(InUse::CheckedOut) => Some("it is checked out in a working tree"),
            Self::StayedInUse(InUse::Rebased) => Some("it is being rebased in a working tree"),
            Self::StayedInUse(InUse::Bisected) => {
                Some("a search by git bisect in a working tree goes back to it")
            }
            _ => None,
        }
    }

    /// How many commits a ref went back.
    pub fn commits(&self) -> Option<u64> {
        match self {
            Self::Rewound(commits) => *commits,
            _ => None,
        }
    }

    /// How many objects were not taken.
    pub fn objects(&self) -> Option<u64> {
        match self {
            Self::DamagedObjects(objects) => Some(*objects),
            _ => None,
        }
    }
}
