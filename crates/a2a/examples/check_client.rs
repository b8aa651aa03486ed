//! The client that `tests/outside/a2a/run.sh` has ask the official server.
//!
//!     check_client URL JSONRPC|HTTP+JSON

use std::time::{Duration, Instant};

use offshoot_a2a::{
    A2aClient, A2aClientError, A2aClientOptions, A2aCode, A2aEvent, A2aMessage, A2aPart,
    A2aPushConfig, A2aReply, A2aSend, A2aState, A2aTask, A2aTaskFilter,
};

type Failed = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let (url, binding) = arguments.next().zip(arguments.next()).ok_or("a URL and a binding")?;
    let mut options = A2aClientOptions::with_token("0123456789abcdef");
    let public = A2aClient::connect(&url, options.clone()).await?;
    options.timeout = Duration::from_secs(10);
    let mut card = public.card().clone();
    card.supported_interfaces.retain(|place| place.protocol_binding == binding);
    let client = A2aClient::from_card(card, options)?;
    assert_eq!(client.binding(), binding);

    let done = task(client.send(say("echo hello")).await?)?;
    assert_eq!(done.status.state, A2aState::Completed);
    assert_eq!(done.artifacts[0].parts[0].as_text(), Some("hello"));
    assert_eq!(client.get(&done.id, None).await?.status.state, A2aState::Completed);
    assert!(client.get(&done.id, Some(0)).await?.history.is_empty());
    let A2aReply::Message(message) = client.send(say("now")).await? else {
        return Err("no message".into());
    };
    assert_eq!(message.text(), "at once");

    let mut stream = client.stream(say("chunks")).await?;
    let (mut chunks, mut last) = (Vec::new(), None);
    while let Some(event) = stream.next().await {
        let event = event?;
        if let A2aEvent::ArtifactUpdate(update) = &event {
            chunks.extend(
                update.artifact.parts.iter().filter_map(A2aPart::as_text).map(str::to_owned),
            );
        }
        last = event.state().or(last);
    }
    assert_eq!((chunks.concat().as_str(), last), ("abc", Some(A2aState::Completed)));

    let asked = task(client.send(say("ask")).await?)?;
    assert_eq!(asked.status.state, A2aState::InputRequired);
    let done = task(client.send(say("answer that").for_task(&asked.id)).await?)?;
    assert_eq!((done.id, done.status.state), (asked.id, A2aState::Completed));

    let mut send = A2aSend::from(say("wait"));
    send.configuration.return_immediately = true;
    let waiting = task(client.send(send).await?)?;
    let mut watched = client.subscribe(&waiting.id).await?;
    assert!(matches!(watched.next().await, Some(Ok(A2aEvent::Task(_)))));
    let hook =
        A2aPushConfig { task_id: waiting.id.clone(), ..A2aPushConfig::new("http://127.0.0.1:9/") };
    let set = client.set_push(&hook).await?;
    assert_eq!(client.get_push(&waiting.id, &set.id).await?.url, hook.url);
    assert_eq!(client.list_pushes(&waiting.id).await?.len(), 1);
    client.delete_push(&waiting.id, &set.id).await?;
    assert!(client.list_pushes(&waiting.id).await?.is_empty());
    assert_eq!(client.cancel(&waiting.id).await?.status.state, A2aState::Canceled);
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Some(event) = tokio::time::timeout_at(deadline.into(), watched.next()).await? {
        event?;
    }

    assert_eq!(code(client.get("nothing", None).await)?, A2aCode::TaskNotFound);
    assert_eq!(code(client.cancel(&waiting.id).await)?, A2aCode::TaskNotCancelable);
    assert_eq!(code(client.subscribe(&waiting.id).await)?, A2aCode::UnsupportedOperation);
    let page = A2aTaskFilter { page_size: Some(2), ..A2aTaskFilter::default() };
    let first = client.list(&page).await?;
    assert_eq!((first.tasks.len(), first.total_size >= 4), (2, true));
    let second = A2aTaskFilter { page_token: first.next_page_token, ..page };
    assert_ne!(client.list(&second).await?.tasks[0].id, first.tasks[0].id);
    assert_eq!(client.extended_card().await?.description, "For those it knows");
    Ok(())
}

fn say(text: &str) -> A2aMessage {
    A2aMessage::user(vec![A2aPart::text(text)])
}

fn task(reply: A2aReply) -> Result<A2aTask, Failed> {
    match reply {
        A2aReply::Task(task) => Ok(task),
        A2aReply::Message(message) => Err(format!("no task: {message:?}").into()),
    }
}

fn code<T>(result: Result<T, A2aClientError>) -> Result<A2aCode, Failed> {
    match result {
        Err(A2aClientError::Fault(fault)) => Ok(fault.code),
        Err(error) => Err(error.into()),
        Ok(_) => Err("it should have been refused".into()),
    }
}
