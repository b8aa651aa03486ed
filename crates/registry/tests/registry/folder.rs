//! What survives: kills, torn files, and long logs.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use offshoot_mxp::{DiscoveredBody, HeartbeatReplyBody, RegisteredBody};
use offshoot_registry::{
    AgentRegistry, AgentRegistryError, RegistryLimits, RegistryLog, RegistryRecord, RegistryState,
};
use offshoot_transport::{MessageFlags, MessageKind, PeerBody, PeerMessage};
use tempfile::TempDir;

use crate::fixture::{card, name, serve};

async fn ask(registry: &AgentRegistry, kind: MessageKind, body: PeerBody) -> PeerMessage {
    let PeerBody { bytes, flags, .. } = body;
    let request = PeerMessage { kind, flags, id: 1, trace: 0, payload: bytes };
    let PeerBody { bytes, .. } = registry.answer(&name("alpha"), &request).await.unwrap();
    PeerMessage { payload: bytes, ..request }
}

async fn register(registry: &AgentRegistry, id: &str) -> bool {
    let body = PeerBody::json(&card(id, &["plan"])).unwrap();
    let reply = ask(registry, MessageKind::AgentRegister, body).await;
    reply.json::<RegisteredBody>().unwrap().success
}

async fn beat(registry: &AgentRegistry, id: &str, last: bool) -> HeartbeatReplyBody {
    let mut body = PeerBody::json(&serde_json::json!({"agent_id": id})).unwrap();
    if last {
        body.flags = MessageFlags::FINAL;
    }
    ask(registry, MessageKind::AgentHeartbeat, body).await.json().unwrap()
}

async fn found(registry: &AgentRegistry) -> Vec<String> {
    let body = PeerBody::json(&serde_json::json!({"capability": "plan"})).unwrap();
    let reply = ask(registry, MessageKind::AgentDiscover, body).await;
    let found: DiscoveredBody = reply.json().unwrap();
    found.agents.into_iter().map(|card| card.id).collect()
}

fn open(folder: &Path) -> AgentRegistry {
    AgentRegistry::open(folder, RegistryLimits::default()).unwrap()
}

#[tokio::test]
async fn agents_are_there_after_a_restart_until_their_lease_ends() {
    let folder = TempDir::new().unwrap();
    let registry = open(folder.path());
    for id in ["alpha", "alpha/1", "alpha/2"] {
        assert!(register(&registry, id).await);
    }
    assert!(beat(&registry, "alpha/1", true).await.success);
    assert!(beat(&registry, "alpha/2", false).await.success);
    assert!(matches!(
        AgentRegistry::open(folder.path(), RegistryLimits::default()),
        Err(AgentRegistryError::Busy(_))
    ));
    // Nothing is written when a process ends: a kill is the same as this.
    drop(registry);
    let registry = open(folder.path());
    assert_eq!(
        (found(&registry).await, registry.cut()),
        (vec!["alpha".into(), "alpha/2".into()], 0)
    );
    let late = Arc::new(AtomicU64::new(0));
    let clock = late.clone();
    drop(registry);
    let registry = open(folder.path()).with_clock(move || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        u64::try_from(since.as_millis()).unwrap() + clock.load(Ordering::SeqCst)
    });
    assert_eq!(registry.len(), 2);
    late.store(31_000, Ordering::SeqCst);
    assert!(registry.is_empty() && found(&registry).await.is_empty());
    assert!(beat(&registry, "alpha", false).await.needs_register);
}

fn records() -> Vec<RegistryRecord> {
    let until = 1000;
    vec![
        RegistryRecord::Registered { card: card("alpha", &["plan"]), until },
        RegistryRecord::Registered { card: card("beta", &["plan", "act"]), until },
        RegistryRecord::Renewed { agent_id: "alpha".to_owned(), until: 2000 },
        RegistryRecord::Removed { agent_id: "beta".to_owned() },
        RegistryRecord::Registered { card: card("beta/2", &[]), until: 3000 },
    ]
}

fn write(folder: &Path, records: &[RegistryRecord]) -> Vec<u64> {
    let mut log = RegistryLog::open(folder, |_| ()).unwrap();
    let append = |record| {
        log.append(record).unwrap();
        log.length()
    };
    records.iter().map(append).collect()
}

#[test]
fn a_log_that_is_torn_at_any_byte_gives_what_was_whole() {
    let (whole, records) = (TempDir::new().unwrap(), records());
    let ends = write(whole.path(), &records);
    let bytes = fs::read(whole.path().join("registry.log")).unwrap();
    let torn = TempDir::new().unwrap();
    let path = torn.path().join("registry.log");
    for length in 0..=bytes.len() {
        // Cut off; then cut off with noise behind it, as after a power cut.
        let noises = [&[][..], &[0; 9], &[0xff; 200]];
        for noise in noises.into_iter().take(if length % 5 == 0 { 3 } else { 1 }) {
            let torn_bytes = [&bytes[..length], noise].concat();
            fs::write(&path, &torn_bytes).unwrap();
            let count = ends.iter().filter(|end| **end <= length as u64).count();
            let good = count.checked_sub(1).map_or(0, |index| ends[index]);
            let mut read = Vec::new();
            let mut log =
                RegistryLog::open(torn.path(), |record| read.push(record.clone())).unwrap();
            assert_eq!(read, records[..count], "{length}");
            assert_eq!(log.cut(), torn_bytes.len() as u64 - good, "{length}");
            // And it can be written.
            log.append(&records[0]).unwrap();
            drop(log);
            let mut again = Vec::new();
            let log = RegistryLog::open(torn.path(), |record| again.push(record.clone())).unwrap();
            assert_eq!((again.len(), log.cut()), (count + 1, 0), "{length}");
        }
    }
}

