//! Two sessions against a simple model, with connections that break anywhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use offshoot_transport::{
    CallHandled, FailureBody, MessageKind, OutgoingCall, PeerCallError, PeerLimits, PeerMessage,
    PeerSendError, PeerSession, PeerSide, SessionAction,
};

const SEEDS: u64 = 300;

fn limits() -> PeerLimits {
    PeerLimits {
        calls: 4,
        events: 3,
        event_bytes: 300,
        streams: 2,
        window: 4096,
        pending: 50,
        ..PeerLimits::default()
    }
}

/// One side: its session, what it was told, and what it knows.
struct End {
    session: PeerSession,
    /// Events that the handler got, as `number`.
    events: Vec<u64>,
    running: Option<u64>,
    /// Requests that run: id to number.
    requests: BTreeMap<u64, u64>,
    /// How often each call reached the handler.
    handled: BTreeMap<u64, u32>,
    /// Tickets that have a result.
    results: BTreeMap<u64, Result<Vec<u8>, PeerCallError>>,
    event_results: BTreeMap<u64, Result<(), PeerSendError>>,
    /// Bytes of each stream that came.
    streams: BTreeMap<u64, Vec<u8>>,
    unread: Vec<(u64, usize)>,
    open: BTreeSet<u64>,
    sent_events: Vec<u64>,
    calls: BTreeMap<u64, bool>,
}

impl End {
    fn new(side: PeerSide) -> Self {
        Self {
            session: PeerSession::new(side, limits()),
            events: Vec::new(),
            running: None,
            requests: BTreeMap::new(),
            handled: BTreeMap::new(),
            results: BTreeMap::new(),
            event_results: BTreeMap::new(),
            streams: BTreeMap::new(),
            unread: Vec::new(),
            open: BTreeSet::new(),
            sent_events: Vec::new(),
            calls: BTreeMap::new(),
        }
    }

    fn act(&mut self) {
        while let Some(action) = self.session.take_action() {
            match action {
                SessionAction::Request { message, .. } => {
                    let number = number(&message.payload);
                    self.requests.insert(message.id, number);
                    *self.handled.entry(number).or_default() += 1;
                }
                SessionAction::CancelRequest { id } => {
                    self.requests.remove(&id);
                }
                SessionAction::Event { message } => {
                    assert!(self.running.is_none(), "two events at one time");
                    let number = number(&message.payload);
                    self.running = Some(number);
                    self.events.push(number);
                }
                SessionAction::Stream { message } => {
                    self.open.insert(message.id);
                    self.streams.insert(message.id, Vec::new());
                }
                SessionAction::StreamData { id, bytes, .. } => {
                    let all = self.streams.entry(id).or_default();
                    all.extend_from_slice(&bytes);
                    self.unread.push((id, bytes.len()));
                }
                SessionAction::StreamEnded { id, .. } => {
                    self.open.remove(&id);
                }
                SessionAction::CallDone { ticket, result } => {
                    let result = result.map(|message| message.payload.to_vec());
                    assert!(self.results.insert(ticket, result).is_none(), "two results");
                }
                SessionAction::EventDone { ticket, result } => {
                    assert!(self.event_results.insert(ticket, result).is_none(), "two results");
                }
                SessionAction::StreamWritable { .. } => {}
                SessionAction::Close { reason } => panic!("closed: {reason}"),
            }
        }
    }
}

fn number(payload: &[u8]) -> u64 {
    std::str::from_utf8(payload).unwrap().parse().unwrap()
}

/// An event fails at the handler if its number can be divided so.
fn fails(number: u64) -> bool {
    number.is_multiple_of(5)
}

