//! Each limit is reached, and told.

use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use offshoot_sandbox::{InotifyLimit, Limits, ResourceLimit, Status};

use crate::support::{Outcome, Scene};

const MIB: u64 = 1 << 20;
const KILLED: Status = Status::Signaled(libc::SIGKILL);

fn python(limits: Limits, code: &str) -> Outcome {
    let mut scene = Scene { limits, ..Scene::new() };
    scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
    scene.run(&["python3", "-c", code]).unwrap()
}

fn memory(bytes: u64) -> Limits {
    Limits { memory: Some(bytes), ..Limits::default() }
}

#[test]
fn open_files_and_dumps() {
    let limits = Limits { open_files: Some(64), ..Limits::default() };
    let outcome = Scene { limits, ..Scene::new() }.shell("ulimit -n; ulimit -c");
    assert_eq!(outcome.stdout, "64\n0\n", "{}", outcome.stderr);
    assert_eq!(outcome.ended.limit_reached, None);
}

#[test]
fn the_size_of_a_file() {
    let limits = Limits { file_size: Some(4096), ..Limits::default() };
    let scene = || Scene { limits, ..Scene::new() };
    let outcome = scene().shell("trap '' XFSZ; head -c 10000 /dev/zero > big; wc -c < big");
    assert_eq!(outcome.stdout, "4096\n", "{}", outcome.stderr);
    // A shell says so of what it ran, and a program that writes itself is ended.
    for words in
        [&["sh", "-c", "head -c 10000 /dev/zero > big2"][..], &["truncate", "-s", "9000", "b3"]]
    {
        let ended = scene().run(words).unwrap().ended;
        assert_eq!(ended.limit_reached, Some(ResourceLimit::FileSize), "{:?}", ended.status);
    }
}

#[test]
fn memory_of_all_processes() {
    let code = "
import os, time
for child in range(3):
    if os.fork() == 0:
        block = bytearray(100 << 20)
        time.sleep(20)
        os._exit(0)
time.sleep(20)";
    let started = Instant::now();
    let outcome = python(memory(200 * MIB), code);
    assert_eq!(outcome.ended.limit_reached, Some(ResourceLimit::Memory), "{}", outcome.stderr);
    assert_eq!(outcome.ended.status, KILLED);
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(outcome.in_force.limits.memory, Some(200 * MIB));
}

/// Memory that is in no process, or in one that seems to have ended.
#[test]
fn memory_has_no_hiding_place() {
    const THREAD: &str = "
import ctypes, os, threading, time
def hold():
    time.sleep(0.2)
    block = b'x' * (300 << 20)
    time.sleep(20)
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)";
    const DEVICES: &str = "
import time
with open('/dev/fill', 'wb') as file:
    for _ in range(300):
        file.write(b'x' * (1 << 20))
    file.flush()
    time.sleep(20)";
    const SEGMENT: &str = "
import ctypes, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
segment = libc.shmget(0, ctypes.c_size_t(300 << 20), 0o1600)
for at in range(0, 300, 20):
    here = libc.shmat(segment, None, 0)
    libc.memset(here + (at << 20), 1, 20 << 20)
    libc.shmdt(here)
time.sleep(20)";
    for code in [THREAD, DEVICES, SEGMENT] {
        let ended = python(memory(150 * MIB), code).ended;
        assert_eq!(ended.limit_reached, Some(ResourceLimit::Memory), "{code}");
        // The test can tell: there is enough for it.
        let more = code.replace("sleep(20)", "sleep(0.5)");
        assert_eq!(python(memory(2048 * MIB), &more).ended.limit_reached, None, "{code}");
    }
}

/// Whoever covers what the watcher reads is held to nothing, and so does not go on.
#[test]
fn nobody_runs_unwatched() {
    let hold = &["python3", "-c", "import time; time.sleep(20)"];
    let scene = |limits| {
        let mut scene = Scene { limits, hidden: vec!["/proc".into()], ..Scene::new() };
        scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
        scene
    };
    let started = Instant::now();
    let ended = scene(memory(500 * MIB)).run(hold).unwrap().ended;
    assert!(ended.limit_reached.is_some() && ended.status == KILLED, "{:?}", ended.status);
    assert!(started.elapsed() < Duration::from_secs(10));
    // The test can tell: without a limit nobody looks.
    let short = &["python3", "-c", "import time; time.sleep(2)"];
    assert_eq!(scene(Limits::default()).run(short).unwrap().ended.status, Status::Exited(0));
}

/// What lies in the kernel's own memory is bounded for each namespace.
#[test]
fn semaphores_and_queues_are_few() {
    let code = "
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
sets = sum(libc.semget(0, 32000, 0o1600) != -1 for _ in range(50))
queues = sum(libc.msgget(0, 0o1600) != -1 for _ in range(5000))
print(sets, queues)";
    assert_eq!(python(Limits::default(), code).stdout, "2 1024\n");
}

/// What a command does not get of descriptors on their way stays for its user's others.
#[test]
fn half_of_the_descriptors_are_left_to_others() {
    let code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[1])";
    let inside: u64 = python(Limits::default(), code).stdout.trim().parse().unwrap();
    let own = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let own = own.unwrap_or(u64::MAX);
    assert_eq!(inside, (own / 2).max(4096).min(own));
}

