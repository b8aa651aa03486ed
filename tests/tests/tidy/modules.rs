//! Rules about how files become modules.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::lexer::{Kind, Token, attribute, tokens};
use crate::listing::Listing;
use crate::manifests::Manifest;

/// What must not compile lies below such a directory of a crate whose test has the compiler say why: it is the root of no module.
const MISTAKES: &str = "tests/mistakes/";

/// A source file that no `mod` leads to is never compiled, nor are its tests run.
pub(crate) fn check_reachable(listing: &Listing) -> Vec<String> {
    let mut walk = Walk { listing, seen: BTreeSet::new(), problems: Vec::new() };
    for manifest in Manifest::all(listing) {
        for root in roots(&manifest, listing) {
            walk.visit(&root, parent(&root));
        }
    }
    let Walk { seen, mut problems, .. } = walk;
    let is_tried = |path: &str| {
        let package = path.split_once(MISTAKES).map(|(package, _)| package);
        package.is_some_and(|package| {
            let test = listing.text(&format!("{package}tests/mistakes.rs"));
            test.is_some_and(|test| test.contains("compile_fail(\"tests/mistakes/*.rs\")"))
        })
    };
    let forgotten =
        listing.ending(".rs").filter(|(path, _)| !seen.contains(*path) && !is_tried(path));
    problems.extend(forgotten.map(|(path, _)| format!("{path}: no crate has it as a module")));
    problems
}

/// A module lies in `foo.rs`, so that every file has a name of its own.
pub(crate) fn check_names(listing: &Listing) -> Vec<String> {
    listing
        .paths()
        .filter(|path| path.rsplit('/').next() == Some("mod.rs"))
        .map(|path| format!("{path}: is to be named for its module"))
        .collect()
}

/// Kinds of targets: the name in the manifest, the directory that cargo looks in, the switch for that.
const TARGETS: &[(&str, &str, &str)] = &[
    ("bin", "src/bin", "autobins"),
    ("example", "examples", "autoexamples"),
    ("test", "tests", "autotests"),
    ("bench", "benches", "autobenches"),
];

/// The files that cargo starts compiling at.
fn roots(manifest: &Manifest, listing: &Listing) -> Vec<String> {
    let package = manifest.table.get("package").and_then(Value::as_table);
    let setting = |name: &str| package.and_then(|package| package.get(name));
    let mut roots = vec!["src/lib.rs".to_owned(), "build.rs".to_owned()];
    roots.extend(setting("build").and_then(Value::as_str).map(str::to_owned));
    roots.extend(path_of(manifest.targets("lib")));
    for (kind, directory, switch) in TARGETS {
        roots.extend(path_of(manifest.targets(kind)));
        let automatic = setting(switch).and_then(Value::as_bool) != Some(false);
        if automatic {
            roots.extend(discovered(manifest, listing, directory));
            roots.extend((*kind == "bin").then(|| "src/main.rs".to_owned()));
        }
        for target in manifest.targets(kind) {
            if let Some(name) = target.get("name").and_then(Value::as_str) {
                roots.push(format!("{directory}/{name}.rs"));
                roots.push(format!("{directory}/{name}/main.rs"));
            }
        }
    }
    let files = roots.iter().map(|root| manifest.file(root));
    files.filter(|file| listing.has_file(file)).collect()
}

fn path_of(targets: Vec<&Table>) -> impl Iterator<Item = String> {
    let paths = targets.into_iter().filter_map(|target| target.get("path"));
    paths.filter_map(|path| path.as_str().map(str::to_owned))
}

/// `*.rs` and `*/main.rs` of a directory, relative to the crate.
fn discovered(manifest: &Manifest, listing: &Listing, directory: &str) -> Vec<String> {
    let prefix = manifest.file(&format!("{directory}/"));
    listing
        .paths()
        .filter_map(|path| path.strip_prefix(&prefix))
        .filter(|rest| match rest.split_once('/') {
            None => rest.ends_with(".rs"),
            Some((_, file)) => file == "main.rs",
        })
        .map(|rest| format!("{directory}/{rest}"))
        .collect()
}

