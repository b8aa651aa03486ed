//! Whatever comes, the server answers an error and goes on.

use offshoot_a2a::A2aState;
use serde_json::{Value, json};

use crate::bench::{Bench, sent};
use crate::raw::{bytes, call, request, rpc, usual};

/// Numbers that look random and are the same each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % limit
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

const METHODS: [&str; 13] = [
    "SendMessage",
    "SendStreamingMessage",
    "GetTask",
    "ListTasks",
    "CancelTask",
    "SubscribeToTask",
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
    "DeleteTaskPushNotificationConfig",
    "GetExtendedAgentCard",
    "message/send",
    "",
];

const NAMES: [&str; 22] = [
    "message",
    "messageId",
    "role",
    "parts",
    "text",
    "raw",
    "url",
    "data",
    "id",
    "taskId",
    "contextId",
    "configuration",
    "historyLength",
    "returnImmediately",
    "pageSize",
    "pageToken",
    "metadata",
    "taskPushNotificationConfig",
    "authentication",
    "status",
    "tenant",
    "extensions",
];

/// Any JSON, mostly with names that mean something.
fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(true),
        2 => json!(*dice.of(&[0_i64, -1, 1, i64::MAX, i64::MIN, 50])),
        3 => json!(*dice.of(&[0.5_f64, 1e308, -0.0])),
        4 => json!(*dice.of(&[
            "",
            "ROLE_USER",
            "ROLE_AGENT",
            "TASK_STATE_WORKING",
            "now",
            "\u{0}\u{1f600}",
            "%%",
            "http://127.0.0.1/"
        ])),
        5 => json!("x".repeat(dice.below(400))),
        6 => (0..dice.below(4)).map(|_| value(dice, depth - 1)).collect(),
        _ => {
            let pairs = (0..dice.below(6)).map(|_| {
                let name = (*dice.of(&NAMES)).to_owned();
                (name, value(dice, depth - 1))
            });
            Value::Object(pairs.collect())
        }
    }
}

#[tokio::test]
async fn random_requests_are_answered() {
    let bench = Bench::new().await;
    let mut dice = Dice::new(1);
    for round in 0..400 {
        let method = *dice.of(&METHODS);
        let params = value(&mut dice, 5);
        let raw = call(bench.address, method, &params).await;
        assert_eq!(raw.status, 200, "round {round}: {method} {params}");
        if raw.header("content-type") != Some("text/event-stream") {
            let answer = raw.json();
            let is_one = answer.get("result").is_some() != answer.get("error").is_some();
            assert!(is_one && answer["id"] == 1, "round {round}: {method} {params}: {answer}");
        }
    }
    assert_eq!(sent(&bench.client().await, "echo").await.status.state, A2aState::Completed);
}

#[tokio::test]
async fn good_requests_with_one_thing_wrong_are_refused() {
    let bench = Bench::new().await;
    let good = json!({"message": {
        "messageId": "m", "role": "ROLE_USER", "parts": [{"text": "echo"}], "metadata": {"a": 1},
    }, "configuration": {"historyLength": 1}});
    assert!(call(bench.address, "SendMessage", &good).await.json().get("result").is_some());
    for (path, wrong) in [
        ("/message", json!(null)),
        ("/message", json!([])),
        ("/message/messageId", json!(7)),
        ("/message/messageId", json!("")),
        ("/message/messageId", json!("x".repeat(300))),
        ("/message/role", json!("user")),
        ("/message/role", json!("ROLE_AGENT")),
        ("/message/role", json!(1)),
        ("/message/parts", json!({})),
        ("/message/parts", json!([])),
        ("/message/parts/0", json!({})),
        ("/message/parts/0", json!("echo")),
        ("/message/parts/0", json!({"text": "a", "url": "b"})),
        ("/message/parts/0", json!({"raw": "!!!"})),
        ("/message/parts/0", json!({"text": "a", "metadata": 1})),
        ("/message/metadata", json!([])),
        ("/configuration", json!("x")),
        ("/configuration/historyLength", json!(-1)),
        ("/configuration/historyLength", json!("1")),
        ("/configuration/historyLength", json!(1.5)),
        ("/configuration/historyLength", json!(1e12)),
    ] {
        let mut params = good.clone();
        *params.pointer_mut(path).unwrap() = wrong.clone();
        let raw = call(bench.address, "SendMessage", &params).await;
        assert_eq!(raw.code(), -32602, "{path} {wrong}");
    }
}

