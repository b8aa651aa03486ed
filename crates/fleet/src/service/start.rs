//! From a file to an agent that runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use offshoot_governance::{
    CompositeObserver, GovernanceGate, GovernanceObserver, SensitivityClassifier,
};
use offshoot_kernel::{AgentKernel, FileJournal, JournalError, LifeState};
use offshoot_registry::AgentCard;
use offshoot_transport::{PeerAddress, PeerListener};

use super::{AgentService, AgentServiceOptions};
use crate::calls::PeerCalls;
use crate::client::{ANY, FleetClient, FleetClientOptions, by_name};
use crate::courier::Courier;
use crate::definition::{AgentDefinition, WorkDefinition};
use crate::error::FleetError;
use crate::hooks::ServiceHooks;
use crate::listen;
use crate::progress::Watched;
use crate::rules;
use crate::shared::Shared;
use crate::tell::{AuditObserver, Telling};

pub(super) async fn start(options: AgentServiceOptions) -> Result<AgentService, FleetError> {
    let AgentServiceOptions { definition, project, coder, model, state, secret, listener } =
        options;
    let engine = Arc::new(rules::engine(&definition)?);
    let listening = listen::listener(&definition.listen, secret.as_ref())?;
    let journal = FileJournal::open(&state).map_err(|error| match error {
        JournalError::Locked { .. } => FleetError::Served { name: definition.name.clone() },
        error => FleetError::Journal(error),
    })?;
    let has_registries = !definition.registries.is_empty();
    let client = has_registries
        .then(|| FleetClient::start(FleetClientOptions::of(&definition, secret.clone())))
        .transpose()?
        .map(Arc::new);
    let mut observers: Vec<Arc<dyn GovernanceObserver>> =
        vec![Arc::new(AuditObserver(project.clone()))];
    let mut telling = Vec::new();
    for agent in &definition.governance.tell {
        let Some(client) = &client else {
            let problem = format!("governance.tell: {agent} is found by a registry; add one");
            return Err(FleetError::Definition { path: definition.path.clone(), problem });
        };
        let told = Telling::start(agent, &state, Arc::clone(client))?;
        observers.push(Arc::<offshoot_governance::ObserverQueue>::clone(&told.queue));
        telling.push(told);
    }
    let gate = GovernanceGate::new(engine, Arc::new(CompositeObserver::new(observers)));
    let role = match &definition.work {
        WorkDefinition::Coder(work) => work.role.clone(),
        WorkDefinition::Rules => String::new(),
    };
    let coder = coder.map(|coder| (project.clone(), coder.role(role)));
    let shared = Arc::new(Shared {
        coder,
        project,
        model,
        gate,
        classifier: SensitivityClassifier::new(),
        watched: Watched::new(listener),
        forks: Arc::default(),
        escalated: Mutex::default(),
        definition,
    });
    let kernel = kernel(&shared, journal).await?;
    let calls = PeerCalls { shared: Arc::clone(&shared), kernel: kernel.clone() };
    let server = PeerListener::bind(listening).await?.serve(calls);
    if let Some(client) = &client {
        client.register(card(&shared.definition, server.address()));
    }
    let courier = Courier::new(Arc::clone(&shared), kernel.clone(), client.clone());
    let courier = tokio::spawn(courier.run());
    let server = Some(server);
    Ok(AgentService { shared, kernel, server, client, courier, _telling: telling })
}

/// Opens the kernel, and has it work. One that was suspended stays so.
async fn kernel(shared: &Arc<Shared>, journal: FileJournal) -> Result<AgentKernel, FleetError> {
    let unusable = |problem: String| {
        let path = shared.definition.path.clone();
        FleetError::Definition { path, problem }
    };
    let mut builder = AgentKernel::builder(ServiceHooks(Arc::clone(shared)), journal)
        .limits(shared.definition.kernel_limits());
    if let Some(budget) = shared.definition.budget.budget() {
        builder = builder.budget(budget);
    }
    for job in shared.definition.kernel_jobs().map_err(unusable)? {
        builder = builder.job(job);
    }
    let kernel = builder.start().await?;
    let life = *kernel.life().borrow();
    match life {
        LifeState::Init => {
            kernel.boot().await?;
            kernel.activate().await?;
        }
        LifeState::Ready => kernel.activate().await?,
        LifeState::Terminated => {
            let problem = "the agent was retired; its journal is over. Give it another name";
            return Err(unusable(problem.to_owned()));
        }
        LifeState::Active | LifeState::Suspended | LifeState::Retiring => {}
    }
    Ok(kernel)
}

/// What the registries tell of it.
fn card(agent: &AgentDefinition, address: &PeerAddress) -> AgentCard {
    let mut capabilities = agent.capabilities.clone();
    capabilities.extend([ANY.to_owned(), by_name(&agent.name)]);
    let name = match agent.title.is_empty() {
        true => agent.name.clone(),
        false => agent.title.clone(),
    };
    let id = agent.name.clone();
    AgentCard { id, name, capabilities, address: address.to_string(), metadata: BTreeMap::new() }
}
