//! System calls that no safe wrapper offers, each behind a small safe function.
//!
//! All of them are usable between `clone3` and `execve`: they only make the call.

pub(crate) mod keys;
pub(crate) mod landlock;
pub(crate) mod route;
pub(crate) mod seccomp;

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use rustix::io::Errno;

/// A process made by [`clone`]: its number and a descriptor that stands for it.
pub(crate) struct Cloned {
    pub(crate) pid: i32,
    pub(crate) pidfd: OwnedFd,
}

fn check(result: c_long) -> Result<c_long, Errno> {
    if result == -1 { Err(last_error()) } else { Ok(result) }
}

fn last_error() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// Makes a child in new namespaces that runs `child` and nothing else.
///
/// The child shares nothing with this process, has a copy of its memory, and only the calling thread goes on in it. It
/// sends no signal when it ends, so that no handler of the host program takes its status away.
pub(crate) fn clone(flags: u64, child: &mut dyn FnMut()) -> Result<Cloned, Errno> {
    let mut pidfd: RawFd = -1;
    // SAFETY: all zeros is a valid `clone_args`.
    let mut args: libc::clone_args = unsafe { mem::zeroed() };
    args.flags = flags | libc::CLONE_PIDFD as u64;
    args.pidfd = ptr::from_mut(&mut pidfd) as u64;
    // SAFETY: the arguments are valid for their size. Without CLONE_VM the child runs on a copy of this stack, so
    // returning twice is sound; it never leaves `child`, which allocates nothing and takes no lock.
    let mut pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut args, size_of_val(&args)) };
    if check(pid) == Err(Errno::NOSYS) {
        // Many containers know the older call alone, whose flags their filters can see. It takes the same ones.
        let nothing: *mut c_void = ptr::null_mut();
        // SAFETY: as above; the descriptor is put where the third argument points.
        pid = unsafe {
            libc::syscall(libc::SYS_clone, args.flags, nothing, &raw mut pidfd, nothing, nothing)
        };
    }
    if pid == 0 {
        child();
        exit_now(1);
    }
    let pid = check(pid)? as i32;
    // SAFETY: the kernel has put a new descriptor there, which nobody else knows.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    Ok(Cloned { pid, pidfd })
}

/// A stack for a child that shares this process's memory.
pub(crate) struct Stack(Vec<u128>);

impl Stack {
    /// Made before, because a child of a process with threads must not allocate.
    pub(crate) fn new() -> Self {
        const BYTES: usize = 256 * 1024;
        Self(vec![0; BYTES / size_of::<u128>()])
    }
}

/// Makes a child that shares this process's memory, and waits until it has executed another program or ended, as `vfork`
/// does: no page of the caller is copied. The child runs `child` on a stack of its own and nothing else. Until it executes
/// another program their descriptors are the same ones, too: what it opens stays open here.
pub(crate) fn fork_and_wait(stack: &mut Stack, mut child: &mut dyn FnMut()) -> Result<i32, Errno> {
    extern "C" fn begin(argument: *mut c_void) -> c_int {
        // SAFETY: the caller waits, so what it passed is alive and nobody else uses it.
        let child = unsafe { &mut *argument.cast::<&mut dyn FnMut()>() };
        child();
        exit_now(1)
    }
    let flags = libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_VFORK | libc::SIGCHLD;
    let argument = ptr::from_mut(&mut child).cast::<c_void>();
    // SAFETY: stacks grow downwards, and the end of a list of u128 is aligned for one. The child writes to it, to what
    // `argument` points at, and to nothing else of this process, which is stopped until the child is gone.
    let pid = unsafe {
        let top = stack.0.as_mut_ptr_range().end.cast::<c_void>();
        libc::clone(begin, top, flags, argument)
    };
    check(pid.into()).map(|pid| pid as i32)
}

/// Ends the process at once, without anything that the host program registered for its end.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

