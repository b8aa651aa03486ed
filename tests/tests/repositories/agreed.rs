//! Refs and files agree: what is checked out has the files that reached the folder, tags stay where people put them, and what is said of a commit
//! that a branch left is true.

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const OWN: &str = "refs/heads/offshoot/fix/main";

fn at(world: &World, side: Side, name: &str) -> String {
    world.ok(side, &format!("git rev-parse {name}")).trim().to_owned()
}

/// What a document tells of a ref: the event, the name that the other side's is kept as, and from where to where it went.
fn told<'d>(document: &'d Value, name: &str) -> Vec<[&'d str; 4]> {
    let notes = document["result"]["repositories"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |note: &'d Value, field: &str| note[field].as_str().unwrap_or("");
    let of = |note: &'d Value| ["event", "kept_as", "from", "to"].map(|field| text(note, field));
    notes.iter().filter(|note| note["name"] == name).map(of).collect()
}

/// What everybody tells of a ref who says what a commit does, the commit at last.
fn told_by_all(world: &World, name: &str) -> Vec<Vec<[String; 4]>> {
    let all = [
        &["status", "-w", "fix"][..],
        &["review", "--list", "-w", "fix"],
        &["commit", "-w", "fix", "--dry-run"],
        &["commit", "-w", "fix"],
    ];
    let owned = |document: &Value| -> Vec<[String; 4]> {
        told(document, name).into_iter().map(|note| note.map(str::to_owned)).collect()
    };
    all.iter().map(|arguments| owned(&world.document(arguments))).collect()
}

/// The workspace's tag is at a later commit than the person's, or at an earlier one: neither has a claim on the other.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_tag_of_the_person_stays() {
    for (there, here) in [("HEAD", "HEAD~1"), ("HEAD~2", "HEAD"), ("-m x HEAD", "-m y HEAD")] {
        let world = world();
        world.ok(Side::Folder, "git commit -q --allow-empty -m second");
        world.done(&["pull", "-w", "fix"]);
        world.ok(FIX, &format!("echo z >> a; git commit -qam z; git tag v3 {there}"));
        world.ok(Side::Folder, &format!("git tag v3 {here}"));
        world.done(&["pull", "--head"]);
        let (mine, theirs) = (at(&world, Side::Folder, "v3"), at(&world, FIX, "v3"));
        let kept = "refs/tags/offshoot/fix/v3";
        let expected = ["kept-apart", kept, &mine, &theirs].map(str::to_owned);
        assert_eq!(told_by_all(&world, "refs/tags/v3"), vec![vec![expected]; 4]);
        assert_eq!(at(&world, Side::Folder, "v3"), mine);
        assert_eq!(at(&world, Side::Folder, kept), theirs);
        whole(&world);
    }
}

/// A tag that only the workspace moved comes along, and everybody says so.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_tag_that_moves_is_told() {
    let world = world();
    world.ok(Side::Folder, "git tag v1");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "echo z >> a; git commit -qam z; git tag -f v1");
    let (from, to) = (at(&world, Side::Folder, "v1"), at(&world, FIX, "v1"));
    let said = world.done(&["status", "-w", "fix"]);
    assert!(said.contains(&format!("v1 moved from {} to {}", &from[..12], &to[..12])), "{said}");
    let expected = ["moved", "", &from, &to].map(str::to_owned);
    assert_eq!(told_by_all(&world, "refs/tags/v1"), vec![vec![expected]; 4]);
    assert_eq!(at(&world, Side::Folder, "v1"), to);
    whole(&world);
}

/// A branch whose commit has a file that stays would show that file as taken back.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_stays_where_a_file_of_its_commits_does() {
    for with_git in [false, true] {
        let world = world();
        world.ok(FIX, "echo i >> a; echo j >> b; git commit -qam theirs");
        let (mine, theirs) = (at(&world, Side::Folder, "main"), at(&world, FIX, "main"));
        let mut arguments = vec!["commit", "-w", "fix"];
        arguments.extend(["--exclude", "b"]);
        if with_git {
            arguments.extend(["--git", "-m", "ours", "--author", AUTHOR]);
        }
        let dry = [&arguments[..], &["--dry-run"]].concat();
        let expected = [["checked-out", OWN, &mine, &theirs]];
        let document = world.document(&dry);
        assert_eq!(told(&document, "refs/heads/main"), expected, "{document}");
        let said = world.done(&dry);
        assert!(
            with_git || said.contains("/b is committed or staged in fix, and stays there"),
            "{said}"
        );
        let document = world.document(&arguments);
        assert_eq!(told(&document, "refs/heads/main"), expected, "{document}");
        assert_eq!(at(&world, Side::Folder, OWN), theirs);
        let status = world.ok(Side::Folder, "git status --porcelain");
        assert_eq!(status, if with_git { "" } else { " M a\n" });
        assert_eq!(world.ok(Side::Folder, "git diff HEAD -- b; git show HEAD:b | tail -1"), "20\n");
        whole(&world);
        // The rest reaches the folder, and everything is on the branch.
        world.done(&["commit", "-w", "fix", "--git", "-m", "rest", "--author", AUTHOR]);
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "");
        assert_eq!(world.ok(Side::Folder, "git show HEAD:b | tail -1"), "j\n");
        world.ok(Side::Folder, &format!("git merge-base --is-ancestor {theirs} HEAD"));
        whole(&world);
    }
}

