//! Decisions that a person makes in the client of an agent.

use offshoot_protocol::ApprovalScope;
use offshoot_store::Id;
use offshoot_vault::Actor;
use offshoot_workspace::{ApprovalService, Approving, Decider, ServiceError};

use crate::actor::own_account;
use crate::error::Result;
use crate::offshoot::Offshoot;
use crate::options::Options;
use crate::project::Project;

impl Project {
    /// Whether the client of an agent may put questions to the person who uses it: the user has not switched it off, and has
    /// named nobody else who decides. A project has no say in it. Where this process was started by an agent (`OFFSHOOT_AGENT`), that would
    /// be asked instead of a person.
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
        self.no_elicitation().is_none()
    }

    /// Why no client may ask, if that is so.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// if let Some(why) = project.no_elicitation() {
    ///     println!("decide with `offshoot approvals`: {why}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn no_elicitation(&self) -> Option<&'static str> {
        let settings = self.engine().approval_settings();
        if self.engine().options().calling_agent().is_some() {
            return Some("an agent started it, as OFFSHOOT_AGENT says");
        }
        let is_on = settings.elicitation && settings.accounts().is_empty();
        (!is_on).then_some("approvals.elicitation or approvals.approvers says so")
    }

    /// This project on behalf of the person who answered in the client of an agent: what they agreed to is recorded as theirs, by way of that
    /// client.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let theirs = project.as_elicited("editor")?;
    /// assert_eq!(theirs.engine().actor().agent, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_elicited(&self, client: &str) -> Result<Self> {
        if let Some(why) = self.no_elicitation() {
            let why = format!("nobody decides in the client: {why}");
            return Err(ServiceError::NotApprover(why).into());
        }
        let actor = Some(self.elicited_actor(client));
        let options = Options { actor, ..self.engine().options().clone() };
        Offshoot::open(options)?.vault(self.name())
    }

    fn elicited_actor(&self, client: &str) -> Actor {
        let session = Some(format!("elicitation:{client}"));
        Actor { agent: None, session, ..self.engine().actor().clone() }
    }

    /// Decides as the person answered in the client of an agent: approves with a scope, or denies without one. It is recorded as theirs,
    /// by way of that client. What was not tried is left to whoever waits for it.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     project.answer_elicited(&approval.id, "editor", None, Some("not now"))?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer_elicited(
        &self,
        approval: &Id,
        client: &str,
        approves: Option<ApprovalScope>,
        reason: Option<&str>,
    ) -> Result<()> {
        if let Some(why) = self.no_elicitation() {
            let why = format!("nobody decides in the client: {why}");
            return Err(ServiceError::NotApprover(why).into());
        }
        let actor = self.elicited_actor(client);
        let rules = self.engine().approval_rules();
        let decider = Decider { actor, account: own_account() };
        let service = ApprovalService::new(self.vault(), decider, rules);
        let found = service.find(&approval.to_string())?;
        match approves {
            Some(scope) => {
                let how = Approving { reason: reason.map(str::to_owned), scope, seen: None };
                drop(service.approve(&found, &how)?);
            }
            None => drop(service.deny(&found, reason)?),
        }
        Ok(())
    }
}
