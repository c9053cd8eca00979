//! Addresses that may be connected to for a hop.

use std::error::Error;
use std::net::IpAddr;

use ringfence::policy::{Endpoint, HostName, is_metadata, not_public};

use super::Limits;
use super::error::FetchError;
use super::resolve::{LookupError, Resolver};
use super::url::Url;

/// Says whether an endpoint may be connected to; asks and records where the policy wants it.
pub trait Gate {
    /// Asks for a host by its name or address. Every error is a no.
    fn may(&self, endpoint: &Endpoint) -> Result<(), GateRefusal>;
}

/// A no, with the reason of the gate.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GateRefusal(pub Box<dyn Error + Send + Sync>);

/// The addresses of a hop, all of them judged.
///
/// A public address goes with the permission for its name. Any other needs a permission of its own, and if one of them
/// has none, nothing is connected to: the owner of the name chose them together.
pub(super) fn addresses(
    url: &Url,
    gate: &dyn Gate,
    resolver: &dyn Resolver,
    limits: &mut Limits<'_>,
) -> Result<Vec<IpAddr>, FetchError> {
    let endpoint = url.endpoint();
    ask(endpoint, gate, limits).map_err(|why| FetchError::Refused { host: endpoint.to_string(), why })?;
    if is_metadata(&endpoint.host) {
        return Err(FetchError::Metadata { host: endpoint.to_string() });
    }
    let name = match &endpoint.host {
        HostName::Address(address) => return Ok(vec![*address]),
        HostName::Name(name) => name,
    };
    let found = resolver.addresses(name, limits.left()?, limits.abort).map_err(|why| why.about(name))?;
    if found.is_empty() {
        return Err(LookupError::Unknown("it has no address".into()).about(name));
    }
    for address in &found {
        judge(endpoint, *address, gate, limits)?;
    }
    Ok(found)
}

fn judge(
    endpoint: &Endpoint,
    address: IpAddr,
    gate: &dyn Gate,
    limits: &mut Limits<'_>,
) -> Result<(), FetchError> {
    let behind = Endpoint { host: HostName::Address(address), port: endpoint.port };
    let metadata = is_metadata(&behind.host);
    if metadata || not_public(&behind.host).is_some() {
        ask(&behind, gate, limits).map_err(|why| FetchError::RefusedAddress {
            host: endpoint.to_string(),
            address: address.to_string(),
            why,
        })?;
    }
    if metadata {
        return Err(FetchError::Metadata { host: format!("{endpoint} ({address})") });
    }
    Ok(())
}

fn ask(endpoint: &Endpoint, gate: &dyn Gate, limits: &mut Limits<'_>) -> Result<(), GateRefusal> {
    limits.pause(|| gate.may(endpoint))
}
