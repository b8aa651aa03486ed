//! From what the services know to what programs read: the one place where wire documents are made.

mod binding;
mod content;
mod exec;
mod git;
mod home;
mod merge;
mod policy;
mod recover;
mod review;
mod storage;
mod way_on;

pub use binding::{binding, bindings, bound, git_directory, missing_folders, moved, unbound};
pub use content::{Reading, content, written};
pub use exec::{envelope, exec_state, exec_summary, recorded_envelope};
pub use git::{git_commit, git_export, repositories};
pub use home::{clashes, commit, commit_ways_on, held, pull, pull_ways_on};
pub use merge::{conflict, conflict_version, merge, merge_ways_on, resolved};
pub use policy::{policy_file, policy_replay, policy_verdict, verdict};
pub use recover::{dropped, inspected, kept, recoverable, running, running_summary};

pub use review::{review_item, review_list};
pub use storage::{compacted, storage, taken};

pub use way_on::{to_decide, way_on};

pub(crate) use exec::stored_envelope;
pub(crate) use recover::crashed_envelope;

use offshoot_host::Mtime;
use offshoot_protocol::{
    ActorDoc, ChangeDoc, CheckpointDoc, EditDoc, EntryDoc, HunkDoc, ImportDoc, LineDoc, LineSign,
    ListedWorkspaceDoc, LogEntryDoc, MetadataFieldDoc, OperationDoc, SideDoc, SkipCode, SkippedDoc,
    SnapshotDoc, Text, UsageDoc, VersionDoc, WorkspaceDoc,
};
use offshoot_store::Id;
use offshoot_text::lines::{Hunk, LineKind};
use offshoot_tree::diff::{Change, ChangeKind, FileDiff, MetadataField};
use offshoot_tree::{BlobId, Body, Entry, EntryKind, VaultPath};
use offshoot_vault::{
    Actor, Checkpoint, ImportReport, Operation, SkipReason, Skipped, Snapshot, Workspace,
};

use crate::words;
use crate::{Edited, FileVersion, LogEntry, WorkspaceOverview, WorkspaceUsage};

/// A time as RFC 3339 in UTC, to the millisecond.
pub fn time(time_ms: u64) -> String {
    let time =
        i64::try_from(time_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("@{time_ms}ms"), |time| format!("{time:.3}"))
}

/// A time as RFC 3339 in UTC, to the nanosecond; seconds since 1970 where the calendar ends.
pub fn mtime(mtime: Mtime) -> String {
    let nanoseconds = i32::try_from(mtime.nanoseconds).unwrap_or(0);
    match jiff::Timestamp::new(mtime.seconds, nanoseconds) {
        Ok(time) => format!("{time:.9}"),
        Err(_) => format!("@{}.{:09}", mtime.seconds, mtime.nanoseconds),
    }
}

/// Who did something.
pub fn actor(actor: &Actor) -> ActorDoc {
    let Actor { user, agent, session } = actor.clone();
    ActorDoc { user, agent, session }
}

/// A point in history.
pub fn snapshot(snapshot: &Snapshot) -> SnapshotDoc {
    SnapshotDoc {
        id: snapshot.id.to_string(),
        root: snapshot.root.to_hex(),
        content: snapshot.content.to_hex(),
        parents: snapshot.parents.iter().map(Id::to_string).collect(),
        time: time(snapshot.time_ms),
        actor: actor(&snapshot.actor),
        reason: snapshot.reason.clone(),
        message: snapshot.message.clone(),
        operation: snapshot.operation.to_string(),
    }
}

/// A snapshot of a log.
pub fn log_entry(entry: &LogEntry) -> LogEntryDoc {
    LogEntryDoc { snapshot: snapshot(&entry.snapshot), names: entry.names.clone() }
}

/// The name of a workspace, or its id where it is gone.
pub fn workspace_name(id: &Id, all: &[Workspace]) -> String {
    let found = all.iter().find(|workspace| workspace.id == *id);
    found.map_or_else(|| id.to_string(), |workspace| workspace.name.clone())
}

/// A workspace; `all` gives the names of parents.
pub fn workspace(workspace: &Workspace, all: &[Workspace]) -> WorkspaceDoc {
    let state = &workspace.state;
    WorkspaceDoc {
        id: workspace.id.to_string(),
        name: workspace.name.clone(),
        head: state.head.to_string(),
        base: state.base.to_string(),
        parent: state.parent.map(|id| workspace_name(&id, all)),
        created: time(state.created_ms),
        ephemeral: state.expires_ms.is_some(),
        expires: state.expires_ms.map(time),
    }
}

