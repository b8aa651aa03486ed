//! The filter of system calls: which a command cannot make, and which are told about.
//!
//! Made by the parent as a program for the kernel's own small machine. Numbers are found by halves, so that a call that is looked at costs some
//! ten steps; one that is always allowed costs none, since the kernel remembers those by number.

mod calls;

use crate::spec::Spec;
use crate::sys::seccomp::architecture::NATIVE;
use crate::walls::Walls;
use calls::{
    ATTRIBUTES, BARRED, FLAGS_OF_FILES, LAST_WORDS, MODES, NEVER_MADE, OPENING, OWN_NAMESPACES,
    RINGS, SHARED, TOLD,
};
use offshoot_vocabulary::{Demand, Network};

/// A program for the kernel.
pub(crate) struct Filter(Vec<libc::sock_filter>);

/// The programs for one command.
pub(crate) struct Filters {
    /// Tells somebody about renames and links; none where nobody is to be told.
    pub(crate) telling: Option<Filter>,
    /// The same and tells nobody; none where nothing is refused.
    pub(crate) silent: Option<Filter>,
}

impl Filters {
    pub(crate) fn new(spec: &Spec) -> Self {
        let guards = !spec.shared.is_empty() && spec.bare.is_none();
        let refuses = spec.walls.seccomp != Demand::Off || guards;
        let sockets = match (&spec.bare, spec.network) {
            (None, _) => Sockets::Known,
            (Some(_), Network::Host) => Sockets::Internet,
            (Some(_), Network::None | Network::Proxy) => Sockets::None,
        };
        Self {
            telling: spec.wants_broker().then(|| Filter::new(&spec.walls, sockets, guards, true)),
            silent: refuses.then(|| Filter::new(&spec.walls, sockets, guards, false)),
        }
    }
}

/// The sockets that a command can make. Without namespaces those of the host answer to all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sockets {
    /// Those of every usual family.
    Known,
    /// Those of the internet, and pairs.
    Internet,
    /// Pairs.
    None,
}

impl Filter {
    fn new(walls: &Walls, sockets: Sockets, guards: bool, tells: bool) -> Self {
        let refuses = walls.seccomp != Demand::Off || guards;
        let mut rules = if refuses { refusals(walls, sockets, guards) } else { Vec::new() };
        let answer = if tells { libc::SECCOMP_RET_USER_NOTIF } else { ALLOW };
        if tells {
            let others = TOLD.iter().filter(|call| !guards || **call != RENAMES_BY_FLAGS);
            rules.extend(others.map(|call| (*call, vec![give(answer)])));
        }
        if guards {
            rules.push((RENAMES_BY_FLAGS, without_whiteouts(answer)));
        }
        rules.sort_by_key(|(call, _)| *call);
        let foreign = if refuses { last_words() } else { vec![give(ALLOW)] };
        let mut code = vec![load(ARCHITECTURE_AT), equal(NATIVE, foreign.len() as u8, 0)];
        code.extend(foreign);
        code.push(load(NUMBER_AT));
        if cfg!(target_arch = "x86_64") && refuses {
            code.extend([at_least(X32, 0, 1), give(errno(libc::ENOSYS))]);
        }
        code.extend(search(&rules));
        Self(code)
    }

    pub(crate) fn code(&self) -> &[libc::sock_filter] {
        &self.0
    }
}

/// Programs of 32 bits have calls with other numbers, which no rule knows. They can say so and end: without a way to end, some would try
/// for ever.
fn last_words() -> Vec<libc::sock_filter> {
    let mut steps = vec![load(NUMBER_AT)];
    let is_last = |at: usize| equal(LAST_WORDS[at], (LAST_WORDS.len() - at) as u8, 0);
    steps.extend((0..LAST_WORDS.len()).map(is_last));
    steps.extend([give(errno(libc::ENOSYS)), give(ALLOW)]);
    steps
}

/// The number of a call, and what is done about it: steps that end with an answer.
type Rule = (u32, Vec<libc::sock_filter>);

