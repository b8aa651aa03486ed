//! What one session does by itself: time, credit, limits. All without I/O.

use std::time::Duration;

use bytes::Bytes;
use offshoot_transport::{
    CallHandled, ConnectionEnd, FailureBody, MessageFlags, MessageKind, OutgoingCall, PeerBody,
    PeerCallError, PeerLimits, PeerMessage, PeerSendError, PeerSession, PeerSide, PeerStreamError,
    SessionAction,
};

const ZERO: Duration = Duration::ZERO;
const SECOND: Duration = Duration::from_secs(1);

fn two(limits: &PeerLimits) -> (PeerSession, PeerSession) {
    let mut client = PeerSession::new(PeerSide::Client, limits.clone());
    let mut server = PeerSession::new(PeerSide::Server, limits.clone());
    client.attach(ZERO, true, 0, limits.clone().into());
    server.attach(ZERO, true, 0, limits.clone().into());
    (client, server)
}

fn carry(now: Duration, from: &mut PeerSession, to: &mut PeerSession) -> usize {
    let mut count = 0;
    while let Some(message) = from.take_message(now) {
        to.receive(now, message);
        count += 1;
    }
    count
}

fn actions(session: &mut PeerSession) -> Vec<SessionAction> {
    std::iter::from_fn(|| session.take_action()).collect()
}

fn call(text: &'static str, deadline: Option<Duration>) -> OutgoingCall {
    OutgoingCall { kind: MessageKind::Call, body: text.into(), deadline, idempotent: false }
}

fn message(kind: MessageKind, id: u64, payload: &'static str) -> PeerMessage {
    let flags = MessageFlags::NONE;
    PeerMessage { kind, flags, id, trace: 0, payload: Bytes::from_static(payload.as_bytes()) }
}

fn ended(session: &mut PeerSession) -> Option<ConnectionEnd> {
    actions(session).into_iter().find_map(|action| match action {
        SessionAction::Close { reason } => Some(reason),
        _ => None,
    })
}

#[test]
fn a_deadline_ends_a_call_on_both_sides() {
    let (mut client, mut server) = two(&PeerLimits::default());
    client.call(1, call("x", Some(5 * SECOND))).unwrap();
    assert_eq!(carry(2 * SECOND, &mut client, &mut server), 2);
    let [SessionAction::Request { message, time }] = &actions(&mut server)[..] else { panic!() };
    assert_eq!((*time, message.id), (3 * SECOND, 1));
    assert_eq!(server.next_tick(), Some(5 * SECOND));
    server.tick(5 * SECOND);
    assert_eq!(actions(&mut server), [SessionAction::CancelRequest { id: 1 }]);
    client.tick(5 * SECOND);
    let error = PeerCallError::Deadline { handled: CallHandled::Maybe };
    assert_eq!(actions(&mut client), [SessionAction::CallDone { ticket: 1, result: Err(error) }]);
    // The answer and the cancellation cross; neither harms.
    carry(5 * SECOND, &mut server, &mut client);
    carry(5 * SECOND, &mut client, &mut server);
    assert!(actions(&mut client).is_empty() && actions(&mut server).is_empty());
}

#[test]
fn a_call_that_was_never_written_was_not_handled() {
    let (mut client, _) = two(&PeerLimits::default());
    client.call(1, call("x", Some(SECOND))).unwrap();
    client.tick(SECOND);
    let error = PeerCallError::Deadline { handled: CallHandled::No };
    assert_eq!(actions(&mut client), [SessionAction::CallDone { ticket: 1, result: Err(error) }]);
    assert!(client.take_message(SECOND).is_none());
    client.call(2, call("x", None)).unwrap();
    assert_eq!(client.cancel(2), CallHandled::No);
    client.call(3, call("x", None)).unwrap();
    client.take_message(SECOND).unwrap();
    assert_eq!(client.cancel(3), CallHandled::Maybe);
    assert_eq!(client.take_message(SECOND).unwrap().kind, MessageKind::StreamClose);
}

#[test]
fn a_request_without_a_deadline_has_the_time_of_the_server() {
    let limits = PeerLimits { call_time: 4 * SECOND, ..PeerLimits::default() };
    let (mut client, mut server) = two(&limits);
    client.call(1, call("x", None)).unwrap();
    client.call(2, call("x", Some(99 * SECOND))).unwrap();
    carry(ZERO, &mut client, &mut server);
    server.tick(4 * SECOND);
    let cancelled = actions(&mut server);
    assert!(cancelled.contains(&SessionAction::CancelRequest { id: 1 }));
    assert!(cancelled.contains(&SessionAction::CancelRequest { id: 3 }));
}

