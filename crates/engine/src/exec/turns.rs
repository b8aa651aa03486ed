//! Whose turn it is: the commands of one host take a workspace in the order in which they were asked for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use offshoot_workspace::ExecutionRequest;

use super::events::Event;

/// How often somebody who waits looks whether that is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// Who wants which workspace.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    lines: Mutex<Lines>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    of: HashMap<String, VecDeque<Standing>>,
    /// The number of who comes next, in whichever line. None is given twice: whoever left may say so again.
    next: u64,
}

/// Somebody in a line.
#[derive(Debug)]
struct Standing {
    number: u64,
    /// The workspace is in use by somebody who is not in the line, and this one waits for it.
    waits: bool,
}

/// The place of a command in the line for its workspace. It leaves the line when this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    /// None where it stands in nobody's way: it only reads, or has a workspace of its own.
    standing: Option<(String, u64)>,
}

impl Turns {
    /// Puts a command at the end of the line for its workspace.
    pub(super) fn stand(turns: &Arc<Self>, request: &ExecutionRequest) -> Turn {
        let standing = match request.place.workspace() {
            Some(name) if !request.read_only => {
                let mut lines = turns.lock();
                let number = lines.next;
                lines.next += 1;
                lines
                    .of
                    .entry(name.to_owned())
                    .or_default()
                    .push_back(Standing { number, waits: false });
                Some((name.to_owned(), number))
            }
            _ => None,
        };
        Turn { turns: Arc::clone(turns), standing }
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Waits until those ahead have the workspace or do without it, or until this is not wanted any more. What is left then of the
    /// time that the command may wait. One that does not wait for others' commands waits for those ahead only to start.
    pub(super) fn wait(
        &self,
        patience: Option<Duration>,
        wanted: &dyn Fn() -> bool,
    ) -> Option<Duration> {
        let started = Instant::now();
        let left = || patience.map(|patience| patience.saturating_sub(started.elapsed()));
        let Some((name, number)) = &self.standing else { return patience };
        let mut lines = self.turns.lock();
        loop {
            let ahead = lines.of.get(name).and_then(|line| line.front());
            let Some(ahead) = ahead.filter(|ahead| ahead.number < *number) else { return left() };
            let is_tired = ahead.waits && left().unwrap_or_default().is_zero();
            if is_tired || !wanted() {
                return left();
            }
            let waited = self.turns.moved.wait_timeout(lines, LOOK);
            lines = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Something happened to the command.
    pub(super) fn heed(&self, event: &Event) {
        match event {
            Event::Waiting { .. } => self.waits(),
            Event::Started { .. } => self.pass(),
            _ => {}
        }
    }

    /// The workspace is in use by somebody else. Those behind who do not want to wait need not.
    fn waits(&self) {
        let Some((name, number)) = &self.standing else { return };
        if let Some(line) = self.turns.lock().of.get_mut(name) {
            line.iter_mut().filter(|one| one.number == *number).for_each(|one| one.waits = true);
        }
        self.turns.moved.notify_all();
    }

    /// It has the workspace, or does without: the next may try.
    pub(super) fn pass(&self) {
        let Some((name, number)) = &self.standing else { return };
        let mut lines = self.turns.lock();
        if let Some(line) = lines.of.get_mut(name) {
            line.retain(|one| one.number != *number);
            if line.is_empty() {
                lines.of.remove(name);
            }
        }
        drop(lines);
        self.turns.moved.notify_all();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pass();
    }
}
