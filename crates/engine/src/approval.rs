//! Commands that wait for a person: who decides, and what comes of it.

mod elicited;
mod notify;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use offshoot_protocol::{ApprovalFallback, ApprovalScope, ApprovalState};
use offshoot_protocol::{ExecEnvelopeDoc, ExitCode, PolicyDecision};
use offshoot_sandbox::Signals;
use offshoot_store::Id;
use offshoot_vault::Vault;
pub use offshoot_vault::{Approval, ApprovalDecision};
pub use offshoot_workspace::{
    AppliedTrial, ApprovalRules, ApprovalService, ApprovedWork, Approving, Decider, MovedPlace,
    MovedWorkspace, is_awaited,
};
use offshoot_workspace::{
    ExecService, ExecutionEnvelope, ExecutionObserver, ExecutionWorkspace, ProxyRuntime,
    ReplayService, RulesNow, ServiceError, WaitingRequest, wire,
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
        let decider = Decider { actor: self.actor().clone(), account: own_account() };
        ApprovalService::new(vault, decider, self.approval_rules())
    }

    /// Who may decide, and what may be approved of.
    fn approval_rules(&self) -> ApprovalRules {
        let settings = self.approval_settings();
        let (approvers, fallback) = (settings.accounts(), settings.fallback);
        ApprovalRules { approvers, fallback, now: self.rules_now() }
    }

    /// The rules about commands as they are whenever somebody decides.
    pub(crate) fn rules_now(&self) -> RulesNow {
        let engine = self.clone();
        RulesNow::new(move |vault, approval| engine.check_rules(vault, approval))
    }

    /// Fails where the rules deny a command by now, and where one that waits to run would be decided about in another way.
    fn check_rules(
        &self,
        vault: &Vault,
        approval: &Approval,
    ) -> std::result::Result<(), ServiceError> {
        let told = |error: Error| ServiceError::Request(error.message);
        let waiting = approval.request.as_ref().and_then(WaitingRequest::parse);
        let named = waiting.as_ref().and_then(WaitingRequest::rules).unwrap_or_default();
        let folder = crate::opened::first_folder(vault).map_err(told)?;
        let rules = self.rules(folder.as_deref(), &named).map_err(told)?;
        let home = self.options().user_home();
        let replay = ReplayService::new(vault, &rules.policy, home.as_ref())?;
        match replay.again(&approval.id)? {
            Some(now) if now.decision == PolicyDecision::Deny => {
                let reason = now.reason.to_string();
                return Err(ServiceError::DeniedSince { id: approval.id, reason });
            }
            Some(_) => {}
            None => return Err(ServiceError::AskAgain),
        }
        // Whoever waits looks at the rules itself.
        let Some(waiting) = waiting.filter(|_| !is_awaited(approval)) else { return Ok(()) };
        let options = self.runtime_options(rules, waiting.caches(), None, explain);
        let request = waiting.into_request().ok_or(ServiceError::AskAgain)?;
        ProxyRuntime::new(vault, "", &options).check_asked(request, &approval.digest)
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

    /// Brings the main line up to date with the folder, as before any command in a new workspace, where one of these commands waits to run in
    /// one: what has changed since it was asked for counts as changed.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// let found = engine.approvals(vault).list()?;
    /// engine.ready_to_approve((vault, project.name()), &found)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn ready_to_approve(
        &self,
        (vault, name): (&Vault, &str),
        approvals: &[Approval],
    ) -> Result<()> {
        let starts_anew = |approval: &&Approval| {
            approval.state.is_pending()
                && approval.trial.is_none()
                && approval.workspace.is_none()
                && approval.from.is_none()
        };
        for approval in approvals.iter().filter(starts_anew) {
            let place = match &approval.named {
                Some(name) => ExecutionWorkspace::Workspace(name.clone()),
                None => ExecutionWorkspace::Fork { from: None, lifetime: None },
            };
            let folder = crate::opened::first_folder(vault)?.filter(|folder| folder.is_dir());
            self.make_ready(vault, name, &place, folder.as_deref())?;
        }
        Ok(())
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

    /// The rule that lets a command and nothing else run from now on, as policy saw it when it was asked for; otherwise why no rule says
    /// just that.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// for approval in engine.approvals(vault).list()? {
    ///     match engine.exact_rule(vault, &approval.id)? {
    ///         Ok(rule) => println!("{rule}"),
    ///         Err(why) => println!("{}: {why}", approval.command),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn exact_rule(
        &self,
        vault: &Vault,
        exec: &Id,
    ) -> Result<std::result::Result<String, String>> {
        let decision = self.envelope_of(vault, exec)?.and_then(|envelope| envelope.result.decision);
        let Some(remedy) = decision.and_then(|decision| decision.remedy) else {
            return Ok(Err("it is not recorded what would allow it".to_owned()));
        };
        Ok(remedy.exact.ok_or(remedy.inexact.unwrap_or(remedy.advice)))
    }

    /// The envelope of a recorded command, with what it printed.
    fn envelope_of(&self, vault: &Vault, exec: &Id) -> Result<Option<ExecEnvelopeDoc>> {
        let service = ExecService::new(vault);
        let Some(record) = service.get(exec)? else { return Ok(None) };
        let (stdout, stderr) = service.output(exec)?;
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
        let draft = self.draft_rule(rule)?;
        fs::rename(&draft.path, &draft.real).map_err(|error| draft.failed(&error))?;
        Ok(draft.file.clone())
    }

    /// Fails where [`add_user_rule`](Self::add_user_rule) would: where the file could not be read with the rule, or cannot be written.
    ///
    /// ```no_run
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rule = "[[rule]]\nname = \"deploy\"\ndecision = \"allow\"\nprefix = [\"make\", \"deploy\"]\n";
    /// offshoot.check_user_rule(rule)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn check_user_rule(&self, rule: &str) -> Result<()> {
        self.draft_rule(rule).map(drop)
    }

    /// Whether the user's file has this very rule already.
    ///
    /// ```no_run
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rule = "[[rule]]\nname = \"deploy\"\ndecision = \"allow\"\nprefix = [\"make\", \"deploy\"]\n";
    /// if !offshoot.has_user_rule(rule)? {
    ///     offshoot.add_user_rule(rule)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn has_user_rule(&self, rule: &str) -> Result<bool> {
        let Some(file) = self.user_rule_file() else { return Ok(false) };
        let there = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            read => read.map_err(|error| unwritten(&file, &error))?,
        };
        let rules = |text: &str| {
            let read = text.parse::<toml::Table>().ok()?;
            Some(read.get("rule")?.as_array()?.clone())
        };
        // One that cannot be read is told by whoever would add to it.
        let (there, wanted) = (rules(&there).unwrap_or_default(), rules(rule).unwrap_or_default());
        Ok(!wanted.is_empty() && wanted.iter().all(|rule| there.contains(rule)))
    }

    /// The user's file with a rule more, beside it.
    fn draft_rule(&self, rule: &str) -> Result<RuleDraft> {
        self.actor().require_person("change the user's rules")?;
        let Some(file) = self.user_rule_file() else {
            let message = "there is no file for your own rules";
            return Err(Error::new(ExitCode::Usage, message)
                .hint("set HOME or XDG_CONFIG_HOME, or name a file with OFFSHOOT_POLICY"));
        };
        // Where a link leads is the file; the link stays.
        let real = match fs::canonicalize(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => file.clone(),
            found => found.map_err(|error| unwritten(&file, &error))?,
        };
        let before = match fs::read_to_string(&real) {
            Err(error) if error.kind() == ErrorKind::NotFound => FILE_HEADER.to_owned(),
            read => read.map_err(|error| unwritten(&file, &error))?,
        };
        let rules = format!("{}\n\n{}\n", before.trim_end(), rule.trim());
        self.policy_of(self.policy_files(None)).check_with(&file, &rules)?;
        let draft = RuleDraft { path: real.with_extension("toml.new"), real, file };
        let write = || {
            if let Some(folder) = draft.real.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&draft.path, rules)?;
            match fs::metadata(&draft.real) {
                Ok(now) => fs::set_permissions(&draft.path, now.permissions()),
                Err(_) => Ok(()),
            }
        };
        write().map_err(|error| draft.failed(&error))?;
        Ok(draft)
    }
}

/// The user's rules with one more, which are not theirs yet: it goes with this, unless it was renamed.
struct RuleDraft {
    path: PathBuf,
    /// The file that it is to become.
    real: PathBuf,
    /// What that is called.
    file: PathBuf,
}

impl RuleDraft {
    fn failed(&self, error: &std::io::Error) -> Error {
        unwritten(&self.file, error)
    }
}

impl Drop for RuleDraft {
    fn drop(&mut self) {
        let _renamed = fs::remove_file(&self.path).is_err();
    }
}

fn unwritten(file: &Path, error: &std::io::Error) -> Error {
    let file = crate::text::host_path(file);
    Error::new(ExitCode::Storage, format!("cannot add a rule to {file}: {error}"))
        .hint("mend the file or its folder, or approve without --always")
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
        engine.ready_to_approve((vault, self.name()), std::slice::from_ref(approval))?;
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