#[test]
fn more_requests_than_allowed_are_busy() {
    let mine = PeerLimits { calls: 2, request_bytes: 1000, ..PeerLimits::default() };
    let mut server = PeerSession::new(PeerSide::Server, mine);
    server.attach(ZERO, true, 0, PeerLimits::default().into());
    for id in [1, 3, 5] {
        server.receive(ZERO, message(MessageKind::Call, id, "x"));
    }
    assert_eq!(actions(&mut server).len(), 2);
    let busy = server.take_message(ZERO).unwrap();
    assert_eq!((busy.kind, busy.id), (MessageKind::Error, 5));
    assert_eq!(busy.json::<FailureBody>().unwrap().code, "busy");
    server.answer(1, Ok("y".into()));
    server.take_message(ZERO).unwrap();
    let long = PeerMessage { payload: vec![0; 950].into(), ..message(MessageKind::Call, 7, "") };
    server.receive(ZERO, long.clone());
    let busy = server.take_message(ZERO).unwrap();
    assert_eq!((busy.kind, busy.id), (MessageKind::Error, 7));
    server.answer(3, Ok("y".into()));
    server.take_message(ZERO).unwrap();
    server.receive(ZERO, PeerMessage { id: 9, ..long });
    assert!(matches!(actions(&mut server)[..], [.., SessionAction::Request { .. }]));
}

#[test]
fn own_calls_wait_for_the_other_side_up_to_a_limit() {
    let limits = PeerLimits { calls: 1, pending: 2, ..PeerLimits::default() };
    let (mut client, mut server) = two(&limits);
    for ticket in 1..=3 {
        client.call(ticket, call("x", None)).unwrap();
    }
    assert_eq!(client.call(4, call("x", None)), Err(PeerCallError::TooMany(2)));
    assert!(!client.wants_calls());
    for id in [1, 3, 5] {
        assert_eq!(carry(ZERO, &mut client, &mut server), 1);
        server.answer(id, Ok("y".into()));
        carry(ZERO, &mut server, &mut client);
    }
    assert_eq!(actions(&mut client).len(), 3);
    let long = OutgoingCall { body: vec![0; (16 << 20) + 1].into(), ..call("", None) };
    client.call(5, long).unwrap();
    let [SessionAction::CallDone { result: Err(error), .. }] = &actions(&mut client)[..] else {
        panic!()
    };
    assert!(matches!(error, PeerCallError::TooLong { .. }));
}

#[test]
fn nothing_is_read_while_answers_are_not() {
    let mine = PeerLimits { queue_bytes: 10_000, ..PeerLimits::default() };
    let mut server = PeerSession::new(PeerSide::Server, mine);
    server.attach(ZERO, true, 0, PeerLimits::default().into());
    let mut id = 1;
    while server.wants_messages() {
        server.receive(ZERO, message(MessageKind::Call, id, "x"));
        server.answer(id, Ok(vec![0; 1000].into()));
        id += 2;
        assert!(id < 100, "answers pile up");
    }
    while server.take_message(ZERO).is_some() {}
    assert!(server.wants_messages());
    // And errors, too.
    let none = PeerLimits { queue_bytes: 10_000, calls: 0, ..PeerLimits::default() };
    let mut server = PeerSession::new(PeerSide::Server, none);
    server.attach(ZERO, true, 0, PeerLimits::default().into());
    let mut id = 1;
    while server.wants_messages() {
        server.receive(ZERO, message(MessageKind::Call, id, "x"));
        id += 2;
        assert!(id < 1000, "errors pile up");
    }
}

