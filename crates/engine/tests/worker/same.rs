//! What a caller sees is the same as with commands on threads.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use offshoot_engine::exec::{Command, Event, ExecutionTimeout, Input};
use offshoot_engine::{Notice, Options, Project, Topic, Workspace};
use offshoot_needs::needs;
use offshoot_tests::product::{Place, binary};
use serde_json::Value;

use crate::support::{
    changed, descriptors, on_threads, open, options, place, project, wait_until, workers, zombies,
};

/// An envelope without what differs from one command to the next.
fn comparable(envelope: &offshoot_protocol::ExecEnvelopeDoc) -> Value {
    let mut document = serde_json::to_value(envelope).unwrap();
    let result = document["result"].as_object_mut().unwrap();
    let ids = ["exec", "checkpoint", "snapshot_before", "snapshot_after"];
    for name in ids.into_iter().chain(["duration_ms", "total_ms", "usage"]) {
        // Whether there is one is the same.
        if let Some(differs) = result.get_mut(name) {
            *differs = differs.is_null().into();
        }
    }
    document
}

type Make = fn() -> Command;

#[needs(UserNamespace)]
#[test]
fn envelopes_are_those_of_threads() {
    let place = place();
    fs::write(place.path().join("rules.toml"), DENY).unwrap();
    let commands: [(&str, Make); 8] = [
        ("writes", || {
            Command::shell("echo one > one; echo out; echo err >&2; rm shared").patch(true)
        }),
        ("fails", || Command::new(["sh", "-c", "echo $0 $SET; exit 3"]).variable("SET=é")),
        ("missing", || Command::new(["no-such-program"])),
        ("slow", || {
            Command::shell("echo begun > begun; sleep 100").timeout(Duration::from_millis(300))
        }),
        ("reads", || {
            Command::shell("cat; pwd; touch x")
                .input(Input::Bytes(b"\xff\0".to_vec()))
                .read_only(true)
        }),
        ("denied", || Command::new(["touch", "denied"])),
        ("misplaced", || Command::new(["true"]).directory("no/such/folder")),
        ("unlimited", || {
            Command::new(["env"]).time(ExecutionTimeout::None).record(false).caches(false)
        }),
    ];
    let envelope = |project: &Project, name: &str, make: Make, rules: bool| {
        let workspace = project.fork(name).unwrap();
        let rules = rules.then(|| place.path().join("rules.toml"));
        let ended = workspace.exec(make().rules(rules)).unwrap().wait();
        let found = (comparable(&ended), changed(&workspace));
        workspace.delete().unwrap();
        found
    };
    let threads = open(&place, on_threads(place.path(), place.environment()));
    let in_workers = project(&place);
    for (name, make) in commands {
        let rules = name == "denied";
        let wanted = envelope(&threads, name, make, rules);
        let found = envelope(&in_workers, name, make, rules);
        assert_eq!(found, wanted, "{name}");
        assert_eq!(wanted.0["result"]["state"] == "denied", rules, "{name}");
    }
    // Without a workspace of its own, and recorded under its id.
    let exec = in_workers.exec(["true"]).unwrap();
    let ended = exec.wait();
    assert!(ended.is_success() && ended.result.workspace_removed, "{ended:?}");
    assert_eq!(ended.result.exec, exec.id().to_string());
    assert_eq!(*exec.outcome().unwrap(), *ended);
    in_workers.wait_idle();
    assert_eq!(workers(place.path()), [0; 0]);
}

const DENY: &str = "version = 1\n[[rule]]\nname = \"no-touch\"\nprefix = [\"touch\"]\ndecision = \"deny\"\nreason = \"not here\"\n";

/// What the host could not read either is an error of `exec` itself, as on threads.
#[test]
fn rules_that_cannot_be_read_let_nothing_run() {
    let place = place();
    let rules = place.path().join("rules.toml");
    fs::write(&rules, "no rules").unwrap();
    let workspace = project(&place).fork("w").unwrap();
    let threads = open(&place, on_threads(place.path(), place.environment()));
    let on_thread = threads.workspace("w").unwrap();
    let exec = |workspace: &Workspace| {
        workspace.exec(Command::new(["true"]).rules([rules.clone()])).unwrap_err()
    };
    let (found, wanted) = (exec(&workspace), exec(&on_thread));
    assert_eq!((found.code, found.message), (wanted.code, wanted.message));
}

#[needs(UserNamespace)]
#[test]
fn events_come_in_order_and_whole() {
    let place = place();
    let workspace = project(&place).fork("w").unwrap();
    let text = "head -c 3000000 /dev/zero; printf '\\377\\n' >&2; touch new";
    let exec = workspace.exec(Command::shell(text)).unwrap();
    let (mut out, mut err, mut order) = (0, Vec::new(), Vec::new());
    for event in exec.events() {
        match event {
            Event::Output { stream, bytes } if format!("{stream:?}") == "Stdout" => {
                out += bytes.len()
            }
            Event::Output { bytes, .. } => err.extend(bytes),
            Event::Started { workspace, .. } => order.push(format!("started {workspace}")),
            other => order.push(format!("{other:?}")),
        }
    }
    assert_eq!(order, ["started w", "Sealing", "Finished"]);
    assert_eq!((out, err), (3_000_000, b"\xff\n".to_vec()));
    // Whoever asks later is told that there was too much to keep.
    let ended = exec.wait();
    assert!(ended.is_success(), "{ended:?}");
    let unread = workspace.exec(Command::shell(text)).unwrap();
    unread.wait();
    assert!(unread.events().any(|event| matches!(event, Event::Skipped { .. })));
}

