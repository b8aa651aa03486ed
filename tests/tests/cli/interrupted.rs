//! Commands that were cut short, and what becomes of their work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};

use crate::background::Background;
use crate::transcript::{Transcript, demo, demo_vault};

/// A small piece of work that never ends by itself.
const WORK: &str = "echo new > new; rm run.sh; chmod 700 README.md; mkdir -p deep/er; echo x > deep/er/file; echo ready; echo oops >&2; sleep 600";

/// The vault's own directory.
fn vault_dir(place: &Place) -> PathBuf {
    fs::canonicalize(place.home().join("names/project")).unwrap()
}

/// The names in a directory of the vault.
fn names(place: &Place, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(vault_dir(place).join(folder)).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Nothing is half-made, nobody is marked as writing, and nothing of the vault is mounted.
fn assert_clean(place: &Place) {
    assert_eq!(names(place, "open"), Vec::<String>::new());
    let layers = names(place, "layers");
    assert!(layers.iter().all(|name| name.len() == 26), "{layers:?}");
    for layer in layers {
        assert_eq!(names(place, &format!("layers/{layer}")), ["fs"], "{layer}");
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(place.home().to_str().unwrap()), "{mounts}");
    place.ok(["vault", "check"]);
}

fn changed(result: &Value) -> Vec<String> {
    let changes = result["changed_files"].as_array().unwrap().iter();
    let shown = |change: &Value| {
        format!("{} {}", change["kind"].as_str().unwrap(), change["path"].as_str().unwrap())
    };
    changes.map(shown).collect()
}

const CHANGED: [&str; 6] = [
    "mode /README.md",
    "added /deep",
    "added /deep/er",
    "added /deep/er/file",
    "added /new",
    "deleted /run.sh",
];

/// Renames without end, and a file that says so where one fails.
const RENAMES: &str = r#"echo x > a; exec python3 -c '
import os
print("ready", flush=True)
try:
    while True:
        os.rename("a", "b"); os.rename("b", "a")
except OSError as error:
    open("failed", "w").write(str(error))
'"#;

#[needs(UserNamespace)]
#[test]
fn no_rename_fails_because_offshoot_was_killed() {
    let place = demo_vault();
    for _ in 0..8 {
        let exec = Background::start(&place, RENAMES).crash();
        let shown = place.ok(["recover", "show", &exec]);
        assert!(!shown.contains("/failed"), "{shown}");
        place.ok(["recover", "drop", &exec]);
    }
}

#[needs(UserNamespace)]
#[test]
fn interrupted_commands_for_people() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["status"]);
    transcript.run(&["status", "--quiet"]);
    transcript.run(&["recover", "list"]);
    transcript.run(&["recover", "show", &exec]);
    transcript.run(&["recover", "keep", &exec, "--name", "half"]);
    transcript.run(&["recover", "list"]);
    transcript.run(&["recover", "keep", &exec]);
    transcript.run(&["checkpoint", "list", "-w", "fix"]);
    transcript.run(&["checkpoint", "restore", "half", "-w", "fix"]);
    transcript.run(&["status", "-w", "fix"]);
    transcript.run(&["execs"]);
    transcript.run(&["show", &exec]);
    transcript.run(&["logs", &exec]);
    for text in ["echo 1 > 1; echo ready; sleep 600", "echo 2 > 2; echo ready; sleep 600"] {
        Background::start(&place, text).crash();
    }
    transcript.run(&["recover", "drop", "01"]);
    transcript.run(&["recover", "drop", "--all"]);
    transcript.run(&["recover", "drop", "--all"]);
    transcript.run(&["recover", "show", "zzzz"]);
    transcript.run(&["op", "log", "-n", "4"]);
    assert_snapshot!(transcript.finish());
    assert_clean(&place);
}

/// What was killed before it could say how a command ended is told to be over, and stays told.
#[needs(UserNamespace)]
#[test]
fn a_timeline_says_what_was_interrupted() {
    let place = demo_vault();
    let line = || {
        let told = place.ok(["timeline", "-w", "fix"]);
        let found = told.lines().find(|line| line.contains("sleep 6543"));
        found.unwrap_or_else(|| panic!("{told}")).to_owned()
    };
    let running = Background::start(&place, "echo 1 > 1; echo ready; sleep 6543");
    assert!(line().contains("running"), "{}", line());
    let exec = running.crash();
    assert!(line().contains("exec_started") && line().contains("interrupted"), "{}", line());
    place.ok(["recover", "drop", &exec]);
    assert!(line().contains("exec_started") && line().contains("interrupted"), "{}", line());
}

