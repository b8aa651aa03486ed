//! Objects that a workspace tells git to take for others: git would obey that in the folder.

use offshoot_needs::needs;

use crate::seen::{FIX, whole, world};
use crate::world::{Side, World};

/// Makes git take other bytes for those of a file.
const REPLACE: &str =
    "git replace $(git rev-parse HEAD:a) $(echo other | git hash-object -w --stdin)";
const REFS: &str = "git for-each-ref --format='%(refname)'; git replace -l; git show HEAD:a";

fn is_held(world: &World) -> bool {
    let said = ["status", "commit"].map(|command| match command {
        "commit" => world.done(&["commit", "-w", "fix", "--dry-run"]),
        command => world.done(&[command, "-w", "fix"]),
    });
    let is_told = said.each_ref().map(|said| said.contains("--allow git commits it"));
    assert_eq!(is_told[0], is_told[1], "{said:#?}");
    is_told[0]
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_replacement_stays_in_the_workspace() {
    for pack in ["true", "git pack-refs --all"] {
        let world = world();
        world.ok(FIX, "echo n > n; git add n; git commit -qm new; git branch topic");
        world.ok(FIX, &format!("{REPLACE}; {pack}"));
        assert!(is_held(&world), "{pack}");
        world.done(&["commit", "-w", "fix"]);
        let refs = "refs/heads/main\nrefs/heads/topic\n";
        assert_eq!(world.ok(Side::Folder, REFS), format!("{refs}one\n"), "{pack}");
        whole(&world);
        assert_eq!(world.ok(FIX, "git show HEAD:a"), "other\n", "{pack}");
        assert!(is_held(&world), "{pack}");
        world.done(&["commit", "-w", "fix", "--allow", "git"]);
        assert_eq!(world.ok(Side::Folder, "git show HEAD:a"), "other\n", "{pack}");
        assert!(!is_held(&world), "{pack}");
    }
}

#[needs(Overlay, UserNamespace, "git")]
#[test]
fn the_folders_own_replacements_stay() {
    let script = format!("git init -q .; echo one > a; git add a; git commit -qm first; {REPLACE}");
    for (pack, delete) in [("true", "true"), ("git pack-refs --all", "git tag v1")] {
        let world = World::new(&format!("{script}; {pack}"), &["fix"]);
        let before = world.ok(Side::Folder, REFS);
        world.ok(FIX, &format!("{delete}; git pack-refs --all"));
        assert!(!is_held(&world), "packing changes nothing");
        world.ok(FIX, "git replace -d $(git rev-parse HEAD:a); git pack-refs --all");
        assert!(is_held(&world), "{pack}");
        world.product(&["commit", "-w", "fix"]);
        let after = world.ok(Side::Folder, "git tag -d v1 > /dev/null 2>&1 || true");
        assert_eq!(after + &world.ok(Side::Folder, REFS), before, "{pack}");
    }
}
