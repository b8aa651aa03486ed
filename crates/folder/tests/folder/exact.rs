//! Forwards, back and undone: byte for byte, with modes, times, owners, attributes and links.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_folder::{Apply, ApplyNote, ApplyOptions, ApplyPlan, ApplyTarget, UnfinishedApplies};
use offshoot_host::Mtime;
use offshoot_needs::needs;
use offshoot_store::Id;
use offshoot_tests::scratch::{Scratch, everything_kept, scanned};
use offshoot_tree::{Batch, Body, Entry, Meta, TreeEditor, VaultPath};
use offshoot_vault::{Binding, GcOptions, ImportOptions};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use serde_json::json;

use crate::scene::{Scene, assert_clean, assert_state, target, write};
use crate::support::{actor, import, vault_of};

#[needs(UserXattr)]
#[test]
fn a_folder_gets_its_new_state_exactly() {
    let scene = Scene::everything();
    let mut apply = scene.staged();
    assert_eq!(apply.note(), &json!({"for": "a test"}));
    apply.swap().unwrap();
    apply.swap().unwrap();
    assert_eq!(apply.finish().unwrap(), []);
    scene.assert_new();
    assert_eq!(import(&scene.vault, &scene.folder).root, scene.after);
}

#[needs(UserXattr)]
#[test]
fn a_folder_gets_its_old_state_back_exactly() {
    let scene = Scene::everything();
    let inode = |name: &str| fs::symlink_metadata(scene.folder.join(name)).unwrap().ino();
    let names = ["src/edited", "gone/deep", "links/two", "becomes-file", "fifo-becomes-file"];
    let inodes = names.map(inode);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    apply.take_back().unwrap();
    assert_eq!(apply.finish().unwrap(), []);
    scene.assert_old();
    assert_eq!(names.map(inode), inodes, "they are the very files");
}

/// Somebody may have come to need it meanwhile.
#[test]
fn what_is_to_stay_is_not_taken_back() {
    let scene = Scene::of(
        |folder| write(folder, "a", "old", 0o644, 10),
        |folder| {
            write(folder, "a", "new", 0o644, 5);
            write(folder, "b", "new", 0o644, 5);
            write(folder, "store/ab/cd", "new", 0o444, 5);
        },
    );
    let stays = |path: &VaultPath| path.names().first().is_some_and(|name| name == b"store");
    let options = ApplyOptions { stays, ..ApplyOptions::default() };
    let (targets, lock) = ([target(&scene.folder)], scene.lock());
    let (before, after) = (&scene.before, &scene.after);
    let plan = ApplyPlan::new(&scene.vault, &targets, before, after, &options).unwrap();
    let mut apply = Apply::stage(&scene.vault, &lock, plan, Id::random(), json!(null)).unwrap();
    apply.swap().unwrap();
    apply.take_back().unwrap();
    assert_eq!(apply.finish().unwrap(), []);
    assert_eq!(fs::read_to_string(scene.folder.join("a")).unwrap(), "old");
    assert!(!scene.folder.join("b").exists());
    assert_eq!(fs::read_to_string(scene.folder.join("store/ab/cd")).unwrap(), "new");
    assert_clean(&scene.vault, &scene.folder);
}

#[needs(UserXattr)]
#[test]
fn an_apply_in_the_other_direction_undoes_it() {
    let scene = Scene::everything();
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    let plan = scene.plan_of(&scene.after, &scene.before);
    assert_eq!(plan.problems(), []);
    let lock = scene.lock();
    let mut undo = Apply::stage(&scene.vault, &lock, plan, Id::random(), json!(null)).unwrap();
    undo.swap().unwrap();
    undo.finish().unwrap();
    scene.assert_old();
}

#[test]
fn nothing_to_do_touches_nothing() {
    let scene = Scene::everything();
    let plan = scene.plan_of(&scene.before, &scene.before);
    assert!(plan.is_empty(), "{:?}", plan.steps().collect::<Vec<_>>());
    assert_eq!(plan.problems(), []);
}

#[test]
fn what_is_staged_is_neither_captured_nor_collected() {
    let scene = Scene::everything();
    let apply = scene.staged();
    assert_eq!(import(&scene.vault, &scene.folder).root, scene.before);
    let (keep_operations, keep_age, max_size) = (0, Duration::ZERO, None);
    let nothing = GcOptions { keep_operations, keep_age, max_size, dry_run: false, pack: true };
    scene.vault.collect(&nothing, &actor()).unwrap();
    let (id, after) = (apply.id(), apply.after());
    assert!(UnfinishedApplies::find(&scene.vault, &scene.lock()).is_err(), "somebody is at it");
    assert_eq!(scene.vault.interrupted_applies().unwrap(), []);
    drop(apply);
    assert_eq!(scene.vault.interrupted_applies().unwrap(), [id]);
    assert!(scene.vault.objects().unwrap().root(&after).is_ok());
    let lock = scene.lock();
    let mut found = UnfinishedApplies::find(&scene.vault, &lock).unwrap().open;
    assert_eq!(found.iter().map(|apply| apply.id()).collect::<Vec<_>>(), [id]);
    let mut apply = found.remove(0);
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
}

