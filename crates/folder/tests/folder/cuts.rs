//! Killed at any call that changes something, an apply can be done or taken back by the next process, exactly; in between every
//! path is old or new, whole.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_folder::{
    Apply, ApplyError, ApplyOptions, ApplyPlan, ApplyProblem, UnfinishedApplies,
};
use offshoot_needs::needs;
use offshoot_store::Id;
use offshoot_tests::child;
use offshoot_tests::image::LoopImage;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::scan::{CompareOptions, Scan, compare};
use offshoot_tests::scratch::{Scratch, everything_kept, scanned};
use offshoot_tests::tier::cases;
use offshoot_tests::trace::{self, Fault, Trace};
use offshoot_vault::Vault;
use serde_json::json;
use tempfile::TempDir;

use crate::scene::{assert_clean, assert_state, build_new, build_old, interfered, target, write};
use crate::support::{home_at, import, vault_of};

/// A vault and a folder that are copied for each case.
struct Template {
    scratch: Scratch,
    old: Scan,
    new: Scan,
}

impl Template {
    fn new() -> Self {
        let scratch = Scratch::new();
        let place = scratch.folder("place");
        for (name, build) in [("folder", build_old as fn(&Path)), ("model", build_new)] {
            fs::create_dir(place.join(name)).unwrap();
            build(&place.join(name));
        }
        let home = home_at(&place);
        let (folder, options) = (place.join("folder"), Default::default());
        let vault =
            home.create("v", Some(&folder), &options, &crate::support::actor()).unwrap().vault;
        // Each case imports the model again; its content is there already.
        import(&vault, &place.join("model"));
        let (old, new) = (scanned(&folder), scanned(&place.join("model")));
        Self { scratch, old, new }
    }

    /// A copy for one case, in memory where there is such a place.
    fn copy(&self) -> TempDir {
        let memory = Path::new("/dev/shm");
        let copy = match memory.is_dir() {
            true => TempDir::with_prefix_in("offshoot-apply-", memory),
            false => TempDir::with_prefix("offshoot-apply-"),
        };
        let copy = copy.unwrap();
        let mut cp = Command::new("cp");
        let copied =
            cp.arg("-a").arg(self.scratch.path().join("place/.")).arg(copy.path()).status();
        assert!(copied.unwrap().success());
        copy
    }

    /// The same on a disk that can lose power.
    fn disk(&self) -> LoopImage {
        let image = LoopImage::create(32 << 20).unwrap();
        let mount = image.mount().unwrap();
        let mut cp = Command::new("cp");
        let copied =
            cp.arg("-a").arg(self.scratch.path().join("place/.")).arg(mount.path()).status();
        assert!(copied.unwrap().success());
        mount.unmount().unwrap();
        image
    }

    /// Runs an apply in a copy, and breaks it.
    fn run(&self, role: &str, place: &Path, fault: Fault) -> Trace {
        let command = child::words(self.scratch.path());
        let environment: Vec<(OsString, OsString)> = vec![
            (child::ROLE.into(), role.into()),
            (child::PLACE.into(), place.into()),
            ("RAYON_NUM_THREADS".into(), "1".into()),
            ("RUST_BACKTRACE".into(), "0".into()),
        ];
        trace::run(&command, &environment, Some(place), fault).unwrap()
    }
}

fn open(place: &Path) -> Vault {
    let home = home_at(place);
    let listed = home.list().unwrap().into_iter().next().unwrap();
    home.open_listed(&listed).unwrap()
}

/// One apply.
const ONCE: &str = "apply once";
/// One apply that is taken back.
const AND_BACK: &str = "apply and take back";

/// One apply, in a process that may be killed.
pub(crate) fn apply_once(place: &Path) {
    apply_and(place, false);
}

/// One apply that is taken back, in a process that may be killed.
pub(crate) fn apply_and_take_back(place: &Path) {
    apply_and(place, true);
}

