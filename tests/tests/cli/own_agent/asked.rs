//! Which model answers, how often it is asked, and what is written down; and which hosts an agent's commands reach.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::json;

use super::*;

/// A server of OpenAI's interface. The model `busy` never has time; any other writes a file and says so. It runs as long as the test does.
struct Server {
    address: SocketAddr,
    /// Which models were asked.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.2", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // Whoever asks may be gone.
                drop(serve(stream, &all));
            }
        });
        Self { address, asked }
    }

    fn times(&self, model: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|it| *it == model).count()
    }
}

fn serve(mut stream: TcpStream, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut length, mut first) = (0, String::new());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if first.is_empty() {
            first.clone_from(&line);
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("content-length: ") {
            length = text.parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let model = body["model"].as_str().unwrap_or(&first).to_owned();
    asked.lock().unwrap().push(model.clone());
    let (status, kind, answer) = match model.as_str() {
        "busy" => {
            let error = json!({ "error": { "message": "too much to do" } });
            ("503 Busy\r\nretry-after: 0", "application/json", error.to_string())
        }
        _ => ("200 OK", "text/event-stream", events(&body)),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
        answer.len()
    )
}

/// A call at first, and words when its result is there.
fn events(body: &Value) -> String {
    let has_result =
        body["messages"].as_array().is_some_and(|all| all.iter().any(|it| it["role"] == "tool"));
    let call = json!({ "tool_calls": [{
        "index": 0, "id": "a", "type": "function",
        "function": { "name": "write_file", "arguments": "{\"path\":\"new\",\"content\":\"new\\n\"}" },
    }] });
    let (delta, reason) = match has_result {
        true => (json!({ "content": "It is written." }), "stop"),
        false => (call, "tool_calls"),
    };
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk = json!({ "id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    chunk(delta, Value::Null) + &chunk(json!({}), reason.into()) + "data: [DONE]\n\n"
}

/// A place whose user has two models of a server.
fn place_of(server: &Server) -> Place {
    let place = place("");
    let file = place.path().join(".config/offshoot/models.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let models = format!(
        "version = 1\n[provider.lab]\napi = \"openai_chat\"\nbase = \"http://{}/v1\"\n\
         [[model]]\nprovider = \"lab\"\nid = \"busy\"\ncontext = 90000\noutput = 1000\n\
         [[model]]\nprovider = \"lab\"\nid = \"ready\"\ncontext = 90000\noutput = 1000\n",
        server.address
    );
    fs::write(file, models).unwrap();
    place
}

#[needs(UserNamespace)]
#[test]
fn another_model_answers_and_what_it_said_is_kept() {
    let server = Server::new();
    let place = place_of(&server);
    let run = |options: &[&str]| {
        let output = place.run([&["agent", "run", "--json"], options, &["write it"]].concat());
        (output.status.code(), document_of(&output))
    };
    let busy = ["--model", "lab/busy", "--attempts"];
    let (code, document) = run(&[&busy[..], &["3", "--failover", ""]].concat());
    assert_eq!((code, server.times("busy")), (Some(1), 3), "{document}");
    let reason = document["result"]["reason"].to_string();
    assert!(reason.contains("too much to do"), "{document}");
    // One attempt for each of two answers.
    let recorded = ["1", "--failover", "lab/ready", "--record", "../record", "-w", "one"];
    let (code, document) = run(&[&busy[..], &recorded].concat());
    assert_eq!((code, server.times("ready")), (Some(0), 2), "{document}");
    assert!(server.times("busy") > 3, "{:?}", server.asked);
    assert_eq!(document["result"]["said"], "It is written.");
    let asked = server.asked.lock().unwrap().len();
    let (code, again) = run(&["--provider", "replay:../record", "-w", "two"]);
    assert_eq!((code, &again["result"]["said"]), (Some(0), &"It is written.".into()), "{again}");
    assert_eq!(again["result"]["changes"][0]["path"], "/new");
    assert_eq!(server.asked.lock().unwrap().len(), asked, "a replay asks nobody");
    // The settings say the same as the options.
    place.ok(["config", "set", "agent.model", "lab/busy"]);
    place.ok(["config", "set", "agent.failover", "lab/ready"]);
    place.ok(["config", "set", "agent.attempts", "2"]);
    let before = server.times("busy");
    let (code, document) = run(&["-w", "three", "--failover", ""]);
    assert_eq!((code, server.times("busy") - before), (Some(1), 2), "{document}");
    let (code, document) = run(&["-w", "four"]);
    assert_eq!((code, &document["result"]["ending"]), (Some(0), &"done".into()), "{document}");
}

/// A session is gone on with by the model that it has, unless another is asked for.
#[needs(UserNamespace)]
#[test]
fn a_session_keeps_its_model() {
    let server = Server::new();
    let place = place_of(&server);
    let run = |more: &[&str]| {
        let output = place.run([&["agent", "run", "--json"], more].concat());
        document_of(&output)["result"].clone()
    };
    run(&["--model", "lab/ready", "-w", "one", "--name", "one", "--max-turns", "1", "write it"]);
    let done = run(&["--resume", "one"]);
    assert_eq!((&done["said"], server.times("ready")), (&"It is written.".into(), 2), "{done}");
    place.ok(["config", "set", "agent.model", "lab/busy"]);
    run(&["--resume", "one", "once more"]);
    assert_eq!((server.times("ready"), server.times("busy")), (3, 0));
    run(&["--resume", "one", "--model", "lab/busy", "--attempts", "1", "once more"]);
    assert_eq!((server.times("ready"), server.times("busy")), (3, 1));
    let session = place.json(&["sessions", "show", "one"])["session"].clone();
    assert_eq!((&session["provider"], &session["model"]), (&"lab".into(), &"busy".into()));
}

/// Commands of an agent have no network but what is allowed, and neither has its tool for pages.
#[needs(UserNamespace)]
#[test]
fn hosts_are_reached_that_were_allowed() {
    let server = Server::new();
    let url = format!("http://{}/greeting", server.address);
    let script = format!(
        r#"version = 1
[[turn]]
say = [
  {{ call = "run_command", id = "a", arguments = {{ command = "curl -sS {url}", allow_hosts = ["{}"] }} }},
  {{ call = "fetch_url", id = "b", arguments = {{ url = "{url}" }} }},
]
[[turn]]
say = [{{ text = "Asked." }}]
"#,
        server.address
    );
    let place = place(&script);
    let run = |name: &str, more: &[&str]| {
        let arguments = [&RUN[..], &["-w", name, "--name", name], more, &["ask it"]].concat();
        let output = place.run(arguments);
        assert!(output.status.success(), "{output:?}");
        place.ok(["sessions", "export", name, "--markdown"])
    };
    let page = run("without", &[]);
    assert_eq!(page.matches("--net allow=").count(), 2, "{page}");
    assert_eq!(server.asked.lock().unwrap().len(), 0, "{page}");
    let allowed = format!("allow={}", server.address);
    let page = run("with", &["--net", &allowed]);
    assert!(!page.contains("--net allow="), "{page}");
    assert_eq!(server.asked.lock().unwrap().len(), 2, "{page}");
}
