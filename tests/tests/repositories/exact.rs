//! `undo` of `commit --git` takes back all that it did to the folder's repository, and `redo` brings exactly that again.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{AUTHOR, Side, World};

const COMMIT_GIT: [&str; 8] =
    ["commit", "-w", "fix", "--git", "-m", "by offshoot", "--author", AUTHOR];

/// A history of both sides before `commit --git`.
struct History {
    person: &'static str,
    agent: &'static str,
}

const BOTH: &str = "echo theirs > a; git commit -qam theirs; echo wip > wip";

/// Commits with git, and takes that back and forth. Gives what the first undo said.
fn back_and_forth(world: &World) -> String {
    let before = [world.state(Side::Folder), world.state(FIX)];
    world.done(&COMMIT_GIT);
    let after = [world.state(Side::Folder), world.state(FIX)];
    assert_ne!(before[0], after[0]);
    let mut first = None;
    for _ in 0..2 {
        let said = world.done(&["undo", "-w", "fix"]);
        assert_eq!(world.state(Side::Folder), before[0], "{said}");
        assert_eq!(world.state(FIX), before[1], "{said}");
        assert!(!said.contains("stay"), "{said}");
        whole(world);
        first.get_or_insert(said);
        let said = world.done(&["redo", "-w", "fix"]);
        assert_eq!(world.state(Side::Folder), after[0], "{said}");
        assert_eq!(world.state(FIX), after[1], "{said}");
        assert!(!said.contains("stay"), "{said}");
        whole(world);
    }
    first.unwrap()
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn all_of_a_git_commit_is_taken_back() {
    let histories = [
        // Only commits, only files, and both.
        History { person: "", agent: "echo theirs > a; git commit -qam theirs" },
        History { person: "", agent: "echo wip > wip" },
        History { person: "", agent: BOTH },
        History { person: "", agent: "echo theirs > a; git commit -qam theirs; echo more >> a" },
        // Elsewhere as well, or only there.
        History {
            person: "git branch side",
            agent: "echo theirs > a; git commit -qam theirs; git checkout -q side; echo s > s
                git add s; git commit -qm side; git tag v1; git checkout -q main; echo wip > wip",
        },
        History {
            person: "",
            agent: "git checkout -qb topic; echo theirs > a; git commit -qam theirs; echo wip > wip",
        },
        // Without a branch, on both sides or inside.
        History { person: "git checkout -q --detach", agent: BOTH },
        History {
            person: "",
            agent: "git checkout -q --detach; echo theirs > a; git commit -qam theirs; echo wip > wip",
        },
        // With something of the person's that is staged, changed or new.
        History { person: "echo staged >> b; git add b; echo new > new", agent: BOTH },
        History { person: "echo changed >> b; git pack-refs --all", agent: BOTH },
        // A first commit.
        History { person: "git checkout -q --orphan empty; git rm -rfq .", agent: "echo wip > wip" },
    ];
    for History { person, agent } in histories {
        let world = world();
        world.ok(Side::Folder, person);
        world.done(&["pull", "-w", "fix"]);
        world.ok(FIX, agent);
        back_and_forth(&world);
    }
}
