//! Fetching from real servers on loopback.

#![allow(clippy::unwrap_used, reason = "outside `#[test]` functions clippy does not see that this is a test")]

mod address;
mod limit;
mod redirect;
mod tls;
mod world;

use std::process::Command;

use ringfence_tools::web::{FetchError, Fetcher, Method};
use world::{Book, Names, Server, fetch, get, never};

#[test]
fn what_is_sent_and_what_comes_back() {
    let server = Server::start(|_| {
        b"HTTP/1.1 404 No\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi".to_vec()
    });
    let names = Names::new(["site.example", "127.0.0.1"]);
    let got =
        fetch(&server.url("site.example", "/a?b#c"), &names, &Book::new([("site.example", "127.0.0.1")]))
            .unwrap();
    assert_eq!((got.status, got.content_type.as_deref(), got.cut), (404, Some("text/plain"), false));
    assert_eq!((got.body.as_slice(), got.hops.len()), (&b"hi"[..], 1));
    assert_eq!(got.url, server.url("site.example", "/a?b"));
    let port = server.port();
    let version = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "GET /a?b HTTP/1.1\r\naccept-encoding: gzip\r\nuser-agent: ringfence/{version}\r\naccept: */*\r\nhost: site.example:{port}\r\n\r\n"
    );
    assert_eq!(server.requests(), [expected]);
    assert_eq!(names.asked(), [format!("site.example:{port}"), format!("127.0.0.1:{port}")]);
}

#[test]
fn head_brings_no_body() {
    let server = Server::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".to_vec());
    let mut request = get(&server.url("127.0.0.1", "/"));
    request.method = Method::Head;
    let got =
        Fetcher::new(vec![]).fetch(&request, &Names::new(["127.0.0.1"]), &Book::none(), &never).unwrap();
    assert_eq!((got.status, got.body.len()), (200, 0));
    assert!(server.requests()[0].starts_with("HEAD / HTTP/1.1\r\n"));
}

/// Bytes that a server sends, and the body or the beginning of the message.
type Row = (&'static [u8], Result<&'static [u8], &'static str>);

#[test]
fn answers_of_every_kind() {
    let rows: &[Row] = &[
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", Ok(b"abc")),
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", Ok(b"to the end")),
        (b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", Ok(b"x")),
        (b"HTTP/1.1 200 OK\r\nX: \xff\xfe\x80\r\nContent-Length: 1\r\n\r\nx", Ok(b"x")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", Err("the connection failed")),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", Err("the answer is not HTTP")),
        (b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n", Err("the answer is not HTTP")),
        (b"HTTP/1.1 200 OK\r\nX: a\x7fb\r\n\r\n", Err("the answer is not HTTP")),
        (b"HTTP/1.1 200 OK\r\nX\xff: a\r\n\r\n", Err("the answer is not HTTP")),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Err("the answer is not HTTP")),
        (b"HTTP/1.1 099 OK\r\n\r\n", Err("the answer is not HTTP")),
        (b"HTTP/9.9 200 OK\r\n\r\n", Err("the answer is not HTTP")),
        (b"<html>\r\n\r\n", Err("the answer is not HTTP")),
        (b"", Err("the connection failed")),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",
            Err("the body is compressed as `br`"),
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nContent-Length: 1\r\n\r\nx",
            Err("the body is compressed as `gzip, gzip`"),
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nxxxx",
            Err("the body cannot be decompressed"),
        ),
    ];
    for (answer, expected) in rows {
        let server = Server::start(|_| answer.to_vec());
        let got = fetch(&server.url("127.0.0.1", "/"), &Names::new(["127.0.0.1"]), &Book::none());
        match (got, expected) {
            (Ok(got), Ok(body)) => assert_eq!(got.body, *body),
            (Err(error), Err(text)) => assert!(error.to_string().starts_with(text), "{error} is not {text}"),
            (got, _) => panic!("{}: {got:?}", String::from_utf8_lossy(answer)),
        }
    }
}

#[test]
fn a_content_type_that_is_not_utf_8_survives() {
    let server = Server::start(|_| {
        b"HTTP/1.1 200 OK\r\nContent-Type: text/x-\xe9\r\nContent-Length: 0\r\n\r\n".to_vec()
    });
    let got = fetch(&server.url("127.0.0.1", "/"), &Names::new(["127.0.0.1"]), &Book::none()).unwrap();
    assert_eq!(got.content_type.as_deref(), Some("text/x-\u{fffd}"));
}

/// The environment cannot be changed inside a test, so the test starts itself.
#[test]
fn proxies_of_the_environment_are_not_asked() {
    const TARGET: &str = "RINGFENCE_TEST_TARGET";
    if let Ok(url) = std::env::var(TARGET) {
        assert_eq!(fetch(&url, &Names::new(["127.0.0.1"]), &Book::none()).unwrap().body, b"real");
        return;
    }
    let real = Server::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal".to_vec());
    let proxy = Server::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy".to_vec());
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", "proxies_of_the_environment_are_not_asked"])
        .env(TARGET, real.url("127.0.0.1", "/"));
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        again.env(name, proxy.url("127.0.0.1", ""));
    }
    let output = again.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!((real.requests().len(), proxy.requests().len()), (1, 0));
}

#[test]
fn the_address_is_read_before_anybody_is_asked() {
    for url in [
        "ftp://127.0.0.1/",
        "http://u@127.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1/\r\nx",
    ] {
        let names = Names::all();
        let error = fetch(url, &names, &Book::none()).unwrap_err();
        assert!(matches!(error, FetchError::Url(_)), "{url}: {error}");
        assert_eq!(names.asked(), [""; 0]);
    }
}
