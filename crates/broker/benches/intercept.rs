//! Throughput and latency through interception, next to a direct TLS connection.
//!
//! Promises: a download runs at 35 % of the direct speed or more; a request on a kept connection costs at most 0.15 ms more, one on a
//! new connection at most 0.4 ms. Direct and intercepted take turns, so that a busy machine slows both alike.
//! `cargo bench -p ringfence-broker --bench intercept`, with `-- --quick` for a first look.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use audit::{AuditError, Event, Sink};
use policy::{Code, Decision, Endpoint, HostAddress, HostName, Inject, Reason, Route, SecretSource};
use ringfence_broker::{
    Broker, Credentials, CredentialsSettings, Gate, Limits, Origin, Question, Roots, Secret, SecretError,
    SecretName, SecretStore, Settings, Sockets,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection, StreamOwned};

const HOST: &str = "api.example";
const MEBIBYTE: usize = 1 << 20;

fn main() {
    let quick = std::env::args().any(|word| word == "--quick");
    let (mebibytes, rounds, small) = if quick { (64, 3, 200) } else { (1024, 5, 2000) };
    let (port, certificate) = start_host();
    let (broker, proxy, own) = start_broker(port, &certificate);
    let mut sides =
        [Side::new("direct", port, None, &certificate), Side::new("intercepted", port, Some(proxy), &own)];
    for round in 0..=rounds {
        for side in &mut sides {
            let time = side.download(mebibytes * MEBIBYTE);
            if round > 0 {
                side.downloads.push(time);
            }
        }
    }
    for side in &mut sides {
        side.requests(small);
    }
    for _ in 0..small / 4 {
        for side in &mut sides {
            let start = Instant::now();
            side.connect().get(1);
            side.connects.push(start.elapsed());
        }
    }
    report(mebibytes, sides);
    drop(broker.stop());
}

fn report(mebibytes: usize, mut sides: [Side; 2]) {
    for side in &mut sides {
        for times in [&mut side.downloads, &mut side.kept, &mut side.connects] {
            times.sort_unstable();
        }
    }
    let [direct, through] = &sides;
    for side in &sides {
        #[allow(clippy::cast_precision_loss, reason = "a figure for people")]
        let speed = mebibytes as f64 / median(&side.downloads).as_secs_f64();
        let (kept, new) = (median(&side.kept), median(&side.connects));
        println!("  {:<12} {speed:>7.0} MiB/s   kept {kept:>9.1?}   new {new:>9.1?}", side.name);
    }
    let share = median(&direct.downloads).as_secs_f64() / median(&through.downloads).as_secs_f64();
    let verdict = |kept: bool| if kept { "kept" } else { "BROKEN" };
    println!("  download {:>5.0} % of direct     promised 35 %: {}", share * 100.0, verdict(share >= 0.35));
    let more = |times: fn(&Side) -> Duration| times(through).saturating_sub(times(direct));
    let (kept, new) = (more(|side| median(&side.kept)), more(|side| median(&side.connects)));
    println!(
        "  kept     {kept:>9.1?} more       promised 0.15 ms: {}",
        verdict(kept <= Duration::from_micros(150))
    );
    println!(
        "  new      {new:>9.1?} more       promised 0.4 ms: {}",
        verdict(new <= Duration::from_micros(400))
    );
}

fn median(sorted: &[Duration]) -> Duration {
    sorted[sorted.len() / 2]
}

/// One way to the host.
struct Side {
    name: &'static str,
    port: u16,
    proxy: Option<u16>,
    client: Arc<ClientConfig>,
    downloads: Vec<Duration>,
    kept: Vec<Duration>,
    connects: Vec<Duration>,
}

impl Side {
    fn new(name: &'static str, port: u16, proxy: Option<u16>, pem: &str) -> Self {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
        let client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let empty = Vec::new;
        Self {
            name,
            port,
            proxy,
            client: Arc::new(client),
            downloads: empty(),
            kept: empty(),
            connects: empty(),
        }
    }

    fn connect(&self) -> Client {
        let mut stream = TcpStream::connect(("127.0.0.1", self.proxy.unwrap_or(self.port))).unwrap();
        stream.set_nodelay(true).unwrap();
        if self.proxy.is_some() {
            write!(stream, "CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n").unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
        }
        let name = ServerName::try_from(HOST).unwrap();
        let tls = ClientConnection::new(self.client.clone(), name).unwrap();
        Client(BufReader::with_capacity(64 * 1024, StreamOwned::new(tls, stream)))
    }

