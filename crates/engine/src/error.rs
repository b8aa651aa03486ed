//! Errors as people see them: what happened, what to do, which exit code.

mod git;

use std::fmt;

use offshoot_host::HostError;
use offshoot_mount::MountError;
use offshoot_protocol::{ErrorBody, ExitCode};
use offshoot_sandbox::SandboxError;
use offshoot_store::StoreError;
use offshoot_tree::{PathError, TreeError};
use offshoot_vault::{ApplyError, HomeError, NameError, VaultError};
pub use offshoot_workspace::ServiceError;
use offshoot_workspace::{BindingError, PolicyFileError};

use crate::actor::account;
use crate::settings::ConfigError;

/// What to do where the disk is full.
const FREES: &str =
    "free some space: `offshoot gc` and `offshoot workspace delete` work on a full disk, too";
/// What to do about something that is damaged.
const LISTS_DAMAGE: &str = "`offshoot vault check` lists everything that is damaged";

/// The result of a command.
///
/// ```
/// fn name(project: &offshoot_engine::Project) -> offshoot_engine::Result<String> {
///     Ok(project.fork("fix")?.name()?)
/// }
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error on its way to the user.
///
/// ```
/// use offshoot_engine::{Offshoot, Options};
/// use offshoot_protocol::ExitCode;
///
/// let error = Offshoot::open(Options::new(Vec::new())).expect_err("there is no place for vaults");
/// assert_eq!(error.code, ExitCode::Usage);
/// assert!(error.to_string().contains("neither OFFSHOOT_HOME nor HOME is set"));
/// ```
#[derive(Debug)]
pub struct Error {
    /// The stable code, with the exit code that goes with it.
    pub code: ExitCode,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What may have been meant.
    pub candidates: Vec<String>,
}

impl Error {
    /// An error of a code.
    ///
    /// ```
    /// use offshoot_engine::Error;
    /// use offshoot_protocol::ExitCode;
    ///
    /// let error = Error::new(ExitCode::NotFound, "there is no such task");
    /// assert_eq!(error.to_string(), "there is no such task");
    /// ```
    pub fn new(code: ExitCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, hint: None, candidates: Vec::new() }
    }

    /// What was asked for makes no sense.
    ///
    /// ```
    /// use offshoot_engine::Error;
    /// use offshoot_protocol::ExitCode;
    ///
    /// assert_eq!(Error::usage("a task needs a name").code, ExitCode::Usage);
    /// ```
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, message)
    }

    /// Adds what to do about it.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let error = Error::usage("a task needs a name").hint("add one with --name");
    /// assert!(error.hint.is_some());
    /// ```
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what may have been meant.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let error = Error::usage("which task?").candidates(vec!["build".to_owned(), "test".to_owned()]);
    /// ```
    #[must_use]
    pub fn candidates(mut self, candidates: Vec<String>) -> Self {
        self.candidates = candidates;
        self
    }

    /// "Did you mean", from what is closest to what was typed.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let error = Error::usage("there is no task tset").suggest(vec!["test".to_owned()]);
    /// assert_eq!(error.candidates, ["test"]);
    /// ```
    #[must_use]
    pub fn suggest(self, suggestions: Vec<String>) -> Self {
        if suggestions.is_empty() {
            return self;
        }
        let hint = format!("did you mean {}?", suggestions.join(" or "));
        self.hint(hint).candidates(suggestions)
    }

    /// The error as a document.
    ///
    /// ```
    /// use offshoot_engine::Error;
    ///
    /// let body = Error::usage("a task needs a name").body();
    /// assert_eq!(body.message, "a task needs a name");
    /// ```
    pub fn body(&self) -> ErrorBody {
        let mut body = ErrorBody::new(self.code, &self.message);
        body.hint = self.hint.clone();
        body.candidates = self.candidates.clone();
        body
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Missing(_) | StoreError::Foreign(_) | StoreError::Damaged { .. } => {
                Self::new(ExitCode::Damaged, message)
                    .hint("copy the vault's directory before you try to repair it")
            }
            StoreError::Newer { .. } => Self::new(ExitCode::NewerFormat, message)
                .hint("update offshoot; nothing was changed"),
            StoreError::Busy { .. } => {
                Self::new(ExitCode::Busy, message).hint("try again, or raise store.busy_timeout")
            }
            StoreError::Full(_) => {
                Self::new(ExitCode::Storage, message).hint(format!("{FREES}; nothing was changed"))
            }
            StoreError::ReadOnly(_) => Self::new(ExitCode::Storage, message).hint(
                "reading still works; to write, set OFFSHOOT_HOME to a place you can write to",
            ),
            StoreError::Undecided { source, .. } => {
                let first = match *source {
                    StoreError::Full(_) => FREES,
                    _ => "see to the disk first",
                };
                let hint = format!("{first}; `offshoot op log` then says whether it was recorded");
                Self::new(ExitCode::Storage, message).hint(hint)
            }
            StoreError::Io { .. } => Self::new(ExitCode::Storage, message),
            StoreError::Stale { .. } | StoreError::NameTaken { .. } => {
                Self::new(ExitCode::Conflict, message)
            }
            StoreError::Sqlite { .. } => Self::new(ExitCode::Failure, message),
        }
    }
}

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        let message = error.to_string();
        match error {
            HostError::Store(error) => error.into(),
            HostError::Io { source, .. } => {
                use std::io::ErrorKind;
                match source.kind() {
                    ErrorKind::NotFound => Self::new(ExitCode::NotFound, message),
                    ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                        Self::new(ExitCode::Storage, message).hint(FREES)
                    }
                    _ => Self::new(ExitCode::Storage, message),
                }
            }
            HostError::Threads(_) => Self::new(ExitCode::Failure, message),
        }
    }
}

