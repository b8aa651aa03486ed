//! The sockets of a proxy, made in the network namespace of the command and sent to the caller.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::sockopt::{set_ipv6_v6only, set_socket_reuseaddr};
use rustix::net::{
    AddressFamily, Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6, SocketFlags, SocketType, bind,
    listen, socket_with,
};

use super::descriptors::socket;
use crate::message::{Buffer, Kind};
use crate::proxy::{NAMES, ProxyPorts, SocketUse};
use crate::sys;

/// How many connections wait to be accepted.
const BACKLOG: i32 = 1024;

/// Makes every address local, and sends sockets for them to the caller.
pub(super) fn hand_out(ports: &ProxyPorts, buffer: &mut Buffer) -> Result<(), Errno> {
    sys::route::all_local(libc::AF_INET)?;
    // Without IPv6 nothing could be reached by it either.
    let _no_ipv6 = sys::route::all_local(libc::AF_INET6).is_err();
    let proxy = tcp(Ipv4Addr::LOCALHOST, ports.proxy)?;
    send(SocketUse::Proxy, ports.proxy, &proxy, buffer)?;
    for port in &ports.direct {
        let direct = everywhere(*port)?;
        send(SocketUse::Direct, *port, &direct, buffer)?;
    }
    let names = open(AddressFamily::INET, SocketType::DGRAM)?;
    bind(&names, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, NAMES))?;
    send(SocketUse::Names, NAMES, &names, buffer)?;
    let names = tcp(Ipv4Addr::LOCALHOST, NAMES)?;
    send(SocketUse::NamesTcp, NAMES, &names, buffer)
}

fn send(
    usage: SocketUse,
    port: u16,
    descriptor: &OwnedFd,
    buffer: &mut Buffer,
) -> Result<(), Errno> {
    let numbers = [usage as i64, port.into()];
    buffer.send(socket(), Kind::Socket, &numbers, b"", Some(descriptor.as_fd()))
}

fn open(family: AddressFamily, kind: SocketType) -> Result<OwnedFd, Errno> {
    socket_with(family, kind, SocketFlags::CLOEXEC, None)
}

/// Listens at one address.
fn tcp(address: Ipv4Addr, port: u16) -> Result<OwnedFd, Errno> {
    let socket = open(AddressFamily::INET, SocketType::STREAM)?;
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &SocketAddrV4::new(address, port))?;
    listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// Listens at all addresses, those of IPv6 too where there is that.
fn everywhere(port: u16) -> Result<OwnedFd, Errno> {
    let both = || {
        let socket = open(AddressFamily::INET6, SocketType::STREAM)?;
        set_ipv6_v6only(&socket, false)?;
        set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, port, 0, 0))?;
        listen(&socket, BACKLOG)?;
        Ok(socket)
    };
    both().or_else(|_: Errno| tcp(Ipv4Addr::UNSPECIFIED, port))
}
