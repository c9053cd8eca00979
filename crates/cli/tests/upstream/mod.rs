//! A server outside of the jail, over real TLS or plain, that answers by a function.
#![allow(dead_code, reason = "each test uses its part")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::stage::{Ended, Stage, ended};

/// The value of a secret.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef0123456789abcdef";

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// Status, content type, body.
pub(crate) type Answer = (u16, &'static str, Vec<u8>);

/// A server. Its threads end with the test process.
pub(crate) struct Upstream {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// A certificate authority of a test.
pub(crate) struct TestAuthority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl TestAuthority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = pem(params.self_signed(&key).unwrap().der());
        Self { issuer: Issuer::new(params, key), pem }
    }

    pub(crate) fn write(&self, path: &Path) {
        std::fs::write(path, &self.pem).unwrap();
    }

    fn config(&self, names: &[&str]) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap())
    }
}

/// A certificate as text.
fn pem(der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line)).collect();
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
}

impl Upstream {
    /// Serves HTTP over TLS for some names.
    pub(crate) fn tls(
        authority: &TestAuthority,
        names: &[&str],
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::start(Some(authority.config(names)), answer)
    }

    /// Serves plain HTTP.
    pub(crate) fn plain(answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(None, answer)
    }

    fn start(
        tls: Option<Arc<ServerConfig>>,
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (answer, list) = (Arc::new(answer), Arc::clone(&seen));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (tls, answer, list) = (tls.clone(), Arc::clone(&answer), Arc::clone(&list));
                std::thread::spawn(move || match tls {
                    Some(config) => {
                        let connection = ServerConnection::new(config).unwrap();
                        serve(StreamOwned::new(connection, stream), &*answer, &list)
                    }
                    None => serve(stream, &*answer, &list),
                });
            }
        });
        Self { port, seen }
    }

    /// Returns the requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

/// A server that hands each connection to a function.
pub(crate) fn raw(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Answers requests until the client closes.
fn serve(
    stream: impl Read + Write,
    answer: &dyn Fn(&Seen) -> Answer,
    seen: &Mutex<Vec<Seen>>,
) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read(&mut stream)? {
        seen.lock().unwrap().push(request.clone());
        let (status, kind, body) = answer(&request);
        let head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let stream = stream.get_mut();
        stream.write_all(head.as_bytes())?;
        if request.method != "HEAD" {
            stream.write_all(&body)?;
        }
        stream.flush()?;
    }
    Ok(())
}

fn read(stream: &mut impl BufRead) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Some(Seen { method, target, headers, body }))
}

/// A stage whose policy names the servers of the test.
pub(crate) struct Network {
    pub(crate) stage: Stage,
    pub(crate) authority: TestAuthority,
    hosts: String,
    pub(crate) allow: Vec<String>,
    /// More lines of the policy.
    pub(crate) rest: String,
}

impl Network {
    pub(crate) fn new() -> Option<Self> {
        let stage = Stage::new()?;
        fs::create_dir_all(stage.path("home/.config/ringfence")).unwrap();
        let authority = TestAuthority::new();
        authority.write(&stage.path("home/authority.pem"));
        Some(Self { stage, authority, hosts: String::new(), allow: Vec::new(), rest: String::new() })
    }

    /// Serves a name over TLS and allows it.
    pub(crate) fn serve(
        &mut self,
        name: &str,
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Upstream {
        self.allow.push(name.to_owned());
        self.serve_unnamed(name, answer)
    }

    /// Serves a name over TLS that no rule allows.
    pub(crate) fn serve_unnamed(
        &mut self,
        name: &str,
        answer: impl Fn(&Seen) -> Answer + Send + Sync + 'static,
    ) -> Upstream {
        let upstream = Upstream::tls(&self.authority, &[name], answer);
        self.name(name, upstream.port);
        upstream
    }

    /// Gives a name an address on this machine.
    pub(crate) fn name(&mut self, name: &str, port: u16) {
        writeln!(self.hosts, "\"{name}\" = \"127.0.0.1:{port}\"").unwrap();
    }

    pub(crate) fn policy(&self) -> String {
        let ca = self.stage.path("home/authority.pem");
        format!(
            "version = 1\n[network]\nallow = {:?}\nunknown = \"ask\"\nca = [\"{}\"]\n[network.hosts]\n{}\n{}\n",
            self.allow,
            ca.display(),
            self.hosts,
            self.rest
        )
    }

    /// Writes the policy.
    pub(crate) fn ready(&self) {
        fs::write(self.stage.path("home/.config/ringfence/policy.toml"), self.policy()).unwrap();
    }

    pub(crate) fn command(&self, options: &str, script: &str) -> Command {
        self.ready();
        let mut command = self.stage.unseen(options, script);
        command.env("TEST_KEY", KEY);
        command
    }

    pub(crate) fn run(&self, options: &str, script: &str) -> Ended {
        ended(&mut self.command(options, script))
    }

    pub(crate) fn ledger(&self) -> String {
        fs::read_to_string(self.stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap()
    }
}
