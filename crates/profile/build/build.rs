//! Makes the table of what commands see into constants: it is used before every command, and reading it then would take longer than all else.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

const TABLE: &str = "data/reads.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    groups: BTreeMap<String, Group>,
    credentials: Credentials,
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    words: Vec<String>,
    names: Vec<String>,
    #[serde(rename = "in")]
    files: BTreeMap<String, Vec<String>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed=build");
    let table: Table = toml::from_str(&fs::read_to_string(TABLE)?)?;
    let mut code = String::from("/// All groups.\npub(crate) const GROUPS: &[Group] = &[\n");
    for (name, group) in &table.groups {
        let Group { about, show, copy, variable, everything, .. } = group;
        writeln!(
            code,
            "    Group {{ name: {name:?}, about: {about:?}, show: &{show:?}, copy: &{copy:?},"
        )?;
        writeln!(code, "        variable: {variable:?}, everything: {everything}, tools: &[")?;
        for (name, Tool { at, show, copy, hide }) in &group.tools {
            if at.is_empty() {
                return Err(format!("{TABLE}: {name} is nowhere").into());
            }
            writeln!(
                code,
                "            Tool {{ name: {name:?}, at: &{at:?}, show: &{show:?}, copy: &{copy:?}, hide: &{hide:?} }},"
            )?;
        }
        writeln!(code, "        ] }},")?;
    }
    let Credentials { words, names, files } = &table.credentials;
    let files: Vec<String> =
        files.iter().map(|(end, words)| format!("({end:?}, &{words:?})")).collect();
    let files = files.join(", ");
    writeln!(
        code,
        "];\n/// Words that tell of a credential.\npub(crate) const CREDENTIALS: &[&str] = &{words:?};
/// Last words of names that tell of one.\npub(crate) const CREDENTIAL_NAMES: &[&str] = &{names:?};
/// Words that tell of one in files whose names end so.\npub(crate) const CREDENTIALS_IN: &[(&str, &[&str])] = &[{files}];"
    )?;
    let target = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?).join("reads.rs");
    Ok(fs::write(target, code)?)
}
