//! Notes and questions, which are data of the session.

use offshoot_tool::{CallOutcome, UserQuestion};
use serde_json::json;

use crate::support::{World, run};

#[test]
fn notes_stay_when_the_workspace_goes_back() {
    run(async {
        let world = World::new();
        assert_eq!(world.text("notes", json!({"action": "list"})).await, "there are no notes");
        let write = json!({"action": "write", "name": "plan", "text": "first"});
        assert_eq!(world.text("notes", write).await, "note plan has 5 bytes");
        world.text("checkpoint", json!({"name": "mark"})).await;
        world.text("notes", json!({"action": "append", "name": "plan", "text": "second"})).await;
        world.text("undo", json!({"to": "mark"})).await;
        let read = json!({"action": "read", "name": "plan"});
        assert_eq!(world.text("notes", read.clone()).await, "first\nsecond");
        world.text("notes", json!({"action": "remove", "name": "plan"})).await;
        let gone = world.refused("notes", read).await;
        assert!(gone.contains("there is no note \"plan\""), "{gone}");
        world.refused("notes", json!({"action": "write", "text": "x"})).await;
        world.refused("notes", json!({"action": "write", "name": "x"})).await;
    });
}

#[test]
fn notes_have_limits() {
    run(async {
        let world = World::new();
        let write =
            |name: String, text: String| json!({"action": "write", "name": name, "text": text});
        let long = world.refused("notes", write("a".to_owned(), "x".repeat((64 << 10) + 1))).await;
        assert!(long.contains("no more than 65536 bytes"), "{long}");
        for at in 0..64 {
            world.text("notes", write(format!("n{at}"), "x".to_owned())).await;
        }
        let full = world.refused("notes", write("more".to_owned(), "x".to_owned())).await;
        assert!(full.contains("there are 64 notes"), "{full}");
        world.text("notes", write("n5".to_owned(), "y".to_owned())).await;
    });
}

#[test]
fn names_of_notes_that_cannot_be_are_refused() {
    run(async {
        let world = World::new();
        for wrong in ["to do", "../x", "", "ä", &"a".repeat(51)] {
            let write = json!({"action": "write", "name": wrong, "text": "x"});
            let told = world.refused("notes", write).await;
            assert!(told.contains("1 to 50 letters"), "{told}");
        }
        let name = "a".repeat(50);
        world.text("notes", json!({"action": "write", "name": name, "text": "x"})).await;
    });
}

#[test]
fn a_question_is_an_outcome() {
    run(async {
        let world = World::new();
        let asked = json!({"question": "Which one?", "choices": "left"});
        let question = "Which one?".to_owned();
        let expected = UserQuestion { question, choices: vec!["left".to_owned()] };
        assert_eq!(world.outcome("ask_user", asked).await, CallOutcome::AskUser(expected));
        world.refused("ask_user", json!({"question": " "})).await;
    });
}
