//! The network whose only way out is the broker, from inside, on the real kernel.
//!
//! The command of these jails is this program again, in the test `inside`, with the attempts that it makes in a variable.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use policy::Limits;
use ringfence_jail::broker_network::{self, BrokerSockets};
use ringfence_jail::{
    Capture, Choice, Command, End, Held, JailError, Layer, Level, Mode, Network, Provider, Require, Spec,
    Streams, hold,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with, sockopt};
use tempfile::TempDir;

const ATTEMPTS: &str = "RINGFENCE_ATTEMPTS";
/// Within this time a refusal is one at once.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The part inside: makes each attempt and says what came of it.
#[test]
fn inside() {
    let Ok(attempts) = std::env::var(ATTEMPTS) else { return };
    for attempt in attempts.split(',') {
        let began = Instant::now();
        let (what, rest) = attempt.split_once(' ').unwrap_or((attempt, ""));
        let result = match what {
            "tcp" => tcp(rest.parse().unwrap()),
            "udp" => udp(rest.parse().unwrap()),
            "serve" => serve(rest.parse().unwrap()),
            "bind" => bind(rest.parse().unwrap()),
            "abstract" => abstract_socket(rest),
            "many" => many(rest.parse().unwrap()),
            "same-port" => same_port(),
            "route" => netlink_error(None, &delete_routes()),
            "rules" => netlink_error(Some(netlink::NETFILTER), &[]),
            "diagnostics" => netlink_error(Some(netlink::SOCK_DIAG), &[]),
            "read" => std::fs::read_to_string(rest)
                .map_or_else(|error| error.to_string(), |text| text.trim().to_owned()),
            _ => "unknown".to_owned(),
        };
        let late = if began.elapsed() < AT_ONCE { "" } else { " late" };
        println!("> {attempt}: {result}{late}");
    }
}

fn outcome<T>(result: Result<T, std::io::Error>, done: impl FnOnce(T) -> String) -> String {
    match result {
        Ok(value) => done(value),
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn tcp(address: SocketAddr) -> String {
    outcome(TcpStream::connect_timeout(&address, Duration::from_secs(5)), |mut stream| {
        let mut text = String::new();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        match stream.read_to_string(&mut text) {
            Ok(_) => text,
            Err(error) => format!("{:?}", error.kind()),
        }
    })
}

fn udp(address: SocketAddr) -> String {
    let from = if address.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(from).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut answer = [0; 64];
    let asked = socket.connect(address).and_then(|()| socket.send(b"ask"));
    let answered = asked.and_then(|_| socket.recv_from(&mut answer));
    outcome(answered, |(length, from)| format!("{} from {from}", String::from_utf8_lossy(&answer[..length])))
}

/// A server inside that a client inside reaches.
fn serve(address: SocketAddr) -> String {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    let serving = thread::spawn(move || listener.accept().unwrap().0.write_all(b"own server").unwrap());
    let answer = tcp(address);
    serving.join().unwrap();
    answer
}

fn bind(address: SocketAddr) -> String {
    let tcp = outcome(TcpListener::bind(address), |_| "bound".to_owned());
    let udp = outcome(UdpSocket::bind(address), |_| "bound".to_owned());
    let shared = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
    sockopt::set_socket_reuseaddr(&shared, true).unwrap();
    sockopt::set_socket_reuseport(&shared, true).unwrap();
    let taken = rustix::net::bind(&shared, &address).and_then(|()| rustix::net::listen(&shared, 1));
    format!("{tcp} {udp} {}", outcome(taken.map_err(Into::into), |()| "bound".to_owned()))
}

fn abstract_socket(name: &str) -> String {
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
    outcome(UnixStream::connect_addr(&address), |_| "connected".to_owned())
}

fn many(address: SocketAddr) -> String {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit }).unwrap();
    let made = (0..1024).map_while(|_| TcpStream::connect_timeout(&address, Duration::from_millis(500)).ok());
    made.collect::<Vec<_>>().len().to_string()
}

