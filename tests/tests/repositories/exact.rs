//! `undo` of `commit --git` takes back all that it did to the folder's repository, and `redo` brings exactly that again.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] =
    ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];
/// The agent commits, and leaves something that is not committed.
const BOTH: &str = "echo theirs > a; git commit -qam theirs; echo wip > wip";
/// The commit that is checked out.
const HEAD: &str = "git rev-parse HEAD";

/// A folder in which a person did something before an agent did.
fn history(person: &str, agent: &str) -> World {
    let world = world();
    world.ok(Side::Folder, person);
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, agent);
    world
}

/// Commits with git, takes that back, forth and back, and gives what the first undo said.
fn back_and_forth(world: &World) -> String {
    let states = || [world.state(Side::Folder), world.state(FIX)];
    let before = states();
    world.done(&COMMIT_GIT);
    let after = states();
    assert_ne!(before[0], after[0]);
    let said = world.done(&["undo", "-w", "fix"]);
    assert_eq!(states(), before, "{said}");
    assert!(!said.contains("stay"), "{said}");
    whole(world);
    let again = world.done(&["redo", "-w", "fix"]);
    assert_eq!(states(), after, "{again}");
    assert!(!again.contains("stay"), "{again}");
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(states(), before);
    whole(world);
    said
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_an_agent_committed_and_what_it_left_are_taken_back() {
    for agent in [
        BOTH,
        "echo theirs > a; git commit -qam theirs",
        "echo wip > wip",
        "echo theirs > a; git commit -qam theirs; echo more >> a; rm b",
    ] {
        back_and_forth(&history("", agent));
    }
    // A first commit.
    back_and_forth(&history("git checkout -q --orphan empty; git rm -rfq .", "echo wip > wip"));
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn other_branches_are_taken_back_as_well() {
    let side = "git checkout -q side; echo s > s; git add s; git commit -qm side; git tag v1";
    let both = format!("echo theirs > a; git commit -qam theirs; {side}");
    back_and_forth(&history(
        "git branch side",
        &format!("{both}; git checkout -q main; echo w > w"),
    ));
    back_and_forth(&history("git branch side", &format!("{both}; echo w > w")));
    let said = back_and_forth(&history("", &format!("git checkout -qb topic; {BOTH}")));
    assert!(said.contains("topic was deleted; it was at"), "{said}");
}

/// No branch has the commits, so the output must.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_without_a_branch_are_taken_back_and_named() {
    let detach = "git checkout -q --detach";
    for (person, agent) in [(detach, BOTH), ("", &*format!("{detach}; {BOTH}"))] {
        let world = history(person, agent);
        let first = world.ok(Side::Folder, HEAD);
        let said = back_and_forth(&world);
        world.done(&["redo", "-w", "fix"]);
        let made = world.ok(Side::Folder, HEAD);
        let moved = format!("HEAD moved from {} to {}", &made[..12], &first[..12]);
        assert!(said.contains(&moved), "{moved}: {said}");
        assert_eq!(said.matches("HEAD moved").count(), 1, "{said}");
    }
    // Without a git commit too.
    let world = history(detach, "echo theirs > a; git commit -qam theirs");
    let first = world.ok(Side::Folder, HEAD);
    world.done(&["commit", "-w", "fix"]);
    let made = world.ok(Side::Folder, HEAD);
    let said = world.done(&["undo", "-w", "fix"]);
    let moved = format!("HEAD moved from {} to {}", &made[..12], &first[..12]);
    assert!(said.contains(&moved), "{moved}: {said}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_the_person_had_staged_or_changed_is_there_again() {
    back_and_forth(&history("echo staged >> b; git add b; echo new > new", BOTH));
    back_and_forth(&history("echo changed >> b; git pack-refs --all", BOTH));
    let world = history("", BOTH);
    world.ok(Side::Folder, "echo staged >> b; git add b; echo staged > s; git add -N s");
    back_and_forth(&world);
}

/// What somebody stages in between stays staged, and nothing else stays.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_staged_since_stays_staged() {
    for (person, agent, git) in [
        ("", BOTH, true),
        ("git checkout -q --detach", BOTH, true),
        ("", "echo theirs > a; git commit -qam theirs", false),
    ] {
        let world = history(person, agent);
        let stage = "echo staged >> b; git add b";
        let before = world.state(Side::Folder);
        world.done(if git { &COMMIT_GIT } else { &COMMIT_GIT[..3] });
        let after = world.state(Side::Folder);
        let made = world.ok(Side::Folder, &format!("{stage}; {HEAD}"));
        let said = world.done(&["undo", "-w", "fix"]);
        let status = "git status --porcelain; git checkout -q HEAD -- b";
        assert_eq!(world.ok(Side::Folder, status), "M  b\n", "{said}");
        assert_eq!(world.state(Side::Folder), before, "{said}");
        assert!(said.contains(&format!("moved from {}", &made[..12])), "{said}");
        assert!(!said.contains("stay"), "{said}");
        world.ok(Side::Folder, stage);
        let said = world.done(&["redo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, status), "M  b\n", "{said}");
        assert_eq!(world.state(Side::Folder), after, "{said}");
        assert!(!said.contains("stay"), "{said}");
        whole(&world);
    }
}

/// Commits that came upon it stay, with all below them, and that is said once. Files go back all the same, as without git.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_the_person_committed_since_stays() {
    let world = history("", BOTH);
    let first = world.ok(Side::Folder, HEAD);
    world.done(&COMMIT_GIT);
    let mine = world.ok(Side::Folder, &format!("echo m > m; git add m; git commit -qm m; {HEAD}"));
    let said = world.done(&["undo", "-w", "fix"]);
    let stays = format!("main stays at {}, not {}", &mine[..12], &first[..12]);
    assert!(said.contains(&stays), "{stays}: {said}");
    assert!(said.matches("main").count() == 1 && !said.contains("moved"), "{said}");
    let now = "git log --format=%s; git status --porcelain; ls; cat a";
    assert_eq!(
        world.ok(Side::Folder, now),
        "m\nby offshoot\ntheirs\nfirst\n M a\n D wip\na\nb\nm\none\n"
    );
    whole(&world);
}
