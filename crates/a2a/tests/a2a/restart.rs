//! Servers that end and begin again with the same store.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_a2a::{
    A2aAfterRestart, A2aFileOptions, A2aFileTasks, A2aPushConfig, A2aReach, A2aState,
    A2aStoreError, A2aTaskFilter,
};

use crate::bench::{Actor, Bench, DEADLINE, begun, options, said, say, sent, task, until};

/// The store of a directory, once the server that had it has let go.
async fn opened(directory: &Path) -> Arc<A2aFileTasks> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        match A2aFileTasks::open(directory, A2aFileOptions::default()) {
            Ok(tasks) => return Arc::new(tasks),
            Err(A2aStoreError::InUse { .. }) => assert!(Instant::now() < deadline),
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn server(directory: &Path, after_restart: A2aAfterRestart) -> Bench {
    let actor = Actor { after_restart, ..Actor::default() };
    let mut options = options();
    options.push = Some(Arc::new(A2aReach::Loopback));
    Bench::on(options, opened(directory).await, actor).await
}

#[tokio::test]
async fn tasks_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let bench = server(directory.path(), A2aAfterRestart::Fail).await;
    let client = bench.client().await;
    let done = sent(&client, "echo kept").await;
    let paused = sent(&client, "pause").await;
    let hook =
        A2aPushConfig { task_id: paused.id.clone(), ..A2aPushConfig::new("http://127.0.0.1:1/") };
    let hook = client.set_push(&hook).await.unwrap();
    let asked = sent(&client, "ask").await;
    let waiting = begun(&client, "wait").await;
    bench.end().await;

    let bench = server(directory.path(), A2aAfterRestart::Fail).await;
    let client = bench.client().await;
    assert_eq!(client.get(&done.id, None).await.unwrap(), done);
    assert_eq!(client.list(&A2aTaskFilter::default()).await.unwrap().total_size, 4);
    let failed = client.get(&waiting.id, None).await.unwrap();
    assert_eq!(failed.status.state, A2aState::Failed);
    assert!(said(&failed).contains("restarted"));
    assert_eq!(client.list_pushes(&paused.id).await.unwrap(), [hook]);
    // Tasks that wait for the client go on, also those whose agent waited in the process that ended.
    for id in [&paused.id, &asked.id] {
        let done = task(client.send(say("answer").for_task(id)).await.unwrap());
        assert_eq!(done.status.state, A2aState::Completed);
    }
    bench.end().await;
}

#[tokio::test]
async fn an_agent_may_take_up_what_it_left() {
    let directory = tempfile::tempdir().unwrap();
    let bench = server(directory.path(), A2aAfterRestart::Resume).await;
    let client = bench.client().await;
    let left = begun(&client, "resumed").await;
    bench.end().await;
    let bench = server(directory.path(), A2aAfterRestart::Resume).await;
    let client = bench.client().await;
    let done = until(&client, &left.id, A2aState::Completed).await;
    assert_eq!(said(&done), "resumed");
    assert_eq!(done.history.len(), 1);
    bench.end().await;
}

#[tokio::test]
async fn one_process_has_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let first = opened(directory.path()).await;
    // Not only for a moment.
    let second = A2aFileTasks::open(directory.path(), A2aFileOptions::default());
    assert!(matches!(second, Err(A2aStoreError::InUse { .. })));
    drop(first);
    opened(directory.path()).await;
}
