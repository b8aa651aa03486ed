//! Webhooks: delivered in order, with their tokens, tried again, and only where that is permitted.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use offshoot_a2a::{
    A2aAddress, A2aAddressPolicy, A2aClientError, A2aCode, A2aEvent, A2aPushAuthentication,
    A2aPushConfig, A2aReach, A2aSend, A2aServerOptions, A2aState,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::bench::{Bench, begun, eventually, options, say, sent, task, until};

/// A webhook that answers as it is told to, and keeps what it got.
struct Hook {
    address: SocketAddr,
    got: Arc<Mutex<Vec<(String, A2aEvent)>>>,
}

impl Hook {
    /// Answers with these statuses, and 200 afterwards.
    async fn new(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<(String, A2aEvent)>>> = Arc::default();
        let kept = Arc::clone(&got);
        let mut statuses: VecDeque<u16> = statuses.iter().copied().collect();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = Vec::new();
                let (head, body) = loop {
                    let mut more = [0; 4096];
                    let read = stream.read(&mut more).await.unwrap();
                    bytes.extend(&more[..read]);
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head.lines().find_map(|line| {
                        line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                    });
                    if body.len() >= length.unwrap_or(0) {
                        break (head.to_owned(), body.to_owned());
                    }
                };
                kept.lock().unwrap().push((head, serde_json::from_str(&body).unwrap()));
                let status = statuses.pop_front().unwrap_or(200);
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nlocation: http://{address}/elsewhere\r\ncontent-length: 0\r\n\r\n"
                );
                drop(stream.write_all(answer.as_bytes()).await);
            }
        });
        Self { address, got }
    }

    fn config(&self) -> A2aPushConfig {
        A2aPushConfig::new(format!("http://{}/hook?a=b", self.address))
    }

    fn got(&self) -> Vec<(String, A2aEvent)> {
        self.got.lock().unwrap().clone()
    }

    async fn until(&self, many: usize) -> Vec<(String, A2aEvent)> {
        eventually(|| self.got.lock().unwrap().len() >= many).await;
        self.got()
    }
}

fn with(policy: impl A2aAddressPolicy + 'static) -> A2aServerOptions {
    let mut options = options();
    options.push = Some(Arc::new(policy));
    options.limits.push.first_wait = Duration::from_millis(1);
    options.limits.push.longest_wait = Duration::from_millis(4);
    options
}

fn code<T: std::fmt::Debug>(result: Result<T, A2aClientError>) -> A2aCode {
    match result.unwrap_err() {
        A2aClientError::Fault(fault) => fault.code,
        other => panic!("no error of the protocol: {other}"),
    }
}

