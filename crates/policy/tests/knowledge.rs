//! Every example in the knowledge holds, and everything that matters has one.

use std::fs;
use std::path::{Path, PathBuf};

use offshoot_policy::{Categories, Context, EffectCategory, Network, classify, parse_text};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    tool: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    names: String,
    #[serde(default)]
    option: Vec<Matters>,
    #[serde(default)]
    sub: Vec<Self>,
    #[serde(default)]
    example: Vec<Example>,
}

#[derive(Deserialize)]
struct Matters {
    names: String,
}

#[derive(Deserialize)]
struct Example {
    run: String,
    is: String,
}

impl Tool {
    /// The examples of a tool and of its subcommands.
    fn examples(&self) -> Vec<&Example> {
        let inner = self.sub.iter().flat_map(Self::examples);
        self.example.iter().chain(inner).collect()
    }
}

/// The files of the knowledge with their names.
fn files() -> Vec<(String, File)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("knowledge");
    let mut paths: Vec<PathBuf> = fs::read_dir(root)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("a readable file");
        (name, toml::from_str(&text).expect("a file that the build has read"))
    };
    paths.into_iter().map(read).collect()
}

fn context() -> Context {
    Context {
        workspace: "/home/dev/project".into(),
        cwd: "/home/dev/project".into(),
        home: Some("/home/dev".into()),
        network: Network::Host,
        ..Context::default()
    }
}

/// The categories of a text, and why.
fn judge(text: &str) -> (Categories, String) {
    let mut all = Categories::READ_ONLY;
    let mut reasons = String::new();
    for judged in classify(&parse_text(text.as_bytes()), &context()) {
        all = all.union(judged.categories);
        for reason in judged.reasons {
            reasons.push_str(&format!("\n      {}: {}", reason.category, reason.why));
        }
    }
    (all, reasons)
}

fn categories(words: &str) -> Categories {
    words
        .split_whitespace()
        .map(|word| word.parse::<EffectCategory>().expect("a category"))
        .collect()
}

#[track_caller]
fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problem(s):\n  {}", problems.len(), problems.join("\n  "));
}

#[test]
fn knowledge_examples_hold() {
    let mut problems = Vec::new();
    for (file, content) in files() {
        for example in content.tool.iter().flat_map(Tool::examples) {
            let (found, reasons) = judge(&example.run);
            if found != categories(&example.is) {
                let Example { run, is } = example;
                problems.push(format!("{file}: {run}\n    is {is}, judged {found}{reasons}"));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn knowledge_has_examples_of_all_that_matters() {
    let mut problems = Vec::new();
    for (file, content) in files() {
        for tool in &content.tool {
            let examples = tool.examples();
            if examples.is_empty() {
                problems.push(format!("{file}: {}: no example", tool.names));
            }
            let words = examples.iter().flat_map(|example| example.run.split_whitespace());
            missing(&file, &tool.names, tool, &words.collect::<Vec<_>>(), &mut problems);
        }
    }
    assert_none(&problems);
}

/// Options of a tool and its subcommands that no example shows.
fn missing(file: &str, place: &str, tool: &Tool, words: &[&str], problems: &mut Vec<String>) {
    for option in &tool.option {
        let shown =
            option.names.split_whitespace().any(|name| words.iter().any(|w| shows(w, name)));
        if !shown {
            problems.push(format!("{file}: {place}: no example of {}", option.names));
        }
    }
    for sub in &tool.sub {
        missing(file, &format!("{place} {}", sub.names), sub, words, problems);
    }
}

/// Whether a word of an example is an option: whole, joined with a value, or among other letters.
fn shows(word: &str, name: &str) -> bool {
    let word = word.trim_matches(['\'', '"']);
    let beginning = name.trim_end_matches(['*', '#']);
    let bundled = match name.strip_prefix('-') {
        Some(letter) if letter.chars().count() == 1 => {
            !word.starts_with("--") && !word.contains('/') && word.contains(letter)
        }
        _ => false,
    };
    word.starts_with(beginning) || bundled
}
