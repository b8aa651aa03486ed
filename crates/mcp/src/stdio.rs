//! Standard input and output as a way to a client: a message in each line. A line that is no message is answered too, so that nobody waits
//! for an answer that never comes.

use std::io;
use std::sync::Arc;

use offshoot_engine::text::bytes;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// No message is longer.
const LONGEST: usize = 16 << 20;

/// The way to a client.
pub(crate) struct StdioTransport<R, W> {
    read: BufReader<R>,
    /// What was read of a line. It is here because reading may be given up and taken up again in its middle.
    line: Vec<u8>,
    /// The line is too long already, and what is left of it is skipped.
    is_too_long: bool,
    write: Arc<Mutex<W>>,
}

/// What a line is.
enum Line {
    Message(Box<ClientJsonRpcMessage>),
    /// Something that needs no answer.
    Nothing,
    /// Something that is answered with this.
    Wrong(Value),
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> StdioTransport<R, W> {
    pub(crate) fn new((read, write): (R, W)) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_too_long: false,
            write: Arc::new(Mutex::new(write)),
        }
    }

    /// Reads a line; none where there are no more.
    async fn line(&mut self) -> io::Result<Option<Line>> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            // From here to the end of the loop nothing waits, so nothing is lost.
            self.is_too_long |= self.line.len() + taken > LONGEST;
            if !self.is_too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.read.consume(taken);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Ok(Some(match std::mem::take(&mut self.is_too_long) {
                    true => too_long(),
                    false => parse(&line),
                }));
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for StdioTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move { say(&write, &message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match self.line().await {
                Ok(Some(Line::Message(message))) => return Some(*message),
                Ok(Some(Line::Nothing)) => {}
                Ok(Some(Line::Wrong(answer))) => say(&self.write, &answer).await.ok()?,
                Ok(None) | Err(_) => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.write.lock().await.shutdown().await
    }
}

async fn say<W: AsyncWrite + Unpin>(
    write: &Mutex<W>,
    message: &impl serde::Serialize,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

fn parse(line: &[u8]) -> Line {
    // Parsers of JSON may skip a mark of the byte order.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.iter().all(u8::is_ascii_whitespace) {
        return Line::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Line::Message(Box::new(message));
    }
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => {
            return wrong(
                Value::Null,
                ErrorCode::PARSE_ERROR,
                &format!("this is no JSON: {error}"),
            );
        }
    };
    match &value["id"] {
        // What asks for no answer and is not understood is left alone.
        Value::Null if value["method"].is_string() && value.get("id").is_none() => Line::Nothing,
        id @ (Value::String(_) | Value::Number(_)) if value["method"].is_string() => {
            let what = match (&value["jsonrpc"], &value["params"]) {
                (Value::String(version), Value::Null | Value::Object(_)) if version == "2.0" => {
                    "this is no request of MCP"
                }
                (Value::String(version), _) if version == "2.0" => "`params` is no object",
                _ => "`jsonrpc` is not \"2.0\"",
            };
            wrong(id.clone(), ErrorCode::INVALID_REQUEST, what)
        }
        // It may be an answer of the client, of which nobody needs to hear more.
        _ if value.get("result").is_some() || value.get("error").is_some() => Line::Nothing,
        id @ (Value::String(_) | Value::Number(_)) => {
            wrong(id.clone(), ErrorCode::INVALID_REQUEST, "`method` is missing")
        }
        _ => wrong(Value::Null, ErrorCode::INVALID_REQUEST, "this is no message of JSON-RPC 2.0"),
    }
}

/// Whose line is that long is not known: its id may be anywhere in it.
fn too_long() -> Line {
    let what = format!("a message has at most {}", bytes(LONGEST as u64));
    wrong(Value::Null, ErrorCode::INVALID_REQUEST, &what)
}

fn wrong(id: Value, code: ErrorCode, message: &str) -> Line {
    let error = json!({ "code": code.0, "message": message });
    Line::Wrong(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered to a line: the id and the code, or nothing.
    fn answered(line: &[u8]) -> Option<(Value, Value)> {
        match parse(line) {
            Line::Wrong(answer) => Some((answer["id"].clone(), answer["error"]["code"].clone())),
            Line::Message(_) | Line::Nothing => None,
        }
    }

    #[test]
    fn lines_that_are_no_messages_are_answered() {
        for (line, id, code) in [
            (&b"not json\n"[..], json!(null), -32700),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1\n", json!(null), -32700),
            (b"\xff\xfe\n", json!(null), -32700),
            (b"[]\n", json!(null), -32600),
            (b"1\n", json!(null), -32600),
            (b"{\"id\":11,\"method\":\"ping\"}\n", json!(11), -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"a\"}\n", json!("a"), -32600),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":15,\"method\":\"tools/call\",\"params\":[1]}\n",
                json!(15),
                -32600,
            ),
        ] {
            let found = answered(line);
            assert_eq!(found, Some((id, json!(code))), "{}", String::from_utf8_lossy(line));
        }
        for line in [
            &b"\r\n"[..],
            b"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":[1]}\n",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        ] {
            assert_eq!(answered(line), None, "{}", String::from_utf8_lossy(line));
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_and_the_next_one_read() {
        let ping = b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
        let input = [&vec![b'x'; LONGEST + 1][..], ping].concat();
        let mut transport = StdioTransport::new((&input[..], Vec::new()));
        assert!(transport.receive().await.is_some());
        let said = String::from_utf8(transport.write.lock().await.clone()).unwrap();
        let error = json!({ "code": -32600, "message": "a message has at most 16.0 MiB" });
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": null, "error": error }));
        assert!(transport.receive().await.is_none());
    }
}