#[tokio::test]
async fn updates_come_in_order_and_are_tried_again() {
    let hook = Hook::new(&[500, 503, 200, 429, 408]).await;
    let bench = Bench::with(with(A2aReach::Loopback)).await;
    let client = bench.client().await;
    assert_eq!(client.card().capabilities.push_notifications, Some(true));
    let mut config = hook.config();
    config.token = "my-token".to_owned();
    let (scheme, credentials) = ("Bearer".to_owned(), "my-secret".to_owned());
    config.authentication = Some(A2aPushAuthentication { scheme, credentials });
    let mut send = A2aSend::from(say("talk 2"));
    send.configuration.task_push_notification_config = Some(config);
    let done = task(client.send(send).await.unwrap());
    // The task, tried three times; two messages, the first tried three times; the end.
    let got = hook.until(8).await;
    let states: Vec<_> = got.iter().map(|(_, event)| event.state().unwrap()).collect();
    use A2aState::{Completed, Submitted, Working};
    let wanted = [Submitted, Submitted, Submitted, Working, Working, Working, Working, Completed];
    assert_eq!(states, wanted);
    assert!(matches!(&got[0].1, A2aEvent::Task(task) if task.id == done.id));
    for (head, event) in &got {
        assert!(head.starts_with("POST /hook?a=b HTTP/1.1"), "{head}");
        assert!(head.contains("x-a2a-notification-token: my-token"), "{head}");
        assert!(head.contains("authorization: Bearer my-secret"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        assert_eq!(event.task_id(), Some(done.id.as_str()));
    }
}

#[tokio::test]
async fn some_answers_are_final_and_tries_are_bounded() {
    let refusing = Hook::new(&[400, 302, 404]).await;
    let broken = Hook::new(&[500; 20]).await;
    let mut options = with(A2aReach::Loopback);
    options.limits.push.attempts = 3;
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let asked = sent(&client, "ask").await;
    for hook in [&refusing, &broken] {
        let config = A2aPushConfig { task_id: asked.id.clone(), ..hook.config() };
        client.set_push(&config).await.unwrap();
    }
    client.send(say("x").for_task(&asked.id)).await.unwrap();
    // Working and completed: once each, and three times each.
    let tried = broken.until(6).await;
    assert_eq!(tried.len(), 6);
    assert_eq!(refusing.until(2).await.len(), 2);
    assert!(refusing.got().iter().all(|(head, _)| head.starts_with("POST /hook")));
}

#[tokio::test]
async fn webhooks_are_set_listed_and_removed() {
    let hook = Hook::new(&[]).await;
    let mut options = with(A2aReach::Loopback);
    options.limits.tasks.push_configs = 2;
    let bench = Bench::with(options).await;
    for client in bench.both().await {
        let asked = sent(&client, "pause").await;
        let config = A2aPushConfig { task_id: asked.id.clone(), ..hook.config() };
        let set = client.set_push(&config).await.unwrap();
        assert!(!set.id.is_empty() && set.url == config.url && set.task_id == asked.id);
        assert_eq!(client.get_push(&asked.id, &set.id).await.unwrap(), set);
        let named = A2aPushConfig { id: "mine".to_owned(), ..config.clone() };
        client.set_push(&named).await.unwrap();
        // The same id is the same webhook; a third is too much.
        client.set_push(&named).await.unwrap();
        assert_eq!(client.list_pushes(&asked.id).await.unwrap().len(), 2);
        assert_eq!(code(client.set_push(&config).await), A2aCode::InvalidParams);
        for _ in 0..2 {
            client.delete_push(&asked.id, "mine").await.unwrap();
        }
        assert_eq!(code(client.get_push(&asked.id, "mine").await), A2aCode::TaskNotFound);
        assert_eq!(client.list_pushes(&asked.id).await.unwrap(), [set]);
        let other = bench.other().await;
        assert_eq!(code(other.list_pushes(&asked.id).await), A2aCode::TaskNotFound);
        assert_eq!(code(other.set_push(&config).await), A2aCode::TaskNotFound);
        let nowhere = A2aPushConfig { task_id: "nothing".to_owned(), ..config };
        assert_eq!(code(client.set_push(&nowhere).await), A2aCode::TaskNotFound);
    }
}

#[tokio::test]
async fn a_webhook_that_was_removed_is_not_called() {
    let hook = Hook::new(&[]).await;
    let bench = Bench::with(with(A2aReach::Loopback)).await;
    let client = bench.client().await;
    let asked = sent(&client, "ask").await;
    let config = A2aPushConfig { task_id: asked.id.clone(), ..hook.config() };
    let gone = client.set_push(&config).await.unwrap();
    let stays = client.set_push(&A2aPushConfig { id: "stays".to_owned(), ..config }).await.unwrap();
    client.delete_push(&asked.id, &gone.id).await.unwrap();
    client.send(say("x").for_task(&asked.id)).await.unwrap();
    assert_eq!(hook.until(2).await.len(), 2);
    assert_eq!(stays.id, "stays");
}

/// Says no, and counts.
struct Never(Arc<AtomicUsize>);

impl A2aAddressPolicy for Never {
    fn permits(&self, address: &A2aAddress<'_>) -> bool {
        // A number is refused when the webhook is set; names are looked up for each try.
        assert!(address.ip.is_loopback() && address.host == "localhost" && !address.is_tls);
        self.0.fetch_add(1, Ordering::SeqCst);
        false
    }
}

#[tokio::test]
async fn nothing_is_connected_to_that_is_not_permitted() {
    let hook = Hook::new(&[]).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let mut options = with(Never(Arc::clone(&asked)));
    options.limits.push.attempts = 2;
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let paused = sent(&client, "ask").await;
    let url = format!("http://localhost:{}/", hook.address.port());
    let config = A2aPushConfig { task_id: paused.id.clone(), ..A2aPushConfig::new(url) };
    client.set_push(&config).await.unwrap();
    client.send(say("x").for_task(&paused.id)).await.unwrap();
    // Two updates, two tries each, one address or two.
    eventually(|| asked.load(Ordering::SeqCst) >= 4).await;
    assert!(hook.got().is_empty());
    drop((client, bench));
    let bench = Bench::with(with(A2aReach::Public)).await;
    let client = bench.client().await;
    let paused = sent(&client, "pause").await;
    for url in
        ["http://127.0.0.1/", "https://10.0.0.1/", "https://[::1]/", "http://8.8.8.8/", "x", ""]
    {
        let config = A2aPushConfig { task_id: paused.id.clone(), ..A2aPushConfig::new(url) };
        assert_eq!(code(client.set_push(&config).await), A2aCode::InvalidParams, "{url}");
        let mut send = A2aSend::from(say("echo"));
        send.configuration.task_push_notification_config = Some(config);
        assert_eq!(code(client.send(send).await), A2aCode::InvalidParams, "{url}");
    }
}

#[tokio::test]
async fn without_a_policy_there_are_no_webhooks() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let paused = sent(&client, "pause").await;
        let config =
            A2aPushConfig { task_id: paused.id.clone(), ..A2aPushConfig::new("http://127.0.0.1/") };
        let no = A2aCode::PushNotificationNotSupported;
        assert_eq!(code(client.set_push(&config).await), no);
        assert_eq!(code(client.get_push(&paused.id, "x").await), no);
        assert_eq!(code(client.list_pushes(&paused.id).await), no);
        assert_eq!(code(client.delete_push(&paused.id, "x").await), no);
        let mut send = A2aSend::from(say("echo"));
        send.configuration.task_push_notification_config = Some(config);
        assert_eq!(code(client.send(send).await), no);
    }
}

