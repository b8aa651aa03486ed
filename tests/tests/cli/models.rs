//! Language models and their providers: which are known, which one is used, and whether servers on loopback answer.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use insta::assert_snapshot;
use offshoot_tests::product::{Place, document_of};
use serde_json::{Value, json};

use crate::transcript::Transcript;

/// A secret that nothing may print.
const KEY: &str = "sk-secret-0123456789";

/// A server of OpenAI's interface that wants a key. It runs as long as the test does.
struct ModelServer {
    address: SocketAddr,
    /// The lines that requests began with.
    seen: Arc<Mutex<Vec<String>>>,
}

impl ModelServer {
    fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = Arc::clone(&seen);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // Whoever asks may be gone.
                drop(serve(stream, &all));
            }
        });
        Self { address, seen }
    }

    fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let length = head.iter().find_map(|line| {
        line.to_lowercase().strip_prefix("content-length: ").and_then(|text| text.parse().ok())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    let asked = head.first().cloned().unwrap_or_default();
    let body = String::from_utf8_lossy(&body).into_owned();
    seen.lock().unwrap().push(format!("{asked} {body}"));
    let sent = head.iter().find_map(|line| line.strip_prefix("authorization: Bearer "));
    let said = format!("wrong key {}", sent.unwrap_or("none"));
    let has_key = head.iter().any(|line| line.ends_with(&format!("Bearer {KEY}")));
    let (status, answer) = match (has_key, asked.starts_with("GET ")) {
        (false, _) => ("401 No", json!({"error": {"message": said}})),
        (true, true) => ("200 OK", json!({"data": [{"id": "small"}, {"id": "large"}]})),
        (true, false) => (
            "200 OK",
            json!({
                "id": "1", "object": "chat.completion", "model": "small",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
            }),
        ),
    };
    let answer = answer.to_string();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
        answer.len()
    )
}

