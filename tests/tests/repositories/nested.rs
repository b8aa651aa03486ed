//! Working trees below the folder, submodules and linked ones: each reaches the folder, stays, or goes as one whole.

use offshoot_needs::needs;

use crate::seen::FIX;
use crate::world::{Side, World};

/// A folder with a linked working tree `tree`.
const LINKED: &str = "git init -q .; echo one > a; git add a; git commit -qm first
    git worktree add -q -b side tree 2> /dev/null";
/// The same with a submodule.
const MODULE: &str = "git init -q ../lib; cd ../lib; echo one > a; git add a; git commit -qm first; cd ../project
    git init -q .; echo one > top; git add top; git commit -qm first
    git -c protocol.file.allow=always submodule --quiet add \"$PWD/../lib\" tree; git commit -qm modules";

const GO: [(&str, &str); 2] = [
    (LINKED, "git worktree remove tree; echo new > new"),
    (MODULE, "git rm -q tree; git commit -qm gone; echo new > new"),
];

/// What a person does in a working tree.
const MINE: [&str; 5] = [
    "echo mine > tree/mine; git -C tree add mine; git -C tree commit -qm mine",
    "echo mine > tree/mine; git -C tree add mine",
    "echo mine > tree/mine",
    "git -C tree commit -q --allow-empty -m mine",
    "git -C tree update-index --chmod=+x a",
];

const SEEN: &str = "git -C tree rev-parse --show-toplevel HEAD; git -C tree status --porcelain=v2; ls -A tree; cat tree/*";

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_with_newer_work_stays_whole_though_the_workspace_took_it_away() {
    for ((script, go), step) in GO.into_iter().zip([1, 3]) {
        let options = [&[][..], &["--allow", "git"]];
        for (mine, options) in MINE.iter().step_by(step).zip(options.iter().cycle()) {
            let world = World::new(script, &["fix"]);
            world.ok(FIX, go);
            world.ok(Side::Folder, mine);
            let before = world.ok(Side::Folder, SEEN);
            let said = world.done(&[&["commit", "-w", "fix"], *options].concat());
            assert!(said.contains("newer work in this working tree"), "{mine}: {said}");
            assert!(said.contains("/tree/.git"), "{mine}: {said}");
            assert_eq!(world.ok(Side::Folder, SEEN), before, "{mine}: {said}");
            assert_eq!(world.ok(Side::Folder, "cat new"), "new\n");
            assert_eq!(world.damage(Side::Folder), None);
            // The workspace has it again, so its next commit does not take it away unseen.
            assert_eq!(world.ok(FIX, SEEN), before, "{mine}: {said}");
            world.ok(FIX, "echo more > new");
            let said = world.done(&["commit", "-w", "fix"]);
            assert!(!said.contains("tree"), "{mine}: {said}");
            assert_eq!(world.ok(Side::Folder, SEEN), before, "{mine}: {said}");
        }
    }
}

/// Git itself has looked at the index, which is no work.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_without_goes_whole() {
    for (script, go) in GO {
        let world = World::new(script, &["fix"]);
        world.ok(FIX, go);
        world.ok(Side::Folder, "touch tree/a; git -C tree status > /dev/null");
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(!said.contains("stays"), "{said}");
        let left = "ls -A tree 2> /dev/null || true; ls .git/worktrees 2> /dev/null || true
            git worktree list | wc -l; git status --porcelain";
        assert_eq!(world.ok(Side::Folder, left), "1\n?? new\n", "{said}");
        assert_eq!(world.damage(Side::Folder), None);
        world.done(&["undo", "-w", "fix"]);
        world.ok(Side::Folder, "git -C tree status --porcelain; test $(git -C tree rev-parse --show-toplevel) = $PWD/tree");
    }
}

