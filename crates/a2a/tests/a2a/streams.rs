//! Streams: in order, cut, taken up again, and slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use offshoot_a2a::{A2aClient, A2aClientOptions, A2aEvent, A2aPart, A2aState, A2aStream};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::bench::{Bench, DEADLINE, TOKEN, options, quick, said, say};

/// The next event, which has to come.
async fn next(stream: &mut A2aStream) -> Option<A2aEvent> {
    let event = tokio::time::timeout(DEADLINE, stream.next()).await.expect("nothing came");
    event.map(Result::unwrap)
}

#[tokio::test]
async fn chunks_come_in_order() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let mut stream = client.stream(say("chunks 50")).await.unwrap();
        let first = next(&mut stream).await.unwrap();
        let A2aEvent::Task(task) = first else { panic!("{first:?}") };
        assert_eq!(task.status.state, A2aState::Submitted);
        for chunk in 0..50 {
            let event = next(&mut stream).await.unwrap();
            let A2aEvent::ArtifactUpdate(update) = event else { panic!("{event:?}") };
            assert_eq!(update.artifact.parts, [A2aPart::text(chunk.to_string())]);
            assert_eq!((update.append, update.last_chunk), (chunk > 0, chunk == 49));
        }
        assert_eq!(next(&mut stream).await.unwrap().state(), Some(A2aState::Completed));
        assert!(next(&mut stream).await.is_none());
        let whole = client.get(&task.id, None).await.unwrap();
        assert_eq!(whole.artifacts[0].parts.len(), 50);
    }
}

#[tokio::test]
async fn an_answer_without_a_task_is_the_whole_stream() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let mut stream = client.stream(say("now")).await.unwrap();
        assert!(matches!(next(&mut stream).await, Some(A2aEvent::Message(_))));
        assert!(next(&mut stream).await.is_none());
    }
}

#[tokio::test]
async fn all_who_watch_see_the_same() {
    let bench = Bench::new().await;
    let [one, other] = bench.both().await;
    let mut first = one.stream(say("steps 3")).await.unwrap();
    let A2aEvent::Task(task) = next(&mut first).await.unwrap() else { panic!() };
    let mut second = other.subscribe(&task.id).await.unwrap();
    let A2aEvent::Task(same) = next(&mut second).await.unwrap() else { panic!() };
    assert_eq!(same, task);
    let third = one.subscribe(&task.id).await.unwrap();
    bench.actor.steps.add_permits(1);
    let mut seen = [Vec::new(), Vec::new()];
    seen[0].push(next(&mut first).await.unwrap());
    // Who goes takes nothing from the others.
    drop(third);
    bench.actor.steps.add_permits(2);
    for (stream, seen) in [&mut first, &mut second].into_iter().zip(&mut seen) {
        while let Some(event) = next(stream).await {
            seen.push(event);
        }
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0].len(), 4);
}

#[tokio::test]
async fn a_task_goes_on_without_its_stream() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let mut stream = client.stream(say("steps 2")).await.unwrap();
    next(&mut stream).await.unwrap();
    let id = stream.task_id().unwrap().to_owned();
    drop(stream);
    bench.actor.steps.add_permits(2);
    crate::bench::until(&client, &id, A2aState::Completed).await;
}

#[tokio::test]
async fn a_task_that_nobody_works_on_can_be_watched() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let paused = crate::bench::sent(&client, "pause").await;
        let mut stream = client.subscribe(&paused.id).await.unwrap();
        let A2aEvent::Task(same) = next(&mut stream).await.unwrap() else { panic!() };
        assert_eq!(same, paused);
        client.send(say("pause").for_task(&paused.id)).await.unwrap();
        client.send(say("answer").for_task(&paused.id)).await.unwrap();
        let mut states = Vec::new();
        while let Some(event) = next(&mut stream).await {
            assert!(!matches!(event, A2aEvent::Task(_)), "it was cut");
            states.extend(event.state());
        }
        use A2aState::{Completed, InputRequired, Working};
        assert_eq!(states, [Working, InputRequired, Working, Completed]);
    }
}

/// Passes connections on, and cuts those with an answer after so many bytes.
async fn cutter(
    to: std::net::SocketAddr,
    after: usize,
) -> (std::net::SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let cuts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&cuts);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(to).await.unwrap();
            let cuts = Arc::clone(&counted);
            tokio::spawn(async move {
                let mut head = vec![0; 4096];
                let read = client.read(&mut head).await.unwrap_or(0);
                server.write_all(&head[..read]).await.unwrap();
                let is_stream =
                    String::from_utf8_lossy(&head[..read]).contains("text/event-stream");
                if !is_stream {
                    drop(copy_bidirectional(&mut client, &mut server).await);
                    return;
                }
                let mut left = after;
                let mut bytes = [0; 512];
                while left > 0 {
                    let Ok(read @ 1..) = server.read(&mut bytes).await else { return };
                    let passed = read.min(left);
                    left -= passed;
                    if client.write_all(&bytes[..passed]).await.is_err() {
                        return;
                    }
                }
                cuts.fetch_add(1, Ordering::SeqCst);
            });
        }
    });
    (address, cuts)
}

