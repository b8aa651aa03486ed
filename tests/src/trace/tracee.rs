//! Registers, memory and descriptors of a stopped thread on x86_64.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::libc;
use nix::sys::ptrace;
use nix::unistd::Pid;

/// Where in a system call a thread has stopped.
pub(super) enum Place {
    Entry,
    Exit,
    Elsewhere,
}

/// The message of a stop at a system call says which side of it, since Linux 5.3.
pub(super) fn place(pid: Pid) -> Result<Place, Errno> {
    const ENTRY: i64 = 1;
    const EXIT: i64 = 2;
    Ok(match ptrace::getevent(pid)? {
        ENTRY => Place::Entry,
        EXIT => Place::Exit,
        _ => Place::Elsewhere,
    })
}

/// A thread that is about to make a system call.
pub(super) struct Entry {
    pub(super) pid: Pid,
    pub(super) number: i64,
    pub(super) args: [u64; 6],
}

impl Entry {
    pub(super) fn of(pid: Pid) -> Result<Self, Errno> {
        let regs = ptrace::getregs(pid)?;
        let args = [regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9];
        Ok(Self { pid, number: regs.orig_rax as i64, args })
    }

    /// Makes the kernel skip the call: there is none with the number -1.
    pub(super) fn skip(&self) -> Result<(), Errno> {
        let mut regs = ptrace::getregs(self.pid)?;
        regs.orig_rax = u64::MAX;
        ptrace::setregs(self.pid, regs)
    }

    /// The path of the descriptor in argument `index`; for `AT_FDCWD`, the current directory.
    pub(super) fn descriptor(&self, index: usize) -> Option<PathBuf> {
        let pid = self.pid;
        // Descriptors are 32 bits wide; the upper half of the register may hold anything.
        let link = match self.args[index] as i32 {
            libc::AT_FDCWD => format!("/proc/{pid}/cwd"),
            number => format!("/proc/{pid}/fd/{number}"),
        };
        fs::read_link(link).ok()
    }

    /// The string that argument `index` points to, if it points anywhere.
    pub(super) fn string(&self, index: usize) -> Option<PathBuf> {
        const PAGE: u64 = 4096;
        let memory = self.memory()?;
        let mut address = self.args[index];
        let mut bytes = Vec::new();
        while bytes.len() <= libc::PATH_MAX as usize {
            // Never past the end of a page: the next one may not exist.
            let mut chunk = vec![0; (PAGE - address % PAGE) as usize];
            let length = memory.read_at(&mut chunk, address).ok().filter(|length| *length > 0)?;
            let text = &chunk[..length];
            if let Some(end) = text.iter().position(|byte| *byte == 0) {
                bytes.extend_from_slice(&text[..end]);
                return Some(OsString::from_vec(bytes).into());
            }
            bytes.extend_from_slice(text);
            address += length as u64;
        }
        None
    }

    /// The 64-bit number that argument `index` points to.
    pub(super) fn number_at(&self, index: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        self.memory()?.read_exact_at(&mut bytes, self.args[index]).ok()?;
        Some(u64::from_ne_bytes(bytes))
    }

    fn memory(&self) -> Option<File> {
        File::open(format!("/proc/{}/mem", self.pid)).ok()
    }
}

/// What the call returned that a thread has just finished.
pub(super) fn result(pid: Pid) -> Result<i64, Errno> {
    Ok(ptrace::getregs(pid)?.rax as i64)
}

/// Makes the call that a thread has just finished return `value`.
pub(super) fn set_result(pid: Pid, value: i64) -> Result<(), Errno> {
    let mut regs = ptrace::getregs(pid)?;
    regs.rax = value as u64;
    ptrace::setregs(pid, regs)
}