#[needs(UserNamespace)]
#[test]
fn commands_read_what_they_are_given() {
    let place = place();
    let workspace = project(&place).fork("w").unwrap();
    let bytes: Vec<u8> = (0..2_000_000u32).map(|number| (number % 251) as u8).collect();
    let read = |input: Input| {
        let ended = workspace.exec(Command::new(["dd", "of=read", "bs=65536"]).input(input));
        let ended = ended.unwrap().wait();
        assert!(ended.is_success(), "{ended:?}");
        assert!(ended.request.stdin);
        workspace.read("/read").unwrap()
    };
    assert!(read(Input::Bytes(bytes.clone())) == bytes);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    file.seek(SeekFrom::Start(1_000_000)).unwrap();
    assert!(read(Input::From(OwnedFd::from(file))) == bytes[1_000_000..]);
    let (reader, mut writer) = std::io::pipe().unwrap();
    let sent = bytes.clone();
    let write = std::thread::spawn(move || writer.write_all(&sent).unwrap());
    assert!(read(Input::From(OwnedFd::from(reader))) == bytes);
    write.join().unwrap();
    let nothing = workspace.exec(["cat"]).unwrap().wait();
    assert!(nothing.is_success() && !nothing.request.stdin, "{nothing:?}");
}

/// A project whose listener puts what it is told into a channel.
fn listening(place: &Place, options: Options) -> (Project, Receiver<Notice>) {
    let (told, notices) = std::sync::mpsc::channel();
    let told = Mutex::new(told);
    let listener = move |notice: &Notice| told.lock().unwrap().send(notice.clone()).unwrap();
    (open(place, options.listener(listener)), notices)
}

#[needs(UserNamespace)]
#[test]
fn what_people_should_know_comes_to_the_listener() {
    let place = place();
    let (project, notices) = listening(&place, options(&place));
    place.ok(["new", "short", "--from", "head", "--ephemeral=1ms"]);
    notices.try_iter().for_each(drop);
    std::thread::sleep(Duration::from_millis(10));
    project.exec(["true"]).unwrap().wait();
    let topics: Vec<Topic> = notices.try_iter().map(|notice| notice.topic).collect();
    assert_eq!(topics, [Topic::Expired]);
}

/// A listener that panics has nothing to do with the command.
#[needs(UserNamespace)]
#[test]
fn a_listener_that_panics_keeps_nobody_from_the_answer() {
    let place = place();
    let listener = |notice: &Notice| assert_ne!(notice.topic, Topic::Expired, "{notice}");
    let project = open(&place, options(&place).listener(listener));
    place.ok(["new", "short", "--from", "head", "--ephemeral=1ms"]);
    std::thread::sleep(Duration::from_millis(10));
    let ended = project.exec(["true"]).unwrap().wait();
    assert!(ended.is_success(), "{ended:?}");
    project.wait_idle();
}

/// The worker opens an engine, too, and what that tells was told.
#[needs(UserNamespace)]
#[test]
fn nobody_is_told_twice() {
    let place = place();
    place.write("offshoot.toml", "nonsense = true\n");
    let lenient = Options { lenient_settings: true, ..options(&place) };
    let (project, notices) = listening(&place, lenient);
    let told: Vec<Topic> = notices.try_iter().map(|notice| notice.topic).collect();
    assert!(told.contains(&Topic::Settings), "{told:?}");
    let ended = project.exec(["true"]).unwrap().wait();
    assert!(ended.is_success(), "{ended:?}");
    project.wait_idle();
    let told: Vec<Notice> = notices.try_iter().collect();
    assert_eq!(told, []);
}

#[needs(UserNamespace)]
#[test]
fn many_run_at_once_and_nothing_is_left_of_them() {
    let place = place();
    let project = project(&place);
    let started: Vec<_> = (0..20)
        .map(|number| {
            let workspace = project.fork(&format!("w{number}")).unwrap();
            let text = format!("echo {number} > own; echo {number} >> shared");
            let exec = workspace.exec(Command::shell(text)).unwrap();
            (workspace, exec)
        })
        .collect();
    for (number, (workspace, exec)) in started.iter().enumerate() {
        let ended = exec.wait();
        assert!(ended.is_success(), "{number}: {ended:?}");
        assert_eq!(changed(workspace), ["/own", "/shared"], "{number}");
        let shared = format!("shared\n{number}\n");
        assert_eq!(workspace.read("/shared").unwrap(), shared.as_bytes());
    }
    project.wait_idle();
    assert_eq!(workers(place.path()), [0; 0]);
    assert_eq!(project.leftovers().unwrap().len(), 0);
}

