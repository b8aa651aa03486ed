//! Whole tasks, by both bindings.

use offshoot_a2a::{
    A2aClientError, A2aCode, A2aContent, A2aMessage, A2aPart, A2aReply, A2aSend, A2aState,
    A2aTaskFilter,
};

use crate::bench::{Bench, begun, said, say, sent, task};

fn code<T: std::fmt::Debug>(result: Result<T, A2aClientError>) -> A2aCode {
    match result.unwrap_err() {
        A2aClientError::Fault(fault) => fault.code,
        other => panic!("no error of the protocol: {other}"),
    }
}

#[tokio::test]
async fn a_message_becomes_a_task_with_a_result() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let done = sent(&client, "echo hello").await;
        assert_eq!(done.status.state, A2aState::Completed);
        assert_eq!(done.artifacts[0].parts, [A2aPart::text("hello")]);
        assert_eq!(done.history.len(), 1);
        assert_eq!(done.history[0].task_id.as_ref(), Some(&done.id));
        assert!(!done.context_id.is_empty() && done.status.timestamp.is_some());
        assert_eq!(client.get(&done.id, None).await.unwrap(), done);
    }
}

#[tokio::test]
async fn every_end_is_told() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    for (text, state, says) in [
        ("complete it", A2aState::Completed, "it"),
        ("fail because", A2aState::Failed, "because"),
        ("panic", A2aState::Failed, "the agent panicked"),
        ("reject no", A2aState::Rejected, "no"),
        ("again", A2aState::Completed, "first"),
    ] {
        let done = sent(&client, text).await;
        assert_eq!((done.status.state, said(&done).as_str()), (state, says), "{text}");
        assert_eq!(
            code(client.send(say("echo").for_task(&done.id)).await),
            A2aCode::UnsupportedOperation
        );
        assert_eq!(code(client.cancel(&done.id).await), A2aCode::TaskNotCancelable);
        assert_eq!(code(client.subscribe(&done.id).await), A2aCode::UnsupportedOperation);
    }
}

#[tokio::test]
async fn an_agent_may_answer_without_a_task() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let mut asked = say("now");
        asked.context_id = Some("mine".to_owned());
        let A2aReply::Message(message) = client.send(asked).await.unwrap() else {
            panic!("no message")
        };
        assert_eq!(message.text(), "tester:");
        assert_eq!(message.context_id.as_deref(), Some("mine"));
        assert_eq!(client.list(&A2aTaskFilter::default()).await.unwrap().total_size, 0);
    }
}

#[tokio::test]
async fn history_is_as_long_as_asked_for() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let done = sent(&client, "talk 3").await;
        // The message, and what was said with each status that was followed by another.
        let texts: Vec<String> = done.history.iter().map(A2aMessage::text).collect();
        assert_eq!(texts, ["talk 3", "0", "1", "2"]);
        for (length, wanted) in [(None, 4), (Some(0), 0), (Some(2), 2), (Some(9), 4)] {
            assert_eq!(client.get(&done.id, length).await.unwrap().history.len(), wanted);
        }
        let last = client.get(&done.id, Some(1)).await.unwrap();
        assert_eq!(last.history[0].text(), "2");
        let mut send = A2aSend::from(say("talk 3"));
        send.configuration.history_length = Some(1);
        assert_eq!(task(client.send(send).await.unwrap()).history.len(), 1);
    }
}

#[tokio::test]
async fn who_does_not_wait_gets_the_task_at_once() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let begun = begun(&client, "steps 1").await;
    assert_eq!(begun.status.state, A2aState::Submitted);
    bench.actor.steps.add_permits(1);
    crate::bench::until(&client, &begun.id, A2aState::Completed).await;
}

#[tokio::test]
async fn parts_of_any_kind_come_through() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        let data = serde_json::json!({"a": [1, null, {"b": "\u{1f600}"}], "c": -0.5});
        let parts = vec![A2aPart::text("echo"), A2aPart::data(data.clone())];
        let done = task(client.send(A2aMessage::user(parts)).await.unwrap());
        assert_eq!(done.history[0].parts[1].content, A2aContent::Data(data));
        let picture =
            A2aPart { media_type: Some("image/png".to_owned()), ..A2aPart::raw([0, 255]) };
        let refused = client.send(A2aMessage::user(vec![picture])).await;
        assert_eq!(code(refused), A2aCode::ContentTypeNotSupported);
    }
}

