//! Images lose what was not synced, run full, and leave nothing behind.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::awkward::{self, AwkwardOptions};
use offshoot_tests::image::{LoopImage, private_mounts};
use offshoot_tests::scan::{CompareOptions, compare, scan};
use offshoot_tests::trace::{Fault, run};

const SIZE: u64 = 32 << 20;

fn write_synced(path: &Path, bytes: &[u8]) {
    let mut file = File::create(path).unwrap();
    file.write_all(bytes).unwrap();
    file.sync_all().unwrap();
}

fn sync_directory(path: &Path) {
    File::open(path).unwrap().sync_all().unwrap();
}

fn has_loop_device(file: &Path) -> bool {
    let uses = |entry: fs::DirEntry| {
        fs::read_to_string(entry.path().join("loop/backing_file"))
            .is_ok_and(|backing| backing.starts_with(file.to_str().unwrap()))
    };
    fs::read_dir("/sys/block").unwrap().any(|entry| uses(entry.unwrap()))
}

fn mounted_here(point: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/thread-self/mounts").unwrap();
    mounts.contains(point.to_str().unwrap())
}

#[needs(LoopMount)]
#[test]
fn power_cut_keeps_what_was_synced_only() {
    let image = LoopImage::create(SIZE).unwrap();
    let mount = image.mount().unwrap();
    let data = vec![7; 300_000];
    write_synced(&mount.path().join("synced"), &data);
    sync_directory(mount.path());
    fs::write(mount.path().join("unsynced"), &data).unwrap();
    fs::write(mount.path().join("overwritten"), b"old").unwrap();
    write_synced(&mount.path().join("overwritten"), b"old");
    fs::write(mount.path().join("overwritten"), b"new").unwrap();

    let cut = image.power_cut_copy().unwrap();
    let after = cut.mount().unwrap();
    assert_eq!(fs::read(after.path().join("synced")).unwrap(), data);
    let lost = fs::read(after.path().join("unsynced")).unwrap_or_default();
    assert!(lost.is_empty(), "{} bytes that nobody synced", lost.len());
    assert_ne!(fs::read(after.path().join("overwritten")).unwrap(), b"new");

    // The image itself has lost nothing.
    mount.unmount().unwrap();
    let mount = image.mount().unwrap();
    assert_eq!(fs::read(mount.path().join("unsynced")).unwrap(), data);
}

#[needs(LoopMount)]
#[test]
fn rename_does_not_sync() {
    let image = LoopImage::create(SIZE).unwrap();
    let mount = image.mount().unwrap();
    let (file, new) = (mount.path().join("file"), mount.path().join("new"));
    write_synced(&file, b"old");
    fs::write(&new, vec![1; 100_000]).unwrap();
    fs::rename(&new, &file).unwrap();
    sync_directory(mount.path());
    let cut = image.power_cut_copy().unwrap();
    let after = cut.mount().unwrap();
    let left = fs::read(after.path().join("file")).unwrap();
    assert_eq!(left, b"", "renamed without its bytes, as the directory alone was synced");
}

#[needs(LoopMount, Ptrace)]
#[test]
fn left_out_sync_loses_data() {
    let script = "echo text > file; sync file; sync .";
    let command: [OsString; 3] = ["sh".into(), "-c".into(), script.into()];
    let left = |fault| {
        let image = LoopImage::create(SIZE).unwrap();
        let mount = image.mount().unwrap();
        assert!(run(&command, &[], Some(mount.path()), fault).unwrap().status.success());
        let cut = image.power_cut_copy().unwrap();
        let after = cut.mount().unwrap();
        fs::read_to_string(after.path().join("file")).map_err(|error| error.kind())
    };
    assert_eq!(left(Fault::None).as_deref(), Ok("text\n"));
    assert_eq!(left(Fault::SkipSync { nth_sync: 1 }).as_deref(), Ok(""));
    assert_eq!(left(Fault::SkipAllSyncs), Err(ErrorKind::NotFound));
    let is_file = |path: &Path| path.ends_with("file");
    assert_eq!(left(Fault::SkipSyncsOf(Box::new(is_file))).as_deref(), Ok(""));
}

