//! What only works with the settings that say so reaches the folder with them, or not at all: other formats, objects that lie elsewhere.

use offshoot_needs::needs;

use crate::seen::FIX;
use crate::world::{Side, World};

const ONE: &str = "git init -q .; for f in a b; do echo $f > $f; done; git add -A; git commit -qm first; git branch keep";
/// Other refs, which needs a git that can do it.
const MIGRATE: &str =
    "rm -rf .git/logs; git -c core.logAllRefUpdates=false refs migrate --ref-format=reftable";
const BACK: &str = "git -c core.logAllRefUpdates=false refs migrate --ref-format=files";
const COMMIT: &str =
    "echo new > new; git add new; git -c core.logAllRefUpdates=false commit -qm theirs";
const REFS: &str = "git for-each-ref; git rev-parse HEAD; git symbolic-ref HEAD";

fn can_migrate(world: &World) -> bool {
    let probe = format!("cd ..; git init -q probe; cd probe; {MIGRATE}");
    world.sh(Side::Folder, &probe).is_well()
}

/// A repository that was made inside stays where it would be broken without what is held back, and comes with that.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_new_repository_that_needs_its_settings_stays_whole() {
    for make in [
        "git init -q --object-format=sha256 n",
        "git init -q --ref-format=reftable n",
        "git clone -q -s . n",
        "git -c uploadpack.allowFilter=true clone -q --filter=blob:none \"file://$PWD\" n",
        "git init -q n; mv n/.git/refs n/.git/real; ln -s real n/.git/refs",
    ] {
        let world = World::new(ONE, &["fix"]);
        let work = "cd n; echo in > in; git add in; git commit -qm inner; git fsck --strict";
        let made = world.sh(FIX, &format!("{make} && {{ {work}; }}"));
        if make.contains("reftable") && !made.is_well() {
            continue;
        }
        assert!(made.is_well(), "{make}: {made:#?}");
        let said = world.done(&["commit", "-w", "fix"]);
        assert!(said.contains("the repository needs settings that git would obey"), "{said}");
        assert!(said.contains("--allow git commits them"), "{said}");
        assert_eq!(
            world.ok(Side::Folder, "cat n/in; ls -A n | grep .git || true"),
            "in\n",
            "{make}"
        );
        assert_eq!(world.damage(Side::Folder), None, "{make}");
        // The person may look around before.
        world.ok(Side::Folder, "cd n; git status");
        world.done(&["commit", "-w", "fix", "--allow", "git"]);
        assert_eq!(
            world.ok(
                Side::Folder,
                "cd n; git fsck --full --strict; git log -1 --format=%s; git status --porcelain"
            ),
            "inner\n",
            "{make}"
        );
    }
}

/// One that works without its settings reaches the folder by itself.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_new_repository_that_needs_nothing_comes_home() {
    let world = World::new(ONE, &["fix"]);
    world
        .ok(FIX, "git clone -q \"file://$PWD\" n; cd n; git sparse-checkout set --no-cone /a; git fsck --strict");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(
        world.ok(Side::Folder, "cd n; git log -1 --format=%s; git fsck --strict"),
        "first\n"
    );
}

/// Branches whose objects are left out come with the settings that say where they are.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn branches_without_their_objects_stay() {
    let script = format!(
        "{ONE}; git clone -q . store; echo store > .git/info/exclude
         cd store; git checkout -q -b feature; echo f > f; git add f; git commit -qm feature; git config uploadpack.allowFilter true; cd ..
         git remote add origin \"file://$PWD/store\""
    );
    let world = World::new(&script, &["fix"]);
    world.ok(FIX, "git fetch -q --filter=blob:none origin feature:feature; git fsck --strict");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("--allow git"), "{said}");
    assert_eq!(world.ok(Side::Folder, "git branch --list feature"), "");
    assert_eq!(world.damage(Side::Folder), None);
    world.done(&["commit", "-w", "fix", "--allow", "git"]);
    assert_eq!(world.ok(Side::Folder, "git checkout -q feature; cat f"), "f\n");
    assert_eq!(world.damage(Side::Folder), None);
}

/// Refs in another format come with the settings that say so.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn refs_in_another_format_stay_without_their_settings() {
    let world = World::new(ONE, &["fix"]);
    if !can_migrate(&world) {
        return;
    }
    let before = world.ok(Side::Folder, REFS);
    world.ok(FIX, &format!("{MIGRATE}; {COMMIT}"));
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("--allow git") && !said.contains("deleted"), "{said}");
    assert_eq!(world.ok(Side::Folder, REFS), before);
    assert_eq!(world.damage(Side::Folder), None);
    assert_eq!(
        world.ok(Side::Folder, "cat new; ls .git/reftable 2>&1 || true").lines().next(),
        Some("new")
    );
    world.done(&["commit", "-w", "fix", "--allow", "git"]);
    let subjects = "git log --format=%s; git branch --format='%(refname)'; git fsck --strict; git status --porcelain";
    let after = "theirs\nfirst\nrefs/heads/keep\nrefs/heads/main\n";
    assert_eq!(world.ok(Side::Folder, subjects), after);
    world.done(&["undo", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, REFS), before);
    assert_eq!(world.damage(Side::Folder), None);
    world.done(&["redo", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, subjects), after);
    // And back again.
    world.ok(FIX, BACK);
    world.done(&["commit", "-w", "fix", "--allow", "git"]);
    assert_eq!(world.ok(Side::Folder, subjects), after);
    assert_eq!(world.damage(Side::Folder), None);
}

