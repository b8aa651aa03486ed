//! Renames of directories and links of files that lie in lower layers are those of a plain directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use offshoot_tests::image::LoopImage;
use offshoot_tests::skip::{Feature, need};
use serde_json::Value;

use crate::scene::{Scene, WORKSPACE, Who, exactly};

const CALLS: &str = include_str!("renames/calls.py");
const BOTH: [Who; 2] = [Who::Me, Who::Ordinary];

/// A script of Python, with the calls that Python lacks.
fn python(script: &str) -> String {
    let script = format!("{CALLS}\n{script}");
    format!("python3 - <<'END OF SCRIPT'\n{script}\nEND OF SCRIPT")
}

/// A project with directories of all kinds.
fn files(who: Who) -> Option<Scene> {
    let scene = Scene::new(who, &["python3"])?;
    for path in [
        "base/file",
        "base/full/file",
        "base/full/inner/deeper/file",
        "base/other/file",
        "base/deep/inner/file",
        "base/down/file",
        "base/shut/in/file",
        "base/blind/in/file",
        "base/still/file",
    ] {
        scene.place.write(path, format!("{path}\n"));
    }
    fs::create_dir(scene.path("base/empty")).unwrap();
    for (target, name) in [
        ("nowhere", "dangling"),
        ("full", "to-full"),
        ("deep", "to-deep"),
        ("loop", "loop"),
        ("../other/file", "full/link"),
    ] {
        symlink(target, scene.path("base").join(name)).unwrap();
    }
    Some(scene)
}

/// A project whose directories lie in a lower layer, with modes, attributes and times of all kinds.
fn project(who: Who) -> Option<Scene> {
    let scene = files(who)?;
    settle(&scene);
    Some(scene)
}

fn settle(scene: &Scene) {
    scene.bind();
    let said = scene.both(
        &["chmod 555 base/shut base/still; chmod 300 base/blind; chmod 000 base/full/inner/deeper
           setfattr -n user.note -v kept base/full/inner || true; mkfifo base/full/pipe
           find base -exec touch -h -d '2001-02-03 04:05:06.789' {} + 2>/dev/null || true"],
        exactly,
    );
    assert_eq!(said[0].code, Some(0), "{said:?}");
}

fn run_both(script: &str) {
    for who in BOTH {
        let Some(scene) = project(who) else { return };
        let script = python(script);
        let (inside, plain) = (scene.inside(&script), scene.plainly(&script));
        assert_eq!((plain.code, plain.err.as_str()), (Some(0), ""), "{plain:?}");
        let lines = inside.out.lines().zip(plain.out.lines());
        let differ: Vec<_> = lines.filter(|(inside, plain)| inside != plain).collect();
        assert!(differ.is_empty(), "in the workspace, plainly: {differ:#?}");
        assert_eq!(inside, plain);
        scene.same_tree(|_| false);
    }
}

/// Runs a script of Python in the workspace, which must succeed.
fn inside(scene: &Scene, script: &str) -> String {
    let said = scene.inside(&python(script));
    assert_eq!(said.code, Some(0), "{script}\n{said:#?}");
    said.out
}

#[test]
fn errors_are_those_of_a_plain_directory() {
    run_both(include_str!("renames/errors.py"));
}

/// Descriptors of files go on; those of directories are of directories that are gone.
#[test]
fn what_is_open_during_a_move() {
    for who in BOTH {
        let Some(scene) = project(who) else { return };
        let script = r#"
write = os.open("base/full/file", os.O_RDWR | os.O_APPEND)
read = os.open("base/full/inner/../file", os.O_RDONLY)
held = os.open("base/full/inner", os.O_RDONLY)
print(rename("base/full", "moved"))
os.write(write, b"later\n")
print(open("moved/file").read().split(), os.read(read, 100).split())
print(os.listdir(held))
try:
    os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=held)
except OSError as error:
    print(errno.errorcode[error.errno])
"#;
        let expected =
            "ok\n['base/full/file', 'later'] [b'base/full/file', b'later']\n[]\nENOENT\n";
        assert_eq!(inside(&scene, script), expected, "{who:?}");
        let again = scene.inside("cat moved/file; ls base");
        assert!(again.out.starts_with("base/full/file\nlater\n"), "{again:?}");
    }
}