fn refusals(walls: &Walls, sockets: Sockets, guards: bool) -> Vec<Rule> {
    let refuse = |error: i32| vec![give(errno(error))];
    let mut rules: Vec<Rule> = Vec::new();
    rules.extend(BARRED.iter().map(|call| (*call, refuse(libc::EPERM))));
    rules.extend(NEVER_MADE.iter().map(|call| (*call, refuse(libc::ENOSYS))));
    // What a ring opens has a mode too, which no filter sees.
    if !walls.io_uring || guards {
        rules.extend(RINGS.iter().map(|call| (*call, refuse(libc::ENOSYS))));
    }
    if !walls.nested_namespaces {
        rules.extend(OWN_NAMESPACES.iter().map(|call| (*call, refuse(libc::EPERM))));
        // Its flags lie in memory, where no filter sees them. The C libraries then call the older one.
        rules.push((libc::SYS_clone3 as u32, refuse(libc::ENOSYS)));
        rules.push((libc::SYS_clone as u32, without_flags(NEW_NAMESPACES)));
        rules.push((
            libc::SYS_unshare as u32,
            without_flags(NEW_NAMESPACES | libc::CLONE_NEWTIME as u32),
        ));
    }
    // Systems that cannot give handles say so like this.
    rules.push((libc::SYS_name_to_handle_at as u32, refuse(libc::EOPNOTSUPP)));
    rules.push((libc::SYS_ioctl as u32, without_requests(guards)));
    if guards {
        rules.extend(guarding());
    }
    rules.push((
        libc::SYS_socket as u32,
        match sockets {
            Sockets::Known => known_families(),
            Sockets::Internet => internet_alone(),
            Sockets::None => refuse(libc::EACCES),
        },
    ));
    if sockets != Sockets::Known {
        rules.extend(SHARED.iter().map(|call| (*call, refuse(libc::ENOSYS))));
    }
    rules.push((libc::SYS_socketpair as u32, known_families()));
    rules.push((libc::SYS_prlimit64 as u32, own_limits()));
    rules.push((libc::SYS_personality as u32, usual_personality()));
    rules
}

const NETLINK_ROUTE: u32 = 0;

const NEW_NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// Allowed where the first argument has none of these.
fn without_flags(flags: u32) -> Vec<libc::sock_filter> {
    vec![load(argument(0)), any_of(flags, 0, 1), give(errno(libc::EPERM)), give(ALLOW)]
}

/// What types into a terminal, and what belongs to the machine's console; where files are guarded, what sets flags and locks of them too.
fn without_requests(guards: bool) -> Vec<libc::sock_filter> {
    const TIOCSTI: u32 = 0x5412;
    const TIOCLINUX: u32 = 0x541c;
    const TIOCCONS: u32 = 0x541d;
    let mut refused = vec![TIOCSTI, TIOCLINUX, TIOCCONS];
    if guards {
        refused.extend(FLAGS_OF_FILES);
    }
    let mut steps = vec![load(argument(1))];
    let is_one = |(at, request): (usize, &u32)| equal(*request, (refused.len() - at) as u8, 0);
    steps.extend(refused.iter().enumerate().map(is_one));
    steps.extend([give(ALLOW), give(errno(libc::EPERM))]);
    steps
}

/// What is refused to who writes to directories of the user: programs that give rights, and attributes and lists of access. No filter sees which file
/// a call is about, so that goes for all files.
fn guarding() -> Vec<Rule> {
    let refuse = |error: i32| vec![give(errno(error))];
    let mut rules: Vec<Rule> = Vec::new();
    rules.extend(MODES.iter().map(|(call, at)| (*call, without_set_ids(*at))));
    rules.extend(OPENING.iter().map(|(call, at)| (*call, made_without_set_ids(*at))));
    // Its mode lies in memory. Programs then call the older one.
    rules.push((libc::SYS_openat2 as u32, refuse(libc::ENOSYS)));
    rules.extend(ATTRIBUTES.iter().map(|call| (*call, refuse(libc::EOPNOTSUPP))));
    rules
}

const RENAMES_BY_FLAGS: u32 = libc::SYS_renameat2 as u32;

/// The answer to renames that leave no device where the name was: no right to make devices is asked for that.
fn without_whiteouts(answer: u32) -> Vec<libc::sock_filter> {
    vec![
        load(argument(4)),
        any_of(libc::RENAME_WHITEOUT, 0, 1),
        give(errno(libc::EPERM)),
        give(answer),
    ]
}

/// Setuid and setgid.
const SET_IDS: u32 = libc::S_ISUID | libc::S_ISGID;

/// Allowed where the mode, which is that argument, gives nobody's rights away.
fn without_set_ids(at: u32) -> Vec<libc::sock_filter> {
    vec![load(argument(at)), any_of(SET_IDS, 0, 1), give(errno(libc::EPERM)), give(ALLOW)]
}

/// The same where there is a mode only if a file is made, by the flags before it.
fn made_without_set_ids(at: u32) -> Vec<libc::sock_filter> {
    // The bit of O_TMPFILE that O_DIRECTORY does not have.
    let makes = (libc::O_CREAT | libc::O_TMPFILE & !libc::O_DIRECTORY) as u32;
    vec![
        load(argument(at - 1)),
        any_of(makes, 0, 3),
        load(argument(at)),
        any_of(SET_IDS, 0, 1),
        give(errno(libc::EPERM)),
        give(ALLOW),
    ]
}

