//! What interrupted commands left: set aside, looked at, adopted or removed, wherever they were cut short.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_store::{Id, ProcessMark};
use offshoot_tree::RootId;
use offshoot_vault::{
    CaptureWay, CheckDepth, ExecNote, ImportOptions, LeftoverShape, LinkLimit, NewSnapshot,
    PlainAccess, Upper, UpperOwner, Vault, VaultOptions,
};

use crate::overlay::note;
use crate::support::{Scratch, actor, export, head, vault_of};

const NO_LIMIT: LinkLimit = LinkLimit { names: u64::MAX, bytes: u64::MAX };

/// A vault with a few files.
fn small(scratch: &Scratch) -> Vault {
    let source = scratch.folder("source");
    fs::write(source.join("kept"), "kept").unwrap();
    fs::write(source.join("changed"), "before").unwrap();
    vault_of(scratch, &source)
}

/// A command that has written something, and its note.
fn written(vault: &Vault) -> (Upper, ExecNote) {
    let mut upper = vault.begin_upper(&head(vault)).unwrap();
    let note = note(vault, upper.base());
    upper.note(&note).unwrap();
    fs::write(upper.dir().join("changed"), "after").unwrap();
    fs::write(upper.dir().join("large"), vec![7; 100_000]).unwrap();
    (upper, note)
}

/// A copy of a vault as a power cut or a kill would leave it at this moment, opened.
fn cut(vault: &Vault, scratch: &Scratch, name: &str) -> Vault {
    let to = scratch.path().join(name);
    let status = std::process::Command::new("cp").arg("-a").arg(vault.dir()).arg(&to).status();
    assert!(status.unwrap().success());
    fs::create_dir_all(to.join("open")).unwrap();
    fs::write(to.join("open/dead"), "").unwrap();
    Vault::open(&to, vault.id(), &VaultOptions::default()).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Makes what was left part of the history, and gives the state.
fn keep(vault: &Vault, exec: &Id) -> RootId {
    let left = vault.take_leftover(exec).unwrap().unwrap();
    let parent = left.note.snapshot;
    let adopted = left.adopt(vault, LeftoverShape::Difference, &PlainAccess).unwrap();
    vault
        .transact("keep", &actor(), |tx| {
            adopted.record(tx)?;
            let snapshot = tx.add_snapshot(NewSnapshot {
                root: adopted.root,
                content: adopted.content,
                parents: vec![parent],
                reason: "recover".to_owned(),
                message: None,
            })?;
            tx.set_head(snapshot.id)
        })
        .unwrap();
    let root = adopted.root;
    adopted.settle().unwrap();
    root
}

/// What was left can be kept, is what was written, and nothing stays beside it.
fn assert_recovered(vault: &Vault, exec: &Id, out: PathBuf) {
    assert_eq!(vault.left().unwrap(), [*exec]);
    let left = vault.take_leftover(exec).unwrap().unwrap();
    assert!(vault.take_leftover(exec).is_err(), "one at a time");
    let preview = left.preview(vault, LeftoverShape::Difference, &PlainAccess).unwrap();
    let mut paths: Vec<String> = preview.changes.iter().map(|c| c.path.to_string()).collect();
    paths.retain(|path| path != "/");
    assert_eq!(paths, ["/changed", "/large"]);
    drop(left);
    let root = keep(vault, exec);
    let out = export(vault, &root, &out);
    assert_eq!(fs::read(out.join("changed")).unwrap(), b"after");
    assert_eq!(fs::read(out.join("large")).unwrap(), vec![7; 100_000]);
    assert_eq!(fs::read(out.join("kept")).unwrap(), b"kept");
    assert_eq!(vault.left().unwrap(), []);
    for layer in names(&vault.dir().join("layers")) {
        assert_eq!(names(&vault.dir().join("layers").join(&layer)), ["fs"], "{layer}");
    }
    let report = vault.check(CheckDepth::Content).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!(report.stray_layers, Vec::<String>::new());
}

#[test]
fn cut_while_it_is_written() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    let cut = cut(&vault, &scratch, "cut");
    assert_recovered(&cut, &note.exec, scratch.path().join("out"));
    drop(upper);
    // Dropped, it is set aside as well: somebody ran a command and did not say what is to become of its work.
    assert_recovered(&vault, &note.exec, scratch.path().join("out-2"));
}

