//! Watching what a jailed program tries, to tell afterwards what it used and what it was refused.
//!
//! **Invariant.** This observes and never decides. What is read here of the program's memory may be something else by then; at
//! worst an explanation is wrong.

pub(crate) mod call;
pub(crate) mod uses;

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use call::{Call, Notice};

use crate::launch::Denial;
use crate::plan::{Refusal, Sight};

/// Returns what a call will be refused, as far as it can be told.
pub(crate) fn denial(notice: &Notice, sight: &Sight) -> Option<Denial> {
    match notice.call()? {
        Call::Execute(path) => {
            let path = notice.absolute(&path)?;
            refusal(&path, false, sight).map(|_| Denial::Program(path))
        }
        Call::Open { path, writes } => {
            let path = notice.absolute(&path)?;
            Some(match refusal(&path, writes, sight)? {
                Refusal::Unseen => Denial::File(path),
                Refusal::ReadOnly => Denial::ReadOnly(path),
                Refusal::Hidden => Denial::Hidden(path),
            })
        }
        Call::Connect(address) => connection(&address, sight),
    }
}

/// Only what the host has was refused, or a new file where it could have one; the rest does not exist anywhere.
fn refusal(path: &Path, writes: bool, sight: &Sight) -> Option<Refusal> {
    let refusal = sight.refusal(path, writes)?;
    let there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    (there(path) || writes && path.parent().is_some_and(there)).then_some(refusal)
}

fn connection(bytes: &[u8], sight: &Sight) -> Option<Denial> {
    match address(bytes)? {
        Address::Socket(path) => refusal(&path, false, sight).map(|_| Denial::File(path)),
        Address::Internet(address) => {
            let host = address.ip();
            let outside = sight.is_cut_off() && !host.is_loopback() && !host.is_unspecified();
            outside.then(|| Denial::Connection(address.to_string()))
        }
    }
}

/// Address that is called.
enum Address {
    Socket(PathBuf),
    Internet(SocketAddr),
}

fn address(bytes: &[u8]) -> Option<Address> {
    let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    if family == libc::AF_UNIX {
        let path = bytes.get(2..)?.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
        return Some(Address::Socket(PathBuf::from(OsStr::from_bytes(path))));
    }
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let host: IpAddr = match family {
        libc::AF_INET => Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(4..8)?).ok()?).into(),
        libc::AF_INET6 => Ipv6Addr::from(<[u8; 16]>::try_from(bytes.get(8..24)?).ok()?).into(),
        _ => return None,
    };
    Some(Address::Internet(SocketAddr::new(host, port)))
}
