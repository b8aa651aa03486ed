//! The numbers of the calls that a filter knows.

use libc::*;

/// Refused to everybody: they change or look into the whole machine, or into other processes by ways that debuggers do not need.
pub(super) const BARRED: &[u32] = &numbers([
    SYS_acct,
    SYS_add_key,
    SYS_adjtimex,
    SYS_bpf,
    SYS_clock_adjtime,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_fanotify_init,
    SYS_finit_module,
    SYS_init_module,
    SYS_kcmp,
    SYS_kexec_file_load,
    SYS_kexec_load,
    SYS_keyctl,
    SYS_open_by_handle_at,
    SYS_perf_event_open,
    SYS_pidfd_getfd,
    SYS_process_madvise,
    SYS_quotactl,
    SYS_quotactl_fd,
    SYS_reboot,
    SYS_request_key,
    SYS_settimeofday,
    SYS_swapoff,
    SYS_swapon,
    SYS_syslog,
    SYS_userfaultfd,
    SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    SYS_iopl,
]);

/// Relics, which many kernels do not have.
pub(super) const NEVER_MADE: &[u32] = &numbers([
    SYS_lookup_dcookie,
    SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    SYS_vserver,
]);

/// Memory, semaphores and queues that all processes of a host share by their numbers.
pub(super) const SHARED: &[u32] =
    &numbers([SYS_mq_open, SYS_mq_unlink, SYS_msgget, SYS_semget, SYS_shmget]);
/// `exit`, `write`, `writev` and `exit_group` of programs of 32 bits.
#[cfg(target_arch = "x86_64")]
pub(super) const LAST_WORDS: [u32; 4] = [1, 4, 146, 252];
#[cfg(target_arch = "aarch64")]
pub(super) const LAST_WORDS: [u32; 4] = [1, 4, 146, 248];
#[cfg(target_arch = "riscv64")]
pub(super) const LAST_WORDS: [u32; 4] = [93, 64, 66, 94];

/// Programs that know them know how to do without.
pub(super) const RINGS: &[u32] =
    &numbers([SYS_io_uring_enter, SYS_io_uring_register, SYS_io_uring_setup]);

/// Mounts, roots and namespaces: for who makes namespaces of their own.
pub(super) const OWN_NAMESPACES: &[u32] = &numbers([
    SYS_chroot,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_open_tree,
    OPEN_TREE_ATTR,
    SYS_pivot_root,
    SYS_setns,
    SYS_umount2,
]);

/// The same number everywhere.
const OPEN_TREE_ATTR: c_long = 467;

/// Those that somebody outside is told about.
pub(super) const TOLD: &[u32] = &numbers([
    #[cfg(target_arch = "x86_64")]
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
    #[cfg(target_arch = "x86_64")]
    SYS_link,
    SYS_linkat,
]);

/// Calls that give a file a mode, and which argument that is.
pub(super) const MODES: &[(u32, u32)] = &[
    #[cfg(target_arch = "x86_64")]
    (SYS_chmod as u32, 1),
    #[cfg(target_arch = "x86_64")]
    (SYS_creat as u32, 1),
    #[cfg(target_arch = "x86_64")]
    (SYS_mkdir as u32, 1),
    #[cfg(target_arch = "x86_64")]
    (SYS_mknod as u32, 1),
    (SYS_fchmod as u32, 1),
    (SYS_fchmodat as u32, 2),
    (SYS_fchmodat2 as u32, 2),
    (SYS_mkdirat as u32, 2),
    (SYS_mknodat as u32, 2),
];

/// Calls that give one to a file that they make, and which argument that is; the flags come before.
pub(super) const OPENING: &[(u32, u32)] = &[
    #[cfg(target_arch = "x86_64")]
    (SYS_open as u32, 2),
    (SYS_openat as u32, 3),
];

/// Extended attributes, and lists of access, which are some; and flags of files.
pub(super) const ATTRIBUTES: &[u32] = &numbers([
    SYS_setxattr,
    SYS_lsetxattr,
    SYS_fsetxattr,
    SYS_removexattr,
    SYS_lremovexattr,
    SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
]);

/// The same numbers everywhere.
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// Requests to file systems: flags of a file, its version, checksums that make it unchangeable, and keys of a directory.
pub(super) const FLAGS_OF_FILES: [u32; 5] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4008_7602, // FS_IOC_SETVERSION
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
];

const fn numbers<const N: usize>(calls: [c_long; N]) -> [u32; N] {
    let mut numbers = [0; N];
    let mut at = 0;
    while at < N {
        numbers[at] = calls[at] as u32;
        at += 1;
    }
    numbers
}
