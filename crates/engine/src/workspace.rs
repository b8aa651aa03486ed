//! A workspace, as its caller holds it.

use std::path::Path;

use offshoot_store::Id;
use offshoot_tree::diff::Change;
use offshoot_tree::{Entry, RootId, VaultPath};
use offshoot_vault::{Checkpoint, Scope};
use offshoot_workspace::{
    ChangeSummaryService, CheckpointService, CommitPreview, ExecutionPlace, FileService,
    HistoryService, HomeEvent, MergeOutcome, MergeRequest, MergeService, MergeTarget,
    NewCheckpoint, PreviewService, PullService, Pulled, Resolver, Reversal, Selection,
    ServiceError, WorkspaceService,
};

use crate::commit::{Commit, Outcome};
use crate::error::Result;
use crate::exec::{self, Command, Exec};
use crate::project::Project;

/// A copy-on-write workspace of a project. Cheap to clone, and good for all threads.
#[derive(Clone, Debug)]
pub struct Workspace {
    project: Project,
    id: Id,
}

impl Workspace {
    pub(crate) fn new(project: Project, id: Id) -> Self {
        Self { project, id }
    }

    /// Its id, which stays when it is renamed.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Its project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Its name.
    pub fn name(&self) -> Result<String> {
        Ok(self.record()?.name)
    }

    /// Starts a command in it. One that may change something has the workspace to itself.
    pub fn exec(&self, command: impl Into<Command>) -> Result<Exec> {
        let place = ExecutionPlace::Workspace(self.name()?);
        exec::start(self.project.opened(), place, command.into())
    }

    /// What it changed since it was forked.
    pub fn diff(&self) -> Result<Vec<Change>> {
        let (before, after) = self.roots()?;
        Ok(self.summaries().between(&before, &after, false)?.changes)
    }

    /// The same as a patch that git reads.
    pub fn patch(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        self.summaries().patch(&self.diff()?, &mut text)?;
        Ok(text)
    }

    /// What a directory holds.
    pub fn list(&self, path: &str) -> Result<Vec<Entry>> {
        let (_, after) = self.roots()?;
        Ok(self.files().list(&after, &VaultPath::parse(path.as_bytes())?)?.1)
    }

    /// Reads a file.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        let (_, after) = self.roots()?;
        let path = VaultPath::parse(path.as_bytes())?;
        let mut content = self.files().open(&after, &path)?;
        let mut bytes = Vec::new();
        content.reader.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes a file, with the directories that it needs.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let (record, name) = (self.record()?, Path::new("the bytes"));
        let path = VaultPath::parse(path.as_bytes())?;
        self.files().write(&record, &path, &mut &*bytes, name, true)?;
        Ok(())
    }

    /// Marks its state, to come back to it.
    pub fn checkpoint(&self, name: &str, reason: &str) -> Result<Checkpoint> {
        let new = NewCheckpoint { name: Some(name), automatic: false, reason };
        let engine = self.project.engine();
        let service = CheckpointService::new(self.project.vault(), engine.actor());
        Ok(service.create(&self.record()?, &new)?)
    }

    /// Takes it back to a checkpoint, or to any other REF. That can be undone.
    pub fn restore(&self, reference: &str) -> Result<()> {
        let record = self.record()?;
        let vault = self.project.vault();
        let point = Resolver::new(vault).point(reference, Some(&record))?;
        CheckpointService::new(vault, self.project.engine().actor()).restore(&record, &point)?;
        Ok(())
    }

    /// Takes its last operation back; a commit in the folder, too.
    pub fn undo(&self) -> Result<Reversal> {
        self.revert(|service, scope| service.undo(scope))
    }

    /// Does again what was undone last.
    pub fn redo(&self) -> Result<Reversal> {
        self.revert(|service, scope| service.redo(scope))
    }

    /// Merges other workspaces into this one. Conflicts are part of the outcome, and nothing of a side is lost by them.
    pub fn merge(&self, others: &[&Self]) -> Result<MergeOutcome> {
        let (vault, engine) = (self.project.vault(), self.project.engine());
        let record = self.record()?;
        let resolver = Resolver::new(vault);
        let sides = others.iter().map(|other| resolver.workspace_point(&other.record()?));
        let sides = sides.collect::<offshoot_workspace::Result<Vec<_>>>()?;
        let request = MergeRequest {
            sides: &sides,
            into: MergeTarget::Workspace(&record),
            message: None,
            options: engine.merge_options(),
        };
        Ok(MergeService::new(vault, engine.actor()).merge(&request)?)
    }

    /// What a commit would do. Nothing is changed.
    pub fn preview(&self) -> Result<CommitPreview> {
        let (vault, engine) = (self.project.vault(), self.project.engine());
        let tracked = engine.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let selection = Selection { tracked: &is_tracked, ..Selection::default() };
        let service = PreviewService::new(vault, engine.merge_options(), engine.diff_options());
        Ok(service.preview(&self.record()?, &selection, false)?)
    }

    /// Brings its changes into the folder. Conflicts are part of the outcome: nothing was changed then.
    pub fn commit(&self, commit: impl Into<Commit>) -> Result<Outcome> {
        let engine = self.project.engine();
        let told = |event: &HomeEvent| engine.tell_event(event);
        engine.commit(self.project.vault(), &self.record()?, &commit.into(), &told)
    }

    /// Takes what is in the folder now into it.
    pub fn pull(&self) -> Result<Pulled> {
        let (vault, engine) = (self.project.vault(), self.project.engine());
        let tracked = engine.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let told = |event: &HomeEvent| engine.tell_event(event);
        let (home, diff) = (engine.home_options(&told), engine.diff_options());
        let service = PullService::new(vault, engine.actor(), home, diff).tracking(&is_tracked);
        Ok(service.pull(&self.record()?)?)
    }

    /// Removes it, with its checkpoints. That can be undone in the project.
    pub fn delete(self) -> Result<()> {
        let service = WorkspaceService::new(self.project.vault(), self.project.engine().actor());
        service.delete(&self.record()?)?;
        Ok(())
    }

    fn revert(
        &self,
        act: impl FnOnce(&HistoryService<'_>, Scope) -> offshoot_workspace::Result<Reversal>,
    ) -> Result<Reversal> {
        let (vault, engine) = (self.project.vault(), self.project.engine());
        let told = |event: &HomeEvent| engine.tell_event(event);
        let service = HistoryService::new(vault, engine.actor())
            .with_home(engine.home_options(&told))
            .with_git(engine.git(None)?);
        let reverted = act(&service, Scope::Workspace(self.id))?;
        engine.registry().relink(vault)?;
        engine.tell_git_due(vault);
        Ok(reverted)
    }

    /// The workspace as it is now.
    pub(crate) fn record(&self) -> offshoot_workspace::Result<offshoot_vault::Workspace> {
        let found = self.project.vault().workspace(&self.id)?;
        found.ok_or(ServiceError::Vanished(self.id))
    }

    /// What it was forked from, and what it is now.
    fn roots(&self) -> Result<(RootId, RootId)> {
        let (record, vault) = (self.record()?, self.project.vault());
        Ok((vault.snapshot(&record.state.base)?.root, vault.snapshot(&record.state.head)?.root))
    }

    fn summaries(&self) -> ChangeSummaryService<'_> {
        ChangeSummaryService::new(self.project.vault(), self.project.engine().diff_options())
    }

    fn files(&self) -> FileService<'_> {
        FileService::new(self.project.vault(), self.project.engine().actor())
    }
}
