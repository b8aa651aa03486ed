//! Peers that do not follow the rules.

use std::time::Duration;

use bytes::Bytes;
use offshoot_mxp::{AgentMessage, FailureBody};
use offshoot_transport::{
    ChannelProof, ClientHandshake, ConnectionEnd, MessageFlags, MessageKind, NoHandler, PeerClient,
    PeerLimits, PeerListener, PeerListenerOptions, PeerMessage, PeerServer, PeerSession,
    PeerSessionId, PeerSide, PeerToken, SessionAction,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::fixture::{Bench, SOON, TOKEN, certified, name, plain, until};

async fn serve(bench: &Bench, listener: PeerListenerOptions) -> PeerServer {
    PeerListener::bind(listener).await.unwrap().serve(bench.clone())
}

/// A client that writes what it likes.
struct Raw {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Raw {
    async fn connect(server: &PeerServer) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", server.address().port)).await.unwrap();
        Self { stream, bytes: Vec::new() }
    }

    /// With a handshake that is right.
    async fn admitted(server: &PeerServer) -> Self {
        let mut raw = Self::connect(server).await;
        let greeting = raw.read().await.unwrap();
        let proof = ChannelProof { binding: None, name: Some(name("localhost")) };
        let limits = PeerLimits::default().into();
        let mut hello = ClientHandshake::new([1; 32], PeerSessionId([1; 16]), proof, 0, limits);
        hello.name = Some(name("alpha"));
        hello.token = Some(PeerToken::new(TOKEN).unwrap());
        let message = hello.hello(&greeting).unwrap();
        raw.write(&message).await;
        let welcome = raw.read().await.unwrap();
        hello.welcome(&welcome).unwrap();
        raw
    }

    async fn write(&mut self, message: &PeerMessage) {
        self.stream.write_all(&message.view().to_bytes().unwrap()).await.unwrap();
    }

    /// The next message; none at the end.
    async fn read(&mut self) -> Option<PeerMessage> {
        loop {
            if let Ok((message, rest)) = AgentMessage::parse_prefix(&self.bytes) {
                let AgentMessage { kind, flags, id, trace, payload } = message;
                let payload = Bytes::copy_from_slice(payload);
                let message = PeerMessage { kind, flags, id, trace, payload };
                self.bytes = rest.to_vec();
                return Some(message);
            }
            let mut more = [0; 4096];
            let read = tokio::time::timeout(SOON, self.stream.read(&mut more)).await.unwrap();
            match read {
                Ok(0) | Err(_) => return None,
                Ok(count) => self.bytes.extend_from_slice(&more[..count]),
            }
        }
    }

    /// The last words of the server.
    async fn end(mut self) -> Option<String> {
        let mut last = None;
        while let Some(message) = self.read().await {
            if (message.kind, message.id) == (MessageKind::Error, 0) {
                last = Some(message.json::<FailureBody>().unwrap().code);
            }
        }
        last
    }
}

fn message(kind: MessageKind, id: u64, payload: impl Into<Bytes>) -> PeerMessage {
    PeerMessage { kind, flags: MessageFlags::NONE, id, trace: 0, payload: payload.into() }
}

#[tokio::test]
async fn no_handler_runs_before_the_handshake() {
    let (bench, (listener, _)) = (Bench::default(), plain());
    let server = serve(&bench, listener).await;
    for first in [
        message(MessageKind::Call, 1, "x"),
        message(MessageKind::Event, 1, "x"),
        message(MessageKind::Call, 0, "{}"),
        message(MessageKind::Call, 0, vec![b' '; 16 << 10]),
        message(MessageKind::Error, 0, "x"),
    ] {
        let mut raw = Raw::connect(&server).await;
        raw.write(&first).await;
        raw.write(&message(MessageKind::Call, 1, "x")).await;
        assert_eq!(raw.end().await.as_deref(), Some("protocol"));
    }
    let mut long = Raw::connect(&server).await;
    long.stream
        .write_all(&message(MessageKind::Call, 0, vec![0; 17 << 10]).view().to_bytes().unwrap())
        .await
        .unwrap();
    assert_eq!(long.end().await, None);
    let mut noise = Raw::connect(&server).await;
    noise.stream.write_all(&[0xff; 100]).await.unwrap();
    assert_eq!(noise.end().await, None);
    assert_eq!((bench.calls(), bench.events().len(), server.peers().len()), (0, 0, 0));
}

#[tokio::test]
async fn whoever_breaks_the_rules_is_told_and_cut_off() {
    let (bench, (listener, client)) = (Bench::default(), plain());
    let server = serve(&bench, listener).await;
    let acknowledged =
        |message: PeerMessage| PeerMessage { flags: MessageFlags::REQUIRES_ACK, ..message };
    let wrong: Vec<(&str, Vec<PeerMessage>)> = vec![
        ("a number of the server", vec![message(MessageKind::Call, 2, "x")]),
        ("a number twice", vec![message(MessageKind::Call, 1, "x"); 2]),
        ("a response to nothing", vec![message(MessageKind::Response, 2, "x")]),
        ("an error to nothing", vec![message(MessageKind::Error, 4, "{}")]),
        ("a chunk of nothing", vec![message(MessageKind::StreamChunk, 1, "x")]),
        ("a close of nothing", vec![message(MessageKind::StreamClose, 1, "")]),
        ("an acknowledgement of nothing", vec![message(MessageKind::Ack, 2, "")]),
        ("odd credit", vec![message(MessageKind::Ack, 2, "{\"credit\":-1}")]),
        ("a call of the connection", vec![message(MessageKind::Call, 0, "{}")]),
        ("odd control", vec![message(MessageKind::Event, 0, "[")]),
        ("an event of the server", vec![acknowledged(message(MessageKind::Event, 2, "x"))]),
        (
            "a chunk without credit",
            vec![
                message(MessageKind::StreamOpen, 1, "hold"),
                message(MessageKind::StreamChunk, 1, vec![0; 300 << 10]),
            ],
        ),
    ];
    for (what, messages) in wrong {
        let mut raw = Raw::admitted(&server).await;
        for message in messages {
            raw.write(&message).await;
        }
        assert_eq!(raw.end().await.as_deref(), Some("protocol"), "{what}");
    }
    let mut raw = Raw::admitted(&server).await;
    let mut bytes = message(MessageKind::Call, 1, "x").view().to_bytes().unwrap();
    bytes[32] ^= 1;
    raw.stream.write_all(&bytes).await.unwrap();
    assert_eq!(raw.end().await.as_deref(), Some("protocol"));
    // Others are not disturbed.
    let mut client = client;
    client.address = server.address().clone();
    let client = PeerClient::connect(client, NoHandler).await.unwrap();
    client.call(MessageKind::Call, "hello", SOON).await.unwrap();
}

#[tokio::test]
async fn random_messages_and_bytes_make_nothing_panic() {
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        let limits = PeerLimits { calls: 3, events: 3, streams: 2, ..PeerLimits::default() };
        let side = if random.bool() { PeerSide::Client } else { PeerSide::Server };
        let mut session = PeerSession::new(side, limits.clone());
        session.attach(Duration::ZERO, random.bool(), random.u64(..), limits.into());
        session
            .call(
                1,
                offshoot_transport::OutgoingCall {
                    kind: MessageKind::Call,
                    body: "x".into(),
                    deadline: None,
                    idempotent: true,
                },
            )
            .unwrap();
        session.send_event(2, "x".into(), true).unwrap();
        let mut now = Duration::ZERO;
        for _ in 0..200 {
            let kind = *random.choice(&MessageKind::ALL).unwrap();
            let flags = MessageFlags::from_number(random.u8(..16)).unwrap();
            let id = if random.bool() { random.u64(..12) } else { random.u64(..) };
            let payload = *random
                .choice(&[
                    "",
                    "x",
                    "{}",
                    "{\"credit\":9999999999999999999}",
                    "{\"deadline\":18446744073709551615}",
                    "{\"drain\":true}",
                    "null",
                ])
                .unwrap();
            let trace = random.u64(..);
            session.receive(now, PeerMessage { kind, flags, id, trace, payload: payload.into() });
            while let Some(action) = session.take_action() {
                match action {
                    SessionAction::Event { .. } if random.bool() => session.event_done(Ok(())),
                    SessionAction::Request { message, .. } if random.bool() => {
                        session.answer(message.id, Ok("y".into()));
                    }
                    SessionAction::StreamData { id, bytes, .. } => {
                        session.stream_read(id, bytes.len());
                    }
                    SessionAction::Close { reason } => {
                        assert!(!matches!(reason, ConnectionEnd::Io(_)), "{reason} of {seed}");
                        session.detach();
                        let limits = PeerLimits::default().into();
                        session.attach(now, random.bool(), random.u64(..), limits);
                    }
                    _ => {}
                }
            }
            while session.take_message(now).is_some() {}
            now += Duration::from_millis(random.u64(..500));
            session.tick(now);
        }
    }
}

