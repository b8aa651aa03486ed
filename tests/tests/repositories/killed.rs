//! A commit that was killed, and a git at work: the index stays with the HEAD that it belongs to.

use std::ffi::OsString;

use offshoot_needs::needs;
use offshoot_tests::product;
use offshoot_tests::trace::{self, Fault, Trace};

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

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
