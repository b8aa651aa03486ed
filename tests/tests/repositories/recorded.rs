//! What `commit --git` makes of what reached the folder, where git would do it another way, or the workspace went on since its own commits.

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];
const OWN: &str = "refs/heads/offshoot/fix/main";

fn dry() -> Vec<&'static str> {
    [&COMMIT_GIT[..], &["--dry-run"]].concat()
}

/// What is told of the branch that both sides moved.
fn note_of_main(document: &Value) -> Value {
    let notes = document["result"]["repositories"].as_array().cloned().unwrap_or_default();
    notes.into_iter().find(|note| note["name"] == "refs/heads/main").unwrap_or_default()
}

/// Git is not asked about files that lie beyond a link by now.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_directory_becomes_a_link_and_comes_back() {
    let script = "git init -q .; mkdir d e; echo g > d/g; echo g > e/g; echo '*.log' > .gitignore
         git add -A; git commit -qm first";
    let world = World::new(script, &["fix"]);
    world.ok(FIX, "rm -r d; ln -s e d");
    let planned = world.document(&dry());
    assert_eq!(planned["result"]["git"]["files"], 2, "{planned}");
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["files"], 2, "{made}");
    assert_eq!(
        world.ok(Side::Folder, "git ls-tree -r --name-only HEAD; git status --porcelain"),
        ".gitignore\nd\ne/g\n"
    );
    world.ok(FIX, "rm d; mkdir d; echo new > d/g; echo x > d/y.log");
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["files"], 2, "{made}");
    assert_eq!(world.ok(Side::Folder, "git ls-tree -r --name-only HEAD"), ".gitignore\nd/g\ne/g\n");
    whole(&world);
}

/// What a workspace changed further, or back, after it committed it is its newest word: its commits are merged with that.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_workspace_goes_on_after_its_own_commit() {
    for then in [
        "sed -i 's/^two$/three/' b",
        "git checkout -q HEAD~1 -- b; git reset -q",
        "git rm -q --cached b; rm b",
    ] {
        let world = world();
        world.ok(FIX, "sed -i 's/^3$/two/' b; git commit -qam theirs");
        world.ok(FIX, then);
        world.ok(FIX, "echo new > n");
        world.ok(Side::Folder, "echo mine >> a; git commit -qam mine");
        let made = world.document(&COMMIT_GIT);
        assert_eq!(made["result"]["git"]["merged"], OWN, "{then}: {made}");
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "", "{then}: {made}");
        assert_eq!(world.ok(Side::Folder, "git log --format=%s main^2 -1"), "theirs\n", "{then}");
        whole(&world);
    }
}

/// What stays in the workspace is not its word about its commits.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_does_not_come_home_is_not_merged() {
    let world = world();
    world.ok(
        FIX,
        "sed -i 's/^3$/two/' b; git commit -qam theirs; sed -i 's/^two$/three/' b; echo new > n",
    );
    world.ok(Side::Folder, "echo mine >> a; git commit -qam mine");
    let made = world.document(&[&COMMIT_GIT[..], &["--exclude", "b"]].concat());
    assert_eq!(made["result"]["git"]["merged"], Value::Null, "{made}");
    world.ok(Side::Folder, &format!("git rev-parse --verify {OWN}"));
    // Nor what reached the folder before and nobody committed.
    world.done(&["commit", "-w", "fix"]);
    world.ok(FIX, "echo more > m");
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["merged"], Value::Null, "{made}");
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), " M b\n", "{made}");
}

/// A workspace that stopped half way has other files than its branch: it must finish first, and is told so.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_workspace_that_is_in_the_middle_of_something_finishes_it() {
    for (begin, when, end) in [
        (
            "git bisect start -q; git checkout -q HEAD~1",
            "once what is in progress in fix is finished",
            "git bisect reset 2> /dev/null",
        ),
        (
            "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i HEAD~2 2> /dev/null",
            "once what is in progress in fix is finished",
            "git rebase --continue > /dev/null 2>&1",
        ),
    ] {
        let world = world();
        world.ok(
            FIX,
            "sed -i 's/^3$/two/' b; git commit -qam theirs; echo t >> a; git commit -qam more",
        );
        world.ok(FIX, begin);
        world.ok(Side::Folder, "echo n > n; git add n; git commit -qm mine");
        let document = world.document(&["commit", "-w", "fix"]);
        let way = &note_of_main(&document)["way_on"];
        assert_eq!(way["when"], when, "{begin}: {document}");
        world.ok(FIX, end);
        let command = way["commands"][0].as_str().unwrap_or_default().to_owned();
        // What reached the folder in the middle is committed once the rest is.
        for _ in 0..2 {
            let said = world.typed(&command);
            assert!(said.is_well(), "{begin}: {said:#?}");
        }
        assert_eq!(
            world.ok(Side::Folder, "git status --porcelain; git branch --list 'offshoot/*'"),
            "",
            "{begin}"
        );
        whole(&world);
    }
}