#[test]
fn a_directory_with_ignored_files_stays() {
    let scene = Scene::of(
        |folder| {
            write(folder, ".offshootignore", "*.o\n", 0o644, 9);
            write(folder, "gone/source", "recorded\n", 0o644, 9);
            write(folder, "gone/deep/built.o", "ignored\n", 0o644, 9);
            write(folder, "gone/deep/source", "recorded\n", 0o644, 9);
            write(folder, "all-gone/source", "recorded\n", 0o644, 9);
        },
        |folder| write(folder, ".offshootignore", "*.o\n", 0o644, 9),
    );
    let plan = scene.plan();
    let stays = ["gone/deep", "gone"].map(|it| ApplyNote::Stays { path: scene.folder.join(it) });
    assert_eq!(plan.notes(), stays);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    let left = |name: &str| scene.folder.join(name).exists();
    assert!(left("gone/deep/built.o") && !left("gone/source") && !left("gone/deep/source"));
    assert!(!left("all-gone"));
    assert_clean(&scene.vault, &scene.folder);
}

#[needs(Root)]
#[test]
fn attributes_that_the_vault_does_not_record_stay_with_the_file() {
    let scene = Scene::everything();
    let path = scene.folder.join("src/edited");
    // Somebody of their own may read it: owner, user 1234, group, mask, others.
    let entries: [(u16, u16, u32); 5] =
        [(1, 6, u32::MAX), (2, 4, 1234), (4, 4, u32::MAX), (16, 4, u32::MAX), (32, 4, u32::MAX)];
    let entries = entries.iter().flat_map(|(tag, may, who)| {
        [&tag.to_le_bytes()[..], &may.to_le_bytes(), &who.to_le_bytes()].concat()
    });
    let acl: Vec<u8> = 2u32.to_le_bytes().into_iter().chain(entries).collect();
    let attributes = [("trusted.mark", &b"of an administrator"[..]), (ACL, &acl)];
    for (name, value) in attributes {
        setxattr(&path, name, value, XattrFlags::empty()).unwrap();
    }
    setxattr(&path, "security.capability", &CAPABILITY, XattrFlags::empty()).unwrap();
    assert_eq!(import(&scene.vault, &scene.folder).root, scene.before);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
    let read = |name: &str| {
        let mut value = [0; 64];
        let length = getxattr(&path, name, &mut value)?;
        Ok::<Vec<u8>, rustix::io::Errno>(value[..length].to_vec())
    };
    assert_eq!(read("trusted.mark").unwrap(), b"of an administrator");
    // The new mode says less for others; the named user stays.
    let named: &[u8] = &[2, 0, 4, 0, 0xd2, 4, 0, 0];
    assert!(
        read(ACL).unwrap().chunks(4).collect::<Vec<_>>().windows(2).any(|it| it.concat() == named)
    );
    assert!(read("security.capability").is_err(), "new content gets no capabilities");
}

