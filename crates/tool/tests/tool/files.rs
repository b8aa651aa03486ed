//! Reading, finding and changing files.

use serde_json::json;

use crate::support::{World, run};

#[test]
fn files_are_read_whole_or_in_part() {
    run(async {
        let world = World::new();
        let all = world.text("read_file", json!({"path": "src/main.rs"})).await;
        assert_eq!(all, "fn main() {\n    start();\n}\n");
        let part = json!({"path": "/src/main.rs", "offset": 2, "limit": 1, "numbered": true});
        let part = world.text("read_file", part).await;
        assert_eq!(part, "     2\t    start();\n[lines 2 to 2 of 3]\n");
        let raw = world.refused("read_file", json!({"path": "raw"})).await;
        assert_eq!(raw, "/raw is no text: 2 bytes\nhint: look into it with a command");
        let missing = world.refused("read_file", json!({"path": "src/mian.rs"})).await;
        assert!(missing.contains("main.rs"), "{missing}");
        let behind = world.refused("read_file", json!({"path": "README.md", "offset": 9})).await;
        assert!(behind.contains("behind the end: there are 3 lines"), "{behind}");
        // The path as commands see it.
        let seen = world.scratch.path().canonicalize().unwrap().join("project/README.md");
        let seen = world.text("read_file", json!({"path": seen})).await;
        assert!(seen.starts_with("# Project"));
    });
}

#[test]
fn files_are_listed_found_and_searched() {
    run(async {
        let world = World::new();
        let top = world.text("list_files", json!({})).await;
        assert_eq!(top, "/README.md\n/raw\n/src/\n");
        let deep = world.text("list_files", json!({"depth": 2, "limit": 3})).await;
        assert!(deep.contains("[1 more entries: raise `limit`"), "{deep}");
        let found = world.text("find_files", json!({"glob": "*.rs"})).await;
        assert_eq!(found, "/src/main.rs\n");
        let none = world.text("find_files", json!({"glob": "*.py", "path": "src"})).await;
        assert_eq!(none, "nothing fits below /src");
        let lines = world.text("grep", json!({"pattern": "start"})).await;
        assert_eq!(lines, "/README.md:3:It starts.\n/src/main.rs:2:    start();\n");
        let lines =
            json!({"pattern": "START(", "literal": true, "ignore_case": true, "glob": "*.rs"});
        assert_eq!(world.text("grep", lines).await, "/src/main.rs:2:    start();\n");
        let one = world.text("grep", json!({"pattern": "start", "limit": 1})).await;
        assert!(one.contains("there are more: raise `limit`"), "{one}");
        let wrong = world.refused("grep", json!({"pattern": "start("})).await;
        assert!(wrong.contains("hint: set `literal`"), "{wrong}");
    });
}

#[test]
fn files_are_written_and_edited_exactly() {
    run(async {
        let world = World::new();
        let file = json!({"path": "docs/new.md", "content": "one\ntwo\ntwo\n"});
        let text = world.text("write_file", file.clone()).await;
        assert!(text.contains("/docs/new.md"), "{text}");
        assert_eq!(world.text("write_file", file).await, "/docs/new.md has that content already");
        let edit = |old: &str, all: bool| json!({"path": "docs/new.md", "old_text": old, "new_text": "2", "replace_all": all});
        let twice = world.refused("edit_file", edit("two", false)).await;
        assert!(twice.contains("2 times, at lines 2, 3"), "{twice}");
        let missing = world.refused("edit_file", edit("twoo", false)).await;
        assert!(missing.contains("the nearest lines, 2 to 2, are:\ntwo"), "{missing}");
        let text = world.text("edit_file", edit("two", true)).await;
        assert_eq!(text, "/docs/new.md is changed in 2 places, first at line 2");
        assert_eq!(world.text("read_file", json!({"path": "docs/new.md"})).await, "one\n2\n2\n");
        let text = world.text("edit_file", edit("one\n2\n", false)).await;
        assert_eq!(text, "/docs/new.md is changed at line 1");
        // The folder is as it was.
        assert!(!world.scratch.path().join("project/docs").exists());
        let outside = json!({"path": "../outside", "content": "x"});
        world.refused("write_file", outside).await;
    });
}
