//! Writing through the real kernel's overlayfs, and adopting it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_store::{Id, ProcessMark, boot_id};
use offshoot_tests::image::private_mounts;
use offshoot_tests::scan::{CompareOptions, Scan};
use offshoot_tree::RootId;
use offshoot_vault::{Actor, Adopted, ExecNote, PlainAccess, Stack, Upper, UpperOwner, Vault};

use crate::support::{actor, assert_same, export, scanned};

/// What is noted about a command that nobody runs.
pub(crate) fn note(vault: &Vault, base: &RootId) -> ExecNote {
    let snapshot = vault.head().unwrap().id;
    ExecNote {
        exec: Id::random(),
        workspace: Id::random(),
        workspace_name: "work".to_owned(),
        snapshot,
        root: *base,
        layers: Vec::new(),
        command: "make".to_owned(),
        actor: Actor::user("tester"),
        started_ms: snapshot.time_ms(),
        boot: boot_id().to_owned(),
        process: ProcessMark::own(),
        init: None,
        read_only: false,
        copy: false,
        owner: UpperOwner::Exec,
        capture: None,
        joined: None,
        shared: false,
        variables: Vec::new(),
        trial: false,
        preset: None,
        layer: None,
    }
}

/// An overlay over a root, writing into a directory that is to be adopted.
pub(crate) struct Mounted {
    pub(crate) point: PathBuf,
    upper: Upper,
}

impl Mounted {
    pub(crate) fn new(vault: &Vault, base: &RootId, place: &Path) -> Self {
        Self::over(vault, vault.begin_upper(base).unwrap(), place)
    }

    /// Mounts a directory that may hold something already.
    pub(crate) fn over(vault: &Vault, mut upper: Upper, place: &Path) -> Self {
        upper.note(&note(vault, upper.base())).unwrap();
        assert!(upper.work_dir().is_dir());
        let point = place.join("point");
        fs::create_dir_all(&point).unwrap();
        mount(&upper_options(vault, &upper), upper.layers_dir(), &point);
        Self { point, upper }
    }

    pub(crate) fn unmount(self) -> Upper {
        unmount(&self.point);
        self.upper
    }
}

/// The options that mount an upper; names are relative to the directory of layers.
pub(crate) fn upper_options(vault: &Vault, upper: &Upper) -> String {
    let stack = vault.stack(upper.base(), &[]).unwrap();
    assert_eq!(stack.layers_dir, upper.layers_dir());
    format!(
        "userxattr,volatile,lowerdir={},upperdir={},workdir={}",
        lower_option(&stack),
        upper.fs_name(),
        upper.work_name()
    )
}

/// What a stack is called in the options of a mount.
fn lower_option(stack: &Stack) -> String {
    let data: String = stack.data.iter().map(|name| format!("::{name}")).collect();
    stack.names.join(":") + &data
}

fn mount(options: &str, layers: &Path, point: &Path) {
    let mut mount = Command::new("mount");
    mount.args(["-t", "overlay", "overlay", "-o", options]).arg(point).current_dir(layers);
    assert!(mount.status().unwrap().success());
}

/// Programs that other tests start hold what this one had open, for a moment, so not only one try.
fn unmount(point: &Path) {
    let unmounted = || Command::new("umount").arg(point).status().unwrap().success();
    let tried = (0..100).any(|_| {
        let done = unmounted();
        if !done {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        done
    });
    assert!(tried, "{} stays in use", point.display());
}

/// Has what is mounted from here on seen by this test alone. Needs root.
pub(crate) fn mounts_of_ones_own() {
    private_mounts().unwrap();
}

/// Links into lower layers are split by overlayfs itself, owners are the vault's on disk, and sockets are not kept.
pub(crate) fn as_mounted() -> CompareOptions {
    CompareOptions { owners: false, hard_links: false, special: false, ..CompareOptions::default() }
}

/// Adopts what `work` writes; the adopted root must be what was seen while it was mounted.
pub(crate) fn adopted(
    vault: &Vault,
    base: &RootId,
    place: &Path,
    work: impl FnOnce(&Path),
) -> RootId {
    let mounted = Mounted::new(vault, base, place);
    work(&mounted.point);
    let seen = scanned(&mounted.point);
    let adopted = vault.adopt(mounted.unmount(), &PlainAccess).unwrap();
    check_adopted(vault, adopted, &seen, place, &as_mounted())
}

/// The same where what was written is copied first, while it is still mounted.
pub(crate) fn adopted_copy(
    vault: &Vault,
    base: &RootId,
    place: &Path,
    work: impl FnOnce(&Path),
) -> RootId {
    let Mounted { point, upper } = Mounted::new(vault, base, place);
    work(&point);
    let (seen, first) = (scanned(&point), upper.dir());
    let copy = upper.into_copy(vault, &PlainAccess).unwrap();
    unmount(&point);
    assert!(!first.exists());
    let adopted = vault.adopt(copy, &PlainAccess).unwrap();
    check_adopted(vault, adopted, &seen, place, &as_mounted())
}

/// Records what was adopted; it must be what was seen, exported and mounted again.
pub(crate) fn check_adopted(
    vault: &Vault,
    adopted: Adopted,
    seen: &Scan,
    place: &Path,
    options: &CompareOptions,
) -> RootId {
    vault.transact("test", &actor(), |tx| adopted.record(tx)).unwrap();
    let root = adopted.root;
    adopted.settle().unwrap();
    let kept = export(vault, &root, &place.join(format!("kept-{root}")));
    assert_same(seen, &scanned(&kept), options);
    assert_same(seen, &shown(vault, &root, place), &as_mounted());
    root
}

/// What the stack of a root shows when it is mounted.
pub(crate) fn shown(vault: &Vault, root: &RootId, place: &Path) -> Scan {
    let (point, nothing) = (place.join("shown"), place.join("nothing"));
    fs::create_dir_all(&point).unwrap();
    fs::create_dir_all(&nothing).unwrap();
    let stack = vault.stack(root, &[]).unwrap();
    for layer in &stack.directories {
        let inside = fs::read_dir(layer.parent().unwrap()).unwrap().count();
        assert_eq!(inside, 1, "a sealed layer holds its files and nothing else");
    }
    // An overlay without an upper needs two layers at least, and bytes are found for the lowest alone.
    let lower = match stack.data.is_empty() {
        true => format!("{}:{}", lower_option(&stack), nothing.display()),
        false => lower_option(&stack),
    };
    mount(&format!("ro,userxattr,lowerdir={lower}"), &stack.layers_dir, &point);
    let shown = scanned(&point);
    unmount(&point);
    shown
}

/// How many layers there are, sealed or being written.
pub(crate) fn layer_count(vault: &Vault) -> usize {
    fs::read_dir(vault.dir().join("layers")).unwrap().count()
}
