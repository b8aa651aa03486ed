//! Several folders as one tree.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use offshoot_tree::Body;
use offshoot_vault::{
    Binding, CheckDepth, GcOptions, ImportOptions, Imported, SkipReason, Vault, VaultError,
    bound_path,
};

use crate::support::{
    Scratch, actor, assert_same, commit, everything_kept, export, head, path, scanned, vault_of,
};

/// Longer than files count as too young to be remembered.
const SETTLED: Duration = Duration::from_millis(60);

/// A project and two folders elsewhere, and the vault of the project.
struct Scene {
    scratch: Scratch,
    project: PathBuf,
    etc: PathBuf,
    vault: Vault,
}

impl Scene {
    fn new() -> Self {
        let scratch = Scratch::new();
        let (project, etc) = (scratch.folder("project"), scratch.folder("etc"));
        fs::write(project.join("code"), "code").unwrap();
        fs::write(etc.join("app.conf"), "port = 1\n").unwrap();
        fs::create_dir(etc.join("d")).unwrap();
        fs::set_permissions(&etc, PermissionsExt::from_mode(0o2750)).unwrap();
        for folder in [&project, &etc] {
            fs::write(folder.join("one"), "linked").unwrap();
            fs::hard_link(folder.join("one"), folder.join("two")).unwrap();
        }
        sleep(SETTLED);
        let vault = vault_of(&scratch, &project);
        Self { scratch, project, etc, vault }
    }

    fn bindings(&self) -> Vec<Binding> {
        let mut bindings = self.vault.bindings().unwrap();
        bindings.push(self.bind("etc", &self.etc));
        bindings
    }

    fn bind(&self, name: &str, folder: &Path) -> Binding {
        let at = |id, time| Binding::new(id, name, folder, time);
        let made = self.vault.transact("test", &actor(), |tx| Ok(at(tx.new_id(), 1)));
        made.unwrap().value
    }

    fn import(&self) -> Imported {
        self.vault.import_bound(&self.bindings(), &ImportOptions::default()).unwrap()
    }
}

