//! Messages as lines: to a server that was started here, and from it.

use std::io::{self, PipeWriter, Write};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Builder;

use offshoot_engine::exec::{Event, Events, Exec, Stream};
use offshoot_engine::text::{bytes, line};
use offshoot_protocol::ExecEnvelopeDoc;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::shared::locked;

/// So many messages wait for whoever reads them; a server that says more waits itself.
const WAITING: usize = 64;
/// No message is longer.
pub(super) const LONGEST: usize = 16 << 20;
/// Nor is a line of its standard error that is told.
const LONGEST_ERROR: usize = 64 << 10;
/// A server that prints more lines which are no messages does not speak the protocol.
const MOST_NONSENSE: usize = 100;
/// So much of a line is told.
const SHOWN: usize = 300;

/// What is known about a server's process, for whoever asks why it does not answer.
#[derive(Debug, Default)]
pub(super) struct Ending {
    /// Why it ended, once it has.
    why: OnceLock<String>,
    /// What it did that is no way to speak the protocol.
    fault: OnceLock<String>,
    /// What it printed last on its standard error.
    last_words: Mutex<String>,
    /// The first line of its standard output that was no message.
    nonsense: Mutex<Option<String>>,
}

impl Ending {
    pub(super) fn is_over(&self) -> bool {
        self.why.get().is_some()
    }

    /// What there is to say about it; nothing where it just takes its time.
    pub(super) fn story(&self) -> Option<String> {
        let why = match (self.fault.get(), self.why.get()) {
            (Some(fault), _) => Some(fault.clone()),
            (None, Some(why)) => Some(format!("it ended: {why}")),
            (None, None) => None,
        };
        let nonsense = locked(&self.nonsense).clone();
        let nonsense = nonsense.map(|text| format!("it printed a line that is no message: {text}"));
        let words = Some(locked(&self.last_words).clone()).filter(|words| !words.is_empty());
        let words = words.map(|words| format!("it said: {words}"));
        let told: Vec<String> = [why, nonsense, words].into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// The way to a server's standard input and from its output.
pub(super) struct LineTransport {
    input: Option<Sender<Vec<u8>>>,
    output: Receiver<ServerJsonRpcMessage>,
}

impl LineTransport {
    /// Connects to a process.
    pub(super) fn new(
        exec: &Exec,
        events: Events,
        input: PipeWriter,
        ending: &Arc<Ending>,
    ) -> io::Result<Self> {
        let input = Some(writing(input)?);
        let (heard, output) = channel(WAITING);
        let (exec, ending) = (exec.clone(), Arc::clone(ending));
        Builder::new()
            .name("mcp-tools".to_owned())
            .spawn(move || listen(&exec, events, heard, &ending))?;
        Ok(Self { input, output })
    }
}

impl Transport<RoleClient> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = self.input.clone();
        async move {
            let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            input.ok_or_else(gone)?.send(line).await.map_err(|_| gone())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.output.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.input = None;
        Ok(())
    }
}

/// Writes lines on a thread of its own, until nobody has any more or nobody takes them.
fn writing(mut input: PipeWriter) -> io::Result<Sender<Vec<u8>>> {
    let (sender, mut lines) = channel::<Vec<u8>>(WAITING);
    Builder::new().name("mcp-tools-in".to_owned()).spawn(move || {
        while let Some(line) = lines.blocking_recv() {
            if input.write_all(&line).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(sender)
}

/// Passes on what a process prints, until it has ended.
fn listen(exec: &Exec, events: Events, heard: Sender<ServerJsonRpcMessage>, ending: &Ending) {
    let (mut out, mut errors) = (Lines::new(LONGEST), Lines::new(LONGEST_ERROR));
    let mut nonsense = 0;
    for event in events {
        let Event::Output { stream, bytes: piece } = event else { continue };
        let lines = match stream {
            Stream::Stdout => out.push(&piece),
            Stream::Stderr => errors.push(&piece),
        };
        for text in lines {
            match stream {
                Stream::Stderr => say(ending, &text),
                Stream::Stdout => match serde_json::from_slice(&text) {
                    // Nobody listens any more; what it prints is read all the same, so that it can end.
                    Ok(message) => drop(heard.blocking_send(message)),
                    Err(_) if text.iter().all(u8::is_ascii_whitespace) => {}
                    Err(_) => {
                        locked(&ending.nonsense).get_or_insert_with(|| shown(&text));
                        nonsense += 1;
                    }
                },
            }
        }
        let fault = match () {
            () if out.is_too_long() => {
                Some(format!("it printed a message of more than {}", bytes(LONGEST as u64)))
            }
            () if nonsense > MOST_NONSENSE => {
                Some(format!("it printed more than {MOST_NONSENSE} lines that are no messages"))
            }
            () => None,
        };
        if let Some(fault) = fault {
            let _first = ending.fault.set(fault).is_ok();
            exec.cancel();
            break;
        }
    }
    say(ending, &errors.rest());
    let _first = ending.why.set(why(&exec.wait())).is_ok();
    // Only now: who waits for an answer asks why there is none.
    drop(heard);
}

/// Keeps what a process says about itself.
fn say(ending: &Ending, text: &[u8]) {
    let text = shown(text);
    if !text.is_empty() {
        *locked(&ending.last_words) = text;
    }
}

/// The beginning of a line, harmless.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)]);
    let text = text.trim();
    let cut: String = text.chars().take(SHOWN).collect();
    line(&cut)
}

/// How a process ended.
fn why(envelope: &ExecEnvelopeDoc) -> String {
    let result = &envelope.result;
    match (&result.error, result.exit_code, result.signal) {
        (Some(error), _, _) => match &error.hint {
            Some(hint) => format!("{}; {hint}", error.message),
            None => error.message.clone(),
        },
        (None, _, Some(signal)) => format!("signal {signal}"),
        (None, Some(code), None) => format!("exit code {code}"),
        (None, None, None) => result.state.to_string(),
    }
}

/// Makes lines of pieces.
#[derive(Debug)]
struct Lines {
    most: usize,
    begun: Vec<u8>,
}

impl Lines {
    fn new(most: usize) -> Self {
        Self { most, begun: Vec::new() }
    }

    /// The lines that are whole with this piece.
    fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut whole = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            // One that is too long is cut off by whoever reads, and needs no more room.
            if self.begun.len() <= self.most {
                self.begun.extend_from_slice(part);
            }
            if part.ends_with(b"\n") && !self.is_too_long() {
                whole.push(std::mem::take(&mut self.begun));
            }
        }
        whole
    }

    fn is_too_long(&self) -> bool {
        self.begun.len() > self.most
    }

    /// What is left without an end.
    fn rest(self) -> Vec<u8> {
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() {
        let mut lines = Lines::new(8);
        assert!(lines.push(b"one").is_empty());
        assert_eq!(lines.push(b"\ntwo\nthr"), [b"one\n".to_vec(), b"two\n".to_vec()]);
        assert!(!lines.is_too_long());
        assert!(lines.push(b"ee and more").is_empty());
        assert!(lines.is_too_long());
        assert!(lines.push(b" and more\n").is_empty());
        assert!(lines.rest().len() < 20);
    }

    #[test]
    fn what_a_server_says_is_cut_and_harmless() {
        assert_eq!(shown(b"  \x1b[31mred\r\n"), "^[[31mred");
        assert_eq!(shown(&[b'x'; 5000]).len(), SHOWN);
    }
}
