//! What interrupted commands left: looked at, kept as checkpoints, or thrown away.

use offshoot_host::HostError;
use offshoot_mount::driver_of;
use offshoot_protocol::ExecState;
use offshoot_store::{Id, StoreError};
use offshoot_tree::diff::Change;
use offshoot_vault::{
    Actor, Adopted, Checkpoint, CheckpointState, ExecNote, ExecRecord, Leftover, LeftoverSize,
    NewSnapshot, Preview, Snapshot, Transaction, Vault, VaultError, WorkspaceRecord,
    WorkspaceState, check_ref_name,
};

use crate::audited::audited;
use crate::error::{Result, ServiceError};
use crate::exec::access::LeftoverAccess;
use crate::exec::summary::{self, is_directory_time};
use crate::id_lookup::Asked;
use crate::resolve::{BASE, HEAD};
use crate::undecided;
use crate::wire::crashed_envelope;

/// What a command that left something is called where there is none.
const LEFT: &str = "interrupted command";

/// Lists, shows, keeps and drops what interrupted commands left.
#[derive(Debug)]
pub struct RecoverService<'a> {
    vault: &'a Vault,
    actor: Actor,
}

/// What an interrupted command left.
#[derive(Clone, Debug)]
pub struct Recoverable {
    /// What is known about the command.
    pub note: ExecNote,
    /// How much it is; none where all of a copy would have to be compared to know, or where no driver here knows its shape.
    pub size: Option<LeftoverSize>,
    /// The workspace that it ran in, unless that is gone.
    pub workspace: Option<WorkspaceRecord>,
}

/// The same in detail.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// What it is.
    pub found: Recoverable,
    /// What it would change.
    pub preview: Preview,
    /// What the command had printed, and what on its standard error.
    pub output: (Vec<u8>, Vec<u8>),
}

/// What was kept.
#[derive(Clone, Debug)]
pub struct RecoveredWork {
    /// The command.
    pub note: ExecNote,
    /// The workspace that has it now.
    pub workspace: WorkspaceRecord,
    /// The workspace was made for it, because its own is gone.
    pub forked: bool,
    /// The checkpoint, where the workspace is not a new one. None where the command had changed nothing.
    pub checkpoint: Option<Checkpoint>,
    /// The state that was kept. None where the command had changed nothing.
    pub snapshot: Option<Snapshot>,
    /// What it changes.
    pub changes: Vec<Change>,
    /// The operation.
    pub operation: Option<Id>,
}

