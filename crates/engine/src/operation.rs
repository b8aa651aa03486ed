//! What was done to a vault, and taking it back.

use offshoot_protocol::RevertVerb;
use offshoot_store::Id;
use offshoot_vault::Vault;
pub use offshoot_vault::{Operation, Scope};
use offshoot_workspace::{CommitEvent, ServiceError};
pub use offshoot_workspace::{HistoryService, LogEntry, Reversal};

use crate::error::Result;
use crate::offshoot::Offshoot;

/// An operation that was taken back or brought back.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// let (engine, vault) = (project.engine(), project.vault());
/// use offshoot_engine::operation::Scope;
/// use offshoot_protocol::RevertVerb;
///
/// let told = |event: &_| engine.tell_event(event);
/// let outcome = engine.revert(vault, RevertVerb::Undo, Scope::Vault, &told)?;
/// println!("undone: {}", outcome.reversal.target.summary);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RevertOutcome {
    /// What was done.
    pub reversal: Reversal,
    /// The workspaces, by name, that are not there any more because of it.
    pub gone: Vec<String>,
}

impl Offshoot {
    /// Looks at the history of a vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::operation::Scope;
    ///
    /// for operation in engine.history(vault).operations(Scope::Vault, 10)?.operations {
    ///     println!("{}", operation.summary);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn history<'v>(&self, vault: &'v Vault) -> HistoryService<'v> {
        HistoryService::new(vault, self.actor())
    }

    /// Takes back the last operation, or brings back the one that was undone last; a commit in the folder, too. `told` is told what
    /// people should know meanwhile.
    ///
    /// ```
    /// # fn example(workspace: &offshoot_engine::Workspace) -> offshoot_engine::Result<()> {
    /// let project = workspace.project();
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::operation::Scope;
    /// use offshoot_protocol::RevertVerb;
    ///
    /// let told = |event: &_| engine.tell_event(event);
    /// engine.revert(vault, RevertVerb::Redo, Scope::Workspace(workspace.id()), &told)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn revert(
        &self,
        vault: &Vault,
        verb: RevertVerb,
        scope: Scope,
        told: &dyn Fn(&CommitEvent),
    ) -> Result<RevertOutcome, ServiceError> {
        let service = self.history(vault).with_commit_options(self.commit_options(told));
        let service = match self.git(None) {
            Ok(git) => service.with_git(git),
            Err(_) => service,
        };
        let reversal = match verb {
            RevertVerb::Undo => service.undo(scope)?,
            RevertVerb::Redo => service.redo(scope)?,
        };
        let gone = service.gone(&reversal.target)?;
        drop(service);
        self.registry().relink(vault)?;
        self.tell_git_due(vault);
        Ok(RevertOutcome { reversal, gone })
    }

    /// Makes everything in a scope what it was after an operation. Folders stay as they are.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::operation::Scope;
    /// use offshoot_engine::reference::Resolver;
    ///
    /// let earlier = Resolver::new(vault).operation("k3f9")?;
    /// engine.restore(vault, &earlier, Scope::Vault)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn restore(&self, vault: &Vault, to: &Operation, scope: Scope) -> Result<Option<Id>> {
        let told = |event: &CommitEvent| self.tell_event(event);
        let service = self.history(vault).with_commit_options(self.commit_options(&told));
        let operation = service.restore(to, scope)?;
        drop(service);
        self.registry().relink(vault)?;
        Ok(operation)
    }
}
