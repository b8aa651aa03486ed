//! Rules about what stands in source files.

use crate::lexer::{Token, attribute, closing, tokens};
use crate::listing::Listing;
use crate::manifests::Manifest;

/// From here on a file is hard to read in one go.
const LONGEST: usize = 600;

/// Each crate starts by saying, in a sentence at least, what it is.
pub(crate) fn check_crate_docs(listing: &Listing) -> Vec<String> {
    let mut problems = Vec::new();
    for path in crate_roots(listing) {
        let text = listing.text(&path).unwrap_or_default();
        let docs: Vec<&str> =
            text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
        let paragraph: Vec<&str> =
            docs.iter().copied().take_while(|line| !line.is_empty()).collect();
        let sentence = paragraph.join(" ");
        let ends = sentence.contains(". ") || sentence.ends_with(['.', ':']);
        if !ends || sentence.split_whitespace().count() < 4 {
            problems.push(format!("{path}: does not start with a `//!` sentence"));
        }
    }
    problems
}

/// A `lib.rs` is a table of contents: documentation, modules, exports. The compiler wants macros there, though.
pub(crate) fn check_lib_files(listing: &Listing) -> Vec<String> {
    let macros: Vec<String> = Manifest::all(listing)
        .iter()
        .filter(|manifest| manifest.makes_macros())
        .map(|manifest| manifest.file("src/lib.rs"))
        .collect();
    crate_roots(listing)
        .iter()
        .filter(|path| path.ends_with("lib.rs") && !macros.contains(path))
        .filter_map(|path| {
            let tokens = tokens(&listing.text(path)?);
            let line = first_other_item(&tokens)?;
            Some(format!("{path}:{line}: neither a module nor an export"))
        })
        .collect()
}

/// No test is switched off, and nothing stands in for work to be done.
pub(crate) fn check_unfinished(listing: &Listing) -> Vec<String> {
    let mut problems = Vec::new();
    for (path, text) in listing.ending(".rs") {
        let tokens = tokens(&text);
        for (index, token) in tokens.iter().enumerate() {
            let mut say = |what| problems.push(format!("{path}:{}: {what}", token.line));
            let called = is_macro_call(&tokens[index + 1..]);
            if called && token.is_word("todo") {
                say("todo!");
            } else if called && token.is_word("dbg") {
                say("dbg!");
            } else if attribute(&tokens, index).is_some_and(|(inner, _)| ignores(inner)) {
                say("an ignored test");
            }
        }
    }
    problems
}

/// Files of the product and its tools stay short; tests do not count.
pub(crate) fn check_length(listing: &Listing) -> Vec<String> {
    listing
        .ending(".rs")
        .filter(|(path, _)| is_product_source(path))
        .filter_map(|(path, text)| {
            let lines = text.lines().count() - test_lines(&text);
            let message = format!("{path}: {lines} lines without tests, more than {LONGEST}");
            (lines > LONGEST).then_some(message)
        })
        .collect()
}

fn crate_roots(listing: &Listing) -> Vec<String> {
    Manifest::all(listing)
        .iter()
        .flat_map(|manifest| ["src/lib.rs", "src/main.rs"].map(|file| manifest.file(file)))
        .filter(|path| listing.has_file(path))
        .collect()
}

/// The line of the first item that is neither a module in a file of its own nor an export.
fn first_other_item(tokens: &[Token]) -> Option<usize> {
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if let Some((_, next)) = attribute(tokens, index) {
            index = next;
            continue;
        }
        let public = token.is_word("pub");
        let mut item = index + usize::from(public);
        if public && tokens.get(item).is_some_and(|next| next.is_mark('(')) {
            item = closing(tokens, item).map_or(tokens.len(), |close| close + 1);
        }
        let is_word = |word| tokens.get(item).is_some_and(|token| token.is_word(word));
        let end = (item..tokens.len()).find(|&at| tokens[at].is_mark(';'));
        let is_module = is_word("mod") && end == Some(item + 2);
        let is_export = is_word("use") && public;
        match end {
            Some(end) if is_module || is_export => index = end + 1,
            _ => return Some(token.line),
        }
    }
    None
}

/// Whether what stands behind a name makes it a macro call: `name != 1` is none.
fn is_macro_call(behind: &[Token]) -> bool {
    match behind {
        [bang, open, ..] if bang.is_mark('!') => {
            ['(', '[', '{'].iter().any(|mark| open.is_mark(*mark))
        }
        _ => false,
    }
}

/// Whether an attribute is `ignore`, also under a condition.
fn ignores(attribute: &[Token]) -> bool {
    match attribute.first() {
        Some(first) if first.is_word("ignore") => true,
        Some(first) if first.is_word("cfg_attr") => {
            attribute.iter().any(|token| token.is_word("ignore"))
        }
        _ => false,
    }
}

fn is_product_source(path: &str) -> bool {
    let is_test =
        path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs");
    path.contains("src/") && !is_test
}