/// What another workspace brought into the folder along with its own is merged all the same.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_that_another_workspace_took_over_are_not_forgotten() {
    let script =
        "git init -q .; echo one > a; echo one > b; echo one > c; git add -A; git commit -qm first";
    let world = World::new(script, &["ada", "bea"]);
    for (name, file) in [("ada", "a"), ("bea", "b")] {
        world.ok(Side::Workspace(name), &format!("echo {name} >> {file}; git commit -qam {name}"));
    }
    world.ok(Side::Folder, "echo me >> c; git commit -qam me");
    world.done(&["commit", "-w", "ada"]);
    world.done(&["commit", "-w", "bea"]);
    world.done(&["merge", "ada", "bea", "--into", "both"]);
    world.done(&["commit", "-w", "both", "--git", "-m", "both", "--author", AUTHOR]);
    world.done(&["commit", "-w", "bea", "--git", "-m", "bea", "--author", AUTHOR]);
    let branches = world.ok(Side::Folder, "git branch --no-merged main; git diff --quiet HEAD");
    assert_eq!(branches, "");
}

/// Commits of a workspace that has nothing more to say about them are not forgotten, and there is a way on that works.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_that_are_left_apart_are_told() {
    let world = world();
    world.ok(
        Side::Folder,
        "git branch offshoot/fix/main $(git commit-tree -p HEAD -m left 'HEAD^{tree}')",
    );
    world.done(&["pull", "-w", "fix"]);
    let said = world.document(&["commit", "-w", "fix", "--git", "--author", AUTHOR]);
    let message = "offshoot/fix/main cannot be merged: fix has nothing more to commit";
    assert_eq!(said["error"]["message"], message, "{said}");
    let hint = said["error"]["hint"].as_str().unwrap_or_default();
    let command = hint.split('`').nth(1).unwrap_or_default().to_owned();
    let typed = world.typed(&command);
    assert!(typed.is_well(), "{hint}: {typed:#?}");
    assert_eq!(world.ok(Side::Folder, "git branch --no-merged main"), "");
    let said = world.product(&["commit", "-w", "fix", "--git", "--author", AUTHOR]);
    assert!(said.is_well() && said.out.contains("nothing to commit"), "{said:#?}");
}

/// Whoever wants every commit signed is told that this one is not.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn an_unsigned_commit_is_told() {
    let world = world();
    world.ok(Side::Folder, "git config commit.gpgSign true; git config gpg.program /bin/false");
    world.ok(FIX, "echo i >> a");
    let planned = world.done(&dry());
    assert!(planned.contains("it will not be signed, though commit.gpgSign is set"), "{planned}");
    assert_eq!(world.document(&dry())["result"]["git"]["unsigned"], true);
    let made = world.done(&COMMIT_GIT);
    assert!(made.contains("it is not signed, though commit.gpgSign is set"), "{made}");
    // Neither where nobody wants it, nor for a commit of the workspace's own.
    world.ok(Side::Folder, "git config commit.gpgSign false");
    world.ok(FIX, "echo j >> a");
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["unsigned"], Value::Null, "{made}");
}

/// Where the modes of files do not count for git, none is committed.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn modes_that_do_not_count_are_not_committed() {
    let world = world();
    world.ok(
        Side::Folder,
        "git update-index --chmod=+x b; git commit -qm mode; git config core.fileMode false",
    );
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "chmod +x a");
    let made = world.document(&COMMIT_GIT);
    assert_eq!(made["result"]["git"]["commit"], Value::Null, "{made}");
    world.ok(FIX, "echo i >> a; chmod -x b; echo i >> b; echo n > n; chmod +x n; ln -s a l");
    world.done(&COMMIT_GIT);
    let modes = world.ok(Side::Folder, "git ls-tree HEAD | cut -c1-6,53-; git status --porcelain");
    assert_eq!(modes, "100644\ta\n100755\tb\n120000\tl\n100644\tn\n");
    world.ok(Side::Folder, "git config core.fileMode true");
    world.ok(FIX, "echo m > m; chmod +x m");
    world.done(&COMMIT_GIT);
    assert_eq!(world.ok(Side::Folder, "git ls-tree HEAD m | cut -c1-6"), "100755\n");
}
