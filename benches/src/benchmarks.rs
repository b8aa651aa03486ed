//! The benchmarks.

mod age;
mod agent;
mod audit;
mod commit;
mod commits;
mod egress;
mod exec;
mod export;
mod forks;
mod import;
mod mcp;
mod merge;
mod pair;
mod policy;
mod reimport;
mod scale;
mod size;
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

impl Benchmark {
    /// Whether a name is its own or that of its family: what stands before a dash.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name.split_once('-').is_some_and(|(family, _)| family == name)
    }
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
        name: size::NAME,
        about: "time and memory of large and deep folders, beside folders of half the size",
        run: size::run,
    },
    Benchmark {
        name: pair::NAME,
        about: "this program beside another that --old names",
        run: pair::run,
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
    Benchmark {
        name: merge::NAME,
        about: "merge two forks of a tree, beside git",
        run: merge::run,
    },
    Benchmark {
        name: commit::NAME,
        about: "bring the work of a workspace into the folder, beside git",
        run: commit::run,
    },
    Benchmark { name: export::NAME, about: "write a tree out, beside cp", run: export::run },
    Benchmark {
        name: policy::decide::NAME,
        about: "parse commands and decide about them, beside a system call",
        run: policy::decide::run,
    },
    Benchmark {
        name: policy::denied::NAME,
        about: "a command that is denied, beside `offshoot --version`",
        run: policy::denied::run,
    },
    Benchmark {
        name: egress::NAME,
        about: "bytes and requests through the network proxy, beside direct connections",
        run: egress::run,
    },
    Benchmark {
        name: exec::start::NAME,
        about: "run `true` in a workspace, beside bwrap",
        run: exec::start::run,
    },
    Benchmark {
        name: exec::host::NAME,
        about: "run `true` for a program in a worker, beside a thread of it",
        run: exec::host::run,
    },
    Benchmark {
        name: exec::scale::NAME,
        about: "seal ten changes in small and large trees",
        run: exec::scale::run,
    },
    Benchmark {
        name: exec::memory::NAME,
        about: "the memory of an exec, with few and many changes",
        run: exec::memory::run,
    },
    Benchmark {
        name: exec::life::NAME,
        about: "the last of many commands in one workspace, beside the first",
        run: exec::life::run,
    },
    Benchmark {
        name: exec::caches::NAME,
        about: "build a project again with package caches and without, beside plain builds",
        run: exec::caches::run,
    },
    Benchmark {
        name: exec::rename::NAME,
        about: "renames with a broker and without, beside bare overlayfs",
        run: exec::rename::run,
    },
    Benchmark {
        name: mcp::NAME,
        about: "calls of an agent over MCP, beside a server that does nothing and bwrap",
        run: mcp::run,
    },
    Benchmark {
        name: agent::turns::NAME,
        about: "turns of the agent and pieces of answers, beside a bare HTTP client",
        run: agent::turns::run,
    },
    Benchmark {
        name: agent::sessions::NAME,
        about: "take up a long session, beside reading a file; memory of those that rest",
        run: agent::sessions::run,
    },
    Benchmark {
        name: agent::tool::NAME,
        about: "call a tool through the registry, beside calling its function",
        run: agent::tool::run,
    },
    Benchmark {
        name: audit::NAME,
        about: "verify a long audit log, and what it adds to a command",
        run: audit::run,
    },
    // The last, since it deletes many files: see `Bench::fresh`.
    Benchmark {
        name: exec::native::NAME,
        about: "programs in a workspace, on bare overlayfs and on the plain file system",
        run: exec::native::run,
    },
];
