//! Workspaces: copy-on-write states of a project's files.

use std::path::Path;

use offshoot_protocol::RevertVerb;
use offshoot_store::Id;
use offshoot_tree::diff::{BinaryForm, Change};
use offshoot_tree::{Entry, RootId, VaultPath};
pub use offshoot_vault::WorkspaceRecord;
use offshoot_vault::{CallKey, Checkpoint, Scope, Vault};
use offshoot_workspace::{
    ChangeSummaryService, CommitEvent, CommitPreview, ExecutionWorkspace, FileService,
    MergeOutcome, MergeTarget, NewCheckpoint, Pulled, Resolver, Reversal, ServiceError, sorted,
};
pub use offshoot_workspace::{ListedChanges, NewWorkspace, WorkspaceOverview, WorkspaceService};

use crate::commit::{Commit, Outcome};
use crate::conflict::OpenConflict;
use crate::error::Result;
use crate::exec::{self, Command, Exec};
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::project::Project;

/// A copy-on-write workspace of a project. Cheap to clone, and good for all threads.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use offshoot_engine::{Offshoot, Options};
/// # let scratch = tempfile::tempdir()?;
/// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
/// # std::fs::create_dir(&folder)?;
/// # std::fs::write(folder.join("greeting"), "helo\n")?;
/// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
/// let fix = offshoot.project(&folder)?.fork("fix")?;
/// fix.write("/greeting", b"hello\n")?;
/// assert_eq!(fix.diff()?.len(), 1);
/// fix.commit("Mend the greeting")?;
/// assert_eq!(std::fs::read(folder.join("greeting"))?, b"hello\n");
/// fix.undo()?;
/// assert_eq!(std::fs::read(folder.join("greeting"))?, b"helo\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Workspace {
    project: Project,
    id: Id,
    /// The key of the next change of files.
    call: Option<CallKey>,
}

impl Workspace {
    pub(crate) fn new(project: Project, id: Id) -> Self {
        Self { project, id, call: None }
    }

    /// Its id, which stays when it is renamed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// println!("{} is {}", workspace.name()?, workspace.id());
    /// # Ok(())
    /// # }
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    /// Its project.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let sibling = workspace.project().fork("another")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Its name.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// assert_eq!(workspace.name()?, "fix");
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> Result<String> {
        Ok(self.record()?.name)
    }

    /// Starts a command in it. One that may change something has the workspace to itself. Where the workspace is deleted before its
    /// turn comes, nothing runs, and the envelope says so.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let exec = workspace.exec(["cargo", "test"])?;
    /// println!("{:?}", exec.wait().result.exit_code);
    /// # Ok(())
    /// # }
    /// ```
    pub fn exec(&self, command: impl Into<Command>) -> Result<Exec> {
        let place = ExecutionWorkspace::Existing { id: self.id, name: self.name()? };
        exec::start(self.project.opened(), place, command.into())
    }

