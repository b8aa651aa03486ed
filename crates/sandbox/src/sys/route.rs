//! Routes of a network namespace.

use std::mem;
use std::ptr;

use rustix::io::Errno;

use super::check;

/// The number of the loopback interface in every network namespace.
const LOOPBACK: u32 = 1;

#[repr(C)]
struct RouteMessage {
    family: u8,
    destination_length: u8,
    source_length: u8,
    tos: u8,
    table: u8,
    protocol: u8,
    scope: u8,
    kind: u8,
    flags: u32,
}

#[repr(C)]
struct Attribute {
    length: u16,
    kind: u16,
    value: u32,
}

#[repr(C)]
struct NewRoute {
    header: libc::nlmsghdr,
    route: RouteMessage,
    interface: Attribute,
}

#[repr(C)]
struct Answer {
    header: libc::nlmsghdr,
    error: libc::nlmsgerr,
}

/// Makes every address of a family one of this namespace's own: `local 0.0.0.0/0 dev lo`.
pub(crate) fn all_local(family: i32) -> Result<(), Errno> {
    let message = NewRoute {
        header: libc::nlmsghdr {
            nlmsg_len: size_of::<NewRoute>() as u32,
            nlmsg_type: libc::RTM_NEWROUTE,
            nlmsg_flags: (libc::NLM_F_REQUEST
                | libc::NLM_F_ACK
                | libc::NLM_F_CREATE
                | libc::NLM_F_EXCL) as u16,
            nlmsg_seq: 1,
            nlmsg_pid: 0,
        },
        route: RouteMessage {
            family: family as u8,
            destination_length: 0,
            source_length: 0,
            tos: 0,
            table: libc::RT_TABLE_LOCAL,
            protocol: libc::RTPROT_BOOT,
            scope: libc::RT_SCOPE_HOST,
            kind: libc::RTN_LOCAL,
            flags: 0,
        },
        interface: Attribute {
            length: size_of::<Attribute>() as u16,
            kind: libc::RTA_OIF,
            value: LOOPBACK,
        },
    };
    // SAFETY: the message and the space for the answer are valid for their sizes, and all zeros are a valid answer; the
    // socket is closed again.
    unsafe {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        let socket = check(libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE).into())?;
        let socket = socket as i32;
        let mut answer: Answer = mem::zeroed();
        let sent = check(libc::send(
            socket,
            ptr::from_ref(&message).cast(),
            size_of_val(&message),
            0,
        ) as _);
        let got = sent.and_then(|_| {
            let space = ptr::from_mut(&mut answer).cast();
            check(libc::recv(socket, space, size_of::<Answer>(), libc::MSG_TRUNC) as _)
        });
        libc::close(socket);
        got?;
        match (i32::from(answer.header.nlmsg_type), answer.error.error) {
            (libc::NLMSG_ERROR, 0) => Ok(()),
            (libc::NLMSG_ERROR, errno) => Err(Errno::from_raw_os_error(-errno)),
            _ => Err(Errno::PROTO),
        }
    }
}
