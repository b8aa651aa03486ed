//! Fetching packages, each version once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::packages::{CRATES, NPM, PYPI, Packages};
use crate::arguments::TaskError;
use crate::{cargo, report};

/// Where packages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registry {
    Crates,
    Npm,
    Pypi,
}

impl Registry {
    /// All of them.
    pub(super) const ALL: [Self; 3] = [Self::Crates, Self::Npm, Self::Pypi];

    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Crates => "crates",
            Self::Npm => "npm",
            Self::Pypi => "pypi",
        }
    }

    pub(super) fn packages(self) -> Packages {
        match self {
            Self::Crates => CRATES,
            Self::Npm => NPM,
            Self::Pypi => PYPI,
        }
    }

    /// Fetches what is missing to folders `NAME-VERSION`; gives the folder that these are in.
    pub(super) fn fetch(self, dir: &Path) -> Result<PathBuf, TaskError> {
        let unpacked = dir.join(self.word());
        make_dir(&unpacked)?;
        for (name, versions) in self.packages() {
            for version in versions.split(' ') {
                let to = unpacked.join(format!("{name}-{version}"));
                if !to.exists() {
                    self.fetch_one(dir, name, version, &to).inspect_err(|_| {
                        report::complain(&format!("is a registry of {} in reach?", self.word()));
                    })?;
                }
            }
        }
        Ok(unpacked)
    }

    /// Fetches one version and gives it its name last, so that one cut short is fetched again.
    fn fetch_one(self, dir: &Path, name: &str, version: &str, to: &Path) -> Result<(), TaskError> {
        let scratch = dir.join("incoming");
        if scratch.exists() {
            fs::remove_dir_all(&scratch).map_err(failed("remove", &scratch))?;
        }
        let (archive, files) = (scratch.join("archive"), scratch.join("files"));
        make_dir(&archive)?;
        make_dir(&files)?;
        match self {
            Self::Crates => fetch_crate(dir, name, version, &files)?,
            Self::Npm => {
                let what = format!("{name}@{version}");
                let at = text(&archive);
                run(
                    "npm",
                    &["pack", "--silent", "--ignore-scripts", "--pack-destination", &at, &what],
                )?;
                let packed = text(&only_file(&archive)?);
                run("tar", &["-xzf", &packed, "--strip-components=1", "-C", &text(&files)])?;
            }
            Self::Pypi => {
                let (what, at) = (format!("{name}=={version}"), text(&archive));
                // Only a wheel is unpacked without running anything of the package.
                let words = ["-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"];
                run("python3", &[&words[..], &["-d", &at, &what]].concat())?;
                let packed = text(&only_file(&archive)?);
                run("python3", &["-m", "zipfile", "-e", &packed, &text(&files)])?;
            }
        }
        fs::rename(&files, to).map_err(failed("rename", &files))
    }
}

/// Lets cargo fetch a crate as a dependency, and copies the sources that it unpacked.
fn fetch_crate(dir: &Path, name: &str, version: &str, to: &Path) -> Result<(), TaskError> {
    let (package, home) = (dir.join("incoming/package"), dir.join("cargo"));
    make_dir(&package.join("src"))?;
    let manifest = package.join("Cargo.toml");
    let text_of = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
    );
    let lib = package.join("src/lib.rs");
    fs::write(&lib, "").map_err(failed("write", &lib))?;
    fs::write(&manifest, text_of).map_err(failed("write", &manifest))?;
    let at = manifest.display().to_string();
    let mut command = cargo::command(["fetch", "--quiet", "--manifest-path", &at]);
    cargo::run(command.env("CARGO_HOME", &home))?;
    let registry = only_file(&home.join("registry/src"))?;
    let source = registry.join(format!("{name}-{version}"));
    run("cp", &["-r", &text(&source.join(".")), &text(to)])
}

/// Runs a program without a word of its own; what it says on standard error goes through.
fn run(program: &str, words: &[&str]) -> Result<(), TaskError> {
    let shown = format!("{program} {}", words.join(" "));
    let mut command = Command::new(program);
    let status = command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(TaskError::Failed(format!("`{shown}` failed: {status}"))),
        Err(error) => Err(TaskError::Failed(format!("cannot start `{shown}`: {error}"))),
    }
}

fn only_file(dir: &Path) -> Result<PathBuf, TaskError> {
    let mut entries = fs::read_dir(dir).map_err(failed("read", dir))?.flatten();
    match (entries.next(), entries.next()) {
        (Some(entry), None) => Ok(entry.path()),
        _ => Err(TaskError::Failed(format!("{} should hold one thing", dir.display()))),
    }
}

fn make_dir(dir: &Path) -> Result<(), TaskError> {
    fs::create_dir_all(dir).map_err(failed("make", dir))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn failed<'a>(verb: &'a str, path: &'a Path) -> impl FnOnce(std::io::Error) -> TaskError + 'a {
    move |error| TaskError::Failed(format!("cannot {verb} {}: {error}", path.display()))
}
