//! All folders of a vault are committed together, and go back together.

use std::fs;
use std::path::Path;

use offshoot_needs::needs;
use offshoot_tests::product;
use offshoot_tests::rng::Rng;
use offshoot_tests::scan::CompareOptions;
use offshoot_tests::tier::cases;
use offshoot_tests::trace::{self, Fault};

use super::{BOTH, Bound, EDITS, paths, same};
use crate::scene::{WORKSPACE, Who};

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

/// What a command and a person do at the same time, to different files and to different lines of one.
fn work_in_parallel(bound: &Bound) {
    fs::write(bound.etc.join("list"), "one\ntwo\nthree\nfour\nfive\n").unwrap();
    bound.scene.hand_over();
    bound.scene.offshoot_ok(&["pull", "-w", WORKSPACE]);
    let script = bound.script(&format!("{EDITS}\nsed -i s/one/ONE/ $ETC/list"));
    let said = bound.scene.inside(&script);
    assert_eq!(said.code, Some(0), "{said:?}");
    fs::write(bound.etc.join("list"), "one\ntwo\nthree\nfour\nFIVE\n").unwrap();
    fs::write(bound.far.path().join("mine"), "mine\n").unwrap();
    bound.scene.place.write("mine", "mine\n");
    bound.hand_over();
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn all_folders_come_home_and_go_back_together() {
    for who in BOTH {
        let bound = Bound::new(who);
        work_in_parallel(&bound);
        let before = bound.scans();
        bound.scene.offshoot_ok(&["commit", "-w", WORKSPACE, "-m", "both"]);
        let after = bound.scans();
        assert_eq!(text(bound.etc.join("list")), "ONE\ntwo\nthree\nfour\nFIVE\n");
        assert_eq!(text(bound.etc.join("app.conf")), "port = 1\nmore\n");
        assert_eq!(text(bound.etc.join("new")), "new\n");
        assert_eq!(text(bound.far.path().join("app.conf")), "port = 2\n");
        assert_eq!(text(bound.far.path().join("older")), "old\n");
        assert_eq!(text(bound.far.path().join("mine")), "mine\n");
        assert_eq!(text(bound.scene.path("src/code")), "there\n");
        assert!(!bound.etc.join("old").exists() && !bound.scene.path(".offshoot").exists());
        bound.scene.offshoot_ok(&["undo", "-w", WORKSPACE]);
        same(&before, &bound.scans(), &CompareOptions::default());
        bound.scene.offshoot_ok(&["redo", "-w", WORKSPACE]);
        same(&after, &bound.scans(), &CompareOptions::default());
        bound.scene.offshoot_ok(&["vault", "check"]);
        let said = bound.scene.inside(&bound.script("cat $FAR/mine"));
        assert_eq!(said.out, "mine\n", "{said:?}");
    }
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn edits_of_all_folders_are_pulled() {
    let bound = Bound::new(Who::Me);
    fs::write(bound.etc.join("app.conf"), "port = 5\n").unwrap();
    fs::remove_file(bound.far.path().join("old")).unwrap();
    bound.scene.offshoot_ok(&["pull", "-w", WORKSPACE]);
    let said = bound.scene.inside(&bound.script("cat $ETC/app.conf; ls $FAR"));
    assert_eq!(said.out, "port = 5\napp.conf\n", "{said:?}");
    // A folder that is bound later comes with the next pull.
    let extra = bound.scene.place.path().join("extra");
    fs::create_dir(&extra).unwrap();
    bound.scene.offshoot_ok(&["binding", "add", extra.to_str().unwrap()]);
    bound.scene.offshoot_ok(&["pull", "-w", WORKSPACE]);
    let script = format!("echo x > {}/file", extra.display());
    let envelope = bound.scene.exec(&[], &["sh", "-c", &script]);
    assert_eq!(paths(&envelope), ["/.offshoot/bound/extra/file"]);
    bound.scene.offshoot_ok(&["commit", "-w", WORKSPACE]);
    assert_eq!(text(extra.join("file")), "x\n");
}

/// A clash in one folder keeps all of them as they are.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_conflict_in_one_folder_stops_all() {
    let bound = Bound::new(Who::Me);
    let said = bound.scene.inside(&bound.script("echo a > $ETC/app.conf; echo b > $FAR/app.conf"));
    assert_eq!(said.code, Some(0), "{said:?}");
    fs::write(bound.etc.join("app.conf"), "mine\n").unwrap();
    let before = bound.scans();
    let output = bound.scene.offshoot(&["commit", "-w", WORKSPACE]).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    same(&before, &bound.scans(), &CompareOptions::default());
}

/// What git ignores in the project is no rule for other folders.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn ignore_files_count_in_their_own_folder() {
    let bound = Bound::new(Who::Me);
    bound.scene.place.write(".gitignore", "*.conf\n.offshoot\n");
    fs::write(bound.etc.join(".gitignore"), "*.tmp\n").unwrap();
    bound.scene.offshoot_ok(&["pull", "-w", WORKSPACE]);
    let script = "echo a > $ETC/app.conf; echo b > $ETC/x.tmp; echo c > x.conf; echo d > x.tmp";
    let said = bound.scene.inside(&bound.script(script));
    assert_eq!(said.code, Some(0), "{said:?}");
    bound.scene.offshoot_ok(&["commit", "-w", WORKSPACE]);
    assert_eq!(text(bound.etc.join("app.conf")), "a\n");
    assert_eq!(text(bound.scene.path("x.tmp")), "d\n");
    assert!(!bound.etc.join("x.tmp").exists() && !bound.scene.path("x.conf").exists());
}