struct World {
    random: fastrand::Rng,
    now: Duration,
    ends: [End; 2],
    /// What is on its way to each side.
    ways: [VecDeque<PeerMessage>; 2],
    connected: bool,
    /// This side has not noticed yet that the connection is gone.
    late: Option<usize>,
    next: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            random: fastrand::Rng::with_seed(seed),
            now: Duration::ZERO,
            ends: [End::new(PeerSide::Client), End::new(PeerSide::Server)],
            ways: [VecDeque::new(), VecDeque::new()],
            connected: false,
            late: None,
            next: 1,
        }
    }

    fn connect(&mut self) {
        if let Some(side) = self.late.take() {
            self.notice(side);
        }
        let [client, server] = &self.ends;
        let mut received = [server.session.received(), client.session.received()];
        for received in &mut received {
            // Whoever does not know what it has received gets it all again.
            if self.random.u32(..4) == 0 {
                *received = 0;
            }
        }
        self.ends[0].session.attach(self.now, true, received[0], limits().into());
        self.ends[1].session.attach(self.now, true, received[1], limits().into());
        self.connected = true;
    }

    fn notice(&mut self, side: usize) {
        self.ways[side].clear();
        self.ends[side].session.detach();
        self.ends[side].act();
    }

    /// One side notices at once; the other one may go on with what is on its way to it, and writes what nobody reads.
    fn cut(&mut self) {
        let first = self.random.usize(..2);
        self.notice(first);
        self.connected = false;
        match self.random.bool() {
            true => self.late = Some(1 - first),
            false => self.notice(1 - first),
        }
    }

    fn step(&mut self) {
        let side = self.random.usize(..2);
        let choice = self.random.u32(..100);
        let (now, next) = (self.now, self.next);
        let random = &mut self.random;
        let end = &mut self.ends[side];
        match choice {
            0..2 if self.connected => return self.cut(),
            0..20 if !self.connected => return self.connect(),
            2..15 => {
                end.session.send_event(next, next.to_string().into_bytes().into(), true).unwrap();
                end.sent_events.push(next);
                self.next += 1;
            }
            15..28 => {
                let (body, idempotent) = (next.to_string().into_bytes().into(), random.bool());
                let deadline = random.bool().then(|| now + Duration::from_secs(random.u64(1..9)));
                let call = OutgoingCall { kind: MessageKind::Call, body, deadline, idempotent };
                if end.session.call(next, call).is_ok() {
                    end.calls.insert(next, idempotent);
                }
                self.next += 1;
            }
            28..31 => {
                if let Ok(id) = end.session.open_stream("x".into()) {
                    end.open.insert(id);
                }
            }
            31..38 => {
                if let Some(id) = random.choice(end.open.iter().copied()) {
                    let bytes = vec![1; random.usize(..9000)];
                    if end.session.write_stream(id, bytes.into(), random.bool(), false).is_err() {
                        end.open.remove(&id);
                    }
                }
            }
            38..40 => {
                if let Some(id) = random.choice(end.open.iter().copied()) {
                    end.session.close_stream(id, None);
                    end.open.remove(&id);
                }
            }
            40..50 => {
                for (id, bytes) in end.unread.drain(..) {
                    end.session.stream_read(id, bytes);
                }
            }
            50..60 => {
                if let Some(number) = end.running.take() {
                    end.session.event_done(match fails(number) {
                        true => Err(FailureBody { error: String::new(), code: "odd".into() }),
                        false => Ok(()),
                    });
                }
            }
            60..70 => {
                if let Some((id, number)) = end.requests.pop_first() {
                    end.session.answer(id, Ok(number.to_string().into_bytes().into()));
                }
            }
            70..80 => {
                while let Some(message) = end.session.take_message(now) {
                    if self.connected {
                        self.ways[1 - side].push_back(message);
                    }
                }
            }
            80..95 => {
                for _ in 0..random.usize(1..5) {
                    if let Some(message) = self.ways[side].pop_front() {
                        end.session.receive(now, message);
                        end.act();
                    }
                }
            }
            95..97 => {
                if let Some(ticket) = random.choice(end.calls.keys().copied())
                    && !end.results.contains_key(&ticket)
                {
                    end.session.cancel(ticket);
                    end.calls.remove(&ticket);
                }
            }
            _ => {
                self.now += Duration::from_millis(random.u64(..700));
                end.session.tick(self.now);
            }
        }
        self.ends[side].act();
    }

    /// Without further disturbance, all comes to its end.
    fn settle(&mut self) {
        if !self.connected {
            self.connect();
        }
        for _ in 0..20_000 {
            let mut quiet = true;
            for side in 0..2 {
                let end = &mut self.ends[side];
                end.act();
                if let Some(number) = end.running.take() {
                    quiet = false;
                    end.session.event_done(match fails(number) {
                        true => Err(FailureBody { error: String::new(), code: "odd".into() }),
                        false => Ok(()),
                    });
                }
                while let Some((id, number)) = end.requests.pop_first() {
                    end.session.answer(id, Ok(number.to_string().into_bytes().into()));
                }
                for (id, bytes) in end.unread.drain(..) {
                    end.session.stream_read(id, bytes);
                }
                while let Some(message) = end.session.take_message(self.now) {
                    quiet = false;
                    self.ways[1 - side].push_back(message);
                }
                while let Some(message) = self.ways[side].pop_front() {
                    quiet = false;
                    let end = &mut self.ends[side];
                    end.session.receive(self.now, message);
                    end.act();
                }
            }
            if quiet {
                return;
            }
        }
        panic!("it never comes to rest");
    }

    fn check(&self, seed: u64) {
        for side in 0..2 {
            let (sender, receiver) = (&self.ends[side], &self.ends[1 - side]);
            assert_eq!(receiver.events, sender.sent_events, "events of seed {seed}");
            for number in &sender.sent_events {
                let result = &sender.event_results[number];
                assert_eq!(result.is_err(), fails(*number), "event {number} of seed {seed}");
            }
            for (ticket, idempotent) in &sender.calls {
                let runs = receiver.handled.get(ticket).copied().unwrap_or_default();
                let result = sender.results.get(ticket);
                let result = result.unwrap_or_else(|| panic!("no result, seed {seed}"));
                match result {
                    Ok(answer) => assert_eq!((number(answer), runs > 0), (*ticket, true)),
                    Err(PeerCallError::Refused(failure)) => {
                        assert!(["busy", "deadline"].contains(&failure.code.as_str()), "{seed}");
                    }
                    Err(error) if error.handled() == CallHandled::No => {
                        assert_eq!(runs, 0, "{error} of seed {seed}");
                    }
                    Err(_) => {}
                }
                assert!(runs <= 1 || *idempotent, "a call ran {runs} times, seed {seed}");
            }
        }
    }
}

#[test]
fn whatever_breaks_each_event_comes_once_and_each_call_ends() {
    for seed in 0..SEEDS {
        let result = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..600 {
                world.step();
            }
            world.settle();
            world.check(seed);
        });
        assert!(result.is_ok(), "seed {seed}");
    }
}

#[test]
fn what_was_received_and_not_acknowledged_is_not_sent_again() {
    let mut world = World::new(0);
    world.connect();
    let [client, server] = &mut world.ends;
    for number in 1..=3u64 {
        client.session.send_event(number, number.to_string().into_bytes().into(), true).unwrap();
    }
    for _ in 0..2 {
        let message = client.session.take_message(Duration::ZERO).unwrap();
        server.session.receive(Duration::ZERO, message);
    }
    server.act();
    world.cut();
    world.connect();
    let [client, server] = &mut world.ends;
    let again = client.session.take_message(Duration::ZERO).unwrap();
    assert_eq!(again.payload, "3");
    assert!(client.session.take_message(Duration::ZERO).is_none());
    server.session.receive(Duration::ZERO, again.clone());
    // Even if it came twice.
    server.session.receive(Duration::ZERO, again);
    world.settle();
    assert_eq!(world.ends[1].events, [1, 2, 3]);
}