/// All ids of twelve days start with the same four characters: whoever types so few has hardly looked, and what is dropped is gone.
#[needs(UserNamespace)]
#[test]
fn few_characters_of_an_id_drop_nothing() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    for length in 1..8 {
        let error = place.json_error(&["recover", "drop", &exec[..length]], 2);
        assert_eq!(error["candidates"], json!([exec]), "{error}");
    }
    // To look at it, and to keep it, fewer will do.
    assert_eq!(place.json(&["recover", "show", &exec[..4].to_uppercase()])["exec"], json!(exec));
    let error = place.json_error(&["recover", "show", &exec[..3]], 3);
    assert_eq!(error["candidates"], json!([&exec[..12]]), "{error}");
    place.ok(["recover", "drop", &exec[..8]]);
    assert_clean(&place);
}

#[needs(UserNamespace)]
#[test]
fn interrupted_commands_for_programs() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    let other = Background::start(&place, "echo > other; echo ready; sleep 600").crash();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["recover", "list"]);
    transcript.json(&["recover", "show", &exec]);
    transcript.json(&["recover", "keep", &exec]);
    transcript.json(&["recover", "drop", &other]);
    transcript.json(&["recover", "show", &other]);
    transcript.json(&["execs"]);
    assert_snapshot!(transcript.finish());
    assert_clean(&place);
}

/// The hint is on standard error, so that what programs read stays one document.
#[needs(UserNamespace)]
#[test]
fn a_hint_is_no_part_of_a_document() {
    let place = demo_vault();
    Background::start(&place, WORK).crash();
    let output = place.run(["status", "--json"]);
    let document = document_of(&output);
    assert_eq!(document["success"], true);
    assert!(!document.to_string().contains("interrupted"), "{document}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("offshoot recover list"));
    assert!(place.run(["status", "--quiet"]).stderr.is_empty());
}

/// The state before stays the workspace's own; what was written becomes a checkpoint, exactly, and undo takes it back.
#[needs(UserNamespace)]
#[test]
fn what_is_kept_is_what_was_written() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    let shown = place.json(&["recover", "show", &exec]);
    assert_eq!(changed(&shown), CHANGED);
    assert_eq!((&shown["stdout"], &shown["stderr"]), (&"ready\n".into(), &"oops\n".into()));
    assert_eq!((&shown["power_cut"], &shown["sealed"]), (&false.into(), &false.into()));
    assert_eq!(place.json(&["status", "-w", "fix"])["changes"], json!([]));
    let kept = place.json(&["recover", "keep", &exec]);
    assert_eq!(changed(&kept), CHANGED);
    let name = kept["checkpoint"]["name"].as_str().unwrap();
    assert_eq!(place.json(&["status", "-w", "fix"])["changes"], json!([]));
    assert_eq!(place.ok(["fs", "cat", "/deep/er/file", "--at", &format!("fix@{name}")]), "x\n");
    place.ok(["undo", "-w", "fix"]);
    assert_eq!(place.json(&["checkpoint", "list", "-w", "fix"])["checkpoints"], json!([]));
    place.ok(["redo", "-w", "fix"]);
    place.ok(["checkpoint", "restore", name, "-w", "fix"]);
    let run = place.json(&["exec", "-w", "fix", "--", "sh", "-c", "cat new deep/er/file; ls"]);
    assert_eq!(run["stdout"], "new\nx\nREADME.md\ndeep\nguide\nnew\nsrc\n");
    assert_clean(&place);
}

/// Nothing is offered where nothing was written: not by a command that only read, nor by names that were placed for it.
#[needs(UserNamespace)]
#[test]
fn a_command_that_wrote_nothing_leaves_nothing() {
    let place = demo();
    for name in ["one", "two", "src/three"] {
        fs::hard_link(place.project().join("run.sh"), place.project().join(name)).unwrap();
    }
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    Background::start(&place, "cat one src/*; echo ready; sleep 600").crash();
    assert_eq!(place.json(&["recover", "list"])["recoverable"], json!([]));
    Background::start_with(
        &place,
        &["exec", "-w", "fix", "--read-only", "--shell", "touch a; echo ready; sleep 600"],
    )
    .crash();
    assert_eq!(place.json(&["recover", "list"])["recoverable"], json!([]));
    assert_clean(&place);
    // A write through one of the names is found, and nothing else.
    let exec = Background::start(&place, "echo >> two; rm one; echo ready; sleep 600").crash();
    let shown = place.json(&["recover", "show", &exec]);
    let expected = ["deleted /one", "modified /run.sh", "modified /src/three", "modified /two"];
    assert_eq!(changed(&shown), expected);
    place.ok(["recover", "keep", &exec, "--name", "linked"]);
    place.ok(["checkpoint", "restore", "linked", "-w", "fix"]);
    let count = place.json(&["exec", "-w", "fix", "--", "stat", "-c", "%h", "two"]);
    assert_eq!(count["stdout"], "3\n");
    assert_clean(&place);
}

