//! A disk that is full while a command runs.

use offshoot_needs::needs;
use offshoot_tests::image::{LoopImage, MountGuard};
use serde_json::{Value, json};

use crate::scene::{Scene, Who, envelope_of};

/// A vault on a small disk that a command has just filled, with room to spare in a file.
struct Full {
    scene: Scene,
    /// The answer of that command.
    envelope: Value,
    mount: MountGuard,
}

impl Full {
    fn new() -> Self {
        let mut scene = Scene::new(Who::Me);
        let mount = LoopImage::create(32 << 20).unwrap().mount().unwrap();
        scene.set("OFFSHOOT_HOME", mount.path().join("home"));
        scene.place.write("file.txt", "file\n");
        scene.bind();
        std::fs::write(mount.path().join("spare"), vec![7; 2 << 20]).unwrap();
        let script = "echo small > small; dd if=/dev/urandom of=large bs=64k count=4096 status=none; echo $?";
        let output = scene.exec_command(&["-w", "real"], &["sh", "-c", script]).output().unwrap();
        Self { envelope: envelope_of(&output), scene, mount }
    }

    /// Makes room outside of the vault.
    fn spare(&self) {
        std::fs::remove_file(self.mount.path().join("spare")).unwrap();
    }
}

/// The command hears of it, the caller hears of it, and with some room everything goes on.
#[needs(LoopMount, Overlay, UserNamespace)]
#[test]
fn the_vault_stays_usable() {
    let full = Full::new();
    let (scene, envelope) = (&full.scene, &full.envelope);
    let result = &envelope["result"];
    assert!(result["stderr"].as_str().unwrap().contains("No space left on device"), "{envelope:#}");
    assert_eq!(result["stdout"], "1\n", "{envelope:#}");
    full.spare();
    let kept = scene.offshoot_ok(&["fs", "ls", "-w", "real"]);
    match &result["error"] {
        Value::Null => assert_eq!(kept, "file.txt\nlarge\nsmall\n", "{envelope:#}"),
        error => {
            assert_eq!(error["code"], "storage", "{envelope:#}");
            assert_eq!(kept, "file.txt\n", "{envelope:#}");
        }
    }
    scene.offshoot_ok(&["vault", "check"]);
    let again = scene.exec(&[], &["sh", "-c", "echo after > after; cat file.txt after"]);
    assert_eq!(again["result"]["stdout"], "file\nafter\n", "{again:#}");
    assert_eq!(again["success"], true, "{again:#}");
    scene.offshoot_ok(&["vault", "check"]);
}

/// An envelope with an error does not tell of changes that are not there.
#[needs(LoopMount, Overlay, UserNamespace)]
#[test]
fn what_is_not_kept_is_not_listed() {
    let full = Full::new();
    let result = &full.envelope["result"];
    assert_eq!(result["error"]["code"], "storage", "{result:#}");
    assert_eq!(result["changed_files"], json!([]), "{result:#}");
    assert_eq!(result["durability"], "none", "{result:#}");
    assert_eq!(result["snapshot_after"], result["snapshot_before"], "{result:#}");
}

/// What could not be kept is set aside, the envelope says how to go on, and with some room it is all there.
#[needs(LoopMount, Overlay, UserNamespace)]
#[test]
fn what_is_not_kept_can_be_recovered() {
    let full = Full::new();
    let (scene, result) = (&full.scene, &full.envelope["result"]);
    assert_eq!(result["recoverable"], true, "{result:#}");
    let exec = result["exec"].as_str().unwrap();
    let hint = result["error"]["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("offshoot recover keep {}", &exec[..12])), "{hint}");
    // Nothing is lost by trying too early.
    drop(scene.offshoot(&["recover", "keep", exec]).output().unwrap());
    full.spare();
    let listed = scene.offshoot_ok(&["recover", "list", "--json"]);
    assert!(listed.contains(exec), "{listed}");
    scene.offshoot_ok(&["recover", "keep", exec, "--name", "late"]);
    scene.offshoot_ok(&["checkpoint", "restore", "late", "-w", "real"]);
    assert_eq!(scene.offshoot_ok(&["fs", "cat", "/small", "-w", "real"]), "small\n");
    assert_eq!(scene.offshoot_ok(&["fs", "ls", "-w", "real"]), "file.txt\nlarge\nsmall\n");
    scene.offshoot_ok(&["vault", "check"]);
}

/// What is set aside and not wanted gives its room back, unless objects name it already: then it waits to be collected.
#[needs(LoopMount, Overlay, UserNamespace)]
#[test]
fn what_is_dropped_takes_no_room() {
    let full = Full::new();
    let result = &full.envelope["result"];
    let exec = result["exec"].as_str().unwrap();
    full.spare();
    let listed = full.scene.offshoot_ok(&["recover", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let sealed = listed["result"]["recoverable"][0]["sealed"] == true;
    let free = || rustix::fs::statvfs(full.mount.path()).unwrap().f_bavail;
    let before = free();
    full.scene.offshoot_ok(&["recover", "drop", exec]);
    let given_back = free().saturating_sub(before);
    assert!(sealed || given_back > 1_000, "{given_back} blocks, sealed: {sealed}");
    let again = full.scene.exec(&[], &["sh", "-c", "echo after > after"]);
    assert_eq!(again["success"], true, "{again:#}");
    full.scene.offshoot_ok(&["vault", "check"]);
}

/// On a disk without a block left, dropping what a command left is what gives room.
#[needs(LoopMount, Overlay, UserNamespace)]
#[test]
fn what_is_left_can_be_dropped_on_a_full_disk() {
    let full = Full::new();
    let result = &full.envelope["result"];
    let exec = result["exec"].as_str().unwrap();
    let hint = result["error"]["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("offshoot recover drop {}", &exec[..12])), "{hint}");
    for size in [1 << 20, 4096, 512] {
        let path = full.mount.path().join(format!("fill-{size}"));
        let mut file = std::fs::File::create(path).unwrap();
        while std::io::Write::write_all(&mut file, &vec![7; size]).is_ok() {}
    }
    full.scene.offshoot_ok(&["recover", "drop", exec]);
    full.scene.offshoot_ok(&["gc", "--keep-operations", "0", "--keep-age", "0s"]);
    let found = rustix::fs::statvfs(full.mount.path()).unwrap();
    assert!(found.f_bavail * found.f_frsize > 8 << 20, "{} blocks", found.f_bavail);
    let again = full.scene.exec(&[], &["sh", "-c", "echo after > after"]);
    assert_eq!(again["success"], true, "{again:#}");
    full.scene.offshoot_ok(&["vault", "check"]);
}
