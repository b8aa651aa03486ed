//! Offshoot's own agent in a real project: a failing test, a fix, and a commit of git.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::document_of;

use crate::git_scene::SETTINGS;
use crate::scene::{Scene, Who};

const SCRIPT: &str = r#"version = 1
[[turn]]
say = [
  { text = "I run the tests, and look at the code." },
  { call = "run_command", id = "a", arguments = { command = "python3 -m unittest 2>&1" } },
  { call = "grep", id = "b", arguments = { pattern = "def parse" } },
]
[[turn]]
expect = { result_contains = "AssertionError" }
say = [{ call = "edit_file", id = "c", arguments = { path = "parser.py", old_text = "text.split(',')", new_text = "[part.strip() for part in text.split(',')]" } }]
[[turn]]
say = [{ call = "run_command", id = "d", arguments = { command = "python3 -m unittest 2>&1" } }]
[[turn]]
expect = { result_contains = "OK" }
say = [{ call = "run_command", id = "e", arguments = { command = "git commit -qam 'parser: spaces do not count' && git log --oneline | wc -l" } }]
[[turn]]
expect = { result_contains = "2" }
say = [{ text = "The parser strips spaces now, and the test passes." }]
"#;

fn project(who: Who) -> Scene {
    let mut scene = Scene::new(who);
    scene.set("GIT_CONFIG_NOSYSTEM", "1");
    fs::write(scene.place.path().join(".gitconfig"), SETTINGS).unwrap();
    fs::write(scene.place.path().join("script.toml"), SCRIPT).unwrap();
    scene.place.write(".gitignore", "__pycache__/\n");
    scene.place.write("parser.py", "def parse(text):\n    return text.split(',')\n");
    scene.place.write(
        "test_parser.py",
        "import unittest\nfrom parser import parse\n\n\nclass Parse(unittest.TestCase):\n    def test_spaces(self):\n        self.assertEqual(parse('a, b'), ['a', 'b'])\n",
    );
    scene.hand_over();
    scene.host("git init -q . && git add -A && git commit -qm first");
    scene
}

/// The repository, the history and the files are those that a person would have made.
fn fixes(who: Who) {
    let scene = project(who);
    let run = [
        "agent",
        "run",
        "--provider",
        "scripted:../script.toml",
        "-w",
        "fix",
        "--yes",
        "--json",
        "fix the failing test",
    ];
    let document = document_of(&scene.offshoot(&run).output().unwrap());
    let result = &document["result"];
    assert_eq!((result["ending"].as_str(), &result["committed"]), (Some("done"), &true.into()));
    let said = scene.host("git status --porcelain; git log --format=%s; python3 -m unittest 2>&1");
    assert!(said.starts_with("parser: spaces do not count\nfirst\n"), "{said}");
    assert!(said.trim_end().ends_with("OK"), "{said}");
    scene.host("git fsck --strict");
}

#[needs(Overlay, UserNamespace, "git", "python3")]
#[test]
fn a_failing_test_is_fixed() {
    fixes(Who::Me);
}

#[needs(Overlay, UserNamespace, "git", "python3")]
#[test]
fn a_failing_test_is_fixed_for_an_ordinary_user() {
    fixes(Who::Ordinary);
}
