//! A whole task, what tools say about themselves, and what may not be called.

use std::fs;

use offshoot_tests::schema;
use serde_json::{Value, json};

use super::client::{Client, Person, Revision, run, text};
use super::{project, workspaces};

#[test]
fn an_agent_does_a_whole_task_in_both_revisions() {
    for revision in [Revision::November2025, Revision::July2026] {
        run(async {
            let place = project();
            let person = Person::new("Test Agent");
            let client = Client::start_as(&place, &person, &["--allow-commit"], revision).await;
            // Looking forks nothing.
            let read = client.call("read", json!({"path": "greeting"})).await;
            assert_eq!(read["result"]["content"], "helo\n");
            assert_eq!(read["result"]["at"], "head");
            let found = client.call("search", json!({"pattern": "hel+o", "glob": "*.rs"})).await;
            assert_eq!(found["matches"][0]["path"], "/src/main.rs");
            assert_eq!(found["matches"][0]["line"], 2);
            assert_eq!(workspaces(&place), [""; 0]);

            let edit = json!({"path": "src/main.rs", "old_text": "helo", "new_text": "hello"});
            client.call("edit", edit).await;
            assert_eq!(workspaces(&place), ["test-agent"]);
            client.call("checkpoint", json!({"name": "edited"})).await;
            let line = "echo hello > greeting; cat greeting; echo oops >&2; exit 3";
            let ran = client.call("exec", json!({"command": line})).await;
            assert_eq!(ran["result"]["exit_code"], 3);
            assert_eq!(ran["result"]["stdout"], "hello\n");
            let exec = ran["result"]["exec"].as_str().unwrap();
            let envelope = super::envelope(&place, exec);
            assert_eq!(envelope["request"]["actor"]["agent"], "Test Agent");
            assert!(envelope["request"]["actor"]["session"].is_string());

            client.call("write", json!({"path": "/new/file", "content": "x\n"})).await;
            let listed = client.call("list", json!({"path": "/", "depth": 2})).await;
            let paths = listed["result"]["entries"].as_array().unwrap().iter();
            let paths: Vec<&str> = paths.map(|entry| entry["path"].as_str().unwrap()).collect();
            assert_eq!(paths, ["/greeting", "/new", "/new/file", "/src", "/src/main.rs"]);
            client.call("undo", json!({})).await;
            let diff = client.call("diff", json!({})).await;
            assert_eq!(schema::problems(&diff), [""; 0]);
            let patch = diff["result"]["patch"].as_str().unwrap();
            assert!(patch.contains("+hello") && !patch.contains("new/file"), "{patch}");
            let status = client.call("status", json!({})).await;
            assert_eq!(schema::problems(&status), [""; 0]);
            assert_eq!(status["result"]["workspace"], "test-agent");
            assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "helo\n");

            let committed = client.call("commit", json!({"message": "Mend it"})).await;
            assert_eq!(committed["result"]["committed"], true);
            assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "hello\n");
            client.call("undo", json!({})).await;
            assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "helo\n");
            client.call("undo", json!({"to": "edited"})).await;
            let read = client.call("read", json!({"path": "greeting"})).await;
            assert_eq!(read["result"]["content"], "helo\n");
            client.end().await;
        });
    }
}

