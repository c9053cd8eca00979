//! Declared ports between a jail's loopback and the host's.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

struct Stage {
    directory: tempfile::TempDir,
}

impl Stage {
    /// `None` where no jail can be made, or there is nothing to make servers with.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home/.config/ringfence", "ws"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        let stage = Self { directory };
        let works = stage.command(&[], "python3 -c ''").output().unwrap();
        let why = String::from_utf8_lossy(&works.stderr);
        let fine = works.status.success();
        (!fine).then(|| skip::skipped("ports", &why));
        fine.then_some(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn command(&self, options: &[&str], script: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.path("ws")).stdin(Stdio::null());
        // As a value: what is tried is the jail, not a reader of scripts.
        let script = format!("SCRIPT={script}");
        command.arg("run").args(options).args(["--env", &script, "--", "/bin/sh", "-c", "eval \"$SCRIPT\""]);
        command
    }

    /// A command whose first line has come.
    fn started(&self, options: &[&str], script: &str) -> Running {
        let mut child = self.command(options, script).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Running(child)
    }
}

/// Ended at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A server that sends back what it is sent, until that ends.
fn echo(family: &str, address: &str, port: u16) -> String {
    format!(
        r#"exec python3 -c '
import socket, threading
server = socket.socket(socket.{family}); server.bind(("{address}", {port})); server.listen(200)
print("ready", flush=True)
def serve(client):
    while True:
        text = client.recv(65536)
        if not text: break
        client.sendall(text)
    client.close()
while True: threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()'"#
    )
}

/// Returns an unused port of the host.
fn free() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn answered(mut stream: TcpStream, text: &[u8]) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut writing = stream.try_clone()?;
    let sent = text.to_vec();
    let writer =
        std::thread::spawn(move || writing.write_all(&sent).and_then(|()| writing.shutdown(Shutdown::Write)));
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    writer.join().unwrap()?;
    Ok(answer)
}

#[test]
fn a_server_inside_is_reached_from_outside() {
    let Some(stage) = Stage::new() else { return };
    let port = free();
    let _running =
        stage.started(&["--port-in", &format!("{port}:7000")], &echo("AF_INET", "127.0.0.1", 7000));
    let long: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[number as usize % 3]).collect();
    assert_eq!(answered(TcpStream::connect(("127.0.0.1", port)).unwrap(), &long).unwrap(), long);
    if let Ok(stream) = TcpStream::connect(("::1", port)) {
        assert_eq!(answered(stream, b"hi").unwrap(), b"hi");
    }
    // More than there are sockets for, one after the other: each is used again.
    for number in 0..200_u32 {
        let text = number.to_string();
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert_eq!(answered(stream, text.as_bytes()).unwrap(), text.as_bytes());
    }
}

/// Servers that listen on `localhost` are often there.
#[test]
fn a_server_on_the_other_loopback_is_reached_too() {
    let Some(stage) = Stage::new() else { return };
    let port = free();
    let _running = stage.started(&["--port-in", &format!("{port}:7000")], &echo("AF_INET6", "::1", 7000));
    for _ in 0..100 {
        assert_eq!(answered(TcpStream::connect(("127.0.0.1", port)).unwrap(), b"hi").unwrap(), b"hi");
    }
}

#[test]
fn too_many_at_once_are_turned_away_and_nobody_else_suffers() {
    let Some(stage) = Stage::new() else { return };
    let port = free();
    let _running =
        stage.started(&["--port-in", &format!("{port}:7000")], &echo("AF_INET", "127.0.0.1", 7000));
    let mut open: Vec<TcpStream> = Vec::new();
    let mut refused = 0;
    for _ in 0..60 {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut byte = [0];
        match stream.write_all(b"x").and_then(|()| stream.read(&mut byte)) {
            Ok(1) => open.push(stream),
            _ => refused += 1,
        }
    }
    assert!(open.len() >= 32 && refused > 0, "{} {refused}", open.len());
    drop(open);
    let until = Instant::now() + Duration::from_secs(20);
    let again = || TcpStream::connect(("127.0.0.1", port)).and_then(|stream| answered(stream, b"hi"));
    while again().ok().as_deref() != Some(b"hi") {
        assert!(Instant::now() < until);
    }
}

#[test]
fn nobody_inside_is_a_closed_connection() {
    let Some(stage) = Stage::new() else { return };
    let port = free();
    let _running = stage.started(&["--port-in", &port.to_string()], "echo ready; exec sleep 60");
    for _ in 0..100 {
        let answer = TcpStream::connect(("127.0.0.1", port)).and_then(|stream| answered(stream, b""));
        assert!(answer.is_err() || answer.is_ok_and(|text| text.is_empty()));
    }
}

