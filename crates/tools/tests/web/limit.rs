//! Limits on time, bytes and headers, and calling off.

use std::io::Write as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use ringfence_tools::web::{FetchError, FetchResponse, Fetcher};

use crate::world::{Book, Names, Server, fetch, get, is_left_within, never};

/// Longer than any wait here should be, shorter than a server that never ends.
const FAR: Duration = Duration::from_secs(60);

fn limited(server: &Server, timeout: Duration, max_bytes: usize) -> Result<FetchResponse, FetchError> {
    let mut request = get(&server.url("127.0.0.1", "/"));
    (request.timeout, request.max_bytes) = (timeout, max_bytes);
    Fetcher::new(vec![]).fetch(&request, &Names::new(["127.0.0.1"]), &Book::none(), &never)
}

fn zipped(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_body_is_cut_at_its_cap() {
    for (there, cap) in [(10, 10), (11, 10), (1_000_000, 1), (5, 0)] {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {there}\r\n\r\n");
        let server = Server::start(move |_| [head.as_bytes(), &vec![b'x'; there]].concat());
        let got = limited(&server, FAR, cap).unwrap();
        assert_eq!((got.body.len(), got.cut), (there.min(cap), there > cap));
    }
}

#[test]
fn a_body_without_end_is_cut() {
    let server = Server::on("127.0.0.1:0", |stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        loop {
            stream.write_all(&[b'x'; 4096])?;
        }
    });
    let got = limited(&server, FAR, 100_000).unwrap();
    assert_eq!((got.body.len(), got.cut), (100_000, true));
}

#[test]
fn what_is_compressed_counts_as_what_it_becomes() {
    let bomb = zipped(&vec![0; 50_000_000]);
    let small = zipped(b"small");
    for (packed, cap, expected, cut) in [(small, 100, 5, false), (bomb, 100_000, 100_000, true)] {
        assert!(packed.len() < 60_000);
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", packed.len());
        let server = Server::start(move |_| [head.as_bytes(), &packed].concat());
        let got = limited(&server, FAR, cap).unwrap();
        assert_eq!((got.body.len(), got.cut), (expected, cut));
    }
}

#[test]
fn empty_pieces_without_end_run_into_the_deadline() {
    let nothing = zipped(b"");
    let server = Server::on("127.0.0.1:0", move |stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")?;
        loop {
            stream.write_all(&nothing)?;
        }
    });
    let begin = Instant::now();
    assert!(matches!(limited(&server, Duration::from_millis(500), 1000), Err(FetchError::Timeout)));
    assert!(begin.elapsed() < FAR);
}

#[test]
fn headers_without_end() {
    let rows: &[&[u8]] = &[b"X-Long: ", b"", b"X"];
    for begin in rows {
        let server = Server::on("127.0.0.1:0", move |stream, _| {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            stream.write_all(begin)?;
            loop {
                stream.write_all(if begin.is_empty() { b"A: b\r\n" } else { b"xxxxxx" })?;
            }
        });
        let error = limited(&server, FAR, 1000).unwrap_err();
        assert!(matches!(error, FetchError::Headers | FetchError::Protocol(_)), "{error}");
    }
    let endless = Server::on("127.0.0.1:0", |stream, _| {
        loop {
            stream.write_all(b"HTTP/1.1 103 Early\r\n\r\n")?;
        }
    });
    let error = limited(&endless, Duration::from_millis(500), 1000).unwrap_err();
    assert!(matches!(error, FetchError::Timeout | FetchError::Headers), "{error}");
}

#[test]
fn slow_servers_run_into_the_deadline() {
    let pieces: &[(&[u8], &[u8])] = &[
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ];
    for (first, then) in pieces {
        let server = Server::on("127.0.0.1:0", move |stream, _| {
            stream.write_all(first)?;
            loop {
                stream.write_all(then)?;
                if is_left_within(stream, Duration::from_millis(20))? {
                    return Ok(());
                }
            }
        });
        let begin = Instant::now();
        let error = limited(&server, Duration::from_millis(400), 1_000_000).unwrap_err();
        assert!(matches!(error, FetchError::Timeout), "{error}");
        assert!(begin.elapsed() < FAR);
    }
}