/// A workspace that could not take the folder's refs in does not know them.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn commits_outlive_a_format_that_changed_meanwhile() {
    let world = World::new(ONE, &["fix"]);
    if !can_migrate(&world) {
        return;
    }
    world.ok(FIX, &format!("{MIGRATE}; {COMMIT}"));
    world.ok(Side::Folder, "echo mine > mine; git add mine; git commit -qm mine");
    world.done(&["pull", "-w", "fix"]);
    assert_eq!(
        world.ok(FIX, "cat mine; git log -1 --format=%s; git fsck --strict"),
        "mine\ntheirs\n"
    );
    world.ok(FIX, "echo more > more");
    world.done(&["commit", "-w", "fix"]);
    let subjects = "cat more; git log --format=%s; git fsck --strict";
    assert_eq!(world.ok(Side::Folder, subjects), "more\nmine\nfirst\n");
    let refused = world.product(&["commit", "-w", "fix", "--allow", "git"]);
    assert_eq!(refused.code, Some(4), "{refused:#?}");
    assert!(refused.err.contains("in another way"), "{refused:#?}");
    assert_eq!(world.ok(Side::Folder, subjects), "more\nmine\nfirst\n");
    // As it was: both moved the branch.
    world.ok(FIX, BACK);
    world.done(&["commit", "-w", "fix", "--allow", "git"]);
    assert_eq!(world.ok(Side::Folder, subjects), "more\nmine\nfirst\n");
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s offshoot/fix/main"), "theirs\n");
    assert_eq!(world.damage(Side::Folder), None);
}

/// The same where the person changed the format.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn a_folder_in_another_format_loses_no_commits() {
    let world = World::new(ONE, &["fix", "idle"]);
    if !can_migrate(&world) {
        return;
    }
    world.ok(FIX, COMMIT);
    world.ok(Side::Workspace("idle"), "git status; echo idle > idle");
    world.ok(Side::Folder, &format!("{MIGRATE}; git commit -q --allow-empty -m mine"));
    let refused = world.product(&["commit", "-w", "fix"]);
    assert_eq!(refused.code, Some(4), "{refused:#?}");
    let said = world.done(&["pull", "-w", "fix"]);
    assert!(said.contains("in another way"), "{said}");
    assert_eq!(world.ok(FIX, "git log -1 --format=%s; git fsck --strict"), "theirs\n");
    // One that did nothing in git brings its files, and follows.
    world.done(&["commit", "-w", "idle"]);
    for side in [Side::Folder, Side::Workspace("idle")] {
        assert_eq!(
            world.ok(side, "cat idle; git log -1 --format=%s; git fsck --strict"),
            "idle\nmine\n"
        );
    }
    // The workspace's refs in the same format are still others.
    world.ok(FIX, MIGRATE);
    assert_eq!(world.product(&["commit", "-w", "fix", "--allow", "git"]).code, Some(4));
    assert_eq!(world.ok(Side::Folder, "git log -1 --format=%s"), "mine\n");
}

/// A branch that only stands for another one is checked out together with that.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn what_a_symbolic_branch_leads_to_is_checked_out() {
    let script =
        format!("{ONE}; git symbolic-ref refs/heads/trunk refs/heads/main; git checkout -q trunk");
    let world = World::new(&script, &["fix"]);
    world.ok(FIX, "echo two >> a; git commit -qam theirs");
    world.ok(Side::Folder, "echo staged >> b; git add b");
    let said = world.done(&["commit", "-w", "fix"]);
    assert!(said.contains("offshoot/fix/main"), "{said}");
    let state = "git log -1 --format=%s; git diff --cached --name-only; cat .git/HEAD";
    assert_eq!(world.ok(Side::Folder, state), "first\nb\nref: refs/heads/trunk\n");
    // Without anything staged both branches and the checkout come.
    let world = World::new(&script, &["fix"]);
    world.ok(FIX, "echo two >> a; git commit -qam theirs");
    world.done(&["commit", "-w", "fix"]);
    assert_eq!(world.ok(Side::Folder, state), "theirs\nref: refs/heads/trunk\n");
    assert_eq!(
        world.ok(
            Side::Folder,
            "git status --porcelain; git rev-parse main trunk HEAD | uniq | wc -l"
        ),
        "1\n"
    );
}

/// Tables of objects name others: those of two sides never mix.
#[needs(Overlay, UserNamespace, "git")]
#[test]
fn tables_of_objects_are_each_sides_own() {
    let tables = "git commit-graph write --reachable --split=no-merge 2> /dev/null; git repack -qd; git multi-pack-index write";
    let world = World::new(&format!("{ONE}; {tables}"), &["fix"]);
    world.ok(
        Side::Folder,
        &format!("echo mine > mine; git add mine; git commit -qm mine; {tables}"),
    );
    world.ok(FIX, &format!("{COMMIT}; git commit-graph write --reachable --split=replace 2> /dev/null; git repack -qad; git multi-pack-index write"));
    world.done(&["commit", "-w", "fix"]);
    world.done(&["pull", "-w", "fix"]);
    for side in [Side::Folder, FIX] {
        let said = world.sh(
            side,
            "git commit-graph verify && git multi-pack-index verify && git log --all --format=%s",
        );
        assert!(said.is_well() && !said.err.contains("unable"), "{side:?}: {said:#?}");
        assert_eq!(world.damage(side), None);
    }
}
