//! Every way out, over real sockets: CONNECT, forward, SOCKS5, transparent, DNS, WebSocket; and what is recorded of it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use policy::{Code, Endpoint, Inject, Reason, Route, SecretSource};
use ringfence_broker::{Limits, Report};
use stage::{
    Broken, OneValue, PATIENCE, Plan, client_hello, connect, echo, is_closed, query, read_answer, web,
};

/// Opens a tunnel and returns the answer with the stream.
fn tunnel(stage: &stage::Stage, target: &str) -> (String, std::net::TcpStream) {
    let mut stream = stage.client();
    write!(stream, "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").unwrap();
    (read_answer(&mut stream), stream)
}

#[test]
fn a_broker_without_connections_starts_no_runtime_and_stops() {
    let stage = Plan::new(&[], &[]).start();
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    let before = threads();
    assert_eq!(stage.broker.stop(), Report::default());
    assert!(before - threads() <= 1, "only the thread that waits");
}

#[test]
fn a_tunnel_carries_bytes_both_ways_and_is_recorded() {
    let host = echo();
    let stage = Plan::new(&["echo.test:7777"], &[("echo.test", host.port)]).start();
    let (answer, mut stream) = tunnel(&stage, "echo.test:7777");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // Far more than is copied through the buffer, so that the pipe is used.
    let sent: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
    let mut writer = stream.try_clone().unwrap();
    let copy = sent.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&copy).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    writing.join().unwrap();
    assert!(received == sent, "{} of {} bytes came back", received.len(), sent.len());
    drop(stream);
    let records = Arc::clone(&stage.records);
    let report = stage.broker.stop();
    assert_eq!((report.connections, report.sent, report.received), (1, 3_000_000, 3_000_000));
    assert!(records.has(&["broker.connected", "echo.test", "7777", "run-1"]));
    assert!(records.has(&["broker.disconnected", "sent: 3000000", "received: 3000000"]));
}

