//! Tasks that are cancelled, at any moment.

use std::time::Duration;

use offshoot_a2a::{A2aClientError, A2aCode, A2aState};

use crate::bench::{Bench, begun, options, sent, until};

#[tokio::test]
async fn a_running_task_is_cancelled() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let task = begun(&client, "wait").await;
        let done = client.cancel(&task.id).await.unwrap();
        assert_eq!(done.status.state, A2aState::Canceled);
        let Err(A2aClientError::Fault(fault)) = client.cancel(&task.id).await else {
            panic!("cancelled twice")
        };
        assert_eq!(fault.code, A2aCode::TaskNotCancelable);
    }
}

#[tokio::test]
async fn a_task_that_waits_is_cancelled() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    for verb in ["ask", "pause", "auth"] {
        let task = sent(&client, verb).await;
        assert!(task.status.state.is_interrupted());
        let done = client.cancel(&task.id).await.unwrap();
        assert_eq!(done.status.state, A2aState::Canceled, "{verb}");
    }
}

#[tokio::test]
async fn an_agent_that_does_not_stop_is_stopped() {
    let mut options = options();
    options.limits.cancel = Duration::from_millis(50);
    options.limits.running = 1;
    let bench = Bench::with(options).await;
    let client = bench.client().await;
    let task = begun(&client, "stubborn").await;
    let done = client.cancel(&task.id).await.unwrap();
    assert_eq!(done.status.state, A2aState::Canceled);
    // Its place is free again.
    assert_eq!(sent(&client, "echo").await.status.state, A2aState::Completed);
}

#[tokio::test]
async fn an_agent_may_end_a_cancelled_task_itself() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let task = begun(&client, "complete-when-cancelled").await;
    let Err(A2aClientError::Fault(fault)) = client.cancel(&task.id).await else {
        panic!("it was completed")
    };
    assert_eq!(fault.code, A2aCode::TaskNotCancelable);
    until(&client, &task.id, A2aState::Completed).await;
}

#[tokio::test]
async fn cancelling_races_with_the_end() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let (mut cancelled, mut completed) = (0, 0);
    for round in 0..60 {
        let task = begun(&client, "steps 1").await;
        let other = client.clone();
        let (first, second) = (task.id.clone(), task.id.clone());
        let one = tokio::spawn(async move { other.cancel(&first).await });
        let other = client.clone();
        let two = tokio::spawn(async move { other.cancel(&second).await });
        if round % 3 != 0 {
            tokio::time::sleep(Duration::from_micros(50 * (round % 20))).await;
        }
        bench.actor.steps.add_permits(1);
        let (one, two) = (one.await.unwrap(), two.await.unwrap());
        let task = client.get(&task.id, None).await.unwrap();
        match task.status.state {
            A2aState::Canceled => {
                cancelled += 1;
                assert!(one.is_ok() || two.is_ok());
            }
            A2aState::Completed => {
                completed += 1;
                assert!(one.is_err() && two.is_err());
            }
            other => panic!("{other:?}"),
        }
        for result in [one, two].into_iter().flatten() {
            assert_eq!(result.status.state, A2aState::Canceled);
        }
        // The step that a cancelled task did not make.
        let left = bench.actor.steps.available_permits();
        drop(
            bench.actor.steps.try_acquire_many(u32::try_from(left).unwrap()).map(|it| it.forget()),
        );
    }
    assert_eq!(cancelled + completed, 60);
}
