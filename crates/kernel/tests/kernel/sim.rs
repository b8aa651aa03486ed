//! One agent without I/O: a machine, a disk that can fail, and hooks that follow a script in the body of a task.

use std::collections::{BTreeMap, BTreeSet};

use offshoot_kernel::{
    Amount, AttemptInput, AttemptReport, EffectState, JournalFault, KernelInput, KernelLimits,
    KernelMachine, KernelOutput, KernelRecord, KernelRefusal, KernelReply, KernelSettings,
    KernelState, LifeHook, LifeState, LifeStep, Moment, SubTask, Task, TaskId, TaskMessage,
    TaskOutcome, TaskQuestion, TaskSource,
};
use serde_json::{Value, json};

/// The process died.
#[derive(Debug)]
pub(crate) struct Died;

pub(crate) type Reply = Result<KernelReply, KernelRefusal>;

#[derive(Debug, Default, Clone)]
pub(crate) struct Disk {
    pub(crate) snapshot: Option<Vec<u8>>,
    pub(crate) records: Vec<Vec<u8>>,
}

/// What can be seen from outside, over all lives of the process.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// How many attempts began, by the name of the task.
    pub(crate) starts: BTreeMap<String, u32>,
    /// How many attempts ended with done, by the name of the task.
    pub(crate) done: BTreeMap<String, u32>,
    /// How often effects happened.
    pub(crate) effects: BTreeMap<String, u32>,
    /// Due times of jobs that ran.
    pub(crate) runs: BTreeMap<(String, u64), u32>,
    pub(crate) announced: Vec<LifeState>,
    pub(crate) closed: BTreeMap<TaskId, TaskOutcome>,
}

pub(crate) struct Sim {
    pub(crate) machine: KernelMachine,
    pub(crate) disk: Disk,
    /// Appends that a faulty disk says it has, and has not.
    pub(crate) unsynced: Vec<Vec<u8>>,
    pub(crate) lazy: bool,
    pub(crate) world: World,
    pub(crate) now: Moment,
    pub(crate) appends: u64,
    pub(crate) fault: Option<(u64, JournalFault)>,
    pub(crate) settings: KernelSettings,
    pub(crate) seed: u64,
    attempts: BTreeMap<(TaskId, u32), Script>,
    hooks: Vec<LifeHook>,
    grants: bool,
}

/// A hook that runs.
struct Script {
    task: Task,
    next: usize,
    /// An effect that happened and is not recorded.
    pending: Option<String>,
    pub(crate) told_to_stop: bool,
}

impl Sim {
    pub(crate) fn new(settings: KernelSettings, seed: u64) -> Self {
        let mut sim = Self {
            machine: KernelMachine::new(KernelState::new(), seed),
            disk: Disk::default(),
            unsynced: Vec::new(),
            lazy: false,
            world: World::default(),
            now: Moment { wall_ms: 1_000_000_000_000, mono_ms: 0 },
            appends: 0,
            fault: None,
            settings,
            seed,
            attempts: BTreeMap::new(),
            hooks: Vec::new(),
            grants: true,
        };
        sim.open().unwrap();
        sim
    }

    pub(crate) fn active(settings: KernelSettings, seed: u64) -> Self {
        let mut sim = Self::new(settings, seed);
        for step in [LifeStep::Boot, LifeStep::Activate] {
            sim.life(step);
        }
        sim
    }

    pub(crate) fn with_limits(limits: KernelLimits) -> Self {
        Self::active(KernelSettings { limits, ..KernelSettings::default() }, 1)
    }

    pub(crate) fn life(&mut self, step: LifeStep) {
        self.input(KernelInput::Life(step)).unwrap().unwrap();
        self.run_hooks().unwrap();
    }

    fn open(&mut self) -> Result<(), Died> {
        let settings = Box::new(self.settings.clone());
        self.input(KernelInput::Open(settings))?.unwrap();
        self.run_hooks()
    }

    /// Another process opens what is on the disk.
    pub(crate) fn restart(&mut self) -> Result<(), Died> {
        self.unsynced.clear();
        self.attempts.clear();
        self.hooks.clear();
        self.machine = KernelMachine::new(self.fold(), self.seed);
        self.now.mono_ms = 0;
        self.open()
    }

    /// What the disk comes to.
    pub(crate) fn fold(&self) -> KernelState {
        let mut state = match &self.disk.snapshot {
            Some(snapshot) => KernelState::from_snapshot(snapshot).unwrap(),
            None => KernelState::new(),
        };
        for bytes in &self.disk.records {
            state.apply(&KernelRecord::from_bytes(bytes).unwrap());
        }
        state
    }

    pub(crate) fn compact(&mut self) {
        self.disk.records.append(&mut self.unsynced);
        self.disk.snapshot = Some(self.machine.state().to_snapshot().unwrap());
        self.disk.records.clear();
    }

