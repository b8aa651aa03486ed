//! Holding what a product did against what it should have done.

use std::collections::BTreeMap;

use offshoot_tests::oracle::changes::{Change, LINKS, is_kept};
use offshoot_tests::scan::{CompareOptions, Kind, Scan, compare, printable};

/// Everything that is known after a program has run.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    /// What the program said.
    pub(crate) said: String,
    /// What changed.
    pub(crate) changes: Vec<Change>,
    /// The tree from outside, with all rights.
    pub(crate) tree: Scan,
    /// The tree from inside, with the rights of the program.
    pub(crate) inside: Scan,
    /// The folder that everything came from.
    pub(crate) host: Scan,
}

/// From the first of these on, and before the second, a time is one that a clock showed, not one that a program set.
pub(crate) type Window = (i64, i64);

/// The first second that [`offshoot_tests::oracle::tree::some_time`] can give and that lies ahead.
pub(crate) const FUTURE: i64 = 2_000_000_000;

/// All differences, in words.
pub(crate) fn judge(expected: &Evidence, found: &Evidence, window: Window) -> Vec<String> {
    let mut problems = Vec::new();
    let mut add = |what: &str, differences: Vec<String>| {
        problems.extend(differences.into_iter().map(|line| format!("{what}: {line}")));
    };
    add("said", said(&expected.said, &found.said));
    add("changed files", changed(&expected.changes, &found.changes));
    let all = CompareOptions::default();
    let trees = |a: &Scan, b: &Scan| compare(&settled(a, window), &settled(b, window), &all);
    add("tree", trees(&expected.tree, &found.tree));
    add("inside", trees(&expected.inside, &found.inside));
    add("inside and outside", mtimes(&found.inside, &found.tree));
    add("host", compare(&expected.host, &found.host, &all));
    problems
}

/// A tree as it can be compared: without what is not kept, and with one time for all that clocks showed.
fn settled(scan: &Scan, (start, end): Window) -> Scan {
    let nodes = scan.0.iter().filter(|(_, node)| is_kept(node)).map(|(path, node)| {
        let mut node = node.clone();
        if (start..end).contains(&node.mtime.0) {
            node.mtime = (i64::MAX, 0);
        }
        (path.clone(), node)
    });
    Scan(nodes.collect())
}

/// Times that clocks showed differ between two runs, but not between two views of one.
fn mtimes(inside: &Scan, outside: &Scan) -> Vec<String> {
    let pairs = inside.0.iter().filter_map(|(path, node)| Some((path, node, outside.0.get(path)?)));
    pairs
        .filter(|(_, a, b)| a.kind != Kind::Unknown && a.mtime != b.mtime)
        .map(|(path, a, b)| format!("{}: mtime {:?} != {:?}", printable(path), a.mtime, b.mtime))
        .collect()
}

fn said(expected: &str, found: &str) -> Vec<String> {
    let (mut a, mut b) = (expected.lines(), found.lines());
    let mut differences = Vec::new();
    loop {
        match (a.next(), b.next()) {
            (None, None) => return differences,
            (a, b) if a == b => {}
            (a, b) => differences.push(format!(
                "{} != {}",
                a.unwrap_or("(nothing)"),
                b.unwrap_or("(nothing)")
            )),
        }
    }
}

fn changed(expected: &[Change], found: &[Change]) -> Vec<String> {
    let by_path = |changes: &[Change]| -> BTreeMap<Vec<u8>, Change> {
        changes.iter().map(|change| (change.path.clone(), change.clone())).collect()
    };
    let (wanted, got) = (by_path(expected), by_path(found));
    let mut differences = Vec::new();
    if got.len() != found.len() {
        differences.push("a path is listed twice".to_owned());
    }
    for (path, change) in &wanted {
        match got.get(path) {
            Some(other) if is_same(change, other) => {}
            Some(other) => differences.push(format!("{change} != {other}")),
            None if change.kind != LINKS => differences.push(format!("missing: {change}")),
            // One of two names that were parted or joined is enough to say so.
            None if change.partners.iter().all(|partner| got.contains_key(partner)) => {}
            None => differences.push(format!("missing, and so is a partner: {change}")),
        }
    }
    let more = got.iter().filter(|(path, _)| !wanted.contains_key(*path));
    differences.extend(more.map(|(_, change)| format!("not expected: {change}")));
    differences
}

/// What is only known of a plain directory is not compared.
fn is_same(expected: &Change, found: &Change) -> bool {
    let kind =
        if expected.kind == LINKS && found.kind != LINKS { "metadata" } else { &expected.kind };
    kind == found.kind && expected.before == found.before && expected.after == found.after
}