/// Nobody finds the ground gone under their feet: rename(2) has an error for that.
#[test]
fn a_directory_that_somebody_is_in_stays() {
    for who in BOTH {
        let Some(scene) = project(who) else { return };
        let script = r#"
import subprocess
before = tree("base/full")
sleeper = subprocess.Popen(["sleep", "60"], cwd="base/full/inner")
print(rename("base/full", "moved"), rename("base/other", "base/full/inner", EXCHANGE))
print(before == tree("base/full"), os.path.exists("moved"))
print(rename("base/other", "moved"))
sleeper.kill()
sleeper.wait()
print(rename("base/full", "base/other"))
os.chdir("base/deep")
print(rename("../deep", "../deeper"), rename("inner", "outer"), rename("../other", "../full"))
"#;
        let expected = "EBUSY EBUSY\nTrue False\nok\nok\nEBUSY ok ok\n";
        assert_eq!(inside(&scene, script), expected, "{who:?}");
    }
}

#[test]
fn threads_move_at_the_same_time() {
    run_both(
        r#"
import threading
said = {}
def work(number, name):
    said[number] = []
    for turn in range(15):
        there = f"{name}-{turn}"
        said[number].append(rename(name, there))
        said[number].append(rename(there, "base/down/" + there))
        said[number].append(rename("base/down/" + there, name))
names = ["base/full", "base/other", "base/deep"]
threads = [threading.Thread(target=work, args=item) for item in enumerate(names)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(said.items()))
print(tree("base"))
"#,
    );
}

/// What others make and remove in a directory while it moves is neither lost nor back again.
#[test]
fn nothing_is_lost_in_a_directory_that_moves() {
    for who in BOTH {
        let Some(scene) = Scene::new(who, &["python3"]) else { return };
        for number in 0..400 {
            scene.place.write(format!("busy/d{}/f{number}", number % 7), format!("{number}\n"));
        }
        scene.bind();
        let script = r#"
import threading
places, made, removed, over = ["busy", "moved"], set(), set(), False
def everywhere(act):
    for attempt in range(10000):
        for place in places:
            try:
                return act(place)
            except FileNotFoundError:
                pass
    raise SystemExit("nowhere")
def write():
    number = 0
    while not over or number < 200:
        name = f"d{number % 7}/new{number}"
        everywhere(lambda place: open(f"{place}/{name}", "x").close())
        made.add(name)
        number += 1
def remove():
    for number in range(399, 100, -1):
        name = f"d{number % 7}/f{number}"
        everywhere(lambda place: os.unlink(f"{place}/{name}"))
        removed.add(name)
def shift():
    for number in range(60):
        everywhere(lambda place: os.rename(f"{place}/own/a{number}", f"{place}/own/b{number}"))
for number in range(60):
    os.makedirs(f"busy/own/a{number}/inner")
    open(f"busy/own/a{number}/inner/file", "w").close()
threads = [threading.Thread(target=act) for act in [write, remove, shift]]
for thread in threads: thread.start()
print(rename("busy", "moved"))
over = True
for thread in threads: thread.join()
own = os.listdir("moved/own")
print(len(own), all(name[0] == "b" and os.path.exists(f"moved/own/{name}/inner/file") for name in own))
names = [name for name in os.listdir("moved") if name != "own"]
found = {f"{name}/{file}" for name in names for file in os.listdir("moved/" + name)}
print(os.path.exists("busy"), sorted(made - found), sorted(removed & found), len(found - made))
print([name for name in os.listdir(".") if name.startswith(".offshoot")])
"#;
        assert_eq!(inside(&scene, script), "ok\n60 True\nFalse [] [] 101\n[]\n", "{who:?}");
    }
}

