//! A fleet of agents in simulated time: crashes, partitions, messages that come twice, late or in another order, and clocks that jump.
//!
//! The network is made of packets with a time of arrival. Senders keep what is not acknowledged and send it again. Everything follows from a seed.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use offshoot_kernel::{
    AccountId, Budget, DeliveryPromise, JobSchedule, JournalFault, KernelJob, KernelLimits,
    KernelReply, KernelSettings, LifeState, MissedRuns, TaskClass, TaskMessage, TaskOutcome,
};
use serde_json::json;

use crate::sim::{Sim, check_ledger};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Mistakes that the checks have to find.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Planted {
    Nothing,
    /// The disk says that it has what it has not.
    AcknowledgedTooEarly,
    /// The receiver does not look at keys.
    NoKeys,
}

#[derive(Clone, Debug)]
enum Packet {
    Message(Box<TaskMessage>),
    Acknowledged(String),
}

struct Node {
    sim: Sim,
    /// Messages that were sent and not acknowledged, with their receivers, and when they are sent again.
    outbox: BTreeMap<String, (usize, TaskMessage, u64)>,
    /// What others were told is accepted.
    acknowledged: BTreeSet<String>,
    cut_off_until: u64,
    down_until: u64,
}

struct Fleet {
    rng: Rng,
    now: u64,
    nodes: Vec<Node>,
    /// By time of arrival and a number: from, to, what.
    packets: BTreeMap<(u64, u64), (usize, usize, Packet)>,
    sent: u64,
    planted: Planted,
    crashes: u64,
    doubled: u64,
}

fn settings() -> KernelSettings {
    let limits = KernelLimits {
        concurrency: 3,
        queue: 200,
        dedup_ms: DAY,
        dead_letters: 100_000,
        task_ms: HOUR,
        ..KernelLimits::default()
    };
    let hourly = KernelJob::new("hourly", JobSchedule::cron("7 * * * *", "Europe/Berlin"))
        .body(json!({ "do": ["progress:1", "done"] }))
        .missed(MissedRuns::RunAll { bound: 3 });
    let daily = KernelJob::new("daily", JobSchedule::cron("30 2 * * *", "America/New_York"))
        .body(json!({ "do": ["spend:1", "done"] }))
        .missed(MissedRuns::RunOnce);
    let budget = Some(Budget { tokens: Some(3_000), ..Budget::default() });
    KernelSettings { limits, budget, jobs: vec![hourly, daily] }
}

impl Fleet {
    fn new(seed: u64, nodes: usize, planted: Planted) -> Self {
        let nodes = (0..nodes)
            .map(|node| {
                let mut sim = Sim::active(settings(), seed ^ node as u64);
                sim.lazy = planted == Planted::AcknowledgedTooEarly;
                Node {
                    sim,
                    outbox: BTreeMap::new(),
                    acknowledged: BTreeSet::new(),
                    cut_off_until: 0,
                    down_until: 0,
                }
            })
            .collect();
        Self {
            rng: Rng::with_seed(seed),
            now: 0,
            nodes,
            packets: BTreeMap::new(),
            sent: 0,
            planted,
            crashes: 0,
            doubled: 0,
        }
    }

    /// A minute passes.
    fn minute(&mut self, trouble: bool) -> Result<(), String> {
        self.now += MINUTE;
        for node in 0..self.nodes.len() {
            if trouble {
                self.trouble(node);
                self.write(node);
            }
            self.send_again(node);
            if self.nodes[node].down_until > self.now {
                self.nodes[node].sim.now.wall_ms += MINUTE;
            } else if self.nodes[node].sim.pass(MINUTE).is_err() {
                self.crash(node, 0);
            }
        }
        while let Some(packet) = self.packets.first_entry() {
            if packet.key().0 > self.now {
                break;
            }
            let (from, to, packet) = packet.remove();
            self.arrive(from, to, packet);
        }
        for node in 0..self.nodes.len() {
            self.work(node);
        }
        Ok(())
    }

    fn trouble(&mut self, node: usize) {
        let down = self.nodes[node].down_until > self.now;
        match self.rng.u32(0..4_000) {
            0..=2 if !down => {
                // At once, or at some append to come: before it, in the middle, or behind it.
                let most = self.rng.u64(0..2 * HOUR);
                self.crash(node, most);
            }
            3..=7 if !down => {
                let faults = [JournalFault::Before, JournalFault::Torn, JournalFault::After];
                let fault = faults[self.rng.usize(0..3)];
                let sim = &mut self.nodes[node].sim;
                sim.fault = Some((sim.appends + self.rng.u64(1..20), fault));
            }
            8..=10 => self.nodes[node].cut_off_until = self.now + self.rng.u64(0..4 * HOUR),
            11..=12 => {
                let jump = self.rng.u64(0..2 * HOUR);
                let wall = &mut self.nodes[node].sim.now.wall_ms;
                *wall = if self.rng.bool() { *wall + jump } else { *wall - jump };
            }
            _ => {}
        }
    }

