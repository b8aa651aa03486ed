//! The client against servers that are wrong, slow, or somebody else.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offshoot_a2a::{
    A2aAddress, A2aAddressPolicy, A2aCard, A2aClient, A2aClientError, A2aClientOptions,
    A2aInterface, A2aReach, BINDING_JSONRPC, BINDING_REST,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::bench::{Bench, TOKEN, card, quick, say, sent};

/// What a request gets: the whole answer, made of the request.
type Play = dyn Fn(usize, &str) -> Vec<u8> + Send + Sync;

/// A server that answers anything, and keeps what it was asked.
struct Fake {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    async fn new(play: impl Fn(usize, &str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (kept, count) = (Arc::clone(&asked), AtomicUsize::new(0));
        let play: Box<Play> = Box::new(play);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = vec![0; 1 << 16];
                let mut read = 0;
                let text = loop {
                    let Ok(more @ 1..) = stream.read(&mut bytes[read..]).await else { break None };
                    read += more;
                    let text = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head.lines().find_map(|line| {
                        line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                    });
                    if body.len() >= length.unwrap_or(0) {
                        break Some(text);
                    }
                };
                let Some(text) = text else { continue };
                let answer = play(count.fetch_add(1, Ordering::SeqCst), &text);
                kept.lock().unwrap().push(text);
                drop(stream.write_all(&answer).await);
            }
        });
        Self { address, asked }
    }

    fn card(&self, binding: &str) -> A2aCard {
        let place = A2aInterface {
            url: format!("http://{}/x", self.address),
            protocol_binding: binding.to_owned(),
            tenant: "me & co".to_owned(),
            protocol_version: "1.0".to_owned(),
        };
        A2aCard { supported_interfaces: vec![place], ..card() }
    }

    fn client(&self) -> A2aClient {
        A2aClient::from_card(self.card(BINDING_JSONRPC), quick(TOKEN)).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn http(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

/// An answer to a call, with the id of the call.
fn result(request: &str, result: &Value) -> Vec<u8> {
    let call: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    let answer = json!({"jsonrpc": "2.0", "id": call["id"], "result": result});
    http(200, "application/json", &answer.to_string())
}

fn some_task() -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}, "unknown": 1})
}

#[tokio::test]
async fn what_is_safe_is_tried_again() {
    let fake = Fake::new(|count, request| match count {
        0 => Vec::new(),
        1 => http(503, "text/plain", "later"),
        _ => result(request, &some_task()),
    })
    .await;
    assert_eq!(fake.client().get("t", None).await.unwrap().id, "t");
    assert_eq!(fake.asked().len(), 3);
    // A message may have been taken although nothing came back.
    let fake = Fake::new(|_, _| Vec::new()).await;
    let error = fake.client().send(say("echo")).await.unwrap_err();
    assert!(matches!(error, A2aClientError::Connection { is_unsent: false, .. }), "{error}");
    assert_eq!(fake.asked().len(), 1);
    assert!(fake.client().cancel("t").await.is_err());
    assert_eq!(fake.asked().len(), 2);
    // Tries end.
    assert!(fake.client().get("t", None).await.is_err());
    assert_eq!(fake.asked().len(), 6);
}

#[tokio::test]
async fn what_was_not_sent_is_tried_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let card = Fake { address, asked: Arc::default() }.card(BINDING_JSONRPC);
    let client = A2aClient::from_card(card, quick(TOKEN)).unwrap();
    let error = client.send(say("echo")).await.unwrap_err();
    assert!(matches!(error, A2aClientError::Connection { is_unsent: true, .. }), "{error}");
}

