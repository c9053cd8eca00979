//! A broker on loopback, a policy of patterns, and hosts that answer.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "tests may unwrap, and each file uses a part"
)]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use audit::{AuditError, Event, Sink};
use policy::{
    Code, Decision, Effect, Endpoint, HostAddress, HostIndex, HostName, HostPattern, Reason, SecretSource,
    not_public,
};
use ringfence_broker::{
    Broker, Credentials, CredentialsSettings, Destination, Gate, Limits, Origin, Question, Roots, Secret,
    SecretError, SecretName, SecretStore, Settings, Sockets, UpstreamProxy,
};

/// Time after which a test that hangs fails.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Records as text.
#[derive(Default)]
pub struct Records(pub Mutex<Vec<String>>);

impl Sink for Records {
    fn record(&self, event: &Event<'_>) -> Result<(), AuditError> {
        self.0.lock().unwrap().push(format!("{} {event:?}", event.name()));
        Ok(())
    }
}

impl Records {
    pub fn count(&self, name: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|line| line.starts_with(&format!("{name} "))).count()
    }

    /// Waits for a record that the broker writes after it has closed the connection.
    pub fn await_record(&self, words: &[&str]) {
        let started = std::time::Instant::now();
        while !self.has(words) {
            assert!(started.elapsed() < PATIENCE, "no record of {words:?} in {:#?}", self.0.lock().unwrap());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn has(&self, words: &[&str]) -> bool {
        self.0.lock().unwrap().iter().any(|line| words.iter().all(|word| line.contains(word)))
    }
}

/// No record is ever written.
pub struct Broken;

impl Sink for Broken {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        let source = std::io::ErrorKind::StorageFull.into();
        Err(AuditError::Unwritable { step: "write", path: "ledger".into(), source })
    }
}

pub struct NoSecrets;

impl SecretStore for NoSecrets {
    fn load(&self, _: &SecretName, _: &SecretSource) -> Result<Secret, SecretError> {
        Err(SecretError::Unsupported)
    }
}

