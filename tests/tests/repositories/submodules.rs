//! Submodules that are made ready inside of a workspace.

use offshoot_needs::needs;

use crate::seen::FIX;
use crate::world::{AUTHOR, Side, World};

/// A folder with a submodule that nobody made ready, and where that comes from.
const UNREADY: &str = "git init -q .; echo one > a; git add a; git commit -qm first
    git clone -q --bare . store.git; echo store.git > .git/info/exclude
    git -c protocol.file.allow=always submodule --quiet add \"$PWD/store.git\" lib
    git commit -qm modules; git submodule --quiet deinit -f lib; rm -rf .git/modules";

/// The same in a linked working tree.
const LINKED: &str =
    "git init -q ../main; cd ../main; echo one > a; git add a; git commit -qm first
    git -c protocol.file.allow=always submodule --quiet add \"file://$PWD/.git\" lib
    git commit -qm modules; git submodule --quiet deinit -f lib; rm -rf .git/modules
    git worktree add -q -b side ../project";

const READY: &str = "git -c protocol.file.allow=always submodule --quiet update --init";

/// Makes it ready, and commits in it and around it.
const WORK: &str = "git -c protocol.file.allow=always submodule --quiet update --init
    cd lib; git checkout -q -b topic; echo two >> a; git commit -qam inner; cd ..; git commit -qam moved";

fn works(world: &World) {
    assert_eq!(
        world.ok(
            Side::Folder,
            "git -C lib log -1 --format=%s; git log -1 --format=%s; git status --porcelain
             git submodule status | cut -c1; git -C lib config remote.origin.url > /dev/null"
        ),
        "inner\nmoved\n \n"
    );
    world.ok(Side::Folder, "git fsck --strict; git -C lib fsck --strict");
    world.ok(Side::Folder, READY);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_is_made_ready_inside_comes_home_whole() {
    for script in [UNREADY, LINKED] {
        let world = World::new(script, &["fix"]);
        world.ok(FIX, WORK);
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(!said.contains("stays in"), "{said}");
        works(&world);
        let status = world.document(&["status", "-w", "fix"]);
        assert!(!status["result"].to_string().contains("\"reason\":\"git\""), "{status}");
        // It goes again, and a person can make it ready themselves.
        let undone = world.product(&["undo", "-w", "fix"]);
        assert!(undone.is_well(), "{undone:#?}");
        assert!(!format!("{}{}", undone.out, undone.err).contains("both sides"), "{undone:#?}");
        assert_eq!(
            world.ok(Side::Folder, "git log -1 --format=%s; git status --porcelain; ls lib"),
            "modules\n"
        );
        world.ok(Side::Folder, READY);
        assert_eq!(
            world.ok(Side::Folder, "git -C lib log -1 --format=%s; git status --porcelain"),
            "first\n"
        );
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_is_new_comes_home_whole() {
    let world = World::new(UNREADY, &["fix"]);
    world.ok(
        FIX,
        "git -c protocol.file.allow=always submodule --quiet add \"$PWD/store.git\" deep/other; git commit -qm added",
    );
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(
        world.ok(
            Side::Folder,
            "git -C deep/other log -1 --format=%s; git status --porcelain; git -C deep/other status --porcelain"
        ),
        "first\n"
    );
    world.ok(Side::Folder, "git fsck --strict; git -C deep/other fsck --strict");
}

/// Whatever git would run for it keeps all of it in the workspace: its files would be in git's way without it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_git_would_run_something_for_stays_whole() {
    for planted in [
        "printf '#!/bin/sh\\n' > .git/modules/lib/hooks/post-checkout; chmod +x .git/modules/lib/hooks/post-checkout",
        "git -C lib config core.fsmonitor /tmp/x",
        "git -C lib config remote.origin.url 'ext::sh -c x'",
        "git -C lib config include.path /tmp/x",
        "mkdir -p .git/modules/lib/info; echo '* filter=x' > .git/modules/lib/info/attributes",
        "ln -s /tmp/x .git/modules/lib/hooks/x.sample",
        "git config -f .git/modules/lib/config core.worktree ../../..",
    ] {
        let world = World::new(UNREADY, &["fix"]);
        world.ok(FIX, &format!("{READY}; {planted}"));
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(said.contains("--allow git"), "{planted}: {said}");
        assert!(!said.contains("pre-commit.sample"), "{planted}: {said}");
        assert_eq!(
            world.ok(
                Side::Folder,
                "ls -A lib; ls .git | grep modules || true; git status --porcelain"
            ),
            "",
            "{planted}"
        );
        // The person makes it ready without what is planted.
        world.ok(Side::Folder, READY);
        assert_eq!(world.ok(Side::Folder, "git -C lib log -1 --format=%s"), "first\n");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn settings_around_it_are_held_back_where_they_say_more() {
    let world = World::new(UNREADY, &["fix"]);
    world.ok(FIX, &format!("{READY}; git config submodule.lib.update '!touch /tmp/x'"));
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("/.git/config"), "{said}");
    assert_eq!(world.ok(Side::Folder, "git config --get-regexp submodule || true"), "");
}

/// A git that is at work for a moment is waited for.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_lock_that_goes_in_a_moment_stops_no_commit() {
    for lock in ["index.lock", "HEAD.lock", "refs/heads/main.lock"] {
        let world = World::new(UNREADY, &["fix"]);
        world.ok(FIX, "echo new > new");
        world.ok(
            Side::Folder,
            &format!("touch .git/{lock}; (sleep 0.8; rm .git/{lock}) > /dev/null 2>&1 &"),
        );
        world.done(&["commit", "-w", "fix"]);
        assert_eq!(
            world.ok(Side::Folder, &format!("cat new; ls .git/{lock} 2> /dev/null || true")),
            "new\n"
        );
        world.ok(FIX, "echo more > new");
        world.ok(Side::Folder, &format!("touch .git/{lock}"));
        assert_eq!(world.product(&["commit", "-w", "fix"]).code, Some(8));
    }
}

/// The files of a submodule go with the file that makes them one: without them it would be a checkout with everything deleted.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_is_given_up_inside_goes_whole() {
    for gone in ["git submodule --quiet deinit -f lib", "rm -r lib", "rm -r lib; mkdir lib"] {
        let world = World::new(&format!("{UNREADY}; {READY}"), &["fix"]);
        world.ok(FIX, gone);
        world.done(&["commit", "-w", "fix"]);
        let left =
            "ls -A lib 2> /dev/null || true; git status --porcelain | grep -v '^ D lib$' || true";
        assert_eq!(world.ok(Side::Folder, left), "", "{gone}");
        world.ok(Side::Folder, READY);
        assert_eq!(world.ok(Side::Folder, "git status --porcelain; cat lib/a"), "one\n", "{gone}");
    }
    // What is alone in no folder stays.
    let world = World::new(&format!("{UNREADY}; {READY}"), &["fix"]);
    world.ok(FIX, "rm lib/.git");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("/lib/.git"), "{said}");
    world.ok(Side::Folder, "test -f lib/.git");
}

