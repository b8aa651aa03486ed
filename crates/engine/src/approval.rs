//! Commands that wait for a person: who decides, and what comes of it.

mod elicited;
mod notify;

use std::fs;
use std::path::PathBuf;

pub use offshoot_protocol::{ApprovalFallback, ApprovalScope, ApprovalState};
use offshoot_protocol::{ExecEnvelopeDoc, ExitCode};
use offshoot_sandbox::Signals;
use offshoot_store::Id;
use offshoot_vault::Vault;
pub use offshoot_vault::{Approval, ApprovalDecision};
pub use offshoot_workspace::{
    AppliedTrial, ApprovalRules, ApprovalService, ApprovedWork, Approving, Decider, MovedWorkspace,
    is_awaited,
};
use offshoot_workspace::{
    ExecService, ExecutionEnvelope, ExecutionObserver, ProxyRuntime, WaitingRequest, wire,
};

use crate::actor::own_account;
use crate::error::{Error, Result};
use crate::exec::explain;
use crate::offshoot::Offshoot;
use crate::policy::FILE_HEADER;
use crate::project::Project;
use crate::settings::ApprovalSettings;

impl Offshoot {
    /// Lists approvals of a vault and decides about them, by the user's settings.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for approval in engine.approvals(vault).list()? {
    ///     println!("{} {}", approval.state, approval.command);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn approvals<'v>(&self, vault: &'v Vault) -> ApprovalService<'v> {
        let settings = self.approval_settings();
        let rules = ApprovalRules { approvers: settings.accounts(), fallback: settings.fallback };
        let decider = Decider { actor: self.actor().clone(), account: own_account() };
        ApprovalService::new(vault, decider, rules)
    }

    /// What the settings say about approvals. An agent does not choose that: of what it was started with, only the user's own file
    /// counts. Nor does a person choose whether they are among the approvers that this file names.
    pub(crate) fn approval_settings(&self) -> ApprovalSettings {
        let (said, own) = (self.config().approvals.clone(), self.own_approvals());
        if self.actor().agent.is_some() {
            return own.clone();
        }
        match own.accounts().is_empty() {
            true => said,
            false => {
                let (approvers, fallback) = (own.approvers.clone(), own.fallback);
                ApprovalSettings { approvers, fallback, ..said }
            }
        }
    }

    /// Runs a command that a person approved of and nobody waits for, once.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::approval::{ApprovedWork, Approving};
    ///
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let service = engine.approvals(vault);
    /// for waiting in service.list()? {
    ///     if let ApprovedWork::Granted(approval) = service.approve(&waiting, &Approving::default())? {
    ///         engine.run_granted((vault, project.name()), &approval, None, &mut ())?;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn run_granted(
        &self,
        (vault, name): (&Vault, &str),
        approval: &Approval,
        signals: Option<Signals>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<ExecutionEnvelope> {
        let lost = || {
            let message = format!("what approval {} asked for was not kept", approval.id.short());
            Error::new(ExitCode::Conflict, message)
                .hint("ask for it again: run the command once more")
        };
        let waiting = approval.request.as_ref().and_then(WaitingRequest::parse).ok_or_else(lost)?;
        let folder = crate::opened::first_folder(vault)?;
        let rules = self.rules(folder.as_deref(), &waiting.rules().ok_or_else(lost)?)?;
        let mut options = self.runtime_options(rules, waiting.caches(), signals, explain);
        waiting.limit(&mut options);
        let request = waiting.into_request().ok_or_else(lost)?;
        let runtime = ProxyRuntime::new(vault, name, &options);
        let envelope = match runtime.granted(request) {
            Ok(cleared) => runtime.run(cleared, observer),
            Err(refused) => *refused,
        };
        if let Some(signals) = options.signals {
            signals.give_back();
        }
        Ok(envelope)
    }

    /// The rule that lets a command and nothing else run from now on, as policy saw it when it was asked for; none where no rule says
    /// just that.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for approval in engine.approvals(vault).list()? {
    ///     println!("{:?}", engine.exact_rule(vault, &approval.id)?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn exact_rule(&self, vault: &Vault, exec: &Id) -> Result<Option<String>> {
        let decision = self.envelope_of(vault, exec)?.and_then(|envelope| envelope.result.decision);
        Ok(decision.and_then(|decision| decision.remedy).and_then(|remedy| remedy.exact))
    }

    /// The envelope of a recorded command, with what it printed.
    fn envelope_of(&self, vault: &Vault, exec: &Id) -> Result<Option<ExecEnvelopeDoc>> {
        let Some(record) = vault.exec(exec)? else { return Ok(None) };
        let (stdout, stderr) = ExecService::new(vault).output(exec)?;
        Ok(wire::recorded_envelope(&record, (&stdout, &stderr)))
    }

    /// Adds rules to the user's file, which is made where there is none. A file that could not be read with them stays as it is.
    ///
    /// ```no_run
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rule = "[[rule]]\nname = \"deploy\"\ndecision = \"allow\"\nprefix = [\"make\", \"deploy\"]\n";
    /// let file = offshoot.add_user_rule(rule)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn add_user_rule(&self, rule: &str) -> Result<PathBuf> {
        self.actor().require_person("change the user's rules")?;
        let Some(file) = self.user_rule_file() else {
            let message = "there is no file for your own rules";
            return Err(Error::new(ExitCode::Usage, message)
                .hint("set HOME or XDG_CONFIG_HOME, or name a file with OFFSHOOT_POLICY"));
        };
        let failed = |error: std::io::Error| {
            Error::new(ExitCode::Failure, format!("{}: {error}", crate::text::host_path(&file)))
        };
        let before = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => FILE_HEADER.to_owned(),
            Err(error) => return Err(failed(error)),
        };
        let rules = format!("{}\n\n{}\n", before.trim_end(), rule.trim());
        let draft = file.with_extension("toml.new");
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&draft, rules).map_err(failed)?;
        let mut files = self.policy_files(None);
        files.iter_mut().filter(|known| known.path == file).for_each(|known| {
            known.path.clone_from(&draft);
        });
        let read = self.policy_of(files).current();
        if let Err(error) = read {
            // It is ours alone.
            let _stays = fs::remove_file(&draft).is_err();
            return Err(error.into());
        }
        fs::rename(&draft, &file).map_err(failed)?;
        Ok(file)
    }
}

