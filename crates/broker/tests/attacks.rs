//! Attacks on the proxy over real sockets: the rows that other proxies were beaten with, and floods. Other traffic must go on.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use policy::{Endpoint, HostName};
use ringfence_broker::{Limits, ProxyCredentials, ProxyProtocol, UpstreamProxy};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use stage::{PATIENCE, Plan, Stage, echo, host, is_closed, read_answer, web};

fn rows(table: &str) -> Vec<Value> {
    table.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap()
}

fn status(answer: &str) -> Option<u16> {
    answer.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()
}

/// A request that must succeed whatever else happens.
fn assert_served(stage: &Stage) {
    let answer = stage.exchange(b"GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n");
    assert_eq!(status(&answer), Some(200), "{answer}");
}

#[test]
fn raw_requests() {
    let host = web();
    let mut plan = Plan::new(&["allowed.test:80", "allowed.test:443"], &[("allowed.test", host.port)]);
    plan.limits =
        Limits { head: Duration::from_millis(300), idle: Duration::from_millis(300), ..plan.limits };
    let stage = plan.start();
    let proxy = stage.proxy.to_string();
    for row in rows(include_str!("vectors/proxy-raw.jsonl")) {
        let raw = text(&row, "raw")
            .replace("{ALLOWED_HOST}", "allowed.test")
            .replace(
                "{ALLOWED}",
                if text(&row, "raw").starts_with("CONNECT") { "allowed.test:443" } else { "allowed.test" },
            )
            .replace(
                "{DENIED}",
                if text(&row, "raw").starts_with("CONNECT") { "denied.test:443" } else { "denied.test" },
            )
            .replace("{DENIED_PORT}", "4444")
            .replace("{PROXY}", &proxy);
        // One character stands for one byte.
        let bytes: Vec<u8> = raw.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
        let answer = stage.exchange(&bytes);
        let short = &answer[..answer.len().min(600)];
        let context = format!("{} {}: {short}", row["id"], row["note"]);
        match text(&row, "verdict") {
            "400-or-403" => assert!(matches!(status(&answer), Some(400 | 403)), "{context}"),
            "400-or-policy" => assert_eq!(status(&answer), Some(400), "{context}"),
            "policy" => assert_eq!(status(&answer), Some(101), "WebSocket to an allowed host: {context}"),
            "forward-without-upgrade" => {
                assert_eq!(status(&answer), Some(200), "{context}");
                assert!(
                    !answer.to_lowercase().contains("upgrade") && !answer.contains("http2-settings"),
                    "{context}"
                );
            }
            "forward-without" => {
                assert_eq!(status(&answer), Some(200), "{context}");
                assert!(!answer.contains("docker.sock"), "{context}");
            }
            "socks-or-close" => assert_eq!(answer, "\u{5}\0", "{context}"),
            // HTTP/2 with prior knowledge is served: its settings come back, and nothing is forwarded.
            "400" if row["id"] == "proxy-raw-053" => {
                assert!(answer.as_bytes().starts_with(&[0, 0]), "{context}");
            }
            verdict => assert_eq!(status(&answer), verdict.parse().ok(), "{context}"),
        }
    }
    // Three rows are passed on, no other reaches a host.
    assert_eq!(host.connections.load(Ordering::SeqCst), 3);
    assert_served(&stage);
}

#[test]
fn hosts_by_every_spelling() {
    let target = echo();
    for row in rows(include_str!("../../policy/tests/vectors/hosts.jsonl")) {
        let rules: Vec<&str> =
            row["rules"].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
        let (name, allow) = (text(&row, "host"), row["allow"].as_bool().unwrap());
        let mut plan = Plan::new(&rules, &[]);
        if allow && let Ok(parsed) = HostName::parse(name) {
            let leaked: &'static str = Box::leak(parsed.to_string().into_boxed_str());
            plan.hosts = vec![(leaked, target.port)];
        }
        plan.gate.deny = rules.iter().filter_map(|rule| rule.strip_prefix('!')).map(str::to_owned).collect();
        let port = row["port"].as_u64().unwrap_or(443);
        let stage = plan.start();
        let named =
            if name.contains(':') && !name.starts_with('[') { format!("[{name}]") } else { name.to_owned() };
        let answer = stage
            .exchange(format!("CONNECT {named}:{port} HTTP/1.1\r\nHost: {named}:{port}\r\n\r\n").as_bytes());
        let refused = matches!(status(&answer), Some(400 | 403));
        assert_eq!(!refused, allow, "{} {}: {answer}", row["id"], row["note"]);
        assert_eq!(status(&answer) == Some(200), allow, "{} {}: {answer}", row["id"], row["note"]);
    }
}

