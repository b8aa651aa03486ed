use offshoot_tree::{BlobId, Body, ContentId, DirRef, Meta, NodeId};

use super::*;

fn path(text: &str) -> VaultPath {
    VaultPath::parse(text.as_bytes()).unwrap()
}

fn entry(mode: u16, body: Body) -> Entry {
    let meta = Meta { mode, ..Meta::default() };
    Entry { name: b"x".to_vec(), meta, group: None, conflict: None, body }
}

fn file(content: u8, mode: u16) -> Entry {
    entry(mode, Body::File { size: 1, blob: BlobId([content; 32]) })
}

fn link() -> Entry {
    entry(0o777, Body::Symlink { target: b"elsewhere".to_vec() })
}

fn directory(content: u8) -> Entry {
    let dir = DirRef {
        node: NodeId([content; 32]),
        content: ContentId([content; 32]),
        bytes: 0,
        entries: 1,
        conflicts: 0,
    };
    entry(0o755, Body::Directory(dir.into()))
}

/// What a new file at a path plants.
fn new_file(at: &str) -> Option<Planted> {
    planted(&path(at), None, Some(&file(1, 0o644)))
}

#[test]
fn what_git_runs_is_found_at_any_depth_and_in_any_spelling() {
    for (at, what) in [
        ("/.git/hooks/pre-commit", Planted::Hook),
        ("/.GIT/Hooks/pre-commit", Planted::Hook),
        ("/.git/hooks/lib/x", Planted::Hook),
        ("/.git/config", Planted::Config),
        ("/.git/config.worktree", Planted::Config),
        ("/vendor/lib/.git/config", Planted::Config),
        ("/.git/modules/lib/config", Planted::Config),
        ("/.git/modules/deep/er/lib/hooks/post-checkout", Planted::Hook),
        ("/.git/modules/lib/modules/inner/config", Planted::Config),
        ("/.git/modules/lib/objects/info/alternates", Planted::Redirect),
        ("/.git/worktrees/side/config.worktree", Planted::Config),
        ("/.git/worktrees/side/gitdir", Planted::Redirect),
        ("/.git/worktrees/side/commondir", Planted::Redirect),
        ("/.git/worktrees/side/modules/lib/config", Planted::Config),
        ("/.offshoot/bound/side.git/hooks/pre-commit", Planted::Hook),
        ("/.offshoot/bound/side.git/config", Planted::Config),
        ("/.offshoot/bound/side.git/worktrees/side/gitdir", Planted::Redirect),
        ("/.offshoot/bound/side.git", Planted::Redirect),
        ("/.git/info/attributes", Planted::Attributes),
        ("/.git/refs/replace/1234", Planted::Replacement),
        ("/.git/modules/lib/refs/replace/1234", Planted::Replacement),
        ("/.git/objects/info/alternates", Planted::Redirect),
        ("/.git/info/alternates", Planted::Redirect),
        ("/.git/remotes/origin", Planted::Redirect),
        ("/.git/branches/up", Planted::Redirect),
        ("/.git/arc/config", Planted::Config),
        ("/.git/sl/config", Planted::Config),
        ("/.git/branchless/config", Planted::Config),
        ("/.git/safe", Planted::Config),
        ("/.git/modules/lib/remotes/origin", Planted::Redirect),
        ("/.git/rebase-merge/git-rebase-todo", Planted::Todo),
        ("/.git/sequencer/todo", Planted::Todo),
        ("/sub/.git", Planted::Redirect),
    ] {
        assert_eq!(new_file(at), Some(what), "{at}");
    }
}

#[test]
fn the_rest_of_a_repository_comes_home() {
    for at in [
        "/.git/HEAD",
        "/.git/index",
        "/.git/refs/heads/hooks",
        "/.git/refs/heads/config",
        "/.git/logs/refs/heads/config",
        "/.git/objects/ab/cdef",
        "/.git/objects/info/packs",
        "/.git/info/exclude",
        "/.git/modules/lib/HEAD",
        "/.git/refs/remotes/origin/main",
        "/.git/refs/heads/branches/x",
        "/.git/modules/lib/refs/remotes/origin/main",
        "/.git/modules/lib/logs/refs/remotes/origin/main",
        "/hooks/pre-commit",
        "/config",
        "/src/.gitattributes",
        "/.gitconfig",
    ] {
        assert_eq!(new_file(at), None, "{at}");
    }
}

#[test]
fn a_change_to_what_git_runs_counts_and_a_touch_does_not() {
    let hook = path("/.git/hooks/pre-commit");
    let (old, new) = (file(1, 0o644), file(2, 0o644));
    assert_eq!(planted(&hook, Some(&old), Some(&new)), Some(Planted::Hook));
    assert_eq!(planted(&hook, Some(&old), Some(&file(1, 0o755))), Some(Planted::Hook));
    assert_eq!(planted(&hook, Some(&old), None), Some(Planted::Hook));
    let mut touched = old.clone();
    touched.meta.mtime.seconds = 7;
    assert_eq!(planted(&hook, Some(&old), Some(&touched)), None);
    let hooks = path("/.git/hooks");
    assert_eq!(planted(&hooks, Some(&directory(1)), Some(&directory(2))), None);
    assert_eq!(planted(&hooks, Some(&directory(1)), Some(&link())), Some(Planted::Hook));
}

#[test]
fn links_inside_of_a_repository_are_planted() {
    assert_eq!(planted(&path("/.git/refs"), None, Some(&link())), Some(Planted::Link));
    assert_eq!(planted(&path("/.git/modules/lib"), None, Some(&link())), Some(Planted::Link));
    assert_eq!(planted(&path("/.git"), None, Some(&link())), Some(Planted::Redirect));
    assert_eq!(planted(&path("/src/link"), None, Some(&link())), None);
    assert_eq!(planted(&path("/.git"), None, Some(&directory(1))), None);
}

#[test]
fn a_repository_that_is_exchanged_for_a_pointer_counts() {
    let git = path("/.git");
    assert_eq!(planted(&git, Some(&directory(1)), Some(&file(1, 0o644))), Some(Planted::Redirect));
    assert_eq!(planted(&git, Some(&file(1, 0o644)), Some(&directory(1))), Some(Planted::Redirect));
}
