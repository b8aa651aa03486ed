//! The history of a workspace as commits of a branch, without touching working tree, index or HEAD.

mod branch;
mod content;
mod history;
mod message;
mod stream;
mod sync;
mod visible;

use offshoot_store::Id;
use offshoot_tree::VaultPath;
use offshoot_vault::{Actor, Snapshot, Vault, WorkspaceRecord};

use super::error::GitError;
use super::folder::GitFolder;
use super::repository::{State, resolve};
use crate::error::Result;
use branch::Branch;
pub(super) use content::{Contents, mode_of};
use message::Messages;
pub(super) use stream::Stream;
use sync::Sync;
pub(super) use visible::{Nested, Sight, Visibility};

/// Which history becomes which branch.
#[derive(Clone, Copy, Debug)]
pub struct ExportRequest<'a> {
    /// The workspace.
    pub workspace: &'a WorkspaceRecord,
    /// The branch.
    pub branch: &'a str,
    /// What of the vault's tree lies in the folder of the repository.
    pub at: &'a VaultPath,
    /// All of the history, also what came before the workspace.
    pub all: bool,
    /// Also what ignore rules ignore.
    pub ignored: bool,
    /// Replace a branch that is something else.
    pub force: bool,
    /// Who does it.
    pub actor: &'a Actor,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedCommit {
    /// Its id.
    pub commit: String,
    /// The snapshot that it is made from.
    pub snapshot: Id,
    /// The first line of its message.
    pub subject: String,
}

/// What stays out of git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many files are ignored.
    pub ignored: u64,
    /// Pipes, which git cannot keep.
    pub pipes: Vec<VaultPath>,
    /// Directories with nothing in them.
    pub empty_directories: u64,
    /// Directories with a repository of their own.
    pub repositories: Vec<VaultPath>,
}

/// What an export did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The branch's last commit; none where there is nothing in it and no branch was made.
    pub tip: Option<String>,
    /// The commit that the first new one follows.
    pub parent: Option<String>,
    /// What was made, oldest first.
    pub commits: Vec<ExportedCommit>,
    /// Snapshots that changed nothing that git can see.
    pub unseen: u64,
    /// Snapshots whose files were collected as garbage; what they changed is in the next commit.
    pub collected: u64,
    /// What stays out of git, of the newest state.
    pub left_out: LeftOut,
}

/// Where an export starts.
struct Start {
    /// The commit to follow.
    parent: Option<String>,
    /// The state that this commit has; where there is none it is found by comparing.
    known: Option<Snapshot>,
    /// What the first commit is compared to, and made from where the two differ.
    base: Option<Snapshot>,
    /// What came after, oldest first.
    steps: Vec<Snapshot>,
}

/// Writes a workspace's snapshots since its base as commits.
pub fn export(vault: &Vault, folder: &GitFolder, request: &ExportRequest<'_>) -> Result<Exported> {
    let branch = Branch::look(folder, request.branch)?;
    let mut start = start(vault, folder, request, &branch)?;
    let newest = start.steps.last().or(start.base.as_ref()).or(start.known.as_ref());
    let newest =
        newest.cloned().map_or_else(|| vault.snapshot(&request.workspace.state.head), Ok)?;
    if let Some(base) = &start.base
        && let Some(now) = newer_parent(folder, start.parent.as_deref())?
    {
        // What reached the folder may be committed by now. Then nothing is committed again.
        let mut sync = Sync::begin(vault, folder, request, Some(&now), &newest)?;
        let differs = sync.whole(base)?;
        sync.finish()?;
        start.parent = if differs { start.parent } else { Some(now) };
    }
    let mut sync = Sync::begin(vault, folder, request, start.parent.as_deref(), &newest)?;
    let messages = Messages::new(vault, request.workspace)?;
    let mut exported = Exported {
        tip: start.parent.clone(),
        parent: start.parent.clone(),
        commits: Vec::new(),
        unseen: 0,
        collected: 0,
        left_out: LeftOut::default(),
    };
    match write(vault, &mut sync, &messages, &start, &mut exported) {
        Ok(()) => sync.finish()?,
        Err(error) => return Err(sync.abandon(error)),
    }
    exported.left_out = sync.left_out(&newest)?;
    if let Some(made) = exported.commits.last() {
        exported.tip = Some(made.commit.clone());
        branch.move_to(folder, &made.commit, sync.reference())?;
        vault.record_event("export", request.actor, |tx| {
            let (count, branch) = (exported.commits.len(), request.branch);
            tx.scope(request.workspace.id);
            tx.summary(format!("export {count} commits to git branch {branch}"));
            tx.detail("branch", branch);
            tx.detail("commit", &made.commit);
            tx.detail("repository", folder.top().to_string_lossy());
            Ok(())
        })?;
    } else if branch.tip.is_none() {
        exported.tip = None;
    }
    Ok(exported)
}

