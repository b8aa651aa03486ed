//! The network proxy beside a direct connection, both on loopback.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use offshoot_egress::{Egress, EgressOptions, EgressSockets, NetRules};

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};

pub(super) const NAME: &str = "egress";

/// The answer to a small request.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// A request for so many bytes starts with this one, which is of no protocol that the proxy knows.
const BULK: u8 = 1;

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let megabytes = bench.options.scaled(8, 512);
    let rounds = bench.options.scaled(20, 2000);
    let server = serve(megabytes)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let proxy = listener.local_addr()?;
    let rules = NetRules::parse(&server.to_string())?;
    let sockets = EgressSockets { proxy: Some(listener), ..EgressSockets::default() };
    let egress = Egress::start(sockets, EgressOptions::new(rules))?;

    let request =
        |target: &str| format!("GET {target} HTTP/1.1\r\nHost: {server}\r\n\r\n").into_bytes();
    let (plain, by_proxy) = (request("/"), request(&format!("http://{server}/")));
    // What a tunnel holds is mostly encrypted: nothing that the proxy looks into.
    let raw = vec![2; plain.len()];
    let through = |server: SocketAddr| tunnel(proxy, server);
    let mut contest = Contest::default();
    let bulk_direct = contest.add(|_| bulk(connect(server)?, megabytes));
    let bulk_proxy = contest.add(|_| bulk(through(server)?, megabytes));
    let trip_direct = contest.add(|_| round_trips(connect(server)?, rounds, &plain));
    let trip_tunnel = contest.add(|_| round_trips(through(server)?, rounds, &raw));
    let trip_proxy = contest.add(|_| round_trips(connect(proxy)?, rounds, &by_proxy));
    let new_direct =
        contest.add(|_| connections(rounds / 10, || round_trips(connect(server)?, 1, &plain)));
    let new_tunnel =
        contest.add(|_| connections(rounds / 10, || round_trips(through(server)?, 1, &raw)));
    let found = contest.run(bench.options.pairs())?;

    let about = format!(
        "{megabytes} MiB to the client, {rounds} small requests, {} connections",
        rounds / 10
    );
    let mut report = Report::new(NAME, about);
    let each = |seconds: Vec<f64>, count: usize| seconds.iter().map(|s| s / count as f64).collect();
    let rate = |seconds: Vec<f64>| seconds.iter().map(|s| megabytes as f64 / s).collect();
    report.add("MiB a second, direct", Unit::Rate, rate(found.seconds(bulk_direct)));
    report.add("MiB a second, in a tunnel", Unit::Rate, rate(found.seconds(bulk_proxy)));
    // Rates are compared, so the times are divided the other way round.
    report.add("throughput, tunnel / direct", Unit::Ratio, found.ratio(bulk_direct, bulk_proxy));
    report.add("a request, direct", Unit::Time, each(found.seconds(trip_direct), rounds));
    report.add("a request, in a tunnel", Unit::Time, each(found.seconds(trip_tunnel), rounds));
    report.add("a request, by the proxy", Unit::Time, each(found.seconds(trip_proxy), rounds));
    report.add("latency, tunnel / direct", Unit::Ratio, found.ratio(trip_tunnel, trip_direct));
    report.add("latency, proxy / direct", Unit::Ratio, found.ratio(trip_proxy, trip_direct));
    report.add("a connection, direct", Unit::Time, each(found.seconds(new_direct), rounds / 10));
    report.add(
        "a connection, in a tunnel",
        Unit::Time,
        each(found.seconds(new_tunnel), rounds / 10),
    );
    report.add("connections, tunnel / direct", Unit::Ratio, found.ratio(new_tunnel, new_direct));
    let refused =
        egress.finish().connections.into_iter().filter(|one| one.refusal.is_some()).count();
    if refused > 0 { Err(format!("{refused} connections were refused").into()) } else { Ok(report) }
}

fn connect(to: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(stream)
}

/// A connection to the server by CONNECT.
fn tunnel(proxy: SocketAddr, server: SocketAddr) -> Result<TcpStream> {
    let mut stream = connect(proxy)?;
    write!(stream, "CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n")?;
    let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
    let mut answer = vec![0; established.len()];
    stream.read_exact(&mut answer)?;
    if answer == established { Ok(stream) } else { Err("the proxy refuses".into()) }
}

/// Gets a large answer.
fn bulk(mut stream: TcpStream, megabytes: usize) -> Result<Duration> {
    let mut buffer = vec![0; 256 << 10];
    let start = Instant::now();
    stream.write_all(&[BULK])?;
    let mut left = megabytes << 20;
    while left > 0 {
        match stream.read(&mut buffer)? {
            0 => return Err("the answer is cut short".into()),
            count => left -= count,
        }
    }
    Ok(start.elapsed())
}

/// Sends small requests one after the other.
fn round_trips(mut stream: TcpStream, rounds: usize, request: &[u8]) -> Result<Duration> {
    let mut answer = vec![0; ANSWER.len()];
    let start = Instant::now();
    for _ in 0..rounds {
        stream.write_all(request)?;
        stream.read_exact(&mut answer)?;
    }
    let took = start.elapsed();
    if answer == ANSWER { Ok(took) } else { Err("another answer than the server gives".into()) }
}

fn connections(count: usize, one: impl Fn() -> Result<Duration>) -> Result<Duration> {
    let start = Instant::now();
    for _ in 0..count.max(1) {
        one()?;
    }
    Ok(start.elapsed())
}

/// A server of small answers, and of one large one for who sends [`BULK`].
fn serve(megabytes: usize) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that is gone has all that it wanted.
            thread::spawn(move || answer(stream, megabytes).ok());
        }
    });
    Ok(at)
}

fn answer(mut stream: TcpStream, megabytes: usize) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            1 if buffer[0] == BULK => {
                let block = vec![7; 1 << 20];
                for _ in 0..megabytes {
                    stream.write_all(&block)?;
                }
            }
            // A request is a single packet here.
            _ => stream.write_all(ANSWER)?,
        }
    }
}
