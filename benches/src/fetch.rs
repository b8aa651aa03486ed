//! A server on loopback and a client of it, which times itself where it runs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// The answer to a small request.
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
/// What starts a request for much, in a protocol that the proxy does not know.
const BULK: u8 = 1;
/// What starts a request for little in it.
const SMALL: u8 = 2;
/// The path that has much.
const BULK_PATH: &str = "/bulk";

/// How a client gets to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a connection of its own.
    Direct,
    /// By requests to the proxy.
    Http,
    /// By a tunnel that holds nothing which the proxy looks into, as those of TLS.
    Tunnel,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Direct, Self::Http, Self::Tunnel];

    /// Its name.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Http => "http",
            Self::Tunnel => "tunnel",
        }
    }
}

/// How much a client asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    /// In one answer.
    pub(crate) megabytes: usize,
    /// Small requests on one connection.
    pub(crate) requests: usize,
    /// Connections for one small request each.
    pub(crate) connections: usize,
}

/// The arguments of a client, as [`client`] takes them.
pub(crate) fn arguments(way: Way, server: SocketAddr, amount: Amount) -> Vec<String> {
    let Amount { megabytes, requests, connections } = amount;
    let numbers = [megabytes, requests, connections].map(|number| number.to_string());
    [vec![way.word().to_owned(), server.to_string()], numbers.to_vec()].concat()
}

/// A client: prints a lap for each of the three things that it does.
pub(crate) fn client(arguments: &[String]) -> Result<()> {
    let [way, server, numbers @ ..] = arguments else { return Err("no way and server".into()) };
    let way = Way::ALL.into_iter().find(|known| known.word() == way).ok_or("no such way")?;
    let numbers: Vec<usize> = numbers.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [megabytes, requests, connections] = numbers[..] else { return Err("no numbers".into()) };
    let proxy = match way {
        Way::Direct => None,
        Way::Http | Way::Tunnel => {
            let proxy = std::env::var("http_proxy")?;
            Some(proxy.trim_start_matches("http://").parse()?)
        }
    };
    let client = Client { way, server: server.parse()?, proxy };
    for (label, took) in [
        ("bulk", client.bulk(megabytes)?),
        ("requests", client.requests(&mut client.connect()?, requests)?),
        ("connections", client.connections(connections)?),
    ] {
        println!("lap\t{label}\t{}", took.as_nanos());
    }
    Ok(())
}

struct Client {
    way: Way,
    server: SocketAddr,
    proxy: Option<SocketAddr>,
}

impl Client {
    fn connect(&self) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.proxy.unwrap_or(self.server))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        if self.way == Way::Tunnel {
            let server = self.server;
            write!(stream, "CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n\r\n")?;
            let established = b"HTTP/1.1 200 Connection established\r\n\r\n";
            let mut answer = vec![0; established.len()];
            stream.read_exact(&mut answer)?;
            if answer != established {
                return Err("the proxy refuses".into());
            }
        }
        Ok(stream)
    }

    fn request(&self, path: &str) -> Vec<u8> {
        let server = self.server;
        let url = match self.way {
            Way::Http => format!("http://{server}{path}"),
            Way::Direct => path.to_owned(),
            Way::Tunnel if path == BULK_PATH => return vec![BULK],
            // As long as the others.
            Way::Tunnel => return vec![SMALL; 60],
        };
        format!("GET {url} HTTP/1.1\r\nHost: {server}\r\n\r\n").into_bytes()
    }

    /// Gets a large answer.
    fn bulk(&self, megabytes: usize) -> Result<Duration> {
        let mut stream = self.connect()?;
        let mut buffer = vec![0; 256 << 10];
        let start = Instant::now();
        stream.write_all(&self.request(BULK_PATH))?;
        let mut left = (megabytes << 20) + bulk_head(megabytes).len();
        while left > 0 {
            match stream.read(&mut buffer)? {
                0 => return Err("the answer is cut short".into()),
                count => left = left.saturating_sub(count),
            }
        }
        Ok(start.elapsed())
    }

    /// Sends small requests one after the other.
    fn requests(&self, stream: &mut TcpStream, count: usize) -> Result<Duration> {
        let request = self.request("/");
        let mut answer = vec![0; ANSWER.len()];
        let start = Instant::now();
        for _ in 0..count {
            stream.write_all(&request)?;
            stream.read_exact(&mut answer)?;
        }
        let took = start.elapsed();
        if answer == ANSWER { Ok(took) } else { Err("another answer than the server gives".into()) }
    }

    fn connections(&self, count: usize) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..count {
            self.requests(&mut self.connect()?, 1)?;
        }
        Ok(start.elapsed())
    }
}

/// A server of small answers and of large ones, at an address that no variable excepts from the proxy.
pub(crate) fn serve(megabytes: usize) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.2:0")?;
    let at = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that is gone has all that it wanted.
            thread::spawn(move || answer(stream, megabytes).ok());
        }
    });
    Ok(at)
}

fn bulk_head(megabytes: usize) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", megabytes << 20)
}

fn answer(mut stream: TcpStream, megabytes: usize) -> Result<()> {
    stream.set_nodelay(true)?;
    let bulk_request = format!("GET {BULK_PATH} ");
    let mut buffer = [0; 4096];
    loop {
        // A request is a single packet here.
        let request = match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => &buffer[..count],
        };
        if request[0] == BULK || request.starts_with(bulk_request.as_bytes()) {
            stream.write_all(bulk_head(megabytes).as_bytes())?;
            let block = vec![7; 1 << 20];
            for _ in 0..megabytes {
                stream.write_all(&block)?;
            }
        } else {
            stream.write_all(ANSWER)?;
        }
    }
}
