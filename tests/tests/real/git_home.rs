//! Repositories that reach the folder with the files: what git says on the host afterwards.

use offshoot_needs::needs;

use crate::git_scene::{HISTORY, project};
use crate::scene::Who;

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_of_the_workspace_come_home() {
    for who in [Who::Me, Who::Ordinary] {
        let scene = project(who, HISTORY);
        scene.host("echo mine >> d/c; git status --short");
        scene.work("echo two >> a; git commit -qam third; git branch topic; git tag -am v1 v1");
        scene.done(&["commit"]);
        assert_eq!(
            scene.host("git log --format=%s; git branch --format='%(refname:short)'; git tag"),
            "third\nsecond\nfirst\nmain\ntopic\nv1\n"
        );
        assert_eq!(scene.host("git status --porcelain"), " M d/c\n");
        scene.host("git fsck --strict --full; git commit -qam mine; git gc -q");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_commit_that_git_has_looked_at_since_is_undone() {
    let scene = project(Who::Me, HISTORY);
    let before = scene.host("git rev-parse HEAD; git ls-files --stage; cat a");
    scene.work("echo two >> a; git add a; git commit -qm third");
    scene.done(&["commit"]);
    let index = scene.host("cksum .git/index");
    scene.host("touch b; git status; git update-index --refresh || true");
    assert_ne!(scene.host("cksum .git/index"), index, "git has not written its index");
    scene.done(&["undo"]);
    assert_eq!(scene.host("git rev-parse HEAD; git ls-files --stage; cat a"), before);
    assert_eq!(scene.host("git status --porcelain"), "");
    scene.done(&["redo"]);
    // What is staged since stays staged, and the branch goes back.
    scene.host("echo staged > new; git add new");
    scene.done(&["undo"]);
    assert_eq!(scene.host("git status --porcelain"), "A  new\n");
    scene.host("git rm -q -f new");
    assert_eq!(scene.host("git rev-parse HEAD; git ls-files --stage; cat a"), before);
    scene.host("git fsck --strict --full");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_git_tracks_comes_home_though_it_is_ignored() {
    let ignoring = "echo '*.log' > .gitignore; echo one > kept.log; git add -f .gitignore kept.log";
    let history = format!("{HISTORY}; {ignoring}; git commit -qm ignoring");
    let scene = project(Who::Me, &history);
    scene.work("echo two >> kept.log; echo built > other.log");
    scene.done(&["commit"]);
    assert_eq!(scene.host("cat *.log"), "one\ntwo\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_of_both_stay_apart_and_the_advice_works() {
    for who in [Who::Me, Who::Ordinary] {
        let scene = project(who, HISTORY);
        scene.host("echo mine >> b; git commit -qam mine");
        scene.work("echo two >> a; git commit -qam theirs");
        let said = scene.done(&["commit"]);
        assert!(said.contains("yours stays, real's is offshoot/real/main"), "{said}");
        assert_eq!(
            scene.host("git log -1 --format=%s; git status --porcelain; cat a"),
            "mine\n M a\none\nmore\ntwo\n"
        );
        scene.host(
            "git fsck --strict; git commit -qam both; git merge -q --no-edit offshoot/real/main",
        );
        assert_eq!(scene.host("git status --porcelain"), "");
    }
}

/// Files without commits, and commits as a branch.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn files_and_commits_can_come_home_apart() {
    let scene = project(Who::Me, HISTORY);
    scene.host("echo mine >> b; git commit -qam mine");
    scene.work("echo two >> a; git commit -qam theirs");
    scene.done(&["export", "--git", "agent"]);
    scene.same_files("agent");
    scene.done(&["commit", "--exclude", ".git"]);
    assert_eq!(
        scene.host("git log -1 --format=%s; git status --porcelain; cat a"),
        "mine\n M a\none\nmore\ntwo\n"
    );
    scene.host("git commit -qam both; git merge -q --no-edit agent; git fsck --strict");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_that_is_at_work_is_not_disturbed() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo two >> a");
    scene.host("touch .git/index.lock");
    let said = scene.refused(&["commit"], 8);
    assert!(said.contains("index.lock"), "{said}");
    scene.host("rm .git/index.lock");
    scene.done(&["commit"]);
}

/// Main and a branch that do not merge by themselves.
fn diverged() -> String {
    format!(
        "{HISTORY}; git checkout -q -b side HEAD~1; echo side >> a; git commit -qam side; git checkout -q main"
    )
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_in_progress_does_not_keep_files_away() {
    let scene = project(Who::Me, &diverged());
    scene.work("echo two >> b");
    scene.host("! git merge -q side");
    assert!(scene.refused(&["commit", "--git"], 4).contains("a git merge is in progress"));
    scene.done(&["commit"]);
    scene.host("git checkout --ours a; git add a; git commit -qm merged; git fsck --strict");
    assert_eq!(scene.host("git status --porcelain"), " M b\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_in_progress_keeps_commits_on_a_branch_of_their_own() {
    let scene = project(Who::Me, &diverged());
    scene.work("echo two >> b; git commit -qam theirs");
    scene.host("! git merge -q side");
    let said = scene.done(&["commit"]);
    assert!(said.contains("offshoot/real/main"), "{said}");
    scene.host("git merge --abort; git fsck --strict");
    assert_eq!(
        scene.host("git log -1 --format=%s; git log -1 --format=%s offshoot/real/main"),
        "second\ntheirs\n"
    );
}

/// Looking at the status writes the index on both sides; that is nothing to decide.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_of_the_person_come_into_the_workspace() {
    let scene = project(Who::Me, HISTORY);
    scene.work("touch a b d/c; sleep 0.02; git status --short; echo two >> a");
    scene.host("touch a b d/c; echo mine >> b; git commit -qam mine; git status --short");
    scene.done(&["pull"]);
    assert_eq!(scene.work("git log -1 --format=%s; git status --porcelain"), "mine\n M a\n");
    scene.work("git commit -qam theirs; git fsck --strict");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git log -2 --format=%s; git status --porcelain"), "theirs\nmine\n");
}
