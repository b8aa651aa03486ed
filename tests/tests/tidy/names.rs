//! A public type has a name of its own, so that whoever meets it anywhere knows which one is meant.

use std::collections::BTreeMap;

use crate::lexer::{Kind, Token, tokens};
use crate::listing::Listing;

/// What every crate calls its own, by convention.
const CONVENTIONAL: &[&str] = &["Result"];

/// Fails on a name that two public types have.
pub(crate) fn check(listing: &Listing) -> Vec<String> {
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (path, text) in listing.ending(".rs") {
        if !path.starts_with("crates/") || !path.contains("/src/") {
            continue;
        }
        for name in public_types(&tokens(&text)) {
            names.entry(name).or_default().push(path);
        }
    }
    names.retain(|name, paths| paths.len() > 1 && !CONVENTIONAL.contains(&name.as_str()));
    let problem = |(name, paths): (String, Vec<&str>)| {
        format!("{name} is more than one public type: {}", paths.join(", "))
    };
    names.into_iter().map(problem).collect()
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

    fn problems(one: &str, other: &str) -> Vec<String> {
        let files = [("crates/one/src/lib.rs", one), ("crates/other/src/deep/type.rs", other)];
        check(&Listing::of(&files))
    }

    #[test]
    fn a_name_may_be_used_once() {
        let names = "pub struct A;\npub enum B {}\npub trait C {}\npub type D = u8;\n";
        assert!(problems(names, "pub struct E;").is_empty());
        for shared in ["pub enum A {}", "pub trait A {}", "pub type A<T> = Vec<T>;"] {
            let found = problems(names, shared);
            let files = "crates/one/src/lib.rs, crates/other/src/deep/type.rs";
            assert_eq!(found, [format!("A is more than one public type: {files}")], "{shared}");
        }
        assert_eq!(problems("pub struct A;\npub mod m { pub struct A; }", "").len(), 1);
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
            assert!(problems("pub struct A;", private).is_empty(), "{private}");
        }
        assert!(problems("pub type Result<T> = T;", "pub type Result<T> = T;").is_empty());
    }
}