/// Whether anything was written can be told of the ways that are known. What a newer program left is nobody's to clear.
#[test]
fn what_is_not_known_is_set_aside_even_if_it_looks_empty() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let begin = |change: &dyn Fn(&mut ExecNote)| {
        let mut upper = vault.begin_upper(&head(&vault)).unwrap();
        let mut note = note(&vault, upper.base());
        change(&mut note);
        upper.note(&note).unwrap();
        (upper, note.exec)
    };
    let way = |driver: &str, version| Some(CaptureWay { driver: driver.to_owned(), version });
    let known = [begin(&|_| ()), begin(&|note| note.capture = way("overlay", 1))];
    let foreign = [
        begin(&|note| note.capture = way("tapes", 1)),
        begin(&|note| note.capture = way("overlay", 2)),
        begin(&|note| note.owner = UpperOwner::Unknown),
        begin(&|note| (note.owner, note.read_only) = (UpperOwner::Unknown, true)),
    ];
    let found = cut(&vault, &scratch, "cut");
    let mut expected = foreign.each_ref().map(|(_, exec)| *exec);
    expected.sort_unstable();
    assert_eq!(found.left().unwrap(), expected);
    drop(found);
    for (upper, _) in known.into_iter().chain(foreign) {
        upper.discard();
    }
}

/// A note as programs wrote it before they named owner and driver, and one of a program to come.
#[test]
fn notes_of_other_programs_are_read() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    drop(upper);
    let path = vault.dir().join("left").join(note.exec.to_string()).join("exec.json");
    let written: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(written["owner"], "exec");
    let with = |change: &dyn Fn(&mut serde_json::Map<String, serde_json::Value>)| {
        let mut changed = written.clone();
        change(changed.as_object_mut().unwrap());
        fs::write(&path, changed.to_string()).unwrap();
        vault.left_note(&note.exec).unwrap()
    };
    let old = with(&|fields| fields.retain(|name, _| name != "owner" && name != "capture"));
    assert_eq!((old.owner, old.capture.clone()), (UpperOwner::Exec, None));
    assert_eq!(old.way(), CaptureWay { driver: "overlay".to_owned(), version: 1 });
    let new = with(&|fields| drop(fields.insert("owner".to_owned(), "mount".into())));
    assert_eq!(new.owner, UpperOwner::Unknown);
    with(&|_| ());
    assert_recovered(&vault, &note.exec, scratch.path().join("out"));
}

#[test]
fn cut_after_it_was_sealed_and_before_it_was_recorded() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    let adopted = vault.adopt(upper, &PlainAccess).unwrap();
    let before = cut(&vault, &scratch, "before");
    assert_recovered(&before, &note.exec, scratch.path().join("out"));
    // Objects name the layer, so it stays where it is.
    drop(adopted);
    let left = vault.take_leftover(&note.exec).unwrap().unwrap();
    assert!(left.note.layer.is_some());
    drop(left);
    assert_recovered(&vault, &note.exec, scratch.path().join("out-2"));
}

/// Whoever collects garbage learns what is in use, from before a command writes until it is history.
#[test]
fn what_is_in_use_is_noted_all_the_way() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    let noted = |vault: &Vault| {
        let [found] = &vault.notes().unwrap()[..] else { panic!("one note") };
        assert_eq!((found.exec, found.root), (note.exec, note.root));
        found.layer
    };
    assert_eq!(noted(&vault), None);
    let adopted = vault.adopt(upper, &PlainAccess).unwrap();
    let sealed = noted(&vault);
    assert!(sealed.is_some());
    drop(adopted);
    assert_eq!(noted(&vault), sealed);
    keep(&vault, &note.exec);
    assert_eq!(vault.notes().unwrap(), []);
}

#[test]
fn cut_before_objects_name_the_layer() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    let unnamed = cut(&vault, &scratch, "unnamed");
    drop(unnamed);
    // As `seal` leaves it: renamed, and nothing else.
    let layers = scratch.path().join("unnamed/layers");
    drop(vault.adopt(upper, &PlainAccess));
    let left = scratch.path().join("unnamed/left").join(note.exec.to_string());
    fs::rename(&left, layers.join(Id::random().to_string())).unwrap();
    fs::write(scratch.path().join("unnamed/open/dead"), "").unwrap();
    let id = vault.id();
    let opened = Vault::open(&scratch.path().join("unnamed"), id, &VaultOptions::default());
    assert_recovered(&opened.unwrap(), &note.exec, scratch.path().join("out"));
}

#[test]
fn cut_after_it_was_recorded_and_before_its_note_went() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    drop(upper);
    let left = vault.take_leftover(&note.exec).unwrap().unwrap();
    let adopted = left.adopt(&vault, LeftoverShape::Difference, &PlainAccess).unwrap();
    vault
        .transact("keep", &actor(), |tx| {
            adopted.record(tx)?;
            let snapshot = tx.add_snapshot(NewSnapshot {
                root: adopted.root,
                content: adopted.content,
                parents: vec![note.snapshot],
                reason: "recover".to_owned(),
                message: None,
            })?;
            tx.set_head(snapshot.id)
        })
        .unwrap();
    let cut = cut(&vault, &scratch, "cut");
    assert_eq!(cut.left().unwrap(), [], "it is part of the history");
    for layer in names(&cut.dir().join("layers")) {
        assert_eq!(names(&cut.dir().join("layers").join(&layer)), ["fs"], "{layer}");
    }
    assert_eq!(cut.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    adopted.settle().unwrap();
}

