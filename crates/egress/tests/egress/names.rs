//! The made-up name server: answers for allowed names, and nothing that leaves the machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::Ordering;

use offshoot_egress::{Refusal, Route};

use crate::support::{LOOPBACK, PATIENCE, Proxy};

/// What a question got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Address([u8; 4]),
    Nothing,
    Code(u8),
}

fn question(name: &str, kind: u16) -> Vec<u8> {
    let mut packet = vec![1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        packet.push(label.len() as u8);
        packet.extend(label.as_bytes());
    }
    packet.push(0);
    packet.extend(kind.to_be_bytes());
    packet.extend([0, 1]);
    packet
}

fn read(question: &[u8], answer: &[u8]) -> Asked {
    assert_eq!(answer[..2], question[..2]);
    assert_eq!(answer[2] & 0x80, 0x80);
    assert_eq!(answer[12..question.len()], question[12..]);
    match (answer[3] & 0xf, answer[7]) {
        (0, 1) => Asked::Address(answer[answer.len() - 4..].try_into().unwrap()),
        (0, 0) => Asked::Nothing,
        (code, _) => Asked::Code(code),
    }
}

/// Asks in a packet.
pub(crate) fn ask(server: SocketAddr, name: &str, kind: u16) -> Asked {
    let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let packet = question(name, kind);
    socket.send_to(&packet, server).unwrap();
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).unwrap();
    read(&packet, &answer[..length])
}

fn serve(rules: &str) -> (Proxy, SocketAddr, SocketAddr) {
    let packets = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let connections = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let (by_packet, by_connection) =
        (packets.local_addr().unwrap(), connections.local_addr().unwrap());
    let proxy = Proxy::with(rules, |options, sockets| {
        options.limits.names = 3;
        sockets.names = Some(packets);
        sockets.names_tcp = Some(connections);
    });
    (proxy, by_packet, by_connection)
}

const A: u16 = 1;
const NO_SUCH_NAME: Asked = Asked::Code(3);
const REFUSED: Asked = Asked::Code(5);

#[test]
fn allowed_names_get_addresses_that_stay() {
    let (proxy, server, _) = serve("a.test,*.b.test:22,10.0.0.1");
    assert_eq!(ask(server, "a.test", A), Asked::Address([198, 18, 0, 1]));
    assert_eq!(ask(server, "x.b.test", A), Asked::Address([198, 18, 0, 2]));
    assert_eq!(ask(server, "A.TEST", A), Asked::Address([198, 18, 0, 1]));
    for kind in [28, 64, 65] {
        assert_eq!(ask(server, "a.test", kind), Asked::Nothing, "{kind}");
    }
    // Nobody was asked.
    assert_eq!(proxy.names.asked.load(Ordering::Relaxed), 0);
    assert!(proxy.finish().connections.is_empty());
}

#[test]
fn nothing_else_is_answered_or_asked() {
    let (proxy, server, _) = serve("a.test,*.b.test");
    for name in
        ["evil.test", "b.test", "c2VjcmV0.evil.test", "test", "127.1", "1.0.0.127.in-addr.arpa"]
    {
        for kind in [A, 28, 16, 65] {
            assert_eq!(ask(server, name, kind), NO_SUCH_NAME, "{name}");
        }
    }
    // TXT, MX, SRV, NS, SOA, PTR, ANY, NULL: what could carry data, also for allowed names.
    for kind in [16, 15, 33, 2, 6, 12, 255, 10, 257] {
        assert_eq!(ask(server, "a.test", kind), REFUSED, "{kind}");
    }
    assert_eq!(proxy.names.asked.load(Ordering::Relaxed), 0);
    let report = proxy.finish();
    assert!(report.connections.iter().all(|one| one.route == Route::Dns && one.refusal.is_some()));
    let evil = report.refused.iter().find(|one| one.host.to_string() == "evil.test").unwrap();
    assert_eq!((evil.times, evil.flag.as_deref()), (4, Some("--net allow=evil.test")));
}

#[test]
fn names_run_out_before_memory_does() {
    let (proxy, server, _) = serve("*.b.test");
    for name in ["1.b.test", "2.b.test", "3.b.test"] {
        assert!(matches!(ask(server, name, A), Asked::Address(_)), "{name}");
    }
    assert_eq!(ask(server, "4.b.test", A), Asked::Code(2));
    assert!(matches!(ask(server, "1.b.test", A), Asked::Address(_)));
    assert!(matches!(proxy.ends()[0].2, Some(Refusal::Limit(_))));
}

#[test]
fn questions_by_tcp_get_the_same_answers() {
    let (proxy, _, server) = serve("a.test");
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    for (name, expected) in
        [("a.test", Asked::Address([198, 18, 0, 1])), ("evil.test", NO_SUCH_NAME)]
    {
        let packet = question(name, A);
        stream.write_all(&(packet.len() as u16).to_be_bytes()).unwrap();
        stream.write_all(&packet).unwrap();
        let mut length = [0; 2];
        stream.read_exact(&mut length).unwrap();
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(read(&packet, &answer), expected);
    }
    // Nonsense ends the connection, and nothing else.
    stream.write_all(&[0, 3, 1, 2, 3]).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    drop(proxy);
}
