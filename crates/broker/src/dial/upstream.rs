//! Connections through a proxy of the company.

use std::io::{self, Write as _};
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use policy::{Endpoint, HostName};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use zeroize::Zeroizing;

use crate::secret::{Secret, SecretError};

use super::{Dialed, race};

/// Most bytes of the answer of a proxy.
const MAX_ANSWER: usize = 16 * 1024;

/// Protocol of an upstream proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyProtocol {
    /// HTTP `CONNECT`.
    Http,
    /// SOCKS5; names are resolved by the proxy.
    Socks5,
}

/// A proxy that every connection leaves through.
pub struct UpstreamProxy {
    /// Its protocol.
    pub protocol: ProxyProtocol,
    /// Its host and port. It may have a private address: the settings name it.
    pub endpoint: Endpoint,
    /// User and password, if it wants them.
    pub credentials: Option<ProxyCredentials>,
}

/// User and password of an upstream proxy.
pub struct ProxyCredentials {
    /// User.
    pub user: String,
    /// Password. Erased from memory when dropped.
    pub password: Zeroizing<String>,
}

impl ProxyCredentials {
    /// Reads `USER:PASSWORD`.
    pub fn parse(login: &Secret) -> Result<Self, SecretError> {
        let text = std::str::from_utf8(login.expose()).map_err(|_| SecretError::NotLogin)?;
        let (user, password) = text.split_once(':').ok_or(SecretError::NotLogin)?;
        Ok(Self { user: user.to_owned(), password: Zeroizing::new(password.to_owned()) })
    }
}

impl UpstreamProxy {
    /// Connects to an endpoint by way of the proxy, which resolves the name.
    pub(super) async fn connect(&self, to: &Endpoint) -> io::Result<Dialed> {
        let addresses = match &self.endpoint.host {
            HostName::Address(address) => vec![(*address, self.endpoint.port).into()],
            HostName::Name(name) => tokio::net::lookup_host((&**name, self.endpoint.port)).await?.collect(),
        };
        let mut dialed = race(addresses).await?;
        match self.protocol {
            ProxyProtocol::Http => self.connect_http(&mut dialed.stream, to).await?,
            ProxyProtocol::Socks5 => self.connect_socks(&mut dialed.stream, to).await?,
        }
        Ok(dialed)
    }

    async fn connect_http(&self, stream: &mut TcpStream, to: &Endpoint) -> io::Result<()> {
        let mut request = Zeroizing::new(Vec::with_capacity(1024));
        write!(request, "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n")?;
        if let Some(own) = &self.credentials {
            let pair = Zeroizing::new(format!("{}:{}", own.user, *own.password));
            let encoded = Zeroizing::new(STANDARD.encode(pair.as_bytes()));
            write!(request, "Proxy-Authorization: Basic {}\r\n", *encoded)?;
        }
        request.extend_from_slice(b"\r\n");
        stream.write_all(&request).await?;
        let answer = read_head(stream).await?;
        let status = answer.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        match status {
            [b'2', _, _] => Ok(()),
            b"407" => Err(io::Error::other("the upstream proxy wants other credentials (407)")),
            other => {
                Err(io::Error::other(format!("the upstream proxy answered {}", policy::Shown::bytes(other))))
            }
        }
    }

    async fn connect_socks(&self, stream: &mut TcpStream, to: &Endpoint) -> io::Result<()> {
        let method = if self.credentials.is_some() { 2 } else { 0 };
        stream.write_all(&[5, 1, method]).await?;
        let mut chosen = [0; 2];
        stream.read_exact(&mut chosen).await?;
        if chosen != [5, method] {
            return Err(io::Error::other("the upstream proxy wants another way to log in"));
        }
        self.log_in(stream).await?;
        stream.write_all(&socks_request(to)?).await?;
        let mut head = [0; 4];
        stream.read_exact(&mut head).await?;
        if head[..2] != [5, 0] {
            return Err(io::Error::other(format!("the upstream proxy refused (SOCKS reply {})", head[1])));
        }
        let rest = match head[3] {
            1 => 4,
            4 => 16,
            3 => usize::from(stream.read_u8().await?),
            _ => return Err(io::Error::other("the upstream proxy answered with an unknown address type")),
        };
        let mut bound = vec![0; rest + 2];
        stream.read_exact(&mut bound).await.map(drop)
    }

    async fn log_in(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Some(own) = &self.credentials else { return Ok(()) };
        let too_long =
            |_| io::Error::other("user or password of the upstream proxy is longer than 255 bytes");
        let mut request = Zeroizing::new(vec![1, u8::try_from(own.user.len()).map_err(too_long)?]);
        request.extend_from_slice(own.user.as_bytes());
        request.push(u8::try_from(own.password.len()).map_err(too_long)?);
        request.extend_from_slice(own.password.as_bytes());
        stream.write_all(&request).await?;
        let mut answer = [0; 2];
        stream.read_exact(&mut answer).await?;
        if answer[1] == 0 { Ok(()) } else { Err(io::Error::other("the upstream proxy refused the password")) }
    }
}

fn socks_request(to: &Endpoint) -> io::Result<Vec<u8>> {
    let mut request = vec![5, 1, 0];
    match &to.host {
        HostName::Address(IpAddr::V4(address)) => {
            request.push(1);
            request.extend_from_slice(&address.octets());
        }
        HostName::Address(IpAddr::V6(address)) => {
            request.push(4);
            request.extend_from_slice(&address.octets());
        }
        HostName::Name(name) => {
            request.push(3);
            request.push(u8::try_from(name.len()).map_err(io::Error::other)?);
            request.extend_from_slice(name.as_bytes());
        }
    }
    request.extend_from_slice(&to.port.to_be_bytes());
    Ok(request)
}

/// Reads an answer up to its empty line and not a byte further: what follows belongs to the host.
async fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(256);
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_ANSWER {
            return Err(io::Error::other("the answer of the upstream proxy is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}
