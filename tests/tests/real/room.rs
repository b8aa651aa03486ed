//! Freeing space on a disk that has no block left.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::image::{LoopImage, MountGuard};
use offshoot_tests::product::{Place, binary};
use offshoot_tests::rng::Rng;
use offshoot_tests::tier::cases;
use offshoot_tests::trace::{self, Fault};
use offshoot_tests::user::{User, give_away};

/// Collects all that no ref names.
const COLLECT: [&str; 5] = ["gc", "--keep-operations", "0", "--keep-age", "0s"];
/// One with blocks of 1 KiB, of which SQLite's shared-memory file takes only some, and one with the usual blocks.
const SIZES: [u64; 2] = [14 << 20, 32 << 20];

/// A vault on a small disk.
struct Disk {
    place: Place,
    image: LoopImage,
}

/// The disk, mounted and full.
struct Full<'d> {
    place: &'d Place,
    mount: MountGuard,
}

impl Disk {
    /// With content in a workspace and some that only the log names.
    fn new(size: u64) -> Self {
        let place = Place::new();
        place.write("file.txt", "file\n");
        let disk = Self { place, image: LoopImage::create(size).unwrap() };
        let mount = disk.image.mount().unwrap();
        let run = |arguments: &[&str], input: &[u8]| {
            let home = mount.path().join("home").into_os_string().into_string().unwrap();
            let arguments = [&["--home", &home, "-q"], arguments].concat();
            disk.place.ok_with(arguments, input);
        };
        run(&["init"], b"");
        for name in ["kept", "doomed"] {
            run(&["workspace", "create", name], b"");
            let bytes = Rng::new(name.len() as u64).bytes(900_000);
            run(&["fs", "write", "/big", "-w", name], &bytes);
            run(&["checkpoint", "create", "here", "-w", name], b"");
        }
        run(&["fs", "write", "/other", "-w", "kept"], &Rng::new(9).bytes(700_000));
        run(&["undo", "-w", "kept"], b"");
        mount.unmount().unwrap();
        disk
    }

    fn fill<'d>(&'d self, image: &LoopImage) -> Full<'d> {
        let mount = image.mount().unwrap();
        fill(mount.path());
        Full { place: &self.place, mount }
    }
}

