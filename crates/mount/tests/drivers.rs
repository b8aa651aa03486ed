//! Every driver takes a root to a directory and back, with no command and no namespace about.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_mount::{
    After, Driver, MountError, MountRequest, MountSession, View, driver_of, drivers,
};
use offshoot_store::{Id, ProcessMark, boot_id};
use offshoot_tree::RootId;
use offshoot_vault::{
    Actor, CaptureWay, ExecNote, ImportOptions, LeftoverShape, LinkLimit, PlainAccess, UpperOwner,
    Vault, VaultOptions, VaultRegistry,
};
use offshoot_vocabulary::{DriverChoice, DriverName};

/// A vault with a file.
fn vault(scratch: &Path) -> Vault {
    let source = scratch.join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("kept"), "kept").unwrap();
    let home = VaultRegistry::new(scratch.join("home"), VaultOptions::default());
    let made = home.create("v", Some(&source), &ImportOptions::default(), &Actor::user("tester"));
    made.unwrap().vault
}

fn note(vault: &Vault) -> ExecNote {
    let head = vault.head().unwrap();
    ExecNote {
        exec: Id::random(),
        workspace: Id::random(),
        workspace_name: "work".to_owned(),
        snapshot: head.id,
        root: head.root,
        layers: Vec::new(),
        command: "make".to_owned(),
        actor: Actor::user("tester"),
        started_ms: head.id.time_ms(),
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

fn begin<'v>(vault: &'v Vault, driver: &'static dyn Driver) -> (MountSession<'v>, PathBuf) {
    let request = MountRequest {
        root: vault.head().unwrap().root,
        near: Vec::new(),
        read_only: false,
        links: LinkLimit { names: 0, bytes: 0 },
        data_layers: |_| true,
        note: note(vault),
    };
    let mut session = MountSession::prepare(vault, &request, driver).unwrap();
    // Where whoever works there would write, as far as one file is concerned.
    let directory = match session.show().unwrap() {
        View::Directory(path) => {
            assert_eq!(fs::read(path.join("kept")).unwrap(), b"kept");
            path
        }
        View::Layers(layers) => {
            let lowest = layers.directory.join(layers.lower.last().unwrap());
            assert_eq!(fs::read(lowest.join("kept")).unwrap(), b"kept");
            layers.directory.join(layers.upper.unwrap().directory)
        }
    };
    session.note(ProcessMark::own()).unwrap();
    (session, directory)
}

/// The content of a file in a root.
fn content(vault: &Vault, root: &RootId, name: &str, out: &Path) -> String {
    let options = offshoot_vault::ExportOptions::default();
    vault.export(root, &offshoot_tree::VaultPath::top(), out, &options).unwrap();
    fs::read_to_string(out.join(name)).unwrap()
}

#[test]
fn what_is_written_is_captured() {
    for driver in drivers() {
        let scratch = tempfile::tempdir().unwrap();
        let vault = vault(scratch.path());
        let (session, directory) = begin(&vault, driver);
        assert_eq!(session.driver(), driver);
        fs::write(directory.join("new"), "written").unwrap();
        let after = After { busy: false, access: &PlainAccess };
        let captured = session.capture(&after).unwrap();
        let root = captured.adopted.root;
        assert_ne!(root, vault.head().unwrap().root, "{driver:?}");
        assert_eq!(content(&vault, &root, "new", &scratch.path().join("out")), "written");
        assert_eq!(fs::read(scratch.path().join("out/kept")).unwrap(), b"kept");
    }
}

#[test]
fn what_is_abandoned_is_left_in_the_shape_that_its_note_leads_to() {
    for driver in drivers() {
        let scratch = tempfile::tempdir().unwrap();
        let vault = vault(scratch.path());
        let (session, directory) = begin(&vault, driver);
        fs::write(directory.join("new"), "written").unwrap();
        session.abandon();
        let [exec] = vault.left().unwrap()[..] else { panic!("one is left") };
        let left = vault.take_leftover(&exec).unwrap().unwrap();
        let way = CaptureWay { driver: driver.name().to_string(), version: driver.version() };
        assert_eq!(left.note.capture, Some(way));
        let (found, shape) = driver_of(&left.note).unwrap();
        assert_eq!(found, driver);
        let adopted = left.adopt(&vault, shape, &PlainAccess).unwrap();
        let out = scratch.path().join("out");
        assert_eq!(content(&vault, &adopted.root, "new", &out), "written");
    }
}

#[test]
fn what_is_discarded_is_gone() {
    for driver in drivers() {
        let scratch = tempfile::tempdir().unwrap();
        let vault = vault(scratch.path());
        let (session, directory) = begin(&vault, driver);
        session.discard();
        assert!(!directory.exists());
        assert_eq!(vault.left().unwrap(), []);
    }
}

/// Programs before this one named neither driver nor owner.
#[test]
fn a_note_without_a_way_is_read_as_it_was_written() {
    let scratch = tempfile::tempdir().unwrap();
    let vault = vault(scratch.path());
    let shape = |copy| driver_of(&ExecNote { copy, ..note(&vault) }).unwrap();
    let (overlay, copy) = (shape(false), shape(true));
    assert_eq!((overlay.0.name(), overlay.1), (DriverName::Overlay, LeftoverShape::Difference));
    assert_eq!((copy.0.name(), copy.1), (DriverName::Copy, LeftoverShape::Tree));
}

#[test]
fn what_is_not_known_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let vault = vault(scratch.path());
    let named = |driver: &str, version| ExecNote {
        capture: Some(CaptureWay { driver: driver.to_owned(), version }),
        ..note(&vault)
    };
    for (driver, version) in [("tapes", 1), ("overlay", 2), ("copy", 0)] {
        let refused = driver_of(&named(driver, version));
        let Err(MountError::UnknownDriver { driver: of, version: in_note }) = refused else {
            panic!("{driver} {version} was taken")
        };
        assert_eq!((of.as_str(), in_note), (driver, version));
    }
    let foreign = ExecNote { owner: UpperOwner::Unknown, ..named("overlay", 1) };
    assert!(matches!(driver_of(&foreign), Err(MountError::UnknownOwner)));
    assert!("tapes".parse::<DriverChoice>().is_err());
}