/// A workspace of a list; `all` gives the names of parents.
pub fn listed_workspace(found: &WorkspaceOverview, all: &[Workspace]) -> ListedWorkspaceDoc {
    ListedWorkspaceDoc {
        workspace: workspace(&found.workspace, all),
        changed_paths: found.changed,
        listed_changes: found.listed,
        last_used: time(found.used_ms),
        last_command: found.last_command.clone(),
        running: found.running,
    }
}

/// How much a workspace holds.
pub fn usage(usage: &WorkspaceUsage) -> UsageDoc {
    let WorkspaceUsage { total_bytes, own_bytes, shared_bytes, entries } = *usage;
    UsageDoc { total_bytes, own_bytes, shared_bytes, entries }
}

/// A checkpoint; `all` gives the name of its workspace.
pub fn checkpoint(checkpoint: &Checkpoint, all: &[Workspace]) -> CheckpointDoc {
    CheckpointDoc {
        id: checkpoint.id.to_string(),
        name: checkpoint.name.clone(),
        workspace: workspace_name(&checkpoint.workspace, all),
        snapshot: checkpoint.state.snapshot.to_string(),
        automatic: checkpoint.state.automatic,
        created: time(checkpoint.state.created_ms),
        reason: checkpoint.state.reason.clone(),
    }
}

/// An entry of the operation log; `all` gives the name of its workspace.
pub fn operation(operation: &Operation, all: &[Workspace]) -> OperationDoc {
    let named = |change: &offshoot_store::RefChange| {
        let row = change.after.as_ref().or(change.before.as_ref());
        let name = row.and_then(|row| row.name.clone()).unwrap_or_else(|| change.key.id.clone());
        if change.key.kind == name { name } else { format!("{} {name}", change.key.kind) }
    };
    OperationDoc {
        id: operation.id.to_string(),
        time: time(operation.time_ms),
        actor: actor(&operation.actor),
        kind: operation.kind.clone(),
        summary: operation.summary.clone(),
        workspace: operation.workspace.map(|id| workspace_name(&id, all)),
        reverts: operation.reverts.map(|id| id.to_string()),
        refs: operation.changes.iter().map(named).collect(),
    }
}

/// A path that changed, without its lines.
pub fn change(change: &Change) -> ChangeDoc {
    ChangeDoc {
        path: path(&change.path),
        kind: words::change_kind(change.kind()),
        from: change.moved.as_ref().map(|(from, _)| path(from)),
        similarity: change.moved.as_ref().map(|(_, similarity)| *similarity),
        metadata: metadata(change),
        before: change.before.as_deref().map(side),
        after: change.after.as_deref().map(side),
        binary: None,
        added_lines: None,
        removed_lines: None,
        hunks: None,
    }
}

/// What of the metadata changed. New content comes with a new time, so that is told only where there is none.
fn metadata(change: &Change) -> Vec<MetadataFieldDoc> {
    let times = change.kind() == ChangeKind::Metadata;
    let fields = change.metadata().into_iter();
    let fields = fields.filter(|field| times || *field != MetadataField::Time);
    fields.map(words::metadata_field).collect()
}

/// Adds what is known of the lines of a change; the lines themselves where `hunks` is set.
pub fn add_lines(document: &mut ChangeDoc, diff: &FileDiff, hunks: bool) {
    match diff {
        FileDiff::Text(text) => {
            document.binary = Some(false);
            document.added_lines = Some(text.added);
            document.removed_lines = Some(text.removed);
            document.hunks = hunks.then(|| text.hunks.iter().map(hunk).collect());
        }
        FileDiff::Binary | FileDiff::TooLarge => document.binary = Some(true),
        FileDiff::Nothing => {}
    }
}

fn hunk(hunk: &Hunk) -> HunkDoc {
    let sign = |kind| match kind {
        LineKind::Context => LineSign::Context,
        LineKind::Removed => LineSign::Removed,
        LineKind::Added => LineSign::Added,
    };
    let lines = hunk.lines.iter().map(|line| LineDoc {
        sign: sign(line.kind),
        text: Text::new(&line.text),
        newline: line.newline,
    });
    HunkDoc {
        before_start: hunk.before_start,
        before_lines: hunk.before_lines,
        after_start: hunk.after_start,
        after_lines: hunk.after_lines,
        lines: lines.collect(),
    }
}

