//! Programs that remember what they saw of files see no difference when layers were merged.

use offshoot_needs::needs;
use serde_json::Value;

use crate::scene::{Scene, WORKSPACE, Who};

/// Merges all layers of the workspace and says in which way.
fn merge(scene: &Scene) -> String {
    let all = ["vault", "compact", "--all", "-w", WORKSPACE, "--json"];
    let done: Value = serde_json::from_str(&scene.offshoot_ok(&all)).unwrap();
    let stack = &done["result"]["stacks"][0];
    assert!(stack["layers_before"].as_u64() > stack["layers_after"].as_u64(), "{done}");
    stack["way"].as_str().unwrap().to_owned()
}

#[needs(Overlay, DataLayers, UserNamespace, "git")]
#[test]
fn git_reads_nothing_again() {
    git(Who::Me);
}

#[needs(Overlay, DataLayers, UserNamespace, "git")]
#[test]
fn git_reads_nothing_again_for_an_ordinary_user() {
    git(Who::Ordinary);
}

fn git(who: Who) {
    let mut scene = Scene::new(who);
    for part in ["AUTHOR", "COMMITTER"] {
        scene.set(&format!("GIT_{part}_NAME"), "Ann");
        scene.set(&format!("GIT_{part}_EMAIL"), "ann@example.org");
    }
    scene.set("GIT_CONFIG_NOSYSTEM", "1");
    for number in 0..40 {
        scene.place.write(format!("src/file{number}.txt"), format!("{number}\n").repeat(50));
    }
    scene.bind();
    scene.inside("git init -q -b main .; git add -A; git commit -qm first");
    scene.inside("for n in 1 2 3; do echo more >> src/file$n.txt; done; git commit -qam second");
    scene.inside(
        "rm src/file4.txt; mkdir lib; echo new > lib/new; git add -A; git commit -qm third",
    );
    // `diff-files` names each file whose stat is not as in the index; `status` writes the index where it had to look.
    let look = "git diff-files --name-only; git status --porcelain; cksum < .git/index";
    let before = scene.inside(look);
    assert_eq!(before.out.lines().count(), 1, "{before:?}");
    assert_eq!(merge(&scene), "merge");
    assert_eq!(scene.inside(look), before);
    scene.inside("for n in 1 2 3; do seq 700000 > big$n; echo $n >> big$n; done; git add -A; git commit -qm big");
    scene.inside("echo more >> big1; git commit -qam more");
    let before = scene.inside(look);
    assert_eq!(before.out.lines().count(), 1, "{before:?}");
    assert_eq!(merge(&scene), "flatten");
    assert_eq!(scene.inside(look), before);
    assert_eq!(scene.inside("git fsck --strict; git diff HEAD --stat").out, "");
}

#[needs(Overlay, DataLayers, UserNamespace, "make")]
#[test]
fn make_builds_nothing_again() {
    let scene = Scene::new(Who::Me);
    scene.place.write("Makefile", "all: big.out small.out\n%.out: %.in\n\tcp $< $@\n");
    scene.place.write("big.in", "x".repeat(12 << 20));
    scene.place.write("small.in", "x");
    scene.bind();
    scene.inside("make");
    scene.inside("echo changed >> small.in; make");
    scene.inside("touch big.in; make");
    assert_eq!(merge(&scene), "flatten");
    assert!(scene.inside("make").out.contains("Nothing to be done"));
    assert_eq!(scene.inside("touch small.in; make").out, "cp small.in small.out\n");
}

#[test]
fn cargo_builds_nothing_again() {
    let scene = crate::cargo::project();
    scene.inside("cargo build -q --offline");
    scene.inside("sed -i 's/number [*] 2/number * 3/' base/src/lib.rs; cargo build -q --offline");
    scene.inside("cargo build -q --offline --release");
    merge(&scene);
    let again = scene.inside("cargo build -v --offline; target/debug/app");
    assert!(!again.err.contains("Compiling") && !again.err.contains("Dirty"), "{again:?}");
    assert!(again.err.contains("Fresh app") && again.out.starts_with("63 "), "{again:?}");
}
