//! Files of lower layers that get a second name.

use std::fs;
use std::time::Duration;

use offshoot_needs::needs;

use super::{BOTH, inside, project};
use crate::scene::Who;

/// A file of a lower layer and its new name are one file at once, whoever has it open.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_file_and_its_link_are_one() {
    for who in BOTH {
        let scene = project(who);
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
#[needs(Root, Overlay, UserNamespace, "python3")]
#[test]
fn a_file_and_its_link_are_one_from_memory_or_not() {
    let scene = project(Who::Me);
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
