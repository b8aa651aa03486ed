//! The audit log: verifying a long one, and what it adds to a command.

use std::cell::Cell;
use std::time::{Duration, Instant};

use offshoot_engine::{Offshoot, Options, Workspace};
use offshoot_vault::{
    Actor, AuditVerifier, ImportOptions, Vault, VaultOptions, VaultRegistry, measured,
};

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};

pub(super) const NAME: &str = "audit";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let events = bench.options.scaled(2_000, 1_000_000);
    let vault = empty_vault(bench)?;
    for number in 0..events {
        started(&vault, number)?;
    }
    let pairs = bench.options.pairs().min(5);
    let (mut verified, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        let began = Instant::now();
        let report = vault.verify_audit(AuditVerifier::new(vault.id(), vault.audit_key()?))??;
        let took = began.elapsed().as_secs_f64();
        verified.push(took * 1e6 / report.events as f64);
        rates.push(report.events as f64 / took);
    }
    let about = format!("a log of {events} events, and what it adds to a command");
    let mut report = Report::new(NAME, about);
    report.add("events verified", Unit::Rate, rates);
    report.add_with_goal("verify a million events", Unit::Time, verified, Goal::AtMost(1.0));
    beside_exec(bench, &mut report)?;
    Ok(report)
}

fn empty_vault(bench: &Bench) -> Result<Vault> {
    let home = VaultRegistry::new(bench.fresh("audit"), VaultOptions::default());
    Ok(home.create("audit", None, &ImportOptions::default(), &actor())?.vault)
}

fn actor() -> Actor {
    Actor { agent: Some("agent".to_owned()), ..Actor::user("bench") }
}

/// Records what is recorded before a command starts.
fn started(vault: &Vault, number: usize) -> Result<()> {
    vault.announce("exec_started", &actor(), |tx| {
        tx.summary(format!("start make target-{number} in fix"));
        tx.detail("exec", vault.id());
        tx.detail("command", format!("make target-{number}"));
        tx.detail("cwd", "/srv/project");
        tx.detail("decision", "allow_with_checkpoint");
        tx.detail("rule", "built_in:default");
        tx.detail("categories", "mutating");
        tx.detail("rules", "0".repeat(64));
        tx.detail("profile", "workspace");
        Ok(())
    })?;
    Ok(())
}

/// What the log adds to commands: the same command with and without it, in this process, in turns. Both run in workspaces of their
/// own that are made before, so that each finds the same.
fn beside_exec(bench: &Bench, report: &mut Report) -> Result<()> {
    let tree = bench.tree(bench.options.scaled(20, 200))?;
    let home = bench.fresh("home");
    bench.prepare(&home, &tree, &["init"])?;
    let path = std::env::var_os("PATH").map(|path| ("PATH".into(), path));
    let mut environment: Vec<_> = path.into_iter().collect();
    environment.push(("HOME".into(), bench.dir().into()));
    let mut options = Options::new(environment).registry(&home);
    // What is tidied after one command would be a part of the next.
    options.overrides = ["compact.auto=false", "gc.auto=false"].map(str::to_owned).into();
    let project = Offshoot::open(options)?.project(&tree)?;
    let number = Cell::new(0);
    for files in [0, bench.options.scaled(10, 100), bench.options.scaled(100, 100_000)] {
        let run = |logged: bool| -> Result<Duration> {
            number.set(number.get() + 1);
            let name = format!("w{}", number.get());
            bench.prepare(&home, &tree, &["workspace", "create", &name, "--from", "head"])?;
            let workspace = project.workspace(&name)?;
            measured::leave_out_events(!logged);
            let took = exec(&workspace, files);
            measured::leave_out_events(false);
            took
        };
        let mut contest = Contest::default();
        let with = contest.add(|_| run(true));
        let without = contest.add(|_| run(false));
        let outcome = contest.run(if files > 10_000 { 3 } else { bench.options.pairs() })?;
        let label = match files {
            0 => "exec true".to_owned(),
            files => format!("exec that makes {files} files"),
        };
        report.add(format!("{label}, recorded"), Unit::Time, outcome.seconds(with));
        report.add(format!("{label}, without a record"), Unit::Time, outcome.seconds(without));
        let ratios = outcome.ratio(with, without);
        let shares = ratios.into_iter().map(|ratio| (ratio - 1.0) * 100.0).collect();
        report.add_with_goal(
            format!("{label}: what the log adds"),
            Unit::Percent,
            shares,
            Goal::Below(5.0),
        );
    }
    Ok(())
}

/// How long a command takes that makes so many files, each of its own content.
fn exec(workspace: &Workspace, files: usize) -> Result<Duration> {
    let make = format!("mkdir made && cd made && seq {files} | split -l 1 -a 6 -d - f");
    let command = if files == 0 { vec!["true"] } else { vec!["sh", "-c", &make] };
    let began = Instant::now();
    let ended = workspace.exec(command)?.wait();
    let took = began.elapsed();
    workspace.project().wait_idle();
    match ended.is_success() {
        true => Ok(took),
        false => Err(format!("{ended:?}").into()),
    }
}
