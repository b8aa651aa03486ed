//! What must not stay behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use super::site::Site;

/// How long the kernel may take to end what was killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first process inside of each command that runs, by the notes beside what they write.
pub(crate) fn inits(site: &Site) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir(site.vault().join("layers")).into_iter().flatten().flatten() {
        found.extend(init_of(&entry.path()));
    }
    found
}

/// The first process inside of the command that writes this layer, where it has got so far.
fn init_of(layer: &Path) -> Option<u32> {
    let note = fs::read(layer.join("exec.json")).unwrap_or_default();
    let note: Value = serde_json::from_slice(&note).unwrap_or_default();
    note["init"]["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok())
}

/// The commands that have written something since then that is not part of the history, each with what shows it, by what lies
/// in the vault after a kill. At least these: a change of modes alone does not show.
pub(crate) fn written(site: &Site, since: SystemTime) -> Vec<String> {
    let entries = fs::read_dir(site.vault().join("layers")).into_iter().flatten().flatten();
    entries.filter_map(|entry| work_in(&entry.path(), since)).collect()
}

fn work_in(path: &Path, since: SystemTime) -> Option<String> {
    let sealed = !path.as_os_str().as_bytes().ends_with(b".tmp");
    if sealed {
        return path.join("exec.json").exists().then(|| format!("{} sealed", path.display()));
    }
    // Hard links and the folders that lead to them are placed before there is an init, and get their old times when they are whole.
    init_of(path)?;
    let is_new =
        |name: &fs::DirEntry| name.metadata().is_ok_and(|it| it.modified().unwrap() > since);
    let names = fs::read_dir(path.join("fs")).into_iter().flatten().flatten();
    let new: Vec<String> =
        names.filter(is_new).map(|name| name.path().display().to_string()).collect();
    (!new.is_empty()).then(|| new.join(" "))
}

/// Nothing runs, nothing is mounted, nothing is half-made.
pub(crate) fn check(site: &Site) -> Result<(), String> {
    no_process(site.home())?;
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
    let vaults = site.home().join("vaults");
    if mounts.contains(vaults.to_str().unwrap()) {
        return Err(format!("something is mounted in the vault:\n{mounts}"));
    }
    let vault = site.vault();
    for folder in ["layers", "open", "left"] {
        for entry in fs::read_dir(vault.join(folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let whole = name.len() == 26 && folder == "layers";
            if !whole {
                return Err(format!("left behind: {folder}/{name}"));
            }
            let inside: Vec<_> = fs::read_dir(entry.path()).unwrap().flatten().collect();
            if inside.len() != 1 {
                return Err(format!("more than its files in layer {name}: {inside:?}"));
            }
        }
    }
    Ok(())
}

/// The audit log is whole, and says of every command what its record says: none is without its event, and no event without it.
pub(crate) fn audited(site: &Site) -> Result<(), String> {
    site.ok(&["audit", "verify"])?;
    let execs = site.json(&["execs", "-n", "100000"])?;
    let count = |exec: &Value| exec["changed"].as_u64().unwrap_or(0);
    let recorded: BTreeMap<String, u64> = execs["execs"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|exec| (exec["exec"].to_string(), count(exec)))
        .collect();
    let (mut started, mut changing) = (BTreeSet::new(), BTreeSet::new());
    let mut ended = BTreeMap::new();
    for event in site.lines(&["audit", "log", "-n", "100000"])? {
        let details = &event["result"]["details"];
        let exec = details["exec"].to_string();
        match event["result"]["event"].as_str() {
            Some("exec_started") => drop(started.insert(exec)),
            Some("exec") => {
                let changed = details["files"]["count"].as_u64().unwrap_or(0);
                if changed > 0 {
                    changing.insert(exec.clone());
                }
                ended.insert(exec, changed);
            }
            // What was set aside is looked at when somebody decides about it.
            Some("recover keep" | "recover drop") => {
                let changed = recorded.get(&exec).copied().unwrap_or(0);
                ended.insert(exec, changed);
            }
            _ => {}
        }
    }
    let unsaid = recorded.iter().find(|(exec, changed)| ended.get(*exec) != Some(*changed));
    // Whose start was not synced may be set aside all the same. What changed something did start.
    let unstarted = changing.iter().find(|exec| !started.contains(*exec));
    match (unsaid, unstarted) {
        (None, None) => Ok(()),
        found => Err(format!("{found:?}: the log has {ended:?}, the records {recorded:?}")),
    }
}

/// No process has the home in its environment: Offshoot itself, an init, or a command.
pub(crate) fn no_process(home: &Path) -> Result<(), String> {
    let start = Instant::now();
    loop {
        let found = processes_of(home);
        if found.is_empty() {
            return Ok(());
        }
        if start.elapsed() > PATIENCE {
            return Err(format!("still running: {found:?}"));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

fn processes_of(home: &Path) -> Vec<String> {
    let wanted = home.as_os_str().as_bytes();
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        if name == own || !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let mut values = environment.split(|byte| *byte == 0);
        if values.any(|value| value.windows(wanted.len()).any(|window| window == wanted)) {
            let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{name}: {}", String::from_utf8_lossy(&command)));
        }
    }
    found
}
