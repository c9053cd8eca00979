//! Cost of the way out: bytes through an opaque tunnel against direct loopback, added latency, and memory of an idle broker.
//!
//! Promises: at least 60 % of direct; 0.15 ms more on a kept connection, 0.4 ms more for a new one (medians); 15 MiB when idle.
//! Direct and through the broker take turns, so that a busy machine slows both alike.
//! `cargo bench -p ringfence-broker --bench throughput`; `RINGFENCE_BENCH_MIB` changes the 1,024 MiB, `RINGFENCE_BENCH_ROUNDS` the rounds.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark, not an interface")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use audit::{AuditError, Event, Sink};
use policy::{Code, Decision, Endpoint, HostAddress, HostName, Reason};
use ringfence_broker::{Broker, Credentials, Gate, Limits, Origin, Question, Settings, Sockets};

const TARGET: &str = "bench.test:7777";

struct Open;

impl Gate for Open {
    fn decide(&self, _: &Endpoint) -> Decision {
        Decision::Allow(Reason::new(Code::HostRule, "a rule allows it"))
    }

    fn names_port(&self, _: &Endpoint) -> bool {
        true
    }

    fn ask(&self, _: &Question<'_>) -> Result<(), Reason> {
        Ok(())
    }
}

impl Sink for Open {
    fn record(&self, _: &Event<'_>) -> Result<(), AuditError> {
        Ok(())
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Some(port) = words.iter().find_map(|word| word.strip_prefix("--broker=")) {
        return serve_broker(port.parse().unwrap());
    }
    let number =
        |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (mebibytes, rounds) = (number("RINGFENCE_BENCH_MIB", 1024), number("RINGFENCE_BENCH_ROUNDS", 300));
    let host = start_host(mebibytes << 20);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(format!("--broker={}", host.port()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
        .unwrap();
    let proxy: SocketAddr = line.trim().parse().unwrap();

    report_memory("idle, before the first connection", child.id());
    latency(host, proxy, rounds);
    throughput(host, proxy, mebibytes);
    std::thread::sleep(Duration::from_millis(200));
    report_memory("idle, after all of this", child.id());
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// Runs a broker in a process of its own, so that its memory can be measured, until standard input closes.
fn serve_broker(port: u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    println!("{}", listener.local_addr().unwrap());
    let name = HostName::parse("bench.test").unwrap();
    let settings = Settings {
        gate: Arc::new(Open),
        credentials: Credentials::none().unwrap(),
        hosts: vec![HostAddress { name, address: Ipv4Addr::LOCALHOST.into(), port: Some(port) }],
        upstream: None,
        sink: Arc::new(Open),
        origin: Origin::default(),
        find_program: None,
        limits: Limits::STANDARD,
    };
    let sockets =
        Sockets { proxy: vec![listener], transparent: Vec::new(), resolver_udp: None, resolver_tcp: None };
    let broker = Broker::start(settings, sockets).unwrap();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let report = broker.stop();
    assert_eq!(report.refusals, []);
}

/// A host that answers `p` with one byte, and `g` with many and the end.
fn start_host(bytes: usize) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            std::thread::spawn(move || {
                let chunk = vec![7; 256 * 1024];
                let mut wish = [0];
                while matches!(stream.read(&mut wish), Ok(1)) {
                    if wish == *b"g" {
                        for _ in 0..bytes / chunk.len() {
                            stream.write_all(&chunk).unwrap();
                        }
                        return;
                    }
                    stream.write_all(b"p").unwrap();
                }
            });
        }
    });
    address
}

fn direct(host: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(host).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn through(proxy: SocketAddr) -> TcpStream {
    let mut stream = direct(proxy);
    write!(stream, "CONNECT {TARGET} HTTP/1.1\r\nHost: {TARGET}\r\n\r\n").unwrap();
    let mut head = Vec::new();
    let mut chunk = [0; 256];
    while !head.ends_with(b"\r\n\r\n") {
        let length = stream.read(&mut chunk).unwrap();
        head.extend_from_slice(&chunk[..length]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&head));
    stream
}

fn ping(stream: &mut TcpStream) {
    stream.write_all(b"p").unwrap();
    stream.read_exact(&mut [0]).unwrap();
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn latency(host: SocketAddr, proxy: SocketAddr, rounds: usize) {
    let (mut kept, mut fresh) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let (mut plain, mut tunnel) = (direct(host), through(proxy));
    for _ in 0..rounds {
        kept[0].push(timed(|| ping(&mut plain)));
        kept[1].push(timed(|| ping(&mut tunnel)));
        fresh[0].push(timed(|| ping(&mut direct(host))));
        fresh[1].push(timed(|| ping(&mut through(proxy))));
    }
    for (name, [direct, broker], promise) in [("kept connection", kept, 0.15), ("new connection", fresh, 0.4)]
    {
        let (mut direct, mut broker) = (direct, broker);
        let (direct, broker) = (median(&mut direct), median(&mut broker));
        let added = broker - direct;
        println!(
            "{name:<36} direct {direct:.3} ms, broker {broker:.3} ms, added {added:.3} ms {}",
            verdict(added <= promise, promise, "ms at most")
        );
    }
}

fn throughput(host: SocketAddr, proxy: SocketAddr, mebibytes: usize) {
    let rate = |mut stream: TcpStream| {
        let mut buffer = vec![0; 256 * 1024];
        let mut total = 0;
        let time = timed(|| {
            stream.write_all(b"g").unwrap();
            while let Ok(length @ 1..) = stream.read(&mut buffer) {
                total += length;
            }
        });
        assert_eq!(total, mebibytes << 20);
        f64::from(u32::try_from(mebibytes).unwrap()) / time * 1e3
    };
    let (mut plain, mut tunnel) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        plain.push(rate(direct(host)));
        tunnel.push(rate(through(proxy)));
    }
    let (plain, tunnel) = (median(&mut plain), median(&mut tunnel));
    let share = tunnel / plain * 100.0;
    println!(
        "{:<36} direct {plain:.0} MiB/s, broker {tunnel:.0} MiB/s, {share:.0} % {}",
        format!("{mebibytes} MiB through a tunnel"),
        verdict(share >= 60.0, 60.0, "% at least")
    );
}

fn report_memory(when: &str, pid: u32) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let resident = line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0;
    println!("{when:<36} {resident:.1} MiB resident {}", verdict(resident <= 15.0, 15.0, "MiB at most"));
}

fn verdict(kept: bool, promise: f64, unit: &str) -> String {
    format!("(promised {promise} {unit}: {})", if kept { "kept" } else { "BROKEN" })
}