#[test]
fn lost_connections_fail_calls_or_send_them_again() {
    let limits = PeerLimits::default();
    let (mut client, mut server) = two(&limits);
    client.call(1, call("once", None)).unwrap();
    client.call(2, OutgoingCall { idempotent: true, ..call("again", None) }).unwrap();
    carry(ZERO, &mut client, &mut server);
    client.call(3, call("not written", None)).unwrap();
    client.detach();
    let error = PeerCallError::Disconnected { handled: CallHandled::Maybe };
    assert_eq!(actions(&mut client), [SessionAction::CallDone { ticket: 1, result: Err(error) }]);
    server.detach();
    actions(&mut server);
    client.attach(SECOND, true, 0, limits.clone().into());
    server.attach(SECOND, true, 0, limits.clone().into());
    carry(SECOND, &mut client, &mut server);
    let texts = |session: &mut PeerSession| -> Vec<Bytes> {
        let requests = actions(session).into_iter().filter_map(|action| match action {
            SessionAction::Request { message, .. } => Some(message.payload),
            _ => None,
        });
        requests.collect()
    };
    assert_eq!(texts(&mut server), ["again", "not written"]);
    // Three attempts are all.
    for _ in 0..2 {
        client.detach();
        client.attach(SECOND, true, 0, limits.clone().into());
        while client.take_message(SECOND).is_some() {}
    }
    assert!(actions(&mut client).iter().any(|action| matches!(
        action,
        SessionAction::CallDone { ticket: 2, result: Err(PeerCallError::Disconnected { .. }) }
    )));
}

#[test]
fn events_in_flight_are_bounded_by_the_receiver() {
    let limits = PeerLimits { events: 2, event_bytes: 100, ..PeerLimits::default() };
    let (mut client, mut server) = two(&limits);
    for ticket in 1..=5 {
        client.send_event(ticket, "x".into(), true).unwrap();
    }
    assert_eq!(carry(ZERO, &mut client, &mut server), 2);
    for _ in 0..5 {
        server.event_done(Ok(()));
        carry(ZERO, &mut server, &mut client);
        carry(ZERO, &mut client, &mut server);
    }
    let done = actions(&mut client);
    assert_eq!(done.len(), 5);
    assert!(done.iter().all(|it| matches!(it, SessionAction::EventDone { result: Ok(()), .. })));
    client.send_event(6, vec![0; 101].into(), true).unwrap();
    assert!(matches!(
        actions(&mut client)[..],
        [SessionAction::EventDone { result: Err(PeerSendError::TooLong { most: 100, .. }), .. }]
    ));
    // Who sends more all the same has to go; without acknowledgement, it is dropped.
    let (mut client, mut server) = two(&PeerLimits { events: 9, ..limits.clone() });
    let mut strict = PeerSession::new(PeerSide::Server, limits);
    strict.attach(ZERO, true, 0, PeerLimits::default().into());
    for ticket in 1..=4 {
        client.send_event(ticket, "x".into(), false).unwrap();
    }
    carry(ZERO, &mut client, &mut strict);
    assert_eq!((strict.dropped(), ended(&mut strict)), (2, None));
    for ticket in 5..=8 {
        client.send_event(ticket, "x".into(), true).unwrap();
    }
    carry(ZERO, &mut client, &mut strict);
    assert!(matches!(ended(&mut strict), Some(ConnectionEnd::Protocol(_))));
    carry(ZERO, &mut client, &mut server);
}

#[test]
fn failures_are_told_again_and_forgotten_sessions_start_anew() {
    let limits = PeerLimits::default();
    let (mut client, mut server) = two(&limits);
    client.send_event(1, "bad".into(), true).unwrap();
    client.send_event(2, "good".into(), true).unwrap();
    carry(ZERO, &mut client, &mut server);
    let odd = FailureBody { error: "odd".to_owned(), code: "odd".to_owned() };
    server.event_done(Err(odd.clone()));
    server.event_done(Ok(()));
    // Nobody hears it.
    while server.take_message(ZERO).is_some() {}
    client.detach();
    server.detach();
    client.attach(ZERO, true, server.received(), limits.clone().into());
    server.attach(ZERO, true, 0, limits.clone().into());
    carry(ZERO, &mut client, &mut server);
    carry(ZERO, &mut server, &mut client);
    let done = actions(&mut client);
    let refused = Err(PeerSendError::Refused(odd));
    assert_eq!(done[0], SessionAction::EventDone { ticket: 1, result: refused });
    assert_eq!(done[1], SessionAction::EventDone { ticket: 2, result: Ok(()) });
    // A new server numbers from 2 again, and is heard.
    server.send_event(1, "x".into(), true).unwrap();
    carry(ZERO, &mut server, &mut client);
    assert_eq!(client.received(), 2);
    let mut anew = PeerSession::new(PeerSide::Server, limits.clone());
    client.attach(ZERO, false, 0, limits.clone().into());
    anew.attach(ZERO, true, 0, limits.into());
    assert_eq!(client.received(), 0);
    anew.send_event(1, "y".into(), true).unwrap();
    carry(ZERO, &mut anew, &mut client);
    // The event of the old one still runs, and nobody is told.
    client.event_done(Ok(()));
    assert_eq!(carry(ZERO, &mut client, &mut anew), 0);
    client.event_done(Ok(()));
    carry(ZERO, &mut client, &mut anew);
    let expected = SessionAction::EventDone { ticket: 1, result: Ok(()) };
    assert!(actions(&mut anew).contains(&expected));
}

