//! What requests say in the words of each vendor.

use offshoot_provider::{
    Block, CacheMark, Caching, CallBlock, Endpoint, ErrorKind, Message, ModelApi, OutputShape,
    Provider, Reasoning, Request, ToolChoice,
};
use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::support::{APIS, Api, run};

const ANTHROPIC: &Api = &APIS[0];

/// The body and path of a request.
async fn sent(api: &Api, request: &Request) -> (Value, String) {
    let server = Server::of(vec![Answer::events(api.stream)]).await;
    api.endpoint(&server).complete(request).await.unwrap();
    let seen = server.seen().remove(0);
    (seen.body, seen.path)
}

#[test]
fn options_have_the_names_of_the_vendor() {
    run(async {
        for api in &APIS {
            let mut request = api.request();
            request.max_output = Some(30_000);
            request.temperature = Some(0.5);
            request.tool_choice = ToolChoice::Named("shell".to_owned());
            request.reasoning = Some(Reasoning::Medium);
            let schema = json!({"type": "object"});
            request.output = Some(OutputShape { name: "x".to_owned(), schema: schema.clone() });
            let fields = json!({"own": 1}).as_object().cloned().unwrap();
            request.extra = vec![(api.api, fields)];
            let (body, path) = sent(api, &request).await;
            let at = |pointer: &str| body.pointer(pointer).cloned().unwrap_or_default();
            assert_eq!(at("/own"), 1);
            match api.api {
                ModelApi::Anthropic => {
                    assert_eq!(path, "/v1/messages");
                    assert_eq!(at("/max_tokens"), 30_000);
                    assert_eq!(at("/tool_choice"), json!({"type": "tool", "name": "shell"}));
                    assert_eq!(at("/thinking"), json!({"type": "enabled", "budget_tokens": 8192}));
                    assert_eq!(at("/output_config/format/schema"), schema);
                    assert_eq!(at("/system/0/text"), "Be brief.");
                }
                ModelApi::OpenaiChat => {
                    assert_eq!(path, "/chat/completions");
                    assert_eq!(at("/max_completion_tokens"), 30_000);
                    assert_eq!(at("/tool_choice/function/name"), "shell");
                    assert_eq!(at("/reasoning_effort"), "medium");
                    assert_eq!(at("/response_format/json_schema/schema"), schema);
                    assert_eq!(
                        at("/messages/0"),
                        json!({"role": "system", "content": "Be brief."})
                    );
                    assert_eq!(at("/stream_options/include_usage"), true);
                }
                ModelApi::OpenaiResponses => {
                    assert_eq!(path, "/responses");
                    assert_eq!(at("/max_output_tokens"), 30_000);
                    assert_eq!(at("/tool_choice/name"), "shell");
                    assert_eq!(at("/reasoning/effort"), "medium");
                    assert_eq!(at("/text/format/schema"), schema);
                    assert_eq!(at("/instructions"), "Be brief.");
                    assert_eq!(
                        (at("/store"), at("/include/0")),
                        (json!(false), json!("reasoning.encrypted_content"))
                    );
                }
                ModelApi::Gemini => {
                    assert_eq!(
                        path,
                        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
                    );
                    assert_eq!(at("/generationConfig/maxOutputTokens"), 30_000);
                    assert_eq!(
                        at("/toolConfig/functionCallingConfig/allowedFunctionNames/0"),
                        "shell"
                    );
                    assert_eq!(at("/generationConfig/thinkingConfig/thinkingBudget"), 8192);
                    assert_eq!(at("/generationConfig/responseJsonSchema"), schema);
                    assert_eq!(at("/systemInstruction/parts/0/text"), "Be brief.");
                }
            }
        }
    });
}

fn turns(count: usize) -> Request {
    let mut request = ANTHROPIC.request();
    for number in 0..count {
        let call = CallBlock {
            id: format!("c{number}"),
            name: "shell".to_owned(),
            arguments: "{}".to_owned(),
        };
        let said = Block::call(call.id.clone(), call.name.clone(), call.arguments.clone());
        request = request.message(Message::assistant([said]));
        request = request.message(Message::user([Block::result(&call, [Block::text("x")])]));
    }
    request
}

