//! A public type has a name of its own, so that whoever meets it anywhere knows which one is meant.

use std::collections::BTreeMap;

use crate::lexer::{Kind, Token, tokens};
use crate::listing::Listing;

/// Names that are still shared, and by which crates. The table may only shrink.
pub(crate) const SHARED: &[(&str, &[&str])] = &[
    ("Command", &["engine", "sandbox"]),
    ("Scratch", &["sandbox", "vault"]),
    ("Upper", &["sandbox", "vault"]),
    ("Workspace", &["engine", "vault"]),
];

/// What every crate calls its own, by convention.
const CONVENTIONAL: &[&str] = &["Result"];

/// Fails on a name that two public types have, and on a table that is out of date.
pub(crate) fn check(listing: &Listing, shared: &[(&str, &[&str])]) -> Vec<String> {
    let mut names: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in listing.ending(".rs") {
        let Some((owner, _)) = path.strip_prefix("crates/").and_then(|p| p.split_once("/src/"))
        else {
            continue;
        };
        for name in public_types(&tokens(&text)) {
            names.entry(name).or_default().push((owner, path));
        }
    }
    names.retain(|name, places| places.len() > 1 && !CONVENTIONAL.contains(&name.as_str()));
    let mut problems = Vec::new();
    for (name, places) in &names {
        let owners: Vec<&str> = places.iter().map(|(owner, _)| *owner).collect();
        match shared.iter().find(|(own, _)| own == name) {
            Some((_, allowed)) if *allowed == owners => {}
            Some(_) => {
                problems.push(format!("{name} is shared by {}: write that", owners.join(", ")))
            }
            None => {
                let files: Vec<&str> = places.iter().map(|(_, path)| *path).collect();
                problems.push(format!("{name} is more than one public type: {}", files.join(", ")));
            }
        }
    }
    let gone = shared.iter().filter(|(name, _)| !names.contains_key(*name));
    problems.extend(gone.map(|(name, _)| format!("{name} is not shared any more: take it out")));
    problems
}

/// The names of the types that a file makes public. What is public within its crate alone is not meant.
fn public_types(tokens: &[Token]) -> Vec<String> {
    let is_type = |token: &Token| {
        ["enum", "struct", "trait", "type", "union"].iter().any(|word| token.is_word(word))
    };
    let named = tokens.windows(3).filter_map(|window| match window {
        [public, keyword, Token { kind: Kind::Word(name), .. }]
            if public.is_word("pub") && is_type(keyword) =>
        {
            Some(name.clone())
        }
        _ => None,
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(one: &str, other: &str, shared: &[(&str, &[&str])]) -> Vec<String> {
        let files = [("crates/one/src/lib.rs", one), ("crates/other/src/deep/type.rs", other)];
        check(&Listing::of(&files), shared)
    }

    #[test]
    fn a_name_may_be_used_once() {
        let names = "pub struct A;\npub enum B {}\npub trait C {}\npub type D = u8;\n";
        assert!(problems(names, "pub struct E;", &[]).is_empty());
        for shared in ["pub enum A {}", "pub trait A {}", "pub type A<T> = Vec<T>;"] {
            let found = problems(names, shared, &[]);
            let files = "crates/one/src/lib.rs, crates/other/src/deep/type.rs";
            assert_eq!(found, [format!("A is more than one public type: {files}")], "{shared}");
        }
        assert_eq!(problems("pub struct A;\npub mod m { pub struct A; }", "", &[]).len(), 1);
    }

    #[test]
    fn what_nobody_else_sees_may_have_any_name() {
        for private in [
            "struct A;",
            "pub(crate) struct A;",
            "pub(super) enum A {}",
            "// pub struct A;",
            "pub use other::A;",
            "impl T for B { type A = u8; }",
        ] {
            assert!(problems("pub struct A;", private, &[]).is_empty(), "{private}");
        }
        assert!(problems("pub type Result<T> = T;", "pub type Result<T> = T;", &[]).is_empty());
    }

    #[test]
    fn a_table_that_is_out_of_date_fails() {
        let (own, both): (&str, &[&str]) = ("pub struct A;", &["one", "other"]);
        assert!(problems(own, own, &[("A", both)]).is_empty());
        assert_eq!(problems(own, "", &[("A", both)]), ["A is not shared any more: take it out"]);
        let found = problems(own, own, &[("A", &["one"])]);
        assert_eq!(found, ["A is shared by one, other: write that"]);
    }
}