#[tokio::test]
async fn what_is_no_request_is_refused() {
    let bench = Bench::new().await;
    for (text, code) in [
        ("", -32700),
        ("{", -32700),
        ("nonsense", -32700),
        ("{\"a\":}", -32700),
        ("\u{feff}{}", -32700),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ListTasks\"}]", -32600),
        ("7", -32600),
        ("{}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"method\":\"ListTasks\"}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\"}", -32601),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\"}", -32602),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":[1]}", -32602),
    ] {
        let raw = rpc(bench.address, text.as_bytes()).await;
        assert_eq!((raw.status, raw.code()), (200, code), "{text}");
    }
    assert_eq!(rpc(bench.address, b"{\"a\": \"\xff\xfe\"}").await.code(), -32700);
    let deep = "[".repeat(100_000);
    assert_eq!(rpc(bench.address, deep.as_bytes()).await.code(), -32600);
    let deep = format!("{}1{}", "{\"a\":".repeat(60), "}".repeat(60));
    assert_eq!(rpc(bench.address, deep.as_bytes()).await.code(), -32600);
    let wide = format!("[{}1]", "1,".repeat(200_000));
    assert_eq!(rpc(bench.address, wide.as_bytes()).await.code(), -32600);
}

#[tokio::test]
async fn other_ways_in_are_closed() {
    let bench = Bench::new().await;
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#;
    let usual = usual(bench.address);
    for (line, status) in [
        ("GET /a2a/rpc", 405),
        ("DELETE /a2a/rpc", 405),
        ("POST /a2a/rpc/", 404),
        ("POST /", 404),
        ("GET /a2a/rest", 404),
        ("GET /a2a/rest/", 404),
        ("PUT /a2a/rest/tasks/1", 404),
        ("GET /a2a/rest/tasks/%00", 400),
        ("GET /a2a/rest/tasks/%zz", 404),
        ("GET /a2a/rest/tasks/../../../etc/passwd", 404),
        ("GET /a2a/rest/tasks?pageSize=0", 400),
        ("GET /a2a/rest/tasks?pageSize=x", 400),
        ("POST /a2a/rest/message:send", 400),
        ("GET /a2a/rest/tasks/nothing", 404),
    ] {
        assert_eq!(request(bench.address, line, &usual, body).await.status, status, "{line}");
    }
    let mut typed = usual.clone();
    typed.retain(|header| !header.starts_with("content-type"));
    assert_eq!(request(bench.address, "POST /a2a/rpc", &typed, body).await.status, 415);
    typed.push("content-type: text/plain".to_owned());
    let raw = request(bench.address, "POST /a2a/rpc", &typed, body).await;
    assert_eq!((raw.status, raw.code()), (415, -32005));
    typed.pop();
    typed.push("content-type: application/a2a+json; charset=utf-8".to_owned());
    assert_eq!(request(bench.address, "POST /a2a/rpc", &typed, body).await.status, 200);
}

#[tokio::test]
async fn noise_is_survived() {
    let bench = Bench::new().await;
    let mut dice = Dice::new(2);
    let good = format!(
        "POST /a2a/rpc HTTP/1.1\r\nconnection: close\r\n{}\r\ncontent-length: 45\r\n\r\n{}",
        usual(bench.address).join("\r\n"),
        r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks"}"#
    );
    assert_eq!(bytes(bench.address, good.as_bytes()).await.status, 200);
    for _ in 0..100 {
        let mut noise = good.clone().into_bytes();
        for _ in 0..=dice.below(4) {
            let at = dice.below(noise.len());
            noise[at] = u8::try_from(dice.below(256)).unwrap();
        }
        // A length that grew would have the server wait for more, so the end is told by closing.
        let mut stream = tokio::net::TcpStream::connect(bench.address).await.unwrap();
        drop(tokio::io::AsyncWriteExt::write_all(&mut stream, &noise).await);
    }
    assert_eq!(bytes(bench.address, good.as_bytes()).await.status, 200);
}

#[tokio::test]
async fn a_client_that_goes_leaves_nothing_half_done() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let mut dice = Dice::new(5);
    let head = usual(bench.address).join("\r\n");
    for _ in 0..60 {
        let paused = sent(&client, "pause").await;
        let message = json!({"messageId": "m", "role": "ROLE_USER", "taskId": paused.id, "parts": [{"text": "answer"}]});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        let (body, length) = (call.to_string(), call.to_string().len());
        let request =
            format!("POST /a2a/rpc HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
        let mut stream = tokio::net::TcpStream::connect(bench.address).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
        let micros = u64::try_from(dice.below(1_500)).unwrap();
        tokio::time::sleep(std::time::Duration::from_micros(micros)).await;
        drop(stream);
        // It was taken and is done, or was not taken; it is never taken and left.
        let deadline = std::time::Instant::now() + crate::bench::DEADLINE;
        loop {
            let state = client.get(&paused.id, None).await.unwrap().status.state;
            if state == A2aState::Completed || state == A2aState::InputRequired {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "{state:?}");
            tokio::task::yield_now().await;
        }
    }
}
