//! A machine that loses power while commands run.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::sync::{Arc, OnceLock};
use std::thread;

use offshoot_needs::needs;
use offshoot_tests::image::LoopImage;
use offshoot_tests::rng::Rng;
use tempfile::TempDir;

use super::kills::{Victim, strike, usual_time};
use super::script::Script;
use super::site::{Finished, Site, copy};
use super::tally::Tally;
use super::{named, remains, seeds};
use crate::points::run_all;
use crate::scene::temporary;

const SIZE: u64 = 64 << 20;

/// A disk with a vault to start from, made once.
struct Template {
    site: Site,
    disk: LoopImage,
    _home: TempDir,
}

fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let home = temporary();
        let site = Site::new(home.path(), &Arc::default());
        let disk = LoopImage::create(SIZE).unwrap();
        let mount = disk.mount().unwrap();
        copy(home.path(), &mount.path().join("home"));
        // All of it is on the disk before anything happens.
        mount.unmount().unwrap();
        Template { site, disk, _home: home }
    })
}

fn cut(case: u64) -> Result<(), String> {
    let mut rng = Rng::new(case);
    let template = template();
    let image = template.disk.power_cut_copy().unwrap();
    let mount = image.mount().unwrap();
    let first = &template.site;
    let site = first.moved(&mount.path().join("home"));
    let usual = usual_time(&site, &mut rng)?;
    // Some that come to their end, each in its own workspace: what they are told is true after the cut.
    for at in 0..rng.below(3) {
        let script = Script::random(&mut rng, &format!("whole-{at}"));
        let finished = site.finish(site.start(["w0", "w1"][at as usize], script));
        site.settle(&finished)?;
    }
    let mut running = Vec::new();
    for workspace in &["w0", "w2"][..=rng.below(2) as usize] {
        running.push(site.start(workspace, Script::random(&mut rng, &format!("cut-{workspace}"))));
    }
    thread::sleep(usual.mul_f64(rng.below(1300) as f64 / 1000.0));
    let mut children: Vec<&mut Child> = running.iter_mut().map(|one| &mut one.child).collect();
    strike(&site, Victim::Both, &mut children);
    let finished: Vec<Finished> = running.into_iter().map(|one| site.finish(one)).collect();
    let disk = image.power_cut_copy().unwrap();
    let after = disk.mount().map_err(|error| format!("the disk after the cut: {error}"))?;
    let site = site.moved(&after.path().join("home"));
    boot(&site.vault());
    verify(&site, &mut rng, &finished)
}

/// Nothing of the last boot counts after a power cut; here the machine itself went on.
fn boot(vault: &Path) {
    fs::write(vault.join("checked"), "an earlier boot").unwrap();
}

fn verify(site: &Site, rng: &mut Rng, finished: &[Finished]) -> Result<(), String> {
    site.ok(&["vault", "check"])?;
    for one in finished {
        site.settle(one)?;
    }
    // Those that had ended before the cut, and those in which nothing ran.
    for workspace in super::site::WORKSPACES {
        site.compare(workspace)?;
    }
    let left = site.json(&["recover", "list"])?["recoverable"].clone();
    for entry in left.as_array().into_iter().flatten() {
        let id = entry["exec"].as_str().unwrap();
        Tally::add(&site.tally.left);
        if entry["sealed"] == true {
            Tally::add(&site.tally.sealed);
        }
        // What was not synced may be missing or cut short; that it is kept as it is, whole, is all that can be asked.
        match rng.one_in(3) {
            true => site.ok(&["recover", "drop", id])?,
            false => site.ok(&["recover", "keep", id])?,
        };
    }
    site.ok(&["vault", "check"])?;
    for workspace in super::site::WORKSPACES {
        site.compare(workspace)?;
    }
    let again = site.finish(site.start("w1", Script::random(rng, "again")));
    site.settle(&again)?;
    remains::audited(site)?;
    remains::check(site)
}

#[needs(LoopMount, UserNamespace)]
#[test]
fn power_is_cut_while_commands_run() {
    let seeds = seeds(12, 200, 2);
    println!("campaign: {} power cuts", seeds.len());
    run_all("power_is_cut_while_commands", &seeds, |case| named(*case, cut(*case)));
    template().site.tally.print("campaign");
}
