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

/// A commit that is new on the way to another counts like that one: once it is in the host's history, anybody may go back to it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn older_commits_have_no_trusted_file() {
    let gone = "git rm -q .envrc; echo t > t; git add t; git commit -qm gone";
    for script in [
        format!("git switch -qc topic; {EVIL}; {gone}; git switch -q main"),
        format!("git switch -qc topic; {EVIL}; {gone}; git gc -q; git switch -q main"),
        format!(
            "git switch -qc side; {EVIL}; {gone}; git switch -qc topic main; git merge -q --no-ff -m merged side; git switch -q main; git branch -qD side"
        ),
        format!(
            "git switch -qc gone; {EVIL}; {gone}; git tag -a -m tagged topic; git switch -q main; git branch -qD gone"
        ),
        format!("git switch -q --orphan topic; {EVIL}; {gone}; git switch -q main"),
    ] {
        let scene = project(Who::Me, HISTORY);
        let said = leads_nowhere(&scene, &script);
        assert!(said.contains(SWITCHING), "{script}\n{said}");
        assert_eq!(scene.host("git for-each-ref --format='%(refname)'"), "refs/heads/main\n");
        leads_nowhere(
            &scene,
            "evil=$(git log --grep '^evil' --format=%H topic); git branch e1 $evil; git tag rel $evil; git switch -qc feature $evil
            echo f > f; git add f; git commit -qm feature; git switch -q main; echo $evil > .git/ORIG_HEAD",
        );
        leads_nowhere(
            &scene,
            "git merge -q --no-commit --allow-unrelated-histories -s ours topic; git commit -qm joined",
        );
        assert_eq!(scene.host("git log -1 --format=%s"), "second\n");
        scene.done(&["commit", "--allow", "git", "--allow", "trusted"]);
        assert_eq!(scene.host("git log -1 --format=%s"), "joined\n");
    }
    // The branch that is checked out.
    let scene = project(Who::Me, HISTORY);
    leads_nowhere(&scene, &format!("{EVIL}; {gone}"));
    assert_eq!(scene.host("git log -1 --format=%s"), "second\n");
}

/// Histories of many commits, from old ones on too, in a project whose own commits changed such files.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn long_histories_come() {
    let scene = project(
        Who::Me,
        &format!(
            "{HISTORY}; for i in 1 2 3 4; do echo $i > CLAUDE.md; git add -A; git commit -qm rules$i; done; git gc -q"
        ),
    );
    scene.work(
        "git switch -qc old HEAD~3; mkdir -p src/deep
        for i in $(seq 300); do echo $i > src/deep/f$i; echo $i > src/g; git add -A; git commit -qm $i; done
        git switch -qc joined main; git merge -q --no-ff -m joined old; git checkout -q main -- CLAUDE.md; git switch -q main
        echo more > more; git add more; git commit -qm more; git stash list; echo x > a; git stash -q",
    );
    let said = scene.done(&["commit"]);
    assert!(!said.contains("stays"), "{said}");
    assert_eq!(
        scene.host("git log -1 --format=%s; git log -1 --format=%s old; git log -1 --format=%s joined; git rev-list --count old; git stash list | wc -l"),
        "more\n300\njoined\n303\n1\n"
    );
}

/// What a submodule has is judged where it would be checked out, which `.gitmodules` and the index may change.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn submodules_elsewhere_lead_to_no_trusted_file() {
    let make = format!(
        "{HISTORY}; git init -q ../src; cd ../src; echo one > s; git add s; git commit -qm s; cd \"$OLDPWD\"
        git submodule --quiet add \"$PWD/../src\" lib; git commit -qm lib; git -C lib switch -qc topic"
    );
    let fill = "cd lib; mkdir rules; for f in settings.json tasks.json pre-commit e.yml mcp.json rules/r.mdc devcontainer.json workspace.xml config.toml; do echo '{}' > $f; done
        git add -A; git commit -qm filled; cd ..";
    let link = |to: &str| {
        format!(
            "id=$(git -C lib rev-parse HEAD); sed -i 's,path = lib,path = {to},' .gitmodules; git update-index --force-remove lib
            git update-index --add --cacheinfo 160000,$id,{to}; git add .gitmodules"
        )
    };
    let holds = |scene: &Scene, script: &str, to: &str| {
        scene.work(&format!("{script}; date +%N > came"));
        let said = scene.done(&["commit"]);
        assert_eq!(scene.host("cat came"), scene.work("cat came"), "{script}");
        let host = scene.host(&format!(
            "git ls-files -s {to}; git ls-tree HEAD {to}; git submodule --quiet update 2>/dev/null || :; ls -A {to} 2>/dev/null || :"
        ));
        assert_eq!(host, "", "{to}: {script}\n{said}");
    };
    for to in [
        ".claude",
        ".vscode",
        ".husky",
        ".github/workflows",
        ".cursor",
        ".devcontainer",
        ".idea",
        ".cargo",
    ] {
        let scene = project(Who::Me, &make);
        holds(&scene, &format!("{fill}; {}; git commit -qm moved", link(to)), to);
    }
    // The host has had the commit for long, at a path where it is like any other.
    let scene = project(Who::Me, &make);
    scene.work(&format!("{fill}; git add lib; git commit -qm filled"));
    scene.done(&["commit"]);
    assert_eq!(
        scene.host("git log -1 --format=%s; git -C lib log -1 --format=%s"),
        "filled\nfilled\n"
    );
    holds(&scene, &format!("{}; git commit -qm moved", link(".claude")), ".claude");
    // Nor is it an excuse that a file like any other is the same.
    let scene = project(Who::Me, &make);
    scene.work("for f in settings.json tasks.json; do echo '{}' > $f; done");
    scene.done(&["commit"]);
    holds(
        &scene,
        &format!(
            "cd lib; cp ../settings.json .; git add -A; git commit -qm filled; cd ..; {}; git commit -qm moved",
            link(".claude")
        ),
        ".claude",
    );
    // In the index alone, and one that nobody has.
    let scene = project(Who::Me, &make);
    holds(&scene, &format!("{fill}; {}", link(".claude")), ".claude");
    let scene = project(Who::Me, &make);
    holds(
        &scene,
        "git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,.claude; git commit -qm unknown",
        ".claude",
    );
    // A move like any other comes.
    let scene = project(Who::Me, &make);
    scene.work(&format!("{}; git commit -qm moved", link("libs")));
    scene.done(&["commit"]);
    assert_eq!(scene.host("git log -1 --format=%s"), "moved\n");
}

