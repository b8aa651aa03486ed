//! What a command that runs sees and has changed so far.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use offshoot_host::disk::bytes_path;
use offshoot_mount::driver_of;
use offshoot_store::Id;
use offshoot_tree::diff::{ChangeKind, compare};
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{
    Actor, LeftoverShape, NewSnapshot, Preview, RunningExec, Vault, WorkspaceRecord,
    WorkspaceState, check_ref_name,
};
use rustix::io::Errno;

use crate::audited::audited;
use crate::error::{Result, ServiceError};
use crate::exec::access::LeftoverAccess;
use crate::exec::summary::{is_directory_time, shortened};

use crate::running::command_process;
use crate::workspace::taken;

/// Longer files are not read from inside.
const LONGEST: u64 = 64 << 20;

/// Looks into the workspace of a command that runs, and changes files there, as the command itself could.
#[derive(Clone, Copy, Debug)]
pub struct LiveService<'a> {
    vault: &'a Vault,
}

impl<'a> LiveService<'a> {
    /// Works on a vault.
    pub fn new(vault: &'a Vault) -> Self {
        Self { vault }
    }

    /// The state that a command started from, and what it has changed so far. Nothing is stored; a file that is being written may be
    /// seen half.
    pub fn changes(&self, exec: &Id) -> Result<(RootId, Preview)> {
        let running = self.find(exec)?;
        let mut preview = self.preview(&running)?;
        preview
            .changes
            .retain(|change| !is_directory_time(change) && change.kind() != ChangeKind::Metadata);
        Ok((running.note.root, preview))
    }

    /// What a command would leave if it ended now.
    pub(crate) fn preview(&self, running: &RunningExec) -> Result<Preview> {
        let (_, shape) = driver_of(&running.note)?;
        let access = LeftoverAccess::new(&running.files_dir(shape));
        Ok(running.preview(self.vault, shape, &access)?)
    }

    /// The files of a command, to be read one by one: that costs nothing for those that nobody asks for. None where it is over.
    pub(crate) fn files(&self, running: &RunningExec) -> Result<Option<LiveFiles>> {
        let (_, shape) = driver_of(&running.note)?;
        let Some(process) = command_process(running) else { return Ok(None) };
        let folders = self.vault.bindings()?;
        let folders = folders.iter().map(|it| (it.at(), it.host_path())).collect();
        Ok(Some(LiveFiles { process, written: running.files_dir(shape), folders }))
    }

    /// Makes a workspace of what a command has written so far, beside that of the command: with the same base, so that it can be
    /// reviewed and committed. The command goes on, and its own workspace stays where it is.
    pub fn fork(&self, exec: &Id, name: &str, actor: &Actor) -> Result<WorkspaceRecord> {
        check_ref_name(name)?;
        let _held = self.vault.hold()?;
        let running = self.find(exec)?;
        let note = &running.note;
        let (_, shape) = driver_of(note)?;
        if shape == LeftoverShape::Tree {
            let message = "its files are a plain copy, which cannot be forked while it runs";
            return Err(ServiceError::Request(format!("exec {}: {message}", note.exec.short())));
        }
        let access = LeftoverAccess::new(&running.files_dir(shape));
        let copy = running.copy(self.vault, &access)?;
        let access = LeftoverAccess::new(&copy.dir());
        let adopted = self.vault.adopt(copy, &access)?;
        let before = self.vault.snapshot(&note.snapshot)?;
        let changes = compare(self.vault.objects()?, &before.root, &adopted.root)?;
        let command = shortened(&note.command);
        let made = self.vault.transact("workspace create", actor, |tx| {
            let source = tx.workspace(&note.workspace)?;
            let base = source.as_ref().map_or(note.snapshot, |source| source.state.base);
            let mut head = note.snapshot;
            if adopted.root != note.root {
                adopted.record(tx)?;
                let snapshot = tx.add_snapshot(NewSnapshot {
                    root: adopted.root,
                    content: adopted.content,
                    parents: vec![note.snapshot],
                    reason: "fork".to_owned(),
                    message: Some(command.clone()),
                })?;
                tx.files(audited(&changes));
                head = snapshot.id;
            }
            let (created_ms, parent) = (tx.time_ms(), source.map(|source| source.id));
            let state = WorkspaceState { head, base, parent, created_ms, expires_ms: None };
            let made = WorkspaceRecord { id: tx.new_id(), name: name.to_owned(), state };
            tx.scope(made.id);
            tx.summary(format!("create workspace {name} from what {command} has written"));
            tx.detail("exec", note.exec);
            tx.set_workspace(&made)?;
            Ok(made)
        });
        let made = made.map_err(|error| taken(error, name))?.value;
        // It is recorded: a note that cannot be removed only says what the history says too.
        let _note_stays = adopted.settle().is_err();
        Ok(made)
    }