    pub(crate) fn input(&mut self, input: KernelInput) -> Result<Reply, Died> {
        let handled = self.machine.handle(self.now, input);
        if !handled.records.is_empty() {
            let bytes = handled.records.iter().map(|record| record.to_bytes().unwrap());
            self.append(bytes.collect())?;
        }
        for output in handled.outputs {
            self.output(output);
        }
        while self.grants && self.machine.wants() > 0 {
            let wants = self.machine.wants();
            self.grants = false;
            let granted = self.input(KernelInput::Grant);
            self.grants = true;
            granted?.unwrap();
            if self.machine.wants() >= wants {
                break;
            }
        }
        Ok(handled.reply)
    }

    fn append(&mut self, records: Vec<Vec<u8>>) -> Result<(), Died> {
        self.appends += 1;
        if let Some((_, fault)) = self.fault.filter(|(append, _)| *append == self.appends) {
            self.fault = None;
            // A part of a batch is nothing, as the journals have it.
            if fault == JournalFault::After {
                self.disk.records.extend(records);
            }
            return Err(Died);
        }
        if self.lazy && self.unsynced.len() < 8 {
            self.unsynced.extend(records);
            return Ok(());
        }
        self.disk.records.append(&mut self.unsynced);
        self.disk.records.extend(records);
        Ok(())
    }

    fn output(&mut self, output: KernelOutput) {
        match output {
            KernelOutput::Announce(life) => self.world.announced.push(life),
            KernelOutput::RunHook(hook) => self.hooks.push(hook),
            KernelOutput::Run(task) => {
                let name = name(&task);
                *self.world.starts.entry(name).or_default() += 1;
                if let TaskSource::Job { name, due_ms } = &task.source
                    && task.attempt == 1
                {
                    *self.world.runs.entry((name.clone(), *due_ms)).or_default() += 1;
                }
                let key = (task.id, task.attempt);
                let script = Script { task: *task, next: 0, pending: None, told_to_stop: false };
                self.attempts.insert(key, script);
            }
            KernelOutput::Stop(id, attempt) => {
                if let Some(script) = self.attempts.get_mut(&(id, attempt)) {
                    script.told_to_stop = true;
                }
            }
            KernelOutput::Release(id, attempt) => drop(self.attempts.remove(&(id, attempt))),
            KernelOutput::Closed(id, outcome) => drop(self.world.closed.insert(id, outcome)),
            KernelOutput::Over => self.attempts.clear(),
            KernelOutput::Unused(_) => {}
        }
    }

    pub(crate) fn run_hooks(&mut self) -> Result<(), Died> {
        while let Some(hook) = self.hooks.pop() {
            self.input(KernelInput::HookEnded(hook, Ok(())))?.unwrap();
        }
        Ok(())
    }

    pub(crate) fn running(&self) -> Vec<(TaskId, u32)> {
        self.attempts.keys().copied().collect()
    }