/// A stash is merged by what it was made of: files of a directory that was another one there follow it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn stashes_are_made_of_what_the_host_has() {
    let make = format!(
        "{HISTORY}; mkdir .github; seq 1 50 > .github/ISSUE_TEMPLATE.md; seq 5 60 > .github/FUNDING.yml; git add -A; git commit -qm github"
    );
    let scene = project(Who::Me, &make);
    scene.work(
        "export GIT_INDEX_FILE=/tmp/i; git read-tree HEAD
        for f in ISSUE_TEMPLATE.md FUNDING.yml; do git update-index --add --cacheinfo 100644,$(git rev-parse HEAD:.github/$f),x/$f; git update-index --force-remove .github/$f; done
        base=$(git write-tree); git update-index --add --cacheinfo 100644,$(echo 'on: push' | git hash-object -w --stdin),x/workflows/e.yml; all=$(git write-tree)
        unset GIT_INDEX_FILE; base=$(git commit-tree -p HEAD -m base $base); index=$(git commit-tree -p $base -m index $base^{tree})
        git stash store -m work $(git commit-tree -p $base -p $index -m work $all)",
    );
    let said = scene.done(&["commit"]);
    assert!(said.contains(SWITCHING), "{said}");
    assert_eq!(
        scene.host("git stash list; git stash pop 2>/dev/null || :; find . -name e.yml"),
        ""
    );
    // One that is made of a new branch comes with it.
    let scene = project(Who::Me, &make);
    scene.work("git switch -qc topic; echo 1 > new; git add new; git commit -qm new; echo 2 > new; git stash -q; git switch -q main");
    scene.done(&["commit"]);
    assert_eq!(scene.host("git switch -q topic; git stash pop -q; cat new"), "2\n");
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
        // A directory that a sparse checkout leaves out may be any.
        "mkdir z; echo 1 > z/1; git add z; git commit -qm z; git sparse-checkout set --cone --sparse-index d
        blob=$(echo evil | git hash-object -w --stdin); z=$(printf '100644 blob %s\\t.envrc\\n' $blob | git mktree)
        git read-tree -m $(git commit-tree -p HEAD -m x $(git ls-tree HEAD | sed \"s|tree .*\\tz$|tree $z\\tz|\" | git mktree)); git ls-files --sparse -s | grep $z",
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
    // What it leaves out lies where it lies, in a checkout that was sparse before.
    for to in ["z", ".vscode"] {
        let scene = project(
            Who::Me,
            &format!(
                "{HISTORY}; mkdir {to}; echo 1 > {to}/1; git add {to}; git commit -qm z; git sparse-checkout set --cone --sparse-index d"
            ),
        );
        let file = if to == "z" { ".envrc" } else { "tasks.json" };
        scene.work(&format!(
            "blob=$(echo evil | git hash-object -w --stdin); one=$(git rev-parse HEAD:{to}/1); z=$(printf '100644 blob %s\\t{file}\\n100644 blob %s\\t1\\n' $blob $one | git mktree)
            git read-tree -m $(git commit-tree -p HEAD -m x $(git ls-tree HEAD | sed \"s|tree .*\\t{to}$|tree $z\\t{to}|\" | git mktree)); git ls-files --sparse -s | grep $z; echo x > came"
        ));
        scene.done(&["commit"]);
        assert_eq!(
            scene.host(&format!("test -e came; git sparse-checkout disable; ls -A {to}")),
            "1\n"
        );
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
            (format!("{first}; {EVIL}; {gone}; git commit -qm gone"), true),
            (
                format!(
                    "{first}; {EVIL}; git branch old; git branch -q older; git reset -q --hard HEAD~1; git pack-refs --all"
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
