//! Vaults that are damaged, foreign, or of a newer version.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of};

use offshoot_tests::rng::Rng;
use offshoot_tests::scan::{CompareOptions, compare, scan};

use crate::transcript::demo;

/// A vault with one file large enough to lie in a layer, and a workspace with one that lies in the catalog.
pub(crate) fn vault() -> Place {
    let place = demo();
    let mut bytes = vec![0; 200_000];
    Rng::new(7).fill(&mut bytes);
    place.write("big.bin", bytes);
    place.ok(["init"]);
    place.ok(["workspace", "create", "fix"]);
    place.ok_with(["fs", "write", "/small.txt", "-w", "fix"], b"small\n");
    place
}

pub(crate) fn directory(place: &Place) -> PathBuf {
    let info = place.json(&["vault", "info"]);
    PathBuf::from(info["vault"]["directory"].as_str().unwrap())
}

/// The layer's copy of a file.
pub(crate) fn in_layer(place: &Place, name: &str) -> PathBuf {
    let layers = fs::read_dir(directory(place).join("layers")).unwrap();
    let mut files = layers.map(|layer| layer.unwrap().path().join("fs").join(name));
    files.find(|file| file.exists()).expect("some layer has the file")
}

/// Puts something that is no database where the catalog of the place's vault was.
pub(crate) fn replace_catalog(place: &Place) {
    let directory = directory(place);
    for file in ["catalog.db-wal", "catalog.db-shm"] {
        fs::remove_file(directory.join(file)).unwrap();
    }
    fs::write(directory.join("catalog.db"), "this is no database ".repeat(500)).unwrap();
}