impl<'a> RecoverService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, actor: &Actor) -> Self {
        Self { vault, actor: actor.clone() }
    }

    /// The commands that left something. Root is not told of those of somebody else: opening a vault sets aside what they left, and root
    /// changes nothing there.
    pub fn left(&self) -> Result<Vec<Id>> {
        self.vault.require_own()?;
        Ok(self.vault.left()?)
    }

    /// Everything that was left, oldest first. What somebody else is taking care of is passed over.
    pub fn list(&self) -> Result<Vec<Recoverable>> {
        let mut found = Vec::new();
        for exec in self.left()? {
            if let Ok(Some(left)) = self.vault.take_leftover(&exec) {
                found.push(self.describe(&left)?);
            }
        }
        Ok(found)
    }

    /// The command that left something, by the start of its id.
    pub fn find(&self, text: &str) -> Result<Id> {
        self.pick(&Asked::new(text))
    }

    /// The same for one that is to be dropped, which takes more of its id.
    pub fn find_to_drop(&self, text: &str) -> Result<Id> {
        self.pick(&Asked::for_good(text))
    }

    fn pick(&self, asked: &Asked<'_>) -> Result<Id> {
        let left = self.left()?;
        let fitting = left.iter().filter(|exec| asked.fits(exec)).copied().collect();
        let found = asked.only(fitting, Id::to_string)?;
        found.ok_or_else(|| asked.unknown(self.vault, LEFT, left))
    }

    /// What a command left, in detail. Nothing is stored.
    pub fn show(&self, exec: &Id) -> Result<Inspected> {
        let left = self.take(exec)?;
        let (_, shape) = driver_of(&left.note)?;
        let access = LeftoverAccess::new(&left.files_dir(shape));
        let mut preview = left.preview(self.vault, shape, &access)?;
        preview.changes.retain(|change| !is_directory_time(change));
        Ok(Inspected { found: self.describe(&left)?, preview, output: left.output()? })
    }

    /// Makes what a command left a checkpoint of its workspace, or a new workspace where that is gone. No workspace is moved.
    pub fn keep(&self, exec: &Id, name: Option<&str>) -> Result<RecoveredWork> {
        if let Some(name) = name {
            check_ref_name(name)?;
            if name == BASE || name == HEAD {
                return Err(ServiceError::Reserved(name.to_owned()));
            }
        }
        let _held = self.vault.hold()?;
        let left = self.take(exec)?;
        let (note, output) = (left.note.clone(), left.output()?);
        if note.trial {
            self.actor.require_person("keep what a command did that nobody has approved of")?;
        }
        let (_, shape) = driver_of(&left.note)?;
        let access = LeftoverAccess::new(&left.files_dir(shape));
        let adopted = left.adopt(self.vault, shape, &access)?;
        let mut changes =
            offshoot_tree::diff::compare(self.vault.objects()?, &note.root, &adopted.root)?;
        changes.retain(|change| !is_directory_time(change));
        let made = self.vault.transact("recover keep", &self.actor, |tx| {
            let mut kept = self.commit(tx, &note, (&adopted, &changes), name)?;
            self.record(tx, &note, &output, kept.snapshot.as_ref(), &changes)?;
            kept.changes.clone_from(&changes);
            Ok(kept)
        });
        let committed = made.map_err(|error| taken(error, name))?;
        // It is recorded: a note that cannot be removed only says what the history says too.
        let _note_stays = adopted.settle().is_err();
        Ok(RecoveredWork { operation: committed.operation, ..committed.value })
    }

    /// Throws away what a command left; that it ran is recorded.
    pub fn drop(&self, exec: &Id) -> Result<ExecNote> {
        let left = self.take(exec)?;
        let (note, output) = (left.note.clone(), left.output()?);
        match self.record_dropped(&note, &output) {
            // What is dropped is what takes the room that its record needs.
            Err(VaultError::Store(StoreError::Full(_))) => {
                left.remove()?;
                self.record_dropped(&note, &output)?;
            }
            recorded => {
                recorded?;
                left.remove()?;
            }
        }
        Ok(note)
    }

    fn record_dropped(
        &self,
        note: &ExecNote,
        output: &(Vec<u8>, Vec<u8>),
    ) -> Result<(), VaultError> {
        self.vault.transact("recover drop", &self.actor, |tx| {
            if tx.workspace(&note.workspace)?.is_some() {
                tx.scope(note.workspace);
            }
            tx.summary(format!("drop what {} left in {}", shortened(note), note.workspace_name));
            tx.detail("exec", note.exec.to_string());
            tx.record_always();
            self.record(tx, note, output, None, &[])
        })?;
        Ok(())
    }

    fn commit(
        &self,
        tx: &mut Transaction<'_, '_>,
        note: &ExecNote,
        (adopted, changes): (&Adopted, &[Change]),
        name: Option<&str>,
    ) -> Result<RecoveredWork, VaultError> {
        tx.detail("exec", note.exec.to_string());
        tx.detail("command", note.command.clone());
        if note.trial {
            undecided::note(tx, &[note.exec]);
        }
        tx.record_always();
        let found = tx.workspace(&note.workspace)?;
        let mut kept = RecoveredWork {
            note: note.clone(),
            forked: found.is_none(),
            workspace: found.unwrap_or_else(|| forked(tx, note, name)),
            checkpoint: None,
            snapshot: None,
            changes: Vec::new(),
            operation: None,
        };
        if adopted.root == note.root {
            tx.summary(format!("recover {}: it changed nothing", shortened(note)));
            return Ok(kept);
        }
        adopted.record(tx)?;
        tx.files(audited(changes));
        let snapshot = tx.add_snapshot(NewSnapshot {
            root: adopted.root,
            content: adopted.content,
            parents: vec![note.snapshot],
            reason: "recover".to_owned(),
            message: Some(shortened(note)),
        })?;
        tx.scope(kept.workspace.id);
        if kept.forked {
            kept.workspace.state.head = snapshot.id;
            let name = &kept.workspace.name;
            tx.summary(format!("recover {} as workspace {name}", shortened(note)));
            tx.set_workspace(&kept.workspace)?;
        } else {
            let checkpoint = new_checkpoint(tx, note, &kept.workspace, &snapshot, name);
            let (name, workspace) = (&checkpoint.name, &kept.workspace.name);
            tx.summary(format!("recover {} as checkpoint {name} of {workspace}", shortened(note)));
            tx.set_checkpoint(&checkpoint)?;
            kept.checkpoint = Some(checkpoint);
        }
        kept.snapshot = Some(snapshot);
        Ok(kept)
    }

    /// Records that the command ran, unless whoever ran it came to do that.
    fn record(
        &self,
        tx: &mut Transaction<'_, '_>,
        note: &ExecNote,
        (stdout, stderr): &(Vec<u8>, Vec<u8>),
        after: Option<&Snapshot>,
        changes: &[Change],
    ) -> Result<(), VaultError> {
        if tx.reader().exec(&note.exec)?.is_some() {
            return Ok(());
        }
        let after = after.map_or(note.snapshot, |snapshot| snapshot.id);
        let record = ExecRecord {
            id: note.exec,
            workspace: Some(note.workspace),
            operation: None,
            started_ms: note.started_ms,
            // When it was cut short is not known.
            ended_ms: note.started_ms,
            state: ExecState::Crashed.as_str().to_owned(),
            command: note.command.clone(),
            exit_code: None,
            signal: None,
            changed: changes.len() as u64,
            before: Some(note.snapshot),
            after: Some(after),
            actor: note.actor.clone(),
            envelope: Some(crashed_envelope(note, &after, changes)),
        };
        tx.add_exec(&record, stdout, stderr)
    }

    fn describe(&self, left: &Leftover) -> Result<Recoverable> {
        let workspace = self.vault.workspace(&left.note.workspace)?;
        let size = match driver_of(&left.note) {
            Ok((_, shape)) => left.size(shape)?,
            Err(_) => None,
        };
        Ok(Recoverable { note: left.note.clone(), size, workspace })
    }

    fn take(&self, exec: &Id) -> Result<Leftover> {
        let taken = self.vault.take_leftover(exec).map_err(|error| match error {
            VaultError::Host(HostError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::WouldBlock =>
            {
                ServiceError::BeingRecovered { exec: *exec }
            }
            other => other.into(),
        })?;
        let unknown = || Asked::new(&exec.to_string()).unknown(self.vault, LEFT, []);
        taken.ok_or_else(unknown)
    }
}