/// A server of the host, on a port that nothing inside can reach unless it is declared.
#[test]
fn a_server_outside_is_reached_from_inside_only_where_declared() {
    let Some(stage) = Stage::new() else { return };
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let _gone = stream.unwrap().write_all(b"host\n");
        }
    });
    let ask = |at: u16| {
        format!(
            r#"python3 -c '
import socket
print(socket.create_connection(("127.0.0.1", {at}), 5).makefile().read().strip())'"#
        )
    };
    let said = |options: &[&str], script: &str| {
        let output = stage.command(options, script).output().unwrap();
        (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success())
    };
    assert_eq!(said(&["--port-out", &format!("{port}:80")], &ask(80)), ("host\n".into(), true));
    assert_eq!(said(&["--port-out", &port.to_string()], &ask(port)), ("host\n".into(), true));
    assert_eq!(said(&[], &ask(port)), (String::new(), false));
    assert_eq!(said(&["--port-out", &free().to_string()], &ask(port)), (String::new(), false));
}

#[test]
fn a_port_ends_with_the_jail_however_that_ends() {
    let Some(stage) = Stage::new() else { return };
    for signal in ["TERM", "KILL", "INT"] {
        let port = free();
        let mut running =
            stage.started(&["--port-in", &format!("{port}:7000")], &echo("AF_INET", "127.0.0.1", 7000));
        let mut open = TcpStream::connect(("127.0.0.1", port)).unwrap();
        open.write_all(b"x").unwrap();
        open.read_exact(&mut [0]).unwrap();
        let id = running.0.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        running.0.wait().unwrap();
        assert!(matches!(open.read(&mut [0]), Ok(0) | Err(_)), "{signal}");
        // Taken anew at once: no process holds it.
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "{signal}");
    }
}

#[test]
fn ports_are_recorded_and_bounded() {
    let Some(stage) = Stage::new() else { return };
    let (one, other) = (free(), free());
    let run = |options: &[&str]| {
        let output = stage.command(options, "true").output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = run(&["-v", "--port-in", &format!("{one}:80"), "--port-out", "5432"]);
    assert!(
        code == 0 && told.contains(&format!("port       in {one}:80\nport       out 5432:5432\n")),
        "{told}"
    );
    let ledger = fs::read_to_string(stage.path("home/.local/state/ringfence/ledger.jsonl")).unwrap();
    assert!(ledger.contains(&format!(r#""ports":["in {one}:80","out 5432:5432"]"#)), "{ledger}");
    let taken = TcpListener::bind(("127.0.0.1", other)).unwrap();
    let rows = [
        (vec!["--port-in", "80"], 64, "below 1024"),
        (vec!["--port-in", "0"], 64, "1 to 65535"),
        (vec!["--port-in", "0.0.0.0:80"], 64, "1 to 65535"),
        (vec!["--network", "open", "--port-out", "5432"], 125, "host's network"),
        (vec!["--network", "open", "--port-in", "54321"], 125, "host's network"),
    ];
    for (options, code, message) in rows {
        let (ended, told) = run(&options);
        assert!(ended == code && told.contains(message), "{options:?} {ended} {told}");
    }
    let (code, told) = run(&["--port-in", &other.to_string()]);
    assert!(code == 125 && told.contains("cannot open port"), "{code} {told}");
    drop(taken);
    fs::write(stage.path("home/.config/ringfence/policy.toml"), "version = 1\njail.ports-out = [\"5432\"]\n")
        .unwrap();
    assert_eq!(run(&["--port-out", "5433"]).0, 0);
    fs::write(stage.path("ws/ringfence.toml"), "version = 1\njail.ports-out = []\n").unwrap();
    let (code, told) = run(&["--port-out", "5432"]);
    assert!(code == 126 && told.contains("cannot widen jail.ports-out"), "{code} {told}");
    fs::write(stage.path("ws/ringfence.toml"), "version = 1\njail.ports-in = [\"9999\"]\n").unwrap();
    assert!(run(&[]).1.contains("cannot widen"), "the project only narrows");
}

/// Ports below 1024 are unprivileged in the jail's own network, with every profile.
#[test]
fn a_server_inside_may_have_a_low_port() {
    let Some(stage) = Stage::new() else { return };
    for profile in ["readonly", "workspace-write"] {
        let port = free();
        let forwarded = format!("{port}:80");
        let _running =
            stage.started(&["-p", profile, "--port-in", &forwarded], &echo("AF_INET", "127.0.0.1", 80));
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert_eq!(answered(stream, b"hello").unwrap(), b"hello", "{profile}");
    }
}

#[test]
fn a_port_beside_the_hosts_network_is_explained() {
    let Some(stage) = Stage::new() else { return };
    for (option, says) in
        [("--port-in", "a server inside is reached"), ("--port-out", "a server of the host is")]
    {
        let refused = stage.command(&["--network", "open", option, "8081:8080"], "true").output().unwrap();
        let err = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(125), "{err}");
        assert!(err.contains("the command has the host's network") && err.contains(says), "{err}");
    }
}
