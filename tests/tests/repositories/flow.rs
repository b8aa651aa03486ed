//! What stands in the way of a branch, and the ways on that are told: each works as it is printed.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

/// A rebase of `topic` that stopped with a conflict, and a workspace of that.
fn rebasing() -> World {
    let world = world();
    world.ok(
        Side::Folder,
        "git checkout -qb topic; echo topic > a; git commit -qam topic
         echo new > n; git add n; git commit -qm more
         git checkout -q main; echo main > a; git commit -qam main; git checkout -q topic
         ! git rebase -q main 2> /dev/null",
    );
    world.done(&["pull", "-w", "fix"]);
    world.place.ok(["workspace", "create", "agent"]);
    world
}

const AGENT: Side = Side::Workspace("agent");
const RESOLVED: &str = "echo both > a; git add a; git rebase --continue > /dev/null 2>&1";

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_rebase_that_the_workspace_finished_is_finished() {
    let world = rebasing();
    world.ok(AGENT, RESOLVED);
    let said = world.done(&["commit", "-w", "agent"]);
    assert!(!said.contains("stays"), "{said}");
    let state = "git status --porcelain; git symbolic-ref HEAD; git log --format=%s; test ! -e .git/rebase-merge";
    assert_eq!(
        world.ok(Side::Folder, state),
        "refs/heads/topic\nmore\ntopic\nmain\nfirst\n",
        "{said}"
    );
    whole(&world);
    let status = world.done(&["status", "-w", "agent"]);
    assert!(status.contains("nothing changed") && !status.contains("stays"), "{status}");
    // And back, with what was in progress.
    world.done(&["undo", "-w", "agent"]);
    whole(&world);
    let again = "test -e .git/rebase-merge; git log -1 --format=%s topic; git ls-files -u | wc -l";
    assert_eq!(world.ok(Side::Folder, again).replace(' ', ""), "more\n3\n");
    world.ok(Side::Folder, RESOLVED);
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_is_not_moved_under_a_rebase() {
    let world = rebasing();
    let before = world.ok(Side::Folder, "git rev-parse topic");
    world.ok(AGENT, RESOLVED);
    world.ok(Side::Folder, "echo other > o; git add o");
    let said = world.done(&["commit", "-w", "agent"]);
    assert_eq!(world.ok(Side::Folder, "git rev-parse topic"), before, "{said}");
    assert!(said.contains("topic is being rebased, so yours stays"), "{said}");
    let way = printed(&said, "to take it instead");
    let agents = world.ok(AGENT, "git rev-parse topic");
    assert_eq!(world.ok(Side::Folder, "git rev-parse offshoot/agent/topic"), agents);
    world.ok(Side::Folder, &format!("{way} 2> /dev/null; git diff --quiet HEAD"));
    let at = "git symbolic-ref --short HEAD; git rev-parse topic";
    assert_eq!(world.ok(Side::Folder, at), format!("topic\n{agents}"));
    whole(&world);
}

/// The person's own end of it is undisturbed as well.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_rebase_goes_on_after_a_commit() {
    let world = rebasing();
    world.ok(AGENT, "echo both > a; git add a; git rebase --continue > /dev/null 2>&1; git rm -q n; git commit -qm less");
    world.ok(Side::Folder, "echo other > o; git add o");
    world.done(&["commit", "-w", "agent"]);
    world.ok(Side::Folder, "git add a; git rebase --continue > /dev/null 2>&1");
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "more\n");
    whole(&world);
}

/// What waits in the workspace never reaches the folder, so no option is named that would bring it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn no_option_brings_an_unfinished_rebase_home() {
    let world = world();
    world.ok(
        FIX,
        "git checkout -qb topic; echo topic > a; git commit -qam topic; git checkout -q main
         echo main > a; git commit -qam main; git checkout -q topic; ! git rebase -q main 2> /dev/null",
    );
    for arguments in [&["status", "-w", "fix"][..], &["commit", "-w", "fix", "--allow", "markers"]]
    {
        let said = world.done(arguments);
        assert!(said.contains("rebase-merge") && !said.contains("--allow git"), "{said}");
    }
    world.ok(Side::Folder, "test ! -e .git/rebase-merge");
    whole(&world);
}

const SEARCH: &str = "for n in 1 2 3 4; do echo $n > a; git commit -qam $n; done
    git bisect start > /dev/null; git bisect bad > /dev/null; git bisect good HEAD~4 > /dev/null";