/// Knows every secret by one value.
pub struct OneValue(pub &'static str);

impl SecretStore for OneValue {
    fn load(&self, _: &SecretName, _: &SecretSource) -> Result<Secret, SecretError> {
        Secret::new(self.0.into())
    }
}

/// Allows what a pattern names; asks about `ask`; private addresses need a rule that names them.
pub struct Patterns {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
    pub answer: Result<(), Reason>,
    pub think: Duration,
    pub asked: AtomicUsize,
    /// Denies everything from now on.
    pub closed: AtomicBool,
}

impl Patterns {
    pub fn allow(patterns: &[&str]) -> Self {
        Self {
            allow: patterns.iter().map(|text| (*text).to_owned()).collect(),
            ask: Vec::new(),
            deny: Vec::new(),
            answer: Ok(()),
            think: Duration::ZERO,
            asked: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
        }
    }

    fn matching(patterns: &[String], effect: Effect, endpoint: &Endpoint) -> Option<String> {
        patterns
            .iter()
            .find(|text| {
                let Ok(pattern) = HostPattern::parse(text) else { return false };
                let (mut index, mut hit) = (HostIndex::default(), false);
                index.add(0, &pattern, effect);
                index.matches(endpoint, |_| hit = true);
                hit && (not_public(&endpoint.host).is_none() || pattern.names_local())
            })
            .cloned()
    }
}

impl Gate for Patterns {
    fn decide(&self, endpoint: &Endpoint) -> Decision {
        let closed = self.closed.load(Ordering::SeqCst);
        if closed || Self::matching(&self.deny, Effect::Deny, endpoint).is_some() {
            return Decision::Deny(Reason::new(Code::HostRule, "a rule denies it"));
        }
        if Self::matching(&self.allow, Effect::Allow, endpoint).is_some() {
            return Decision::Allow(Reason::new(Code::HostRule, "a rule allows it"));
        }
        if Self::matching(&self.ask, Effect::Ask, endpoint).is_some() {
            return Decision::Ask(Reason::new(Code::UnknownHost, "a person decides"));
        }
        Decision::Deny(Reason::new(Code::UnknownHost, "no rule names this host"))
    }

    fn names_port(&self, endpoint: &Endpoint) -> bool {
        Self::matching(&self.allow, Effect::Allow, endpoint)
            .is_some_and(|text| text.ends_with(&format!(":{}", endpoint.port)))
    }

    fn ask(&self, _: &Question<'_>) -> Result<(), Reason> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.think);
        self.answer.clone()
    }
}

/// A running broker and the addresses of its sockets.
pub struct Stage {
    pub broker: Broker,
    pub proxy: SocketAddr,
    pub transparent: SocketAddr,
    pub dns: SocketAddr,
    pub dns_tcp: SocketAddr,
    pub records: Arc<Records>,
    pub gate: Arc<Patterns>,
    /// Variables with placeholders.
    pub environment: Vec<(String, String)>,
    /// Certificate of the run.
    pub certificate: Option<String>,
}

/// Everything that tests change.
pub struct Plan {
    pub gate: Patterns,
    /// Names and the loopback port that they lead to.
    pub hosts: Vec<(&'static str, u16)>,
    pub limits: Limits,
    pub destination: SocketAddr,
    pub upstream: Option<UpstreamProxy>,
    pub sink: Option<Arc<dyn Sink>>,
    pub routes: Vec<policy::Route>,
    pub requests: Vec<policy::RequestRule>,
    pub secrets: Arc<dyn SecretStore>,
    /// Certificate authorities of hosts, in PEM.
    pub roots: Vec<u8>,
}

impl Plan {
    pub fn new(allow: &[&str], hosts: &[(&'static str, u16)]) -> Self {
        Self {
            gate: Patterns::allow(allow),
            hosts: hosts.to_vec(),
            limits: Limits { head: Duration::from_secs(5), ..Limits::STANDARD },
            destination: "198.18.0.1:80".parse().unwrap(),
            upstream: None,
            sink: None,
            routes: Vec::new(),
            requests: Vec::new(),
            secrets: Arc::new(NoSecrets),
            roots: Vec::new(),
        }
    }

    pub fn start(self) -> Stage {
        let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (proxy, transparent) = (listen(), listen());
        let resolver_udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let dns = resolver_udp.local_addr().unwrap();
        let resolver_tcp = listen();
        let dns_tcp = resolver_tcp.local_addr().unwrap();
        let addresses = (proxy.local_addr().unwrap(), transparent.local_addr().unwrap());
        let (records, gate) = (Arc::new(Records::default()), Arc::new(self.gate));
        let fixed = |(name, port): &(&str, u16)| HostAddress {
            name: HostName::parse(name).unwrap(),
            address: Ipv4Addr::LOCALHOST.into(),
            port: Some(*port),
        };
        let sink = self.sink.unwrap_or_else(|| Arc::clone(&records) as Arc<dyn Sink>);
        let credentials = Credentials::prepare(CredentialsSettings {
            routes: self.routes,
            requests: self.requests,
            secrets: self.secrets,
            roots: Roots { extra: self.roots },
            lifetime: None,
        })
        .unwrap();
        let (environment, certificate) =
            (credentials.environment(), credentials.certificate_pem().map(str::to_owned));
        let settings = Settings {
            gate: Arc::clone(&gate) as Arc<dyn Gate>,
            credentials,
            hosts: self.hosts.iter().map(fixed).collect(),
            upstream: self.upstream,
            sink,
            origin: Origin { id: Some("run-1".into()), ..Origin::default() },
            find_program: None,
            limits: self.limits,
        };
        let sockets = Sockets {
            proxy: vec![proxy],
            transparent: vec![transparent],
            resolver_udp: Some(resolver_udp),
            resolver_tcp: Some(resolver_tcp),
        };
        let broker = Broker::start_with(settings, sockets, Destination::Fixed(self.destination)).unwrap();
        Stage {
            broker,
            proxy: addresses.0,
            transparent: addresses.1,
            dns,
            dns_tcp,
            records,
            gate,
            environment,
            certificate,
        }
    }
}

impl Stage {
    pub fn client(&self) -> TcpStream {
        connect(self.proxy)
    }

    /// Sends bytes to the proxy and returns everything that comes back until it closes or falls silent.
    pub fn exchange(&self, raw: &[u8]) -> String {
        let mut stream = self.client();
        // The broker may refuse before everything is sent.
        let _sent = stream.write_all(raw);
        read_answer(&mut stream)
    }

    /// Asks the resolver for the address of a name.
    pub fn lookup(&self, name: &str) -> Vec<u8> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.send_to(&query(name, 1), self.dns).unwrap();
        let mut answer = vec![0; 1024];
        let length = socket.recv(&mut answer).unwrap();
        answer.truncate(length);
        answer
    }
}

pub fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Returns true if the broker closes or resets a connection; false if it sends something or is silent.
pub fn is_closed(stream: &mut TcpStream) -> bool {
    use std::io::ErrorKind::{TimedOut, WouldBlock};
    match stream.read(&mut [0; 16]) {
        Ok(length) => length == 0,
        Err(error) => !matches!(error.kind(), WouldBlock | TimedOut),
    }
}

/// A DNS query.
pub fn query(name: &str, kind: u16) -> Vec<u8> {
    let mut bytes = vec![0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&[0, 1]);
    bytes
}

/// Reads one answer: the head, and the body by its length.
pub fn read_answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
            });
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return text,
            Ok(length) => bytes.extend_from_slice(&chunk[..length]),
        }
    }
}