const ACL: &str = "system.posix_acl_access";
/// To bind to low ports.
const CAPABILITY: [u8; 20] = [1, 0, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn names_outside_of_the_folder_are_told_and_keep_their_content() {
    let scene = Scene::everything();
    let outside = scene.scratch.path().join("outside");
    fs::hard_link(scene.folder.join("src/edited"), &outside).unwrap();
    let plan = scene.plan();
    let path = scene.folder.join("src/edited");
    assert_eq!(plan.notes(), [ApplyNote::LinkedOutside { path }]);
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
    assert_eq!(fs::read_to_string(outside).unwrap(), "old content\n");
}

#[test]
fn many_files_are_changed_at_once() {
    let scene = Scene::of(
        |folder| {
            (0..300).for_each(|it| write(folder, &format!("d{}/{it}", it % 7), "old\n", 0o644, 9))
        },
        |folder| {
            (0..300).for_each(|it| write(folder, &format!("d{}/{it}", it % 9), "new!\n", 0o644, 8))
        },
    );
    let mut apply = scene.staged();
    apply.swap().unwrap();
    apply.finish().unwrap();
    scene.assert_new();
}

#[test]
fn several_folders_are_changed_at_once() {
    let scratch = Scratch::new();
    let states = ["old", "new"].map(|state| {
        let (project, config) = (format!("{state}-project"), format!("{state}-config"));
        let folders = [scratch.folder(&project), scratch.folder(&config)];
        write(&folders[0], "src/main", state, 0o644, 9);
        write(&folders[0], &format!("only-{state}"), state, 0o644, 9);
        write(&folders[1], "settings/deep", state, 0o600, 9);
        folders
    });
    let [old, new] = states;
    // Something beside the folders that the tree holds below the first.
    write(&new[0], ".offshoot/settings", "new", 0o644, 9);
    let vault = vault_of(&scratch, &old[0]);
    let capture = |folders: &[PathBuf; 2]| {
        let bindings = [binding("", &folders[0]), binding("config", &folders[1])];
        let imported = vault.import_bound(&bindings, &ImportOptions::default()).unwrap();
        (imported.root, bindings.iter().map(bound_target).collect::<Vec<_>>())
    };
    let ((before, targets), (after, _)) = (capture(&old), capture(&new));
    let states = [scanned(&old[0]), scanned(&old[1]), scanned(&new[0]), scanned(&new[1])];
    let lock = vault.lock_folders(None).unwrap();
    for back in [true, false] {
        let plan =
            ApplyPlan::new(&vault, &targets, &before, &after, &ApplyOptions::default()).unwrap();
        assert_eq!(plan.problems(), []);
        let mut apply = Apply::stage(&vault, &lock, plan, Id::random(), json!(null)).unwrap();
        assert_eq!(apply.folders(), old);
        apply.swap().unwrap();
        if back {
            apply.take_back().unwrap();
        }
        apply.finish().unwrap();
        let expected = if back { &states[..2] } else { &states[2..] };
        for (folder, expected) in old.iter().zip(expected) {
            assert_state(folder, expected, &everything_kept());
            assert_clean(&vault, folder);
        }
    }
}

/// Staging directories are made at the top of each folder, and each keeps the time that it had.
#[test]
fn staging_in_several_folders_leaves_their_times() {
    let scratch = Scratch::new();
    let folders = [scratch.folder("project"), scratch.folder("etc")];
    let [project, etc] = &folders;
    fs::write(project.join("code"), "code").unwrap();
    fs::write(etc.join("app.conf"), "port = 1\n").unwrap();
    fs::set_permissions(etc, PermissionsExt::from_mode(0o2750)).unwrap();
    for folder in &folders {
        fs::write(folder.join("one"), "linked").unwrap();
        fs::hard_link(folder.join("one"), folder.join("two")).unwrap();
    }
    let vault = vault_of(&scratch, project);
    let bindings = [binding("", project), binding("etc", etc)];
    let before = vault.import_bound(&bindings, &ImportOptions::default()).unwrap().root;
    let content = vault.add_content(&mut &b"other"[..], Path::new("test")).unwrap();
    let body = Body::File { size: content.size, blob: content.blob };
    let mut editor = TreeEditor::open(vault.objects().unwrap(), &before, Mtime::now()).unwrap();
    for at in ["/code", "/.offshoot/bound/etc/app.conf"] {
        let path = VaultPath::parse(at.as_bytes()).unwrap();
        editor.put(&path, Entry::new(Meta::of_new(0o644), body.clone())).unwrap();
    }
    let mut batch = Batch::default();
    let (after, _) = editor.finish(&mut batch).unwrap();
    vault.store(&batch).unwrap();
    let times = || folders.each_ref().map(|it| fs::metadata(it).unwrap().modified().unwrap());
    let was = times();
    let lock = vault.lock_folders(None).unwrap();
    let targets = bindings.each_ref().map(bound_target);
    let plan = ApplyPlan::new(&vault, &targets, &before, &after, &ApplyOptions::default()).unwrap();
    let mut apply = Apply::stage(&vault, &lock, plan, Id::random(), json!(null)).unwrap();
    for folder in &folders {
        let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(names.any(|name| name.as_encoded_bytes().starts_with(b".offshoot-apply-")));
    }
    assert_eq!(times(), was);
    apply.swap().unwrap();
    apply.finish().unwrap();
    assert_eq!(fs::read(project.join("code")).unwrap(), b"other");
    assert_eq!(fs::read(etc.join("app.conf")).unwrap(), b"other");
    assert!(!project.join(".offshoot").exists());
    assert_eq!(times(), was);
}

fn binding(name: &str, folder: &Path) -> Binding {
    Binding {
        id: Id::random(),
        name: name.to_owned(),
        path: folder.as_os_str().as_encoded_bytes().to_vec(),
        created_ms: 0,
        identity: None,
        git: false,
    }
}

fn bound_target(binding: &Binding) -> ApplyTarget {
    ApplyTarget { at: binding.at(), ..target(&binding.host_path()) }
}
