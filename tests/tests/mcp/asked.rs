//! Commands that need an approval: put to the person at the client, or left to whoever decides elsewhere.

use std::fs;

use offshoot_tests::product::Place;
use rmcp::model::ElicitationAction;
use serde_json::{Value, json};

use super::client::{Client, Person, Revision, run, text};
use super::{asking, configure, until};

const BOTH: [Revision; 2] = [Revision::November2025, Revision::July2026];

fn approvals(place: &Place) -> Vec<Value> {
    let all = place.json(&["approvals", "list", "--all"])["approvals"].clone();
    all.as_array().unwrap().clone()
}

#[test]
fn a_person_approves_and_denies_in_their_client() {
    for revision in BOTH {
        run(async {
            let place = asking();
            let person = Person::who_says(ElicitationAction::Accept);
            let client = Client::start_as(&place, &person, &[], revision).await;
            let ran = client.call("exec", json!({"argv": ["rm", "greeting"]})).await;
            assert_eq!(ran["result"]["state"], "completed", "{revision:?} {ran}");
            assert_eq!(ran["result"]["changed_files"][0]["path"], "/greeting");
            let [question] = &*person.asked() else { panic!("{:?}", person.asked()) };
            assert!(question.contains("rm greeting"), "{question}");
            assert!(question.contains("deleted /greeting"), "{question}");
            client.end().await;

            // It is the person's decision, by way of the client, and not the agent's.
            let decision = approvals(&place)[0]["decision"].clone();
            assert_eq!(decision["by"]["user"], "tester");
            assert_eq!(decision["by"]["agent"], Value::Null);
            assert_eq!(decision["by"]["session"], "elicitation:test client");

            let person = Person::who_says(ElicitationAction::Decline);
            let client = Client::start_as(&place, &person, &[], revision).await;
            let told = client.fails("exec", json!({"argv": ["rm", "src/main.rs"]})).await;
            assert!(told.contains("denied"), "{told}");
            client.end().await;
            assert_eq!(approvals(&place).iter().filter(|one| one["state"] == "denied").count(), 1);
        });
    }
}

#[test]
fn a_question_that_is_closed_leaves_it_pending() {
    for revision in BOTH {
        run(async {
            let place = asking();
            let person = Person::who_says(ElicitationAction::Cancel);
            let client = Client::start_as(&place, &person, &[], revision).await;
            let ran = client.call("exec", json!({"argv": ["rm", "greeting"]})).await;
            assert_eq!(ran["result"]["state"], "pending_approval", "{ran}");
            assert_eq!(person.asked().len(), 1);
            assert_eq!(approvals(&place)[0]["state"], "pending");
            client.end().await;
        });
    }
}

#[test]
fn nobody_is_asked_in_the_client_where_the_user_does_not_want_it() {
    for settings in
        ["[approvals]\nelicitation = false\n", "[approvals]\napprovers = \"somebody\"\n"]
    {
        run(async {
            let place = asking();
            configure(&place, "config.toml", settings);
            let person = Person::who_says(ElicitationAction::Accept);
            let client = Client::start(&place, &person, &[]).await;
            let ran = client.call("exec", json!({"argv": ["rm", "greeting"]})).await;
            assert_eq!(ran["result"]["state"], "pending_approval", "{ran}");
            let told = client.fails("commit", json!({})).await;
            assert!(told.contains("only the user commits"), "{told}");
            assert_eq!(person.asked(), [""; 0]);
            client.end().await;
        });
    }
    // A project has no say in it, in either direction.
    run(async {
        let place = asking();
        place.write(".offshoot.toml", "[approvals]\nelicitation = false\n");
        let person = Person::who_says(ElicitationAction::Accept);
        let client = Client::start(&place, &person, &[]).await;
        let result = client.try_call("exec", json!({"argv": ["rm", "greeting"]})).await.unwrap();
        let refused = text(&result).contains("approvals.elicitation");
        assert!(refused || person.asked().len() == 1, "{result:?}");
        client.end().await;
    });
}

/// What says that it is an agent would approve its own command, whatever it says as a client.
#[test]
fn an_agent_that_starts_the_server_is_asked_nothing() {
    for revision in BOTH {
        run(async {
            let place = asking();
            let person = Person::who_says(ElicitationAction::Accept);
            let client = Client::start_by(&place, &person, &[], revision, Some("bot")).await;
            let ran = client.call("exec", json!({"argv": ["rm", "greeting"]})).await;
            assert_eq!(ran["result"]["state"], "pending_approval", "{revision:?} {ran}");
            client.call("write", json!({"path": "greeting", "content": "hello\n"})).await;
            let told = client.fails("commit", json!({})).await;
            assert!(told.contains("only the user commits"), "{told}");
            assert_eq!(person.asked(), [""; 0]);
            client.end().await;
            // Both are named.
            let approval = approvals(&place)[0].clone();
            assert_eq!(approval["state"], "pending");
            assert_eq!(approval["asked_by"]["agent"], "bot (test client)");
        });
    }
}

