//! Every limit, with a test that fails when it is ignored.

use std::time::{Duration, Instant};

use offshoot_a2a::{A2aClientError, A2aCode, A2aLimits, A2aMessage, A2aPart, A2aState};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::bench::{Bench, DEADLINE, begun, options, said, say, sent, until};
use crate::raw::{call, rpc};

async fn bench(set: impl FnOnce(&mut A2aLimits)) -> Bench {
    let mut options = options();
    set(&mut options.limits);
    Bench::with(options).await
}

fn code<T: std::fmt::Debug>(result: Result<T, A2aClientError>) -> A2aCode {
    match result.unwrap_err() {
        A2aClientError::Fault(fault) => fault.code,
        other => panic!("no error of the protocol: {other}"),
    }
}

#[tokio::test]
async fn bodies_are_bounded() {
    let bench = bench(|limits| limits.body = 2000).await;
    let client = bench.client().await;
    assert_eq!(sent(&client, &format!("echo {}", "x".repeat(1000))).await.artifacts.len(), 1);
    let raw = rpc(bench.address, &vec![b' '; 2001]).await;
    assert_eq!((raw.status, raw.code()), (413, -32600));
    for client in bench.both().await {
        let refused = client.send(say(&"x".repeat(3000))).await;
        assert_eq!(code(refused), A2aCode::InvalidRequest);
    }
}

