//! Words about merging, committing and deciding.

use crate::word::words;

words! {
    /// Why a path could not be merged.
    pub enum ConflictKindDoc {
        /// Sides changed the same lines, or something that is not merged by lines, in different ways.
        Content = "content",
        /// Sides added different things at one path.
        AddAdd = "add-add",
        /// One side deleted what another changed.
        DeleteModify = "delete-modify",
        /// Sides moved one file to different paths.
        RenameRename = "rename-rename",
        /// One side deleted what another moved.
        RenameDelete = "rename-delete",
        /// Different files came to the same path, by being moved or added.
        SamePath = "same-path",
        /// A path is a directory for one side and something else for another.
        DirectoryFile = "directory-file",
        /// Something is new in a directory that another side moved away, and it is not clear where it belongs.
        DirectoryRename = "directory-rename",
        /// Sides turned one thing into things of different kinds.
        Kind = "kind",
        /// Sides changed the permission bits in different ways.
        Mode = "mode",
        /// Sides changed owner or group in different ways.
        Owner = "owner",
        /// Sides changed one extended attribute in different ways.
        Xattr = "xattr",
    }
}

words! {
    /// Why a change stays in the workspace.
    pub enum HeldReasonDoc {
        /// Ignore files say so.
        Ignored = "ignored",
        /// `.offshootignore` says that it is never read from the folder, or its name does.
        Excluded = "excluded",
        /// It is an `.offshootignore` that Offshoot would refuse in the folder: a link, a directory, too long, or with a line that is no pattern.
        IgnoreFile = "ignore-file",
        /// Its mode gives others more rights: it would run as somebody else, or they could write or read what they could not.
        Setuid = "setuid",
        /// It has extended attributes that an overlay file system would obey; the rest of it is committed.
        Attributes = "attributes",
        /// Git would run it, or something that it names.
        Git = "git",
        /// Something on the host runs, obeys or trusts it without being asked.
        Trusted = "trusted",
        /// A named pipe, where none was: whoever reads it waits.
        Pipe = "pipe",
        /// The vault is not bound to its folder any more.
        Unbound = "unbound",
        /// It was not asked for.
        NotAsked = "not-asked",
        /// Somebody decided so.
        Left = "left",
    }
}

impl HeldReasonDoc {
    /// Whether what stays for it is a difference between a workspace and the folder. What ignore files leave out is none, as for git.
    pub fn is_difference(self) -> bool {
        !matches!(self, Self::Ignored | Self::Excluded)
    }
}

words! {
    /// When something on the host runs, obeys or trusts a file.
    pub enum TrustKind {
        /// When somebody opens the folder in an editor.
        OnOpen = "on-open",
        /// When a shell enters the folder.
        OnEnter = "on-enter",
        /// When somebody runs git or another version control in the folder.
        OnGit = "on-git",
        /// When somebody builds, tests or installs dependencies.
        OnBuild = "on-build",
        /// When a program starts in the folder, or somebody logs in whose home it is.
        OnStart = "on-start",
        /// When a coding agent works in the folder.
        Agent = "agent",
        /// When a service gets it that builds and deploys with secrets.
        Service = "service",
        /// When Offshoot works in the folder: these are its own rules and settings.
        Rules = "rules",
    }
}

words! {
    /// What became of a commit that was interrupted.
    pub enum SettleOutcome {
        /// It was done and recorded; what was left of it is gone.
        CleanedUp = "cleaned-up",
        /// It had not begun.
        Dropped = "dropped",
        /// It is done and recorded now.
        Finished = "finished",
        /// The folders are what they were before it.
        TakenBack = "taken-back",
        /// The folders are others now, and stay as they are.
        GivenUp = "given-up",
    }
}

words! {
    /// What commands come to.
    pub enum Goal {
        /// The branch has the commits of both sides.
        Merge = "merge",
        /// The same; the merge records the files as they are.
        Record = "record",
        /// The other side's branch takes the place of this one.
        Replace = "replace",
        /// The changes of a stash are in the files.
        Apply = "apply",
        /// The commits that were kept apart are shown.
        Show = "show",
        /// The conflicts can be decided in the workspace.
        Decide = "decide",
        /// What was done is taken back.
        Undo = "undo",
    }
}

words! {
    /// What happened to a part of a repository.
    pub enum RepositoryEvent {
        /// Both sides moved a ref, or it has no room beside another one: the other side's is `kept_as` now.
        KeptApart = "kept-apart",
        /// The other side moved a ref that is checked out here, where that could not follow: it is `kept_as` now.
        CheckedOut = "checked-out",
        /// It was moved since, or a checkout needs it where it is: `why`.
        Stayed = "stayed",
        /// A ref was moved.
        Moved = "moved",
        /// A ref was deleted.
        Deleted = "deleted",
        /// A branch or tag went back by `commits`.
        Rewound = "rewound",
        /// It no longer has the commit that it was, which is `kept_as` where the whole repository is another one.
        Replaced = "replaced",
        /// Something else is checked out.
        Switched = "switched",
        /// Files are gone from the working tree by a sparse checkout of the other side, and stay in git.
        LeftOut = "left-out",
        /// It is damaged in the other side's repository, or lost there: `why`.
        NotBrought = "not-brought",
        /// So many `objects` are not what their names say, and were not brought.
        DamagedObjects = "damaged-objects",
        /// HEAD, the index and what is in progress stay.
        CheckoutStayed = "checkout-stayed",
        /// Both sides changed a file, or it stays for another reason: `why`.
        FileStayed = "file-stayed",
        /// Both sides changed a directory, or it stays for another reason: `why`.
        DirectoryStayed = "directory-stayed",
        /// A tracked file that no workspace has was deleted in git, and stays on disk.
        KeptOut = "kept-out",
    }
}

words! {
    /// Which times committed files get.
    pub enum CommitTimes, default Now {
        /// A file whose bytes change in the folder gets the time of the commit, so that builds there notice; all others keep theirs.
        Now = "now",
        /// All keep the times that the merge gives them.
        Recorded = "recorded",
    }
}

words! {
    /// Which way a revert goes.
    pub enum RevertVerb {
        /// Takes an operation back.
        Undo = "undo",
        /// Brings an operation back that was undone.
        Redo = "redo",
    }
}
