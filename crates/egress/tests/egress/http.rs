//! Requests to the proxy, each checked by itself.

use std::io::Write;
use std::net::Shutdown;

use offshoot_egress::{Refusal, Route};

use crate::support::{Client, Proxy, Server, ok, read_request};

#[test]
fn an_allowed_host_is_reached_and_another_is_not() {
    let server = Server::echo();
    let port = server.port;
    let proxy = Proxy::new(&format!("good.test:{port},{}", server.listed()));
    let (status, text) = proxy.client().get(&format!("http://good.test:{port}/a?b=c"));
    assert_eq!(status, 200);
    assert!(text.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{text}");
    assert!(text.contains(&format!("Host: good.test:{port}\r\n")), "{text}");
    let (status, text) = proxy.client().get(&format!("http://bad.test:{port}/"));
    assert_eq!(status, 403);
    assert_eq!(text, format!("offshoot: bad.test:{port} is not allowed\n"));
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::Relaxed), 1);

    let report = proxy.finish();
    let [good, bad] = &report.connections[..] else { panic!("{report:?}") };
    assert_eq!(
        (good.route, good.method.as_deref(), good.path.as_deref()),
        (Route::Http, Some("GET"), Some("/a"))
    );
    assert_eq!((good.address, &good.refusal), (Some(server.at), &None));
    assert!(good.up > 20 && good.down > 20);
    assert_eq!((bad.address, &bad.refusal), (None, &Some(Refusal::NotAllowed)));
    assert_eq!(report.refused[0].flag, Some(format!("--net allow=bad.test:{port}")));
    assert_eq!((report.up, report.down), (good.up + bad.up, good.down + bad.down));
}

#[test]
fn every_request_of_a_connection_is_checked() {
    let server = Server::echo();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},b.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    for host in ["a.test", "a.test", "b.test", "a.test"] {
        let (status, text) = client.get(&format!("http://{host}:{port}/"));
        assert_eq!(status, 200);
        assert!(text.contains(&format!("Host: {host}:{port}")), "{text}");
    }
    assert_eq!(client.get(&format!("http://c.test:{port}/")).0, 403);
    assert_eq!(client.get(&format!("http://a.test:{port}/")).0, 200);
    // Kept while the host stays the same, and made anew when it changes.
    let ends = proxy.ends();
    assert_eq!(ends.len(), 6);
    assert_eq!(ends.iter().filter(|end| end.2.is_some()).count(), 1);
}

#[test]
fn a_redirect_is_a_request_like_any_other() {
    let secret = Server::answering(|_| ok("secret"));
    let to = format!("http://127.0.0.1:{}/latest", secret.port);
    let location = to.clone();
    let server = Server::answering(move |_| {
        format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
    });
    let proxy = Proxy::new(&format!("a.test:{},{}", server.port, server.listed()));
    let mut client = proxy.client();
    client
        .send(format!("GET http://a.test:{0}/ HTTP/1.1\r\nHost: a.test:{0}\r\n\r\n", server.port));
    let head = client.head();
    assert!(head.starts_with("HTTP/1.1 302") && head.contains(&to), "{head}");
    assert_eq!(client.get(&to).0, 403);
    assert_eq!(secret.connections.load(std::sync::atomic::Ordering::Relaxed), 0);
    drop(proxy);
}

#[test]
fn the_host_header_must_agree() {
    let server = Server::echo();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},b.test:{port},{}", server.listed()));
    for (url, host) in [
        (format!("http://a.test:{port}/"), format!("b.test:{port}")),
        (format!("http://a.test:{port}/"), "a.test".to_owned()),
        (format!("http://a.test:{port}/"), format!("a.test:{}", port - 1)),
        (format!("http://a.test:{port}/"), "127.0.0.1".to_owned()),
    ] {
        let request = format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(proxy.client().send(request).answer().0, 403, "{host}");
    }
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::Relaxed), 0);
    let all = proxy.ends();
    assert!(all.iter().all(|end| matches!(end.2, Some(Refusal::Disagrees(_)))), "{all:?}");
}

#[test]
fn what_could_be_read_in_two_ways_never_gets_through() {
    let server = Server::echo();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    for headers in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 6\r\nContent-Length: 5\r\n",
        "Content-Length: 6\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "X: y\r\n Content-Length: 6\r\n",
        "X: y\nContent-Length: 6\r\n",
        "Content-Length: 6\n",
        "Host: b.test\r\n",
    ] {
        let request = format!(
            "POST http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\n{headers}\r\n0\r\n\r\nG"
        );
        let text = proxy.client().send(request).rest();
        assert!(text.starts_with("HTTP/1.1 400 "), "{headers:?}: {text}");
        assert_eq!(text.matches("HTTP/1.1").count(), 1, "{headers:?}: {text}");
    }
    assert_eq!(server.connections.load(std::sync::atomic::Ordering::Relaxed), 0);
    drop(proxy);
}

