//! Calls over MCP, beside a server that does nothing, and commands beside bwrap.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::exec::start::BWRAP;
use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::helper;
use crate::report::{Goal, Report, Unit};
use crate::run::timed;

pub(super) const NAME: &str = "mcp";

/// A server on standard input and output, and what a client keeps of it.
struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Server {
    fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a server has no pipes".into());
        };
        let mut server = Self { child, input, output: BufReader::new(output), next: 0 };
        let client = json!({"name": "bench", "version": "1"});
        server.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
        )?;
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(server)
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.input.write_all(&line)?;
        Ok(self.input.flush()?)
    }

    /// Asks, and waits for the result.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        let (id, mut line) = (self.next, String::new());
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            line.clear();
            if self.output.read_line(&mut line)? == 0 {
                return Err("the server is gone".into());
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return match message["result"].take() {
                    Value::Null => Err(format!("{method}: {message}").into()),
                    result => Ok(result),
                };
            }
        }
    }

    /// How long pings take, each of them: the round trip of a request without any work.
    fn pings(&mut self, count: u32) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..count {
            self.ask("ping", &json!({}))?;
        }
        Ok(start.elapsed() / count)
    }

    /// How long calls take, each of them.
    fn calls(&mut self, tool: &str, arguments: &Value, count: u32) -> Result<Duration> {
        let params = json!({"name": tool, "arguments": arguments});
        let start = Instant::now();
        for _ in 0..count {
            let result = self.ask("tools/call", &params)?;
            if result["isError"] == true {
                return Err(format!("{tool}: {result}").into());
            }
        }
        Ok(start.elapsed() / count)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let dir = bench.tree(bench.options.scaled(50, 1_000))?;
    let home = bench.vault_of(&dir)?;
    // A command that changes nothing leaves no workspace behind: the next one would fork it again, after a look at the folder.
    for workspace in ["w", "x"] {
        bench.prepare(&home, &dir, &["workspace", "create", workspace])?;
    }
    let mut offshoot = Server::start(bench.offshoot(&home, &dir, &["mcp", "-w", "w"]))?;
    let mut other = Server::start(bench.offshoot(&home, &dir, &["mcp", "-w", "x"]))?;
    let minimal = Server::start(helper::mcp()?)?;
    let count = u32::try_from(bench.options.scaled(20, 200))?;
    let file = crate::tree::file(0).display().to_string();
    for server in [&mut offshoot, &mut other] {
        server.calls("exec", &json!({"argv": ["true"]}), 1)?;
    }
    bench.settle()?;
    // Each of them has more than one side of the contest.
    let (minimal, offshoot) = (RefCell::new(minimal), RefCell::new(offshoot));
    let mut contest = Contest::default();
    let minimal_ping = contest.add(|_| minimal.borrow_mut().pings(count));
    let ping = contest.add(|_| offshoot.borrow_mut().pings(count));
    let nothing = contest.add(|_| minimal.borrow_mut().calls("nothing", &json!({}), count));
    let read = contest.add(|_| offshoot.borrow_mut().calls("read", &json!({"path": file}), count));
    let status = contest.add(|_| offshoot.borrow_mut().calls("status", &json!({}), count));
    let exec = contest.add(|_| other.calls("exec", &json!({"argv": ["true"]}), 1));
    let bwrap = contest.add(|_| timed(Command::new(BWRAP[0]).args(&BWRAP[1..])));
    let found = contest.run(bench.options.pairs() * bench.options.scaled(1, 4))?;

    let mut report = Report::new(NAME, "calls to servers that run, one after the other");
    for (label, side) in [
        ("minimal server: ping", minimal_ping),
        ("offshoot mcp: ping", ping),
        ("minimal server: a tool that does nothing", nothing),
        ("offshoot mcp: read a small file", read),
        ("offshoot mcp: status", status),
        ("offshoot mcp: exec true", exec),
        ("bwrap --unshare-all ... true", bwrap),
    ] {
        report.add(label.to_owned(), Unit::Time, found.seconds(side));
    }
    report.add("ping / minimal".to_owned(), Unit::Ratio, found.ratio(ping, minimal_ping));
    report.add("read / minimal".to_owned(), Unit::Ratio, found.ratio(read, nothing));
    report.add("status / minimal".to_owned(), Unit::Ratio, found.ratio(status, nothing));
    let ratio = found.ratio(exec, bwrap);
    report.add_with_goal("exec / bwrap".to_owned(), Unit::Ratio, ratio, Goal::AtMost(1.5));
    Ok(report)
}
