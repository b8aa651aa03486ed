//! Each wall against the attack that it is for: with it the attack fails, without it and it alone it succeeds.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;
use std::{env, fs};

use libc::{
    SYS_clone, SYS_clone3, SYS_io_uring_setup, SYS_kcmp, SYS_keyctl, SYS_mount, SYS_personality,
    SYS_pidfd_getfd, SYS_prlimit64, SYS_ptrace, SYS_socket, SYS_unshare, SYS_userfaultfd,
};
use offshoot_sandbox::{Demand, Network, Restriction, SandboxError, Status, Walls};

use crate::support::{Outcome, Scene};

const PRELUDE: &str = "
import ctypes, errno, fcntl, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
space = ctypes.create_string_buffer(4096)
address = ctypes.addressof(space)
def raw(*words):
    ctypes.set_errno(0)
    return libc.syscall(*[ctypes.c_long(word) for word in words])
def call(*words):
    got = raw(*words)
    return 'ok' if got != -1 else errno.errorcode[ctypes.get_errno()]
";

/// What an attack says about itself, behind these walls.
fn attack(walls: Walls, code: &str) -> Outcome {
    attack_in(Scene::new(), walls, code)
}

fn attack_in(mut scene: Scene, walls: Walls, code: &str) -> Outcome {
    scene.environment = vec![("PATH", "/usr/local/bin:/usr/bin:/bin")];
    scene.walls = walls;
    scene.run(&["python3", "-c", &format!("{PRELUDE}{code}")]).unwrap()
}

fn all() -> Walls {
    Walls::default()
}

fn without_filter() -> Walls {
    Walls { seccomp: Demand::Off, ..all() }
}

/// Calls that the filter refuses, and what they come to without it. Namespaces are made where Landlock guards no files, as with the setting that
/// allows them.
#[test]
fn system_calls_that_no_build_needs_are_refused() {
    const NEW_USER: i32 = libc::CLONE_NEWUSER;
    let clone = NEW_USER | libc::SIGCHLD;
    for (code, with, without) in [
        (format!("call({SYS_unshare}, {NEW_USER})"), "EPERM", "ok"),
        (format!("call({SYS_clone}, {clone}, 0, 0, 0, 0)"), "EPERM", "ok"),
        (format!("call({SYS_clone3}, 0, 0)"), "ENOSYS", "EINVAL"),
        (format!("call({SYS_userfaultfd}, 1)"), "EPERM", "ok"),
        (format!("call({SYS_io_uring_setup}, 4, address)"), "ENOSYS", "ok"),
        (format!("call({SYS_keyctl}, 0, -3, 0)"), "EPERM", "ok"),
        (format!("call({SYS_kcmp}, os.getpid(), os.getpid(), 1, 0, 0)"), "EPERM", "ok"),
        (format!("call({SYS_pidfd_getfd}, -1, -1, 0)"), "EPERM", "EBADF"),
        (format!("call({SYS_personality}, 0x400000)"), "EPERM", "ok"),
        (format!("call({SYS_socket}, 40, 1, 0)"), "EAFNOSUPPORT", "ok"),
        (format!("call({SYS_socket}, 16, 3, 16)"), "EPROTONOSUPPORT", "ok"),
        // The init has the command's own user: a limit of no processor time would end it, and all with it.
        (format!("call({SYS_prlimit64}, 1, 7, address + 64, address)"), "EPERM", "ok"),
    ] {
        let limits = "ctypes.memmove(address + 64, (4096).to_bytes(8, 'little') * 2, 16)";
        let code = format!("{limits}\nprint({code})");
        assert_eq!(attack(all(), &code).stdout, format!("{with}\n"), "{code}");
        let out = attack(without_filter(), &code).stdout;
        // A new process says so too.
        assert_eq!(out.lines().next(), Some(without), "{code}");
    }
}

#[test]
fn nothing_types_into_a_terminal() {
    let code = "
_, slave = os.openpty()
terminal = os.open(os.ttyname(slave), os.O_RDWR)
print(call(SYS_ioctl, terminal, 0x5412, address))"
        .replace("SYS_ioctl", &libc::SYS_ioctl.to_string());
    assert_eq!(attack(all(), &code).stdout, "EPERM\n");
    // Newer systems have a switch of their own for it.
    let switch = fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").unwrap_or_default();
    if switch.trim() != "0" {
        assert_eq!(attack(without_filter(), &code).stdout, "ok\n");
    }
}