/// What processes share is there once.
#[test]
fn memory_that_is_shared_counts_once() {
    let code = "
import os, time
block = bytearray(os.urandom(1 << 20) * 60)
children = [os.fork() for _ in range(1)]
for _ in range(5):
    if children[-1] != 0:
        children.append(os.fork())
time.sleep(0.7)";
    let outcome = python(memory(200 * MIB), code);
    assert_eq!((outcome.ended.limit_reached, outcome.ended.status), (None, Status::Exited(0)));
}

#[test]
fn files_in_memory() {
    let scene = Scene { limits: memory(100 * MIB), ..Scene::new() };
    let outcome = scene.shell("head -c 200000000 /dev/zero > /tmp/big; sleep 20");
    assert_eq!(outcome.ended.limit_reached, Some(ResourceLimit::Memory));
    let limits = Limits { tmpfs: Some(MIB), ..Limits::default() };
    for place in ["/tmp", "/var/tmp", "/run", "/dev/shm", "/dev"] {
        let outcome = Scene { limits, ..Scene::new() }
            .shell(&format!("head -c 3000000 /dev/zero > {place}/x; wc -c < {place}/x"));
        assert!(outcome.stderr.contains("No space left"), "{place}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "1048576\n", "{place}");
        assert_eq!(outcome.in_force.limits.tmpfs, Some(MIB));
    }
    let files = Scene::new().shell("df --output=itotal /tmp | tail -n 1").stdout;
    assert_eq!(files.trim(), "1048576");
}

/// The kernel counts the processes of an ordinary user in the namespace alone; those of root are counted by the init.
#[test]
fn processes() {
    let code = "
import os, time
started = 0
try:
    for _ in range(300):
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        started += 1
except OSError as error:
    print(started, error.strerror, flush=True)
time.sleep(1)";
    let limits = Limits { processes: Some(40), ..Limits::default() };
    let outcome = python(limits, code);
    assert_eq!(outcome.ended.limit_reached, Some(ResourceLimit::Processes), "{}", outcome.stderr);
    assert_eq!(outcome.in_force.limits.processes, Some(40));
    if !rustix::process::getuid().is_root() {
        assert_eq!(outcome.stdout, "39 Resource temporarily unavailable\n");
        assert_eq!(outcome.ended.status, Status::Exited(0));
    }
}

#[test]
fn time_of_processors() {
    let code = "
import os
os.fork(), os.fork()
while True:
    pass";
    let limits = Limits { cpu: Some(Duration::from_secs(1)), ..Limits::default() };
    let outcome = python(limits, code);
    assert_eq!(outcome.ended.limit_reached, Some(ResourceLimit::Cpu));
    assert!(outcome.ended.usage.user < Duration::from_secs(3), "{:?}", outcome.ended.usage);
    assert_eq!(outcome.in_force.limits.cpu, Some(Duration::from_secs(1)));
    // What has ended counts too, whoever was its parent.
    let code = "
import os, time
while True:
    if os.fork() == 0:
        if os.fork() == 0:
            until = time.process_time() + 0.1
            while time.process_time() < until:
                pass
        os._exit(0)
    os.wait()
    time.sleep(0.1)";
    assert_eq!(python(limits, code).ended.limit_reached, Some(ResourceLimit::Cpu));
}

/// The user's other programs, such as an editor, share their number of watches with the command.
#[test]
fn watches_of_files() {
    let code = "
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
one = libc.inotify_init()
watches = 0
for name in range(30):
    os.mkdir(f'/tmp/{name}')
    watches += libc.inotify_add_watch(one, f'/tmp/{name}'.encode(), 2) > 0
print(sum(libc.inotify_init() > 0 for _ in range(20)), watches)";
    let limit = Some(InotifyLimit { instances: 5, watches: 7 });
    let outcome = python(Limits { inotify: limit, ..Limits::default() }, code);
    assert_eq!(outcome.stdout, "4 7\n", "{}", outcome.stderr);
    assert_eq!(outcome.in_force.limits.inotify, limit);
    assert_eq!(python(Limits::default(), code).stdout, "20 30\n");
    assert!(InotifyLimit::half().is_some_and(|half| half.instances > 0 && half.watches > 0));
}

/// Threads of the caller answer renames; a command cannot have more of them by asking more. Runs itself again alone, to count its threads.
#[test]
fn threads_of_the_broker() {
    const MARK: &str = "OFFSHOOT_TEST_ALONE";
    if env::var_os(MARK).is_none() {
        let mut alone = Command::new(env::current_exe().unwrap());
        let ran = alone.args(["limits::threads_of_the_broker", "--exact"]).env(MARK, "1").output();
        let ran = ran.unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        return;
    }
    let mut scene = Scene::new();
    scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
    for at in 0..40 {
        let directory = scene.path(&format!("lower/d{at}"));
        fs::create_dir(&directory).unwrap();
        (0..60).for_each(|file| fs::write(directory.join(file.to_string()), "x").unwrap());
    }
    let watcher = thread::spawn(|| {
        let mut most = 0;
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
            let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
            most = most.max(names.filter(|name| name.trim() == "broker-move").count());
            thread::sleep(Duration::from_millis(1));
        }
        most
    });
    let code = "
import os
children = []
for at in range(40):
    child = os.fork()
    if child == 0:
        os.rename(f'd{at}', f'e{at}')
        os._exit(0)
    children.append(child)
print({os.waitpid(child, 0)[1] for child in children})";
    assert_eq!(scene.run(&["python3", "-c", code]).unwrap().stdout, "{0}\n");
    assert_eq!(watcher.join().unwrap(), 1);
}
