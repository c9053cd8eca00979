//! Tests of the addresses that are connected to.

use std::time::Duration;

use ringfence_tools::web::{FetchError, Fetcher, LookupError, Resolver as _, SystemResolver};

use crate::world::{Book, Names, Server, fetch, get, never};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn addresses_that_are_not_public_need_a_permission_of_their_own() {
    let rows = [
        "127.0.0.1",
        "127.9.9.9",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.1.1",
        "100.64.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:0:10.0.0.1",
        "64:ff9b::127.0.0.1",
        "64:ff9b:1::7f00:1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:0:7f00:1::",
        "2001::4136:e378:8000:63bf:3fff:fdd2",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ];
    for address in rows {
        let (names, book) = (Names::new(["site.example"]), Book::new([("site.example", address)]));
        let error = fetch("http://site.example/", &names, &book).unwrap_err();
        assert!(matches!(&error, FetchError::RefusedAddress { .. }), "{address}: {error}");
        let literal =
            if address.contains(':') { format!("http://[{address}]/") } else { format!("http://{address}/") };
        let error = fetch(&literal, &names, &book).unwrap_err();
        assert!(matches!(&error, FetchError::Refused { .. }), "{address}: {error}");
    }
}

#[test]
fn metadata_servers_are_never_connected_to() {
    let hosts = [
        "169.254.169.254",
        "100.100.100.200",
        "169.254.170.2",
        "168.63.129.16",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "metadata.google.internal",
        "METADATA.google.internal.",
    ];
    for host in hosts {
        let names = Names::all();
        let book = Book::new([("metadata.google.internal", "93.184.216.34")]);
        let error = fetch(&format!("http://{host}/"), &names, &book).unwrap_err();
        assert!(matches!(error, FetchError::Metadata { .. }), "{host}: {error}");
        assert_eq!(names.asked().len(), 1, "{host}: whoever records has to hear of it");
    }
    for address in [
        "169.254.169.254",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "168.63.129.16",
        "1.1.1.1 169.254.170.2",
    ] {
        let book = Book::new([("site.example", address)]);
        let error = fetch("http://site.example/", &Names::all(), &book).unwrap_err();
        assert!(matches!(error, FetchError::Metadata { .. }), "{address}: {error}");
    }
}

#[test]
fn one_bad_address_spoils_all() {
    let server = Server::start(|_| OK.to_vec());
    for list in ["127.0.0.1 10.0.0.1", "10.0.0.1 127.0.0.1", "127.0.0.1 93.184.216.34 ::1"] {
        let (names, book) = (Names::new(["site.example", "127.0.0.1"]), Book::new([("site.example", list)]));
        let error = fetch(&server.url("site.example", "/"), &names, &book).unwrap_err();
        assert!(matches!(error, FetchError::RefusedAddress { .. }), "{list}: {error}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[test]
fn a_permission_for_an_address_is_not_one_for_a_name() {
    let server = Server::start(|_| OK.to_vec());
    let book =
        Book::new([("other.example", "127.0.0.1"), ("localhost", "127.0.0.1"), ("intranet", "127.0.0.1")]);
    for host in ["other.example", "localhost", "intranet"] {
        let error = fetch(&server.url(host, "/"), &Names::new(["127.0.0.1"]), &book).unwrap_err();
        assert!(matches!(error, FetchError::Refused { .. }), "{host}: {error}");
    }
    assert_eq!((server.requests(), book.lookups()), (vec![], vec![]));
}

#[test]
fn a_name_is_looked_up_once_and_what_was_judged_is_dialled() {
    let server = Server::start(|_| OK.to_vec());
    let names = Names::new(["site.example", "127.0.0.1"]);
    // It is allowed first and would not be afterwards.
    let book = Book::new([("site.example", "127.0.0.1;10.0.0.1")]);
    assert_eq!(fetch(&server.url("site.example", "/"), &names, &book).unwrap().body, b"ok");
    assert_eq!(book.lookups(), ["site.example"]);
    // It is public first, and would be this machine afterwards: nothing reaches this machine.
    let book = Book::new([("site.example", "192.0.0.9;127.0.0.1")]);
    let mut request = get(&server.url("site.example", "/"));
    request.timeout = Duration::from_millis(300);
    let public = Names::new(["site.example", "192.0.0.9", "127.0.0.1"]);
    Fetcher::new(vec![]).fetch(&request, &public, &book, &never).unwrap_err();
    assert_eq!((book.lookups().len(), server.requests().len()), (1, 1));
}

#[test]
fn of_two_servers_the_judged_one_is_asked() {
    let first = Server::start(|_| OK.to_vec());
    let second = Server::on(&format!("127.0.0.2:{}", first.port()), |stream, _| {
        std::io::Write::write_all(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond")
    });
    let names = Names::new(["site.example", "127.0.0.2", "127.0.0.3"]);
    for list in ["127.0.0.2", "127.0.0.3 127.0.0.2"] {
        let got =
            fetch(&first.url("site.example", "/"), &names, &Book::new([("site.example", list)])).unwrap();
        assert_eq!(got.body, b"second");
    }
    assert_eq!((first.requests().len(), second.requests().len()), (0, 2));
}

#[test]
fn names_without_an_address() {
    let rows = [LookupError::Unknown("x".into()), LookupError::Timeout, LookupError::Busy];
    for why in rows {
        let failing = Failing(why.clone());
        let error = Fetcher::new(vec![])
            .fetch(&get("http://site.example/"), &Names::all(), &failing, &never)
            .unwrap_err();
        assert!(matches!(&error, FetchError::Lookup { why: seen, .. } if *seen == why), "{error}");
    }
    let failing = Failing(LookupError::Aborted);
    let got = Fetcher::new(vec![]).fetch(&get("http://site.example/"), &Names::all(), &failing, &never);
    assert!(matches!(got, Err(FetchError::Aborted)), "{got:?}");
    let error = fetch("http://site.example/", &Names::all(), &Book::new([("site.example", "")])).unwrap_err();
    assert!(matches!(error, FetchError::Lookup { .. }), "{error}");
}

#[test]
fn the_resolver_of_the_system() {
    let resolver = SystemResolver::new();
    let limit = Duration::from_secs(30);
    let found = resolver.addresses("localhost", limit, &never).unwrap();
    assert!(found.iter().all(std::net::IpAddr::is_loopback), "{found:?}");
    assert_eq!(resolver.addresses("localhost", Duration::ZERO, &|| true), Err(LookupError::Aborted));
    assert!(resolver.addresses("no-such-name.invalid", limit, &never).is_err());
    let server = Server::start(|_| OK.to_vec());
    let names = Names::new(["localhost", "127.0.0.1", "::1"]);
    let got =
        Fetcher::new(vec![]).fetch(&get(&server.url("localhost", "/")), &names, &resolver, &never).unwrap();
    assert_eq!(got.body, b"ok");
}

struct Failing(LookupError);

impl ringfence_tools::web::Resolver for Failing {
    fn addresses(
        &self,
        _: &str,
        _: Duration,
        _: &dyn Fn() -> bool,
    ) -> Result<Vec<std::net::IpAddr>, LookupError> {
        Err(self.0.clone())
    }
}
