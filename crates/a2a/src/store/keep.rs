//! What keeps tasks has to do.

use std::path::PathBuf;

use crate::fault::{A2aCode, A2aFault};
use crate::record::{A2aRefusal, A2aTaskChange, A2aTaskRecord};
use crate::wire::{A2aEvent, A2aPushConfig, A2aState, A2aTask};

/// Keeps tasks. All methods block; the server calls them where that is allowed.
///
/// A store puts the changes of a task in one order, and makes only those that [`A2aTaskRecord::check`] allows.
pub trait A2aTaskStore: Send + Sync {
    /// Keeps a new task. The oldest tasks that are over make room for it.
    ///
    /// # Errors
    ///
    /// [`A2aStoreError::Full`] if there is no room.
    fn create(&self, record: A2aTaskRecord) -> Result<(), A2aStoreError>;

    /// Makes something happen to a task.
    ///
    /// # Errors
    ///
    /// [`A2aStoreError::Refused`] if it may not happen; then nothing has changed.
    fn change(&self, id: &str, change: A2aTaskChange) -> Result<A2aChanged, A2aStoreError>;

    /// A task, if it is there.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn get(&self, id: &str) -> Result<Option<A2aTaskRecord>, A2aStoreError>;

    /// Tasks of one client, those that changed last first.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn list(&self, query: &A2aTaskQuery) -> Result<A2aTaskSlice, A2aStoreError>;

    /// The names of all tasks that are not over.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn unfinished(&self) -> Result<Vec<String>, A2aStoreError>;
}

/// What a change has led to.
#[derive(Debug, Clone)]
pub struct A2aChanged {
    /// What subscribers are told.
    pub event: Option<A2aEvent>,
    /// The state of the task now.
    pub state: A2aState,
    /// The webhooks that are told.
    pub pushes: Vec<A2aPushConfig>,
}

/// Which tasks are asked for.
#[derive(Debug, Clone, Default)]
pub struct A2aTaskQuery {
    /// The client that they belong to.
    pub owner: String,
    /// Only those of this conversation.
    pub context: Option<String>,
    /// Only those in this state.
    pub state: Option<A2aState>,
    /// Only those that changed then or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only those behind this one.
    pub after: Option<(i64, String)>,
    /// At most so many.
    pub most: usize,
    /// At most so many messages of the history of each.
    pub history: Option<u32>,
    /// Whether artifacts are wanted.
    pub artifacts: bool,
}

/// Some of the tasks that were asked for.
#[derive(Debug, Clone, Default)]
pub struct A2aTaskSlice {
    /// The tasks.
    pub tasks: Vec<A2aTask>,
    /// The last of them, if there are more.
    pub next: Option<(i64, String)>,
    /// How many there are without regard to `after` and `most`.
    pub total: usize,
}

/// What a store cannot do.
#[derive(Debug, thiserror::Error)]
pub enum A2aStoreError {
    /// There is no such task.
    #[error("there is no task {id}")]
    NotFound {
        /// Its name.
        id: String,
    },
    /// It may not happen to the task.
    #[error(transparent)]
    Refused(#[from] A2aRefusal),
    /// There are too many tasks that are not over, or they are too large.
    #[error(
        "the store has room for {tasks} tasks and {bytes} bytes; cancel some, or raise the limit"
    )]
    Full {
        /// The limit of tasks.
        tasks: usize,
        /// The limit of bytes.
        bytes: usize,
    },
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file has what was never written so.
    #[error("{}: damaged at byte {offset}: {why}; move the file away to begin anew", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What is wrong there.
        why: String,
    },
    /// Another process has the store.
    #[error("{}: another process uses this store; stop it, or take another directory", path.display())]
    InUse {
        /// The lock file.
        path: PathBuf,
    },
    /// The store stopped writing after an error that it could not undo.
    #[error("{}: not written to since an earlier error; restart to use it again", path.display())]
    Stopped {
        /// Which file.
        path: PathBuf,
    },
}

impl From<A2aStoreError> for A2aFault {
    fn from(error: A2aStoreError) -> Self {
        let code = match &error {
            A2aStoreError::NotFound { id } => return Self::task_not_found(id),
            A2aStoreError::Full { .. } => {
                return Self::new(A2aCode::Unavailable, "there is no room for more tasks");
            }
            A2aStoreError::Refused(A2aRefusal::TooMuch { .. }) => A2aCode::InvalidParams,
            A2aStoreError::Refused(_) => A2aCode::UnsupportedOperation,
            // Paths of the server are not the client's business.
            _ => return Self::new(A2aCode::Internal, "the task cannot be kept or read"),
        };
        Self::new(code, error.to_string())
    }
}
