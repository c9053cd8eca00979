//! Finds the program inside a jail that has a connection: its socket by `NETLINK_SOCK_DIAG`, and the process that holds it by `/proc`.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::netlink::{Attributes, Batch};
use crate::broker_network::ConnectedProgram;

/// Maximum number of processes that are looked at for one connection.
const MOST_PROCESSES: usize = 4096;

/// Finds programs by their connections.
pub(crate) struct ProgramLookup {
    /// A socket made inside the jail's network; one question at a time.
    diagnostics: Mutex<OwnedFd>,
    /// Readable when the jail has ended: its numbers may then be those of other processes.
    end: OwnedFd,
    /// The first process of the jail.
    first: u32,
}

impl ProgramLookup {
    pub(crate) fn new(diagnostics: OwnedFd, first: BorrowedFd<'_>) -> Option<Self> {
        let end = first.try_clone_to_owned().ok()?;
        let about = fs::read_to_string(format!("/proc/self/fdinfo/{}", end.as_raw_fd())).ok()?;
        let first = about.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
        Some(Self { diagnostics: Mutex::new(diagnostics), end, first })
    }

    pub(crate) fn find(&self, client: SocketAddr, destination: SocketAddr) -> Option<ConnectedProgram> {
        let inode = self.inode(client, destination)?;
        let socket = PathBuf::from(format!("socket:[{inode}]"));
        let pid = processes(self.first).into_iter().find(|pid| holds(*pid, &socket))?;
        let program = ConnectedProgram {
            pid: pid_inside(pid)?,
            executable: fs::read_link(format!("/proc/{pid}/exe")).ok()?,
        };
        self.is_alive().then_some(program)
    }

    /// The inode of the socket that has a connection, at the side of the client.
    fn inode(&self, client: SocketAddr, destination: SocketAddr) -> Option<u32> {
        let request = request(client, destination);
        let socket = self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answer = [0; 512];
        // An answer that was not read before would be taken for this one.
        while recv(&*socket, &mut answer[..], RecvFlags::DONTWAIT).is_ok() {}
        send(&*socket, &request, SendFlags::empty()).ok()?;
        let (length, _) = recv(&*socket, &mut answer[..], RecvFlags::DONTWAIT).ok()?;
        inode_of(answer.get(..length)?)
    }

    fn is_alive(&self) -> bool {
        let mut fds = [PollFd::new(&self.end, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::io::retry_on_intr(|| poll(&mut fds, Some(&now))) == Ok::<_, Errno>(0)
    }
}

/// Kind of the request and of its answer.
const BY_FAMILY: u16 = 20;

/// The request for one TCP socket by both its addresses.
fn request(client: SocketAddr, destination: SocketAddr) -> Vec<u8> {
    const TCP: u8 = 6;
    let (client, destination) = (unmapped(client), unmapped(destination));
    let family = if client.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    let mut header = vec![u8::try_from(family).unwrap_or_default(), TCP, 0, 0];
    // In any state.
    header.extend([0xff; 4]);
    header.extend([client.port(), destination.port()].map(u16::to_be_bytes).as_flattened());
    header.extend([client, destination].map(|address| padded(address.ip())).as_flattened());
    header.extend([0; 4]);
    // Of any age.
    header.extend([0xff; 8]);
    let mut batch = Batch::default();
    batch.message(BY_FAMILY, 0, &header, &Attributes::default());
    batch.bytes
}

fn unmapped(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn padded(address: IpAddr) -> [u8; 16] {
    let mut bytes = [0; 16];
    match address {
        IpAddr::V4(address) => bytes[..4].copy_from_slice(&address.octets()),
        IpAddr::V6(address) => bytes = address.octets(),
    }
    bytes
}

/// The inode in an answer; `None` if it is an error, or the socket belongs to no process any more.
fn inode_of(answer: &[u8]) -> Option<u32> {
    const INODE: usize = 16 + 4 + 48 + 16;
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let inode = u32::from_ne_bytes(answer.get(INODE..INODE + 4)?.try_into().ok()?);
    (kind == BY_FAMILY && inode != 0).then_some(inode)
}

/// A process and all below it.
fn processes(first: u32) -> Vec<u32> {
    let mut all = vec![first];
    let mut next = 0;
    while let Some(pid) = all.get(next).copied().filter(|_| all.len() < MOST_PROCESSES) {
        all.extend(children(pid));
        next += 1;
    }
    all
}

fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

fn holds(pid: u32, socket: &Path) -> bool {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok()).any(|to| to == socket)
}

/// The number that a process has inside.
fn pid_inside(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_whitespace().last()?.parse().ok()
}