#[repr(C)]
struct MountAttr {
    attr_set: u64,
    attr_clr: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Sets attributes and private propagation on a mount and all below it.
pub(crate) fn restrict_mounts(mount: BorrowedFd<'_>, attributes: u64) -> Result<(), Errno> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
    mount_setattr(mount.as_raw_fd(), c"", flags, attributes)
}

/// Has a mount translate ids by the map of a user namespace.
pub(crate) fn translate_ids(mount: BorrowedFd<'_>, ids: BorrowedFd<'_>) -> Result<(), Errno> {
    let attr = MountAttr {
        attr_set: libc::MOUNT_ATTR_IDMAP,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: ids.as_raw_fd() as u64,
    };
    set_attributes(mount.as_raw_fd(), c"", libc::AT_EMPTY_PATH, &attr)
}

/// Lets the mount at a path be written again.
pub(crate) fn make_writable(path: &CStr) -> Result<(), Errno> {
    let attr =
        MountAttr { attr_set: 0, attr_clr: libc::MOUNT_ATTR_RDONLY, propagation: 0, userns_fd: 0 };
    set_attributes(libc::AT_FDCWD, path, 0, &attr)
}

/// Makes a user and a group this process's own, and no others.
pub(crate) fn become_user(id: u32) -> Result<(), Errno> {
    let nobody: *const libc::gid_t = ptr::null();
    // SAFETY: takes numbers, and a list of none. The wrappers of the C library would change all threads.
    unsafe {
        check(libc::syscall(libc::SYS_setgroups, 0usize, nobody))?;
        check(libc::syscall(libc::SYS_setresgid, id, id, id))?;
        check(libc::syscall(libc::SYS_setresuid, id, id, id))?;
    }
    Ok(())
}

/// Has this thread reach files as a user and a group, and no others.
pub(crate) fn reach_files_as(id: u32) -> Result<(), Errno> {
    const ASK: c_long = -1;
    let nobody: *const libc::gid_t = ptr::null();
    // SAFETY: takes numbers, and a list of none. The wrappers of the C library would change all threads.
    let taken = unsafe {
        check(libc::syscall(libc::SYS_setgroups, 0usize, nobody))?;
        libc::syscall(libc::SYS_setfsgid, id);
        libc::syscall(libc::SYS_setfsuid, id);
        // They answer with what was there before, and say nothing where they refuse.
        [libc::syscall(libc::SYS_setfsgid, ASK), libc::syscall(libc::SYS_setfsuid, ASK)]
    };
    if taken == [c_long::from(id); 2] { Ok(()) } else { Err(Errno::PERM) }
}

/// Sets attributes on the mount at a path alone.
pub(crate) fn restrict_mount(path: &CStr, attributes: u64) -> Result<(), Errno> {
    mount_setattr(libc::AT_FDCWD, path, 0, attributes)
}

fn mount_setattr(at: RawFd, path: &CStr, flags: c_int, attributes: u64) -> Result<(), Errno> {
    let propagation = libc::MS_PRIVATE;
    let attr = MountAttr { attr_set: attributes, attr_clr: 0, propagation, userns_fd: 0 };
    set_attributes(at, path, flags, &attr)
}

fn set_attributes(at: RawFd, path: &CStr, flags: c_int, attr: &MountAttr) -> Result<(), Errno> {
    // SAFETY: the path ends with NUL, the struct is valid for its size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at,
            path.as_ptr(),
            flags as c_uint,
            ptr::from_ref(attr),
            size_of_val(attr),
        )
    };
    check(result).map(drop)
}

/// `prctl` with numbers for arguments.
pub(crate) fn prctl(option: c_int, first: c_ulong, second: c_ulong) -> Result<(), Errno> {
    let zero: c_ulong = 0;
    // SAFETY: only used with options whose arguments are numbers.
    let result = unsafe { libc::prctl(option, first, second, zero, zero) };
    check(result.into()).map(drop)
}

