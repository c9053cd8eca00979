//! The way out of the commands of a session: one policy, the session's approver, and secrets that stay outside.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ringfence::job::StartError;
use ringfence::policy::Kind;
use ringfence::{Answer, BuildError, NotStarted, Preset, Question, Sandbox, SandboxBuilder, Session};
use tempfile::TempDir;

const KEY: &str = "sk-session-0123456789abcdef0123456789";

/// A server that says which key each request had.
fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut key = "none";
            for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                let line = line.unwrap_or_default();
                if let Some((_, value)) = line.split_once("x-api-key: ") {
                    key = if value == KEY { "the real one" } else { "another one" };
                }
                if line.is_empty() {
                    break;
                }
            }
            let body = format!("key: {key}\n");
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    port
}

/// A workspace, a state directory and a policy file.
struct Place {
    dir: TempDir,
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ws")).unwrap();
        Self { dir, port: serve(), asked: Arc::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A sandbox whose approver gives one answer about hosts and says yes to everything else.
    fn builder(&self, policy: &str, answer: Answer) -> SandboxBuilder {
        let hosts = "[network.hosts]\n\"api.test-host.org\" = \"127.0.0.1\"\n";
        fs::write(self.path("policy.toml"), format!("version = 1\n{policy}\n{hosts}")).unwrap();
        let asked = Arc::clone(&self.asked);
        let approver = move |question: &Question| {
            if question.kind != Kind::Connect {
                return Answer::AllowOnce;
            }
            asked.lock().unwrap().push(format!("{} {}", question.tool, question.object));
            answer
        };
        let variables = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TEST_KEY", KEY)];
        Sandbox::builder()
            .workspace(self.path("ws"))
            .state(self.path("state"))
            .environment(variables.map(|(name, value)| (name.into(), value.into())))
            .policy_file(self.path("policy.toml"))
            .managed_policy_file(self.path("none.toml"))
            .approver(Arc::new(approver))
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn ledger(&self) -> String {
        fs::read_to_string(self.path("state/ringfence/ledger.jsonl"))
            .or_else(|_| fs::read_to_string(self.path("state/ledger.jsonl")))
            .unwrap()
    }
}

/// Runs a line; nothing if this machine cannot make such a jail.
fn run(session: &Session, line: &str) -> Option<String> {
    match session.run(line) {
        Ok(ran) => Some(ran.output + &ran.error),
        Err(NotStarted::Start(StartError::Jail(error))) => {
            skip::skipped("the way out of a session", &error.to_string());
            None
        }
        Err(error) => panic!("{line}: {error}"),
    }
}

#[test]
fn the_approver_of_a_session_answers_about_hosts() {
    let rows: &[(Answer, &[&str], usize)] = &[
        (Answer::AllowOnce, &["key: none", "key: none"], 2),
        (Answer::AllowForSession, &["key: none", "key: none"], 1),
        (Answer::DenyOnce, &["RF-", "RF-"], 2),
        (Answer::DenyForSession, &["RF-", "RF-"], 1),
    ];
    for (answer, expected, questions) in rows {
        let place = Place::new();
        let policy = "[network]\nunknown = \"ask\"\n";
        let session = place.builder(policy, *answer).build().unwrap().session("a").unwrap();
        let line = format!("curl -sS http://api.test-host.org:{}/", place.port);
        for expected in *expected {
            let Some(output) = run(&session, &line) else { return };
            assert!(output.contains(expected), "{answer:?}: {output}");
        }
        let object = format!("exec api.test-host.org:{}", place.port);
        assert_eq!(place.asked(), vec![object; *questions], "{answer:?}");
        drop(session);
        let ledger = place.ledger();
        let event = if answer.allows() { "broker.connected" } else { "broker.egress-denied" };
        assert_eq!(ledger.matches(event).count(), 2, "{answer:?}: {ledger}");
    }
}

#[test]
fn a_command_of_a_session_sees_a_placeholder_and_the_server_the_secret() {
    let place = Place::new();
    let policy = format!(
        "[network]\nallow = [\"api.test-host.org\"]\n[[secrets]]\nname = \"test\"\nhost = \"api.test-host.org:{}\"\n\
         scheme = \"http\"\nfrom = \"env:TEST_KEY\"\ninject = {{ header = \"x-api-key\" }}\n\
         placeholder = \"API_KEY\"\n",
        place.port
    );
    let session = place.builder(&policy, Answer::DenyOnce).build().unwrap().session("a").unwrap();
    let line = format!("env; curl -sS -H \"x-api-key: $API_KEY\" http://api.test-host.org:{}/", place.port);
    let Some(output) = run(&session, &line) else { return };
    assert!(output.contains("key: the real one"), "{output}");
    assert!(output.contains("API_KEY=") && !output.contains(KEY), "{output}");
    drop(session);
    assert!(!place.ledger().contains(KEY));
}

#[test]
fn a_jail_with_the_network_of_the_broker_needs_a_policy_file() {
    let place = Place::new();
    let builder = Sandbox::builder().preset(Preset::Workspace).workspace(place.path("ws"));
    let built = builder
        .state(place.path("state"))
        .jail(|mut spec| {
            spec.network = ringfence::jail::Network::Broker;
            spec
        })
        .build();
    assert!(matches!(built, Err(BuildError::NoBroker)));
}
