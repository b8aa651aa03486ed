//! The table of trusted files.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::LazyLock;

use offshoot_protocol::TrustKind;
use offshoot_tree::VaultPath;
use serde::Deserialize;

use crate::folded_name::folded;

/// Files that something on the host runs, obeys or trusts without being asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrustedFile {
    /// What its path is like, at any depth; of those that settings name, the key.
    pub pattern: String,
    /// What trusts it.
    pub by: String,
    /// On which occasion.
    pub kind: TrustKind,
    /// What happens, for people.
    pub why: String,
    /// Settings that nobody runs or obeys; a change that brings nothing else is like any other. Empty where every change counts.
    pub harmless: Vec<String>,
    /// Values in JSON, by their keys from the outside in; a change that brings none of them is like any other. Empty where every change
    /// counts.
    pub json: Vec<Vec<String>>,
    /// An interpreter writes such files beside their sources: there may be many, which are told of together.
    pub compiled: bool,
}

/// Which files are trusted.
#[derive(Clone, Debug)]
pub struct TrustedTable {
    files: Vec<Pattern>,
    /// The patterns by their first name, and those that start with one that stands for several.
    by_first: HashMap<Vec<u8>, Vec<usize>>,
    wild: Vec<usize>,
    settings: HashMap<String, Setting>,
    home: Vec<&'static TrustedFile>,
}

/// What a pattern says about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// It is such a file.
    File(&'static TrustedFile),
    /// It is a directory on the way to such files: a link there leads to them.
    Above(&'static TrustedFile),
}

/// A setting whose value names files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) file: &'static TrustedFile,
    /// It names a directory, and everything in it counts.
    pub(super) directory: bool,
}

#[derive(Clone, Debug)]
struct Pattern {
    names: Vec<Vec<u8>>,
    /// Everything below these names.
    below: bool,
    file: &'static TrustedFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    file: Vec<FileRow>,
    home: Vec<FileRow>,
    setting: Vec<SettingRow>,
    git_link: FileRow,
    leaving_link: FileRow,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRow {
    patterns: Vec<String>,
    by: String,
    kind: TrustKind,
    why: String,
    #[serde(default)]
    harmless: Vec<String>,
    #[serde(default)]
    json: Vec<Vec<String>>,
    #[serde(default)]
    compiled: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingRow {
    keys: Vec<String>,
    #[serde(default)]
    directory: bool,
    by: String,
    kind: TrustKind,
    why: String,
}

/// Everything that the table names, by rows of one pattern or key each.
struct Rows {
    files: Vec<TrustedFile>,
    home: Vec<TrustedFile>,
    settings: Vec<(TrustedFile, bool)>,
    git_link: TrustedFile,
    leaving_link: TrustedFile,
}

static ROWS: LazyLock<Rows> = LazyLock::new(|| {
    let source: Source = toml::from_str(include_str!("../../knowledge/trusted.toml"))
        .expect("the table of trusted files is valid, as a test says");
    let each = |row: FileRow| {
        let FileRow { patterns, by, kind, why, harmless, json, compiled } = row;
        let row = TrustedFile { pattern: String::new(), by, kind, why, harmless, json, compiled };
        patterns.into_iter().map(move |pattern| TrustedFile { pattern, ..row.clone() })
    };
    let files = source.file.into_iter().flat_map(each).collect();
    let home = source.home.into_iter().flat_map(each).collect();
    let settings = source.setting.into_iter().flat_map(|row| {
        let SettingRow { keys, directory, by, kind, why } = row;
        let (harmless, json, compiled) = (Vec::new(), Vec::new(), false);
        let row = TrustedFile { pattern: String::new(), by, kind, why, harmless, json, compiled };
        keys.into_iter().map(move |pattern| (TrustedFile { pattern, ..row.clone() }, directory))
    });
    let nameless = |row: FileRow| {
        let FileRow { patterns, by, kind, why, harmless, json, compiled } = row;
        TrustedFile { pattern: patterns.concat(), by, kind, why, harmless, json, compiled }
    };
    let (git_link, leaving_link) = (nameless(source.git_link), nameless(source.leaving_link));
    Rows { files, home, settings: settings.collect(), git_link, leaving_link }
});

static BUILT_IN: LazyLock<TrustedTable> = LazyLock::new(|| TrustedTable::without(&[]));

impl TrustedTable {
    /// The whole table.
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// The table without the rows of these patterns and keys: what is not in it is committed like any other file.
    pub fn without(patterns: &[&str]) -> Self {
        let stays = |file: &TrustedFile| !patterns.contains(&file.pattern.as_str());
        let rows = ROWS.settings.iter().filter(|(file, _)| stays(file));
        let settings = rows.map(|(file, directory)| {
            (file.pattern.clone(), Setting { file, directory: *directory })
        });
        let mut table = Self {
            files: Vec::new(),
            by_first: HashMap::new(),
            wild: Vec::new(),
            settings: settings.collect(),
            home: ROWS.home.iter().filter(|file| stays(file)).collect(),
        };
        for file in ROWS.files.iter().filter(|file| stays(file)) {
            table.add(Pattern::new(file));
        }
        table
    }

    /// All rows that are about paths.
    pub fn files(&self) -> impl Iterator<Item = &'static TrustedFile> + '_ {
        self.files.iter().map(|pattern| pattern.file)
    }

    /// What a path is.
    pub(super) fn fit(&self, path: &VaultPath) -> Option<Fit> {
        let names: Vec<Vec<u8>> = path.names().iter().map(|name| folded(name)).collect();
        let mut above = None;
        for start in 0..names.len() {
            let first = self.by_first.get(&names[start]).into_iter().flatten();
            for at in first.chain(&self.wild) {
                match self.files[*at].fit(&names[start..]) {
                    Some(Fit::File(file)) => return Some(Fit::File(file)),
                    found => above = above.or(found),
                }
            }
        }
        above
    }

    /// The setting that names files by a key in lower case, without what a section is called.
    pub(super) fn setting(&self, key: &str) -> Option<Setting> {
        let any = || self.settings.get(&format!("{}.*", key.split('.').next()?));
        self.settings.get(key).or_else(any).copied()
    }

    /// Whether a path is that of such a file, or a link on the way to one.
    pub(crate) fn counts(&self, path: &VaultPath, is_link: bool) -> bool {
        match self.fit(path) {
            Some(Fit::File(_)) => true,
            Some(Fit::Above(_)) => is_link,
            None => false,
        }
    }

    /// What the host obeys of a home, by its path there and the row.
    pub(super) fn of_home(&self) -> impl Iterator<Item = (&'static str, &'static TrustedFile)> {
        self.home.iter().filter_map(|file| Some((file.pattern.strip_prefix("~/")?, *file)))
    }

    /// A link that leads out of the folders.
    pub(super) fn leaving_link(&self) -> &'static TrustedFile {
        &ROWS.leaving_link
    }

    /// What a link of a git directory leads to.
    pub(super) fn git_link(&self) -> &'static TrustedFile {
        &ROWS.git_link
    }

