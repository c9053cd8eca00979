//! Names -> addresses, once for each hop.

use std::net::{IpAddr, ToSocketAddrs};
use std::time::Duration;

use ringfence::policy::Shown;

use super::error::FetchError;
use super::work::{Gone, Workers};

/// The longest that one name may take.
const MAX_LOOKUP: Duration = Duration::from_secs(5);
/// The most lookups at a time. The system's resolver cannot be interrupted, so those given up still count.
const MAX_LOOKUPS: usize = 32;

/// Finds the addresses of a name.
pub trait Resolver {
    /// All addresses of a name. Called once for each hop; what it says is judged and then dialled.
    fn addresses(
        &self,
        name: &str,
        limit: Duration,
        abort: &dyn Fn() -> bool,
    ) -> Result<Vec<IpAddr>, LookupError>;
}

/// Reason why a name has no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// There is none.
    #[error("{}", Shown::text(.0))]
    Unknown(String),
    /// The resolver took too long.
    #[error("the resolver took too long")]
    Timeout,
    /// Too many lookups at the same time.
    #[error("too many names are being looked up")]
    Busy,
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Aborted,
}

impl LookupError {
    pub(super) fn about(self, name: &str) -> FetchError {
        match self {
            Self::Aborted => FetchError::Aborted,
            why => FetchError::Lookup { name: name.to_owned(), why },
        }
    }
}

/// The resolver of the system.
#[derive(Debug)]
pub struct SystemResolver(Workers);

impl SystemResolver {
    /// One with room for as many lookups as are made at a time.
    #[must_use]
    pub fn new() -> Self {
        Self(Workers::new(MAX_LOOKUPS))
    }
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Resolver for SystemResolver {
    fn addresses(
        &self,
        name: &str,
        limit: Duration,
        abort: &dyn Fn() -> bool,
    ) -> Result<Vec<IpAddr>, LookupError> {
        let owned = name.to_owned();
        let lookup = move || (owned.as_str(), 0_u16).to_socket_addrs().map(Iterator::collect::<Vec<_>>);
        let found = self.0.run(limit.min(MAX_LOOKUP), abort, lookup).map_err(|gone| match gone {
            Gone::Busy => LookupError::Busy,
            Gone::Timeout => LookupError::Timeout,
            Gone::Aborted => LookupError::Aborted,
            Gone::Broken => LookupError::Unknown("the resolver broke off".into()),
        })?;
        let found = found.map_err(|error| LookupError::Unknown(error.to_string()))?;
        let mut addresses: Vec<IpAddr> = Vec::new();
        for socket in found {
            if !addresses.contains(&socket.ip()) {
                addresses.push(socket.ip());
            }
        }
        if addresses.is_empty() {
            Err(LookupError::Unknown("it has no address".into()))
        } else {
            Ok(addresses)
        }
    }
}
