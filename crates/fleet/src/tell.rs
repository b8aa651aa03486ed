//! What governance decided, for the audit log and for other agents.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use offshoot_engine::Project;
use offshoot_governance::{
    FileOutbox, GovernanceEvent, GovernanceObserver, OUTBOX_BYTES, ObserverError, ObserverQueue,
    QueueLimits,
};
use offshoot_transport::PeerBody;
use serde_json::json;
use tokio::runtime::Handle;

use crate::client::FleetClient;
use crate::error::FleetError;
use crate::shared::now_ms;

/// How long a thread waits for news.
const WAIT: Duration = Duration::from_millis(500);
/// How many events are delivered at once.
const AT_ONCE: usize = 64;
/// How long another agent may take for one event.
const PATIENCE: Duration = Duration::from_secs(15);

/// Writes what must arrive to the audit log of the project.
pub(crate) struct AuditObserver(pub(crate) Project);

impl GovernanceObserver for AuditObserver {
    fn name(&self) -> &str {
        "audit"
    }

    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
        if !event.kind.must_arrive() {
            return Ok(());
        }
        let details = serde_json::to_value(event).unwrap_or_default();
        let summary = format!(
            "{} {} {} ({})",
            event.kind, event.request.action, event.request.target, event.rule
        );
        let recorded = self.0.record_governance(&event.request.agent, &summary, &details);
        recorded.map_err(|error| ObserverError::new("audit", error.to_string()))
    }
}

/// Tells another agent, and waits until it has it.
struct PeerObserver {
    agent: String,
    client: Arc<FleetClient>,
    runtime: Handle,
}

impl GovernanceObserver for PeerObserver {
    fn name(&self) -> &str {
        &self.agent
    }

    fn observe(&self, event: &GovernanceEvent) -> Result<(), ObserverError> {
        if !event.kind.must_arrive() {
            return Ok(());
        }
        let failed = |why: String| ObserverError::new(&self.agent, why);
        let body = PeerBody::json(&json!({ "governance": event }));
        let body = body.map_err(|error| failed(error.to_string()))?;
        let told = async {
            let peer = self.client.connect(&self.agent).await.map_err(|error| error.to_string())?;
            peer.send(body, true).await.map_err(|error| error.to_string())
        };
        let told = self.runtime.block_on(async { tokio::time::timeout(PATIENCE, told).await });
        told.map_err(|_late| failed("it did not answer in time".to_owned()))?.map_err(failed)
    }
}

/// The queue before another agent, and the thread that delivers.
pub(crate) struct Telling {
    pub(crate) queue: Arc<ObserverQueue>,
    stop: Arc<AtomicBool>,
}

impl Telling {
    pub(crate) fn start(
        agent: &str,
        state: &Path,
        client: Arc<FleetClient>,
    ) -> Result<Self, FleetError> {
        let outbox = FileOutbox::open(&state.join(format!("tell-{agent}")), OUTBOX_BYTES)?;
        let observer = PeerObserver { agent: agent.to_owned(), client, runtime: Handle::current() };
        let (observer, outbox) = (Arc::new(observer), Arc::new(outbox));
        let queue = Arc::new(ObserverQueue::new(observer, outbox, QueueLimits::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let (pumped, stopped) = (Arc::clone(&queue), Arc::clone(&stop));
        let name = format!("tell {agent}");
        let thread = std::thread::Builder::new().name(name.clone());
        let spawned = thread.spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // An outbox that cannot be read is told by `observe`, which denies then.
                drop(pumped.pump(now_ms(), AT_ONCE));
                pumped.wait(WAIT);
            }
        });
        spawned.map_err(|why| FleetError::file(state.join(name), why))?;
        Ok(Self { queue, stop })
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
