//! Deciding about what waits for a person.

mod apply;
pub(crate) mod outcome;
mod place;
pub(crate) mod record;
pub(crate) mod rules_now;

use offshoot_protocol::{ApprovalFallback, ApprovalScope, ApprovalState};
use offshoot_store::Id;
use offshoot_tree::diff::{Change, DiffOptions};
use offshoot_vault::{Actor, Approval, ApprovalDecision, Transaction, Vault, Waiter};

use self::outcome::{AppliedTrial, MovedWorkspace, is_awaited};
use self::place::StartingPoint;
use self::record::refuse;
use self::rules_now::RulesNow;
use crate::change::ChangeSummaryService;
use crate::error::{Result, ServiceError};
use crate::exec::pending::ApprovalTerms;
use crate::id_lookup::Asked;

/// Who decides that what nobody decided in time is over.
const NOBODY: &str = "offshoot";

/// Who may decide, and what becomes of what nobody decides.
#[derive(Clone, Debug, Default)]
pub struct ApprovalRules {
    /// The accounts that may decide; anybody who can write to the vault where none is named.
    pub approvers: Vec<String>,
    /// What becomes of what nobody decides in time.
    pub fallback: ApprovalFallback,
    /// What may be approved of, by the rules about commands as they are now.
    pub now: RulesNow,
}

/// Somebody who decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decider {
    /// Who.
    pub actor: Actor,
    /// The account of the process that they decide with, as the system has it.
    pub account: String,
}

/// How somebody approves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approving {
    /// What they say about it.
    pub reason: Option<String>,
    /// What it holds for.
    pub scope: ApprovalScope,
    /// The state of the workspace that they looked at, where it has changed since the command was asked for and was not tried.
    pub seen: Option<Id>,
}

/// What an approval came to.
#[derive(Clone, Debug)]
pub enum ApprovedWork {
    /// What was tried is the workspace's now.
    Done(Box<AppliedTrial>),
    /// It was not tried, and whoever waits for it runs it.
    Awaited(Box<Approval>),
    /// It was not tried, and nobody waits for it: it is to be run now, by this process.
    Granted(Box<Approval>),
}

/// How far an approval came that somebody waits for.
#[derive(Clone, Debug)]
pub(crate) enum Answered {
    /// Nobody has decided.
    Pending,
    /// It may run now.
    Granted,
    /// It is over.
    Decided(Box<Approval>),
}

/// Lists approvals, and decides about them.
#[derive(Debug)]
pub struct ApprovalService<'a> {
    vault: &'a Vault,
    decider: Decider,
    rules: ApprovalRules,
}

impl<'a> ApprovalService<'a> {
    /// Works on a vault on behalf of somebody.
    pub fn new(vault: &'a Vault, decider: Decider, rules: ApprovalRules) -> Self {
        Self { vault, decider, rules }
    }

    /// All approvals as they are now, oldest first.
    pub fn list(&self) -> Result<Vec<Approval>> {
        let mut found = self.vault.approvals()?;
        for approval in &mut found {
            approval.state = state_now(self.vault, approval)?;
        }
        Ok(found)
    }

    /// An approval by the start of its id.
    pub fn find(&self, text: &str) -> Result<Approval> {
        let (asked, all) = (Asked::new(text), self.list()?);
        let ids: Vec<Id> = all.iter().map(|approval| approval.id).collect();
        let fitting = all.into_iter().filter(|approval| asked.fits(&approval.id)).collect();
        let found = asked.only(fitting, |approval: &Approval| approval.id.to_string())?;
        found.ok_or_else(|| asked.unknown(self.vault, "approval", ids))
    }

    /// Has everything that nobody decided in time become what the rules say. Returns what that was.
    pub fn expire(&self) -> Result<Vec<Approval>> {
        let now = Id::random().time_ms();
        let late = |approval: &Approval| is_open(approval) && approval.expires_ms <= now;
        let mut expired = Vec::new();
        for approval in self.vault.approvals()?.into_iter().filter(late) {
            let is_approved = self.rules.fallback == ApprovalFallback::Approve
                && approval.trial.is_some()
                && self.rules.now.check(self.vault, &approval).is_ok()
                && self
                    .apply(&approval, &self.decision(None, ApprovalScope::Once, now, true))
                    .is_ok();
            if !is_approved {
                // Somebody may decide at this very moment.
                match self.end(&approval, ApprovalState::Expired, None) {
                    Err(ServiceError::Decided { .. }) => continue,
                    other => drop(other?),
                }
            }
            expired.extend(self.vault.approval(&approval.id)?);
        }
        Ok(expired)
    }

