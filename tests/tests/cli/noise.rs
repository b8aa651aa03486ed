//! Build output and what git keeps for itself are folded wherever people read a list of changes, and nowhere else.

use std::process::{Command, Output};

use insta::assert_snapshot;
use offshoot_needs::needs;
use offshoot_tests::product::Place;

use crate::transcript::Transcript;

/// Runs a script on the host, in the project, without anything of whoever runs the tests.
fn host(place: &Place, script: &str) {
    let mut command = Command::new("sh");
    command.env_clear().envs(place.environment()).current_dir(place.project());
    let output = command.args(["-ec", script]).output().expect("a shell runs");
    assert!(output.status.success(), "{script}: {output:?}");
}

/// A repository with some files, an ignored `target` and a `dist` that git tracks.
fn repository() -> Place {
    let place = Place::new();
    let settings = "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n";
    std::fs::write(place.path().join(".gitconfig"), settings).expect("settings of git");
    place.write("src/main.c", "int main(void) { return 0; }\n");
    place.write("Makefile", "all:\n\tcc src/main.c\n");
    place.write("dist/app.js", "one();\n");
    place.write(".gitignore", "target/\n");
    host(&place, "git init -q .; git add -A; git commit -qm first");
    place.ok(["init"]);
    place
}

/// Writes twelve ignored files, three that nobody ignores, a source file, and commits.
const WORK: &str = "mkdir -p target/debug node_modules/left
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i > target/debug/$i; done
    for i in 1 2 3; do echo $i > node_modules/left/$i; done
    echo '/* x */' >> src/main.c
    git add src; git commit -qm second; git branch side";

