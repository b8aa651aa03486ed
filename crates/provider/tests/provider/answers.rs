//! What the vendors answer, as events and whole.

use bytes::Bytes;
use offshoot_provider::{AnswerEvent, Completion, Content, Provider, StopReason};
use serde_json::json;

use crate::server::{Answer, Server};
use crate::support::{APIS, Api, events, run};
use crate::vendors;

fn check(api: &Api, answer: &Completion) {
    let what = api.provider;
    let blocks = &answer.message.blocks;
    assert_eq!(blocks.len(), 4, "{what}: {blocks:#?}");
    let Content::Reasoning { text, redacted: false } = &blocks[0].content else {
        panic!("{what}: {:?}", blocks[0]);
    };
    assert_eq!(text, "I should look.", "{what}");
    if what != "openai-chat" {
        let seal = blocks[0].seal.as_ref().unwrap();
        assert_eq!((seal.api, seal.data.as_str()), (api.api, "c2VhbA=="), "{what}");
    }
    assert_eq!(answer.message.text(), "Let me see: ü€🐝.", "{what}");
    let calls: Vec<_> = answer.message.calls().collect();
    assert_eq!((calls[0].id.as_str(), calls[0].name.as_str()), ("call_1", "shell"), "{what}");
    assert_eq!(calls[0].arguments, r#"{"command":"ls"}"#, "{what}");
    assert_eq!((calls[1].name.as_str(), calls[1].arguments.as_str()), ("time", "{}"), "{what}");
    assert_eq!(answer.stop, StopReason::ToolCalls, "{what}");
    let usage = answer.usage;
    assert_eq!((usage.input, usage.cache_read), (Some(20), Some(100)), "{what}");
    assert_eq!(usage.output, Some(42), "{what}");
    match what {
        "anthropic" => {
            assert_eq!((usage.cache_write, usage.cache_write_1h), (Some(3), Some(4)));
            // 20 * 1 + 100 * 0.10 + 3 * 1.25 + 4 * 2 + 42 * 5 millionths.
            assert_eq!(answer.cost.unwrap().picodollars, 251_750_000);
        }
        _ => assert_eq!(answer.cost, None, "the price is not known"),
    }
    if what != "anthropic" {
        assert_eq!(usage.reasoning, Some(12), "{what}");
    }
}

#[test]
fn streams_of_all_vendors_say_the_same() {
    run(async {
        for api in &APIS {
            let answer = Answer::events(api.stream).header("request-id", "req_7");
            let server = Server::of(vec![answer]).await;
            let answer = api.endpoint(&server).complete(&api.request()).await.unwrap();
            check(api, &answer);
            let started = answer.started.unwrap();
            assert_eq!(started.request_id.as_deref(), Some("req_7"));
            assert!(started.response_id.is_some());
            assert!(started.model.as_str().starts_with(api.model), "{}", started.model);
        }
    });
}

#[test]
fn events_come_in_order() {
    run(async {
        for api in &APIS {
            let server = Server::of(vec![Answer::events(api.stream)]).await;
            let (events, error) = events(&api.endpoint(&server), &api.request()).await;
            assert_eq!(error, None);
            assert!(matches!(events.first(), Some(AnswerEvent::Started(_))));
            assert!(matches!(events.last(), Some(AnswerEvent::Stopped(StopReason::ToolCalls))));
            let mut open = Vec::new();
            let mut next = 0;
            for event in &events {
                match event {
                    AnswerEvent::TextDelta { block, .. }
                    | AnswerEvent::ReasoningDelta { block, .. }
                    | AnswerEvent::ToolCallStart { block, .. } => {
                        if *block == next {
                            open.push(next);
                            next += 1;
                        }
                        assert!(open.contains(block), "{}: {event:?}", api.provider);
                    }
                    AnswerEvent::ToolCallDelta { block, .. } => assert!(open.contains(block)),
                    AnswerEvent::BlockEnd { block, .. } => open.retain(|number| number != block),
                    _ => {}
                }
            }
            assert!(open.is_empty());
        }
    });
}

/// The same bytes, cut anywhere, with line ends of any kind.
#[test]
fn however_a_stream_is_cut_it_says_the_same() {
    run(async {
        for (seed, api) in (1_u64..).zip(&APIS) {
            let mut random = fastrand::Rng::with_seed(seed);
            let server = Server::of(vec![Answer::events(api.stream)]).await;
            let (expected, _) = events(&api.endpoint(&server), &api.request()).await;
            for round in 0..12 {
                let text = match round % 3 {
                    0 => api.stream.to_owned(),
                    1 => api.stream.replace('\n', "\r\n"),
                    _ => api.stream.replace('\n', "\r").replace("\rdata", "\r: ping\rdata"),
                };
                let mut rest = Bytes::from(text);
                let mut answer = Answer::events("");
                answer.pieces.clear();
                while !rest.is_empty() {
                    let most = [1, 3, 20, 500][random.usize(..4)];
                    let size = random.usize(1..=most).min(rest.len());
                    answer.pieces.push(rest.split_to(size));
                }
                let server = Server::of(vec![answer]).await;
                let (cut, error) = events(&api.endpoint(&server), &api.request()).await;
                assert_eq!(error, None, "{} {seed} {round}", api.provider);
                assert_eq!(cut, expected, "{} {seed} {round}", api.provider);
            }
        }
    });
}

#[test]
fn answers_that_are_not_streamed_say_the_same() {
    run(async {
        let paths = ["/v1/messages", "/chat/completions", "/responses", "/v1beta"];
        for (api, path) in APIS.iter().zip(paths) {
            let server = Server::of(vec![Answer::json(200, &vendors::whole(path))]).await;
            let answer = api.endpoint(&server).complete(&api.request()).await.unwrap();
            check(api, &answer);
        }
    });
}

/// What a stream says, asked of one interface.
async fn said(api: &Api, stream: &'static str) -> Completion {
    let server = Server::of(vec![Answer::events(stream)]).await;
    api.endpoint(&server).complete(&api.request()).await.unwrap()
}

#[test]
fn quirks_of_compatible_servers_are_understood() {
    run(async {
        let chat = &APIS[1];
        // No numbers, no names of calls, arguments as an object, no [DONE].
        let answer = said(
            chat,
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"a\",\"arguments\":{\"x\":1}}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"b\",\"arguments\":\"{\\\"y\\\":\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"2}\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        )
        .await;
        let calls: Vec<_> = answer.message.calls().collect();
        assert_eq!((calls[0].name.as_str(), calls[0].arguments.as_str()), ("a", "{\"x\":1}"));
        assert_eq!((calls[1].name.as_str(), calls[1].arguments.as_str()), ("b", "{\"y\":2}"));
        assert!(calls[0].id.starts_with("call_") && calls[0].id != calls[1].id);
        assert_eq!(answer.stop, StopReason::ToolCalls);
        assert_eq!(answer.usage.input, None, "what is not reported is not 0");
        assert_eq!(answer.cost, None);
        // All calls at the same index, [DONE] without a reason.
        let answer = said(
            chat,
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"2\",\"function\":{\"name\":\"b\",\"arguments\":\"{}\"}}]}}]}\n\n\
             data: [DONE]\n\n",
        )
        .await;
        assert_eq!(answer.message.calls().count(), 2);
        // The same id at two indexes is two calls.
        let answer = said(
            chat,
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"a\",\"arguments\":\"{}\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"1\",\"function\":{\"name\":\"b\",\"arguments\":\"{\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"1\",\"function\":{\"arguments\":\"}\"}}]}}]}\n\n\
             data: [DONE]\n\n",
        )
        .await;
        let calls: Vec<&str> = answer.message.calls().map(|call| &*call.arguments).collect();
        assert_eq!(calls, ["{}", "{}"]);
        // Refusals, citations and text behind calls.
        let answer = said(
            chat,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"annotations\":[{\"type\":\"url_citation\",\"url_citation\":{\"url\":\"u\",\"title\":\"t\"}}]}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"refusal\":\"I \"}}]}\n\n\
             data: {\"choices\":[{\"delta\":{\"refusal\":\"won't\"},\"finish_reason\":\"content_filter\"}]}\n\n\
             data: [DONE]\n\n",
        )
        .await;
        let Content::Text { text, citations } = &answer.message.blocks[0].content else { panic!() };
        assert_eq!((text.as_str(), citations[0].url.as_deref()), ("a", Some("u")));
        assert_eq!(answer.message.blocks[1].as_text(), Some("I won't"));
        assert_eq!(answer.stop, StopReason::Refused);
    });
}

