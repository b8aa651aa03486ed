//! Programs that rename in ways of their own.

use std::fs;
use std::process::Command;

use offshoot_needs::needs;

use super::{BOTH, files, inside, inside_with, project, settle};
use crate::scene::{Scene, Who};

/// A program's own filter decides first, and a broker of its own it cannot have.
#[needs(Overlay, UserNamespace, "python3")]
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
    let scene = project(Who::Ordinary);
    let expected = "listener EBUSY\nfilter ok\ngetpid -25 ok\nfilter ok\nENOTTY\n";
    assert_eq!(inside(&scene, script), expected);
}

/// What asks no filter is the kernel's alone, and the kernel says clearly that it cannot.
#[needs(Overlay, UserNamespace, IoUring, "python3")]
#[test]
fn renames_by_io_uring() {
    let scene = project(Who::Ordinary);
    let script = format!(
        "{}\n{}",
        include_str!("ring.py"),
        r#"
print(ring_rename("base/file", "base/file2"), ring_rename("base/full", "moved"))
print(os.path.exists("base/full/file"), os.path.exists("moved"))
"#
    );
    let granted = profile(&scene, "io_uring");
    assert_eq!(inside_with(&scene, &granted, &script), "ok EXDEV\nTrue False\n");
}

/// Absolute paths, links and `..` end at the root that a process has, wherever that is.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_root_inside_the_workspace() {
    for who in BOTH {
        let scene = project(who);
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
        let granted = profile(&scene, "nested_namespaces");
        assert_eq!(inside_with(&scene, &granted, script), expected, "{who:?}");
    }
}

/// The options for a profile of the user's own that allows one thing more.
fn profile(scene: &Scene, key: &str) -> [&'static str; 2] {
    let directory = scene.place.path().join(".config/offshoot");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("sandbox.toml"), format!("[profile.wider]\n{key} = true\n")).unwrap();
    ["--sandbox", "wider"]
}

/// Their calls have numbers of their own, by which they would pass the filter: none is made.
#[needs(Overlay, UserNamespace, Calls32, "gcc", "python3")]
#[test]
fn programs_of_32_bits_do_not_run() {
    let scene = files(Who::Ordinary);
    let source = scene.place.path().join("compat.c");
    fs::write(&source, include_str!("compat.c")).unwrap();
    let mut compiler = Command::new("gcc");
    let built = compiler.arg(&source).arg("-o").arg(scene.path("compat")).status().unwrap();
    assert!(built.success());
    settle(&scene);
    let said = scene.inside("./compat base/full moved || echo $?; ls base/full/file");
    assert_eq!(said.out, "-38 -38 -38 -38\nbase/full/file\n", "{said:?}");
}