fn work(place: &Place, script: &str) -> String {
    let output = place.run(["exec", "-w", "fix", "--shell", script]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What was printed, to whomever.
fn both(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// A list of what is to be decided, with its ids hidden: those of repositories depend on the time.
fn review_list(place: &Place) -> String {
    let text = place.ok(["review", "--list", "-w", "fix"]);
    let line = |line: &str| match line.strip_prefix("  ").and_then(|line| line.split_once("  ")) {
        Some((id, rest)) if id.len() == 12 => format!("  [id]  {rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn every_list_is_folded() {
    let place = repository();
    let mut transcript = Transcript::new(&place);
    transcript.run(&["exec", "-w", "fix", "--shell", WORK]);
    transcript.run(&["status", "-w", "fix"]);
    transcript.run(&["diff", "fix"]);
    transcript.run(&["diff", "fix", "--stat"]);
    transcript.run(&["diff", "fix", "--", "/node_modules/left/2"]);
    transcript.run(&["show", "fix"]);
    transcript.run(&["commit", "-w", "fix", "-n"]);
    place.ok(["workspace", "create", "other", "--from", "fix@base"]);
    place.ok(["checkpoint", "create", "start", "-w", "other"]);
    transcript.run(&["merge", "fix", "--into", "other"]);
    transcript.run(&["checkpoint", "show", "start", "-w", "other"]);
    let script = "mkdir -p target; echo b > b; echo x > target/x";
    transcript.run(&["run", "-w", "third", "--", "sh", "-c", script]);
    transcript.run(&["commit", "-w", "fix"]);
    host(
        &place,
        "echo 4 > node_modules/left/4; echo 'all: test' > Makefile; git commit -qam third",
    );
    transcript.run(&["pull", "-w", "third"]);
    transcript.run(&["exec", "-w", "third", "rm", "-r", "node_modules"]);
    transcript.run(&["fs", "write", "/target/y", "-w", "third"]);
    transcript.run(&["discard", "third"]);
    assert_snapshot!(transcript.finish());
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_programs_read_is_complete() {
    let place = repository();
    work(&place, WORK);
    let short = place.ok(["status", "-w", "fix", "--short"]);
    assert!(short.contains("! /target/debug/7\n"), "{short}");
    assert!(short.contains("A /node_modules/left/2\n"), "{short}");
    let names = place.ok(["diff", "fix", "--name-only"]);
    for path in ["/.git/refs/heads/side", "/node_modules/left/2", "/src/main.c"] {
        assert!(names.lines().any(|line| line == path), "{names}");
    }
    let letters = place.ok(["diff", "fix", "--name-status"]);
    assert!(letters.contains("A /node_modules/left/2\n"), "{letters}");
    let paths = |document: &serde_json::Value, list: &str| -> Vec<String> {
        let all = document[list].as_array().unwrap().iter();
        all.map(|change| change["path"].as_str().unwrap().to_owned()).collect()
    };
    for (arguments, list) in [
        (&["diff", "fix"][..], "changes"),
        (&["status", "-w", "fix"], "changes"),
        (&["show", "fix"], "changes"),
        (&["review", "--list", "-w", "fix"], "items"),
        (&["commit", "-w", "fix", "--dry-run"], "changes"),
    ] {
        let found = paths(&place.json(arguments), list);
        assert!(
            found.iter().any(|path| path == "/node_modules/left/2"),
            "{arguments:?}: {found:?}"
        );
        assert!(
            found.iter().any(|path| path == "/.git/refs/heads/side"),
            "{arguments:?}: {found:?}"
        );
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_option_shows_everything() {
    let place = repository();
    work(&place, WORK);
    let exec = place.json(&["execs"])["execs"][0]["exec"].as_str().unwrap().to_owned();
    for arguments in [
        &["status", "-w", "fix"][..],
        &["diff", "fix"],
        &["diff", "fix", "--stat"],
        &["show", "fix"],
        &["show", &exec],
        &["review", "--list", "-w", "fix"],
        &["commit", "-w", "fix", "--dry-run"],
        &["merge", "fix", "--into", "other", "--dry-run"],
    ] {
        let folded = both(&place.run(arguments));
        assert!(folded.contains("/node_modules/ 3 files"), "{arguments:?}: {folded}");
        assert!(folded.contains("git: 1 commit on main, 1 new branch"), "{arguments:?}: {folded}");
        assert!(folded.contains("--expand lists all files"), "{arguments:?}: {folded}");
        assert!(!folded.contains("/node_modules/left/2"), "{arguments:?}: {folded}");
        let all = both(&place.run([arguments, &["--expand"]].concat()));
        assert!(all.contains("/node_modules/left/2"), "{arguments:?}: {all}");
        assert!(all.contains("/.git/refs/heads/side"), "{arguments:?}: {all}");
        assert!(!all.contains("--expand"), "{arguments:?}: {all}");
    }
}

/// A patch that leaves out what git cannot apply is one that git applies.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_patch_of_work_with_commits_can_be_applied() {
    let place = repository();
    work(&place, WORK);
    let patch = place.ok(["diff", "fix"]);
    std::fs::write(place.path().join("patch"), &patch).unwrap();
    host(&place, "git apply ../patch; grep -q x src/main.c");
    // A document has the same patch, and all of the changes.
    assert_eq!(place.json(&["diff", "fix", "--patch"])["patch"], patch.as_str());
    let all = place.json(&["diff", "fix", "--patch", "--expand"])["patch"].clone();
    // Objects of git may be no text.
    assert!(all.to_string().contains("b/node_modules/left/2"), "{all}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_matters_is_never_folded() {
    let place = repository();
    let told = work(
        &place,
        "echo two >> dist/app.js; printf '#!/bin/sh\\n' > .git/hooks/pre-commit
         mkdir target; echo x > target/x; mv src/main.c target/main.c",
    );
    assert!(told.contains("1 added, 1 modified, 1 renamed; /target/ 1 file\n"), "{told}");
    let shown = place.ok(["show", "fix"]);
    for line in ["M /dist/app.js", "A /.git/hooks/pre-commit", "R /target/main.c"] {
        assert!(shown.contains(&format!("  {line}")), "{line}: {shown}");
    }
    // What is ignored, or what git would run, is not committed; the hook is missed.
    let shown = place.ok(["workspace", "show", "fix"]);
    assert!(shown.contains("1 modified, 1 deleted, 1 held back\n"), "{shown}");
    // A repository that came as a whole is one thing, with its hooks.
    let told = work(&place, "git init -q lib/other");
    assert!(told.contains("workspace fix: git in /lib/other: new repository\n"), "{told}");
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_folded_is_decided_as_a_whole() {
    let place = repository();
    work(&place, WORK);
    assert_snapshot!(review_list(&place));
    let text = place.ok(["review", "--list", "-w", "fix"]);
    let id_of = |start: &str| {
        let mut lines = text.lines().skip_while(|line| !line.starts_with(start));
        lines.nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    place.ok(["review", "-w", "fix", "--drop", &id_of("/node_modules/")]);
    let names = place.ok(["diff", "fix", "--name-only"]);
    assert!(!names.contains("node_modules") && names.contains("/.git/refs/heads/side"), "{names}");
    let arguments = ["review", "-w", "fix", "--accept", &id_of("git:"), "--commit"];
    place.ok(arguments);
    host(&place, "git rev-parse -q --verify side; ! grep -q x src/main.c");
    let error = place.json_error(&["review", "-w", "fix", "--accept", "/src/main.c"], 2);
    assert!(error["message"].as_str().unwrap().contains("needs --commit"), "{error}");
}

/// The place that a vault gives to a git directory which lies elsewhere means nothing to people.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_git_directory_elsewhere_is_called_by_its_name() {
    let place = Place::new();
    let settings = "[user]\nname = Ann\nemail = ann@example.org\n[init]\ndefaultBranch = main\n";
    std::fs::write(place.path().join(".gitconfig"), settings).expect("settings of git");
    host(
        &place,
        "git init -q ../main; cd ../main; echo one > a; git add a; git commit -qm first
         git worktree add -q -b side ../project",
    );
    let told = work(&place, "echo two >> a; git commit -qam second");
    let expected = "1 modified; git directory of project: 1 commit on side\n";
    assert!(told.contains(expected), "{told}");
    for arguments in [
        &["status", "-w", "fix"][..],
        &["diff", "fix"],
        &["show", "fix"],
        &["review", "--list", "-w", "fix"],
        &["commit", "-w", "fix", "--dry-run"],
        &["commit", "-w", "fix"],
    ] {
        let told = both(&place.run(arguments));
        assert!(
            told.contains("git directory of project: 1 commit on side"),
            "{arguments:?}: {told}"
        );
        assert!(!told.contains(".offshoot/bound"), "{arguments:?}: {told}");
    }
}

/// Git writes its index anew when somebody only looks, with other times and the same files.
#[needs("git")]
#[test]
fn looking_is_no_change_of_the_folder() {
    let place = repository();
    place.ok(["workspace", "create", "fix"]);
    place.ok_with(["fs", "write", "/new", "-w", "fix"], b"new\n");
    let index = || std::fs::read(place.project().join(".git/index")).unwrap();
    let before = index();
    host(&place, "touch -d '1 day ago' src/main.c; git status");
    assert_ne!(index(), before, "git wrote its index anew");
    let said = place.ok(["commit", "-w", "fix"]);
    assert!(!said.contains("also changed"), "{said}");
    place.ok_with(["fs", "write", "/newer", "-w", "fix"], b"new\n");
    host(&place, "echo two >> Makefile; git add Makefile");
    let said = place.ok(["commit", "-w", "fix"]);
    assert!(said.contains("1 file changed in the folder meanwhile"), "{said}");
}

/// Stashes, commits of submodules and branches that moved otherwise are named like commits.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn all_that_git_keeps_is_named() {
    let place = repository();
    let module = "mkdir lib; cd lib; git init -q .; echo 1 > one; git add .; git commit -qm one; cd ..; \
        git -c protocol.file.allow=always submodule --quiet add ./lib lib; git submodule absorbgitdirs 2>&1; \
        git commit -qm module";
    host(&place, module);
    place.ok(["pull", "--head"]);
    let told = work(&place, "echo two >> Makefile; git stash -q");
    assert!(told.contains("git: 1 new stash"), "{told}");
    let told = work(&place, "cd lib; echo 2 > one; git commit -qam two");
    assert!(told.contains("1 commit on main of submodule lib"), "{told}");
    work(
        &place,
        "git stash drop -q; git -C lib checkout -q .; echo 3 > new; git add new; git commit -qm new",
    );
    place.ok(["commit", "-w", "fix"]);
    place.ok(["undo", "-w", "fix"]);
    let told = place.ok(["status", "-w", "fix"]);
    assert!(told.contains("main moved") || told.contains("commit on main"), "{told}");
}

/// Commits are counted by the history of a branch, whatever its log says.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_are_counted_by_history() {
    let place = repository();
    host(
        &place,
        "git checkout -q --detach; git commit -q --allow-empty -m aside; git tag -a -m aside aside; git checkout -q main",
    );
    place.ok(["pull", "--head"]);
    const MADE: &str = "git commit -q --allow-empty -m made; ";
    let plumbing = "for n in 1 2 3 4; do
        git update-ref refs/heads/main $(git commit-tree -p HEAD -m $n HEAD^{tree}); done; ";
    let forged = "id=$(git rev-parse HEAD)
        for n in 1 2 3; do printf \"$id $id A <a> 1 +0000\\tcommit: $n\\n\" >> .git/logs/refs/heads/main; done";
    for (script, expected) in [
        (format!("{plumbing}{MADE}"), "git: 5 commits on main\n"),
        (
            format!(
                "{MADE}{MADE}{MADE} sed -i 's/\tcommit: /\treset: /' .git/logs/refs/heads/main"
            ),
            "git: 3 commits on main\n",
        ),
        (format!("{MADE}rm -r .git/logs"), "git: 1 commit on main\n"),
        (
            "echo two >> Makefile; git commit -qam two; git revert --no-edit HEAD > /dev/null"
                .to_owned(),
            "git: 2 commits on main\n",
        ),
        (format!("{MADE}git commit -q --amend --allow-empty -m other"), "git: 1 commit on main\n"),
        ("git commit -q --amend --allow-empty -m another".to_owned(), "git: main moved\n"),
        (format!("{MADE}{MADE}git gc -q --prune=now"), "git: 2 commits on main\n"),
        (
            format!("git checkout -q -b topic; {MADE}{MADE}git checkout -q main"),
            "git: 2 commits on topic, 1 new branch\n",
        ),
        // It begins with a commit that only a tag had.
        ("git branch tagged aside".to_owned(), "git: 1 new branch\n"),
        // The merge is one, and two come from the branch.
        (
            "git commit -q --allow-empty -m own; git merge -q --no-edit topic".to_owned(),
            "git: 4 commits on main\n",
        ),
        (forged.to_owned(), "fix: git: 1 file\n"),
    ] {
        let told = work(&place, &script);
        assert!(told.contains(expected), "{script}: {told}");
    }
}

/// The log of a branch that is kept under another name has all of its past, of which the folder has most.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_is_kept_apart_counts_for_what_is_new() {
    let place = repository();
    host(&place, "for n in $(seq 20); do git commit -q --allow-empty -m $n; done");
    place.ok(["pull", "--head"]);
    work(&place, "git commit -q --allow-empty -m inside");
    host(&place, "git commit -q --amend --allow-empty -m amended; git gc -q");
    let said = place.ok(["commit", "-w", "fix"]);
    assert!(said.contains("git: 2 commits on offshoot/fix/main, 1 new branch"), "{said}");
}

/// What a commit that nobody described is called.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_commit_is_called_by_what_was_done() {
    let place = repository();
    work(&place, "echo two >> Makefile; git commit -qam second");
    place.ok(["commit", "-w", "fix"]);
    let head = place.json(&["show", "head"]);
    assert_eq!(head["snapshot"]["message"], "fix: /Makefile", "{head}");
    let operation = &place.json(&["op", "log"])["operations"][0]["summary"];
    assert_eq!(operation, "commit fix (1 file)");
    work(&place, "git commit -q --allow-empty -m third");
    let said = place.ok(["commit", "-w", "fix"]);
    assert!(said.starts_with("committed fix: git only\n  git: 1 commit on main"), "{said}");
    let head = place.json(&["show", "head"]);
    assert_eq!(head["snapshot"]["message"], "fix: git only", "{head}");
}

/// The lines below the heading of a status, up to what stays.
fn listed(status: &str) -> Vec<&str> {
    status.lines().filter(|line| line.starts_with("  ")).collect()
}

/// What `workspace list` says about how much changed.
fn changes(place: &Place) -> String {
    let text = place.ok(["workspace", "list"]);
    let line = text.lines().find(|line| line.starts_with("fix ")).unwrap();
    line.split("  ").map(str::trim).filter(|part| !part.is_empty()).nth(1).unwrap().to_owned()
}

/// However it is asked, there is as much of everything.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn numbers_agree_wherever_they_are_said() {
    let place = repository();
    host(&place, "ln Makefile same; git add -A; git commit -qm linked");
    work(&place, WORK);
    // Two names of one file are two files.
    work(
        &place,
        "mkdir -p target/debug/empty node_modules/left/empty; cp -p same other; mv other same",
    );
    let status = place.ok(["status", "-w", "fix"]);
    let lines = listed(&status);
    // A source file, dependencies, git, and two files with other links.
    assert_eq!(lines.len(), 4, "{status}");
    assert!(status.contains("  /node_modules/ 3 files\n"), "{status}");
    assert!(
        status.contains("  2 files with metadata only   (--metadata lists them)\n"),
        "{status}"
    );
    assert!(status.contains("stays: 12 files (ignored"), "{status}");
    assert_eq!(changes(&place), "4 changes");
    assert_eq!(place.json(&["workspace", "list"])["workspaces"][0]["listed_changes"], 4);
    let list = review_list(&place);
    assert!(list.contains("/node_modules/ 3 files\n"), "{list}");
    assert!(list.contains("/target/ 12 files  (stays: ignored)\n"), "{list}");
    assert!(
        list.contains("2 files with metadata only   (`offshoot status --metadata -w fix`"),
        "{list}"
    );
    // Three of four are left, of what has an id.
    let said = place.ok(["review", "-w", "fix", "--drop", "/node_modules"]);
    assert!(said.contains("0 accepted, 1 dropped, 0 edited, 3 undecided;"), "{said}");
    assert_eq!(changes(&place), "3 changes");
    let status = place.ok(["status", "-w", "fix"]);
    assert!(status.contains("last: review: 1 dropped in fix\n"), "{status}");
    place.ok(["undo", "-w", "fix"]);
    let heading = "1 modified, 2 with metadata only\n";
    let dry = place.ok(["commit", "-w", "fix", "--dry-run"]);
    assert!(dry.contains(&format!("would commit fix: {heading}")), "{dry}");
    assert!(
        dry.contains("2 files with metadata only   (`offshoot status --metadata -w fix`"),
        "{dry}"
    );
    let done = place.ok(["commit", "-w", "fix"]);
    assert!(done.contains(&format!("committed fix: {heading}")), "{done}");
    assert_eq!(changes(&place), "no changes");
    place.ok(["undo", "-w", "fix"]);
    let status = place.ok(["status", "-w", "fix"]);
    assert_eq!((listed(&status).len(), changes(&place)), (4, "4 changes".to_owned()), "{status}");
}

/// A ref is what it leads to, in whichever file.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn packing_refs_moves_none() {
    let place = repository();
    let first = work(&place, "git branch side; git tag v1");
    assert!(first.contains("git: 1 new branch, 1 new tag\n"), "{first}");
    for pack in ["git pack-refs --all", "git gc -q", "git update-ref refs/heads/side main"] {
        let told = work(&place, pack);
        for wrong in ["branch", "deleted", "moved", "tag"] {
            assert!(!told.contains(wrong), "{pack}: {told}");
        }
    }
    place.ok(["commit", "-w", "fix"]);
    work(&place, "git pack-refs --all");
    assert_eq!(changes(&place), "no changes");
    let status = place.ok(["status", "-w", "fix"]);
    assert!(status.contains("nothing changed\n"), "{status}");
    // One that was in the list alone gets a file of its own, and is not new by that.
    let told = work(&place, "echo x >> Makefile; git commit -qam third");
    assert!(told.contains("git: 1 commit on main\n"), "{told}");
    let told = work(&place, "git branch -D side");
    assert!(told.contains("git: 1 branch deleted\n"), "{told}");
}