/// One whose `.git` file alone is gone keeps all its files.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_without_its_file_keeps_all_others() {
    for (script, _) in GO {
        let world = World::new(script, &["fix"]);
        let before = world.ok(Side::Folder, SEEN);
        world.ok(FIX, "rm tree/.git tree/a; echo x > tree/x; echo new > new");
        let said = world.done(&["commit", "-w", "fix"]);
        for path in ["/tree/.git", "/tree/a", "/tree/x"] {
            assert!(said.contains(path), "{said}");
        }
        assert_eq!(world.ok(Side::Folder, SEEN), before, "{said}");
        world.done(&["commit", "-w", "fix", "--allow", "git"]);
        assert_eq!(world.ok(Side::Folder, "ls -A tree; cat new"), "x\nnew\n");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_linked_one_that_is_new_stays_whole_or_comes_whole() {
    let world =
        World::new("git init -q .; echo one > a; git add a; git commit -qm first", &["fix"]);
    world.ok(
        FIX,
        "git worktree add -q -b side tree 2> /dev/null; cd tree; echo two > a; git commit -qam inside
         echo x > x; cd ..; echo new > new",
    );
    let author = ["--author", crate::world::AUTHOR];
    let commit = [&["commit", "-w", "fix", "--git"], &author[..]].concat();
    let said = world.done(&commit);
    assert!(said.contains("/tree/.git /tree/a"), "{said}");
    assert!(said.contains("--allow git"), "{said}");
    let state = "git status --porcelain; git ls-files; git worktree list | wc -l; git log -1 --format=%s side; ls -A";
    assert_eq!(
        world.ok(Side::Folder, state),
        "a\nnew\n1\ninside\n.git\na\nnew\n",
        "its commits came, and nothing else: {said}"
    );
    world.ok(FIX, "cd tree; test \"$(git status --porcelain)\" = '?? x'");
    let said = world.done(&[&commit[..], &["--allow", "git"]].concat());
    let state = "git ls-files; git worktree list | wc -l; cd tree; git status --porcelain; git log -1 --format=%s";
    assert_eq!(world.ok(Side::Folder, state), "a\nnew\n2\n?? x\ninside\n", "{said}");
    assert_eq!(world.damage(Side::Folder), None);
}

const MOVE: [(&str, &str); 2] = [
    (LINKED, "git worktree move tree moved; echo new > new"),
    (MODULE, "git mv tree moved; git commit -qm moved; echo new > new"),
];

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_is_moved_comes_whole() {
    for (script, go) in MOVE {
        let world = World::new(script, &["fix"]);
        let before = world.ok(Side::Folder, SEEN);
        world.ok(FIX, go);
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(!said.contains("stays"), "{said}");
        let moved = SEEN.replace("tree", "moved");
        // `show-toplevel` is the first word of it.
        assert_eq!(
            world.ok(Side::Folder, &moved),
            before.replacen("/tree\n", "/moved\n", 1),
            "{said}"
        );
        let state = "ls -A tree 2> /dev/null || true; git submodule status | cut -c1; git status --porcelain
            git worktree list | grep -c prunable || true";
        let modules = if script == MODULE { " \n" } else { "" };
        let status = if script == MODULE { "?? new\n" } else { "?? moved/\n?? new\n" };
        assert_eq!(world.ok(Side::Folder, state), format!("{modules}{status}0\n"), "{said}");
        world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.ok(Side::Folder, SEEN), before);
        assert_eq!(world.damage(Side::Folder), None);
    }
}

/// Where the person went on in it, and where somebody else's settings came along, neither place changes.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn one_that_is_moved_stays_whole_where_anything_is_in_the_way() {
    for (script, go) in MOVE {
        for (inside, mine) in [
            ("", "echo mine > tree/mine; git -C tree add mine"),
            ("", "mkdir moved; echo mine > moved/mine"),
            ("git -C moved config core.fsmonitor /tmp/x", ""),
        ] {
            if script == LINKED && !inside.is_empty() {
                // Those are the settings of the repository around it.
                continue;
            }
            let world = World::new(script, &["fix"]);
            world.ok(FIX, &format!("{go}; {inside}"));
            world.ok(Side::Folder, mine);
            let before = world.ok(Side::Folder, SEEN);
            let said = world.done(&["commit", "-w", "fix"]);
            for path in ["/tree/.git", "/moved/.git"] {
                assert!(said.contains(path), "{inside}{mine}: {said}");
            }
            assert_eq!(world.ok(Side::Folder, SEEN), before, "{inside}{mine}: {said}");
            world.ok(Side::Folder, "test ! -e moved/a; cat new");
        }
    }
}

/// Git cannot merge a submodule that both sides moved, so the way on is one that leaves it to the person.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_way_on_works_where_both_sides_moved_a_submodule() {
    for options in [&["--git", "--author", crate::world::AUTHOR][..], &[]] {
        let world = World::new(MODULE, &["fix"]);
        let moved = |name: &str| {
            format!(
                "cd tree; git checkout -q main; echo {name} > {name}; git add .; git commit -qm {name}; cd ..
                 git commit -qam {name}-up"
            )
        };
        world.ok(FIX, &format!("{}; echo new > new", moved("inside")));
        world.ok(Side::Folder, &moved("mine"));
        let document = world.document(&[&["commit", "-w", "fix"], options].concat());
        let notes = document["result"]["repositories"].as_array().unwrap();
        let ways = notes.iter().filter(|note| note["name"] == "refs/heads/main");
        // The repository of the submodule comes last.
        for (note, at) in ways.zip([".", "tree"]) {
            let commands = note["way_on"]["commands"].as_array().unwrap().iter();
            let commands: Vec<&str> = commands.map(|it| it.as_str().unwrap()).collect();
            let said = world.typed(&format!("cd {at}; {}", commands.join(" && ")));
            assert!(said.is_well(), "{note:#}: {said:#?}");
        }
        let state = "for at in . tree; do git -C $at for-each-ref --format='%(refname:short)' --no-merged HEAD; done
             git log --format=%s | grep -c -e mine-up -e inside-up; git -C tree log --format=%s | grep -c -e mine -e inside; cat new";
        let left = world.ok(Side::Folder, state);
        assert_eq!(left, "2\n2\nnew\n", "{document:#}");
    }
}