#[test]
fn the_deadline_is_for_all_hops_together() {
    let server = Server::on("127.0.0.1:0", |stream, request| {
        if is_left_within(stream, Duration::from_millis(100))? {
            return Ok(());
        }
        let longer = request.split(' ').nth(1).unwrap_or_default().to_owned() + "x";
        stream.write_all(&crate::world::redirect(302, longer.as_bytes()))
    });
    let got = limited(&server, Duration::from_millis(350), 1000);
    assert!(matches!(got, Err(FetchError::Timeout)), "{got:?}");
    assert!(server.requests().len() <= 4);
}

#[test]
fn time_that_the_gate_takes_does_not_count() {
    const TIMEOUT: Duration = Duration::from_secs(1);
    /// Takes longer than everything else may take.
    struct Slow;
    impl ringfence_tools::web::Gate for Slow {
        fn may(&self, _: &ringfence::policy::Endpoint) -> Result<(), ringfence_tools::web::GateRefusal> {
            let begin = Instant::now();
            while begin.elapsed() <= TIMEOUT {
                std::thread::park_timeout(TIMEOUT.saturating_sub(begin.elapsed()));
            }
            Ok(())
        }
    }
    let server = Server::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec());
    let mut request = get(&server.url("127.0.0.1", "/"));
    request.timeout = TIMEOUT;
    assert_eq!(Fetcher::new(vec![]).fetch(&request, &Slow, &Book::none(), &never).unwrap().status, 200);
}

#[test]
fn no_time_at_all() {
    let server = Server::start(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec());
    assert!(matches!(limited(&server, Duration::ZERO, 1), Err(FetchError::Timeout)));
    assert_eq!(limited(&server, Duration::MAX, 1).unwrap().status, 200);
}

/// A switch that is thrown when a server has seen the request, or a lookup has begun.
static CALLED_OFF: AtomicBool = AtomicBool::new(false);

#[test]
fn what_nobody_waits_for_is_called_off() {
    let server = Server::on("127.0.0.1:0", |stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nbegin")?;
        CALLED_OFF.store(true, Ordering::SeqCst);
        while !is_left_within(stream, Duration::from_millis(20))? {
            stream.write_all(b"x")?;
        }
        Ok(())
    });
    let abort = || CALLED_OFF.load(Ordering::SeqCst);
    let mut request = get(&server.url("127.0.0.1", "/"));
    request.timeout = FAR * 2;
    let begin = Instant::now();
    let got = Fetcher::new(vec![]).fetch(&request, &Names::new(["127.0.0.1"]), &Book::none(), &abort);
    assert!(matches!(got, Err(FetchError::Aborted)), "{got:?}");
    assert!(begin.elapsed() < FAR);
    // Nothing is begun any more.
    let got = Fetcher::new(vec![]).fetch(&request, &Names::new(["127.0.0.1"]), &Book::none(), &abort);
    assert!(matches!(got, Err(FetchError::Aborted)), "{got:?}");
    assert_eq!(server.requests().len(), 1);
}

/// A port where connections are made and never looked at.
#[test]
fn a_server_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut request = get(&format!("http://{}/", listener.local_addr().unwrap()));
    request.timeout = Duration::from_millis(200);
    let got = Fetcher::new(vec![]).fetch(&request, &Names::new(["127.0.0.1"]), &Book::none(), &never);
    assert!(matches!(got, Err(FetchError::Timeout)), "{got:?}");
    drop(listener);
    let got = fetch(&request.url, &Names::new(["127.0.0.1"]), &Book::none());
    assert!(matches!(got, Err(FetchError::Connection(_))), "{got:?}");
}
