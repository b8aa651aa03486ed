//! `--help`, walked through all commands, so that none can be forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use offshoot_tests::product::{Place, document_of};
use serde_json::json;

use crate::transcript::Transcript;

/// Commands that `--help` does not show.
const HIDDEN: &[&[&str]] = &[&["snapshot"]];

/// Commands whose output is for shells or differs from machine to machine: other tests look at it.
const NOT_IN_SNAPSHOTS: &[&str] = &[
    "acp",
    "agents tail",
    "completions",
    "doctor",
    "man",
    "mcp call",
    "mcp forget",
    "mcp servers",
    "mcp tools",
    "mcp trust",
    "presets check",
    "providers check",
    "registry serve",
    "sandbox show",
];

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

/// The names of all commands that have no commands below them.
pub(crate) fn names(place: &Place) -> Vec<String> {
    leaves(place).into_iter().map(|(name, _)| name).collect()
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
    assert_snapshot!("top_help", place.ok(["--help"]));
}

/// Programs read the same as people do.
#[test]
fn help_for_programs() {
    let place = Place::new();
    let mut transcript = Transcript::new(&place);
    transcript.json(&["completions", "--help"]);
    assert_snapshot!(transcript.finish());
    let help = |words: &[&str]| {
        document_of(&place.run([words, &["--help", "--json"]].concat()))["result"]["command"]
            .clone()
    };
    let exec = help(&["exec"]);
    let arguments = exec["arguments"].as_array().unwrap();
    let find = |name: &str| arguments.iter().find(|argument| argument["name"] == name).unwrap();
    assert_eq!(find("checkpoint")["default"], "auto");
    assert_eq!(find("net")["values"][2]["name"], "host");
    assert_eq!(
        (&find("command")["kind"], &find("command")["repeatable"]),
        (&json!("positional"), &json!(true))
    );
    assert_eq!(
        (&find("wait")["long"], &find("wait")["value_optional"]),
        (&json!("--wait"), &json!(true))
    );
    // The whole has every command that people see. Lines that are longer than a page is wide would break in the middle of a sentence.
    let mut found = Vec::new();
    let mut to_visit = vec![help(&[])];
    while let Some(command) = to_visit.pop() {
        let examples = command["examples"].as_str().unwrap_or_default();
        for line in examples.lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", command["name"]);
        }
        match command["commands"].as_array() {
            Some(below) => to_visit.extend(below.iter().cloned()),
            None => found.push(command["name"].as_str().unwrap().to_owned()),
        }
    }
    for (name, _) in leaves(&place) {
        let hidden = HIDDEN.iter().any(|words| name.starts_with(&words.join(" ")));
        assert!(hidden || found.contains(&format!("offshoot {name}")), "{name}");
    }
}

/// Words that begin a riddle, where a verb says what is done.
const NO_VERBS: [&str; 20] = [
    "The", "A", "An", "What", "Whether", "Which", "Where", "When", "Who", "Whose", "How", "Its",
    "It", "Only", "Also", "As", "At", "All", "These", "Further",
];

#[test]
fn help_begins_with_verbs() {
    let place = Place::new();
    let mut to_visit =
        vec![document_of(&place.run(["--help", "--json"]))["result"]["command"].clone()];
    while let Some(command) = to_visit.pop() {
        let name = command["name"].as_str().unwrap();
        let options = command["arguments"].as_array().unwrap().iter();
        let options = options.filter(|argument| argument["kind"] != "positional");
        let helps = options.map(|option| &option["help"]).chain([&command["about"]]);
        for help in helps.map(|help| help.as_str().unwrap_or_else(|| panic!("{name}: no help"))) {
            let first = help.split(' ').next().unwrap();
            assert!(!NO_VERBS.contains(&first), "{name}: {help}");
            assert!(!help.ends_with('.'), "{name}: {help}");
        }
        to_visit.extend(command["commands"].as_array().into_iter().flatten().cloned());
    }
}

#[test]
fn manual_pages_are_there_for_all() {
    let place = Place::new();
    let page = place.ok(["man"]);
    assert!(page.contains(".TH OFFSHOOT 1") && page.contains("workspace"), "{page}");
    let page = place.ok(["man", "vault", "check"]);
    assert!(page.contains(".TH OFFSHOOT-VAULT-CHECK 1") && page.contains("repair"), "{page}");
    let error = place.json_error(&["man", "vault", "bogus"], 2);
    assert_eq!(error["hint"], "`offshoot vault --help` lists the commands", "{error}");
    place.ok(["man", "--out", "pages/man1"]);
    let pages = place.project().join("pages/man1");
    for (name, _) in leaves(&place).iter().filter(|(name, _)| !name.starts_with("snapshot")) {
        let page = fs::read_to_string(pages.join(format!("offshoot-{}.1", name.replace(' ', "-"))));
        let page = page.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains("Examples:"), "{name}");
    }
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

/// Documents whose content differs from machine to machine or is long text, and events, which are no documents of their own.
const KINDS_NOT_IN_SNAPSHOTS: &[&str] = &[
    "completions",
    "doctor",
    "doctor.explain",
    "exec.event",
    "man",
    "presets.check",
    "providers.check",
    "sandbox.show",
];

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
        assert!(recorded.contains(&json), "no snapshot shows what `offshoot {json}` prints");
    }
}