/// How many lines the inline modules take that are compiled for tests only.
fn test_lines(text: &str) -> usize {
    let tokens = tokens(text);
    let mut lines = 0;
    let mut index = 0;
    while index < tokens.len() {
        let Some((inner, next)) = attribute(&tokens, index) else {
            index += 1;
            continue;
        };
        let is_test = inner.len() == 4 && inner[0].is_word("cfg") && inner[2].is_word("test");
        let opens = tokens.get(next).is_some_and(|token| token.is_word("mod"))
            && tokens.get(next + 2).is_some_and(|token| token.is_mark('{'));
        index = next;
        if let (true, true, Some(close)) = (is_test, opens, closing(&tokens, next + 2)) {
            lines += tokens[close].line + 1 - inner[0].line;
            index = close + 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(text: &str) -> Listing {
        Listing::of(&[("a/Cargo.toml", "[package]\nname = \"a\"\n"), ("a/src/lib.rs", text)])
    }

    #[test]
    fn a_crate_needs_a_sentence() {
        for good in [
            "//! What this crate is for.\n",
            "//! Two lines that are\n//! one sentence.\n\nmod a;\n",
            "//! One sentence is here. Then more\n",
        ] {
            assert!(check_crate_docs(&library(good)).is_empty(), "{good}");
        }
        for bad in [
            "",
            "//! placeholder\n",
            "//! Too short.\n",
            "//! words without any end\n",
            "mod a;\n//! What this crate is for.\n",
            "// What this crate is for.\n",
        ] {
            assert_eq!(check_crate_docs(&library(bad)).len(), 1, "{bad}");
        }
        let program = Listing::of(&[
            ("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            ("a/src/main.rs", "fn main() {}\n"),
        ]);
        assert_eq!(check_crate_docs(&program).len(), 1);
    }

    #[test]
    fn a_lib_file_lists_and_does_nothing() {
        let good = "//! Docs.\n#![deny(missing_docs)]\nmod a;\npub mod b;\npub(crate) mod c;\n\
                    #[cfg(test)]\nmod tests;\npub use a::{A, b::B};\npub(crate) use c::C;\n";
        assert!(check_lib_files(&library(good)).is_empty());
        for bad in [
            "mod a;\nfn f() {}\n",
            "mod a;\npub struct S;\n",
            "mod a;\nmod b { fn f() {} }\n",
            "mod a;\nuse a::A;\n",
            "mod a;\npub const X: u8 = 1;\n",
            "mod a;\nmacro_rules! m { () => {}; }\n",
        ] {
            let problems = check_lib_files(&library(bad));
            assert_eq!(problems, ["a/src/lib.rs:2: neither a module nor an export"], "{bad}");
        }
        let manifest = "[package]\nname = \"a\"\n[lib]\nproc-macro = true\n";
        let of_macros = [("a/Cargo.toml", manifest), ("a/src/lib.rs", "mod a;\nfn f() {}\n")];
        assert!(check_lib_files(&Listing::of(&of_macros)).is_empty());
    }

    #[test]
    fn unfinished_code_is_found_and_talk_about_it_is_not() {
        let problems = |text| check_unfinished(&Listing::of(&[("x.rs", text)]));
        let good = "// todo!()\nlet todo = \"dbg!(#[ignore])\"; ignore(todo); todo != 1;\n";
        assert!(problems(good).is_empty());
        assert_eq!(problems("fn f() {\n todo!(\"x\")\n}"), ["x.rs:2: todo!"]);
        assert_eq!(problems("std::dbg!(1)"), ["x.rs:1: dbg!"]);
        for bad in
            ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(unix, ignore)]", "# [ ignore ]"]
        {
            assert_eq!(problems(bad), ["x.rs:1: an ignored test"], "{bad}");
        }
    }

    #[test]
    fn long_files_are_found() {
        let problems = |path, text: &str| check_length(&Listing::of(&[(path, text)]));
        let code = |lines| "fn f() {}\n".repeat(lines);
        assert!(problems("crates/a/src/b.rs", &code(600)).is_empty());
        assert_eq!(
            problems("crates/a/src/b.rs", &code(601)),
            ["crates/a/src/b.rs: 601 lines without tests, more than 600"]
        );
        assert_eq!(problems("xtask/src/main.rs", &code(601)).len(), 1);
        for test in ["tests/tests/a.rs", "tests/src/lib.rs", "crates/a/src/b/tests.rs"] {
            assert!(problems(test, &code(601)).is_empty(), "{test}");
        }
        let tested = |lines| {
            let body = code(300);
            format!("{}#[cfg(test)]\nmod tests {{\n{body}}}\n", code(lines))
        };
        assert!(problems("crates/a/src/b.rs", &tested(600)).is_empty());
        assert_eq!(problems("crates/a/src/b.rs", &tested(601)).len(), 1);
    }
}
