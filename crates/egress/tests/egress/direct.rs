//! Programs that know no proxy: a made-up address means the name that it was made up for.

use std::net::{SocketAddr, TcpListener, UdpSocket};

use offshoot_egress::{Refusal, Route};

use crate::names::{Asked, ask};
use crate::support::{Client, LOOPBACK, Proxy, Server, ok};
use crate::tunnels::greeting;

/// A proxy with a listener at the address that the first name gets, at the port of a server.
fn direct(rules: &str, port: u16) -> (Proxy, SocketAddr, SocketAddr) {
    // All of 127.0.0.0/8 is local, so that a part of it does for what is a route in the namespace of a command.
    let at = SocketAddr::from(([127, 77, 0, 1], port));
    let listener = TcpListener::bind(at).unwrap();
    let names = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let server = names.local_addr().unwrap();
    let proxy = Proxy::with(rules, |options, sockets| {
        options.made_up = "127.77.0.0/16".parse().unwrap();
        sockets.direct = vec![listener];
        sockets.names = Some(names);
    });
    (proxy, at, server)
}

#[test]
fn a_made_up_address_means_its_name() {
    let server = Server::echo();
    let port = server.port;
    let (proxy, at, names) =
        direct(&format!("a.test:{port},b.test:{port},{}", server.listed()), port);
    assert_eq!(ask(names, "a.test", 1), Asked::Address([127, 77, 0, 1]));
    let mut client = Client::connect(at);
    client.send(format!("GET /x HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n"));
    let (status, text) = client.answer();
    assert_eq!(status, 200);
    assert!(text.starts_with("GET /x HTTP/1.1\r\n"), "{text}");
    // The same connection cannot be used for another host, though that one is allowed.
    client.send(format!("GET /x HTTP/1.1\r\nHost: b.test:{port}\r\n\r\n"));
    assert_eq!(client.answer().0, 403);
    assert_eq!(Client::connect(at).send(greeting("b.test")).rest(), "");
    let ends = proxy.ends();
    assert_eq!(ends[0], (Route::Direct, format!("a.test:{port}"), None));
    assert!(matches!(ends[1].2, Some(Refusal::Disagrees(_))), "{ends:?}");
    assert!(matches!(ends[2].2, Some(Refusal::Disagrees(_))), "{ends:?}");
}

#[test]
fn an_address_that_nobody_made_up_is_an_address() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let (proxy, at, _) = direct(&format!("a.test:{port},{}", server.listed()), port);
    assert_eq!(Client::connect(at).send("GET / HTTP/1.1\r\n\r\n").rest(), "");
    let report = proxy.finish();
    assert_eq!(report.connections[0].refusal, Some(Refusal::NotAllowed));
    assert_eq!(report.refused[0].host.to_string(), "127.77.0.1");
}

#[test]
fn a_made_up_address_means_its_name_to_socks_too() {
    let server = Server::mirror();
    let port = server.port;
    let (proxy, _, names) = direct(&format!("a.test:{port},{}", server.listed()), port);
    assert_eq!(ask(names, "a.test", 1), Asked::Address([127, 77, 0, 1]));
    let mut client = proxy.client();
    let mut request = vec![5, 1, 0, 5, 1, 0, 1, 127, 77, 0, 1];
    request.extend(port.to_be_bytes());
    client.send(request);
    assert_eq!(client.bytes(12)[3], 0);
    assert_eq!(client.send("\x01").bytes(1), b"\x01");
    drop(client);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(proxy.ends()[0].1, format!("a.test:{port}"));
}

#[test]
fn raw_bytes_pass_where_a_rule_lets_them() {
    let server = Server::mirror();
    let port = server.port;
    let (proxy, at, names) = direct(&format!("a.test:{port},{}", server.listed()), port);
    ask(names, "a.test", 1);
    assert_eq!(Client::connect(at).send("\x01raw").bytes(4), b"\x01raw");
    drop(proxy);
}
