//! Several processes and threads in one vault at once.

use std::fs;
use std::path::Path;

use offshoot_vault::{CheckDepth, ImportOptions, VaultRegistry, VaultRegistryError};

use crate::children;
use crate::support::{
    Scratch, actor, commit, edit, file, head, home, home_at, import, path, vault_of,
};

const PROCESSES: usize = 6;
const EACH: usize = 8;

#[test]
fn processes_write_at_once() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::write(source.join("file"), "text").unwrap();
    drop(vault_of(&scratch, &source));
    let running: Vec<_> = (0..PROCESSES)
        .map(|number| {
            let mut command = children::command("write", scratch.path(), &[]);
            command.env("OFFSHOOT_TEST_NUMBER", number.to_string());
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in running {
        children::assert_passed(&child.wait_with_output().unwrap());
    }
    let vault = home(&scratch).open("v").unwrap();
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    // The making of the vault, and what each did.
    assert_eq!(report.operations, 1 + (PROCESSES * EACH) as u64);
    assert_eq!(fs::read_dir(vault.dir().join("open")).unwrap().count(), 0);
}

/// Imports, stores, stacks and commits, over and over.
pub(crate) fn write(place: &Path) {
    let number = std::env::var("OFFSHOOT_TEST_NUMBER").unwrap();
    let source = place.join(format!("source-{number}"));
    fs::create_dir(&source).unwrap();
    for round in 0..EACH {
        let vault = home_at(place).open("v").unwrap();
        fs::write(source.join("shared"), vec![round as u8; 80_000]).unwrap();
        fs::write(source.join("own"), format!("{number} {round}")).unwrap();
        let imported = import(&vault, &source);
        let own = file(&vault, format!("{number} {round}").as_bytes());
        let root = edit(&vault, &imported.root, |editor| editor.put(&path("/own"), own).unwrap());
        vault.stack(&root, &[head(&vault)]).unwrap();
        commit(&vault, &root);
        assert!(vault.head().is_ok());
    }
}

#[test]
fn threads_make_vaults_of_one_name_and_one_succeeds() {
    let scratch = Scratch::new();
    let made: Vec<bool> = at_once(6, |_| {
        let home = home(&scratch);
        match home.create("same", None, &ImportOptions::default(), &actor()) {
            Ok(_) => true,
            Err(VaultRegistryError::NameTaken(name)) if name == "same" => false,
            Err(error) => panic!("{error}"),
        }
    });
    assert_eq!(made.iter().filter(|made| **made).count(), 1);
    assert_eq!(names(&home(&scratch)), ["same"]);
    assert_eq!(fs::read_dir(scratch.path().join("home/vaults")).unwrap().count(), 1);
}

#[test]
fn homes_are_healed_while_vaults_are_made() {
    let scratch = Scratch::new();
    at_once(4, |number| {
        let home = home(&scratch);
        for round in 0..6 {
            let name = format!("v-{number}-{round}");
            let options = ImportOptions::default();
            let created = home.create(&name, None, &options, &actor()).unwrap();
            // A name that is not there makes the home look for vaults without links.
            assert!(home.open("none").is_err());
            assert!(created.vault.head().is_ok());
            drop(created);
            if round % 2 == 0 {
                home.delete(&name).unwrap();
            }
        }
    });
    assert_eq!(names(&home(&scratch)).len(), 4 * 3);
    assert_eq!(fs::read_dir(scratch.path().join("home/vaults")).unwrap().count(), 4 * 3);
}

fn names(home: &VaultRegistry) -> Vec<String> {
    home.list().unwrap().into_iter().map(|listed| listed.name).collect()
}

fn at_once<T: Send>(threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> =
            (0..threads).map(|number| scope.spawn(move || work(number))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
