//! Damage that comes with time: what is met while working with a vault, beside `vault check`.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};
use offshoot_tests::rng::Rng;
use offshoot_tests::tier::Tier;

use crate::damage::{assert_check_finds, assert_damaged, directory, in_layer, sql, vault};

/// Changes one byte in the middle of a file.
fn flip(file: &Path) {
    let handle = fs::File::options().read(true).write(true).open(file).unwrap();
    let (mut byte, at) = ([0], handle.metadata().unwrap().len() / 2);
    handle.read_exact_at(&mut byte, at).unwrap();
    handle.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

#[test]
fn nothing_damaged_is_printed() {
    let place = vault();
    let whole = place.run(["fs", "cat", "/big.bin"]);
    assert_eq!(whole.stdout.len(), 200_000);
    flip(&in_layer(&place, "big.bin"));
    for arguments in [&["fs", "cat", "/big.bin"][..], &["fs", "cat", "/big.bin", "-w", "fix"]] {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        assert!(output.stdout.is_empty(), "{} bytes were printed", output.stdout.len());
    }
}

#[needs("python3")]
#[test]
fn a_damaged_operation_does_not_hide_the_others() {
    let place = vault();
    let log = place.json(&["op", "log"]);
    let ids: Vec<&str> = log["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert!(ids.len() >= 3 && log.get("problems").is_none(), "{log}");
    sql(&directory(&place), "update operations set summary = 'other' where seq = 2");
    let output = place.run(["op", "log", "--json"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let result = document_of(&output)["result"].clone();
    assert_eq!(result["operations"].as_array().unwrap().len(), ids.len() - 1);
    let damaged = ids[ids.len() - 2];
    assert!(result["problems"][0].as_str().unwrap().contains(damaged), "{result}");
    let output = place.run(["op", "log"]);
    assert_eq!(output.status.code(), Some(5));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(damaged) && text.contains("vault create"), "{text}");
    assert_check_finds(&place, &["operation", damaged]);
    // Work goes on; what needs the record says that it is damaged.
    place.ok(["workspace", "create", "other"]);
    assert_damaged(&place, &["op", "restore", damaged, "--vault-wide"], &[damaged]);
}

#[needs("python3")]
#[test]
fn tables_that_are_damaged_are_damage() {
    let place = vault();
    sql(&directory(&place), "alter table refs rename to rags");
    assert_damaged(&place, &["status"], &["refs"]);
    assert_check_finds(&place, &["refs"]);
}

/// Makes the last commits of the log illegible, so that SQLite does not see them.
fn spoil_log(place: &Place, from: u64) {
    let directory = directory(place);
    let log = directory.join("catalog.db-wal");
    let handle = fs::File::options().read(true).write(true).open(&log).unwrap();
    handle.write_all_at(b"noise", from + 50).unwrap();
    fs::remove_file(directory.join("catalog.db-shm")).unwrap();
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_catalog_that_lost_what_was_acknowledged_says_so() {
    let place = vault();
    let length = fs::metadata(directory(&place).join("catalog.db-wal")).unwrap().len();
    let kept = place.json(&["op", "log"])["operations"][0]["id"].as_str().unwrap().to_owned();
    place.ok(["workspace", "create", "lost"]);
    let lost = place.json(&["op", "log"])["operations"][0]["id"].as_str().unwrap().to_owned();
    spoil_log(&place, length);
    let named = [kept.as_str(), lost.as_str(), "was acknowledged"];
    // Reading goes on, with a word about it.
    let output = place.run(["workspace", "list"]);
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(named.iter().all(|part| told.contains(part)), "{told}");
    assert!(told.contains("vault check --repair"), "{told}");
    assert_eq!(place.ok(["fs", "cat", "/small.txt", "-w", "fix", "-q"]), "small\n");
    for arguments in [&["workspace", "create", "other"][..], &["gc"], &["undo", "--vault-wide"]] {
        assert_damaged(&place, arguments, &named);
    }
    assert_check_finds(&place, &named);
    let verified = place.run(["audit", "verify"]);
    let said = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert_eq!(verified.status.code(), Some(5), "{said}");
    assert!(named.iter().all(|part| said.contains(part)), "{said}");
    // Somebody accepts it, and that is recorded.
    let repaired = place.json(&["vault", "check", "--repair"]);
    assert_eq!(repaired["ok"], true, "{repaired}");
    assert!(repaired["repaired"].to_string().contains(&lost), "{repaired}");
    let log = place.ok(["op", "log"]);
    assert!(log.contains("accept the loss"), "{log}");
    let again = place.run(["workspace", "create", "lost"]);
    assert!(again.status.success() && again.stderr.is_empty(), "{again:?}");
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}

/// A workspace whose files a command touches without changing their content.
fn touched() -> Place {
    let place = vault();
    place.ok(["exec", "-q", "-w", "fix", "--", "true"]);
    place
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_is_touched_and_damaged_below_is_not_taken_for_a_change() {
    let place = touched();
    let checksum = |at: &str| place.json(&["fs", "stat", "/big.bin", "-w", at])["checksum"].clone();
    let before = checksum("fix");
    flip(&in_layer(&place, "big.bin"));
    for command in ["touch big.bin", "chmod 600 big.bin", "touch -r big.bin big.bin; : >> big.bin"]
    {
        let result = place.json(&["exec", "-w", "fix", "--", "sh", "-c", command]);
        let warnings = result["warnings"].to_string();
        assert!(warnings.contains("/big.bin is damaged"), "{command}: {result}");
        assert_eq!(checksum("fix"), before, "{command}");
        let modified = result["changes"].to_string().contains("\"modified\"");
        assert!(!modified, "{command}: {result}");
    }
    assert_eq!(place.json(&["fs", "stat", "/big.bin", "-w", "fix"])["mode"], "0600");
    // The layers that the commands left hold the damaged copy, which is found.
    assert_check_finds(&place, &["layer", "big.bin"]);
    // A real change, of the same length, is one.
    let write = "printf changed | dd of=big.bin conv=notrunc status=none";
    let result = place.json(&["exec", "-w", "fix", "--", "sh", "-c", write]);
    assert_ne!(checksum("fix"), before);
    assert!(!result["warnings"].to_string().contains("damaged"), "{result}");
}

#[needs(Overlay, UserNamespace)]
#[test]
fn what_is_touched_and_whole_is_no_damage() {
    let place = touched();
    let command =
        "touch big.bin; chmod 600 big.bin; printf x | dd of=big.bin conv=notrunc status=none";
    let result = place.json(&["exec", "-w", "fix", "--", "sh", "-c", command]);
    assert_eq!(result["warnings"].to_string(), "[]", "{result}");
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}

#[needs(Overlay, UserNamespace)]
#[test]
fn a_verified_command_does_not_run_on_damaged_files() {
    let place = touched();
    let run = |command: &'static str| [command, "-w", "fix", "--verify", "--", "touch", "ran"];
    for command in ["exec", "run"] {
        place.ok(run(command));
        place.ok(["undo", "-w", "fix"]);
    }
    flip(&in_layer(&place, "big.bin"));
    for command in ["exec", "run"] {
        let output = place.run(run(command));
        assert_eq!(output.status.code(), Some(125), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains("/big.bin is damaged in layer "), "{told}");
    }
    let listed = place.ok(["fs", "ls", "-w", "fix"]);
    assert!(!listed.contains("ran"), "{listed}");
    let error = document_of(&place.run(["exec", "-w", "fix", "--verify", "--json", "--", "true"]));
    assert_eq!(error["result"]["error"]["code"], "damaged", "{error}");
    // Without being asked nothing is read.
    place.ok(["exec", "-q", "-w", "fix", "--", "touch", "ran"]);
}

#[test]
fn a_check_beside_collections_finds_nothing() {
    let place = vault();
    let mut rng = Rng::new(4);
    let stop = AtomicBool::new(false);
    let rounds = Tier::from_env().pick(12, 300);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let name = format!("/file-{}", rng.below(4));
                place.ok_with(["fs", "write", &name, "-w", "fix", "-q"], &rng.bytes(90_000));
                place.ok(["gc", "--keep-operations", "0", "--keep-age", "0s", "-q"]);
            }
        });
        for round in 0..rounds {
            let output = place.run(["vault", "check", "--json"]);
            if !output.status.success() {
                stop.store(true, Ordering::Relaxed);
            }
            assert!(output.status.success(), "round {round}: {output:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}
