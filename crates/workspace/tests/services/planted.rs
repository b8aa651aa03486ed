//! Directories that git would take for a repository, whatever they are called.

use offshoot_tree::VaultPath;
use offshoot_tree::diff::compare;
use offshoot_vault::Symlinks;
use offshoot_workspace::git::{Judge, Planted, Planting};

use crate::support::Bench;

/// No file counts.
struct Nothing;

impl Judge for Nothing {
    fn counts(&self, _: &VaultPath, _: bool) -> bool {
        false
    }

    fn is_harmless(&self, _: &VaultPath, _: Option<&[u8]>, _: Option<&[u8]>) -> bool {
        true
    }

    fn leads_astray(&self, _: &Symlinks) -> bool {
        false
    }

    fn takes(&self, _: &VaultPath) -> bool {
        false
    }
}

/// What the changes of a workspace plant, by path.
fn found(bench: &Bench, name: &str) -> Vec<(String, Planted)> {
    let (before, after) = (bench.root("head"), bench.root(name));
    let objects = bench.vault.objects().unwrap();
    let changes = compare(objects, &before, &after).unwrap();
    let (old, new) = (bench.vault.tree(&before).unwrap(), bench.vault.tree(&after).unwrap());
    let planting =
        Planting::of(&changes, objects, [&old, &new, &old], &[], &Nothing, None).unwrap();
    let planted = changes.iter().filter_map(|change| {
        let what =
            planting.planted(&change.path, change.before.as_deref(), change.after.as_deref())?;
        Some((change.path.to_string(), what))
    });
    planted.collect()
}

#[test]
fn a_new_bare_repository_is_held_back_whole() {
    let bench = Bench::of(&[("readme", "hello")]);
    let fix = bench.fork("fix");
    for (at, text) in [
        ("/x/y/HEAD", "ref: refs/heads/main\n"),
        ("/x/y/config", "[core]\n"),
        ("/x/y/objects/info/packs", ""),
        ("/x/y/refs/heads/main", ""),
        ("/x/y/readme", "all of it"),
        ("/x/other", "not in it"),
    ] {
        bench.write(&fix, at, text);
    }
    let found = found(&bench, "fix");
    assert!(found.iter().all(|(at, what)| at.starts_with("/x/y") && *what == Planted::Repository));
    assert!(found.iter().any(|(at, _)| at == "/x/y/readme"), "{found:?}");
}

#[test]
fn what_turns_a_known_directory_into_a_repository_is_held_back() {
    let bench = Bench::of(&[("d/text", "hello"), ("d/objects/o", "a"), ("refs", "a file")]);
    let fix = bench.fork("fix");
    bench.write(&fix, "/d/HEAD", "ref: x\n");
    bench.write(&fix, "/d/text", "changed");
    assert_eq!(found(&bench, "fix"), [], "no store of refs yet");
    bench.write(&fix, "/d/refs/heads/main", "");
    let paths: Vec<String> = found(&bench, "fix").into_iter().map(|(at, _)| at).collect();
    assert_eq!(paths, ["/d/HEAD", "/d/refs", "/d/refs/heads", "/d/refs/heads/main"]);
}

#[test]
fn a_bare_repository_of_the_project_is_one_like_others() {
    let head = "ref: refs/heads/main\n";
    let bench =
        Bench::of(&[("d/HEAD", head), ("d/objects/o", "a"), ("d/refs/r", ""), ("d/config", "")]);
    let fix = bench.fork("fix");
    bench.write(&fix, "/d/refs/heads/main", "1");
    bench.write(&fix, "/d/config", "[core]\n");
    bench.write(&fix, "/d/hooks/update", "#!/bin/sh\n");
    assert_eq!(
        found(&bench, "fix"),
        [
            ("/d/config".to_owned(), Planted::Config),
            ("/d/hooks".to_owned(), Planted::Hook),
            ("/d/hooks/update".to_owned(), Planted::Hook)
        ]
    );
}

#[test]
fn a_repository_behind_a_pointer_counts() {
    let bench = Bench::of(&[("readme", "hello")]);
    let fix = bench.fork("fix");
    bench.write(&fix, "/w/HEAD", "ref: x\n");
    bench.write(&fix, "/w/commondir", "../elsewhere\n");
    assert_eq!(found(&bench, "fix").len(), 3, "{:?}", found(&bench, "fix"));
}
