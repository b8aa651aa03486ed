//! Undo of a commit with a git commit: branches, HEAD, index and files are what they were, and nothing that was merged is lost.

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, apart, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];
const OWN: &str = "refs/heads/offshoot/fix/main";
/// All that a commit may change in the folder.
const STATE: &str = "git for-each-ref; git symbolic-ref HEAD; git ls-files -s; ls; cat a b
    git --no-optional-locks status --porcelain";

fn state(world: &World) -> String {
    world.ok(Side::Folder, STATE)
}

fn commit_of(world: &World, side: Side, name: &str) -> String {
    world.ok(side, &format!("git rev-parse {name}")).trim().to_owned()
}

/// What a document tells of a ref: the event, and from where to where it went.
fn told<'d>(document: &'d Value, name: &str) -> Vec<[&'d str; 3]> {
    let notes = document["result"]["repositories"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |note: &'d Value, field: &str| note[field].as_str().unwrap_or("");
    let of = |note: &'d Value| [text(note, "event"), text(note, "from"), text(note, "to")];
    notes.iter().filter(|note| note["name"] == name).map(of).collect()
}

/// What everybody says of some things who says what a commit would do.
fn promised(world: &World, fields: &[&str]) -> [Value; 3] {
    [
        &["status", "-w", "fix"][..],
        &["review", "--list", "-w", "fix"],
        &["commit", "-w", "fix", "--dry-run"],
    ]
    .map(|arguments| {
        let mut document = world.document(arguments);
        let result = document["result"].as_object_mut().expect("a document has a result");
        result.retain(|name, _| fields.contains(&name.as_str()));
        document["result"].take()
    })
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_was_merged_comes_back() {
    // A ref that is packed comes as a file.
    for (first, fields) in [
        ("true", &["repositories", "changes", "items"][..]),
        ("git pack-refs --all", &["repositories"]),
    ] {
        let world = apart();
        world.ok(Side::Folder, first);
        let (theirs, mine) =
            (commit_of(&world, Side::Folder, OWN), commit_of(&world, Side::Folder, "main"));
        let log = format!("git reflog {OWN}");
        let before = (state(&world), promised(&world, fields), world.ok(Side::Folder, &log));
        let made = world.document(&COMMIT_GIT);
        let merge = made["result"]["git"]["commit"].as_str().unwrap_or_default().to_owned();
        assert_eq!(made["result"]["git"]["merged"], OWN, "{made}");
        assert_eq!(made["result"]["git"]["merged_commit"], theirs.as_str(), "{made}");
        let after = state(&world);
        assert!(!after.contains(OWN), "{after}");
        for _ in 0..2 {
            let undone = world.document(&["undo", "-w", "fix"]);
            let now = (state(&world), promised(&world, fields), world.ok(Side::Folder, &log));
            assert_eq!(now, before, "{undone}");
            assert_eq!(told(&undone, OWN), [["moved", "", &theirs]], "{undone}");
            assert_eq!(told(&undone, "refs/heads/main"), [["moved", &merge, &mine]], "{undone}");
            whole(&world);
            let redone = world.document(&["redo", "-w", "fix"]);
            assert_eq!(state(&world), after, "{redone}");
            assert_eq!(told(&redone, OWN), [["deleted", &theirs, ""]], "{redone}");
            assert_eq!(told(&redone, "refs/heads/main"), [["moved", &mine, &merge]], "{redone}");
            whole(&world);
        }
        let said = world.done(&["undo", "-w", "fix"]);
        assert!(
            said.contains(&format!("offshoot/fix/main was created at {}", &theirs[..12])),
            "{said}"
        );
        world.done(&COMMIT_GIT);
        assert!(!state(&world).contains(OWN));
    }
}

/// The workspace went on: the branch goes back to where it was, not to where it was merged.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_went_on_goes_back() {
    let world = world();
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "sed -i 's/^1$/start/' b; git commit -qam mine");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "git add n; git commit -qm files");
    world.ok(FIX, "echo m > m; git add m; git commit -qm more; echo loose > loose");
    let before = state(&world);
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["merged"], OWN, "{made}");
    let after = state(&world);
    for _ in 0..2 {
        let undone = world.document(&["undo", "-w", "fix"]);
        assert_eq!(state(&world), before, "{undone}");
        let redone = world.document(&["redo", "-w", "fix"]);
        assert_eq!(state(&world), after, "{redone}");
        whole(&world);
    }
}

