//! A host with TLS on the loopback, a broker in front of it, and a client inside.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use audit::{AuditError, Event, Sink};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, Uri};
use hyper_util::rt::{TokioExecutor, TokioIo};
use policy::{
    Code, Decision, Endpoint, HostAddress, HostName, Inject, Reason, RequestRule, Route, Scheme, SecretSource,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::authority::{Authority, Roots};
use crate::caller::Caller;
use crate::connections::Connection;
use crate::credentials::{Credentials, CredentialsSettings};
use crate::refusal::Refusal;
use crate::secret::{Secret, SecretError, SecretName, SecretStore};
use crate::stream::Session;
use crate::{Body, Gate, Limits, Origin, Question, Settings, Shared};

pub(crate) const HOST: &str = "api.example";
pub(crate) const VALUE: &str = "sk-ant-api03-Top/Secret+Value-0123456789abcdef";

/// A request as the host saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) type Respond = fn(&Seen) -> Response<Body>;

/// Protocols that a side offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    One,
    Two,
}

impl Offer {
    fn names(self) -> Vec<Vec<u8>> {
        match self {
            Self::One => vec![b"http/1.1".to_vec()],
            Self::Two => vec![b"h2".to_vec()],
        }
    }
}

pub(crate) fn body(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).map_err(|never| match never {}).boxed()
}

/// Starts a host. Its certificate is for one name, by an authority of its own.
pub(crate) async fn host(name: &str, offer: Offer, handler: Respond) -> (u16, Arc<Mutex<Vec<Seen>>>, String) {
    let authority = Authority::generate(None).unwrap();
    let mut server = (*authority.server(&HostName::parse(name).unwrap()).unwrap()).clone();
    server.alpn_protocols = offer.names();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let (all, acceptor) = (seen.clone(), TlsAcceptor::from(Arc::new(server)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (all, acceptor) = (all.clone(), acceptor.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                serve_host(TokioIo::new(stream), offer, all, handler).await;
            });
        }
    });
    (port, seen, authority.certificate_pem().to_owned())
}

async fn serve_host<S>(io: TokioIo<S>, offer: Offer, all: Arc<Mutex<Vec<Seen>>>, handler: Respond)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: Request<Incoming>| {
        let all = all.clone();
        async move {
            let upgrade = hyper::upgrade::on(&mut request);
            let (head, incoming) = request.into_parts();
            let body = incoming.collect().await?.to_bytes();
            let seen = Seen { method: head.method, uri: head.uri, headers: head.headers, body };
            let response = handler(&seen);
            all.lock().unwrap().push(seen);
            if response.status() == 101 {
                tokio::spawn(echo(upgrade));
            }
            Ok::<_, hyper::Error>(response)
        }
    });
    match offer {
        Offer::One => {
            let served = hyper::server::conn::http1::Builder::new().serve_connection(io, service);
            served.with_upgrades().await.ok();
        }
        Offer::Two => {
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            builder.serve_connection(io, service).await.ok();
        }
    }
}

/// Says the secret, then everything it hears.
async fn echo(upgrade: hyper::upgrade::OnUpgrade) {
    use tokio::io::AsyncWriteExt as _;
    let (mut read, mut write) = tokio::io::split(TokioIo::new(upgrade.await.unwrap()));
    write.write_all(format!("<{VALUE}>").as_bytes()).await.unwrap();
    write.flush().await.unwrap();
    tokio::io::copy(&mut read, &mut write).await.ok();
}

struct Open;

impl Gate for Open {
    fn decide(&self, _: &Endpoint) -> Decision {
        Decision::Allow(Reason::new(Code::HostRule, "test"))
    }

    fn names_port(&self, _: &Endpoint) -> bool {
        false
    }

    fn ask(&self, _: &Question<'_>) -> Result<(), Reason> {
        Ok(())
    }
}

/// Keeps every record as text.
#[derive(Default)]
pub(crate) struct Lines(pub(crate) Mutex<Vec<String>>);

impl Sink for Lines {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        self.0.lock().unwrap().push(format!("{event:?}"));
        Ok(())
    }
}