fn side(entry: &Entry) -> SideDoc {
    SideDoc {
        entry: words::entry_kind(entry.kind()),
        mode: mode(entry),
        size: entry.size(),
        checksum: checksum(entry),
    }
}

/// The checksum of content that has one of its own.
fn checksum(entry: &Entry) -> Option<String> {
    match entry.kind() {
        EntryKind::File | EntryKind::Symlink => Some(BlobId(entry.content_hash()).to_string()),
        EntryKind::Directory | EntryKind::Fifo => None,
    }
}

fn mode(entry: &Entry) -> String {
    format!("{:04o}", entry.meta.mode)
}

/// A path inside a vault.
pub fn path(path: &VaultPath) -> Text {
    Text::new(&path.to_bytes())
}

/// A file, directory, symlink or fifo at a path.
pub fn entry(at: &VaultPath, entry: &Entry) -> EntryDoc {
    let xattrs: Vec<(Text, Text)> =
        entry.meta.xattrs.iter().map(|(name, value)| (Text::new(name), Text::new(value))).collect();
    EntryDoc {
        path: path(at),
        name: Text::new(at.name().unwrap_or(b"/")),
        kind: words::entry_kind(entry.kind()),
        mode: mode(entry),
        uid: entry.meta.uid,
        gid: entry.meta.gid,
        size: entry.size(),
        mtime: mtime(entry.meta.mtime),
        checksum: checksum(entry).filter(|_| entry.kind() == EntryKind::File),
        target: match &entry.body {
            Body::Symlink { target } => Some(Text::new(target)),
            _ => None,
        },
        entries: entry.directory().map(|dir| dir.entries),
        xattrs: (!xattrs.is_empty()).then_some(xattrs),
        link_group: entry.group.map(|group| format!("{group:016x}")),
    }
}

/// A change to the files of a workspace.
pub fn edit(workspace: &str, edited: &Edited, import: Option<ImportDoc>) -> EditDoc {
    EditDoc {
        workspace: workspace.to_owned(),
        snapshot: snapshot(&edited.snapshot),
        operation: edited.operation.map(|id| id.to_string()),
        changes: edited.changes.iter().map(change).collect(),
        import,
    }
}

/// What an import brought.
pub fn import(report: &ImportReport) -> ImportDoc {
    ImportDoc {
        files: report.files,
        directories: report.directories,
        symlinks: report.symlinks,
        fifos: report.fifos,
        bytes: report.bytes,
        unchanged: report.unchanged,
        ignored: report.ignored,
        skipped: report.skipped.iter().map(skipped).collect(),
    }
}

fn skipped(skipped: &Skipped) -> SkippedDoc {
    let (code, message) = skip_reason(&skipped.why);
    SkippedDoc { path: Text::new(&skipped.path), code, message }
}

/// Why something did not come in: a word and a sentence.
pub fn skip_reason(why: &SkipReason) -> (SkipCode, String) {
    match why {
        SkipReason::Unreadable(error) => (SkipCode::Unreadable, error.clone()),
        SkipReason::Kept(error) => {
            (SkipCode::Unreadable, format!("{error}; the vault keeps what it has of it"))
        }
        SkipReason::Socket => (SkipCode::Socket, "sockets are not kept".to_owned()),
        SkipReason::Device => (SkipCode::Device, "devices are not kept".to_owned()),
        SkipReason::Home => (SkipCode::Home, "vaults are kept here".to_owned()),
        SkipReason::Pseudo => {
            (SkipCode::Pseudo, "the kernel shows itself here; there are no files".to_owned())
        }
        SkipReason::Reserved => {
            (SkipCode::Reserved, "the place is that of further folders".to_owned())
        }
        SkipReason::Attributes(names) => {
            (SkipCode::Attributes, format!("came in without {}", names.join(", ")))
        }
        SkipReason::Unstable => (SkipCode::Unstable, "kept changing while it was read".to_owned()),
    }
}

/// A version of a file.
pub fn version(at: &VaultPath, version: &FileVersion) -> VersionDoc {
    VersionDoc {
        snapshot: snapshot(&version.snapshot),
        entry: version.entry.as_ref().map(|found| entry(at, found)),
    }
}
