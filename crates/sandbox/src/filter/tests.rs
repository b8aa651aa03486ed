//! What the programs answer, by the rules of the kernel's machine.

use super::*;

const FOREIGN: u32 = 0x4000_0003;

/// Runs a program on one call.
fn answer(filter: &Filter, architecture: u32, call: i64, arguments: [u64; 6]) -> u32 {
    let mut data = [0u32; 16];
    (data[0], data[1]) = (call as u32, architecture);
    for (at, argument) in arguments.into_iter().enumerate() {
        (data[4 + at * 2], data[5 + at * 2]) = (argument as u32, (argument >> 32) as u32);
    }
    let (mut at, mut value) = (0, 0);
    for _ in 0..filter.code().len() {
        let step = filter.code()[at];
        at += 1;
        let test = u32::from(step.code) & 0xf0;
        match u32::from(step.code) & 0x07 {
            libc::BPF_LD => value = data[step.k as usize / 4],
            libc::BPF_RET => return step.k,
            _ if test == libc::BPF_JA => at += step.k as usize,
            _ => {
                let holds = match test {
                    libc::BPF_JEQ => value == step.k,
                    libc::BPF_JGE => value >= step.k,
                    _ => value & step.k != 0,
                };
                at += usize::from(if holds { step.jt } else { step.jf });
            }
        }
    }
    panic!("no answer");
}

fn filter(walls: Walls, tells: bool) -> Filter {
    Filter::new(&walls, Sockets::Known, false, tells)
}

fn native(filter: &Filter, call: i64, arguments: [u64; 6]) -> u32 {
    answer(filter, NATIVE, call, arguments)
}

#[test]
fn each_call_has_one_rule_and_every_other_is_allowed() {
    let walls = Walls::default();
    let filter = filter(walls, true);
    let mut rules: Vec<u32> =
        refusals(&walls, Sockets::Known, false).into_iter().map(|(call, _)| call).collect();
    rules.extend(TOLD);
    let all = rules.len();
    rules.sort_unstable();
    rules.dedup();
    assert_eq!(rules.len(), all);
    assert!(filter.code().len() < 300, "jumps are short");
    for call in 0..600 {
        if !rules.contains(&call) {
            assert_eq!(native(&filter, call.into(), [u64::MAX; 6]), ALLOW, "{call}");
        }
    }
    for call in BARRED.iter().chain(OWN_NAMESPACES) {
        assert_eq!(native(&filter, (*call).into(), [0; 6]), errno(libc::EPERM), "{call}");
    }
    for call in NEVER_MADE.iter().chain(RINGS) {
        assert_eq!(native(&filter, (*call).into(), [0; 6]), errno(libc::ENOSYS), "{call}");
    }
    for call in TOLD {
        let told = libc::SECCOMP_RET_USER_NOTIF;
        assert_eq!(native(&filter, (*call).into(), [0; 6]), told, "{call}");
    }
}

#[test]
fn calls_of_other_kinds_of_programs_are_none() {
    let refusing = filter(Walls::default(), true);
    for call in 0..500 {
        let expected = if LAST_WORDS.contains(&call) { ALLOW } else { errno(libc::ENOSYS) };
        assert_eq!(answer(&refusing, FOREIGN, call.into(), [0; 6]), expected, "{call}");
    }
    #[cfg(target_arch = "x86_64")]
    assert_eq!(native(&refusing, 0x4000_0000 + 39, [0; 6]), errno(libc::ENOSYS));
    let telling = filter(Walls { seccomp: Demand::Off, ..Walls::default() }, true);
    assert_eq!(answer(&telling, FOREIGN, 20, [0; 6]), ALLOW);
    assert_eq!(native(&telling, libc::SYS_bpf, [0; 6]), ALLOW);
    assert_eq!(native(&telling, libc::SYS_renameat2, [0; 6]), libc::SECCOMP_RET_USER_NOTIF);
}