/// Stands in for a company proxy, so that allowed public addresses are never dialed: answers 200 and shows the request.
fn company_proxy() -> stage::Host {
    host(|mut stream| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let _held = stream.read(&mut byte);
        stream.write_all(&head).unwrap();
    })
}

fn upstream(port: u16) -> UpstreamProxy {
    UpstreamProxy {
        protocol: ProxyProtocol::Http,
        endpoint: Endpoint { host: HostName::Address(Ipv4Addr::LOCALHOST.into()), port },
        credentials: Some(ProxyCredentials { user: "user".into(), password: "pass".to_owned().into() }),
    }
}

#[test]
fn addresses_in_every_spelling() {
    let company = company_proxy();
    // The widest rule there is: private addresses are refused nevertheless.
    let mut plan = Plan::new(&["re:."], &[]);
    plan.upstream = Some(upstream(company.port));
    let stage = plan.start();
    for row in rows(include_str!("../../policy/tests/vectors/ips.jsonl")) {
        let address = text(&row, "address");
        let named = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
        let answer =
            stage.exchange(format!("CONNECT {named}:443 HTTP/1.1\r\nHost: {named}:443\r\n\r\n").as_bytes());
        let refused = matches!(status(&answer), Some(400 | 403));
        assert_eq!(refused, text(&row, "verdict") != "allow", "{} {}: {answer}", row["id"], row["note"]);
    }
}

#[test]
fn the_upstream_proxy_gets_name_and_credentials() {
    let company = company_proxy();
    let mut plan = Plan::new(&["far.test:5000"], &[]);
    plan.upstream = Some(upstream(company.port));
    let stage = plan.start();
    let mut stream = stage.client();
    stream.write_all(b"CONNECT far.test:5000 HTTP/1.1\r\nHost: far.test:5000\r\n\r\n").unwrap();
    assert_eq!(status(&read_answer(&mut stream)), Some(200));
    stream.write_all(b"x").unwrap();
    let seen = read_answer(&mut stream);
    assert!(
        seen.starts_with("CONNECT far.test:5000 HTTP/1.1\r\n") && seen.contains("Basic dXNlcjpwYXNz"),
        "{seen}"
    );
}

#[test]
fn the_upstream_proxy_may_speak_socks() {
    let company = host(|mut stream| {
        let mut greeting = [0; 3];
        stream.read_exact(&mut greeting).unwrap();
        stream.write_all(&[5, 2]).unwrap();
        let mut login = [0; 11];
        stream.read_exact(&mut login).unwrap();
        assert_eq!(&login, b"\x01\x04user\x04pass");
        stream.write_all(&[1, 0]).unwrap();
        let mut request = [0; 15];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        let _first = stream.read(&mut [0; 1]);
        stream.write_all(&request).unwrap();
    });
    let mut plan = Plan::new(&["far.test:5000"], &[]);
    plan.upstream = Some(UpstreamProxy { protocol: ProxyProtocol::Socks5, ..upstream(company.port) });
    let stage = plan.start();
    let mut stream = stage.client();
    stream.write_all(b"CONNECT far.test:5000 HTTP/1.1\r\nHost: far.test:5000\r\n\r\n").unwrap();
    assert_eq!(status(&read_answer(&mut stream)), Some(200));
    stream.write_all(b"x").unwrap();
    let mut seen = [0; 15];
    stream.read_exact(&mut seen).unwrap();
    assert_eq!(&seen, b"\x05\x01\0\x03\x08far.test\x13\x88");
}

