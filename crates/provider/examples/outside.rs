//! For comparisons with other clients and servers: the server of the tests as a program, and a client that prints JSON.
//!
//! `outside serve` prints its address, then answers until it is killed. `outside ask API BASE MODEL PROMPT` asks, twice if the model
//! calls tools, and prints what came.

#![expect(clippy::unwrap_used, reason = "the server is that of the tests, which fail by panicking")]

#[path = "../tests/provider/server.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod server;
#[path = "../tests/provider/vendors.rs"]
mod vendors;

use std::error::Error;
use std::io::Write;
use std::sync::{Arc, Mutex};

use offshoot_provider::{
    Block, CallBlock, Completion, Content, Endpoint, EndpointOptions, Message, ModelApi,
    ModelCatalog, Provider, ProviderError, ProviderInfo, Quirks, Request,
};
use serde_json::{Value, json};

use server::{Answer, Seen, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match words.as_slice() {
        ["serve"] => runtime.block_on(serve()),
        ["ask", api, base, model, prompt] => {
            let answers = runtime.block_on(ask(api, base, model, prompt))?;
            writeln!(std::io::stdout(), "{answers}")?;
            Ok(())
        }
        _ => Err("outside serve | outside ask API BASE MODEL PROMPT".into()),
    }
}

/// Answers as vendors do. A prompt `fail with 429` gets that status; `/seen` has the bodies that came since it was asked last.
async fn serve() -> Result<(), Box<dyn Error>> {
    let bodies: Arc<Mutex<Vec<Value>>> = Arc::default();
    let server = Server::new(move |seen, _| {
        let mut bodies = bodies.lock().unwrap();
        if seen.path == "/seen" {
            return Answer::json(200, &Value::Array(std::mem::take(&mut bodies)));
        }
        bodies.push(seen.body.clone());
        answer(seen)
    })
    .await;
    writeln!(std::io::stdout(), "{}", server.base())?;
    std::io::stdout().flush()?;
    std::future::pending().await
}

fn answer(seen: &Seen) -> Answer {
    let text = seen.body.to_string();
    let status = text.split_once("fail with ").and_then(|(_, rest)| rest.get(..3)?.parse().ok());
    match status {
        Some(status) if seen.path.contains("/messages") => {
            let kind = match status {
                401 => "authentication_error",
                404 => "not_found_error",
                429 => "rate_limit_error",
                529 => "overloaded_error",
                400 => "invalid_request_error",
                _ => "api_error",
            };
            let error = json!({"type": "error", "error": {"type": kind, "message": "as asked"}});
            Answer::json(status, &error)
        }
        Some(status) => {
            let error = json!({"error": {"message": "as asked", "type": null, "param": null, "code": null}});
            Answer::json(status, &error)
        }
        None if seen.body["stream"] == json!(true) => Answer::events(vendors::stream(&seen.path)),
        None => Answer::json(200, &vendors::whole(&seen.path)),
    }
}

async fn ask(api: &str, base: &str, model: &str, prompt: &str) -> Result<Value, Box<dyn Error>> {
    let api: ModelApi = serde_json::from_value(json!(api))?;
    let mut catalog = ModelCatalog::default();
    let quirks = Quirks { max_tokens_field: "max_tokens".to_owned(), ..Quirks::default() };
    let info = ProviderInfo {
        api,
        base: base.to_owned(),
        variable: None,
        any_model: true,
        key_path: None,
        plain_http: false,
        quirks,
    };
    catalog.declare_provider("outside".into(), info);
    let mut options = EndpointOptions::new("outside");
    options.catalog = Arc::new(catalog);
    let endpoint = Endpoint::new(options)?;
    let mut request = Request::new(model)
        .system("You are a helpful assistant.")
        .message(Message::user([Block::text(prompt)]));
    request.max_output = Some(64);
    request.temperature = Some(0.0);
    let parameters = json!({"type": "object", "properties": {"command": {"type": "string"}}});
    if !prompt.contains("without tools") {
        request = request.tool("shell", "Runs a command", parameters);
    }
    let mut answers = Vec::new();
    for _ in 0..2 {
        let answer = match endpoint.complete(&request).await {
            Ok(answer) => answer,
            Err(error) => {
                answers.push(failure(&error));
                break;
            }
        };
        answers.push(success(&answer));
        let calls: Vec<CallBlock> = answer.message.calls().cloned().collect();
        if calls.is_empty() {
            break;
        }
        let results = calls.iter().map(|call| Block::result(call, [Block::text("nothing")]));
        request = request.message(answer.message.clone()).message(Message::user(results));
    }
    Ok(Value::Array(answers))
}

fn success(answer: &Completion) -> Value {
    let reasoning: String = answer
        .message
        .blocks
        .iter()
        .filter_map(|block| match &block.content {
            Content::Reasoning { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    json!({
        "text": answer.message.text(),
        "reasoning": reasoning,
        "calls": answer.message.calls().collect::<Vec<_>>(),
        "stop": answer.stop,
        "usage": answer.usage,
    })
}

fn failure(error: &ProviderError) -> Value {
    json!({
        "error": format!("{:?}", error.kind()),
        "status": error.details().status,
        "message": error.details().message,
    })
}
