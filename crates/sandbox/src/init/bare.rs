//! Where there are no namespaces: the init is the parent of all that the command leaves behind, and has nothing else to hold them by.

use rustix::event::{Timespec, poll};
use rustix::io::Errno;

use super::mounts::Made;
use super::processes::{Stat, each_process, number_of};
use super::step::{Failure, Step, step};
use crate::in_force::Findings;
use crate::script::Script;
use crate::sys;

/// What is known of an inside for which nothing was mounted.
pub(super) fn make() -> Result<Made, Failure> {
    step(Step::Signals, sys::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0))?;
    Ok(Made {
        upper: None,
        home_upper: None,
        beside: None,
        shown_uppers: None,
        temporary: None,
        caches: 0,
        devices: Default::default(),
        findings: Findings::default(),
        inotify: false,
    })
}

/// Sends a signal to everybody inside, as far as they can be told from others.
pub(super) fn signal_all(script: &Script, signal: i32) {
    if script.bare {
        let _unreadable = signal_children(signal).is_err();
    } else {
        let _nobody = !sys::signal_all(signal);
    }
}

/// Ends all children, and those who become children by that, until there are none.
pub(super) fn end_all() {
    const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };
    while signal_children(libc::SIGKILL).is_ok() {
        loop {
            match sys::reap() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let _interrupted = poll(&mut [], Some(&STEP)).is_err();
    }
}

/// Signals every child, and the group of each that leads one. A child keeps its number until it is reaped here, so nobody else is meant.
fn signal_children(signal: i32) -> Result<(), Errno> {
    let own = rustix::process::getpid().as_raw_nonzero().get().unsigned_abs();
    each_process(&mut |proc, name| {
        let mut space = [0; 1024];
        let stat = Stat::read(proc, name, &mut space)?;
        if stat.field(4)? == u64::from(own) {
            let pid = number_of(name)? as i32;
            sys::signal(pid, signal);
            if stat.field(5)? == u64::from(pid.unsigned_abs()) {
                sys::signal(-pid, signal);
            }
        }
        Some(())
    })
}
