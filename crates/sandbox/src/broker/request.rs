//! What a process asks the kernel for, as it is in its memory.

use crate::sys::seccomp::{self, Notice, architecture, call};

/// The longest path that the kernel takes, with its end.
const LONGEST_PATH: usize = 4096;
const PAGE: u64 = 4096;

/// What a thread asks for.
pub(super) struct Request {
    pub(super) thread: u32,
    pub(super) verb: Verb,
    pub(super) from: Argument,
    pub(super) to: Argument,
    pub(super) flags: u32,
}

/// What to do with two paths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Rename,
    Link,
}

/// A path, and the descriptor that it is relative to.
pub(super) struct Argument {
    pub(super) directory: i32,
    pub(super) path: Vec<u8>,
}

impl Request {
    /// None where it cannot be told what is asked for; the kernel will.
    pub(super) fn read(notice: &Notice) -> Option<Self> {
        let [a, b, c, d, e, _] = notice.arguments;
        let here = libc::AT_FDCWD;
        // Descriptors and flags are 32 bits wide, whatever is in the rest of the register.
        let (verb, form) = form(notice)?;
        let (directories, addresses, flags) = match form {
            Form::Paths => ([here, here], [a, b], 0),
            Form::At => ([a as i32, c as i32], [b, d], 0),
            Form::AtWithFlags => ([a as i32, c as i32], [b, d], e as u32),
        };
        let [from, to] = paths(notice.thread, addresses)?;
        Some(Self {
            thread: notice.thread,
            verb,
            from: Argument { directory: directories[0], path: from },
            to: Argument { directory: directories[1], path: to },
            flags,
        })
    }
}

/// Which arguments a call has.
#[derive(Clone, Copy)]
enum Form {
    Paths,
    At,
    AtWithFlags,
}

fn form(notice: &Notice) -> Option<(Verb, Form)> {
    if notice.architecture != architecture::NATIVE {
        return None;
    }
    match notice.call {
        #[cfg(target_arch = "x86_64")]
        call::RENAME => Some((Verb::Rename, Form::Paths)),
        call::RENAMEAT => Some((Verb::Rename, Form::At)),
        call::RENAMEAT2 => Some((Verb::Rename, Form::AtWithFlags)),
        #[cfg(target_arch = "x86_64")]
        call::LINK => Some((Verb::Link, Form::Paths)),
        call::LINKAT => Some((Verb::Link, Form::AtWithFlags)),
        _ => None,
    }
}

/// Both paths without their ends. Most often each ends in the page that it starts in, and one call reads both.
fn paths(thread: u32, addresses: [u64; 2]) -> Option<[Vec<u8>; 2]> {
    let mut space = [[0u8; LONGEST_PATH]; 2];
    let lengths = addresses.map(|address| (PAGE - address % PAGE) as usize);
    let [first, second] = &mut space;
    let (first, second) = (&mut first[..lengths[0]], &mut second[..lengths[1]]);
    let read = seccomp::read_memory(thread, addresses, [first, second]).ok()?;
    if read != lengths[0] + lengths[1] {
        return None;
    }
    let [first, second] = &space;
    Some([
        whole(thread, addresses[0], &first[..lengths[0]])?,
        whole(thread, addresses[1], &second[..lengths[1]])?,
    ])
}

/// The path that begins with `piece`; the rest, if it has one, lies in the next page.
fn whole(thread: u32, address: u64, piece: &[u8]) -> Option<Vec<u8>> {
    if let Some(end) = piece.iter().position(|byte| *byte == 0) {
        return Some(piece[..end].to_vec());
    }
    let mut rest = [0u8; LONGEST_PATH];
    let rest = &mut rest[..LONGEST_PATH - piece.len()];
    let next = address + piece.len() as u64;
    let read = seccomp::read_memory(thread, [next, next], [rest, &mut []]).ok()?;
    // Without an end it is longer than the kernel takes.
    let end = rest[..read].iter().position(|byte| *byte == 0)?;
    Some([piece, &rest[..end]].concat())
}
