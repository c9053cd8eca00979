//! Errors of a fetch.

use ringfence::policy::Shown;

use super::admit::GateRefusal;
use super::resolve::LookupError;
use super::url::UrlError;

/// Reason why something was not fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The address cannot be used.
    #[error("the address cannot be used: {0}")]
    Url(#[from] UrlError),
    /// A redirect leads to an address that cannot be used.
    #[error("a redirect cannot be followed: {0}")]
    Redirect(#[source] UrlError),
    /// The gate says no to a host.
    #[error("{host}: {why}")]
    Refused {
        /// The host and the port.
        host: String,
        /// Reason of the gate.
        #[source]
        why: GateRefusal,
    },
    /// The gate says no to an address behind a name.
    #[error("{host} leads to {address}: {why}")]
    RefusedAddress {
        /// The host and the port.
        host: String,
        /// The address behind it.
        address: String,
        /// Reason of the gate.
        #[source]
        why: GateRefusal,
    },
    /// A metadata server, which no gate can admit.
    #[error("{host} is a cloud metadata server, which is never connected to")]
    Metadata {
        /// The host, and the address behind it.
        host: String,
    },
    /// The name has no address.
    #[error("{name} was not found: {why}")]
    Lookup {
        /// The name.
        name: String,
        /// Error of the resolver.
        #[source]
        why: LookupError,
    },
    /// Too many redirects.
    #[error("more than {max} redirects", max = super::MAX_REDIRECTS)]
    TooManyRedirects,
    /// A redirect leads to where it came from.
    #[error("the redirects go in a circle: {0}")]
    Loop(String),
    /// A redirect leads from `https` to `http`.
    #[error("a redirect leads from https to http: {0}")]
    Downgrade(String),
    /// It took too long.
    #[error("the request timed out")]
    Timeout,
    /// The call was cancelled.
    #[error("the call was cancelled")]
    Aborted,
    /// Too much is being fetched already.
    #[error("too much is being fetched at the same time")]
    Busy,
    /// The headers of an answer are too long.
    #[error("the headers of the answer are too long")]
    Headers,
    /// The server could not prove who it is, or TLS failed in another way.
    #[error("no trusted connection: {}", Shown::text(.0))]
    Tls(String),
    /// The body is compressed in a way that was not asked for.
    #[error("the body is compressed as `{}`, which was not asked for", Shown::text(.0))]
    Encoding(String),
    /// The body cannot be decompressed.
    #[error("the body cannot be decompressed: {}", Shown::text(.0))]
    Compressed(String),
    /// The answer is not HTTP.
    #[error("the answer is not HTTP: {}", Shown::text(.0))]
    Protocol(String),
    /// The connection failed.
    #[error("the connection failed: {}", Shown::text(.0))]
    Connection(String),
}
