//! Processes that are killed.

use std::fs;
use std::process::Child;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use offshoot_needs::needs;
use offshoot_tests::rng::Rng;
use rustix::process::{Pid, Signal, kill_process};

use super::script::Script;
use super::site::{Finished, Site, WORKSPACES};
use super::tally::Tally;
use super::{named, remains, seeds};
use crate::points::run_all;
use crate::scene::temporary;

/// Kills in each case.
const ROUNDS: u64 = 6;

/// Whom a kill hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    Offshoot,
    Init,
    Both,
}

impl Victim {
    pub(crate) fn random(rng: &mut Rng) -> Self {
        *rng.pick(&[Self::Offshoot, Self::Offshoot, Self::Init, Self::Both]).unwrap()
    }
}

/// Kills commands at this moment.
pub(crate) fn strike(site: &Site, victim: Victim, children: &mut [&mut Child]) {
    if victim != Victim::Offshoot {
        for pid in remains::inits(site) {
            // It may be over by now.
            let _gone =
                kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).is_err();
        }
    }
    if victim != Victim::Init {
        for child in children {
            drop(child.kill());
        }
    }
}

/// How long an exec takes here.
pub(crate) fn usual_time(site: &Site, rng: &mut Rng) -> Result<Duration, String> {
    let finished = site.finish(site.start("w0", Script::random(rng, "usual")));
    site.settle(&finished)?;
    let total = finished.envelope.as_ref().and_then(|it| it["result"]["total_ms"].as_u64());
    total.map(Duration::from_millis).ok_or("there is no envelope".to_owned())
}

fn session(case: u64, tally: &Arc<Tally>) -> Result<(), String> {
    let mut rng = Rng::new(case);
    let home = temporary();
    let site = Site::new(home.path(), tally);
    let usual = usual_time(&site, &mut rng)?;
    for round in 0..ROUNDS {
        let tag = format!("r{round}");
        one_round(&site, &mut rng, &tag, usual).map_err(|why| format!("round {round}: {why}"))?;
    }
    for workspace in WORKSPACES {
        site.compare(workspace)?;
    }
    Ok(())
}

/// A kill among commands that run, and all that must hold afterwards.
fn one_round(site: &Site, rng: &mut Rng, tag: &str, usual: Duration) -> Result<(), String> {
    let victim = Victim::random(rng);
    let since = SystemTime::now();
    let mut started = Vec::new();
    for workspace in &WORKSPACES[..=rng.below(2) as usize] {
        let script = Script::random(rng, &format!("{tag}-{workspace}"));
        started.push(site.start(workspace, script));
    }
    let mut beside = beside(site, rng, tag);
    thread::sleep(usual.mul_f64(rng.below(1200) as f64 / 1000.0));
    let mut children: Vec<&mut Child> = started.iter_mut().map(|one| &mut one.child).collect();
    let spares = children.len() > 1 && rng.one_in(2);
    if spares {
        // The other one goes on, and somebody clears up beside it.
        strike(site, Victim::Offshoot, &mut children[..1]);
        site.ok(&["recover", "list"])?;
    } else {
        children.extend(&mut beside);
        strike(site, victim, &mut children);
    }
    let finished: Vec<Finished> = started.into_iter().map(|one| site.finish(one)).collect();
    for mut child in beside {
        child.wait().unwrap();
    }
    if spares && !finished[1].is_whole() {
        return Err(format!("nobody touched this one: {:?}", finished[1].envelope));
    }
    // What was killed from outside takes a moment to end inside, and may take back what it wrote until then.
    remains::no_process(site.home())?;
    let written = remains::written(site, since);
    site.ok(&["vault", "check"])?;
    let mut there = 0;
    for one in &finished {
        there += usize::from(site.settle(one)?);
    }
    let left = site.json(&["recover", "list"])?["recoverable"].as_array().map_or(0, Vec::len);
    if left + there < written.len() {
        return Err(format!("{there} are history, {left} can be recovered of what {written:?}"));
    }
    site.compare("w2").or_else(|why| accept_note(site, tag).map_err(|_| why))?;
    recover(site, rng, &finished, usual)?;
    if rng.one_in(3) {
        undo(site, rng, tag, usual)?;
    }
    site.ok(&["vault", "check"])?;
    remains::audited(site)?;
    remains::check(site)
}