fn new_checkpoint(
    tx: &mut Transaction<'_, '_>,
    note: &ExecNote,
    workspace: &WorkspaceRecord,
    snapshot: &Snapshot,
    name: Option<&str>,
) -> Checkpoint {
    let name = name.map_or_else(|| format!("recovered-{}", note.exec.short()), str::to_owned);
    let state = CheckpointState {
        snapshot: snapshot.id,
        automatic: false,
        created_ms: tx.time_ms(),
        reason: format!("recovered from {}", shortened(note)),
    };
    Checkpoint { id: tx.new_id(), workspace: workspace.id, name, state }
}

/// A workspace in place of the one that is gone.
fn forked(tx: &mut Transaction<'_, '_>, note: &ExecNote, name: Option<&str>) -> WorkspaceRecord {
    let id = tx.new_id();
    // The command's id is unique, so the name is, unless the same is recovered again and again.
    let name = name.map_or_else(
        || format!("{}-recovered-{}", note.workspace_name, note.exec.short()),
        str::to_owned,
    );
    let state = WorkspaceState {
        head: note.snapshot,
        base: note.snapshot,
        parent: None,
        created_ms: tx.time_ms(),
        expires_ms: None,
    };
    WorkspaceRecord { id, name, state }
}

fn shortened(note: &ExecNote) -> String {
    summary::shortened(&note.command)
}

fn taken(error: VaultError, name: Option<&str>) -> ServiceError {
    match (error, name) {
        (VaultError::Store(StoreError::NameTaken { kind, .. }), Some(name)) => {
            let what = if kind == "workspace" { "workspace" } else { "checkpoint" };
            ServiceError::NameTaken { what, name: name.to_owned() }
        }
        (other, _) => other.into(),
    }
}
