//! The agent in its workspace.

use std::sync::Arc;

use offshoot_agent::{
    Agent, AgentCallKey, AgentError, AgentHandle, AgentParts, Clock, ConversationId, Delegation,
    DelegationParts, Grant, HistoryEntry, PendingQuestion, PromptLayer, Rested, State, SystemClock,
    Tools, TurnLimits, UserDecision, WithSkills, fork,
};
use offshoot_engine::file::PathContext;
use offshoot_engine::id::Id;
use offshoot_engine::session::{Session, SessionLock};
use offshoot_engine::{Error, Workspace};
use offshoot_protocol::{ExecState, ExitCode};

use crate::error::CoderError;
use crate::forks::{SubWorkspaces, host};
use crate::log::SessionLog;
use crate::options::CoderOptions;
use crate::prompt;
use crate::tools::WorkspaceTools;

/// The tool that runs commands.
const RUN: &str = "run_command";

/// A coding agent in a workspace. Its conversation is a session of the vault: drop it at any time, and [resume](Coder::resume) later.
pub struct Coder {
    agent: Agent,
    session: Session,
    workspace: Workspace,
    forks: Arc<SubWorkspaces>,
    notes: Vec<String>,
    /// Nobody else takes the session up meanwhile.
    _held: SessionLock,
}

impl Coder {
    /// Begins a conversation in a workspace.
    pub async fn begin(workspace: &Workspace, options: CoderOptions) -> Result<Self, CoderError> {
        let (provider, model) =
            (options.provider.id().to_string(), options.settings.model.to_string());
        let (own, name) = (workspace.clone(), options.name.clone());
        let session = away(move || own.new_session(name.as_deref(), (&provider, &model))).await?;
        let id = ConversationId::new(session.id().to_string());
        let Made { parts, layers, forks, notes, held } =
            Self::parts(workspace, &session, &options).await?;
        let agent = Agent::begin(parts, id, options.settings, layers).await?;
        Ok(Self { agent, session, workspace: workspace.clone(), forks, notes, _held: held })
    }

    /// Takes a conversation up again, wherever it was left, with the model and the limits of these options. [`Coder::run`] goes on with it.
    pub async fn resume(session: Session, options: CoderOptions) -> Result<Self, CoderError> {
        let workspace = session.workspace();
        let Made { parts, layers, forks, notes, held } =
            Self::parts(&workspace, &session, &options).await?;
        let forked = session.clone();
        away(move || Ok(note_fork(&forked))).await??;
        let agent = Agent::open(parts, Some(options.settings), layers).await?;
        Ok(Self { agent, session, workspace, forks, notes, _held: held })
    }

    async fn parts(
        workspace: &Workspace,
        session: &Session,
        options: &CoderOptions,
    ) -> Result<Made, CoderError> {
        let (own, of, options) = (workspace.clone(), session.clone(), options.clone());
        away(move || {
            let held = of.resume(&format!("process {} (offshoot agent)", std::process::id()))?;
            let host = Arc::new(host(&own, of.clone(), &options)?);
            let (mut layers, skills, notes) = prompt::layers(&own, &directory(&own, &options)?);
            if !options.role.is_empty() {
                layers.push(PromptLayer::Task { text: options.role.clone() });
            }
            let tools = WorkspaceTools::of(host, &options);
            let forks = Arc::new(SubWorkspaces::new(own, options.clone()));
            let delegation = DelegationParts {
                provider: Arc::clone(&options.provider),
                logs: Arc::<SubWorkspaces>::clone(&forks),
                settings: options.settings.clone(),
                layers: layers.clone(),
                listener: Arc::clone(&options.listener),
                clock: Arc::new(SystemClock),
                redactor: options.redactor.clone(),
            };
            let grant = Grant::root(options.settings.limits, options.depth);
            let tools: Arc<dyn Tools> = Arc::new(WithSkills::new(tools, skills));
            let tools =
                Delegation::new(tools, Arc::<SubWorkspaces>::clone(&forks), grant, delegation);
            let model = options.settings.model.to_string();
            let log = SessionLog::new(of).model(options.provider.id().to_string(), model);
            let mut parts = AgentParts::new(Arc::clone(&options.provider), tools, log);
            parts.listener = options.listener;
            parts.redactor = options.redactor;
            Ok(Made { parts, layers, forks, notes, held })
        })
        .await
    }

