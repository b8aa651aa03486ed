//! An agent that is served.

mod start;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offshoot_coder::CoderOptions;
use offshoot_engine::Project;
use offshoot_kernel::{AgentKernel, LifeState};
use offshoot_registry::RegistryStanding;
use offshoot_transport::{PeerAddress, PeerServer};
use tokio::task::JoinHandle;

use crate::client::FleetClient;
use crate::definition::AgentDefinition;
use crate::error::FleetError;
use crate::listen::FleetSecret;
use crate::progress::FleetProgress;
use crate::shared::Shared;
use crate::tell::Telling;

/// What an agent is served with.
pub struct AgentServiceOptions {
    /// Its file.
    pub definition: AgentDefinition,
    /// The project that it works in, or in whose audit log its decisions are.
    pub project: Project,
    /// What Offshoot's own agent is started with; an agent of the kind `rules` has none.
    pub coder: Option<CoderOptions>,
    /// The model that is asked, as `PROVIDER/MODEL`.
    pub model: String,
    /// Where its journal is.
    pub state: PathBuf,
    /// What agents of this user share.
    pub secret: Option<FleetSecret>,
    /// Is told what happens. It must not block.
    pub listener: Arc<dyn Fn(&FleetProgress) + Send + Sync>,
}

/// An agent that runs: it takes calls, and does tasks. Dropped, it stops as in a crash, and goes on when it is started again.
pub struct AgentService {
    shared: Arc<Shared>,
    kernel: AgentKernel,
    server: Option<PeerServer>,
    client: Option<Arc<FleetClient>>,
    courier: JoinHandle<()>,
    _telling: Vec<Telling>,
}

impl AgentService {
    /// Opens the journal, listens, registers, and goes on with what is open.
    pub async fn start(options: AgentServiceOptions) -> Result<Self, FleetError> {
        start::start(options).await
    }

    /// Where it can be called.
    pub fn address(&self) -> Option<&PeerAddress> {
        self.server.as_ref().map(PeerServer::address)
    }

    /// Its kernel.
    pub fn kernel(&self) -> &AgentKernel {
        &self.kernel
    }

    /// How each registry stands to it.
    pub fn registries(&self) -> Vec<RegistryStanding> {
        self.client.as_ref().map(|client| client.standing()).unwrap_or_default()
    }

    /// Waits until the agent stops by itself; the reason, if something went wrong.
    pub async fn stopped(&self) -> Option<FleetError> {
        let mut life = self.kernel.life();
        drop(life.wait_for(|life| *life == LifeState::Terminated).await);
        self.kernel.broken().map(FleetError::Journal)
    }

    /// Leaves the registries, takes nothing more, and stops. What is open goes on when it is started again.
    pub async fn stop(mut self, time: Duration) {
        if let Some(client) = &self.client {
            client.leave().await;
        }
        // Callers are told at once that it stops: they call again with their key.
        self.courier.abort();
        self.kernel.stop().await;
        if let Some(server) = self.server.take() {
            server.drain(time).await;
        }
    }

    /// Takes nothing more, finishes what was accepted, and stops for good: its journal is over.
    pub async fn retire(mut self, time: Duration) -> Result<(), FleetError> {
        if let Some(client) = &self.client {
            client.leave().await;
        }
        self.kernel.retire().await?;
        self.kernel.terminated().await?;
        if let Some(server) = self.server.take() {
            server.drain(time).await;
        }
        Ok(())
    }

    /// The file that it was started by.
    pub fn definition(&self) -> &AgentDefinition {
        &self.shared.definition
    }
}

impl Drop for AgentService {
    fn drop(&mut self) {
        self.courier.abort();
    }
}

impl fmt::Debug for AgentService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.shared.definition.name;
        formatter.debug_struct("AgentService").field("name", name).finish_non_exhaustive()
    }
}
