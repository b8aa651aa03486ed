//! Turns `knowledge/*.toml` into tables. A fault in the data stops the build and names the file and the tool.

#[path = "../src/category.rs"]
#[expect(dead_code, unreachable_pub, reason = "the crate has more use for them")]
mod category;
mod check;
#[path = "../src/knowledge/codes.rs"]
mod codes;
#[path = "../src/knowledge/decode.rs"]
mod decode;
mod emit;
mod format;
#[path = "../src/knowledge/index.rs"]
mod index;
#[path = "../src/knowledge/reader.rs"]
mod reader;
#[path = "../src/knowledge/table.rs"]
#[expect(dead_code, reason = "the build looks at nothing but names")]
mod table;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    if let Err(faults) = run() {
        panic!("\n{faults}\n");
    }
}

fn run() -> Result<(), String> {
    let root = directory("CARGO_MANIFEST_DIR")?.join("knowledge");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed={}", root.display());
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in sources(&root)? {
        println!("cargo::rerun-if-changed={}", path.display());
        match read(&path) {
            Ok(file) => files.push(file),
            Err(fault) => faults.push(fault),
        }
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    check::check(&files)?;
    let tables: &[u8] = emit::tables(&files).leak();
    verify::verify(&files, tables)?;
    let target = directory("OUT_DIR")?.join("tables.bin");
    fs::write(&target, tables).map_err(|error| format!("{}: {error}", target.display()))
}

/// A file with its name.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) file: format::File,
}

fn directory(variable: &str) -> Result<PathBuf, String> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| format!("{variable} is not set"))
}

/// The files of a folder by name, so that the tables are the same on every machine.
fn sources(root: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |error| format!("{}: {error}", root.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(root).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<Source, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let file = toml::from_str(&text).map_err(|error| format!("{name}: {error}"))?;
    Ok(Source { name, file })
}
