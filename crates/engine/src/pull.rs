//! Taking what changed in the folder into a workspace.

use offshoot_vault::{Vault, WorkspaceRecord};
pub use offshoot_workspace::Pulled;
use offshoot_workspace::{CommitEvent, PullService};

use crate::error::Result;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Takes what is in the folder now into the main line, and from there into a workspace where one is given. What people should know
    /// of it is in the outcome: see [`Offshoot::tell_pulled`].
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let pulled = engine.pull(vault, None)?;
    /// println!("the main line moved: {}", pulled.head_moved);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pull(&self, vault: &Vault, workspace: Option<&WorkspaceRecord>) -> Result<Pulled> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let mut options = self.commit_options(&told);
        // One thing that turns is enough.
        options.import.progress = None;
        let tracked = self.tracked(vault)?;
        let is_tracked = |path: &_| Ok(tracked.has(path));
        let service = PullService::new(vault, self.actor(), options, self.diff_options());
        let service = service.tracking(&is_tracked);
        let pulled = match workspace {
            Some(workspace) => service.pull(workspace),
            None => service.pull_head(),
        };
        drop(service);
        self.tell_git_due(vault);
        Ok(pulled?)
    }

    /// Tells what could not be taken in by a pull, and what became of the git directory.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.tell_pulled(&engine.pull(vault, None)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tell_pulled(&self, pulled: &Pulled) {
        self.tell_skipped(&pulled.report);
        self.tell_left_git(&pulled.git_directory);
        self.tell_taken_git(&pulled.git_directory);
    }
}
