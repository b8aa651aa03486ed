//! What the answer to a command costs a model, and what it says of what the command did not get to.

use offshoot_needs::needs;
use offshoot_tests::product::Place;
use offshoot_tests::schema;
use serde_json::{Value, json};

use super::client::{Client, Person, run, text};
use super::project;

/// A client whose user named these hosts, if any.
async fn client(place: &Place, hosts: &str) -> Client {
    let net = format!("allow={hosts}");
    let options = ["--net", &net];
    let options = if hosts.is_empty() { &[][..] } else { &options[..] };
    Client::start(place, &Person::new("c"), options).await
}

/// What is said of a command beside its end and what it printed: the line about the network or about files.
async fn told(client: &Client, arguments: Value, about: &str) -> Option<String> {
    let result = client.try_call("exec", arguments).await.unwrap();
    let text = text(&result);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(about)).collect();
    assert!(lines.len() < 2, "{text}");
    lines.first().map(|line| (*line).to_owned())
}

#[test]
fn a_simple_command_is_answered_in_few_words() {
    run(async {
        let place = project();
        let client = client(&place, "").await;
        client.call("exec", json!({"command": "echo mended > greeting"})).await;
        let tools = client.running.list_all_tools().await.unwrap();
        let tool = tools.iter().find(|tool| tool.name == "exec").unwrap();
        let schema = Value::Object(tool.output_schema.as_deref().cloned().unwrap());
        for (command, said, result) in [
            ("echo hi", "--- stdout\nhi", json!({"stdout": "hi\n"})),
            (
                "echo x > new; rm greeting",
                "--- changed\ndeleted /greeting\nadded /new",
                json!({"changed_files": [
                    {"path": "/greeting", "kind": "deleted"}, {"path": "/new", "kind": "added"}
                ]}),
            ),
        ] {
            let answer = client.try_call("exec", json!({"command": command})).await.unwrap();
            let text = text(&answer);
            assert!(text.starts_with("exit code 0 after ") && text.ends_with(said), "{text}");
            assert!(text.contains(" in workspace c\n") && text.len() < 256, "{text}");
            let document = answer.structured_content.unwrap();
            assert_eq!(schema::check(&document, &schema), [""; 0], "{document}");
            assert!(document.to_string().len() < 512, "{document}");
            let (Value::Object(all), Value::Object(expected)) = (&document["result"], &result)
            else {
                panic!("{document}");
            };
            for (name, value) in expected {
                assert_eq!(all.get(name), Some(value), "{document}");
            }
            let usual = ["exec", "workspace", "state", "exit_code", "duration_ms", "checkpoint"];
            let more = all
                .keys()
                .find(|key| !usual.contains(&key.as_str()) && !expected.contains_key(key.as_str()));
            assert_eq!(more, None, "{document}");

            // All of it is there for who asks.
            let uri = format!("offshoot://exec/{}", document["result"]["exec"].as_str().unwrap());
            let request = rmcp::model::ReadResourceRequestParams::new(uri);
            let read = client.running.read_resource(request).await.unwrap();
            let read = serde_json::to_value(&read.contents[0]).unwrap();
            let envelope: Value = serde_json::from_str(read["text"].as_str().unwrap()).unwrap();
            assert_eq!(schema::problems(&envelope), [""; 0]);
            assert_eq!(envelope["request"]["actor"]["agent"], "c");
            assert!(envelope["result"]["sandbox"].is_object());
        }
        client.end().await;
    });
}

#[test]
fn of_many_changes_the_first_are_named() {
    run(async {
        let place = project();
        let client = client(&place, "").await;
        let ran = client.call("exec", json!({"command": "touch $(seq 1000 1249)"})).await;
        assert_eq!(ran["result"]["changed_files"].as_array().unwrap().len(), 200);
        assert_eq!(ran["result"]["changed_left_out"], 50);
        client.end().await;
    });
}

/// Reaches for an address that is for documentation: nobody has it.
const REACH: &str = "import socket; socket.create_connection((\"192.0.2.1\", 9), 5)";
/// Looks a name up that nobody has.
const LOOK_UP: &str = "import socket; socket.getaddrinfo(\"registry.example\", 80)";

#[needs(UserNamespace, "python3")]
#[test]
fn a_command_that_lacked_the_network_says_how_it_gets_it() {
    run(async {
        let place = project();
        let off = "network: off, and the command tried to reach it; ";
        let person = "a person starts `offshoot mcp --net allow=HOST`, and allow_hosts asks for it";
        let alone = client(&place, "").await;
        for program in [REACH, LOOK_UP] {
            let said = told(&alone, json!({"argv": ["python3", "-c", program]}), "network").await;
            assert_eq!(said, Some(format!("{off}{person}")));
        }
        // A shell that goes on hides the exit code, and what was printed tells.
        let hidden = format!("python3 -c '{LOOK_UP}'; echo done");
        let said = told(&alone, json!({"command": hidden}), "network:").await;
        assert_eq!(said, Some(format!("{off}{person}")));
        for quiet in ["exit 1", "echo 'Network is unreachable' >&2", "echo hi"] {
            assert_eq!(told(&alone, json!({"command": quiet}), "network:").await, None);
        }
        alone.end().await;

        let named = client(&place, "registry.example,crates.io").await;
        let said = told(&named, json!({"argv": ["python3", "-c", LOOK_UP]}), "network:").await;
        let again = "call again with allow_hosts: registry.example, crates.io";
        assert_eq!(said, Some(format!("{off}{again}")));
        named.end().await;
    });
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_host_that_was_refused_is_named_with_what_allows_it() {
    run(async {
        let place = project();
        let client = client(&place, "one.example,two.example").await;
        let fetch = |host: &str| {
            format!("import urllib.request; urllib.request.urlopen(\"http://{host}/\", timeout=20)")
        };
        let call = |host: &str| {
            let argv = ["python3".to_owned(), "-c".to_owned(), fetch(host)];
            json!({"argv": argv, "allow_hosts": ["one.example"]})
        };
        let said = told(&client, call("two.example"), "network:").await.unwrap();
        assert_eq!(
            said,
            "network: two.example is not allowed; call again with allow_hosts: two.example"
        );
        let said = told(&client, call("three.example"), "network:").await.unwrap();
        assert_eq!(
            said,
            "network: three.example is not allowed; call again with allow_hosts: two.example; else a person starts \
             `offshoot mcp --net allow=three.example`, and allow_hosts asks for it"
        );
        client.end().await;
    });
}

#[needs(UserNamespace)]
#[test]
fn files_that_are_not_kept_are_named_with_their_size() {
    run(async {
        let place = project();
        let client = client(&place, "").await;
        let script = "printf 12345 > ../note; mkdir -p ../side/in; printf 123 > ../side/in/x; touch ../side/y";
        let answer = client.try_call("exec", json!({"command": script})).await.unwrap();
        let (text, above) = (text(&answer), place.path().canonicalize().unwrap());
        let expected = format!(
            "3 changes outside the project (8 B) were not kept: {0}/note, {0}/side; only files in the project are kept",
            above.display()
        );
        assert!(text.lines().any(|line| line == expected), "{text}");
        let document = answer.structured_content.unwrap();
        assert_eq!(document["result"]["discarded"]["count"], 3, "{document}");
        assert_eq!(document["result"]["discarded"]["bytes"], 8, "{document}");
        let said = told(&client, json!({"command": "echo hi"}), "not kept").await;
        assert_eq!(said, None);
        client.end().await;
    });
}