    fn download(&self, bytes: usize) -> Duration {
        let mut client = self.connect();
        let start = Instant::now();
        client.get(bytes);
        start.elapsed()
    }

    fn requests(&mut self, number: usize) {
        let mut client = self.connect();
        client.get(1);
        for _ in 0..number {
            let start = Instant::now();
            client.get(1);
            self.kept.push(start.elapsed());
        }
    }
}

/// One TLS connection for requests.
struct Client(BufReader<StreamOwned<ClientConnection, TcpStream>>);

impl Client {
    fn get(&mut self, bytes: usize) {
        let stream = self.0.get_mut();
        write!(stream, "GET /{bytes} HTTP/1.1\r\nHost: {HOST}\r\n\r\n").unwrap();
        stream.flush().unwrap();
        let mut line = String::new();
        let mut status = None;
        while line != "\r\n" {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            status = status.or_else(|| Some(line.clone()));
        }
        assert!(status.as_ref().unwrap().starts_with("HTTP/1.1 200"), "{status:?}");
        let mut left = bytes;
        while left > 0 {
            let read = self.0.fill_buf().unwrap().len().min(left);
            assert!(read > 0);
            self.0.consume(read);
            left -= read;
        }
    }
}

/// A host that answers `GET /N` with N bytes. Blocking, so that it costs the same for both sides.
fn start_host() -> (u16, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new([HOST.to_owned()]).unwrap().self_signed(&key).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
        )
        .unwrap();
    let (server, listener) = (Arc::new(server), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (server, stream) = (server.clone(), stream.unwrap());
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                serve(StreamOwned::new(ServerConnection::new(server).unwrap(), stream));
            });
        }
    });
    (port, pem(certificate.der()))
}

fn serve(stream: StreamOwned<ServerConnection, TcpStream>) {
    let mut stream = BufReader::new(stream);
    let block = vec![b'x'; 64 * 1024];
    loop {
        let (mut line, mut target) = (String::new(), None);
        while line != "\r\n" {
            line.clear();
            if !matches!(stream.read_line(&mut line), Ok(1..)) {
                return;
            }
            target = target.or_else(|| line.split(' ').nth(1)?[1..].parse::<usize>().ok());
        }
        let mut left = target.unwrap();
        let out = stream.get_mut();
        write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {left}\r\n\r\n").unwrap();
        while left > 0 {
            let length = left.min(block.len());
            if out.write_all(&block[..length]).is_err() {
                return;
            }
            left -= length;
        }
        if out.flush().is_err() {
            return;
        }
    }
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    use base64::Engine as _;
    let text = base64::prelude::BASE64_STANDARD.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
}

struct Open;

impl Gate for Open {
    fn decide(&self, _: &Endpoint) -> Decision {
        Decision::Allow(Reason::new(Code::HostRule, "benchmark"))
    }

    fn names_port(&self, _: &Endpoint) -> bool {
        false
    }

    fn ask(&self, _: &Question<'_>) -> Result<(), Reason> {
        Ok(())
    }
}

impl Sink for Open {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

impl SecretStore for Open {
    fn load(&self, _: &SecretName, _: &SecretSource) -> Result<Secret, SecretError> {
        Secret::new(
            b"sk-ant-api03-a-secret-of-an-ordinary-length-0123456789-abcdefghijklmnopqrstuvwxyz".to_vec(),
        )
    }
}

fn start_broker(port: u16, certificate: &str) -> (Broker, u16, String) {
    let endpoint = Endpoint::parse(HOST, 443).unwrap();
    let route = Route::new("own", SecretSource::Store, endpoint, Inject::Header("x-api-key".into()));
    let credentials = Credentials::prepare(CredentialsSettings {
        routes: vec![route],
        requests: Vec::new(),
        secrets: Arc::new(Open),
        roots: Roots { extra: certificate.into() },
        lifetime: None,
    })
    .unwrap();
    let own = credentials.certificate_pem().unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = listener.local_addr().unwrap().port();
    let name = HostName::parse(HOST).unwrap();
    let settings = Settings {
        gate: Arc::new(Open),
        credentials,
        hosts: vec![HostAddress { name, address: [127, 0, 0, 1].into(), port: Some(port) }],
        upstream: None,
        sink: Arc::new(Open),
        origin: Origin::default(),
        find_program: None,
        limits: Limits::STANDARD,
    };
    let sockets =
        Sockets { proxy: vec![listener], transparent: Vec::new(), resolver_udp: None, resolver_tcp: None };
    (Broker::start(settings, sockets).unwrap(), proxy, own)
}
