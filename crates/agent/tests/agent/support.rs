//! Tools over a directory, logs that are cut off, and agents of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use offshoot_agent::{
    Agent, AgentCallKey, AgentParts, Assessment, CallEffect, CallFate, CallPermission, CallReply,
    CallReport, Clock, ConversationId, EventLog, EventRecord, LogError, MemoryLog, PlannedCall,
    Timestamp, Tools, TurnSettings,
};
use offshoot_provider::{Provider, ToolSpec};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What is outside of the agent: files, what was done to them, and what tools know of it.
pub(crate) struct World {
    pub(crate) directory: TempDir,
    /// How many times each call wrote.
    pub(crate) writes: Mutex<BTreeMap<String, u32>>,
    /// Results by key, as tools record them.
    results: Mutex<BTreeMap<AgentCallKey, CallReport>>,
    /// Whether tools know what became of calls.
    pub(crate) remembers: bool,
    pub(crate) running: AtomicUsize,
    /// The most calls that ran at the same time, and whether a write did beside another.
    pub(crate) most: AtomicUsize,
    pub(crate) stopped: Mutex<Vec<AgentCallKey>>,
    pub(crate) calls: AtomicUsize,
    /// What calls left running.
    pub(crate) left: Mutex<Vec<String>>,
}

/// Tools for tests.
#[derive(Clone)]
pub(crate) struct TestTools(pub(crate) Arc<World>);

const NAMES: [&str; 12] = [
    "read",
    "write",
    "fail",
    "danger",
    "late",
    "question",
    "hang",
    "hang_read",
    "broken",
    "panics",
    "forbidden",
    "big",
];

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Self::with(true)
    }

    pub(crate) fn with(remembers: bool) -> Arc<Self> {
        Arc::new(Self {
            directory: TempDir::new().unwrap(),
            writes: Mutex::default(),
            results: Mutex::default(),
            remembers,
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            stopped: Mutex::default(),
            calls: AtomicUsize::new(0),
            left: Mutex::default(),
        })
    }

    pub(crate) fn tools(self: &Arc<Self>) -> TestTools {
        TestTools(self.clone())
    }

    fn path(&self, arguments: &Value) -> PathBuf {
        let name = arguments["path"].as_str().unwrap_or("file");
        self.directory.path().join(name.replace('/', "_"))
    }

    fn write(&self, key: &AgentCallKey, arguments: &Value) -> CallReport {
        let path = self.path(arguments);
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(&path, before + arguments["text"].as_str().unwrap_or("x")).unwrap();
        *self.writes.lock().unwrap().entry(key.as_str().to_owned()).or_default() += 1;
        let report = CallReport::text("written");
        self.results.lock().unwrap().insert(key.clone(), report.clone());
        report
    }

    fn run(&self, call: &PlannedCall) -> CallReply {
        let arguments: Value = serde_json::from_str(&call.call.arguments).unwrap_or(json!({}));
        let done = |report| CallReply::Done(report);
        match call.call.name.as_str() {
            "read" => match fs::read_to_string(self.path(&arguments)) {
                Ok(text) => done(CallReport::text(text)),
                Err(_) => done(CallReport::failure("no such file")),
            },
            "big" => {
                let bytes = arguments["bytes"].as_u64().unwrap_or(1000) as usize;
                let name = arguments["name"].as_str().unwrap_or("b");
                done(CallReport::text(name.repeat(bytes.div_ceil(name.len()))))
            }
            "late" if !call.approved => CallReply::NeedsApproval { why: "it is late".to_owned() },
            "write" | "danger" | "late" => done(self.write(&call.key, &arguments)),
            "question" => CallReply::Asks {
                question: "Which colour?".to_owned(),
                choices: vec!["red".to_owned(), "blue".to_owned()],
            },
            "broken" => CallReply::Broken { why: "the disk is gone".to_owned() },
            "panics" => panic!("a tool of the test panics"),
            _ => done(CallReport::failure("it does not work")),
        }
    }
}

