//! Sockets inside a jail's own network, handed out: the way that something outside can serve what is inside.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use policy::{Code, Limits};
use ringfence_jail::{Capture, Choice, Command, End, JailError, Network, Provider, Spec, Streams, hold};

fn spec(workspace: &Path, listen: &[&str]) -> Spec {
    let mut spec = Spec::for_workspace(workspace, "/home/agent".as_ref(), Limits::none());
    spec.listen = listen.iter().map(|address| address.parse::<SocketAddr>().unwrap()).collect();
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    spec
}

fn dialing(workspace: &Path) -> Spec {
    let mut spec = spec(workspace, &[]);
    spec.dial = true;
    spec
}

fn command(workspace: &Path, line: &str) -> Command {
    Command {
        argv: ["bash", "-c", line].map(Into::into).to_vec(),
        cwd: workspace.to_owned(),
        streams: Streams::Captured(Capture::keeping(1000)),
        observe: false,
    }
}

#[test]
fn who_connects_inside_is_accepted_outside() {
    let workspace = tempfile::tempdir().unwrap();
    let workspace = workspace.path().canonicalize().unwrap();
    // A port that only root could have on the host, and a number that another socket has there.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let listen = ["127.0.0.1:53", "[::1]:53", &format!("127.0.0.1:{port}")];
    let line = format!(
        "for to in 127.0.0.1/53 ::1/53 127.0.0.1/{port}; do exec 9<>/dev/tcp/$to; echo ask >&9; cat <&9; done; ls /proc/self/fd | wc -l"
    );
    let mut spec = spec(&workspace, &listen);
    spec.dial = true;
    let mut held = hold(Choice::Only(Provider::Native), &spec, &command(&workspace, &line)).unwrap();
    let listeners = held.listeners();
    assert_eq!((listeners.len(), held.sockets().len()), (listen.len(), 64));
    let serving = std::thread::spawn(move || {
        for (number, listener) in listeners.iter().enumerate() {
            let (mut inside, _) = listener.accept().unwrap();
            let mut asked = [0; 4];
            inside.read_exact(&mut asked).unwrap();
            assert_eq!(&asked, b"ask\n");
            writeln!(inside, "answer {number}").unwrap();
        }
    });
    let outcome = held.release().unwrap().wait().unwrap();
    serving.join().unwrap();
    assert_eq!(outcome.end, End::Exited(0));
    let [output, _] = outcome.captured.unwrap();
    // The command has its streams, its own connection and the directory it lists: none of the sockets.
    assert_eq!(String::from_utf8_lossy(&output.head), "answer 0\nanswer 1\nanswer 2\n5\n");
}

#[test]
fn where_there_is_no_own_network_nobody_listens() {
    let workspace = tempfile::tempdir().unwrap();
    let workspace = workspace.path().canonicalize().unwrap();
    let many: Vec<String> = (1..=17).map(|port| format!("127.0.0.1:{port}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let one = ["127.0.0.1:9"];
    let rows = [
        (spec(&workspace, &one).network(Network::Open), Provider::Native),
        (spec(&workspace, &many), Provider::Native),
        (spec(&workspace, &one), Provider::Landlock),
        (spec(&workspace, &one), Provider::Bubblewrap),
        (dialing(&workspace).network(Network::Open), Provider::Native),
        (dialing(&workspace), Provider::Landlock),
    ];
    for (spec, provider) in rows {
        let refused = hold(Choice::Only(provider), &spec, &command(&workspace, "true")).err().unwrap();
        assert!(
            matches!(refused, JailError::Conflict(_)) && refused.code() == Code::JailConflict,
            "{refused}"
        );
    }
}
