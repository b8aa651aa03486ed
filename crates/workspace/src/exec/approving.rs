//! What becomes of a request that policy leaves to a person: it is tried, or it waits.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use offshoot_policy::Verdict;
use offshoot_profile::Profile;
use offshoot_protocol::{ApprovalState, EffectCategory, ExecState, Network};
use offshoot_sandbox::Stdin;
use offshoot_store::Id;
use offshoot_vault::{Approval, Transaction, VaultError, Waiter, WorkspaceRecord};

use super::clearance::{Clearance, Cleared, Grant, Purpose, Referred, Surroundings};
use super::clearance::{digest_of, in_workspace, repeats};
use super::envelope::{ExecutionEnvelope, ExecutionResult};
use super::executor::ExecutionObserver;
use super::pending::PendingApproval;
use super::refusal::{is_futile, still_pending};
use super::request::{ApprovalWait, ExecutionRequest, ExecutionWorkspace};
use super::runtime::ProxyRuntime;
use super::waiting::WaitingRequest;
use crate::approval::Answered;
use crate::change::ChangeSummaryService;
use crate::error::{Result, ServiceError};
use crate::resolve::Resolver;

/// How often to look whether somebody has decided.
const LOOK: Duration = Duration::from_millis(100);

impl ProxyRuntime<'_> {
    /// What becomes of a request that policy does not let run: it was approved of before, it can be tried, or neither.
    pub(super) fn refer(
        &self,
        request: &mut ExecutionRequest,
        result: &mut ExecutionResult,
        verdict: Verdict,
        surroundings: &Surroundings<'_>,
    ) -> Result<Referred> {
        if verdict.decision.refusal() != Some(ExecState::PendingApproval) || is_futile(&verdict) {
            return Ok(Referred::Refused(verdict));
        }
        self.settle_on_workspace(request);
        let asked = digest_of(request, surroundings);
        let repeats = repeats(request, surroundings);
        if let Some(earlier) = self.approved_for_session(request, &repeats)? {
            result.approved_by = Some(Box::new(earlier));
            let cleared = Clearance::new(request, surroundings, verdict, Purpose::Run);
            return Ok(Referred::Cleared(cleared));
        }
        let network = match request.allow.as_slice() {
            [] => request.reach().to_string(),
            hosts => format!("allow={}", hosts.join(",")),
        };
        let digest = asked.to_string();
        result.approval = Some(PendingApproval { digest, repeats, network, approval: None });
        let reason = untried(request, &verdict, surroundings.profile);
        if let Some(reason) = reason {
            result.untried = Some(reason);
            return Ok(Referred::Refused(verdict));
        }
        let mut profile = surroundings.profile.clone();
        profile.network = Network::None;
        profile.allow.truncate(profile.allow.len().saturating_sub(request.allow.len()));
        (request.network, request.allow) = (Some(Network::None), Vec::new());
        let surroundings = Surroundings { profile: &profile, ..*surroundings };
        let cleared = Clearance::new(request, &surroundings, verdict, Purpose::Trial(asked));
        result.profile = Some(profile);
        Ok(Referred::Cleared(cleared))
    }

    /// Has a request that a person decides about mean the workspace that it was asked for in, whatever is called so when they have decided.
    fn settle_on_workspace(&self, request: &mut ExecutionRequest) {
        if let ExecutionWorkspace::Workspace(name) = &request.place
            && let Some((id, _)) = self.standing(request)
        {
            request.place = ExecutionWorkspace::Existing { id, name: name.clone() };
        }
    }

    /// An approval that holds for this session and this command.
    fn approved_for_session(
        &self,
        request: &ExecutionRequest,
        repeats: &str,
    ) -> Result<Option<Approval>> {
        // A workspace that is not there yet is another one than that of before.
        let place = self.standing(request).filter(|_| request.actor.session.is_some());
        let Some((workspace, _)) = place else { return Ok(None) };
        let repeats = in_workspace(repeats, &workspace);
        let now = Id::random().time_ms();
        let found = self
            .vault
            .approvals()?
            .into_iter()
            .find(|approval| approval.holds_for_session(now) && approval.repeats == repeats);
        // One that nobody of this vault gave lets nothing run.
        Ok(found.filter(|found| self.vault.is_genuine(found)))
    }

    /// Has a request wait for a person, in the transaction that records it. The reason where it cannot.
    pub(super) fn park(
        &self,
        tx: &mut Transaction<'_, '_>,
        request: &ExecutionRequest,
        result: &mut ExecutionResult,
        (workspace, base, trial): (Option<Id>, Option<Id>, Option<Id>),
    ) -> Result<(), VaultError> {
        let Some(pending) = &mut result.approval else { return Ok(()) };
        let verdict = result.decision.as_ref();
        let waits = trial.is_none();
        let asked_place = || request.place.workspace().map(str::to_owned);
        let created_ms = tx.time_ms();
        let expire = u64::try_from(self.options.approvals.expire.as_millis()).unwrap_or(u64::MAX);
        let approval = Approval {
            id: request.id,
            workspace,
            named: result.workspace.as_ref().map(|(_, name)| name.clone()).or_else(asked_place),
            state: ApprovalState::Pending,
            created_ms,
            expires_ms: created_ms.saturating_add(expire),
            command: request.command.display(),
            reason: verdict.map(|verdict| verdict.reason.to_string()).unwrap_or_default(),
            asked_by: request.actor.clone(),
            digest: pending.digest.clone(),
            repeats: workspace
                .map_or_else(|| pending.repeats.clone(), |id| in_workspace(&pending.repeats, &id)),
            from: match &request.place {
                ExecutionWorkspace::Fork { from, .. } => from.clone(),
                _ => None,
            },
            network: Some(pending.network.clone()),
            base,
            trial,
            changed: trial.map(|_| result.changes.len() as u64),
            roots: BTreeMap::new(),
            untried: result.untried.clone().filter(|_| waits),
            request: waits.then(|| WaitingRequest::of(request, self.options)).flatten(),
            waiter: (request.wait_approval != ApprovalWait::None).then(Waiter::own),
            decision: None,
        };
        tx.set_approval(&approval)?;
        tx.detail("approval", approval.id.to_string());
        tx.detail("tried", trial.is_some());
        tx.detail("request_digest", approval.digest.clone());
        pending.approval = Some(approval);
        Ok(())
    }

    /// Why a request that was not tried cannot wait either.
    pub(super) fn cannot_wait(&self, request: &ExecutionRequest) -> Option<&'static str> {
        unkept(request).filter(|_| request.wait_approval == ApprovalWait::None)
    }

    /// What becomes of a request that nobody waits for any more: it stays for a person to decide, or ends where it cannot run later. None
    /// where somebody has decided just now.
    fn leave(&self, envelope: &mut ExecutionEnvelope) -> Result<Option<()>> {
        let Some(approval) = envelope.result.pending_approval() else { return Ok(Some(())) };
        if approval.outlives_waiter() {
            return Ok(Some(()));
        }
        let why = unkept(&envelope.request).unwrap_or("it cannot run later");
        match crate::approval::leave(self.vault, &approval.id, why) {
            Ok(ended) => self.take_over(envelope, ended).map(Some),
            Err(ServiceError::Decided { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits until somebody has decided about a request that is pending, and gives its final envelope; runs it where it was not tried. The
    /// envelope as it is where nobody decides for so long, or this process is asked to end.
    pub(super) fn await_approval(
        &self,
        mut envelope: ExecutionEnvelope,
        observer: &mut dyn ExecutionObserver,
    ) -> ExecutionEnvelope {
        let Some(approval) = envelope.result.pending_approval() else { return envelope };
        let id = approval.id;
        let waits = observer.pending(approval);
        let patience = match envelope.request.wait_approval {
            ApprovalWait::None => return envelope,
            _ if !waits => Some(Duration::ZERO),
            ApprovalWait::For(patience) => Some(patience),
            ApprovalWait::Forever => None,
        };
        let started = Instant::now();
        let ended = loop {
            match self.answered(&id) {
                Ok(Answered::Pending) => {}
                Ok(Answered::Granted) => return self.run_granted(envelope, observer),
                Ok(Answered::Decided(approval)) => break self.take_over(&mut envelope, *approval),
                Err(error) => break Err(error),
            }
            let is_late = patience.is_some_and(|patience| started.elapsed() >= patience);
            if is_late || self.requests(&envelope.request).ask_to_end() {
                match self.leave(&mut envelope) {
                    Ok(None) => continue,
                    Ok(Some(())) => {
                        let still =
                            envelope.result.state == ExecState::PendingApproval && waits && is_late;
                        if let Some(patience) = patience.filter(|_| still) {
                            envelope.result.error = still_pending(&envelope.result, patience);
                        }
                        break Ok(());
                    }
                    Err(error) => break Err(error),
                }
            }
            std::thread::sleep(LOOK);
        };
        if let Err(error) = ended {
            envelope.result.error = Some((self.options.explain)(error, Default::default()));
        }
        envelope
    }

    /// How far an approval came.
    fn answered(&self, id: &Id) -> Result<Answered> {
        let found = self.vault.approval(id)?;
        let Some(approval) = found else { return Err(ServiceError::StaleClearance) };
        Ok(match approval.state {
            ApprovalState::Pending if Id::random().time_ms() >= approval.expires_ms => {
                crate::approval::expire(self.vault, &self.options.approvals)?;
                return self.answered_late(id);
            }
            ApprovalState::Pending => Answered::Pending,
            ApprovalState::Granted => Answered::Granted,
            _ => Answered::Decided(Box::new(approval)),
        })
    }

    /// The same once it is too late for anybody to decide.
    fn answered_late(&self, id: &Id) -> Result<Answered> {
        let found = self.vault.approval(id)?.ok_or(ServiceError::StaleClearance)?;
        Ok(match found.state {
            ApprovalState::Granted => Answered::Granted,
            _ => Answered::Decided(Box::new(found)),
        })
    }

    /// Takes over what was decided about a command elsewhere.
    fn take_over(&self, envelope: &mut ExecutionEnvelope, approval: Approval) -> Result<()> {
        let record = self.vault.exec(&approval.id)?.ok_or(ServiceError::StaleClearance)?;
        let document = crate::wire::recorded_envelope(&record, (b"", b""));
        let result = &mut envelope.result;
        result.state = crate::exec::state::state_of(&record);
        (result.before, result.after) = (record.before, record.after);
        if let Some(document) = document {
            result.error = document.result.error;
            result.checkpoint = document.result.checkpoint;
        }
        if let Some(pending) = &mut result.approval {
            pending.approval = Some(approval);
        }
        if let (ExecState::Completed, Some(before), Some(after)) =
            (result.state, record.before, record.after)
        {
            let roots = (self.vault.snapshot(&before)?.root, self.vault.snapshot(&after)?.root);
            let service = ChangeSummaryService::new(self.vault, self.options.diff);
            result.changes = service.told(&roots.0, &roots.1)?;
        } else {
            result.changes.clear();
            result.patch = None;
        }
        Ok(())
    }

    /// Runs a request that was granted, once.
    fn run_granted(
        &self,
        envelope: ExecutionEnvelope,
        observer: &mut dyn ExecutionObserver,
    ) -> ExecutionEnvelope {
        match self.granted(envelope.request) {
            Ok(cleared) => self.run(cleared, observer),
            Err(refused) => *refused,
        }
    }

    /// What may run by the approval that a person gave for it: the second way to a [`Cleared`]. The approval is used up by this.
    pub fn granted(
        &self,
        mut request: ExecutionRequest,
    ) -> std::result::Result<Cleared, Box<ExecutionEnvelope>> {
        let started = Instant::now();
        let mut result = ExecutionResult::new(request.id, self.vault_name());
        result.state = ExecState::Deciding;
        let cleared = self.use_grant(&mut request, &mut result);
        match cleared {
            Ok(clearance) => Ok(Cleared::new(request, result, clearance, started)),
            Err(error) => {
                result.failed_in = Some(ExecState::Deciding);
                result.state = ExecState::Failed;
                result.error = Some((self.options.explain)(error, Default::default()));
                result.total = started.elapsed();
                Err(Box::new(ExecutionEnvelope { request, result }))
            }
        }
    }

    /// Fails where a request that waits would be decided about by other rules, in other folders or with another profile than when it was
    /// asked for: what a person would approve of is not what they see.
    pub fn check_asked(&self, mut request: ExecutionRequest, digest: &str) -> Result<()> {
        let mut result = ExecutionResult::new(request.id, self.vault_name());
        let now = self.settle(&mut request, &mut result, |request, _, around| {
            Ok(digest_of(request, around).to_string())
        })?;
        match now == digest {
            true => Ok(()),
            false => Err(ServiceError::AskAgain),
        }
    }

    fn use_grant(
        &self,
        request: &mut ExecutionRequest,
        result: &mut ExecutionResult,
    ) -> Result<Clearance> {
        let (clearance, digest) = self.settle(request, result, |request, _, around| {
            // What policy says now is recorded; that it may run is the grant's word.
            let verdict = match Clearance::ask(request, around) {
                Ok(clearance) => clearance.into_verdict(),
                Err(verdict) => verdict,
            };
            let grant = Grant { approval: request.id, workspace: None, base: None };
            let digest = digest_of(request, around);
            Ok((Clearance::new(request, around, verdict, Purpose::Granted(grant)), digest))
        })?;
        let starts =
            crate::approval::start(self.vault, &request.actor, &request.id, &digest.to_string())?;
        result.decision = Some(clearance.verdict().clone());
        let given = self.vault.approval(&request.id)?;
        // What is recorded of the command is recorded with the end of its approval.
        let used = |given| Box::new(Approval { state: ApprovalState::Approved, ..given });
        result.approved_by = given.map(used);
        Ok(clearance.starting(starts))
    }

    /// A workspace that moved since a person approved of a command in it is another one than they saw.
    pub(super) fn check_base(&self, purpose: &Purpose, now: &WorkspaceRecord) -> Result<()> {
        let Purpose::Granted(Grant { workspace, base, .. }) = purpose else { return Ok(()) };
        let is_there = workspace.is_none_or(|id| id == now.id);
        match is_there && base.is_none_or(|base| base == now.state.head) {
            true => Ok(()),
            false => Err(ServiceError::StaleClearance),
        }
    }

    /// Where a command that waits would start: where its workspace stands, and otherwise what that would be made from.
    pub(super) fn starting_point(&self, request: &ExecutionRequest) -> Option<Id> {
        let origin = || {
            let resolver = Resolver::new(self.vault);
            let point = match &request.place {
                ExecutionWorkspace::Fork { from: Some(text), .. } => resolver.point(text, None),
                // One that is gone is made from nothing.
                ExecutionWorkspace::Existing { .. } => return None,
                _ => resolver.head(),
            };
            // Where there is none it does not run either.
            point.ok().map(|point| point.snapshot.id)
        };
        self.standing(request).map(|(_, head)| head).or_else(origin)
    }

    /// Where the workspace of a request stands, if it is there.
    pub(super) fn standing(&self, request: &ExecutionRequest) -> Option<(Id, Id)> {
        let found = match &request.place {
            ExecutionWorkspace::Workspace(name) => Resolver::new(self.vault).look_up(name).ok(),
            ExecutionWorkspace::Existing { id, .. } => self.vault.workspace(id).ok(),
            ExecutionWorkspace::Fork { .. } => None,
        };
        found.flatten().map(|found| (found.id, found.state.head))
    }
}

/// Why what a request needs cannot be kept until somebody decides; none where it can.
fn unkept(request: &ExecutionRequest) -> Option<&'static str> {
    match &request.stdin {
        Stdin::From(_) => Some("its standard input cannot be kept until somebody decides"),
        _ if request.terminal.is_some() => {
            Some("it needs a terminal, which nobody has when it is approved later")
        }
        Stdin::Empty | Stdin::Bytes(_) => None,
    }
}

/// Why a request cannot be tried; none where it can.
fn untried(request: &ExecutionRequest, verdict: &Verdict, profile: &Profile) -> Option<String> {
    let reason = if profile.is_open() {
        "it would run without walls"
    } else if request.terminal.is_some() || request.session || request.joins {
        "it needs a terminal"
    } else if request.reach() == Network::None {
        return None;
    } else if verdict.categories.contains(EffectCategory::Networked) {
        "it uses the network, and trials have none"
    } else if !verdict.stays_off_network() {
        "it was asked with the network and may use it, and trials have none"
    } else {
        return None;
    };
    Some(reason.to_owned())
}