/// Two connections from the same port to two addresses, which both become one address.
fn same_port() -> String {
    let both = ["192.0.2.1:443", "192.0.2.2:443"].map(|to| {
        let socket =
            socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None).unwrap();
        sockopt::set_socket_reuseaddr(&socket, true).unwrap();
        rustix::net::bind(&socket, &"0.0.0.0:40000".parse::<SocketAddr>().unwrap()).unwrap();
        rustix::net::connect(&socket, &to.parse::<SocketAddr>().unwrap()).unwrap();
        TcpStream::from(socket)
    });
    let texts = both.map(|mut stream| {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    texts.join(" and ")
}

/// The request that removes the route that makes every address local.
fn delete_routes() -> Vec<u8> {
    let mut request = vec![28, 0, 0, 0, 25, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    request.extend([2, 0, 0, 0, 255, 0, 0, 2, 0, 0, 0, 0]);
    request
}

/// The error that the kernel answers a message with, or that a socket for it is refused with.
fn netlink_error(protocol: Option<rustix::net::Protocol>, request: &[u8]) -> String {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol);
    let socket = match socket {
        Ok(socket) => socket,
        Err(errno) => return format!("no socket: {errno}"),
    };
    rustix::net::send(&socket, request, rustix::net::SendFlags::empty()).unwrap();
    let mut answer = [0_u8; 256];
    rustix::net::recv(&socket, &mut answer, rustix::net::RecvFlags::empty()).unwrap();
    let errno = i32::from_ne_bytes(answer[16..20].try_into().unwrap());
    format!("{:?}", std::io::Error::from_raw_os_error(-errno).kind())
}

struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir(directory.path().join("work")).unwrap();
        // Beside the workspace, because its own directory may not be one that every user can enter.
        let program = directory.path().join("program");
        std::fs::copy("/proc/self/exe", &program).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { directory }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn hold(&self, network: Network, attempts: &[&str]) -> Held {
        self.try_hold(Provider::Native, network, attempts).unwrap()
    }

    fn try_hold(&self, provider: Provider, network: Network, attempts: &[&str]) -> Result<Held, JailError> {
        let work = self.path("work");
        let mut spec = Spec::for_workspace(&work, Path::new("/home/agent"), Limits::none())
            .network(network)
            .view(&self.path("program"), Mode::ReadOnly);
        spec.require = Require::FULL.with(Layer::Processes, Level::Partial);
        spec.environment =
            vec![("PATH".into(), "/usr/bin:/bin".into()), (ATTEMPTS.into(), attempts.join(",").into())];
        let program = self.path("program").into_os_string();
        let argv = [program, "inside".into(), "--exact".into(), "--nocapture".into()].to_vec();
        let streams = Streams::Captured(Capture::keeping(64 << 10));
        hold(Choice::Only(provider), &spec, &Command { argv, cwd: work, streams, observe: false })
    }
}

/// Returns what the part inside said.
fn said(held: Held) -> Vec<String> {
    let outcome = held.release().unwrap().wait().unwrap();
    let [output, errors] = outcome.captured.unwrap();
    let text = String::from_utf8(output.head).unwrap();
    assert_eq!(outcome.end, End::Exited(0), "{text}{}", String::from_utf8_lossy(&errors.head));
    text.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

/// Serves as a broker would: says who was called, and tells it here as well.
fn serve_all(sockets: BrokerSockets) -> Receiver<String> {
    let (sender, receiver) = channel();
    let BrokerSockets { proxy, transparent, resolver_udp, resolver_tcp, diagnostics } = sockets;
    assert!(diagnostics.is_some());
    let named = proxy.into_iter().map(|listener| ("proxy", listener));
    let named = named.chain(transparent.into_iter().map(|listener| ("transparent", listener)));
    for (name, listener) in named.chain([("resolver", resolver_tcp)]) {
        let sender = sender.clone();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let text = format!("{name} for {}", called(&stream));
                let _told = sender.send(text.clone());
                stream.write_all(text.as_bytes()).unwrap();
            }
        });
    }
    thread::spawn(move || {
        let mut asked = [0; 64];
        while let Ok((length, from)) = resolver_udp.recv_from(&mut asked) {
            let _told = sender.send(String::from_utf8_lossy(&asked[..length]).into_owned());
            resolver_udp.send_to(b"answer", from).unwrap();
        }
    });
    receiver
}

fn called(stream: &TcpStream) -> String {
    let v4 = sockopt::ip_original_dst(stream).map(SocketAddr::V4);
    let called = v4.or_else(|_| sockopt::ipv6_original_dst(stream).map(SocketAddr::V6));
    called
        .or_else(|_| stream.local_addr())
        .map_or_else(|error| error.to_string(), |address| address.to_string())
}

/// Returns true if a jail can be made here whose connections are redirected.
fn works(what: &str) -> bool {
    let why = match Place::new().try_hold(Provider::Native, Network::Broker, &[]) {
        Err(error @ JailError::Unavailable { .. }) => error.to_string(),
        held => match held.unwrap().broker_sockets().unwrap().transparent.len() {
            0 => "the kernel has no nf_tables".to_owned(),
            _ => return true,
        },
    };
    skip::skipped(what, &why);
    false
}

