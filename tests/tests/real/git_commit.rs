//! `commit --git`: a git commit of what reached the folder and of nothing else.

use offshoot_needs::needs;
use offshoot_tests::scan::{CompareOptions, compare, scan};

use crate::git_scene::{HISTORY, project};
use crate::scene::{Scene, Who};

/// Runs something that must change nothing in the folder.
fn nothing_changes<T>(scene: &Scene, run: impl FnOnce() -> T) -> T {
    let before = scan(&scene.place.project()).unwrap();
    let result = run();
    let after = scan(&scene.place.project()).unwrap();
    let touched = compare(&before, &after, &CompareOptions::default());
    assert!(touched.is_empty(), "{}", touched.join("\n"));
    result
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_the_person_did_stays_theirs() {
    for who in [Who::Me, Who::Ordinary] {
        let scene = project(who, HISTORY);
        scene.host("echo staged >> b; git add b; echo unstaged >> b; echo un > untracked; echo mine > mine; git add mine");
        let status = scene.host("git status --porcelain");
        scene.work("echo two >> a; chmod +x d/c; rm d/link; mkdir new; echo n > new/n; mv d/run d/moved; echo o > x.o");
        let said = scene.done(&["commit", "--git", "-m", "Fix it"]);
        assert!(said.contains("git commit") && said.contains("on branch main"), "{said}");
        assert_eq!(scene.host("git status --porcelain"), status);
        assert_eq!(
            scene.host("git show --format=%s --no-renames --name-status HEAD"),
            "Fix it\n\nM\ta\nM\td/c\nD\td/link\nA\td/moved\nD\td/run\nA\tnew/n\n"
        );
        let body = scene.host("git log -1 --format=%B");
        assert!(
            body.contains("\nOffshoot-Exec: ") && body.contains("\nOffshoot-Workspace: real\n"),
            "{body}"
        );
        scene.host(
            "git fsck --strict; test \"$(git rev-parse HEAD~1)\" = \"$(git rev-parse HEAD@{1})\"",
        );
        // Taking it back takes the git commit back too, and nothing of the person's.
        let made = scene.host("git rev-parse HEAD");
        let said = scene.done(&["undo"]);
        assert!(said.contains(&made[..12]), "{said}");
        assert_eq!(scene.host("git log -1 --format=%s; cat a"), "second\none\nmore\n");
        assert_eq!(scene.host("git status --porcelain; git fsck --strict"), status);
        scene.done(&["redo"]);
        assert_eq!(scene.host("git rev-parse HEAD"), made);
        assert_eq!(scene.host("git status --porcelain"), status);
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn files_that_both_changed_are_refused_before_anything_is_done() {
    for edit in ["sed -i '1s/.*/mine/' b", "sed -i '1s/.*/mine/' b; git add b"] {
        let scene = project(Who::Me, HISTORY);
        scene.host(edit);
        scene.work("sed -i '$s/.*/theirs/' b; echo two >> a");
        let said = nothing_changes(&scene, || scene.refused(&["commit", "--git"], 4));
        assert!(said.contains("not committed: /b") && said.contains("stash"), "{said}");
        scene.done(&["commit"]);
        assert_eq!(scene.host("grep -c -e mine -e theirs b"), "2\n");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn who_commits_has_to_be_known() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo two >> a");
    std::fs::write(scene.place.path().join(".gitconfig"), "").unwrap();
    let said = nothing_changes(&scene, || scene.refused(&["commit", "--git"], 2));
    assert!(said.contains("--author"), "{said}");
    scene.done(&["commit", "--git", "--author", "Bob <bob@example.org>"]);
    assert_eq!(
        scene.host("git log -1 --format='%an <%ae>'; git status --porcelain"),
        "Bob <bob@example.org>\n"
    );
}

/// A filter of the person that fails, as one does whose program is missing.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_commit_that_fails_leaves_what_came_home() {
    let history = "git init -q .; echo '*.bin filter=broken' > .gitattributes
        git config --global filter.broken.clean false; git config --global filter.broken.required true
        echo one > a; git add -A; git commit -qm first";
    let scene = project(Who::Me, history);
    scene.work("echo two >> a; echo b > x.bin");
    let head = scene.host("git rev-parse HEAD");
    let said = scene.refused(&["commit", "--git"], 1);
    assert!(said.contains("no git commit was made") && said.contains("clean filter"), "{said}");
    assert_eq!(scene.host("git rev-parse HEAD; cat a x.bin"), format!("{head}one\ntwo\nb\n"));
    assert_eq!(scene.host("git diff --cached --name-only"), "");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_repository_without_a_commit_gets_its_first() {
    let scene = project(Who::Me, "git init -q .; echo one > a");
    scene.work("echo two > b");
    scene.done(&["commit", "--git", "-m", "start"]);
    assert_eq!(
        scene.host("git log --format=%s --name-only; git status --porcelain"),
        "start\n\nb\n?? a\n"
    );
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_ignored_or_a_repository_of_its_own_is_not_added() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo o > x.o; git init -q nested; echo x > nested/x; echo two >> a; mkfifo pipe; mkdir empty");
    scene.done(&["commit", "--git", "--ignored"]);
    assert_eq!(scene.host("git show --format= --name-only HEAD"), "a\n");
    assert_eq!(scene.host("cat x.o nested/x"), "o\nx\n");
}

/// A dry run tells of the git commit and of the hooks that will not run; nothing is made.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_dry_run_tells_of_git() {
    let scene = project(Who::Me, HISTORY);
    scene.host("printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    scene.done(&["pull"]);
    scene.work("echo two >> a; echo n > new; echo o > x.o");
    let said = nothing_changes(&scene, || scene.done(&["commit", "--git", "-n"]));
    let expected =
        "would make a git commit on branch main: 2 files\n  hooks will not run: pre-commit\n";
    assert!(said.contains(expected), "{said}");
    let said = scene.done(&["commit", "--git"]);
    assert!(said.contains("on branch main: 2 files\n  hooks were not run: pre-commit\n"), "{said}");
    scene.work("echo o > y.o");
    let said = scene.done(&["commit", "--git", "-n", "--ignored"]);
    assert!(
        said.contains("would make no git commit: there is nothing new in it for git\n"),
        "{said}"
    );
}

/// A lock that a git left is told by who says what a commit would do; so is what has no effect.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn locks_and_parts_of_git_are_told() {
    let scene = project(Who::Me, HISTORY);
    scene.host("touch .git/index.lock");
    let quiet = scene.done(&["status"]);
    assert!(!quiet.contains("index.lock"), "nothing is to be committed: {quiet}");
    scene.work("echo two >> a; git add a; git commit -qm two");
    let said = scene.done(&["status"]);
    assert!(said.contains("commit is refused: ") && said.contains(".git/index.lock"), "{said}");
    assert!(scene.refused(&["commit"], 8).contains(".git/index.lock"));
    scene.host("rm .git/index.lock");
    assert!(!scene.done(&["status"]).contains("refused"));
    let said = scene.on_workspace(&["commit", "-n", "--exclude", ".git/objects"]);
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains(".git/objects names a part of a git directory"), "{said}");
    let said = scene.on_workspace(&["commit", "-n", "--exclude", ".git"]);
    assert!(!String::from_utf8(said.stderr).unwrap().contains("names a part"));
}