    /// The session that keeps the conversation.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The workspace in which it works.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// What a person is to know about how it was started, such as instructions that were left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What the conversation came to.
    pub fn state(&self) -> &State {
        self.agent.state()
    }

    /// How many commands the agent ran or tried to run.
    pub fn commands(&self) -> u64 {
        let settled = self.agent.state().entries().iter().filter_map(|entry| match entry {
            HistoryEntry::Results(calls) => Some(calls),
            _ => None,
        });
        settled.flatten().filter(|settled| settled.call.name == RUN).count() as u64
    }

    /// Reaches the agent while it works, to steer or cancel it.
    pub fn handle(&self) -> AgentHandle {
        self.agent.handle()
    }

    /// The user says something, and the agent works until it rests.
    pub async fn say(&mut self, text: impl Into<String>) -> Result<Rested, CoderError> {
        Ok(self.agent.say(text).await?)
    }

    /// Goes on with what is open, until the agent rests. What was approved or denied in the vault meanwhile counts.
    pub async fn run(&mut self) -> Result<Rested, CoderError> {
        let mut rested = self.agent.run().await?;
        while let Rested::Waiting(questions) = &rested {
            let Some((key, decision)) = self.decided(questions).await? else { break };
            rested = self.agent.decide(&key, decision, None).await?;
        }
        Ok(rested)
    }

    /// A question that the vault has the answer to.
    fn decided(
        &self,
        questions: &[PendingQuestion],
    ) -> impl Future<Output = Result<Option<(AgentCallKey, UserDecision)>, CoderError>> + Send + use<>
    {
        let approvals = questions.iter().filter(|question| question.is_approval);
        let keys: Vec<AgentCallKey> = approvals.map(|question| question.key.clone()).collect();
        let (session, forks) = (self.session.clone(), Arc::clone(&self.forks));
        away(move || {
            for key in keys {
                let asked = asked_for(&session, &forks, &key)?;
                if let Some(decision) = decision(&session, &asked)? {
                    return Ok(Some((key, decision)));
                }
            }
            Ok(None)
        })
    }

    /// The approvals of the vault that a question waits for: of a sub-agent, all of its own.
    pub fn approvals(
        &self,
        key: &AgentCallKey,
    ) -> impl Future<Output = Result<Vec<Id>, CoderError>> + Send + use<> {
        let (session, forks, key) = (self.session.clone(), Arc::clone(&self.forks), key.clone());
        away(move || {
            let asked = asked_for(&session, &forks, &key)?;
            Ok(asked.into_iter().flat_map(|asked| asked.approvals).collect())
        })
    }

    /// The user decides about a call, and the agent works until it rests.
    pub async fn decide(
        &mut self,
        key: &AgentCallKey,
        decision: UserDecision,
    ) -> Result<Rested, CoderError> {
        if let UserDecision::Deny { why } = &decision {
            self.deny(key, why.clone()).await?;
        }
        Ok(self.agent.decide(key, decision, None).await?)
    }

    /// Denies the approval that a call waits for, where the vault has one.
    fn deny(
        &self,
        key: &AgentCallKey,
        why: Option<String>,
    ) -> impl Future<Output = Result<(), CoderError>> + Send + use<> {
        let (asked, session) = (self.approvals(key), self.session.clone());
        async move {
            let ids = asked.await?;
            away(move || {
                let project = session.project();
                let pending = project.pending()?;
                for approval in pending.iter().filter(|approval| ids.contains(&approval.id)) {
                    project.deny(approval, why.as_deref())?;
                }
                Ok(())
            })
            .await
        }
    }

    /// The user lets a paused turn go on, with other limits if there are any.
    pub async fn resume_turn(&mut self, limits: Option<TurnLimits>) -> Result<Rested, CoderError> {
        Ok(self.agent.resume(limits).await?)
    }