#[test]
fn a_writer_without_credit_waits() {
    let limits = PeerLimits { window: 8192, ..PeerLimits::default() };
    let (mut client, mut server) = two(&limits);
    let id = client.open_stream("x".into()).unwrap();
    assert!(!client.write_stream(id, vec![0; 50_000].into(), false, true).unwrap());
    carry(ZERO, &mut client, &mut server);
    let received = |actions: &[SessionAction]| -> Vec<(usize, bool)> {
        let data = actions.iter().filter_map(|action| match action {
            SessionAction::StreamData { bytes, last, .. } => Some((bytes.len(), *last)),
            _ => None,
        });
        data.collect()
    };
    let first = received(&actions(&mut server));
    assert_eq!(first, [(8152, false)]);
    assert_eq!(carry(ZERO, &mut client, &mut server), 0);
    let (mut all, mut unread) = (8152, first);
    while let Some((bytes, last)) = unread.pop() {
        if last {
            break;
        }
        server.stream_read(id, bytes);
        carry(ZERO, &mut server, &mut client);
        carry(ZERO, &mut client, &mut server);
        unread = received(&actions(&mut server));
        all += unread.iter().map(|(bytes, _)| bytes).sum::<usize>();
    }
    assert_eq!(all, 50_000);
    assert!(actions(&mut client).contains(&SessionAction::StreamWritable { id }));
    assert_eq!(client.write_stream(id, Bytes::new(), false, false), Err(PeerStreamError::Finished));
    // The other direction is still open; and closes.
    server.write_stream(id, Bytes::from_static(b"y"), false, true).unwrap();
    carry(ZERO, &mut server, &mut client);
    assert!(client.is_idle());
    assert!(client.write_stream(id, Bytes::new(), false, false).is_err());
}

#[test]
fn an_urgent_chunk_is_acknowledged_when_all_was_read() {
    let (mut client, mut server) = two(&PeerLimits::default());
    let id = client.open_stream("x".into()).unwrap();
    client.write_stream(id, Bytes::from_static(b"abc"), true, false).unwrap();
    carry(ZERO, &mut client, &mut server);
    assert!(server.take_message(ZERO).is_none());
    server.stream_read(id, 3);
    let ack = server.take_message(ZERO).unwrap();
    assert_eq!(
        (ack.kind, ack.id, &ack.payload[..]),
        (MessageKind::Ack, id, &b"{\"credit\":43}"[..])
    );
    client.write_stream(id, Bytes::from_static(b"abc"), false, false).unwrap();
    carry(ZERO, &mut client, &mut server);
    server.stream_read(id, 3);
    assert!(server.take_message(ZERO).is_none());
}

#[test]
fn streams_take_turns_and_are_bounded() {
    let limits = PeerLimits { streams: 2, ..PeerLimits::default() };
    let (mut client, mut server) = two(&limits);
    let ids = [(); 2].map(|()| client.open_stream("x".into()).unwrap());
    assert_eq!(client.open_stream("x".into()), Err(PeerStreamError::TooMany(2)));
    for id in ids {
        client.write_stream(id, vec![0; 200_000].into(), false, false).unwrap();
    }
    let sent = std::iter::from_fn(|| client.take_message(ZERO));
    let chunks = sent.filter(|it| it.kind == MessageKind::StreamChunk).map(|it| it.id);
    assert_eq!(chunks.take(4).collect::<Vec<_>>(), [ids[0], ids[1], ids[0], ids[1]]);
    for id in [11, 13, 15] {
        server.receive(ZERO, message(MessageKind::StreamOpen, id, "x"));
    }
    let refused = server.take_message(ZERO).unwrap();
    assert_eq!((refused.kind, refused.id), (MessageKind::StreamClose, 15));
    assert_eq!(refused.json::<FailureBody>().unwrap().code, "busy");
}