#[test]
fn slow_heads_are_ended_and_harm_no_other_traffic() {
    let host = web();
    let mut plan = Plan::new(&["allowed.test"], &[("allowed.test", host.port)]);
    plan.limits = Limits { head: Duration::from_millis(500), ..plan.limits };
    let stage = plan.start();
    let starts: [&[u8]; 4] = [b"", b"GET http://allowed.test/ HT", b"\x05\x01", b"PR"];
    let mut slow: Vec<TcpStream> = (0..200).map(|_| stage.client()).collect();
    for (number, stream) in slow.iter_mut().enumerate() {
        stream.write_all(starts[number % starts.len()]).unwrap();
    }
    let started = Instant::now();
    assert_served(&stage);
    assert!(started.elapsed() < Duration::from_millis(450), "{:?}", started.elapsed());
    // A byte now and then does not prolong the time of a head.
    let mut dripping = stage.client();
    let dripped =
        b"GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nX: 1".iter().take_while(|byte| {
            std::thread::sleep(Duration::from_millis(40));
            dripping.write_all(&[**byte]).is_ok()
        });
    assert!(dripped.count() < 60, "closed before the head was complete");
    for mut stream in slow {
        let _closed = stream.read_to_end(&mut Vec::new());
    }
    assert!(started.elapsed() < PATIENCE / 2);
    assert_eq!(stage.broker.open_connections(), 0);
}

#[test]
fn headers_of_16_megabytes_and_header_bombs_are_refused() {
    let host = web();
    let stage = Plan::new(&["allowed.test"], &[("allowed.test", host.port)]).start();
    let start = "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n";
    let rows = [
        format!("{start}X: {}\r\n\r\n", "y".repeat(16 << 20)),
        format!("{start}{}\r\n", "X: y\r\n".repeat(100_000)),
        format!("{start}{}\r\n", "X:\r\n".repeat(200)),
    ];
    for raw in rows {
        let answer = stage.exchange(raw.as_bytes());
        // The close may destroy the answer on its way while the client still sends.
        assert!(matches!(status(&answer), Some(431) | None), "{answer}");
        stage.records.await_record(&["broker.egress-denied", "too large"]);
        assert_served(&stage);
    }
    assert_eq!(host.connections.load(Ordering::SeqCst), 3, "only the requests in between");
}

/// One HTTP/2 frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The headers of a GET for `allowed.test` over plain HTTP/2, from the static table.
fn get_headers() -> Vec<u8> {
    [&[0x82, 0x86, 0x84, 0x41, 12][..], b"allowed.test"].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[test]
fn requests_over_http2_are_judged_one_by_one() {
    let host = web();
    let stage = Plan::new(&["allowed.test"], &[("allowed.test", host.port)]).start();
    let mut stream = stage.client();
    stream.write_all(PREFACE).unwrap();
    stream.write_all(&frame(1, 5, 1, &get_headers())).unwrap();
    let denied = [&[0x82, 0x86, 0x84, 0x41, 11][..], b"denied.test"].concat();
    stream.write_all(&frame(1, 5, 3, &denied)).unwrap();
    stage.records.await_record(&["broker.request", "allowed.test"]);
    stage.records.await_record(&["broker.egress-denied", "denied.test"]);
    // `:authority` and `host` must agree.
    let both = [&get_headers()[..], &[0x40, 4], b"host", &[11], b"denied.test"].concat();
    stream.write_all(&frame(1, 5, 5, &both)).unwrap();
    stage.records.await_record(&["broker.egress-denied", "NameMismatch"]);
}

#[test]
fn a_tunnel_over_http2_carries_bytes() {
    let host = echo();
    let stage = Plan::new(&["allowed.test:7777"], &[("allowed.test", host.port)]).start();
    let mut stream = stage.client();
    stream.write_all(PREFACE).unwrap();
    let connect = [&[0x42, 7][..], b"CONNECT", &[0x41, 17], b"allowed.test:7777"].concat();
    stream.write_all(&frame(1, 4, 1, &connect)).unwrap();
    stream.write_all(&frame(0, 0, 1, b"ping through a stream")).unwrap();
    let mut seen = Vec::new();
    let mut chunk = [0; 1024];
    while !seen.windows(21).any(|window| window == b"ping through a stream") {
        let length = stream.read(&mut chunk).unwrap();
        assert!(length > 0, "closed after {seen:?}");
        seen.extend_from_slice(&chunk[..length]);
    }
    drop(stream);
    stage.records.await_record(&["broker.disconnected", "sent: 21", "received: 21"]);
}

#[test]
fn rapid_resets_end_the_connection_and_harm_no_other_traffic() {
    let host = web();
    let stage = Plan::new(&["allowed.test"], &[("allowed.test", host.port)]).start();
    let mut stream = stage.client();
    stream.write_all(PREFACE).unwrap();
    let mut flood = Vec::new();
    for number in 0..20_000_u32 {
        let id = 2 * number + 1;
        flood.extend(frame(1, 5, id, &get_headers()));
        flood.extend(frame(3, 0, id, &[0, 0, 0, 8]));
    }
    // The broker closes while this is sent.
    let _sent = stream.write_all(&flood);
    let started = Instant::now();
    assert_served(&stage);
    let _closed = stream.read_to_end(&mut Vec::new());
    assert!(started.elapsed() < PATIENCE / 2, "the connection was ended");
    assert!(host.connections.load(Ordering::SeqCst) < 1000, "{}", host.connections.load(Ordering::SeqCst));
    assert_served(&stage);
}

/// Four descriptors of this process for each connection: client, broker twice, host.
fn permit_descriptors(count: u64) -> bool {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(count), maximum }).is_ok()
}

