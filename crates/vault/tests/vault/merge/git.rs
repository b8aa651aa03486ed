//! Merges beside those of git.

use std::collections::BTreeSet;

use offshoot_needs::needs;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier::cases;
use offshoot_tree::ConflictKind;
use offshoot_tree::merge::{Base, MergeOptions, Merged};
use offshoot_tree::{Body, Entry, RootId};

use super::git_repo::{Commit, Files, Outcome, Repository, Verdict, judge};
use super::support::{Place, long};

fn files(place: &Place, root: &RootId) -> Files {
    let file = |(path, entry): (String, Entry)| {
        let mode = match entry.body {
            Body::Symlink { .. } => 0o120_000,
            _ if entry.is_executable() => 0o100_755,
            _ => 0o100_644,
        };
        (path.into_bytes().split_off(1), (mode, place.bytes(&entry)))
    };
    place.leaves(root).into_iter().map(file).collect()
}

fn outcome(place: &Place, merged: &Merged) -> (Outcome, BTreeSet<Vec<u8>>) {
    let conflicts = merged.conflicts.iter();
    let beside = conflicts.clone().flat_map(|conflict| &conflict.beside);
    let beside = beside.map(|path| path.relative()).collect();
    let conflicts = conflicts.map(|conflict| conflict.path.relative()).collect();
    (Outcome { files: files(place, &merged.root), conflicts }, beside)
}

/// Merges by both; the first of the states is the base.
fn both(place: &Place, states: [RootId; 3]) -> (Verdict, Merged, Outcome) {
    let merged = place.merge(&states[0], &states[1..]);
    let files = states.map(|root| files(place, &root));
    let dir = tempfile::tempdir().unwrap();
    let commits = [
        Commit { parents: vec![], files: &files[0] },
        Commit { parents: vec![0], files: &files[1] },
        Commit { parents: vec![0], files: &files[2] },
    ];
    let git = Repository::new(dir.path(), &commits).merge(1, 2);
    let (ours, beside) = outcome(place, &merged);
    (judge(&ours, &git, &beside), merged, git)
}

#[needs("git")]
#[test]
fn renames_come_out_as_git_has_them() {
    let place = Place::new();
    let (a, b) = (long("a"), long("b"));
    let edited = |text: &str, n: usize| text.replace(&format!("number {n}\n"), "number changed\n");
    let base = place.state(&[("/a", &a), ("/d/b", &b), ("/d/c", &long("c")), ("/x", "x\n")]);
    let renamed = place.change(&base, &[("/a", None), ("/moved/a", Some(&edited(&a, 1)))]);
    let dir = [("/d/b", None), ("/d/c", None), ("/e/b", Some(b.as_str()))];
    let dir = place.change(&base, &[dir.as_slice(), &[("/e/c", Some(&long("c")))]].concat());
    let dir = place.from(&dir, |editor| drop(editor.remove(&crate::support::path("/d")).unwrap()));
    let sides = [
        (renamed, place.change(&base, &[("/a", Some(&edited(&a, 9)))]), Verdict::EqualClean),
        (renamed, place.change(&base, &[("/a", Some(&edited(&a, 1)))]), Verdict::EqualClean),
        (renamed, place.change(&base, &[("/a", Some(&edited(&a, 2)))]), Verdict::EqualConflicts),
        (renamed, renamed, Verdict::EqualClean),
        (dir, place.change(&base, &[("/d/new", Some("new\n"))]), Verdict::EqualClean),
        (dir, place.change(&base, &[("/d/b", Some(&edited(&b, 3)))]), Verdict::EqualClean),
    ];
    for (at, (ours, theirs, expected)) in sides.into_iter().enumerate() {
        assert_eq!(both(&place, [base, ours, theirs]).0, expected, "case {at}");
        assert_eq!(both(&place, [base, theirs, ours]).0, expected, "case {at}, swapped");
    }
}