/// By the gate for programs of 32 bits, calls have other numbers. None of them is made, but those that such a program ends with.
#[cfg(target_arch = "x86_64")]
#[test]
fn calls_by_other_numbers_are_not_there() {
    let code = "
import mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
start = ctypes.addressof(ctypes.c_char.from_buffer(code))
def foreign(number, first):
    code.seek(0)  # push rbx; mov eax, number; mov ebx, first; int 0x80; pop rbx; ret
    code.write(b'\\x53\\xb8' + number.to_bytes(4, 'little') + b'\\xbb' + first.to_bytes(4, 'little') + b'\\xcd\\x80\\x5b\\xc3')
    return ctypes.CFUNCTYPE(ctypes.c_int)(start)()
print('none' if foreign(20, 0) == -38 else 'made')  # getpid
print('none' if foreign(21, 0) == -38 else 'made', flush=True)  # mount
foreign(252, 7)  # exit_group
print('still there')";
    let ended = attack(all(), code);
    let expected = (Status::Exited(7), "none\nnone\n");
    assert_eq!((ended.ended.status, ended.stdout.as_str()), expected);
    assert!(attack(without_filter(), code).stdout.starts_with("made\nmade\n"));
}

/// Debuggers work on what they start, and on nothing that is not inside.
#[test]
fn children_can_be_traced_and_the_init_cannot() {
    let code = format!(
        "
child = os.fork()
if child == 0:
    print(call({SYS_ptrace}, 0, 0, 0, 0), flush=True)
    os.kill(os.getpid(), 19)
    os._exit(0)
_, status = os.waitpid(child, 0)
print(os.WIFSTOPPED(status), call({SYS_ptrace}, 7, child, 0, 0))
os.waitpid(child, 0)
print(call({SYS_ptrace}, 16, 1, 0, 0))
print(open('/proc/self/status').read().split('TracerPid:')[1].split()[0])"
    );
    let outcome = attack(all(), &code);
    assert_eq!(outcome.stdout, "ok\nTrue ok\nEPERM\n0\n", "{}", outcome.stderr);
}

/// What sandboxes programs itself, such as a browser.
#[test]
fn namespaces_of_its_own_are_for_whom_they_are_granted() {
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;
    let code = format!(
        "
print(call({SYS_unshare}, {flags}))
space.value = b'tmpfs\\0'
print(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))"
    );
    let granted = Walls { nested_namespaces: true, ..all() };
    assert_eq!(attack(granted, &code).stdout, "ok\n0\n");
    let refused = format!("print(call({SYS_mount}, 0, 0, 0, 0, 0))\n{code}");
    assert_eq!(attack(all(), &refused).stdout, "EPERM\nEPERM\n-1\n");
    let rings = Walls { io_uring: true, ..all() };
    let code = format!("print(call({SYS_io_uring_setup}, 4, address))");
    assert_eq!(attack(rings, &code).stdout, "ok\n");
}

/// A root that is writable by mistake is not written: Landlock says no. A root that is read-only needs no Landlock.
#[test]
fn landlock_stands_where_a_mount_is_wrong() {
    let code = "
try:
    open('/planted', 'w')
    print('written')
except OSError as error:
    print(errno.errorcode[error.errno])";
    let (wrong, off) = (Demand::Off, Demand::Off);
    for (walls, expected) in [
        (Walls { read_only_root: wrong, ..all() }, "EACCES\n"),
        (Walls { landlock: off, ..all() }, "EROFS\n"),
        (Walls { read_only_root: wrong, landlock: off, ..all() }, "written\n"),
    ] {
        // The top of a composed root is a directory of the inside's own.
        let scene = Scene { target: "/workspace".into(), ..Scene::new() };
        let outcome = attack_in(scene, walls, code);
        assert_eq!(outcome.stdout, expected, "{walls:?} {}", outcome.stderr);
        let landlock = outcome.in_force.restrictions.contains(&Restriction::Landlock);
        assert_eq!(landlock, walls.landlock != Demand::Off);
        assert_eq!(outcome.in_force.landlock.is_some(), landlock);
    }
}

