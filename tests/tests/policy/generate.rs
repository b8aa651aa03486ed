//! Commands that nobody wrote down: those of the corpus with other words, random uses of known programs, and all of them put together.

use offshoot_tests::rng::Rng;
use toml::{Table, Value};

use crate::tools::{self, Tool};
use crate::words;

const SETS: [&str; 2] = [
    include_str!("../../../crates/policy/corpus/open.toml"),
    include_str!("../../../crates/policy/corpus/held_out.toml"),
];

/// What commands are made from.
pub(crate) struct Source {
    /// Texts of the corpus.
    pub(crate) texts: Vec<String>,
    tools: Vec<Tool>,
}

impl Source {
    pub(crate) fn new() -> Self {
        Self { texts: SETS.into_iter().flat_map(texts).collect(), tools: tools::installed() }
    }

    /// A command that may be anything.
    pub(crate) fn command(&self, rng: &mut Rng) -> String {
        match rng.below(10) {
            0..4 => self.varied(rng),
            4..8 => self.tool(rng),
            _ => self.compound(rng),
        }
    }

    fn tool(&self, rng: &mut Rng) -> String {
        rng.pick(&self.tools).map(|tool| tool.command(rng)).unwrap_or_default()
    }

    /// One of the corpus, with words put in, replaced or taken out.
    fn varied(&self, rng: &mut Rng) -> String {
        let text = rng.pick(&self.texts).cloned().unwrap_or_default();
        let mut parts: Vec<String> = text.split(' ').map(str::to_owned).collect();
        for _ in 0..=rng.below(3) {
            let at = rng.below(parts.len() as u64) as usize;
            match rng.below(4) {
                0 => parts[at] = words::any(rng),
                1 => parts.insert(at + 1, words::any(rng)),
                2 => parts.insert(at + 1, words::option(rng)),
                _ if parts.len() > 1 => drop(parts.remove(at)),
                _ => {}
            }
        }
        parts.join(" ")
    }

    fn simple(&self, rng: &mut Rng) -> String {
        if rng.one_in(2) { self.varied(rng) } else { self.tool(rng) }
    }

    fn compound(&self, rng: &mut Rng) -> String {
        let (one, two) = (self.simple(rng), self.simple(rng));
        let word = words::any(rng);
        match rng.below(14) {
            0 => format!("{one} | {two}"),
            1 => format!("{one}; {two}"),
            2 => format!("{one} && {two} || true"),
            3 => format!("{one} \"$({two})\""),
            4 => format!("{one} $({two})"),
            5 => format!("for f in *; do {one} \"$f\"; done"),
            6 => format!("for f in {word}; do {one} $f; done"),
            7 => format!("ls | xargs {one}"),
            8 => format!("cat names.txt | xargs -I{{}} {one} {{}}"),
            9 => format!("find . -maxdepth 1 -type f -exec {one} {{}} +"),
            10 => format!("{one} | while read -r f; do {two} \"$f\"; done"),
            11 => format!("if {one}; then {two}; fi"),
            12 => format!("({one}) 2>/dev/null | {two}"),
            _ => format!("f() {{ {one} \"$@\"; }}; f {word}"),
        }
    }
}

fn texts(set: &str) -> Vec<String> {
    let table: Table = set.parse().unwrap();
    let entries = table["command"].as_array().unwrap();
    let text = |entry: &Value| Some(entry.get("run")?.as_str()?.to_owned());
    entries.iter().filter_map(text).collect()
}
