//! The crates themselves, which is fast.

use std::path::Path;

use offshoot_host::HostError;
use offshoot_store::{Id, StoreError};
use offshoot_tests::rng::Rng;
use offshoot_tree::TreeError;
use offshoot_tree::{Body, VaultPath};
use offshoot_vault::{
    Actor, CheckDepth, ExportOptions, ImportOptions, ListedVault, Scope, Vault, VaultError,
    VaultOptions, VaultRegistry, WorkspaceRecord,
};
use offshoot_workspace::{
    BindingService, CheckpointService, CommitOptions, CopyOptions, FileService, HistoryService,
    NewCheckpoint, NewWorkspace, Point, Resolver, ServiceError, WorkspaceService,
};
use tempfile::TempDir;

use crate::action::{self, Action, Edit};
use crate::case::temporary;
use crate::driver::{Driver, Ids, Seen, SeenTree, Trouble};
use crate::host;
use crate::tree::Kind;

/// One vault, open.
pub(crate) struct Library {
    folder: TempDir,
    project: std::path::PathBuf,
    home: VaultRegistry,
    vault: Option<Vault>,
    actor: Actor,
}

impl Library {
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let folder = temporary();
        let project = folder.path().join("project");
        host::build(&project, rng);
        let home = VaultRegistry::new(folder.path().join("home"), VaultOptions::default());
        let actor = Actor::user("tester");
        let made = home.create("model", Some(&project), &options(), &actor).unwrap();
        Self { folder, project, home, vault: Some(made.vault), actor }
    }

    fn vault(&self) -> &Vault {
        self.vault.as_ref().unwrap()
    }

    fn workspace(&self, number: usize, ids: &Ids) -> Result<WorkspaceRecord, ServiceError> {
        Resolver::new(self.vault()).workspace(&ids.workspaces[number])
    }

    fn point(&self, point: &action::Point, ids: &Ids) -> Result<Point, ServiceError> {
        Resolver::new(self.vault()).point(&ids.reference(point), None)
    }

    fn run(&self, action: &Action, ids: &Ids) -> Result<(), ServiceError> {
        let (vault, actor) = (self.vault(), &self.actor);
        let workspaces = WorkspaceService::new(vault, actor);
        let checkpoints = CheckpointService::new(vault, actor);
        let history = HistoryService::new(vault, actor);
        match action {
            Action::Fork { name, from } => {
                let from = self.point(from, ids)?;
                let new = NewWorkspace { name: Some(name), from: &from, lifetime: None };
                workspaces.create(&new).map(drop)
            }
            Action::Edit { workspace, edit } => {
                self.edit(&self.workspace(*workspace, ids)?, edit, ids)
            }
            Action::Checkpoint { workspace, name } => {
                let new = NewCheckpoint { name: Some(name), automatic: false, reason: "" };
                checkpoints.create(&self.workspace(*workspace, ids)?, &new).map(drop)
            }
            Action::Restore { workspace, to } => {
                let to = self.point(to, ids)?;
                checkpoints.restore(&self.workspace(*workspace, ids)?, &to).map(drop)
            }
            Action::DeleteCheckpoint { workspace, name } => {
                let workspace = self.workspace(*workspace, ids)?;
                let found = Resolver::new(vault).checkpoint(&workspace, name)?;
                checkpoints.delete(&found).map(drop)
            }
            Action::Rename { workspace, name } => {
                workspaces.rename(&self.workspace(*workspace, ids)?, name).map(drop)
            }
            Action::Discard { workspace, keep: true } => {
                workspaces.reset(&self.workspace(*workspace, ids)?).map(drop)
            }
            Action::Delete { workspace } | Action::Discard { workspace, keep: false } => {
                workspaces.delete(&self.workspace(*workspace, ids)?).map(drop)
            }
            Action::Undo(scope) => history.undo(scope_of(*scope, ids)).map(drop),
            Action::Redo(scope) => history.redo(scope_of(*scope, ids)).map(drop),
            Action::RestoreOperation { operation, scope } => {
                let operation = vault.operation(&parse(&ids.operations[*operation]))?;
                history.restore(&operation, scope_of(*scope, ids)).map(drop)
            }
            Action::Import => self.import(),
        }
    }

    fn edit(
        &self,
        workspace: &WorkspaceRecord,
        edit: &Edit,
        ids: &Ids,
    ) -> Result<(), ServiceError> {
        let files = FileService::new(self.vault(), &self.actor);
        let edited = match edit {
            Edit::Write { path, bytes, parents } => {
                files.write(workspace, &path_of(path), &mut &bytes[..], Path::new("test"), *parents)
            }
            Edit::Mkdir { path, parents } => files.mkdir(workspace, &path_of(path), *parents),
            Edit::Move { from, to } => files.rename(workspace, &path_of(from), &path_of(to)),
            Edit::Copy { from, to, recursive } => {
                let options = CopyOptions { recursive: *recursive };
                files.copy(workspace, &path_of(from), &path_of(to), options)
            }
            Edit::Remove { paths, recursive } => {
                files.remove(workspace, &paths_of(paths), *recursive)
            }
            Edit::Revert { paths, at } => {
                let at = self.point(at, ids)?;
                files.revert(workspace, &paths_of(paths), &at)
            }
        };
        edited.map(drop)
    }

    fn import(&self) -> Result<(), ServiceError> {
        let vault = self.vault();
        BindingService::new(vault, &self.actor).refresh(&commit_options()).map(drop)
    }

    fn look(&self) -> Result<Seen, VaultError> {
        let vault = self.vault();
        let mut workspaces: Vec<_> = vault
            .workspaces()?
            .into_iter()
            .map(|w| (w.id.to_string(), w.name, w.state.head.to_string(), w.state.base.to_string()))
            .collect();
        workspaces.sort();
        let mut checkpoints: Vec<_> = vault
            .checkpoints()?
            .into_iter()
            .map(|c| (c.workspace.to_string(), c.name, c.state.snapshot.to_string()))
            .collect();
        checkpoints.sort();
        let last = vault.last_operation(Scope::Vault)?;
        Ok(Seen {
            head: vault.head()?.id.to_string(),
            workspaces,
            checkpoints,
            last_operation: last.map(|operation| operation.id.to_string()).unwrap_or_default(),
            operations: usize::try_from(vault.figures()?.operations).unwrap(),
        })
    }

    fn walk(&self, snapshot: &str) -> Result<SeenTree, VaultError> {
        let snapshot = self.vault().snapshot(&parse(snapshot))?;
        let tree = self.vault().tree(&snapshot.root)?;
        let mut seen = SeenTree::new();
        let dir = *tree.top().directory().expect("the top is a directory");
        tree.walk(&VaultPath::top(), &dir, &mut |path, entry| {
            let kind = match &entry.body {
                Body::File { blob, .. } => Kind::File(blob.0),
                Body::Directory(_) => Kind::Directory,
                Body::Symlink { target } => Kind::Symlink(target.clone()),
                Body::Fifo => panic!("nobody made a fifo"),
            };
            let path = String::from_utf8(path.relative()).expect("names are text");
            seen.insert(path, (kind, entry.meta.mode.into()));
            Ok(())
        })?;
        Ok(seen)
    }
}

