//! The network of a jail whose only way out is a broker: its fixed addresses, and the sockets that the broker accepts on.
//!
//! Every address is local inside (`local default dev lo`), so that a connection is answered by a listener of the broker or refused at
//! once. Rules of `nf_tables` redirect TCP to the transparent listeners and port 53 to the resolver; loopback addresses are left alone.
//! A kernel without `nf_tables` redirects nothing, and programs reach the broker by their proxy variables only.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use crate::sys;

/// Port of the proxy, above the range from which the kernel takes ports by itself.
pub const PROXY_PORT: u16 = 61080;
/// Port of the listeners that connections are redirected to.
pub const TRANSPARENT_PORT: u16 = 61081;
/// Port of the resolver.
pub const RESOLVER_PORT: u16 = 53;
/// Address of the proxy: HTTP and SOCKS5.
pub const PROXY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PROXY_PORT);
/// Address that IPv4 connections are redirected to.
pub const TRANSPARENT_V4: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), TRANSPARENT_PORT);
/// Address that IPv6 connections are redirected to.
pub const TRANSPARENT_V6: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::LOCALHOST), TRANSPARENT_PORT);
/// Address of the resolver, UDP and TCP.
pub const RESOLVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 53)), RESOLVER_PORT);
/// Path of the file that names the resolver.
pub const RESOLV_CONF: &str = "/etc/resolv.conf";
/// Text of the file that names the resolver.
pub const RESOLV_CONF_TEXT: &str = "nameserver 127.0.0.53\n";

/// Number of connections that wait to be accepted by each listener.
pub(crate) const BACKLOG: i32 = 4096;

/// Sockets in the network of a jail, for the broker outside. No process inside has any of them.
#[derive(Debug)]
pub struct BrokerSockets {
    /// Listeners at [`PROXY`].
    pub proxy: Vec<TcpListener>,
    /// Listeners at [`TRANSPARENT_V4`] and [`TRANSPARENT_V6`], as far as the kernel redirects connections to them.
    pub transparent: Vec<TcpListener>,
    /// The resolver's socket for datagrams.
    pub resolver_udp: UdpSocket,
    /// The resolver's listener.
    pub resolver_tcp: TcpListener,
    /// A `NETLINK_SOCK_DIAG` socket, which tells about the sockets in the jail's network; absent if the kernel has none.
    pub diagnostics: Option<OwnedFd>,
}

impl crate::Held {
    /// Returns the sockets of a broker in the jail's own network, once, if [`crate::Network::Broker`] is asked for: what a process inside
    /// connects to is accepted here.
    #[must_use]
    pub fn broker_sockets(&mut self) -> Option<BrokerSockets> {
        self.jail.broker_sockets()
    }

    /// Returns a way to find the programs that connections come from, by [`BrokerSockets::diagnostics`]. `None`: `/proc` does not tell.
    #[must_use]
    pub fn program_lookup(&self, diagnostics: OwnedFd) -> Option<ProgramLookup> {
        self.jail.program_lookup(diagnostics).map(ProgramLookup)
    }
}

impl crate::JailError {
    /// Returns true if the only obstacle is that a provider has no network for a broker.
    #[must_use]
    pub const fn needs_broker(&self) -> bool {
        matches!(self, Self::Conflict(crate::plan::Conflict::Broker(_)))
    }
}

/// A program inside that has a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedProgram {
    /// The number of its process inside.
    pub pid: u32,
    /// The path of its executable inside. A program chooses what it is named and what it executes.
    pub executable: PathBuf,
}

/// Finds the program inside that has a connection, see [`crate::Held::program_lookup`].
///
/// For records only: a process can pass its socket on, or execute something else meanwhile. Nothing may be decided by it.
pub struct ProgramLookup(pub(crate) sys::ProgramLookup);

impl ProgramLookup {
    /// Returns the program that has a TCP connection from one address to another, as its own socket has them: `client` is the peer that
    /// was accepted, `destination` the original destination or the address of the listener. Asks the kernel and reads `/proc`: about
    /// a millisecond.
    #[must_use]
    pub fn find(&self, client: SocketAddr, destination: SocketAddr) -> Option<ConnectedProgram> {
        self.0.find(client, destination)
    }
}