#[test]
fn without_a_person_at_the_client_somebody_decides_elsewhere() {
    run(async {
        let place = asking();
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        let result = client.try_call("exec", json!({"argv": ["rm", "greeting"]})).await.unwrap();
        let document = result.structured_content.clone().unwrap();
        assert_eq!(document["result"]["state"], "pending_approval");
        let id = document["result"]["approval"]["id"].as_str().unwrap().to_owned();
        let told = text(&result);
        assert!(told.contains("offshoot approvals approve") && told.contains(&id), "{told}");

        let listed = client.call("approvals", json!({})).await;
        assert_eq!(listed["result"]["approvals"][0]["id"], id.as_str());
        let shown = client.call("approvals", json!({"action": "show", "id": id})).await;
        assert!(shown["result"]["patch"].as_str().unwrap().contains("-helo"));
        // Another session does not see it.
        let other = Client::start(&place, &Person::new("other"), &[]).await;
        let told = other.fails("approvals", json!({"action": "show", "id": id})).await;
        assert!(told.contains("another session"), "{told}");
        other.end().await;

        let waited =
            client.call("approvals", json!({"action": "wait", "id": id, "wait_seconds": 60}));
        let (waited, ()) = tokio::join!(waited, async {
            place.ok(["approvals", "approve", &id]);
        });
        assert_eq!(waited["result"]["state"], "approved", "{waited}");
        client.end().await;
    });
}

/// Directories are told like files.
#[test]
fn a_directory_that_would_go_is_told() {
    run(async {
        let place = asking();
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        client.call("exec", json!({"argv": ["mkdir", "empty"]})).await;
        let result = client.try_call("exec", json!({"argv": ["rm", "-r", "empty"]})).await.unwrap();
        assert!(text(&result).contains("--- would change\ndeleted /empty/"), "{result:?}");
        let document = result.structured_content.clone().unwrap();
        let id = document["result"]["approval"]["id"].as_str().unwrap().to_owned();
        for arguments in [json!({}), json!({"action": "show", "id": id})] {
            let answer = client.try_call("approvals", arguments.clone()).await.unwrap();
            let told = text(&answer);
            assert!(told.contains("it was tried: 1 path would change"), "{told}");
            if arguments["action"] == "show" {
                assert!(told.contains("deleted /empty/"), "{told}");
                let shown = answer.structured_content.unwrap();
                assert_eq!(shown["result"]["changes"], 1, "{shown}");
            }
        }
        client.end().await;
    });
}

#[test]
fn a_command_waits_for_its_approval_if_asked_to() {
    run(async {
        let place = asking();
        place.ok(["init"]);
        let client = Client::start(&place, &Person::new("c"), &[]).await;
        let wait = json!({"argv": ["rm", "greeting"], "wait_seconds": 60});
        let place = std::sync::Arc::new(place);
        let here = std::sync::Arc::clone(&place);
        let decide = std::thread::spawn(move || {
            until("it waits", || !approvals(&here).is_empty());
            let id = approvals(&here)[0]["id"].as_str().unwrap().to_owned();
            here.ok(["approvals", "approve", &id]);
        });
        let decided = client.call("exec", wait).await;
        decide.join().unwrap();
        assert_eq!(decided["result"]["state"], "completed", "{decided}");
        client.end().await;
    });
}

#[test]
fn a_commit_is_put_to_the_person() {
    for revision in BOTH {
        run(async {
            let place = asking();
            let no = Person::who_says(ElicitationAction::Decline);
            let client = Client::start_as(&place, &no, &["-w", "fix"], revision).await;
            client.call("write", json!({"path": "greeting", "content": "hello\n"})).await;
            let told = client.fails("commit", json!({"message": "Mend it"})).await;
            assert!(told.contains("the user declined"), "{told}");
            assert!(no.asked()[0].contains("modified /greeting"), "{:?}", no.asked());
            client.end().await;
            let greeting = place.project().join("greeting");
            assert_eq!(fs::read_to_string(&greeting).unwrap(), "helo\n");

            let yes = Person::who_says(ElicitationAction::Accept);
            let client = Client::start_as(&place, &yes, &["-w", "fix"], revision).await;
            client.call("commit", json!({})).await;
            assert_eq!(fs::read_to_string(&greeting).unwrap(), "hello\n");
            // So is taking it back.
            client.call("undo", json!({})).await;
            assert_eq!(yes.asked().len(), 2);
            assert_eq!(fs::read_to_string(&greeting).unwrap(), "helo\n");
            client.end().await;
        });
    }
}
