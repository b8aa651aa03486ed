//! What git remembers of commits leads nobody on the host to a file that was held: branches that are checked out, names of Offshoot's own,
//! logs, indexes, files such as `ORIG_HEAD`, submodules, and repositories that are new.

use offshoot_needs::needs;

use crate::git_scene::{HISTORY, project};
use crate::scene::{Scene, Who};

/// Everything that a repository on the host leads to, by any name that git knows.
const FILES: &str = "for at in . lib wt nested; do
    test -e $at/.git || continue
    ids=$(cd $at; git for-each-ref --format='%(refname)'; git reflog show --all --format=%H; git rev-parse --verify -q HEAD || :
        find \"$(git rev-parse --git-common-dir)\" -path '*/logs/*' -type f -exec cut -d' ' -f1,2 {} +
        cat \"$(git rev-parse --absolute-git-dir)\"/*_HEAD 2>/dev/null | cut -c1-40)
    for id in $ids; do git -C $at ls-tree -r --name-only $id 2>/dev/null || :; done
    git -C $at ls-files
    done | sort -u";

/// Makes a file that something on the host obeys, and commits it.
const EVIL: &str = "echo evil > .envrc; git add -f .envrc; git commit -qm evil";

const SWITCHING: &str = "switching to it brings files that this machine would run";

/// What the command did leads nowhere, and all else came.
fn leads_nowhere(scene: &Scene, script: &str) -> String {
    scene.work(&format!("({script}); date +%N > came"));
    let said = scene.done(&["commit"]);
    assert_eq!(scene.host("cat came"), scene.work("cat came"), "{script}");
    let files = scene.host(FILES);
    assert!(!files.contains("envrc"), "{script}\n{said}\n{files}");
    scene.host("test ! -e .gitmodules || git submodule --quiet update 2>/dev/null || :
        for at in . lib wt nested; do test ! -e $at/.git || (cd $at; git checkout -q . 2>/dev/null || :; git checkout -q -m -- . 2>/dev/null || :; git reset -q --hard 2>/dev/null || :); test ! -e $at/.envrc; done");
    said
}

/// Both sides moved the branch, or the workspace has none: the commit is kept by a name of Offshoot's own only if it brings nothing.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn names_of_offshoots_own_lead_to_no_trusted_file() {
    for (mine, theirs) in [
        ("git commit -q --allow-empty -m mine", EVIL.to_owned()),
        (
            "git commit -q --allow-empty -m mine",
            format!("{EVIL}; git rm -q --cached .envrc; rm .envrc"),
        ),
        ("true", EVIL.to_owned()),
        ("true", format!("{EVIL}; git rm -q --cached .envrc; rm .envrc")),
        ("true", format!("git checkout -q --detach; {EVIL}")),
        (
            "git commit -q --allow-empty -m mine",
            format!("git checkout -q --detach; {EVIL}; git rm -q --cached .envrc; rm .envrc"),
        ),
    ] {
        let scene = project(Who::Me, HISTORY);
        scene.host(mine);
        let said = leads_nowhere(&scene, &theirs);
        assert!(said.contains(SWITCHING), "{theirs}\n{said}");
        assert_eq!(scene.host("git for-each-ref | wc -l"), "1\n", "{theirs}");
        // Objects that the folder has by now are no way around it, if the workspace has lost them.
        leads_nowhere(&scene, "evil=$(git log --all --reflog --grep '^evil' -1 --format=%H); git switch -qf main; git log -1 --format=%s | grep -qv evil || git reset -q --hard HEAD~1
            rm -f .envrc; git update-ref refs/heads/later $evil; rm -f .git/objects/$(echo $evil | sed 's|^..|&/|')");
        scene.done(&["commit", "--allow", "git", "--allow", "trusted"]);
        assert!(scene.host(FILES).contains(".envrc"), "{theirs}");
    }
    // Others are kept as always.
    let scene = project(Who::Me, HISTORY);
    scene.host("git commit -q --allow-empty -m mine");
    scene.work("echo theirs > a; git commit -qam theirs");
    scene.done(&["commit"]);
    assert_eq!(
        scene.host("git for-each-ref --format='%(refname)'"),
        "refs/heads/main\nrefs/heads/offshoot/w/main\n"
            .replace("/w/", &format!("/{}/", crate::scene::WORKSPACE))
    );
}

/// Files that are held, taken, or like others: the branch that is checked out goes with them.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_comes_with_what_somebody_takes() {
    let scene = project(
        Who::Me,
        "git init -q .; echo '{\"name\": \"x\"}' > package.json; echo mine > CLAUDE.md; git add -A; git commit -qm first; echo edited > CLAUDE.md",
    );
    // Nothing new is run by it, or the folder has it already.
    scene.work("echo '{\"name\": \"x\", \"version\": \"2\"}' > package.json; git commit -qam version; git branch other");
    let said = scene.done(&["commit"]);
    assert!(!said.contains("stays"), "{said}");
    assert_eq!(
        scene.host("git log -1 --format=%s other; git status --porcelain; cat CLAUDE.md"),
        "version\nedited\n"
    );
    scene.work(EVIL);
    assert!(scene.done(&["commit", "--dry-run"]).contains(SWITCHING));
    scene.done(&["commit", "--take", ".envrc"]);
    assert_eq!(
        scene.host("git log -1 --format=%s; git ls-files .envrc; cat .envrc"),
        "evil\n.envrc\nevil\n"
    );
    // In a further working tree as well.
    let scene = project(
        Who::Me,
        "git init -q ../main; cd ../main; echo one > a; git add a; git commit -qm first; git worktree add -q -b side ../project",
    );
    scene.work(EVIL);
    assert!(scene.done(&["commit"]).contains(SWITCHING));
    assert_eq!(
        scene.host("git log -1 --format=%s --all; ls -A .envrc 2>/dev/null || :"),
        "first\n"
    );
    scene.done(&["commit", "--take", ".envrc"]);
    assert_eq!(
        scene.host("git log -1 --format=%s; git status --porcelain; cat .envrc"),
        "evil\nevil\n"
    );
    // What somebody takes is what they see.
    let scene = project(Who::Me, HISTORY);
    scene.work(&format!("{EVIL}; echo fine > .envrc"));
    scene.done(&["commit", "--take", ".envrc"]);
    assert_eq!(
        scene.host("cat .envrc; git checkout -q .; git log --format=%s -1 --all; cat .envrc"),
        "fine\nsecond\nfine\n"
    );
}

/// Logs and files that name commits; what ordinary work leaves there comes as always.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn logs_and_pointers_lead_to_no_trusted_file() {
    for script in [
        format!("{EVIL}; git reset -q --hard HEAD~1; echo 2 >> a; git commit -qam fine"),
        format!("{EVIL}; git rm -q --cached .envrc; rm .envrc; git commit -q --amend -m fine --allow-empty"),
        format!("git switch -qc topic; {EVIL}; git reset -q --hard HEAD~1; echo 2 >> a; git commit -qam fine; git switch -q main"),
        format!("git switch -qc gone; {EVIL}; e=$(git rev-parse HEAD); git switch -q main; git branch -qD gone
            for name in FETCH_HEAD ORIG_HEAD MERGE_HEAD AUTO_MERGE CHERRY_PICK_HEAD BISECT_HEAD; do echo $e > .git/$name; done"),
        format!("git switch -qc gone; {EVIL}; e=$(git rev-parse HEAD); git switch -q main; git branch -qD gone; echo $e > .git/ORIG_HEAD; echo $e > .git/FETCH_HEAD
            for name in notes/commits bisect/bad worktree/w custom/z heads/offshoot/w/main; do git update-ref refs/$name $e; done"),
    ] {
        leads_nowhere(&project(Who::Me, HISTORY), &script);
    }
    let scene = project(Who::Me, HISTORY);
    scene.work("echo 2 >> a; git commit -qam lost; git reset -q --hard HEAD~1; echo 3 >> a; git commit -qam kept; cp .git/ORIG_HEAD said");
    let said = scene.done(&["commit"]);
    assert!(!said.contains("stays"), "{said}");
    assert_eq!(
        scene.host("git log -g --format=%s -3; cmp said .git/ORIG_HEAD"),
        "kept\nsecond\nlost\n"
    );
}

/// Git goes back by what a log says was left, whatever that is.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn git_goes_back_to_no_trusted_file() {
    let here = [(HISTORY.to_owned(), "."), (HISTORY.to_owned(), "new")];
    for (make, at) in checkouts().into_iter().chain(here) {
        let scene = project(Who::Me, &make);
        let first = "git init -q .; echo x > b; git add b; git commit -qm b";
        let first = if at == "new" { first } else { "true" };
        scene.work(&format!(
            "mkdir -p {at}; cd {at}; {first}; echo 2 > more; git add more; git commit -qm more; h=$(git rev-parse HEAD)
             e=$(git commit-tree -p HEAD -m evil $(printf '100644 blob %s\\t.envrc\\n' $(echo evil | git hash-object -w --stdin) | git mktree))
             log=$(git rev-parse --git-dir)/logs/HEAD; short=$(echo $e | cut -c1-12); git branch $e $h; git branch $short $h
             for x in $e $e^0 $e~0 \"$e^{{commit}}\" $short v1-1-g$short \":/evil\" gone; do
                 printf '%s %s u <u@x> 1700000000 +0000\\tcheckout: moving from %s to main\\n' $h $h \"$x\" >> $log; done
             printf '%s %s u <u@x> 1700000000 +0000checkout: moving from %s to main\\n' $h $h $e >> $log
             test $(for n in $(seq 9); do git ls-tree --name-only @{{-$n}} 2> /dev/null || :; done | grep -c envrc) -eq 2
             git switch -qc kept; git switch -q - 2> /dev/null || git switch -q @{{-1}}"
        ));
        scene.done(&["commit"]);
        let back = format!(
            "cd {at}; for n in $(seq 9); do git ls-tree --name-only @{{-$n}} 2> /dev/null || :; done | grep envrc || :
             git branch -qD $(git branch --format='%(refname:short)' | grep -E '^[0-9a-f]{{12,}}$') 2> /dev/null || :
             for n in $(seq 9); do git ls-tree --name-only @{{-$n}} 2> /dev/null || :; done | grep envrc || :
             git rev-parse --abbrev-ref @{{-1}}; git checkout -q -; test ! -e .envrc"
        );
        assert_eq!(scene.host(&back), "kept\n", "{at}");
    }
}

/// Git moves the branch that such a file names in place of the file.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn pointers_name_no_branches() {
    let scene = project(
        Who::Me,
        &format!("{HISTORY}; git branch other HEAD~1; git worktree add -q -b side wt"),
    );
    scene.work(
        "for at in . worktrees/wt; do echo 'ref: refs/heads/other' > .git/$at/ORIG_HEAD; done; echo ok > new",
    );
    let said = scene.done(&["commit"]);
    assert!(said.contains("stays: 2 files (git would run or obey them"), "{said}");
    assert_eq!(
        scene.host("cat new; git reset -q --hard HEAD; git -C wt reset -q --hard HEAD; git log -1 --format=%s other"),
        "ok\nfirst\n"
    );
}

