//! `gc`, `vault pack`, `vault export`, `vault import` and `vault check --repair`.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::transcript::{Transcript, demo_vault};

/// Undoing something leaves a state that only the log names.
fn with_garbage(place: &Place) {
    place.ok_with(["fs", "write", "/note", "-w", "fix"], &[b'x'; 3000]);
    place.ok(["undo", "-w", "fix"]);
}

#[test]
fn garbage_for_people() {
    let place = demo_vault();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["gc"]);
    with_garbage(&place);
    transcript.run(&["gc"]);
    transcript.run(&["gc", "--dry-run", "--keep-operations", "0", "--keep-age", "0s"]);
    transcript.run(&["vault", "gc", "--keep-operations", "0", "--keep-age", "0s"]);
    transcript.run(&["redo", "-w", "fix"]);
    transcript.run(&["vault", "check"]);
    transcript.run(&["vault", "pack"]);
    transcript.run(&["vault", "export", "../demo.vault"]);
    transcript.run(&["vault", "export", "../demo.vault"]);
    transcript.run(&["vault", "export", "-"]);
    transcript.run(&["vault", "import", "../demo.vault"]);
    transcript.run(&["vault", "import", "../demo.vault", "--home", "../elsewhere"]);
    transcript.run(&["vault", "import", "README.md"]);
    transcript.run(&["vault", "import", "../nothing"]);
    transcript.run(&["gc", "--keep-age", "long"]);
    transcript.run(&["gc", "--max-size", "much"]);
    transcript.run(&["vault", "check", "--repair"]);
    assert_snapshot!(transcript.finish());
}

#[test]
fn garbage_for_programs() {
    let place = demo_vault();
    with_garbage(&place);
    let mut transcript = Transcript::new(&place);
    transcript.json(&["gc", "--dry-run", "--keep-operations", "0", "--keep-age", "0s"]);
    transcript.json(&["vault", "gc", "--keep-operations", "0", "--keep-age", "0s"]);
    transcript.json(&["gc"]);
    transcript.json(&["redo", "-w", "fix"]);
    transcript.json(&["vault", "pack"]);
    transcript.json(&["vault", "export", "../demo.vault"]);
    transcript.json(&["vault", "import", "../demo.vault", "--home", "../elsewhere"]);
    transcript.json(&["vault", "import", "../demo.vault"]);
    transcript.json(&["vault", "check", "--repair"]);
    assert_snapshot!(transcript.finish());
}

/// How many operations `gc` says can still be undone, or were given up.
fn collected(place: &Place, setting: &str, field: &str) -> u64 {
    let settings = ["-c", "gc.keep_age=0s", "-c", "gc.keep_operations=0", "-c", setting];
    let arguments = [&settings[..], &["gc", "--dry-run"]].concat();
    place.json(&arguments)[field].as_u64().unwrap()
}

#[test]
fn settings_say_what_is_kept_and_options_say_more() {
    let place = demo_vault();
    with_garbage(&place);
    let kept = |setting: &str| collected(&place, setting, "kept_operations");
    assert_eq!(kept("ui.color=never"), 0);
    assert_eq!(kept("gc.keep_operations=2"), 2);
    assert_eq!(kept("gc.keep_age=1d"), 4);
    let given_up = |setting: &str| {
        let settings = ["-c", "gc.keep_age=1d", "-c", setting, "gc", "--dry-run"];
        place.json(&settings)["given_up_operations"].as_u64().unwrap()
    };
    assert_eq!(given_up("gc.max_size=0"), 0);
    assert_eq!(given_up("gc.max_size=1000"), 4);
    let options = ["-c", "gc.keep_age=0s", "gc", "--dry-run", "--keep-operations", "1"];
    assert_eq!(place.json(&options)["kept_operations"], 1);
    let options =
        ["-c", "gc.keep_age=0s", "gc", "--dry-run", "--max-size", "1", "--keep-age", "1d"];
    assert_eq!(place.json(&options)["given_up_operations"], 4);
}