#[needs(UserNamespace)]
#[test]
fn a_deleted_workspace_comes_back_as_another() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    place.ok(["workspace", "delete", "fix"]);
    let listed = place.json(&["recover", "list"])["recoverable"][0].clone();
    assert_eq!((&listed["workspace"], &listed["workspace_exists"]), (&"fix".into(), &false.into()));
    let taken = place.ok(["workspace", "create", "taken"]);
    assert!(!taken.is_empty());
    let error = place.json_error(&["recover", "keep", &exec, "--name", "taken"], 4);
    assert_eq!(error["message"], "there is already a workspace named taken");
    let kept = place.json(&["recover", "keep", &exec, "--name", "again"]);
    assert_eq!((&kept["workspace"], &kept["forked"]), (&"again".into(), &true.into()));
    assert_eq!(place.ok(["fs", "cat", "/new", "-w", "again"]), "new\n");
    assert_clean(&place);
}

/// What an earlier command reported as done is there, whatever became of a later one.
#[needs(UserNamespace)]
#[test]
fn each_setting_does_what_it_says() {
    for (setting, waiting, checkpoints) in [("offer", 1, 0), ("keep", 0, 1), ("discard", 0, 0)] {
        let place = demo_vault();
        Background::start(&place, "echo mine > mine; echo ready; sleep 600").crash();
        let setting = format!("recover.abandoned={setting}");
        let output = place.run(["status", "-c", &setting]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.contains("interrupted"), "{setting}: {said}");
        let left = place.json(&["recover", "list"])["recoverable"].as_array().unwrap().len();
        let listed = place.json(&["checkpoint", "list", "-w", "fix"])["checkpoints"].clone();
        assert_eq!((left, listed.as_array().unwrap().len()), (waiting, checkpoints), "{setting}");
        if waiting == 0 {
            let crashed = place.json(&["execs", "--state", "crashed"])["execs"][0].clone();
            assert_eq!(crashed["state"], "crashed");
            assert!(!place.run(["status"]).stderr.windows(11).any(|w| w == b"interrupted"));
        }
    }
}