/// Runs SQL on a catalog with a program that is none of ours.
pub(crate) fn sql(directory: &Path, statement: &str) {
    let script = "import sqlite3, sys\n\
                  catalog = sqlite3.connect(sys.argv[1])\n\
                  catalog.execute(sys.argv[2])\n\
                  catalog.commit()\n\
                  catalog.execute('pragma wal_checkpoint(truncate)')\n";
    let mut python = Command::new("python3");
    python.arg("-c").arg(script).arg(directory.join("catalog.db")).arg(statement);
    let output = python.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Fails with exit code 5 and a message that has all of this.
#[track_caller]
pub(crate) fn assert_damaged(place: &Place, arguments: &[&str], named: &[&str]) {
    let error = place.json_error(arguments, 5);
    assert_eq!(error["code"], "damaged");
    let message = error["message"].as_str().unwrap();
    assert!(named.iter().all(|part| message.contains(part)), "{named:?}: {message}");
    assert!(error["hint"].is_string(), "{error}");
}

#[track_caller]
pub(crate) fn assert_check_finds(place: &Place, named: &[&str]) {
    let output = place.run(["vault", "check", "--json"]);
    assert_eq!(output.status.code(), Some(5), "{output:?}");
    let document = document_of(&output);
    assert_eq!(document["result"]["ok"], false);
    let problems = document["result"]["problems"].to_string();
    assert!(named.iter().all(|part| problems.contains(part)), "{named:?}: {problems}");
}

#[test]
fn a_flipped_bit_in_a_layer_is_found() {
    let place = vault();
    let file = in_layer(&place, "big.bin");
    let name = file.to_str().unwrap();
    let checksum = place.json(&["fs", "stat", "/big.bin"])["checksum"].clone();
    let named = [name, checksum.as_str().unwrap()];
    let handle = fs::File::options().read(true).write(true).open(&file).unwrap();
    let mut byte = [0];
    handle.read_exact_at(&mut byte, 100_000).unwrap();
    handle.write_all_at(&[byte[0] ^ 1], 100_000).unwrap();
    assert_damaged(&place, &["fs", "cat", "/big.bin"], &named);
    assert_check_finds(&place, &named);
    let out = place.path().join("out");
    assert_damaged(&place, &["fs", "export", "/", out.to_str().unwrap()], &named);
    assert!(!out.exists(), "what is damaged is not handed out");
    // What is not damaged is still there.
    assert_eq!(place.ok(["fs", "cat", "/small.txt"]), "small\n");
    assert_eq!(place.json(&["vault", "check", "--quick"])["ok"], true);

    handle.set_len(10).unwrap();
    assert_damaged(&place, &["fs", "cat", "/big.bin"], &named);
    fs::remove_file(&file).unwrap();
    assert_damaged(&place, &["fs", "cat", "/big.bin"], &named);
    assert_check_finds(&place, &named);
}

#[needs("python3")]
#[test]
fn damage_in_the_catalog_is_found() {
    let place = vault();
    let directory = directory(&place);
    let catalog = directory.join("catalog.db").to_str().unwrap().to_owned();
    sql(
        &directory,
        "update objects set value = x'004142' where value = cast(x'00736d616c6c0a' as blob)",
    );
    assert_damaged(&place, &["fs", "cat", "/small.txt"], &["content", &catalog]);
    assert_check_finds(&place, &["content", &catalog]);
    sql(&directory, "update objects set value = x'4f544e0100' where kind = 2");
    assert_damaged(&place, &["fs", "ls"], &["directory", &catalog]);
    assert_damaged(&place, &["status"], &["directory", &catalog]);
    assert_check_finds(&place, &["directory", &catalog]);
    sql(&directory, "delete from objects where kind = 3");
    assert_damaged(&place, &["fs", "ls"], &["root", "missing"]);
    assert_check_finds(&place, &["root"]);
    sql(&directory, "delete from snapshots");
    assert_damaged(&place, &["status"], &["snapshot"]);
    assert_check_finds(&place, &["snapshot"]);
}

#[needs("python3")]
#[test]
fn a_forged_audit_event_is_found() {
    let place = vault();
    sql(&directory(&place), "update audit set event = replace(event, 'fix', 'fox')");
    assert_check_finds(&place, &["audit"]);
    place.ok(["status"]);
}

#[needs("python3")]
#[test]
fn pages_that_are_noise_are_found() {
    let place = vault();
    let directory = directory(&place);
    sql(&directory, "update meta set value = value");
    let catalog = directory.join("catalog.db");
    let handle = fs::File::options().write(true).open(&catalog).unwrap();
    let mut noise = vec![0; 4096];
    Rng::new(3).fill(&mut noise);
    let bytes = fs::read(&catalog).unwrap();
    for (page, old) in bytes.chunks(4096).enumerate().skip(2).step_by(2) {
        // Without the words by which tables are made, SQLite finds none of them, and there is nothing to check.
        if !old.windows(7).any(|word| word == b"CREATE ") {
            handle.write_all_at(&noise, page as u64 * 4096).unwrap();
        }
    }
    // The first command after a start of the machine looks at the whole catalog.
    fs::remove_file(directory.join("checked")).unwrap();
    for arguments in [&["status"][..], &["fs", "ls"], &["init"]] {
        assert_damaged(&place, arguments, &[catalog.to_str().unwrap()]);
    }
    // A check opens the vault all the same and lists what it finds.
    let output = place.run(["vault", "check", "--json"]);
    assert_eq!(output.status.code(), Some(5));
    let problems = document_of(&output)["result"]["problems"].to_string();
    assert!(problems.contains(catalog.to_str().unwrap()), "{problems}");
}

#[test]
fn a_catalog_that_is_no_database() {
    let place = vault();
    let catalog = directory(&place).join("catalog.db").to_str().unwrap().to_owned();
    replace_catalog(&place);
    for arguments in [&["status"][..], &["fs", "ls"], &["vault", "check"], &["init"]] {
        assert_damaged(&place, arguments, &[&catalog]);
    }
    // One broken vault does not hide the others, and can be deleted.
    place.ok(["vault", "create", "other"]);
    let output = place.run(["vault", "list"]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(5), "{told}");
    assert!(told.contains("\nother") && told.contains("\nproject  damaged: "), "{told}");
    assert!(told.contains(&catalog), "{told}");
    place.ok(["vault", "delete", "project", "--yes"]);
    place.ok(["init"]);
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}

#[test]
fn a_catalog_that_is_not_there() {
    let place = vault();
    let catalog = directory(&place).join("catalog.db");
    fs::rename(&catalog, place.path().join("elsewhere")).unwrap();
    assert_damaged(&place, &["status"], &[catalog.to_str().unwrap()]);
    assert_damaged(&place, &["init"], &[catalog.to_str().unwrap()]);
    assert!(!catalog.exists(), "no empty catalog takes its place");
    fs::rename(place.path().join("elsewhere"), &catalog).unwrap();
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}

#[needs("python3")]
#[test]
fn a_newer_vault_is_left_alone() {
    let place = vault();
    let directory = directory(&place);
    sql(&directory, "pragma user_version = 99");
    let before = scan(&directory).unwrap();
    for arguments in [
        &["status"][..],
        &["fs", "ls"],
        &["fs", "mkdir", "/made", "-w", "fix"],
        &["workspace", "create", "other"],
        &["undo", "--vault-wide"],
        &["init"],
        &["vault", "info"],
        &["vault", "check"],
    ] {
        let error = place.json_error(arguments, 7);
        assert_eq!(error["code"], "newer_format", "{arguments:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("99") && message.contains("catalog.db"), "{message}");
        assert!(error["hint"].as_str().unwrap().contains("update offshoot"), "{error}");
    }
    // Looking makes SQLite's own two files, empty ones, and nothing else.
    let mut after = scan(&directory).unwrap();
    assert_eq!(after.0.remove(&b"catalog.db-wal"[..]).map_or(0, |wal| wal.size), 0);
    after.0.remove(&b"catalog.db-shm"[..]);
    let options = CompareOptions { directory_mtimes: false, ..CompareOptions::default() };
    let differences = compare(&before, &after, &options);
    assert!(differences.is_empty(), "{differences:?}");
    sql(&directory, "pragma user_version = 7");
    assert_eq!(place.json(&["vault", "check"])["ok"], true);
}

/// Cuts the catalog's log off, as a disk that loses its end does, and says which operations were in it.
fn cut_log(place: &Place, keep: impl Fn(u64) -> u64) {
    let directory = directory(place);
    let log = fs::File::options().write(true).open(directory.join("catalog.db-wal")).unwrap();
    log.set_len(keep(log.metadata().unwrap().len())).unwrap();
    fs::remove_file(directory.join("catalog.db-shm")).unwrap();
}

/// All files below the layers of a vault and what was set aside, by their length: none of the others is this long.
fn keeps(directory: &Path, length: usize) -> bool {
    let scanned = scan(directory).unwrap();
    scanned.0.values().any(|entry| entry.size == length as u64)
}

fn listed_as_damaged(place: &Place) {
    let output = place.run(["vault", "list", "--json"]);
    let list = document_of(&output);
    assert_eq!((output.status.code(), &list["success"]), (Some(5), &false.into()), "{list}");
    assert_eq!(list["result"]["damaged"][0]["name"], "project", "{list}");
}

/// The end of the catalog's file is lost: the list tells it of all that a check finds. Pages that are in the log are not lost.
#[needs("python3")]
#[test]
fn a_catalog_that_is_cut_short_is_listed_as_damaged() {
    for logged in [false, true] {
        let place = vault();
        for number in 0..40 {
            place.write(format!("src/{number}.txt"), format!("{number}\n").repeat(2000));
        }
        place.ok(["init"]);
        let directory = directory(&place);
        sql(&directory, "update meta set value = value");
        if logged {
            place.ok_with(["fs", "write", "/small.txt", "-w", "fix"], b"smaller\n");
        }
        assert_eq!(place.json(&["vault", "list"])["vaults"][0]["name"], "project");
        let catalog = directory.join("catalog.db");
        let length = fs::metadata(&catalog).unwrap().len();
        assert!(length > 30 * 4096, "{length}");
        let whole = fs::read(&catalog).unwrap();
        for kept in [length - 1, length - 4096, length / 4 * 3, length / 2, 20 * 4096 + 7] {
            let file = fs::File::options().write(true).open(&catalog).unwrap();
            file.set_len(kept).unwrap();
            let is_lost = !place.run(["vault", "check"]).status.success();
            assert!(is_lost || logged && kept >= length - 4096, "{kept} of {length}");
            match is_lost {
                true => listed_as_damaged(&place),
                false => drop(place.ok(["vault", "list"])),
            }
            fs::write(&catalog, &whole).unwrap();
        }
    }
}

/// What the log lost is not taken for what never was.
#[test]
fn what_the_catalog_lost_is_not_called_unknown() {
    let place = vault();
    let length = fs::metadata(directory(&place).join("catalog.db-wal")).unwrap().len();
    place.ok(["workspace", "create", "later"]);
    place.ok(["exec", "-w", "later", "--", "sh", "-c", "head -c 123457 /dev/zero > made"]);
    let directory = directory(&place);
    cut_log(&place, |_| length);
    for arguments in [
        &["status", "-w", "later"][..],
        &["fs", "ls", "-w", "later"],
        &["diff", "later", "fix"],
        &["undo", "-w", "later"],
    ] {
        assert_damaged(&place, arguments, &["catalog ends at operation", "was acknowledged"]);
    }
    listed_as_damaged(&place);
    let output = place.run(["status", "-w", "fix"]);
    assert!(output.status.success(), "what is there can be read: {output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("was acknowledged"), "{output:?}");
    // Going on without it keeps what the lost command wrote, also from who collects garbage.
    let repaired = place.json(&["vault", "check", "--repair"]);
    assert!(repaired["repaired"].to_string().contains("files of lost operations"), "{repaired}");
    place.ok(["gc"]);
    assert!(keeps(&directory.join("lost"), 123_457));
    place.json_error(&["status", "-w", "later"], 3);
    assert_eq!(place.json(&["vault", "list"])["vaults"][0]["name"], "project");
    place.ok(["exec", "-w", "fix", "--", "cat", "small.txt"]);
}

/// A catalog that lost everything has nothing to mend, so nothing is taken away.
#[test]
fn a_repair_without_a_main_line_takes_nothing_away() {
    let place = vault();
    let directory = directory(&place);
    cut_log(&place, |length| length / 5);
    assert_damaged(&place, &["status", "-w", "fix"], &["catalog has no operation left"]);
    assert_damaged(&place, &["status"], &["catalog has no operation left"]);
    listed_as_damaged(&place);
    let before = scan(&directory.join("layers")).unwrap();
    for _ in 0..2 {
        assert_damaged(
            &place,
            &["vault", "check", "--repair"],
            &["main line", "nothing was changed"],
        );
        assert_check_finds(&place, &["the head is missing", "was acknowledged"]);
    }
    let differences =
        compare(&before, &scan(&directory.join("layers")).unwrap(), &CompareOptions::default());
    assert!(differences.is_empty(), "{differences:?}");
    assert!(keeps(&directory.join("layers"), 200_000));
    place.ok(["vault", "delete", "project", "--yes"]);
    place.ok(["init"]);
}

/// A main line that is gone alone is what the log says.
#[needs("python3")]
#[test]
fn a_lost_main_line_is_found_in_the_log() {
    let place = vault();
    place.write("later.txt", "later\n");
    place.ok(["init"]);
    let root = place.json(&["log", "head"])["snapshots"][0]["snapshot"]["root"].clone();
    sql(&directory(&place), "delete from refs where kind = 'head'");
    assert_damaged(&place, &["fs", "ls", "--at", "head"], &["the head is missing"]);
    assert_check_finds(&place, &["the head is missing"]);
    listed_as_damaged(&place);
    let output = place.run(["vault", "check", "--repair", "--json"]);
    let told = document_of(&output)["result"]["repaired"].to_string();
    assert!(told.contains("main line was missing"), "{told}");
    let now = place.json(&["log", "head"])["snapshots"][0]["snapshot"]["root"].clone();
    assert_eq!(now, root);
    // That a row went is still said, since nobody knows whether it was the only one.
    assert_check_finds(&place, &["table refs"]);
    assert!(
        !document_of(&place.run(["vault", "check", "--json"]))
            .to_string()
            .contains("head is missing")
    );
    place.ok(["exec", "--", "cat", "later.txt"]);
}