#[needs(LoopMount, Ptrace, "sqlite3")]
#[test]
fn database_survives_power_cuts() {
    let sql = "PRAGMA synchronous=FULL; INSERT INTO t VALUES (1); SELECT 'done'";
    let insert: [OsString; 3] = ["sqlite3".into(), "db".into(), sql.into()];
    let create = "PRAGMA journal_mode=WAL; CREATE TABLE t(a)";
    let image = LoopImage::create(SIZE).unwrap();
    let mount = image.mount().unwrap();
    let mut command = Command::new("sqlite3");
    let made = command.arg("db").arg(create).current_dir(mount.path()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    mount.unmount().unwrap();

    let start = Instant::now();
    let mut cases = 0;
    for n in 1.. {
        let image = image.power_cut_copy().unwrap();
        let mount = image.mount().unwrap();
        let trace = run(&insert, &[], Some(mount.path()), Fault::KillAfter(n)).unwrap();
        let cut = image.power_cut_copy().unwrap();
        let after = cut.mount().unwrap();
        let query = "PRAGMA integrity_check; SELECT count(*) FROM t";
        let output =
            Command::new("sqlite3").arg("db").arg(query).current_dir(after.path()).output();
        let output = String::from_utf8(output.unwrap().stdout).unwrap();
        let said_done = trace.stdout == b"done\n";
        assert!(output == "ok\n1\n" || !said_done && output == "ok\n0\n", "at {n}: {output}");
        cases += 1;
        if trace.status.success() {
            break;
        }
    }
    println!("{cases} power cuts, {} ms each", start.elapsed().as_millis() / cases);
    assert!(cases > 3);
}

#[needs(LoopMount)]
#[test]
fn small_image_runs_full() {
    let image = LoopImage::create(4 << 20).unwrap();
    let mount = image.mount().unwrap();
    let error = fs::write(mount.path().join("file"), vec![1; 5 << 20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

#[needs(LoopMount)]
#[test]
fn image_holds_the_awkward_tree() {
    let image = LoopImage::create(64 << 20).unwrap();
    let mount = image.mount().unwrap();
    let tree = mount.path().join("tree");
    fs::create_dir(&tree).unwrap();
    awkward::build(&tree, &AwkwardOptions::default()).unwrap();
    let before = scan(&tree).unwrap();
    rustix::fs::syncfs(File::open(&tree).unwrap()).unwrap();
    let cut = image.power_cut_copy().unwrap();
    let after = cut.mount().unwrap();
    let after = scan(&after.path().join("tree")).unwrap();
    assert_eq!(compare(&before, &after, &CompareOptions::default()), Vec::<String>::new());
}

#[needs(LoopMount)]
#[test]
fn nothing_is_left_behind() {
    private_mounts().unwrap();
    let image = LoopImage::create(SIZE).unwrap();
    let (file, mount) = (image.file(), image.mount().unwrap());
    let point = mount.path().to_owned();
    assert!(mounted_here(&point) && has_loop_device(&file));
    assert!(!fs::read_to_string("/proc/1/mounts").unwrap().contains(point.to_str().unwrap()));
    let second = image.mount().unwrap_err();
    assert_eq!(second.kind(), ErrorKind::ResourceBusy);
    // The guard alone keeps what it needs.
    drop(image);
    fs::write(point.join("file"), "text").unwrap();
    drop(mount);
    gone(&file, &point);
}

#[needs(LoopMount)]
#[test]
fn nothing_is_left_behind_by_a_panic() {
    let (sender, receiver) = std::sync::mpsc::channel::<PathBuf>();
    let result = thread::spawn(move || {
        let image = LoopImage::create(SIZE).unwrap();
        let mount = image.mount().unwrap();
        let held = File::create(mount.path().join("held")).unwrap();
        sender.send(image.file()).unwrap();
        // As any failed assertion would, while files are open.
        let _keep = (held, mount);
        std::panic::resume_unwind(Box::new("test"));
    });
    let file = receiver.recv().unwrap();
    assert!(result.join().is_err());
    gone(&file, &file.with_file_name("mnt"));
}

#[needs(LoopMount)]
#[test]
fn busy_image_is_an_error() {
    let image = LoopImage::create(SIZE).unwrap();
    let mount = image.mount().unwrap();
    let (file, point) = (image.file(), mount.path().to_owned());
    let mut user = Command::new("sleep").arg("100").current_dir(&point).spawn().unwrap();
    let error = mount.unmount().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceBusy);
    assert!(!mounted_here(&point));
    user.kill().unwrap();
    user.wait().unwrap();
    drop(image);
    gone(&file, &point);
}

fn gone(file: &Path, point: &Path) {
    assert!(!mounted_here(point), "{} is mounted", point.display());
    // The kernel takes the device away shortly after its last user.
    let deadline = Instant::now() + Duration::from_secs(5);
    while has_loop_device(file) {
        assert!(Instant::now() < deadline, "{} has a loop device", file.display());
        thread::sleep(Duration::from_millis(10));
    }
    assert!(!file.parent().unwrap().exists(), "{} is there", file.display());
}
