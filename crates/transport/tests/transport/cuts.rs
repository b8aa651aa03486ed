//! Connections that break, servers that go, and sessions that last.

use std::time::Duration;

use offshoot_transport::{
    CallHandled, MessageKind, NoHandler, PeerCall, PeerCallError, PeerClient, PeerClientOptions,
    PeerConnectError, PeerLimits, PeerListener, PeerListenerOptions, PeerServer, PeerStreamError,
};

use crate::fixture::{Bench, Proxy, SOON, plain, until};

async fn through(
    bench: &Bench,
    listener: PeerListenerOptions,
    mut client: PeerClientOptions,
    bytes: u64,
) -> (PeerServer, Proxy, PeerClient) {
    let listener = PeerListener::bind(listener).await.unwrap();
    let proxy = Proxy::start_slow(listener.address().port, bytes).await;
    client.address = listener.address();
    client.address.port = proxy.port;
    let server = listener.serve(bench.clone());
    let client = PeerClient::start(client, NoHandler).unwrap();
    (server, proxy, client)
}

#[tokio::test]
async fn events_come_once_through_a_line_that_breaks_all_the_time() {
    let (bench, (listener, client)) = (Bench::default(), plain());
    // Enough for a handshake and some events.
    let (_server, _proxy, client) = through(&bench, listener, client, 2000).await;
    let sending = (0..200).map(|number: u32| {
        let client = client.connection().clone();
        async move { client.send(format!("{number:03}").into_bytes(), true).await.unwrap() }
    });
    let sending = futures::future::join_all(sending);
    tokio::time::timeout(SOON, sending).await.unwrap();
    let mut events = bench.events();
    assert_eq!(events.len(), 200, "each once");
    events.sort_unstable();
    events.dedup();
    assert_eq!(events.len(), 200);
}

#[tokio::test]
async fn calls_in_flight_fail_and_idempotent_ones_are_sent_again() {
    let (bench, (listener, client)) = (Bench::default(), plain());
    let (_server, proxy, client) = through(&bench, listener, client, 0).await;
    let start = |idempotent| {
        let client = client.connection().clone();
        let call = PeerCall {
            kind: MessageKind::Call,
            body: "wait".into(),
            deadline: Some(SOON),
            idempotent,
        };
        tokio::spawn(async move { client.request(call).await })
    };
    let (once, again) = (start(false), start(true));
    until("two calls", || bench.calls() == 2).await;
    proxy.cut();
    let lost = once.await.unwrap();
    let handled = CallHandled::Maybe;
    assert_eq!(lost, Err(PeerCallError::Disconnected { handled }));
    until("another attempt", || bench.calls() == 3).await;
    bench.hold.notify_waiters();
    assert_eq!(&again.await.unwrap().unwrap().payload[..], b"waited");
}

#[tokio::test]
async fn streams_end_with_their_connection() {
    let (bench, (listener, client)) = (Bench::default(), plain());
    let (_server, proxy, client) = through(&bench, listener, client, 0).await;
    assert!(client.connected().await);
    let mut stream = client.open_stream("echo").await.unwrap();
    stream.write("x").await.unwrap();
    assert_eq!(stream.read().await.unwrap().unwrap(), "x");
    proxy.cut();
    assert_eq!(stream.read().await, Err(PeerStreamError::Disconnected));
    assert!(stream.write("y").await.is_err());
    // And the session goes on.
    let answer = client.call(MessageKind::Call, "hello", SOON).await.unwrap();
    assert_eq!(&answer.payload[..], b"hello");
    assert!(client.last_error().is_some());
}

#[tokio::test]
async fn a_slow_reader_stops_its_writer_and_nobody_else() {
    let (bench, (mut listener, client)) = (Bench::default(), plain());
    listener.limits = PeerLimits { window: 10_000, ..PeerLimits::default() };
    let (_server, _proxy, client) = through(&bench, listener, client, 0).await;
    assert!(client.connected().await);
    let slow = client.open_stream("hold").await.unwrap();
    let (mut reader, mut writer) = slow.split();
    let writing = tokio::spawn(async move {
        let mut written = 0;
        for _ in 0..100 {
            writer.write(vec![1; 10_000]).await.unwrap();
            written += 10_000;
        }
        writer.finish().await.unwrap();
        written
    });
    for _ in 0..20 {
        client.call(MessageKind::Call, "hello", SOON).await.unwrap();
        let mut quick = client.open_stream("echo").await.unwrap();
        quick.write(vec![2; 30_000]).await.unwrap();
        quick.finish().await.unwrap();
        while quick.read().await.unwrap().is_some() {}
    }
    assert!(!writing.is_finished());
    bench.hold.notify_one();
    let mut read = 0;
    while let Some(piece) = reader.read().await.unwrap() {
        read += piece.len();
    }
    assert_eq!((read, writing.await.unwrap()), (1_000_000, 1_000_000));
    // Whoever writes without end stops when the stream is dropped.
    let mut poured = client.open_stream("pour").await.unwrap();
    poured.read().await.unwrap().unwrap();
    drop(poured);
    client.call(MessageKind::Call, "hello", SOON).await.unwrap();
}

