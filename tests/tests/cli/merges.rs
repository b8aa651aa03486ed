//! `merge`, `conflicts` and `resolve`.

use std::fs;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::user::{User, give_away};
use serde_json::Value;

use crate::background::Background;
use crate::transcript::{Transcript, demo, demo_vault};

/// Writes a file of a workspace.
pub(crate) fn write(place: &Place, workspace: &str, path: &str, text: &str) {
    place.ok_with(["fs", "write", "-p", path, "-w", workspace], text.as_bytes());
}

pub(crate) fn cat(place: &Place, workspace: &str, path: &str) -> String {
    place.ok(["fs", "cat", path, "-w", workspace])
}

/// What a command answers that may find conflicts, and its exit code.
pub(crate) fn answer(place: &Place, arguments: &[&str]) -> (Value, Option<i32>) {
    let output = place.run(offshoot_tests::product::with_json(arguments));
    let document = document_of(&output);
    let fits = document["result"]["conflicts"].as_array().is_none_or(Vec::is_empty);
    assert_eq!(document["success"], fits, "{document}");
    (document["result"].clone(), output.status.code())
}

/// The paths that are to be decided in a workspace.
pub(crate) fn open(place: &Place, workspace: &str) -> Vec<String> {
    let list = place.json(&["conflicts", "-w", workspace]);
    let all = list["conflicts"].as_array().unwrap();
    all.iter().map(|conflict| conflict["path"].as_str().unwrap().to_owned()).collect()
}

fn snapshot_root(place: &Place, workspace: &str) -> String {
    let log = place.json(&["log", "-w", workspace]);
    log["snapshots"][0]["snapshot"]["root"].as_str().unwrap().to_owned()
}

/// Two workspaces that do not agree about a text and a deletion.
fn quarrel() -> Place {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    write(&place, "fix", "/README.md", "# Demo\n\nA fixed project.\n");
    write(&place, "other", "/README.md", "# Demo\n\nAnother project.\n");
    write(&place, "fix", "/fixed.txt", "fixed\n");
    write(&place, "other", "/src/lib.rs", "pub fn two() -> u8 {\n    2\n}\n");
    place.ok(["fs", "rm", "/src/lib.rs", "-w", "fix"]);
    place
}

/// The same, merged into `both`.
fn merged() -> Place {
    let place = quarrel();
    let (_, code) = answer(&place, &["merge", "fix", "other", "--into", "both"]);
    assert_eq!(code, Some(4));
    place
}

