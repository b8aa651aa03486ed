//! What was done with git as documents.

use std::path::Path;

use offshoot_protocol::{
    ErrorBody, GitCommitDoc, GitExportDoc, GitLeftOutDoc, GitOutcomeDoc, RepositoryNoteDoc, Text,
};
use offshoot_vault::WorkspaceRecord;

use super::entry::path;
use super::way_on::way_on;
use crate::git::{Exported, GitCommitted, GitNote, GitReport};

/// A git commit of what reached the folder, or why there is none.
pub fn git_commit(made: Option<&GitCommitted>, error: Option<ErrorBody>) -> GitOutcomeDoc {
    GitOutcomeDoc {
        commit: made.map(|made| made.commit.clone()),
        branch: made.and_then(|made| made.branch.clone()),
        files: made.map_or(0, |made| made.files),
        merged: made.and_then(|made| made.merged.clone()),
        merged_commit: made.and_then(|made| made.merged_commit.clone()),
        merged_stays: made.is_some_and(|made| made.merged_stays),
        unsigned: made.is_some_and(|made| made.unsigned),
        hooks_skipped: made.map(|made| made.hooks.clone()).unwrap_or_default(),
        error,
    }
}

/// What became of repositories.
pub fn repositories(report: &GitReport) -> Vec<RepositoryNoteDoc> {
    let note = |note: &GitNote| RepositoryNoteDoc {
        repository: path(&note.repository),
        event: note.event.word(),
        name: note.name.clone(),
        side: note.side.clone(),
        from: note.from.clone(),
        to: note.to.clone(),
        kept_as: note.event.kept_as().map(str::to_owned),
        why: note.event.why().map(str::to_owned),
        way_on: note.way.as_ref().map(way_on),
        commits: note.event.commits(),
        objects: note.event.objects(),
    };
    report.notes.iter().map(note).collect()
}

/// An export to a branch.
pub fn git_export(
    exported: &Exported,
    workspace: &WorkspaceRecord,
    branch: &str,
    repository: &Path,
) -> GitExportDoc {
    let left = &exported.left_out;
    let commits = exported.commits.iter().map(|made| GitCommitDoc {
        commit: made.commit.clone(),
        snapshot: made.snapshot.to_string(),
        subject: made.subject.clone(),
    });
    GitExportDoc {
        workspace: workspace.name.clone(),
        branch: branch.to_owned(),
        repository: Text::new(repository.as_os_str().as_encoded_bytes()),
        tip: exported.tip.clone(),
        parent: exported.parent.clone(),
        commits: commits.collect(),
        unseen: exported.unseen,
        collected: exported.collected,
        left_out: GitLeftOutDoc {
            ignored: left.ignored,
            pipes: left.pipes.iter().map(path).collect(),
            empty_directories: left.empty_directories,
            repositories: left.repositories.iter().map(path).collect(),
        },
    }
}
