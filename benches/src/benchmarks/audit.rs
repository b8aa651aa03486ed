//! The audit log: verifying a long one, and what it adds to a command.

use std::time::{Duration, Instant};

use offshoot_vault::{Actor, AuditVerifier, ImportOptions, Vault, VaultOptions, VaultRegistry};
use serde_json::json;

use crate::Result;
use crate::bench::Bench;
use crate::report::{Goal, Report, Unit};
use crate::run::timed;

pub(super) const NAME: &str = "audit";

pub(super) fn run(bench: &Bench) -> Result<Report> {
    let events = bench.options.scaled(2_000, 1_000_000);
    let listed = bench.options.scaled(1_000, 100_000);
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
    let (starts, execs) = beside_exec(bench, &vault)?;
    let shares = starts.iter().zip(&execs).map(|(start, exec)| start * 100.0 / exec).collect();
    let lists = (0..pairs).map(|_| list(&vault, listed)).collect::<Result<Vec<f64>>>()?;
    let about = format!("a log of {events} events, and what it adds to a command");
    let mut report = Report::new(NAME, about);
    report.add("events verified", Unit::Rate, rates);
    report.add_with_goal("verify a million events", Unit::Time, verified, Goal::AtMost(1.0));
    report.add("exec true", Unit::Time, execs);
    report.add("record that it starts, signed", Unit::Time, starts);
    report.add_with_goal("that / exec true", Unit::Percent, shares, Goal::Below(5.0));
    report.add(format!("record {listed} changed files"), Unit::Time, lists);
    Ok(report)
}

fn empty_vault(bench: &Bench) -> Result<Vault> {
    let home = VaultRegistry::new(bench.fresh("audit"), VaultOptions::default());
    Ok(home.create("audit", None, &ImportOptions::default(), &actor())?.vault)
}

fn actor() -> Actor {
    Actor { agent: Some("agent".to_owned()), ..Actor::user("bench") }
}

/// Records what is recorded before a command starts; gives how long it took.
fn started(vault: &Vault, number: usize) -> Result<Duration> {
    let began = Instant::now();
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
    Ok(began.elapsed())
}

/// Times of recorded starts, and of whole commands in between.
fn beside_exec(bench: &Bench, vault: &Vault) -> Result<(Vec<f64>, Vec<f64>)> {
    let tree = bench.tree(bench.options.scaled(20, 200))?;
    let home = bench.vault_of(&tree)?;
    bench.prepare(&home, &tree, &["workspace", "create", "fix"])?;
    let (mut starts, mut execs) = (Vec::new(), Vec::new());
    for number in 0..bench.options.pairs() {
        let mut exec = bench.offshoot(&home, &tree, &["exec", "-q", "-w", "fix", "--", "true"]);
        execs.push(timed(&mut exec)?.as_secs_f64());
        starts.push(started(vault, number)?.as_secs_f64());
    }
    Ok((starts, execs))
}

/// Records a list of changed files, as a command that made them does.
fn list(vault: &Vault, count: usize) -> Result<f64> {
    let side = json!({ "size": 1024, "checksum": "0".repeat(64) });
    let file = |number: usize| {
        let path = format!("/some/directory/of-the-project/file-{number}.rs");
        json!({ "path": path, "kind": "modified", "before": side, "after": side })
    };
    let files: Vec<_> = (0..count).map(file).collect();
    let began = Instant::now();
    vault.record_event("exec", &actor(), |tx| {
        tx.detail("files", json!({ "count": count, "changed": &files }));
        Ok(())
    })?;
    Ok(began.elapsed().as_secs_f64())
}