#[tokio::test]
async fn a_server_that_drains_finishes_and_the_client_finds_the_next_one() {
    let (bench, (listener, client)) = (Bench::default(), plain());
    let again = listener.clone();
    let (server, _proxy, client) = through(&bench, listener, client, 0).await;
    let port = server.address().port;
    let held = tokio::spawn({
        let client = client.connection().clone();
        async move { client.call(MessageKind::Call, "wait", SOON).await }
    });
    until("the call", || bench.calls() == 1).await;
    let draining = tokio::spawn(server.drain(SOON));
    let waiting = tokio::spawn({
        let client = client.connection().clone();
        async move { client.call(MessageKind::Call, "hello", SOON).await }
    });
    tokio::task::yield_now().await;
    bench.hold.notify_one();
    assert_eq!(&held.await.unwrap().unwrap().payload[..], b"waited");
    draining.await.unwrap();
    let mut next = again;
    next.address.port = port;
    let listener = loop {
        match PeerListener::bind(next.clone()).await {
            Ok(listener) => break listener,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    let _server = listener.serve(bench.clone());
    match waiting.await.unwrap() {
        Ok(answer) => assert_eq!(&answer.payload[..], b"hello"),
        Err(error) => assert_eq!(error.handled(), CallHandled::No),
    }
    client.call(MessageKind::Call, "hello", SOON).await.unwrap();
}

#[tokio::test]
async fn a_drain_does_not_wait_for_ever() {
    let (bench, (listener, client)) = (Bench::default(), plain());
    let (server, _proxy, client) = through(&bench, listener, client, 0).await;
    let held = tokio::spawn({
        let client = client.connection().clone();
        async move { client.call(MessageKind::Call, "hold", SOON).await }
    });
    until("the call", || bench.calls() == 1).await;
    server.drain(Duration::from_millis(50)).await;
    let handled = CallHandled::Maybe;
    assert_eq!(held.await.unwrap(), Err(PeerCallError::Disconnected { handled }));
    until("the handler's end", || bench.dropped() == 1).await;
}

#[tokio::test]
async fn calls_wait_for_a_server_up_to_their_deadline() {
    let (_, mut client) = plain();
    // A port that nobody listens on.
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    client.address.port = free.local_addr().unwrap().port();
    drop(free);
    let failed = PeerClient::connect(client.clone(), NoHandler).await.err().unwrap();
    assert!(matches!(failed, PeerConnectError::Io { .. }) && !failed.is_final());
    let client = PeerClient::start(client, NoHandler).unwrap();
    let late = client.call(MessageKind::Call, "x", Duration::from_millis(50)).await;
    assert_eq!(late, Err(PeerCallError::Deadline { handled: CallHandled::No }));
    assert!(!client.is_connected() && client.last_error().is_some());
    let connection = client.connection().clone();
    client.close(Duration::from_millis(10)).await;
    assert!(connection.call(MessageKind::Call, "x", SOON).await.is_err());
}

#[tokio::test]
async fn sessions_without_a_connection_are_bounded() {
    let (bench, (mut listener, client)) = (Bench::default(), plain());
    (listener.detached, listener.linger) = (2, Duration::from_millis(300));
    listener.sessions = 4;
    let listener = PeerListener::bind(listener).await.unwrap();
    let address = listener.address();
    let server = listener.serve(bench);
    let mut client = client;
    client.address = address;
    let mut clients = Vec::new();
    for _ in 0..4 {
        let client = PeerClient::connect(client.clone(), NoHandler).await.unwrap();
        client.call(MessageKind::Call, "x", SOON).await.unwrap();
        clients.push(client);
    }
    let refused = PeerClient::connect(client, NoHandler).await.err().unwrap();
    let PeerConnectError::Refused { code, .. } = &refused else { panic!("{refused}") };
    assert!(code == "busy" && !refused.is_final());
    drop(clients);
    until("two sessions", || server.peers().len() <= 2).await;
    until("no session", || server.peers().is_empty()).await;
}