/// The variables that make a test the program which is looked at from outside.
const COUNTED: &str = "OFFSHOOT_TEST_COUNTED";

/// A program that has nothing else open, where another test starts it as one.
#[test]
fn a_program_that_counts() {
    let Some(place) = std::env::var_os(COUNTED) else { return };
    let environment = std::env::vars_os().filter(|(name, _)| name != "OFFSHOOT_TEST_PROGRAM");
    let program = std::env::var_os("OFFSHOOT_TEST_PROGRAM").unwrap();
    let options = on_threads(place.as_ref(), environment.collect()).worker(program);
    let folder = std::path::Path::new(&place).join("project");
    let project = offshoot_engine::Offshoot::open(options).unwrap().project(folder).unwrap();
    let handles: Vec<_> = (0..3).map(|_| project.exec(["true"]).unwrap()).collect();
    handles.iter().for_each(|exec| assert!(exec.wait().is_success()));
    project.wait_idle();
    let before = descriptors();
    let handles: Vec<_> = (0..6).map(|_| project.exec(["true"]).unwrap()).collect();
    handles.iter().for_each(|exec| assert!(exec.wait().is_success()));
    assert!(project.clone().exec(["true"]).unwrap().wait().is_success());
    project.wait_idle();
    // The handles are still there.
    assert_eq!(descriptors(), before);
    wait_until("waiting for what has ended", || zombies().is_empty());
}

#[needs(UserNamespace)]
#[test]
fn neither_descriptors_nor_zombies_are_left() {
    let place = place();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "same::a_program_that_counts", "--nocapture"])
        .env_clear()
        .envs(place.environment())
        .env(COUNTED, place.path())
        .env("OFFSHOOT_TEST_PROGRAM", binary())
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    assert!(String::from_utf8_lossy(&status.stdout).contains("1 passed"));
}

/// The process itself: its variables, its descriptors, its group.
#[needs(UserNamespace)]
#[test]
fn a_worker_has_what_the_options_say_and_no_more() {
    let place = place();
    let workspace = project(&place).fork("w").unwrap();
    // Whatever this process has open without closing it for others does not reach the command.
    let exec = workspace.exec(Command::shell("ls /proc/$$/fd; echo; sleep 100")).unwrap();
    let mut seen = String::new();
    for event in exec.events() {
        let Event::Output { bytes, .. } = event else { continue };
        seen.push_str(std::str::from_utf8(&bytes).unwrap());
        if seen.ends_with("\n\n") {
            break;
        }
    }
    assert_eq!(seen.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2"]);
    let [worker] = workers(place.path())[..] else { panic!("one worker") };
    let environ = fs::read(format!("/proc/{worker}/environ")).unwrap();
    let mut names: Vec<&[u8]> = environ
        .split(|byte| *byte == 0)
        .filter_map(|set| set.split(|byte| *byte == b'=').next())
        .filter(|name| !name.is_empty())
        .collect();
    let given = options(&place).environment;
    let mut wanted: Vec<&[u8]> = given.iter().map(|(name, _)| name.as_encoded_bytes()).collect();
    names.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    // Programs that it starts have neither the host's socket nor what the command reads.
    for number in 0..2 {
        let place = fs::read_link(format!("/proc/{worker}/fd/{number}")).unwrap();
        assert_eq!(place.to_str(), Some("/dev/null"));
    }
    let stat = fs::read_to_string(format!("/proc/{worker}/stat")).unwrap();
    let group = stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(2).unwrap();
    assert_eq!(group, worker.to_string(), "what is typed to end the host does not reach it");
    exec.cancel();
    exec.wait();
    wait_until("its end", || workers(place.path()).is_empty());
}

/// Layers are merged after a command was answered; whoever wants to remove everything can wait for that.
#[needs(Overlay, UserNamespace)]
#[test]
fn upkeep_can_be_waited_for() {
    for in_worker in [false, true] {
        let place = Place::new();
        place.write("shared", "shared\n");
        let environment = place.environment();
        let is_compaction = |name: &std::ffi::OsString| name == "OFFSHOOT_COMPACT__AUTO";
        let environment = environment.into_iter().filter(|(name, _)| !is_compaction(name));
        let mut options = on_threads(place.path(), environment.collect());
        options.overrides = vec!["compact.depth=2".to_owned()];
        options.worker = in_worker.then(|| binary().to_owned());
        let project = open(&place, options);
        let workspace = project.fork("fix").unwrap();
        for number in 0..4 {
            let text = format!("mkdir d{number}; cd d{number}; seq 100 | xargs touch");
            assert!(workspace.exec(Command::shell(text)).unwrap().wait().is_success());
        }
        project.wait_idle();
        assert_eq!(workers(place.path()), [0; 0]);
        // There is nothing more to merge than there would be after any command.
        let left = place.json(&["vault", "compact", "-w", "fix", "--all"]);
        let stacks = left["stacks"].as_array().unwrap();
        let layers = stacks.first().map_or(2, |first| first["layers_before"].as_u64().unwrap());
        assert!(layers <= 3, "in a worker: {in_worker}, {left}");
        drop((workspace, project));
        fs::remove_dir_all(place.home()).unwrap();
    }
}
