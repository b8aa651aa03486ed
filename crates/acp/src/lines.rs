//! Lines between threads that read and write, and connections that do neither.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::thread::{Builder, JoinHandle};

use futures::{Sink, Stream};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// So many lines wait for whoever reads them.
const WAITING: usize = 64;
/// No message is longer.
pub(crate) const LONGEST: usize = 64 << 20;

/// Lines that come from elsewhere.
pub(crate) fn incoming(
    mut lines: Receiver<io::Result<String>>,
) -> impl Stream<Item = io::Result<String>> + Send {
    futures::stream::poll_fn(move |context| lines.poll_recv(context))
}

/// Where lines go to.
pub(crate) fn outgoing(lines: Sender<String>) -> impl Sink<String, Error = io::Error> + Send {
    futures::sink::unfold(lines, async |lines: Sender<String>, line: String| {
        lines.send(line).await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(lines)
    })
}

/// Both ends of a row of lines.
pub(crate) fn row() -> (Sender<io::Result<String>>, Receiver<io::Result<String>>) {
    channel(WAITING)
}

/// Reads lines on a thread of its own.
pub(crate) fn reading(
    input: impl Read + Send + 'static,
) -> io::Result<Receiver<io::Result<String>>> {
    let (sender, receiver) = row();
    Builder::new().name("acp-read".to_owned()).spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let mut line = Vec::new();
            let read = (&mut input).take(LONGEST as u64 + 1).read_until(b'\n', &mut line);
            let line = match read {
                Ok(0) => return,
                Ok(read) if read > LONGEST => Err(too_long()),
                Ok(_) => text(line),
                Err(error) => Err(error),
            };
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// Writes lines on a thread of its own, until nobody has any more or nobody takes them.
pub(crate) fn writing(
    mut output: impl Write + Send + 'static,
) -> io::Result<(Sender<String>, JoinHandle<()>)> {
    let (sender, mut lines) = channel::<String>(WAITING);
    let thread = Builder::new().name("acp-write".to_owned()).spawn(move || {
        while let Some(mut line) = lines.blocking_recv() {
            if !line.ends_with('\n') {
                line.push('\n');
            }
            if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok((sender, thread))
}

/// Makes lines of pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces(Vec<u8>);

impl Pieces {
    /// The lines that are whole with this piece.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.0.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
            let rest = self.0.split_off(end + 1);
            lines.push(std::mem::replace(&mut self.0, rest));
        }
        if self.0.len() > LONGEST { Err(too_long()) } else { Ok(lines) }
    }

    /// What is left without an end.
    pub(crate) fn rest(self) -> Vec<u8> {
        self.0
    }
}

/// Whether a line is a message: other things that agents print are none.
pub(crate) fn is_message(line: &[u8]) -> bool {
    let start = line.iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(start, Some(b'{' | b'['))
        && serde_json::from_slice::<&serde_json::value::RawValue>(line).is_ok()
}

pub(crate) fn text(line: Vec<u8>) -> io::Result<String> {
    String::from_utf8(line)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

fn too_long() -> io::Error {
    let message = format!("a message has more than {} MiB", LONGEST >> 20);
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_lines() -> io::Result<()> {
        let mut pieces = Pieces::default();
        assert!(pieces.push(b"{\"a\"")?.is_empty());
        assert_eq!(pieces.push(b":1}\nx\ny")?, [b"{\"a\":1}\n".to_vec(), b"x\n".to_vec()]);
        assert_eq!(pieces.rest(), b"y");
        Ok(())
    }

    #[test]
    fn messages_are_told_from_other_lines() {
        assert!(is_message(b" {\"jsonrpc\":\"2.0\"}\n"));
        for other in ["", "\n", "Loaded {", "{\"jsonrpc\"", "3", "\"text\""] {
            assert!(!is_message(other.as_bytes()), "{other}");
        }
    }
}
