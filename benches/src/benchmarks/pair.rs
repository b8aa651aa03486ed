//! Two programs side by side: this one, and another that `--old` names.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use offshoot_tests::product;

use super::exec::ten_changes;
use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};
use crate::run::{copy, timed};

pub(super) const NAME: &str = "pair";

/// What both do.
#[derive(Clone, Copy)]
enum Work {
    Version,
    Nothing,
    WritesOne,
    Writes,
    Unpacks,
    Fork,
    Status,
    Commit,
}

const WORKS: [(&str, Work); 8] = [
    ("--version", Work::Version),
    ("exec true", Work::Nothing),
    ("exec that writes one file", Work::WritesOne),
    ("exec that writes ten files", Work::Writes),
    ("exec that unpacks an archive of the tree", Work::Unpacks),
    ("workspace create", Work::Fork),
    ("status with ten changes", Work::Status),
    ("commit of ten files", Work::Commit),
];

/// One of the programs, with a folder and a home of its own: an older one may not know what a newer one has written. The program is
/// a copy too, since how a file was written decides how quickly its pages are mapped: one that a linker wrote is slower by 5 %.
struct Program<'a> {
    bench: &'a Bench,
    path: PathBuf,
    folder: PathBuf,
    home: PathBuf,
    files: usize,
    names: Cell<usize>,
    /// Nothing in the background that would disturb the other, as far as this program knows of it.
    alone: Vec<&'static str>,
}

/// An archive of the tree, in the folder.
const ARCHIVE: &str = "files.tar";
/// What keeps a program from tidying in the background.
const ALONE: [&str; 2] = ["compact.auto=false", "gc.auto=false"];

impl<'a> Program<'a> {
    fn new(bench: &'a Bench, path: &Path, files: usize) -> Result<Self> {
        let (folder, home) = (bench.fresh("folder"), bench.fresh("home"));
        timed(&mut copy(&bench.tree(files)?, &folder))?;
        let mut archive = Command::new("tar");
        let outside = bench.fresh("archive");
        archive.arg("-cf").arg(&outside).arg("-C").arg(&folder).arg(".");
        timed(&mut archive)?;
        fs::rename(&outside, folder.join(ARCHIVE)).map_err(|error| error.to_string())?;
        let own = bench.fresh("program");
        fs::copy(path, &own).map_err(|error| format!("{}: {error}", path.display()))?;
        let names = Cell::new(0);
        let mut program = Self { bench, path: own, folder, home, files, names, alone: Vec::new() };
        for setting in ALONE {
            if program.run(&["-c", setting, "vault", "list"]).is_ok() {
                program.alone.extend(["-c", setting]);
            }
        }
        program.run(&["init"])?;
        program.run(&["workspace", "create", "idle", "--from", "head"])?;
        program.run(&["workspace", "create", "busy", "--from", "head"])?;
        program.writes("busy")?;
        Ok(program)
    }

    fn measure(&self, work: Work) -> Result<Duration> {
        let name = self.fresh_name();
        match work {
            Work::Version => self.run(&["--version"]),
            Work::Nothing => self.run(&["exec", "-w", "idle", "--", "true"]),
            Work::WritesOne => {
                let file = crate::tree::file(0).display().to_string();
                self.shell("idle", &format!("echo more >> {file}"))
            }
            Work::Writes => self.writes("idle"),
            Work::Unpacks => {
                self.run(&["workspace", "create", &name, "--from", "head"])?;
                self.bench.settle()?;
                self.shell(&name, &format!("mkdir out && tar -xf {ARCHIVE} -C out"))
            }
            Work::Fork => self.run(&["workspace", "create", &name, "--from", "head"]),
            Work::Status => self.run(&["status", "-w", "busy"]),
            Work::Commit => {
                self.run(&["workspace", "create", &name, "--from", "head"])?;
                self.writes(&name)?;
                self.bench.settle()?;
                self.run(&["commit", "-w", &name])
            }
        }
    }

    fn writes(&self, workspace: &str) -> Result<Duration> {
        self.shell(workspace, &ten_changes(self.files))
    }

    fn shell(&self, workspace: &str, text: &str) -> Result<Duration> {
        self.run(&["exec", "-w", workspace, "--", "sh", "-c", text])
    }

    fn fresh_name(&self) -> String {
        self.names.set(self.names.get() + 1);
        format!("n{}", self.names.get())
    }

    fn run(&self, arguments: &[&str]) -> Result<Duration> {
        let arguments = [&self.alone, arguments].concat();
        timed(&mut self.bench.program(&self.path, &self.home, &self.folder, &arguments))
    }
}

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let files = bench.options.scaled(100, 10_000);
    let new = product::binary();
    let old = bench.options.old.as_deref();
    let programs =
        [Program::new(bench, old.unwrap_or(new), files)?, Program::new(bench, new, files)?];
    let other = match old {
        Some(old) => old.display().to_string(),
        None => "itself, which shows what chance does: --old PATH names another".to_owned(),
    };
    let about = format!("this program beside {other}; in turns, in a tree of {files} files");
    let mut report = Report::new(NAME, about);
    for (label, work) in WORKS {
        let mut contest = Contest::default();
        let sides = [0, 1].map(|at: usize| {
            let program = &programs[at];
            contest.add(move |_| program.measure(work))
        });
        let found = contest.run(bench.options.pairs())?;
        report.add(format!("{label}, old"), Unit::Time, found.seconds(sides[0]));
        report.add(format!("{label}, new"), Unit::Time, found.seconds(sides[1]));
        report.add(format!("{label}, new / old"), Unit::Ratio, found.ratio(sides[1], sides[0]));
    }
    Ok(report)
}
