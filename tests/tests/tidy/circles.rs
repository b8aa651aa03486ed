//! Files that import one another in circles cannot be understood, tested or moved one by one.

use std::collections::{BTreeMap, BTreeSet};

use crate::imports::{Imports, imports};
use crate::listing::Listing;

/// So many files may import one another.
const MOST: usize = 3;

/// The largest circle of crates that are not there yet. It may only shrink, and who makes it smaller says so here.
pub(crate) const LARGEST: &[(&str, usize)] = &[("cli", 74)];

/// So many files of a circle are named.
const NAMED: usize = 8;

/// Fails on circles that are larger than allowed, and on a table that is out of date.
pub(crate) fn check(listing: &Listing, largest: &[(&str, usize)]) -> Vec<String> {
    let sources: BTreeSet<&str> = listing
        .paths()
        .filter_map(|path| path.strip_prefix("crates/")?.split_once("/src/"))
        .map(|(name, _)| name)
        .collect();
    let mut problems = Vec::new();
    for name in &sources {
        let circles = circles(&imports(listing, &format!("crates/{name}/src")));
        let widest = circles.iter().max_by_key(|circle| circle.len());
        let found = widest.map_or(0, BTreeSet::len);
        let allowed = largest.iter().find(|(own, _)| own == name).map(|(_, size)| *size);
        if found > allowed.unwrap_or(MOST) {
            let mut files: Vec<&str> = widest.into_iter().flatten().map(String::as_str).collect();
            if files.len() > NAMED {
                files.truncate(NAMED);
                files.push("and others");
            }
            problems.push(format!("{found} files import one another: {}", files.join(", ")));
        } else if allowed.is_some_and(|allowed| found < allowed || allowed <= MOST) {
            let advice = if found > MOST { "write that" } else { "take it out" };
            problems.push(format!("the largest circle of {name} has {found} files: {advice}"));
        }
    }
    let gone = largest.iter().filter(|(name, _)| !sources.contains(name));
    problems.extend(gone.map(|(name, _)| format!("the table has {name}, which is no crate")));
    problems
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
    fn problems(size: usize, largest: &[(&str, usize)]) -> Vec<String> {
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
        check(&Listing::of(&files), largest)
    }

    #[test]
    fn small_circles_are_allowed_and_larger_ones_fail() {
        assert!(problems(2, &[]).is_empty());
        assert!(problems(3, &[]).is_empty());
        let four = "crates/a/src/m0.rs, crates/a/src/m1.rs, crates/a/src/m2.rs, crates/a/src/m3.rs";
        assert_eq!(problems(4, &[]), [format!("4 files import one another: {four}")]);
    }

    #[test]
    fn what_is_listed_may_only_shrink() {
        assert!(problems(5, &[("a", 5)]).is_empty());
        assert!(problems(6, &[("a", 5)])[0].starts_with("6 files import one another: "));
        assert_eq!(problems(4, &[("a", 5)]), ["the largest circle of a has 4 files: write that"]);
        assert_eq!(problems(3, &[("a", 5)]), ["the largest circle of a has 3 files: take it out"]);
        assert_eq!(problems(3, &[("a", 3)]), ["the largest circle of a has 3 files: take it out"]);
        assert_eq!(problems(2, &[("b", 5)]), ["the table has b, which is no crate"]);
    }
}