#[test]
fn tools_say_what_they_take_give_and_do() {
    run(async {
        let place = project();
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        let tools = client.running.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let all = "exec read write edit search list diff status checkpoint undo commit approvals";
        assert_eq!(names.join(" "), all);
        for tool in &tools {
            let hints = tool.annotations.as_ref().unwrap();
            let reads = ["read", "search", "list", "diff", "status", "approvals"];
            assert_eq!(hints.read_only_hint, Some(reads.contains(&&*tool.name)), "{}", tool.name);
            assert_eq!(hints.open_world_hint, Some(tool.name == "exec"), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{}", tool.name);
            assert!(
                !tool.input_schema["properties"].as_object().unwrap().contains_key("workspace")
            );
        }
        // The words of the schemas are for the documentation: a model reads this whenever it starts.
        let size = serde_json::to_string(&tools).unwrap().len();
        assert!(size < 72 << 10, "{size} bytes");
        client.end().await;
    });
}

#[test]
fn what_does_not_fit_is_told_to_the_model() {
    run(async {
        let place = project();
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        for (tool, arguments, says) in [
            ("read", json!({}), "missing field `path`"),
            ("read", json!({"path": "greeting", "lines": 3}), "unknown field `lines`"),
            ("read", json!({"path": "greetings"}), "greeting"),
            ("exec", json!({}), "give `command`"),
            ("exec", json!({"command": "a", "argv": ["b"]}), "not both"),
            (
                "edit",
                json!({"path": "greeting", "old_text": "x", "new_text": "y"}),
                "not in the file",
            ),
            ("search", json!({"pattern": "("}), "`pattern` cannot be used"),
            ("status", json!({"workspace": "other"}), "leave `workspace` out"),
            ("undo", json!({}), "nothing to undo"),
            ("approvals", json!({"action": "approve"}), "unknown variant `approve`"),
        ] {
            let told = client.fails(tool, arguments.clone()).await;
            assert!(told.contains(says), "{tool} {arguments}: {told}");
        }
        assert_eq!(workspaces(&place), [""; 0], "nothing that fails forks");
        let unknown = client.try_call("format_disk", json!({})).await.unwrap_err();
        assert!(unknown.to_string().contains("is not a tool"), "{unknown}");
        client.end().await;
    });
}

#[test]
fn tools_that_are_off_can_neither_be_seen_nor_called() {
    run(async {
        let place = project();
        for options in [&["--tools", "read,list"][..], &["--no-tools", "exec,write"]] {
            let client = Client::start(&place, &Person::new("c"), options).await;
            let tools = client.running.list_all_tools().await.unwrap();
            assert!(tools.iter().all(|tool| !["exec", "write"].contains(&&*tool.name)));
            let refused = client.try_call("exec", json!({"command": "true"})).await.unwrap_err();
            assert!(refused.to_string().contains("switched off"), "{refused}");
            client.call("read", json!({"path": "greeting"})).await;
            client.end().await;
        }
        let wrong = place.run(["mcp", "--tools", "reed"]);
        assert_eq!(wrong.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&wrong.stderr).contains("there is no tool reed"));
    });
}

#[test]
fn sessions_have_workspaces_of_their_own_and_see_no_others() {
    run(async {
        let place = project();
        let one = Client::start(&place, &Person::new("twin"), &[]).await;
        let other = Client::start(&place, &Person::new("twin"), &[]).await;
        let ran = one.call("exec", json!({"command": "echo one > greeting"})).await;
        other.call("write", json!({"path": "greeting", "content": "other\n"})).await;
        assert_eq!(workspaces(&place), ["twin", "twin-2"]);
        let read = one.call("read", json!({"path": "greeting"})).await;
        assert_eq!(read["result"]["content"], "one\n");

        // Nor by what a state is compared with or put back to.
        let head = place.json(&["show", "twin"])["snapshot"]["id"].as_str().unwrap().to_owned();
        for foreign in ["twin", "twin@base", &head] {
            for (tool, name) in [("diff", "since"), ("undo", "to")] {
                let refused = other.fails(tool, json!({name: foreign})).await;
                assert!(refused.contains("has no state called"), "{tool} {foreign}: {refused}");
                assert!(!refused.contains("one\n"), "{refused}");
            }
        }
        other.call("diff", json!({"since": "head"})).await;
        other.call("diff", json!({"since": "twin-2@base"})).await;

        let exec = ran["result"]["exec"].as_str().unwrap();
        let uri = format!("offshoot://exec/{exec}");
        let own = one.running.list_all_resources().await.unwrap();
        let own: Vec<&str> = own.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(own, ["offshoot://workspace/twin", &*uri]);
        let read = |uri: String| rmcp::model::ReadResourceRequestParams::new(uri);
        let seen = one.running.read_resource(read(format!("{uri}/stdout"))).await;
        assert!(seen.is_ok(), "{seen:?}");
        for hidden in [uri, "offshoot://workspace/twin".to_owned(), "file:///etc/passwd".to_owned()]
        {
            let refused = other.running.read_resource(read(hidden)).await.unwrap_err();
            assert!(refused.to_string().contains("no resource"), "{refused}");
        }
        one.end().await;
        other.end().await;

        let any = Client::start(&place, &Person::new("boss"), &["--any-workspace"]).await;
        let read = any.call("read", json!({"path": "greeting", "workspace": "twin-2"})).await;
        assert_eq!(read["result"]["content"], "other\n");
        any.end().await;
        let fixed = Client::start(&place, &Person::new("boss"), &["-w", "twin"]).await;
        let read = fixed.call("read", json!({"path": "greeting"})).await;
        assert_eq!(read["result"]["content"], "one\n");
        fixed.end().await;
    });
}