#[test]
fn a_log_with_any_byte_changed_gives_what_was_before() {
    let (whole, records) = (TempDir::new().unwrap(), records());
    let ends = write(whole.path(), &records);
    let bytes = fs::read(whole.path().join("registry.log")).unwrap();
    let changed = TempDir::new().unwrap();
    let path = changed.path().join("registry.log");
    for index in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[index] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let count = ends.iter().filter(|end| **end <= index as u64).count();
        let mut read = Vec::new();
        let log = RegistryLog::open(changed.path(), |record| read.push(record.clone())).unwrap();
        assert_eq!(read, records[..count], "{index}");
        assert!(log.cut() > 0);
    }
}

#[test]
fn records_that_are_not_the_next_ones_are_cut_off() {
    let (one, two) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let ends = write(one.path(), &records());
    write(two.path(), &records()[..1]);
    let path = one.path().join("registry.log");
    // A whole record of another log.
    let other = fs::read(two.path().join("registry.log")).unwrap();
    fs::write(&path, [fs::read(&path).unwrap(), other.clone()].concat()).unwrap();
    let mut count = 0;
    let log = RegistryLog::open(one.path(), |_| count += 1).unwrap();
    assert_eq!((count, log.cut()), (5, other.len() as u64));
    assert_eq!(log.length(), ends[4]);
}

#[test]
fn a_long_log_is_written_anew() {
    let folder = TempDir::new().unwrap();
    let mut state = RegistryState::new(RegistryLimits::default());
    let mut log = RegistryLog::open(folder.path(), |_| ()).unwrap();
    let mut longest = 0;
    let mut compacted = 0;
    for number in 0..30_000u64 {
        let record = match number {
            0 => RegistryRecord::Registered { card: card("alpha", &["plan"]), until: 9 },
            _ => RegistryRecord::Renewed { agent_id: "alpha".to_owned(), until: number + 100 },
        };
        log.append(&record).unwrap();
        state.apply(&record);
        if log.is_long() {
            log.compact(state.records()).unwrap();
            compacted += 1;
        }
        longest = longest.max(log.length());
    }
    assert!(compacted >= 2 && longest < (1 << 20) + 1000, "{compacted} {longest}");
    drop(log);
    let mut again = RegistryState::new(RegistryLimits::default());
    RegistryLog::open(folder.path(), |record| again.apply(record)).unwrap();
    assert_eq!(again.records().collect::<Vec<_>>(), state.records().collect::<Vec<_>>());
    // A process that was killed while it wrote the new log harms nothing.
    fs::write(folder.path().join("registry.new"), "a part").unwrap();
    let mut again = RegistryState::new(RegistryLimits::default());
    RegistryLog::open(folder.path(), |record| again.apply(record)).unwrap();
    assert_eq!(again.len(), 1);
}

#[tokio::test]
async fn restarts_under_load_lose_nothing_that_was_answered() {
    let folder = TempDir::new().unwrap();
    let mut registry = open(folder.path());
    let mut server = serve(&registry, 0).await;
    let port = server.address().port;
    let mut expected = Vec::new();
    for round in 0..5 {
        let registering = (0..20).map(|number| {
            let (registry, id) = (registry.clone(), format!("alpha/{round}-{number:02}"));
            async move {
                assert!(register(&registry, &id).await);
                id
            }
        });
        expected.extend(futures::future::join_all(registering).await);
        drop(server);
        // The last clone goes with the sessions; until then, the folder is busy.
        drop(registry);
        registry = loop {
            match AgentRegistry::open(folder.path(), RegistryLimits::default()) {
                Ok(registry) => break registry,
                Err(AgentRegistryError::Busy(_)) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!((found(&registry).await, registry.cut()), (expected.clone(), 0));
        server = serve(&registry, port).await;
    }
}

/// What the process says that is killed.
const ANSWERED: &str = "answered ";

/// Not a test of its own: the process that the next one kills. It registers agents until then, and says which.
#[tokio::test]
async fn a_process_that_registers_until_it_is_killed() {
    let Some(folder) = std::env::var_os("REGISTRY_FOLDER_OF_TEST") else { return };
    let registry = open(Path::new(&folder));
    for number in 0..256 {
        let id = format!("alpha/{number:03}");
        assert!(register(&registry, &id).await);
        println!("{ANSWERED}{id}");
        for _ in 0..number % 4 {
            assert!(beat(&registry, &id, false).await.success);
        }
    }
    // Long enough for whoever kills it.
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[tokio::test]
async fn what_was_answered_before_a_kill_is_there_after_it() {
    use std::io::BufRead;
    for killed_after in [1, 7, 60] {
        let folder = TempDir::new().unwrap();
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "folder::a_process_that_registers_until_it_is_killed", "--nocapture"])
            .env("REGISTRY_FOLDER_OF_TEST", folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut answered = Vec::new();
        for line in output.lines() {
            let line = line.unwrap();
            if let Some((_, id)) = line.split_once(ANSWERED) {
                answered.push(id.to_owned());
            }
            if answered.len() == killed_after {
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let registry = open(folder.path());
        let found = found(&registry).await;
        assert!(answered.len() >= killed_after && found.starts_with(&answered), "{found:?}");
        assert!(registry.cut() < 20_000);
    }
}
