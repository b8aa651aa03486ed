//! Programs that people run in their projects.

use super::project::Project;
use crate::options::Options;

/// A script whose timed parts are compared.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    /// Its name, for what is measured of the whole script.
    pub(super) name: &'static str,
    /// What it runs in.
    pub(super) project: Project,
    /// Whether it leaves the project as it was.
    pub(super) only_reads: bool,
    /// Whether it runs in all places; otherwise what goes on around it in a workspace is all there is to know.
    pub(super) compared: bool,
    /// It takes so long, or so much space, that it runs only a few times.
    pub(super) heavy: bool,
    /// What `sh` runs. `LAP` stands before a label and a program to time, [`HUGE`] for a number of MiB.
    script: &'static str,
}

/// Stands for the size of the large file.
const HUGE: &str = "HUGE";
/// Turns of a heavy workload.
const FEW: usize = 5;

const ALL: [Workload; 8] = [
    Workload {
        name: "look",
        project: Project::Tree,
        only_reads: true,
        compared: true,
        heavy: false,
        script: "
            LAP find find . -type f -size +7
            LAP ripgrep rg --count --no-ignore 'return .*match'
        ",
    },
    Workload {
        name: "untar",
        project: Project::Tree,
        only_reads: false,
        compared: true,
        heavy: false,
        script: "
            mkdir out
            LAP untar tar -xf files.tar -C out
        ",
    },
    Workload {
        name: "git",
        project: Project::Tree,
        only_reads: false,
        compared: true,
        heavy: false,
        script: "
            LAP 'git status, first' git status --porcelain
            LAP 'git status, second' git status --porcelain
            LAP '1,000 appends' sh -c 'for f in part-000/module-*/*; do echo more >> $f; done'
            LAP 'git add' git add --all
            LAP 'git commit' git commit --quiet --message more
        ",
    },
    Workload {
        name: "cargo",
        project: Project::Crate,
        only_reads: false,
        compared: true,
        heavy: false,
        script: "
            LAP 'cargo build, clean' cargo build --offline --quiet
            LAP 'cargo build, nothing to do' cargo build --offline --quiet
            echo 'pub fn added() -> u32 { 7 }' >> src/lib.rs
            LAP 'cargo build, incremental' cargo build --offline --quiet
        ",
    },
    Workload {
        name: "venv",
        project: Project::Crate,
        only_reads: false,
        compared: true,
        heavy: false,
        script: "LAP 'python -m venv' python3 -m venv --without-pip venv",
    },
    Workload {
        name: "large file",
        project: Project::Crate,
        only_reads: false,
        compared: true,
        heavy: true,
        script: "
            LAP 'write HUGE MiB' dd if=/dev/zero of=huge bs=1M count=HUGE status=none
            LAP 'read HUGE MiB' dd if=huge of=/dev/null bs=1M status=none
            rm huge
        ",
    },
    // A file that stayed in one place only would let the next to run look for free memory, so none stays above, and
    // sealing one is a workload of its own.
    Workload {
        name: "large file that stays",
        project: Project::Crate,
        only_reads: false,
        compared: false,
        heavy: true,
        script: "dd if=/dev/zero of=huge bs=1M count=HUGE status=none",
    },
    // The last, since it deletes many files.
    Workload {
        name: "rm",
        project: Project::Tree,
        only_reads: false,
        compared: true,
        heavy: false,
        script: "LAP 'rm -rf' rm -rf part-*",
    },
];

impl Workload {
    /// All of them, in the order in which they run.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter()
    }

    /// How often it runs.
    pub(super) fn turns(&self, options: &Options) -> usize {
        if self.heavy { options.pairs().min(FEW) } else { options.pairs() }
    }

    /// The script as `sh` runs it.
    pub(super) fn script(&self, options: &Options, lap: &str) -> String {
        let huge = options.scaled(8, 512).to_string();
        let lines = self.script.lines().map(|line| match line.trim().strip_prefix("LAP ") {
            Some(rest) => format!("{lap} {rest}\n"),
            None => format!("{}\n", line.trim()),
        });
        format!("set -e\n{}", lines.collect::<String>().replace(HUGE, &huge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_filled_in() {
        let large = Workload::all().find(|workload| workload.heavy).expect("one is heavy");
        let options = Options::default();
        let script = large.script(&options, "'/b' lap");
        assert!(script.contains("\n'/b' lap 'write 512 MiB' dd "), "{script}");
        assert!(!script.contains("LAP") && !script.contains(HUGE), "{script}");
    }
}
