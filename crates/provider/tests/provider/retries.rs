//! Trying again, others, and not too often.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use offshoot_provider::{
    AnswerEvent, BreakerPolicy, ErrorKind, Failover, GateLimits, Member, Provider, Resilient,
    ResilientOptions, RetryPolicy,
};
use serde_json::json;

use crate::server::{Answer, End, Server};
use crate::support::{APIS, Api, events, resilient, run};

const ANTHROPIC: &Api = &APIS[0];
const CHAT: &Api = &APIS[1];

fn refusal(status: u16) -> Answer {
    Answer::json(status, &json!({"error": {"message": "no", "type": null, "code": null}}))
}

fn good() -> Answer {
    Answer::events(CHAT.stream)
}

/// The start of a good answer, up to its first text.
fn start() -> Answer {
    let events: Vec<&str> = CHAT.stream.split_inclusive("\n\n").collect();
    Answer::events(events[..5].concat())
}

#[test]
fn passing_errors_are_tried_again_as_often_as_allowed() {
    run(async {
        for status in [408, 429, 500, 502, 503, 529] {
            let server = Server::of(vec![refusal(status), refusal(status), good()]).await;
            let answer = resilient(CHAT.endpoint(&server), 3).complete(&CHAT.request()).await;
            assert_eq!(answer.unwrap().restarts, 2, "{status}");
            assert_eq!(server.seen().len(), 3, "{status}");
            let server = Server::of(vec![refusal(status)]).await;
            let answer = resilient(CHAT.endpoint(&server), 3).complete(&CHAT.request()).await;
            assert!(answer.is_err());
            assert_eq!(server.seen().len(), 3, "{status}");
        }
        for status in [400, 401, 402, 403, 404, 413, 422] {
            let server = Server::of(vec![refusal(status), good()]).await;
            let answer = resilient(CHAT.endpoint(&server), 3).complete(&CHAT.request()).await;
            assert!(answer.is_err(), "{status}");
            assert_eq!(server.seen().len(), 1, "{status}");
        }
    });
}

#[test]
fn servers_say_how_long_to_wait() {
    run(async {
        let in_three_seconds =
            || httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(3));
        for (name, value, least) in [
            ("retry-after", Some("0.2"), 200),
            ("retry-after-ms", Some("150"), 150),
            // Dates have whole seconds, and the machine may be busy.
            ("retry-after", None, 500),
        ] {
            let value = value.map_or_else(in_three_seconds, str::to_owned);
            let server = Server::of(vec![refusal(429).header(name, &value), good()]).await;
            let started = Instant::now();
            resilient(CHAT.endpoint(&server), 2).complete(&CHAT.request()).await.unwrap();
            assert!(started.elapsed() >= Duration::from_millis(least), "{name}: {value}");
        }
        let server = Server::of(vec![refusal(429).header("retry-after", "3600"), good()]).await;
        let error =
            resilient(CHAT.endpoint(&server), 2).complete(&CHAT.request()).await.unwrap_err();
        assert_eq!(error.details().retry_after, Some(Duration::from_secs(3600)));
        assert_eq!(server.seen().len(), 1);
    });
}

#[test]
fn a_broken_stream_begins_anew() {
    run(async {
        for broken in [start().end(End::Cut), start()] {
            let server = Server::of(vec![broken, good()]).await;
            let provider = resilient(CHAT.endpoint(&server), 2);
            let (events, error) = events(&provider, &CHAT.request()).await;
            assert_eq!(error, None);
            let restart =
                events.iter().position(|event| matches!(event, AnswerEvent::Restarted(_)));
            let restart = restart.unwrap();
            let AnswerEvent::Restarted(restarted) = &events[restart] else { panic!() };
            assert_eq!((restarted.why.kind(), restarted.attempts), (ErrorKind::Network, 1));
            let text = |events: &[AnswerEvent]| -> String {
                let texts = events.iter().filter_map(|event| match event {
                    AnswerEvent::TextDelta { text, .. } => Some(text.as_str()),
                    _ => None,
                });
                texts.collect()
            };
            assert_eq!(text(&events[..restart]), "Let me ");
            assert_eq!(text(&events[restart..]), "Let me see: ü€🐝.");
            let first = events[restart..].iter().find_map(|event| match event {
                AnswerEvent::ReasoningDelta { block, .. } => Some(*block),
                _ => None,
            });
            assert_eq!(first, Some(0));
            let answer = provider.complete(&CHAT.request()).await.unwrap();
            assert_eq!(answer.message.text(), "Let me see: ü€🐝.", "{answer:?}");
        }
    });
}

#[test]
fn an_answer_that_is_complete_but_for_its_end_counts() {
    run(async {
        let events: Vec<&str> = CHAT.stream.split_inclusive("\n\n").collect();
        let most = Answer::events(events[..events.len() - 2].concat()).end(End::Cut);
        let server = Server::of(vec![most]).await;
        let answer = resilient(CHAT.endpoint(&server), 3).complete(&CHAT.request()).await.unwrap();
        assert_eq!((answer.restarts, answer.message.calls().count()), (0, 2));
    });
}