#[test]
fn arguments_decide() {
    let filter = filter(Walls::default(), false);
    let (no, family, protocol) =
        (errno(libc::EPERM), errno(libc::EAFNOSUPPORT), errno(libc::EPROTONOSUPPORT));
    let missing = errno(libc::ENOSYS);
    let other_limits = [7, 0, 1 << 40, 0, 0, 0];
    for (call, arguments, expected) in [
        (libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_clone, [libc::CLONE_NEWUSER as u64, 0, 0, 0, 0, 0], no),
        (libc::SYS_clone, [libc::CLONE_NEWNET as u64 | 17, 0, 0, 0, 0, 0], no),
        (libc::SYS_clone3, [0; 6], missing),
        (libc::SYS_unshare, [libc::CLONE_FS as u64, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_unshare, [libc::CLONE_NEWTIME as u64, 0, 0, 0, 0, 0], no),
        (libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0], ALLOW),
        (libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0], no),
        (libc::SYS_ioctl, [0, 0xffff_ffff_0000_5412, 0, 0, 0, 0], no),
        (libc::SYS_socket, [1, 1, 0, 0, 0, 0], ALLOW),
        (libc::SYS_socket, [10, 1, 6, 0, 0, 0], ALLOW),
        (libc::SYS_socket, [16, 3, 0, 0, 0, 0], ALLOW),
        (libc::SYS_socket, [16, 3, 9, 0, 0, 0], protocol),
        (libc::SYS_socket, [40, 1, 0, 0, 0, 0], family),
        (libc::SYS_socketpair, [30, 1, 0, 0, 0, 0], family),
        (libc::SYS_prlimit64, [0, 0, 1 << 40, 0, 0, 0], ALLOW),
        (libc::SYS_prlimit64, [7, 0, 0, 1, 0, 0], ALLOW),
        (libc::SYS_prlimit64, other_limits, no),
        (libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_personality, [0x004_0000, 0, 0, 0, 0, 0], ALLOW),
        (libc::SYS_personality, [0x040_0000, 0, 0, 0, 0, 0], no),
    ] {
        assert_eq!(native(&filter, call, arguments), expected, "{call} {arguments:x?}");
    }
}

#[test]
fn what_is_granted_is_not_refused() {
    let granted = Walls { nested_namespaces: true, io_uring: true, ..Walls::default() };
    let filter = filter(granted, false);
    for call in OWN_NAMESPACES.iter().chain(RINGS) {
        assert_eq!(native(&filter, (*call).into(), [0; 6]), ALLOW, "{call}");
    }
    assert_eq!(native(&filter, libc::SYS_clone3, [0; 6]), ALLOW);
    assert_eq!(native(&filter, libc::SYS_bpf, [0; 6]), errno(libc::EPERM));
    assert_eq!(native(&filter, libc::SYS_renameat2, [0; 6]), ALLOW);
}

#[test]
fn without_namespaces_no_socket_of_the_host_answers() {
    let socket = |sockets: Sockets, family: i32| {
        let filter = Filter::new(&Walls::default(), sockets, false, false);
        native(&filter, libc::SYS_socket, [family as u64, libc::SOCK_STREAM as u64, 0, 0, 0, 0])
    };
    let (unix, inet) = (libc::AF_UNIX, libc::AF_INET);
    assert_eq!([unix, inet].map(|family| socket(Sockets::Known, family)), [ALLOW; 2]);
    let refused = errno(libc::EACCES);
    assert_eq!([unix, inet].map(|family| socket(Sockets::None, family)), [refused; 2]);
    assert_eq!([unix, inet].map(|family| socket(Sockets::Internet, family)), [refused, ALLOW]);
    assert_eq!(socket(Sockets::Internet, libc::AF_INET6), ALLOW);
    assert_eq!(socket(Sockets::Internet, libc::AF_VSOCK), errno(libc::EAFNOSUPPORT));
    let filter = Filter::new(&Walls::default(), Sockets::None, false, false);
    for call in SHARED {
        assert_eq!(native(&filter, (*call).into(), [0; 6]), errno(libc::ENOSYS));
    }
    assert_eq!(native(&filter, libc::SYS_socketpair, [unix as u64, 1, 0, 0, 0, 0]), ALLOW);
}