#[tokio::test]
async fn depth_and_values_are_bounded() {
    let bench = bench(|limits| (limits.depth, limits.values) = (12, 200)).await;
    for client in bench.both().await {
        let nested = |depth| (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let message = |data| A2aMessage::user(vec![A2aPart::text("echo"), A2aPart::data(data)]);
        assert!(client.send(message(nested(5))).await.is_ok());
        assert_eq!(code(client.send(message(nested(10))).await), A2aCode::InvalidRequest);
        assert_eq!(code(client.send(message(json!(vec![1; 300]))).await), A2aCode::InvalidRequest);
    }
}

#[tokio::test]
async fn parts_are_bounded() {
    let bench = bench(|limits| limits.parts = 3).await;
    let client = bench.client().await;
    let parts = |many| A2aMessage::user(vec![A2aPart::text("echo"); many]);
    assert_eq!(code(client.send(parts(4)).await), A2aCode::InvalidParams);
    assert_eq!(code(client.send(parts(0)).await), A2aCode::InvalidParams);
    assert!(client.send(parts(3)).await.is_ok());
}

#[tokio::test]
async fn agents_that_work_at_once_are_bounded() {
    let bench = bench(|limits| limits.running = 2).await;
    let client = bench.client().await;
    let one = begun(&client, "wait").await;
    begun(&client, "wait").await;
    assert_eq!(code(client.send(say("echo")).await), A2aCode::Unavailable);
    client.cancel(&one.id).await.unwrap();
    let paused = sent(&client, "pause").await;
    begun(&client, "wait").await;
    assert_eq!(code(client.send(say("answer").for_task(&paused.id)).await), A2aCode::Unavailable);
    // What could not be taken has left nothing.
    assert_eq!(client.get(&paused.id, None).await.unwrap(), paused);
}

#[tokio::test]
async fn streams_are_bounded() {
    let bench = bench(|limits| limits.streams = 1).await;
    for client in bench.both().await {
        let task = begun(&client, "steps 1").await;
        let open = client.subscribe(&task.id).await.unwrap();
        assert_eq!(code(client.stream(say("echo")).await), A2aCode::Unavailable);
        drop(open);
        // The server sees that nobody reads when it has something to tell.
        bench.actor.steps.add_permits(1);
        until(&client, &task.id, A2aState::Completed).await;
        let deadline = Instant::now() + DEADLINE;
        while client.stream(say("echo")).await.is_err() {
            assert!(Instant::now() < deadline);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn connections_are_bounded() {
    let bench = bench(|limits| {
        limits.connections = 2;
        limits.arrival = Duration::from_millis(300);
    })
    .await;
    let mut idle = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(bench.address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        idle.push(stream);
    }
    // There is no place until those that say nothing more were closed.
    let began = Instant::now();
    let client = bench.client().await;
    assert!(began.elapsed() >= Duration::from_millis(100), "{:?}", began.elapsed());
    assert_eq!(sent(&client, "echo").await.status.state, A2aState::Completed);
}

#[tokio::test]
async fn requests_have_to_arrive() {
    let bench = bench(|limits| limits.arrival = Duration::from_millis(100)).await;
    let head = crate::raw::usual(bench.address).join("\r\n");
    let cut = format!(
        "POST /a2a/rpc HTTP/1.1\r\nconnection: close\r\n{head}\r\ncontent-length: 50\r\n\r\n{{"
    );
    assert_eq!(crate::raw::bytes(bench.address, cut.as_bytes()).await.status, 408);
    let mut stream = TcpStream::connect(bench.address).await.unwrap();
    stream.write_all(b"POST /a2a/rpc HT").await.unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut answer)).await;
    read.expect("it was never closed").unwrap();
}

#[tokio::test]
async fn nobody_is_kept_waiting_for_ever() {
    let bench = bench(|limits| limits.blocking = Duration::from_millis(50)).await;
    let task = sent(&bench.client().await, "wait").await;
    assert!([A2aState::Submitted, A2aState::Working].contains(&task.status.state));
}

#[tokio::test]
async fn tasks_are_bounded() {
    let bench = bench(|limits| limits.tasks.tasks = 3).await;
    let client = bench.client().await;
    let first = sent(&client, "echo").await;
    let open: Vec<_> = [sent(&client, "pause").await, sent(&client, "pause").await].into();
    // The oldest that is over makes room.
    let last = sent(&client, "pause").await;
    assert_eq!(code(client.get(&first.id, None).await), A2aCode::TaskNotFound);
    assert_eq!(code(client.send(say("echo")).await), A2aCode::Unavailable);
    for task in open.iter().chain([&last]) {
        assert!(client.get(&task.id, None).await.is_ok());
    }
    client.cancel(&last.id).await.unwrap();
    sent(&client, "echo").await;
}

#[tokio::test]
async fn bytes_of_tasks_are_bounded() {
    let bench = bench(|limits| {
        limits.tasks.task_bytes = 5_000;
        limits.tasks.bytes = 12_000;
    })
    .await;
    let client = bench.client().await;
    let done = sent(&client, "big 3000").await;
    assert_eq!(done.status.state, A2aState::Completed);
    let failed = sent(&client, "big 6000").await;
    assert_eq!(failed.status.state, A2aState::Failed);
    assert!(said(&failed).contains("5000 bytes"), "{}", said(&failed));
    assert_eq!(code(client.send(say(&"x".repeat(6000))).await), A2aCode::Unavailable);
    let paused = sent(&client, "pause").await;
    let refused = client.send(say(&"x".repeat(6000)).for_task(&paused.id)).await;
    assert_eq!(code(refused), A2aCode::InvalidParams);
    // All together: tasks that are over make room, those that wait do not.
    for _ in 0..3 {
        sent(&client, &format!("pause {}", "x".repeat(3000))).await;
    }
    assert_eq!(code(client.get(&done.id, None).await), A2aCode::TaskNotFound);
    assert_eq!(code(client.send(say(&"x".repeat(4000))).await), A2aCode::Unavailable);
}

#[tokio::test]
async fn history_and_artifacts_are_bounded() {
    let bench = bench(|limits| {
        limits.tasks.history = 5;
        limits.tasks.artifacts = 4;
    })
    .await;
    let client = bench.client().await;
    let task = sent(&client, "talk 9").await;
    let texts: Vec<String> = task.history.iter().map(A2aMessage::text).collect();
    assert_eq!(texts, ["4", "5", "6", "7", "8"]);
    assert_eq!(sent(&client, "artifacts 4").await.status.state, A2aState::Completed);
    let failed = sent(&client, "artifacts 5").await;
    assert_eq!((failed.status.state, failed.artifacts.len()), (A2aState::Failed, 4));
}

#[tokio::test]
async fn what_is_too_much_is_said_in_the_protocol() {
    let bench = bench(|limits| limits.running = 0).await;
    let message =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a"}]}});
    let raw = call(bench.address, "SendMessage", &message).await;
    assert_eq!(raw.code(), -32603);
    assert_eq!(raw.json()["error"]["data"][0]["reason"], "UNAVAILABLE");
    let mut headers = crate::raw::usual(bench.address);
    headers.push("accept: */*".to_owned());
    let body = message.to_string();
    let line = "POST /a2a/rest/message:send";
    let raw = crate::raw::request(bench.address, line, &headers, body.as_bytes()).await;
    assert_eq!((raw.status, &raw.json()["error"]["status"]), (503, &json!("UNAVAILABLE")));
}
