//! `export --git`: a workspace's snapshots are commits, and nothing else of the repository changes.

use offshoot_needs::needs;

use crate::git_scene::{HISTORY, project};
use crate::scene::{Scene, Who};

/// What a workspace can do to files.
const WORK: &str = "echo two >> a; sed -i 5d b; chmod +x d/c; chmod -x d/run; rm d/link; echo file > d/link
    mkdir -p new/deep; echo n > new/deep/n; ln -s n new/deep/l; echo o > x.o; mkdir empty; mkfifo pipe
    printf y >> \"$(printf 'd/\\377')\"; printf y >> \"$(printf 'd/new\\nline')\"; rm 'd/\"quoted\" \\ back'
    git init -q nested; echo x > nested/x";

fn exported(scene: &Scene, branch: &str) {
    let before = scene.untouched(branch);
    scene.done(&["export", "--git", branch]);
    assert_eq!(scene.untouched(branch), before);
    scene.same_files(branch);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_has_what_the_workspace_has() {
    for who in [Who::Me, Who::Ordinary] {
        let scene = project(who, HISTORY);
        scene.host("echo staged >> b; git add b; echo unstaged >> d/c; echo un > untracked");
        scene.work(WORK);
        exported(&scene, "agent/one");
        assert_eq!(scene.host("git rev-parse agent/one~1"), scene.host("git rev-parse main"));
        let body = scene.host("git log -1 --format=%B agent/one");
        assert!(
            body.contains("\nOffshoot-Exec: ") && body.contains("\nOffshoot-Workspace: real\n"),
            "{body}"
        );
        assert_eq!(scene.host("git log -1 --format=%an agent/one"), "Ann\n");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_other_format_of_objects_is_fine() {
    let scene = project(Who::Me, &HISTORY.replace("init -q", "init -q --object-format=sha256"));
    scene.work(WORK);
    exported(&scene, "agent");
    assert_eq!(scene.host("git rev-parse agent").trim().len(), 64);
}

/// What the folder had that was not committed is a commit of its own, so that later ones hold the workspace's work alone.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_was_not_committed_comes_first() {
    let mut scene = Scene::new(Who::Me);
    scene.set("GIT_CONFIG_NOSYSTEM", "1");
    std::fs::write(scene.place.path().join(".gitconfig"), crate::git_scene::SETTINGS).unwrap();
    scene.host(&format!("{HISTORY}; echo dirty >> d/c; rm b"));
    scene.bind();
    scene.work("echo two >> a");
    exported(&scene, "agent");
    assert_eq!(scene.host("git diff --name-status main agent~1"), "D\tb\nM\td/c\n");
    assert_eq!(scene.host("git diff --name-status agent~1 agent"), "M\ta\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_new_goes_on_top() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo two >> a");
    exported(&scene, "agent");
    let first = scene.host("git rev-parse agent");
    scene.work("touch a; echo o > y.o");
    assert!(scene.done(&["export", "--git", "agent"]).contains("has everything already"));
    scene.work("echo three >> a");
    exported(&scene, "agent");
    assert_eq!(scene.host("git rev-parse agent~1"), first);
    // The person goes on as well; the branch stays on what the workspace started from.
    scene.host("echo mine >> b; git commit -qam mine");
    scene.work("echo four >> a");
    scene.done(&["export", "--git", "agent"]);
    assert_eq!(scene.host("git merge-base main agent"), scene.host("git rev-parse main~1"));
    scene.same_files("agent");
    scene.host("git merge -q --no-edit agent; grep -q four a; grep -q mine b");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn branches_of_others_are_left_alone() {
    let scene = project(Who::Me, HISTORY);
    scene.host("git branch other; git branch side; git worktree add -q ../side side");
    scene.work("echo two >> a");
    assert!(scene.refused(&["export", "--git", "main"], 4).contains("is checked out"));
    assert!(scene.refused(&["export", "--git", "side", "--force"], 4).contains("is checked out"));
    assert!(scene.refused(&["export", "--git", "other"], 4).contains("--force"));
    for bad in ["a..b", "-x", "a b", ""] {
        let said = scene.refused(&["export", &format!("--git={bad}")], 2);
        assert!(said.contains("cannot be the name of a branch"), "{bad}: {said}");
    }
    assert!(scene.refused(&["export"], 2).contains("--git BRANCH"));
    scene.done(&["export", "--git", "other", "--force"]);
    scene.same_files("other");
}

/// The rest of the repository is kept where the folder is only a part of it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_folder_inside_of_a_repository() {
    let history = "cd ..; git init -q .; printf 'home/\\n.gitconfig\\nout/\\ntree/\\nx?\\n' > .gitignore
        echo top > top; cd project; echo one > a; mkdir d; echo two > d/b; git add ..; git commit -qm first";
    let scene = project(Who::Me, history);
    scene.work("echo more >> a; rm d/b; echo new > c");
    scene.done(&["export", "--git", "agent"]);
    assert_eq!(
        scene.host("git diff --no-relative --name-status main agent"),
        "M\tproject/a\nA\tproject/c\nD\tproject/d/b\n"
    );
    assert_eq!(scene.host("git show agent:top; git show agent:project/a"), "top\none\nmore\n");
    assert_eq!(scene.host("git status --porcelain; git fsck --strict"), "");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_linked_working_tree_and_one_with_a_submodule() {
    let history = "git init -q ../lib; (cd ../lib; echo l > l; git add l; git commit -qm lib)
        git init -q ../main; (cd ../main; echo one > a; git add a; git commit -qm first
        git submodule --quiet add ../lib sub; git commit -qm sub)
        rmdir ../project; cd ../main; git worktree add -q -b work ../project; cd ../project
        git submodule --quiet update --init";
    let scene = project(Who::Me, history);
    scene.work("echo two >> a; echo changed >> sub/l");
    let index = scene
        .host("git rev-parse HEAD; cat \"$(git rev-parse --git-dir)/index\" | od -x | tail -3");
    scene.done(&["export", "--git", "agent"]);
    assert_eq!(
        scene
            .host("git rev-parse HEAD; cat \"$(git rev-parse --git-dir)/index\" | od -x | tail -3"),
        index
    );
    assert_eq!(scene.host("git diff --name-status work agent"), "M\ta\n");
    assert_eq!(scene.host("git ls-tree agent sub"), scene.host("git ls-tree work sub"));
    scene.same_files("agent");
}

/// What `git add` would make of files: the person's own filters and ends of lines.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn filters_and_ends_of_lines_are_the_persons() {
    let history = "git init -q .; printf '*.txt text\\n*.up filter=up\\n' > .gitattributes
        git config --global filter.up.clean 'tr a-z A-Z'; git config --global filter.up.smudge 'tr A-Z a-z'
        printf 'one\\r\\n' > crlf.txt; echo abc > x.up; echo keep > keep.up; git add -A; git commit -qm first";
    let scene = project(Who::Me, history);
    scene.work("printf 'two\\r\\n' >> crlf.txt; echo def >> x.up; printf 'raw\\r\\n' > raw");
    scene.done(&["export", "--git", "agent"]);
    assert_eq!(scene.host("git diff --name-status main agent"), "M\tcrlf.txt\nA\traw\nM\tx.up\n");
    assert_eq!(scene.host("git cat-file blob agent:crlf.txt"), "one\ntwo\n");
    assert_eq!(scene.host("git cat-file blob agent:x.up"), "ABC\nDEF\n");
    assert_eq!(scene.host("git cat-file blob agent:raw"), "raw\r\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn without_a_name_or_a_repository_it_says_so() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo two >> a");
    std::fs::write(scene.place.path().join(".gitconfig"), "").unwrap();
    assert!(scene.refused(&["export", "--git", "agent"], 2).contains("--author"));
    scene.done(&["export", "--git", "agent", "--author", "Bob <bob@example.org>"]);
    assert_eq!(scene.host("git log -1 --format='%an %ae %cn' agent"), "Bob bob@example.org Bob\n");
    scene.host("rm -rf .git");
    let said = scene.refused(&["export", "--git", "x", "--author", "Bob <bob@example.org>"], 3);
    assert!(said.contains("not in a git working tree"), "{said}");
}

/// A branch has what a commit holds back, which is told.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_commit_holds_back_is_told() {
    let scene = project(Who::Me, HISTORY);
    scene.work("echo two >> a");
    let held = "the branch has /.envrc, which something on this machine would run or obey";
    let said = || scene.done(&["export", "--git", "agent", "--json"]);
    assert!(!said().contains(held));
    scene.work("echo x > .envrc");
    let said = said();
    assert!(said.contains(held), "{said}");
}
