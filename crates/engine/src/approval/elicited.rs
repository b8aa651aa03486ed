//! Decisions that a person makes in the client of an agent.

use offshoot_store::Id;
use offshoot_vault::Actor;
use offshoot_workspace::{ApprovalRules, ApprovalService, Approving, Decider, ServiceError};

use crate::actor::own_account;
use crate::error::Result;
use crate::project::Project;

impl Project {
    /// Whether the client of an agent may put questions to the person who uses it: the user has not switched it off, and has
    /// named nobody else who decides. A project has no say in it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// if !project.may_elicit() {
    ///     println!("decide with `offshoot approvals`");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn may_elicit(&self) -> bool {
        let settings = self.engine().approval_settings();
        settings.elicitation && settings.accounts().is_empty()
    }

    /// Decides as the person answered in the client of an agent. It is recorded as theirs, by way of that client. What was not
    /// tried is left to whoever waits for it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     project.answer_elicited(&approval.id, "editor", false, Some("not now"))?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer_elicited(
        &self,
        approval: &Id,
        client: &str,
        approves: bool,
        reason: Option<&str>,
    ) -> Result<()> {
        if !self.may_elicit() {
            let why = "questions in the client are switched off: approvals.elicitation or approvals.approvers says so";
            return Err(ServiceError::NotApprover(why.to_owned()).into());
        }
        let session = Some(format!("elicitation:{client}"));
        let actor = Actor { agent: None, session, ..self.engine().actor().clone() };
        let settings = self.engine().approval_settings();
        let rules = ApprovalRules { approvers: settings.accounts(), fallback: settings.fallback };
        let decider = Decider { actor, account: own_account() };
        let service = ApprovalService::new(self.vault(), decider, rules);
        let found = service.find(&approval.to_string())?;
        match approves {
            true => {
                let how = Approving { reason: reason.map(str::to_owned), ..Approving::default() };
                drop(service.approve(&found, &how)?);
            }
            false => drop(service.deny(&found, reason)?),
        }
        Ok(())
    }
}
