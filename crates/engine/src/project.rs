//! A project: a folder and the vault that keeps its history.

pub(crate) mod remembered;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_store::Id;
use offshoot_vault::{Vault, VaultRegistry};
use offshoot_workspace::{ExecutionWorkspace, NewWorkspace, Recoverable, Resolver, ServiceError};

use crate::error::Result;
use crate::exec::{self, Command, Exec};
use crate::offshoot::Offshoot;
use crate::opened::{Opened, first_folder};
use crate::vault::{Belongs, unsure};
use crate::workspace::Workspace;

/// A folder and the vault that keeps its history. Cheap to clone, and good for all threads.
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
/// assert_eq!(project.name(), "project");
/// let fix = project.fork("fix")?;
/// fix.write("/greeting", b"hello\n")?;
/// // The folder is as it was.
/// assert_eq!(std::fs::read(folder.join("greeting"))?, b"helo\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Project(Arc<Opened>);

impl Offshoot {
    /// The project that a folder belongs to. At its first use the folder is taken in: the git checkout that it lies in, or the
    /// folder itself. The folder is not changed.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let project = offshoot.project("/srv/me/project")?;
    /// let same = offshoot.project("/srv/me/project/src")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn project(&self, folder: impl AsRef<Path>) -> Result<Project> {
        let folder = folder.as_ref();
        let here = folder.canonicalize().map_err(|error| {
            let message = format!("{}: {error}", crate::text::host_path(folder));
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
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let project = offshoot.vault("project")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn vault(&self, name: &str) -> Result<Project> {
        let vault = self.open_named(name, VaultRegistry::open)?;
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
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// println!("offshoot --vault {} status", project.name());
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The folder; none where its vault was brought here without one.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// match project.folder()? {
    ///     Some(folder) => println!("files are committed to {}", folder.display()),
    ///     None => println!("there is no folder to commit to"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn folder(&self) -> Result<Option<PathBuf>> {
        first_folder(self.vault())
    }

    /// The engine, with the settings that hold in the folder.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let grace = project.engine().settings().config.exec.grace;
    /// # Ok(())
    /// # }
    /// ```
    pub fn engine(&self) -> &Offshoot {
        self.0.engine()
    }

    /// The workspace of this name, or of an id that starts so.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let fix = project.workspace("fix")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspace(&self, name: &str) -> Result<Workspace> {
        let found = Resolver::new(self.vault()).workspace(name)?;
        Ok(Workspace::new(self.clone(), found.id))
    }

    /// All workspaces, oldest first.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for workspace in project.workspaces()? {
    ///     println!("{}", workspace.name()?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn workspaces(&self) -> Result<Vec<Workspace>> {
        let found = self.vault().workspaces()?.into_iter();
        Ok(found.map(|workspace| Workspace::new(self.clone(), workspace.id)).collect())
    }

    /// Forks a workspace under a name from what is in the folder now: a pointer is copied, whatever the size of the tree.
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
    /// assert_eq!(fix.read("/greeting")?, b"helo\n");
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self, name: &str) -> Result<Workspace> {
        self.engine().workspaces(self.vault()).require_free(name)?;
        self.refresh()?;
        self.fork_from(name, "head")
    }

    /// Forks a workspace from what is in the folder now, under a friendly name.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// println!("{}", project.fork_anew()?.name()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork_anew(&self) -> Result<Workspace> {
        self.refresh()?;
        let from = Resolver::new(self.vault()).point("head", None)?;
        let service = self.engine().workspaces(self.vault());
        let made = service.create(&NewWorkspace { name: None, from: &from, lifetime: None })?;
        Ok(Workspace::new(self.clone(), made.id))
    }

    /// Forks a workspace under a name from a REF: `head`, another workspace, a checkpoint, a snapshot.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let again = project.fork_from("again", "fix@before-tests")?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork_from(&self, name: &str, reference: &str) -> Result<Workspace> {
        let from = Resolver::new(self.vault()).point(reference, None)?;
        let service = self.engine().workspaces(self.vault());
        let made =
            service.create(&NewWorkspace { name: Some(name), from: &from, lifetime: None })?;
        Ok(Workspace::new(self.clone(), made.id))
    }

    /// Starts a command in a new workspace, which is gone again where it changes nothing.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let envelope = project.exec(["make", "test"])?.wait();
    /// println!("{:?}", envelope.result.exit_code);
    /// # Ok(())
    /// # }
    /// ```
    pub fn exec(&self, command: impl Into<Command>) -> Result<Exec> {
        exec::start(
            self.opened(),
            ExecutionWorkspace::Fork { from: None, lifetime: None },
            command.into(),
        )
    }

    /// Starts a command in the workspace of this name, which is forked from what is in the folder now if there is none.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let envelope = project.exec_in("fix", ["make", "test"])?.wait();
    /// println!("{:?}", envelope.result.exit_code);
    /// # Ok(())
    /// # }
    /// ```
    pub fn exec_in(&self, workspace: &str, command: impl Into<Command>) -> Result<Exec> {
        let place = ExecutionWorkspace::Workspace(workspace.to_owned());
        exec::start(self.opened(), place, command.into())
    }

    /// Makes the main line what is in the folder now.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// project.refresh()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn refresh(&self) -> Result<(), ServiceError> {
        match self.0.existing_folder() {
            Some(folder) => self.engine().refresh(self.vault(), self.name(), &folder),
            None => Ok(()),
        }
    }

    /// What interrupted commands left, for somebody to decide about.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for left in project.leftovers()? {
    ///     println!("{} was interrupted", left.note.command);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn leftovers(&self) -> Result<Vec<Recoverable>> {
        Ok(self.engine().leftovers(self.vault()).list()?)
    }

    /// Keeps what an interrupted command left, as a checkpoint of its workspace.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for left in project.leftovers()? {
    ///     project.keep_leftover(&left.note.exec)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn keep_leftover(&self, exec: &Id) -> Result<offshoot_workspace::RecoveredWork> {
        Ok(self.engine().leftovers(self.vault()).keep(exec, None)?)
    }

    /// Drops what an interrupted command left.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for left in project.leftovers()? {
    ///     project.drop_leftover(&left.note.exec)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn drop_leftover(&self, exec: &Id) -> Result<()> {
        drop(self.engine().leftovers(self.vault()).drop(exec)?);
        Ok(())
    }

    /// Waits until all commands that were started by this handle and its clones have ended, with the upkeep that follows them:
    /// layers are merged and garbage is collected after a command was answered. From then on, and until the next command, nothing
    /// of this process touches the vault, so that its directory can be removed.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let started = [project.exec(["make"])?, project.exec(["make", "doc"])?];
    /// project.wait_idle();
    /// assert!(started.iter().all(|exec| exec.outcome().is_some()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_idle(&self) {
        self.0.wait_idle();
    }

    /// What commands in it share.
    pub(crate) fn opened(&self) -> &Arc<Opened> {
        &self.0
    }

    /// Its vault, for what the handles do not do.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let newest = project.vault().head()?;
    /// println!("the main line is at {}", newest.id.short());
    /// # Ok(())
    /// # }
    /// ```
    pub fn vault(&self) -> &Vault {
        self.0.vault()
    }
}