struct Walk<'a> {
    listing: &'a Listing,
    seen: BTreeSet<String>,
    problems: Vec<String>,
}

/// A `mod name;` as it stands in a file.
#[derive(Debug, PartialEq, Eq)]
struct Declaration {
    line: usize,
    name: String,
    /// The inline modules around it.
    within: Vec<String>,
    /// What a `path` attribute says.
    path: Option<String>,
}

impl Walk<'_> {
    /// Follows the declarations of a file, whose modules lie in `directory`.
    fn visit(&mut self, file: &str, directory: &str) {
        if !self.seen.insert(file.to_owned()) {
            return;
        }
        let text = self.listing.text(file).unwrap_or_default();
        for declaration in declarations(&tokens(&text)) {
            let within = declaration.within.join("/");
            let candidates = match &declaration.path {
                Some(path) => {
                    let start = if within.is_empty() { parent(file) } else { directory };
                    let target = join(&[start, &within, path]);
                    vec![(target.clone(), parent(&target).to_owned())]
                }
                None => {
                    let base = join(&[directory, &within, &declaration.name]);
                    vec![(format!("{base}.rs"), base.clone()), (format!("{base}/mod.rs"), base)]
                }
            };
            let found = candidates.into_iter().find(|(path, _)| self.listing.has_file(path));
            match found {
                Some((path, directory)) => self.visit(&path, &directory),
                None => self.problems.push(format!(
                    "{file}:{}: the file of mod {} is not there",
                    declaration.line, declaration.name
                )),
            }
        }
    }
}

fn declarations(tokens: &[Token]) -> Vec<Declaration> {
    let mut found = Vec::new();
    // For each open brace, the module it belongs to, if it is one's.
    let mut open: Vec<Option<String>> = Vec::new();
    let mut path = None;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        if let Some((inner, next)) = attribute(tokens, index) {
            path = path_attribute(inner).or(path);
            index = next;
            continue;
        }
        match module_name(&tokens[index..]) {
            Some((name, ';')) => {
                found.push(Declaration {
                    line: token.line,
                    name,
                    within: open.iter().flatten().cloned().collect(),
                    path: path.take(),
                });
                index += 3;
                continue;
            }
            Some((name, _)) => {
                open.push(Some(name));
                path = None;
                index += 3;
                continue;
            }
            None => {}
        }
        match token.kind {
            Kind::Mark('{') => open.push(None),
            Kind::Mark('}') => {
                open.pop();
            }
            _ => {}
        }
        // An attribute belongs to the item behind it; only a visibility may stand between.
        let is_visibility = ["pub", "crate", "super", "in"].iter().any(|word| token.is_word(word));
        if !is_visibility && !token.is_mark('(') && !token.is_mark(')') {
            path = None;
        }
        index += 1;
    }
    found
}

/// The name in `mod name;` or `mod name {`, and which of the two it is.
fn module_name(tokens: &[Token]) -> Option<(String, char)> {
    let [first, name, end, ..] = tokens else {
        return None;
    };
    match (&name.kind, &end.kind) {
        (Kind::Word(name), Kind::Mark(end @ (';' | '{'))) if first.is_word("mod") => {
            Some((name.clone(), *end))
        }
        _ => None,
    }
}

