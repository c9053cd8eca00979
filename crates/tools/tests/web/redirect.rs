//! Redirects are hops like the first.

use ringfence_tools::web::{FetchError, MAX_REDIRECTS, UrlError};

use crate::world::{Book, Names, Server, fetch, redirect};

fn path(request: &str) -> &str {
    request.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn each_kind_is_followed_and_each_hop_asked_for() {
    let server = Server::start(|request| match path(request) {
        "/301" => redirect(301, b"/302"),
        "/302" => redirect(302, b"303?x"),
        "/303?x" => redirect(303, b"./a/../307"),
        "/307" => redirect(307, b"/caf\xe9"),
        "/caf%E9" => redirect(308, b"//other.example/never"),
        _ => b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend".to_vec(),
    });
    let names = Names::new(["site.example", "127.0.0.1"]);
    let book = Book::new([("site.example", "127.0.0.1")]);
    let error = fetch(&server.url("site.example", "/301"), &names, &book).unwrap_err();
    assert!(matches!(&error, FetchError::Refused { host, .. } if host == "other.example:80"), "{error}");
    assert_eq!(server.requests().len(), 5);
    assert_eq!(book.lookups().len(), 5);
    assert_eq!(names.asked().len(), 11);
    assert_eq!(names.asked().last().map(String::as_str), Some("other.example:80"));
}

#[test]
fn hops_are_told() {
    let server = Server::start(|request| match path(request) {
        "/" => redirect(302, b"/end"),
        _ => b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend".to_vec(),
    });
    let got = fetch(&server.url("127.0.0.1", "/"), &Names::new(["127.0.0.1"]), &Book::none()).unwrap();
    let hops: Vec<_> =
        got.hops.iter().map(|hop| (hop.url.clone(), hop.addresses.len(), hop.status)).collect();
    assert_eq!(hops, [(server.url("127.0.0.1", "/"), 1, 302), (server.url("127.0.0.1", "/end"), 1, 200)]);
    assert_eq!((got.url, got.body), (server.url("127.0.0.1", "/end"), b"end".to_vec()));
}

#[test]
fn where_they_must_not_lead() {
    let inside = Server::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret".to_vec());
    let port = inside.port();
    let rows = [
        (format!("http://127.0.0.1:{port}/"), "refused"),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), "refused"),
        (format!("http://[::1]:{port}/"), "refused"),
        (format!("http://0.0.0.0:{port}/"), "refused"),
        (format!("http://localhost:{port}/"), "refused"),
        (format!("http://rebind.example:{port}/"), "refused address"),
        ("http://169.254.169.254/latest/meta-data/".into(), "refused"),
        ("http://169.254.169.254./".into(), "url"),
        ("http://[::ffff:a9fe:a9fe]/".into(), "refused"),
        (format!("http://2130706433:{port}/"), "url"),
        (format!("http://127.1:{port}/"), "url"),
        (format!("http://0x7f.1:{port}/"), "url"),
        (format!("http://site.example@127.0.0.1:{port}/"), "url"),
        (format!("//127.0.0.1:{port}\\@site.example/"), "url"),
        ("file:///etc/passwd".into(), "url"),
        ("gopher://127.0.0.1/".into(), "url"),
        ("javascript:1".into(), "url"),
        ("http://site.example:0/".into(), "url"),
    ];
    for (location, expected) in rows {
        let answer = redirect(302, location.as_bytes());
        let outside = Server::on("127.0.0.2:0", move |stream, _| std::io::Write::write_all(stream, &answer));
        let names = Names::new(["site.example", "127.0.0.2", "rebind.example"]);
        let book = Book::new([
            ("site.example", "127.0.0.2"),
            ("rebind.example", "127.0.0.1"),
            ("localhost", "127.0.0.1"),
        ]);
        let error = fetch(&outside.url("site.example", "/"), &names, &book).unwrap_err();
        let kind = match &error {
            FetchError::Refused { .. } => "refused",
            FetchError::RefusedAddress { .. } => "refused address",
            FetchError::Redirect(UrlError::Scheme | UrlError::Host(_) | UrlError::Backslash) => "url",
            _ => "something else",
        };
        assert_eq!(kind, expected, "{location}: {error}");
        assert_eq!(outside.requests().len(), 1);
    }
    assert_eq!(inside.requests(), [""; 0]);
}

#[test]
fn a_name_may_change_its_address_between_hops_and_is_judged_again() {
    let server = Server::start(|_| redirect(302, b"/again"));
    let names = Names::new(["site.example", "127.0.0.1"]);
    let book = Book::new([("site.example", "127.0.0.1;10.0.0.1")]);
    let error = fetch(&server.url("site.example", "/"), &names, &book).unwrap_err();
    assert!(matches!(error, FetchError::RefusedAddress { .. }), "{error}");
    assert_eq!((server.requests().len(), book.lookups().len()), (1, 2));
}

#[test]
fn circles_and_long_ways_end() {
    let names = Names::new(["127.0.0.1"]);
    let own = Server::start(|_| redirect(302, b"#same"));
    assert!(matches!(fetch(&own.url("127.0.0.1", "/"), &names, &Book::none()), Err(FetchError::Loop(_))));
    let two = Server::start(|request| redirect(302, if path(request) == "/a" { b"/b" } else { b"/a" }));
    assert!(matches!(fetch(&two.url("127.0.0.1", "/a"), &names, &Book::none()), Err(FetchError::Loop(_))));
    assert_eq!(two.requests().len(), 2);

    let count = |request: &str| path(request).trim_start_matches('/').parse::<usize>().unwrap();
    let endless = Server::start(move |request| redirect(302, format!("/{}", count(request) + 1).as_bytes()));
    assert!(matches!(
        fetch(&endless.url("127.0.0.1", "/0"), &names, &Book::none()),
        Err(FetchError::TooManyRedirects)
    ));
    assert_eq!(endless.requests().len(), MAX_REDIRECTS + 1);
    let just = Server::start(move |request| match count(request) {
        MAX_REDIRECTS => b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        at => redirect(302, format!("/{}", at + 1).as_bytes()),
    });
    assert_eq!(
        fetch(&just.url("127.0.0.1", "/0"), &names, &Book::none()).unwrap().hops.len(),
        MAX_REDIRECTS + 1
    );
}

#[test]
fn answers_that_do_not_lead_elsewhere() {
    let rows: &[&[u8]] = &[
        b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 300 Many\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 304 Same\r\nLocation: /x\r\n\r\n",
        b"HTTP/1.1 201 Made\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
    ];
    for answer in rows {
        let server = Server::start(|_| answer.to_vec());
        let got = fetch(&server.url("127.0.0.1", "/"), &Names::new(["127.0.0.1"]), &Book::none()).unwrap();
        assert_eq!(got.hops.len(), 1, "{}", got.status);
    }
}
