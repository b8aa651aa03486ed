//! Requests over HTTP, as plain as they are.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Stdio};

use offshoot_tests::product::Place;
use serde_json::Value;

/// A server that listens, killed when dropped.
pub(crate) struct Listening {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Listening {
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command([&["mcp", "--http", "127.0.0.1:0"], arguments].concat());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut line = |start: &str| {
            let line = lines.next().unwrap().unwrap();
            line.strip_prefix(start).unwrap_or_else(|| panic!("{line}")).to_owned()
        };
        let address = line("listening on http://").strip_suffix("/mcp").unwrap().to_owned();
        let token = match arguments.contains(&"--token-file") {
            true => String::new(),
            false => line("token: "),
        };
        // Whoever writes to a pipe that nobody reads is ended by that.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, token }
    }

    /// Ends it in order.
    pub(crate) fn end(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// Posts a message; what else the head has is given as lines.
    pub(crate) fn post(&self, head: &[&str], message: &Value) -> Reply {
        let mut all = vec![
            format!("Authorization: Bearer {}", self.token),
            format!("Host: {}", self.address),
        ];
        for line in head {
            let name = line.split(':').next().unwrap();
            all.retain(|other| !other.starts_with(&format!("{name}:")));
            all.extend((!line.ends_with(": ")).then(|| (*line).to_owned()));
        }
        let body = message.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = all.join("\r\n");
        let length = body.len();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{head}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        Reply::read(&stream)
    }

    /// A connection on which a request was begun, and what it began with.
    pub(crate) fn half_open(&self, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
        write!(stream, "POST /mcp HTTP/1.1\r\n{head}").unwrap();
        stream
    }

    /// A connection on which a call was made and nothing is read.
    pub(crate) fn call_and_leave(&self, head: &[&str], message: &Value) -> TcpStream {
        let (body, lines) = (message.to_string(), head.join("\r\n"));
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (token, host, length) = (&self.token, &self.address, body.len());
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nAuthorization: Bearer {token}\r\nHost: {host}\r\n{lines}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn read(mut stream: &TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        stream.shutdown(Shutdown::Both).ok();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let start = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
    }

    /// The messages in it, of an event stream or alone.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let lines = self.body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
        lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect()
    }

    /// The result of the one request.
    pub(crate) fn result(&self) -> Value {
        let found = self.messages().into_iter().find(|message| message.get("result").is_some());
        found.unwrap_or_else(|| panic!("{self:?}"))["result"].clone()
    }
}