/// A program's own filter decides first, and a broker of its own it cannot have.
#[test]
fn a_program_with_a_filter_of_its_own() {
    let script = r#"
import struct
PR_SET_SECCOMP, FILTER, ALLOW, REFUSE, TELL = 22, 2, 0x7fff0000, 0x00050000, 0x7fc00000
def program(number, action):
    # Load the number of the call; where it is this one, the action.
    code = struct.pack("HBBI", 0x20, 0, 0, 0) + struct.pack("HBBI", 0x15, 0, 1, number)
    code += struct.pack("HBBI", 6, 0, 0, action) + struct.pack("HBBI", 6, 0, 0, ALLOW)
    space = ctypes.create_string_buffer(code, len(code))
    return space, struct.pack("HxxxxxxQ", 4, ctypes.addressof(space))
space, listener = program(39, TELL)
print("listener", outcome(libc.syscall(317, 1, 8, ctypes.c_char_p(listener))))
space, plain = program(39, REFUSE | errno.ENOTTY)
print("filter", outcome(libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(plain), 0, 0)))
print("getpid", libc.getpid(), rename("base/full", "moved"))
space, plain = program(316, REFUSE | errno.ENOTTY)
print("filter", outcome(libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_char_p(plain), 0, 0)))
print(rename("base/other", "moved2", NOREPLACE))
"#;
    let Some(scene) = project(Who::Ordinary) else { return };
    let expected = "listener EBUSY\nfilter ok\ngetpid -25 ok\nfilter ok\nENOTTY\n";
    assert_eq!(inside(&scene, script), expected);
}

/// What asks no filter is the kernel's alone, and the kernel says clearly that it cannot.
#[test]
fn renames_by_io_uring() {
    if !need(Feature::IoUring) {
        return;
    }
    let Some(scene) = project(Who::Ordinary) else { return };
    let script = format!(
        "{}\n{}",
        include_str!("renames/ring.py"),
        r#"
print(ring_rename("base/file", "base/file2"), ring_rename("base/full", "moved"))
print(os.path.exists("base/full/file"), os.path.exists("moved"))
"#
    );
    assert_eq!(inside(&scene, &script), "ok EXDEV\nTrue False\n");
}

/// Absolute paths, links and `..` end at the root that a process has, wherever that is.
#[test]
fn a_root_inside_the_workspace() {
    for who in BOTH {
        let Some(scene) = project(who) else { return };
        let script = r#"
NEW_USER = 0x10000000
os.mkdir("base/tmp")
os.symlink("/tmp", "base/down/link")
os.symlink("../../../..", "base/down/up")
print(outcome(libc.unshare(NEW_USER)), outcome(libc.chroot(b"base")))
os.chdir("/down")
print(rename("/full", "link/full"), rename("/tmp/full", "up/full2"), rename("up/other", "/down/new"))
print(rename("../../../deep", "./link/../tmp/deep"), rename("link/../../still", "/still2"))
print(sorted(os.listdir("/")), sorted(os.listdir("/down")), os.listdir("/tmp"))
"#;
        let expected = "ok ok\nok ok ok\nok ok
['blind', 'dangling', 'down', 'empty', 'file', 'full2', 'loop', 'shut', 'still2', 'tmp', 'to-deep', 'to-full'] \
['file', 'link', 'new', 'up'] ['deep']\n";
        assert_eq!(inside(&scene, script), expected, "{who:?}");
    }
}