#[test]
fn names_that_were_placed_do_not_count() {
    let scratch = Scratch::new();
    let source = scratch.folder("source");
    fs::create_dir(source.join("dir")).unwrap();
    fs::write(source.join("one"), "linked").unwrap();
    fs::hard_link(source.join("one"), source.join("dir/two")).unwrap();
    let vault = vault_of(&scratch, &source);
    let place = |touch: bool| {
        let mut upper = vault.begin_upper(&head(&vault)).unwrap();
        assert_eq!(upper.place_links(&vault, NO_LIMIT).unwrap().names, 2);
        upper.note(&note(&vault, upper.base())).unwrap();
        // A change in the tick of the placing would not show.
        std::thread::sleep(std::time::Duration::from_millis(20));
        if touch {
            fs::write(upper.dir().join("one"), "changed").unwrap();
        }
        upper
    };
    let (untouched, touched) = (place(false), place(true));
    let found = cut(&vault, &scratch, "cut");
    // Copied, all of it has other inodes, and only its bytes tell that nobody wrote to it.
    assert_eq!(found.left().unwrap().len(), 1);
    drop(found);
    untouched.abandon(&vault);
    assert_eq!(vault.left().unwrap(), []);
    touched.abandon(&vault);
    let [exec] = vault.left().unwrap()[..] else { panic!("one is left") };
    let left = vault.take_leftover(&exec).unwrap().unwrap();
    assert_eq!(left.size(LeftoverShape::Difference).unwrap().unwrap().files, 2);
    drop(left);
    let out = export(&vault, &keep(&vault, &exec), &scratch.path().join("out"));
    use std::os::unix::fs::MetadataExt;
    assert_eq!(fs::read(out.join("dir/two")).unwrap(), b"changed");
    assert_eq!(fs::metadata(out.join("one")).unwrap().nlink(), 2);
}

/// Nothing is taken from a command whose processes may still write.
#[test]
fn what_still_runs_inside_is_waited_for() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (mut upper, mut note) = written(&vault);
    let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    note.init = Some(ProcessMark::of(child.id()));
    upper.note(&note).unwrap();
    let killer = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        child.kill().unwrap();
        child.wait().unwrap();
    });
    let start = std::time::Instant::now();
    let cut = cut(&vault, &scratch, "cut");
    assert!(start.elapsed() >= std::time::Duration::from_millis(250));
    assert_eq!(cut.left().unwrap(), [note.exec]);
    killer.join().unwrap();
}

#[test]
fn notes_that_say_nothing_are_cleared_with_their_files() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, _note) = written(&vault);
    fs::write(upper.dir().with_file_name("exec.json"), "{\"exec\":").unwrap();
    let cut = cut(&vault, &scratch, "cut");
    assert_eq!(cut.left().unwrap(), []);
    assert!(names(&cut.dir().join("layers")).iter().all(|name| !name.ends_with(".tmp")));
    upper.discard();
    assert_eq!(vault.left().unwrap(), []);
}

/// A power cut may take the bytes of a note that was not synced; nobody is told of what it was about.
#[test]
fn what_was_set_aside_without_a_note_is_cleared() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    upper.abandon(&vault);
    let place = vault.dir().join("left").join(note.exec.to_string());
    assert_eq!(cut(&vault, &scratch, "whole").left().unwrap(), [note.exec]);
    fs::write(place.join("exec.json"), "").unwrap();
    assert_eq!(cut(&vault, &scratch, "cut").left().unwrap(), []);
}

/// Which names were placed before the command is not known then; all that is there counts as written.
#[test]
fn what_was_placed_may_be_cut_short() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    fs::write(upper.dir().with_file_name("placed"), "").unwrap();
    upper.abandon(&vault);
    let left = vault.take_leftover(&note.exec).unwrap().unwrap();
    assert_eq!(left.size(LeftoverShape::Difference).unwrap().unwrap().files, 2);
    assert!(
        left.preview(&vault, LeftoverShape::Difference, &PlainAccess).unwrap().changes.len() >= 2
    );
    drop(left);
    assert_recovered(&vault, &note.exec, scratch.path().join("out"));
}

/// A vault that is imported into again while something waits to be recovered keeps it.
#[test]
fn what_was_left_waits() {
    let scratch = Scratch::new();
    let vault = small(&scratch);
    let (upper, note) = written(&vault);
    upper.abandon(&vault);
    fs::write(scratch.path().join("source/more"), "more").unwrap();
    vault.import(&scratch.path().join("source"), &ImportOptions::default()).unwrap();
    assert_recovered(&vault, &note.exec, scratch.path().join("out"));
}
