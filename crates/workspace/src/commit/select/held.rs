//! What stays in a workspace, and why.

use offshoot_protocol::HeldReasonDoc;
use offshoot_tree::diff::Change;

use crate::git::Planted;
use crate::trusted::TrustedFile;

/// Why a change stays in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeldReason {
    /// Ignore files say so.
    Ignored,
    /// `.offshootignore` says that it is never read from the folder, or its name does.
    Excluded,
    /// It is an `.offshootignore` that nobody could use in the folder, which could not be captured then.
    IgnoreFile,
    /// Its mode gives others more rights: it would run as somebody else, or they could write or read what they could not.
    Setuid,
    /// It has extended attributes that an overlay file system would obey.
    Attributes,
    /// Git would run it, or something that it names.
    Git(Planted),
    /// Something on the host runs or obeys it without being asked.
    Trusted(&'static TrustedFile),
    /// A named pipe, which was none before.
    Pipe,
    /// The vault is not bound to its folder any more.
    Unbound,
    /// It was not asked for.
    NotAsked,
    /// Somebody decided so.
    Left,
}

impl HeldReason {
    /// Only metadata stays for it, and the rest is committed.
    pub fn is_about_metadata(self) -> bool {
        matches!(self, Self::Setuid | Self::Attributes)
    }

    /// The word for it.
    pub fn word(self) -> HeldReasonDoc {
        match self {
            Self::Ignored => HeldReasonDoc::Ignored,
            Self::Excluded => HeldReasonDoc::Excluded,
            Self::IgnoreFile => HeldReasonDoc::IgnoreFile,
            Self::Setuid => HeldReasonDoc::Setuid,
            Self::Attributes => HeldReasonDoc::Attributes,
            Self::Git(_) => HeldReasonDoc::Git,
            Self::Trusted(_) => HeldReasonDoc::Trusted,
            Self::Pipe => HeldReasonDoc::Pipe,
            Self::Unbound => HeldReasonDoc::Unbound,
            Self::NotAsked => HeldReasonDoc::NotAsked,
            Self::Left => HeldReasonDoc::Left,
        }
    }

    /// What the path is, or what would run it, where that says more than the word.
    pub fn detail(self) -> Option<&'static str> {
        match self {
            Self::Git(planted) => Some(planted.word()),
            Self::Trusted(file) => Some(&file.why),
            _ => None,
        }
    }

    /// The option that commits it, where it is one.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::Ignored => Some("--ignored"),
            Self::Setuid => Some("--allow setuid"),
            // What waits to be finished is never committed.
            Self::Git(Planted::Gone | Planted::Todo | Planted::Newer) => None,
            // Neither is what git would take for something else, would wait for, or does without.
            Self::Git(Planted::FalseObject | Planted::Pipe | Planted::Cache) => None,
            Self::Git(_) => Some("--allow git"),
            Self::Trusted(_) => Some("--allow trusted"),
            Self::Pipe => Some("--take PATH"),
            Self::Excluded | Self::IgnoreFile | Self::Attributes => None,
            Self::Unbound | Self::NotAsked | Self::Left => None,
        }
    }
}

/// A change that stays in the workspace, whole or in part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The change.
    pub change: Change,
    /// Why it stays.
    pub reason: HeldReason,
}

impl Held {
    /// Only a part of the change stays, such as its mode, and the rest is committed.
    pub fn is_partial(&self) -> bool {
        let is_rewritten = matches!(self.change.path.name(), Some(b"packed-refs" | b"index"));
        match self.reason {
            HeldReason::Git(
                Planted::Replacement
                | Planted::TrustedRef
                | Planted::RemoteRef
                | Planted::Shadow
                | Planted::Hidden
                | Planted::Cache,
            ) => is_rewritten,
            reason => reason.is_about_metadata(),
        }
    }
}
