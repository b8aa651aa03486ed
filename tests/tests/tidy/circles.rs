//! Files that import one another in circles cannot be understood, tested or moved one by one.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{Imports, imports};
use crate::listing::Listing;

/// So many files may import one another.
const MOST: usize = 3;

/// So many files of a circle are named.
const NAMED: usize = 8;

/// Fails on circles that are larger than allowed.
pub(crate) fn check(listing: &Listing) -> Vec<String> {
    let sources: BTreeSet<&str> = listing
        .paths()
        .filter_map(|path| path.strip_prefix("crates/")?.split_once("/src/"))
        .map(|(name, _)| name)
        .collect();
    let all =
        sources.iter().flat_map(|name| circles(&imports(listing, &format!("crates/{name}/src"))));
    let large = all.filter(|circle| circle.len() > MOST);
    large.map(|circle| problem(&circle)).collect()
}

fn problem(circle: &BTreeSet<String>) -> String {
    let mut files: Vec<&str> = circle.iter().map(String::as_str).collect();
    if files.len() > NAMED {
        files.truncate(NAMED);
        files.push("and others");
    }
    format!("{} files import one another: {}", circle.len(), files.join(", "))
}

/// The sets of more than one file that all reach one another.
fn circles(imports: &Imports) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        imports.keys().map(|file| (file, reached_from(imports, file))).collect();
    let mut circles: Vec<BTreeSet<String>> = Vec::new();
    for (file, others) in &reached {
        if !others.contains(file) || circles.iter().any(|circle| circle.contains(*file)) {
            continue;
        }
        let comes_back =
            |other: &&&String| reached.get(**other).is_some_and(|back| back.contains(file));
        circles.push(others.iter().filter(comes_back).map(|other| (*other).clone()).collect());
    }
    circles
}

/// All files that a file reaches; itself only where something leads back.
fn reached_from<'a>(imports: &'a Imports, file: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut pending: Vec<&String> = imports.get(file).into_iter().flatten().collect();
    while let Some(next) = pending.pop() {
        if reached.insert(next) {
            pending.extend(imports.get(next).into_iter().flatten());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crate with a circle of so many files, beside one that leads into it.
    fn problems(size: usize) -> Vec<String> {
        let mut files = vec![("crates/a/src/lib.rs".to_owned(), String::new())];
        for at in 0..size {
            files[0].1.push_str(&format!("mod m{at};"));
            let text = format!("use crate::m{}::S; pub struct S;", (at + 1) % size);
            files.push((format!("crates/a/src/m{at}.rs"), text));
        }
        files[0].1.push_str("mod beside;");
        files.push(("crates/a/src/beside.rs".to_owned(), "use crate::m0::S;".to_owned()));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (&**path, &**text)).collect();
        check(&Listing::of(&files))
    }

    #[test]
    fn small_circles_are_allowed_and_larger_ones_fail() {
        assert!(problems(2).is_empty());
        assert!(problems(3).is_empty());
        let four = "crates/a/src/m0.rs, crates/a/src/m1.rs, crates/a/src/m2.rs, crates/a/src/m3.rs";
        assert_eq!(problems(4), [format!("4 files import one another: {four}")]);
    }

    #[test]
    fn not_all_files_of_a_large_circle_are_named() {
        let told = &problems(9)[0];
        assert!(told.starts_with("9 files import one another: crates/a/src/m0.rs, "), "{told}");
        assert!(told.ends_with("crates/a/src/m7.rs, and others"), "{told}");
    }
}