/// An agent asks for hosts, and whoever started the server says which there are.
#[test]
fn hosts_are_those_of_the_user() {
    run(async {
        let place = project();
        let asked = json!({"command": "true", "allow_hosts": ["127.0.0.1:9"]});
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        let refused = client.fails("exec", asked.clone()).await;
        assert!(refused.contains("lets no command reach"), "{refused}");
        client.end().await;
        let options = ["--net", "allow=crates.io,127.0.0.1:9"];
        let client = Client::start(&place, &Person::new("c"), &options).await;
        let ran = client.call("exec", asked).await;
        assert_eq!(ran["result"]["exit_code"], 0, "{ran}");
        let refused = client.fails("exec", json!({"command": "true", "allow_hosts": ["*"]})).await;
        assert!(refused.contains("crates.io,127.0.0.1:9"), "{refused}");
        client.end().await;
        let wrong = place.run(["mcp", "--net", "host"]);
        assert_eq!(wrong.status.code(), Some(2));
    });
}

#[test]
fn a_command_says_who_else_changed_the_same_lines() {
    run(async {
        let place = project();
        let one = Client::start(&place, &Person::new("one"), &[]).await;
        let other = Client::start(&place, &Person::new("other"), &[]).await;
        let change = |text: &str| json!({"command": format!("sed -i 's/helo/{text}/' greeting")});
        let ran = one.call("exec", change("hello")).await;
        assert!(!ran["notes"].to_string().contains("also changed"), "{ran}");
        let ran = other.try_call("exec", change("hallo")).await.unwrap();
        let notice =
            "one also changed greeting line 1; commit other first, then `offshoot pull -w one`";
        assert!(text(&ran).contains(notice), "{ran:?}");
        let document = ran.structured_content.unwrap();
        let notes = document["notes"].as_array().unwrap();
        assert!(notes.last().unwrap().as_str().unwrap().starts_with(notice), "{document}");
        // What changes nothing has nothing to hear.
        let ran = other.call("exec", json!({"command": "cat greeting"})).await;
        assert!(!ran["notes"].to_string().contains("also changed"), "{ran}");
        one.end().await;
        other.end().await;
    });
}

#[test]
fn only_the_user_commits_where_nobody_can_be_asked() {
    run(async {
        let place = project();
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        client.call("write", json!({"path": "greeting", "content": "hello\n"})).await;
        let planned = client.call("commit", json!({"dry_run": true})).await;
        assert_eq!(planned["result"]["changes"].as_array().map(Vec::len), Some(1));
        let told = client.fails("commit", json!({})).await;
        assert!(told.contains("offshoot commit -w c"), "{told}");
        place.ok(["commit", "-w", "c"]);
        assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "hello\n");
        // Nor does anybody else undo that in the folder.
        let told = client.fails("undo", json!({})).await;
        assert!(told.contains("offshoot undo -w c"), "{told}");
        assert_eq!(fs::read_to_string(place.project().join("greeting")).unwrap(), "hello\n");
        client.end().await;
    });
}

#[test]
fn denied_commands_say_why() {
    run(async {
        let place = project();
        super::configure(
            &place,
            "policy.toml",
            "version = 1\n[defaults]\ndestructive = \"deny\"\n",
        );
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        let result = client.try_call("exec", json!({"argv": ["rm", "greeting"]})).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        let document = result.structured_content.clone().unwrap_or(Value::Null);
        assert_eq!(document["result"]["state"], "denied", "{document}");
        assert!(text(&result).contains("denied"), "{}", text(&result));
        client.end().await;
    });
}