/// A server, a client that reaches it through a cutter, and how often that has cut.
async fn through(after: usize) -> (Bench, A2aClient, Arc<AtomicUsize>) {
    let mut options = options();
    options.limits.heartbeat = Duration::from_millis(20);
    // The cutter has another port than the server.
    options.hosts = vec!["127.0.0.1".to_owned()];
    let bench = Bench::with(options).await;
    let (address, cuts) = cutter(bench.address, after).await;
    let mut card = bench.card.clone();
    for place in &mut card.supported_interfaces {
        place.url = place.url.replace(&bench.address.to_string(), &address.to_string());
    }
    let settings = A2aClientOptions { retries: 50, ..quick(TOKEN) };
    (bench, A2aClient::from_card(card, settings).unwrap(), cuts)
}

#[tokio::test]
async fn a_stream_that_is_cut_is_taken_up_again() {
    for after in [900, 1500, 2500] {
        let (bench, client, cuts) = through(after).await;
        let mut stream = client.stream(say("steps 20")).await.unwrap();
        let steps = Arc::clone(&bench.actor.steps);
        let stepping = tokio::spawn(async move {
            for _ in 0..20 {
                steps.add_permits(1);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        let mut last = None;
        while let Some(event) = next(&mut stream).await {
            last = event.state().or(last);
        }
        assert_eq!(last, Some(A2aState::Completed), "{after}");
        assert!(cuts.load(Ordering::SeqCst) > 0, "{after}");
        stepping.await.unwrap();
        let whole = bench.client().await.get(stream.task_id().unwrap(), None).await.unwrap();
        assert_eq!(whole.history.len(), 21);
    }
}

#[tokio::test]
async fn a_stream_that_is_too_slow_is_cut() {
    let mut options = options();
    options.limits.backlog = 4;
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let waits = crate::bench::sent(&client, "pause").await;
    // Somebody who does not read.
    let mut idle = TcpStream::connect(bench.address).await.unwrap();
    let head = crate::raw::usual(bench.address).join("\r\n");
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": waits.id}});
    let body = subscribe.to_string();
    let length = body.len();
    let request =
        format!("POST /a2a/rpc HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
    idle.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = vec![0; 1 << 16];
    assert!(idle.read(&mut bytes).await.unwrap() > 0);
    // More than the kernel keeps for a connection.
    let done = client.send(say("flood 100").for_task(&waits.id)).await.unwrap();
    assert_eq!(crate::bench::task(done).status.state, A2aState::Completed);
    // What the other one reads now ends before the end of the task, and the connection goes on.
    let mut read = Vec::new();
    let ended = tokio::time::timeout(DEADLINE, async {
        loop {
            let many = idle.read(&mut bytes).await.unwrap();
            read.extend(&bytes[..many]);
            if many == 0 || read.ends_with(b"0\r\n\r\n") {
                return;
            }
        }
    });
    let is_over = ended.await.is_ok();
    let tail = String::from_utf8_lossy(&read[read.len().saturating_sub(300)..]).into_owned();
    assert!(is_over, "the stream never ended: {} bytes, {tail}", read.len());
    let text = String::from_utf8_lossy(&read);
    assert!(text.contains("artifactUpdate") && !text.contains("COMPLETED"));
}

#[tokio::test]
async fn silence_is_broken_by_comments() {
    let mut options = options();
    options.limits.heartbeat = Duration::from_millis(10);
    let bench = Bench::with(options).await;
    let mut settings = quick(TOKEN);
    settings.idle = Duration::from_millis(500);
    settings.retries = 0;
    let client = A2aClient::connect(&bench.url(), settings).await.unwrap();
    let mut stream = client.stream(say("steps 1")).await.unwrap();
    next(&mut stream).await.unwrap();
    let steps = Arc::clone(&bench.actor.steps);
    let later = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(800)).await;
        steps.add_permits(1);
    });
    // Without the comments the client would have given up by then.
    assert_eq!(next(&mut stream).await.unwrap().state(), Some(A2aState::Working));
    later.await.unwrap();
}

#[tokio::test]
async fn a_silent_stream_is_given_up() {
    let mut options = options();
    options.limits.heartbeat = Duration::from_secs(100);
    let bench = Bench::with(options).await;
    let mut settings = quick(TOKEN);
    settings.idle = Duration::from_millis(30);
    settings.retries = 1;
    let client = A2aClient::connect(&bench.url(), settings).await.unwrap();
    let mut stream = client.stream(say("wait")).await.unwrap();
    let mut snapshots = 0;
    let error = loop {
        match tokio::time::timeout(DEADLINE, stream.next()).await.unwrap().unwrap() {
            Ok(A2aEvent::Task(_)) => snapshots += 1,
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("could not be taken up again"), "{error}");
    assert_eq!(snapshots, 2);
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn what_ended_meanwhile_is_told() {
    let (bench, client, _) = through(900).await;
    bench.actor.steps.add_permits(20);
    let mut stream = client.stream(say("steps 20")).await.unwrap();
    let mut last = None;
    while let Some(event) = next(&mut stream).await {
        last = Some(event);
    }
    let Some(A2aEvent::Task(task)) = last else { panic!("{last:?}") };
    assert_eq!((task.status.state, said(&task)), (A2aState::Completed, String::new()));
}
