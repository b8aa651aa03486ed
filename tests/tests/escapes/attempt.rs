//! The list, as it is written.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The files of the list, in the order of the page.
pub(crate) const CLASSES: &[&str] = &[
    "secrets",
    "links",
    "processes",
    "kernel",
    "devices",
    "mounts",
    "calls",
    "channels",
    "network",
    "proxy",
    "state",
    "shared",
    "planted",
    "arrivals",
    "terminal",
    "exhaustion",
];

/// Attempts of one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    /// Its heading on the page.
    pub(crate) title: String,
    /// What the page says about all of them.
    pub(crate) about: String,
    /// Whether the workspace is committed to the folder before the checks are made.
    #[serde(default)]
    pub(crate) commits: bool,
    /// The attempts.
    #[serde(rename = "attempt")]
    pub(crate) attempts: Vec<Attempt>,
}

/// One attempt to escape.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attempt {
    /// What it is called wherever it is told about.
    pub(crate) name: String,
    /// What it tries.
    pub(crate) tries: String,
    /// Why it fails.
    pub(crate) wall: String,
    /// What is run inside, for a shell. Whoever ends with 0 got through, if there is no check.
    pub(crate) sh: Option<String>,
    /// The same for Python, after the prelude in `driver.py`.
    pub(crate) python: Option<String>,
    /// A shell script for the host, made afterwards: it ends with 0 if the attempt got through.
    pub(crate) check: Option<String>,
    /// What one of is said by who is refused: so that no attempt fails by a mistake of its own.
    pub(crate) refused: Vec<String>,
    /// Options of `exec`.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// Whether it needs a command of its own: it may end all that runs beside it.
    #[serde(default)]
    pub(crate) alone: bool,
    /// Where the same attempt gets through.
    pub(crate) control: Option<Control>,
    /// Whether that only holds for root, because the host refuses others itself.
    #[serde(default)]
    pub(crate) control_by_root: bool,
    /// Why there is no such place.
    pub(crate) uncontrolled: Option<String>,
}

/// Where nothing holds an attempt.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Control {
    /// On the host, or on the host with all capabilities over namespaces of its own.
    Place(Place),
    /// Inside, with other options of `exec`.
    Options(Vec<String>),
}

/// A place outside of a workspace.
#[derive(Debug, Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Place {
    /// The host.
    Host,
    /// Namespaces on the host, as `unshare` makes them.
    Namespaces,
    /// Nowhere else: the check itself shows it first, and says so.
    Check,
}

impl Class {
    /// One file of the list.
    pub(crate) fn load(name: &str) -> Self {
        let path = repository().join(format!("tests/tests/escapes/attempts/{name}.toml"));
        let text = fs::read_to_string(&path).unwrap();
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// Where the repository is.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}
