//! What a vault does for itself: collections that are due, layers and packs that stay few, space in reserve.

use std::fs::{self, File};
use std::time::Duration;

use offshoot_tests::rng::Rng;
use offshoot_vault::{CheckDepth, GcOptions, GcSchedule, VaultOptions};

use crate::garbage::NOTHING;
use crate::support::{Scratch, actor, commit, edit, empty_vault, file, head, path};

/// Keeps all that can be undone.
const EVERYTHING: GcOptions = GcOptions { keep_age: Duration::from_secs(3600), ..NOTHING };
/// Longer than what the catalog holds itself.
const LONG: usize = 100_000;

fn files(vault: &offshoot_vault::Vault, folder: &str) -> usize {
    fs::read_dir(vault.dir().join(folder)).map_or(0, Iterator::count)
}

#[test]
fn many_small_layers_and_packs_become_few_and_lose_nothing() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let mut rng = Rng::new(5);
    let mut states = Vec::new();
    for _ in 0..40 {
        let bytes = rng.bytes(LONG);
        let entry = file(&vault, &bytes);
        let root = edit(&vault, &head(&vault), |editor| {
            editor.put(&path("file"), entry.clone()).unwrap();
        });
        commit(&vault, &root);
        states.push((root, bytes));
        vault.collect(&EVERYTHING, &actor()).unwrap();
    }
    assert!(files(&vault, "layers") < 3, "{} layers", files(&vault, "layers"));
    assert!(files(&vault, "packs") <= 17, "{} packs", files(&vault, "packs"));
    for (root, bytes) in &states {
        let shown = vault.stack(root, &[]).unwrap();
        assert!(fs::read(shown.directories[0].join("file")).unwrap() == *bytes);
    }
    let check = vault.check(CheckDepth::Content).unwrap();
    assert!(check.problems.is_empty(), "{:?}", check.problems);
}

#[test]
fn a_collection_runs_when_it_is_due_and_nobody_is_at_it() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let schedule = GcSchedule { operations: 3, bytes: u64::MAX };
    let collect = || vault.collect_if_due(&NOTHING, &schedule, &actor()).unwrap();
    assert!(collect().is_none());
    for number in 0..3 {
        let entry = file(&vault, &Rng::new(number).bytes(LONG));
        let root = edit(&vault, &head(&vault), |editor| {
            editor.put(&path("file"), entry.clone()).unwrap();
        });
        commit(&vault, &root);
    }
    let due = vault.gc_due(&schedule).unwrap();
    assert!(due.last.is_none() && due.layers == 4 && due.bytes == 3 * LONG as u64, "{due:?}");
    let lock = File::create(vault.dir().join("gc")).unwrap();
    lock.lock().unwrap();
    assert!(!vault.is_gc_idle());
    assert!(collect().is_none(), "somebody is at it");
    // Not by closing it: another test may be starting a program, which has it open until it is executed.
    lock.unlock().unwrap();
    assert!(vault.is_gc_idle());
    let report = collect().expect("it is due");
    assert!(report.freed() > 0, "{report:?}");
    let after = vault.gc_due(&schedule).unwrap();
    let last = after.last.clone().unwrap();
    assert_eq!((last.freed_bytes, last.kept_operations), (report.freed(), 0));
    assert!(after.layers == 0 && after.operations < 3, "{after:?}");
    assert!(collect().is_none(), "it was just done");
    let later = last.time_ms + 25 * 60 * 60 * 1000;
    assert!(after.is_due(later) && !after.is_due(last.time_ms), "after a day, {after:?}");
}

/// Where there is room nobody takes what is kept for when there is none.
#[test]
fn a_reserve_is_kept() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (reserve, dir, id) = (vault.dir().join("reserve"), vault.dir().to_owned(), vault.id());
    let length = fs::metadata(&reserve).unwrap().len();
    assert_eq!(length, 4 << 20);
    let spares = || fs::read_dir(dir.join("spare")).map_or(0, Iterator::count);
    let kept = spares();
    assert!(kept == 16 || rustix::fs::statvfs(&dir).unwrap().f_files == 0, "{kept}");
    drop(vault);
    let options = VaultOptions { frees_space: true, ..VaultOptions::default() };
    let vault = offshoot_vault::Vault::open(&dir, id, &options).unwrap();
    vault.collect(&NOTHING, &actor()).unwrap();
    assert_eq!(fs::metadata(&reserve).unwrap().len(), length);
    drop(vault);
    File::create(&reserve).unwrap();
    drop(fs::remove_dir_all(dir.join("spare")));
    let vault = offshoot_vault::Vault::open(&dir, id, &VaultOptions::default()).unwrap();
    commit(&vault, &head(&vault));
    assert_eq!(fs::metadata(&reserve).unwrap().len(), length, "it is taken again");
    assert_eq!(spares(), kept, "and so are the files");
}
