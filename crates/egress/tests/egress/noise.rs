//! Noise at every door: nothing ends the proxy, and nothing of it gets through.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::Duration;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;

use crate::credentials::{HUSH, credential};
use crate::support::{Client, LOOPBACK, Proxy, Server, ok};
use crate::tls::{ask, authority, greet, https, inspecting};
use crate::tunnels::greeting;

/// Pieces that requests are made of, good and bad.
const PIECES: &[&str] = &[
    "GET ",
    "CONNECT ",
    "POST ",
    "http://",
    "https://",
    "a.test",
    "evil.test",
    "127.0.0.1",
    "0x7f.1",
    ":",
    "/",
    "//",
    "..",
    "%2e",
    " HTTP/1.1",
    " HTTP/1.0",
    "\r\n",
    "\r\n",
    "\n",
    "\r",
    "\0",
    "Host: ",
    "Content-Length: ",
    "Transfer-Encoding: ",
    "chunked",
    "5",
    "0",
    "-1",
    "99999999999999999999",
    " ",
    "\t",
    "Upgrade: websocket",
    "Connection: upgrade",
    "@",
    "#",
    "?",
    "\u{5}\u{1}\u{0}",
    "\u{5}\u{1}\u{0}\u{3}",
    "\u{16}\u{3}\u{1}",
    "é",
    "[::1]",
    "X-A: b",
    ",",
    "*",
];

fn noise(rng: &mut Rng, port: u16) -> Vec<u8> {
    let mut bytes = match rng.below(7) {
        0 => format!("GET http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n")
            .into_bytes(),
        1 => format!("CONNECT a.test:{port} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n").into_bytes(),
        2 => [&[5, 1, 0, 5, 1, 0, 3, 6][..], b"a.test", &port.to_be_bytes()].concat(),
        3 => greeting("a.test"),
        4 => tunnelled(greeting("a.test"), port),
        // A question by TCP, with its length before it.
        5 => b"\0\x18\x01\x02\x01\0\0\x01\0\0\0\0\0\0\x01a\x04test\0\0\x01\0\x01".to_vec(),
        _ => Vec::new(),
    };
    for _ in 0..rng.below(12) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        match rng.below(4) {
            0 if !bytes.is_empty() => {
                let at = at.min(bytes.len() - 1);
                bytes[at] = rng.next_u64() as u8;
            }
            1 => bytes.truncate(at),
            _ => {
                let piece = rng.pick(PIECES).unwrap().as_bytes().to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

/// What a client sends at once that wants a tunnel and knows that it gets one.
fn tunnelled(content: Vec<u8>, port: u16) -> Vec<u8> {
    let head = format!("CONNECT a.test:{port} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n");
    [head.into_bytes(), content].concat()
}

#[test]
fn noise_ends_nothing_and_opens_nothing() {
    let seed = seed_from_env_or(0x5eed);
    let mut rng = Rng::new(seed);
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    // A second server that nobody may reach, at every host that is not listed.
    let forbidden = Server::answering(|_| ok("secret"));
    let direct = TcpListener::bind(("127.78.0.1", port)).unwrap();
    let direct_at = direct.local_addr().unwrap();
    let names = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let names_at = names.local_addr().unwrap();
    let names_tcp = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let names_tcp_at = names_tcp.local_addr().unwrap();
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, sockets| {
        options.limits.head_time = Duration::from_millis(500);
        options.limits.idle = Duration::from_millis(500);
        options.made_up = "127.78.0.0/16".parse().unwrap();
        sockets.direct = vec![direct];
        sockets.names = Some(names);
        sockets.names_tcp = Some(names_tcp);
    });
    crate::names::ask(names_at, "a.test", 1);
    let asking = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    for case in 0..cases(150, 5000) {
        let doors = [proxy.at, proxy.at, direct_at, names_tcp_at];
        let mut clients: Vec<Client> = doors.map(Client::connect).into();
        for client in &mut clients {
            let target = if rng.one_in(8) { forbidden.port } else { port };
            client.send(noise(&mut rng, target));
        }
        asking.send_to(&noise(&mut rng, port), names_at).unwrap();
        for client in &mut clients {
            let text = client.rest_or_close();
            assert!(!text.contains("secret"), "seed {seed}, case {case}: {text}");
        }
    }
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 200, "seed {seed}");
    assert_eq!(forbidden.connections.load(Ordering::Relaxed), 0, "seed {seed}");
}

/// Within TLS that is looked into there are requests like any other, and the credential stays with its host.
#[test]
fn noise_within_tls_opens_nothing_and_takes_no_credential_along() {
    let seed = seed_from_env_or(0x715);
    let mut rng = Rng::new(seed);
    let (server, trusted) = https(&["a.test"]);
    let forbidden = Server::echo();
    let port = server.port;
    let proxy =
        Proxy::with(&format!("a.test:{port},b.test:{port},{}", server.listed()), |options, _| {
            inspecting(options, &trusted);
            options.limits.head_time = Duration::from_millis(500);
            options.limits.idle = Duration::from_millis(500);
            options.credentials = credential("b.test", false);
        });
    for case in 0..cases(40, 2000) {
        let mut client = proxy.client();
        assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
        let mut stream = greet(client.stream, "a.test", authority(&proxy));
        let target = if rng.one_in(8) { forbidden.port } else { port };
        let mut noise = noise(&mut rng, target);
        if rng.one_in(3) {
            let at = rng.below(noise.len() as u64 + 1) as usize;
            noise.splice(at..at, *b"\r\nHost: b.test\r\n");
        }
        // Either side may have enough of the other at any time.
        drop(stream.write_all(&noise).and_then(|()| stream.flush()));
        stream.conn.send_close_notify();
        drop(stream.flush());
        let mut said = Vec::new();
        drop(stream.read_to_end(&mut said));
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains(HUSH), "seed {seed}, case {case}: {said}");
    }
    assert_eq!(forbidden.connections.load(Ordering::Relaxed), 0, "seed {seed}");
    let mut client = proxy.client();
    assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
    let mut stream = greet(client.stream, "a.test", authority(&proxy));
    let text = ask(&mut stream, &format!("a.test:{port}"), "/", "");
    assert!(text.starts_with("HTTP/1.1 200"), "seed {seed}: {text}");
}