#[test]
fn other_folders_lie_in_the_tree_of_the_first() {
    let scene = Scene::new();
    let imported = scene.import();
    assert_eq!((imported.report.files, imported.report.directories), (6, 1));
    commit(&scene.vault, &imported.root);
    assert_eq!(scene.vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    let out = export(&scene.vault, &imported.root, &scene.scratch.path().join("out"));
    let bound = out.join(".offshoot/bound");
    assert_same(&scanned(&scene.etc), &scanned(&bound.join("etc")), &everything_kept());
    fs::remove_dir_all(out.join(".offshoot")).unwrap();
    let mut options = everything_kept();
    options.special = false;
    let time = fs::metadata(&scene.project).unwrap().modified().unwrap();
    fs::File::open(&out).unwrap().set_modified(time).unwrap();
    assert_same(&scanned(&scene.project), &scanned(&out), &options);
}

#[test]
fn the_same_folders_give_the_same_root_and_are_not_read_again() {
    let scene = Scene::new();
    let first = scene.import();
    commit(&scene.vault, &first.root);
    let second = scene.import();
    assert_eq!(first.root, second.root);
    assert_eq!((second.report.files, second.report.unchanged), (6, 6));
    fs::write(scene.etc.join("app.conf"), "port = 2\n").unwrap();
    let third = scene.import();
    assert_ne!(third.root, second.root);
    assert_eq!((third.report.files, third.report.unchanged), (6, 5));
}

#[test]
fn what_is_known_of_files_outlives_a_collection() {
    let scene = Scene::new();
    commit(&scene.vault, &scene.import().root);
    fs::write(scene.project.join("code"), "other code").unwrap();
    sleep(SETTLED);
    commit(&scene.vault, &scene.import().root);
    let (keep_operations, keep_age, max_size) = (0, Duration::ZERO, None);
    let options = GcOptions { keep_operations, keep_age, max_size, dry_run: false, pack: true };
    scene.vault.collect(&options, &actor()).unwrap();
    let again = scene.import();
    assert_eq!(again.root, head(&scene.vault));
    assert_eq!((again.report.files, again.report.unchanged), (6, 6));
}

#[test]
fn links_of_one_folder_are_not_linked_to_those_of_another() {
    let scene = Scene::new();
    let imported = scene.import();
    commit(&scene.vault, &imported.root);
    let tree = scene.vault.tree(&imported.root).unwrap();
    let group = |text: &str| tree.find(&path(text)).unwrap().group.unwrap();
    assert_eq!(group("/one"), group("/two"));
    assert_eq!(group("/.offshoot/bound/etc/one"), group("/.offshoot/bound/etc/two"));
    assert_ne!(group("/one"), group("/.offshoot/bound/etc/one"));
    let linked = scene.vault.links(&imported.root, &[]).unwrap();
    let expected = [".offshoot/bound/etc/one", ".offshoot/bound/etc/two", "one", "two"];
    assert_eq!(linked, expected.map(|text| text.as_bytes().to_vec()));
}

#[test]
fn the_place_of_other_folders_is_not_taken_from_the_first() {
    let scene = Scene::new();
    let own = scene.project.join(".offshoot");
    fs::create_dir_all(own.join("bound/etc")).unwrap();
    fs::write(own.join("bound/etc/false"), "false").unwrap();
    fs::write(own.join("settings"), "mine").unwrap();
    let imported = scene.import();
    let skipped: Vec<_> = imported.report.skipped.iter().map(|s| (&s.path[..], &s.why)).collect();
    assert_eq!(skipped, [(&b".offshoot/bound"[..], &SkipReason::Reserved)]);
    let tree = scene.vault.tree(&imported.root).unwrap();
    assert!(tree.get(&path("/.offshoot/bound/etc/false")).unwrap().is_none());
    assert!(matches!(tree.find(&path("/.offshoot/settings")).unwrap().body, Body::File { .. }));
    assert!(tree.find(&bound_path().join(b"etc").join(b"app.conf")).is_ok());
    let bindings = scene.vault.bindings().unwrap();
    let alone = scene.vault.import_bound(&bindings, &ImportOptions::default()).unwrap();
    let tree = scene.vault.tree(&alone.root).unwrap();
    assert!(tree.get(&bound_path()).unwrap().is_none(), "with one folder neither");
    fs::remove_dir_all(&own).unwrap();
    fs::write(&own, "a file").unwrap();
    let refused = scene.vault.import_bound(&scene.bindings(), &ImportOptions::default());
    assert!(matches!(refused, Err(VaultError::ReservedName { path }) if path == own));
}

#[test]
fn without_its_last_other_folder_a_state_is_that_of_the_first_alone() {
    let scene = Scene::new();
    let both = scene.import();
    commit(&scene.vault, &both.root);
    let (root, content) = scene.vault.without_bound(&both.root, "etc").unwrap();
    let bindings = scene.vault.bindings().unwrap();
    let alone = scene.vault.import_bound(&bindings, &ImportOptions::default()).unwrap();
    assert_eq!((root, content), (alone.root, alone.content));
    fs::create_dir(scene.project.join(".offshoot")).unwrap();
    let both = scene.import();
    let (root, _) = scene.vault.without_bound(&both.root, "etc").unwrap();
    let alone = scene.vault.import_bound(&bindings, &ImportOptions::default()).unwrap();
    assert_eq!(root, alone.root, "a directory of the person's own stays");
}

#[test]
fn a_folder_that_is_gone_is_not_taken_for_empty() {
    let scene = Scene::new();
    let bindings = scene.bindings();
    fs::rename(&scene.etc, scene.scratch.path().join("elsewhere")).unwrap();
    let refused = scene.vault.import_bound(&bindings, &ImportOptions::default());
    assert!(
        matches!(refused, Err(VaultError::FolderGone { name, path }) if name == "etc" && path == scene.etc)
    );
}