    /// Approves: what was tried becomes the workspace's state, and what was not may run once.
    pub fn approve(&self, approval: &Approval, how: &Approving) -> Result<ApprovedWork> {
        self.may_decide(approval)?;
        self.is_open(approval)?;
        if how.scope == ApprovalScope::Session && approval.asked_by.session.is_none() {
            return Err(ServiceError::Request(
                "this command was asked for by no session: it can be approved once".to_owned(),
            ));
        }
        self.rules.now.check(self.vault, approval)?;
        let decision = self.decision(how.reason.clone(), how.scope, Id::random().time_ms(), false);
        match approval.trial {
            Some(_) => self.apply(approval, &decision).map(Box::new).map(ApprovedWork::Done),
            None => self.grant(approval, decision, how.seen),
        }
    }

    /// How the place of a command that waits has changed since it was asked for; none where it has not. Where there was no workspace, that is
    /// one that is there now, or what one will be made from.
    pub fn moved(&self, approval: &Approval) -> Result<Option<MovedWorkspace>> {
        if approval.state != ApprovalState::Pending {
            return Ok(None);
        }
        let Some(now) = StartingPoint::of(self.vault, approval)? else { return Ok(None) };
        now.moved(self.vault, approval)
    }

    /// Why the rules as they are now keep an approval that waits from being approved of; none where they do not.
    pub fn obstacle(&self, approval: &Approval) -> Option<String> {
        if approval.state != ApprovalState::Pending {
            return None;
        }
        self.rules.now.check(self.vault, approval).err().map(|error| error.to_string())
    }

    /// What a trial would change, as its envelope lists it. None where it was not tried, or was decided so long ago that its states were
    /// collected.
    pub fn trial_changes(
        &self,
        approval: &Approval,
        diff: DiffOptions,
    ) -> Result<Option<Vec<Change>>> {
        let (Some(base), Some(trial)) = (approval.base, approval.trial) else { return Ok(None) };
        let (Ok(base), Ok(trial)) = (self.vault.snapshot(&base), self.vault.snapshot(&trial))
        else {
            return Ok(None);
        };
        let service = ChangeSummaryService::new(self.vault, diff);
        Ok(service.told(&base.root, &trial.root).ok())
    }

    /// Denies it. A workspace that was made for it alone goes.
    pub fn deny(&self, approval: &Approval, reason: Option<&str>) -> Result<Approval> {
        self.may_decide(approval)?;
        self.is_open(approval)?;
        self.end(approval, ApprovalState::Denied, reason)
    }

    fn is_open(&self, approval: &Approval) -> Result<()> {
        // It may have been found a while ago.
        let now = self.vault.approval(&approval.id)?;
        let now = now.as_ref().unwrap_or(approval);
        match state_now(self.vault, now)? {
            // What somebody altered is told before it is compared with anything.
            ApprovalState::Pending => Ok(self.vault.genuine_approval(&now.id).map(drop)?),
            state => Err(decided(now, state)),
        }
    }

    /// Nobody who acts for somebody else decides, nor anybody whom the user's settings do not name.
    fn may_decide(&self, approval: &Approval) -> Result<()> {
        let Decider { actor, account } = &self.decider;
        let asks = &approval.asked_by;
        let refused = |why: String| Err(ServiceError::NotApprover(why));
        actor.require_person("decide about approvals")?;
        if actor.session.is_some() && actor.session == asks.session {
            return refused("the session that asked cannot decide about it itself".to_owned());
        }
        let approvers = &self.rules.approvers;
        if !approvers.is_empty() && !approvers.contains(account) {
            let named = approvers.join(", ");
            return refused(format!("{account} may not decide: approvals.approvers names {named}"));
        }
        Ok(())
    }

    fn decision(
        &self,
        reason: Option<String>,
        scope: ApprovalScope,
        time_ms: u64,
        by_nobody: bool,
    ) -> ApprovalDecision {
        let by = match by_nobody {
            true => Actor::user(NOBODY),
            false => self.decider.actor.clone(),
        };
        ApprovalDecision { by, time_ms, reason, scope }
    }