#[test]
fn a_thousand_connections_at_once() {
    if !permit_descriptors(8192) {
        return;
    }
    let host = echo();
    let stage = Plan::new(&["allowed.test:7"], &[("allowed.test", host.port)]).start();
    let open = |_| {
        let mut stream = stage.client();
        stream.write_all(b"CONNECT allowed.test:7 HTTP/1.1\r\nHost: allowed.test:7\r\n\r\n").unwrap();
        stream
    };
    let mut streams: Vec<TcpStream> = (0..1000).map(open).collect();
    for stream in &mut streams {
        assert_eq!(status(&read_answer(stream)), Some(200));
        stream.write_all(b"ping").unwrap();
    }
    for stream in &mut streams {
        let mut pong = [0; 4];
        stream.read_exact(&mut pong).unwrap();
        assert_eq!(&pong, b"ping");
    }
    assert_eq!(stage.broker.open_connections(), 1000);
    drop(streams);
    assert_eq!(stage.broker.stop().connections, 1000);
}

#[test]
fn connections_above_the_limit_are_reset_and_the_others_go_on() {
    let host = echo();
    let mut plan = Plan::new(&["allowed.test:7"], &[("allowed.test", host.port)]);
    plan.limits = Limits { connections: 4, ..plan.limits };
    let stage = plan.start();
    let mut kept: Vec<TcpStream> = (0..4).map(|_| stage.client()).collect();
    for stream in &mut kept {
        stream.write_all(b"CONNECT allowed.test:7 HTTP/1.1\r\nHost: allowed.test:7\r\n\r\n").unwrap();
        assert_eq!(status(&read_answer(stream)), Some(200));
    }
    assert!(is_closed(&mut stage.client()));
    stage.records.await_record(&["broker.egress-denied", "too many connections"]);
    for stream in &mut kept {
        stream.write_all(b"ping").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }
}

#[test]
fn names_above_the_limit_get_no_address() {
    let mut plan = Plan::new(&[], &[]);
    plan.limits = Limits { names: 2, ..plan.limits };
    let stage = plan.start();
    assert_eq!(stage.lookup("a.test")[3] & 15, 0);
    assert_eq!(stage.lookup("b.test")[3] & 15, 0);
    assert_eq!(stage.lookup("c.test")[3] & 15, 2, "SERVFAIL");
    assert_eq!(stage.lookup("a.test")[3] & 15, 0, "names that are known stay");
}