#[test]
fn what_is_not_known_is_passed_on() {
    run(async {
        let anthropic = &APIS[0];
        let server = Server::of(vec![Answer::events(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{}}}\n\n\
             event: news\ndata: {\"type\":\"news\",\"x\":1}\n\n\
             event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}}\n\n\
             event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"q\\\":\"}}\n\n\
             event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"1}\"}}\n\n\
             event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
             event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"xyz\"}}\n\n\
             event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n\
             event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"\",\"citations\":[]}}\n\n\
             event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"citations_delta\",\"citation\":{\"type\":\"web_search_result_location\",\"url\":\"u\",\"cited_text\":\"q\",\"encrypted_index\":\"e\"}}}\n\n\
             event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":\"t\"}}\n\n\
             event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n\
             event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"pause_turn\"},\"usage\":{\"output_tokens\":1}}\n\n\
             event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        )])
        .await;
        let endpoint = anthropic.endpoint(&server);
        let (events, error) = events(&endpoint, &anthropic.request()).await;
        assert_eq!(error, None);
        let news = json!({"type": "news", "x": 1});
        assert!(
            events
                .iter()
                .any(|event| matches!(event, AnswerEvent::Unknown { value, .. } if *value == news))
        );
        let answer = endpoint.complete(&anthropic.request()).await.unwrap();
        assert_eq!(answer.stop, StopReason::Paused);
        let blocks = &answer.message.blocks;
        let search =
            json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}});
        assert_eq!(blocks[0].content, Content::Unknown { api: anthropic.api, value: search });
        assert!(matches!(&blocks[1].content, Content::Reasoning { redacted: true, .. }));
        let Content::Text { citations, .. } = &blocks[2].content else { panic!() };
        assert_eq!(citations[0].value["encrypted_index"], "e");
        // All of it goes back as it came.
        let (written, omitted) =
            anthropic.api.write_messages(std::slice::from_ref(&answer.message));
        assert!(omitted.is_empty());
        assert_eq!(written[0]["content"][1], json!({"type": "redacted_thinking", "data": "xyz"}));
        assert_eq!(written[0]["content"][2]["citations"][0]["encrypted_index"], "e");
    });
}