    /// The user ends the turn.
    pub async fn cancel(&mut self) -> Result<Rested, CoderError> {
        Ok(self.agent.cancel().await?)
    }

    /// Ends commands in the background, before the program does, and says which. What they wrote is kept.
    pub async fn finish(&mut self) -> Result<Vec<String>, CoderError> {
        Ok(self.agent.finish().await?)
    }
}

/// What a coder is made of.
struct Made {
    parts: AgentParts,
    layers: Vec<PromptLayer>,
    forks: Arc<SubWorkspaces>,
    notes: Vec<String>,
    held: SessionLock,
}

/// What a call waits for in the vault.
struct Asked {
    approvals: Vec<Id>,
    /// A sub-agent asks, which is told of each decision by itself.
    by_sub_agent: bool,
}

/// The approvals that a call waits for; nothing where it waits for something that the vault does not know.
fn asked_for(
    session: &Session,
    forks: &SubWorkspaces,
    key: &AgentCallKey,
) -> offshoot_engine::Result<Option<Asked>> {
    if let Some(call) = session.project().call(&session.call_key(key.as_str()))? {
        return Ok(Some(Asked { approvals: vec![call.id], by_sub_agent: false }));
    }
    let Some((session, forks)) = forks.sub_agent(key)? else { return Ok(None) };
    let records = SessionLog::new(session.clone()).read_now(1);
    let records = records.map_err(|error| Error::new(ExitCode::Damaged, error.to_string()))?;
    let mut approvals = Vec::new();
    for question in State::from_events(&records).questions() {
        match asked_for(&session, &forks, &question.key)? {
            Some(asked) => approvals.extend(asked.approvals),
            None => return Ok(None),
        }
    }
    Ok((!approvals.is_empty()).then_some(Asked { approvals, by_sub_agent: true }))
}

/// What was decided about a call, once all of it is.
fn decision(
    session: &Session,
    asked: &Option<Asked>,
) -> offshoot_engine::Result<Option<UserDecision>> {
    let (Some(asked), project) = (asked, session.project()) else { return Ok(None) };
    let mut decision = UserDecision::Allow;
    for id in &asked.approvals {
        match project.envelope(id)?.map(|it| it.result.state) {
            None | Some(ExecState::PendingApproval) => return Ok(None),
            Some(ExecState::Denied) if !asked.by_sub_agent => {
                let all = project.engine().approvals(project.vault()).list()?;
                let decided = all.into_iter().find(|approval| approval.id == *id);
                let why = decided.and_then(|approval| approval.decision?.reason);
                decision = UserDecision::Deny { why };
            }
            Some(_) => {}
        }
    }
    Ok(Some(decision))
}

/// Where in the workspace the agent works: names from its top, with `/` between them.
fn directory(workspace: &Workspace, options: &CoderOptions) -> offshoot_engine::Result<String> {
    let Some(here) = &options.directory else { return Ok(String::new()) };
    let standing = PathContext::new(workspace.project().vault(), here)?.path(b".")?;
    let names = standing.names().iter().map(|name| String::from_utf8_lossy(name).into_owned());
    Ok(names.collect::<Vec<_>>().join("/"))
}

/// A fork of a session says itself that it is one: what was open in its parent does not belong to it.
fn note_fork(session: &Session) -> Result<(), CoderError> {
    let own = ConversationId::new(session.id().to_string());
    let log = SessionLog::new(session.clone());
    let records = log.read_now(1).map_err(AgentError::from)?;
    let is_fork = session.record().origin.parent.is_some();
    if !is_fork || State::from_events(&records).conversation() == Some(&own) {
        return Ok(());
    }
    let at = records.len();
    let forked = fork(&records, at as u64, own, SystemClock.now());
    let forked = forked.map_err(|error| CoderError::Broken(error.to_string()))?;
    log.append_now(&forked[at..]).map_err(AgentError::from)?;
    Ok(())
}

async fn away<T: Send + 'static>(
    work: impl FnOnce() -> offshoot_engine::Result<T> + Send + 'static,
) -> Result<T, CoderError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| CoderError::Broken(error.to_string()))??)
}
