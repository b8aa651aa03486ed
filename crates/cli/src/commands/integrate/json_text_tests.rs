use serde_json::json;

use super::super::edit::{put_in, taken_out};
use super::*;

fn server() -> JsonEntry {
    let value = json!({"args": ["mcp"], "command": "offshoot"});
    JsonEntry::Member { path: &["mcpServers", "offshoot"], value }
}

fn hook() -> JsonEntry {
    let value =
        json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "/a/offshoot hook x"}]});
    JsonEntry::Hook { path: &["hooks", "PreToolUse"], value }
}

/// Texts of all kinds, each with something else in it that has to stay.
const TEXTS: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\"a\":1}",
    "{\"a\":1,}",
    "{\"mcpServers\":{}}",
    "{\"mcpServers\":{\"b\":{}}, \"hooks\": {\"PreToolUse\": []}}\n",
    "{\n  \"a\": 1\n}",
    "{\n\t\"a\": [\n\t\t1\n\t]\n}\n",
    "{\r\n    \"a\": 1\r\n}\r\n",
    "{\n  \"a\": 1, // one\n  \"b\": 2 // two\n  // three\n}\n",
    "// first\n{\n  \"a\": 1,\n  /* c */\n}\n",
    "\u{feff}{\n  \"mcpServers\": {\n    \"b\": {}\n  },\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Edit\", \"hooks\": []}\n    ],\n    \"Stop\": []\n  }\n}",
    "{\n  \"mcpServers\": {},\n  \"hooks\": { \"PreToolUse\": [ ] }\n}\n",
    "{\n  // nothing yet\n}\n",
];

#[test]
fn entries_go_in_and_out_and_nothing_else_changes() {
    for entry in [server(), hook()] {
        for text in TEXTS {
            assert_eq!(entry.find(text).unwrap(), None, "{text:?}");
            let insertion = entry.insertion(text).unwrap();
            let (with, recorded) = put_in(text, &insertion.pieces);
            let found = entry.find(&with).unwrap();
            assert!(found.is_some_and(|found| entry.is_own(&found)), "{text:?} {with:?}");
            assert_eq!(taken_out(&with, &recorded).as_deref(), Some(*text));
            if !is_blank(text) {
                // The same without the record of where it was put.
                let out = entry.removed(&with, insertion.made).unwrap();
                assert_eq!(parse(&out).unwrap().value(), parse(text).unwrap().value(), "{with:?}");
            }
        }
    }
}

#[test]
fn the_layout_of_the_file_is_kept() {
    let text = "{\n    \"mcpServers\": {\n        \"b\": {} // of mine\n    }\n}\n";
    let (with, _) = put_in(text, &server().insertion(text).unwrap().pieces);
    assert_eq!(
        with,
        "{\n    \"mcpServers\": {\n        \"b\": {}, // of mine\n        \"offshoot\": {\n            \"args\": [\n                \"mcp\"\n            ],\n            \"command\": \"offshoot\"\n        }\n    }\n}\n"
    );
}

#[test]
fn what_others_added_beside_an_entry_stays() {
    let text = "{\n  \"a\": 1\n}\n";
    let insertion = server().insertion(text).unwrap();
    let (with, recorded) = put_in(text, &insertion.pieces);
    let mine = with.replace("\"offshoot\": {", "\"mine\": {},\n    \"offshoot\": {");
    assert_eq!(taken_out(&mine, &recorded), None);
    let out = server().removed(&mine, insertion.made).unwrap();
    assert_eq!(out, "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"mine\": {}\n  }\n}\n");
    // Once that is gone as well, so is what was made for the entry.
    let again = with.replace("\"a\": 1", "\"a\": 2, \"z\": 3");
    let out = server().removed(&again, insertion.made).unwrap();
    assert_eq!(out, "{\n  \"a\": 2, \"z\": 3\n}\n");
}

#[test]
fn what_is_something_else_is_not_written_into() {
    let entries =
        [(server(), "{\"mcpServers\": 1}"), (hook(), "{\"hooks\": {\"PreToolUse\": {}}}")];
    for (entry, text) in entries {
        assert!(entry.insertion(text).unwrap_err().contains("is not a"), "{text}");
    }
    assert!(server().insertion("[]").is_err());
}

/// Who adds a hook to the item of ours, or ours to an item of theirs, keeps it; so does who has one that only looks like ours.
#[test]
fn a_hook_beside_ours_stays() {
    let ours = "{ \"type\": \"command\", \"command\": \"/a/offshoot hook x\" }";
    let mine = "{ \"type\": \"command\", \"command\": \"mine.sh\" }";
    let list = |items: &str| format!("{{\n  \"hooks\": {{ \"PreToolUse\": [{items}] }}\n}}\n");
    let item = |hooks: &str| format!("{{ \"matcher\": \"Bash\", \"hooks\": [{hooks}] }}");
    for (with, without) in [
        (item(&format!("{ours}, {mine}")), item(&format!(" {mine}"))),
        (item(&format!("{mine}, {ours}")), item(mine)),
        (item(&format!("{mine}, {ours}, {mine}")), item(&format!("{mine}, {mine}"))),
        (format!("{}, {}", item(mine), item(ours)), item(mine)),
        (format!("{}, {}", item(ours), item(mine)), format!(" {}", item(mine))),
    ] {
        let found = hook().find(&list(&with)).unwrap().unwrap();
        assert!(hook().is_own(&found), "{with}");
        assert_eq!(hook().removed(&list(&with), 0).unwrap(), list(&without));
    }
    // What somebody gave the item besides is theirs, and so is the item.
    let with = list("{ \"matcher\": \"Bash\", \"mine\": 1, \"hooks\": [OURS] }");
    let out = hook().removed(&with.replace("OURS", ours), 0).unwrap();
    assert_eq!(out, with.replace("OURS", ""));
    for command in ["my-offshoot hook x", "mine offshoot.sh hook x", "echo offshoot; other hook x"]
    {
        let text = list(&item(&ours.replace("/a/offshoot hook x", command)));
        assert_eq!(hook().find(&text).unwrap(), None, "{command}");
        assert_eq!(hook().removed(&text, 0).unwrap(), text);
    }
    // At another place, and changed: ours, but not as it was put in.
    for command in ["/b/offshoot hook x", "'/b c/offshoot' hook x", "X=1 offshoot hook x"] {
        let text = list(&item(&ours.replace("/a/offshoot hook x", command)));
        assert!(hook().find(&text).unwrap().is_some_and(|found| !hook().is_own(&found)));
    }
}
