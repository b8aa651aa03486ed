//! What is merged: histories made of published versions.

use std::collections::BTreeMap;

use crate::git_repo::Files;
use crate::sources::Package;

/// How a history is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    /// The middle one of three versions is the base of the other two: both sides have changes of their own.
    Apart,
    /// The first of three versions is the base: one side has what the other did, and more.
    Ahead,
    /// One side moved half of the files that the next version changes.
    MovedFiles,
    /// One side moved the largest directory; the other is the next version.
    MovedDirectory,
    /// One side deleted half of the files that the next version changes.
    Deleted,
    /// Two versions that merged each other, and went on to be two later ones.
    Crossed,
    /// Two versions that merged each other and decided every conflict differently.
    CrossedDecided,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Apart,
        Self::Ahead,
        Self::MovedFiles,
        Self::MovedDirectory,
        Self::Deleted,
        Self::Crossed,
        Self::CrossedDecided,
    ];

    /// The word for it in tables.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Ahead => "ahead",
            Self::MovedFiles => "moved files",
            Self::MovedDirectory => "moved directory",
            Self::Deleted => "deleted",
            Self::Crossed => "crossed",
            Self::CrossedDecided => "crossed, decided",
        }
    }

    /// What it means.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Apart => {
                "of three versions in a row, the middle one is the base of the other two"
            }
            Self::Ahead => "of three versions in a row, the first is the base of the other two",
            Self::MovedFiles => "one side moved half of the files that the next version changes",
            Self::MovedDirectory => {
                "one side moved the largest directory, the other is the next version"
            }
            Self::Deleted => "one side deleted half of the files that the next version changes",
            Self::Crossed => {
                "two versions merged each other and became two later ones: two merge bases"
            }
            Self::CrossedDecided => {
                "two versions merged each other and decided all conflicts differently"
            }
        }
    }
}

/// A history of states; its last two are merged. With five, the first is the base of the second and third, which are both
/// parents of the last two; with three, of the others.
pub(crate) struct Scenario {
    pub(crate) kind: Kind,
    /// The versions.
    pub(crate) what: String,
    pub(crate) states: Vec<Files>,
}

/// Merges two states of a base to files, where one is preferred that conflicts.
pub(crate) type Merge<'a> = &'a dyn Fn([&Files; 3], &Files) -> Files;

/// All histories of a package.
pub(crate) fn scenarios(package: &Package, merge: Merge<'_>) -> Vec<Scenario> {
    let all = &package.versions;
    let mut found = Vec::new();
    let mut add = |kind, names: &[usize], states: Vec<Files>| {
        let names: Vec<&str> = names.iter().map(|at| all[*at].0.as_str()).collect();
        found.push(Scenario { kind, what: names.join(" "), states });
    };
    let files = |at: usize| all[at].1.clone();
    for at in 0..all.len().saturating_sub(2) {
        add(Kind::Apart, &[at + 1, at, at + 2], vec![files(at + 1), files(at), files(at + 2)]);
        add(Kind::Ahead, &[at, at + 1, at + 2], vec![files(at), files(at + 1), files(at + 2)]);
    }
    for at in 0..all.len().saturating_sub(1) {
        let (base, next) = (files(at), files(at + 1));
        for (kind, side) in [
            (Kind::MovedFiles, move_files(&base, &next)),
            (Kind::MovedDirectory, move_directory(&base)),
            (Kind::Deleted, delete_files(&base, &next)),
        ] {
            if let Some(side) = side {
                add(kind, &[at, at + 1], vec![base.clone(), side, next.clone()]);
            }
        }
    }
    for at in (0..all.len().saturating_sub(4)).step_by(2) {
        let names = [at, at + 1, at + 2, at + 3, at + 4];
        add(Kind::Crossed, &names, names.map(files).to_vec());
    }
    for at in (0..all.len().saturating_sub(2)).step_by(3) {
        let (root, left, right) = (files(at + 1), files(at), files(at + 2));
        let sides = [&left, &right].map(|preferred| merge([&root, &left, &right], preferred));
        let states = [vec![root, left, right], sides.to_vec()].concat();
        add(Kind::CrossedDecided, &[at + 1, at, at + 2], states);
    }
    found
}

/// Every other file that both have and that differs.
fn half_of_changed<'a>(base: &'a Files, next: &'a Files) -> impl Iterator<Item = &'a Vec<u8>> {
    let changed = base.iter().filter(|(path, file)| next.get(*path).is_some_and(|it| it != *file));
    changed.map(|(path, _)| path).step_by(2)
}

fn move_files(base: &Files, next: &Files) -> Option<Files> {
    let mut moved = base.clone();
    for (number, path) in half_of_changed(base, next).enumerate() {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let to = [format!("elsewhere/{number}/").as_bytes(), name].concat();
        let file = moved.remove(path)?;
        moved.insert(to, file);
    }
    (moved != *base).then_some(moved)
}

fn move_directory(base: &Files) -> Option<Files> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for path in base.keys() {
        if let Some(slash) = path.iter().position(|byte| *byte == b'/') {
            *counts.entry(&path[..slash]).or_insert(0) += 1;
        }
    }
    let (directory, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let prefix = [directory, b"/"].concat();
    let moved = |path: &Vec<u8>| match path.strip_prefix(prefix.as_slice()) {
        Some(rest) => [directory, b"-moved/", rest].concat(),
        None => path.clone(),
    };
    Some(base.iter().map(|(path, file)| (moved(path), file.clone())).collect())
}

fn delete_files(base: &Files, next: &Files) -> Option<Files> {
    let mut left = base.clone();
    half_of_changed(base, next).for_each(|path| drop(left.remove(path)));
    (left != *base).then_some(left)
}
