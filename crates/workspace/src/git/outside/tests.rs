use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// A place without links in its path.
fn place() -> (TempDir, PathBuf) {
    let place = TempDir::with_prefix("offshoot-test-").unwrap();
    let path = place.path().canonicalize().unwrap();
    (place, path)
}

fn write(path: PathBuf, text: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn repository(directory: &Path) {
    for inside in ["objects", "refs"] {
        fs::create_dir_all(directory.join(inside)).unwrap();
    }
    write(directory.join("HEAD"), "ref: refs/heads/main\n");
}

/// A linked working tree `side` of the repository `main/.git`.
fn worktree(at: &Path) -> (PathBuf, PathBuf) {
    let (shared, side) = (at.join("main/.git"), at.join("side"));
    repository(&shared);
    let own = shared.join("worktrees/side");
    write(own.join("HEAD"), "ref: refs/heads/side\n");
    write(own.join("commondir"), "../..\n");
    write(own.join("gitdir"), format!("{}\n", side.join(".git").display()));
    write(side.join(".git"), format!("gitdir: {}\n", own.display()));
    (shared, side)
}

fn wrong(folder: &Path) -> Option<NotOurs> {
    outside(folder).expect("it is outside").wrong
}

#[test]
fn a_linked_working_tree_is_known() {
    let (_held, at) = place();
    let (directory, side) = worktree(&at);
    assert_eq!(outside(&side), Some(Outside { directory: directory.clone(), wrong: None }));
    // The same with paths that are relative.
    write(side.join(".git"), "gitdir: ../main/.git/worktrees/side\n");
    write(directory.join("worktrees/side/gitdir"), "../../../../side/.git\n");
    assert_eq!(outside(&side), Some(Outside { directory, wrong: None }));
    assert_eq!(outside(&at.join("main")), None);
    assert_eq!(outside(&at), None);
}

#[test]
fn what_does_not_point_back_is_a_stranger() {
    let (_held, at) = place();
    let (shared, side) = worktree(&at);
    let evil = at.join("evil");
    write(evil.join(".git"), fs::read(side.join(".git")).unwrap());
    assert_eq!(wrong(&evil), Some(NotOurs::Stranger));
    write(evil.join(".git"), format!("gitdir: {}\n", shared.display()));
    assert_eq!(wrong(&evil), Some(NotOurs::Stranger));
    write(evil.join(".git"), format!("gitdir: {}\n", at.display()));
    assert_eq!(wrong(&evil), Some(NotOurs::NoRepository));
    write(evil.join(".git"), "gitdir: /nowhere/at/all\n");
    assert!(matches!(wrong(&evil), Some(NotOurs::Missing(_))));
    for odd in ["", "gitdir:", "gitdir: ", "gitdir: a\0b", "/etc\n"] {
        write(evil.join(".git"), odd);
        assert_eq!(outside(&evil), None, "{odd:?}");
    }
    // One that lies elsewhere and only says that it shares a directory.
    let own = at.join("evil/own");
    write(own.join("HEAD"), "ref: refs/heads/x\n");
    write(own.join("commondir"), shared.as_os_str().as_bytes());
    write(own.join("gitdir"), evil.join(".git").as_os_str().as_bytes());
    write(evil.join(".git"), format!("gitdir: {}\n", own.display()));
    assert_eq!(wrong(&evil), Some(NotOurs::Stranger));
}

#[test]
fn a_submodule_is_known_by_its_working_tree_or_its_place() {
    let (_held, at) = place();
    let (around, lib) = (at.join("super"), at.join("super/lib"));
    let directory = around.join(".git/modules/lib");
    repository(&around.join(".git"));
    repository(&directory);
    write(lib.join(".git"), "gitdir: ../.git/modules/lib\n");
    assert_eq!(wrong(&lib), None, "by its place");
    let far = at.join("far");
    write(far.join(".git"), format!("gitdir: {}\n", directory.display()));
    assert_eq!(wrong(&far), Some(NotOurs::Stranger));
    write(directory.join("config"), "[core]\n\tbare = false\n\tworktree = \"../../../../far\"\n");
    assert_eq!(wrong(&far), None, "by its settings");
    write(
        directory.join("config"),
        "[other]\n\tworktree = ../../../../far\n[core]\n\tbare = false\n",
    );
    assert_eq!(wrong(&far), Some(NotOurs::Stranger));
}

#[test]
fn what_lies_in_the_folder_is_not_outside() {
    let (_held, at) = place();
    let folder = at.join("folder");
    repository(&folder.join("inner.git"));
    write(folder.join(".git"), "gitdir: inner.git\n");
    assert_eq!(outside(&folder), None);
    fs::remove_file(folder.join(".git")).unwrap();
    symlink("inner.git", folder.join(".git")).unwrap();
    assert_eq!(outside(&folder), None);
    repository(&at.join("elsewhere"));
    fs::remove_file(folder.join(".git")).unwrap();
    symlink("../elsewhere", folder.join(".git")).unwrap();
    assert_eq!(wrong(&folder), Some(NotOurs::Stranger));
}