    fn add(&mut self, pattern: Pattern) {
        let at = self.files.len();
        match pattern.names.first() {
            Some(first) if !first.contains(&b'*') => {
                self.by_first.entry(first.clone()).or_default().push(at);
            }
            _ => self.wild.push(at),
        }
        self.files.push(pattern);
    }
}

impl Pattern {
    fn new(file: &'static TrustedFile) -> Self {
        let lower = file.pattern.to_ascii_lowercase();
        let (names, below) = match lower.strip_suffix("/**") {
            Some(names) => (names, true),
            None => (lower.as_str(), false),
        };
        let names = names.split('/').map(|name| name.as_bytes().to_vec()).collect();
        Self { names, below, file }
    }

    fn fit(&self, path: &[Vec<u8>]) -> Option<Fit> {
        let length = path.len().cmp(&self.names.len());
        let is_longer = length == Ordering::Greater;
        let fits = || path.iter().zip(&self.names).all(|(name, wanted)| name_fits(name, wanted));
        match length {
            _ if (is_longer && !self.below) || !fits() => None,
            Ordering::Greater => Some(Fit::File(self.file)),
            Ordering::Equal if !self.below => Some(Fit::File(self.file)),
            _ => Some(Fit::Above(self.file)),
        }
    }
}

/// Whether a name is one with at most one `*` in it.
fn name_fits(name: &[u8], wanted: &[u8]) -> bool {
    match wanted.iter().position(|byte| *byte == b'*') {
        None => name == wanted,
        Some(at) => {
            let (start, end) = (&wanted[..at], &wanted[at + 1..]);
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Option<&'static str> {
        match TrustedTable::built_in().fit(&VaultPath::parse(path.as_bytes()).unwrap()) {
            Some(Fit::File(file)) => Some(&file.pattern),
            _ => None,
        }
    }

    #[test]
    fn every_row_is_complete_and_there_once() {
        let files: Vec<_> = TrustedTable::built_in().files().collect();
        for (at, file) in files.iter().enumerate() {
            assert!(!file.by.is_empty() && !file.why.is_empty(), "{file:?}");
            assert!(!file.why.ends_with('.') && !file.pattern.starts_with('/'), "{file:?}");
            let stars =
                file.pattern.trim_end_matches("/**").split('/').map(|n| n.matches('*').count());
            assert!(stars.max().is_some_and(|most| most < 2), "{file:?}");
            assert!(!files[..at].iter().any(|other| other.pattern == file.pattern), "{file:?}");
        }
        assert!(files.len() > 600, "{}", files.len());
    }

    #[test]
    fn files_are_found_at_any_depth_and_in_any_case() {
        for (path, pattern) in [
            ("/.envrc", ".envrc"),
            ("/deep/down/.ENVRC", ".envrc"),
            ("/.claude/hooks/x.sh", ".claude/**"),
            ("/sub/.GitHub/Workflows/ci.yml", ".github/workflows/**"),
            ("/lib/site/x.PTH", "*.pth"),
            ("/x.code-workspace", "*.code-workspace"),
            ("/claude.md", "CLAUDE.md"),
            ("/.offshoot/policy.toml", ".offshoot/*.toml"),
            ("/.offshoot/bound/other/.envrc", ".envrc"),
            ("/mise.local.toml", "mise.*.toml"),
            ("/web/package.json", "package.json"),
            ("/.env\u{200b}rc", ".envrc"),
            ("/.envrc. ", ".envrc"),
            ("/.envrc::$DATA", ".envrc"),
            ("/.v\u{17f}code/tasks.json", ".vscode/**"),
            ("/.hus\u{212a}y/pre-push", ".husky/**"),
            ("/x.PTH.", "*.pth"),
            ("/native/binding.gyp", "binding.gyp"),
            ("/FLAKE.lock", "flake.lock"),
            ("/_opam/.opam-switch/environment", "_opam/.opam-switch/**"),
            ("/.github/hooks/start.json", ".github/hooks/**"),
            ("/skills/review/SKILL.md", "skills/*/SKILL.md"),
            ("/.sourcegraph/go.rule.md", ".sourcegraph/*.rule.md"),
            ("/env/bin/python", "bin/python"),
            ("/.pixi/envs/default/bin/python3.13", ".pixi/envs/*/bin/**"),
            ("/jupyter_server_config.json", "jupyter_*_config.json"),
            ("/$irbrc", "$irbrc"),
        ] {
            assert_eq!(found(path), Some(pattern), "{path}");
        }
        for path in [
            "/Makefile",
            "/build.rs",
            "/pyproject.toml",
            "/src/main.rs",
            "/envrc",
            "/.envrcs",
            "/.github/ISSUE_TEMPLATE.md",
            "/.claude",
            "/.offshoot/bound/x/a",
            "/my-husky/pre-commit",
            "/setup.cfg",
            "/tox.ini",
            "/gradle.properties",
            "/bin/python-lint",
            "/skills/SKILL.md",
            "/skills/review/notes.md",
            "/mill/readme",
        ] {
            assert_eq!(found(path), None, "{path}");
        }
    }

    #[test]
    fn directories_on_the_way_lead_to_files() {
        for path in ["/.claude", "/.github", "/.github/workflows", "/a/.vscode"] {
            let fit = TrustedTable::built_in().fit(&VaultPath::parse(path.as_bytes()).unwrap());
            assert!(matches!(fit, Some(Fit::Above(_))), "{path}: {fit:?}");
        }
    }

    /// Each row stands for itself.
    #[test]
    fn a_file_whose_row_is_gone_is_like_any_other() {
        for file in TrustedTable::built_in().files() {
            let example = file.pattern.replace("/**", "/x").replace('*', "x");
            let path = VaultPath::parse(format!("/{example}").as_bytes()).unwrap();
            let fits = |table: &TrustedTable| matches!(table.fit(&path), Some(Fit::File(_)));
            assert!(fits(TrustedTable::built_in()), "{example}");
            assert!(!fits(&TrustedTable::without(&[&file.pattern])), "{example}");
        }
    }
}
