//! What came of something, as the document that `--json` prints of it.

pub use offshoot_workspace::wire::{
    actor, add_lines, applied_trial, approval, approval_variables, audit_event, audit_head,
    audit_signer, bindings, bound, change, checkpoint, clashes, commit, commit_ways_on, compacted,
    conflict, conflict_version, content, dropped, edit, entry, envelope, exec_state, exec_summary,
    git_commit, git_directory, git_export, held, import, inspected, kept, listed_approval,
    listed_workspace, log_entry, merge, merge_ways_on, missing_folders, moved, moved_workspace,
    operation, path, policy_file, policy_replay, policy_verdict, pull, pull_ways_on,
    recorded_envelope, recoverable, repositories, resolved, review_list, running, running_summary,
    session_event, snapshot, status_all, storage, taken, time, timeline_entry, to_decide, unbound,
    usage, verdict, version, way_on, workspace, written,
};
