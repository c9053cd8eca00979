//! The hostname of a jail: the same in its UTS namespace and in `/etc/hostname`, whichever provider makes it.

/// Hostname that programs in a jail see.
pub(crate) const HOSTNAME: &str = "ringfence";