#[tokio::test]
async fn answers_are_checked() {
    for (answer, why) in [
        ("null", "no object"),
        ("[]", "no object"),
        ("nonsense", "no JSON"),
        ("{}", "another request"),
        (r#"{"jsonrpc":"2.0","id":"other","result":{}}"#, "another request"),
        (r#"{"jsonrpc":"2.0","id":ID}"#, "neither a result nor an error"),
        (r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#, "missing field"),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"id":"x","status":{"state":"TASK_STATE_WORKING"}}}"#,
            "another task",
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{"id":"t","status":{"state":"working"}}}"#,
            "unknown variant",
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"gone"}}"#, "gone"),
        (r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#, "HTTP 200"),
    ] {
        let fake = Fake::new(move |_, request| {
            let call = request.split_once("\r\n\r\n").unwrap().1;
            let id = serde_json::from_str::<Value>(call).unwrap()["id"].to_string();
            http(200, "application/json", &answer.replace("ID", &id))
        })
        .await;
        let error = fake.client().get("t", None).await.unwrap_err().to_string();
        assert!(error.contains(why), "{answer}: {error}");
    }
    let deep = Fake::new(|_, _| http(200, "application/json", &"[".repeat(5000))).await;
    assert!(deep.client().get("t", None).await.unwrap_err().to_string().contains("nested"));
}

#[tokio::test]
async fn answers_are_bounded() {
    let fake = Fake::new(|_, _| http(200, "application/json", &" ".repeat(5000))).await;
    let small = A2aClientOptions { answer: 4000, ..quick(TOKEN) };
    let client = A2aClient::from_card(fake.card(BINDING_JSONRPC), small.clone()).unwrap();
    let error = client.get("t", None).await.unwrap_err().to_string();
    assert!(error.contains("more than 4000 bytes"), "{error}");
    let fake =
        Fake::new(|_, _| http(200, "text/event-stream", &format!("data: {}", "x".repeat(9000))))
            .await;
    let client = A2aClient::from_card(fake.card(BINDING_JSONRPC), small).unwrap();
    let mut stream = client.subscribe("t").await.unwrap();
    let error = stream.next().await.unwrap().unwrap_err().to_string();
    assert!(error.contains("too long"), "{error}");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn servers_that_say_nothing_are_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let silent = Fake { address, asked: Arc::default() };
    let hasty = A2aClientOptions {
        timeout: Duration::from_millis(30),
        blocking: Duration::from_millis(30),
        retries: 1,
        ..quick(TOKEN)
    };
    let client = A2aClient::from_card(silent.card(BINDING_JSONRPC), hasty).unwrap();
    for error in [
        client.get("t", None).await.unwrap_err(),
        client.send(say("echo")).await.unwrap_err(),
        client.stream(say("echo")).await.map(drop).unwrap_err(),
    ] {
        assert!(error.to_string().contains("timed out"), "{error}");
    }
}

#[tokio::test]
async fn events_are_checked() {
    let status = |task: &str| json!({"statusUpdate": {"taskId": task, "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    for (event, why) in [
        (json!({"result": status("other")}), "another task"),
        (json!({"result": {"unknown": {}}}), "unknown variant"),
        (json!({"result": {}}), "not what the protocol says"),
        (json!({"error": {"code": -32603, "message": "broken"}}), "broken"),
        (json!([]), "no object"),
    ] {
        let body =
            format!("data: {}\n\ndata: {event}\n\n", json!({"result": {"task": some_task()}}));
        let fake = Fake::new(move |_, _| http(200, "text/event-stream", &body)).await;
        let mut stream = fake.client().subscribe("t").await.unwrap();
        assert!(stream.next().await.unwrap().is_ok());
        let error = stream.next().await.unwrap().unwrap_err().to_string();
        assert!(error.contains(why), "{event}: {error}");
        assert!(stream.next().await.is_none());
    }
    let fake = Fake::new(|_, request| result(request, &some_task())).await;
    let error = fake.client().subscribe("t").await.map(drop).unwrap_err().to_string();
    assert!(error.contains("no stream"), "{error}");
}

#[tokio::test]
async fn a_stream_that_only_begins_is_given_up() {
    let body = format!("data: {}\n\n", json!({"result": {"task": some_task()}}));
    let fake = Fake::new(move |_, _| http(200, "text/event-stream", &body)).await;
    let mut stream = fake.client().stream(say("echo")).await.unwrap();
    let mut told = 0;
    let error = loop {
        match stream.next().await.unwrap() {
            Ok(_) => told += 1,
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("could not be taken up again") && told == 4, "{told} {error}");
    assert_eq!(fake.asked().len(), 4);
    assert!(fake.asked()[1].contains("SubscribeToTask"));
}

#[tokio::test]
async fn tenants_and_headers_are_sent() {
    let fake = Fake::new(|_, request| match request.starts_with("POST /x HTTP") {
        true => result(request, &some_task()),
        false => http(200, "application/json", &some_task().to_string()),
    })
    .await;
    let options =
        A2aClientOptions { extensions: vec!["urn:a".into(), "urn:b".into()], ..quick(TOKEN) };
    for binding in [BINDING_JSONRPC, BINDING_REST] {
        let client = A2aClient::from_card(fake.card(binding), options.clone()).unwrap();
        assert_eq!(client.binding(), binding);
        client.get("t", Some(3)).await.unwrap();
    }
    let [rpc, rest]: [String; 2] = fake.asked().try_into().unwrap();
    for text in [&rpc, &rest] {
        assert!(text.contains(&format!("authorization: Bearer {TOKEN}")), "{text}");
        assert!(text.contains("a2a-version: 1.0"), "{text}");
        assert!(text.contains("a2a-extensions: urn:a,urn:b"), "{text}");
    }
    assert!(rpc.contains(r#""tenant":"me & co""#), "{rpc}");
    assert!(rest.starts_with("GET /x/me%20%26%20co/tasks/t?historyLength=3 HTTP/1.1"), "{rest}");
}

#[tokio::test]
async fn the_token_stays_with_the_server() {
    // The card of one server leads to another.
    let other = Fake::new(|_, request| result(request, &some_task())).await;
    let told = other.card(BINDING_JSONRPC);
    let fake = Fake::new(move |_, _| {
        http(200, "application/json", &serde_json::to_string(&told).unwrap())
    })
    .await;
    let url = format!("http://{}", fake.address);
    let error = A2aClient::connect(&url, quick(TOKEN)).await.unwrap_err().to_string();
    assert!(error.contains("another server"), "{error}");
    assert!(!fake.asked()[0].contains(TOKEN), "a card is public");
    let meant = A2aClientOptions { allow_other_hosts: true, ..quick(TOKEN) };
    let client = A2aClient::connect(&url, meant).await.unwrap();
    assert!(client.get("t", None).await.is_ok());
    // Redirects are not followed.
    let fake = Fake::new(|_, _| {
        b"HTTP/1.1 302 X\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".to_vec()
    })
    .await;
    let error = fake.client().get("t", None).await.unwrap_err().to_string();
    assert!(error.contains("redirects are not followed"), "{error}");
}

#[tokio::test]
async fn a_card_may_want_the_token() {
    let fake = Fake::new(|_, request| match request.contains("authorization: Bearer") {
        false => http(401, "text/plain", ""),
        true => http(200, "application/json", r#"{"name":"x","supportedInterfaces":[]}"#),
    })
    .await;
    let url = format!("http://{}", fake.address);
    let error = A2aClient::connect(&url, quick(TOKEN)).await.unwrap_err().to_string();
    assert!(error.contains("names no JSONRPC"), "{error}");
    assert_eq!(fake.asked().len(), 2);
    let nobody = A2aClientOptions { token: None, ..quick(TOKEN) };
    assert!(A2aClient::connect(&url, nobody).await.unwrap_err().to_string().contains("401"));
}

#[tokio::test]
async fn cards_are_checked() {
    for (body, why) in [
        ("", "none of revision 1.0"),
        ("{}", "missing field"),
        (r#"{"name":"","supportedInterfaces":[]}"#, "no name"),
        (
            r#"{"protocolVersion":"0.3.0","name":"old","url":"http://a/","skills":[]}"#,
            "missing field",
        ),
        (
            r#"{"name":"a","supportedInterfaces":[{"url":"x","protocolBinding":"GRPC","protocolVersion":"1.0"}]}"#,
            "names no JSONRPC",
        ),
    ] {
        let fake = Fake::new(move |_, _| http(200, "application/json", body)).await;
        let url = format!("http://{}", fake.address);
        let error = A2aClient::connect(&url, quick(TOKEN)).await.unwrap_err().to_string();
        assert!(error.contains(why), "{body}: {error}");
    }
    let fake = Fake::new(|_, _| http(200, "application/json", &" ".repeat(2 << 20))).await;
    let url = format!("http://{}", fake.address);
    let error = A2aClient::connect(&url, quick(TOKEN)).await.unwrap_err().to_string();
    assert!(error.contains("more than"), "{error}");
}

/// No address at all.
struct Nowhere;

impl A2aAddressPolicy for Nowhere {
    fn permits(&self, _: &A2aAddress<'_>) -> bool {
        false
    }
}

#[tokio::test]
async fn addresses_are_those_that_are_permitted() {
    let bench = Bench::new().await;
    let nowhere = A2aClientOptions { policy: Arc::new(Nowhere), ..quick(TOKEN) };
    assert!(A2aClient::connect(&bench.url(), nowhere).await.is_err());
    let public = A2aClientOptions { policy: Arc::new(A2aReach::Public), ..quick(TOKEN) };
    assert!(A2aClient::connect(&bench.url(), public).await.is_err());
    let here = A2aClientOptions { policy: Arc::new(A2aReach::Loopback), ..quick(TOKEN) };
    sent(&A2aClient::connect(&bench.url(), here).await.unwrap(), "echo").await;
}

#[tokio::test]
async fn a_card_that_changed_is_read_again() {
    let fake = Fake::new(|_, _| Vec::new()).await;
    let place = fake.card(BINDING_JSONRPC).supported_interfaces;
    let fake = Fake::new(move |count, request| {
        let is_known = request.contains(&format!("if-none-match: \"{}\"", count / 2));
        let mut card = A2aCard::new(format!("agent {}", count / 2), "", "1");
        card.supported_interfaces = place.clone();
        let body = serde_json::to_string(&card).unwrap();
        match is_known {
            true => b"HTTP/1.1 304 X\r\n\r\n".to_vec(),
            false => {
                let head =
                    format!("HTTP/1.1 200 X\r\netag: \"{}\"\r\nconnection: close\r\n", count / 2);
                format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
            }
        }
    })
    .await;
    let options = A2aClientOptions { allow_other_hosts: true, ..quick(TOKEN) };
    let mut client =
        A2aClient::connect(&format!("http://{}", fake.address), options).await.unwrap();
    assert_eq!(client.card().name, "agent 0");
    assert!(!client.refresh().await.unwrap());
    assert!(client.refresh().await.unwrap());
    assert_eq!(client.card().name, "agent 1");
}