#[test]
fn what_was_finished_is_sent_though_nobody_holds_the_stream() {
    let (mut client, mut server) = two(&PeerLimits::default());
    let id = client.open_stream("x".into()).unwrap();
    client.write_stream(id, Bytes::from_static(b"abc"), false, true).unwrap();
    client.abandon_stream(id);
    carry(ZERO, &mut client, &mut server);
    let data = SessionAction::StreamData { id, bytes: Bytes::from_static(b"abc"), last: true };
    let done = actions(&mut server);
    assert!(done.contains(&data));
    assert!(matches!(done.last(), Some(SessionAction::StreamEnded { .. })));
    assert!(client.is_idle());
    let id = client.open_stream("x".into()).unwrap();
    client.abandon_stream(id);
    carry(ZERO, &mut client, &mut server);
    let [.., SessionAction::StreamEnded { error: PeerStreamError::Closed(failure), .. }] =
        &actions(&mut server)[..]
    else {
        panic!()
    };
    assert_eq!(failure.code, "cancelled");
}

#[test]
fn silence_is_asked_about_and_then_ends_the_connection() {
    let (mut client, mut server) = two(&PeerLimits::default());
    assert_eq!(client.next_tick(), Some(10 * SECOND));
    client.tick(10 * SECOND);
    assert_eq!(carry(10 * SECOND, &mut client, &mut server), 1);
    assert_eq!(carry(10 * SECOND, &mut server, &mut client), 1);
    assert_eq!(client.next_tick(), Some(20 * SECOND));
    client.tick(20 * SECOND);
    client.tick(30 * SECOND);
    assert_eq!(ended(&mut client), None);
    client.tick(40 * SECOND);
    assert_eq!(ended(&mut client), Some(ConnectionEnd::Idle(30 * SECOND)));
}

#[test]
fn whoever_drains_finishes_and_takes_nothing_new() {
    let (mut client, mut server) = two(&PeerLimits::default());
    client.call(1, call("x", None)).unwrap();
    carry(ZERO, &mut client, &mut server);
    server.drain();
    assert_eq!(server.call(1, call("x", None)), Err(PeerCallError::Closed));
    client.call(2, call("y", None)).unwrap();
    let crossing: Vec<PeerMessage> = std::iter::from_fn(|| client.take_message(ZERO)).collect();
    carry(ZERO, &mut server, &mut client);
    for message in crossing {
        server.receive(ZERO, message);
    }
    assert_eq!(client.open_stream("x".into()), Err(PeerStreamError::Draining));
    client.call(3, call("z", None)).unwrap();
    assert!(client.take_message(ZERO).is_none());
    server.answer(1, Ok("done".into()));
    carry(ZERO, &mut server, &mut client);
    let done = actions(&mut client);
    assert!(matches!(done[0], SessionAction::CallDone { .. }));
    let refused = done.iter().find_map(|action| match action {
        SessionAction::CallDone { ticket: 2, result: Err(error) } => Some(error.handled()),
        _ => None,
    });
    assert_eq!(refused, Some(CallHandled::No));
    // Whoever was told closes; what waited goes to the next connection.
    assert!(done.contains(&SessionAction::Close { reason: ConnectionEnd::Drained }));
    client.detach();
    assert!(actions(&mut client).is_empty() && !client.is_idle());
}

#[test]
fn the_end_of_a_session_leaves_nobody_waiting() {
    let (mut client, _) = two(&PeerLimits::default());
    client.call(1, call("x", None)).unwrap();
    client.take_message(ZERO).unwrap();
    client.call(2, call("x", None)).unwrap();
    client.send_event(3, "x".into(), true).unwrap();
    client.close();
    let maybe = PeerCallError::Disconnected { handled: CallHandled::Maybe };
    let no = PeerCallError::Disconnected { handled: CallHandled::No };
    let done = actions(&mut client);
    assert!(done.contains(&SessionAction::CallDone { ticket: 1, result: Err(maybe) }));
    assert!(done.contains(&SessionAction::CallDone { ticket: 2, result: Err(no) }));
    let closed = Err(PeerSendError::Closed);
    assert!(done.contains(&SessionAction::EventDone { ticket: 3, result: closed }));
    assert_eq!(client.call(4, call("x", None)), Err(PeerCallError::Closed));
    assert_eq!(client.send_event(5, PeerBody::default(), true), Err(PeerSendError::Closed));
}
