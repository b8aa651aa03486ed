//! Programs and options, from the data that policy knows them by.

use std::{env, fs};

use offshoot_machine::search_path;
use offshoot_tests::rng::Rng;
use toml::{Table, Value};

use crate::words;

const KNOWLEDGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/policy/knowledge");

/// A program or a subcommand, with all its options, those that matter too.
pub(crate) struct Tool {
    name: String,
    options: Vec<Shape>,
    below: Vec<Tool>,
}

/// How an option is written.
struct Shape {
    name: String,
    takes_value: bool,
}

/// The programs of all files that are there on this machine.
pub(crate) fn installed() -> Vec<Tool> {
    let tools = files()
        .into_iter()
        .flat_map(|file| tables(&file, "tool").flat_map(Tool::of_table).collect::<Vec<_>>());
    tools.filter(|tool| is_installed(&tool.name)).collect()
}

/// The examples of all files.
pub(crate) fn examples() -> Vec<String> {
    files().iter().flat_map(|file| tables(file, "tool")).flat_map(examples_of).collect()
}

fn files() -> Vec<Table> {
    let mut paths: Vec<_> =
        fs::read_dir(KNOWLEDGE).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap().parse().unwrap()).collect()
}

fn examples_of(tool: &Table) -> Vec<String> {
    let own = tables(tool, "example").filter_map(|example| example.get("run")?.as_str());
    let below = tables(tool, "sub").flat_map(examples_of);
    own.map(str::to_owned).chain(below).collect()
}

fn is_installed(name: &str) -> bool {
    env::split_paths(&search_path()).any(|folder| folder.join(name).is_file())
}

impl Tool {
    /// One for each of its names.
    fn of_table(table: &Table) -> Vec<Self> {
        let make = |name: &str| Self {
            name: name.to_owned(),
            options: Shape::of_table(table),
            below: tables(table, "sub").flat_map(Self::of_table).collect(),
        };
        words_of(table, "names").map(make).collect()
    }

    /// A random use of it.
    pub(crate) fn command(&self, rng: &mut Rng) -> String {
        let mut parts = vec![self.name.clone()];
        let mut options: Vec<&Shape> = self.options.iter().collect();
        let mut tool = self;
        while let Some(below) = rng.pick(&tool.below) {
            if rng.one_in(4) {
                parts.extend(rng.pick(&options).map(|shape| shape.text(rng.clone())));
            }
            parts.push(below.name.clone());
            options = below.options.iter().collect();
            tool = below;
        }
        for _ in 0..rng.below(4) {
            let shape = rng.pick(&options).copied();
            parts.extend(shape.map(|shape| shape.text(Rng::new(rng.next_u64()))));
        }
        if rng.one_in(4) {
            parts.push("--".to_owned());
        }
        for _ in 0..rng.below(4) {
            let place = parts.len() - rng.below(2) as usize;
            parts.insert(place.max(1), words::any(rng));
        }
        parts.join(" ")
    }
}

impl Shape {
    fn of_table(table: &Table) -> Vec<Self> {
        let listed = |key: &'static str, takes_value| {
            words_of(table, key).map(move |name| Self { name: name.to_owned(), takes_value })
        };
        let plain = listed("flags", false).chain(listed("optional", false));
        let valued = listed("values", true).chain(listed("reads", true));
        let matter = tables(table, "option").flat_map(|option| {
            let takes_value = option.contains_key("value");
            words_of(option, "names").map(move |name| Self { name: name.to_owned(), takes_value })
        });
        plain.chain(valued).chain(matter).collect()
    }

    /// With a value where it takes one: behind it, joined, or after `=`.
    fn text(&self, mut rng: Rng) -> String {
        let name = self.name.replace('#', "3").replace('*', "x");
        if !self.takes_value {
            return name;
        }
        let value = words::any(&mut rng);
        match rng.below(4) {
            0 => format!("{name}{value}"),
            1 => format!("{name}={value}"),
            _ => format!("{name} {value}"),
        }
    }
}

/// The tables of an array.
fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

/// The words of a text.
fn words_of<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a str> {
    table.get(key).and_then(Value::as_str).unwrap_or_default().split_whitespace()
}
