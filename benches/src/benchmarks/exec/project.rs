//! What workloads run in.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::Bench;
use crate::run::{copy, git, timed};
use crate::{Result, tree};

/// Modules of the crate, and functions in each: about a second to build.
const MODULES: usize = 10;
const FUNCTIONS: usize = 16;

/// A kind of project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Project {
    /// Many source files in a git repository, and an archive of them beside.
    Tree,
    /// A crate without dependencies.
    Crate,
}

impl Project {
    /// Makes one.
    pub(super) fn make(self, bench: &Bench) -> Result<PathBuf> {
        let dir = bench.fresh("project");
        match self {
            Self::Tree => make_tree(&dir, bench.options.scaled(100, 10_000))?,
            Self::Crate => make_crate(&dir)?,
        }
        bench.settle()?;
        Ok(dir)
    }

    /// A copy in which git finds everything as it expects it, as in the original.
    pub(super) fn copy(self, from: &Path, to: &Path) -> Result<()> {
        timed(&mut copy(from, to))?;
        if self == Self::Tree {
            timed(&mut in_repository(to, &["status"]))?;
        }
        Ok(())
    }
}

fn make_tree(dir: &Path, files: usize) -> Result<()> {
    tree::make(dir, files)?;
    let mut tar = Command::new("tar");
    tar.current_dir(dir).args(["--exclude=files.tar", "-cf", "files.tar", "."]);
    timed(&mut tar)?;
    let settings = [("user.name", "bench"), ("user.email", "bench"), ("gc.auto", "0")];
    timed(&mut in_repository(dir, &["init", "--quiet"]))?;
    for (name, value) in settings {
        timed(&mut in_repository(dir, &["config", name, value]))?;
    }
    std::fs::write(dir.join(".git/info/exclude"), "files.tar\n")?;
    timed(&mut in_repository(dir, &["add", "--all"]))?;
    timed(&mut in_repository(dir, &["commit", "--quiet", "--message", "all"]))?;
    // One pack, as in a clone.
    timed(&mut in_repository(dir, &["gc", "--quiet"])).map(drop)
}

fn in_repository(dir: &Path, arguments: &[&str]) -> Command {
    git(&dir.join(".git"), dir, arguments)
}

fn make_crate(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir.join("src"))?;
    // A workspace of its own, wherever it lies.
    let manifest = "[package]\nname = \"small\"\nedition = \"2021\"\n\n[workspace]\n";
    std::fs::write(dir.join("Cargo.toml"), manifest)?;
    let (mut library, mut calls) = (String::new(), String::new());
    for module in 0..MODULES {
        std::fs::write(dir.join(format!("src/part_{module}.rs")), source(module))?;
        writeln!(library, "pub mod part_{module};")?;
        writeln!(calls, "    total += small::part_{module}::all(total);")?;
    }
    std::fs::write(dir.join("src/lib.rs"), library)?;
    let main = format!(
        "fn main() {{\n    let mut total = 1u64;\n{calls}    println!(\"{{total}}\");\n}}\n"
    );
    Ok(std::fs::write(dir.join("src/main.rs"), main)?)
}

fn source(module: usize) -> String {
    let mut text = String::from("use std::collections::BTreeMap;\n");
    let mut calls = String::new();
    for function in 0..FUNCTIONS {
        text.push_str(&format!(
            "pub fn f_{function}(n: u64) -> u64 {{\n    let mut seen = BTreeMap::new();\n    for i in 0..n % 7 \
             {{ seen.insert(i * {}, format!(\"{{i}}\")); }}\n    seen.values().map(|v| v.len() as u64).sum()\n}}\n",
            module + function + 1
        ));
        calls.push_str(&format!(" + f_{function}(n)"));
    }
    text.push_str(&format!("pub fn all(n: u64) -> u64 {{ n{calls} }}\n"));
    text
}