#[test]
fn merges_for_people() {
    let place = quarrel();
    place.ok(["workspace", "create", "third"]);
    write(&place, "third", "/third.txt", "3\n");
    let mut transcript = Transcript::new(&place);
    transcript.run(&["merge", "fix", "third", "--into", "two", "--dry-run"]);
    transcript.run(&["merge", "fix", "third", "--into", "two", "-m", "both of them"]);
    transcript.run(&["merge", "third", "--into", "two"]);
    transcript.run(&["merge", "two", "--into", "fix"]);
    transcript.run(&["merge", "fix", "other", "--into", "both", "-n"]);
    transcript.run(&["merge", "fix", "other", "--into", "both"]);
    transcript.run(&["status", "-w", "both"]);
    transcript.run(&["conflicts", "-w", "both"]);
    transcript.run(&["conflicts", "/src", "-w", "both"]);
    transcript.run(&["conflicts", "/README.md", "--side", "other", "-w", "both"]);
    transcript.run(&["conflicts", "/README.md", "--side", "base", "-w", "both"]);
    transcript.run(&["conflicts", "/src/lib.rs", "--side", "1", "-w", "both"]);
    transcript.run(&["conflicts", "--diff", "-w", "both"]);
    transcript.run(&["fs", "cat", "/README.md", "-w", "both"]);
    transcript.run(&["resolve", "/README.md", "--as-is", "-w", "both"]);
    transcript.run(&["resolve", "/README.md", "--side", "nobody", "-w", "both"]);
    transcript.run(&["resolve", "/run.sh", "--ours", "-w", "both"]);
    transcript.run(&["resolve", "/README.md", "--theirs", "-w", "both"]);
    transcript.run(&["resolve", "--all", "--ours", "-w", "both"]);
    transcript.run(&["conflicts", "-w", "both"]);
    transcript.run(&["undo", "-w", "both"]);
    transcript.run(&["conflicts", "/README.md", "-w", "both"]);
    transcript.run(&["log", "-w", "both"]);
    transcript.run(&["merge", "nobody", "--into", "both"]);
    transcript.run(&["merge", "fix", "--into", "head"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn merges_for_programs() {
    let place = quarrel();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["merge", "fix", "other", "--into", "both", "--dry-run"]);
    transcript.json(&["merge", "fix", "other", "--into", "both"]);
    transcript.json(&["status", "-w", "both"]);
    transcript.json(&["conflicts", "-w", "both"]);
    transcript.json(&["conflicts", "/README.md", "--side", "2", "-w", "both"]);
    transcript.json(&["conflicts", "/src/lib.rs", "--side", "fix", "-w", "both"]);
    transcript.json(&["conflicts", "/src/lib.rs", "--diff", "-w", "both"]);
    transcript.json(&["conflicts", "/run.sh", "-w", "both"]);
    transcript.json(&["resolve", "/README.md", "--as-is", "-w", "both"]);
    transcript.json(&["resolve", "/src", "--ours", "-w", "both"]);
    transcript.json(&["resolve", "--all", "--union", "-w", "both"]);
    assert_snapshot!(transcript.finish());
}

/// Three forks that fit, in all six orders.
#[test]
fn the_order_makes_no_difference_where_all_fits() {
    let place = demo_vault();
    place.write("text", (1..=9).map(|n| format!("{n}\n")).collect::<String>());
    place.ok(["init"]);
    for (name, line) in [("a", "1\n"), ("b", "5\n"), ("c", "9\n")] {
        place.ok(["workspace", "create", name]);
        let text = cat(&place, name, "/text").replace(line, &format!("{name} was here\n"));
        write(&place, name, "/text", &text);
        write(&place, name, &format!("/of-{name}"), name);
    }
    let orders = ["abc", "acb", "bac", "bca", "cab", "cba"];
    let mut roots = Vec::new();
    for order in orders {
        let sides: Vec<String> = order.chars().map(String::from).collect();
        let into = format!("merged-{order}");
        let mut arguments = vec!["merge", "--into", &into];
        arguments.extend(sides.iter().map(String::as_str));
        let (result, code) = answer(&place, &arguments);
        assert_eq!((code, &result["created"]), (Some(0), &Value::Bool(true)));
        assert_eq!(result["snapshot"]["parents"].as_array().unwrap().len(), 3);
        roots.push(snapshot_root(&place, &into));
    }
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
    let text = "a was here\n2\n3\n4\nb was here\n6\n7\n8\nc was here\n";
    assert_eq!(cat(&place, "merged-abc", "/text"), text);
    assert_eq!(cat(&place, "merged-cab", "/of-b"), "b");
}

#[test]
fn a_merge_is_one_operation() {
    let place = quarrel();
    let before = snapshot_root(&place, "fix");
    let (result, code) = answer(&place, &["merge", "other", "--into", "fix"]);
    assert_eq!((code, &result["created"]), (Some(4), &Value::Bool(false)));
    assert_eq!(open(&place, "fix"), ["/README.md", "/src/lib.rs"]);
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(snapshot_root(&place, "fix"), before);
    assert_eq!(open(&place, "fix"), [""; 0]);
    place.ok(["redo", "-w", "fix"]);
    assert_eq!(open(&place, "fix"), ["/README.md", "/src/lib.rs"]);
    answer(&place, &["merge", "fix", "other", "--into", "new"]);
    place.ok(["undo", "-w", "new"]);
    place.json_error(&["status", "-w", "new"], 3);
}

#[test]
fn a_dry_run_changes_nothing() {
    let place = quarrel();
    let before = place.json(&["op", "log"]);
    let (result, code) = answer(&place, &["merge", "fix", "other", "--into", "both", "-n"]);
    assert_eq!((code, result["conflicts"].as_array().unwrap().len()), (Some(4), 2));
    let (result, code) = answer(&place, &["merge", "head", "--into", "fix", "-n"]);
    assert_eq!((code, &result["sides"][1]["included"]), (Some(0), &Value::Bool(true)));
    assert_eq!(place.json(&["op", "log"]), before);
    place.json_error(&["status", "-w", "both"], 3);
}

/// What a side has is kept with the conflict, and with nothing else.
#[test]
fn sides_outlive_their_workspaces() {
    let place = merged();
    let side = |place: &Place, workspace: &str, path: &str, side: &str| {
        place.ok(["conflicts", path, "--side", side, "-w", workspace])
    };
    place.ok(["workspace", "create", "fork", "--from", "both"]);
    for workspace in ["fix", "other", "both"] {
        place.ok(["workspace", "delete", workspace]);
    }
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    place.ok(["vault", "pack"]);
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    let check = |place: &Place| {
        assert_eq!(open(place, "fork"), ["/README.md", "/src/lib.rs"]);
        assert!(side(place, "fork", "/README.md", "fix").contains("A fixed project."));
        assert!(side(place, "fork", "/README.md", "other").contains("Another project."));
        assert!(side(place, "fork", "/README.md", "base").contains("A small project."));
        assert!(side(place, "fork", "/src/lib.rs", "base").contains("fn one"));
        assert_eq!(place.json(&["vault", "check"])["ok"], true);
    };
    check(&place);
    let archive = place.path().join("archive");
    place.ok(["vault", "export", archive.to_str().unwrap()]);
    place.ok(["vault", "delete", "project", "--yes"]);
    place.ok(["vault", "import", archive.to_str().unwrap()]);
    let project = place.project();
    place.ok(["binding", "move", "/", project.to_str().unwrap(), "--vault", "project"]);
    check(&place);
    let out = place.path().join("out");
    place.ok(["fs", "export", "/", out.to_str().unwrap(), "-w", "fork"]);
    let text = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(text.contains("<<<<<<< fix\n") && text.contains(">>>>>>> other\n"), "{text}");
}

/// Whoever takes the markers out decides, with whatever program.
#[needs(UserNamespace)]
#[test]
fn programs_decide() {
    let place = merged();
    let exec = |place: &Place, script: &str| {
        let result = place.json(&["exec", "-w", "both", "--shell", script]);
        result["conflicts"].as_u64().unwrap_or(0)
    };
    assert_eq!(exec(&place, "true"), 2);
    assert_eq!(exec(&place, "touch README.md src/lib.rs; chmod 600 README.md"), 2);
    assert_eq!(exec(&place, "sed -i '/^=======/d' README.md"), 2);
    assert_eq!(exec(&place, "echo '// more' >> src/lib.rs"), 2, "a deletion is decided otherwise");
    assert_eq!(exec(&place, "sed -i -e '/^[<|>]\\{7\\}/d' README.md"), 1);
    assert_eq!(open(&place, "both"), ["/src/lib.rs"]);
    place.ok(["undo", "-w", "both"]);
    assert_eq!(open(&place, "both").len(), 2);
    assert_eq!(exec(&place, "rm src/lib.rs"), 1);
    let copied = place.json(&["exec", "-w", "both", "-c", "exec.driver=copy", "--", "true"]);
    assert_eq!((copied["driver"].as_str(), copied["conflicts"].as_u64()), (Some("copy"), Some(1)));
    assert_eq!(exec(&place, "echo decided > README.md.new; mv README.md.new README.md"), 0);
    assert_eq!(open(&place, "both"), [""; 0]);
}

#[needs(UserNamespace)]
#[test]
fn an_ordinary_user_decides_too() {
    let user = User::new();
    let place = demo();
    give_away(place.path());
    let ok = |arguments: &[&str]| user.ok(&place, arguments);
    ok(&["init"]);
    for (name, script) in [("a", "echo a > README.md"), ("b", "echo b > README.md")] {
        ok(&["workspace", "create", name]);
        ok(&["exec", "-w", name, "--shell", script]);
    }
    assert!(user.run(&place, &["merge", "b", "--into", "a"]).status.code() == Some(4));
    assert!(ok(&["conflicts", "-w", "a"]).contains("/README.md"));
    ok(&["exec", "-w", "a", "--shell", "printf 'a and b\\n' > README.md"]);
    assert!(ok(&["conflicts", "-w", "a"]).contains("no conflicts"));
    ok(&["vault", "check"]);
}

#[test]
fn files_are_written_moved_and_removed_with_their_conflicts() {
    let place = merged();
    place.ok(["fs", "mv", "/README.md", "/READ.md", "-w", "both"]);
    place.ok(["fs", "cp", "/READ.md", "/copy.md", "-w", "both"]);
    assert_eq!(open(&place, "both"), ["/READ.md", "/copy.md", "/src/lib.rs"]);
    let text = cat(&place, "both", "/READ.md");
    write(&place, "both", "/READ.md", &format!("{text}more\n"));
    assert_eq!(open(&place, "both").len(), 3, "the markers are still there");
    write(&place, "both", "/READ.md", "decided\n");
    assert_eq!(open(&place, "both"), ["/copy.md", "/src/lib.rs"]);
    place.ok(["fs", "rm", "/copy.md", "-w", "both"]);
    place.ok(["fs", "revert", "/src/lib.rs", "-w", "both"]);
    assert_eq!(open(&place, "both"), [""; 0]);
}

#[test]
fn every_way_to_decide() {
    let place = merged();
    let decide = |arguments: &[&str]| {
        let all = [&["resolve", "/README.md"], arguments, &["-w", "both"]].concat();
        place.ok(all);
        let text = cat(&place, "both", "/README.md");
        assert_eq!(open(&place, "both"), ["/src/lib.rs"]);
        place.ok(["undo", "-w", "both"]);
        assert_eq!(open(&place, "both").len(), 2);
        text
    };
    assert_eq!(decide(&["--ours"]), "# Demo\n\nA fixed project.\n");
    assert_eq!(decide(&["--theirs"]), "# Demo\n\nAnother project.\n");
    assert_eq!(decide(&["--side", "other"]), "# Demo\n\nAnother project.\n");
    assert_eq!(decide(&["--side", "1"]), "# Demo\n\nA fixed project.\n");
    assert_eq!(decide(&["--base"]), "# Demo\n\nA small project.\n");
    assert_eq!(decide(&["--union"]), "# Demo\n\nA fixed project.\nAnother project.\n");
    assert!(decide(&["--as-is", "--force"]).contains("<<<<<<<"));
    let mine = place.path().join("mine");
    fs::write(&mine, "mine\n").unwrap();
    assert_eq!(decide(&["--from", mine.to_str().unwrap()]), "mine\n");
    fs::write(&mine, "a\n=======\nb\n").unwrap();
    let from = ["resolve", "/README.md", "--from", mine.to_str().unwrap(), "-w", "both"];
    place.json_error(&from, 4);
    let resolve = ["resolve", "/README.md", "--from", "-", "-w", "both"];
    place.ok_with(resolve, b"from input\n");
    assert_eq!(cat(&place, "both", "/README.md"), "from input\n");
    // A side that deleted it means deleted.
    place.ok(["resolve", "/src/lib.rs", "--ours", "-w", "both"]);
    place.json_error(&["fs", "stat", "/src/lib.rs", "-w", "both"], 3);
}

/// A workspace with one conflict in the lines of a text, and cleanly merged lines of both sides around it.
fn merged_lines() -> Place {
    let place = demo_vault();
    let text = |lines: [&str; 5]| format!("{}\n", lines.join("\n"));
    write(&place, "fix", "/list.txt", &text(["one", "two", "three", "four", "five"]));
    place.ok(["workspace", "create", "other", "--from", "fix"]);
    write(&place, "fix", "/list.txt", &text(["ONE", "two", "drei", "four", "five"]));
    write(&place, "other", "/list.txt", &text(["one", "two", "trois", "four", "FIVE"]));
    let merge = ["merge", "fix", "other", "--into", "both"];
    assert_eq!(answer(&place, &merge).1, Some(4));
    assert_eq!(open(&place, "both"), ["/list.txt"]);
    place
}

#[test]
fn a_side_decides_conflicting_lines_only() {
    let place = merged_lines();
    let decide = |arguments: &[&str]| {
        let all = [&["resolve", "/list.txt"], arguments, &["-w", "both"]].concat();
        let (told, code) = answer(&place, &all);
        assert_eq!(code, Some(0), "{told}");
        let text = cat(&place, "both", "/list.txt");
        place.ok(["undo", "-w", "both"]);
        let whole = told["whole"].as_array().map_or(0, Vec::len);
        (text.lines().collect::<Vec<_>>().join(" "), whole)
    };
    let merged = |three: &str| (format!("ONE two {three} four FIVE"), 0);
    assert_eq!(decide(&["--ours"]), merged("drei"));
    assert_eq!(decide(&["--theirs"]), merged("trois"));
    assert_eq!(decide(&["--side", "fix"]), merged("drei"));
    assert_eq!(decide(&["--side", "2"]), merged("trois"));
    assert_eq!(decide(&["--base"]), merged("three"));
    assert_eq!(decide(&["--union"]), merged("drei trois"));
    // All of a side is there for who asks for it.
    assert_eq!(decide(&["--ours", "--whole"]), ("ONE two drei four five".to_owned(), 1));
    assert_eq!(decide(&["--theirs", "--whole"]), ("one two trois four FIVE".to_owned(), 1));
    assert_eq!(decide(&["--base", "--whole"]), ("one two three four five".to_owned(), 1));
    let usage = ["resolve", "/list.txt", "--union", "--whole", "-w", "both"];
    assert_eq!(place.run(usage).status.code(), Some(2));
    // What somebody wrote since stays.
    let shown = cat(&place, "both", "/list.txt");
    write(&place, "both", "/list.txt", &format!("zero\n{shown}"));
    assert_eq!(decide(&["--ours"]), ("zero ONE two drei four FIVE".to_owned(), 0));
    // Nobody can say what a broken set of markers means.
    let broken: String =
        shown.lines().filter(|line| *line != "=======").collect::<Vec<_>>().join("\n");
    write(&place, "both", "/list.txt", &broken);
    let error = place.json_error(&["resolve", "/list.txt", "--ours", "-w", "both"], 4);
    assert!(error["hint"].as_str().unwrap().contains("--whole"), "{error}");
    assert_eq!(cat(&place, "both", "/list.txt"), broken);
    assert_eq!(decide(&["--ours", "--whole"]).0, "ONE two drei four five");
}

/// What has no lines is taken whole, and the answer says so.
#[test]
fn what_is_not_text_is_taken_whole() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    write(&place, "fix", "/data", "a\0a\n");
    write(&place, "other", "/data", "b\0b\n");
    let merge = ["merge", "fix", "other", "--into", "both"];
    assert_eq!(answer(&place, &merge).1, Some(4));
    let told = place.ok(["resolve", "/data", "--theirs", "-w", "both"]);
    assert_eq!(told, "resolved 1 conflict of both, none is left\n  took one side whole: /data\n");
    assert_eq!(cat(&place, "both", "/data"), "b\0b\n");
}

#[test]
fn decisions_about_places_and_modes() {
    let place = demo_vault();
    place.ok(["workspace", "create", "other"]);
    place.ok(["fs", "mv", "/run.sh", "/start.sh", "-w", "fix"]);
    place.ok(["fs", "mv", "/run.sh", "/go.sh", "-w", "other"]);
    write(&place, "fix", "/thing/inner", "i\n");
    write(&place, "other", "/thing", "file\n");
    let merge = ["merge", "fix", "other", "--into", "both"];
    assert_eq!(answer(&place, &merge).1, Some(4));
    assert_eq!(open(&place, "both"), ["/go.sh", "/start.sh", "/thing"]);
    assert_eq!(cat(&place, "both", "/thing~other"), "file\n");
    let there = |path: &str| place.run(["fs", "stat", path, "-w", "both"]).status.success();
    place.ok(["resolve", "/go.sh", "--ours", "-w", "both"]);
    assert!(there("/start.sh") && !there("/go.sh") && !there("/run.sh"));
    assert_eq!(open(&place, "both"), ["/thing"]);
    place.ok(["resolve", "/thing", "--ours", "-w", "both"]);
    assert!(there("/thing/inner") && !there("/thing~other"));
    place.ok(["undo", "-w", "both"]);
    place.ok(["resolve", "--all", "--theirs", "-w", "both"]);
    assert_eq!(cat(&place, "both", "/thing"), "file\n");
    assert!(!there("/thing~other"));
    assert_eq!(open(&place, "both"), [""; 0]);
}

/// Who did nothing to a file has no say in `--ours` and `--theirs`.
#[test]
fn sides_without_a_change_are_passed_over() {
    let place = demo_vault();
    for name in ["a", "b", "idle"] {
        place.ok(["workspace", "create", name]);
        write(&place, name, &format!("/of-{name}"), "x\n");
    }
    for name in ["a", "b"] {
        write(&place, name, "/new.txt", &format!("{name}\n"));
    }
    let merge = ["merge", "idle", "a", "b", "idle@base", "--into", "all"];
    assert_eq!(answer(&place, &merge).1, Some(4));
    place.ok(["resolve", "/new.txt", "--ours", "-w", "all"]);
    assert_eq!(cat(&place, "all", "/new.txt"), "a\n");
    place.ok(["undo", "-w", "all"]);
    place.ok(["resolve", "/new.txt", "--theirs", "-w", "all"]);
    assert_eq!(cat(&place, "all", "/new.txt"), "b\n");
}

#[needs(UserNamespace)]
#[test]
fn a_workspace_that_is_busy_is_left_alone() {
    let place = quarrel();
    let running = Background::start(&place, "echo ready; sleep 600");
    let error = place.json_error(&["merge", "other", "--into", "fix"], 8);
    assert!(error["message"].as_str().unwrap().contains("fix"), "{error}");
    assert_eq!(open(&place, "fix"), [""; 0]);
    drop(running);
}

/// Lines of history that merged each other and went on.
#[test]
fn histories_that_cross() {
    let place = demo_vault();
    place.write("text", (1..=9).map(|n| format!("{n}\n")).collect::<String>());
    place.ok(["init"]);
    for name in ["a", "b"] {
        place.ok(["workspace", "create", name]);
    }
    let change = |name: &str, from: &str, to: &str| {
        let text = cat(&place, name, "/text").replace(from, to);
        write(&place, name, "/text", &text);
    };
    change("a", "1\n", "one\n");
    change("b", "9\n", "nine\n");
    for name in ["a", "b"] {
        place.ok(["workspace", "create", &format!("old-{name}"), "--from", name]);
    }
    place.ok(["merge", "old-b", "--into", "a"]);
    place.ok(["merge", "old-a", "--into", "b"]);
    change("a", "3\n", "three\n");
    change("b", "7\n", "seven\n");
    place.ok(["merge", "b", "--into", "a"]);
    assert_eq!(cat(&place, "a", "/text"), "one\n2\nthree\n4\n5\n6\nseven\n8\nnine\n");
    let (result, _) = answer(&place, &["merge", "b", "--into", "a"]);
    assert_eq!(result["operation"], Value::Null, "all of it is there already");
    // Forward only: what came from it is taken as it is.
    place.ok(["merge", "a", "--into", "b"]);
    assert_eq!(snapshot_root(&place, "a"), snapshot_root(&place, "b"));
}
