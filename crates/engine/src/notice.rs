//! What people should know beside the outcome of what they asked for.

use std::fmt;

use offshoot_protocol::Hint;
use serde::{Deserialize, Serialize};

/// What a notice is about.
///
/// ```
/// use offshoot_engine::{Notice, Topic};
///
/// fn is_urgent(notice: &Notice) -> bool {
///     matches!(notice.topic, Topic::CommitsLost | Topic::Unsettled)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Topic {
    /// The newest entries of the vault's log are gone.
    LogCutShort,
    /// What an interrupted command left was kept, dropped, or waits for somebody to decide.
    Leftover,
    /// An ephemeral workspace was removed because its time was over.
    Expired,
    /// A command runs in the workspace just now.
    Running,
    /// A git commit that was asked for was not made yet.
    GitCommitDue,
    /// Something that was interrupted in the folder was finished or taken back.
    Settled,
    /// Something that was interrupted in the folder could not be settled yet.
    Unsettled,
    /// The main line was brought up to date with the folder.
    Refreshed,
    /// A file could not be taken in.
    Skipped,
    /// A git directory outside of the folder was taken in.
    GitDirectory,
    /// A git directory could not be taken in: commits that are made in a workspace are lost.
    CommitsLost,
    /// The folder was moved, and its vault followed it.
    FolderMoved,
    /// A vault was made of a folder at its first use.
    VaultCreated,
    /// What is left of a deleted vault could not be removed.
    VaultLeftover,
    /// A package cache was dropped because all of them took too much space.
    CacheCleared,
    /// Something about the files that were committed.
    Folder,
    /// The settings of the project are left out.
    Settings,
    /// A program that is called like an agent got no preset, since it may be a file of the project.
    NoPreset,
}

/// Something that people should know beside the outcome of what they asked for.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use offshoot_engine::Options;
///
/// let told = Arc::new(Mutex::new(Vec::new()));
/// let all = Arc::clone(&told);
/// let options = Options::new(Vec::new()).listener(move |notice| {
///     all.lock().expect("nobody panicked").push(notice.clone());
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about, for programs.
    pub topic: Topic,
    /// What happened, for people.
    pub text: String,
    hint: Hint,
}

impl Notice {
    /// A notice about something.
    ///
    /// ```
    /// use offshoot_engine::{Notice, Topic};
    ///
    /// let notice = Notice::new(Topic::Refreshed, "the main line moved");
    /// assert_eq!(notice.to_string(), "the main line moved");
    /// ```
    pub fn new(topic: Topic, text: impl Into<Hint>) -> Self {
        let hint = text.into();
        Self { topic, text: hint.to_string(), hint }
    }

    /// The text with its commands as lists of arguments, for a front end that adds what its user has to repeat. What a worker process tells
    /// is text alone.
    ///
    /// ```
    /// use offshoot_engine::error::Hint;
    /// use offshoot_engine::{Notice, Topic};
    ///
    /// let text = Hint::from("a command left something: ").then("offshoot recover list");
    /// let notice = Notice::new(Topic::Leftover, text);
    /// assert_eq!(notice.hint().commands()[0].argv, ["offshoot", "recover", "list"]);
    /// ```
    pub fn hint(&self) -> &Hint {
        &self.hint
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
