//! Names for what the other side has, where the target's own name is taken.

use std::collections::BTreeMap;

use crate::git::repository::Refs;
use crate::side_label::{FOLDER_LABEL, HEAD_LABEL};

/// A free name for a ref of another side: one that no ref has but with this very value, and that fits among the others.
///
/// A name whose ref is the side's own already, so that it may be replaced, is used again.
pub(super) fn own_name(
    taken: &Refs,
    label: &str,
    name: &[u8],
    value: &[u8],
    is_own: &dyn Fn(&[u8], &[u8]) -> bool,
) -> Vec<u8> {
    let side = component(label);
    let below = |kind: &str| name.strip_prefix(kind.as_bytes());
    let wanted = match (below("refs/heads/"), below("refs/tags/")) {
        (Some(branch), _) => [format!("refs/heads/offshoot/{side}/").as_bytes(), branch].concat(),
        (_, Some(tag)) => [format!("refs/tags/offshoot/{side}/").as_bytes(), tag].concat(),
        _ => Vec::new(),
    };
    let rest = below("refs/").unwrap_or(name);
    let elsewhere = [format!("refs/offshoot/{side}/").as_bytes(), rest].concat();
    let of = |name: &[u8], number: usize| match number {
        1 => name.to_vec(),
        _ => [name, format!("-{number}").as_bytes()].concat(),
    };
    let fits = |name: &Vec<u8>| match taken.get(name) {
        Some(there) => there == value || is_own(name, there),
        None => in_the_way(taken, name).is_none(),
    };
    // A ref may lie at `refs/offshoot` itself: then nothing fits below it.
    let flat: Vec<u8> = rest.iter().map(|byte| if *byte == b'/' { b'-' } else { *byte }).collect();
    let beside = [format!("refs/offshoot-{side}-").as_bytes(), &flat].concat();
    let series = [wanted, elsewhere.clone(), beside].into_iter().filter(|name| !name.is_empty());
    let numbers = taken.len() + 2;
    let mut all = series.flat_map(|name| (1..numbers).map(move |number| of(&name, number)));
    all.find(fits).unwrap_or(elsewhere)
}

/// The start of the names under which branches of a side are kept.
pub(crate) fn own_branches(label: &str) -> Vec<u8> {
    format!("refs/heads/offshoot/{}/", component(label)).into_bytes()
}

/// The starts of all names that refs of a side may be kept under.
pub(super) fn namespaces(label: &str) -> Vec<Vec<u8>> {
    let side = component(label);
    let places = ["refs/heads/offshoot/", "refs/tags/offshoot/", "refs/offshoot/"];
    places.iter().map(|place| format!("{place}{side}/").into_bytes()).collect()
}

/// The ref that another one cannot be beside: one lies in the other's way.
pub(crate) fn in_the_way<'r, V>(
    refs: &'r BTreeMap<Vec<u8>, V>,
    name: &[u8],
) -> Option<&'r Vec<u8>> {
    let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut above = slashes.filter_map(|(at, _)| refs.get_key_value(&name[..at]));
    let below = [name, b"/"].concat();
    let first_below = refs.range(below.clone()..).next().filter(|(at, _)| at.starts_with(&below));
    above.next().or(first_below).map(|(name, _)| name)
}

/// A part of a ref's name, made of what a side is called.
pub(super) fn component(label: &str) -> String {
    if label == HEAD_LABEL {
        return FOLDER_LABEL.to_owned();
    }
    let plain = |c: char| if c.is_alphanumeric() || "_-+.".contains(c) { c } else { '-' };
    let mut text: String = label.chars().map(plain).collect();
    while text.contains("..") {
        text = text.replace("..", "-");
    }
    let text = text.trim_matches('.').replace(".lock", "-lock");
    if text.is_empty() { "side".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(all: &[(&str, &str)]) -> Refs {
        let pair =
            |(name, value): &(&str, &str)| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        all.iter().map(pair).collect()
    }

    fn named(taken: &[(&str, &str)], label: &str, name: &str) -> String {
        let name = own_name(&refs(taken), label, name.as_bytes(), b"2", &|_, there| there == b"0");
        String::from_utf8(name).unwrap()
    }

    #[test]
    fn each_kind_has_its_place() {
        assert_eq!(named(&[], "fix", "refs/heads/a/b"), "refs/heads/offshoot/fix/a/b");
        assert_eq!(named(&[], "head", "refs/heads/main"), "refs/heads/offshoot/folder/main");
        assert_eq!(named(&[], "fix", "refs/tags/v1"), "refs/tags/offshoot/fix/v1");
        assert_eq!(named(&[], "fix", "refs/notes/x"), "refs/offshoot/fix/notes/x");
        assert_eq!(named(&[], "a@b..lock", "HEAD"), "refs/offshoot/a-b-lock/HEAD");
    }

    #[test]
    fn names_that_are_taken_are_not_used() {
        let own = "refs/heads/offshoot/fix/main";
        assert_eq!(named(&[(own, "2")], "fix", "refs/heads/main"), own);
        assert_eq!(named(&[(own, "1")], "fix", "refs/heads/main"), format!("{own}-2"));
        assert_eq!(named(&[(own, "0")], "fix", "refs/heads/main"), own);
        let flat = [("refs/heads/offshoot", "1")];
        assert_eq!(named(&flat, "fix", "refs/heads/main"), "refs/offshoot/fix/heads/main");
        let worst = [("refs/heads/offshoot", "1"), ("refs/offshoot", "1")];
        assert_eq!(named(&worst, "fix", "refs/heads/main"), "refs/offshoot-fix-heads-main");
        let below = [("refs/heads/offshoot/fix/main/x", "1")];
        assert_eq!(named(&below, "fix", "refs/heads/main"), format!("{own}-2"));
    }
}