/// The init is killed and Offshoot lives to tell.
#[needs(UserNamespace)]
#[test]
fn a_command_whose_init_is_killed_is_set_aside() {
    let place = demo_vault();
    let running = Background::start(&place, WORK);
    running.kill_init();
    let exec = running.exec.clone();
    let envelope = running.envelope();
    let result = &envelope["result"];
    assert_eq!(result["recoverable"], true, "{envelope:#}");
    let hint = result["error"]["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("offshoot recover keep {}", &exec[..12])), "{hint}");
    assert_eq!((&result["state"], &result["changed_files"]), (&"failed".into(), &json!([])));
    let kept = place.json(&["recover", "keep", &exec]);
    assert_eq!(changed(&kept), CHANGED);
    // It was recorded as failed when it failed; that stays.
    assert_eq!(place.json(&["execs"])["execs"][0]["state"], "failed");
    assert_clean(&place);
}

#[needs(UserNamespace)]
#[test]
fn a_copy_is_recovered_too() {
    let place = demo_vault();
    let arguments = ["exec", "-w", "fix", "--driver", "copy", "--shell", WORK];
    let exec = Background::start_with(&place, &arguments).crash();
    let shown = place.json(&["recover", "show", &exec]);
    assert_eq!(changed(&shown), CHANGED);
    assert!(shown["files"].is_null(), "{shown}");
    let kept = place.json(&["recover", "keep", &exec]);
    assert_eq!(changed(&kept), CHANGED);
    assert_eq!(place.json(&["recover", "list"])["recoverable"], json!([]));
    assert_clean(&place);
}

/// The note of what a command left.
fn note_of(place: &Place, exec: &str) -> PathBuf {
    vault_dir(place).join("left").join(exec).join("exec.json")
}

/// Changes the note of what a command left.
fn rewrite(place: &Place, exec: &str, change: impl Fn(&mut Value)) {
    let note = note_of(place, exec);
    let mut noted: Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    change(&mut noted);
    fs::write(&note, noted.to_string()).unwrap();
}

/// The note leads to the driver, and nothing else that is in it; one of an earlier program has no more than `copy`.
#[needs(Overlay, UserNamespace)]
#[test]
fn the_driver_in_the_note_captures_what_was_left() {
    for driver in ["overlay", "copy"] {
        for early in [false, true] {
            let place = demo_vault();
            let arguments = ["exec", "-w", "fix", "--driver", driver, "--shell", WORK];
            let exec = Background::start_with(&place, &arguments).crash();
            place.ok(["status"]);
            rewrite(&place, &exec, |note| {
                assert_eq!(note["capture"], json!({"driver": driver, "version": 1}));
                assert_eq!(
                    (&note["owner"], &note["copy"]),
                    (&json!("exec"), &json!(driver == "copy"))
                );
                let gone: &[&str] = if early { &["owner", "capture"] } else { &["copy"] };
                note.as_object_mut().unwrap().retain(|name, _| !gone.contains(&name.as_str()));
            });
            assert_eq!(changed(&place.json(&["recover", "show", &exec])), CHANGED, "{driver}");
            assert_eq!(changed(&place.json(&["recover", "keep", &exec])), CHANGED, "{driver}");
            let shown = document_of(&place.run(with_json(&["show", &exec])));
            assert_eq!(shown["result"]["driver"], driver, "{shown}");
            assert_clean(&place);
        }
    }
}

#[needs(UserNamespace)]
#[test]
fn what_a_driver_to_come_left_is_not_guessed_at() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    place.ok(["status"]);
    let whole = fs::read(note_of(&place, &exec)).unwrap();
    let strangers: [(&str, Value, &str); 3] = [
        ("capture", json!({"driver": "tapes", "version": 1}), "driver \"tapes\" (version 1)"),
        ("capture", json!({"driver": "overlay", "version": 2}), "driver \"overlay\" (version 2)"),
        ("owner", json!("mount"), "for something other than a command"),
    ];
    for (field, value, said) in strangers {
        rewrite(&place, &exec, |note| note[field] = value.clone());
        for verb in ["show", "keep"] {
            let output = place.run(with_json(&["recover", verb, &exec]));
            let document = document_of(&output);
            let message = document["error"]["message"].as_str().unwrap();
            assert!(message.contains(said), "{document}");
            let hint = document["error"]["hint"].as_str().unwrap();
            assert!(hint.contains("offshoot recover drop"), "{document}");
        }
        let listed = place.json(&["recover", "list"]);
        assert_eq!(listed["recoverable"][0]["exec"], exec, "{listed}");
        assert!(listed["recoverable"][0]["files"].is_null(), "{listed}");
        fs::write(note_of(&place, &exec), &whole).unwrap();
    }
    rewrite(&place, &exec, |note| note["capture"]["driver"] = "tapes".into());
    place.ok(["recover", "drop", &exec]);
    assert_clean(&place);
}

/// A machine that was started anew is told from one that was not.
#[needs(UserNamespace)]
#[test]
fn a_power_cut_is_said() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    place.ok(["status"]);
    let note = vault_dir(&place).join("left").join(&exec).join("exec.json");
    let mut noted: Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    noted["boot"] = "another".into();
    fs::write(&note, noted.to_string()).unwrap();
    assert_eq!(place.json(&["recover", "list"])["recoverable"][0]["power_cut"], true);
    let shown = place.ok(["recover", "show", &exec]);
    assert!(shown.contains("files may be incomplete"), "{shown}");
    let output = place.run(with_json(&["recover", "keep", &exec]));
    let document = document_of(&output);
    assert!(document["notes"][0].as_str().unwrap().contains("incomplete"), "{document}");
}

