//! A command that is denied: found, decided, recorded, answered.

use std::process::Command;
use std::time::{Duration, Instant};

use offshoot_vault::{Actor, Vault, VaultOptions, VaultRegistry};

use crate::Result;
use crate::bench::Bench;
use crate::commit::RawLog;
use crate::contest::Contest;
use crate::report::{Report, Unit};
use crate::run::timed;

pub(in crate::benchmarks) const NAME: &str = "policy-denied";

/// What `exec` exits with.
const DENIED: i32 = 122;

const RULES: &str =
    "version = 1\n[[rule]]\nname = \"never\"\ndecision = \"deny\"\nprefix = [\"touch\"]\n";

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let project = bench.tree(bench.options.scaled(50, 1_000))?;
    let home = bench.vault_of(&project)?;
    let rules = bench.fresh("policy.toml");
    std::fs::write(&rules, RULES)?;
    let mut log = RawLog::create(&bench.fresh("log"))?;
    bench.settle()?;

    let mut contest = Contest::default();
    let deny = || {
        let arguments = ["exec", "--json", "--", "touch", "never"];
        refused(bench.offshoot(&home, &project, &arguments).env("OFFSHOOT_POLICY", &rules))
    };
    let denied = contest.add(|_| deny());
    let version = contest.add(|_| timed(&mut bench.offshoot(&home, &project, &["--version"])));
    // Nobody else has the vault open, as where one command follows the other.
    let opened = contest.add(|_| {
        let start = Instant::now();
        commit(&open(&home)?)?;
        Ok(start.elapsed())
    });
    let raw = contest.add(|_| log.commit());
    let found = contest.run(bench.options.pairs())?;

    let mut report = Report::new(NAME, "a command that a rule denies, with its record");
    report.add("offshoot exec, denied", Unit::Time, found.seconds(denied));
    report.add("offshoot --version", Unit::Time, found.seconds(version));
    report.add("one commit, with opening the vault", Unit::Time, found.seconds(opened));
    report.add("one raw commit", Unit::Time, found.seconds(raw));
    let both = found.seconds(version).into_iter().zip(found.seconds(opened));
    let denied = found.seconds(denied).into_iter();
    let ratio = denied.zip(both).map(|(denied, (version, commit))| denied / (version + commit));
    let label = "denied / (--version and a commit with opening the vault)";
    report.add(label, Unit::Ratio, ratio.collect());
    Ok(report)
}

fn open(home: &std::path::Path) -> Result<Vault> {
    let home = VaultRegistry::new(home.to_owned(), VaultOptions::default());
    let listed = home.list()?.into_iter().next().ok_or("there is no vault")?;
    Ok(home.open_listed(&listed)?)
}

/// The least transaction that is recorded.
fn commit(vault: &Vault) -> Result<Duration> {
    let start = Instant::now();
    vault.transact("bench", &Actor::user("bench"), |tx| {
        tx.record_always();
        Ok(())
    })?;
    Ok(start.elapsed())
}

/// Runs a command that has to be denied.
fn refused(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let output = command.output()?;
    let took = start.elapsed();
    match output.status.code() {
        Some(DENIED) => Ok(took),
        other => Err(format!("{command:?}: {other:?} instead of {DENIED}").into()),
    }
}