/// The places of marks in a body.
fn marks(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for list in ["tools", "system", "messages"] {
        for (index, entry) in body[list].as_array().into_iter().flatten().enumerate() {
            if entry.get("cache_control").is_some() {
                found.push(format!("{list} {index}"));
            }
            let blocks = entry.get("content").and_then(Value::as_array).into_iter().flatten();
            let marked = blocks.filter(|block| block.get("cache_control").is_some()).count();
            found.extend(vec![format!("{list} {index}"); marked]);
        }
    }
    found
}

#[test]
fn prefixes_are_marked_for_the_cache() {
    run(async {
        let mut request = turns(3);
        request.messages[0].blocks[0].cache = Some(CacheMark::Minutes);
        let (body, _) = sent(ANTHROPIC, &request).await;
        assert_eq!(marks(&body), ["messages 0"]);
        request.caching = Caching::Automatic(CacheMark::Hour);
        let (body, _) = sent(ANTHROPIC, &request).await;
        assert_eq!(marks(&body), ["tools 0", "system 0", "messages 4", "messages 6"]);
        assert_eq!(body["tools"][0]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
        // The marks of the next turn begin where those of this one end.
        let mut next = turns(4);
        next.caching = request.caching;
        let (body, _) = sent(ANTHROPIC, &next).await;
        assert_eq!(marks(&body)[2..], ["messages 6", "messages 8"]);
        let mut many = turns(5);
        for message in &mut many.messages {
            message.blocks[0].cache = Some(CacheMark::Minutes);
        }
        let server = Server::of(vec![Answer::events("")]).await;
        let error = ANTHROPIC.endpoint(&server).complete(&many).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadRequest);
        assert!(error.to_string().contains("4 may be"), "{error}");
        // The others cache by themselves.
        for api in &APIS[1..] {
            let mut request = api.request();
            request.caching = Caching::Automatic(CacheMark::Hour);
            request.messages[0].blocks[0].cache = Some(CacheMark::Hour);
            assert!(!sent(api, &request).await.0.to_string().contains("cache_control"));
        }
    });
}

#[test]
fn quirks_change_requests() {
    run(async {
        let text = "version = 1\n[provider.mine]\napi = \"openai_chat\"\nbase = \"http://127.0.0.1:1\"\nany_model = true\n\
                    quirks = { max_tokens_field = \"max_tokens\", system_role = \"developer\", text_results = true, \
                    reasoning_field = \"reasoning\", return_reasoning = true, stream_usage = false, parallel_tool_calls = false }";
        let api = &APIS[1];
        let server = Server::of(vec![Answer::events(api.stream)]).await;
        let mut options = api.options(&server);
        let catalog = offshoot_provider::ModelCatalog::built_in().with_file(text).unwrap();
        options.catalog = std::sync::Arc::new(catalog);
        options.provider = "mine".into();
        let endpoint = Endpoint::new(options).unwrap();
        let mut request = turns(1);
        request.model = "any".into();
        request.max_output = Some(5);
        request.parallel_calls = Some(false);
        request.messages[1].blocks.insert(0, Block::reasoning("I thought."));
        let call = request.messages[1].calls().next().unwrap().clone();
        request.messages[2].blocks = vec![Block::failure(&call, "broken")];
        endpoint.complete(&request).await.unwrap();
        let body = &server.seen()[0].body;
        assert_eq!(body["max_tokens"], 5);
        assert_eq!(body["messages"][0]["role"], "developer");
        assert_eq!(body["messages"][2]["reasoning"], "I thought.");
        assert_eq!(body["messages"][3]["content"], "The tool failed:\nbroken");
        assert!(body.get("stream_options").is_none() && body.get("parallel_tool_calls").is_none());
    });
}