#[tokio::test]
async fn tasks_are_listed_page_by_page() {
    let bench = Bench::new().await;
    for (round, client) in bench.both().await.into_iter().enumerate() {
        let context = format!("context {round} & more");
        let mut made = Vec::new();
        for number in 0..7 {
            let mut message = say(if number == 3 { "fail" } else { "echo x" });
            message.context_id = Some(context.clone());
            made.push(task(client.send(message).await.unwrap()).id);
        }
        made.reverse();
        let mut filter = A2aTaskFilter {
            context_id: context.clone(),
            page_size: Some(3),
            history_length: Some(0),
            ..A2aTaskFilter::default()
        };
        let mut found = Vec::new();
        loop {
            let page = client.list(&filter).await.unwrap();
            assert_eq!((page.total_size, page.page_size), (7, 3));
            assert!(page.tasks.iter().all(|it| it.artifacts.is_empty() && it.history.is_empty()));
            found.extend(page.tasks.into_iter().map(|task| task.id));
            filter.page_token = page.next_page_token;
            if filter.page_token.is_empty() {
                break;
            }
        }
        assert_eq!(found, made);
        let all = A2aTaskFilter { context_id: context.clone(), ..A2aTaskFilter::default() };
        let failed = A2aTaskFilter { status: Some(A2aState::Failed), ..all.clone() };
        assert_eq!(client.list(&failed).await.unwrap().tasks[0].id, made[3]);
        let whole = A2aTaskFilter { include_artifacts: true, ..all.clone() };
        assert_eq!(client.list(&whole).await.unwrap().tasks[0].artifacts.len(), 1);
        let since = |time: &str| A2aTaskFilter {
            status_timestamp_after: Some(time.to_owned()),
            ..all.clone()
        };
        assert_eq!(client.list(&since("2020-01-01T00:00:00Z")).await.unwrap().total_size, 7);
        assert_eq!(client.list(&since("2999-01-01T00:00:00Z")).await.unwrap().total_size, 0);
        for wrong in [
            since("yesterday"),
            A2aTaskFilter { page_size: Some(0), ..all.clone() },
            A2aTaskFilter { page_size: Some(101), ..all.clone() },
            A2aTaskFilter { page_token: "nonsense".to_owned(), ..all.clone() },
            A2aTaskFilter { page_token: "zz-a".to_owned(), ..all },
        ] {
            assert_eq!(code(client.list(&wrong).await), A2aCode::InvalidParams, "{wrong:?}");
        }
    }
}

#[tokio::test]
async fn tasks_are_those_of_their_client() {
    let bench = Bench::new().await;
    let (mine, other) = (bench.client().await, bench.other().await);
    let task = begun(&mine, "pause").await;
    crate::bench::until(&mine, &task.id, A2aState::InputRequired).await;
    assert_eq!(code(other.get(&task.id, None).await), A2aCode::TaskNotFound);
    assert_eq!(code(other.cancel(&task.id).await), A2aCode::TaskNotFound);
    assert_eq!(code(other.subscribe(&task.id).await), A2aCode::TaskNotFound);
    assert_eq!(code(other.send(say("echo").for_task(&task.id)).await), A2aCode::TaskNotFound);
    assert_eq!(other.list(&A2aTaskFilter::default()).await.unwrap().total_size, 0);
    assert_eq!(mine.list(&A2aTaskFilter::default()).await.unwrap().total_size, 1);
    assert_eq!(said(&sent(&other, "who").await), "other");
}

#[tokio::test]
async fn what_is_not_there_is_said_so() {
    let bench = Bench::new().await;
    for client in bench.both().await {
        assert_eq!(code(client.get("nothing", None).await), A2aCode::TaskNotFound);
        assert_eq!(code(client.get("a/b?c", None).await), A2aCode::TaskNotFound);
        assert_eq!(code(client.cancel("nothing").await), A2aCode::TaskNotFound);
        assert_eq!(code(client.send(say("echo").for_task("nothing")).await), A2aCode::TaskNotFound);
        let list = client.list_pushes("nothing").await;
        assert_eq!(code(list), A2aCode::PushNotificationNotSupported);
        assert_eq!(code(client.extended_card().await), A2aCode::UnsupportedOperation);
    }
}

#[tokio::test]
async fn a_task_belongs_to_one_context() {
    let bench = Bench::new().await;
    let client = bench.client().await;
    let task = sent(&client, "pause").await;
    let mut message = say("answer").for_task(&task.id);
    message.context_id = Some("another".to_owned());
    assert_eq!(code(client.send(message.clone()).await), A2aCode::InvalidParams);
    message.context_id = Some(task.context_id.clone());
    let done = crate::bench::task(client.send(message).await.unwrap());
    assert_eq!((done.id, done.status.state), (task.id, A2aState::Completed));
}
