//! A commit that was killed, and a git at work: the index stays with the HEAD that it belongs to.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use offshoot_needs::needs;
use offshoot_tests::product;
use offshoot_tests::trace::{self, Fault, Trace};

use crate::seen::{FIX, apart, whole, world};
use crate::world::{AUTHOR, Side, World};

fn traced(world: &World, fault: Fault) -> Trace {
    let mut command: Vec<OsString> = vec!["env".into(), "-i".into()];
    // One thread at a time, so that calls come in the same order each time.
    let alone = ["OFFSHOOT_IMPORT__THREADS", "RAYON_NUM_THREADS"];
    let alone = alone.map(|name| (OsString::from(name), OsString::from("1")));
    for (name, value) in world.place.environment().into_iter().chain(alone) {
        let mut both = name;
        both.push("=");
        both.push(value);
        command.push(both);
    }
    command.push(product::binary().into());
    command.extend(["commit", "-w", "fix"].map(OsString::from));
    trace::run(&command, &[], Some(&world.place.project()), fault).unwrap()
}

fn with_work() -> World {
    let world = world();
    world.ok(FIX, "echo two > a; git commit -qam theirs");
    world
}

/// A commit that was killed when the folder was changed and that was not recorded.
fn killed() -> World {
    let done = with_work();
    let calls = traced(&done, Fault::None).calls.len() as u64;
    let recorded = operations(&done);
    let is_recorded = |world: &World| operations(world) >= recorded;
    // The last call before which nothing is recorded; calls may come in another order each time, so those around it are tried too.
    let (mut low, mut high) = (1, calls);
    while low < high {
        let middle = low.midpoint(high);
        let world = with_work();
        traced(&world, Fault::KillAt(middle));
        match is_recorded(&world) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    for at in (low.saturating_sub(20)..low + 3).rev() {
        let world = with_work();
        traced(&world, Fault::KillAt(at));
        let now = world.sh(Side::Folder, "git --no-optional-locks log -1 --format=%s");
        if now.out == "theirs\n" && !is_recorded(&world) {
            return world;
        }
    }
    panic!("at no point is the folder changed and nothing recorded");
}

/// How many operations are recorded, as told by a command that does not see to what was interrupted.
fn operations(world: &World) -> u64 {
    world.document(&["vault", "check"])["result"]["operations"].as_u64().unwrap()
}

/// Git writes its index anew whenever somebody asks for a status: that changes nothing of what it lists.
#[needs(Ptrace, Overlay, UserNamespace, "git")]
#[test]
fn an_index_that_git_wrote_anew_goes_back_with_its_head() {
    let world = killed();
    let before = world.ok(Side::Folder, "stat -c %i .git/index; touch -d 2001-01-01 b; git status > /dev/null; stat -c %i .git/index");
    let inodes: Vec<&str> = before.lines().collect();
    assert_ne!(inodes[0], inodes[1], "git did not write its index");
    world.done(&["commit", "--settle", "back"]);
    let now = "git log -1 --format=%s; git diff --cached --name-only; cat a";
    assert_eq!(world.ok(Side::Folder, now), "first\none\n");
    assert_eq!(world.damage(Side::Folder), None);
}

/// What the person staged meanwhile is theirs.
#[needs(Ptrace, Overlay, UserNamespace, "git")]
#[test]
fn an_index_that_somebody_added_to_stays() {
    let world = killed();
    world.ok(Side::Folder, "echo mine > m; git add m");
    world.done(&["commit", "--settle", "back"]);
    assert!(world.ok(Side::Folder, "git ls-files").contains("m\n"));
    assert_eq!(world.damage(Side::Folder), None);
}

/// A git that moves refs has read them before.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn nothing_comes_home_under_a_git_that_moves_refs() {
    for lock in ["packed-refs.lock", "refs/heads/main.lock", "refs/heads/deep/er.lock", "HEAD.lock"]
    {
        let world = with_work();
        world.ok(Side::Folder, &format!("mkdir -p .git/refs/heads/deep; touch .git/{lock}"));
        let said = world.product(&["commit", "-w", "fix"]);
        assert_eq!(said.code, Some(8), "{lock}: {said:#?}");
        assert!(said.err.contains(lock), "{said:#?}");
        world.ok(Side::Folder, &format!("rm .git/{lock}; rmdir .git/refs/heads/deep"));
        world.done(&["commit", "-w", "fix"]);
        whole(&world);
    }
}