/// A search that goes on in the folder, whoever else ended it or never knew of it: the branch stays, and what is printed ends the search
/// and merges the workspace's commit. No file of either side changes, nor what is staged.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_search_keeps_its_branch_and_leaves_a_way_on() {
    // The workspace has the search, and ends it.
    let ended = world();
    ended.ok(Side::Folder, SEARCH);
    ended.done(&["pull", "-w", "fix"]);
    ended.place.ok(["workspace", "create", "agent"]);
    ended.ok(
        AGENT,
        "git bisect reset 2> /dev/null; echo 5 >> a; echo n > n; git add n; git commit -qam agent",
    );
    // It is older than the search.
    let older = world();
    older.ok(Side::Folder, "for n in 1 2 3 4; do echo $n > a; git commit -qam $n; done");
    older.done(&["pull", "-w", "fix"]);
    older.place.ok(["workspace", "create", "agent"]);
    older.ok(AGENT, "echo n > n; echo 21 >> b; git add n; git commit -qam agent");
    older.ok(Side::Folder, "git bisect start HEAD HEAD~4 > /dev/null");
    for (world, a) in [(ended, "4\n5\n"), (older, "4\n")] {
        world.ok(Side::Folder, "echo other > o; git add o");
        let before = world.ok(Side::Folder, "git rev-parse main");
        let said = world.done(&["commit", "-w", "agent"]);
        assert!(said.contains("main is where git bisect started"), "{said}");
        assert_eq!(world.ok(Side::Folder, "git rev-parse main"), before, "{said}");
        whole(&world);
        let agents = world.ok(AGENT, "git rev-parse main").trim().to_owned();
        let told = run_printed(&world, printed(&said, "to merge it"));
        let state = "git symbolic-ref HEAD; git status --porcelain; cat a n o";
        let expected = format!("refs/heads/main\nA  o\n{a}n\nother\n");
        assert_eq!(world.ok(Side::Folder, state), expected, "{said}\n{told}");
        world.ok(
            Side::Folder,
            &format!("{IS_IN_MAIN} {agents} main; ! git bisect log 2> /dev/null"),
        );
        whole(&world);
    }
}

/// A workspace that merged the folder's branch brings its own into the folder, also where both changed the same file.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_has_the_folders_goes_on() {
    let world = world();
    world.ok(FIX, "sed -i s/^3$/theirs/ b; echo n > n; git add n; git commit -qam theirs");
    world.ok(Side::Folder, "sed -i s/^18$/mine/ b; git commit -qam mine");
    world.done(&["pull", "-w", "fix"]);
    world.ok(FIX, "git checkout -q .; git clean -fdq; git merge -q offshoot/folder/main");
    let merged = world.ok(FIX, "git rev-parse main");
    let said = world.done(&["commit", "-w", "fix"]);
    for side in [Side::Folder, FIX] {
        assert_eq!(world.ok(side, "git rev-parse main; git status --porcelain"), merged, "{said}");
    }
    // The name that the folder's was kept under does not come to the folder.
    world.ok(FIX, "echo on > on; git add on; git commit -qm on");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git branch --format='%(refname:short)'"), "main\n");
    whole(&world);
}

/// The command that is printed between backquotes after some words.
fn printed<'s>(said: &'s str, words: &str) -> &'s str {
    let line = said.lines().find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("{words}: {said}"));
    let command = line.split('`').rev().nth(1);
    command.unwrap_or_else(|| panic!("no command: {line}"))
}

/// Runs a printed command in the folder as it is.
fn run_printed(world: &World, command: &str) -> String {
    let said = world.typed(command);
    assert!(said.is_well(), "{command}: {said:#?}");
    said.out
}

const IS_IN_MAIN: &str = "git merge-base --is-ancestor";

/// A staged file keeps the branch where it is; the way on that is told leads to the workspace's commit and leaves the file staged.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_staged_file_leaves_a_way_on() {
    for also in ["", "git commit -qm mine", "git commit -qm mine; echo edit >> b; echo more > m"] {
        let world = world();
        world.ok(FIX, "sed -i s/^3$/theirs/ b; echo n > n; git add n; git commit -qam theirs");
        let theirs = world.ok(FIX, "git rev-parse main").trim().to_owned();
        world.ok(Side::Folder, "echo staged >> a; git add a");
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(said.contains("HEAD and index stay as they are: a is staged there"), "{said}");
        world.ok(Side::Folder, also);
        let before = world.ok(Side::Folder, "cat a b n; cat m 2> /dev/null || true");
        let way = printed(&said, "to merge it");
        let told = run_printed(&world, way);
        world.ok(Side::Folder, &format!("{IS_IN_MAIN} {theirs} main"));
        assert_eq!(
            world.ok(Side::Folder, "cat a b n; cat m 2> /dev/null || true"),
            before,
            "{told}"
        );
        let left = match also {
            "" => "M  a\n",
            "git commit -qm mine" => "",
            _ => " M b\n?? m\n",
        };
        assert_eq!(world.ok(Side::Folder, "git status --porcelain"), left, "{also}: {told}");
        assert_eq!(world.ok(Side::Folder, "git branch --format='%(refname:short)'"), "main\n");
        assert!(!told.contains("offshoot/fix/main, 1 new"), "{told}");
        whole(&world);
        // The workspace is where the folder is.
        if !also.is_empty() && !also.contains("more") {
            let heads = "git rev-parse main; git status --porcelain";
            assert_eq!(world.ok(FIX, heads), world.ok(Side::Folder, heads), "{told}");
            let status = world.done(&["status", "-w", "fix"]);
            assert!(status.contains("nothing changed"), "{status}");
        }
        // And back.
        world.done(&["undo", "-w", "fix"]);
        whole(&world);
    }
}