impl From<TreeError> for Error {
    fn from(error: TreeError) -> Self {
        let message = error.to_string();
        match error {
            TreeError::Store(error) => error.into(),
            TreeError::Host(error) => error.into(),
            TreeError::Path(_) | TreeError::IntoItself { .. } | TreeError::TopDirectory => {
                Self::usage(message)
            }
            TreeError::Damaged { .. } | TreeError::MissingObject(_) => {
                Self::new(ExitCode::Damaged, message).hint(LISTS_DAMAGE)
            }
            TreeError::NoEntry { .. } => Self::new(ExitCode::NotFound, message),
            TreeError::NotEmpty { .. } => Self::new(ExitCode::Conflict, message)
                .hint("add -r to remove it with everything in it"),
            TreeError::NotADirectory { .. }
            | TreeError::NotAFile { .. }
            | TreeError::EntryExists { .. }
            | TreeError::LinkLoop { .. }
            | TreeError::LinkOutside { .. } => Self::new(ExitCode::Conflict, message),
        }
    }
}

impl From<VaultError> for Error {
    fn from(error: VaultError) -> Self {
        let message = error.to_string();
        match error {
            VaultError::Store(error) => error.into(),
            VaultError::Host(error) => error.into(),
            VaultError::Tree(error) => error.into(),
            VaultError::SomebodyElses { owner, .. } => {
                let name = account(owner).unwrap_or_else(|| format!("#{owner}"));
                let hint = format!("run it as the owner: `sudo -u {name} offshoot ...`");
                Self::new(ExitCode::Storage, message).hint(hint)
            }
            // Which snapshots there are is looked up first, so one that is named and gone is a hole in the catalog.
            VaultError::NoSnapshot(_) | VaultError::BadRecord { .. } => {
                Self::new(ExitCode::Damaged, message).hint(LISTS_DAMAGE)
            }
            VaultError::CutShort(_) => Self::new(ExitCode::Damaged, message).hint(
                "copy the vault's directory first; `offshoot vault check --repair` accepts the loss, reading works without",
            ),
            VaultError::HeadLost { layers } => Self::new(ExitCode::Damaged, message).hint(format!(
                "copy what you need from {}, where each layer has files below fs; then `offshoot vault delete` and `offshoot init` start anew",
                layers.display()
            )),
            VaultError::NoArchive(_) => Self::new(ExitCode::Damaged, message)
                .hint("`offshoot vault export FILE` writes one; nothing was changed"),
            VaultError::BadArchive { .. } => Self::new(ExitCode::Damaged, message)
                .hint("export the vault again and copy the file whole; nothing was changed"),
            VaultError::NoOperation(_) => Self::new(ExitCode::NotFound, message),
            VaultError::FolderGone { name, .. } => {
                let name = if name.is_empty() { "/" } else { &name };
                Self::new(ExitCode::NotFound, message)
                    .hint(format!("`offshoot binding move {name} DIR` says where it is now"))
            }
            VaultError::Unbound => Self::new(ExitCode::NotFound, message)
                .hint("`offshoot vault info` shows what it is bound to"),
            VaultError::ReservedName { .. } => {
                Self::new(ExitCode::Conflict, message).hint("rename it; nothing was changed")
            }
            VaultError::Collected { .. } => Self::new(ExitCode::NotFound, message)
                .hint("gc.keep_operations and gc.keep_age say how long what no ref names is kept"),
            VaultError::Orphaned { .. } => Self::new(ExitCode::Conflict, message)
                .hint("delete the checkpoint first, or see `offshoot op log`"),
            VaultError::Unaccounted(_) => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            VaultError::NothingToUndo
            | VaultError::NothingToRedo
            | VaultError::DestinationExists(_) => Self::new(ExitCode::Conflict, message),
            VaultError::Overtaken { .. } => Self::new(ExitCode::Conflict, message)
                .hint("`offshoot op log` shows what came after it; `offshoot undo -w WS` undoes in one workspace"),
            VaultError::WorkspaceBusy { .. } => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            VaultError::Deleted(_) => Self::new(ExitCode::NotFound, message)
                .hint("`offshoot vault list` shows what there is"),
        }
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<PathError> for Error {
    fn from(error: PathError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<HomeError> for Error {
    fn from(error: HomeError) -> Self {
        let message = error.to_string();
        match error {
            HomeError::Vault(error) => error.into(),
            HomeError::Name(error) => error.into(),
            HomeError::NoVault(_) => Self::new(ExitCode::NotFound, message)
                .hint("`offshoot vault list` shows what there is"),
            HomeError::NameTaken(_) | HomeError::AlreadyBound { .. } => {
                Self::new(ExitCode::Conflict, message)
            }
            HomeError::Running { vault, exec, .. } => Self::new(ExitCode::Busy, message)
                .hint(format!("`offshoot kill {} --vault {vault}` ends it", exec.short())),
            HomeError::InUse { .. } => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            HomeError::HalfChanged { vault, .. } => Self::new(ExitCode::Conflict, message).hint(format!(
                "`offshoot commit --settle back --vault {vault}` takes it back; without that directory the vault can go as well"
            )),
            HomeError::AlreadyHere(_) => Self::new(ExitCode::Conflict, message)
                .hint("delete that one first, or import into another home with --home"),
            HomeError::NotADirectory(_) => Self::usage(message),
        }
    }
}

impl From<ServiceError> for Error {
    fn from(error: ServiceError) -> Self {
        let message = error.to_string();
        match error {
            ServiceError::Vault(error) => error.into(),
            ServiceError::Name(error) => error.into(),
            ServiceError::Home(error) => error.into(),
            ServiceError::Binding(error) => binding_error(&error, message),
            ServiceError::Lost { lost, .. } => {
                Self { message, ..Self::from(VaultError::CutShort(lost)) }
            }
            ServiceError::Unknown { suggestions, known, .. } => {
                let error = Self::new(ExitCode::NotFound, message);
                match (suggestions.is_empty(), known.is_empty()) {
                    (true, false) => {
                        error.hint(format!("one of: {}", known.join(", "))).candidates(known)
                    }
                    _ => error.suggest(suggestions),
                }
            }
            ServiceError::Gone { workspace, operation } => {
                let hint = match operation.as_str() {
                    "exec" => format!("`offshoot exec -w {workspace} -- CMD` makes it again; --keep keeps it"),
                    "undo" => format!("`offshoot redo -w {workspace}` brings it back"),
                    _ => format!("`offshoot undo -w {workspace}` brings it back"),
                };
                Self::new(ExitCode::NotFound, message).hint(hint)
            }
            ServiceError::Ambiguous { candidates, .. } => Self::new(ExitCode::Conflict, message)
                .hint("give more of the id, or WORKSPACE@CHECKPOINT")
                .candidates(candidates),
            ServiceError::NameTaken { what: "workspace", name } => {
                Self::new(ExitCode::Conflict, message).hint(format!(
                    "`offshoot exec -w {name} CMD` runs in it; `offshoot workspace list` lists all"
                ))
            }
            ServiceError::NameTaken { .. } | ServiceError::Vanished(_) => {
                Self::new(ExitCode::Conflict, message)
            }
            ServiceError::Reserved(_) | ServiceError::Request(_) => Self::usage(message),
            ServiceError::Moved { .. } => Self::new(ExitCode::Conflict, message)
                .hint("`offshoot checkpoint restore` brings it back"),
            ServiceError::Busy { .. } => Self::new(ExitCode::Busy, message)
                .hint("`offshoot ps` lists what runs; try again when it has ended"),
            ServiceError::SessionFull { .. } => Self::new(ExitCode::Busy, message).hint(
                "end one of them, or work in another workspace: `offshoot run -w NAME`",
            ),
            ServiceError::CachesInUse => {
                Self::new(ExitCode::Busy, message).hint("`offshoot ps` lists running commands")
            }
            ServiceError::Compacting => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            ServiceError::Mount(error) => error.into(),
            ServiceError::Git(error) => error.into(),
            ServiceError::Internal(_) => Self::new(ExitCode::Failure, message)
                .hint("nothing was changed; please report this"),
            ServiceError::Contended(_) => Self::new(ExitCode::Busy, message).hint("try again"),
            ServiceError::NoConflict(_) | ServiceError::NoSide { .. } => {
                Self::new(ExitCode::NotFound, message)
                    .hint("`offshoot conflicts` lists what there is to decide")
            }
            ServiceError::StillMarked(_) => Self::new(ExitCode::Conflict, message)
                .hint("take them out, or add --force to keep them as they are"),
            ServiceError::Undecidable { .. } => Self::new(ExitCode::Conflict, message)
                .hint("`offshoot conflicts PATH --side NAME` prints what a side has"),
            ServiceError::Outdated(_) => Self::new(ExitCode::Conflict, message)
                .hint("look at it again with `offshoot review`"),
            ServiceError::Occupied(_) => Self::new(ExitCode::Conflict, message)
                .hint("drop what came to that place too, or keep the move"),
            ServiceError::NoHistory(_) => Self::new(ExitCode::NotFound, message),
            ServiceError::NoFolder => Self::new(ExitCode::Conflict, message)
                .hint("`offshoot init` in a folder makes a vault that is; `offshoot fs export` writes files anywhere"),
            ServiceError::FolderGone(_) => Self::new(ExitCode::NotFound, message)
                .hint("put it back, or say where it is now with `offshoot binding move`"),
            ServiceError::OtherFolder(_) => Self::new(ExitCode::Conflict, message)
                .hint("`offshoot init` there takes it as it is; `offshoot binding move` says where the right one is"),
            ServiceError::Apply(error) => error.into(),
            ServiceError::Unreadable { .. } => Self::new(ExitCode::Conflict, message)
                .hint("make it readable with chmod or chown, and try again"),
            ServiceError::Interfered(_) => Self::new(ExitCode::Busy, message)
                .hint("try again when nothing writes to the folder"),
            ServiceError::Unsettled { .. } => Self::new(ExitCode::Conflict, message).hint(
                "mend what is named and try again; `offshoot commit --settle back` or `forward` decides the way",
            ),
            ServiceError::BadNote { .. } => Self::new(ExitCode::Damaged, message),
            ServiceError::ChangedSince { verb, workspace, before, .. } => {
                let way = match verb {
                    "redone" => format!("`offshoot commit -w {workspace}` merges it with your changes"),
                    _ => format!(
                        "`offshoot fs export / DIR --at {}` writes the files of before the commit to DIR",
                        before.short()
                    ),
                };
                Self::new(ExitCode::Conflict, message).hint(format!("nothing was changed; {way}"))
            }
            ServiceError::EarlierWorkspace { workspace, snapshot, .. } => {
                let snapshot = snapshot.short();
                Self::new(ExitCode::Conflict, message).hint(format!(
                    "`offshoot new {workspace}-2 --from {snapshot}` makes a workspace of it as it was then"
                ))
            }
            ServiceError::Undecided { workspace, .. } => Self::new(ExitCode::Conflict, message)
                .hint(format!("`offshoot conflicts -w {workspace}` lists them; nothing was changed")),
            ServiceError::Markers(_) => Self::new(ExitCode::Conflict, message)
                .hint("nothing was changed; edit the files, or add --allow markers"),
            ServiceError::ClosedToOwner(_) => Self::new(ExitCode::Conflict, message)
                .hint("nothing was changed; `chmod u+rX` in the workspace opens it, `--exclude` leaves it there"),
            ServiceError::ShortId { candidate, .. } => Self::usage(message)
                .hint(format!("give more of the id: {candidate}"))
                .candidates(vec![candidate]),
            ServiceError::Sandbox(error) => error.into(),
            ServiceError::StaleClearance => Self::new(ExitCode::Conflict, message)
                .hint("the rules or the folders changed meanwhile; ask again"),
            ServiceError::Cancelled => Self::new(ExitCode::Interrupted, message),
            ServiceError::NotRunning { .. } => Self::new(ExitCode::Conflict, message)
                .hint("`offshoot ps` lists what runs, `offshoot execs` what ran"),
            ServiceError::BeingRecovered { .. } => Self::new(ExitCode::Busy, message)
                .hint("`offshoot recover list` shows what is left"),
            ServiceError::NotYours { .. } => {
                Self::new(ExitCode::Failure, message).hint("its user, or root, can end it")
            }
        }
    }
}

fn binding_error(error: &BindingError, message: String) -> Error {
    match error {
        BindingError::Already { .. } => Error::new(ExitCode::Conflict, message),
        BindingError::Missing { .. } => Error::new(ExitCode::NotFound, message),
        BindingError::NotAFolder(_) | BindingError::Refused { .. } => Error::usage(message),
        BindingError::Nested { .. } => Error::new(ExitCode::Conflict, message)
            .hint("bind the outer one alone; everything in it is taken in"),
        BindingError::OtherVault { vault, unused, .. } => {
            let work = format!("work with that one: `offshoot --vault {vault} ...`");
            let hint = match unused {
                None => work,
                Some(true) => format!(
                    "nothing was done in it: `offshoot vault delete {vault} --yes`, then try again"
                ),
                Some(false) => format!(
                    "{work}; or save it with `offshoot --vault {vault} vault export FILE`, delete it with `offshoot vault delete {vault}`, and try again"
                ),
            };
            Error::new(ExitCode::Conflict, message).hint(hint)
        }
        BindingError::First => Error::new(ExitCode::Conflict, message)
            .hint("`offshoot binding move / DIR` says that it lies elsewhere now"),
        BindingError::Overtaken => Error::new(ExitCode::Conflict, message).hint("try again"),
    }
}

impl From<ApplyError> for Error {
    fn from(error: ApplyError) -> Self {
        let message = error.to_string();
        match error {
            ApplyError::Vault(error) => error.into(),
            ApplyError::Problems(_) => {
                Self::new(ExitCode::Conflict, message).hint("nothing was changed")
            }
            ApplyError::Interfered { .. } => Self::new(ExitCode::Busy, message).hint("try again"),
            ApplyError::Failed { .. } => Self::new(ExitCode::Storage, message),
            ApplyError::Stuck { .. } => Self::new(ExitCode::Storage, message).hint(
                "the next command tries again; `offshoot commit --settle back` or `forward` decides the way",
            ),
        }
    }
}

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        let message = error.to_string();
        match error {
            MountError::Vault(error) => error.into(),
            MountError::UnknownDriver { .. } | MountError::UnknownOwner => Self::new(
                ExitCode::Conflict,
                message,
            )
            .hint(
                "recover it with the Offshoot that ran it; `offshoot recover drop` throws it away",
            ),
        }
    }
}

impl From<SandboxError> for Error {
    fn from(error: SandboxError) -> Self {
        let message = error.to_string();
        let code = match &error {
            SandboxError::NotExecuted { errno, .. } => match errno.kind() {
                std::io::ErrorKind::NotFound => ExitCode::CommandNotFound,
                _ => ExitCode::NotExecutable,
            },
            SandboxError::Nul(_) => ExitCode::Usage,
            _ => ExitCode::Failure,
        };
        let told = Self::new(code, message);
        match (error.hint(), &error) {
            (Some(hint), _) => told.hint(hint),
            (None, SandboxError::NotExecuted { program, .. })
                if code == ExitCode::CommandNotFound && program == "cd" =>
            {
                told.hint("a shell does that itself: `offshoot exec --cwd DIR -- CMD` runs CMD there, `offshoot run` opens a shell")
            }
            // One word with blanks in it is a whole command line, more often than not.
            (None, SandboxError::NotExecuted { program, .. })
                if code == ExitCode::CommandNotFound
                    && program.to_string_lossy().contains(char::is_whitespace) =>
            {
                let text = program.to_string_lossy().replace('\'', r"'\''");
                told.hint(format!("for a line of shell: --shell '{text}'"))
            }
            _ => told,
        }
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        let hint = error.hint();
        let usage = Self::usage(error.to_string());
        match hint {
            Some(hint) => usage.hint(hint),
            None => usage,
        }
    }
}

impl From<PolicyFileError> for Error {
    fn from(error: PolicyFileError) -> Self {
        let hint = match &error {
            PolicyFileError::Read { .. } => "nothing runs by rules that cannot be read",
            PolicyFileError::TooLarge { .. } => "name another file",
            PolicyFileError::Rules(_) => {
                "nothing runs until it is mended; `offshoot policy test` checks it again"
            }
        };
        Self::new(ExitCode::Usage, error.to_string()).hint(hint)
    }
}
