//! Folders whose git directory lies elsewhere: linked working trees, submodules, and what `git init --separate-git-dir` makes.

use std::ffi::OsString;
use std::fs;
use std::process::Output;
use std::thread;

use offshoot_needs::needs;
use offshoot_tests::product::{self, document_of};
use offshoot_tests::rng::Rng;
use offshoot_tests::tier::cases;
use offshoot_tests::trace::{self, Fault};
use serde_json::Value;

use crate::git_scene::{SETTINGS, project};
use crate::scene::{Scene, WORKSPACE, Who};

/// A repository beside the project, which is a linked working tree of it, as another one is.
const LINKED: &str =
    "git init -q ../main; cd ../main; echo one > a; git add a; git commit -qm first; echo '*.o' > .git/info/exclude
    git worktree add -q -b side ../project; git worktree add -q -b third ../other";

const BOTH: [Who; 2] = [Who::Me, Who::Ordinary];

/// Says, in three lines, that neither the main checkout nor the other working tree noticed anything.
const OTHERS: &str = "git -C ../main status --porcelain; git -C ../other status --porcelain
    git -C ../main log --format=%s main; git -C ../main log --format=%s third; cat ../main/.git/HEAD";
const UNTOUCHED: &str = "first\nfirst\nref: refs/heads/main\n";

/// A scene without a vault.
fn bare(who: Who, history: &str) -> Scene {
    let mut scene = Scene::new(who);
    scene.set("GIT_CONFIG_NOSYSTEM", "1");
    fs::write(scene.place.path().join(".gitconfig"), SETTINGS).unwrap();
    scene.hand_over();
    scene.host(history);
    scene
}

/// The product, run in a folder beside the project.
fn beside(scene: &Scene, folder: &str, arguments: &[&str]) -> Output {
    let mut command = scene.offshoot(arguments);
    command.current_dir(scene.place.path().join(folder)).output().unwrap()
}

fn succeeds(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

fn warnings(envelope: &Value) -> String {
    envelope["result"]["warnings"].to_string()
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_in_a_linked_working_tree_stay_and_come_home() {
    for who in BOTH {
        let scene = project(who, LINKED);
        scene.work("echo two >> a; git commit -qam second; touch built.o");
        assert_eq!(
            scene.work("git log --format=%s; git status --porcelain; git worktree list | wc -l"),
            "second\nfirst\n3\n"
        );
        scene.work("git gc -q; git fsck --strict --full; git tag v1; echo three >> a; git commit -qam third");
        assert_eq!(scene.host("git log --format=%s; git tag"), "first\n");
        let said = scene.done(&["commit"]);
        assert!(!said.contains("refs/heads"), "{said}");
        assert_eq!(
            scene.host("git log --format=%s; git status --porcelain; git tag"),
            "third\nsecond\nfirst\nv1\n"
        );
        assert_eq!(scene.host(OTHERS), UNTOUCHED);
        scene.host("test ! -e built.o");
        scene.host("git fsck --strict --full; git -C ../main fsck --strict --full");
        scene.done(&["undo"]);
        assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "first\n");
        scene.host("git fsck --strict --full");
        scene.done(&["redo"]);
        assert_eq!(scene.host("git log -1 --format=%s; git status --porcelain"), "third\n");
        scene.offshoot_ok(&["vault", "check"]);
    }
}

/// A vault of a part of a checkout has no repository: that is said before anybody commits there.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_part_of_a_checkout_is_told_from_a_whole() {
    const INNER: &str =
        "git init -q .; mkdir -p sub/deep; echo one > sub/a; git add .; git commit -qm first";
    for who in BOTH {
        let scene = bare(who, INNER);
        let top = scene.place.project().canonicalize().unwrap();
        let told = format!("it is the repository of {}, above this folder", top.display());
        let way = format!("run `offshoot init` in {}", top.display());
        let says = |said: &str| said.contains(&told) && said.contains(&way);
        for _ in 0..2 {
            let said = succeeds(beside(&scene, "project/sub/deep", &["init"]));
            assert!(says(&said), "{said}");
        }
        succeeds(beside(&scene, "project/sub/deep", &["workspace", "create", "part"]));
        let said = succeeds(beside(&scene, "project/sub/deep", &["status", "-w", "part"]));
        assert!(says(&said), "{said}");
        let touch = ["exec", "-w", "part", "--json", "--", "touch", "made"];
        let envelope = document_of(&beside(&scene, "project/sub/deep", &touch));
        assert!(says(&warnings(&envelope)), "{envelope}");
        // The whole is a vault as any other, and keeps commits.
        succeeds(beside(&scene, "project/sub", &["vault", "delete", "deep", "--yes"]));
        let said = succeeds(beside(&scene, "project", &["init"]));
        assert!(!said.contains("above this folder"), "{said}");
        succeeds(beside(&scene, "project", &["workspace", "create", "whole"]));
        let commit =
            ["exec", "-w", "whole", "--json", "--", "sh", "-c", "echo 2 > a; git commit -qam 2"];
        let envelope = document_of(&beside(&scene, "project/sub", &commit));
        assert_eq!(warnings(&envelope), "[]", "{envelope}");
        let log = ["exec", "-q", "-w", "whole", "--", "git", "log", "--format=%s"];
        assert_eq!(succeeds(beside(&scene, "project/sub", &log)), "2\nfirst\n");
    }
}