#[test]
fn a_refused_host_fails_at_once_with_the_line_that_would_allow_it() {
    let stage = Plan::new(&["a.test"], &[]).start();
    let started = Instant::now();
    let (answer, _) = tunnel(&stage, "denied.test:443");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("RF-N005") && answer.contains("--allow denied.test"), "{answer}");
    let json = stage.exchange(
        b"GET http://denied.test/ HTTP/1.1\r\nHost: denied.test\r\nAccept: application/json\r\n\r\n",
    );
    assert!(json.contains("application/json") && json.contains(r#""code":"RF-N005""#), "{json}");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert!(stage.records.has(&["broker.egress-denied", "denied.test", "--allow"]));
    let report = stage.broker.stop();
    assert_eq!(report.refusals.len(), 2, "port 443 and port 80: {report:?}");
    assert!(report.refusals[0].remedy.as_deref().unwrap().contains("network.allow = [\"denied.test\"]"));
}

#[test]
fn requests_of_a_kept_connection_are_judged_one_by_one() {
    let host = web();
    let stage = Plan::new(&["a.test"], &[("a.test", host.port)]).start();
    let mut stream = stage.client();
    for path in ["one?token=1", "two"] {
        write!(stream, "GET http://a.test/{path} HTTP/1.1\r\nHost: a.test\r\nProxy-Authorization: x\r\n\r\n")
            .unwrap();
        let answer = read_answer(&mut stream);
        assert!(
            answer.contains(&format!("GET /{path} HTTP/1.1")) && !answer.contains("proxy-auth"),
            "{answer}"
        );
    }
    write!(stream, "GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n").unwrap();
    assert!(read_answer(&mut stream).starts_with("HTTP/1.1 403"));
    assert_eq!(host.connections.load(Ordering::SeqCst), 1, "the connection to the host is kept as well");
    assert_eq!(stage.records.count("broker.request"), 2);
    assert!(stage.records.has(&["broker.request", "GET", "/one\"", "status: 200", "connection: 1"]));
    write!(stream, "PUT http://b.test/three?token=1 HTTP/1.1\r\nHost: b.test\r\nContent-Length: 0\r\n\r\n")
        .unwrap();
    assert!(read_answer(&mut stream).starts_with("HTTP/1.1 403"));
    assert!(stage.records.has(&["broker.egress-denied", "b.test", "PUT", "/three\""]));
    assert!(!stage.records.has(&["token"]));
}

#[test]
fn websocket_passes_through_plain_forward() {
    let host = web();
    let stage = Plan::new(&["a.test"], &[("a.test", host.port)]).start();
    let mut stream = stage.client();
    write!(
        stream,
        "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    )
    .unwrap();
    assert!(read_answer(&mut stream).starts_with("HTTP/1.1 101"));
    stream.write_all(b"\x81\x05hello").unwrap();
    let mut frame = [0; 7];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(&frame, b"\x81\x05hello");
}

/// Speaks SOCKS5 and returns the reply code.
fn socks(stage: &stage::Stage, kind: u8, address: &[u8], port: u16) -> (u8, std::net::TcpStream) {
    let mut stream = stage.client();
    stream.write_all(&[5, 1, 0]).unwrap();
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).unwrap();
    assert_eq!(chosen, [5, 0]);
    stream.write_all(&[&[5, 1, 0, kind], address, &port.to_be_bytes()].concat()).unwrap();
    let mut reply = [0; 10];
    stream.read_exact(&mut reply).unwrap();
    (reply[1], stream)
}

fn named(name: &[u8]) -> Vec<u8> {
    [&[u8::try_from(name.len()).unwrap()], name].concat()
}

#[test]
fn socks_takes_names_and_judges_addresses_as_addresses() {
    let host = echo();
    let stage = Plan::new(&["echo.test:7777"], &[("echo.test", host.port)]).start();
    let (code, mut stream) = socks(&stage, 3, &named(b"Echo.test."), 7777);
    assert_eq!(code, 0);
    stream.write_all(b"ping").unwrap();
    let mut pong = [0; 4];
    stream.read_exact(&mut pong).unwrap();
    assert_eq!(&pong, b"ping");
    let rows: [(u8, Vec<u8>, u8); 7] = [
        (3, named(b"other.test"), 2),
        (3, named(b"127.0.0.1"), 2),
        (1, vec![127, 0, 0, 1], 2),
        (1, vec![169, 254, 169, 254], 2),
        (4, vec![0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], 2),
        (3, named(b"echo.test\0.evil.com"), 1),
        (3, named(&[b'a'; 255]), 1),
    ];
    for (kind, address, expected) in rows {
        assert_eq!(socks(&stage, kind, &address, 7777).0, expected, "{address:?}");
    }
    assert_eq!(host.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn dns_gives_synthetic_addresses_and_asks_nothing_outside() {
    let stage = Plan::new(&[], &[]).start();
    assert!(stage.lookup("any.name.test").ends_with(&[198, 18, 0, 1]));
    assert!(stage.lookup("other.test").ends_with(&[198, 18, 0, 2]));
    assert!(stage.lookup("ANY.name.test").ends_with(&[198, 18, 0, 1]), "names have no case");
    assert!(stage.lookup("localhost").ends_with(&[127, 0, 0, 1]));
    let mut tcp = connect(stage.dns_tcp);
    for (name, kind, expected) in
        [("any.name.test", 28, 0x80), ("1.0.18.198.in-addr.arpa", 12, 0x80), ("1.2.3.4", 1, 0x83)]
    {
        let message = query(name, kind);
        tcp.write_all(&u16::try_from(message.len()).unwrap().to_be_bytes()).unwrap();
        tcp.write_all(&message).unwrap();
        let mut length = [0; 2];
        tcp.read_exact(&mut length).unwrap();
        let mut answer = vec![0; usize::from(u16::from_be_bytes(length))];
        tcp.read_exact(&mut answer).unwrap();
        assert_eq!(answer[3], expected, "{name}");
        assert_eq!(answer.ends_with(b"\x03any\x04name\x04test\0"), kind == 12, "{name}");
    }
}

#[test]
fn a_redirected_connection_is_known_by_its_name() {
    let host = web();
    let stage = Plan::new(&["a.test"], &[("a.test", host.port)]).start();
    stage.lookup("a.test");
    let mut stream = connect(stage.transparent);
    for _ in 0..2 {
        stream.write_all(b"GET /path HTTP/1.1\r\nHost: a.test\r\n\r\n").unwrap();
        assert!(read_answer(&mut stream).contains("GET /path HTTP/1.1\r\nhost: a.test"));
    }
    stream.write_all(b"GET /path HTTP/1.1\r\nHost: b.test\r\n\r\n").unwrap();
    let answer = read_answer(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("RF-N006"), "{answer}");
    assert_eq!(stage.records.count("broker.request"), 2);
}

#[test]
fn a_redirected_connection_to_a_denied_name_gets_a_page_or_a_reset() {
    let stage = Plan::new(&["a.test"], &[]).start();
    stage.lookup("denied.test");
    let mut stream = connect(stage.transparent);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: denied.test\r\n\r\n").unwrap();
    let answer = read_answer(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("--allow denied.test"), "{answer}");
    let mut stream = connect(stage.transparent);
    stream.write_all(&client_hello(&["denied.test"], 4096)).unwrap();
    let error = stream.read(&mut [0; 16]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn an_address_that_was_not_looked_up_is_refused() {
    for destination in ["198.18.0.9:443", "10.0.0.1:443", "169.254.169.254:80", "127.0.0.1:22"] {
        let mut plan = Plan::new(&["a.test"], &[]);
        plan.destination = destination.parse().unwrap();
        let stage = plan.start();
        let mut stream = connect(stage.transparent);
        stream.write_all(&client_hello(&["a.test"], 4096)).unwrap();
        assert!(is_closed(&mut stream), "{destination}");
        assert_eq!(stage.broker.stop().connections, 0, "{destination}");
    }
}

#[test]
fn tls_must_name_the_allowed_host() {
    let host = echo();
    let rows: [(&[&str], usize, bool); 7] = [
        (&["a.test"], 4096, true),
        (&["A.Test."], 4096, true),
        (&["a.test"], 1, true),
        (&["b.test"], 4096, false),
        (&[], 4096, false),
        (&["a.test", "b.test"], 4096, false),
        (&["a.test\0.b.test"], 4096, false),
    ];
    for (names, size, allowed) in rows {
        let mut plan = Plan::new(&["a.test"], &[("a.test", host.port)]);
        plan.destination = "198.18.0.1:443".parse().unwrap();
        let stage = plan.start();
        stage.lookup("a.test");
        let hello = client_hello(names, size);
        let before = host.connections.load(Ordering::SeqCst);
        let mut stream = connect(stage.transparent);
        // One byte per segment, so that the handshake arrives in many pieces.
        let _sent = hello.iter().all(|byte| stream.write_all(&[*byte]).is_ok());
        let mut back = vec![0; hello.len()];
        assert_eq!(stream.read_exact(&mut back).is_ok() && back == hello, allowed, "transparent {names:?}");
        assert_eq!(host.connections.load(Ordering::SeqCst) - before, usize::from(allowed), "{names:?}");
        let (answer, mut stream) = tunnel(&stage, "a.test:443");
        assert!(answer.starts_with("HTTP/1.1 200"));
        stream.write_all(&hello).unwrap();
        assert_eq!(stream.read_exact(&mut back).is_ok() && back == hello, allowed, "CONNECT {names:?}");
        if !allowed {
            stage.records.await_record(&["broker.egress-denied", "NameMismatch"]);
        }
    }
}

#[test]
fn other_protocols_pass_only_where_a_rule_names_the_port() {
    let host = echo();
    for (rule, allowed) in [("a.test", false), ("a.test:5432", true)] {
        let stage = Plan::new(&[rule], &[("a.test", host.port)]).start();
        let (_, mut stream) = tunnel(&stage, "a.test:5432");
        stream.write_all(b"\0\0\0\x08\x04\xd2\x16\x2f").unwrap();
        let mut back = [0; 8];
        assert_eq!(stream.read_exact(&mut back).is_ok(), allowed, "{rule}");
        if !allowed {
            stage.records.await_record(&["UnreadableTraffic", "network.allow", "a.test:5432"]);
        }
    }
}

#[test]
fn a_server_that_speaks_first_is_heard_where_a_rule_names_the_port() {
    let host = stage::host(|mut stream| {
        stream.write_all(b"220 ready\r\n").unwrap();
        let _held = stream.read(&mut [0; 16]);
    });
    let stage = Plan::new(&["mail.test:25"], &[("mail.test", host.port)]).start();
    let (_, mut stream) = tunnel(&stage, "mail.test:25");
    let mut banner = [0; 11];
    stream.read_exact(&mut banner).unwrap();
    assert_eq!(&banner, b"220 ready\r\n");
}

#[test]
fn silence_hides_no_protocol_on_ports_of_the_web() {
    let host = echo();
    let hello = client_hello(&["b.test"], 4096);
    let rows: [(&str, &[u8]); 3] =
        [("a.test:443", &hello), ("a.test:443", b"\0\0\0\x08"), ("a.test:80", b"\0\0\0\x08")];
    for (target, first) in rows {
        let stage = Plan::new(&["a.test:443", "a.test:80"], &[("a.test", host.port)]).start();
        let (_, mut stream) = tunnel(&stage, target);
        // Longer than a client is given where the host may speak first.
        std::thread::sleep(Duration::from_millis(300));
        stream.write_all(first).unwrap();
        assert!(is_closed(&mut stream), "{target} {first:?}");
        stage.records.await_record(&["broker.egress-denied", "a.test"]);
    }
}

#[test]
fn the_first_message_is_read_also_after_a_silence() {
    let quiet = echo();
    let banner = stage::host(|mut stream| {
        stream.write_all(b"220 ready\r\n").unwrap();
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            stream.write_all(&chunk[..length]).unwrap();
        }
    });
    let (own, other, none) =
        (client_hello(&["a.test"], 4096), client_hello(&["b.test"], 4096), client_hello(&[], 4096));
    let rows: [(&[u8], bool); 5] =
        [(&own, true), (&other, false), (&none, true), (b"EHLO a\r\n", true), (b"GET / HTTP/1.1\r\n", false)];
    for (host, greeting) in [(&quiet, 0), (&banner, 11)] {
        let stage = Plan::new(&["a.test:2525"], &[("a.test", host.port)]).start();
        for (first, allowed) in rows {
            let (_, mut stream) = tunnel(&stage, "a.test:2525");
            stream.read_exact(&mut vec![0; greeting]).unwrap();
            std::thread::sleep(Duration::from_millis(300));
            stream.write_all(first).unwrap();
            if greeting == 0 && first.starts_with(b"GET") {
                // The host has said nothing, so this is served as HTTP: the request names no host.
                stream.write_all(b"\r\n").unwrap();
                assert!(read_answer(&mut stream).starts_with("HTTP/1.1 400"));
                continue;
            }
            let mut back = vec![0; first.len()];
            let passed = stream.read_exact(&mut back).is_ok() && back == first;
            assert_eq!(passed, allowed, "{greeting} {first:?}");
        }
    }
}

#[test]
fn a_name_that_leads_to_a_private_address_is_refused() {
    let host = echo();
    let stage = Plan::new(&[&format!("localhost:{}", host.port)], &[]).start();
    let (answer, _) = tunnel(&stage, &format!("localhost:{}", host.port));
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("RF-N003"), "{answer}");
    assert!(answer.contains("network.hosts"), "{answer}");
    let rules = [
        format!("localhost:{}", host.port),
        format!("127.0.0.1:{}", host.port),
        format!("[::1]:{}", host.port),
    ];
    let stage = Plan::new(&rules.each_ref().map(String::as_str), &[]).start();
    let (answer, _) = tunnel(&stage, &format!("localhost:{}", host.port));
    assert!(answer.starts_with("HTTP/1.1 200"), "a rule names the address: {answer}");
}

#[test]
fn questions_about_a_host_are_merged_and_harm_no_other_traffic() {
    let host = echo();
    let mut plan = Plan::new(&["known.test:1"], &[("known.test", host.port), ("new.test", host.port)]);
    plan.gate.ask = vec!["new.test:1".into()];
    plan.gate.think = Duration::from_millis(600);
    let stage = plan.start();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| tunnel(&stage, "new.test:1").0)).collect();
        let started = Instant::now();
        assert!(tunnel(&stage, "known.test:1").0.starts_with("HTTP/1.1 200"));
        assert!(started.elapsed() < Duration::from_millis(400), "{:?}", started.elapsed());
        for answer in asking {
            assert!(answer.join().unwrap().starts_with("HTTP/1.1 200"));
        }
    });
    assert_eq!(stage.gate.asked.load(Ordering::SeqCst), 1);
}

