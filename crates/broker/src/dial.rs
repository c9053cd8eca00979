//! Connections to hosts: names are resolved outside, every address is checked, exactly a checked one is dialed.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use policy::{Decision, Endpoint, HostAddress, HostName, is_metadata, not_public};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::gate::Gate;
use crate::refusal::Refusal;

mod upstream;

pub use upstream::{ProxyCredentials, ProxyProtocol, UpstreamProxy};

/// Head start of an address before the next one is tried as well.
const STAGGER: Duration = Duration::from_millis(250);
/// Most addresses of a name that are tried.
const MAX_ADDRESSES: usize = 16;

/// Connects to hosts that were allowed.
pub(crate) struct Dialer {
    gate: Arc<dyn Gate>,
    hosts: Vec<HostAddress>,
    upstream: Option<UpstreamProxy>,
    timeout: Duration,
}

/// A connection to a host.
pub(crate) struct Dialed {
    pub(crate) stream: TcpStream,
    /// Address of the host, or of the proxy that leads to it.
    pub(crate) address: SocketAddr,
}

impl Dialer {
    pub(crate) fn new(
        gate: Arc<dyn Gate>,
        hosts: Vec<HostAddress>,
        upstream: Option<UpstreamProxy>,
        timeout: Duration,
    ) -> Self {
        Self { gate, hosts, upstream, timeout }
    }

    /// Connects to an endpoint that was allowed by its name.
    pub(crate) async fn connect(&self, to: &Endpoint) -> Result<Dialed, Refusal> {
        let connected = tokio::time::timeout(self.timeout, self.connect_unbounded(to)).await;
        connected.unwrap_or_else(|_| Err(Refusal::unreachable(to, "no connection in time")))
    }

    async fn connect_unbounded(&self, to: &Endpoint) -> Result<Dialed, Refusal> {
        let fixed = self.fixed(to);
        if let (Some(proxy), true) = (&self.upstream, fixed.is_empty()) {
            if to.host.address().is_some() {
                self.check(to, to.host.address().into_iter())?;
            }
            return proxy.connect(to).await.map_err(|error| Refusal::unreachable(to, error.to_string()));
        }
        let addresses = if fixed.is_empty() { self.resolve(to).await? } else { fixed };
        let dialed = race(addresses).await;
        dialed.map_err(|error| Refusal::unreachable(to, format!("cannot connect: {error}")))
    }

    /// Returns the addresses that the settings give a name.
    fn fixed(&self, to: &Endpoint) -> Vec<SocketAddr> {
        let own = self.hosts.iter().filter(|fixed| fixed.name == to.host);
        own.filter(|fixed| !is_metadata(&HostName::Address(fixed.address)))
            .map(|fixed| fixed.socket(to.port))
            .collect()
    }

    /// Resolves a name outside and checks every address.
    async fn resolve(&self, to: &Endpoint) -> Result<Vec<SocketAddr>, Refusal> {
        let addresses: Vec<SocketAddr> = match &to.host {
            HostName::Address(address) => vec![SocketAddr::new(*address, to.port)],
            HostName::Name(name) => {
                let found = tokio::net::lookup_host((&**name, to.port)).await;
                found.map_err(|error| Refusal::unreachable(to, format!("cannot resolve: {error}")))?.collect()
            }
        };
        self.check(to, addresses.iter().map(SocketAddr::ip))?;
        if addresses.is_empty() {
            return Err(Refusal::unreachable(to, "the name has no address"));
        }
        Ok(interleave(addresses))
    }

    /// Refuses if one address is not public, unless a rule allows that address.
    fn check(&self, to: &Endpoint, mut addresses: impl Iterator<Item = IpAddr>) -> Result<(), Refusal> {
        addresses.try_for_each(|address| {
            let host = HostName::Address(address);
            if is_metadata(&host) {
                return Err(Refusal::metadata(to));
            }
            let Some(why) = not_public(&host) else { return Ok(()) };
            let literal = Endpoint { host, port: to.port };
            match self.gate.decide(&literal) {
                Decision::Allow(_) => Ok(()),
                Decision::Ask(_) | Decision::Deny(_) => Err(Refusal::private(to, address, why)),
            }
        })
    }
}

/// Orders addresses by family in turn, as given otherwise.
fn interleave(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let v6_first = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == v6_first);
    let mut ordered = Vec::with_capacity(first.len() + second.len());
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    loop {
        match (first.next(), second.next()) {
            (None, None) => break,
            (one, two) => ordered.extend(one.into_iter().chain(two)),
        }
    }
    ordered.truncate(MAX_ADDRESSES);
    ordered
}

/// Connects to the first address that answers; each gets a head start over the next.
async fn race(addresses: Vec<SocketAddr>) -> io::Result<Dialed> {
    let mut waiting = addresses.into_iter();
    let mut attempts = JoinSet::new();
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        let next = waiting.next();
        let more = next.is_some();
        if let Some(address) = next {
            attempts.spawn(dial(address));
        }
        let attempt = if more {
            match tokio::time::timeout(STAGGER, attempts.join_next()).await {
                Ok(attempt) => attempt,
                Err(_) => continue,
            }
        } else {
            attempts.join_next().await
        };
        match attempt {
            Some(Ok(Ok(dialed))) => return Ok(dialed),
            Some(Ok(Err(error))) => last = error,
            Some(Err(error)) => last = io::Error::other(error),
            None => return Err(last),
        }
    }
}

async fn dial(address: SocketAddr) -> io::Result<Dialed> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(Dialed { stream, address })
}
