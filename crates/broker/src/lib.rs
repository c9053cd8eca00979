//! The only way out of a jail, and the only holder of secrets.
//!
//! Listens on sockets that were made inside the jail's own network and dials from outside. Every connection is judged by its host,
//! every request that is seen by its method and path; secrets are added here and never enter the jail.
//!
//! One thread waits for the first connection with `poll(2)`; only then is a runtime built. A connection comes through a proxy
//! (HTTP or SOCKS5), or is redirected by the kernel (the transparent path), and ends in one place: `judge::Judge` decides on the
//! *name*, `dial::Dialer` resolves it outside and connects to exactly an address that it checked.

mod authority;
mod bodies;
mod broker;
mod caller;
mod connections;
mod credentials;
mod dial;
mod forms;
mod gate;
mod http;
mod inject;
mod intercept;
mod judge;
mod key_store;
mod lease;
mod limits;
mod listen;
mod names;
mod placeholder;
mod record;
mod refusal;
mod report;
mod resolver;
mod screen;
mod scrub;
mod secret;
mod sigv4;
mod socks;
mod stream;
mod transparent;
mod tunnel;
mod upstream;
pub mod wire;

use std::net::{TcpListener, UdpSocket};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;

pub use authority::{Authority, AuthorityError, Roots, certificates_in};
pub use broker::{Broker, StartError};
pub use caller::FindProgram;
pub use credentials::{Credentials, CredentialsError, CredentialsSettings};
pub use dial::{ProxyCredentials, ProxyProtocol, UpstreamProxy};
pub use gate::{Gate, Program, Question};
pub use key_store::java_key_store;
pub use limits::Limits;
pub use placeholder::{Placeholder, PlaceholderScan, StreamScan, TooMany};
pub use record::Origin;
pub use report::{RefusedHost, Report};
pub use scrub::{Needles, Scrubber};
pub use secret::{FileStore, MAX_VALUE, Secret, SecretError, SecretName, SecretStore, Sources};
#[doc(hidden)]
pub use transparent::Destination;

/// Body of a request or a response on its way through.
pub(crate) type Body = BoxBody<Bytes, BodyError>;
/// Error of a body: the side that it came from failed.
pub(crate) type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Everything that a broker is told before it starts.
pub struct Settings {
    /// Decides about hosts.
    pub gate: Arc<dyn Gate>,
    /// Secrets, rules on requests and the certificate authority of the run, made before the jail.
    pub credentials: Credentials,
    /// Fixed addresses of names. Only these, and addresses that a rule names, may lie on a private network.
    pub hosts: Vec<policy::HostAddress>,
    /// Proxy that every connection leaves through, except to names in `hosts`.
    pub upstream: Option<UpstreamProxy>,
    /// Receives every record. A connection that cannot be recorded is refused.
    pub sink: Arc<dyn audit::Sink>,
    /// Names the run in every record.
    pub origin: Origin,
    /// Finds the program behind a connection, for records and questions.
    pub find_program: Option<FindProgram>,
    /// Bounds on time, memory and number.
    pub limits: Limits,
}

/// Sockets that were made inside the network of the jail.
pub struct Sockets {
    /// Listeners for HTTP proxy and SOCKS5 clients; the first byte decides.
    pub proxy: Vec<TcpListener>,
    /// Listeners that the kernel redirects connections to.
    pub transparent: Vec<TcpListener>,
    /// Receives DNS queries.
    pub resolver_udp: Option<UdpSocket>,
    /// Accepts DNS queries over TCP.
    pub resolver_tcp: Option<TcpListener>,
}

/// State that every connection of a broker uses.
pub(crate) struct Shared {
    pub(crate) judge: judge::Judge,
    pub(crate) dialer: dial::Dialer,
    pub(crate) credentials: credentials::Credentials,
    pub(crate) recorder: record::Recorder,
    pub(crate) connections: connections::Connections,
    pub(crate) names: names::Names,
    pub(crate) find_program: Option<FindProgram>,
    pub(crate) limits: Limits,
}
