//! Tunnels: bytes both ways, and no name inside that differs from the one outside.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use offshoot_egress::{Refusal, Route};

use crate::support::{Client, Proxy, Server, ok};

#[test]
fn bytes_pass_both_ways_and_are_counted() {
    let server = Server::mirror();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut by_connect = proxy.client();
    assert_eq!(by_connect.tunnel(&format!("a.test:{port}")), 200);
    let mut by_socks = proxy.client();
    assert_eq!(by_socks.socks("a.test", port), 0);
    for client in [&mut by_connect, &mut by_socks] {
        let text: Vec<u8> = (0..100_000_u32).map(|number| number as u8).collect();
        let mut writer = client.stream.try_clone().unwrap();
        let sent = text.clone();
        let thread = std::thread::spawn(move || writer.write_all(&sent).unwrap());
        assert_eq!(client.bytes(text.len()), text);
        thread.join().unwrap();
    }
    drop((by_connect, by_socks));
    std::thread::sleep(Duration::from_millis(100));
    let report = proxy.finish();
    assert_eq!(report.connections.len(), 2);
    for connection in &report.connections {
        assert_eq!((connection.up, connection.down), (100_000, 100_000), "{connection:?}");
        assert_eq!(connection.refusal, None);
        assert!([Route::Connect, Route::Socks].contains(&connection.route));
    }
}

#[test]
fn a_large_transfer_arrives_whole() {
    const SIZE: usize = 64 << 20;
    let server = Server::new(|mut stream| {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        let block: Vec<u8> = (0..1 << 20).map(|index: u32| (index % 251) as u8).collect();
        for _ in 0..SIZE >> 20 {
            stream.write_all(&block).unwrap();
        }
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    assert_eq!(client.socks("a.test", port), 0);
    let mut got = Vec::with_capacity(SIZE);
    client.send("\0").stream.read_to_end(&mut got).unwrap();
    assert_eq!(got.len(), SIZE);
    assert!(
        got.chunks(1 << 20)
            .all(|block| block.iter().enumerate().all(|(i, byte)| *byte == (i % 251) as u8))
    );
    assert_eq!(proxy.finish().down, SIZE as u64);
}

#[test]
fn one_side_may_be_done_before_the_other() {
    let server = Server::new(|mut stream| {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        stream.write_all(format!("got {text}").as_bytes()).unwrap();
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
    client.send("\x01all").stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.rest(), "got \x01all");
    drop(proxy);
}

#[test]
fn a_server_that_speaks_first_is_heard() {
    let server = Server::new(|mut stream| {
        stream.write_all(b"220 ready\r\n").unwrap();
        let mut line = [0; 6];
        stream.read_exact(&mut line).unwrap();
        stream.write_all(b"221 bye\r\n").unwrap();
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    assert_eq!(client.socks("a.test", port), 0);
    assert_eq!(client.bytes(11), b"220 ready\r\n");
    assert_eq!(client.send("QUIT\r\n").rest(), "221 bye\r\n");
    drop(proxy);
}

#[test]
fn what_moves_nothing_ends() {
    let server = Server::mirror();
    let port = server.port;
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
        options.limits.idle = Duration::from_secs(1);
        options.limits.half_closed = Duration::from_millis(100);
    });
    let mut client = proxy.client();
    assert_eq!(client.socks("a.test", port), 0);
    let start = Instant::now();
    // Traffic keeps it open.
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(350));
        assert_eq!(client.send("\x01").bytes(1), b"\x01");
    }
    assert!(start.elapsed() > Duration::from_millis(1300));
    assert_eq!(client.rest(), "");
    assert!(start.elapsed() < Duration::from_secs(10));
    // A tunnel on which nothing was ever said ends as well.
    let mut silent = proxy.client();
    assert_eq!(silent.socks("a.test", port), 0);
    assert_eq!(silent.rest(), "");
    // A server that keeps its side open after the client is done does not hold it for long.
    let holding = Server::new(|_stream| std::thread::sleep(Duration::from_secs(60)));
    let second =
        Proxy::with(&format!("a.test:{},{}", holding.port, holding.listed()), |options, _| {
            options.limits.half_closed = Duration::from_millis(100);
        });
    let mut client = second.client();
    assert_eq!(client.socks("a.test", holding.port), 0);
    client.send("\x01").stream.shutdown(Shutdown::Write).unwrap();
    let start = Instant::now();
    assert_eq!(client.rest(), "");
    assert!(start.elapsed() < Duration::from_secs(5));
    let ends = proxy.ends();
    assert!(ends.iter().all(|end| matches!(end.2, Some(Refusal::Limit(_)))), "{ends:?}");
}

/// A greeting of TLS for a name.
pub(crate) fn greeting(name: &str) -> Vec<u8> {
    let length = name.len() as u16;
    let mut extension = vec![0, 0];
    extension.extend((length + 5).to_be_bytes());
    extension.extend((length + 3).to_be_bytes());
    extension.push(0);
    extension.extend(length.to_be_bytes());
    extension.extend(name.as_bytes());
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    body.extend((extension.len() as u16).to_be_bytes());
    body.extend(extension);
    let mut message = vec![1, 0];
    message.extend((body.len() as u16).to_be_bytes());
    message.extend(body);
    let mut record = vec![22, 3, 1];
    record.extend((message.len() as u16).to_be_bytes());
    record.extend(message);
    record
}

#[test]
fn tls_for_another_name_is_refused() {
    let server = Server::mirror();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},b.test:{port},{}", server.listed()));
    let open = |by_socks: bool| -> Client {
        let mut client = proxy.client();
        if by_socks {
            assert_eq!(client.socks("a.test", port), 0);
        } else {
            assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
        }
        client
    };
    for by_socks in [false, true] {
        let hello = greeting("A.test");
        assert_eq!(open(by_socks).send(&hello).bytes(hello.len()), hello);
        // Allowed by itself, and still not what the tunnel is for.
        assert_eq!(open(by_socks).send(greeting("b.test")).rest(), "");
        assert_eq!(open(by_socks).send(greeting("evil.test")).rest(), "");
        // In pieces it says the same.
        let mut client = open(by_socks);
        for byte in greeting("evil.test") {
            client.send([byte]);
        }
        assert_eq!(client.rest(), "");
        // A request in plain text for another host.
        let request = format!("GET / HTTP/1.1\r\nHost: evil.test:{port}\r\n\r\n");
        assert!(open(by_socks).send(request).rest_or_close().starts_with("HTTP/1.1 403"));
    }
    let ends = proxy.ends();
    let refused = ends.iter().filter(|end| matches!(end.2, Some(Refusal::Disagrees(_)))).count();
    assert_eq!(refused, 8, "{ends:?}");
}

