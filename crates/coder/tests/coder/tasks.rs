//! Tasks from the first word to the last.

use std::fs;

use offshoot_coder::Rested;
use offshoot_engine::session::SessionState;
use offshoot_needs::needs;

use crate::support::{World, block};

const FIX: &str = r#"
[[turn]]
expect = { system_contains = "Run `sh test.sh` after each change.", tools = ["edit_file", "run_command"] }
say = [
  { text = "I look first." },
  { call = "read_file", id = "a", arguments = { path = "sum.sh" } },
  { call = "run_command", id = "b", arguments = { command = "sh test.sh" } },
]
[[turn]]
say = [{ call = "edit_file", id = "c", arguments = { path = "sum.sh", old_text = "$1 - $2", new_text = "$1 + $2" } }]
usage = { input = 100, output = 20 }
[[turn]]
say = [{ call = "run_command", id = "d", arguments = { command = "sh test.sh && echo passed" } }]
usage = { input = 120, output = 10 }
[[turn]]
expect = { result_contains = "passed" }
say = [{ text = "It adds now." }]
"#;

#[needs(UserNamespace)]
#[test]
fn a_failing_test_is_fixed_in_the_workspace() {
    block(async {
        let world = World::new();
        let (mut coder, workspace) = world.coder(FIX).await;
        let rested = coder.say("Fix the failing test").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "It adds now.".to_owned() });
        let patch = String::from_utf8(workspace.patch().unwrap()).unwrap();
        assert!(patch.contains("+echo $(($1 + $2))"), "{patch}");
        let untouched = fs::read_to_string(world.folder().join("sum.sh")).unwrap();
        assert_eq!(untouched, "echo $(($1 - $2))\n");
        let head = coder.session().head().unwrap();
        assert_eq!(head.state, SessionState::Ended);
        assert_eq!((head.totals.tokens_in, head.totals.tokens_out), (Some(220), Some(30)));
        workspace.commit("Add").unwrap();
        let committed = fs::read_to_string(world.folder().join("sum.sh")).unwrap();
        assert_eq!(committed, "echo $(($1 + $2))\n");
    });
}

const DELEGATES: &str = r#"
[[turn]]
when = { last_contains = "Ask somebody" }
say = [{ call = "delegate", id = "d", arguments = { task = "Write b" } }]
[[turn]]
when = { last_contains = "Write b" }
say = [{ call = "write_file", id = "w", arguments = { path = "b", content = "b\n" } }]
[[turn]]
when = { result_contains = "Its work was merged" }
say = [{ text = "All is there." }]
[[turn]]
when = { result_contains = "/b" }
say = [{ text = "I wrote b." }]
"#;

#[needs(UserNamespace)]
#[test]
fn a_sub_agent_works_in_a_fork_that_is_merged() {
    block(async {
        let world = World::new();
        let (mut coder, workspace) = world.coder(DELEGATES).await;
        let rested = coder.say("Ask somebody").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "All is there.".to_owned() });
        assert_eq!(workspace.read("/b").unwrap(), b"b\n");
        let names: Vec<String> =
            world.project.workspaces().unwrap().iter().map(|it| it.name().unwrap()).collect();
        assert!(names.iter().any(|name| name.starts_with("fix-sub-")), "{names:?}");
        assert_eq!(world.project.sessions().unwrap().len(), 2);
    });
}

const LONG: &str = r#"
[[turn]]
say = [{ call = "run_command", id = "a", arguments = { command = "seq 1 20000" } }]
[[turn]]
expect = { result_contains = "read_result with id" }
say = [{ text = "Long." }]
"#;

#[needs(UserNamespace)]
#[test]
fn long_results_are_kept_in_the_session() {
    block(async {
        let world = World::new();
        let (mut coder, _workspace) = world.coder(LONG).await;
        let rested = coder.say("Count").await.unwrap();
        assert_eq!(rested, Rested::Idle { said: "Long.".to_owned() });
        let events = coder.session().events(1, 256).unwrap();
        let ended = events.iter().find(|event| event.kind == "call_ended").unwrap();
        let (_, rest) = ended.body.split_once("read_result with id \\\"").unwrap();
        let id = rest.split('\\').next().unwrap().parse().unwrap();
        let whole = world.again().session("work").unwrap();
        let text = whole.get_text(&id, 0, 1 << 20).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\n10000\n") && text.contains("\n20000"), "{} bytes", text.len());
        assert!(!ended.body.contains("\\n10000\\n"));
    });
}