/// Takes every block that is left.
fn fill(dir: &Path) {
    for size in [1 << 20, 4096, 512] {
        let mut file = File::create(dir.join(format!("fill-{size}"))).unwrap();
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}

impl Full<'_> {
    fn home(&self) -> String {
        self.mount.path().join("home").into_os_string().into_string().unwrap()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.place.run([&["--home", &self.home()], arguments].concat())
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn free(&self) -> u64 {
        let found = rustix::fs::statvfs(self.mount.path()).unwrap();
        found.f_bavail * found.f_frsize
    }

    /// Some room came back, beside what is in reserve again, and the vault goes on.
    #[track_caller]
    fn is_usable(&self, freed: u64) {
        assert!(self.free() > freed, "{} bytes are free", self.free());
        self.ok(&["vault", "check"]);
        assert_eq!(self.ok(&["fs", "cat", "/file.txt", "-w", "kept"]), "file\n");
    }
}

#[needs(LoopMount)]
#[test]
fn garbage_can_be_collected() {
    for disk in SIZES.into_iter().map(Disk::new) {
        let full = disk.fill(&disk.image);
        full.ok(&COLLECT);
        full.is_usable(300_000);
        // What is left of the reserve is there for the next time.
        fill(full.mount.path());
        full.ok(&["workspace", "delete", "doomed"]);
    }
}

#[needs(LoopMount)]
#[test]
fn workspaces_and_checkpoints_can_be_deleted() {
    for disk in SIZES.into_iter().map(Disk::new) {
        let full = disk.fill(&disk.image);
        full.ok(&["checkpoint", "delete", "here", "-w", "doomed"]);
        full.ok(&["workspace", "delete", "doomed"]);
        full.ok(&["undo", "-w", "doomed"]);
        full.ok(&["workspace", "delete", "doomed"]);
        full.ok(&COLLECT);
        full.is_usable(800_000);
    }
}

#[needs(LoopMount)]
#[test]
fn a_vault_can_be_deleted() {
    for disk in SIZES.into_iter().map(Disk::new) {
        // One that cannot be opened, and that has nothing in reserve, can be deleted, too.
        for damaged in [false, true] {
            let image = disk.image.power_cut_copy().unwrap();
            let full = disk.fill(&image);
            let before = full.free();
            if damaged {
                let vault = full.mount.path().join("home/names/project").canonicalize().unwrap();
                std::fs::remove_file(vault.join("catalog.db")).unwrap();
                std::fs::remove_file(vault.join("reserve")).unwrap();
            }
            full.ok(&["vault", "delete", "project", "--yes"]);
            assert!(full.free() > before + 2_000_000, "{} bytes are free", full.free());
            assert_eq!(full.ok(&["vault", "list"]), "");
        }
    }
}

/// Takes every inode that is left, and leaves room.
fn fill_inodes(dir: &Path) {
    let fill = dir.join("fill");
    // Where there is no directory for them any more, there is none for a file either.
    drop(std::fs::create_dir(&fill));
    let mut number = std::fs::read_dir(&fill).map_or(0, Iterator::count);
    while File::create(fill.join(number.to_string())).is_ok() {
        number += 1;
    }
}

/// A disk can be full with room for everything but another file.
#[needs(LoopMount)]
#[test]
fn space_can_be_freed_without_a_free_inode() {
    let disk = Disk::new(SIZES[1]);
    for arguments in [
        &COLLECT[..],
        &["workspace", "delete", "doomed"],
        &["discard", "doomed"],
        &["checkpoint", "delete", "here", "-w", "doomed"],
        &["recover", "drop", "--all"],
        &["vault", "delete", "project", "--yes"],
    ] {
        let image = disk.image.power_cut_copy().unwrap();
        let full = Full { place: &disk.place, mount: image.mount().unwrap() };
        fill_inodes(full.mount.path());
        assert!(full.free() > 4 << 20, "{} bytes are free", full.free());
        let refused = full.run(&["workspace", "create", "more"]);
        assert_eq!(refused.status.code(), Some(6), "{arguments:?}: {refused:?}");
        full.ok(arguments);
        if arguments[0] == "vault" {
            continue;
        }
        // What is left of the reserve is there for the next time.
        fill_inodes(full.mount.path());
        full.ok(&["workspace", "delete", "kept"]);
        full.ok(&COLLECT);
        full.ok(&["vault", "check"]);
    }
}

/// Nothing but what frees space takes what is kept for it.
#[needs(LoopMount)]
#[test]
fn others_leave_the_reserve_alone() {
    for disk in SIZES.into_iter().map(Disk::new) {
        let full = disk.fill(&disk.image);
        let reserve =
            full.mount.path().join("home/names/project").canonicalize().unwrap().join("reserve");
        let before = reserve.metadata().unwrap().len();
        assert!(before > 200_000, "{before}");
        let bytes = vec![3; 200_000];
        let written = full
            .place
            .run_with(["--home", &full.home(), "fs", "write", "/x", "-w", "kept"], &bytes);
        assert!(!written.status.success(), "{written:?}");
        let errors = String::from_utf8_lossy(&written.stderr);
        if written.status.code().is_some() {
            assert!(errors.contains("offshoot gc"), "{errors}");
        }
        assert_eq!(reserve.metadata().unwrap().len(), before);
        full.ok(&COLLECT);
        full.is_usable(300_000);
    }
}

/// Whenever it is cut short, what is left is a vault that is in order, and that can still be tidied.
#[needs(LoopMount, Ptrace)]
#[needs(LoopMount)]
#[test]
fn a_kill_leaves_the_state_before_or_after() {
    let disk = Disk::new(SIZES[1]);
    for arguments in [&COLLECT[..], &["workspace", "delete", "doomed"]] {
        let run = |full: &Full<'_>, fault: Fault| {
            let mut command: Vec<OsString> =
                vec![binary().into(), "--home".into(), full.home().into()];
            command.extend(arguments.iter().map(Into::into));
            let (environment, project) = (full.place.environment(), full.place.project());
            trace::run(&command, &environment, Some(&project), fault).unwrap()
        };
        let image = disk.image.power_cut_copy().unwrap();
        let whole = run(&disk.fill(&image), Fault::None);
        assert!(whole.status.success(), "{whole:?}");
        let count = cases(5, 60).min(whole.mutating);
        for case in 0..count {
            let n = 1 + case * whole.mutating / count;
            let image = disk.image.power_cut_copy().unwrap();
            let full = disk.fill(&image);
            run(&full, Fault::KillAt(n));
            full.ok(&COLLECT);
            full.is_usable(300_000);
        }
    }
}

/// What everybody can do: a disk of one's own in a namespace of one's own.
#[needs(UserNamespace, "unshare")]
#[test]
fn an_ordinary_user_can_free_space() {
    let place = Place::new();
    place.write("file.txt", "file\n");
    std::fs::create_dir(place.path().join("disk")).unwrap();
    let script = r#"
        set -eu
        offshoot=$1
        mount -t tmpfs -o size=24m none "$HOME/disk"
        export OFFSHOOT_HOME="$HOME/disk/home"
        "$offshoot" init -q
        for name in kept doomed; do
            "$offshoot" workspace create -q "$name"
            head -c 2000000 /dev/urandom | "$offshoot" fs write -q /big -w "$name"
        done
        fill() { dd if=/dev/zero of="$HOME/disk/fill-$1" bs=4k 2>/dev/null || true; }
        fill 1
        "$offshoot" workspace delete -q doomed
        fill 2
        "$offshoot" gc -q --keep-operations 0 --keep-age 0s
        "$offshoot" vault check -q
        fill 3
        "$offshoot" undo -q -w kept
        fill 4
        "$offshoot" vault delete -q project --yes
        test "$(ls "$OFFSHOOT_HOME/vaults" | wc -l)" = 0
        echo done
    "#;
    let unshare = ["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"];
    let output = match rustix::process::geteuid().is_root() {
        false => {
            let mut command = std::process::Command::new("unshare");
            command.env_clear().envs(place.environment()).current_dir(place.project());
            command.args(unshare).arg(binary()).output().unwrap()
        }
        true => {
            let user = User::new();
            give_away(place.path());
            user.program(&place, "unshare").args(unshare).arg(user.binary()).output().unwrap()
        }
    };
    assert!(output.status.success() && output.stdout.ends_with(b"done\n"), "{output:?}");
}