fn apply_and(place: &Path, back: bool) {
    let vault = open(place);
    let folder = place.join("folder");
    let lock = vault.lock_folders(None).unwrap();
    assert!(UnfinishedApplies::find(&vault, &lock).unwrap().open.is_empty());
    let _held = vault.hold().unwrap();
    let (before, after) = (import(&vault, &folder).root, import(&vault, &place.join("model")).root);
    let targets = [target(&folder)];
    let plan = ApplyPlan::new(&vault, &targets, &before, &after, &ApplyOptions::default()).unwrap();
    let mut apply = Apply::stage(&vault, &lock, plan, Id::random(), json!(null)).unwrap();
    match apply.swap() {
        Ok(()) => {}
        Err(error) => {
            if matches!(error, ApplyError::Failed { .. }) {
                apply.finish().unwrap();
            }
            panic!("{error}");
        }
    }
    if back {
        apply.take_back().unwrap();
    }
    apply.finish().unwrap();
}

/// Which state a folder must have after somebody settled it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settle {
    Forwards,
    Back,
}

/// What is in a folder, without what is staged in it.
fn visible(folder: &Path) -> Scan {
    let mut scan = scanned(folder);
    scan.0.retain(|path, _| !path.starts_with(b".offshoot-apply-"));
    scan
}

/// Every path shows its old or its new state, whole; directories may lack theirs until the end.
fn check_between(template: &Template, folder: &Path) -> Result<(), String> {
    let now = visible(folder);
    let options =
        CompareOptions { hard_links: false, directory_mtimes: false, ..everything_kept() };
    let paths: BTreeSet<&Vec<u8>> =
        now.0.keys().chain(template.old.0.keys()).chain(template.new.0.keys()).collect();
    for path in paths {
        let only = |scan: &Scan| {
            Scan(
                scan.0
                    .get_key_value(path)
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .into_iter()
                    .collect(),
            )
        };
        let is_directory =
            now.0.get(path).is_some_and(|node| node.kind == offshoot_tests::scan::Kind::Directory);
        // Modes and times of what stays are set one after the other.
        let in_place = [&b"src/chmodded"[..], b"src/touched"].contains(&path.as_slice());
        let options = match is_directory || in_place {
            true => CompareOptions::content(),
            false => options,
        };
        let (old, new) = (only(&template.old), only(&template.new));
        let here = only(&now);
        if !compare(&here, &old, &options).is_empty() && !compare(&here, &new, &options).is_empty()
        {
            return Err(format!("{} is neither old nor new", path.escape_ascii()));
        }
    }
    Ok(())
}

/// Settles what is left, and says what is wrong then.
fn settle(
    template: &Template,
    place: &Path,
    how: Settle,
    finished: Option<&Scan>,
) -> Result<(), String> {
    let folder = place.join("folder");
    check_between(template, &folder)?;
    let vault = open(place);
    let lock = vault.lock_folders(None).unwrap();
    let decided = fs::read_dir(vault.dir().join("applies"))
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.path().join("done").exists() || entry.path().join("back").exists());
    let unfinished =
        UnfinishedApplies::find(&vault, &lock).map_err(|error| error.to_string())?.open;
    let found = unfinished.len();
    for mut apply in unfinished {
        match how {
            Settle::Forwards => apply.swap().map_err(|error| error.to_string())?,
            Settle::Back => apply.take_back().map_err(|error| error.to_string())?,
        }
        let kept = apply.finish().map_err(|error| error.to_string())?;
        if !kept.is_empty() {
            return Err(format!("{kept:?} were nobody's"));
        }
    }
    let left = fs::read_dir(&folder).unwrap().flatten();
    if let Some(left) =
        left.map(|it| it.path()).find(|it| it.to_string_lossy().contains("/.offshoot-apply-"))
    {
        return Err(format!("{left:?} is left; {found} were found, decided: {decided}"));
    }
    assert_clean(&vault, &folder);
    let now = scanned(&folder);
    let old = compare(&now, &template.old, &everything_kept());
    let new = compare(&now, &template.new, &everything_kept());
    let wrong = match (found, finished, how) {
        (0, Some(expected), _) => compare(&now, expected, &everything_kept()),
        (0, None, _) if new.is_empty() => Vec::new(),
        (0, None, _) | (_, _, Settle::Back) => old,
        (_, _, Settle::Forwards) => new,
    };
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// The calls to break, some in the quick tier and all in the long one.
fn points(last: u64, salt: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (1..=last).collect();
    let wanted = usize::try_from(cases(30, u64::MAX)).unwrap_or(usize::MAX);
    if wanted < all.len() {
        Rng::new(seed_from_env_or(1) ^ salt).shuffle(&mut all);
        all.truncate(wanted);
        all.sort_unstable();
    }
    all
}

