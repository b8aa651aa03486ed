//! Makes the tables of what commands see and of what seems to be a credential into constants: they are used before every command, and reading them
//! then would take longer than all else.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

const TABLE: &str = "data/reads.toml";
const CREDENTIALS: &str = "data/credentials.toml";
const PRESETS: &str = "data/presets";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    groups: BTreeMap<String, Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    about: String,
    #[serde(default)]
    show: Vec<String>,
    #[serde(default)]
    copy: Vec<String>,
    #[serde(default)]
    check: Vec<String>,
    #[serde(default)]
    tools: BTreeMap<String, Tool>,
    #[serde(default)]
    variable: Option<String>,
    #[serde(default)]
    everything: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    at: Vec<String>,
    #[serde(default)]
    show: Vec<String>,
    #[serde(default)]
    copy: Vec<String>,
    #[serde(default)]
    hide: Vec<String>,
    #[serde(default)]
    check: Vec<String>,
}

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
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed={CREDENTIALS}");
    println!("cargo::rerun-if-changed={PRESETS}");
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("reads.rs"), reads()?)?;
    fs::write(out.join("presets.rs"), presets()?)?;
    Ok(fs::write(out.join("credentials.rs"), credentials()?)?)
}

fn reads() -> Result<String, Box<dyn Error>> {
    let table: Table = toml::from_str(&fs::read_to_string(TABLE)?)?;
    let mut code = String::from("/// All groups.\npub(crate) const GROUPS: &[Group] = &[\n");
    for (name, group) in &table.groups {
        let Group { about, show, copy, check, variable, everything, .. } = group;
        writeln!(
            code,
            "    Group {{ name: {name:?}, about: {about:?}, show: &{show:?}, copy: &{copy:?},"
        )?;
        writeln!(
            code,
            "        check: &{check:?}, variable: {variable:?}, everything: {everything}, tools: &["
        )?;
        for (name, Tool { at, show, copy, hide, check }) in &group.tools {
            if at.is_empty() {
                return Err(format!("{TABLE}: {name} is nowhere").into());
            }
            writeln!(
                code,
                "            Tool {{ name: {name:?}, at: &{at:?}, show: &{show:?}, copy: &{copy:?}, hide: &{hide:?}, check: &{check:?} }},"
            )?;
        }
        writeln!(code, "        ] }},")?;
    }
    code.push_str("];\n");
    Ok(code)
}

#[derive(Deserialize)]
struct Preset {
    programs: Vec<String>,
}

/// The presets of agents: which programs are known is looked up before every command, and nothing else is read of most.
fn presets() -> Result<String, Box<dyn Error>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(PRESETS)?.map(|entry| entry.map(|it| it.path())).collect::<Result<_, _>>()?;
    files.sort();
    let mut code = String::from("&[\n");
    for file in files {
        let name = file.file_stem().ok_or("a file without a name")?;
        let text = fs::read_to_string(&file)?;
        let Preset { programs } = toml::from_str(&text)?;
        writeln!(code, "    ({name:?}, {text:?}, &{programs:?}),")?;
    }
    code.push_str("]\n");
    Ok(code)
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
        writeln!(code, "pub(super) const {name}: &[&str] = &{words:?};")?;
    }
    writeln!(code, "pub(super) const KINDS: &[(&str, &[&str])] = &[")?;
    for (kind, words) in kinds {
        writeln!(code, "    ({kind:?}, &{words:?}),")?;
    }
    writeln!(code, "];")?;
    writeln!(code, "pub(super) const SHAPES: &[Shape] = &[")?;
    for Shape { start, least, plain, digit, hex, example } in shapes {
        writeln!(
            code,
            "    Shape {{ start: {start:?}, least: {least}, plain: {plain}, digit: {digit}, hex: {hex}, #[cfg(test)] example: {example:?} }},"
        )?;
    }
    writeln!(code, "];\npub(super) const FILES: &[NamesOfFile] = &[")?;
    for NamesOfFile { ends, names, pairs, example } in files {
        writeln!(
            code,
            "    NamesOfFile {{ ends: {ends:?}, names: &{names:?}, pairs: {pairs}, #[cfg(test)] example: {example:?} }},"
        )?;
    }
    code.push_str("];\n");
    Ok(code)
}