/// Attempts with what has to come of each.
fn check(rows: &[(&str, &str)]) -> Vec<String> {
    let place = Place::new();
    let attempts: Vec<_> = rows.iter().map(|(attempt, _)| *attempt).collect();
    let mut held = place.hold(Network::Broker, &attempts);
    let receiver = serve_all(held.broker_sockets().unwrap());
    assert!(held.broker_sockets().is_none(), "they are handed out once");
    let expected: Vec<_> = rows.iter().map(|(attempt, result)| format!("{attempt}: {result}")).collect();
    assert_eq!(said(held), expected);
    receiver.try_iter().collect()
}

#[test]
fn connections_arrive_with_their_destination() {
    if !works("redirected connections") {
        return;
    }
    let calls = check(&[
        ("tcp 192.0.2.4:443", "transparent for 192.0.2.4:443"),
        ("tcp 10.0.0.1:22", "transparent for 10.0.0.1:22"),
        ("tcp 169.254.169.254:80", "transparent for 169.254.169.254:80"),
        ("tcp 224.0.0.1:80", "NetworkUnreachable"),
        ("tcp [2001:db8::1]:443", "transparent for [2001:db8::1]:443"),
        ("tcp [::ffff:192.0.2.5]:80", "transparent for 192.0.2.5:80"),
        ("tcp 127.0.0.1:61080", "proxy for 127.0.0.1:61080"),
        ("tcp 192.0.2.4:53", "resolver for 192.0.2.4:53"),
        ("tcp 127.0.0.53:53", "resolver for 127.0.0.53:53"),
        ("same-port", "transparent for 192.0.2.1:443 and transparent for 192.0.2.2:443"),
    ]);
    assert_eq!(calls.len(), 10, "{calls:?}");
}

#[test]
fn names_are_asked_of_the_resolver() {
    if !works("a resolver") {
        return;
    }
    let asked = check(&[
        ("udp 127.0.0.53:53", "answer from 127.0.0.53:53"),
        ("udp 192.0.2.8:53", "answer from 192.0.2.8:53"),
        ("read /etc/resolv.conf", "nameserver 127.0.0.53"),
    ]);
    assert_eq!(asked, ["ask", "ask"]);
}

#[test]
fn other_datagrams_are_refused_at_once() {
    if !works("refused datagrams") {
        return;
    }
    let calls = check(&[
        ("udp 192.0.2.4:443", "ConnectionRefused"),
        ("udp 127.0.0.1:443", "ConnectionRefused"),
        ("udp [2001:db8::1]:443", "ConnectionRefused"),
        ("udp [2001:db8::1]:53", "ConnectionRefused"),
        ("udp [::1]:53", "ConnectionRefused"),
    ]);
    assert_eq!(calls, [""; 0]);
}