    /// Lets what waits run, in the workspace as the person saw it: as it was when it was asked for, or as they say that they saw it.
    fn grant(
        &self,
        approval: &Approval,
        decision: ApprovalDecision,
        seen: Option<Id>,
    ) -> Result<ApprovedWork> {
        // What is compared is what it will run in: there is one look at it.
        let now = StartingPoint::of(self.vault, approval)?;
        let moved = now.map(|now| now.moved(self.vault, approval)).transpose()?.flatten();
        let again = |moved: Option<MovedWorkspace>| ServiceError::LookAgain {
            id: approval.id,
            changed: moved.map(|moved| moved.told()),
        };
        if moved.is_some_and(|moved| seen != Some(moved.head)) {
            return Err(again(moved));
        }
        if approval.request.is_none() && !is_awaited(approval) {
            return Err(ServiceError::Request(
                "nobody waits for this command any more, and what it reads was not kept: ask for it again"
                    .to_owned(),
            ));
        }
        let looked_at = now.map(|now| now.head);
        let mut awaited = false;
        let granted = self.vault.transact("approve", &self.decider.actor, |tx| {
            let Some(mut now) = pending(self.vault, tx, &approval.id)? else { return Ok(None) };
            now.base = match &now.workspace {
                Some(workspace) => tx.workspace(workspace)?.map(|found| found.state.head),
                // One that is made, or was since, is looked at once more before anything runs in it.
                None => looked_at,
            };
            if now.base != looked_at {
                return Ok(Some(None));
            }
            awaited = is_awaited(&now);
            if !awaited {
                // Whoever gives the word runs it: it is gone when this process is.
                now.waiter = Some(Waiter::own());
            }
            now.state = ApprovalState::Granted;
            now.decision = Some(decision.clone());
            describe(tx, &now, "approve");
            tx.set_approval(&now)?;
            Ok(Some(Some(now)))
        })?;
        match granted.value {
            Some(Some(now)) if awaited => Ok(ApprovedWork::Awaited(Box::new(now))),
            Some(Some(now)) => Ok(ApprovedWork::Granted(Box::new(now))),
            Some(None) => Err(again(self.moved(approval)?)),
            None => Err(self.overtaken(approval)),
        }
    }

    /// Ends it without any effect.
    fn end(
        &self,
        approval: &Approval,
        state: ApprovalState,
        reason: Option<&str>,
    ) -> Result<Approval> {
        let verb = if state == ApprovalState::Denied { "deny" } else { "expire" };
        let actor = match state {
            ApprovalState::Denied => self.decider.actor.clone(),
            _ => Actor::user(NOBODY),
        };
        let ended = self.vault.transact(verb, &actor, |tx| {
            let Some(mut now) = open(self.vault, tx, &approval.id)? else { return Ok(None) };
            let decision = ApprovalDecision {
                by: actor.clone(),
                time_ms: tx.time_ms(),
                reason: reason.map(str::to_owned),
                scope: ApprovalScope::Once,
            };
            (now.state, now.decision, now.request) = (state, Some(decision), None);
            describe(tx, &now, verb);
            refuse(self.vault, tx, &now)?;
            tx.set_approval(&now)?;
            Ok(Some(now))
        })?;
        ended.value.ok_or_else(|| self.overtaken(approval))
    }

    /// Somebody else was first.
    fn overtaken(&self, approval: &Approval) -> ServiceError {
        let found = self.vault.approval(&approval.id).ok().flatten();
        let now = found.as_ref().unwrap_or(approval);
        // One that is pending, and whose command is over, was put back by somebody.
        let is_over = now.state == ApprovalState::Pending;
        decided(now, if is_over { ApprovalState::Gone } else { now.state })
    }
}

/// Has everything that nobody decided in time become what the rules say.
pub(crate) fn expire(vault: &Vault, terms: &ApprovalTerms) -> Result<()> {
    let (fallback, now) = (terms.fallback, terms.now.clone());
    let rules = ApprovalRules { fallback, now, ..ApprovalRules::default() };
    let decider = Decider { actor: Actor::user(NOBODY), account: NOBODY.to_owned() };
    ApprovalService::new(vault, decider, rules).expire().map(drop)
}

/// Ends what nobody waits for any more and cannot run later.
pub(crate) fn leave(vault: &Vault, id: &Id, why: &str) -> Result<Approval> {
    let decider = Decider { actor: Actor::user(NOBODY), account: NOBODY.to_owned() };
    let service = ApprovalService::new(vault, decider, ApprovalRules::default());
    let found = vault.approval(id)?.ok_or(ServiceError::StaleClearance)?;
    service.end(&found, ApprovalState::Expired, Some(why))
}

/// Moves an approval that a person gave to its command, once: what may run is what they saw. The workspace that it starts in, and its state.
pub(crate) fn start(
    vault: &Vault,
    actor: &Actor,
    id: &Id,
    digest: &str,
) -> Result<(Option<Id>, Option<Id>)> {
    let record = vault.exec(id)?;
    let is_open = record.is_some_and(|record| record.state == record::PENDING);
    let started = vault.transact("approve", actor, |tx| {
        let found = tx.approval(id)?.filter(|now| now.state == ApprovalState::Granted && is_open);
        let Some(mut now) = found else { return Ok(None) };
        if now.digest != digest {
            return Ok(Some(None));
        }
        (now.state, now.request) = (ApprovalState::Running, None);
        now.waiter = Some(Waiter::own());
        describe(tx, &now, "run what was approved:");
        tx.set_approval(&now)?;
        Ok(Some(Some((now.workspace, now.base))))
    })?;
    match started.value {
        Some(Some(starts)) => Ok(starts),
        Some(None) => Err(ServiceError::StaleClearance),
        None => {
            let approval = vault.approval(id)?;
            Err(approval.map_or(ServiceError::StaleClearance, |now| decided(&now, now.state)))
        }
    }
}