/// Where both changed one file, and one of them only staged it, that comes first.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_staged_in_the_same_file_is_committed_first() {
    let world = world();
    world.ok(FIX, "sed -i s/^3$/theirs/ b; git commit -qam theirs");
    let theirs = world.ok(FIX, "git rev-parse main").trim().to_owned();
    world.ok(Side::Folder, "sed -i s/^18$/mine/ b; git add b");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("to merge it: `git commit && offshoot"), "{said}");
    run_printed(&world, printed(&said, "to merge it"));
    world.ok(Side::Folder, &format!("{IS_IN_MAIN} {theirs} main"));
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "");
    whole(&world);
}

/// A file that was taken back since is not committed unseen.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_is_not_in_the_folder_is_not_merged() {
    let world = world();
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo staged >> a; git add a");
    let said = world.done(&["commit", "-w", "fix"]);
    world.ok(Side::Folder, "rm n; git config user.name A; git config user.email a@example.org");
    let refused = world.typed(printed(&said, "to merge it"));
    assert_eq!(refused.code, Some(4), "{refused:#?}");
    assert!(refused.err.contains("the folder does not have its n"), "{refused:#?}");
    assert_eq!(
        world.ok(Side::Folder, "git log --format=%s; git status --porcelain"),
        "first\nM  a\n"
    );
    // What is printed instead records the folder as it is.
    run_printed(&world, printed(&refused.err, "with the files as they are"));
    let theirs = world.ok(FIX, "git rev-parse main").trim().to_owned();
    world.ok(Side::Folder, &format!("{IS_IN_MAIN} {theirs} main; test ! -e n"));
    assert_eq!(world.ok(Side::Folder, "git status --porcelain"), "");
}

/// What is printed takes the file that was held back, so that nobody is led in a circle.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_file_that_is_held_back_comes_with_its_commit() {
    let world = world();
    world.ok(FIX, "echo 'export A=1' > .envrc; echo n > n; git add .; git commit -qm theirs");
    let theirs = world.ok(FIX, "git rev-parse main").trim().to_owned();
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("--git --take /.envrc`"), "{said}");
    assert_eq!(world.ok(Side::Folder, "git for-each-ref | wc -l"), "1\n", "{said}");
    // Who leaves that out is told of it as well.
    let said = world.done(&["commit", "-w", "fix", "--git", "-m", "x", "--author", AUTHOR]);
    assert!(said.contains("--git --take /.envrc`"), "{said}");
    world.ok(Side::Folder, "test ! -e .envrc; test -e n");
    run_printed(&world, printed(&said, "to merge it"));
    world.ok(Side::Folder, &format!("{IS_IN_MAIN} {theirs} main; test -e .envrc"));
    whole(&world);
}

/// The same for several: without one of them the commit stays apart.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn all_files_that_are_held_back_come_with_their_commit() {
    for (files, option) in [
        (".envrc CLAUDE.md", "--take /.envrc --take /CLAUDE.md`"),
        (".envrc AGENTS.md CLAUDE.md GEMINI.md", "--git --allow trusted`"),
    ] {
        let world = world();
        let work = format!(
            "for f in {files} n; do echo '# A' > $f; done; git add .; git commit -qm theirs"
        );
        world.ok(FIX, &work);
        let theirs = world.ok(FIX, "git rev-parse main").trim().to_owned();
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(said.contains(option), "{said}");
        run_printed(&world, printed(&said, "to merge it"));
        let state = format!("git rev-parse main; git status --porcelain; ls {files} > /dev/null");
        assert_eq!(world.ok(Side::Folder, &state), format!("{theirs}\n"), "{said}");
        whole(&world);
    }
}

/// What two workspaces committed to one branch is told of once, with the way on that settles it.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_branch_that_two_workspaces_moved_is_told_of_once() {
    let world = world();
    let two = Side::Workspace("two");
    world.place.ok(["workspace", "create", "two"]);
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    world.ok(two, "echo m > m; git add m; git commit -qm others");
    world.done(&["commit", "-w", "fix"]);
    world.done(&["commit", "-w", "two"]);
    let said = world.done(&["status", "-w", "two"]);
    assert_eq!(said.matches("was moved on both sides").count(), 1, "{said}");
    assert!(!said.contains("-s ours"), "{said}");
    run_printed(&world, printed(&said, "to merge it"));
    let said = world.done(&["status", "-w", "two"]);
    assert!(said.contains("nothing changed") && !said.contains("both sides"), "{said}");
    let heads = "git rev-parse main; git status --porcelain";
    assert_eq!(world.ok(two, heads), world.ok(Side::Folder, heads));
    whole(&world);
}

