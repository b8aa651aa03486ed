//! Which file of a crate imports which, read from its `use` declarations and paths.
//!
//! A name that another module passes on with `pub use` counts for the file that defines it. `mod child;` alone is no import, and
//! neither is the module that `pub(in module)` names, nor anything that only tests have.

use std::collections::{BTreeMap, BTreeSet};

use crate::lexer::{Kind, Token, attribute, closing, tokens};
use crate::listing::Listing;

/// The files that each file imports.
pub(crate) type Imports = BTreeMap<String, BTreeSet<String>>;

/// A module by its names below the crate.
type Names = Vec<String>;

/// What a module says.
#[derive(Debug, Default)]
struct Module {
    file: String,
    children: BTreeSet<String>,
    /// What it defines itself.
    defined: BTreeSet<String>,
    /// What it imports, by the name that it has here; `*` for all of something.
    uses: Vec<(String, Names)>,
    /// Paths in its code.
    paths: Vec<Names>,
}

/// The imports between the files of one crate, whose source is below `source`.
pub(crate) fn imports(listing: &Listing, source: &str) -> Imports {
    let mut house = House::default();
    for root in ["lib.rs", "main.rs"] {
        house.read(listing, &format!("{source}/{root}"), source, Vec::new());
    }
    let mut imports = Imports::new();
    for (names, module) in &house.modules {
        let of_uses = module.uses.iter().map(|(_, path)| path);
        for path in of_uses.chain(&module.paths) {
            let Some(found) = house.resolve(names, path, &mut Vec::new()) else { continue };
            let target = &house.modules[&found].file;
            if *target != module.file {
                imports.entry(module.file.clone()).or_default().insert(target.clone());
            }
        }
    }
    imports
}

#[derive(Default)]
struct House {
    modules: BTreeMap<Names, Module>,
}

impl House {
    /// Reads a file and those of its modules.
    fn read(&mut self, listing: &Listing, file: &str, directory: &str, names: Names) {
        let Some(text) = listing.text(file) else { return };
        let tokens = without_tests(&tokens(&text));
        self.modules.entry(names.clone()).or_default().file = file.to_owned();
        let mut reader =
            Reader { house: self, file, at: vec![(names, 0)], depth: 0, below: Vec::new() };
        reader.read(&tokens);
        for child in reader.below {
            let inner = child.join("/");
            let (file, directory) = (format!("{directory}/{inner}.rs"), directory);
            self.read(listing, &file, directory, child);
        }
    }

    /// The module that defines what a path leads to; none where it leads out of the crate.
    fn resolve(
        &self,
        from: &Names,
        path: &[String],
        seen: &mut Vec<(Names, String)>,
    ) -> Option<Names> {
        let mut at = from.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            first if self.modules.get(from)?.children.contains(first) => {}
            first => return self.follow(from, first, &path[1..], seen),
        }
        while let Some((name, further)) = rest.split_first() {
            let module = self.modules.get(&at)?;
            if module.children.contains(name) {
                at.push(name.clone());
            } else if name == "*" || module.defined.contains(name) {
                return Some(at);
            } else {
                return Some(self.follow(&at, name, further, seen).unwrap_or(at));
            }
            rest = further;
        }
        self.modules.contains_key(&at).then_some(at)
    }

    /// The same for a name that a module imports.
    fn follow(
        &self,
        at: &Names,
        name: &str,
        further: &[String],
        seen: &mut Vec<(Names, String)>,
    ) -> Option<Names> {
        let mark = (at.clone(), name.to_owned());
        if seen.contains(&mark) {
            return None;
        }
        seen.push(mark);
        let uses = &self.modules.get(at)?.uses;
        if let Some((_, path)) = uses.iter().find(|(own, _)| own == name) {
            return self.resolve(at, &[path.as_slice(), further].concat(), seen);
        }
        let all = uses.iter().filter(|(own, _)| own == "*");
        all.map(|(_, path)| &path[..path.len() - 1]).find_map(|path| {
            let module = self.resolve(at, path, seen)?;
            let has = self.modules[&module].defined.contains(name);
            has.then_some(module)
        })
    }
}