/// Modes that close an ordinary user's own files to them.
#[needs(UserNamespace)]
#[test]
fn closed_files_of_an_ordinary_user() {
    let user = User::new();
    let place = demo();
    give_away(place.path());
    user.ok(&place, &["init"]);
    user.ok(&place, &["workspace", "create", "fix"]);
    let text = "mkdir -p shut/deep; echo secret > shut/deep/file; echo k > key; head -c 200000 /dev/urandom > big; chmod 0 key big; chmod 0 shut; echo ready; sleep 600";
    let arguments = ["exec", "-w", "fix", "--json", "--shell", text];
    // Root may look at the vault of anybody, which is how the test knows what runs.
    let exec = Background::spawn(&place, &mut user.command(&place, &arguments)).crash();
    give_away(place.path());
    let listed = user.ok(&place, &["recover", "list", "--json"]);
    assert!(listed.contains(&exec), "{listed}");
    let shown = user.ok(&place, &["recover", "show", &exec]);
    assert!(shown.contains("/shut/deep/file"), "{shown}");
    user.ok(&place, &["recover", "keep", &exec, "--name", "shut"]);
    user.ok(&place, &["checkpoint", "restore", "shut", "-w", "fix"]);
    assert_eq!(user.ok(&place, &["fs", "cat", "/shut/deep/file", "-w", "fix"]), "secret\n");
    let listed = user.ok(&place, &["fs", "ls", "-l", "-w", "fix"]);
    assert!(listed.contains("----------"), "{listed}");
    user.ok(&place, &["vault", "check"]);
    // What is thrown away is closed too, and where overlayfs worked may be.
    let exec = Background::spawn(&place, &mut user.command(&place, &arguments)).crash();
    give_away(place.path());
    user.ok(&place, &["recover", "drop", &exec]);
    assert_eq!(names(&place, "left"), Vec::<String>::new());
    assert!(names(&place, "layers").iter().all(|name| !name.ends_with(".tmp")));
    offshoot_tests::awkward::clear(place.path()).unwrap();
}

/// A directory that a broker was moving when everything stopped is content like any other.
#[needs(UserNamespace)]
#[test]
fn half_moved_directories_are_kept() {
    let place = demo_vault();
    let text =
        "mkdir .offshoot-moving-1; echo half > .offshoot-moving-1/file; echo ready; sleep 600";
    let exec = Background::start(&place, text).crash();
    let kept = place.json(&["recover", "keep", &exec]);
    assert_eq!(changed(&kept), ["added /.offshoot-moving-1", "added /.offshoot-moving-1/file"]);
}

/// Opening a vault while a command runs in it leaves the command alone.
#[needs(UserNamespace)]
#[test]
fn what_runs_is_left_alone() {
    let place = demo_vault();
    let running =
        Background::start(&place, "echo 1 > 1; echo ready; read line < fifo || sleep 1; echo done");
    let dead = Background::start_with(
        &place,
        &["exec", "--from", "head", "--shell", "echo 2 > 2; echo ready; sleep 600"],
    )
    .crash();
    let left = place.json(&["recover", "list"])["recoverable"].clone();
    assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left[0]["exec"], dead);
    let envelope = running.envelope();
    assert_eq!(envelope["success"], true, "{envelope:#}");
    assert_eq!(changed(&envelope["result"]), ["added /1"]);
}

/// Two who take care of the same are told apart.
#[needs(UserNamespace)]
#[test]
fn one_at_a_time() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    place.ok(["status"]);
    let held = fs::File::open(vault_dir(&place).join("left").join(&exec)).unwrap();
    held.lock().unwrap();
    let error = place.json_error(&["recover", "keep", &exec], 8);
    assert!(error["message"].as_str().unwrap().contains("by another process"), "{error}");
    // Not by closing it: another test may be starting a program, which has it open until it is executed.
    held.unlock().unwrap();
    place.ok(["recover", "keep", &exec]);
}

/// A mode of the vault's folder that an ordinary user's home has is kept by what is set aside.
#[needs(UserNamespace)]
#[test]
fn what_is_set_aside_is_private() {
    let place = demo_vault();
    let exec = Background::start(&place, WORK).crash();
    place.ok(["status"]);
    let dir = vault_dir(&place).join("left").join(exec);
    assert_eq!(fs::metadata(dir).unwrap().permissions().mode() & 0o077, 0);
}

/// What a command did in a repository is told before it is kept as it is afterwards.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_are_told_before_they_are_kept() {
    let place = demo();
    let settings = "[user]\nname = Ann\nemail = ann@example.org\n";
    fs::write(place.path().join(".gitconfig"), settings).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.env_clear().envs(place.environment()).current_dir(place.project());
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "start"]);
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    let text = "git commit -q --allow-empty -m more; git tag one; echo ready; sleep 600";
    let exec = Background::start(&place, text).crash();
    let told = "git: 1 commit on main, 1 new tag";
    let shown = place.ok(["recover", "show", &exec]);
    assert!(shown.contains(told), "{shown}");
    let kept = place.ok(["recover", "keep", &exec]);
    assert!(kept.contains(told), "{kept}");
}