/// Whether others of the same user may look into this process.
pub(crate) fn is_dumpable() -> bool {
    let zero: c_ulong = 0;
    // SAFETY: takes numbers and answers with one.
    unsafe { libc::prctl(libc::PR_GET_DUMPABLE, zero, zero, zero, zero) == 1 }
}

/// There is room for so many capabilities.
const LAST_CAPABILITY: c_ulong = 63;

/// Takes every capability from this process, for good.
pub(crate) fn drop_capabilities() -> Result<(), Errno> {
    for capability in 0..=LAST_CAPABILITY {
        match prctl(libc::PR_CAPBSET_DROP, capability, 0) {
            // The kernel knows fewer capabilities than there is room for.
            Err(Errno::INVAL) => break,
            // Who has none, outside of namespaces, can take none away from what executing may give; nothing does, without new privileges.
            Err(Errno::PERM) if rustix::thread::no_new_privs() == Ok(true) => break,
            other => other?,
        }
    }
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as c_ulong, 0)?;
    let sets = rustix::thread::CapabilitySets {
        effective: rustix::thread::CapabilitySet::empty(),
        permitted: rustix::thread::CapabilitySet::empty(),
        inheritable: rustix::thread::CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, sets)
}

/// Whether no capability can come back by executing something.
pub(crate) fn is_bounding_set_empty() -> bool {
    let zero: c_ulong = 0;
    for capability in 0..=LAST_CAPABILITY {
        // SAFETY: takes numbers and answers with one.
        let held = unsafe { libc::prctl(libc::PR_CAPBSET_READ, capability, zero, zero, zero) };
        match check(held.into()) {
            Ok(0) => {}
            Ok(_) => return false,
            // The kernel knows no more of them.
            Err(Errno::INVAL) => return capability > 0,
            Err(_) => return false,
        }
    }
    true
}

/// The supplementary groups of this process; fails where there are more than fit.
pub(crate) fn groups(space: &mut [libc::gid_t]) -> Result<&[libc::gid_t], Errno> {
    // SAFETY: the space is valid to write to for its length.
    let count = unsafe { libc::getgroups(space.len() as c_int, space.as_mut_ptr()) };
    let count = check(count.into())? as usize;
    Ok(&space[..count])
}

/// Bytes of a page.
pub(crate) fn page_size() -> u64 {
    // SAFETY: takes a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1).unsigned_abs()
}

/// How the kernel counts time of processors.
pub(crate) fn ticks_per_second() -> u64 {
    // SAFETY: takes a number.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1).unsigned_abs()
}

/// Closes every descriptor from this one on.
pub(crate) fn close_from(first: c_uint) -> Result<(), Errno> {
    // SAFETY: closes descriptors; whoever owns them in this process never runs again.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, 0) };
    check(result).map(drop)
}

/// Makes `to` the same descriptor as `from`, open across `execve` or not.
pub(crate) fn duplicate(from: RawFd, to: RawFd, close_on_exec: bool) -> Result<(), Errno> {
    // SAFETY: takes numbers; only used where no owner of `to` runs in this process any more.
    let result = unsafe {
        if from == to {
            libc::fcntl(from, libc::F_SETFD, if close_on_exec { libc::FD_CLOEXEC } else { 0 })
        } else {
            libc::dup3(from, to, if close_on_exec { libc::O_CLOEXEC } else { 0 })
        }
    };
    check(result.into()).map(drop)
}

/// Copies a descriptor to a number that is at least `least`.
pub(crate) fn duplicate_above(from: RawFd, least: RawFd) -> Result<RawFd, Errno> {
    // SAFETY: takes numbers.
    let result = unsafe { libc::fcntl(from, libc::F_DUPFD_CLOEXEC, least) };
    check(result.into()).map(|fd| fd as RawFd)
}

/// Closes a descriptor by its number.
pub(crate) fn close(fd: RawFd) {
    // SAFETY: only used in the init, for numbers that it placed itself.
    let _already_closed = unsafe { libc::close(fd) };
}

