//! The benchmarks.

mod age;
mod commits;
mod export;
mod forks;
mod import;
mod reimport;
mod scale;
mod write;

use crate::Result;
use crate::bench::Bench;
use crate::report::Report;

/// A benchmark.
pub(crate) struct Benchmark {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it measures, in a few words.
    pub(crate) about: &'static str,
    /// Measures.
    pub(crate) run: fn(&Bench) -> Result<Report>,
}

/// All benchmarks, in the order in which they run.
pub(crate) const ALL: &[Benchmark] = &[
    Benchmark {
        name: import::NAME,
        about: "take a tree into a new vault, beside cp and git",
        run: import::run,
    },
    Benchmark {
        name: reimport::NAME,
        about: "take in a tree that did not change, beside git status",
        run: reimport::run,
    },
    Benchmark {
        name: scale::NAME,
        about: "fork, checkpoint, restore, status and diff in small and large trees",
        run: scale::run,
    },
    Benchmark {
        name: age::NAME,
        about: "calls on a vault that has seen many changes, beside a new one",
        run: age::run,
    },
    Benchmark { name: forks::NAME, about: "the disk space of forks", run: forks::run },
    Benchmark {
        name: commits::NAME,
        about: "changes a second, beside synced writes",
        run: commits::run,
    },
    Benchmark {
        name: write::NAME,
        about: "write a file into a workspace, beside dd",
        run: write::run,
    },
    Benchmark { name: export::NAME, about: "write a tree out, beside cp", run: export::run },
];