#[test]
fn a_question_without_an_answer_expires_and_no_is_no() {
    let host = echo();
    let rows = [
        (Duration::from_secs(30), Ok(()), "RF-R007"),
        (Duration::ZERO, Err(Reason::new(Code::AnsweredNo, "a person said no")), "RF-R009"),
    ];
    for (think, answer, code) in rows {
        let mut plan = Plan::new(&[], &[("new.test", host.port)]);
        plan.gate.ask = vec!["new.test".into()];
        (plan.gate.think, plan.gate.answer) = (think, answer);
        plan.limits = Limits { answer: Duration::from_millis(200), ..plan.limits };
        let stage = plan.start();
        let (answer, _) = tunnel(&stage, "new.test:443");
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains(code), "{answer}");
    }
    assert_eq!(host.connections.load(Ordering::SeqCst), 0);
}

#[test]
fn one_answer_holds_for_the_requests_of_a_connection() {
    let host = web();
    let plan = || {
        let mut plan = Plan::new(&[], &[("new.test", host.port)]);
        plan.gate.ask = vec!["new.test".into()];
        plan
    };
    let stage = plan().start();
    let mut stream = stage.client();
    for _ in 0..3 {
        stream.write_all(b"GET http://new.test/ HTTP/1.1\r\nHost: new.test\r\n\r\n").unwrap();
        assert!(read_answer(&mut stream).starts_with("HTTP/1.1 200"));
    }
    assert_eq!(stage.gate.asked.load(Ordering::SeqCst), 1, "through the proxy");
    let answer = stage.exchange(b"GET http://new.test/ HTTP/1.1\r\nHost: new.test\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(stage.gate.asked.load(Ordering::SeqCst), 2, "another connection is another question");
    let stage = plan().start();
    stage.lookup("new.test");
    let mut stream = connect(stage.transparent);
    for _ in 0..3 {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: new.test\r\n\r\n").unwrap();
        assert!(read_answer(&mut stream).starts_with("HTTP/1.1 200"));
    }
    assert_eq!(stage.gate.asked.load(Ordering::SeqCst), 1, "redirected");
    stage.gate.closed.store(true, Ordering::SeqCst);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: new.test\r\n\r\n").unwrap();
    assert!(read_answer(&mut stream).starts_with("HTTP/1.1 403"), "a rule that denies it holds at once");
}

#[test]
fn revoking_a_secret_closes_its_tunnels() {
    let host = echo();
    let mut plan = Plan::new(&["a.test:1", "b.test:1"], &[("a.test", host.port), ("b.test", host.port)]);
    // The route is for the endpoint over plain HTTP, so that the tunnel is not intercepted.
    let endpoint = Endpoint::parse("a.test:1", 1).unwrap();
    let mut route = Route::new("key", SecretSource::Store, endpoint, Inject::Bearer);
    route.scheme = policy::Scheme::Http;
    plan.routes = vec![route];
    plan.secrets = Arc::new(OneValue("value-of-the-key"));
    let stage = plan.start();
    let (mut bound, mut free) = (tunnel(&stage, "a.test:1").1, tunnel(&stage, "b.test:1").1);
    for stream in [&mut bound, &mut free] {
        stream.write_all(b"ping").unwrap();
        stream.read_exact(&mut [0; 4]).unwrap();
    }
    stage.broker.revoke("key");
    assert!(is_closed(&mut bound));
    free.write_all(b"ping").unwrap();
    free.read_exact(&mut [0; 4]).unwrap();
}

/// A plan with a secret for plain HTTP to `a.test`.
fn with_secret(port: u16) -> Plan {
    let mut plan = Plan::new(&["a.test"], &[("a.test", port)]);
    let endpoint = Endpoint::parse("a.test:80", 80).unwrap();
    let mut route = Route::new("key", SecretSource::Store, endpoint, Inject::Bearer);
    route.scheme = policy::Scheme::Http;
    plan.routes = vec![route];
    plan.secrets = Arc::new(OneValue("value-of-the-key"));
    plan
}

/// A host that gives one answer to every first request.
fn answering(answer: Vec<u8>) -> stage::Host {
    stage::host(move |mut stream| {
        let _head = stream.read(&mut [0; 4096]);
        stream.write_all(&answer).unwrap();
    })
}

#[test]
fn the_words_behind_a_status_and_hidden_codings_carry_no_secret() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"<value-of-the-key>").unwrap();
    let packed = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 value-of-the-key\r\nConnection: content-encoding, close\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        packed.len()
    );
    let host = answering([head.as_bytes(), &packed].concat());
    let stage = with_secret(host.port).start();
    let request =
        b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";
    let mut stream = stage.client();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let text = String::from_utf8_lossy(&answer);
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains('<') && text.contains('>'), "{text}");
    assert!(!text.contains("value-of-the-key") && !text.contains("encoding: gzip"), "{text}");
}