/// Whoever is killed in the middle of a move leaves one whole tree, and nothing else.
#[test]
fn a_move_whose_caller_is_killed() {
    let Some(scene) = many_files(Who::Ordinary) else { return };
    let script = r#"
import signal, subprocess, sys, time
seen = set()
mover = "import os, sys; os.rename(sys.argv[1], sys.argv[2])"
place, other = "many", "moved"
for turn in range(14):
    child = subprocess.Popen([sys.executable, "-c", mover, place, other], stderr=subprocess.DEVNULL)
    time.sleep(0.02 * turn)
    child.kill()
    child.wait()
    # The broker may still be taking away what is not to stay.
    for attempt in range(1000):
        there = [name for name in ("many", "moved") if os.path.exists(name)]
        hidden = [name for name in os.listdir(".") if name.startswith(".offshoot")]
        if len(there) == 1 and not hidden:
            break
        time.sleep(0.01)
    counts = [sum(len(files) for _, _, files in os.walk(name)) for name in there]
    if counts != [FILES] or hidden:
        raise SystemExit(f"{there} {counts} {hidden}")
    seen.add(there[0] == place)
    place, other = (there[0], other if there[0] == place else place)
print(sorted(seen))
"#;
    let said = inside(&scene, &script.replace("FILES", &FILES.to_string()));
    assert!(["[False, True]\n", "[True]\n", "[False]\n"].contains(&said.as_str()), "{said}");
    println!("moved, stayed: {said}");
    scene.offshoot_ok(&["vault", "check"]);
}

/// The end of a command's time does not wait for a move to be done, nor is half of one kept.
#[test]
fn a_move_whose_time_is_over() {
    let Some(scene) = many_files(Who::Ordinary) else { return };
    let mover = python("rename('many', 'moved')");
    for timeout in ["30ms", "60ms", "120ms", "250ms"] {
        let started = Instant::now();
        let options = ["--timeout", timeout, "-c", "exec.grace=0s"];
        let envelope = scene.exec(&options, &["sh", "-c", &mover]);
        assert!(started.elapsed() < Duration::from_secs(30), "{envelope:#}");
        let count = "find . -type f | wc -l; ls -A";
        let said = scene.inside(count).out;
        let whole = ["many", "moved"].map(|name| format!("{FILES}\n{name}\n"));
        assert!(whole.contains(&said), "{timeout}: {said}\n{envelope:#}");
        scene.inside("! mv moved many 2>/dev/null || true");
    }
    scene.offshoot_ok(&["vault", "check"]);
}

const FILES: usize = 1_500;

fn many_files(who: Who) -> Option<Scene> {
    let scene = Scene::new(who, &["python3"])?;
    for number in 0..FILES {
        scene.place.write(format!("many/{}/{number}", number % 30), format!("{number}\n"));
    }
    scene.bind();
    Some(scene)
}

/// A directory that does not fit a second time stays where it is, whole.
#[test]
fn a_move_on_a_full_disk() {
    if !need(Feature::LoopMount) {
        return;
    }
    let Some(mut scene) = Scene::new(Who::Me, &["python3"]) else { return };
    let mount = LoopImage::create(40 << 20).unwrap().mount().unwrap();
    scene.set("OFFSHOOT_HOME", mount.path().join("home"));
    for number in 0..22 {
        let bytes: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(31) >> 3) as u8).collect();
        scene.place.write(format!("large/{}/{number}", number % 3), bytes);
    }
    scene.bind();
    let script = r#"
before = tree("large")
print(rename("large", "moved"), before == tree("large"), os.listdir("."))
"#;
    assert_eq!(inside(&scene, script), "ENOSPC True ['large']\n");
    scene.offshoot_ok(&["vault", "check"]);
}

/// By numbers of their own and with addresses of 32 bits.
#[test]
fn programs_of_32_bits() {
    if !need(Feature::Calls32) || !need(Feature::Program("gcc")) {
        return;
    }
    let Some(scene) = files(Who::Ordinary) else { return };
    let source = scene.place.path().join("compat.c");
    fs::write(&source, include_str!("renames/compat.c")).unwrap();
    let mut compiler = Command::new("gcc");
    let built = compiler.arg(&source).arg("-o").arg(scene.path("compat")).status().unwrap();
    assert!(built.success());
    settle(&scene);
    let said =
        scene.inside("./compat base/full moved; ls moved/file; ls base/full 2>/dev/null || true");
    assert_eq!(said.out, "0 0 0 -2\nmoved/file\n", "{said:?}");
}