    fn crash(&mut self, node: usize, down_for: u64) {
        self.crashes += 1;
        let until = self.now + down_for;
        let node = &mut self.nodes[node];
        node.down_until = until;
        // Longer journals take longer to read; that is not what is looked at here.
        let lost = !node.sim.unsynced.is_empty();
        while node.sim.restart().is_err() {}
        if !lost && node.sim.disk.records.len() > 300 {
            node.sim.compact();
        }
    }

    /// Agents write to one another, now and then.
    fn write(&mut self, from: usize) {
        if self.rng.u32(0..30) != 0 {
            return;
        }
        self.sent += 1;
        let to = self.rng.usize(0..self.nodes.len());
        let promise = match self.rng.bool() {
            true => DeliveryPromise::Once,
            false => DeliveryPromise::AtLeastOnce,
        };
        let name = format!("{from}-{}-{promise:?}", self.sent);
        let scripts: [&[&str]; 6] = [
            &["effect:x", "done"],
            &["effect:x", "wait", "progress:1", "effect:y", "done"],
            &["spawn:s", "effect:x", "join:s", "done"],
            &["fail:2", "effect:x", "done"],
            &["ask:q", "effect:x", "done"],
            &["spend:2", "hold:1", "effect:x", "done"],
        ];
        let script = scripts[self.rng.usize(0..scripts.len())];
        let classes = [TaskClass::Message, TaskClass::Tick, TaskClass::Background];
        let body = json!({ "name": name, "do": script });
        let message = TaskMessage::new(format!("agent {from}"), body)
            .key(name.clone())
            .class(classes[self.rng.usize(0..3)])
            .promise(promise);
        self.nodes[from].outbox.insert(name, (to, message, self.now));
    }

    /// Sends what was not acknowledged. Outboxes are others' business, so they survive crashes here.
    fn send_again(&mut self, from: usize) {
        let now = self.now;
        let due: Vec<(usize, TaskMessage)> = self.nodes[from]
            .outbox
            .values_mut()
            .filter(|(_, _, at)| *at <= now)
            .map(|(to, message, at)| {
                *at = now + 20 * MINUTE;
                (*to, message.clone())
            })
            .collect();
        for (to, message) in due {
            self.packet(from, to, Packet::Message(Box::new(message)));
        }
    }

    /// A packet gets lost, comes late, or comes twice.
    fn packet(&mut self, from: usize, to: usize, packet: Packet) {
        let copies = match self.rng.u32(0..20) {
            0 => 0,
            1..=2 => 2,
            _ => 1,
        };
        self.doubled += u64::from(copies == 2);
        for _ in 0..copies {
            let late = if self.rng.u32(0..10) == 0 { self.rng.u64(0..HOUR) } else { 0 };
            let at = self.now + late;
            let number = self.rng.u64(..);
            self.packets.insert((at, number), (from, to, packet.clone()));
        }
    }

    fn arrive(&mut self, from: usize, to: usize, packet: Packet) {
        let now = self.now;
        let cut_off = |node: &Node| node.cut_off_until > now || node.down_until > now;
        if cut_off(&self.nodes[from]) || cut_off(&self.nodes[to]) {
            return;
        }
        match packet {
            Packet::Acknowledged(key) => drop(self.nodes[to].outbox.remove(&key)),
            Packet::Message(mut message) => {
                let key = message.key.clone().unwrap();
                if self.planted == Planted::NoKeys {
                    message.key = None;
                }
                match self.nodes[to].sim.send(*message) {
                    Err(_) => self.crash(to, 0),
                    Ok(Ok(KernelReply::Accepted(_) | KernelReply::Duplicate(..))) => {
                        self.nodes[to].acknowledged.insert(key.clone());
                        self.packet(to, from, Packet::Acknowledged(key));
                    }
                    // It is full, and the sender will try again.
                    Ok(_) => {}
                }
            }
        }
    }

    /// Hooks get a little further.
    fn work(&mut self, node: usize) {
        if self.nodes[node].down_until > self.now {
            return;
        }
        for _ in 0..3 {
            for key in self.nodes[node].sim.running() {
                if self.rng.u32(0..6) == 0 {
                    continue;
                }
                if self.nodes[node].sim.step(key).is_err() {
                    return self.crash(node, 0);
                }
            }
        }
    }

