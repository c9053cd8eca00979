//! Sockets that get an address: one with a path is a name like any other.
//!
//! The address is read once and bound here, on the caller's own socket, for every family: a call that went on could be given
//! another address or another socket meanwhile.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use policy::Act;
use rustix::io::Errno;
use rustix::net::{AddressFamily, sockopt};

use super::Done;
use super::perform::CallerCall;
use crate::sys::linux::calls::notify;

impl CallerCall<'_> {
    /// Binds a socket in the caller's place.
    pub(super) fn bind(&mut self, socket: i32, address: u64, length: i32) -> Result<(), Errno> {
        let socket = self.finder.caller.socket(socket, || self.is_waiting())?;
        let family = sockopt::socket_domain(&socket)?;
        let address = self.notice.socket_address(address, length)?;
        self.is_waiting()?;
        match family {
            AddressFamily::UNIX => match path(&address) {
                Some(path) => self.bind_path(&socket, path),
                None => notify::bind(&socket, &address),
            },
            // In the jail's own network the supervisor may bind ports below 1024; in the host's it may not.
            AddressFamily::INET | AddressFamily::INET6 => notify::bind(&socket, &address),
            AddressFamily::NETLINK => self.bind_netlink(&socket, address),
            _ => Err(Errno::PERM),
        }
    }

    fn bind_path(&mut self, socket: &OwnedFd, path: &[u8]) -> Result<(), Errno> {
        let in_use = |errno| if errno == Errno::EXIST { Errno::ADDRINUSE } else { errno };
        let spot = self.new_file_at(path).map_err(in_use)?;
        self.free(&spot, Act::File)?;
        let name = spot.name.as_bytes_with_nul();
        // One that fills the field has no end.
        let name = &name[..name.len().min(LONGEST_PATH)];
        rustix::process::fchdir(&spot.directory)?;
        let bound = notify::bind(socket, &with_family(name));
        // The directory must not be held by a thread that waits for the next call.
        rustix::process::chdir(c"/")?;
        bound?;
        if path != spot.name.to_bytes() {
            self.shared.sockets.remember(socket, &[path, b"\0"].concat());
        }
        Ok(())
    }

    /// Binds a netlink socket. Without a number, the kernel would use that of the supervisor's process.
    fn bind_netlink(&self, socket: &OwnedFd, mut address: Vec<u8>) -> Result<(), Errno> {
        const NUMBER: std::ops::Range<usize> = 4..8;
        let is_chosen = |address: &[u8]| address.get(NUMBER).is_some_and(|number| number != [0; 4]);
        if address.len() < 12 || is_chosen(&address) || is_chosen(&notify::socket_name(socket)?) {
            return notify::bind(socket, &address);
        }
        let own: u32 = self.finder.caller.process_inside()?.parse().map_err(|_| Errno::IO)?;
        let mut number = own;
        for _ in 0..8 {
            address[NUMBER].copy_from_slice(&number.to_ne_bytes());
            match notify::bind(socket, &address) {
                Err(Errno::ADDRINUSE) => number = random()? | 1 << 31,
                bound => return bound,
            }
        }
        Err(Errno::ADDRINUSE)
    }

    /// Says the address of a socket as its owner gave it: the kernel knows it by its last name alone.
    pub(super) fn socket_name(&self, socket: i32, address: u64, length: u64) -> Result<Done, Errno> {
        if self.shared.sockets.is_empty() {
            return Ok(Done::Continue);
        }
        let caller = self.finder.caller;
        let socket = caller.socket(socket, || self.is_waiting())?;
        let Some(name) = self.shared.sockets.name(&socket) else { return Ok(Done::Continue) };
        let name = with_family(&name);
        let memory = caller.memory()?;
        // From here on the handle is known to be the caller's, and a number is not used any more.
        self.is_waiting()?;
        let mut room = [0; 4];
        memory.read(length, &mut room)?;
        let room = usize::try_from(i32::from_ne_bytes(room)).map_err(|_| Errno::INVAL)?;
        memory.write(address, name.get(..room).unwrap_or(&name))?;
        memory.write(length, &u32::try_from(name.len()).unwrap_or(0).to_ne_bytes())?;
        Ok(Done::Answered(Ok(())))
    }
}

/// The addresses of sockets that were bound by a path with directories in it, by the cookie of the socket.
#[derive(Default)]
pub(super) struct SocketNames(Mutex<HashMap<u64, Vec<u8>>>);

/// Number of addresses that are remembered; for further sockets the kernel answers.
const MOST: usize = 4096;

impl SocketNames {
    fn remember(&self, socket: &OwnedFd, name: &[u8]) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(cookie) = sockopt::socket_cookie(socket)
            && names.len() < MOST
        {
            names.insert(cookie, name.to_owned());
        }
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn name(&self, socket: &OwnedFd) -> Option<Vec<u8>> {
        let cookie = sockopt::socket_cookie(socket).ok()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&cookie).cloned()
    }
}

/// The size of `sun_path`.
const LONGEST_PATH: usize = 108;
const FAMILY: usize = 2;

/// The path in an address of the family unix; `None` if the kernel would take it for none.
fn path(address: &[u8]) -> Option<&[u8]> {
    let (family, path) = address.split_at_checked(FAMILY)?;
    let is_unix = family == AddressFamily::UNIX.as_raw().to_ne_bytes();
    let fits = is_unix && path.len() <= LONGEST_PATH;
    path.split(|byte| *byte == 0).next().filter(|path| fits && !path.is_empty())
}

fn with_family(path: &[u8]) -> Vec<u8> {
    [&AddressFamily::UNIX.as_raw().to_ne_bytes(), path].concat()
}

fn random() -> Result<u32, Errno> {
    let mut bytes = [0; 4];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(u32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_the_kernel_takes_for_one() {
        let unix = |rest: &[u8]| with_family(rest);
        let long = [b'x'; 108];
        let rows: [(Vec<u8>, Option<&[u8]>); 9] = [
            (unix(b"a\0"), Some(b"a")),
            (unix(b"a"), Some(b"a")),
            (unix(b"a\0b"), Some(b"a")),
            (unix(b"\0abstract"), None),
            (unix(b""), None),
            (vec![1], None),
            (vec![2, 0, b'a'], None),
            (unix(&long), Some(&long)),
            (unix(&[b'x'; 109]), None),
        ];
        for (address, expected) in rows {
            assert_eq!(path(&address), expected, "{address:?}");
        }
    }
}
