//! Writes the operations that make the network of a jail whose only way out is the broker.
//!
//! Init performs them before the command's process exists, while it still has its capabilities over the network namespace.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, sockopt};

use super::{SCRATCH_FD, close, kernel_address};
use crate::broker_network::{BACKLOG, BrokerSockets, PROXY, RESOLVER, TRANSPARENT_V4, TRANSPARENT_V6};
use crate::sys::linux::init::ops;
use crate::sys::linux::init::report::SetupStep;
use crate::sys::linux::init::script::{Added, Register, Script, arguments};
use crate::sys::linux::netlink::nat::{Family, redirect};
use crate::sys::linux::netlink::{Batch, route};

/// Sockets that are always there, in the order in which they are handed over.
const PROXY_LISTENER: Register = Register(128);
const RESOLVER_UDP: Register = Register(129);
const RESOLVER_TCP: Register = Register(130);
/// Sockets that depend on the kernel. What they are tells which one each is.
const TRANSPARENT_LISTENER_V4: Register = Register(131);
const TRANSPARENT_LISTENER_V6: Register = Register(132);
const DIAGNOSTICS: Register = Register(133);
/// More than 0 if a part was done.
const ROUTED_V6: Register = Register(134);
const REDIRECTED_V4: Register = Register(135);
const REDIRECTED_V6: Register = Register(136);

/// Makes every address local, leads connections to the broker's listeners, and makes those. Returns where they are.
pub(super) fn broker_network(script: &mut Script) -> Vec<Register> {
    script.step(SetupStep::NetworkAlive);
    // Afterwards every address is local, and the answer would say nothing.
    super::command::check_cut_off(script);
    routes(script);
    redirections(script);
    script.step(SetupStep::Listen);
    listener(script, PROXY, PROXY_LISTENER, None);
    socket(script, RESOLVER, libc::SOCK_DGRAM, RESOLVER_UDP, None);
    listener(script, RESOLVER, RESOLVER_TCP, None);
    listener(script, TRANSPARENT_V4, TRANSPARENT_LISTENER_V4, Some(REDIRECTED_V4));
    listener(script, TRANSPARENT_V6, TRANSPARENT_LISTENER_V6, Some(REDIRECTED_V6));
    netlink(script, libc::NETLINK_SOCK_DIAG).accept_any().into(DIAGNOSTICS);
    vec![
        PROXY_LISTENER,
        RESOLVER_UDP,
        RESOLVER_TCP,
        TRANSPARENT_LISTENER_V4,
        TRANSPARENT_LISTENER_V6,
        DIAGNOSTICS,
    ]
}

/// Without the route for IPv4 there is no such network; a kernel may lack IPv6.
fn routes(script: &mut Script) {
    script.step(SetupStep::Routes);
    netlink(script, libc::NETLINK_ROUTE).into(SCRATCH_FD);
    let v4 = route::everything_is_local(IpAddr::V4(Ipv4Addr::LOCALHOST));
    exchange(script, SCRATCH_FD, &v4);
    let v6 = route::everything_is_local(IpAddr::V6(Ipv6Addr::LOCALHOST));
    exchange(script, SCRATCH_FD, &v6).accept_any().into(ROUTED_V6);
    close(script, SCRATCH_FD);
}

/// A kernel may lack `nf_tables`, or the parts of it that redirect.
fn redirections(script: &mut Script) {
    netlink(script, libc::NETLINK_NETFILTER).accept_any().into(SCRATCH_FD);
    exchange(script, SCRATCH_FD, &redirect(Family::V4)).accept_any().into(REDIRECTED_V4);
    exchange(script, SCRATCH_FD, &redirect(Family::V6)).only_if(ROUTED_V6).accept_any().into(REDIRECTED_V6);
    script.call(libc::SYS_close, arguments![SCRATCH_FD]).only_if(SCRATCH_FD);
}

fn netlink(script: &mut Script, protocol: i32) -> Added<'_> {
    script.call(libc::SYS_socket, arguments![libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol])
}

/// Sends messages. Their answers are in when the kernel has taken them.
fn exchange<'a>(script: &'a mut Script, socket: Register, batch: &Batch) -> Added<'a> {
    let bytes = script.bytes(&batch.bytes);
    script.add(ops::NETLINK, arguments![socket.0, bytes, batch.bytes.len(), batch.acks])
}

fn listener(script: &mut Script, address: SocketAddr, into: Register, condition: Option<Register>) {
    socket(script, address, libc::SOCK_STREAM, into, condition);
    let listen = script.call(libc::SYS_listen, arguments![into, BACKLOG]);
    only_if(listen, condition);
}

fn socket(script: &mut Script, address: SocketAddr, kind: i32, into: Register, condition: Option<Register>) {
    let (family, bytes) = kernel_address(address);
    let made = script.call(libc::SYS_socket, arguments![family, kind | libc::SOCK_CLOEXEC, 0]);
    only_if(made, condition).into(into);
    let address = script.bytes(&bytes);
    let bound = script.call(libc::SYS_bind, arguments![into, address, bytes.len()]);
    only_if(bound, condition);
}

fn only_if(added: Added<'_>, condition: Option<Register>) -> Added<'_> {
    match condition {
        Some(register) => added.only_if(register),
        None => added,
    }
}

/// Takes the broker's sockets from the descriptors that were handed over, and leaves those that come after them.
pub(crate) fn take_sockets(
    handed: &mut std::iter::Peekable<impl Iterator<Item = OwnedFd>>,
) -> Option<BrokerSockets> {
    let proxy = vec![TcpListener::from(handed.next()?)];
    let (resolver_udp, resolver_tcp) = (UdpSocket::from(handed.next()?), TcpListener::from(handed.next()?));
    let (mut transparent, mut diagnostics) = (Vec::new(), None);
    while let Some(socket) = handed.next_if(|handed| sockopt::socket_domain(handed).is_ok()) {
        if sockopt::socket_domain(&socket) == Ok(AddressFamily::NETLINK) {
            diagnostics = Some(socket);
        } else {
            transparent.push(TcpListener::from(socket));
        }
    }
    Some(BrokerSockets { proxy, transparent, resolver_udp, resolver_tcp, diagnostics })
}