/// What somebody made since stays, and what it is not is named.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_was_made_since_stays() {
    for since in [
        "git branch offshoot/fix/main main~1",
        "git branch offshoot/fix/main/x main~1",
        "git branch offshoot/fix main~1",
    ] {
        let world = apart();
        let theirs = commit_of(&world, Side::Folder, OWN);
        world.done(&COMMIT_GIT);
        world.ok(Side::Folder, since);
        let own = "git for-each-ref refs/heads/offshoot";
        let made = world.ok(Side::Folder, own);
        let undone = world.document(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, own), made, "{undone}");
        let [[event, _, to]] = told(&undone, OWN)[..] else { panic!("{since}: {undone}") };
        assert_eq!((event, to), ("stayed", theirs.as_str()), "{since}: {undone}");
        assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "mine\n");
        whole(&world);
    }
}

/// Where the branch stays with what was merged into it, nothing comes back beside it. Where it went away from that, it does.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_branch_left_comes_back() {
    for (since, is_back) in
        [("git commit -q --allow-empty -m on", false), ("git reset -q --hard HEAD~1", true)]
    {
        let world = apart();
        let theirs = commit_of(&world, Side::Folder, OWN);
        world.done(&COMMIT_GIT);
        world.ok(Side::Folder, since);
        let undone = world.document(&["undo", "-w", "fix"]);
        let expected = if is_back { vec![["moved", "", &*theirs]] } else { Vec::new() };
        assert_eq!(told(&undone, OWN), expected, "{since}: {undone}");
        assert_eq!(state(&world).contains(OWN), is_back, "{since}: {undone}");
        whole(&world);
    }
}

/// A commit of the agent's own and the git commit on top of it go back together.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_on_top_of_the_workspaces_own_is_undone_whole() {
    let world = world();
    world.ok(FIX, "sed -i 's/^20$/end/' b; git commit -qam theirs; echo wip > wip");
    let (before, first) = (state(&world), commit_of(&world, Side::Folder, "main"));
    let made = world.document(&COMMIT_GIT);
    let merge = made["result"]["git"]["commit"].as_str().unwrap_or_default().to_owned();
    let after = state(&world);
    for _ in 0..2 {
        let undone = world.document(&["undo", "-w", "fix"]);
        assert_eq!(state(&world), before, "{undone}");
        let main = told(&undone, "refs/heads/main");
        assert_eq!(main, [["moved", &*merge, &*first]], "{undone}");
        assert!(told(&undone, "HEAD").is_empty(), "{undone}");
        whole(&world);
        let redone = world.document(&["redo", "-w", "fix"]);
        assert_eq!(state(&world), after, "{redone}");
        assert_eq!(told(&redone, "refs/heads/main"), [["moved", &*first, &*merge]], "{redone}");
        whole(&world);
    }
    world.done(&["undo", "-w", "fix"]);
    world.done(&COMMIT_GIT);
    assert_eq!(world.ok(Side::Folder, "git log --format=%s"), "both\ntheirs\nfirst\n");
}

/// An undo that is refused leaves the git commit where it is.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_refused_undo_leaves_the_git_commit() {
    let world = apart();
    world.ok(FIX, "echo wip > wip");
    world.done(&COMMIT_GIT);
    world.ok(Side::Folder, "echo edited >> wip");
    let logs = format!("{STATE}; git reflog; git reflog main");
    let before = world.ok(Side::Folder, &logs);
    let said = world.product(&["undo", "-w", "fix"]);
    assert!(!said.is_well() && said.err.contains("/wip"), "{said:#?}");
    assert_eq!(world.ok(Side::Folder, &logs), before);
    whole(&world);
}