/// What a workspace changed in a folder that is not bound any more stays there.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn changes_of_a_folder_that_was_let_go_of_stay_in_the_workspace() {
    let bound = Bound::new(Who::Me);
    let said = bound.scene.inside(&bound.script("echo new > $ETC/new; echo there > src/code"));
    assert_eq!(said.code, Some(0), "{said:?}");
    bound.scene.offshoot_ok(&["binding", "remove", "etc"]);
    bound.scene.offshoot_ok(&["commit", "-w", WORKSPACE]);
    assert_eq!(text(bound.scene.path("src/code")), "there\n");
    assert!(!bound.etc.join("new").exists());
    let path = "/.offshoot/bound/etc/new";
    assert_eq!(bound.scene.offshoot_ok(&["fs", "cat", path, "-w", WORKSPACE]), "new\n");
}

/// Killed anywhere, what follows finds all folders old or commits all of them.
#[needs(Ptrace, Overlay, UserNamespace, "python3")]
#[test]
fn a_commit_of_several_folders_is_killed() {
    const SAMPLE: u64 = 7;
    let mut rng = Rng::new(7);
    let mut last = None;
    for case in 0..cases(SAMPLE, 200) {
        let bound = Bound::new(Who::Me);
        work_in_parallel(&bound);
        let before = bound.scans();
        let Some(calls) = last else {
            last = Some(commit(&bound, Fault::None).0);
            continue;
        };
        // Most of the calls come before the folders are touched.
        let point = match rng.one_in(3) {
            true => 1 + rng.below(calls),
            false => calls / 2 + rng.below(calls - calls / 2),
        };
        let (_, finished) = commit(&bound, Fault::KillAt(point));
        bound.scene.offshoot_ok(&["pull", "--head"]);
        let is_old = text(bound.etc.join("list")).starts_with("one");
        println!("case {case}: killed at call {point} of {calls}, then {}", word(is_old));
        assert!(!(is_old && finished), "what was said to be done is lost");
        if is_old {
            same(&before, &bound.scans(), &CompareOptions::default());
            bound.scene.offshoot_ok(&["commit", "-w", WORKSPACE]);
        }
        assert_eq!(text(bound.etc.join("list")), "ONE\ntwo\nthree\nfour\nFIVE\n");
        assert_eq!(text(bound.far.path().join("older")), "old\n");
        assert_eq!(text(bound.scene.path("src/code")), "there\n");
        bound.scene.offshoot_ok(&["undo", "-w", WORKSPACE]);
        same(&before, &bound.scans(), &CompareOptions::default());
        bound.scene.offshoot_ok(&["vault", "check"]);
    }
}

fn word(is_old: bool) -> &'static str {
    if is_old { "as before" } else { "home" }
}

/// Commits, and breaks it; gives how many calls change something, and whether it says that it is done.
fn commit(bound: &Bound, fault: Fault) -> (u64, bool) {
    let environment = bound.scene.place.environment();
    let mut command: Vec<std::ffi::OsString> = vec!["env".into(), "-i".into()];
    for (name, value) in environment {
        let mut both = name;
        both.push("=");
        both.push(value);
        command.push(both);
    }
    command.push("RAYON_NUM_THREADS=1".into());
    command.push(product::binary().into());
    command.extend(["commit", "-w", WORKSPACE].map(Into::into));
    let trace = trace::run(&command, &[], Some(&bound.scene.place.project()), fault).unwrap();
    (trace.mutating, trace.status.success())
}