    /// What it changed since it was forked, without what `offshoot diff` folds: build output, caches and git directories.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for change in workspace.diff()? {
    ///     println!("{:?} {}", change.kind(), change.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn diff(&self) -> Result<Vec<Change>> {
        let (before, after) = self.roots()?;
        let all = self.summaries().between(&before, &after, false)?.changes;
        let mut noise = self.project.engine().folding(self.project.vault(), &[before, after])?;
        Ok(sorted(&all, Some(&mut noise))?.single.into_iter().cloned().collect())
    }

    /// Everything that it changed since it was forked, with git directories and what git ignores.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let folded = workspace.diff_all()?.len() - workspace.diff()?.len();
    /// # Ok(())
    /// # }
    /// ```
    pub fn diff_all(&self) -> Result<Vec<Change>> {
        let (before, after) = self.roots()?;
        Ok(self.summaries().between(&before, &after, false)?.changes)
    }

    /// What [`diff`](Self::diff) lists as a patch that `git apply` takes, binary files included.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let patch = workspace.patch()?;
    /// print!("{}", String::from_utf8_lossy(&patch));
    /// # Ok(())
    /// # }
    /// ```
    pub fn patch(&self) -> Result<Vec<u8>> {
        self.patch_of(&self.diff()?)
    }

    /// What [`diff_all`](Self::diff_all) lists as a patch. `git apply` refuses changes below `.git`.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let patch = workspace.patch_all()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn patch_all(&self) -> Result<Vec<u8>> {
        self.patch_of(&self.diff_all()?)
    }

    /// What a directory holds.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for entry in workspace.list("/src")? {
    ///     println!("{}", String::from_utf8_lossy(&entry.name));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, path: &str) -> Result<Vec<Entry>> {
        let (_, after) = self.roots()?;
        Ok(self.files().list(&after, &VaultPath::parse(path.as_bytes())?)?.1)
    }

    /// Reads a file.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let text = workspace.read("/README.md")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        let (_, after) = self.roots()?;
        let path = VaultPath::parse(path.as_bytes())?;
        let mut content = self.files().open(&after, &path)?;
        let mut bytes = Vec::new();
        content.reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a file, with the directories that it needs.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// workspace.write("/notes/today.md", b"# Today\n")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (record, name) = (self.record()?, Path::new("the bytes"));
        let path = VaultPath::parse(path.as_bytes())?;
        self.files().write(&record, &path, &mut &*bytes, name, true)?;
        Ok(())
    }

    /// The same workspace for one change of files that an agent calls so in a session: nothing else is ever done under that key, and
    /// [`Project::call`](crate::Project::call) says whether it was done.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace, session: &offshoot_engine::session::Session) -> offshoot_engine::Result<()> {
    /// let key = session.call_key("call-18");
    /// workspace.under_call(key.clone()).write("/notes.md", b"done\n")?;
    /// assert!(workspace.project().call(&key)?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn under_call(&self, key: CallKey) -> Self {
        Self { call: Some(key), ..self.clone() }
    }

    /// Marks its state, to come back to it.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// workspace.checkpoint("before-tests", "the tests may change something")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoint(&self, name: &str, reason: &str) -> Result<Checkpoint> {
        let new = NewCheckpoint { name: Some(name), automatic: false, reason };
        let service = self.project.engine().checkpoints(self.project.vault());
        Ok(service.create(&self.record()?, &new)?)
    }

    /// Its checkpoints, those too that were made before commands that change something.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for checkpoint in workspace.checkpoints()? {
    ///     println!("{}", checkpoint.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoints(&self) -> Result<Vec<Checkpoint>> {
        let service = self.project.engine().checkpoints(self.project.vault());
        Ok(service.list(&self.record()?)?)
    }

    /// What a merge left undecided in it, and nobody has resolved yet.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// for open in workspace.conflicts()? {
    ///     println!("{}", open.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn conflicts(&self) -> Result<Vec<OpenConflict>> {
        let vault = self.project.vault();
        let root = vault.snapshot(&self.record()?.state.head)?.root;
        Ok(self.project.engine().conflicts(vault).list(&root, &[])?)
    }

    /// Takes it back to a checkpoint, or to any other REF. That can be undone.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// workspace.restore("before-tests")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn restore(&self, reference: &str) -> Result<()> {
        let record = self.record()?;
        let vault = self.project.vault();
        let point = Resolver::new(vault).point_to_restore(reference, &record)?;
        self.project.engine().checkpoints(vault).restore(&record, &point)?;
        Ok(())
    }

    /// Takes its last operation back; a commit in the folder, too. On a fresh fork that is the fork itself: the workspace is deleted
    /// then, and whatever this handle is asked next fails with `conflict`.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// println!("undone: {}", workspace.undo()?.target.summary);
    /// # Ok(())
    /// # }
    /// ```
    pub fn undo(&self) -> Result<Reversal> {
        self.revert(RevertVerb::Undo)
    }

    /// Does again what was undone last.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// workspace.undo()?;
    /// workspace.redo()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn redo(&self) -> Result<Reversal> {
        self.revert(RevertVerb::Redo)
    }

    /// Merges other workspaces into this one. Conflicts are part of the outcome, and nothing of a side is lost by them.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use offshoot_engine::{Offshoot, Options};
    /// # let scratch = tempfile::tempdir()?;
    /// # let (vaults, folder) = (scratch.path().join("vaults"), scratch.path().join("project"));
    /// # std::fs::create_dir(&folder)?;
    /// # std::fs::write(folder.join("greeting"), "helo\n")?;
    /// # let offshoot = Offshoot::open(Options::new(Vec::new()).registry(vaults))?;
    /// let project = offshoot.project(&folder)?;
    /// let (one, other) = (project.fork("one")?, project.fork("other")?);
    /// one.write("/one", b"1\n")?;
    /// other.write("/other", b"2\n")?;
    /// let outcome = one.merge(&[&other])?;
    /// assert!(outcome.conflicts.is_empty());
    /// assert_eq!(one.read("/other")?, b"2\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(&self, others: &[&Self]) -> Result<MergeOutcome> {
        let (vault, engine) = (self.project.vault(), self.project.engine());
        let record = self.record()?;
        let resolver = Resolver::new(vault);
        let sides = others.iter().map(|other| resolver.workspace_point(&other.record()?));
        let sides = sides.collect::<Result<Vec<_>, ServiceError>>()?;
        engine.merge(vault, &sides, MergeTarget::Workspace(&record), None)
    }

    /// What a commit would do. Nothing is changed.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let preview = workspace.preview()?;
    /// println!("{} would be committed", preview.summary.changes.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn preview(&self) -> Result<CommitPreview> {
        self.project.engine().preview(self.project.vault(), &self.record()?, false)
    }

    /// Brings its changes into the folder. Conflicts are part of the outcome: nothing was changed then.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let outcome = workspace.commit("Fix the parser")?;
    /// for conflict in &outcome.brought.conflicts {
    ///     println!("{} was changed on both sides", conflict.path);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn commit(&self, commit: impl Into<Commit>) -> Result<Outcome> {
        let engine = self.project.engine();
        let told = |event: &CommitEvent| engine.tell_event(event);
        engine.commit(self.project.vault(), &self.record()?, &commit.into(), &told)
    }

    /// Takes what is in the folder now into it.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let pulled = workspace.pull()?;
    /// println!("{} conflicts to resolve", pulled.conflicts.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn pull(&self) -> Result<Pulled> {
        let engine = self.project.engine();
        let pulled = engine.pull(self.project.vault(), Some(&self.record()?))?;
        engine.tell_pulled(&pulled);
        Ok(pulled)
    }

    /// Removes it, with its checkpoints. That can be undone in the project.
    ///
    /// ```
    /// # fn example(workspace: offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// workspace.delete()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> Result<()> {
        self.project.engine().workspaces(self.project.vault()).delete(&self.record()?)?;
        Ok(())
    }

    fn revert(&self, verb: RevertVerb) -> Result<Reversal> {
        let engine = self.project.engine();
        let told = |event: &CommitEvent| engine.tell_event(event);
        let scope = Scope::Workspace(self.id);
        Ok(engine.revert(self.project.vault(), verb, scope, &told)?.reversal)
    }

    /// The workspace as it is now.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// if workspace.record()?.state.expires_ms.is_some() {
    ///     println!("it is cleaned up unless it is used");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn record(&self) -> Result<WorkspaceRecord, ServiceError> {
        let found = self.project.vault().workspace(&self.id)?;
        found.ok_or(ServiceError::Vanished(self.id))
    }

    /// What it was forked from, and what it is now.
    fn roots(&self) -> Result<(RootId, RootId)> {
        let (record, vault) = (self.record()?, self.project.vault());
        Ok((vault.snapshot(&record.state.base)?.root, vault.snapshot(&record.state.head)?.root))
    }

    fn patch_of(&self, changes: &[Change]) -> Result<Vec<u8>> {
        let mut patch = Vec::new();
        self.summaries().patch(changes, BinaryForm::Whole, &mut patch)?;
        Ok(patch)
    }

    fn summaries(&self) -> ChangeSummaryService<'_> {
        self.project.engine().changes(self.project.vault())
    }

    pub(crate) fn files(&self) -> FileService<'_> {
        self.project.engine().files(self.project.vault()).call(self.call.clone())
    }
}