/// Goes through the tokens of one file.
struct Reader<'a> {
    house: &'a mut House,
    file: &'a str,
    /// The modules that are open, with the depth of braces that each began at.
    at: Vec<(Names, usize)>,
    depth: usize,
    /// Modules in files of their own.
    below: Vec<Names>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: &[Token]) {
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            index = match &token.kind {
                Kind::Mark('{') => {
                    self.depth += 1;
                    index + 1
                }
                Kind::Mark('}') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.at.len() > 1 && self.depth == self.here().1 - 1 {
                        self.at.pop();
                    }
                    index + 1
                }
                Kind::Word(word) => self.word(word, tokens, index),
                _ => index + 1,
            };
        }
    }

    fn here(&self) -> &(Names, usize) {
        self.at.last().expect("the file itself is open")
    }

    fn module(&mut self) -> &mut Module {
        let (names, _) = self.here().clone();
        self.house.modules.entry(names).or_default()
    }

    /// Takes in what starts with a word; gives where to go on.
    fn word(&mut self, word: &str, tokens: &[Token], index: usize) -> usize {
        let name = || match tokens.get(index + 1).map(|token| &token.kind) {
            Some(Kind::Word(name)) => Some(name.clone()),
            _ => None,
        };
        match word {
            "use" => {
                let end = (index..tokens.len()).find(|at| tokens[*at].is_mark(';'));
                let end = end.unwrap_or(tokens.len());
                let mut found = Vec::new();
                leaves(&tokens[index + 1..end], &[], &mut found);
                self.module().uses.extend(found);
                end
            }
            "mod" => {
                let Some(name) = name() else { return index + 1 };
                self.module().children.insert(name.clone());
                let mut names = self.here().0.clone();
                names.push(name);
                match tokens.get(index + 2) {
                    Some(token) if token.is_mark('{') => {
                        self.depth += 1;
                        self.at.push((names, self.depth));
                        let file = self.file.to_owned();
                        self.module().file = file;
                        return index + 3;
                    }
                    _ => self.below.push(names),
                }
                index + 2
            }
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union" => {
                let is_item = self.depth == self.here().1;
                if let Some(name) = name().filter(|_| is_item) {
                    self.module().defined.insert(name);
                }
                index + 1
            }
            // Who may see something is not what it needs.
            "pub" if tokens.get(index + 2).is_some_and(|token| token.is_word("in")) => {
                closing(tokens, index + 1).map_or(tokens.len(), |end| end + 1)
            }
            _ => {
                let (path, next) = path(tokens, index);
                let follows_dot = index > 0 && tokens[index - 1].is_mark('.');
                if path.len() > 1 && !follows_dot && !path[0].starts_with(char::is_uppercase) {
                    self.module().paths.push(path);
                }
                next
            }
        }
    }
}

/// The names of a path that starts at a token, and the index of what follows.
fn path(tokens: &[Token], start: usize) -> (Names, usize) {
    let mut names = Vec::new();
    let mut index = start;
    while let Some(Kind::Word(name)) = tokens.get(index).map(|token| &token.kind) {
        names.push(name.clone());
        index += 1;
        let is_colon = |at: usize| tokens.get(at).is_some_and(|token| token.is_mark(':'));
        if !(is_colon(index) && is_colon(index + 1)) {
            break;
        }
        index += 2;
    }
    (names, index.max(start + 1))
}

/// The single names of a `use` declaration with their paths.
fn leaves(tokens: &[Token], before: &[String], found: &mut Vec<(String, Names)>) {
    let mut names = before.to_vec();
    let mut alias = None;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        match &token.kind {
            Kind::Word(word) if word == "as" => {
                if let Some(Kind::Word(name)) = tokens.get(index + 1).map(|token| &token.kind) {
                    alias = Some(name.clone());
                }
                index += 1;
            }
            Kind::Word(word) => names.push(word.clone()),
            Kind::Mark('*') => names.push("*".to_owned()),
            Kind::Mark('{') => {
                let end = closing(tokens, index).unwrap_or(tokens.len());
                parts(&tokens[index + 1..end]).for_each(|part| leaves(part, &names, found));
                return;
            }
            _ => {}
        }
        index += 1;
    }
    if names.last().is_some_and(|last| last == "self") && names.len() > 1 {
        names.pop();
    }
    if let Some(last) = names.last().filter(|_| names.len() > before.len() || !before.is_empty()) {
        found.push((alias.unwrap_or_else(|| last.clone()), names));
    }
}