    /// The bytes of a file, by its path as the command sees it.
    pub fn read(&self, exec: &Id, path: &Path) -> Result<Vec<u8>> {
        let (process, folder, below) = self.place(exec, path)?;
        offshoot_sandbox::read_inside(process, &folder, &below, LONGEST).map_err(refused(path))
    }

    /// Writes a file, by its path as the command sees it; directories that are missing are made.
    pub fn write(&self, exec: &Id, path: &Path, bytes: &[u8]) -> Result<()> {
        let (process, folder, below) = self.place(exec, path)?;
        offshoot_sandbox::write_inside(process, &folder, &below, bytes).map_err(refused(path))
    }

    fn find(&self, exec: &Id) -> Result<RunningExec> {
        let mut running = self.vault.running()?.into_iter();
        let found = running.find(|running| running.note.exec == *exec);
        found.ok_or(ServiceError::NotRunning { exec: *exec })
    }

    /// A process of the command, the folder of the project that a path lies in, and the way from there.
    fn place(&self, exec: &Id, path: &Path) -> Result<(u32, PathBuf, PathBuf)> {
        let mut found = None;
        for binding in self.vault.bindings()? {
            if let Ok(below) = path.strip_prefix(binding.host_path()) {
                found = Some((binding.host_path().to_owned(), below.to_owned()));
            }
        }
        let (folder, below) = found.ok_or_else(|| {
            ServiceError::Request(format!("{} is not in the project", path.display()))
        })?;
        let running = self.find(exec)?;
        let process = command_process(&running).ok_or(ServiceError::NotRunning { exec: *exec })?;
        Ok((process, folder, below))
    }
}

/// The files of a command that runs.
#[derive(Debug)]
pub(crate) struct LiveFiles {
    process: u32,
    /// Where what it writes lies.
    written: PathBuf,
    folders: Vec<(VaultPath, PathBuf)>,
}

/// A file as a command that runs has it.
#[derive(Debug)]
pub(crate) enum LiveFile {
    /// The command did not touch it.
    Untouched,
    /// It is deleted.
    Gone,
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is no file, or longer than that.
    Other,
    /// Nobody can tell now.
    Unknown,
}

impl LiveFiles {
    /// A file of at most this length.
    pub(crate) fn read(&self, path: &VaultPath, longest: u64) -> LiveFile {
        let below = |at: &VaultPath| -> PathBuf {
            path.names()[at.names().len()..].iter().map(|name| bytes_path(name)).collect()
        };
        // Where a directory on the way was deleted, something else is in its place. One that was made anew is not looked through for what it had.
        let place = self.written.join(below(&VaultPath::top()));
        if matches!(place.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound) {
            return LiveFile::Untouched;
        }
        let within = self.folders.iter().filter(|(at, _)| path.is_within(at));
        let Some((at, folder)) = within.max_by_key(|(at, _)| at.names().len()) else {
            return LiveFile::Unknown;
        };
        match offshoot_sandbox::read_inside(self.process, folder, &below(at), longest) {
            Ok(bytes) => LiveFile::Bytes(bytes),
            Err(Errno::NOENT | Errno::NOTDIR) => LiveFile::Gone,
            Err(Errno::FBIG | Errno::INVAL | Errno::ISDIR | Errno::LOOP) => LiveFile::Other,
            Err(_) => LiveFile::Unknown,
        }
    }
}

/// Why a file could not be reached.
fn refused(path: &Path) -> impl Fn(Errno) -> ServiceError {
    move |errno| {
        let path = path.display();
        ServiceError::Request(match errno {
            Errno::XDEV | Errno::LOOP => format!("{path} leads out of the workspace"),
            Errno::FBIG => format!("{path} has more than {} MiB", LONGEST >> 20),
            Errno::NOTSUP => {
                format!("{path}: without namespaces the workspace is elsewhere for the command")
            }
            Errno::INVAL => format!("{path} is no file"),
            other => format!("{path}: {}", std::io::Error::from(other)),
        })
    }
}