fn write(
    vault: &Vault,
    sync: &mut Sync<'_>,
    messages: &Messages<'_>,
    start: &Start,
    exported: &mut Exported,
) -> Result<()> {
    let mut before = start.known.clone();
    if let Some(base) = &start.base {
        if sync.whole(base)? {
            let message = messages.of_base(base);
            exported.commits.push(sync.commit(base, message)?);
        }
        before = Some(base.clone());
    }
    for step in &start.steps {
        if vault.is_collected(step)? {
            exported.collected += 1;
            continue;
        }
        let changed = match &before {
            Some(before) => sync.changes(before, step)?,
            None => sync.whole(step)?,
        };
        if changed {
            exported.commits.push(sync.commit(step, messages.of(step)?)?);
        } else {
            exported.unseen += 1;
        }
        before = Some(step.clone());
    }
    Ok(())
}

fn start(
    vault: &Vault,
    folder: &GitFolder,
    request: &ExportRequest<'_>,
    branch: &Branch,
) -> Result<Start> {
    let state = &request.workspace.state;
    if let Some((tip, snapshot)) = branch.made_from.clone().filter(|_| !request.force) {
        let earlier = history::between(vault, state.head, Some(snapshot))?;
        if let Some(steps) = earlier {
            let known = Some(vault.snapshot(&snapshot)?);
            return Ok(Start { parent: Some(tip), known, base: None, steps });
        }
    }
    if branch.tip.is_some() && !request.force {
        return Err(GitError::ForeignBranch(request.branch.to_owned()).into());
    }
    if request.all {
        let steps = history::between(vault, state.head, None)?.unwrap_or_default();
        return Ok(Start { parent: folder.commit("HEAD")?, known: None, base: None, steps });
    }
    let base = vault.snapshot(&state.base)?;
    let steps = history::between(vault, state.head, Some(base.id))?;
    // A workspace that went back behind its base has its newest state alone.
    let steps = steps
        .map_or_else(|| Ok(vec![vault.snapshot(&state.head)?]), Ok::<_, crate::ServiceError>)?;
    if steps.is_empty() {
        // All of it reached the folder: there is nothing of the workspace to write.
        return Ok(Start { parent: folder.commit("HEAD")?, known: None, base: None, steps });
    }
    let parent = head_at(vault, folder, request.at, &base)?;
    Ok(Start { parent, known: None, base: Some(base), steps })
}

/// What is checked out, where that came from another commit.
fn newer_parent(folder: &GitFolder, parent: Option<&str>) -> Result<Option<String>> {
    let (Some(parent), Some(now)) = (parent, folder.commit("HEAD")?) else { return Ok(None) };
    let arguments = ["merge-base", "--is-ancestor", parent, &now];
    let came = now != parent && folder.git.try_output(&arguments, &[])?.status.success();
    Ok(came.then_some(now))
}

/// What was checked out when a snapshot was taken, as far as the repository itself is in it; else what is now.
fn head_at(
    vault: &Vault,
    folder: &GitFolder,
    at: &VaultPath,
    snapshot: &Snapshot,
) -> Result<Option<String>> {
    let (objects, tree) = (vault.objects()?, vault.tree(&snapshot.root)?);
    let state = State { objects, tree: &tree };
    let refs = state.refs(&state.repository_at(at)?)?;
    let then = resolve(&refs, b"HEAD").and_then(|id| String::from_utf8(id).ok());
    if let Some(then) = then.filter(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()))
        && let Some(commit) = folder.commit(&then)?
    {
        return Ok(Some(commit));
    }
    Ok(folder.commit("HEAD")?)
}