/// What stands between the commas of a list.
fn parts(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0_usize;
    let between = tokens.split(move |token| {
        match token.kind {
            Kind::Mark('{') => depth += 1,
            Kind::Mark('}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is_mark(',')
    });
    between.filter(|part| !part.is_empty())
}

/// The tokens of what is there without `cfg(test)`.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        match attribute(tokens, index) {
            Some((inner, next)) if is_test(inner) => index = after_item(tokens, next),
            Some((_, next)) => index = next,
            None => {
                kept.push(tokens[index].clone());
                index += 1;
            }
        }
    }
    kept
}

fn is_test(attribute: &[Token]) -> bool {
    attribute.len() == 4 && attribute[0].is_word("cfg") && attribute[2].is_word("test")
}

/// The index behind an item, which may have more attributes.
fn after_item(tokens: &[Token], mut index: usize) -> usize {
    while let Some((_, next)) = attribute(tokens, index) {
        index = next;
    }
    while let Some(token) = tokens.get(index) {
        match token.kind {
            Kind::Mark(';') => return index + 1,
            Kind::Mark('{') => return closing(tokens, index).map_or(tokens.len(), |end| end + 1),
            Kind::Mark('(' | '[') => index = closing(tokens, index).unwrap_or(tokens.len()),
            _ => index += 1,
        }
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("a/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, *text)).collect();
        let found = imports(&Listing::of(&files), "a/src");
        let short = |file: &String| file.trim_start_matches("a/src/").to_owned();
        let of = |(from, to): (&String, &BTreeSet<String>)| {
            format!("{} -> {}", short(from), to.iter().map(short).collect::<Vec<_>>().join(" "))
        };
        found.iter().map(of).collect()
    }

    #[test]
    fn a_mod_alone_is_no_import_and_a_use_is() {
        let lib = ("lib.rs", "mod a; mod b;");
        assert!(shown(&[lib, ("a.rs", "fn f() {}"), ("b.rs", "use std::fmt;")]).is_empty());
        let imports = shown(&[lib, ("a.rs", "use crate::b::B;"), ("b.rs", "pub struct B;")]);
        assert_eq!(imports, ["a.rs -> b.rs"]);
        let imports = shown(&[lib, ("a.rs", "fn f() { super::b::g(1) }"), ("b.rs", "fn g() {}")]);
        assert_eq!(imports, ["a.rs -> b.rs"]);
    }

    #[test]
    fn what_is_passed_on_counts_for_who_defines_it() {
        let files = [
            ("lib.rs", "mod a; mod p;"),
            (
                "a.rs",
                "use crate::p::{self, C}; use super::p::inner as own; fn f() { own(); p::g() }",
            ),
            ("p.rs", "mod c; mod d; pub use c::*; pub use d::{g, inner};"),
            ("p/c.rs", "pub struct C;"),
            ("p/d.rs", "use super::C; pub fn g() {} pub fn inner() {}"),
        ];
        let expected = ["a.rs -> p.rs p/c.rs p/d.rs", "p.rs -> p/c.rs p/d.rs", "p/d.rs -> p/c.rs"];
        assert_eq!(shown(&files), expected);
    }

    #[test]
    fn who_may_see_something_is_no_import() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b; use b::B;"),
            ("a/b.rs", "pub(in crate::a) struct B { pub(in super::super::a) c: u8 }"),
        ];
        assert_eq!(shown(&files), ["a.rs -> a/b.rs"]);
    }

    #[test]
    fn modules_within_a_file_belong_to_it() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod in_here { use super::f; use crate::b::B; } fn f() {}"),
            ("b.rs", "pub struct B; impl B { fn f() { crate::a::f() } }"),
        ];
        assert_eq!(shown(&files), ["a.rs -> b.rs", "b.rs -> a.rs"]);
    }

    #[test]
    fn tests_import_what_they_like() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            (
                "a.rs",
                "#[cfg(test)]\nuse crate::b::B;\n#[cfg(test)]\nmod tests { use crate::b::B; }",
            ),
            ("b.rs", "pub struct B;\n#[cfg(test)]\n#[allow(x)]\nfn f() { crate::a::g() }"),
        ];
        assert!(shown(&files).is_empty());
    }
}