impl Project {
    /// What waits for a person, oldest first.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     println!("{}: {}", approval.id, approval.command);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn pending(&self) -> Result<Vec<Approval>> {
        let service = self.engine().approvals(self.vault());
        service.expire()?;
        let mut found = service.list()?;
        found.retain(|approval| approval.state.is_pending());
        Ok(found)
    }

    /// Approves of a command: what was tried becomes its workspace's state, and what was not runs. Its final envelope.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     let envelope = project.approve(&approval, &Default::default())?;
    ///     println!("{:?}", envelope.map(|envelope| envelope.result.state));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn approve(&self, approval: &Approval, how: &Approving) -> Result<Option<ExecEnvelopeDoc>> {
        let (engine, vault) = (self.engine(), self.vault());
        let work = engine.approvals(vault).approve(approval, how)?;
        match work {
            ApprovedWork::Granted(granted) => {
                let place = (vault, self.name());
                let envelope = engine.run_granted(place, &granted, None, &mut ())?;
                Ok(Some(wire::envelope(&envelope)))
            }
            _ => engine.envelope_of(vault, &approval.id),
        }
    }

    /// Denies a command.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// for approval in project.pending()? {
    ///     project.deny(&approval, Some("not on a Friday"))?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn deny(&self, approval: &Approval, reason: Option<&str>) -> Result<Approval> {
        Ok(self.engine().approvals(self.vault()).deny(approval, reason)?)
    }

    /// The envelope of a command by the id of its exec, as it is now: that of one that waits changes when somebody decides.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project, id: offshoot_engine::id::Id) -> offshoot_engine::Result<()> {
    /// let state = project.envelope(&id)?.map(|envelope| envelope.result.state);
    /// # Ok(())
    /// # }
    /// ```
    pub fn envelope(&self, exec: &Id) -> Result<Option<ExecEnvelopeDoc>> {
        self.engine().envelope_of(self.vault(), exec)
    }
}
