//! What interrupted commands left: kept, dropped, or offered to somebody who decides.

use offshoot_protocol::AbandonedWork;
use offshoot_vault::{ExecNote, Vault, VaultError};
pub use offshoot_workspace::{Inspected, RecoverService, Recoverable, RecoveredWork};

use crate::error::{Error, Hint};
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::text::line;

impl Offshoot {
    /// Lists, keeps and drops what interrupted commands left in a vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for left in engine.leftovers(vault).list()? {
    ///     println!("{}", left.note.command);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn leftovers<'v>(&self, vault: &'v Vault) -> RecoverService<'v> {
        RecoverService::new(vault, self.actor())
    }

    /// Tells where the log of a vault that was just opened is cut short, and does what is wanted with what interrupted commands
    /// left in it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.look_after(vault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn look_after(&self, vault: &Vault) {
        match vault.cut_short() {
            Some(lost) => {
                let told = Error::from(VaultError::CutShort(lost));
                let text = Hint::from(told.message).and(told.hint.unwrap_or_default());
                self.tell(Topic::LogCutShort, text);
            }
            None => {
                self.settle_shared(vault);
                self.settle_left(vault);
            }
        }
    }

    /// Gives directories of the user's home their modes again that an agent shared whose command was cut short.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.settle_shared(vault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle_shared(&self, vault: &Vault) {
        let told = offshoot_workspace::settle_shared(vault);
        let told = told.unwrap_or_else(|error| {
            vec![format!("modes of shared directories may not be as they were: {error}")]
        });
        for text in told {
            self.tell(Topic::Leftover, text);
        }
    }

    /// Does what is wanted with what interrupted commands left.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.settle_left(vault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn settle_left(&self, vault: &Vault) {
        // Where it cannot even be listed, the command itself has more to say about it.
        let Ok(left) = vault.left() else { return };
        if left.is_empty() {
            return;
        }
        let abandoned = self.config().recover.abandoned;
        if vault.is_read_only() || abandoned == AbandonedWork::Offer {
            return;
        }
        let service = self.leftovers(vault);
        for exec in left {
            let settled = match abandoned {
                AbandonedWork::Offer => None,
                AbandonedWork::Keep => service.keep(&exec, None).ok().map(|kept| kept_text(&kept)),
                AbandonedWork::Discard => {
                    let dropped = service.drop(&exec).ok();
                    dropped.map(|note| {
                        format!("what interrupted exec {} left was dropped", note.exec.short())
                    })
                }
            };
            if let Some(text) = settled {
                self.tell(Topic::Leftover, text);
            }
        }
    }

    /// Tells that interrupted commands left something, in a workspace or in any.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.offer_left(vault, Some("fix"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn offer_left(&self, vault: &Vault, workspace: Option<&str>) {
        // Where it cannot even be listed, the command itself has more to say about it.
        let left = vault.left().unwrap_or_default();
        let notes = left.iter().filter_map(|exec| vault.left_note(exec));
        let is_meant = |name: &str| workspace.is_none_or(|workspace| workspace == name);
        let waiting: Vec<_> = notes.filter(|note| is_meant(&note.workspace_name)).collect();
        if let Some(first) = waiting.first() {
            self.tell(Topic::Leftover, offer_text(waiting.len(), first));
        }
    }
}

/// What became of something that an interrupted command left.
fn kept_text(kept: &RecoveredWork) -> String {
    let (exec, workspace) = (kept.note.exec.short(), &kept.workspace.name);
    match &kept.checkpoint {
        Some(checkpoint) => {
            let name = &checkpoint.name;
            format!(
                "what interrupted exec {exec} left was kept as checkpoint {name} of {workspace}"
            )
        }
        None if kept.snapshot.is_some() => {
            let gone = line(&kept.note.workspace_name);
            format!(
                "workspace {gone} is deleted, so what interrupted exec {exec} left is the new workspace {workspace}"
            )
        }
        None => format!("interrupted exec {exec} had changed nothing"),
    }
}

/// A line about what waits for somebody to decide.
fn offer_text(count: usize, first: &ExecNote) -> Hint {
    let workspace = line(&first.workspace_name);
    let text = match count {
        1 => format!("1 interrupted command left changes in workspace {workspace}: "),
        _ => format!("{count} interrupted commands left changes: "),
    };
    Hint::from(text).then("offshoot recover list")
}