/// A command in a part of a checkout that has no vault makes one of the whole.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_first_command_in_a_part_of_a_checkout_takes_the_whole() {
    let scene = bare(
        Who::Ordinary,
        "git init -q .; mkdir sub; echo one > sub/a; git add .; git commit -qm first",
    );
    let commit =
        ["exec", "--json", "--", "sh", "-c", "echo 2 > a; git commit -qam 2; git log --format=%s"];
    let envelope = document_of(&beside(&scene, "project/sub", &commit));
    assert_eq!(envelope["result"]["stdout"], "2\nfirst\n", "{envelope}");
    assert_eq!(warnings(&envelope), "[]", "{envelope}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_first_command_takes_the_git_directory_in() {
    for who in BOTH {
        let scene = bare(who, LINKED);
        let first =
            scene.offshoot(&["exec", "--", "sh", "-c", "echo x > b; git add b; git commit -qm b"]);
        let said = succeeds({ first }.output().unwrap());
        let main = scene.place.path().join("main/.git");
        let line = format!("git directory {} taken in as well", main.display());
        assert!(said.contains(&line), "{said}");
        let list = scene.offshoot(&["workspace", "list", "--json"]).output().unwrap();
        let list = document_of(&list);
        let name = list["result"]["workspaces"][0]["name"].as_str().unwrap();
        let log = scene.offshoot_ok(&["exec", "-q", "-w", name, "--", "git", "log", "--format=%s"]);
        assert_eq!(log, "b\nfirst\n");
        assert!(scene.offshoot_ok(&["status", "-w", name]).contains(&line));
        assert!(scene.offshoot_ok(&["binding", "list"]).contains("project.git"));
        scene.offshoot_ok(&["commit", "-w", name]);
        assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "b\nfirst\n");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn init_says_what_it_takes_in() {
    let scene = bare(Who::Me, LINKED);
    let document = document_of(&scene.offshoot(&["init", "--json"]).output().unwrap());
    let git = &document["result"]["git_directory"];
    let main = scene.place.path().join("main/.git");
    assert_eq!(git["directory"], main.to_str().unwrap(), "{document}");
    assert_eq!((&git["bound"], &git["name"]), (&Value::Bool(true), &"project.git".into()));
    assert!(git["bytes"].as_u64().unwrap() > 1000, "{document}");
    assert!(scene.offshoot_ok(&["init"]).contains("taken in as well"));
}

/// What belongs to other checkouts is none of the workspace's business, nor are the repository's settings.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn other_checkouts_keep_what_is_theirs() {
    let scene = project(Who::Me, LINKED);
    scene.work(
        "common=$(git rev-parse --git-common-dir); echo two >> a; git commit -qam second
         echo ref: refs/heads/side > $common/HEAD; rm $common/index; echo x > $common/worktrees/other/HEAD
         git update-ref refs/heads/main HEAD; echo '#!/bin/sh' > $common/hooks/post-commit
         git config core.fsmonitor /bin/false; echo x > $common/ORIG_HEAD; git worktree add -q ../new",
    );
    let output = scene.on_workspace(&["commit", "--json"]);
    let document = document_of(&output);
    let held: Vec<(&str, &str)> = document["result"]["held"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| {
            let path = held["path"].as_str().unwrap();
            let path = path.strip_prefix("/.offshoot/bound/project.git/").unwrap();
            (path, held["detail"].as_str().unwrap())
        })
        .collect();
    for theirs in ["HEAD", "index", "ORIG_HEAD", "worktrees/other/HEAD", "refs/heads/main"] {
        assert!(held.contains(&(theirs, "part of another checkout")), "{theirs}: {held:?}");
    }
    for planted in ["hooks/post-commit", "config", "worktrees/new/HEAD"] {
        assert!(held.iter().any(|(path, _)| *path == planted), "{planted}: {held:?}");
    }
    assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "second\nfirst\n");
    assert_eq!(scene.host(OTHERS), UNTOUCHED);
    scene.host("git fsck --strict; test ! -e ../main/.git/hooks/post-commit; test ! -e ../main/.git/worktrees/new");
    assert_eq!(scene.host("git -C ../main config core.fsmonitor || echo none"), "none\n");
}