/// A submodule, a repository among the files, and a further working tree, with where they are.
fn checkouts() -> [(String, &'static str); 3] {
    let inner =
        "git init -q ../src; cd ../src; echo one > s; git add s; git commit -qm s; cd \"$OLDPWD\"";
    let submodule = format!(
        "{HISTORY}; {inner}; git -c protocol.file.allow=always submodule --quiet add \"$PWD/../src\" lib; git commit -qm lib; git -C lib switch -qc topic"
    );
    let nested = format!("{HISTORY}; {inner}; git clone -q ../src nested");
    let linked = format!("{HISTORY}; git worktree add -q -b side wt");
    [(submodule, "lib"), (nested, "nested"), (linked, "wt")]
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn checkouts_below_a_folder_lead_to_no_trusted_file() {
    for (make, at) in &checkouts() {
        let at = *at;
        for script in [
            EVIL.to_owned(),
            format!("{EVIL}; git rm -q --cached .envrc; rm .envrc"),
            "echo evil > .envrc; git add -f .envrc".to_owned(),
            "echo evil > .envrc; git add -f .envrc; rm .envrc".to_owned(),
            format!("git checkout -q --detach; {EVIL}; rm .envrc"),
            format!(
                "{EVIL}; git reset -q --hard HEAD~1; echo 2 > more; git add more; git commit -qm fine"
            ),
        ] {
            let scene = project(Who::Me, make);
            leads_nowhere(&scene, &format!("cd {at}; {script}"));
        }
        if at == "lib" {
            let scene = project(Who::Me, make);
            leads_nowhere(
                &scene,
                &format!("cd lib; {EVIL}; cd ..; git add lib; git commit -qm moved"),
            );
            let scene = project(Who::Me, make);
            leads_nowhere(
                &scene,
                &format!(
                    "cd lib; {EVIL}; git reset -q --hard HEAD~1; cd ..; git update-index --cacheinfo 160000,$(git -C lib rev-parse 'HEAD@{{1}}'),lib"
                ),
            );
        }
        // Ordinary work comes.
        let scene = project(Who::Me, make);
        scene.work(&format!("cd {at}; echo 2 > more; git add more; git commit -qm fine"));
        scene.done(&["commit"]);
        assert_eq!(
            scene.host(&format!("cd {at}; git log -1 --format=%s; git status --porcelain")),
            "fine\n",
            "{at}"
        );
    }
}

/// An index that is split over files, and one with what ignore files ignore.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn indexes_lead_to_no_trusted_file() {
    for script in [
        "echo evil > .envrc; git add -f .envrc; git update-index --split-index; rm .envrc",
        "git update-index --split-index; echo evil > .envrc; git add -f .envrc; rm .envrc",
        "echo evil > .envrc; git add -f .envrc",
        "ln -s /etc/passwd out; git add -f out; rm out",
        // What a conflict was resolved from.
        "for side in one two; do git switch -qc $side main; echo $side > .envrc; git add -f .envrc; git commit -qm $side; done
         git merge -q one > /dev/null 2>&1 || :; git add -f .envrc; git symbolic-ref HEAD refs/heads/main; git rm -q --cached .envrc
         rm .envrc .git/MERGE_*; git ls-files --resolve-undo | grep -q .envrc; echo n > n; git add n",
    ] {
        let scene = project(
            Who::Me,
            &format!("{HISTORY}; echo .envrc >> .gitignore; git commit -qam ignored"),
        );
        leads_nowhere(&scene, script);
        assert_eq!(scene.host("git ls-files out"), "", "{script}");
    }
}

/// One that the folder does not have, at the top or among the files: it stays if what is checked out has such a file, and comes without other
/// refs and lines that lead to one.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn new_repositories_lead_to_no_trusted_file() {
    let first = "git init -q .; echo x > b; git add b; git commit -qm b";
    let gone = "git rm -q --cached .envrc; rm .envrc";
    for at in [".", "nested"] {
        for (script, stays) in [
            (format!("{first}; {EVIL}"), true),
            (format!("{first}; {EVIL}; {gone}"), true),
            (format!("{first}; echo evil > .envrc; git add -f .envrc; rm .envrc"), true),
            (
                format!(
                    "{first}; {EVIL}; {gone}; git commit -qm gone; git branch old HEAD~1; git branch -q older HEAD~1; git pack-refs --all"
                ),
                false,
            ),
            (format!("{first}; echo evil > .envrc; git add -f .envrc; git stash -q"), false),
            (format!("{first}; echo evil > .envrc; git stash -qu"), false),
            (
                format!("{first}; {EVIL}; {gone}; git commit -q --amend -m fine --allow-empty"),
                false,
            ),
            (
                format!(
                    "{first}; {EVIL}; git update-ref refs/remotes/origin/other HEAD; git reset -q --hard HEAD~1"
                ),
                false,
            ),
        ] {
            let scene = project(Who::Me, "echo x > a");
            let said = leads_nowhere(&scene, &format!("mkdir -p {at}; cd {at}; {script}"));
            let told = said.contains("its commits or its index have files");
            assert_eq!(told, stays, "{script}\n{said}");
            let test = if stays { "test ! -e .git" } else { "git fsck --strict; git log -1" };
            scene.host(&format!("cd {at} 2>/dev/null || exit 0; {test}"));
            scene.done(&["commit", "--take", if at == "." { ".git" } else { "nested/.git" }]);
            scene.host(&format!("cd {at}; git fsck --strict; git log -1"));
        }
    }
    // What the folder has is no reason.
    let scene = project(Who::Me, "echo mine > .envrc; ln -s b l; echo '{}' > package.json");
    scene.work(&format!("{first}; git add -A; git commit -qm all; git stash list"));
    let said = scene.done(&["commit"]);
    assert!(!said.contains("its commits or its index"), "{said}");
    assert_eq!(scene.host("git ls-files; git status --porcelain"), ".envrc\nb\nl\npackage.json\n");
}

/// A submodule that is made ready inside, with such a file.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn new_submodules_lead_to_no_trusted_file() {
    let make = format!("{HISTORY}; git init -q ../src; cd ../src; echo one > s; {EVIL}; cd \"$OLDPWD\"
        git clone -q --bare ../src store.git; echo store.git > .git/info/exclude
        git -c protocol.file.allow=always submodule --quiet add \"file://$PWD/store.git\" lib; git commit -qm lib
        git submodule --quiet deinit -f lib; rm -rf .git/modules");
    let scene = project(Who::Me, &make);
    scene.work("git -c protocol.file.allow=always submodule --quiet update --init; test -e lib/.envrc; echo ok > came");
    let said = scene.done(&["commit"]);
    assert!(said.contains("stays"), "{said}");
    scene.host(
        "test -e came; test ! -e lib/.git; test ! -e lib/.envrc; test ! -e .git/modules/lib/HEAD",
    );
}