#[tokio::test]
async fn floods_end_in_busy_and_dropped_and_not_in_memory() {
    let (bench, (mut listener, client)) = (Bench::default(), plain());
    listener.limits = PeerLimits {
        calls: 4,
        events: 4,
        streams: 2,
        queue_bytes: 20_000,
        ..PeerLimits::default()
    };
    let server = serve(&bench, listener).await;
    let mut raw = Raw::admitted(&server).await;
    let (mut read, mut write) = raw.stream.split();
    let writing = async {
        let mut bytes = Vec::new();
        for number in 0..5000u64 {
            let (kind, payload) = match number % 4 {
                0 => (MessageKind::Call, "hold"),
                1 => (MessageKind::Event, "x"),
                2 => (MessageKind::StreamOpen, "hold"),
                _ => (MessageKind::Call, "hello"),
            };
            message(kind, 2 * number + 1, payload).view().write_to(&mut bytes).unwrap();
        }
        write.write_all(&bytes).await.unwrap();
        // The last one, which the server answers.
        let ping =
            PeerMessage { flags: MessageFlags::REQUIRES_ACK, ..message(MessageKind::Event, 0, "") };
        write.write_all(&ping.view().to_bytes().unwrap()).await.unwrap();
    };
    let reading = async {
        let (mut bytes, mut busy) = (Vec::new(), 0);
        loop {
            while let Ok((message, rest)) = AgentMessage::parse_prefix(&bytes) {
                match (message.kind, message.id) {
                    (MessageKind::Ack, 0) => return busy,
                    (MessageKind::Error | MessageKind::StreamClose, _) => {
                        let failure: FailureBody = message.json().unwrap();
                        assert_eq!(failure.code, "busy");
                        busy += 1;
                    }
                    (MessageKind::Response, _) => {}
                    other => panic!("{other:?}"),
                }
                bytes = rest.to_vec();
            }
            let mut more = [0; 1000];
            let count = read.read(&mut more).await.unwrap();
            assert!(count > 0, "cut off");
            bytes.extend_from_slice(&more[..count]);
        }
    };
    let both = futures::future::join(writing, reading);
    let ((), busy) = tokio::time::timeout(SOON, both).await.unwrap();
    assert!(busy > 2000, "{busy}");
    let mut client = client;
    client.address = server.address().clone();
    let client = PeerClient::connect(client, NoHandler).await.unwrap();
    client.call(MessageKind::Call, "hello", SOON).await.unwrap();
}

