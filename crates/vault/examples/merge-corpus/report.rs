//! What was found, for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::merging::Compared;
use crate::reasons::{Standing, reason};
use crate::scenario::{Kind, Scenario};
use crate::sources::Package;

/// One merge.
pub(crate) struct Row {
    registry: String,
    package: String,
    kind: Kind,
    what: String,
    standing: Standing,
    compared: Compared,
}

impl Row {
    pub(crate) fn new(package: &Package, scenario: &Scenario, compared: Compared) -> Self {
        Self {
            registry: package.registry.clone(),
            package: package.name.clone(),
            kind: scenario.kind,
            what: scenario.what.clone(),
            standing: Standing::of(&compared),
            compared,
        }
    }
}

/// All merges.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// Whether every difference is explained.
    pub(crate) fn is_good(&self) -> bool {
        !self.rows.is_empty() && self.unexplained() == 0
    }

    /// How many merges came out how.
    pub(crate) fn summary(&self) -> String {
        let mut out = format!("{} merges\n", self.rows.len());
        for standing in Standing::ALL {
            let count = self.rows.iter().filter(|row| row.standing == standing).count();
            writeln!(out, "{count:6} {}", standing.word()).unwrap();
        }
        let (all, equal) = self.marked();
        writeln!(out, "{equal} of {all} files with conflicts have git's text").unwrap();
        let unexplained = self.unexplained();
        writeln!(out, "{unexplained} paths differ for a reason that nobody has explained").unwrap();
        out
    }

    /// Every path that differs.
    pub(crate) fn differences(&self) -> String {
        let mut out = String::new();
        for row in self.rows.iter().filter(|row| !row.compared.differences.is_empty()) {
            let Row { package, kind, what, standing, .. } = row;
            writeln!(out, "{package} {} [{what}]: {}", kind.word(), standing.word()).unwrap();
            for difference in &row.compared.differences {
                let why = reason(row.kind, difference).unwrap_or("not explained");
                let (path, ours, git) = (&difference.path, &difference.ours, &difference.git);
                let shown = (difference.our_file, difference.git_file);
                writeln!(out, "    {path}: ours {ours:?}, git {git:?} {shown:?}: {why}").unwrap();
            }
        }
        out
    }

    fn unexplained(&self) -> usize {
        let of_row = |row: &Row| {
            let all = row.compared.differences.iter();
            all.filter(|difference| reason(row.kind, difference).is_none()).count()
        };
        self.rows.iter().map(of_row).sum()
    }

    fn marked(&self) -> (usize, usize) {
        let both = self.rows.iter().map(|row| row.compared.marked);
        both.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// A page to keep.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        self.write_head(&mut out);
        self.write_table(&mut out);
        self.write_reasons(&mut out);
        self.write_rows(&mut out);
        out
    }

    fn write_head(&self, out: &mut String) {
        let (all, equal) = self.marked();
        let total = self.rows.len();
        *out += "# Merges of published sources\n\n\
                 Made by `cargo xtask merge-corpus --markdown FILE`, which says how. Each merge is done by `Vault::merge` and by\n\
                 `git merge-tree` with directory renames on, and the trees are compared byte by byte.\n\n";
        writeln!(out, "{total} merges; of {all} files that are in conflict for both, {equal} have the same text between the same markers.\n").unwrap();
        *out += "- *same, clean*: no conflict in either, and every byte equal.\n\
                 - *same conflicts*: conflicts at the same paths, and everything else equal.\n\
                 - *better*: conflicts in git's merge only.\n\
                 - *different*: anything else.\n\n";
        for kind in Kind::ALL {
            writeln!(out, "- *{}*: {}.", kind.word(), kind.meaning()).unwrap();
        }
    }

    fn write_table(&self, out: &mut String) {
        *out += "\n| merges | of | ";
        *out += &Standing::ALL.map(Standing::word).join(" | ");
        *out += " |\n|---|---|";
        *out += &"---|".repeat(Standing::ALL.len());
        out.push('\n');
        let mut counts: BTreeMap<(Kind, &str), BTreeMap<Standing, usize>> = BTreeMap::new();
        for row in &self.rows {
            let counts = counts.entry((row.kind, &row.registry)).or_default();
            *counts.entry(row.standing).or_insert(0) += 1;
        }
        for ((kind, registry), counts) in counts {
            let cell = |standing| counts.get(&standing).copied().unwrap_or(0).to_string();
            let cells = Standing::ALL.map(cell).join(" | ");
            writeln!(out, "| {} | {registry} | {cells} |", kind.word()).unwrap();
        }
    }

    fn write_reasons(&self, out: &mut String) {
        *out += "\n## Every difference\n\n| package | merge | path | here | git | why |\n|---|---|---|---|---|---|\n";
        for row in &self.rows {
            for difference in &row.compared.differences {
                let Row { package, kind, what, .. } = row;
                let why = reason(row.kind, difference).unwrap_or("not explained");
                let ours = or_clean(&difference.ours.join(", "));
                let git = or_clean(&difference.git.join(", ").replace("CONFLICT ", ""));
                let (kind, path) = (kind.word(), &difference.path);
                writeln!(out, "| {package} | {kind} {what} | `{path}` | {ours} | {git} | {why} |")
                    .unwrap();
            }
        }
    }

    fn write_rows(&self, out: &mut String) {
        *out += "\n## Every merge\n\n| package | merge | versions | paths in conflict | outcome |\n|---|---|---|---|---|\n";
        for row in &self.rows {
            let Row { package, kind, what, standing, compared, .. } = row;
            let (kind, count, standing) = (kind.word(), compared.conflicts, standing.word());
            writeln!(out, "| {package} | {kind} | {what} | {count} | {standing} |").unwrap();
        }
    }
}

fn or_clean(text: &str) -> String {
    if text.is_empty() { "clean".to_owned() } else { text.to_owned() }
}
