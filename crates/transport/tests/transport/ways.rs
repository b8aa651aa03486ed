//! The same by every way.

use std::time::Duration;

use offshoot_transport::{
    CallHandled, MessageFlags, MessageKind, NoHandler, PeerBody, PeerCallError, PeerClient,
    PeerClientOptions, PeerConnection, PeerLimits, PeerListener, PeerListenerOptions,
    PeerSendError, PeerStreamError, pair,
};

use crate::fixture::{Bench, SOON, certified, name, plain, until};

/// Everything that two sides can do.
async fn everything(asks: &PeerConnection, bench: &Bench) {
    let call = |text: &'static str| asks.call(MessageKind::Call, text, SOON);
    assert_eq!(&call("hello").await.unwrap().payload[..], b"hello");
    assert_eq!(&call("who").await.unwrap().payload[..], b"alpha");
    let PeerCallError::Refused(failure) = call("fail").await.unwrap_err() else { panic!() };
    assert_eq!((failure.code.as_str(), failure.error.as_str()), ("odd", "as asked"));
    let broken = call("panic").await.unwrap_err();
    assert_eq!(broken.handled(), CallHandled::Maybe);
    let long = vec![5; 3_000_000];
    let echoed = asks.call(MessageKind::AgentDiscover, long.clone(), SOON).await.unwrap();
    assert!(echoed.payload == long && echoed.kind == MessageKind::Response);
    let traced = PeerBody::from("traced").traced(99);
    assert_eq!(asks.call(MessageKind::Call, traced, SOON).await.unwrap().trace, 99);
    let not_a_request = asks.call(MessageKind::Event, "x", SOON).await;
    assert_eq!(not_a_request, Err(PeerCallError::Kind));
    let squeezed = offshoot_mxp::MessageBody::json(&"x".repeat(10_000)).unwrap().compressed();
    let squeezed = asks.call(MessageKind::Call, squeezed, SOON).await;
    // A handler answers with a payload; its flags are its own.
    assert_eq!(squeezed.unwrap().flags, MessageFlags::NONE);

    let calls = (0..200).map(|number: u32| {
        let asks = asks.clone();
        async move {
            let text = number.to_string().into_bytes();
            let answer = asks.call(MessageKind::Call, text.clone(), SOON).await.unwrap();
            assert_eq!(answer.payload, text);
        }
    });
    futures::future::join_all(calls).await;

    let before = bench.events().len();
    asks.send("one", true).await.unwrap();
    asks.send("two", false).await.unwrap();
    let PeerSendError::Refused(failure) = asks.send("fail", true).await.unwrap_err() else {
        panic!()
    };
    assert_eq!(failure.code, "odd");
    assert_eq!(bench.events()[before..], ["one", "two", "fail"]);

    let mut stream = asks.open_stream("echo").await.unwrap();
    let (mut reader, mut writer) = {
        stream.write("first").await.unwrap();
        assert_eq!(stream.read().await.unwrap().unwrap(), "first");
        stream.split()
    };
    let writing = async {
        for number in 0..100u8 {
            writer.write(vec![number; 20_000]).await.unwrap();
        }
        writer.write_urgent("last").await.unwrap();
        writer.finish().await.unwrap();
        assert_eq!(writer.write("more").await, Err(PeerStreamError::Finished));
    };
    let reading = async {
        let mut all = Vec::new();
        while let Some(piece) = reader.read().await.unwrap() {
            all.extend_from_slice(&piece);
        }
        assert_eq!(all.len(), 2_000_004);
        let expected = (0..100u8).flat_map(|number| vec![number; 20_000]);
        assert!(expected.chain(*b"last").eq(all));
        assert_eq!(reader.read().await, Ok(None));
    };
    tokio::join!(writing, reading);
    let mut refused = asks.open_stream("fail").await.unwrap();
    let PeerStreamError::Closed(failure) = refused.read().await.unwrap_err() else { panic!() };
    assert_eq!(failure.code, "odd");

    let short = asks.call(MessageKind::Call, "hold", Duration::from_millis(50)).await;
    assert!(matches!(short, Err(PeerCallError::Deadline { handled: CallHandled::Maybe })));
    until("the handler's end", || bench.dropped() == 1).await;
    let calls = bench.calls();
    let held = tokio::spawn({
        let asks = asks.clone();
        async move { asks.call(MessageKind::Call, "hold", SOON).await }
    });
    until("the call", || bench.calls() > calls).await;
    held.abort();
    until("the cancellation", || bench.dropped() == 2).await;
}

async fn over(listener: PeerListenerOptions, mut client: PeerClientOptions) {
    let (bench, asking) = (Bench::default(), Bench::default());
    let listener = PeerListener::bind(listener).await.unwrap();
    client.address = listener.address();
    let server = listener.serve(bench.clone());
    let client = PeerClient::connect(client, asking.clone()).await.unwrap();
    everything(&client, &bench).await;
    // The other way round, on the same connection.
    let answer = client.call(MessageKind::Call, "back", SOON).await.unwrap();
    assert_eq!(&answer.payload[..], client.name().unwrap().as_str().as_bytes());
    let peer = server.peers().pop().unwrap();
    peer.send("from the server", true).await.unwrap();
    assert_eq!(asking.events(), ["from the server"]);
    client.close(SOON).await;
    let draining = tokio::time::Instant::now();
    server.drain(SOON).await;
    assert!(draining.elapsed() < SOON);
}

#[tokio::test]
async fn over_tls() {
    let (listener, client) = certified("tls");
    over(listener, client).await;
}

#[cfg(feature = "quic")]
#[tokio::test]
async fn over_quic() {
    let (listener, client) = certified("quic");
    over(listener, client).await;
}

#[tokio::test]
async fn over_plain_tcp_on_loopback() {
    let (listener, client) = plain();
    over(listener, client).await;
}

#[tokio::test]
async fn in_one_process() {
    let (bench, limits) = (Bench::default(), PeerLimits::default());
    let (client, server) =
        pair((name("alpha"), limits.clone(), NoHandler), (name("beta"), limits, bench.clone()));
    everything(&client, &bench).await;
    drop(server);
    client.disconnected().await;
    let late = client.call(MessageKind::Call, "hello", SOON).await;
    assert!(late.is_err());
}
