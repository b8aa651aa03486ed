//! Messages whose bytes are known.

use offshoot_mxp::{
    AgentMessage, CallBody, DiscoverBody, FailureBody, HeartbeatReplyBody, MessageBody,
    MessageFlags, MessageKind, RegisterBody, SpokenMessage, ToolRequest,
};
use serde_json::json;

/// Bytes in hexadecimal digits.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digits).collect()
}

/// Messages, and how they are written.
pub(crate) fn vectors() -> Vec<(AgentMessage<'static>, Vec<u8>)> {
    let both = MessageFlags::FINAL.with(MessageFlags::REQUIRES_ACK);
    vec![
        (
            AgentMessage::new(MessageKind::AgentHeartbeat, 1, 2, b""),
            "3150584d0300000001000000000000000200000000000000000000000000000015ed41dbea1b11f6",
        ),
        (
            AgentMessage::new(MessageKind::Call, 0x0102_0304_0506_0708, 0x1112_1314_1516_1718, b"Hello, agent!"),
            "3150584d10000000080706050403020118171615141312110d0000000000000048656c6c6f2c206167656e7421f1f9390a876ce5b3",
        ),
        (
            AgentMessage::new(MessageKind::StreamChunk, 7, 9, b"abc").with(both),
            "3150584d210c00000700000000000000090000000000000003000000000000006162635f36c2ee7b5a2493",
        ),
        (
            AgentMessage::new(MessageKind::Error, u64::MAX, 0, br#"{"error":"x","code":"y"}"#),
            "3150584df1000000ffffffffffffffff000000000000000018000000000000007b226572726f72223a2278222c22636f6465223a2279227d057b6e4e2b776ec9",
        ),
    ]
    .into_iter()
    .map(|(message, text)| (message, unhex(text)))
    .collect()
}

#[test]
fn messages_are_written_and_read_byte_for_byte() {
    for (message, bytes) in vectors() {
        assert_eq!(message.to_bytes().unwrap(), bytes, "{message:?}");
        assert_eq!(AgentMessage::parse(&bytes).unwrap(), message);
        let (header, sum) = message.frame().unwrap();
        assert_eq!([&header[..], message.payload, &sum].concat(), bytes);
        assert_eq!(message.len(), bytes.len());
        // What is read is where it was.
        let read = AgentMessage::parse(&bytes).unwrap();
        assert!(read.payload.is_empty() || bytes.as_ptr_range().contains(&read.payload.as_ptr()));
    }
}

#[test]
fn documents_are_written_as_they_are_elsewhere() {
    let error = FailureBody { error: "x".to_owned(), code: "y".to_owned() };
    let body = MessageBody::json(&error).unwrap();
    assert_eq!(body.bytes, vectors()[3].0.payload);
    assert_eq!(vectors()[3].0.json::<FailureBody>().unwrap(), error);
    let text = |body: MessageBody| String::from_utf8(body.bytes).unwrap();
    let call = CallBody {
        messages: vec![SpokenMessage { role: "user".to_owned(), content: "hi".to_owned() }],
        max_output_tokens: Some(9),
        tools: vec![ToolRequest { name: "add".to_owned(), input: json!({ "a": 1 }) }],
        ..CallBody::default()
    };
    assert_eq!(
        text(MessageBody::json(&call).unwrap()),
        r#"{"messages":[{"role":"user","content":"hi"}],"max_output_tokens":9,"tools":[{"name":"add","input":{"a":1}}]}"#
    );
    let said = |payload| AgentMessage::new(MessageKind::Call, 1, 1, payload);
    // Fields may be missing that are optional, and there that nobody knows.
    let register = br#"{"id":"a","name":"A","address":"127.0.0.1:1","later":true}"#;
    let card: RegisterBody = said(register).json().unwrap();
    assert_eq!((card.capabilities.len(), card.metadata.len()), (0, 0));
    let reply = br#"{"success":true,"agent_id":"a","timestamp":5}"#;
    let reply: HeartbeatReplyBody = said(reply).json().unwrap();
    assert!(!reply.needs_register && reply.message.is_none());
    let wrong = said(br#"{"capabilities":"x"}"#).json::<DiscoverBody>().unwrap_err().to_string();
    assert!(wrong.contains("missing field `capability`"), "{wrong}");
}