/// Runs the product with a git that kills whoever started it, after it did what has these words in its arguments.
fn killed_by_git(world: &World, words: &str, arguments: &[&str]) {
    let directory = world.place.path().join("killing");
    std::fs::create_dir_all(&directory).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!(
        "#!/bin/sh\nPATH='{path}'\ncase \"$*\" in\n*'{words}'*) git \"$@\"; kill -9 $PPID;;\n*) exec git \"$@\";;\nesac\n"
    );
    let program = directory.join("git");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{path}", directory.display());
    let output = world.place.command(arguments).env("PATH", path).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
}

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "ours", "--author", AUTHOR];
const STATE: &str = "git for-each-ref; git symbolic-ref HEAD; git ls-files -s; cat a b
    git --no-optional-locks status --porcelain";

/// The next command takes an undo back that ended between git and the files, and says so once.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_undo_that_ended_between_git_and_the_files_is_taken_back() {
    // Before the branch goes back, the index does.
    for words in ["undo of a commit", "update-index -z --index-info"] {
        for merges in [false, true] {
            let world = if merges { apart() } else { with_work() };
            world.ok(FIX, "echo more >> a; echo new > n");
            let before = world.ok(Side::Folder, STATE);
            world.done(&COMMIT_GIT);
            let after = world.ok(Side::Folder, STATE);
            killed_by_git(&world, words, &["undo", "-w", "fix"]);
            assert_ne!(world.ok(Side::Folder, STATE), after, "{words}: the undo had not begun");
            let said = world.product(&["status", "-w", "fix"]);
            assert!(
                said.is_well() && said.err.contains("an interrupted undo of commit"),
                "{said:#?}"
            );
            assert!(said.err.contains("was taken back"), "{said:#?}");
            assert_eq!(world.ok(Side::Folder, STATE), after, "{words}: {said:#?}");
            let said = world.product(&["status", "-w", "fix"]);
            assert!(!said.err.contains("interrupted"), "{said:#?}");
            whole(&world);
            world.done(&["undo", "-w", "fix"]);
            assert_eq!(world.ok(Side::Folder, STATE), before);
            world.done(&["redo", "-w", "fix"]);
            assert_eq!(world.ok(Side::Folder, STATE), after);
            whole(&world);
        }
    }
}

/// Whoever moved the branch since has the last word.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_went_on_after_a_killed_undo_stays() {
    let world = with_work();
    world.ok(FIX, "echo new > n");
    world.done(&COMMIT_GIT);
    killed_by_git(&world, "undo of a commit", &["undo", "-w", "fix"]);
    world.ok(Side::Folder, "git commit -q --allow-empty -m mine");
    let now = world.ok(Side::Folder, "git rev-parse HEAD");
    world.done(&["status", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git rev-parse HEAD"), now);
    let said = world.product(&["status", "-w", "fix"]);
    assert!(!said.err.contains("interrupted"), "{said:#?}");
}

/// What a killed commit left in the repository goes with the next one.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_index_that_was_left_goes() {
    let world = with_work();
    world.ok(FIX, "echo new > n");
    killed_by_git(&world, "write-tree", &COMMIT_GIT);
    let left = "ls .git | grep -c offshoot-index || true";
    assert_eq!(world.ok(Side::Folder, left), "1\n");
    world.done(&COMMIT_GIT);
    assert_eq!(world.ok(Side::Folder, left), "0\n");
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s; git status --porcelain"), "ours\n");
    whole(&world);
}