/// What a person does in the main checkout meanwhile is merged with.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_person_works_in_the_main_checkout_meanwhile() {
    let scene = project(Who::Me, LINKED);
    scene.work("echo two >> a; git commit -qam second");
    scene.host("cd ../main; echo mine > b; git add b; git commit -qm mine; git branch topic; echo x > c; git add c");
    scene.host("! git -C ../main merge -q --no-commit --no-ff side 2> /dev/null || git -C ../main merge --abort || true");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "second\nfirst\n");
    assert_eq!(
        scene.host("cd ../main; git log --format=%s; git status --porcelain; git rev-parse --verify -q topic > /dev/null"),
        "mine\nfirst\nA  c\n"
    );
    scene.host("git fsck --strict --full");
    scene.done(&["pull"]);
    assert_eq!(scene.work("git log --format=%s main"), "mine\nfirst\n");
}

/// The main checkout and a linked working tree are vaults of their own, with one repository.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn two_vaults_of_one_repository_commit_one_after_the_other() {
    for who in BOTH {
        let scene = project(who, LINKED);
        // Nobody is in the working tree's vault who is in the repository.
        assert_eq!(beside(&scene, "main/.git", &["status"]).status.code(), Some(3));
        let said = succeeds(beside(&scene, "main", &["init"]));
        assert!(!said.contains("git directory"), "{said}");
        let vault = |folder: &str| {
            let list = succeeds(beside(&scene, folder, &["status", "--json"]));
            serde_json::from_str::<Value>(&list).unwrap()["result"]["vault"].clone()
        };
        assert_eq!(
            [vault("main"), vault("main/.git"), vault("project")],
            ["main", "main", "project"]
        );
        succeeds(beside(&scene, "main", &["workspace", "create", "own"]));
        for round in ["one", "two"] {
            scene.work(&format!("echo {round} >> a; git commit -qam side-{round}"));
            let script = format!("echo {round} > {round}; git add .; git commit -qm main-{round}");
            succeeds(beside(&scene, "main", &["exec", "-w", "own", "--", "sh", "-ec", &script]));
            scene.done(&["commit"]);
            succeeds(beside(&scene, "main", &["commit", "-w", "own"]));
        }
        assert_eq!(
            scene.host("git log --format=%s; git status --porcelain"),
            "side-two\nside-one\nfirst\n"
        );
        assert_eq!(
            scene.host("cd ../main; git log --format=%s; git status --porcelain"),
            "main-two\nmain-one\nfirst\n"
        );
        scene.host("git fsck --strict --full; git -C ../main fsck --strict --full");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn vaults_of_one_repository_commit_at_the_same_time() {
    const ROUNDS: usize = 3;
    let scene = project(Who::Me, LINKED);
    for folder in ["main", "other"] {
        succeeds(beside(&scene, folder, &["init"]));
        succeeds(beside(&scene, folder, &["workspace", "create", WORKSPACE]));
    }
    thread::scope(|scope| {
        for folder in ["project", "main", "other"] {
            let scene = &scene;
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let script = format!(
                        "echo {round} >> {folder}; git add .; git commit -qm {folder}-{round}"
                    );
                    let run = ["exec", "-w", WORKSPACE, "--", "sh", "-ec", &script];
                    succeeds(beside(scene, folder, &run));
                    succeeds(beside(scene, folder, &["commit", "-w", WORKSPACE]));
                }
            });
        }
    });
    for folder in ["project", "main", "other"] {
        let said = scene.host(&format!(
            "cd ../{folder}; git log --format=%s; git status --porcelain; git fsck --strict --full"
        ));
        let expected: String =
            (0..ROUNDS).rev().map(|round| format!("{folder}-{round}\n")).collect();
        assert_eq!(said, format!("{expected}first\n"));
    }
    let left =
        scene.host("find ../main/.git ../project ../other -name '.offshoot*' -o -name '*.kept-*'");
    assert_eq!(left, "");
}