/// Everything that a build does to files is allowed where it writes.
#[test]
fn landlock_lets_work_be_done() {
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut scene = Scene::new();
    scene.home = Some(home.path().to_owned());
    let text = format!(
        "set -e
         for d in . /tmp /var/tmp /dev/shm /run {home}; do
             mkdir -p $d/a/b; echo x > $d/a/f; mv $d/a/f $d/a/b/g; ln $d/a/b/g $d/a/h; ln -s h $d/a/l
             mkfifo $d/a/p; : > $d/a/h; rm $d/a/l; mv $d/a/b $d/c; rmdir $d/c 2>/dev/null || rm -r $d/c $d/a
         done
         mv file there; echo 7 > /proc/self/oom_score_adj; echo x > /dev/null; stty < /dev/null 2>/dev/null || true
         tty=$(script -qec 'stty size > /dev/null && echo works' /dev/null); echo $tty",
        home = home.path().display()
    );
    let outcome = scene.shell(&text);
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.starts_with("works"), "{}", outcome.stdout);
}

/// With the host's network a command is in the namespace of the host's abstract sockets.
#[test]
fn sockets_without_a_file_are_out_of_reach() {
    let name = format!("offshoot-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let code = format!(
        "
peer = socket.socket(socket.AF_UNIX)
print(errno.errorcode.get(peer.connect_ex('\\0{name}'), 'ok'))"
    );
    let host = || Scene { network: Network::Host, ..Scene::new() };
    assert_eq!(attack_in(host(), all(), &code).stdout, "EPERM\n");
    let off = Walls { landlock: Demand::Off, ..all() };
    assert_eq!(attack_in(host(), off, &code).stdout, "ok\n");
}

#[test]
fn the_init_is_not_signalled() {
    let code = "
try:
    os.kill(1, 0)
    print('ok')
except OSError as error:
    print(errno.errorcode[error.errno])";
    assert_eq!(attack(all(), code).stdout, "EPERM\n");
    assert_eq!(attack(Walls { landlock: Demand::Off, ..all() }, code).stdout, "ok\n");
}

/// The keys of whoever calls, such as tickets and passwords. Runs itself again in a session that has one.
#[test]
fn keys_of_the_session_stay_outside() {
    const MARK: &str = "OFFSHOOT_TEST_KEY";
    const NAME: &str = "walls::keys_of_the_session_stay_outside";
    let (add_key, keyctl) = (libc::SYS_add_key, SYS_keyctl);
    if env::var_os(MARK).is_none() {
        let begin = format!(
            "{PRELUDE}
assert raw({keyctl}, 1, 0) > 0
kind, name = ctypes.create_string_buffer(b'user'), ctypes.create_string_buffer(b'offshoot')
secret = ctypes.create_string_buffer(b'secret')
parts = [ctypes.addressof(part) for part in (kind, name, secret)]
assert raw({add_key}, *parts, 6, -3) > 0
os.execv(sys.argv[1], sys.argv[1:])"
        );
        let mut session = Command::new("python3");
        session.args(["-c", &begin]).arg(env::current_exe().unwrap());
        let ran = session.args([NAME, "--exact"]).env(MARK, "1").output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
        return;
    }
    let code = format!(
        "
kind, name = ctypes.create_string_buffer(b'user'), ctypes.create_string_buffer(b'offshoot')
key = raw({keyctl}, 10, -3, ctypes.addressof(kind), ctypes.addressof(name), 0)
if key == -1:
    print(errno.errorcode[ctypes.get_errno()])
else:
    raw({keyctl}, 11, key, address, 100)
    print(space.value.decode())"
    );
    let off = Demand::Off;
    for (walls, expected, own) in [
        (Walls { seccomp: off, ..all() }, "ENOKEY\n", true),
        (Walls { keyring: off, ..all() }, "EPERM\n", false),
        (Walls { seccomp: off, keyring: off, ..all() }, "secret\n", false),
    ] {
        let outcome = attack(walls, &code);
        assert_eq!(outcome.stdout, expected, "{walls:?}");
        assert_eq!(outcome.in_force.restrictions.contains(&Restriction::OwnKeyring), own);
    }
}