fn path_attribute(inner: &[Token]) -> Option<String> {
    match inner {
        [name, equals, text] if name.is_word("path") && equals.is_mark('=') => match &text.kind {
            Kind::Text(path) => Some(path.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Joins parts of a path and takes `.` and `..` out.
fn join(parts: &[&str]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in parts.iter().flat_map(|part| part.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: (&str, &str) = ("a/Cargo.toml", "[package]\nname = \"a\"\n");

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let mut all = vec![PACKAGE];
        all.extend(files);
        check_reachable(&Listing::of(&all))
    }

    #[test]
    fn modules_are_followed_as_the_compiler_does() {
        let files = [
            ("a/src/lib.rs", "pub mod b;\n#[cfg(test)]\nmod tests;\nmod c { mod d; }"),
            ("a/src/b.rs", "pub(crate) mod inner;"),
            ("a/src/b/inner.rs", "#[path = \"../other/x.rs\"]\npub(crate) mod y;"),
            ("a/src/other/x.rs", "mod beside;"),
            ("a/src/b/other/x.rs", ""),
            ("a/src/b/other/beside.rs", ""),
            ("a/src/c/d.rs", ""),
            ("a/src/tests.rs", ""),
            ("a/src/main.rs", "mod b;"),
        ];
        let forgotten = [
            "a/src/b/other/beside.rs: no crate has it as a module",
            "a/src/b/other/x.rs: no crate has it as a module",
        ];
        let mut found = problems(&files);
        assert_eq!(found.remove(0), "a/src/other/x.rs:1: the file of mod beside is not there");
        assert_eq!(found, forgotten);
    }

    #[test]
    fn a_file_without_a_mod_is_found() {
        let forgotten = ["a/src/b.rs: no crate has it as a module"];
        for lib in ["", "// mod b;", "const X: &str = \"mod b;\";", "mod c { }"] {
            let files = [("a/src/lib.rs", lib), ("a/src/b.rs", "")];
            assert_eq!(problems(&files), forgotten, "{lib}");
        }
        let outside = problems(&[("loose.rs", "")]);
        assert_eq!(outside, ["loose.rs: no crate has it as a module"]);
        let nested = problems(&[("a/tests/x.rs", ""), ("a/tests/x/y.rs", "")]);
        assert_eq!(nested, ["a/tests/x/y.rs: no crate has it as a module"]);
    }

    #[test]
    fn targets_are_roots() {
        let files = [
            ("a/build.rs", ""),
            ("a/src/bin/one.rs", ""),
            ("a/src/bin/two/main.rs", "mod part;"),
            ("a/src/bin/two/part.rs", ""),
            ("a/tests/one.rs", "mod support;"),
            ("a/tests/support.rs", ""),
            ("a/examples/write-schema.rs", ""),
            ("a/benches/one.rs", ""),
        ];
        assert!(problems(&files).is_empty());
    }

    #[test]
    fn what_must_not_compile_is_tried_by_a_test() {
        let tries = "fn all() { t().compile_fail(\"tests/mistakes/*.rs\") }";
        let case = ("a/tests/mistakes/one.rs", "");
        assert!(problems(&[("a/tests/mistakes.rs", tries), case]).is_empty());
        let forgotten = ["a/tests/mistakes/one.rs: no crate has it as a module"];
        assert_eq!(problems(&[("a/tests/mistakes.rs", ""), case]), forgotten);
        assert_eq!(problems(&[case]), forgotten);
    }

    #[test]
    fn switched_off_discovery_makes_files_forgotten() {
        let off = "[package]\nname = \"a\"\nautotests = false\n[[test]]\nname = \"one\"\n\
                   [[bin]]\nname = \"x\"\npath = \"src/odd.rs\"\n";
        let listing = Listing::of(&[
            ("a/Cargo.toml", off),
            ("a/src/odd.rs", ""),
            ("a/tests/one.rs", ""),
            ("a/tests/two.rs", ""),
        ]);
        let forgotten = ["a/tests/two.rs: no crate has it as a module"];
        assert_eq!(check_reachable(&listing), forgotten);
    }

    #[test]
    fn an_attribute_counts_only_for_the_next_item() {
        let found =
            declarations(&tokens("#[path = \"x.rs\"] fn f() {} mod a; mod b { mod c; } mod d;"));
        let shown: Vec<String> = found
            .iter()
            .map(|one| format!("{:?} {} {:?}", one.within, one.name, one.path))
            .collect();
        assert_eq!(shown, ["[] a None", "[\"b\"] c None", "[] d None"]);
    }

    #[test]
    fn mod_files_are_found() {
        let listing = Listing::of(&[("a/src/b/mod.rs", ""), ("a/src/model.rs", "")]);
        assert_eq!(check_names(&listing), ["a/src/b/mod.rs: is to be named for its module"]);
    }
}