#[test]
fn a_tunnel_by_address_may_only_carry_allowed_names() {
    let server = Server::mirror();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let open = || {
        let mut client = proxy.client();
        assert_eq!(client.tunnel(&server.listed()), 200);
        client
    };
    let hello = greeting("a.test");
    assert_eq!(open().send(&hello).bytes(hello.len()), hello);
    assert_eq!(open().send(greeting("evil.test")).rest(), "");
    drop(proxy);
}

#[test]
fn requests_in_tunnels_have_records_of_their_own() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
    for path in ["/1", "/2"] {
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n"));
        assert_eq!(client.answer(), (200, "in".to_owned()));
    }
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::Relaxed), 1);
    let report = proxy.finish();
    let paths: Vec<_> =
        report.connections.iter().map(|one| (one.route, one.path.as_deref())).collect();
    assert_eq!(paths, [(Route::Connect, Some("/1")), (Route::Connect, Some("/2"))]);
}

#[test]
fn without_agreement_an_allowed_server_is_asked_for_another_site() {
    let server = Server::new(|mut stream| {
        let mut first = [0; 1024];
        let count = stream.read(&mut first).unwrap();
        let text = String::from_utf8_lossy(&first[..count]).into_owned();
        let found = if text.contains("evil.test") { "fronted" } else { "honest" };
        stream.write_all(ok(found).as_bytes()).unwrap();
    });
    let port = server.port;
    for names_agree in [true, false] {
        let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
            options.walls.names_agree = names_agree;
        });
        let open = || {
            let mut client = proxy.client();
            assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
            client
        };
        let by_tls = open().send(greeting("evil.test")).rest_or_close();
        let request = format!("GET / HTTP/1.1\r\nHost: evil.test:{port}\r\n\r\n");
        let by_header = open().send(request).rest_or_close();
        assert_eq!(by_tls.contains("fronted"), !names_agree, "{by_tls}");
        assert_eq!(by_header.contains("fronted"), !names_agree, "{by_header}");
    }
}
