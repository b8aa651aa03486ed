//! Agents that wait for the client.

use offshoot_a2a::{A2aClientError, A2aCode, A2aEvent, A2aReply, A2aState};

use crate::bench::{Bench, begun, said, say, sent, task, until};

#[tokio::test]
async fn an_agent_asks_and_goes_on() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let asked = sent(&client, "ask").await;
        assert_eq!(asked.status.state, A2aState::InputRequired);
        assert_eq!(said(&asked), "which one?");
        let done = task(client.send(say("this one").for_task(&asked.id)).await.unwrap());
        assert_eq!((done.id.as_str(), said(&done).as_str()), (asked.id.as_str(), "it is this one"));
        let texts: Vec<String> = done.history.iter().map(|message| message.text()).collect();
        assert_eq!(texts, ["ask", "which one?", "this one"]);
    }
}

#[tokio::test]
async fn an_agent_returns_and_is_called_again() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    for (first, state) in [("pause", A2aState::InputRequired), ("auth", A2aState::AuthRequired)] {
        let asked = sent(&client, first).await;
        assert_eq!(asked.status.state, state);
        let asked = task(client.send(say("pause").for_task(&asked.id)).await.unwrap());
        assert_eq!(asked.status.state, A2aState::InputRequired);
        let done = task(client.send(say("answer").for_task(&asked.id)).await.unwrap());
        assert_eq!(said(&done), format!("{first}|pause|answer"));
    }
}

#[tokio::test]
async fn an_agent_that_works_takes_no_message() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let task = begun(&client, "steps 2").await;
    let refused = client.send(say("echo").for_task(&task.id)).await;
    let Err(A2aClientError::Fault(fault)) = refused else { panic!("{refused:?}") };
    assert_eq!(fault.code, A2aCode::UnsupportedOperation);
    bench.actor.steps.add_permits(2);
    let done = until(&client, &task.id, A2aState::Completed).await;
    assert!(done.history.iter().all(|message| message.text() != "echo"));
}

#[tokio::test]
async fn a_stream_ends_where_the_agent_waits() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let mut stream = client.stream(say("ask")).await.unwrap();
        let mut last = None;
        while let Some(event) = stream.next().await {
            last = Some(event.unwrap());
        }
        assert_eq!(last.unwrap().state(), Some(A2aState::InputRequired));
        let id = stream.task_id().unwrap().to_owned();
        let mut stream = client.stream(say("that").for_task(&id)).await.unwrap();
        let first = stream.next().await.unwrap().unwrap();
        let A2aEvent::Task(task) = first else { panic!("{first:?}") };
        assert_eq!(task.status.state, A2aState::Working);
        let mut states = Vec::new();
        while let Some(event) = stream.next().await {
            states.extend(event.unwrap().state());
        }
        assert_eq!(states, [A2aState::Completed]);
    }
}

#[tokio::test]
async fn of_two_answers_one_is_taken() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    for round in 0..20 {
        let asked = sent(&client, if round % 2 == 0 { "ask" } else { "pause" }).await;
        let one = client.send(say("answer").for_task(&asked.id));
        let other = client.send(say("answer").for_task(&asked.id));
        let (one, other) = tokio::join!(one, other);
        let taken = [&one, &other].iter().filter(|reply| reply.is_ok()).count();
        // The second may come when the first is done, or be refused; it is never taken as well.
        assert_eq!(taken, 1, "{one:?} {other:?}");
        let Ok(A2aReply::Task(done)) = one.or(other) else { panic!("no task") };
        assert_eq!(done.status.state, A2aState::Completed);
        let user = done.history.iter().filter(|message| message.text() == "answer").count();
        assert_eq!(user, 1);
    }
}
