//! Makes the table of what seems to be a credential into constants: it is used before every command, and reading it then would take longer than
//! all else.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

const CREDENTIALS: &str = "data/credentials.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    names: Vec<String>,
    parts: Vec<String>,
    likely: Vec<String>,
    harmless: Vec<String>,
    references: Vec<String>,
    directories: Vec<String>,
    kinds: BTreeMap<String, Vec<String>>,
    shapes: Vec<Shape>,
    files: Vec<NamesOfFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    start: String,
    least: usize,
    #[serde(default)]
    plain: bool,
    #[serde(default)]
    digit: bool,
    #[serde(default)]
    hex: bool,
    #[serde(default)]
    settings: bool,
    example: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamesOfFile {
    ends: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    pairs: bool,
    example: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={CREDENTIALS}");
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    Ok(fs::write(out.join("credentials.rs"), credentials()?)?)
}

fn credentials() -> Result<String, Box<dyn Error>> {
    let table: Credentials = toml::from_str(&fs::read_to_string(CREDENTIALS)?)?;
    let Credentials { names, parts, likely, harmless, references, directories, kinds, .. } = &table;
    let Credentials { shapes, files, .. } = &table;
    let mut code = String::new();
    for (name, words) in [
        ("NAMES", names),
        ("PARTS", parts),
        ("LIKELY", likely),
        ("HARMLESS", harmless),
        ("REFERENCES", references),
        ("DIRECTORIES", directories),
    ] {
        writeln!(code, "pub(crate) const {name}: &[&str] = &{words:?};")?;
    }
    writeln!(code, "pub(crate) const KINDS: &[(&str, &[&str])] = &[")?;
    for (kind, words) in kinds {
        writeln!(code, "    ({kind:?}, &{words:?}),")?;
    }
    writeln!(code, "];")?;
    writeln!(code, "pub(crate) const SHAPES: &[Shape] = &[")?;
    for Shape { start, least, plain, digit, hex, settings, example } in shapes {
        writeln!(
            code,
            "    Shape {{ start: {start:?}, least: {least}, plain: {plain}, digit: {digit}, hex: {hex}, settings: {settings}, #[cfg(test)] example: {example:?} }},"
        )?;
    }
    writeln!(code, "];\npub(crate) const FILES: &[NamesOfFile] = &[")?;
    for NamesOfFile { ends, names, pairs, example } in files {
        writeln!(
            code,
            "    NamesOfFile {{ ends: {ends:?}, names: &{names:?}, pairs: {pairs}, #[cfg(test)] example: {example:?} }},"
        )?;
    }
    code.push_str("];\n");
    Ok(code)
}