/// Borrows a descriptor by its number.
pub(crate) fn borrow<'a>(fd: RawFd) -> BorrowedFd<'a> {
    // SAFETY: only used in the init, for numbers that it placed itself and keeps open.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Becomes another program; returns only where that failed. Both lists end with a null pointer.
pub(crate) fn execute(path: &CStr, arguments: &Pointers, environment: &Pointers) -> Errno {
    // SAFETY: both lists hold pointers to strings that live as long as they, and end with null.
    unsafe { libc::execve(path.as_ptr(), arguments.0.as_ptr(), environment.0.as_ptr()) };
    last_error()
}

/// Pointers to strings, ended by null, as `execve` takes them.
pub(crate) struct Pointers(Vec<*const c_char>);

impl Pointers {
    /// The strings must live as long as the list; both belong to one script.
    pub(crate) fn new<'a>(strings: impl IntoIterator<Item = &'a CStr>) -> Self {
        let mut list: Vec<*const c_char> = strings.into_iter().map(CStr::as_ptr).collect();
        list.push(ptr::null());
        Self(list)
    }

    /// A list for so many strings, to be filled where nothing can be allocated.
    pub(crate) fn with_room(strings: usize) -> Self {
        Self(Vec::with_capacity(strings + 1))
    }

    /// Makes it a list of these strings, which must live until it is used.
    pub(crate) fn fill<'a>(
        &mut self,
        strings: impl IntoIterator<Item = &'a CStr>,
    ) -> Result<(), Errno> {
        self.0.clear();
        for string in strings {
            if self.0.len() + 1 >= self.0.capacity() {
                return Err(Errno::TOOBIG);
            }
            self.0.push(string.as_ptr());
        }
        self.0.push(ptr::null());
        Ok(())
    }
}

/// Sends a signal to every other process of this pid namespace; false where there is none.
pub(crate) fn signal_all(signal: c_int) -> bool {
    const INIT: i32 = 1;
    // SAFETY: takes numbers; as init of a pid namespace, -1 reaches its processes and no others.
    unsafe { libc::getpid() == INIT && libc::kill(-1, signal) == 0 }
}

/// Sends a signal to a process of this pid namespace, or to a group of them by its negative number.
pub(crate) fn signal(pid: i32, signal: c_int) {
    // SAFETY: takes numbers; only used in the init, with numbers of its own children.
    let _gone = unsafe { libc::kill(pid, signal) };
}

/// A child that ended: its number and its raw status.
pub(crate) struct Reaped {
    pub(crate) pid: i32,
    pub(crate) status: c_int,
}

/// Takes the status of one ended child, where one has ended.
pub(crate) fn reap() -> Result<Option<Reaped>, Errno> {
    reap_with(-1, libc::WNOHANG)
}

/// Waits for one child.
pub(crate) fn reap_one(pid: i32) -> Result<Option<Reaped>, Errno> {
    reap_with(pid, 0)
}

fn reap_with(which: i32, options: c_int) -> Result<Option<Reaped>, Errno> {
    let mut status = 0;
    // SAFETY: the status is valid to write to.
    let pid = unsafe { libc::waitpid(which, &raw mut status, libc::__WALL | options) };
    match pid {
        -1 => Err(last_error()),
        0 => Ok(None),
        _ => Ok(Some(Reaped { pid, status })),
    }
}

