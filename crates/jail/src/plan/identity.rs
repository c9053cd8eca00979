//! As whom a jail runs.

use super::host::{Host, Owner};
use crate::spec::Spec;

/// As whom a jail runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// As seen inside.
    pub inside: Owner,
    /// As the kernel knows it.
    pub outside: Owner,
    /// Whose files on disk are shown as our own; needs idmapped mounts.
    pub shows: Option<Owner>,
    /// The name that goes with the user inside.
    pub user: String,
}

/// An ordinary caller keeps its identity. Root runs as a user without any rights anywhere, and the files of the workspace's
/// owner are shown as that one's own.
pub(super) fn identity(spec: Option<&Spec>, host: &Host) -> Identity {
    let caller = host.caller;
    if !host.powerful {
        let user = if caller.uid == 0 { "root".to_owned() } else { host.user.clone() };
        return Identity { inside: caller, outside: caller, shows: None, user };
    }
    let owner = spec.and_then(|spec| host.entry(&spec.workspace)).and_then(super::Entry::owner);
    let shows = Some(owner.unwrap_or(caller));
    Identity { inside: AGENT, outside: NOBODY_ELSE, shows, user: "agent".to_owned() }
}

/// Identity that root's jail has inside: an ordinary first user.
const AGENT: Owner = Owner { uid: 1000, gid: 1000 };

/// An id that no distribution hands out, below the sign bit that some tools stumble over. Nothing on the host belongs to it.
const NOBODY_ELSE: Owner = Owner { uid: 0x7fff_5246, gid: 0x7fff_5246 };
