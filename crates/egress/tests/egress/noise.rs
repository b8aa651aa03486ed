//! Noise at every door: nothing ends the proxy, and nothing of it gets through.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::Ordering;
use std::time::Duration;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;

use crate::support::{Client, LOOPBACK, Proxy, Server, ok};
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
    let mut bytes = match rng.below(5) {
        0 => format!("GET http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n")
            .into_bytes(),
        1 => format!("CONNECT a.test:{port} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n").into_bytes(),
        2 => [&[5, 1, 0, 5, 1, 0, 3, 6][..], b"a.test", &port.to_be_bytes()].concat(),
        3 => greeting("a.test"),
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
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, sockets| {
        options.limits.head_time = Duration::from_millis(500);
        options.limits.idle = Duration::from_millis(500);
        options.made_up = "127.78.0.0/16".parse().unwrap();
        sockets.direct = vec![direct];
        sockets.names = Some(names);
    });
    crate::names::ask(names_at, "a.test", 1);
    let asking = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    for case in 0..cases(150, 5000) {
        let mut clients: Vec<Client> = [proxy.at, proxy.at, direct_at].map(Client::connect).into();
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