/// As if it had never been: git makes no submodule where a repository of its name is left.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_is_undone_leaves_nothing() {
    let world = World::new(UNREADY, &["fix"]);
    let add = "git -c protocol.file.allow=always submodule --quiet add \"$PWD/store.git\" other";
    world.ok(FIX, &format!("{add}; git commit -qm added"));
    let files = "find .git ! -path '*/objects*' ! -name logs | sort; git status --porcelain";
    let before = world.ok(Side::Folder, files);
    for _ in 0..2 {
        world.done(&["commit", "-w", "fix"]);
        world.ok(Side::Folder, "git -C other log -1");
        world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, files), before);
        world.done(&["redo", "-w", "fix"]);
        world.ok(Side::Folder, "git -C other log -1");
        world.done(&["undo", "-w", "fix"]);
    }
    world.ok(Side::Folder, add);
    // What somebody used since stays, and that is said.
    world.ok(Side::Folder, "git reset -q --hard; rm -rf other .git/modules/other");
    world.done(&["commit", "-w", "fix"]);
    world.ok(
        Side::Folder,
        "git -C other commit -q --allow-empty -m mine; git -C other checkout -q HEAD~1",
    );
    let said = world.done(&["undo", "-w", "fix"]);
    assert!(said.contains("submodule other: the repository stays"), "{said}");
    world.ok(Side::Folder, "test -e .git/modules/other/HEAD");
}

/// A git commit records no submodule, says so, and what does. One that the workspace recorded itself is none of them.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_tells_of_a_submodule_that_it_does_not_record() {
    let inner = "cd lib; echo two >> a; git commit -qam inner; cd ..";
    let added = "git -c protocol.file.allow=always submodule --quiet add \"$PWD/store.git\" other";
    let commit = ["commit", "-w", "fix", "--git", "-m", "moved", "--author", AUTHOR];
    for (script, left, files) in [
        (inner, Some("lib"), 0),
        (&format!("{inner}; echo two >> a"), Some("lib"), 1),
        (&format!("{inner}; git add lib"), Some("lib"), 0),
        (added, Some("other"), 1),
        (&format!("{inner}; git commit -qam bump"), None, 0),
        ("echo two >> a", None, 1),
    ] {
        let world = World::new(&format!("{UNREADY}; {READY}"), &["fix"]);
        world.ok(FIX, script);
        let planned = world.product(&[&commit[..], &["--dry-run"]].concat());
        let made = world.product(&commit);
        for said in [&planned, &made] {
            assert!(said.is_well(), "{said:#?}");
            let note = left.map(|left| format!("--git does not record: `git add {left}` and"));
            let is_said = note.as_ref().is_some_and(|note| said.err.contains(note));
            assert_eq!(is_said, note.is_some(), "{script}: {said:#?}");
            assert_eq!(said.err.contains("submodule"), note.is_some(), "{script}: {said:#?}");
            let nothing = said.out.contains("there is nothing new in it for git");
            assert_eq!(nothing, left.is_none() && files == 0, "{script}: {said:#?}");
        }
        if let Some(left) = left {
            world.ok(Side::Folder, &format!("git add {left}; git commit -qm recorded"));
        }
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "", "{script}");
    }
}

/// Git merges no submodules that both sides moved: which one it is is said, and of which repository each line is.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_both_sides_moved_is_named() {
    let world = World::new(&format!("{UNREADY}; {READY}"), &["fix"]);
    world.ok(
        FIX,
        "cd lib; git checkout -q -b topic; echo x > x; git add x; git commit -qm x; cd ..; git commit -qam theirs",
    );
    world.ok(
        Side::Folder,
        "cd lib; echo y > y; git add y; git commit -qm y; cd ..; git commit -qam mine",
    );
    let said = world.product(&["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR]);
    assert_eq!(said.code, Some(4), "{said:#?}");
    let why = "offshoot/fix/main cannot be merged: both sides moved submodule lib\n";
    assert!(said.out.contains(why), "{said:#?}");
    assert!(said.out.contains("git submodule lib: HEAD and index stay as they are"), "{said:#?}");
}