/// An exec that comes to its end, and an undo of it that is killed.
fn undo(site: &Site, rng: &mut Rng, tag: &str, usual: Duration) -> Result<(), String> {
    let finished = site.finish(site.start("w1", Script::random(rng, &format!("{tag}-undo"))));
    site.settle(&finished)?;
    if !finished.changes() {
        return Ok(());
    }
    let mut child = site.command(&["undo", "-w", "w1"]).spawn().unwrap();
    thread::sleep(usual.mul_f64(rng.below(300) as f64 / 1000.0));
    child.kill().unwrap();
    let success = child.wait().unwrap().success();
    site.settle_undo(&finished, success)
}

/// Something else that goes on in the vault meanwhile, and that the kill hits too.
fn beside(site: &Site, rng: &mut Rng, tag: &str) -> Vec<Child> {
    let fork = format!("fork-{tag}");
    let note = format!("/note-{tag}");
    let source = site.home().join("note");
    fs::write(&source, tag).unwrap();
    let arguments: Vec<&str> = match rng.below(6) {
        0 => vec!["workspace", "create", &fork, "--from", "w0"],
        1 => vec!["checkpoint", "create", tag, "-w", "w1"],
        2 => vec!["fs", "write", &note, "--from", source.to_str().unwrap(), "-w", "w2"],
        3 => vec!["ps", "--json"],
        _ => return Vec::new(),
    };
    vec![site.command(&arguments).spawn().unwrap()]
}

/// A note that was written beside is whole; the plain copy gets it too.
fn accept_note(site: &Site, tag: &str) -> Result<(), String> {
    let note = format!("/note-{tag}");
    let found = site.ok(&["fs", "cat", &note, "-w", "w2"])?;
    if found != tag {
        return Err(format!("{note} is {found:?}"));
    }
    site.ok(&["fs", "rm", &note, "-w", "w2"])?;
    site.compare("w2")
}

/// Everything that was left is kept or dropped; the one who does it may be killed as well.
pub(crate) fn recover(
    site: &Site,
    rng: &mut Rng,
    finished: &[Finished],
    usual: Duration,
) -> Result<(), String> {
    let left = site.json(&["recover", "list"])?["recoverable"].clone();
    for entry in left.as_array().into_iter().flatten() {
        let id = entry["exec"].as_str().unwrap();
        Tally::add(&site.tally.left);
        if entry["sealed"] == true {
            Tally::add(&site.tally.sealed);
        }
        let finished = site.exec_of(finished, id).ok_or(format!("{id} is of no command here"))?;
        if rng.one_in(4) {
            site.ok(&["recover", "drop", id])?;
            continue;
        }
        let name = format!("kept-{id}");
        let arguments = ["recover", "keep", id, "--name", &name];
        if rng.one_in(2) {
            let mut child = site.command(&arguments).spawn().unwrap();
            thread::sleep(usual.mul_f64(rng.below(300) as f64 / 1000.0));
            child.kill().unwrap();
            if !child.wait().unwrap().success() {
                Tally::add(&site.tally.killed_again);
            }
            // Its hand inside a namespace may hold what it looked at for a moment longer.
            remains::no_process(site.home())?;
            site.ok(&["vault", "check"])?;
        }
        // It was kept before the kill, or still waits.
        let waits = site.json(&["recover", "list"])?.to_string().contains(id);
        if waits {
            site.ok(&arguments)?;
        }
        site.compare_recovered(finished, &name)?;
    }
    let left = site.json(&["recover", "list"])?["recoverable"].clone();
    match left.as_array().is_some_and(Vec::is_empty) {
        true => Ok(()),
        false => Err(format!("still waiting: {left}")),
    }
}

#[needs(UserNamespace)]
#[test]
fn commands_are_killed_at_random() {
    let seeds = seeds(6, 90, 1);
    println!("campaign: {} kills", seeds.len() as u64 * ROUNDS);
    let tally = Arc::new(Tally::default());
    run_all("commands_are_killed", &seeds, |case| named(*case, session(*case, &tally)));
    tally.print("campaign");
}