#[needs("git")]
#[test]
fn conflicts_are_where_git_has_them() {
    let place = Place::new();
    let base = place.state(&[("/a", &long("a")), ("/b", "1\n2\n3\n"), ("/x", "x\n")]);
    let to = |changes: &[(&str, Option<&str>)]| place.change(&base, changes);
    let (gone, edited) = (to(&[("/b", None)]), to(&[("/b", Some("1\n2\nthree\n"))]));
    let sides = [
        (gone, edited),
        (to(&[("/b", Some("1\n2\ndrei\n"))]), edited),
        (to(&[("/new", Some("n\n"))]), to(&[("/new", Some("m\n"))])),
        (to(&[("/b", Some("\0one"))]), to(&[("/b", Some("\0two"))])),
        (to(&[("/a", None), ("/moved", Some(&long("a")))]), to(&[("/a", None)])),
    ];
    for (at, (ours, theirs)) in sides.into_iter().enumerate() {
        assert_eq!(both(&place, [base, ours, theirs]).0, Verdict::EqualConflicts, "case {at}");
        let (_, merged, git) = both(&place, [base, ours, theirs]);
        let text = |files: &Files| files.get(b"b".as_slice()).map(|(_, bytes)| bytes.clone());
        let bytes = text(&files(&place, &merged.root)).unwrap_or_default();
        let marked = merged.conflicts[0].marker_length.is_some();
        if marked && at == 1 {
            // The labels are the names of branches there.
            let git = String::from_utf8(text(&git.files).unwrap()).unwrap();
            let git =
                git.replace("<<<<<<< c1", "<<<<<<< ours").replace(">>>>>>> c2", ">>>>>>> theirs");
            let base = git.lines().find(|line| line.starts_with("|||||||")).unwrap();
            let git = git.replace(base, "||||||| base");
            assert_eq!(String::from_utf8(bytes).unwrap(), git);
        }
    }
}

#[needs("git")]
#[test]
fn lines_that_crossed_merge_as_in_git() {
    let place = Place::new();
    let origin = place.state(&[("/a", "1\n2\n3\n4\n5\n6\n7\n"), ("/b", "b\n")]);
    let state = |a: &str, b: &str| place.change(&origin, &[("/a", Some(a)), ("/b", Some(b))]);
    // Two that clash in the second file; each side decides that and goes on.
    let left = state("left\n2\n3\n4\n5\n6\n7\n", "left\n");
    let right = state("1\n2\n3\n4\n5\n6\nright\n", "right\n");
    let ours = state("1\n2\n3\n4\n5\n6\nright\n", "decided\n");
    for (theirs, clean) in [
        (state("left\n2\n3\nmiddle\n5\n6\nright\n", "decided\n"), true),
        (state("left\n2\n3\nmiddle\n5\n6\nright\n", "otherwise\n"), false),
    ] {
        let states = [origin, left, right, ours, theirs].map(|root| files(&place, &root));
        let parents = [vec![], vec![0], vec![0], vec![1, 2], vec![2, 1]];
        let commits: Vec<Commit<'_>> =
            states.iter().zip(parents).map(|(files, parents)| Commit { parents, files }).collect();
        let dir = tempfile::tempdir().unwrap();
        let git = Repository::new(dir.path(), &commits).merge(3, 4);
        let base = Base::Several { roots: vec![left, right], base: Box::new(Base::Root(origin)) };
        let merged = place.merge_with(&base, &[ours, theirs], &MergeOptions::default());
        let (outcome, beside) = outcome(&place, &merged);
        let expected = if clean { Verdict::EqualClean } else { Verdict::EqualConflicts };
        assert_eq!(judge(&outcome, &git, &beside), expected);
    }
}

/// Random texts, with lines that occur often, so that there are many ways to see what changed.
#[needs("git")]
#[test]
fn random_edits_come_out_as_in_git() {
    let place = Place::new();
    let seed = seed_from_env_or(3);
    let mut equal = 0;
    let total = cases(40, 1_500);
    for case in 0..total {
        println!("seed {seed}, case {case}");
        let mut rng = Rng::new(seed ^ (case << 24));
        let lines: Vec<String> = (0..30).map(|_| line(&mut rng)).collect();
        let base = place.state(&[("/a", &lines.concat()), ("/x", "x\n")]);
        let mut side = || {
            let mut lines = lines.clone();
            for _ in 0..rng.below(4) + 1 {
                let at = rng.below(lines.len() as u64) as usize;
                match rng.below(3) {
                    0 => lines.insert(at, line(&mut rng)),
                    1 => lines[at] = line(&mut rng),
                    _ => drop(lines.remove(at)),
                }
            }
            place.change(&base, &[("/a", Some(&lines.concat()))])
        };
        let (ours, theirs) = (side(), side());
        let (verdict, merged, git) = both(&place, [base, ours, theirs]);
        let is_equal = matches!(verdict, Verdict::EqualClean | Verdict::EqualConflicts);
        equal += u64::from(is_equal);
        if !is_equal {
            println!(
                "{verdict:?}: {:?}",
                merged.conflicts.iter().map(|c| c.kind).collect::<Vec<_>>()
            );
        }
        let only_content = merged.conflicts.iter().all(|c| c.kind == ConflictKind::Content);
        assert!(only_content && git.files.len() == 2);
    }
    // Two ways to see a change are both right where lines repeat, and git's is not always ours.
    assert!(equal * 100 >= total * 95, "{equal} of {total} are equal");
}

fn line(rng: &mut Rng) -> String {
    ["{\n", "}\n", "\n", "    return;\n"]
        .get(rng.below(8) as usize)
        .map_or_else(|| format!("line {}\n", rng.below(1_000_000)), |line| (*line).to_owned())
}
