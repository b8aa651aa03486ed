//! What goes on in a project: commands, and the upkeep that follows them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Counts what goes on.
#[derive(Debug, Default)]
pub(crate) struct Activity {
    count: Mutex<usize>,
    idle: Condvar,
}

/// Something that goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Activity>);

impl Activity {
    pub(crate) fn begin(activity: &Arc<Self>) -> Busy {
        *activity.lock() += 1;
        Busy(Arc::clone(activity))
    }

    pub(crate) fn wait_idle(&self) {
        let mut count = self.lock();
        while *count > 0 {
            count = self.idle.wait(count).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.idle.notify_all();
    }
}
