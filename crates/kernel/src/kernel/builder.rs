//! Starting an agent.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{AgentKernel, Shared};
use crate::amount::Budget;
use crate::command::Commands;
use crate::driver::{Announcements, BootState, Driver};
use crate::error::KernelError;
use crate::event::KernelRecord;
use crate::hooks::AgentHooks;
use crate::host::HostLimits;
use crate::input::{KernelInput, KernelSettings};
use crate::job::KernelJob;
use crate::journal::{JournalContents, KernelJournal};
use crate::life::LifeState;
use crate::limits::KernelLimits;
use crate::machine::KernelMachine;
use crate::state::KernelState;
use crate::time::{HostClock, KernelClock};

/// So many commands wait for the loop; whoever has one more waits too.
const INBOX: usize = 1_024;

/// Builds an agent.
#[derive(Debug)]
#[must_use = "nothing runs until `start` is called"]
pub struct KernelBuilder<H, J> {
    hooks: H,
    journal: J,
    settings: KernelSettings,
    host: HostLimits,
    clock: Clock,
    seed: u64,
}

struct Clock(Arc<dyn KernelClock>);

impl std::fmt::Debug for Clock {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Clock")
    }
}

impl<H: AgentHooks, J: KernelJournal> KernelBuilder<H, J> {
    pub(super) fn new(hooks: H, journal: J) -> Self {
        Self {
            hooks,
            journal,
            settings: KernelSettings::default(),
            host: HostLimits::default(),
            clock: Clock(Arc::new(HostClock::default())),
            seed: 0,
        }
    }

    /// With bounds.
    pub fn limits(mut self, limits: KernelLimits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// With a budget for all that the agent does.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.settings.budget = Some(budget);
        self
    }

    /// With one more job. One that the agent has already in the same form goes on.
    pub fn job(mut self, job: KernelJob) -> Self {
        self.settings.jobs.push(job);
        self
    }

    /// On a host whose slots it shares.
    pub fn host(mut self, host: HostLimits) -> Self {
        self.host = host;
        self
    }

    /// With a clock.
    pub fn clock(mut self, clock: impl KernelClock) -> Self {
        self.clock = Clock(Arc::new(clock));
        self
    }

    /// With a seed for the waits between attempts. The same inputs at the same times make the same records.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Opens the journal, and goes on where the agent was. One that had begun runs `on_bootstrap` again.
    pub async fn start(self) -> Result<AgentKernel, KernelError> {
        let Self { hooks, journal, settings, host, clock, seed } = self;
        let contents = journal.read().await?;
        let uncompacted = contents.records.len() as u64;
        let state = fold(&contents)?;
        let life = state.life;
        let machine = KernelMachine::new(state, seed);
        let (commands, inbox) = Commands::new(INBOX);
        let (life_sender, life_receiver) = watch::channel(life);
        let begins = matches!(life, LifeState::Init | LifeState::Terminated);
        let boot_state = if begins { BootState::Done } else { BootState::Running };
        let (boot_sender, boot) = watch::channel(boot_state);
        let (broken_sender, broken) = watch::channel(None);
        let stop = CancellationToken::new();
        let driver = Driver {
            machine,
            journal,
            hooks: Arc::new(hooks),
            clock: clock.0,
            host,
            inbox,
            commands: commands.clone(),
            announce: Announcements { life: life_sender, boot: boot_sender, broken: broken_sender },
            stop: stop.clone(),
            running: HashMap::new(),
            slots: Vec::new(),
            waiters: HashMap::new(),
            uncompacted,
        };
        let (opened, is_open) = oneshot::channel();
        tokio::spawn(driver.run(KernelInput::Open(Box::new(settings)), opened));
        let _guard = stop.clone().drop_guard();
        let shared = Shared { commands, life: life_receiver, boot, broken, stop, _guard };
        let kernel = AgentKernel { shared: Arc::new(shared) };
        is_open.await.map_err(|_| kernel.why_stopped())??;
        if !begins {
            kernel.booted().await?;
        }
        Ok(kernel)
    }
}

/// What a journal comes to.
fn fold(contents: &JournalContents) -> Result<KernelState, KernelError> {
    let mut state = match &contents.snapshot {
        Some((_, snapshot)) => KernelState::from_snapshot(snapshot)?,
        None => KernelState::new(),
    };
    for (number, bytes) in (contents.first()..).zip(&contents.records) {
        let unreadable = |why: String| KernelError::Unreadable { number, why };
        let record =
            KernelRecord::from_bytes(bytes).map_err(|error| unreadable(error.to_string()))?;
        if record.number() != number {
            return Err(unreadable(format!("it has the number {}", record.number())));
        }
        state.apply(&record);
    }
    Ok(state)
}
