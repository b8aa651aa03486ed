//! A proxy, servers behind it and plain clients, all on loopback.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use offshoot_egress::{
    Egress, EgressOptions, EgressReport, EgressSockets, Inspection, NameLookup, NetRules, Refusal,
    Route,
};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A resolver whose answers follow one another; the last one stays.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    pub(crate) asked: AtomicUsize,
}

impl Names {
    pub(crate) fn set(&self, name: &str, answers: &[&[&str]]) {
        let parse = |text: &&str| text.parse().unwrap();
        let answers = answers.iter().map(|answer| answer.iter().map(parse).collect()).collect();
        self.answers.lock().unwrap().insert(name.to_owned(), answers);
    }
}

impl NameLookup for Names {
    fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut answers = self.answers.lock().unwrap();
        match answers.get_mut(name) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            // Every other name of the tests is this machine.
            None if name.ends_with(".test") || name == "localhost" => Ok(vec![LOOPBACK]),
            None => Err(io::Error::other("no such name")),
        }
    }
}

/// A proxy that runs.
pub(crate) struct Proxy {
    pub(crate) at: SocketAddr,
    pub(crate) names: Arc<Names>,
    pub(crate) inspect: Option<Arc<Inspection>>,
    egress: Option<Egress>,
}

impl Proxy {
    pub(crate) fn new(rules: &str) -> Self {
        Self::with(rules, |_, _| {})
    }

    /// With further options or sockets.
    pub(crate) fn with(
        rules: &str,
        change: impl FnOnce(&mut EgressOptions, &mut EgressSockets),
    ) -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
        let at = listener.local_addr().unwrap();
        let names = Arc::new(Names::default());
        let mut options = EgressOptions::new(NetRules::parse(rules).unwrap());
        options.lookup = Arc::clone(&names) as Arc<dyn NameLookup>;
        let mut sockets = EgressSockets { proxy: Some(listener), ..EgressSockets::default() };
        change(&mut options, &mut sockets);
        let inspect = options.inspect.clone();
        let egress = Egress::start(sockets, options).unwrap();
        Self { at, names, inspect, egress: Some(egress) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.at)
    }

    pub(crate) fn egress(&self) -> &Egress {
        self.egress.as_ref().unwrap()
    }

    pub(crate) fn finish(mut self) -> EgressReport {
        self.egress.take().unwrap().finish()
    }

    /// Ends it, and says how each connection came, where it was meant to go and why it was refused.
    pub(crate) fn ends(self) -> Vec<(Route, String, Option<Refusal>)> {
        let told = |connection: offshoot_egress::Connection| {
            let host =
                connection.host.map_or_else(String::new, |host| host.with_port(connection.port));
            (connection.route, host, connection.refusal)
        };
        self.finish().connections.into_iter().map(told).collect()
    }
}

/// A client that writes and reads plain text.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
}

impl Client {
    pub(crate) fn connect(at: SocketAddr) -> Self {
        let stream = TcpStream::connect(at).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Self { stream }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        // A server that refuses may close before it has read all.
        drop(self.stream.write_all(bytes.as_ref()));
        self
    }

    /// All that comes until the other side closes.
    pub(crate) fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            Err(error) => panic!("{error}, after {:?}", String::from_utf8_lossy(&bytes)),
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Exactly so many bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The head of an answer.
    pub(crate) fn head(&mut self) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            match self.stream.read(&mut byte) {
                Ok(1) => bytes.push(byte[0]),
                other => panic!("{other:?} after {:?}", String::from_utf8_lossy(&bytes)),
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    /// An answer with a length.
    pub(crate) fn answer(&mut self) -> (u16, String) {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head
            .lines()
            .find_map(|line| {
                line.to_lowercase().strip_prefix("content-length: ").map(str::to_owned)
            })
            .map_or(0, |length| length.parse().unwrap());
        (status, String::from_utf8(self.bytes(length)).unwrap())
    }

    /// A request of GET for a URL.
    pub(crate) fn get(&mut self, url: &str) -> (u16, String) {
        let host = url.split('/').nth(2).unwrap();
        self.send(format!("GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n")).answer()
    }

    /// A tunnel; the status that the proxy answers with.
    pub(crate) fn tunnel(&mut self, to: &str) -> u16 {
        self.send(format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n"));
        let head = self.head();
        head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// A connection by SOCKS5 to a name; the code that the proxy answers with.
    pub(crate) fn socks(&mut self, name: &str, port: u16) -> u8 {
        let mut request = vec![5, 1, 0, 5, 1, 0, 3, name.len() as u8];
        request.extend(name.as_bytes());
        request.extend(port.to_be_bytes());
        self.send(request);
        assert_eq!(self.bytes(2), [5, 0]);
        self.bytes(10)[1]
    }
}

/// A server on loopback, which serves each connection on a thread.
pub(crate) struct Server {
    pub(crate) at: SocketAddr,
    pub(crate) port: u16,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind((LOOPBACK, 0)).unwrap(), serve)
    }

    pub(crate) fn on(
        listener: TcpListener,
        serve: impl Fn(TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let at = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let serve = Arc::new(serve);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                count.fetch_add(1, Ordering::Relaxed);
                let serve = Arc::clone(&serve);
                thread::spawn(move || serve(stream));
            }
        });
        Self { at, port: at.port(), connections }
    }

    /// Answers each request with its head and body, as text.
    pub(crate) fn echo() -> Self {
        Self::new(|mut stream| while echo_one(&mut stream).is_some() {})
    }

    /// Answers each request with a text that is made from its head.
    pub(crate) fn answering(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::new(move |mut stream| {
            while let Some((head, _)) = read_request(&mut stream) {
                if stream.write_all(answer(&head).as_bytes()).is_err() {
                    return;
                }
            }
        })
    }

    /// Sends back what it gets, byte by byte.
    pub(crate) fn mirror() -> Self {
        Self::new(|mut stream| {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                if stream.write_all(&buffer[..count]).is_err() {
                    return;
                }
            }
        })
    }

    /// The rule that lists its address.
    pub(crate) fn listed(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Reads a request with its body; nothing at the end of the connection.
pub(crate) fn read_request(stream: &mut impl Read) -> Option<(String, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let lower = head.to_lowercase();
    let mut body = Vec::new();
    if let Some(length) = lower.split("content-length: ").nth(1) {
        body.resize(length.split("\r\n").next().unwrap().parse().unwrap(), 0);
        stream.read_exact(&mut body).ok()?;
    } else if lower.contains("transfer-encoding: chunked") {
        while !body.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).ok()?;
            body.push(byte[0]);
        }
    }
    Some((head, body))
}

/// Answers one request with what it says.
pub(crate) fn echo_one(stream: &mut (impl Read + Write)) -> Option<()> {
    let (head, body) = read_request(stream)?;
    let text = [head.as_bytes(), &body].concat();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len());
    stream.write_all(&[answer.as_bytes(), &text].concat()).ok()?;
    stream.flush().ok()
}

/// An answer with a text.
pub(crate) fn ok(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len())
}

/// Waits until something holds.
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Client {
    /// What comes after the client has said all that it has to say.
    pub(crate) fn rest_or_close(&mut self) -> String {
        // The other side may be gone already.
        drop(self.stream.shutdown(std::net::Shutdown::Write));
        self.rest()
    }
}
