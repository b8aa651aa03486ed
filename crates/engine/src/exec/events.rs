//! What happens while a command runs, as a stream.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use offshoot_sandbox::Stream;
use offshoot_store::Id;

use super::steering::Steering;

/// How many bytes of output wait for whoever reads events.
pub(super) const WAITING: usize = 1 << 20;

/// Something that happened while a command ran.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// use offshoot_engine::exec::Event;
///
/// for event in exec.events() {
///     match event {
///         Event::Started { workspace, .. } => println!("running in {workspace}"),
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
        /// What people should know about how it runs; its outcome has them too.
        warnings: Vec<String>,
    },
    /// It printed something.
    Output {
        /// Where.
        stream: Stream,
        /// What.
        bytes: Vec<u8>,
    },
    /// So many bytes of its output are left out: nobody read them in time, or others had read them when this reader began. The outcome
    /// has what is kept of it.
    Skipped {
        /// How many.
        bytes: usize,
    },
    /// It is over; what it changed is being taken and recorded.
    Sealing,
    /// A person has to decide about it: [`Project::approve`](crate::Project::approve).
    Pending {
        /// The approval, which is named like the exec.
        approval: Id,
    },
    /// Its outcome is there.
    Finished,
}

/// The events of one command, in order; ends when the command has. Everybody who asks for them gets all that come from then on. Before
/// somebody does, the oldest output is left out where it gets too much; from then on the command waits for the slowest reader, as it
/// would at a pipe, and can still be ended.
///
/// ```
/// # fn example(exec: &offshoot_engine::exec::Exec) {
/// use offshoot_engine::exec::Event;
///
/// let ready = exec.events().find(|event| matches!(event, Event::Output { .. }));
/// # }
/// ```
#[derive(Debug)]
pub struct Events {
    queue: Arc<Queue>,
    number: usize,
}

impl Iterator for Events {
    type Item = Event;

    /// Waits for the next one.
    fn next(&mut self) -> Option<Event> {
        let mut state = self.queue.lock();
        loop {
            if let Some(event) = state.read(self.number) {
                let freed = state.drop_read();
                drop(state);
                self.queue.free(freed);
                return Some(event);
            }
            if state.ended {
                return None;
            }
            state = self.queue.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.readers.remove(&self.number);
        let freed = if state.readers.is_empty() { state.let_go() } else { state.drop_read() };
        drop(state);
        self.queue.free(freed);
    }
}

/// Where events wait. Adding one never waits: whoever runs the command is told what was read, and does not read more of its output
/// than there is room for.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    steering: Arc<dyn Steering>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// How many events came before those.
    before: usize,
    /// How many bytes of output wait, and how many came before those.
    bytes: usize,
    gone: usize,
    /// Who reads, by number.
    readers: BTreeMap<usize, Reader>,
    next_reader: usize,
    ended: bool,
}

#[derive(Debug)]
struct Waiting {
    event: Event,
    /// How many bytes of room it takes up until it is read.
    takes: usize,
}

#[derive(Debug)]
struct Reader {
    /// The number of the event that comes next.
    next: usize,
    /// How many bytes of output it does not get.
    skipped: usize,
}

impl State {
    /// What this reader gets next.
    fn read(&mut self, number: usize) -> Option<Event> {
        let reader = self.readers.get_mut(&number)?;
        let found = self.waiting.get(reader.next - self.before)?;
        // What was left out was printed before anything that is still there, and after the start.
        let is_start = matches!(found.event, Event::Waiting { .. } | Event::Started { .. });
        if reader.skipped > 0 && !is_start {
            return Some(Event::Skipped { bytes: std::mem::take(&mut reader.skipped) });
        }
        reader.next += 1;
        Some(found.event.clone())
    }

    /// Drops what all readers have read; how much room that frees.
    fn drop_read(&mut self) -> Freed {
        let slowest = self.readers.values().map(|reader| reader.next).min();
        let count = slowest.map_or(0, |next| next - self.before);
        let mut freed = Freed::default();
        for Waiting { event, takes } in self.waiting.drain(..count) {
            self.bytes -= event.size();
            self.gone += event.size();
            freed.add(&event, takes);
        }
        self.before += count;
        freed
    }

    /// Leaves out the oldest output until there is room for so much. Nobody reads.
    fn make_room(&mut self, size: usize) {
        while self.bytes + size > WAITING {
            let is_output = |one: &Waiting| matches!(one.event, Event::Output { .. });
            let Some(at) = self.waiting.iter().position(is_output) else { return };
            let left_out = self.waiting.remove(at).map_or(0, |one| one.event.size());
            self.bytes -= left_out;
            self.gone += left_out;
        }
    }

