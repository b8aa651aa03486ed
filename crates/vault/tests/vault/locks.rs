//! One user of a workspace at a time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use offshoot_store::Id;
use offshoot_vault::VaultError;

use crate::support::{Scratch, empty_vault};

const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

#[test]
fn who_waits_in_vain_learns_for_whom() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (mine, other) = (Id::random(), Id::random());
    let first = vault.lock_workspace(&mine, None, "process 12 (make all)").unwrap();

    let started = Instant::now();
    let wait = Duration::from_millis(80);
    let busy = vault.lock_workspace(&mine, Some(wait), "me").unwrap_err();
    assert!(started.elapsed() >= wait);
    assert!(busy.to_string().ends_with("is in use by process 12 (make all)"), "{busy}");
    assert!(matches!(busy, VaultError::WorkspaceBusy { workspace, .. } if workspace == mine));
    vault.lock_workspace(&other, AT_ONCE, "").unwrap();
    drop(first);
    let second = vault.lock_workspace(&mine, AT_ONCE, "").unwrap();
    let busy = vault.lock_workspace(&mine, AT_ONCE, "me").unwrap_err();
    assert!(busy.to_string().ends_with("is in use by another process"), "{busy}");
    drop(second);
}

#[test]
fn many_take_turns() {
    let scratch = Scratch::new();
    let vault = empty_vault(&scratch);
    let (workspace, inside) = (Id::random(), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let lock = vault.lock_workspace(&workspace, None, "a thread").unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(lock);
                }
            });
        }
    });
}
