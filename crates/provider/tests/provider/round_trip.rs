//! Messages to the JSON of a vendor, and back, with nothing lost.

use offshoot_provider::{
    Block, CacheMark, CallBlock, Content, Image, Message, ModelApi, Native, Omission, ResultBlock,
    Seal,
};
use serde_json::{Value, json};

use crate::support::APIS;

fn call(id: &str, name: &str) -> CallBlock {
    CallBlock {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: "{\"a\":[1,2],\"b\":\"ü\"}".to_owned(),
    }
}

fn result(id: &str, name: &str, failed: bool, blocks: Vec<Block>) -> Block {
    let (id, name) = (id.to_owned(), name.to_owned());
    Block::new(Content::ToolResult(ResultBlock { id, name, blocks, failed }))
}

fn native(api: ModelApi, fields: Value) -> Option<Native> {
    let Value::Object(fields) = fields else { panic!() };
    Some(Native { api, fields })
}

/// A conversation with everything that an interface has.
fn conversation(api: ModelApi) -> Vec<Message> {
    let url =
        Block::new(Content::Image(Image::Url { url: "https://example.com/b.png".to_owned() }));
    let mut user = vec![Block::text("What is here?"), Block::image("image/png", "aGk="), url];
    let mut said = vec![Block::text("Let me see.")];
    let mut calls = vec![
        Block::new(Content::ToolCall(call("c1", "shell"))),
        Block::new(Content::ToolCall(call("c2", "look"))),
        Block::new(Content::ToolCall(CallBlock {
            arguments: "{broken".to_owned(),
            ..call("c3", "time")
        })),
    ];
    let seal = |data: &str| Some(Seal { api, data: data.to_owned() });
    let mut thought = Block::reasoning("I should look.");
    match api {
        ModelApi::Anthropic => {
            user[0].cache = Some(CacheMark::Hour);
            user.push(Block::new(Content::Unknown {
                api,
                value: json!({"type": "document", "source": {"type": "text", "data": "x"}}),
            }));
            thought.seal = seal("signature");
            let redacted = Content::Reasoning { text: String::new(), redacted: true };
            said.insert(0, Block { seal: seal("hidden"), ..Block::new(redacted) });
            calls[0].cache = Some(CacheMark::Minutes);
            calls[1].native = native(api, json!({"caller": {"type": "direct"}}));
        }
        ModelApi::OpenaiResponses => {
            user.push(Block::new(Content::Unknown {
                api,
                value: json!({"type": "input_file", "file_id": "f"}),
            }));
            user[1].native = native(api, json!({"detail": "low"}));
            thought.seal = seal("encrypted");
            thought.native = native(api, json!({"id": "rs_1"}));
            said[0].native = native(api, json!({"item": {"id": "msg_1", "status": "completed"}}));
            calls[0].native = native(api, json!({"id": "fc_1", "status": "completed"}));
            calls.push(Block::new(Content::Unknown {
                api,
                value: json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
            }));
        }
        ModelApi::Gemini => {
            thought.seal = seal("thought");
            calls[0].seal = seal("call");
            said.push(Block::new(Content::Unknown {
                api,
                value: json!({"executableCode": {"language": "PYTHON", "code": "1"}}),
            }));
        }
        ModelApi::OpenaiChat => {
            user[1].native = native(api, json!({"detail": "low"}));
            user.push(Block::new(Content::Unknown {
                api,
                value: json!({"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}}),
            }));
            calls.push(Block::new(Content::Unknown {
                api,
                value: json!({"id": "c9", "type": "custom", "custom": {"name": "x", "input": "y"}}),
            }));
        }
    }
    // Chat Completions takes no reasoning back, unless a server wants it.
    let mut assistant = if api == ModelApi::OpenaiChat { Vec::new() } else { vec![thought] };
    assistant.extend(said);
    assistant.extend(calls);
    let results = Message::user([
        result("c1", "shell", false, vec![Block::text("a"), Block::text("b")]),
        result(
            "c2",
            "look",
            true,
            vec![Block::text("half of it:"), Block::image("image/png", "aGk=")],
        ),
        result("c3", "time", false, vec![]),
        Block::text("And now?"),
    ]);
    vec![Message::user(user), Message::assistant(assistant), results]
}

#[test]
fn nothing_is_lost_on_the_way() {
    for api in &APIS {
        let messages = conversation(api.api);
        let (written, omitted) = api.api.write_messages(&messages);
        assert_eq!(omitted, [], "{}", api.provider);
        let read = api.api.read_messages(&written);
        assert_eq!(read, messages, "{}: {written:#?}", api.provider);
        assert_eq!(api.api.write_messages(&read).0, written, "{}", api.provider);
    }
}

#[test]
fn messages_are_kept_as_json() {
    for api in &APIS {
        let messages = conversation(api.api);
        let text = serde_json::to_string(&messages).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Message>>(&text).unwrap(), messages);
    }
}

#[test]
fn what_another_vendor_alone_takes_is_left_out_and_told() {
    for from in &APIS {
        let messages = conversation(from.api);
        for to in APIS.iter().filter(|to| to.api != from.api) {
            let (written, omitted) = to.api.write_messages(&messages);
            let text = serde_json::to_string(&written).unwrap();
            for own in [
                "signature",
                "hidden",
                "encrypted",
                "executableCode",
                "web_search_call",
                "input_file",
            ] {
                assert!(!text.contains(own), "{} to {}: {own}", from.provider, to.provider);
            }
            assert!(omitted.contains(&Omission::Unknown), "{} to {}", from.provider, to.provider);
            // What all take stays.
            assert!(text.contains("half of it:") && text.contains("And now?"));
            let read = to.api.read_messages(&written);
            assert_eq!(read[1].calls().count(), 3, "{} to {}", from.provider, to.provider);
            assert_eq!(read[2].results().filter(|result| result.failed).count(), 1);
        }
    }
}

#[test]
fn unknown_fields_and_blocks_of_a_vendor_come_back_to_it() {
    let assistant = json!({
        "role": "assistant", "content": "x",
        "audio": {"id": "a1"}, "reasoning_details": [{"type": "reasoning.encrypted", "data": "e"}],
    });
    let user = json!({"role": "user", "content": "y", "name": "me"});
    let written = vec![user, assistant];
    let read = ModelApi::OpenaiChat.read_messages(&written);
    assert_eq!(ModelApi::OpenaiChat.write_messages(&read).0, written);
    assert_eq!(read[1].native.as_ref().map(|native| native.fields.len()), Some(2));
}
