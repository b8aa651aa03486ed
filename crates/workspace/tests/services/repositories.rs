//! Repositories of git that a workspace and its folder both changed, by git itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_protocol::CommitTimes;
use offshoot_tree::diff::DiffOptions;
use offshoot_tree::merge::{Base, MergeInputs, MergeOptions, Side};
use offshoot_tree::{RootId, VaultPath};
use offshoot_vault::{ExportOptions, ImportOptions};
use offshoot_workspace::git::{
    GitEvent, HeldBackCheckouts, MergedRepositories, RepositoryMerge, UnclearRefs,
    merge_repositories,
};
use offshoot_workspace::{CommitOptions, CommitRequest, CommitService, Selection};

use crate::support::Bench;

/// A repository with some history, and what two sides made of it.
struct Scene {
    bench: Bench,
    workspace: RootId,
    both: MergedRepositories,
}

/// Runs a script, which must succeed, and gives what it printed.
fn sh(dir: &Path, script: &str) -> String {
    let mut command = Command::new("sh");
    command.args(["-euc", script]).current_dir(dir).env_clear().env("HOME", dir.parent().unwrap());
    command.env("PATH", std::env::var_os("PATH").unwrap());
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "Ann")
            .env(format!("GIT_{who}_EMAIL"), "ann@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{script}\n{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

const HISTORY: &str = "git init -q -b main .; git config gc.auto 0
    echo one > a; echo two > b; mkdir d; seq 20 > d/c; git add .; git commit -qm first
    echo more >> a; git commit -qam second; git branch old HEAD~1";

fn scene(folder: &str, workspace: &str) -> Scene {
    scene_of(HISTORY, folder, workspace)
}

fn scene_of(history: &str, folder: &str, workspace: &str) -> Scene {
    let bench = Bench::new();
    let at = |name: &str| bench.place.join(name);
    std::fs::create_dir(at("base")).unwrap();
    sh(&at("base"), history);
    let root_of = |name: &str| -> RootId {
        bench.vault.import(&at(name), &ImportOptions::default()).unwrap().root
    };
    let held = bench.vault.hold().unwrap();
    let base = root_of("base");
    let side = |name: &str, script: &str| {
        sh(&bench.place, &format!("cp -a base {name}"));
        sh(&at(name), script);
        root_of(name)
    };
    let (folder, workspace) = (side("folder", folder), side("workspace", workspace));
    let sides = [("folder", folder), ("workspace", workspace)];
    let sides = sides.map(|(label, root)| Side { label: label.to_owned(), root });
    let inputs = MergeInputs { base: &Base::Root(base), sides: &sides };
    let options = &MergeOptions::default();
    let merge = RepositoryMerge {
        inputs,
        options,
        target: 0,
        unclear: UnclearRefs::Apart,
        meetings: &[],
        held: &HeldBackCheckouts::default(),
        left_out: &[],
    };
    let both = merge_repositories(&bench.vault, &merge).unwrap();
    drop(held);
    Scene { bench, workspace, both }
}

impl Scene {
    /// The merged state as files.
    fn out(&self) -> PathBuf {
        let merged = &self.both.merged;
        assert!(merged.conflicts.is_empty(), "{:#?}", merged.conflicts);
        let out = self.bench.place.join("out");
        let options = ExportOptions::default();
        self.bench.vault.export(&merged.root, &VaultPath::top(), &out, &options).unwrap();
        sh(&out, "git fsck --strict --full 2>&1; git log --all --oneline > /dev/null");
        out
    }

    /// The refs that were kept under another name.
    fn kept(&self) -> Vec<&str> {
        self.both.report.notes.iter().filter_map(|note| note.event.kept_as()).collect()
    }
}

const STATUS: &str = "git status --porcelain";

#[test]
fn a_commit_of_the_workspace_comes_home() {
    let scene = scene("true", "echo x >> b; git commit -qam third");
    assert_eq!(scene.both.merged.root, scene.workspace);
    let out = scene.out();
    assert_eq!(sh(&out, "git log --format=%s"), "third\nsecond\nfirst\n");
    assert_eq!(sh(&out, STATUS), "");
}

/// Looking at the status writes the index, with nothing new in it.
#[test]
fn a_status_in_the_folder_does_not_keep_a_commit_away() {
    let scene = scene("touch a b; sleep 0.02; git status -s", "echo x >> b; git commit -qam third");
    let out = scene.out();
    assert_eq!(sh(&out, "git log -1 --format=%s"), "third\n");
    assert_eq!(sh(&out, STATUS), "");
}

#[test]
fn unstaged_edits_of_the_person_stay_unstaged() {
    let scene = scene(
        "sed -i '1s/.*/mine/' d/c; git status -s",
        "sed -i '$s/.*/theirs/' d/c; echo x >> b; git commit -qam third",
    );
    let out = scene.out();
    assert_eq!(sh(&out, STATUS), " M d/c\n");
    assert_eq!(sh(&out, "git diff -U0 d/c | grep '^[-+][^-+]'"), "-1\n+mine\n");
}

const KEPT: &str = "refs/heads/offshoot/workspace/main";

#[test]
fn what_the_person_staged_is_not_taken_back_by_a_commit() {
    let scene = scene("echo y >> b; git add b", "echo x >> a; git commit -qam third");
    assert_eq!(scene.kept(), [KEPT]);
    let event = &scene.both.report.notes[0].event;
    assert!(matches!(event, GitEvent::CheckedOut(..)), "{event:?}");
    assert_eq!(sh(&scene.out(), STATUS), " M a\nM  b\n");
}

#[test]
fn commits_of_both_are_kept_apart() {
    let scene = scene("echo y >> b; git commit -qam mine", "echo x >> a; git commit -qam theirs");
    assert_eq!(scene.kept(), [KEPT]);
    let out = scene.out();
    assert_eq!(
        sh(&out, &format!("git log -1 --format=%s; git log -1 --format=%s {KEPT}")),
        "mine\ntheirs\n"
    );
    assert_eq!(sh(&out, STATUS), " M a\n");
}

#[test]
fn commits_of_both_on_different_branches_come_together() {
    let scene = scene(
        "echo y >> b; git commit -qam mine",
        "git checkout -q -b topic; echo x >> a; git commit -qam theirs",
    );
    assert!(scene.kept().is_empty(), "{:?}", scene.both.report);
    let out = scene.out();
    assert_eq!(sh(&out, "git log -1 --format=%s; git log -1 --format=%s topic"), "mine\ntheirs\n");
    assert_eq!(sh(&out, STATUS), " M a\n");
}

#[test]
fn what_both_staged_is_the_persons() {
    let scene = scene("echo y >> b; git add b", "echo x >> a; git add a");
    let out = scene.out();
    assert_eq!(sh(&out, STATUS), " M a\nM  b\n");
}

#[test]
fn a_new_branch_comes_home_beside_a_commit_of_the_person() {
    let scene =
        scene("echo y >> b; git commit -qam mine", "git branch topic HEAD~1; git status -s");
    let out = scene.out();
    assert_eq!(sh(&out, "git branch --format='%(refname:short)'"), "main\nold\ntopic\n");
    assert_eq!(sh(&out, "git log -1 --format=%s"), "mine\n");
    assert_eq!(sh(&out, STATUS), "");
}

#[test]
fn packing_in_the_workspace_does_not_clash_with_a_commit_of_the_person() {
    let scene = scene("echo y >> b; git commit -qam mine", "git gc -q --prune=now");
    let out = scene.out();
    assert_eq!(sh(&out, "git log -1 --format=%s"), "mine\n");
    assert_eq!(sh(&out, STATUS), "");
}

#[test]
fn packing_in_the_folder_does_not_clash_with_a_commit_of_the_workspace() {
    let scene = scene("git gc -q --prune=now", "echo x >> b; git commit -qam third");
    let out = scene.out();
    assert_eq!(sh(&out, "git log -1 --format=%s"), "third\n");
    assert_eq!(sh(&out, STATUS), "");
}

/// An object that nothing needed is given up by one side and used by the other.
#[test]
fn an_object_that_one_side_gave_up_is_kept_for_the_other() {
    let orphan = "git checkout -q --detach; git commit -q --allow-empty -m orphan
                  git rev-parse HEAD > ../orphan; git checkout -q main; git reflog expire --expire=now --all";
    for (folder, workspace) in [
        ("git gc -q --prune=now", "git branch kept $(cat ../orphan)"),
        ("git branch kept $(cat ../orphan)", "git gc -q --prune=now"),
    ] {
        let history = format!("{HISTORY}\n{orphan}");
        let scene = scene_of(&history, folder, workspace);
        let out = scene.out();
        assert_eq!(sh(&out, "git log -1 --format=%s kept"), "orphan\n");
    }
}

#[test]
fn packing_in_both_keeps_everything() {
    let scene = scene("git gc -q --prune=now", "git tag v1; git gc -q --prune=now");
    let out = scene.out();
    assert_eq!(sh(&out, "git tag; git log --format=%s"), "v1\nsecond\nfirst\n");
    assert_eq!(sh(&out, STATUS), "");
}

/// Git makes directories for objects whenever it likes. They are never in the way of a commit, and nobody is told to move them.
#[test]
fn what_git_makes_meanwhile_is_not_in_the_way() {
    let files = [(".gitignore", "out\n"), ("a", "1\n"), (".git/HEAD", "ref: refs/heads/main\n")];
    let stores = [(".git/lfs/objects/x", "x"), (".git/objects/info/x", ""), (".git/refs/x", "")];
    let bench = Bench::of(&[&files[..], &stores].concat());
    let fix = bench.fork("fix");
    bench.write(&fix, "/out", "ignored");
    bench.write(&fix, "/a", "2\n");
    bench.write(&fix, "/.git/lfs/objects/ab/cd", "theirs");
    let folder = bench.place.join("source");
    let store = folder.join(".git/lfs/objects/ab");
    // Asked after the folder was read, and before anything is changed in it.
    let tracked = |_: &VaultPath| {
        std::fs::create_dir_all(&store).unwrap();
        std::fs::write(store.join("mine"), "mine").unwrap();
        Ok(false)
    };
    let request = CommitRequest {
        workspace: &fix,
        message: None,
        selection: Selection { tracked: &tracked, ..Selection::default() },
        dry_run: false,
        times: CommitTimes::Now,
        git: None,
    };
    let options = CommitOptions::default();
    let service = CommitService::new(&bench.vault, &bench.actor, options, DiffOptions::default());
    service.commit(&request).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let found = [read("a"), read(".git/lfs/objects/ab/cd"), read(".git/lfs/objects/ab/mine")];
    assert_eq!(found, ["2\n", "theirs", "mine"]);
}
