//! The loop that carries all connections of all bridges, both ways.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType};

use super::connection::Connection;

/// Maximum number of connections that are carried at once. Further ones are turned away.
const MOST: usize = 128;
/// Time for which no connection is accepted when the system has no more descriptors.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Target of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A port inside.
    ToJail(u16),
    /// A port of the host.
    ToHost(u16),
}

/// Everything that is carried.
pub(super) struct Carrier {
    listeners: Vec<(TcpListener, Way)>,
    pool: Pool,
    calls: Vec<Call>,
    connections: Vec<(Connection, Way)>,
    /// Closed at the other end when all is over.
    told: OwnedFd,
    turned_away: u64,
    /// True if no connection is accepted for a moment.
    tired: bool,
}

/// A connection that is being made.
struct Call {
    caller: TcpStream,
    server: TcpStream,
    way: Way,
    /// Address to try next.
    next: Option<IpAddr>,
}

impl Carrier {
    pub(super) fn new(
        listeners: Vec<(TcpListener, Way)>,
        sockets: Vec<OwnedFd>,
        told: OwnedFd,
    ) -> io::Result<Self> {
        listeners.iter().try_for_each(|(listener, _)| listener.set_nonblocking(true))?;
        let pool = Pool::new(sockets)?;
        let (calls, connections) = (Vec::new(), Vec::new());
        Ok(Self { listeners, pool, calls, connections, told, turned_away: 0, tired: false })
    }

    /// Carries until it is told to end. Says how many were turned away.
    pub(super) fn carry(mut self) -> u64 {
        while let Some(ready) = self.wait() {
            self.tired = false;
            let Ready { listeners, calls, connections } = ready;
            self.go_on(&connections);
            self.answered(&calls);
            for index in listeners {
                self.admit(index);
            }
        }
        self.turned_away
    }

    /// Waits and returns what can be gone on with; `None` when all is over.
    fn wait(&self) -> Option<Ready> {
        let mut fds = vec![PollFd::new(&self.told, PollFlags::IN)];
        let listeners = if self.tired { &[][..] } else { &self.listeners[..] };
        fds.extend(listeners.iter().map(|(listener, _)| PollFd::new(listener, PollFlags::IN)));
        fds.extend(self.calls.iter().map(|call| PollFd::new(&call.server, PollFlags::OUT)));
        let first = fds.len();
        let mut owners = Vec::new();
        for (index, (connection, _)) in self.connections.iter().enumerate() {
            let interest = connection.interest().into_iter().filter(|(_, wanted)| !wanted.is_empty());
            for (end, wanted) in interest {
                fds.push(PollFd::from_borrowed_fd(end, wanted));
                owners.push(index);
            }
        }
        let polled = rustix::io::retry_on_intr(|| poll(&mut fds, self.tired.then_some(&PAUSE)));
        let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
        if polled.is_err() || is_ready(&fds[0]) {
            return None;
        }
        let ready = |fds: &[PollFd<'_>]| -> Vec<usize> {
            fds.iter().enumerate().filter(|(_, fd)| is_ready(fd)).map(|(index, _)| index).collect()
        };
        let mut connections: Vec<_> = ready(&fds[first..]).into_iter().map(|index| owners[index]).collect();
        connections.dedup();
        let (doors, calls) = fds[1..first].split_at(listeners.len());
        Some(Ready { listeners: ready(doors), calls: ready(calls), connections })
    }

    /// From the last to the first, so that removing one does not move those that are still to come.
    fn go_on(&mut self, ready: &[usize]) {
        for &index in ready.iter().rev() {
            if !self.connections[index].0.carry() {
                let (connection, way) = self.connections.swap_remove(index);
                self.pool.give_back(connection.into_server(), way);
            }
        }
    }

    fn answered(&mut self, ready: &[usize]) {
        for &index in ready.iter().rev() {
            let call = self.calls.swap_remove(index);
            match call.server.take_error() {
                Ok(None) => self.connections.push((Connection::new(call.caller, call.server), call.way)),
                _ => self.again(call),
            }
        }
    }

    /// Tries the other address if no server answers, or gives up, which the caller sees as a closed connection.
    fn again(&mut self, call: Call) {
        self.pool.give_back(call.server, call.way);
        if let Some(address) = call.next {
            self.call(call.caller, call.way, address, None);
        }
    }

    /// Accepts all waiting connections.
    fn admit(&mut self, index: usize) {
        loop {
            let (listener, way) = &self.listeners[index];
            let way = *way;
            match listener.accept() {
                Ok((caller, _)) if self.calls.len() + self.connections.len() < MOST => {
                    self.call(caller, way, V4, Some(V6));
                }
                Ok(_) => self.turned_away += 1,
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(error) => {
                    self.tired = error.kind() != ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }

    fn call(&mut self, caller: TcpStream, way: Way, address: IpAddr, next: Option<IpAddr>) {
        let Some(server) = self.pool.take(way, address.is_ipv4()) else {
            self.turned_away += 1;
            return;
        };
        let (Way::ToJail(port) | Way::ToHost(port)) = way;
        let tried = caller
            .set_nonblocking(true)
            .map_err(|_| Errno::IO)
            .and_then(|()| rustix::net::connect(&server, &SocketAddr::new(address, port)));
        match tried {
            Ok(()) | Err(Errno::INPROGRESS) => self.calls.push(Call { caller, server, way, next }),
            Err(_) => self.again(Call { caller, server, way, next }),
        }
    }
}

const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Address at which servers that listen on `localhost` often are.
const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// Indices of what can be gone on with.
struct Ready {
    listeners: Vec<usize>,
    calls: Vec<usize>,
    connections: Vec<usize>,
}

/// Sockets that were made in the jail's network, in use or not. There are no more of them than there were at the beginning.
struct Pool {
    free: Vec<(TcpStream, bool)>,
}

impl Pool {
    fn new(sockets: Vec<OwnedFd>) -> io::Result<Self> {
        let each = sockets.into_iter().map(|socket| {
            let socket = TcpStream::from(socket);
            socket.set_nonblocking(true)?;
            let v4 = socket.local_addr()?.is_ipv4();
            Ok((socket, v4))
        });
        Ok(Self { free: each.collect::<io::Result<_>>()? })
    }

    /// A socket to call with.
    fn take(&mut self, way: Way, v4: bool) -> Option<TcpStream> {
        if let Way::ToHost(_) = way {
            return new_socket(v4).ok();
        }
        let place = self.free.iter().position(|(_, is_v4)| *is_v4 == v4)?;
        Some(self.free.swap_remove(place).0)
    }

    /// A socket of the jail's network is made new: it would be the last of its kind.
    fn give_back(&mut self, socket: TcpStream, way: Way) {
        let Way::ToJail(_) = way else { return };
        // Read before: what it is called now tells of which kind it is.
        let Ok(v4) = socket.local_addr().map(|address| address.is_ipv4()) else { return };
        // The answer of the connection that is over; the next one must not take it for its own.
        let renewed = rustix::net::connect_unspec(&socket).is_ok() && socket.take_error().is_ok();
        if renewed {
            self.free.push((socket, v4));
        }
    }
}

fn new_socket(v4: bool) -> Result<TcpStream, Errno> {
    let family = if v4 { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(TcpStream::from(socket))
}