/// Knows every secret by one value.
pub(crate) struct Values(pub(crate) &'static str);

impl SecretStore for Values {
    fn load(&self, name: &SecretName, _: &SecretSource) -> Result<Secret, SecretError> {
        match name.as_str() {
            "other" => Secret::new(b"another-secret-value-of-this-run".to_vec()),
            _ => Secret::new(self.0.into()),
        }
    }
}

/// Choices of a test.
pub(crate) struct Plan {
    pub(crate) inject: Vec<(&'static str, Inject)>,
    pub(crate) requests: Vec<RequestRule>,
    pub(crate) offer: Offer,
    pub(crate) client: Offer,
    pub(crate) handler: Respond,
    pub(crate) value: &'static str,
    pub(crate) lifetime: Option<Duration>,
    pub(crate) certificate: &'static str,
}

impl Plan {
    pub(crate) fn new(inject: Inject, handler: Respond) -> Self {
        Self {
            inject: vec![(HOST, inject)],
            requests: Vec::new(),
            offer: Offer::One,
            client: Offer::One,
            handler,
            value: VALUE,
            lifetime: None,
            certificate: HOST,
        }
    }

    pub(crate) fn over(mut self, client: Offer, offer: Offer) -> Self {
        (self.client, self.offer) = (client, offer);
        self
    }

    pub(crate) async fn start(self) -> World {
        let (port, seen, pem) = host(self.certificate, self.offer, self.handler).await;
        let endpoint = |host: &str| Endpoint::parse(host, 443).unwrap();
        let route = |(index, (host, inject)): (usize, (&str, Inject))| {
            let name = if index == 0 { "own" } else { "other" };
            let mut route = Route::new(name, SecretSource::Store, endpoint(host), inject);
            route.placeholder = Some(format!("{}_KEY", name.to_uppercase()).into());
            route
        };
        let credentials = Credentials::prepare(CredentialsSettings {
            routes: self.inject.into_iter().enumerate().map(route).collect(),
            requests: self.requests,
            secrets: Arc::new(Values(self.value)),
            roots: Roots { extra: pem.into_bytes() },
            lifetime: self.lifetime,
        })
        .unwrap();
        let environment = credentials.environment();
        let certificate = credentials.certificate_pem().unwrap().to_owned();
        let records: Arc<Lines> = Arc::default();
        let name = HostName::parse(HOST).unwrap();
        let shared = Arc::new(Shared::new(Settings {
            gate: Arc::new(Open),
            credentials,
            hosts: vec![HostAddress { name, address: [127, 0, 0, 1].into(), port: Some(port) }],
            upstream: None,
            sink: records.clone(),
            origin: Origin::default(),
            find_program: None,
            limits: Limits::STANDARD,
        }));
        World { shared, records, environment, certificate, seen, client: self.client }
    }
}

/// A broker between a client and a host.
pub(crate) struct World {
    pub(crate) shared: Arc<Shared>,
    pub(crate) records: Arc<Lines>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) certificate: String,
    pub(crate) seen: Arc<Mutex<Vec<Seen>>>,
    pub(crate) client: Offer,
}

pub(crate) type TlsClient = tokio_rustls::client::TlsStream<TcpStream>;
pub(crate) type Serving = tokio::task::JoinHandle<Result<(), Refusal>>;

impl World {
    pub(crate) fn placeholder(&self, variable: &str) -> &str {
        &self.environment.iter().find(|(name, _)| name == variable).unwrap().1
    }

    /// Opens a connection as a tunnel of the broker would, up to TLS.
    pub(crate) async fn connect(&self, sni: &str) -> (std::io::Result<TlsClient>, Serving) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let inside = listener.accept().await.unwrap().0;
        let endpoint = Endpoint::parse(HOST, 443).unwrap();
        let reason = Reason::new(Code::HostRule, "test");
        let connection = Connection::open(&self.shared, &endpoint, &reason, &Caller::unknown()).unwrap();
        let permit = Arc::new(tokio::sync::Semaphore::new(1)).try_acquire_owned().unwrap();
        let session = Arc::new(Session { program: Caller::unknown(), _permit: permit });
        let shared = self.shared.clone();
        let serving =
            tokio::spawn(
                async move { super::serve(&shared, &session, inside, connection, Scheme::Https).await },
            );
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.certificate.as_bytes()).unwrap()).unwrap();
        let mut client =
            rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
        client.alpn_protocols = self.client.names();
        let name = ServerName::try_from(sni.to_owned()).unwrap();
        (TlsConnector::from(Arc::new(client)).connect(name, stream).await, serving)
    }

    /// Opens a connection for requests.
    pub(crate) async fn open(&self) -> Requests {
        let stream = TokioIo::new(self.connect(HOST).await.0.unwrap());
        match self.client {
            Offer::One => {
                let (sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
                tokio::spawn(connection.with_upgrades());
                Requests::One(sender)
            }
            Offer::Two => {
                let made = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await;
                let (sender, connection) = made.unwrap();
                tokio::spawn(connection);
                Requests::Two(sender)
            }
        }
    }

    pub(crate) fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().unwrap().clone()
    }

    /// Everything that was recorded.
    pub(crate) fn recorded(&self) -> String {
        self.records.0.lock().unwrap().join("\n")
    }
}

/// Sends requests on one connection.
pub(crate) enum Requests {
    One(hyper::client::conn::http1::SendRequest<Body>),
    Two(hyper::client::conn::http2::SendRequest<Body>),
}

impl Requests {
    pub(crate) async fn send(&mut self, mut request: Request<Body>) -> Response<Incoming> {
        match self {
            Self::One(sender) => {
                sender.ready().await.unwrap();
                if !request.headers().contains_key("host") {
                    request.headers_mut().insert("host", HOST.parse().unwrap());
                }
                sender.send_request(request).await.unwrap()
            }
            Self::Two(sender) => {
                if request.uri().authority().is_none() {
                    let target = request.uri().path_and_query().unwrap().to_string();
                    *request.uri_mut() = format!("https://{HOST}{target}").parse().unwrap();
                }
                sender.send_request(request).await.unwrap()
            }
        }
    }

    /// Sends a request and reads all of the response.
    pub(crate) async fn exchange(&mut self, request: Request<Body>) -> (Response<()>, String) {
        let (head, body) = self.send(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (Response::from_parts(head, ()), String::from_utf8_lossy(&body).into_owned())
    }

    pub(crate) async fn get(&mut self, target: &str) -> (Response<()>, String) {
        self.exchange(Request::get(target).body(Body::default()).unwrap()).await
    }
}
