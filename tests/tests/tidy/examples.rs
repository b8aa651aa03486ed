//! What the library offers is shown in use: in an example that is compiled with the documentation's tests.

use crate::listing::Listing;

/// The sources of the library. That whatever is `pub` there can be reached from outside is for the compiler to say.
const LIBRARY: &str = "crates/engine/src/";

/// Fails on a public function or type whose documentation has no example.
pub(crate) fn check(listing: &Listing) -> Vec<String> {
    let sources = listing.ending(".rs").filter(|(path, _)| path.starts_with(LIBRARY));
    sources.flat_map(|(path, text)| without_example(path, &text)).collect()
}

fn without_example(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut in_attribute, mut has_example) = (false, false);
    for (number, line) in text.lines().map(str::trim).enumerate() {
        if let Some(documentation) = line.strip_prefix("///") {
            has_example |= documentation.contains("```");
        } else if in_attribute || line.starts_with("#[") {
            in_attribute = !line.ends_with(']');
        } else {
            if !has_example && let Some(name) = public_item(line) {
                problems.push(format!("{path}:{}: {name} has no example", number + 1));
            }
            has_example = false;
        }
    }
    problems
}

/// The name of the function or type that a line makes public.
fn public_item(line: &str) -> Option<&str> {
    let mut words = line.strip_prefix("pub ")?.split_whitespace();
    let kind = words.find(|word| !["async", "const", "unsafe"].contains(word))?;
    let is_item = ["enum", "fn", "struct", "trait"].contains(&kind);
    let name = words.next().filter(|_| is_item)?;
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        check(&Listing::of(&[("crates/engine/src/a/b.rs", text), ("crates/c/src/lib.rs", text)]))
    }

    #[test]
    fn whatever_is_public_needs_an_example() {
        for item in ["fn a() {", "const fn a<T>(x: T) {", "struct a(u8);", "enum a {", "trait a {"]
        {
            let text = format!("/// Does something.\n#[derive(\n    Debug,\n)]\npub {item}\n");
            assert_eq!(problems(&text), ["crates/engine/src/a/b.rs:5: a has no example"], "{item}");
            let text = text.replace("#[derive", "///\n/// ```\n/// a();\n/// ```\n#[derive");
            assert_eq!(problems(&text), [""; 0], "{item}");
        }
        let second = "/// ```\n/// a();\n/// ```\npub fn a() {}\n\n/// Another.\npub fn b() {}\n";
        assert_eq!(problems(second), ["crates/engine/src/a/b.rs:7: b has no example"]);
    }

    #[test]
    fn the_rest_needs_none() {
        for item in ["fn a() {", "pub(crate) fn a() {", "pub mod a;", "pub use a::b;", "pub a: u8,"]
        {
            assert_eq!(problems(&format!("/// Does something.\n{item}\n")), [""; 0], "{item}");
        }
    }
}
