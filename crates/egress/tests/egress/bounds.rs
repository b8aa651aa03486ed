//! What a client can cost: time, memory and places are all bounded.

use std::io::Read;
use std::time::{Duration, Instant};

use offshoot_egress::Refusal;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{Client, PATIENCE, Proxy, Server, eventually, ok};

#[test]
fn slow_heads_are_given_up() {
    let proxy =
        Proxy::with("a.test", |options, _| options.limits.head_time = Duration::from_millis(300));
    let start = Instant::now();
    let mut silent = proxy.client();
    let mut slow = proxy.client();
    slow.send("GET http://a.test/ HTTP/1.1\r\n");
    for _ in 0..10 {
        std::thread::sleep(Duration::from_millis(50));
        slow.send("X: y\r\n");
    }
    assert!(slow.rest().starts_with("HTTP/1.1 408"));
    assert_eq!(silent.rest(), "");
    let mut socks = proxy.client();
    assert_eq!(socks.send([5]).rest(), "");
    let mut half = proxy.client();
    half.send([5, 1, 0, 5, 1]);
    half.rest();
    assert!(start.elapsed() < PATIENCE);
    let ends = proxy.ends();
    assert_eq!(ends.len(), 3, "{ends:?}");
    assert!(ends.iter().all(|end| matches!(end.2, Some(Refusal::Limit(_)))), "{ends:?}");
}

#[test]
fn large_heads_are_refused() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    let start = format!("GET http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\n");
    let fits = format!("{start}X: {}\r\n\r\n", "y".repeat(60_000));
    assert_eq!(proxy.client().send(fits).answer().0, 200);
    for headers in
        [format!("X: {}", "y".repeat(70_000)), "X: y\r\n".repeat(200), "X".repeat(1 << 20)]
    {
        let text = proxy.client().send(format!("{start}{headers}\r\n\r\n")).rest();
        assert!(text.starts_with("HTTP/1.1 431"), "{text}");
    }
    // An answer may be too large as well.
    let server =
        Server::answering(|_| format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(70_000)));
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},{}", server.listed()));
    assert_eq!(proxy.client().get(&format!("http://a.test:{port}/")).0, 502);
}

#[test]
fn connections_beyond_the_limit_wait_for_their_turn() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
        options.limits.connections = 4;
    });
    let url = format!("http://a.test:{port}/");
    let mut held: Vec<Client> = (0..4).map(|_| proxy.client()).collect();
    for client in &mut held {
        assert_eq!(client.get(&url).0, 200);
    }
    let mut waiting = proxy.client();
    waiting.send(format!("GET {url} HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n"));
    waiting.stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(waiting.stream.read(&mut [0]).is_err());
    held.pop();
    waiting.stream.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(waiting.answer().0, 200);
}

#[test]
fn kept_connections_are_not_kept_for_ever() {
    let server = Server::answering(|_| ok("in"));
    let port = server.port;
    let proxy = Proxy::with(&format!("a.test:{port},{}", server.listed()), |options, _| {
        options.limits.keep_alive = Duration::from_millis(200);
    });
    let mut client = proxy.client();
    assert_eq!(client.get(&format!("http://a.test:{port}/")).0, 200);
    assert_eq!(client.rest(), "");
}

#[test]
fn the_end_is_prompt_and_leaves_nothing_open() {
    let server = Server::new(|mut stream| {
        // Never answers, and reads until the other side is gone.
        while let Ok(1..) = stream.read(&mut [0; 512]) {}
    });
    let port = server.port;
    let proxy = Proxy::new(&format!("a.test:{port},slow.test:{port},{}", server.listed()));
    let mut tunnel = proxy.client();
    assert_eq!(tunnel.tunnel(&format!("a.test:{port}")), 200);
    tunnel.send("\x01\x02");
    let mut request = proxy.client();
    request.send(format!("GET http://a.test:{port}/x HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n"));
    let mut idle = proxy.client();
    eventually("both reached the server", || {
        server.connections.load(std::sync::atomic::Ordering::Relaxed) == 2
    });
    std::thread::sleep(Duration::from_millis(100));
    let start = Instant::now();
    let report = proxy.finish();
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    for client in [&mut tunnel, &mut request, &mut idle] {
        assert_eq!(client.rest(), "");
    }
    // What was under way is in the report.
    assert_eq!(report.connections.len(), 2, "{report:?}");
    assert!(report.connections.iter().any(|one| one.up == 2), "{report:?}");
    assert!(report.connections.iter().any(|one| one.path.as_deref() == Some("/x")), "{report:?}");
}

/// The memory of this process that is resident, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = text.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn thousands_of_held_connections_take_little_memory() {
    const HELD: usize = 2000;
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, most).unwrap();
    let open = limit.maximum.unwrap_or(u64::MAX);
    assert!(
        open >= 5 * HELD as u64,
        "this test needs {} open files, and may have {open}",
        5 * HELD
    );
    // One thread holds what is accepted: the memory of threads is not what is measured.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let held: Vec<_> = listener.incoming().take(HELD).collect();
        std::thread::sleep(Duration::from_secs(600));
        drop(held);
    });
    let proxy = Proxy::with(&format!("a.test:{port},127.0.0.1:{port}"), |options, _| {
        options.limits.connections = HELD + 10;
        options.limits.recorded = 10;
    });
    let hold = |count: usize| -> Vec<Client> {
        let open = |index: usize| {
            let mut client = proxy.client();
            match index % 2 {
                0 => assert_eq!(client.socks("a.test", port), 0),
                _ => assert_eq!(client.tunnel(&format!("a.test:{port}")), 200),
            }
            client.send([1]);
            client
        };
        (0..count).map(open).collect()
    };
    let first = hold(100);
    let before = resident();
    let rest = hold(HELD - 100);
    let each = resident().saturating_sub(before) / (HELD as u64 - 100);
    println!("{each} bytes of memory for each held connection");
    assert!(each < 24 << 10, "{each} bytes for each connection");
    drop((first, rest));
    let report = proxy.finish();
    assert_eq!(
        (report.connections.len() as u64 + report.left_out, report.connections.len()),
        (HELD as u64, 10)
    );
}
