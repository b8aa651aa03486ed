//! Makes the tables of what commands see into constants: they are used before every command, and reading them then would take longer than all else.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

const TABLE: &str = "data/reads.toml";
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
    tools: BTreeMap<String, HostTool>,
    #[serde(default)]
    variable: Option<String>,
    #[serde(default)]
    everything: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostTool {
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

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed={PRESETS}");
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    fs::write(out.join("reads.rs"), reads()?)?;
    Ok(fs::write(out.join("presets.rs"), presets()?)?)
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
        for (name, HostTool { at, show, copy, hide, check }) in &group.tools {
            if at.is_empty() {
                return Err(format!("{TABLE}: {name} is nowhere").into());
            }
            writeln!(
                code,
                "            HostTool {{ name: {name:?}, at: &{at:?}, show: &{show:?}, copy: &{copy:?}, hide: &{hide:?}, check: &{check:?} }},"
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