#[tokio::test]
async fn a_webhook_that_is_behind_gets_the_newest() {
    // Accepts, and says nothing until the test is over with it.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut options = with(A2aReach::Loopback);
    options.limits.push.queue = 3;
    options.limits.push.attempts = 1;
    options.limits.push.timeout = Duration::from_secs(15);
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let mut send = A2aSend::from(say("steps 20"));
    send.configuration.return_immediately = true;
    send.configuration.task_push_notification_config = Some(A2aPushConfig::new(url));
    let begun = task(client.send(send).await.unwrap());
    let (stuck, _) = listener.accept().await.unwrap();
    bench.actor.steps.add_permits(20);
    until(&client, &begun.id, A2aState::Completed).await;
    drop(stuck);
    let mut states = Vec::new();
    for _ in 0..3 {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = vec![0; 1 << 16];
        let mut many = 0;
        let body = loop {
            many += stream.read(&mut bytes[many..]).await.unwrap();
            let text = String::from_utf8_lossy(&bytes[..many]).into_owned();
            let body = text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
            if let Some(event) = body.and_then(|body| serde_json::from_str::<A2aEvent>(&body).ok())
            {
                break event;
            }
        };
        states.push(body.state().unwrap());
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    }
    // Of 21 updates the last three are left, and the end is one of them.
    assert_eq!(states, [A2aState::Working, A2aState::Working, A2aState::Completed]);
}

#[tokio::test]
async fn a_webhook_that_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/", listener.local_addr().unwrap());
    let hook = Hook::new(&[]).await;
    let mut options = with(A2aReach::Loopback);
    options.limits.push.timeout = Duration::from_millis(20);
    options.limits.push.attempts = 2;
    // One at a time, so the other waits until the silent one was given up.
    options.limits.push.deliveries = 1;
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let asked = sent(&client, "ask").await;
    for url in [silent, hook.config().url] {
        let config = A2aPushConfig { task_id: asked.id.clone(), ..A2aPushConfig::new(url) };
        client.set_push(&config).await.unwrap();
    }
    client.send(say("x").for_task(&asked.id)).await.unwrap();
    assert_eq!(hook.until(2).await.len(), 2);
    drop(begun(&client, "echo").await);
}

#[tokio::test]
async fn webhooks_that_are_called_at_once_are_bounded() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut options = with(A2aReach::Loopback);
    options.limits.push.deliveries = 2;
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let paused = sent(&client, "pause").await;
    for id in ["a", "b", "c", "d"] {
        let id = id.to_owned();
        let config = A2aPushConfig { task_id: paused.id.clone(), id, ..A2aPushConfig::new(&url) };
        client.set_push(&config).await.unwrap();
    }
    client.cancel(&paused.id).await.unwrap();
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(listener.accept().await.unwrap().0);
    }
    let third = tokio::time::timeout(Duration::from_millis(100), listener.accept()).await;
    assert!(third.is_err(), "a third one was called");
    for mut stream in open {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    }
    listener.accept().await.unwrap();
}