/// What was taken back before the commit comes back after it, in the whole vault too.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn everything_of_a_vault_is_redone_in_turn() {
    let world = apart();
    world.done(&COMMIT_GIT);
    world.ok(FIX, "echo last > last");
    let after = state(&world);
    for _ in 0..2 {
        world.done(&["undo", "--vault-wide"]);
    }
    assert!(state(&world).contains(OWN));
    for _ in 0..2 {
        world.done(&["redo", "--vault-wide"]);
    }
    assert_eq!(state(&world), after);
    assert_eq!(world.ok(FIX, "cat last"), "last\n");
}

/// The agent made a branch and staged its work on it: that is what is taken back, with the git commit on top.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_came_with_what_is_staged_goes_again() {
    for work in [
        "git checkout -q -b br; echo n > n; git add -A",
        "git checkout -q -b br; git rm -q a; echo more >> b; git add b; echo loose > loose",
    ] {
        for since in ["true", "git tag mine; echo u > u"] {
            let world = world();
            world.ok(FIX, work);
            world.ok(Side::Folder, since);
            let refs = "git for-each-ref; git symbolic-ref HEAD; git ls-files -s; ls; cat b
                git --no-optional-locks status --porcelain";
            let state = || world.ok(Side::Folder, refs);
            let before = state();
            let made = world.document(&COMMIT_GIT);
            assert_eq!(made["result"]["git"]["branch"], "br", "{made}");
            let after = state();
            for _ in 0..2 {
                let undone = world.document(&["undo", "-w", "fix"]);
                assert_eq!(state(), before, "{undone}");
                whole(&world);
                let redone = world.document(&["redo", "-w", "fix"]);
                assert_eq!(state(), after, "{redone}");
                whole(&world);
            }
        }
    }
}

/// Two workspaces whose work reached the folder together, and was undone. Something stays in one of them, so they took in what reached the folder.
fn undone_together() -> World {
    let script =
        "git init -q .; seq 20 > b; echo out > .gitignore; git add .; git commit -qm first";
    let world = World::new(script, &["one", "two"]);
    world.ok(Side::Workspace("one"), "sed -i s/^1$/start/ b; git commit -qam one; echo 1 > out");
    world.ok(Side::Workspace("two"), "sed -i s/^20$/end/ b; git commit -qam two");
    world.product(&["merge", "one", "two", "--into", "both"]);
    for workspace in ["both", "one", "two"] {
        world.done(&["commit", "-w", workspace]);
    }
    world.done(&["undo", "-w", "both"]);
    world
}

/// Where the files of a commit stay undone, the branch does not move to it: that would look as if somebody had taken the work back.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_stays_back_with_its_files() {
    let world = undone_together();
    let state = "git rev-parse HEAD; git status --porcelain; cat b";
    let before = world.ok(Side::Folder, state);
    for further in ["true", "echo n > n; git add n; git commit -qm more"] {
        for _ in 0..2 {
            let said = world.done(&["commit", "-w", "two"]);
            assert_eq!(world.ok(Side::Folder, &format!("rm -f n; {state}")), before, "{said}");
        }
        world.ok(Side::Workspace("two"), further);
    }
    let said = world.done(&["commit", "-w", "two"]);
    let way = said.split('`').find(|way| way.starts_with("git merge")).unwrap_or_default();
    let merged = world.typed(&format!("rm -f n; {way}"));
    assert!(merged.is_well(), "{said}: {merged:#?}");
    assert_eq!(world.ok(Side::Folder, "git status --porcelain; tail -n 1 b; cat n"), "end\nn\n");
    assert_eq!(world.damage(Side::Folder), None);
}