    /// What waits takes up no room any more, because nobody reads; how much that was.
    fn let_go(&mut self) -> Freed {
        let mut freed = Freed::default();
        for Waiting { event, takes } in &mut self.waiting {
            freed.add(event, std::mem::take(takes));
        }
        freed
    }
}

/// How many bytes of standard output and standard error do not take up room any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Freed([usize; 2]);

impl Freed {
    fn add(&mut self, event: &Event, bytes: usize) {
        if let Event::Output { stream, .. } = event {
            self.0[*stream as usize] += bytes;
        }
    }
}

impl Event {
    /// How many bytes of output it has.
    fn size(&self) -> usize {
        match self {
            Self::Output { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }
}

impl Queue {
    pub(super) fn new(steering: Arc<dyn Steering>) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), steering }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn free(&self, freed: Freed) {
        for (stream, bytes) in [Stream::Stdout, Stream::Stderr].into_iter().zip(freed.0) {
            if bytes > 0 {
                self.steering.free(stream, bytes);
            }
        }
    }

    /// Adds an event. Output takes up room until it is read, where there are readers.
    pub(super) fn push(&self, event: Event) {
        let mut state = self.lock();
        let size = event.size();
        let mut freed = Freed::default();
        let takes = if state.readers.is_empty() { 0 } else { size };
        if state.readers.is_empty() {
            freed.add(&event, size);
            state.make_room(size);
        }
        state.bytes += size;
        state.waiting.push_back(Waiting { event, takes });
        drop(state);
        self.changed.notify_all();
        self.free(freed);
    }

    /// There are no more.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        state.waiting.push_back(Waiting { event: Event::Finished, takes: 0 });
        state.ended = true;
        drop(state);
        self.changed.notify_all();
    }

    /// Reads from here on.
    pub(super) fn read(self: &Arc<Self>) -> Events {
        let mut state = self.lock();
        let number = state.next_reader;
        state.next_reader += 1;
        let reader = Reader { next: state.before, skipped: state.gone };
        state.readers.insert(number, reader);
        Events { queue: Arc::clone(self), number }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counted(AtomicUsize);

    impl Steering for Counted {
        fn cancel(&self) {}

        fn free(&self, _stream: Stream, bytes: usize) {
            self.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn queue() -> (Arc<Queue>, impl Fn() -> usize) {
        let freed = Arc::new(Counted::default());
        let queue = Arc::new(Queue::new(Arc::clone(&freed) as Arc<dyn Steering>));
        (queue, move || freed.0.swap(0, Ordering::Relaxed))
    }

    fn output(size: usize) -> Event {
        Event::Output { stream: Stream::Stdout, bytes: vec![b'x'; size] }
    }

    #[test]
    fn output_that_nobody_reads_is_left_out_and_that_is_told() {
        let (queue, freed) = queue();
        queue.push(Event::Started { workspace: "w".to_owned(), warnings: Vec::new() });
        for _ in 0..3 {
            queue.push(output(WAITING / 2));
            assert_eq!(freed(), WAITING / 2, "the command goes on");
        }
        queue.end();
        let events: Vec<Event> = queue.read().collect();
        let started = Event::Started { workspace: "w".to_owned(), warnings: Vec::new() };
        let skipped = Event::Skipped { bytes: WAITING / 2 };
        let half = output(WAITING / 2);
        assert_eq!(events, [started, skipped, half.clone(), half, Event::Finished]);
        assert_eq!(freed(), 0, "nothing is freed twice");
    }

    #[test]
    fn output_takes_up_room_until_it_is_read_or_nobody_reads() {
        let (queue, freed) = queue();
        let mut events = queue.read();
        queue.push(output(3));
        queue.push(output(5));
        assert_eq!(freed(), 0);
        assert_eq!((events.next(), freed()), (Some(output(3)), 3));
        let other = queue.read();
        drop(events);
        assert_eq!(freed(), 0, "somebody reads");
        drop(other);
        assert_eq!(freed(), 5);
        queue.end();
        let skipped = Event::Skipped { bytes: 3 };
        assert_eq!(queue.read().collect::<Vec<_>>(), [skipped, output(5), Event::Finished]);
        assert_eq!(freed(), 0);
    }

    #[test]
    fn every_reader_gets_everything() {
        let (queue, freed) = queue();
        let (mut one, mut other) = (queue.read(), queue.read());
        queue.push(output(3));
        queue.push(output(5));
        assert_eq!((one.next(), one.next(), freed()), (Some(output(3)), Some(output(5)), 0));
        assert_eq!((other.next(), freed()), (Some(output(3)), 3));
        queue.push(output(7));
        drop(one);
        assert_eq!(freed(), 0, "it had read no more than the other");
        queue.end();
        let rest: Vec<Event> = other.by_ref().collect();
        assert_eq!(rest, [output(5), output(7), Event::Finished]);
        assert_eq!(freed(), 12);
    }
}
