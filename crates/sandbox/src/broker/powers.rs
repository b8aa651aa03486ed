//! The rights of a broker's threads: the command's own, but for the contents of what the command may move.
//!
//! The caller may be root, and the command is root without capabilities. A thread lays down its capabilities, so that the
//! kernel decides for it as it would for the command. To move a directory takes no right to what is in it, though, so
//! they are taken up again for that. Capabilities are a thread's own, and so are ids: those of a command that has its own are the thread's, too. An
//! ordinary user has the command's ids and no capability to begin with.

use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

use crate::ids::FIRST;
use crate::sys;

/// Gives this thread the ids of a command that has its own.
pub(crate) fn take_ids() -> Result<(), Errno> {
    static ONE: Mutex<()> = Mutex::new(());
    // All threads share what others may see of them.
    let _one_at_a_time = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dumpable = sys::is_dumpable();
    // Only for files: who may look into the command is who made its namespace.
    let taken = sys::reach_files_as(FIRST);
    if dumpable {
        // The kernel takes that from all threads when one of them has other ids.
        sys::prctl(libc::PR_SET_DUMPABLE, 1, 0)?;
    }
    taken
}

/// Lays down all capabilities of this thread, to be taken up again or not.
pub(crate) fn lay_down() {
    // Who may not drop groups could not for the command either.
    let _has_the_same = rustix::thread::set_thread_groups(&[]).is_err();
    set_effective(|_| CapabilitySet::empty());
}

/// As long as it lives, this thread has its capabilities.
pub(super) struct Raised {
    /// What is closed to its owner can be read and changed.
    pub(super) opens_everything: bool,
}

impl Raised {
    pub(super) fn new() -> Self {
        set_effective(|permitted| permitted);
        let needed = CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER | CapabilitySet::CHOWN;
        let opens_everything = capabilities(None).is_ok_and(|sets| sets.effective.contains(needed));
        Self { opens_everything }
    }
}

impl Drop for Raised {
    fn drop(&mut self) {
        lay_down();
    }
}

fn set_effective(choose: impl Fn(CapabilitySet) -> CapabilitySet) {
    let Ok(mut sets) = capabilities(None) else { return };
    sets.effective = choose(sets.permitted);
    // A thread may always lay down what it has and take up what it is permitted.
    let _unchanged = set_capabilities(None, sets).is_err();
}