impl Driver for Library {
    fn act(&mut self, action: &Action, ids: &Ids) -> Result<(), Trouble> {
        self.run(action, ids).map_err(|error| match &error {
            ServiceError::Vault(inner) if is_broken(inner) => Trouble::Broken(error.to_string()),
            _ => Trouble::Refused(error.to_string()),
        })
    }

    fn see(&mut self) -> Result<Seen, String> {
        self.look().map_err(|error| error.to_string())
    }

    fn tree(&mut self, snapshot: &str) -> Result<SeenTree, String> {
        self.walk(snapshot).map_err(|error| error.to_string())
    }

    fn reopen(&mut self) -> Result<(), String> {
        self.vault = None;
        let found: Vec<ListedVault> = self.home.list().map_err(|error| error.to_string())?;
        let vault = self.home.open_listed(&found[0]).map_err(|error| error.to_string())?;
        self.vault = Some(vault);
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        let report = self.vault().check(CheckDepth::Content).map_err(|error| error.to_string())?;
        if report.problems.is_empty() { Ok(()) } else { Err(report.problems.join("\n")) }
    }

    fn export(&mut self, snapshot: &str, to: &Path) -> Result<(), String> {
        let files = FileService::new(self.vault(), &self.actor);
        let root = self.vault().snapshot(&parse(snapshot)).map_err(|error| error.to_string())?.root;
        let options = ExportOptions { owners: false, threads: 1 };
        let exported = files.export(&root, &VaultPath::top(), to, &options);
        exported.map(drop).map_err(|error| error.to_string())
    }

    fn project(&self) -> &Path {
        debug_assert!(self.project.starts_with(self.folder.path()));
        &self.project
    }
}

fn commit_options() -> CommitOptions<'static> {
    CommitOptions { import: options(), ..CommitOptions::default() }
}

fn options() -> ImportOptions {
    ImportOptions { threads: 1, ..ImportOptions::default() }
}

fn parse(id: &str) -> Id {
    id.parse().expect("ids come from the vault")
}

fn path_of(path: &str) -> VaultPath {
    VaultPath::parse(path.as_bytes()).expect("the model makes plain paths")
}

fn paths_of(paths: &[String]) -> Vec<VaultPath> {
    paths.iter().map(|path| path_of(path)).collect()
}

fn scope_of(scope: action::Scope, ids: &Ids) -> Scope {
    match scope {
        action::Scope::Vault => Scope::Vault,
        action::Scope::Workspace(number) => Scope::Workspace(parse(&ids.workspaces[number])),
    }
}

/// Whether an error is one that no command should give, whatever it is asked for.
fn is_broken(error: &VaultError) -> bool {
    match error {
        VaultError::Store(error) => {
            !matches!(error, StoreError::Stale { .. } | StoreError::NameTaken { .. })
        }
        VaultError::Host(HostError::Io { .. })
        | VaultError::Tree(TreeError::Damaged { .. })
        | VaultError::Tree(TreeError::MissingObject(_))
        | VaultError::BadRecord { .. }
        | VaultError::Host(HostError::Threads(_)) => true,
        _ => false,
    }
}