#[tokio::test]
async fn whoever_reads_no_answers_is_not_read_and_then_cut_off() {
    let (bench, (mut listener, _)) = (Bench::default(), plain());
    listener.limits = PeerLimits {
        queue_bytes: 1 << 20,
        idle: Duration::from_secs(1),
        keep_alive: Duration::from_millis(300),
        ..PeerLimits::default()
    };
    let server = serve(&bench, listener).await;
    let mut raw = Raw::admitted(&server).await;
    let mut written = 0;
    let mut id = 1;
    let flood = async {
        let payload = vec![9; 100_000];
        loop {
            let bytes = message(MessageKind::Call, id, payload.clone()).view().to_bytes().unwrap();
            if raw.stream.write_all(&bytes).await.is_err() {
                return;
            }
            (written, id) = (written + bytes.len(), id + 2);
        }
    };
    tokio::time::timeout(SOON, flood).await.expect("it is cut off");
    // What the kernel keeps, and what the server does.
    assert!(written < 64 << 20, "{written}");
    until("no connection", || !server.peers().iter().any(|peer| peer.is_connected())).await;
}

#[tokio::test]
async fn connections_and_handshakes_are_bounded() {
    let (bench, (mut listener, mut client)) = (Bench::default(), plain());
    (listener.connections, listener.handshakes) = (3, 2);
    listener.handshake_time = Duration::from_millis(400);
    let server = serve(&bench, listener).await;
    let mut slow = Vec::new();
    for _ in 0..2 {
        let mut raw = Raw::connect(&server).await;
        assert!(raw.read().await.is_some(), "a greeting");
        slow.push(raw);
    }
    let mut third = Raw::connect(&server).await;
    assert!(third.read().await.is_none(), "too many handshakes");
    for raw in slow {
        assert_eq!(raw.end().await, None, "too slow");
    }
    client.address = server.address().clone();
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(PeerClient::connect(client.clone(), NoHandler).await.unwrap());
    }
    assert!(Raw::connect(&server).await.read().await.is_none(), "too many connections");
    drop(clients);
    until("room", || !server.peers().iter().any(|peer| peer.is_connected())).await;
    until("a permit", || true).await;
}

#[tokio::test]
async fn noise_on_tls_ends_the_handshake() {
    let (bench, (listener, mut client)) = (Bench::default(), certified("tls"));
    let server = serve(&bench, listener).await;
    let mut raw = Raw::connect(&server).await;
    raw.stream.write_all(&[0x16; 3000]).await.unwrap();
    assert_eq!(raw.end().await, None);
    client.address = server.address().clone();
    PeerClient::connect(client, NoHandler).await.unwrap();
}