/// Root drops its groups. An ordinary user cannot, which is an error where it is required.
#[test]
fn a_wall_that_is_refused_is_named_or_missing() {
    let mut scene = Scene::new();
    scene.walls.groups = Demand::Required;
    let ran = scene.run(&["sh", "-c", "sed -n 's/^Groups:[\t ]*//p' /proc/self/status"]);
    if rustix::process::getuid().is_root() {
        let outcome = ran.unwrap();
        assert_eq!(outcome.stdout.trim(), "");
        assert!(outcome.in_force.restrictions.contains(&Restriction::NoGroups));
        return;
    }
    let refused = ran.err().unwrap();
    assert!(matches!(refused, SandboxError::Wall { wall: "groups", .. }), "{refused}");
    assert!(refused.to_string().contains("`groups`") && refused.hint().is_some());
    let mut scene = Scene::new();
    scene.walls.groups = Demand::Optional;
    assert_eq!(scene.shell("true").ended.status, Status::Exited(0));
}

/// Where programs may make mounts of their own and others may join, Landlock has nothing to hold: the same as on a system without it.
#[test]
fn landlock_that_cannot_be_had_is_an_error_or_missing() {
    for demand in [Demand::Required, Demand::Optional] {
        let mut scene = Scene { joinable: true, ..Scene::new() };
        scene.walls = Walls { landlock: demand, nested_namespaces: true, ..all() };
        match (demand, scene.run(&["true"])) {
            (Demand::Required, Err(refused)) => {
                assert!(
                    matches!(refused, SandboxError::Wall { wall: "landlock", .. }),
                    "{refused}"
                );
            }
            (Demand::Optional, Ok(ran)) => {
                assert!(!ran.in_force.restrictions.contains(&Restriction::Landlock));
                assert_eq!(ran.in_force.landlock, None);
            }
            (_, ran) => panic!("{demand:?}: {:?}", ran.map(|ran| ran.stdout)),
        }
    }
}

#[test]
fn the_machines_part_of_sysfs_is_empty() {
    let shown = |path: &&str| fs::read_dir(path).is_ok_and(|mut found| found.next().is_some());
    let masked = ["/sys/firmware", "/sys/kernel/debug", "/sys/kernel/slab", "/sys/power"];
    let masked: Vec<&str> = masked.into_iter().filter(shown).collect();
    assert!(!masked.is_empty(), "nothing to hide");
    let count = format!("for d in {}; do ls -A $d | wc -l; done | sort -u", masked.join(" "));
    let outcome = Scene::new().shell(&count);
    assert_eq!(outcome.stdout.trim(), "0", "{}", outcome.stderr);
    assert!(outcome.in_force.restrictions.contains(&Restriction::MaskedSysfs));
    let seen = Scene::new().shell("ls /sys/devices/system/cpu | grep -c cpu0").stdout;
    assert_eq!(seen.trim(), "1");
    let mut scene = Scene::new();
    scene.walls.sysfs = Demand::Off;
    let outcome = scene.shell(&count);
    assert_ne!(outcome.stdout.trim(), "0");
    assert!(!outcome.in_force.restrictions.contains(&Restriction::MaskedSysfs));
}

/// A report of a signal that the command wrote itself is no request from outside, whoever it names as its sender.
#[test]
fn nobody_inside_asks_in_the_name_of_the_outside() {
    let code = format!(
        "
import struct, time
report = struct.pack('iiiIiI', 15, 0, -1, 0, 0, 0).ljust(128, b'\\0')
space.raw = report.ljust(4096, b'\\0')
print(call({}, 1, 15, address))
time.sleep(0.3)
print('still here')",
        libc::SYS_rt_sigqueueinfo
    );
    // Landlock refuses the signal; without it the init reads it, and knows better.
    for (walls, sent) in [(all(), "EPERM"), (Walls { landlock: Demand::Off, ..all() }, "ok")] {
        let outcome = attack(walls, &code);
        assert_eq!(outcome.stdout, format!("{sent}\nstill here\n"), "{}", outcome.stderr);
        assert_eq!((outcome.ended.status, outcome.ended.interrupted), (Status::Exited(0), false));
    }
}
