//! git: histories made in a workspace are the histories made on plain files.

use offshoot_needs::needs;

use crate::known::fails_today;
use crate::scene::{Scene, Who, exactly};

/// A project with a repository of its own and some history, as people bring them along.
fn project(who: Who) -> Scene {
    let mut scene = Scene::new(who);
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "Ann"),
        ("GIT_AUTHOR_EMAIL", "ann@example.org"),
        ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
        ("GIT_COMMITTER_NAME", "Bob"),
        ("GIT_COMMITTER_EMAIL", "bob@example.org"),
        ("GIT_COMMITTER_DATE", "2026-01-02T03:04:06Z"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ] {
        scene.set(name, value);
    }
    for number in 0..60 {
        let text = format!("line one of {number}\n").repeat(number + 3);
        scene.place.write(format!("src/part{}/file{number}.txt", number % 7), text);
    }
    scene.place.write(".gitignore", "*.o\n");
    // What git does in the background ends with the command, done or not; several threads choose what
    // to pack by how fast they are. In the home, where every git looks, also behind a push.
    let settings = "[gc]\nauto = 0\n[maintenance]\nauto = false\n[pack]\nthreads = 1\n";
    std::fs::write(scene.place.path().join(".gitconfig"), settings).unwrap();
    scene.hand_over();
    let said = scene.plainly(
        "git init -q -b main .; git add -A; git commit -qm first
         echo more >> src/part0/file0.txt; git commit -qam second",
    );
    assert_eq!(said.code, Some(0), "{said:?}");
    scene.bind();
    scene
}

/// The index has the inodes and times of files in it, and is thus never the same twice; `fsck` and
/// `status` say whether it is right. Logs of the two runs have the same, fixed, dates.
fn differs(path: &str) -> bool {
    path.ends_with("/index")
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn histories_have_the_same_ids() {
    histories(Who::Me);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn histories_have_the_same_ids_for_an_ordinary_user() {
    histories(Who::Ordinary);
}

fn histories(who: Who) {
    let scene = project(who);
    let scripts = [
        "git status --short --branch",
        "git checkout -q -b topic
         mkdir -p lib; echo topic > lib/topic.txt; git add lib; git commit -qm 'topic one'
         echo more >> lib/topic.txt; git commit -qam 'topic two'
         chmod +x src/part1/file1.txt; ln -s file2.txt src/part2/link; git add -A
         git commit -qm 'modes and links'
         git rm -q src/part3/file3.txt; git commit -qm 'one less'
         git log --format='%H %s'",
        "git checkout -q main; echo main >> src/part4/file4.txt; git commit -qam 'main moves'
         git checkout -q topic; git rebase -q main; git log --format='%H %s'",
        "echo later >> lib/topic.txt; echo new > untracked.txt; git stash -q -u
         git status --short; git stash pop; git stash list; git status --short
         git checkout -q .; rm untracked.txt",
        "git checkout -q main; git merge --no-ff -q -m merged topic; git log --graph --format='%H %s'
         git tag -a -m release v1; git branch -d topic",
        "git checkout -q -b left; echo left > both.txt; git add .; git commit -qm left
         git checkout -q main; echo right > both.txt; git add .; git commit -qm right
         ! git merge left; git status --short; git checkout --ours both.txt; git add both.txt
         git commit -qm 'ours'; git rev-parse HEAD; git branch -q -D left",
        "git clone -q --no-hardlinks . clone; cd clone; git log --format=%H; echo cloned > c; git add c
         git commit -qm cloned; git push -q origin HEAD:refs/heads/pushed; git rev-parse HEAD",
        "git clone -q --bare --no-hardlinks . bare.git; git -C bare.git fsck --strict; rm -rf clone
         git branch --list",
        "git worktree add -q -b side tree; cd tree; git status --short; echo side > side.txt
         git add -A; git commit -qm side; git rev-parse HEAD; git worktree list",
        "git mv lib/topic.txt lib/renamed.txt; git commit -qm renamed; git status --short -- src lib
         git log --follow --format='%H %s' -- lib/renamed.txt",
        "git gc -q --prune=now; git count-objects -v; git fsck --strict --full
         git rev-parse HEAD side pushed",
        "git worktree remove tree; git fsck --strict --full; git status --short --branch
         git diff --stat HEAD~3; git blame -s src/part0/file0.txt",
    ];
    scene.both(&scripts, exactly);
    scene.same_tree(differs);
}

/// What has not changed is not said to have, whatever happened to inodes and times.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn status_stays_clean() {
    let scene = project(Who::Me);
    let status = ["git", "status", "--porcelain", "--branch"];
    let clean = |options: &[&str], when: &str| {
        let envelope = scene.exec(options, &status);
        assert_eq!(envelope["result"]["stdout"], "## main\n", "{when}: {envelope:#}");
    };
    clean(&["--read-only"], "after the import, where the index cannot be written");
    clean(&[], "after the import");
    // `diff-files` does not refresh: it names each file whose stat is not as in the index.
    let cold = "git diff-files --name-only";
    assert_eq!(scene.inside(cold).out, "", "after a status in another exec");
    scene.inside("echo new > src/part0/new.txt; git add -A; git commit -qm new");
    assert_eq!(scene.inside(cold).out, "", "after a commit in another exec");
    scene.inside("git checkout -q HEAD~1; git checkout -q main; git gc -q");
    assert_eq!(scene.inside(cold).out, "", "after files were written anew");
    clean(&["--read-only"], "at the end");
}

/// An import copies files, which gives them other inodes and change times than those in the index.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_index_is_warm_after_the_import() {
    let scene = project(Who::Me);
    assert_eq!(scene.inside("git diff-files --name-only").out, "");
}

/// A clone of a repository on the same disk links its objects, and looks whether that worked.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_clone_with_hard_links() {
    let scene = project(Who::Me);
    let why = "the overlay changes the inode of a file that gets its second name";
    fails_today(why, "hardlink different from source", || {
        scene.both(&["git clone -q . clone; git -C clone rev-parse HEAD"], exactly);
    });
}

/// A directory of a lower layer is renamed as one of the upper is.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_directory_is_moved() {
    for who in [Who::Me, Who::Ordinary] {
        let scene = project(who);
        scene.both(
            &[
                "git mv src sources; git commit -qm moved; git rev-parse HEAD; ls; git status --short",
                "mkdir lib; git mv sources lib/src; git commit -qm again; git rev-parse HEAD; git fsck",
                "git mv lib/src/part1 lib/src/part2/; git commit -qm deeper; git rev-parse HEAD; git log --stat -1",
            ],
            exactly,
        );
        scene.same_tree(differs);
    }
}