/// One vault waits for another that has the same git directory.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn vaults_of_one_repository_take_turns() {
    let scene = project(Who::Me, LINKED);
    succeeds(beside(&scene, "main", &["init"]));
    scene.work("echo two >> a; git commit -qam second");
    let git = scene.place.path().join("main/.git").canonicalize().unwrap();
    let key = blake3::hash(git.as_os_str().as_encoded_bytes()).to_hex();
    let held = fs::File::open(scene.place.home().join("locks").join(key.as_str())).unwrap();
    held.lock().unwrap();
    let soon = ["-c", "store.busy_timeout=100ms"];
    let said = scene.refused(&[&["commit"], &soon[..]].concat(), 8);
    assert!(said.contains(git.to_str().unwrap()), "{said}");
    let main = beside(&scene, "main", &[&["pull", "--head"], &soon[..]].concat());
    assert_eq!(main.status.code(), Some(8), "{main:?}");
    drop(held);
    scene.done(&["commit"]);
    succeeds(beside(&scene, "main", &["pull", "--head"]));
}

/// What a killed commit of one vault left in the git directory is settled by another vault that has it too.
#[needs(Overlay, Ptrace, UserNamespace, "git")]
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_commit_that_was_killed_is_settled_by_another_vault() {
    let mut calls = None;
    let (mut rng, mut left) = (Rng::new(11), 0);
    for case in 0..=cases(6, 60) {
        let scene = project(Who::Me, LINKED);
        succeeds(beside(&scene, "main", &["init"]));
        scene.work("echo two >> a; git commit -qam second");
        let commit = |fault| {
            let environment = scene.place.environment();
            let mut command: Vec<OsString> = vec!["env".into(), "-i".into()];
            for (name, value) in environment {
                command.push([name, "=".into(), value].into_iter().collect());
            }
            command.extend(["RAYON_NUM_THREADS=1".into(), product::binary().into()]);
            command.extend(["commit", "-w", WORKSPACE].map(Into::into));
            trace::run(&command, &[], Some(&scene.place.project()), fault).unwrap().mutating
        };
        let Some(calls) = calls else {
            calls = Some(commit(Fault::None));
            continue;
        };
        // Most of the calls come before the folders are touched.
        let point = calls / 2 + rng.below(calls - calls / 2);
        commit(Fault::KillAt(point));
        let staged = "find ../main/.git . -name '.offshoot-apply-*' | wc -l";
        left += usize::from(scene.host(staged) != "0\n");
        succeeds(beside(&scene, "main", &["pull", "--head"]));
        assert_eq!(scene.host(staged), "0\n", "case {case}: killed at call {point} of {calls}");
        assert_eq!(scene.host("git status --porcelain; git fsck --strict"), "");
        scene.done(&["commit"]);
        assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "second\nfirst\n");
        assert_eq!(scene.host(OTHERS), UNTOUCHED);
    }
    assert!(left > 0, "nothing was ever left behind");
}

