//! Servers have to prove that they are who the name says.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use ringfence_tools::web::{FetchError, FetchResponse, Fetcher};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::world::{Book, Names, get, never, read_head};

struct Secure {
    port: u16,
    root: CertificateDer<'static>,
}

/// A server with a certificate of its own for these names.
fn start(names: &[&str], change: impl FnOnce(&mut CertificateParams), answer: &'static [u8]) -> Secure {
    let key = KeyPair::generate().unwrap();
    let mut params =
        CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap();
    change(&mut params);
    let root = params.self_signed(&key).unwrap().der().clone();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let private = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config =
        Arc::new(config.with_no_client_auth().with_single_cert(vec![root.clone()], private).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, socket);
            read_head(&mut stream);
            // The other end hangs up where it does not trust us.
            stream.write_all(answer).and_then(|()| stream.flush()).ok();
            stream.conn.send_close_notify();
            stream.flush().ok();
        }
    });
    Secure { port, root }
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsafe";

fn fetch(url: &str, roots: Vec<CertificateDer<'static>>) -> Result<FetchResponse, FetchError> {
    let names = Names::new(["site.example", "other.example", "127.0.0.1"]);
    let book = Book::new([("site.example", "127.0.0.1"), ("other.example", "127.0.0.1")]);
    Fetcher::new(roots).fetch(&get(url), &names, &book, &never)
}

#[test]
fn a_trusted_certificate_for_the_name_is_needed() {
    let server = start(&["site.example", "127.0.0.1"], |_| {}, OK);
    let stranger = start(&["site.example"], |_| {}, OK);
    let url = |host: &str| format!("https://{host}:{}/", server.port);
    assert_eq!(fetch(&url("site.example"), vec![server.root.clone()]).unwrap().body, b"safe");
    assert_eq!(fetch(&url("127.0.0.1"), vec![server.root.clone()]).unwrap().body, b"safe");
    let rows = [
        (url("other.example"), server.root.clone()),
        (url("site.example"), stranger.root.clone()),
        (format!("https://site.example:{}/", stranger.port), server.root.clone()),
        (format!("https://127.0.0.1:{}/", stranger.port), stranger.root.clone()),
    ];
    for (url, root) in rows {
        let got = fetch(&url, vec![root]);
        assert!(matches!(got, Err(FetchError::Tls(_))), "{url}: {got:?}");
    }
}

#[test]
fn an_expired_certificate_is_refused() {
    let past = |params: &mut CertificateParams| params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let server = start(&["site.example"], past, OK);
    let got = fetch(&format!("https://site.example:{}/", server.port), vec![server.root.clone()]);
    assert!(matches!(&got, Err(FetchError::Tls(why)) if why.contains("expired")), "{got:?}");
}

#[test]
fn one_fetcher_serves_many() {
    let server = start(&["site.example"], |_| {}, OK);
    let fetcher = Fetcher::new(vec![server.root.clone()]);
    let request = get(&format!("https://site.example:{}/", server.port));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (names, book) =
                    (Names::new(["site.example", "127.0.0.1"]), Book::new([("site.example", "127.0.0.1")]));
                assert_eq!(fetcher.fetch(&request, &names, &book, &never).unwrap().body, b"safe");
            });
        }
    });
}

#[test]
fn no_way_leads_from_https_to_http() {
    let server = start(
        &["site.example"],
        |_| {},
        b"HTTP/1.1 302 Found\r\nLocation: http://site.example/x\r\nContent-Length: 0\r\n\r\n",
    );
    let got = fetch(&format!("https://site.example:{}/", server.port), vec![server.root.clone()]);
    assert!(matches!(&got, Err(FetchError::Downgrade(to)) if to == "http://site.example/x"), "{got:?}");
}

#[test]
fn http_where_https_is_meant_and_the_other_way_round() {
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    thread::spawn(move || plain.accept().map(|(mut socket, _)| socket.write_all(OK)));
    let secure = start(&["site.example"], |_| {}, OK);
    let got = fetch(&format!("https://site.example:{port}/"), vec![secure.root.clone()]);
    assert!(matches!(got, Err(FetchError::Tls(_))), "{got:?}");
    let got = fetch(&format!("http://site.example:{}/", secure.port), vec![secure.root.clone()]);
    assert!(got.is_err(), "{got:?}");
}

#[test]
fn a_handshake_that_never_ends_runs_into_the_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let root = start(&["site.example"], |_| {}, OK).root;
    let mut request = get(&format!("https://site.example:{}/", listener.local_addr().unwrap().port()));
    request.timeout = Duration::from_millis(300);
    let (names, book) =
        (Names::new(["site.example", "127.0.0.1"]), Book::new([("site.example", "127.0.0.1")]));
    let got = Fetcher::new(vec![root]).fetch(&request, &names, &book, &never);
    assert!(matches!(got, Err(FetchError::Timeout)), "{got:?}");
}