#[test]
fn a_layer_that_is_mostly_garbage_is_emptied_unless_one_says_no() {
    let place = demo_vault();
    // Two long files come in with one layer; only one of them stays.
    fs::create_dir(place.path().join("in")).unwrap();
    for name in ["one", "two"] {
        let bytes =
            offshoot_tests::rng::Rng::new(name.len() as u64 + u64::from(name.as_bytes()[0]));
        let length = if name == "one" { 100_000 } else { 300_000 };
        fs::write(place.path().join("in").join(name), bytes.clone().bytes(length)).unwrap();
    }
    place.ok(["fs", "import", "../in", "/in", "-w", "fix"]);
    place.ok(["fs", "rm", "/in/two", "-w", "fix"]);
    let zero = ["gc", "--keep-operations", "0", "--keep-age", "0s"];
    let kept = place.json(&[&zero[..], &["--no-pack"]].concat());
    assert_eq!(kept["packed"], 0, "{kept}");
    let packed = place.json(&zero);
    assert_eq!((&packed["packed"], &packed["packed_bytes"]), (&1.into(), &100_000.into()));
    place.ok(["fs", "cat", "/in/one", "-w", "fix"]);
    place.ok(["vault", "check"]);
}

#[needs(Overlay)]
#[test]
fn what_commands_printed_goes_with_their_operations() {
    let place = demo_vault();
    let envelope = place.run(["exec", "-w", "fix", "--json", "--", "echo", "hello"]);
    let envelope: serde_json::Value = serde_json::from_slice(&envelope.stdout).unwrap();
    let id = envelope["result"]["exec"].as_str().unwrap().to_owned();
    assert_eq!(place.ok(["logs", &id]), "hello\n");
    place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    let logs = place.run(["logs", &id]);
    assert!(logs.status.success() && logs.stdout.is_empty(), "{logs:?}");
    let said = String::from_utf8(logs.stderr).unwrap();
    assert!(said.contains("what it printed was collected by gc"), "{said}");
    place.ok(["show", &id]);
    place.ok(["vault", "check"]);
}

#[needs(Overlay)]
#[test]
fn checkpoints_that_nobody_asked_for_go_with_their_operations() {
    let place = demo_vault();
    for round in ["one", "two", "three"] {
        place.ok([
            "exec",
            "-w",
            "fix",
            "--",
            "sh",
            "-c",
            &format!("seq 50000 > {round}; rm -f one"),
        ]);
    }
    place.ok(["checkpoint", "create", "mine", "-w", "fix"]);
    let names = |place: &Place| -> Vec<String> {
        let listed = place.json(&["checkpoint", "list", "-w", "fix"]);
        let listed = listed["checkpoints"].as_array().unwrap();
        listed.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&place).len(), 4);
    // The newest operations are the checkpoint that was asked for and the last command.
    let last = ["gc", "--keep-operations", "2", "--keep-age", "0s"];
    let would = place.json(&[&last[..], &["--dry-run"]].concat());
    assert_eq!(
        would["taken"][0],
        serde_json::json!({"kind": "checkpoints", "count": 2, "bytes": 0})
    );
    assert_eq!(names(&place).len(), 4);
    let took = place.json(&last);
    assert_eq!(took["taken"], would["taken"], "{took}");
    assert_eq!(names(&place).len(), 2);
    // What is kept can be undone; what is not says so, and nothing is lost.
    place.ok(["undo", "-w", "fix"]);
    place.ok(["undo", "-w", "fix"]);
    assert!(!place.run(["undo", "-w", "fix"]).status.success());
    assert_eq!(place.ok(["fs", "cat", "/two", "-w", "fix"]).lines().count(), 50_000);
    place.ok(["vault", "check"]);
}

