//! Renames of directories and links of files that lie in lower layers are those of a plain directory.

#[path = "renames/callers.rs"]
mod callers;
#[path = "renames/endings.rs"]
mod endings;
#[path = "renames/links.rs"]
mod links;

use std::fs;
use std::os::unix::fs::symlink;

use offshoot_needs::needs;
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
fn files(who: Who) -> Scene {
    let scene = Scene::new(who);
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
    scene
}

/// A project whose directories lie in a lower layer, with modes, attributes and times of all kinds.
fn project(who: Who) -> Scene {
    let scene = files(who);
    settle(&scene);
    scene
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
        let scene = project(who);
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
    inside_with(scene, &[], script)
}

fn inside_with(scene: &Scene, options: &[&str], script: &str) -> String {
    let said = scene.inside_with(options, &python(script));
    assert_eq!(said.code, Some(0), "{script}\n{said:#?}");
    said.out
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn errors_are_those_of_a_plain_directory() {
    run_both(include_str!("renames/errors.py"));
}

/// Descriptors of files go on; those of directories are of directories that are gone.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn what_is_open_during_a_move() {
    for who in BOTH {
        let scene = project(who);
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
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_directory_that_somebody_is_in_stays() {
    for who in BOTH {
        let scene = project(who);
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

#[needs(Overlay, UserNamespace, "python3")]
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
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn nothing_is_lost_in_a_directory_that_moves() {
    for who in BOTH {
        let scene = Scene::new(who);
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

/// Who does not want a broker has none, and a command that needs none neither.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn without_a_broker() {
    let scene = project(Who::Ordinary);
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