    /// Trouble is over, and all that is open comes to its end.
    fn heal(&mut self) -> Result<(), String> {
        for node in &mut self.nodes {
            node.sim.lazy = false;
            node.sim.fault = None;
            node.cut_off_until = 0;
            node.down_until = 0;
        }
        for _ in 0..2 * 24 * 60 {
            self.minute(false)?;
            let quiet =
                |node: &Node| node.outbox.is_empty() && node.sim.machine.state().tasks.is_empty();
            if self.nodes.iter().all(quiet) && self.packets.is_empty() {
                return Ok(());
            }
        }
        Err("the fleet does not come to rest".to_owned())
    }

    fn check(&self) -> Result<(), String> {
        for (number, node) in self.nodes.iter().enumerate() {
            let state = node.sim.machine.state();
            let fail = |what: String| Err(format!("agent {number}: {what}"));
            if state.life != LifeState::Active {
                return fail(format!("it is {}", state.life));
            }
            check_ledger(state);
            let world = &node.sim.world;
            for key in &node.acknowledged {
                // What began left a trace in the world, and what did not is closed for a reason.
                let closed = state
                    .letters
                    .values()
                    .any(|letter| letter.task.message.body["name"].as_str() == Some(key));
                if !world.done.contains_key(key) && !closed {
                    return fail(format!("message {key} was accepted and is lost"));
                }
            }
            for (name, times) in &world.done {
                if *times > 1 && name.ends_with("-Once") {
                    return fail(format!("message {name} was done {times} times"));
                }
            }
            for (effect, times) in &world.effects {
                if *times > 1 {
                    return fail(format!("effect {effect} happened {times} times"));
                }
            }
            for ((job, due), times) in &world.runs {
                if *times > 1 {
                    return fail(format!("job {job} ran {times} times for {due}"));
                }
            }
        }
        Ok(())
    }
}

/// Runs a fleet for some days, and says what is wrong, if anything is.
fn live(seed: u64, days: u64, planted: Planted) -> Result<Fleet, String> {
    let mut fleet = Fleet::new(seed, 3, planted);
    for minute in 0..days * 24 * 60 {
        fleet.minute(true)?;
        if minute % 720 == 719 {
            fleet.nodes.iter().for_each(|node| check_ledger(node.sim.machine.state()));
        }
    }
    fleet.heal()?;
    fleet.check()?;
    Ok(fleet)
}

#[test]
fn a_fleet_lives_through_a_month_of_trouble() {
    let seed = std::env::var("KERNEL_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("seed {seed}; set KERNEL_SEED for another one");
    let fleet = live(seed, 31, Planted::Nothing).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    assert!(fleet.crashes > 100, "seed {seed}: {} crashes", fleet.crashes);
    assert!(fleet.doubled > 100, "seed {seed}: {} packets came twice", fleet.doubled);
    let sum = |count: fn(&Node) -> u64| fleet.nodes.iter().map(count).sum::<u64>();
    let done = sum(|node| node.sim.machine.state().counts.done);
    assert!(done > 4_000, "seed {seed}: {done} tasks were done");
    let hourly = sum(|node| node.sim.world.runs.len() as u64);
    // Runs are left out only where an agent was down for hours, or its clock jumped.
    assert!(hourly > 3 * 31 * 20, "seed {seed}: {hourly} runs of jobs");
    for node in &fleet.nodes {
        assert!(
            node.sim.machine.state().ledger.account(AccountId::AGENT).unwrap().spent.tokens > 0
        );
        let outcomes = node.sim.world.closed.values();
        assert!(outcomes.filter(|outcome| **outcome == TaskOutcome::Cancelled).count() < 50);
    }
}

#[test]
fn the_same_seed_is_the_same_life() {
    let life = |seed| {
        let fleet =
            live(seed, 2, Planted::Nothing).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        fleet.nodes.into_iter().map(|node| node.sim.disk.records).collect::<Vec<_>>()
    };
    assert_eq!(life(5), life(5));
    assert_ne!(life(5), life(6));
}

#[test]
fn mistakes_that_were_planted_are_found() {
    for (planted, found) in [
        (Planted::AcknowledgedTooEarly, ["is lost", "times"]),
        (Planted::NoKeys, ["done 2 times", "times"]),
    ] {
        let caught = (1..=5).find_map(|seed| {
            let run = std::panic::catch_unwind(|| live(seed, 4, planted).err());
            // A check inside of the harness counts as well.
            run.unwrap_or_else(|_| Some("times".to_owned())).map(|why| (seed, why))
        });
        let (seed, why) = caught.unwrap_or_else(|| panic!("{planted:?} was not found"));
        assert!(found.iter().any(|part| why.contains(part)), "{planted:?}, seed {seed}: {why}");
    }
}