#[test]
fn the_loopback_is_the_jails_own() {
    if !works("the jail's own loopback") {
        return;
    }
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = host.local_addr().unwrap();
    let name = format!("ringfence-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _listener = UnixListener::bind_addr(&address).unwrap();
    let calls = check(&[
        (&format!("tcp {port}"), "ConnectionRefused"),
        ("tcp [::1]:9", "ConnectionRefused"),
        ("serve 127.0.0.1:0", "own server"),
        ("serve 127.0.0.9:8080", "own server"),
        ("serve [::1]:8080", "own server"),
        (&format!("abstract {name}"), "ConnectionRefused"),
    ]);
    assert_eq!(calls, [""; 0]);
}

#[test]
fn nothing_of_it_can_be_changed() {
    if !works("a network that stays") {
        return;
    }
    check(&[
        ("route", "PermissionDenied"),
        ("rules", "no socket: Protocol not supported (os error 93)"),
        ("diagnostics", "no socket: Protocol not supported (os error 93)"),
        ("bind 127.0.0.1:61080", "AddrInUse bound AddrInUse"),
        ("bind 127.0.0.1:61081", "AddrInUse bound AddrInUse"),
        ("bind 0.0.0.0:61081", "AddrInUse bound AddrInUse"),
        ("bind 127.0.0.53:53", "AddrInUse AddrInUse AddrInUse"),
        ("bind 0.0.0.0:53", "AddrInUse AddrInUse AddrInUse"),
    ]);
}

#[test]
fn only_the_native_provider_has_it() {
    for provider in [Provider::Bubblewrap, Provider::Landlock] {
        let refused = Place::new().try_hold(provider, Network::Broker, &[]).err().unwrap();
        assert!(refused.to_string().contains("the broker cannot be the jail's way out"), "{refused}");
    }
    let mut held = Place::new().hold(Network::None, &["tcp 192.0.2.4:443"]);
    assert!(held.broker_sockets().is_none());
    assert_eq!(said(held), ["tcp 192.0.2.4:443: NetworkUnreachable"]);
}

/// A kernel without `nf_tables`: nothing is redirected, everything else is the same, and the report says so.
#[test]
fn without_redirection_the_proxy_is_reached() {
    if !works("a network without redirection") {
        return;
    }
    // In a thread of its own, which the processes of the jail inherit the refusal from.
    let tried = thread::spawn(|| {
        refuse_netfilter();
        let rows = [
            "tcp 192.0.2.4:443",
            "tcp [2001:db8::1]:443",
            "tcp 127.0.0.1:61080",
            "udp 127.0.0.53:53",
            "udp 192.0.2.8:53",
        ];
        let mut held = Place::new().hold(Network::Broker, &rows);
        let network = held.enforcement().reached(Layer::Network).clone();
        let sockets = held.broker_sockets().unwrap();
        assert_eq!(sockets.transparent.len(), 0);
        let _calls = serve_all(sockets);
        (said(held), network)
    });
    let (said, network) = tried.join().unwrap();
    let expected = [
        "tcp 192.0.2.4:443: ConnectionRefused",
        "tcp [2001:db8::1]:443: ConnectionRefused",
        "tcp 127.0.0.1:61080: proxy for 127.0.0.1:61080",
        "udp 127.0.0.53:53: answer from 127.0.0.53:53",
        "udp 192.0.2.8:53: ConnectionRefused",
    ];
    assert_eq!(said, expected);
    assert!(network.level == Level::Full && network.by.contains("no nf_tables"), "{network:?}");
}

/// Has the kernel refuse netfilter's sockets to this thread, as one without it does.
fn refuse_netfilter() {
    let row = |code: u32, jt, jf, k| libc::sock_filter { code: u16::try_from(code).unwrap(), jt, jf, k };
    let load = |offset| row(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    // Goes on to the next row if it is equal, or past as many.
    let equal = |value: i64, past| {
        row(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, past, u32::try_from(value).unwrap())
    };
    let answer = |value| row(libc::BPF_RET | libc::BPF_K, 0, 0, value);
    let protocol_not_supported = libc::SECCOMP_RET_ERRNO | libc::EPROTONOSUPPORT.cast_unsigned();
    let mut rows = [
        load(0),
        equal(libc::SYS_socket, 5),
        load(16),
        equal(libc::AF_NETLINK.into(), 3),
        load(32),
        equal(libc::NETLINK_NETFILTER.into(), 1),
        answer(protocol_not_supported),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: rows.len().try_into().unwrap(), filter: rows.as_mut_ptr() };
    rustix::thread::set_no_new_privs(true).unwrap();
    // SAFETY: one program with as many rows as it says, which the kernel copies.
    let installed =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    assert_eq!(installed, 0);
}

/// A connection is recorded with the program that made it, for the proxy and for both families; another one is of no program.
#[test]
fn the_program_of_a_connection_is_found() {
    if !works("the program of a connection") {
        return;
    }
    let place = Place::new();
    let rows =
        ["tcp 192.0.2.4:443", "tcp [2001:db8::1]:443", "tcp [::ffff:192.0.2.5]:80", "tcp 127.0.0.1:61080"];
    let mut held = place.hold(Network::Broker, &rows);
    let mut sockets = held.broker_sockets().unwrap();
    let lookup = held.program_lookup(sockets.diagnostics.take().unwrap()).unwrap();
    let (v4, v6, proxy) =
        (sockets.transparent.remove(0), sockets.transparent.remove(0), sockets.proxy.remove(0));
    let accepting = thread::spawn(move || {
        let found = [&v4, &v6, &v4, &proxy].map(|listener| {
            let (stream, client) = listener.accept().unwrap();
            let destination = called(&stream).parse().unwrap();
            let other = SocketAddr::new(client.ip(), client.port() ^ 1);
            assert_eq!(lookup.find(other, destination), None);
            lookup.find(client, destination)
        });
        (found, lookup)
    });
    said(held);
    let (found, lookup) = accepting.join().unwrap();
    for program in found {
        let program = program.unwrap();
        assert_eq!((program.pid, program.executable), (2, place.path("program")));
    }
    assert_eq!(
        lookup.find("127.0.0.1:1".parse().unwrap(), broker_network::PROXY),
        None,
        "the jail has ended"
    );
}

/// Connections wait to be accepted until the broker has time for them.
#[test]
fn a_thousand_connections_wait() {
    if !works("connections that wait") {
        return;
    }
    let mut held = Place::new().hold(Network::Broker, &["many 127.0.0.1:61080", "many 192.0.2.1:443"]);
    let sockets = held.broker_sockets().unwrap();
    assert_eq!(said(held), ["many 127.0.0.1:61080: 1024", "many 192.0.2.1:443: 1024"]);
    assert_eq!(sockets.transparent[0].local_addr().unwrap(), broker_network::TRANSPARENT_V4);
}
