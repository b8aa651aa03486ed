//! A project: a folder and the vault that keeps its history.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_store::Id;
use offshoot_vault::{Binding, Home, Vault};
use offshoot_workspace::{
    ExecutionPlace, NewWorkspace, RecoverService, Recoverable, Resolver, ServiceError,
    WorkspaceService,
};

use crate::error::Result;
use crate::exec::{self, Command, Exec};
use crate::locate::{Belongs, unsure};
pub use crate::maintenance::{kept, maintenance, schedule};
use crate::offshoot::Offshoot;
use crate::opened::Opened;
use crate::workspace::Workspace;

/// A folder and the vault that keeps its history. Cheap to clone, and good for all threads.
#[derive(Clone, Debug)]
pub struct Project(Arc<Opened>);

impl Offshoot {
    /// The project that a folder belongs to. At its first use the folder is taken in: the git checkout that it lies in, or the
    /// folder itself. The folder is not changed.
    pub fn project(&self, folder: impl AsRef<Path>) -> Result<Project> {
        let folder = folder.as_ref();
        let here = folder.canonicalize().map_err(|error| {
            let message = format!("{}: {error}", crate::words::host_path(folder));
            crate::Error::new(offshoot_protocol::ExitCode::NotFound, message)
        })?;
        let engine = self.at(&here)?;
        let listed = match engine.belongs(&here)? {
            Belongs::To(listed, _) => listed,
            Belongs::Perhaps(moved) => return Err(unsure(&moved, &here)),
            Belongs::Nowhere => {
                let project = engine.project_of(&here)?;
                engine.adopted(engine.make_vault(None, &project)?, &project)?
            }
        };
        let vault = engine.registry().open_listed(&listed)?;
        Ok(Project::new(engine, vault, listed.name))
    }

    /// The project whose vault has this name.
    pub fn vault(&self, name: &str) -> Result<Project> {
        let vault = self.open_named(name, Home::open)?;
        let folder = first_folder(&vault)?;
        let engine = match folder.filter(|folder| folder.is_dir()) {
            Some(folder) => self.at(&folder)?,
            None => self.clone(),
        };
        Ok(Project::new(engine, vault, name.to_owned()))
    }
}

impl Project {
    fn new(engine: Offshoot, vault: Vault, name: String) -> Self {
        engine.look_after(&vault);
        engine.settle_interrupted(&vault);
        Self(Arc::new(Opened::new(engine, vault, name)))
    }

    /// The name of its vault.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The folder; none where its vault was brought here without one.
    pub fn folder(&self) -> Result<Option<PathBuf>> {
        first_folder(self.vault())
    }

    /// The engine, with the settings that hold in the folder.
    pub fn engine(&self) -> &Offshoot {
        self.0.engine()
    }

    /// The workspace of this name, or of an id that starts so.
    pub fn workspace(&self, name: &str) -> Result<Workspace> {
        let found = Resolver::new(self.vault()).workspace(name)?;
        Ok(Workspace::new(self.clone(), found.id))
    }

    /// All workspaces, oldest first.
    pub fn workspaces(&self) -> Result<Vec<Workspace>> {
        let found = self.vault().workspaces()?.into_iter();
        Ok(found.map(|workspace| Workspace::new(self.clone(), workspace.id)).collect())
    }

    /// Forks a workspace under a name from what is in the folder now: a pointer is copied, whatever the size of the tree.
    pub fn fork(&self, name: &str) -> Result<Workspace> {
        WorkspaceService::new(self.vault(), self.engine().actor()).require_free(name)?;
        self.refresh()?;
        self.fork_from(name, "head")
    }

    /// Forks a workspace under a name from a REF: `head`, another workspace, a checkpoint, a snapshot.
    pub fn fork_from(&self, name: &str, reference: &str) -> Result<Workspace> {
        let from = Resolver::new(self.vault()).point(reference, None)?;
        let service = WorkspaceService::new(self.vault(), self.engine().actor());
        let made =
            service.create(&NewWorkspace { name: Some(name), from: &from, lifetime: None })?;
        Ok(Workspace::new(self.clone(), made.id))
    }

    /// Starts a command in a new workspace, which is gone again where it changes nothing.
    pub fn exec(&self, command: impl Into<Command>) -> Result<Exec> {
        exec::start(
            self.opened(),
            ExecutionPlace::Fork { from: None, lifetime: None },
            command.into(),
        )
    }

    /// Makes the main line what is in the folder now.
    pub fn refresh(&self) -> Result<(), ServiceError> {
        let folder = first_folder(self.vault()).ok().flatten().filter(|folder| folder.is_dir());
        match folder {
            Some(folder) => self.engine().refresh(self.vault(), self.name(), &folder),
            None => Ok(()),
        }
    }

    /// What interrupted commands left, for somebody to decide about.
    pub fn leftovers(&self) -> Result<Vec<Recoverable>> {
        Ok(RecoverService::new(self.vault(), self.engine().actor()).list()?)
    }

    /// Keeps what an interrupted command left, as a checkpoint of its workspace.
    pub fn keep_leftover(&self, exec: &Id) -> Result<offshoot_workspace::KeptWork> {
        Ok(RecoverService::new(self.vault(), self.engine().actor()).keep(exec, None)?)
    }

    /// Drops what an interrupted command left.
    pub fn drop_leftover(&self, exec: &Id) -> Result<()> {
        drop(RecoverService::new(self.vault(), self.engine().actor()).drop(exec)?);
        Ok(())
    }

    /// Waits until all commands that were started by this handle and its clones have ended, with the upkeep that follows them:
    /// layers are merged and garbage is collected after a command was answered. From then on, and until the next command, nothing
    /// of this process touches the vault, so that its directory can be removed.
    pub fn wait_idle(&self) {
        self.0.wait_idle();
    }

    /// What commands in it share.
    pub(crate) fn opened(&self) -> &Arc<Opened> {
        &self.0
    }

    pub(crate) fn vault(&self) -> &Vault {
        self.0.vault()
    }
}

fn first_folder(vault: &Vault) -> Result<Option<PathBuf>> {
    let bindings = vault.bindings()?;
    Ok(bindings.iter().find(|binding| binding.is_first()).map(Binding::host_path))
}