/// A place whose user has a file of models.
fn place_with(models: &str) -> Place {
    let place = Place::new();
    let file = place.path().join(".config/offshoot/models.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, models).unwrap();
    place
}

/// The models of a server of the user's own.
fn own(base: &str, key: &str) -> String {
    format!(
        "version = 1\n[provider.lab]\napi = \"openai_chat\"\nbase = \"{base}\"\n\
         quirks = {{ stream_usage = false }}\n\
         [[model]]\nprovider = \"lab\"\nid = \"small\"\naliases = [\"s\"]\ncontext = 9000\noutput = 1000\n\
         price = {{ input = \"1\", output = \"2\" }}\n\
         [[model]]\nprovider = \"lab\"\nid = \"gone\"\n{key}"
    )
}

fn key_in(origin: &str) -> String {
    format!("[key]\nlab = {origin}\n")
}

/// The document of a command that ended like this.
fn result(place: &Place, arguments: &[&str], code: i32) -> Value {
    let output = place.run([arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    document_of(&output)["result"].clone()
}

#[test]
fn models_for_people_and_programs() {
    let place = place_with(&own("http://127.0.0.1:1/v1", &key_in("{ env = \"LAB_KEY\" }")));
    place.ok(["config", "set", "agent.model", "lab/small"]);
    let mut transcript = Transcript::new(&place);
    transcript.run(&["models", "lab"]);
    transcript.json(&["models", "lab"]);
    transcript.run(&["models", "list", "lab"]);
    transcript.json(&["models", "list", "lab"]);
    transcript.run(&["models", "show", "s"]);
    transcript.json(&["models", "show", "s"]);
    transcript.run(&["models", "show", "claude-sonnet-4-5"]);
    transcript.run(&["models", "show", "lab/smal"]);
    transcript.run(&["models", "ollma"]);
    transcript.run(&["models", "default"]);
    transcript.json(&["models", "default"]);
    transcript.run(&["providers", "list"]);
    transcript.json(&["providers", "list"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn every_option_says_what_is_used() {
    let place = place_with(&own("http://127.0.0.1:1/v1", ""));
    let used = |options: &[&str]| result(&place, &[&["models", "default"], options].concat(), 0);
    assert_eq!(used(&["--model", "lab/small"])["model"]["name"], "lab/small");
    assert_eq!(used(&["--provider", "lab", "--model", "s"])["model"]["name"], "lab/small");
    let elsewhere = used(&["--model", "s", "--base-url", "http://127.0.0.1:2"]);
    assert_eq!(elsewhere["base"], "http://127.0.0.1:2");
    assert_eq!(used(&["--model", "s", "--attempts", "7"])["attempts"], 7);
    assert_eq!(used(&["--model", "s", "--record", "new"])["record"], "new");
    let others = used(&["--model", "s", "--failover", "gpt-5-mini,lab/gone"]);
    assert_eq!(others["failover"][0]["name"], "openai/gpt-5-mini");
    assert_eq!(others["failover"][1]["name"], "lab/gone");
    for (key, value) in [
        ("agent.model", "lab/small"),
        ("agent.failover", "lab/gone"),
        ("agent.attempts", "2"),
        ("agent.max_cost", "2.50"),
        ("agent.max_turns", "30"),
        ("agent.max_time", "1h"),
    ] {
        place.ok(["config", "set", key, value]);
    }
    let usual = used(&[]);
    assert_eq!(usual["model"]["name"], "lab/small");
    assert_eq!(usual["failover"][0]["name"], "lab/gone");
    assert_eq!(usual["attempts"], 2);
    assert_eq!(usual["max_cost"], "2.50");
    assert_eq!(usual["max_turns"], 30);
    assert_eq!(usual["max_time_ms"], 3_600_000);
    assert_eq!(used(&["--failover", ""])["failover"], json!([]));
    let scripted = used(&["--provider", "scripted:a.toml", "--model", "s"]);
    assert_eq!(scripted["source"], "scripted:a.toml");
    assert_eq!((&scripted["base"], &scripted["failover"]), (&Value::Null, &json!([])));
}

#[test]
fn a_wrong_model_is_an_error_at_the_start() {
    let place = place_with(&own("http://127.0.0.1:1/v1", ""));
    let error = place.json_error(&["models", "default"], 2);
    assert!(error["hint"].as_str().unwrap().contains("config set agent.model"), "{error}");
    place.ok(["config", "set", "agent.model", "lab/smal"]);
    let error = place.json_error(&["models", "default"], 3);
    assert!(error["hint"].as_str().unwrap().contains("did you mean small"), "{error}");
    // The list is what helps then.
    let output = place.run(["models"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("agent.model"), "{output:?}");
    let error = place.json_error(&["models", "default", "--model", "s", "--failover", "gpt"], 3);
    assert!(error["message"].as_str().unwrap().contains("no model gpt"), "{error}");
    let file = place.path().join(".config/offshoot/models.toml");
    fs::write(file, "version = 1\n[key]\nlab = { env = \"K\" }\n").unwrap();
    let error = place.json_error(&["models"], 2);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("models.toml: ") && message.contains("no provider"), "{message}");
}

#[test]
fn a_project_chooses_from_the_list_of_its_user_alone() {
    let place = place_with(&own("http://127.0.0.1:1/v1", ""));
    place.ok(["config", "set", "agent.model", "lab/small"]);
    place.ok(["config", "set", "agent.models", "lab/gone"]);
    place.ok(["config", "set", "agent.max_cost", "1.00"]);
    let chosen = |model: &str, cost: &str| {
        place.write(
            "offshoot.toml",
            format!("[agent]\nmodel = \"{model}\"\nmax_cost = \"{cost}\"\n"),
        );
        let used = result(&place, &["models", "default"], 0);
        (used["model"]["name"].as_str().unwrap().to_owned(), used["max_cost"].clone())
    };
    assert_eq!(chosen("lab/gone", "0.50"), ("lab/gone".to_owned(), json!("0.50")));
    assert_eq!(chosen("openai/gpt-5", "5"), ("lab/small".to_owned(), json!("1.00")));
    // A file of models that a project has is nobody's.
    place.write("offshoot.toml", "");
    place.write("models.toml", "version = 2\n");
    place.write(".config/offshoot/models.toml", "version = 2\n");
    assert_eq!(result(&place, &["models", "default"], 0)["model"]["name"], "lab/small");
}

#[test]
fn providers_are_checked_by_asking_them() {
    let server = ModelServer::new();
    let place = place_with(&own(&server.base(), &key_in("{ file = \"~/key\" }")));
    let key = place.path().join("key");
    let check = |code: i32| {
        let document = result(&place, &["providers", "check", "lab"], code);
        assert!(!document.to_string().contains(KEY), "{document}");
        document["providers"][0].clone()
    };
    let missing = check(1);
    assert_eq!((&missing["state"], &missing["key"]["is_set"]), (&json!("no_key"), &json!(false)));
    assert!(server.seen().is_empty());
    fs::write(&key, "sk-wrong\n").unwrap();
    let refused = check(1);
    assert_eq!(refused["state"], "refused");
    assert!(refused["problem"].as_str().unwrap().contains("wrong key [key]"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("check the key"), "{refused}");
    fs::write(&key, format!("{KEY}\n")).unwrap();
    place.ok(["config", "set", "agent.model", "lab/gone"]);
    let ready = check(0);
    assert_eq!((&ready["state"], &ready["models"]), (&json!("ready"), &json!(2)));
    assert_eq!((&ready["missing"], &ready["key"]["origin"]), (&json!(["gone"]), &json!("file")));
    assert!(ready["latency_ms"].is_u64() && ready["asked"].is_null(), "{ready}");
    assert!(server.seen().iter().all(|line| line.starts_with("GET /v1/models ")));
    let text = place.run(["providers", "check", "lab"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("ready") && text.contains("does not list gone"), "{text}");
}

#[test]
fn a_model_is_asked_only_where_that_is_wanted_and_told_before() {
    let server = ModelServer::new();
    let key = key_in(&format!("{{ command = [\"printf\", \"{KEY}\"] }}"));
    let place = place_with(&own(&server.base(), &key));
    let output = place.run(["providers", "check", "lab", "--ask", "--model", "s", "--json"]);
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("asking lab/small for at most 16 tokens"), "{told}");
    let document = document_of(&output);
    assert!(!document.to_string().contains(KEY), "{document}");
    let lab = &document["result"]["providers"][0];
    assert_eq!(lab["asked"]["model"], "small", "{lab}");
    assert_eq!(lab["asked"]["cost"], "0.000012", "{lab}");
    assert_eq!(lab["key"]["name"], "printf", "{lab}");
    let asked = server.seen().into_iter().find(|line| line.starts_with("POST ")).unwrap();
    assert!(asked.contains("/chat/completions") && asked.contains("16"), "{asked}");
}

#[test]
fn what_does_not_answer_fails_where_it_has_to() {
    let server = ModelServer::new();
    // Nobody listens at the port of a listener that is gone.
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let place = place_with(&own(&format!("http://{closed}/v1"), ""));
    let checked = |options: &[&str], code: i32| {
        let all = result(&place, &[&["providers", "check"], options].concat(), code);
        let all = all["providers"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["name"] == "lab").unwrap()
    };
    let named = checked(&["lab"], 1);
    assert_eq!((&named["state"], &named["is_required"]), (&json!("unreachable"), &json!(true)));
    assert!(named["hint"].as_str().unwrap().contains("start the server"), "{named}");
    let elsewhere = checked(&["lab", "--base-url", &server.base()], 1);
    assert_eq!(
        (&elsewhere["state"], &elsewhere["base"]),
        (&json!("refused"), &json!(server.base()))
    );
    let unusable = checked(&["lab", "--base-url", "http://192.0.2.1/v1"], 1);
    assert_eq!(unusable["state"], "unusable");
    let error = place.json_error(&["providers", "check", "labb"], 3);
    assert!(error["hint"].as_str().unwrap().contains("did you mean lab"), "{error}");
    place.json_error(&["providers", "check", "lab", "ollama", "--base-url", "http://localhost"], 2);
}
