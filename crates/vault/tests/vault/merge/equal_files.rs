//! Files with equal content are told apart by their paths: what a side did to one of them never gets into another.

use std::collections::BTreeMap;

use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tree::ConflictKind;
use offshoot_tree::diff;
use offshoot_tree::diff::DiffOptions;

use super::support::{Place, found, long};
use crate::support::{meta, path};

type Texts = BTreeMap<String, String>;

fn pairs(texts: &Texts) -> Vec<(&str, &str)> {
    texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

#[test]
fn an_edit_does_not_follow_an_equal_file() {
    let place = Place::new();
    let same = long("same");
    let base = place.state(&[("/dir/y", &same), ("/dir/sub/z", &same)]);
    let ours = place.state(&[("/dir2/y", &same), ("/dir2/sub/z", "other\n")]);
    let theirs = place.change(&base, &[("/dir/sub/z", Some(&format!("PERSON\n{same}")))]);
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    assert_eq!(found(&merged), [("/dir/sub/z".to_owned(), ConflictKind::DeleteModify)]);
    assert_eq!(place.texts(&merged.root)["/dir2/y"], same);
}

/// A tree in which many files are equal, and what two sides do to it.
struct Story {
    rng: Rng,
    base: Texts,
}

const DIRECTORIES: [&str; 6] = ["/one", "/one/in", "/one/in/deep", "/two", "/two/in", "/three"];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

impl Story {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let contents = ["first", "second", "third"].map(long);
        let mut base = Texts::from([("/one/anchor".to_owned(), long("anchor"))]);
        for directory in DIRECTORIES {
            for name in NAMES {
                if !rng.one_in(3) {
                    let content = contents[rng.below(3) as usize].clone();
                    base.insert(format!("{directory}/{name}"), content);
                }
            }
        }
        Self { rng, base }
    }

    /// Moves `/one`, deletes files and writes others anew.
    fn ours(&mut self) -> Texts {
        let mut ours = Texts::new();
        for (path, text) in &self.base {
            let (path, is_anchor) = (moved(path), path.ends_with("anchor"));
            match self.rng.below(8) {
                0 | 1 if !is_anchor => {}
                2 if !is_anchor => drop(ours.insert(path.clone(), long(&format!("new {path}")))),
                _ => drop(ours.insert(path, text.clone())),
            }
        }
        ours
    }

    /// Writes a line into some files.
    fn theirs(&mut self) -> Texts {
        let mut theirs = self.base.clone();
        for (path, text) in &mut theirs {
            if self.rng.one_in(3) {
                let at = text.match_indices('\n').nth(5).unwrap().0 + 1;
                text.insert_str(at, &line_in(path));
            }
        }
        theirs
    }
}

fn line_in(path: &str) -> String {
    format!("somebody wrote this into {path}.\n")
}

fn moved(path: &str) -> String {
    match path.strip_prefix("/one/") {
        Some(rest) => format!("/two/moved/{rest}"),
        None => path.to_owned(),
    }
}

fn check(seed: u64) -> Result<(), String> {
    let place = Place::new();
    let mut story = Story::new(seed);
    let (ours, theirs) = (story.ours(), story.theirs());
    let base = story.base;
    let roots = [&base, &ours, &theirs].map(|texts| place.state(&pairs(texts)));
    let merged = place.merge(&roots[0], &roots[1..]);
    let result = place.texts(&merged.root);
    for (path, before) in base.iter().filter(|(path, before)| theirs[*path] != **before) {
        let (line, now) = (line_in(path), moved(path));
        let holders: Vec<&String> =
            result.iter().filter(|(_, text)| text.contains(&line)).map(|(at, _)| at).collect();
        // Where the other side only moved it, the line is there; otherwise it waits for a decision where it was written.
        let expected = if ours.get(&now) == Some(before) { &now } else { path };
        let in_question = found(&merged).iter().any(|(at, _)| at == expected);
        if holders != [expected] || in_question == (ours.get(&now) == Some(before)) {
            return Err(format!("the line of {path} is in {holders:?}: {:?}", found(&merged)));
        }
    }
    let objects = place.vault.objects().unwrap();
    let changes = diff::compare(objects, &roots[0], &roots[1]).unwrap();
    for change in diff::detect_renames(objects, changes, &DiffOptions::default()).unwrap() {
        let Some((from, 100)) = change.moved.clone() else { continue };
        let is_whole = base.get(&from.to_string()) == ours.get(&moved(&from.to_string()));
        if is_whole && moved(&from.to_string()) != change.path.to_string() {
            return Err(format!("{} is said to come from {from}", change.path));
        }
    }
    Ok(())
}

#[test]
fn each_edit_lands_in_its_own_file() {
    let first = seed_from_env_or(1);
    for seed in first..first + 60 {
        if let Err(what) = check(seed) {
            panic!("seed {seed}: {what}");
        }
    }
}

#[test]
fn what_cannot_follow_into_a_file_stays() {
    let place = Place::new();
    let base = place.state(&[("/dir/z", &long("z")), ("/dir/x", &long("x"))]);
    let ours = place.from(&base, |editor| {
        let directory = editor.remove(&path("/dir")).unwrap();
        editor.put(&path("/dir2"), directory).unwrap();
    });
    let theirs = place.from(&base, |editor| {
        editor.remove(&path("/dir/z")).unwrap();
        editor.make_directories(&path("/dir/z"), &meta(0o755)).unwrap();
        place.put(editor, "/dir/z/in", "precious\n");
    });
    let merged = place.merge_both_ways(&base, &ours, &theirs);
    let kinds = [
        ("/dir/z/in".to_owned(), ConflictKind::DirectoryRename),
        ("/dir2/z".to_owned(), ConflictKind::RenameDelete),
    ];
    assert_eq!(found(&merged), kinds);
    assert_eq!(place.texts(&merged.root)["/dir/z/in"], "precious\n");
}