/// A file of a lower layer and its new name are one file at once, whoever has it open.
#[test]
fn a_file_and_its_link_are_one() {
    for who in BOTH {
        let Some(scene) = project(who) else { return };
        let script = r#"
import subprocess
def numbers(*names):
    found = [os.lstat(name) for name in names]
    return len({stat.st_ino for stat in found}), [stat.st_nlink for stat in found]
os.chmod("base/full/inner/deeper", 0o700)
time = os.stat("base/other").st_mtime_ns
reader = os.open("base/other/file", os.O_RDONLY)
os.link("base/other/file", "second")
print(numbers("base/other/file", "second"), os.stat("base/other").st_mtime_ns == time)
os.link("second", "third")
print(numbers("base/other/file", "second", "third"))
writer = os.open("base/deep/inner/file", os.O_RDWR | os.O_APPEND)
os.write(writer, b"before\n")
os.link("base/deep/inner/file", "base/deep/inner/same")
os.write(writer, b"after\n")
print(numbers("base/deep/inner/file", "base/deep/inner/same"), open("base/deep/inner/same").read().split())
open("third", "a").write("more\n")
print(os.read(reader, 100).split(), open("base/other/file").read().split())
os.link("base/full/pipe", "pipe")
os.link("base/to-full", "link", follow_symlinks=False)
print(numbers("base/full/pipe", "pipe"), numbers("base/to-full", "link"))
def run(*words):
    return subprocess.run(words, stderr=subprocess.DEVNULL).returncode
print(run("cp", "base/other/file", "second"), run("mv", "base/other/file", "third"), rename("second", "third"))
os.link("base/shut/in/file", "shut")
print(numbers("base/shut/in/file", "shut"), oct(os.stat("base/shut").st_mode))
print(sorted(os.listdir("base/other")), sorted(os.listdir(".")))
"#;
        let expected = "(1, [2, 2]) True
(1, [3, 3, 3])
(1, [2, 2]) ['base/deep/inner/file', 'before', 'after']
[b'base/other/file', b'more'] ['base/other/file', 'more']
(1, [2, 2]) (1, [2, 2])
1 1 ok
(1, [2, 2]) 0o40555
['file'] ['base', 'link', 'pipe', 'second', 'shut', 'third']
";
        assert_eq!(inside(&scene, script), expected, "{who:?}");
        let again = scene.inside("stat -c %h second base/other/file; cat base/other/file");
        assert_eq!(again.out, "3\n3\nbase/other/file\nmore\n");
    }
}

/// They stay one when the kernel has forgotten what it knew of their names.
#[test]
fn a_file_and_its_link_are_one_from_memory_or_not() {
    if !need(Feature::Root) {
        return;
    }
    let Some(scene) = project(Who::Me) else { return };
    let script = r#"
import time
os.link("base/other/file", "second")
for turn in range(2):
    print([os.stat(name).st_ino for name in ("base/other/file", "second")])
    time.sleep(1.5)
"#;
    let forgetting = std::thread::spawn(|| {
        for _ in 0..20 {
            fs::write("/proc/sys/vm/drop_caches", "2").unwrap();
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let said = inside(&scene, script);
    forgetting.join().unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], lines[1], "{said}");
    let numbers: Vec<&str> = lines[0].trim_matches(['[', ']']).split(", ").collect();
    assert_eq!(numbers[0], numbers[1], "{said}");
}

/// Who does not want a broker has none, and a command that needs none neither.
#[test]
fn without_a_broker() {
    let Some(scene) = project(Who::Ordinary) else { return };
    let script = python("print(rename('base/full', 'moved'))");
    let answer = |options: &[&str]| -> (Value, Value) {
        let envelope = scene.exec(options, &["sh", "-c", &script]);
        let result = &envelope["result"];
        (result["stdout"].clone(), result["sandbox"]["broker"].clone())
    };
    assert_eq!(answer(&["-c", "exec.broker=false"]), ("EXDEV\n".into(), false.into()));
    assert_eq!(answer(&["--read-only"]), ("EROFS\n".into(), false.into()));
    assert_eq!(answer(&[]), ("ok\n".into(), true.into()));
    scene.offshoot_ok(&["undo", "-w", WORKSPACE]);
    assert_eq!(answer(&["--driver", "copy"]), ("ok\n".into(), false.into()));
}
