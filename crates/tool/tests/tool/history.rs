//! What changed, and going back.

use serde_json::json;

use crate::support::{World, run};

#[test]
fn what_was_done_is_seen_and_taken_back() {
    run(async {
        let world = World::new();
        assert_eq!(world.text("diff", json!({})).await, "nothing changed");
        world.text("write_file", json!({"path": "one", "content": "1\n"})).await;
        let mark = world.text("checkpoint", json!({"name": "first"})).await;
        assert_eq!(mark, "checkpoint first: `undo` with to=first goes back to it");
        world.text("write_file", json!({"path": "two", "content": "2\n"})).await;
        let patch = world.text("diff", json!({})).await;
        assert!(patch.contains("\n+1\n") && patch.contains("\n+2\n"), "{patch}");
        let since = world.text("diff", json!({"since": "first"})).await;
        assert!(!since.contains("b/one") && since.contains("\n+2\n"), "{since}");
        let names = world.text("diff", json!({"paths": ["one"], "names_only": true})).await;
        assert!(names.contains("/one") && !names.contains("/two"), "{names}");
        let undone = world.text("undo", json!({})).await;
        assert!(undone.starts_with("undone: "), "{undone}");
        world.refused("read_file", json!({"path": "two"})).await;
        world.text("write_file", json!({"path": "one", "content": "other\n"})).await;
        let back = world.text("undo", json!({"to": "first"})).await;
        assert!(back.starts_with("the workspace is back at"), "{back}");
        assert_eq!(world.text("read_file", json!({"path": "one"})).await, "1\n");
    });
}

#[test]
fn an_agent_undoes_neither_a_commit_nor_its_workspace() {
    run(async {
        let world = World::new();
        let fresh = world.refused("undo", json!({})).await;
        assert!(fresh.contains("nothing was done in this conversation"), "{fresh}");
        assert!(world.project.workspace("work").is_ok(), "it is still there");
        world.text("write_file", json!({"path": "one", "content": "1\n"})).await;
        world.host.workspace().commit("one").unwrap();
        let commit = world.refused("undo", json!({})).await;
        assert!(commit.contains("changes the user's folder"), "{commit}");
        assert!(world.scratch.path().join("project/one").exists());
    });
}

#[test]
fn states_of_other_workspaces_are_not_there() {
    run(async {
        let world = World::new();
        let other = world.project.fork("other").unwrap();
        other.write("/secret", b"secret\n").unwrap();
        other.checkpoint("theirs", "").unwrap();
        for name in ["theirs", "other", "other@theirs"] {
            let text = world.refused("diff", json!({"since": name})).await;
            assert!(text.contains("has no state called"), "{text}");
            assert!(!text.contains("secret"), "{text}");
            world.refused("undo", json!({"to": name})).await;
        }
    });
}