fn break_everywhere(role: &str, salt: u64, how: Settle, fault: impl Fn(u64) -> Fault) {
    let template = Template::new();
    let whole = template.copy();
    let trace = template.run(role, whole.path(), Fault::None);
    let finished = if role == ONCE { &template.new } else { &template.old };
    assert!(trace.status.success(), "{}", String::from_utf8_lossy(&trace.stderr));
    settle(&template, whole.path(), how, Some(finished)).unwrap();
    let mut failures = Vec::new();
    let points = points(trace.mutating, salt);
    for n in &points {
        let place = template.copy();
        let broken = template.run(role, place.path(), fault(*n));
        let finished = broken.status.success().then_some(finished);
        if let Err(why) = settle(&template, place.path(), how, finished) {
            let call = broken.calls.last().map(ToString::to_string).unwrap_or_default();
            failures.push(format!("{how:?} after {:?} at {call}: {why}", fault(*n)));
        }
    }
    println!("{how:?}: {} of {} calls broken", points.len(), trace.mutating);
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[needs(Ptrace, UserXattr)]
#[test]
fn a_killed_apply_is_finished_by_the_next() {
    break_everywhere(ONCE, 1, Settle::Forwards, Fault::KillAt);
}

#[needs(Ptrace, UserXattr)]
#[test]
fn a_killed_apply_is_taken_back_by_the_next() {
    break_everywhere(ONCE, 2, Settle::Back, Fault::KillAfter);
}

#[needs(Ptrace, UserXattr)]
#[test]
fn a_killed_way_back_is_gone_on_with_or_turned_around() {
    for (salt, how) in [(5, Settle::Back), (6, Settle::Forwards)] {
        break_everywhere(AND_BACK, salt, how, Fault::KillAfter);
    }
}

#[needs(Ptrace, UserXattr)]
#[test]
fn a_failing_call_leaves_the_old_state_or_can_be_settled() {
    const EIO: i32 = 5;
    break_everywhere(ONCE, 3, Settle::Back, |n| Fault::FailAt { n, errno: EIO });
}

#[needs(LoopMount, Ptrace)]
#[test]
fn an_apply_is_settled_after_a_power_cut() {
    let template = Template::new();
    let disk = template.disk();
    let whole = template.copy();
    let calls = template.run(ONCE, whole.path(), Fault::None).mutating;
    // The last one is after all calls: what was done is done.
    let points: Vec<u64> = points(calls, 4).into_iter().chain([u64::MAX]).collect();
    let mut failures = Vec::new();
    for n in points {
        for how in [Settle::Forwards, Settle::Back] {
            let running = disk.power_cut_copy().unwrap();
            let mounted = running.mount().unwrap();
            // The disk is at the same path before and after.
            let scratch = Scratch::new();
            let place = scratch.path().join("disk");
            symlink(mounted.path(), &place).unwrap();
            let finished = template.run(ONCE, &place, Fault::KillAfter(n)).status.success();
            let finished = finished.then_some(&template.new);
            let left = running.power_cut_copy().unwrap();
            drop(mounted);
            let mount = left.mount().unwrap();
            fs::remove_file(&place).unwrap();
            symlink(mount.path(), &place).unwrap();
            boot(&place);
            if let Err(why) = settle(&template, &place, how, finished) {
                failures.push(format!("{how:?} after call {n}: {why}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Nothing of the last boot counts after a power cut; here the machine itself went on.
fn boot(place: &Path) {
    for vault in fs::read_dir(place.join("home/vaults")).unwrap() {
        let checked = vault.unwrap().path().join("checked");
        if checked.exists() {
            fs::write(checked, "an earlier boot").unwrap();
        }
    }
}

#[needs(Root)]
#[test]
fn parts_of_a_folder_may_be_other_file_systems() {
    let scratch = Scratch::new();
    let mut command = child::command("apply on two", scratch.path(), &["unshare", "-m"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// The part of a test that has mounts of its own.
pub(crate) fn on_another_file_system(place: &Path) {
    let folder = place.join("folder");
    let mount = |at: &Path| {
        let status =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "none"]).arg(at).status();
        assert!(status.unwrap().success());
    };
    for top in [&folder, &place.join("model")] {
        fs::create_dir_all(top.join("mounted")).unwrap();
    }
    mount(&folder.join("mounted"));
    build(&folder, "old\n");
    build(&place.join("model"), "new content\n");
    write(&folder, "mounted/deep/goes", "old\n", 0o644, 9);
    let scratch = Scratch::new();
    let vault = vault_of(&scratch, &folder);
    let (before, after) = (import(&vault, &folder).root, import(&vault, &place.join("model")).root);
    let old = scanned(&folder);
    let plan = || {
        ApplyPlan::new(&vault, &[target(&folder)], &before, &after, &ApplyOptions::default())
            .unwrap()
    };
    let lock = vault.lock_folders(None).unwrap();
    assert_eq!(plan().problems(), []);
    let mut apply = Apply::stage(&vault, &lock, plan(), Id::random(), json!(null)).unwrap();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    apply.finish().unwrap();
    assert_state(&folder, &old, &everything_kept());
    let mut apply = Apply::stage(&vault, &lock, plan(), Id::random(), json!(null)).unwrap();
    fs::write(folder.join("mounted/deep/file"), "mine\n").unwrap();
    assert_eq!(interfered(apply.swap()).0, [folder.join("mounted/deep/file")]);
    apply.finish().unwrap();
    build(&folder, "old\n");
    import(&vault, &folder);
    let mut apply = Apply::stage(&vault, &lock, plan(), Id::random(), json!(null)).unwrap();
    apply.swap().unwrap();
    apply.finish().unwrap();
    assert_state(&folder, &scanned(&place.join("model")), &everything_kept());
    mount_points_stay(&vault, &folder, place);
    a_full_file_system_is_told(&vault, &folder, place);
}

fn build(folder: &Path, content: &str) {
    write(folder, "plain/file", content, 0o644, 9);
    write(folder, "mounted/file", content, 0o644, 9);
    write(folder, "mounted/deep/file", content, 0o644, 9);
}

fn mount_points_stay(vault: &Vault, folder: &Path, place: &Path) {
    let without: PathBuf = place.join("without");
    fs::create_dir(&without).unwrap();
    let (before, after) = (import(vault, folder).root, import(vault, &without).root);
    let plan = ApplyPlan::new(vault, &[target(folder)], &before, &after, &ApplyOptions::default())
        .unwrap();
    let path = folder.join("mounted");
    assert_eq!(plan.problems(), [ApplyProblem::MountPoint { path }]);
}

fn a_full_file_system_is_told(vault: &Vault, folder: &Path, place: &Path) {
    let larger = place.join("larger");
    fs::create_dir(&larger).unwrap();
    let copied = Command::new("cp").arg("-a").arg(folder.join(".")).arg(&larger).status();
    assert!(copied.unwrap().success());
    fs::write(larger.join("mounted/large"), vec![7; 5 << 20]).unwrap();
    let (before, after) = (import(vault, folder).root, import(vault, &larger).root);
    let plan = ApplyPlan::new(vault, &[target(folder)], &before, &after, &ApplyOptions::default())
        .unwrap();
    match plan.problems() {
        [ApplyProblem::NoRoom { path, needed, free }] => {
            assert_eq!(*path, folder.join("mounted"));
            assert!(*needed > 5 << 20 && *free < 5 << 20, "{needed} {free}");
        }
        other => panic!("{other:?}"),
    }
}
