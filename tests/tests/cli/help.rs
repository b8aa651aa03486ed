//! `--help`, walked through all commands, so that none can be forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use offshoot_tests::product::Place;

/// Commands that `--help` does not show.
const HIDDEN: &[&[&str]] = &[&["snapshot"]];

/// Commands whose output is for shells or differs from machine to machine: other tests look at it.
const NOT_IN_SNAPSHOTS: &[&str] = &["completions", "doctor"];

/// Commands that have no document, since what they print is no data.
const WITHOUT_JSON: &[&str] = &["completions"];

/// All commands that have no commands below them, with their help.
fn leaves(place: &Place) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut to_visit: Vec<Vec<String>> = vec![Vec::new()];
    let hidden = HIDDEN.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect());
    to_visit.extend(hidden);
    while let Some(words) = to_visit.pop() {
        let arguments = words.iter().map(String::as_str).chain(["--help"]);
        let help = place.ok(arguments);
        let below = subcommands(&help);
        if below.is_empty() {
            found.push((words.join(" "), help));
        }
        for name in below {
            to_visit.push(words.iter().cloned().chain([name]).collect());
        }
    }
    found.sort();
    found
}

/// The names below `Commands:`, but for `help`.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    // A description that goes on in a further line is indented by more.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

#[test]
fn every_command_shows_examples_that_name_it() {
    let place = Place::new();
    let leaves = leaves(&place);
    let names: Vec<&str> = leaves.iter().map(|(name, _)| name.as_str()).collect();
    assert_snapshot!("all_commands", names.join("\n"));
    for (name, help) in &leaves {
        let examples = help.split_once("\nExamples:\n").map(|(_, after)| after);
        let examples = examples.unwrap_or_else(|| panic!("{name} --help has no examples:\n{help}"));
        // `redo` shares its page with `undo`: the examples show both.
        assert!(examples.contains(&format!("offshoot {name}")), "{name}: {examples}");
        let usage = format!("Usage: offshoot {name}");
        assert!(help.contains(&usage), "{name}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{name} is too wide");
    }
}

#[test]
fn help_is_the_same_by_any_way() {
    let place = Place::new();
    let text = place.ok(["fs", "ls", "--help"]);
    assert_eq!(place.ok(["help", "fs", "ls"]), text);
    assert_eq!(place.ok(["fs", "ls", "-h"]), text);
    assert_eq!(place.ok(["fs", "help", "ls"]), text);
    // Somebody who asks for help reads it, also where programs are meant to.
    assert_eq!(place.ok(["fs", "ls", "--help", "--json"]), text);
    assert_snapshot!("top_help", place.ok(["--help"]));
}

/// The texts of all snapshots.
fn snapshots() -> Vec<String> {
    let mut texts = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "snap") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}

/// The commands in all snapshots, as `name` and as `name --json`.
fn recorded() -> BTreeSet<String> {
    let mut commands = BTreeSet::new();
    for text in snapshots() {
        for line in text.lines().filter(|line| line.starts_with("$ ")) {
            let Some((_, command)) = line.split_once("offshoot ") else { continue };
            let json = if command.contains(" --json") { " --json" } else { "" };
            let words: Vec<&str> = command.split(' ').collect();
            for count in 1..=words.len().min(2) {
                commands.insert(format!("{}{json}", words[..count].join(" ")));
            }
        }
    }
    commands
}

/// A document whose content differs from machine to machine, and events, which are no documents of their own.
const KINDS_NOT_IN_SNAPSHOTS: &[&str] = &["doctor", "exec.event"];

#[test]
fn every_kind_of_document_is_in_a_snapshot() {
    let text: String = snapshots().into_iter().collect();
    let schemas = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
    for entry in fs::read_dir(schemas).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let kind = file.strip_suffix(".json").unwrap();
        let shown = text.contains(&format!("\n  \"kind\": \"{kind}\",\n"));
        let excused = KINDS_NOT_IN_SNAPSHOTS.contains(&kind);
        assert!(shown || excused, "no snapshot shows a document of the kind {kind}");
    }
}

#[test]
fn every_command_is_in_a_snapshot() {
    let recorded = recorded();
    for (name, _) in leaves(&Place::new()) {
        if NOT_IN_SNAPSHOTS.contains(&name.as_str()) {
            continue;
        }
        assert!(recorded.contains(&name), "no snapshot shows what `offshoot {name}` prints");
        let json = format!("{name} --json");
        let has_json = recorded.contains(&json) || WITHOUT_JSON.contains(&name.as_str());
        assert!(has_json, "no snapshot shows what `offshoot {json}` prints");
    }
}
