//! Errors of vaults as people see them.

use offshoot_folder::ApplyError;
use offshoot_host::RegularFileError;
use offshoot_protocol::{ExitCode, Hint};
use offshoot_tree::PathError;
use offshoot_vault::{IgnoreFileError, NameError, VaultError, VaultRegistryError};

use super::Error;
use super::stored::lists_damage;
use crate::actor::account;

impl From<VaultError> for Error {
    fn from(error: VaultError) -> Self {
        let message = error.to_string();
        match error {
            VaultError::Store(error) => error.into(),
            VaultError::Host(error) => error.into(),
            VaultError::Tree(error) => error.into(),
            VaultError::SomebodyElses { owner, .. } => {
                let name = account(owner).unwrap_or_else(|| format!("#{owner}"));
                let hint = Hint::from("run it as the owner: ")
                    .then("sudo -u")
                    .arg(name)
                    .words("offshoot ...");
                Self::new(ExitCode::Storage, message).hint(hint)
            }
            // Which snapshots there are is looked up first, so one that is named and gone is a hole in the catalog.
            VaultError::NoSnapshot(_) | VaultError::BadRecord { .. } => {
                Self::new(ExitCode::Damaged, message).hint(lists_damage())
            }
            VaultError::CutShort(_) => Self::new(ExitCode::Damaged, message).hint(
                Hint::from("copy the vault's directory first; ")
                    .then("offshoot vault check --repair")
                    .text(" accepts the loss, reading works without"),
            ),
            VaultError::HeadLost { layers } => Self::new(ExitCode::Damaged, message).hint(
                Hint::from(format!(
                    "copy what you need from {}, where each layer has files below fs; then ",
                    layers.display()
                ))
                .then("offshoot vault delete NAME")
                .text(" and ")
                .then("offshoot init")
                .text(" start anew"),
            ),
            VaultError::NoArchive(_) => Self::new(ExitCode::Damaged, message)
                .hint(Hint::command("offshoot vault export FILE").text(" writes one").unchanged()),
            VaultError::BadArchive { .. } => Self::new(ExitCode::Damaged, message)
                .hint(Hint::from("export the vault again and copy the file whole").unchanged()),
            VaultError::ArchiveExpands { .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::from("if you trust where it comes from, ")
                    .then("offshoot vault import FILE --max-size SIZE")
                    .text(" allows more")
                    .unchanged(),
            ),
            VaultError::ForPeople { .. } => Self::new(ExitCode::Denied, message).hint(
                Hint::from("a process says that it is an agent with OFFSHOOT_AGENT").unchanged(),
            ),
            VaultError::SwappedTrial { .. } => Self::new(ExitCode::Damaged, message).hint(
                Hint::command("offshoot audit verify")
                    .text(" names what is not as recorded, ")
                    .then("offshoot approvals deny")
                    .arg("ID")
                    .text(" drops it"),
            ),
            VaultError::ForgedApproval(_) => Self::new(ExitCode::Conflict, message)
                .hint(Hint::from("ask for it again: run the command once more").unchanged()),
            VaultError::Audit(_) => Self::new(ExitCode::Damaged, message)
                .hint(Hint::command("offshoot audit verify").text(" tells more")),
            VaultError::NotAKey(path) => Self::new(ExitCode::Damaged, message).hint(
                Hint::from(format!(
                    "move {} away: the next change makes a new key, and the log says that it is another",
                    path.display()
                ))
                .unchanged(),
            ),
            VaultError::OutOfTime => Self::new(ExitCode::Timeout, message),
            VaultError::TooDeep { .. } => Self::new(ExitCode::Failure, message)
                .hint(Hint::command("offshoot recover drop EXEC").text(" removes what it wrote")),
            VaultError::NoOperation(_) => Self::new(ExitCode::NotFound, message),
            VaultError::FolderGone { name, .. } => {
                let name = if name.is_empty() { "/" } else { &name };
                Self::new(ExitCode::NotFound, message).hint(
                    Hint::command("offshoot binding move")
                        .arg(name)
                        .words("DIR")
                        .text(" says where it is now"),
                )
            }
            VaultError::IgnoreFile { why, .. } => {
                let remedy = match why {
                    IgnoreFileError::File(RegularFileError::Io(_)) => "make it readable",
                    IgnoreFileError::File(RegularFileError::TooLarge { .. })
                    | IgnoreFileError::TooMuch(_) => "shorten it",
                    IgnoreFileError::File(_) => "put a regular file in its place",
                    IgnoreFileError::NotText { .. } | IgnoreFileError::NoPattern { .. } => {
                        "correct the line"
                    }
                };
                let hint = format!(
                    "nothing was taken in; {remedy}, or remove the file if nothing has to stay out"
                );
                Self::usage(message).hint(hint)
            }
            VaultError::Unbound => Self::new(ExitCode::NotFound, message)
                .hint(Hint::command("offshoot vault info").text(" shows what it is bound to")),
            VaultError::ReservedName { .. } => {
                Self::new(ExitCode::Conflict, message).hint(Hint::from("rename it").unchanged())
            }
            VaultError::Collected { .. } => Self::new(ExitCode::NotFound, message)
                .hint("gc.keep_operations and gc.keep_age say how long what no ref names is kept"),
            VaultError::Orphaned { kind, .. } => {
                let first = format!("delete the {kind} first, or see ");
                Self::new(ExitCode::Conflict, message)
                    .hint(Hint::from(first).then("offshoot op log"))
            }
            VaultError::Session(error) => error.into(),
            VaultError::Unaccounted(_) => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            VaultError::NothingToUndo
            | VaultError::NothingToRedo
            | VaultError::DestinationExists(_) => Self::new(ExitCode::Conflict, message),
            VaultError::Overtaken { .. } => Self::new(ExitCode::Conflict, message).hint(
                Hint::command("offshoot op log")
                    .text(" shows what came after it; ")
                    .then("offshoot undo -w WS")
                    .text(" undoes in one workspace"),
            ),
            VaultError::WorkspaceBusy { .. } => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            VaultError::Deleted(_) => Self::new(ExitCode::NotFound, message)
                .hint(Hint::command("offshoot vault list").text(" shows what there is")),
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

impl From<VaultRegistryError> for Error {
    fn from(error: VaultRegistryError) -> Self {
        let message = error.to_string();
        match error {
            VaultRegistryError::Vault(error) => error.into(),
            VaultRegistryError::Name(error) => error.into(),
            VaultRegistryError::NoVault(_) => Self::new(ExitCode::NotFound, message)
                .hint(Hint::command("offshoot vault list").text(" shows what there is")),
            VaultRegistryError::NameTaken(_) | VaultRegistryError::AlreadyBound { .. } => {
                Self::new(ExitCode::Conflict, message)
            }
            VaultRegistryError::Running { vault, exec, .. } => Self::new(ExitCode::Busy, message)
                .hint(
                    Hint::command("offshoot kill")
                        .arg(exec.short())
                        .words("--vault")
                        .arg(vault)
                        .text(" ends it"),
                ),
            VaultRegistryError::InUse { .. } => {
                Self::new(ExitCode::Busy, message).hint("wait until it is done and try again")
            }
            VaultRegistryError::HalfChanged { vault, .. } => Self::new(ExitCode::Conflict, message)
                .hint(
                    Hint::command("offshoot commit --settle back --vault")
                        .arg(vault)
                        .text(" takes it back; without that directory the vault can go as well"),
                ),
            VaultRegistryError::AlreadyHere(_) => Self::new(ExitCode::Conflict, message).hint(
                "delete that one first, or import into another directory of vaults with --home",
            ),
            VaultRegistryError::NotADirectory(_) => Self::usage(message),
        }
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
                Hint::from("the next command tries again; ")
                    .then("offshoot commit --settle back")
                    .text(" or ")
                    .then("offshoot commit --settle forward")
                    .text(" decides the way"),
            ),
        }
    }
}