/// A host on loopback.
pub struct Host {
    pub port: u16,
    pub connections: Arc<AtomicUsize>,
}

/// A host that sends every byte back.
pub fn echo() -> Host {
    host(|mut stream| {
        let mut chunk = vec![0; 65536];
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            if stream.write_all(&chunk[..length]).is_err() {
                return;
            }
        }
    })
}

/// A web server whose answer is the head that it got. A request to upgrade is accepted and then echoed.
pub fn web() -> Host {
    host(|mut stream| {
        let mut bytes: Vec<u8> = Vec::new();
        let mut chunk = vec![0; 65536];
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..length]);
            while let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                let head: Vec<u8> = bytes.drain(..end + 4).collect();
                let text = String::from_utf8_lossy(&head).into_owned();
                if text.to_ascii_lowercase().contains("upgrade: websocket") {
                    let switch = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
                    stream.write_all(switch.as_bytes()).unwrap();
                    while let Ok(length @ 1..) = stream.read(&mut chunk) {
                        stream.write_all(&chunk[..length]).unwrap();
                    }
                    return;
                }
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{text}", text.len());
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        }
    })
}

pub fn host(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Host {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let (counter, serve) = (Arc::clone(&connections), Arc::new(serve));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            counter.fetch_add(1, Ordering::SeqCst);
            let serve = Arc::clone(&serve);
            std::thread::Builder::new().stack_size(256 * 1024).spawn(move || serve(stream)).unwrap();
        }
    });
    Host { port, connections }
}

/// A `ClientHello` with these server names, in records of at most `size` bytes.
pub fn client_hello(names: &[&str], size: usize) -> Vec<u8> {
    let vector = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let list: Vec<u8> = names.iter().flat_map(|name| [&[0][..], &vector(name.as_bytes())].concat()).collect();
    let extension = [&[0, 0][..], &vector(&vector(&list))].concat();
    let extensions = if names.is_empty() { Vec::new() } else { extension };
    let body = [&[3, 3][..], &[7; 32], &[0], &vector(&[0x13, 1]), &[1, 0], &vector(&extensions)].concat();
    let message = [&[1, 0][..], &vector(&body)].concat();
    message.chunks(size).flat_map(|part| [&[22, 3, 1][..], &vector(part)].concat()).collect()
}