#[test]
fn a_host_that_never_answers_holds_no_connection() {
    let hosts = [
        stage::host(|mut stream| while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}),
        stage::host(|mut stream| {
            let _head = stream.read(&mut [0; 4096]);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf").unwrap();
            while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
        }),
    ];
    for host in hosts {
        let mut plan = Plan::new(&["a.test"], &[("a.test", host.port)]);
        plan.limits = Limits { idle: Duration::from_millis(300), ..plan.limits };
        let stage = plan.start();
        let mut stream = stage.client();
        stream.write_all(b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer);
        assert!(ended.is_ok(), "{ended:?} {text}");
        assert!(text.starts_with("HTTP/1.1 502") || text.ends_with("half"), "{text}");
        stage.records.await_record(&["broker.disconnected"]);
    }
}

#[test]
fn a_placeholder_behind_an_early_answer_is_recorded() {
    let host = stage::host(|mut stream| {
        let _head = stream.read(&mut [0; 4096]);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf").unwrap();
        while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
    });
    let mut plan = with_secret(host.port);
    plan.gate.allow.push("b.test".into());
    plan.hosts.push(("b.test", host.port));
    plan.routes[0].placeholder = Some("KEY".into());
    let stage = plan.start();
    let placeholder = &stage.environment[0].1;
    let mut stream = stage.client();
    stream
        .write_all(b"POST http://b.test/ HTTP/1.1\r\nHost: b.test\r\nContent-Length: 1000\r\n\r\n")
        .unwrap();
    stage.records.await_record(&["broker.request", "b.test"]);
    stream.write_all(placeholder.as_bytes()).unwrap();
    stage.records.await_record(&["broker.egress-denied", "PlaceholderElsewhere", "b.test"]);
}

