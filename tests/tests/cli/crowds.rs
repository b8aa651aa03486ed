//! Many processes at once.

use std::collections::BTreeSet;
use std::process::Output;
use std::thread;

use offshoot_tests::product::{Place, document_of};

use crate::transcript::{demo, demo_vault};

/// Runs what each of some workers does, all at the same time.
fn at_once<T: Send>(workers: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn({
                    let work = &work;
                    move || work(worker)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

#[track_caller]
fn assert_clean(output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text).to_lowercase();
        assert!(!text.contains("locked") && !text.contains("sqlite"), "{output:?}");
        assert!(!text.contains("panicked"), "{output:?}");
    }
}

#[test]
fn many_writers_in_one_vault() {
    const WORKERS: usize = 8;
    const ROUNDS: usize = 4;
    let place = demo_vault();
    at_once(WORKERS, |worker| {
        for round in 0..ROUNDS {
            let file = format!("/worker-{worker}-{round}.txt");
            let checkpoint = format!("c-{worker}-{round}");
            let workspace = format!("w-{worker}-{round}");
            let text = format!("{worker} {round}\n");
            let outputs = [
                place.run_with(["fs", "write", &file, "-w", "fix"], text.as_bytes()),
                place.run(["checkpoint", "create", &checkpoint, "-w", "fix"]),
                place.run(["workspace", "create", &workspace]),
                place.run(["status", "-w", "fix"]),
            ];
            for output in outputs {
                assert!(output.status.success(), "{worker} {round}: {output:?}");
                assert_clean(&output);
            }
        }
    });
    for worker in 0..WORKERS {
        for round in 0..ROUNDS {
            let file = format!("/worker-{worker}-{round}.txt");
            let text = place.ok(["fs", "cat", &file, "-w", "fix"]);
            assert_eq!(text, format!("{worker} {round}\n"));
        }
    }
    let count =
        |arguments: &[&str], field: &str| place.json(arguments)[field].as_array().unwrap().len();
    assert_eq!(count(&["checkpoint", "list", "-w", "fix"], "checkpoints"), WORKERS * ROUNDS);
    assert_eq!(count(&["workspace", "list"], "workspaces"), 1 + WORKERS * ROUNDS);
    assert_eq!(count(&["op", "log", "-n", "500"], "operations"), 2 + 3 * WORKERS * ROUNDS);
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}

#[test]
fn one_name_is_given_once() {
    let place = demo_vault();
    let outputs = at_once(6, |_| place.run(["workspace", "create", "same", "--json"]));
    outputs.iter().for_each(assert_clean);
    let codes: Vec<i32> = outputs.iter().map(|output| output.status.code().unwrap()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 4].contains(code)), "{codes:?}");
    outputs.iter().for_each(|output| drop(document_of(output)));
}

#[test]
fn a_folder_is_taken_in_once() {
    for _ in 0..3 {
        let place = demo();
        let outputs = at_once(4, |_| place.run(["init", "--json"]));
        let mut ids = BTreeSet::new();
        let mut created = 0;
        for output in &outputs {
            assert_clean(output);
            let document = document_of(output);
            assert!(output.status.success(), "{document}");
            ids.insert(document["result"]["vault"]["id"].to_string());
            created += usize::from(document["result"]["created"] == true);
        }
        assert_eq!((ids.len(), created), (1, 1), "{outputs:?}");
        assert_eq!(place.json(&["vault", "list"])["vaults"].as_array().unwrap().len(), 1);
        assert_eq!(vault_folders(&place), 1);
        assert_eq!(place.json(&["vault", "check"])["ok"], true);
    }
}

fn vault_folders(place: &Place) -> usize {
    std::fs::read_dir(place.home().join("vaults")).unwrap().count()
}

#[test]
fn a_writer_that_waits_too_long_says_so() {
    let place = demo_vault();
    // With no patience at all, whoever comes second is told that the vault is busy.
    let outputs = at_once(8, |worker| {
        let path = format!("/{worker}");
        place.run(["fs", "mkdir", &path, "-w", "fix", "--json", "-c", "store.busy_timeout=0s"])
    });
    for output in &outputs {
        assert_clean(output);
        let document = document_of(output);
        assert!([Some(0), Some(8)].contains(&output.status.code()), "{document}");
    }
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}