    /// Lets an attempt do the next thing of its script.
    pub(crate) fn step(&mut self, key: (TaskId, u32)) -> Result<(), Died> {
        let Some(script) = self.attempts.get_mut(&key) else { return Ok(()) };
        let task = script.task.clone();
        let attempt = |input| KernelInput::Attempt(key.0, key.1, input);
        let end = |report| attempt(AttemptInput::End(report));
        if let Some(effect) = script.pending.take() {
            let ended = AttemptInput::EndEffect(effect, Ok(json!("done")));
            self.input(attempt(ended))?.unwrap();
            return Ok(());
        }
        if script.told_to_stop {
            self.input(end(AttemptReport::Cancelled))?.unwrap();
            return Ok(());
        }
        let word = task.message.body["do"][script.next].as_str().unwrap_or("done").to_owned();
        script.next += 1;
        let (what, of) = word.split_once(':').unwrap_or((&word, ""));
        match what {
            "effect" => match self.input(attempt(AttemptInput::BeginEffect(of.to_owned())))? {
                Ok(KernelReply::Begin) => {
                    *self.world.effects.entry(format!("{}/{of}", name(&task))).or_default() += 1;
                    if let Some(script) = self.attempts.get_mut(&key) {
                        script.pending = Some(of.to_owned());
                    }
                }
                Ok(KernelReply::Unknown) => {
                    assert!(matches!(
                        self.machine.state().task(key.0).unwrap().effects[of],
                        EffectState::Started { .. }
                    ));
                    let found = AttemptInput::EndEffect(of.to_owned(), Ok(json!("found")));
                    self.input(attempt(found))?.unwrap();
                }
                Ok(KernelReply::Recorded(_)) => {}
                reply => panic!("{reply:?}"),
            },
            "progress" => {
                self.input(attempt(AttemptInput::Progress(json!(of))))?.unwrap();
            }
            "spend" => {
                let amount = Amount::tokens(of.parse().unwrap());
                match self.input(attempt(AttemptInput::Hold(amount)))? {
                    Ok(KernelReply::Held(hold)) => {
                        self.input(attempt(AttemptInput::Settle(hold, amount)))?.unwrap();
                    }
                    refused => {
                        let why = format!("{refused:?}");
                        self.input(end(AttemptReport::OverBudget(why)))?.unwrap();
                    }
                }
            }
            "hold" => {
                // Not settled: it counts when the attempt ends.
                let amount = Amount::tokens(of.parse().unwrap());
                drop(self.input(attempt(AttemptInput::Hold(amount)))?);
            }
            "spawn" => {
                let mut child = SubTask::new(json!({
                    "name": format!("{}/{of}", name(&task)), "do": ["effect:child", "done"],
                }));
                child.promise = task.message.promise;
                let spawn = AttemptInput::Spawn(of.to_owned(), Box::new(child));
                self.input(attempt(spawn))?.unwrap();
            }
            "join" => match self.input(attempt(AttemptInput::Join(of.to_owned())))?.unwrap() {
                KernelReply::Child(None) => {
                    let waits = AttemptReport::Waits(vec![of.to_owned()]);
                    self.input(end(waits))?.unwrap();
                }
                reply => assert!(matches!(reply, KernelReply::Child(Some(_))), "{reply:?}"),
            },
            "ask" => {
                let answered = task.questions.get(of).is_some_and(|asked| asked.answer.is_some());
                if !answered {
                    let question = TaskQuestion::new(of, "Which?").fallback(60_000, json!("any"));
                    self.input(end(AttemptReport::Asks(Box::new(question))))?.unwrap();
                }
            }
            "fail" if task.attempt < of.parse().unwrap_or(u32::MAX) => {
                self.input(end(AttemptReport::Failed("as the script says".to_owned())))?.unwrap();
            }
            "panic" => {
                self.input(end(AttemptReport::Panicked("as the script says".to_owned())))?.unwrap();
            }
            "wait" | "fail" => {}
            "hang" => {
                if let Some(script) = self.attempts.get_mut(&key) {
                    script.next -= 1;
                }
            }
            _ => {
                *self.world.done.entry(name(&task)).or_default() += 1;
                self.input(end(AttemptReport::Done(json!("answer"))))?.unwrap();
            }
        }
        Ok(())
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, ms: u64) -> Result<(), Died> {
        self.now.wall_ms += ms;
        self.now.mono_ms += ms;
        self.input(KernelInput::Tick)?.unwrap();
        self.run_hooks()
    }

    /// Goes on until nothing is open that can go on.
    pub(crate) fn settle(&mut self) -> Result<(), Died> {
        for _ in 0..100_000 {
            if let Some(key) = self.running().first() {
                self.step(*key)?;
                continue;
            }
            let Some(wake) = self.machine.wake().wall_ms else { return Ok(()) };
            if self.machine.state().tasks.is_empty() {
                return Ok(());
            }
            self.pass(wake.saturating_sub(self.now.wall_ms).max(1))?;
        }
        panic!("does not settle: {:?}", self.machine.state().tasks);
    }

    pub(crate) fn send(&mut self, message: TaskMessage) -> Result<Reply, Died> {
        self.input(KernelInput::Send(Box::new(message)))
    }

    /// What has to hold at any time.
    pub(crate) fn check(&self) {
        let state = self.machine.state();
        if self.unsynced.is_empty() {
            assert_eq!(&self.fold(), state, "the state is a fold over what is on the disk");
        }
        check_ledger(state);
        let mut ids = BTreeSet::new();
        assert!(state.tasks.keys().chain(state.letters.keys()).all(|id| ids.insert(*id)));
        assert!(self.machine.running() <= state.limits.concurrency);
    }
}

pub(crate) fn check_ledger(state: &KernelState) {
    for (id, account) in state.ledger.accounts() {
        for resource in offshoot_kernel::Resource::ALL {
            let Some(limit) = account.budget.of(resource) else { continue };
            let used = account.spent.of(resource) + account.reserved.of(resource);
            assert!(used <= limit, "{id}: {used} of {limit} {resource}");
        }
    }
}

/// A message whose hook follows a script.
pub(crate) fn scripted(name: &str, script: &[&str]) -> TaskMessage {
    TaskMessage::new("tester", json!({ "name": name, "do": script })).key(name)
}

pub(crate) fn name(task: &Task) -> String {
    let name = task.message.body["name"].as_str().map(str::to_owned);
    name.unwrap_or_else(|| match &task.source {
        TaskSource::Job { name, due_ms } => format!("{name}@{due_ms}"),
        _ => Value::to_string(&task.message.body),
    })
}