/// Notes in the transaction that records a command that the approval which let it run is used up.
pub(crate) fn used(tx: &mut Transaction<'_, '_>, id: &Id) -> offshoot_vault::Result<()> {
    if let Some(mut now) = tx.approval(id)?.filter(|now| now.state == ApprovalState::Running) {
        now.state = ApprovalState::Approved;
        tx.detail("approval", id.to_string());
        tx.set_approval(&now)?;
    }
    Ok(())
}

/// What an approval is now, whatever is recorded: a workspace may be gone, and so may be the process that ran its command.
fn state_now(vault: &Vault, approval: &Approval) -> Result<ApprovalState> {
    let is_gone = match (approval.state, &approval.workspace) {
        // What was not kept runs only where somebody waits for it.
        (ApprovalState::Pending, _) if !approval.outlives_waiter() && !is_awaited(approval) => true,
        (ApprovalState::Pending, Some(workspace)) => vault.workspace(workspace)?.is_none(),
        (ApprovalState::Granted | ApprovalState::Running, _) => !is_awaited(approval),
        _ => false,
    };
    Ok(if is_gone { ApprovalState::Gone } else { approval.state })
}

/// The approval of a command that is recorded as waiting and whose approval is gone, and why it is.
pub(crate) fn gone(vault: &Vault, id: &Id) -> Result<Option<(Approval, &'static str)>> {
    let Some(approval) = vault.approval(id)? else { return Ok(None) };
    if state_now(vault, &approval)? != ApprovalState::Gone {
        return Ok(None);
    }
    let why = match approval.state {
        ApprovalState::Pending if approval.outlives_waiter() => "its workspace was deleted",
        ApprovalState::Pending => "nobody waits for it any more, and what it reads was not kept",
        _ => "it was approved, and the process that was to run it is gone",
    };
    Ok(Some((Approval { state: ApprovalState::Gone, ..approval }, why)))
}

/// The approval where it can still be decided about. What its command came to is recorded apart: an approval that somebody put back is
/// none.
fn pending(
    vault: &Vault,
    tx: &mut Transaction<'_, '_>,
    id: &Id,
) -> offshoot_vault::Result<Option<Approval>> {
    Ok(open(vault, tx, id)?.filter(|now| now.state == ApprovalState::Pending))
}

/// The same, and one that was granted and whose process is gone: nobody runs it any more.
fn open(
    vault: &Vault,
    tx: &mut Transaction<'_, '_>,
    id: &Id,
) -> offshoot_vault::Result<Option<Approval>> {
    let found = tx.approval(id)?.filter(is_open);
    let record = vault.exec(id)?;
    Ok(found.filter(|_| record.is_some_and(|record| record.state == record::PENDING)))
}

/// Whether it can still be ended.
fn is_open(approval: &Approval) -> bool {
    match approval.state {
        ApprovalState::Pending => true,
        ApprovalState::Granted => !is_awaited(approval),
        _ => false,
    }
}

/// What the log says of a decision.
fn describe(tx: &mut Transaction<'_, '_>, approval: &Approval, verb: &str) {
    tx.summary(format!("{verb} {}", crate::exec::summary::shortened(&approval.command)));
    tx.record_always();
    if let Some(workspace) = approval.workspace {
        tx.scope(workspace);
    }
    tx.detail("approval", approval.id.to_string());
    tx.detail("exec", approval.id.to_string());
    tx.detail("command", approval.command.clone());
    tx.detail("request_digest", approval.digest.clone());
    tx.detail("state", approval.state.as_str());
    tx.detail("asked_by", serde_json::to_value(&approval.asked_by).unwrap_or_default());
    if let Some(ApprovalDecision { by, reason, scope, .. }) = &approval.decision {
        tx.detail("fallback", *by == Actor::user(NOBODY));
        tx.detail("scope", scope.as_str());
        tx.detail("reason", reason.clone());
    }
}

fn decided(approval: &Approval, state: ApprovalState) -> ServiceError {
    let by = approval.decision.as_ref().map(|decision| decision.by.user.clone());
    ServiceError::Decided { id: approval.id, state, by }
}