/// What was exported is taken in again beside the vault of the main checkout, and claims nothing of it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_vault_with_its_git_directory_travels() {
    let scene = project(Who::Me, LINKED);
    scene.work("echo two >> a; git commit -qam second");
    succeeds(beside(&scene, "main", &["init"]));
    scene.offshoot_ok(&["vault", "export", "../carried"]);
    scene.offshoot_ok(&["vault", "delete", "project", "--yes"]);
    scene.offshoot_ok(&["vault", "import", "../carried"]);
    assert!(
        succeeds(beside(&scene, "main/.git", &["status", "--json"])).contains("\"vault\":\"main\"")
    );
    // It says where it was bound, and nobody but a person binds it there again.
    let project = scene.place.project();
    let project = project.to_str().unwrap();
    scene.offshoot_ok(&["binding", "move", "/", project, "--vault", "project"]);
    let envelope = scene.exec(&[], &["cat", "a"]);
    assert_eq!(envelope["result"]["stdout"], "one\ntwo\n", "{envelope:#}");
}

/// A `.git` file that somebody put there does not open other repositories of the host.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_file_that_names_a_foreign_repository_is_refused() {
    let history =
        "git init -q ../private; cd ../private; echo secret > s; git add s; git commit -qm secret
        git worktree add -q ../linked; cd ../project; echo x > a";
    let private = ["../private/.git", "../private/.git/worktrees/linked", ".."];
    for target in private {
        let scene = bare(Who::Me, history);
        scene.place.write(".git", format!("gitdir: {target}\n"));
        let said = succeeds(scene.offshoot(&["init"]).output().unwrap());
        assert!(said.contains("warning: git commits made in workspaces are lost"), "{said}");
        let listed = scene.offshoot_ok(&["binding", "list"]);
        assert!(!listed.contains("private"), "{listed}");
        let document = document_of(&scene.offshoot(&["status", "--json"]).output().unwrap());
        assert_eq!(document["result"]["git_directory"]["bound"], false, "{document}");
        scene.offshoot_ok(&["workspace", "create", WORKSPACE]);
        let envelope = scene.exec(&[], &["true"]);
        assert!(warnings(&envelope).contains("are lost"), "{envelope}");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_separate_git_directory_is_taken_in_when_it_is_named() {
    for who in BOTH {
        let history = "git init -q --separate-git-dir ../apart.git .; echo a > a; git add a; git commit -qm first";
        let scene = bare(who, history);
        let run = scene.offshoot(&["exec", "--", "true"]).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        let apart = scene.place.path().join("apart.git");
        let hint = format!("`offshoot binding add {}`", apart.display());
        assert!(said.contains("does not point back") && said.contains(&hint), "{said}");
        scene.offshoot_ok(&["binding", "add", apart.to_str().unwrap()]);
        scene.offshoot_ok(&["workspace", "create", WORKSPACE]);
        scene.work("echo b >> a; git commit -qam second");
        assert_eq!(scene.work("git log --format=%s; git status --porcelain"), "second\nfirst\n");
        scene.done(&["commit"]);
        assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "second\nfirst\n");
        scene.host("git fsck --strict");
    }
    // One that names the folder needs nobody to do so.
    let history = "git init -q --separate-git-dir ../apart.git .; git config core.worktree \"$PWD\"; echo a > a; git add a
        git commit -qm first";
    let scene = project(Who::Me, history);
    scene.work("echo b >> a; git commit -qam second");
    assert_eq!(scene.work("git log -1 --format=%s"), "second\n");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_directory_that_cannot_be_written_is_told() {
    let scene = bare(Who::Ordinary, LINKED);
    scene.host("chmod a-w ../main/.git/objects");
    let run = scene.offshoot(&["exec", "--", "sh", "-c", "echo ran >&2"]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let (lost, ran) = (said.find("commits made in workspaces are lost"), said.find("ran\n"));
    assert!(lost.is_some() && lost < ran, "{said}");
    assert!(said.contains("you cannot write to it"), "{said}");
    scene.host("chmod a-rwx ../main/.git/objects");
    let said = succeeds(scene.offshoot(&["init"]).output().unwrap());
    assert!(said.contains("you cannot read it"), "{said}");
    scene.host("chmod u+rwx ../main/.git/objects");
    assert!(succeeds(scene.offshoot(&["init"]).output().unwrap()).contains("taken in as well"));
}

/// It can be let go of, and then every command says what that means.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_directory_that_was_removed_stays_away() {
    let scene = project(Who::Me, LINKED);
    scene.offshoot_ok(&["binding", "remove", "project.git"]);
    let said = succeeds(scene.offshoot(&["init"]).output().unwrap());
    assert!(said.contains("it was removed from the vault"), "{said}");
    scene.done(&["pull"]);
    let envelope = scene.exec(&[], &["true"]);
    assert!(warnings(&envelope).contains("are lost"), "{envelope}");
    let main = scene.place.path().join("main/.git");
    scene.offshoot_ok(&["binding", "add", main.to_str().unwrap()]);
    assert!(scene.offshoot_ok(&["binding", "list"]).contains("project.git"));
    let moved = scene.offshoot(&["binding", "move", "project.git", "../other"]).output().unwrap();
    assert_eq!(moved.status.code(), Some(2), "{moved:?}");
    scene.done(&["pull"]);
    scene.work("echo two >> a; git commit -qam second");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git log -1 --format=%s; git status --porcelain"), "second\n");
}

/// A vault from before git directories were taken in gets it with the next command that looks at the folder.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_vault_without_its_git_directory_gets_it() {
    let scene = bare(Who::Me, "echo one > a");
    scene.bind();
    // What the vault knows is a folder without a repository, as an older version left it.
    scene.host("mv a ../kept; git init -q ../main; cd ../main; mv ../kept a; git add a; git commit -qm first
        git worktree add -q -b side ../project");
    let envelope = scene.exec(&[], &["true"]);
    assert!(warnings(&envelope).contains(&format!("offshoot pull -w {WORKSPACE}")), "{envelope}");
    let fresh = scene.exec_command(&[], &["git", "log", "--format=%s"]).output().unwrap();
    let fresh = document_of(&fresh);
    assert_eq!(fresh["result"]["stdout"], "first\n", "{fresh}");
    assert_eq!(fresh["result"]["warnings"], serde_json::json!([]));
    let envelope = scene.exec(&[], &["true"]);
    assert!(warnings(&envelope).contains("is not part of workspace"), "{envelope}");
    scene.done(&["pull"]);
    scene.work("echo two >> a; git commit -qam second");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git log --format=%s; git status --porcelain"), "second\nfirst\n");
}

/// `git worktree repair` after the main checkout was moved.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_main_checkout_that_was_moved_is_found_again() {
    let scene = project(Who::Me, LINKED);
    scene.host(
        "mv ../main ../moved; git -C ../moved worktree repair ../project ../other 2> /dev/null",
    );
    scene.done(&["pull"]);
    let moved = scene.place.path().join("moved/.git");
    assert!(scene.offshoot_ok(&["binding", "list"]).contains(moved.to_str().unwrap()));
    scene.work("echo two >> a; git commit -qam second");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git log -1 --format=%s; git status --porcelain"), "second\n");
}