#[test]
fn names_of_others_are_in_the_way_of_an_import_and_their_folders_are_not() {
    let place = demo_vault();
    place.ok(["vault", "export", "../demo.vault"]);
    let elsewhere =
        |arguments: &[&str]| place.run([arguments, &["--home", "../elsewhere"]].concat());
    assert!(elsewhere(&["vault", "create", "project"]).status.success());
    let taken = elsewhere(&["vault", "import", "../demo.vault"]);
    assert_eq!(taken.status.code(), Some(4), "{taken:?}");
    assert!(elsewhere(&["init", ".", "--name", "mine"]).status.success());
    let vaults = || fs::read_dir(place.path().join("elsewhere/vaults")).unwrap().count();
    assert_eq!(vaults(), 2, "nothing is left behind");
    let other = elsewhere(&["vault", "import", "../demo.vault", "--name", "other"]);
    assert!(other.status.success(), "{other:?}");
    let bound = elsewhere(&["status"]);
    assert!(String::from_utf8_lossy(&bound.stdout).contains("mine"), "{bound:?}");
    let taken = elsewhere(&["binding", "move", "/", ".", "--vault", "other"]);
    assert_eq!(taken.status.code(), Some(4), "{taken:?}");
    assert_eq!(vaults(), 3);
}

#[test]
fn a_cut_or_changed_export_is_refused_and_leaves_nothing() {
    let place = demo_vault();
    place.write("large", offshoot_tests::rng::Rng::new(1).bytes(400_000));
    place.ok(["init"]);
    place.ok(["vault", "export", "../whole"]);
    let whole = fs::read(place.path().join("whole")).unwrap();
    let broken = place.path().join("broken");
    let import = || place.run(["vault", "import", "../broken", "--home", "../elsewhere"]);
    let mut rng = offshoot_tests::rng::Rng::new(offshoot_tests::rng::seed_from_env_or(1));
    for number in 0..24 {
        let mut bytes = whole.clone();
        match number % 2 {
            0 => bytes.truncate(rng.below(whole.len() as u64) as usize),
            _ => {
                let at = rng.below(whole.len() as u64) as usize;
                bytes[at] ^= 1 << rng.below(8);
            }
        }
        fs::write(&broken, &bytes).unwrap();
        let output = import();
        let vaults: Vec<PathBuf> = fs::read_dir(place.path().join("elsewhere/vaults"))
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect();
        if output.status.success() {
            // A byte that no record covers: what came in was verified all the same.
            assert_eq!(number % 2, 1, "a cut file came in");
            place.ok(["vault", "check", "project", "--home", "../elsewhere"]);
            place.ok(["vault", "delete", "project", "--yes", "--home", "../elsewhere"]);
        } else {
            assert!(matches!(output.status.code(), Some(5 | 7)), "{output:?}");
            assert_eq!(vaults, Vec::<PathBuf>::new(), "{output:?}");
        }
    }
    // A file of a later version says so.
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&9u32.to_be_bytes());
    fs::write(&broken, &newer).unwrap();
    assert_eq!(import().status.code(), Some(7));
}

/// What two workspaces have in common is what a merge of theirs starts from, though no ref names it.
#[needs(Overlay, UserNamespace)]
#[test]
fn work_comes_together_after_a_collection() {
    for first in ["commit", "merge"] {
        let place = demo_vault();
        let write = |workspace: &str, name: &str| {
            place.ok(["exec", "-w", workspace, "--", "touch", name]);
        };
        write("one", "x");
        write("two", "q");
        place.ok(["merge", "one", "--into", "two"]);
        write("one", "y");
        write("two", "z");
        place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s"]);
        match first {
            "commit" => place.ok(["commit", "-w", "two"]),
            _ => place.ok(["merge", "two", "--into", "one"]),
        };
        place.ok(["status", "-w", "one"]);
        place.ok(["pull", "-w", "one"]);
        place.ok(["commit", "-w", "one"]);
        for name in ["x", "y", "z", "q"] {
            assert!(place.project().join(name).exists(), "{first}: {name}");
        }
        place.ok(["workspace", "list"]);
    }
}
