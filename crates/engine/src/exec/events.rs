//! What happens while a command runs, as a stream.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offshoot_sandbox::Stream;

/// How many bytes of output wait for whoever reads events.
const WAITING: usize = 1 << 20;

/// Something that happened while a command ran.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// use offshoot_engine::exec::Event;
///
/// for event in exec.events() {
///     match event {
///         Event::Started { workspace } => println!("running in {workspace}"),
///         Event::Output { bytes, .. } => print!("{}", String::from_utf8_lossy(&bytes)),
///         Event::Finished => println!("over"),
///         _ => {}
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// Its workspace is in use, and it waits for that as long as it may.
    Waiting {
        /// Who uses it: the process and its command.
        holder: String,
    },
    /// It is running, in the workspace of this name.
    Started {
        /// The workspace.
        workspace: String,
    },
    /// It printed something.
    Output {
        /// Where.
        stream: Stream,
        /// What.
        bytes: Vec<u8>,
    },
    /// So many bytes of its output are left out, which nobody read in time. The outcome has what is kept of it.
    Skipped {
        /// How many.
        bytes: usize,
    },
    /// It is over; what it changed is being taken and recorded.
    Sealing,
    /// Its outcome is there.
    Finished,
}

/// The events of one command, in order; ends when the command has. Before somebody asks for it the oldest output is left out
/// where it gets too much; from then on the command waits for the reader, as it would at a pipe.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// use offshoot_engine::exec::Event;
///
/// let ready = exec.events().find(|event| matches!(event, Event::Output { .. }));
/// # }
/// ```
#[derive(Debug)]
pub struct Events(Arc<Queue>);

impl Iterator for Events {
    type Item = Event;

    /// Waits for the next one.
    fn next(&mut self) -> Option<Event> {
        let mut state = self.0.lock();
        loop {
            if let Some(event) = state.pop() {
                self.0.changed.notify_all();
                return Some(event);
            }
            if state.ended {
                return None;
            }
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.0.lock().readers -= 1;
        self.0.changed.notify_all();
    }
}

/// Where events wait.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Event>,
    bytes: usize,
    skipped: usize,
    readers: usize,
    ended: bool,
}

impl State {
    fn pop(&mut self) -> Option<Event> {
        if self.skipped > 0 {
            return Some(Event::Skipped { bytes: std::mem::take(&mut self.skipped) });
        }
        let event = self.waiting.pop_front()?;
        if let Event::Output { bytes, .. } = &event {
            self.bytes -= bytes.len();
        }
        Some(event)
    }

    /// Leaves out the oldest output until there is room for so much.
    fn make_room(&mut self, size: usize) {
        while self.bytes + size > WAITING {
            let is_output = |event: &Event| matches!(event, Event::Output { .. });
            let Some(at) = self.waiting.iter().position(is_output) else { return };
            if let Some(Event::Output { bytes, .. }) = self.waiting.remove(at) {
                self.bytes -= bytes.len();
                self.skipped += bytes.len();
            }
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event. Output waits for readers where there are any.
    pub(super) fn push(&self, event: Event) {
        let mut state = self.lock();
        if let Event::Output { bytes, .. } = &event {
            while state.readers > 0 && state.bytes > 0 && state.bytes + bytes.len() > WAITING {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.make_room(bytes.len());
            state.bytes += bytes.len();
        }
        state.waiting.push_back(event);
        self.changed.notify_all();
    }

    /// There are no more.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.waiting.push_back(Event::Finished);
        state.ended = true;
        self.changed.notify_all();
    }

    /// Reads from here on.
    pub(super) fn read(self: &Arc<Self>) -> Events {
        self.lock().readers += 1;
        Events(Arc::clone(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(size: usize) -> Event {
        Event::Output { stream: Stream::Stdout, bytes: vec![b'x'; size] }
    }

    #[test]
    fn output_that_nobody_reads_is_left_out_and_that_is_told() {
        let queue = Arc::new(Queue::default());
        queue.push(Event::Started { workspace: "w".to_owned() });
        for _ in 0..3 {
            queue.push(output(WAITING / 2));
        }
        queue.end();
        let events: Vec<Event> = queue.read().collect();
        let started = Event::Started { workspace: "w".to_owned() };
        let skipped = Event::Skipped { bytes: WAITING / 2 };
        let half = output(WAITING / 2);
        assert_eq!(events, [skipped, started, half.clone(), half, Event::Finished]);
    }

    #[test]
    fn a_command_waits_for_its_reader_and_not_for_one_who_left() {
        let queue = Arc::new(Queue::default());
        let mut events = queue.read();
        queue.push(output(WAITING));
        let writer = Arc::clone(&queue);
        let thread = std::thread::spawn(move || writer.push(output(1)));
        assert_eq!(events.next(), Some(output(WAITING)));
        thread.join().expect("it goes on when there is room");
        queue.push(output(WAITING - 1));
        let writer = Arc::clone(&queue);
        let thread = std::thread::spawn(move || writer.push(output(WAITING)));
        drop(events);
        thread.join().expect("it goes on when nobody reads");
    }
}
