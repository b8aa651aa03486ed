//! What went wrong once, end to end.

use crate::world::{AUTHOR, Side, World};
use offshoot_needs::needs;

pub(crate) const FIX: Side = Side::Workspace("fix");
const HISTORY: &str = "git init -q .; echo one > a; seq 20 > b; git add -A; git commit -qm first";

/// A repository with one commit, and a workspace of it.
pub(crate) fn world() -> World {
    World::new(HISTORY, &["fix"])
}

/// Fails unless both sides are whole.
pub(crate) fn whole(world: &World) {
    for side in [Side::Folder, FIX] {
        assert_eq!(world.damage(side), None);
    }
    world.status_is_true().unwrap();
}

/// Both sides committed on one branch, and the workspace's commit reached the folder beside it.
pub(crate) fn apart() -> World {
    let world = world();
    world.ok(FIX, "sed -i 's/^20$/end/' b; git commit -qam theirs");
    world.ok(Side::Folder, "sed -i 's/^1$/start/' b; git commit -qam mine");
    world.done(&["commit", "-w", "fix"]);
    world
}

const COMMIT_GIT: [&str; 8] =
    ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn undo_of_a_git_commit_leaves_the_objects_that_it_uses() {
    let world = world();
    let before = world.ok(Side::Folder, "git rev-parse HEAD; git ls-files -s; ls");
    world.ok(FIX, "echo new > n; git add n");
    world.ok(Side::Folder, "echo staged > s; git add s");
    world.done(&COMMIT_GIT);
    let made = world.ok(Side::Folder, "git rev-parse HEAD");
    let said = world.done(&["undo", "-w", "fix"]);
    assert!(said.contains(&made[..12]), "{said}");
    whole(&world);
    world.ok(Side::Folder, &format!("git show {made}"));
    // What the person staged is still staged.
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "A  s\n");
    let told = world.document(&["redo", "-w", "fix"]);
    let moved = &told["result"]["repositories"][0];
    assert_eq!((&moved["event"], &moved["to"]), (&"moved".into(), &made.trim().into()), "{told}");
    assert_eq!(world.ok(Side::Folder, "git rev-parse HEAD; cat n"), format!("{made}new\n"));
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "A  s\n");
    world.done(&["undo", "-w", "fix"]);
    let now = world
        .ok(Side::Folder, "git rm -q --cached s; rm s; git rev-parse HEAD; git ls-files -s; ls");
    assert_eq!(now, before);
    whole(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn undo_leaves_what_the_persons_own_commit_uses() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "git commit -qm mine");
    world.done(&["undo", "-w", "fix"]);
    whole(&world);
    assert_eq!(world.ok(Side::Folder, "git show --format=%s --name-only HEAD"), "mine\n\nn\n");
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), " D n\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn undo_leaves_what_the_persons_branch_uses() {
    let world = world();
    let before = world.ok(Side::Folder, "git rev-parse HEAD");
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "git branch mine");
    let said = world.done(&["undo", "-w", "fix"]);
    let made = world.ok(Side::Folder, "git rev-parse mine");
    assert!(said.contains(&made[..12]), "{said}");
    whole(&world);
    assert_eq!(world.ok(Side::Folder, "git rev-parse HEAD; git status --porcelain"), before);
    assert_eq!(world.ok(Side::Folder, "git log --format=%s mine"), "theirs\nfirst\n");
    // The log of the branch knows the commit too.
    let log = world.ok(Side::Folder, "git branch -q -D mine; git log -g --format=%H main");
    assert!(log.contains(made.trim()), "{log}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_went_on_stays_where_it_is() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "echo x > x; git add x; git commit -qm mine");
    let head = world.ok(Side::Folder, "git rev-parse HEAD");
    let said = world.done(&["undo", "-w", "fix"]);
    assert!(said.contains("main stays at"), "{said}");
    whole(&world);
    assert_eq!(
        world.ok(Side::Folder, "git rev-parse HEAD; git status --porcelain"),
        format!("{head} D n\n")
    );
}

/// The git commit was made upon: the files go back, and it stays.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_that_others_came_upon_stays() {
    let world = world();
    world.ok(FIX, "echo new > n");
    world.done(&COMMIT_GIT);
    world.ok(Side::Folder, "echo x > x; git add x; git commit -qm mine");
    let said = world.done(&["undo", "-w", "fix"]);
    assert!(said.contains("main stays at"), "{said}");
    whole(&world);
    assert_eq!(
        world.ok(Side::Folder, "git log --format=%s; git status --porcelain"),
        "mine\nby offshoot\nfirst\n D n\n"
    );
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_of_both_sides_stay_apart_and_the_advice_works() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo x > x; git add x; git commit -qm mine");
    let said = world.done(&["pull", "-w", "fix"]);
    assert!(
        said.contains(
            "main was moved on both sides: fix's stays, the folder's is offshoot/folder/main"
        ),
        "{said}"
    );
    whole(&world);
    assert_eq!(
        world.ok(FIX, "git log -1 --format=%s; git log -1 --format=%s offshoot/folder/main"),
        "theirs\nmine\n"
    );
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(
        said.contains("main was moved on both sides: yours stays, fix's is offshoot/fix/main"),
        "{said}"
    );
    whole(&world);
    assert_eq!(
        world.ok(Side::Folder, "git log -1 --format=%s; git branch --format='%(refname:short)'"),
        "mine\nmain\noffshoot/fix/main\n"
    );
    world.ok(
        Side::Folder,
        "git add -A; git commit -qm files; git merge -q --no-edit offshoot/fix/main",
    );
    assert_eq!(world.ok(Side::Folder, "git status --porcelain; cat n x"), "new\nx\n");
}

/// An agent that merges what was kept apart brings its branch into the folder.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_was_kept_apart_and_merged_comes_home() {
    let world = world();
    world.ok(FIX, "echo new > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo x > x; git add x; git commit -qm mine");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git add -A; git commit -qm files; git merge -q --no-edit offshoot/folder/main");
    let told = world.document(&["commit", "-w", "fix"]);
    assert_eq!(told["result"]["repositories"], serde_json::Value::Null, "{told}");
    whole(&world);
    assert_eq!(
        world.ok(
            Side::Folder,
            "git log -1 --format=%s; git status --porcelain; git branch --format='%(refname:short)'"
        ),
        "Merge branch 'offshoot/folder/main'\nmain\n"
    );
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn both_sides_are_told_in_documents() {
    let world = world();
    world.ok(FIX, "git commit -q --allow-empty -m theirs; git tag v1");
    world.ok(Side::Folder, "git commit -q --allow-empty -m mine; git tag v1");
    let theirs = world.ok(FIX, "git rev-parse HEAD");
    let told = world.document(&["commit", "-w", "fix"]);
    let notes = told["result"]["repositories"].as_array().unwrap();
    let kept: Vec<_> = notes
        .iter()
        .filter_map(|note| {
            Some((
                note["name"].as_str()?,
                note["event"].as_str()?,
                note["kept_as"].as_str()?,
                note["to"].as_str()?,
            ))
        })
        .collect();
    let theirs = theirs.trim();
    assert_eq!(
        kept,
        [
            ("refs/heads/main", "kept-apart", "refs/heads/offshoot/fix/main", theirs),
            ("refs/tags/v1", "kept-apart", "refs/tags/offshoot/fix/v1", theirs),
        ]
    );
    whole(&world);
}