#[test]
fn a_broken_stream_may_stay_broken() {
    run(async {
        let server = Server::of(vec![start().end(End::Cut), good()]).await;
        let retry = RetryPolicy { restart: false, ..RetryPolicy::default() };
        let options = ResilientOptions { retry, ..ResilientOptions::default() };
        let provider = Resilient::new(CHAT.endpoint(&server), options);
        let error = provider.complete(&CHAT.request()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Network);
        assert_eq!(server.seen().len(), 1);
    });
}

#[test]
fn the_next_provider_answers_when_one_cannot() {
    run(async {
        let broken = Server::of(vec![start().end(End::Cut)]).await;
        let other = Server::of(vec![Answer::events(ANTHROPIC.stream)]).await;
        let chain = |first: Arc<dyn Provider>| {
            let second: Arc<dyn Provider> = Arc::new(ANTHROPIC.endpoint(&other));
            let model = Some(ANTHROPIC.model.into());
            Failover::new(
                "chain",
                [Member { provider: first, model: None }, Member { provider: second, model }],
            )
        };
        let provider = chain(Arc::new(resilient(CHAT.endpoint(&broken), 2)));
        let (events, error) = events(&provider, &CHAT.request()).await;
        assert_eq!(error, None);
        let next: Vec<&str> = events
            .iter()
            .filter_map(|event| match event {
                AnswerEvent::Restarted(restarted) => Some(restarted.next.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(next, ["openai-chat", "anthropic"]);
        let answer = provider.complete(&CHAT.request()).await.unwrap();
        assert_eq!(answer.started.unwrap().provider.as_str(), "anthropic");
        assert_eq!(other.seen()[0].body["model"], ANTHROPIC.model);
        // A wrong request is wrong everywhere.
        let wrong = Server::of(vec![refusal(400)]).await;
        let before = other.seen().len();
        let error =
            chain(Arc::new(CHAT.endpoint(&wrong))).complete(&CHAT.request()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert_eq!(other.seen().len(), before);
        let none = Failover::new("none", []).complete(&CHAT.request()).await.unwrap_err();
        assert_eq!(none.kind(), ErrorKind::NotFound);
    });
}

#[test]
fn a_server_that_fails_again_and_again_is_left_alone() {
    run(async {
        let server = Server::of(vec![refusal(500), refusal(500), good()]).await;
        let options = ResilientOptions {
            retry: RetryPolicy::never(),
            breaker: BreakerPolicy { failures: 2, pause: Duration::from_millis(100) },
            ..ResilientOptions::default()
        };
        let provider = Resilient::new(CHAT.endpoint(&server), options);
        for _ in 0..2 {
            provider.complete(&CHAT.request()).await.unwrap_err();
        }
        let error = provider.clone().complete(&CHAT.request()).await.unwrap_err();
        assert!(error.to_string().contains("is left alone"), "{error}");
        assert_eq!(server.seen().len(), 2, "nothing is sent meanwhile");
        tokio::time::sleep(Duration::from_millis(120)).await;
        provider.complete(&CHAT.request()).await.unwrap();
    });
}

#[test]
fn so_many_at_once_and_in_a_minute() {
    run(async {
        let mut slow = good();
        slow.delay = Duration::from_millis(30);
        let server = Server::of(vec![slow]).await;
        let gate = GateLimits { concurrency: Some(2), ..GateLimits::default() };
        let options = ResilientOptions { gate, ..ResilientOptions::default() };
        let provider = Resilient::new(CHAT.endpoint(&server), options);
        let request = CHAT.request();
        let all = (0..6).map(|_| provider.complete(&request));
        for answer in futures::future::join_all(all).await {
            answer.unwrap();
        }
        assert_eq!(server.most_at_once(), 2);
        let server = Server::of(vec![good()]).await;
        let gate = GateLimits { per_minute: Some(600), burst: 1, concurrency: None };
        let options = ResilientOptions { gate, ..ResilientOptions::default() };
        let provider = Resilient::new(CHAT.endpoint(&server), options);
        let started = Instant::now();
        for _ in 0..4 {
            provider.complete(&request).await.unwrap();
        }
        assert!(started.elapsed() >= Duration::from_millis(300));
    });
}

#[test]
fn dropping_the_stream_ends_the_request() {
    run(async {
        let mut late = good();
        late.delay = Duration::from_secs(60);
        for hanging in [start().end(End::Hang), late] {
            let is_late = !hanging.delay.is_zero();
            let server = Server::of(vec![hanging]).await;
            let provider = resilient(CHAT.endpoint(&server), 3);
            let mut stream = provider.stream(&CHAT.request());
            if is_late {
                let waiting = tokio::time::timeout(Duration::from_millis(200), stream.next()).await;
                assert!(waiting.is_err());
            } else {
                stream.next().await.unwrap().unwrap();
            }
            assert_eq!(server.busy(), 1);
            drop(stream);
            for _ in 0..200 {
                if server.busy() == 0 {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert_eq!(server.busy(), 0, "the server sees that nobody listens");
            assert_eq!(server.seen().len(), 1);
        }
    });
}

#[test]
fn nothing_is_sent_before_the_stream_is_polled() {
    run(async {
        let server = Server::of(vec![good()]).await;
        drop(CHAT.endpoint(&server).stream(&CHAT.request()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(server.seen().is_empty());
    });
}