impl Offshoot {
    /// Makes, lists, renames and deletes workspaces of a vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let all = engine.workspaces(vault).list()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspaces<'v>(&self, vault: &'v Vault) -> WorkspaceService<'v> {
        WorkspaceService::new(vault, self.actor())
    }

    /// All workspaces of a vault at a glance.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for found in engine.overview(vault)? {
    ///     println!("{}: {} changes", found.workspace.name, found.listed.committed);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn overview(&self, vault: &Vault) -> Result<Vec<WorkspaceOverview>> {
        let (diff, merge) = (self.diff_options(), self.merge_options());
        Ok(self.workspaces(vault).overview(diff, merge, self.tracked(vault)?)?)
    }

    /// How many changes of a workspace a list of them counts: those that would be committed, and those that are held back.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let count = engine.listed_changes(vault, &workspace.record()?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn listed_changes(
        &self,
        vault: &Vault,
        workspace: &WorkspaceRecord,
    ) -> Result<ListedChanges> {
        let (diff, merge) = (self.diff_options(), self.merge_options());
        Ok(self.workspaces(vault).listed_changes(workspace, diff, merge, self.tracked(vault)?)?)
    }

    /// Removes ephemeral workspaces whose time is over, and tells of it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.sweep(vault)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sweep(&self, vault: &Vault) -> Result<(), ServiceError> {
        for expired in self.workspaces(vault).sweep()? {
            let text = format!("ephemeral workspace {expired} expired and was cleaned up");
            self.tell(Topic::Expired, text);
        }
        Ok(())
    }
}
