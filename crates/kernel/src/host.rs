//! How many tasks run at once on a host.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A bound on the tasks that run at once, which agents of a host share. Agents that wait get slots in order.
///
/// ```
/// use offshoot_kernel::HostLimits;
///
/// let host = HostLimits::new(4);
/// assert_eq!(host.free(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct HostLimits {
    slots: Arc<Semaphore>,
}

/// A slot of a host; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct HostSlot {
    _permit: OwnedSemaphorePermit,
}

impl HostLimits {
    /// At most so many tasks; at least one.
    #[must_use]
    pub fn new(tasks: usize) -> Self {
        let tasks = tasks.clamp(1, Semaphore::MAX_PERMITS);
        Self { slots: Arc::new(Semaphore::new(tasks)) }
    }

    /// How many more tasks could run now.
    #[must_use]
    pub fn free(&self) -> usize {
        self.slots.available_permits()
    }

    pub(crate) fn try_take(&self) -> Option<HostSlot> {
        let permit = Arc::clone(&self.slots).try_acquire_owned().ok()?;
        Some(HostSlot { _permit: permit })
    }

    pub(crate) async fn take(self) -> Option<HostSlot> {
        // Nobody closes the semaphore.
        let permit = self.slots.acquire_owned().await.ok()?;
        Some(HostSlot { _permit: permit })
    }
}

impl Default for HostLimits {
    fn default() -> Self {
        Self::new(Semaphore::MAX_PERMITS)
    }
}