impl Tools for TestTools {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: format!("does {name}"),
            parameters: json!({ "type": "object" }),
            cache: None,
        };
        NAMES.iter().map(spec).collect()
    }

    fn assess(&self, call: &PlannedCall) -> Assessment {
        let name = call.call.name.as_str();
        let effect = match ["read", "big", "fail", "hang_read"].contains(&name) {
            true => CallEffect::Reads,
            false => CallEffect::Writes,
        };
        let permission = match name {
            "danger" => CallPermission::Asks { why: "it is dangerous".to_owned() },
            "forbidden" => CallPermission::Refused { why: "it is forbidden".to_owned() },
            _ if !is_object(&call.call.arguments) => {
                CallPermission::Refused { why: "the arguments are no JSON object".to_owned() }
            }
            _ => CallPermission::Allowed,
        };
        Assessment { key: call.key.clone(), effect, permission }
    }

    fn call(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        let world = self.0.clone();
        let call = async move {
            world.calls.fetch_add(1, Ordering::SeqCst);
            let running = world.running.fetch_add(1, Ordering::SeqCst) + 1;
            world.most.fetch_max(running, Ordering::SeqCst);
            if call.call.name.starts_with("hang") {
                // It ends a moment after it was asked to.
                while !world.stopped.lock().unwrap().contains(&call.key) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
                world.running.fetch_sub(1, Ordering::SeqCst);
                return CallReply::Done(CallReport::text("it was stopped"));
            }
            tokio::task::yield_now().await;
            let reply = world.run(&call);
            world.running.fetch_sub(1, Ordering::SeqCst);
            reply
        };
        call.boxed()
    }

    fn outcome_of(&self, call: PlannedCall) -> BoxFuture<'static, CallFate> {
        let result = self.0.results.lock().unwrap().get(&call.key).cloned();
        let fate = match (self.0.remembers, result) {
            (false, _) => CallFate::Unknown,
            (true, Some(report)) => CallFate::Done { report },
            (true, None) => CallFate::NotStarted,
        };
        ready(fate).boxed()
    }

    fn attach(&self, call: PlannedCall) -> BoxFuture<'static, CallReply> {
        self.call(call)
    }

    fn stop(&self, keys: &[AgentCallKey]) {
        self.0.stopped.lock().unwrap().extend(keys.iter().cloned());
    }

    fn finish(&self) -> BoxFuture<'static, Vec<String>> {
        let left = std::mem::take(&mut *self.0.left.lock().unwrap());
        ready(left).boxed()
    }
}

fn is_object(arguments: &str) -> bool {
    arguments.is_empty()
        || serde_json::from_str(arguments).is_ok_and(|value: Value| value.is_object())
}

/// A log that fails behind so many events: what comes then is not kept.
#[derive(Clone)]
pub(crate) struct CutLog {
    pub(crate) log: MemoryLog,
    pub(crate) most: u64,
    /// Whether it fails as soon as the last event is kept, rather than with the next one.
    pub(crate) at_once: bool,
}

impl EventLog for CutLog {
    fn append(&self, records: Vec<EventRecord>) -> BoxFuture<'_, Result<(), LogError>> {
        let cut = async move {
            for record in records {
                let number = record.number();
                if number <= self.most {
                    self.log.append(vec![record]).await?;
                }
                if number > self.most || (self.at_once && number == self.most) {
                    return Err(LogError::Storage("killed".to_owned()));
                }
            }
            Ok(())
        };
        cut.boxed()
    }

    fn read(&self, from: u64) -> BoxFuture<'_, Result<Vec<EventRecord>, LogError>> {
        self.log.read(from)
    }
}

/// A clock that goes on by so much each time that it is asked.
pub(crate) struct StepClock {
    now: AtomicU64,
    step: u64,
}

impl StepClock {
    pub(crate) fn new(step: Duration) -> Self {
        Self { now: AtomicU64::new(1_000_000), step: step.as_millis() as u64 }
    }
}

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.fetch_add(self.step, Ordering::SeqCst))
    }
}

/// The parts of an agent whose clock goes on by a millisecond each time.
pub(crate) fn parts(
    provider: impl Provider + 'static,
    world: &Arc<World>,
    log: impl EventLog + 'static,
) -> AgentParts {
    AgentParts {
        clock: Arc::new(StepClock::new(Duration::from_millis(1))),
        ..AgentParts::new(provider, world.tools(), log)
    }
}

pub(crate) fn settings() -> TurnSettings {
    TurnSettings::new("any")
}

pub(crate) async fn begin(parts: AgentParts, settings: TurnSettings) -> Agent {
    Agent::begin(parts, ConversationId::new("c"), settings, Vec::new()).await.unwrap()
}

/// Runs a future, in the runtime that the driver needs.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let late = Duration::from_secs(60);
    runtime.block_on(async { tokio::time::timeout(late, future).await.expect("it ends") })
}

/// The names of events, for comparing what happened.
pub(crate) fn kinds(records: &[EventRecord]) -> Vec<String> {
    let kind = |record: &EventRecord| {
        let value = serde_json::to_value(record.event()).unwrap();
        value["kind"].as_str().unwrap().to_owned()
    };
    records.iter().map(kind).collect()
}
