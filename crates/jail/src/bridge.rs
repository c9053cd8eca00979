//! Declared ports between a jail's own loopback and the host's, each direction on its own.
//!
//! *In*: a client of a port of the host reaches a server inside. *Out*: a client of a port inside reaches a server
//! of the host. Both ends are loopback, always. One thread carries all of it, and ends with [`Bridges`].

mod carry;
mod connection;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use carry::{Carrier, Way};

/// A port that is bridged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port {
    /// Which way connections go.
    pub way: Direction,
    /// The port on the host.
    pub host: u16,
    /// The port inside.
    pub inside: u16,
}

/// Which way connections go. What is said on them goes both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the host to a server inside.
    In,
    /// From inside to a server of the host.
    Out,
}

/// Why a text is no port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPort {
    /// It is not one or two numbers.
    #[error("a port is written HOST or HOST:INSIDE, each a number from 1 to 65535")]
    Malformed,
    /// A port that belongs to the system.
    #[error("a port of the host below 1024 belongs to the system: choose a higher one, such as 8080:80")]
    Privileged,
}

impl Port {
    /// Reads `HOST` or `HOST:INSIDE`.
    pub fn parse(way: Direction, text: &str) -> Result<Self, BadPort> {
        let (host, inside) = text.split_once(':').unwrap_or((text, text));
        let (host, inside) = number(host).zip(number(inside)).ok_or(BadPort::Malformed)?;
        // A client that asks the host for such a port expects a part of the system to answer.
        if way == Direction::In && host < 1024 {
            Err(BadPort::Privileged)
        } else {
            Ok(Self { way, host, inside })
        }
    }
}

/// One way to write a number: no sign, no zero in front.
fn number(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { way, host, inside } = self;
        match way {
            Direction::In => write!(f, "in {host}:{inside}"),
            Direction::Out => write!(f, "out {host}:{inside}"),
        }
    }
}

/// The host's side of ports, opened before there is a jail.
#[derive(Debug)]
pub struct Doors {
    ports: Vec<Port>,
    /// A listener and the port inside that it leads to.
    open: Vec<(TcpListener, u16)>,
}

/// A port that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open port {port} of the host: {why}")]
pub struct Closed {
    /// The port.
    pub port: u16,
    /// Error of the system.
    pub why: io::Error,
}

impl Doors {
    /// Opens the host's side. No connection is accepted yet.
    pub fn open(ports: &[Port]) -> Result<Self, Closed> {
        let mut open = Vec::new();
        for port in ports.iter().filter(|port| port.way == Direction::In) {
            let closed = |why| Closed { port: port.host, why };
            open.push((TcpListener::bind((Ipv4Addr::LOCALHOST, port.host)).map_err(closed)?, port.inside));
            // Browsers take `localhost` for this one first. A host without IPv6 has only the other.
            match TcpListener::bind((Ipv6Addr::LOCALHOST, port.host)) {
                Ok(listener) => open.push((listener, port.inside)),
                Err(why) if why.kind() == io::ErrorKind::AddrInUse => return Err(closed(why)),
                Err(_) => {}
            }
        }
        Ok(Self { ports: ports.to_vec(), open })
    }

    /// Returns the value that [`crate::Spec::listen`] has to hold.
    #[must_use]
    pub fn listen(&self) -> Vec<SocketAddr> {
        self.out().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port.inside))).collect()
    }

    /// Returns the value that [`crate::Spec::dial`] has to be.
    #[must_use]
    pub fn dials(&self) -> bool {
        !self.open.is_empty()
    }

    /// Carries connections from now on, with what [`crate::Held::listeners`] and [`crate::Held::sockets`] give.
    pub fn bridge(self, listeners: Vec<TcpListener>, sockets: Vec<OwnedFd>) -> io::Result<Bridges> {
        let out: Vec<_> = self.out().map(|port| Way::ToHost(port.host)).collect();
        let inward = self.open.into_iter().map(|(listener, port)| (listener, Way::ToJail(port)));
        let all: Vec<_> = inward.chain(listeners.into_iter().zip(out)).collect();
        if all.is_empty() {
            return Ok(Bridges(None));
        }
        let (told, end) = UnixStream::pair()?;
        let carrier = Carrier::new(all, sockets, told.into())?;
        let named = std::thread::Builder::new().name("ports".to_owned());
        Ok(Bridges(Some((named.spawn(move || carrier.carry())?, end.into()))))
    }

    fn out(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.way == Direction::Out)
    }
}

/// Ports that are bridged, until this is dropped.
#[derive(Debug)]
pub struct Bridges(Option<(JoinHandle<u64>, OwnedFd)>);

impl Bridges {
    /// Ends all connections. Says how many were turned away because there were too many at once.
    #[must_use]
    pub fn end(mut self) -> u64 {
        self.close()
    }

    fn close(&mut self) -> u64 {
        let Some((thread, end)) = self.0.take() else { return 0 };
        drop(end);
        // It does not panic; if it did, nothing would be carried any more, which is what is wanted.
        thread.join().unwrap_or(0)
    }
}

impl Drop for Bridges {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_written_in_one_way() {
        let rows = [
            ("3000", Ok((3000, 3000))),
            ("8080:80", Ok((8080, 80))),
            ("65535:1", Ok((65535, 1))),
            ("80", Err(BadPort::Privileged)),
            ("80:8080", Err(BadPort::Privileged)),
            ("0", Err(BadPort::Malformed)),
            ("3000:0", Err(BadPort::Malformed)),
            ("03000", Err(BadPort::Malformed)),
            ("+3000", Err(BadPort::Malformed)),
            ("65536", Err(BadPort::Malformed)),
            ("", Err(BadPort::Malformed)),
            ("1:2:3", Err(BadPort::Malformed)),
            ("0.0.0.0:3000", Err(BadPort::Malformed)),
        ];
        for (text, expected) in rows {
            let parsed = Port::parse(Direction::In, text).map(|port| (port.host, port.inside));
            assert_eq!(parsed, expected, "{text}");
        }
        assert!(Port::parse(Direction::Out, "22:2222").is_ok());
    }
}