/// The workspace has the git commit that was made of its work, so that its next one holds nothing twice.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_workspace_has_the_git_commit_of_its_work() {
    let world = world();
    let commit = ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];
    world.ok(FIX, "echo two >> a; echo new > n");
    world.done(&commit);
    let heads = "git rev-parse HEAD main; git status --porcelain; git log -1 --format=%s";
    assert_eq!(world.ok(FIX, heads), world.ok(Side::Folder, heads));
    world.ok(FIX, "echo three >> b; git commit -qam next");
    assert_eq!(world.ok(FIX, "git show --format= --name-only"), "b\n");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, "git log --format=%s"), "next\nby offshoot\nfirst\n");
    // The commit and what the workspace got of it are one. Commands that only looked may have changed an index.
    let undone = (0..8).map(|_| world.done(&["undo", "-w", "fix"]));
    let said = undone.into_iter().find(|said| said.contains("undone: commit fix: by offshoot"));
    assert!(said.is_some(), "the commit was not undone");
    let first = "git log --format=%s; ls; git status --porcelain";
    assert_eq!(world.ok(Side::Folder, first), "first\na\nb\n");
    world.done(&["redo", "-w", "fix"]);
    assert_eq!(world.ok(FIX, heads), world.ok(Side::Folder, heads));
    whole(&world);
}

/// One account of commits of both sides.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_merge_is_told_as_it_is() {
    let world = world();
    world.ok(FIX, "echo n > n; git add n; git commit -qm theirs");
    world.ok(Side::Folder, "echo m > m; git add m; git commit -qm mine");
    let said = world.done(&["commit", "-w", "fix", "--git", "-m", "both", "--author", AUTHOR]);
    assert!(said.contains("it merges offshoot/fix/main, which is gone"), "{said}");
    assert!(!said.contains("new branch") && !said.contains("stay as they are"), "{said}");
    let heads = "git rev-parse main; git status --porcelain";
    assert_eq!(world.ok(FIX, heads), world.ok(Side::Folder, heads), "{said}");
}

/// After a pull that met commits of both sides, or a staged file, the way on that is told works inside.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_pull_leaves_a_way_on() {
    for (work, is_staged) in
        [("sed -i s/^3$/theirs/ b; git commit -qam theirs", false), ("echo h > h; git add h", true)]
    {
        let world = world();
        world.ok(FIX, work);
        world
            .ok(Side::Folder, "sed -i s/^18$/mine/ b; echo m > m; git add m; git commit -qam mine");
        let mine = world.ok(Side::Folder, "git rev-parse main").trim().to_owned();
        let said = world.done(&["pull", "-w", "fix"]);
        let way = printed(&said, "with the files as they are");
        let inside = way.strip_prefix("offshoot exec -w fix --shell '");
        let way = inside.and_then(|way| way.strip_suffix('\'')).unwrap_or_else(|| panic!("{said}"));
        assert_eq!(way.starts_with("git commit && git merge"), is_staged, "{said}");
        let way = format!("export GIT_EDITOR=\"sed -i '1i typed'\"; {way}");
        world.ok(FIX, &format!("{way} > /dev/null; {IS_IN_MAIN} {mine} HEAD"));
        assert_eq!(world.ok(FIX, "git status --porcelain; cat m"), "m\n");
        let said = world.done(&["commit", "-w", "fix"]);
        let heads = "git rev-parse main; git status --porcelain";
        assert_eq!(world.ok(FIX, heads), world.ok(Side::Folder, heads), "{said}");
        whole(&world);
    }
}

/// A log that both sides write does not stand in the way that is told.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn ignored_files_do_not_stand_in_the_way_on() {
    let world = World::new(
        "git init -q .; echo '*.log' > .gitignore; echo one > a; echo two > b; git add -A; git commit -qm first",
        &["fix"],
    );
    world.ok(FIX, "echo agent > a; git commit -qam theirs; echo inside >> build.log");
    world.ok(Side::Folder, "echo me > b; git commit -qam mine; echo outside >> build.log");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(!said.contains("conflict"), "{said}");
    run_printed(&world, printed(&said, "to merge it"));
    assert_eq!(world.ok(FIX, "cat build.log a b"), "inside\nagent\nme\n");
    assert_eq!(world.ok(Side::Folder, "cat build.log a b"), "outside\nagent\nme\n");
    assert_eq!(world.ok(Side::Folder, "git branch --format='%(refname:short)'"), "main\n");
    whole(&world);
}
