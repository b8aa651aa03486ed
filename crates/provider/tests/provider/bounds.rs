//! Answers that are too large, too late or too long.

use std::time::{Duration, Instant};

use bytes::Bytes;
use offshoot_provider::{AnswerLimits, Endpoint, ErrorKind, Provider, ProviderError, TimeLimits};
use serde_json::json;

use crate::server::{Answer, End, Server};
use crate::support::{APIS, Api, run};

const CHAT: &Api = &APIS[1];

async fn within(limits: AnswerLimits, answer: Answer) -> Result<String, ProviderError> {
    let server = Server::of(vec![answer]).await;
    let mut options = CHAT.options(&server);
    options.limits = limits;
    let answer = Endpoint::new(options).unwrap().complete(&CHAT.request()).await?;
    Ok(answer.message.calls().map(|call| call.arguments.clone()).collect())
}

fn arguments(pieces: usize, size: usize) -> Answer {
    let call = |arguments: &str, first: bool| {
        let mut function = json!({"arguments": arguments});
        let mut call = json!({"index": 0});
        if first {
            function["name"] = json!("shell");
            call["id"] = json!("c");
        }
        call["function"] = function;
        format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
    };
    let mut stream = call("", true);
    for _ in 0..pieces {
        stream.push_str(&call(&"x".repeat(size), false));
    }
    stream.push_str(
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
    );
    let mut answer = Answer::events("");
    answer.pieces = stream.into_bytes().chunks(8000).map(Bytes::copy_from_slice).collect();
    answer
}

#[test]
fn sizes_are_bounded() {
    run(async {
        let limits = AnswerLimits { arguments: 100_000, ..AnswerLimits::default() };
        assert_eq!(within(limits, arguments(10, 10_000)).await.unwrap().len(), 100_000);
        let error = within(limits, arguments(11, 10_000)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(!error.is_retryable() && error.to_string().contains("arguments"), "{error}");
        // All at once, and whole.
        let error = within(limits, arguments(1, 100_001)).await.unwrap_err();
        assert!(error.to_string().contains("arguments"), "{error}");
        let call =
            json!({"id": "c", "function": {"name": "shell", "arguments": "x".repeat(100_001)}});
        let whole =
            json!({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "stop"}]});
        let error = within(limits, Answer::json(200, &whole)).await.unwrap_err();
        assert!(error.to_string().contains("arguments"), "{error}");

        let limits = AnswerLimits { event: 5000, ..AnswerLimits::default() };
        let error = within(limits, arguments(1, 5000)).await.unwrap_err();
        assert!(error.to_string().contains("an event"), "{error}");
        let limits = AnswerLimits { answer: 5000, ..AnswerLimits::default() };
        let error = within(limits, arguments(3, 2000)).await.unwrap_err();
        assert!(error.to_string().contains("the answer has more"), "{error}");
        let limits = AnswerLimits { blocks: 3, ..AnswerLimits::default() };
        let error = within(limits, Answer::events(CHAT.stream)).await.unwrap_err();
        assert!(error.to_string().contains("blocks"), "{error}");
        // Of an error, the start is read.
        let limits = AnswerLimits { error: 100, ..AnswerLimits::default() };
        let huge = Answer::new(500, "text/plain", "x".repeat(1_000_000)).end(End::Hang);
        let error = within(limits, huge).await.unwrap_err();
        assert_eq!(error.details().message, "x".repeat(100));
    });
}

#[test]
fn times_are_bounded() {
    run(async {
        let hundred = Duration::from_millis(100);
        let long = Duration::from_secs(60);
        let all =
            TimeLimits { connect: Duration::ZERO, first_event: long, idle: long, total: None };
        let mut late = Answer::events(CHAT.stream);
        late.delay = long;
        let comments = {
            let mut answer = Answer::events("");
            answer.pieces = vec![Bytes::from(": ping\n\n"); 1000];
            answer.pause = Duration::from_millis(10);
            answer
        };
        let first: String = CHAT.stream.split_inclusive("\n\n").take(4).collect();
        let stuck = Answer::events(first).end(End::Hang);
        let mut slow = Answer::events("");
        slow.pieces = CHAT.stream.as_bytes().chunks(20).map(Bytes::copy_from_slice).collect();
        slow.pause = Duration::from_millis(10);
        for (times, answer, what, retryable) in [
            (TimeLimits { first_event: hundred, ..all }, late, "no answer", true),
            (TimeLimits { first_event: hundred, ..all }, comments, "no answer", true),
            (TimeLimits { idle: hundred, ..all }, stuck, "stopped coming", true),
            (TimeLimits { total: Some(hundred), ..all }, slow, "all of it", false),
        ] {
            let server = Server::of(vec![answer]).await;
            let mut options = CHAT.options(&server);
            options.times = TimeLimits { connect: Duration::from_millis(200), ..times };
            let started = Instant::now();
            let error =
                Endpoint::new(options).unwrap().complete(&CHAT.request()).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
            assert!(error.to_string().contains(what), "{error}");
            assert_eq!(error.is_retryable(), retryable, "{error}");
            assert!(started.elapsed() < Duration::from_secs(10));
        }
    });
}

#[test]
fn servers_that_are_not_there_are_told() {
    run(async {
        let server = Server::of(vec![Answer::events("")]).await;
        let endpoint = CHAT.endpoint(&server);
        drop(server);
        // The listener closes when its task ends.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let error = endpoint.complete(&CHAT.request()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Network);
        assert!(error.to_string().contains("refused"), "{error}");
    });
}