/// Sockets between processes and of the internet, and asking about routes.
fn known_families() -> Vec<libc::sock_filter> {
    vec![
        load(argument(0)),
        equal(libc::AF_UNIX as u32, 5, 0),
        equal(libc::AF_INET as u32, 4, 0),
        equal(libc::AF_INET6 as u32, 3, 0),
        equal(libc::AF_NETLINK as u32, 0, 3),
        load(argument(2)),
        equal(NETLINK_ROUTE, 0, 2),
        give(ALLOW),
        give(errno(libc::EAFNOSUPPORT)),
        give(errno(libc::EPROTONOSUPPORT)),
    ]
}

/// Sockets of the internet, and asking about routes. Those between processes have names that anybody on the host may answer to.
fn internet_alone() -> Vec<libc::sock_filter> {
    vec![
        load(argument(0)),
        equal(libc::AF_UNIX as u32, 0, 1),
        give(errno(libc::EACCES)),
        equal(libc::AF_INET as u32, 5, 0),
        equal(libc::AF_INET6 as u32, 4, 0),
        equal(libc::AF_NETLINK as u32, 0, 4),
        load(argument(2)),
        equal(NETLINK_ROUTE, 1, 0),
        give(errno(libc::EPROTONOSUPPORT)),
        give(ALLOW),
        give(errno(libc::EAFNOSUPPORT)),
    ]
}

/// Limits can be read of anybody, and set of oneself: the init has the command's own user, and could be given a limit that ends it.
fn own_limits() -> Vec<libc::sock_filter> {
    vec![
        load(argument(0)),
        equal(0, 4, 0),
        load(argument(2)),
        equal(0, 0, 3),
        load(argument(2) + 4),
        equal(0, 0, 1),
        give(ALLOW),
        give(errno(libc::EPERM)),
    ]
}

/// What `setarch` and debuggers set. Others turn protections of memory off, or make calls mean something else.
fn usual_personality() -> Vec<libc::sock_filter> {
    const ASK: u32 = u32::MAX;
    const LINUX32: u32 = 0x8;
    const USUAL: u32 = LINUX32 | (libc::UNAME26 | libc::ADDR_NO_RANDOMIZE) as u32;
    vec![
        load(argument(0)),
        equal(ASK, 1, 0),
        any_of(!USUAL, 1, 0),
        give(ALLOW),
        give(errno(libc::EPERM)),
    ]
}

/// Finds the rule for a number by halves.
fn search(rules: &[Rule]) -> Vec<libc::sock_filter> {
    const FEW: usize = 4;
    if rules.len() <= FEW {
        let one = |(call, steps): &Rule| {
            [vec![equal(*call, 0, steps.len() as u8)], steps.clone()].concat()
        };
        return rules.iter().flat_map(one).chain([give(ALLOW)]).collect();
    }
    let (low, high) = rules.split_at(rules.len() / 2);
    let (first, second) = (search(low), search(high));
    let to_second = match u8::try_from(first.len()) {
        Ok(steps) => vec![at_least(high[0].0, steps, 0)],
        // Tests jump over 255 steps at most.
        Err(_) => vec![at_least(high[0].0, 0, 1), go_on(first.len() as u32)],
    };
    [to_second, first, second].concat()
}

/// Calls of x32 have this bit.
const X32: u32 = 0x4000_0000;

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
/// Where the number of the call and the architecture are.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// Where the lower half of an argument is.
const fn argument(at: u32) -> u32 {
    16 + at * 8
}

const fn errno(error: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | error as u32
}

const fn load(at: u32) -> libc::sock_filter {
    let code = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    libc::sock_filter { code, jt: 0, jf: 0, k: at }
}

const fn give(action: u32) -> libc::sock_filter {
    let code = (libc::BPF_RET | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: 0, jf: 0, k: action }
}

const fn go_on(steps: u32) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JA) as u16;
    libc::sock_filter { code, jt: 0, jf: 0, k: steps }
}

const fn equal(value: u32, yes: u8, no: u8) -> libc::sock_filter {
    jump(libc::BPF_JEQ, value, yes, no)
}

const fn at_least(value: u32, yes: u8, no: u8) -> libc::sock_filter {
    jump(libc::BPF_JGE, value, yes, no)
}

const fn any_of(bits: u32, yes: u8, no: u8) -> libc::sock_filter {
    jump(libc::BPF_JSET, bits, yes, no)
}

const fn jump(test: u32, value: u32, yes: u8, no: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | test | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: yes, jf: no, k: value }
}

#[cfg(test)]
mod tests;