#[test]
fn bodies_arrive_whole() {
    let server = Server::echo();
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    let start = format!("POST http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\n");
    let (_, text) = client.send(format!("{start}Content-Length: 5\r\n\r\nhello")).answer();
    assert!(text.ends_with("\r\n\r\nhello"), "{text}");
    let chunks = "3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nx-sum: 1\r\n\r\n";
    let (_, text) =
        client.send(format!("{start}Transfer-Encoding: chunked\r\n\r\n{chunks}")).answer();
    assert!(text.ends_with("\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nx-sum: 1\r\n\r\n"), "{text}");
    // Two at once are answered in order.
    let two = format!("{start}Content-Length: 1\r\n\r\n1{start}Content-Length: 1\r\n\r\n2");
    client.send(two);
    assert!(client.answer().1.ends_with('1'));
    assert!(client.answer().1.ends_with('2'));
    // A body with wrong chunks ends the connection; what came of it is not taken for a request.
    let text = client.send(format!("{start}Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n")).rest();
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
    drop(proxy);
}

#[test]
fn answers_arrive_whole_in_every_form() {
    let server = Server::new(|mut stream| {
        while let Some((head, _)) = read_request(&mut stream) {
            let path = head.split(' ').nth(1).unwrap();
            let answer = match path {
                "/chunked" => {
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                }
                "/close" => "HTTP/1.1 200 OK\r\n\r\nabc",
                "/none" => "HTTP/1.1 204 No Content\r\n\r\n",
                "/head" => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
                "/continue" => {
                    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
                }
                _ => {
                    "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n"
                }
            };
            stream.write_all(answer.as_bytes()).unwrap();
            if path == "/close" {
                stream.shutdown(Shutdown::Both).unwrap();
            }
        }
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let ask = |client: &mut Client, method: &str, path: &str, version: &str| {
        let request = format!(
            "{method} http://a.test:{port}{path} HTTP/{version}\r\nHost: a.test:{port}\r\n\r\n"
        );
        client.send(request);
    };
    let mut client = proxy.client();
    ask(&mut client, "GET", "/chunked", "1.1");
    assert!(client.head().contains("Transfer-Encoding: chunked"));
    assert_eq!(client.bytes(13), b"3\r\nabc\r\n0\r\n\r\n");
    ask(&mut client, "GET", "/none", "1.1");
    assert!(client.head().starts_with("HTTP/1.1 204"));
    ask(&mut client, "HEAD", "/head", "1.1");
    assert!(client.head().contains("Content-Length: 100"));
    ask(&mut client, "GET", "/cached", "1.1");
    assert_eq!(client.head().matches("Set-Cookie").count(), 2);
    ask(&mut client, "GET", "/continue", "1.1");
    assert!(client.head().starts_with("HTTP/1.1 100"));
    assert_eq!(client.answer(), (200, "abc".to_owned()));
    ask(&mut client, "GET", "/close", "1.1");
    let text = client.rest();
    assert!(text.contains("Connection: close") && text.ends_with("\r\n\r\nabc"), "{text}");
    // A client of HTTP/1.0 knows no chunks.
    let mut client = proxy.client();
    ask(&mut client, "GET", "/chunked", "1.0");
    let text = client.rest();
    assert!(!text.contains("chunked") && text.ends_with("\r\n\r\nabc"), "{text}");
    drop(proxy);
}

#[test]
fn a_server_that_closes_kept_connections_is_asked_again() {
    let server = Server::new(|mut stream| {
        if read_request(&mut stream).is_some() {
            stream.write_all(ok("once").as_bytes()).unwrap();
        }
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    for _ in 0..5 {
        assert_eq!(client.get(&format!("http://a.test:{port}/")), (200, "once".to_owned()));
    }
    drop(proxy);
}

#[test]
fn a_server_that_answers_early_is_heard() {
    let server = Server::new(|mut stream| {
        let mut head = [0; 16];
        std::io::Read::read_exact(&mut stream, &mut head).unwrap();
        let answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig";
        stream.write_all(answer.as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(200));
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let mut client = proxy.client();
    client.send(format!(
        "POST http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\nContent-Length: 1000000000\r\n\r\n{}",
        "x".repeat(100_000)
    ));
    assert_eq!(client.answer(), (413, "big".to_owned()));
    assert_eq!(client.rest(), "");
    drop(proxy);
}

#[test]
fn servers_that_answer_nonsense_are_a_bad_gateway() {
    for answer in [
        "",
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\n",
    ] {
        let server = Server::new(move |mut stream| {
            drop(read_request(&mut stream));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        let port = server.port;
        let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
        assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 502, "{answer:?}");
        assert!(matches!(proxy.ends()[0].2, Some(Refusal::Upstream(_))));
    }
}

#[test]
fn websockets_pass_and_other_upgrades_do_not() {
    let server = Server::new(|mut stream| {
        let Some((head, _)) = read_request(&mut stream) else { return };
        if head.contains("Upgrade: websocket") {
            let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
            stream.write_all(answer.as_bytes()).unwrap();
            let mut word = [0; 4];
            std::io::Read::read_exact(&mut stream, &mut word).unwrap();
            stream.write_all(&word).unwrap();
        } else {
            stream.write_all(ok(&head).as_bytes()).unwrap();
        }
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let start = format!("GET http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\n");
    let mut client = proxy.client();
    client.send(format!("{start}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"));
    assert!(client.head().starts_with("HTTP/1.1 101"));
    assert_eq!(client.send("ping").bytes(4), b"ping");
    drop(client);
    // HTTP/2 in plain text would carry requests that nobody looks at.
    let mut client = proxy.client();
    client.send(format!(
        "{start}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n"
    ));
    let (status, text) = client.answer();
    assert_eq!(status, 200);
    assert!(!text.to_lowercase().contains("upgrade") && !text.contains("HTTP2"), "{text}");
    drop(proxy);
}

#[test]
fn methods_and_paths_are_checked() {
    let server = Server::echo();
    let port = server.port;
    let rules = format!(
        r#"[{{"host":"a.test:{port}","methods":["GET"],"paths":["/pub/**"]}},"{}"]"#,
        server.listed()
    );
    let proxy = Proxy::with("", |options, _| options.rules = serde_json::from_str(&rules).unwrap());
    let mut client = proxy.client();
    let url = format!("http://a.test:{port}");
    assert_eq!(client.get(&format!("{url}/pub/x?y")).0, 200);
    for path in ["/", "/private", "/pub/../private", "/pub/%2e%2e/private", "/pub//x", "/pub/..;/x"]
    {
        assert_eq!(client.get(&format!("{url}{path}")).0, 403, "{path}");
    }
    let post =
        format!("POST {url}/pub/x HTTP/1.1\r\nHost: a.test:{port}\r\nContent-Length: 0\r\n\r\n");
    assert!(client.send(post).rest().contains("Connection: close"));
    // What cannot be looked into is not allowed by such a rule: a tunnel with something else in it ends.
    let mut client = proxy.client();
    assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
    assert_eq!(client.send("\x01\x02\x03").rest(), "");
    // A tunnel with requests in it is checked like any other.
    let mut client = proxy.client();
    assert_eq!(client.tunnel(&format!("a.test:{port}")), 200);
    let inside = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n");
    assert_eq!(client.send(inside("/pub/x")).answer().0, 200);
    assert_eq!(client.send(inside("/private")).answer().0, 403);
    let ends = proxy.ends();
    assert!(ends.iter().any(|end| end.2 == Some(Refusal::Opaque)), "{ends:?}");
    assert!(
        ends.iter().any(|end| (end.0, &end.2) == (Route::Connect, &Some(Refusal::Request))),
        "{ends:?}"
    );
}

#[test]
fn requests_that_are_none_for_a_proxy_are_told_so() {
    let proxy = Proxy::new("a.test");
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "400"),
        ("GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "400"),
        ("TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n", "501"),
        ("CONNECT a.test:80 HTTP/1.1\r\nHost: b.test:80\r\n\r\n", "403"),
        ("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\nContent-Length: 3\r\n\r\n", "400"),
        ("\x04\x01", "400"),
        ("\r\n\r\n", "400"),
        ("nonsense\r\n\r\n", "400"),
    ] {
        let mut client = proxy.client();
        client.send(request);
        if request.len() < 4 {
            client.stream.shutdown(Shutdown::Write).unwrap();
        }
        let text = client.rest_or_close();
        assert!(text.starts_with(&format!("HTTP/1.1 {status}")), "{request:?}: {text}");
    }
    drop(proxy);
}