#[test]
fn no_mode_gives_rights_where_files_are_guarded() {
    let walls = Walls { io_uring: true, ..Walls::default() };
    let refused = errno(libc::EPERM);
    for tells in [false, true] {
        let guarding = Filter::new(&walls, Sockets::Known, true, tells);
        let usual = Filter::new(&walls, Sockets::Known, false, tells);
        for (call, at) in MODES {
            for (mode, expected) in [
                (0o755, ALLOW),
                (0o1777, ALLOW),
                (0o4755, refused),
                (0o2755, refused),
                (0o6000, refused),
            ] {
                let mut arguments = [0; 6];
                arguments[*at as usize] = mode;
                assert_eq!(
                    native(&guarding, (*call).into(), arguments),
                    expected,
                    "{call} {mode:o}"
                );
                assert_eq!(native(&usual, (*call).into(), arguments), ALLOW, "{call} {mode:o}");
            }
        }
        let making = [libc::O_CREAT, libc::O_TMPFILE, libc::O_CREAT | libc::O_EXCL];
        for (call, at) in OPENING {
            let answered = |flags: i32, mode: u64| {
                let mut arguments = [0; 6];
                arguments[*at as usize - 1] = flags as u64;
                arguments[*at as usize] = mode;
                native(&guarding, (*call).into(), arguments)
            };
            for flags in making {
                assert_eq!(answered(flags, 0o644), ALLOW, "{call} {flags:o}");
                assert_eq!(answered(flags, 0o4755), refused, "{call} {flags:o}");
                assert_eq!(answered(flags, 0o2755), refused, "{call} {flags:o}");
            }
            // Who makes nothing gives no mode, but whatever was left there.
            assert_eq!(answered(libc::O_RDONLY | libc::O_DIRECTORY, u64::MAX), ALLOW, "{call}");
        }
        assert_eq!(native(&guarding, libc::SYS_openat2, [0; 6]), errno(libc::ENOSYS));
        assert_eq!(native(&guarding, libc::SYS_io_uring_setup, [0; 6]), errno(libc::ENOSYS));
        for call in ATTRIBUTES {
            let answer = native(&guarding, (*call).into(), [0; 6]);
            assert_eq!(answer, errno(libc::EOPNOTSUPP), "{call}");
        }
        for request in FLAGS_OF_FILES {
            let arguments = [0, request.into(), 0, 0, 0, 0];
            assert_eq!(native(&guarding, libc::SYS_ioctl, arguments), refused, "{request:x}");
            assert_eq!(native(&usual, libc::SYS_ioctl, arguments), ALLOW, "{request:x}");
        }
        let answer = if tells { libc::SECCOMP_RET_USER_NOTIF } else { ALLOW };
        let devices = [libc::RENAME_WHITEOUT, libc::RENAME_WHITEOUT | libc::RENAME_NOREPLACE];
        for (flags, expected) in devices
            .map(|flags| (flags, refused))
            .into_iter()
            .chain([0, libc::RENAME_NOREPLACE, libc::RENAME_EXCHANGE].map(|flags| (flags, answer)))
        {
            let arguments = [0, 0, 0, 0, flags.into(), 0];
            assert_eq!(native(&guarding, libc::SYS_renameat2, arguments), expected, "{flags}");
            assert_eq!(native(&usual, libc::SYS_renameat2, arguments), answer, "{flags}");
        }
        // All else is as without.
        let guarded: Vec<u32> =
            guarding_calls().chain(RINGS.iter().copied()).chain([libc::SYS_ioctl as u32]).collect();
        for call in (0..600).filter(|call| !guarded.contains(call)) {
            let both = [&guarding, &usual].map(|filter| native(filter, call.into(), [0; 6]));
            assert_eq!(both[0], both[1], "{call}");
        }
    }
    let off = Walls { seccomp: Demand::Off, ..Walls::default() };
    let filter = Filter::new(&off, Sockets::Known, true, false);
    assert_eq!(native(&filter, libc::SYS_fchmod, [3, 0o4755, 0, 0, 0, 0]), refused);
}

fn guarding_calls() -> impl Iterator<Item = u32> {
    guarding().into_iter().map(|(call, _)| call)
}
