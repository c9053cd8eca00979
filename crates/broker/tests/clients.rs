//! Real clients through an intercepted connection: each sees a placeholder, and the host sees the secret.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::convert::Infallible;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use policy::{Endpoint, Inject, Route, SecretSource};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use stage::{OneValue, Plan, Stage};
use tokio_rustls::TlsAcceptor;

const HOST: &str = "api.example";
const VALUE: &str = "sk-ant-api03-Top/Secret+Value-0123456789abcdef";

/// Heads of requests that the host got, and what it answers: the same.
type Heads = Arc<Mutex<Vec<String>>>;

struct World {
    stage: Stage,
    heads: Heads,
    bundle: PathBuf,
    _runtime: tokio::runtime::Runtime,
    _directory: tempfile::TempDir,
}

fn server() -> (rustls::ServerConfig, String) {
    use base64::Engine as _;
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new([HOST.to_owned()]).unwrap().self_signed(&key).unwrap();
    let mut server =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())),
            )
            .unwrap();
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let text = base64::prelude::BASE64_STANDARD.encode(certificate.der());
    (server, format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n"))
}

async fn answer(request: Request<Incoming>, heads: Heads) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let mut text = format!("{} {}\n", head.method, head.uri);
    for (name, value) in &head.headers {
        for part in [name.as_str(), ": ", &String::from_utf8_lossy(value.as_bytes()), "\n"] {
            text.push_str(part);
        }
    }
    text.push_str(&String::from_utf8_lossy(&body));
    heads.lock().unwrap().push(text.clone());
    if head.uri.path().ends_with("/info/refs") {
        // The answer of an empty repository.
        let refs = Full::from("001e# service=git-upload-pack\n00000000");
        return Ok(Response::builder()
            .header("content-type", "application/x-git-upload-pack-advertisement")
            .body(refs)
            .unwrap());
    }
    Ok(Response::new(Full::from(text)))
}

fn world(inject: Inject) -> World {
    let (server, pem) = server();
    let heads: Heads = Arc::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (acceptor, all) = (TlsAcceptor::from(Arc::new(server)), heads.clone());
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, all) = (acceptor.clone(), all.clone());
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let (io, service) =
                    (TokioIo::new(stream), service_fn(move |request| answer(request, all.clone())));
                if h2 {
                    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    builder.serve_connection(io, service).await.ok();
                } else {
                    hyper::server::conn::http1::Builder::new().serve_connection(io, service).await.ok();
                }
            });
        }
    });
    let mut plan = Plan::new(&[HOST], &[(HOST, port)]);
    let mut route = Route::new("own", SecretSource::Store, Endpoint::parse(HOST, 443).unwrap(), inject);
    route.placeholder = Some("OWN_KEY".into());
    plan.routes = vec![route];
    plan.secrets = Arc::new(OneValue(VALUE));
    plan.roots = pem.into_bytes();
    plan.destination = "198.18.0.1:443".parse().unwrap();
    let stage = plan.start();
    let directory = tempfile::tempdir().unwrap();
    let bundle = directory.path().join("bundle.pem");
    std::fs::write(&bundle, stage.certificate.as_ref().unwrap()).unwrap();
    World { stage, heads, bundle, _runtime: runtime, _directory: directory }
}

impl World {
    fn placeholder(&self) -> &str {
        &self.stage.environment[0].1
    }

    /// Runs a program with the variables of a jail. Returns its output, or `None` if it is not installed.
    fn run(&self, program: &str, arguments: &[&str]) -> Option<String> {
        let proxy = format!("http://{}", self.stage.proxy);
        let mut command = Command::new(program);
        command.args(arguments).env("https_proxy", &proxy).env("HTTPS_PROXY", &proxy);
        for variable in
            ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"]
        {
            command.env(variable, &self.bundle);
        }
        command.env("OWN_KEY", self.placeholder()).env_remove("no_proxy").env_remove("NO_PROXY");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_TERMINAL_PROMPT", "0");
        let output = match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            output => output.unwrap(),
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {}\n{errors}", output.status);
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The host saw the secret in every request, and the client in none of the answers.
    fn check(&self, output: &str, requests: usize) {
        let heads = self.heads.lock().unwrap();
        assert_eq!(heads.len(), requests, "{heads:?}");
        for head in &*heads {
            assert!(head.contains(&format!("x-api-key: {VALUE}\n")), "{head}");
        }
        assert!(!output.contains(VALUE) && output.contains(self.placeholder()), "{output}");
        drop(heads);
        self.heads.lock().unwrap().clear();
    }
}

#[test]
fn curl_over_both_protocols() {
    let world = world(Inject::Header("x-api-key".into()));
    let key = format!("x-api-key: {}", world.placeholder());
    let url = format!("https://{HOST}/v1/a");
    for protocol in ["--http1.1", "--http2"] {
        let words = ["-sS", "--fail", protocol, "--compressed", "-H", &key, &url, &url, &url];
        let output = world.run("curl", &words).unwrap();
        world.check(&output, 3);
    }
    let big = "a".repeat(3_000_000);
    let file = world.bundle.with_extension("txt");
    std::fs::write(&file, &big).unwrap();
    let upload = format!("@{}", file.display());
    let output = world.run("curl", &["-sS", "--fail", "-H", &key, "--data-binary", &upload, &url]).unwrap();
    assert!(output.ends_with(&big));
    world.check(&output, 1);
}

#[test]
fn python_over_the_proxy() {
    let world = world(Inject::Header("x-api-key".into()));
    let script = format!(
        "import os, urllib.request as u\nr = u.Request('https://{HOST}/a', headers={{'x-api-key': os.environ['OWN_KEY']}})\nprint(u.urlopen(r).read().decode())"
    );
    if let Some(output) = world.run("python3", &["-c", &script]) {
        world.check(&output, 1);
    }
}

#[test]
fn node_over_the_transparent_way() {
    let world = world(Inject::Header("x-api-key".into()));
    assert!(world.stage.lookup(HOST).ends_with(&[198, 18, 0, 1]), "the first name gets the first address");
    let script = format!(
        "require('https').get({{host:'127.0.0.1',port:{},servername:'{HOST}',path:'/a',headers:{{host:'{HOST}','x-api-key':process.env.OWN_KEY}}}},r=>r.pipe(process.stdout))",
        world.stage.transparent.port()
    );
    if let Some(output) = world.run("node", &["-e", &script]) {
        world.check(&output, 1);
    }
}

#[test]
fn git_with_a_placeholder_as_its_password() {
    use base64::Engine as _;
    let world = world(Inject::Replace);
    let url = format!("https://x-access-token:{}@{HOST}/repo", world.placeholder());
    // git sends a login only after it was asked for one; the header is what its credential helpers are told to send.
    let pair = base64::prelude::BASE64_STANDARD.encode(format!("x-access-token:{}", world.placeholder()));
    let header = format!("http.extraHeader=Authorization: Basic {pair}");
    if world.run("git", &["-c", &header, "ls-remote", &url]).is_some() {
        let sent = base64::prelude::BASE64_STANDARD.encode(format!("x-access-token:{VALUE}"));
        let heads = world.heads.lock().unwrap().clone();
        assert!(heads[0].contains(&format!("authorization: Basic {sent}\n")), "{heads:?}");
    }
}