/// A file that stays, and that no commit of the workspace has, keeps nothing back.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_file_that_git_does_not_have_keeps_no_branch_back() {
    let world = world();
    world.ok(FIX, "echo i >> a; git commit -qam theirs; echo j >> b; echo n > n");
    let theirs = at(&world, FIX, "main");
    world.done(&["commit", "-w", "fix", "--exclude", "b", "--exclude", "n"]);
    assert_eq!(at(&world, Side::Folder, "main"), theirs);
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "");
    whole(&world);
}

/// Where no reflog is kept, none is named.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_reflog_is_named_where_it_has_the_commit() {
    for (before, is_logged) in [
        ("git config core.logAllRefUpdates false; rm -rf .git/logs", false),
        ("git config core.logAllRefUpdates true", true),
    ] {
        let world = world();
        world.ok(Side::Folder, before);
        let old = at(&world, Side::Folder, "main");
        world.done(&["pull", "-w", "fix"]);
        world.ok(
            FIX,
            "echo i >> a; git commit -qa --amend -m new; git reflog expire --expire=now --all",
        );
        let said = world.done(&["commit", "-w", "fix"]);
        assert_eq!(said.contains("`git reflog` has the old one"), is_logged, "{said}");
        let keeps = format!("`git branch old {}` keeps it", &old[..12]);
        assert_eq!(said.contains(&keeps), !is_logged, "{said}");
        if !is_logged {
            world.ok(Side::Folder, &format!("git branch old {}", &old[..12]));
        }
        let reached = world.ok(Side::Folder, "git rev-list --all --reflog");
        assert!(reached.contains(&old), "{reached}");
    }
}

/// What git wrote for itself never became a file of the project, whatever its bytes are.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_file_was_moved_out_of_a_git_directory() {
    let start = "git init -q .; echo one > a; git add a; git commit -qm first
        git checkout -qb topic; echo t > a; git commit -qam t
        git checkout -q main; echo m > a; git commit -qam m
        git checkout -q topic; git rebase -q main > /dev/null 2>&1 || true";
    let world = World::new(start, &["fix"]);
    let rebasing = "for f in .git/rebase-merge/*; do cp $f new-$(basename $f); done";
    world.ok(FIX, &format!("{rebasing}; echo b > a; git add a; git rebase --continue > /dev/null"));
    let document = world.document(&["review", "--list", "-w", "fix"]);
    let items = document["result"]["items"].as_array().unwrap();
    let is_new =
        |item: &&Value| item["path"].as_str().is_some_and(|path| path.starts_with("/new-"));
    let new: Vec<_> = items.iter().filter(is_new).collect();
    assert!(new.len() > 5, "{document}");
    assert!(new.iter().all(|item| item["kind"] == "added"), "{document}");
}

/// No workspace has what `.offshootignore` names, so to git it is deleted there.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_kept_out_and_deleted_in_git_is_told() {
    let start =
        "git init -q .; mkdir data; echo d > data/d; echo e > data/e; echo one > a; echo gone > g
        echo data/ > .offshootignore; git add -A; git commit -qm first; rm g";
    let world = World::new(start, &["fix"]);
    let told_nothing = told_by_all(&world, "/data/d");
    assert!(told_nothing.iter().all(Vec::is_empty), "{told_nothing:?}");
    world.ok(FIX, "echo t > t; git add -A; git commit -qm theirs");
    let said = world.done(&["status", "-w", "fix"]);
    let line = "/data/d and 1 more are deleted in git by fix, but not on disk: .offshootignore keeps them out";
    assert!(said.contains(line), "{said}");
    let expected = ["kept-out", "", "", ""].map(str::to_owned);
    assert_eq!(told_by_all(&world, "/data/d"), vec![vec![expected]; 4]);
    assert_eq!(world.ok(Side::Folder, "cat data/d data/e"), "d\ne\n");
    whole(&world);
}
