//! What a dry run of `commit --git` says is what the commit does, and nothing of it is done.

use std::path::PathBuf;

use offshoot_needs::needs;
use serde_json::Value;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] = ["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR];
const THEIRS: &str = "sed -i 's/^20$/end/' b; echo n > n; git add n; git commit -qam theirs";
const MINE: &str = "sed -i 's/^1$/start/' b; git commit -qam mine";

fn dry_run(world: &World) -> (Value, String) {
    let all = "git for-each-ref; git ls-files -s; cat a b; find \"$(git rev-parse --git-common-dir)\" | LC_ALL=C sort";
    let before = world.ok(Side::Folder, all);
    let arguments = [&COMMIT_GIT[..], &["--dry-run"]].concat();
    let planned = world.document(&arguments)["result"]["git"].clone();
    let said = world.product(&arguments).out;
    assert_eq!(world.ok(Side::Folder, all), before, "{said}");
    assert_eq!(rehearsals(world), Vec::<PathBuf>::new());
    (planned, said)
}

/// Scratch repositories that were left.
fn rehearsals(world: &World) -> Vec<PathBuf> {
    let mut waiting = vec![world.place.home()];
    let mut found = Vec::new();
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let is_one = entry.file_name().to_string_lossy().starts_with("scratch-");
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true if is_one => found.push(entry.path()),
                true => waiting.push(entry.path()),
                false => {}
            }
        }
    }
    found
}

/// Plans, commits, and compares.
fn as_planned(world: &World) -> (Value, String) {
    let (planned, said) = dry_run(world);
    let document = world.document(&COMMIT_GIT);
    let made = &document["result"]["git"];
    for field in ["branch", "files", "merged", "merged_commit", "hooks_skipped"] {
        assert_eq!(planned[field], made[field], "{field}: {said}\n{planned}\n{document}");
    }
    assert_eq!(made["commit"].is_null(), said.contains("would make no git commit"), "{said}");
    (made.clone(), said)
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_of_what_came_before_is_planned() {
    let world = world();
    world.ok(FIX, THEIRS);
    world.ok(Side::Folder, MINE);
    world.done(&["commit", "-w", "fix"]);
    let tip = world.ok(Side::Folder, "git rev-parse offshoot/fix/main").trim().to_owned();
    let (made, said) = as_planned(&world);
    assert_eq!(made["merged_commit"], tip.as_str(), "{made}");
    let line = format!(
        "would make a git commit on branch main: 2 files; it would merge offshoot/fix/main, which would be gone (it was at {})",
        &tip[..12]
    );
    assert!(said.contains(&line) && !said.contains("to merge it"), "{said}");
    whole(&world);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_of_what_comes_with_it_is_planned() {
    let world = world();
    world.ok(FIX, &format!("{THEIRS}; echo loose > loose"));
    world.ok(Side::Folder, MINE);
    let (made, said) = as_planned(&world);
    assert_eq!(made["merged"], "refs/heads/offshoot/fix/main", "{said}");
    whole(&world);
}

/// A commit of the agent's own is not made again.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_git_has_already_is_not_planned() {
    let world = world();
    world.ok(FIX, THEIRS);
    let (made, said) = as_planned(&world);
    assert!(made["commit"].is_null(), "{made}");
    assert!(
        said.contains("would make no git commit: there is nothing new in it for git"),
        "{said}"
    );
    world.ok(FIX, "echo more > more; git add more; git commit -qm more; echo loose > loose");
    let (made, said) = as_planned(&world);
    assert_eq!((&made["files"], &made["merged"]), (&1.into(), &Value::Null), "{said}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_fast_forward_is_planned() {
    let world = world();
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    let tip = world.ok(FIX, "git rev-parse main").trim().to_owned();
    world.ok(Side::Folder, "echo staged >> a; git add a");
    world.done(&["commit", "-w", "fix"]);
    let (planned, said) = dry_run(&world);
    assert_eq!(planned["commit"], tip.as_str(), "{said}");
    let line = format!("would fast-forward to {} on branch main: 1 file", &tip[..12]);
    assert!(said.contains(&line) && said.contains("; offshoot/fix/main would be gone"), "{said}");
    as_planned(&world);
    assert_eq!(world.ok(Side::Folder, "git rev-parse main").trim(), tip);
}

/// What will fail is told with its reason, and with the same exit code.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_that_cannot_be_made_is_not_planned() {
    let world = world();
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo staged >> a; git add a");
    world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "rm n");
    let planned = world.product(&[&COMMIT_GIT[..], &["--dry-run"]].concat());
    let made = world.product(&COMMIT_GIT);
    assert_eq!((planned.code, &planned.err), (made.code, &made.err), "{planned:#?}{made:#?}");
    assert_eq!(planned.out, "", "nothing would be committed");
    assert!(made.err.contains("the folder does not have its n"), "{made:#?}");
}

/// Settings that would reach the folder are not obeyed before.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn planted_settings_are_not_obeyed_by_a_plan() {
    let world = world();
    world.ok(
        FIX,
        "git config filter.f.clean 'touch ran; cat'; mkdir -p .git/info; echo '* filter=f' > .git/info/attributes
         echo '* filter=f' > .gitattributes; echo new > n",
    );
    let said = world.product(&[&COMMIT_GIT[..], &["--dry-run", "--allow", "git"]].concat());
    assert!(said.is_well() && said.out.contains("would make a git commit"), "{said:#?}");
    assert!(!world.place.project().join("ran").exists(), "{said:#?}");
}

/// The git directory of a linked working tree lies elsewhere.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_in_a_linked_working_tree_is_planned() {
    let world = World::new(
        "here=$PWD; mkdir ../main; cd ../main; git init -q .; echo one > a; seq 20 > b; git add -A
         git commit -qm first; git worktree add -q -b topic \"$here\"",
        &["fix"],
    );
    world.ok(FIX, THEIRS);
    world.ok(Side::Folder, MINE);
    world.done(&["commit", "-w", "fix"]);
    let before = world.ok(Side::Folder, "git for-each-ref refs/heads");
    let (made, said) = as_planned(&world);
    assert_eq!(made["merged"], "refs/heads/offshoot/fix/topic", "{said}");
    let undone = world.document(&["undo", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git for-each-ref refs/heads"), before, "{undone}");
}
