//! `cargo xtask merge-corpus`: merges of published sources, beside those of git.

use std::path::PathBuf;

use crate::arguments::{Argument, Arguments, TaskError, unknown};
use crate::{cargo, report};

const HELP: &str = "\
Merge published versions of crates with Offshoot and with git, and say where the results differ. Needs git and a
registry of crates.

Usage: cargo xtask merge-corpus [--list]

  --list   Also say which paths differ in which merge
  -h, --help

The sources are fetched once, to target/merge-corpus.
";

/// Crates with few dependencies, and versions of them in order.
const CRATES: &[(&str, &str)] = &[
    ("memchr", "2.6.3 2.6.4 2.7.0 2.7.1 2.7.2 2.7.3 2.7.4 2.7.5 2.7.6 2.8.0"),
    ("regex-syntax", "0.7.5 0.8.0 0.8.1 0.8.2 0.8.3 0.8.4 0.8.5 0.8.6 0.8.7 0.8.8"),
    ("aho-corasick", "0.7.20 1.0.1 1.0.2 1.0.3 1.0.4 1.0.5 1.1.0 1.1.1 1.1.2 1.1.3"),
    ("bytes", "1.4.0 1.5.0 1.7.0 1.7.1 1.7.2 1.8.0 1.9.0 1.10.0 1.10.1"),
    ("semver", "1.0.17 1.0.18 1.0.19 1.0.20 1.0.21 1.0.22 1.0.23 1.0.24 1.0.25 1.0.26"),
    ("smallvec", "1.8.0 1.9.0 1.10.0 1.11.0 1.12.0 1.13.1 1.13.2 1.14.0 1.15.0"),
    ("anyhow", "1.0.70 1.0.73 1.0.76 1.0.79 1.0.82 1.0.85 1.0.88 1.0.91 1.0.94 1.0.97"),
    ("arrayvec", "0.5.1 0.5.2 0.6.0 0.6.1 0.7.0 0.7.1 0.7.2 0.7.3 0.7.4 0.7.6"),
    ("once_cell", "1.12.0 1.13.0 1.14.0 1.15.0 1.16.0 1.17.0 1.18.0 1.19.0 1.20.2 1.21.3"),
    ("httparse", "1.5.1 1.6.0 1.7.0 1.7.1 1.8.0 1.9.4 1.9.5 1.10.0"),
    ("base64", "0.13.0 0.13.1 0.20.0 0.21.0 0.21.2 0.21.4 0.21.5 0.21.7 0.22.0 0.22.1"),
    ("log", "0.4.17 0.4.18 0.4.19 0.4.20 0.4.21 0.4.22 0.4.25 0.4.26 0.4.27 0.4.28"),
    ("byteorder", "1.2.6 1.2.7 1.3.0 1.3.1 1.3.2 1.3.4 1.4.2 1.4.3 1.5.0"),
    ("heck", "0.3.0 0.3.1 0.3.2 0.3.3 0.4.0 0.4.1 0.5.0"),
    ("fastrand", "1.7.0 1.8.0 1.9.0 2.0.0 2.0.1 2.0.2 2.1.0 2.1.1 2.2.0 2.3.0"),
    ("unicode-width", "0.1.6 0.1.7 0.1.8 0.1.9 0.1.10 0.1.11 0.1.12 0.1.13 0.1.14 0.2.0"),
    ("strsim", "0.7.0 0.8.0 0.9.0 0.9.1 0.9.2 0.9.3 0.10.0 0.11.0 0.11.1"),
    ("either", "1.5.3 1.6.0 1.6.1 1.7.0 1.8.0 1.8.1 1.9.0 1.10.0 1.12.0 1.13.0"),
];

/// What to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    list: bool,
}

impl Options {
    pub(crate) fn parse(all: &[String]) -> Result<Self, TaskError> {
        let mut options = Self::default();
        let mut arguments = Arguments::new(all);
        while let Some(argument) = arguments.next() {
            match argument {
                Argument::Flag("--list", None) => options.list = true,
                Argument::Flag("--help" | "-h", None) => return Err(TaskError::Help(HELP)),
                Argument::Flag(..) | Argument::Plain(_) => {
                    return Err(unknown("merge-corpus", &argument));
                }
            }
        }
        Ok(options)
    }
}

/// Fetches what is missing and merges.
pub(crate) fn run(options: &Options) -> Result<(), TaskError> {
    let dir = cargo::root().join("target/merge-corpus");
    let home = dir.join("cargo");
    for turn in 0..columns() {
        fetch(&dir, &home, turn)?;
    }
    let sources = home.join("registry/src").display().to_string();
    let mut arguments =
        vec!["run", "-p", "offshoot-vault", "--example", "merge-corpus", "--", &sources];
    if options.list {
        arguments.push("--list");
    }
    cargo::run(&mut cargo::command(arguments))
}

fn columns() -> usize {
    CRATES.iter().map(|(_, versions)| versions.split(' ').count()).max().unwrap_or(0)
}

/// Fetches one version of each crate: two that are compatible cannot be in one list of dependencies.
fn fetch(dir: &std::path::Path, home: &PathBuf, turn: usize) -> Result<(), TaskError> {
    let package = dir.join(format!("fetch-{turn}"));
    let manifest = package.join("Cargo.toml");
    let done = package.join("fetched");
    let text = manifest_of(turn);
    if std::fs::read_to_string(&done).is_ok_and(|fetched| fetched == text) {
        return Ok(());
    }
    let write = |path: &PathBuf, text: &str| {
        std::fs::write(path, text)
            .map_err(|error| TaskError::Failed(format!("cannot write {}: {error}", path.display())))
    };
    let source = package.join("src");
    std::fs::create_dir_all(&source)
        .map_err(|error| TaskError::Failed(format!("cannot make {}: {error}", source.display())))?;
    write(&source.join("lib.rs"), "")?;
    write(&manifest, &text)?;
    let path = manifest.display().to_string();
    let mut command = cargo::command(["fetch", "--quiet", "--manifest-path", &path]);
    cargo::run(command.env("CARGO_HOME", home)).inspect_err(|_| {
        report::complain("is a registry of crates within reach?");
    })?;
    write(&done, &text)
}

fn manifest_of(turn: usize) -> String {
    let mut text = "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
                    [workspace]\n\n[dependencies]\n"
        .to_owned();
    for (name, versions) in CRATES {
        if let Some(version) = versions.split(' ').nth(turn) {
            text.push_str(&format!("{name} = \"={version}\"\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::words;

    #[test]
    fn every_version_is_fetched_once() {
        let all: String = (0..columns()).map(manifest_of).collect();
        for (name, versions) in CRATES {
            for version in versions.split(' ') {
                assert_eq!(all.matches(&format!("\n{name} = \"={version}\"\n")).count(), 1);
            }
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let refused = |text| Options::parse(&words(text)).unwrap_err();
        assert!(matches!(refused("--lst"), TaskError::Usage(_)));
        assert!(matches!(refused("memchr"), TaskError::Usage(_)));
        assert_eq!(refused("-h"), TaskError::Help(HELP));
        assert!(Options::parse(&words("--list")).unwrap().list);
    }
}