/// A superproject in `../super` with the project as its submodule, and one more.
const SUBMODULE: &str = "cd ..; rmdir project; git init -q lib; cd lib; echo one > a; git add a; git commit -qm first; cd ..
    git init -q super; cd super; git submodule --quiet add ../lib lib; git submodule --quiet add ../lib second
    git commit -qm modules; cd ..";

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_submodule_as_a_project_keeps_its_commits() {
    for who in BOTH {
        let history = format!("{SUBMODULE}\nmkdir project");
        let scene = bare(who, &history);
        let init = succeeds(beside(&scene, "super/lib", &["init"]));
        assert!(init.contains("super/.git/modules/lib taken in as well"), "{init}");
        succeeds(beside(&scene, "super/lib", &["workspace", "create", WORKSPACE]));
        let run = |script: &str| {
            let run = ["exec", "-q", "-w", WORKSPACE, "--", "sh", "-ec", script];
            succeeds(beside(&scene, "super/lib", &run))
        };
        run("echo two >> a; git commit -qam second");
        assert_eq!(run("git log --format=%s; git status --porcelain"), "second\nfirst\n");
        succeeds(beside(&scene, "super/lib", &["commit", "-w", WORKSPACE]));
        assert_eq!(
            scene.host("cd ../super/lib; git log --format=%s; git status --porcelain; git fsck --strict; cd ..; git status --porcelain"),
            "second\nfirst\n M lib\n"
        );
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_superproject_with_submodules_is_like_any_other() {
    for who in BOTH {
        let history = format!(
            "{SUBMODULE}\nmv super project; cd project; sed -i s/super/project/ .git/modules/*/config"
        );
        let scene = project(who, &history);
        scene.work("cd lib; echo two >> a; git commit -qam second; cd ..; git commit -qam moved");
        assert_eq!(
            scene.work("git -C lib log --format=%s; git status --porcelain"),
            "second\nfirst\n"
        );
        scene.done(&["commit"]);
        assert_eq!(
            scene.host("git -C lib log --format=%s; git log --format=%s; git status --porcelain"),
            "second\nfirst\nmoved\nmodules\n"
        );
        scene.host("git fsck --strict; git -C lib fsck --strict; git -C second fsck --strict");
    }
}

/// A working tree has the repositories of its submodules in its own part of the git directory.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn submodules_of_a_linked_working_tree_keep_their_commits() {
    let history = format!(
        "{SUBMODULE}
        cd super; git worktree add -q -b side ../project; cd ../project; git submodule --quiet update --init lib
        git -C lib checkout -q -b own"
    );
    let scene = project(Who::Me, &history);
    scene.work("cd lib; echo two >> a; git commit -qam second; echo x > $(git rev-parse --git-dir)/hooks/post-commit");
    assert_eq!(scene.work("git -C lib log --format=%s; git commit -qam moved"), "second\nfirst\n");
    let said = scene.done(&["commit"]);
    assert!(said.contains("modules/lib/hooks/post-commit"), "{said}");
    assert_eq!(
        scene.host("git -C lib log --format=%s; git log --format=%s; git status --porcelain"),
        "second\nfirst\nmoved\nmodules\n"
    );
    scene.host("git fsck --strict; git -C lib fsck --strict; git -C ../super status --porcelain");
    scene.host("test ! -e $(git -C lib rev-parse --git-dir)/hooks/post-commit");
}
