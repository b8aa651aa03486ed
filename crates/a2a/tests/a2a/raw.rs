//! HTTP without a client, for what no client would send.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bench::{DEADLINE, TOKEN};

/// An answer.
pub(crate) struct Raw {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Raw {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    /// The number of the error of JSON-RPC.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// Sends bytes and reads until the server closes.
pub(crate) async fn bytes(address: SocketAddr, request: &[u8]) -> Raw {
    let talk = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // A server that has refused may close before all is sent.
        drop(stream.write_all(request).await);
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer).await);
        answer
    };
    let answer = tokio::time::timeout(DEADLINE, talk).await.expect("the server never closed");
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Raw { status, head: head.to_owned(), body: body.to_owned() }
}

/// Sends a request with these header lines.
pub(crate) async fn request(
    address: SocketAddr,
    line: &str,
    headers: &[String],
    body: &[u8],
) -> Raw {
    let mut text = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
    for header in headers {
        text.push_str(&format!("{header}\r\n"));
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    bytes(address, &[text.as_bytes(), body].concat()).await
}

/// Header lines that the server wants.
pub(crate) fn usual(address: SocketAddr) -> Vec<String> {
    vec![
        format!("host: {address}"),
        format!("authorization: Bearer {TOKEN}"),
        "content-type: application/json".to_owned(),
        "a2a-version: 1.0".to_owned(),
    ]
}

/// Calls JSON-RPC with any text.
pub(crate) async fn rpc(address: SocketAddr, body: &[u8]) -> Raw {
    request(address, "POST /a2a/rpc", &usual(address), body).await
}

/// Calls a method.
pub(crate) async fn call(address: SocketAddr, method: &str, params: &Value) -> Raw {
    let call = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    rpc(address, call.to_string().as_bytes()).await
}