#[test]
fn a_client_that_never_reads_holds_no_connection() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n".to_vec();
    let host = stage::host(move |mut stream| {
        let _head = stream.read(&mut [0; 4096]);
        let _sent = stream.write_all(&head).is_ok() && stream.write_all(&vec![7; 50_000_000]).is_ok();
    });
    let mut plan = Plan::new(&["a.test"], &[("a.test", host.port)]);
    plan.limits = Limits { idle: Duration::from_millis(300), connections: 1, ..plan.limits };
    let stage = plan.start();
    let mut client = stage.client();
    client.write_all(b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n").unwrap();
    stage.records.await_record(&["broker.disconnected"]);
    let started = Instant::now();
    let request = b"GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n";
    while !stage.exchange(request).starts_with("HTTP/1.1 403") {
        assert!(started.elapsed() < PATIENCE, "its place is free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_connection_that_cannot_be_recorded_is_refused() {
    let host = echo();
    let mut plan = Plan::new(&["a.test:1"], &[("a.test", host.port)]);
    plan.sink = Some(Arc::new(Broken));
    let stage = plan.start();
    let (answer, _) = tunnel(&stage, "a.test:1");
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("RF-A001"), "{answer}");
    assert_eq!(host.connections.load(Ordering::SeqCst), 0);
}

#[test]
fn an_idle_tunnel_is_closed() {
    let host = echo();
    let mut plan = Plan::new(&["a.test:1"], &[("a.test", host.port)]);
    plan.limits = Limits { idle: Duration::from_millis(200), ..plan.limits };
    let stage = plan.start();
    let (_, mut stream) = tunnel(&stage, "a.test:1");
    let started = Instant::now();
    assert!(is_closed(&mut stream));
    assert!(started.elapsed() < PATIENCE / 2);
}