/// Waits for a child by its pidfd. Its status is only for the log: what matters came by message.
pub(crate) fn wait_pidfd(pidfd: BorrowedFd<'_>) -> Result<(), Errno> {
    loop {
        // SAFETY: all zeros is a valid `siginfo_t`.
        let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
        let options = libc::WEXITED | libc::__WALL;
        let id = pidfd.as_raw_fd() as libc::id_t;
        // SAFETY: the struct is valid to write to.
        let result = unsafe { libc::waitid(libc::P_PIDFD, id, &raw mut info, options) };
        match check(result.into()) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}

/// What all children that ended have used.
pub(crate) struct ChildrenUsage {
    pub(crate) user_micros: u64,
    pub(crate) system_micros: u64,
    /// The largest resident size of one of them.
    pub(crate) resident_kib: u64,
    /// What they wrote to file systems on disks, in blocks of 512 bytes.
    pub(crate) written_blocks: u64,
}

pub(crate) fn children_usage() -> ChildrenUsage {
    // SAFETY: all zeros is a valid `rusage`, and it is valid to write to.
    let usage = unsafe {
        let mut usage: libc::rusage = mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    ChildrenUsage {
        user_micros: micros(usage.ru_utime),
        system_micros: micros(usage.ru_stime),
        resident_kib: usage.ru_maxrss as u64,
        written_blocks: usage.ru_oublock as u64,
    }
}

/// Blocks the signals that the init reads from a descriptor, and returns that descriptor.
pub(crate) fn child_signals() -> Result<OwnedFd, Errno> {
    // SAFETY: the set is initialised by `sigemptyset` before it is used; the new descriptor has no other owner.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::sigaddset(&raw mut set, libc::SIGTERM);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check(fd.into()).map(|fd| OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// From now on these signals to this process can be read from a descriptor instead.
pub(crate) fn signals(numbers: &[c_int]) -> Result<OwnedFd, Errno> {
    // SAFETY: the set is initialised by `sigemptyset` before it is used; the new descriptor has no other owner.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in numbers {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check(fd.into()).map(|fd| OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// Whether a signal to this process is ignored.
pub(crate) fn is_ignored(number: c_int) -> bool {
    // SAFETY: nothing is set, and the action is initialised before it is filled in.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(number, ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Takes back what [`signals`] did, as far as delivery goes.
pub(crate) fn unblock(numbers: &[c_int]) {
    // SAFETY: the set is initialised by `sigemptyset` before it is used.
    unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in numbers {
            libc::sigaddset(&raw mut set, *signal);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, ptr::null_mut());
    }
}

/// Lets everybody else have the processor and the disk first. Threads that are started later do the same.
pub fn give_way() {
    const LOWEST: c_int = 19;
    const THIS_PROCESS: c_int = 0;
    const IOPRIO_WHO_PROCESS: c_int = 1;
    const IOPRIO_IDLE: c_int = 3 << 13;
    // SAFETY: neither call takes a pointer. Where one is refused the process only is less polite.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, THIS_PROCESS as libc::id_t, LOWEST);
        libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, THIS_PROCESS, IOPRIO_IDLE);
    }
}

/// Gives every signal its default action and blocks none: what the host program set does not reach the command.
pub(crate) fn reset_signals() {
    // SAFETY: the set is initialised before it is used; the default action is always valid. Signals that cannot be
    // set refuse, which changes nothing.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const set, ptr::null_mut());
    }
}

/// Sets a limit of resources, both soft and hard; a hard limit that is lower already stays.
pub(crate) fn set_limit(resource: c_uint, soft: u64, hard: Option<u64>) -> Result<(), Errno> {
    // SAFETY: the struct is initialised by the kernel, then read; both calls get a valid pointer.
    let result = unsafe {
        let mut limit: libc::rlimit64 = mem::zeroed();
        check(libc::getrlimit64(resource as _, &raw mut limit).into())?;
        limit.rlim_max = hard.map_or(limit.rlim_max, |hard| hard.min(limit.rlim_max));
        limit.rlim_cur = soft.min(limit.rlim_max);
        libc::setrlimit64(resource as _, &raw const limit)
    };
    check(result.into()).map(drop)
}

/// Brings the loopback interface of this network namespace up.
pub(crate) fn loopback_up() -> Result<(), Errno> {
    // SAFETY: all zeros is a valid `ifreq`; the name fits and ends with zero; the socket is closed again.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        check(socket.into())?;
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo\0") {
            *to = *from as c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
        let result = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request);
        let outcome = check(result.into()).map(drop);
        libc::close(socket);
        outcome
    }
}
