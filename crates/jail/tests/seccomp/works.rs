//! Calls that must keep working under every filter.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::{fs, thread};

use ringfence_jail::seccomp::Sockets;

use crate::confined::{confined, made};
use crate::skip::skipped;

const PROFILES: [Sockets; 3] = [Sockets::Namespaced, Sockets::Refused, Sockets::Internet];

#[test]
fn threads_programs_and_files() {
    for sockets in PROFILES {
        let dir = tempfile::tempdir().unwrap();
        confined(sockets, || {
            assert_eq!(thread::spawn(|| 7).join().unwrap(), 7);
            assert!(Command::new("/bin/true").status().unwrap().success());
            files(dir.path());
        });
    }
}

fn files(dir: &Path) {
    let below = dir.join("a/b");
    fs::create_dir_all(&below).unwrap();
    let file = below.join("script");
    fs::write(&file, "text").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&file, dir.join("moved")).unwrap();
    assert_eq!(fs::metadata(dir.join("moved")).unwrap().permissions().mode() & 0o7777, 0o755);
    fs::set_permissions(&below, fs::Permissions::from_mode(0o1777)).unwrap();
}

#[test]
fn a_connection() {
    for sockets in [Sockets::Namespaced, Sockets::Internet] {
        confined(sockets, || {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            near.write_all(b"hello").unwrap();
            let mut text = [0; 5];
            far.read_exact(&mut text).unwrap();
            assert_eq!(&text, b"hello");
        });
    }
    confined(Sockets::Refused, || {
        assert_eq!(TcpListener::bind("127.0.0.1:0").unwrap_err().raw_os_error(), Some(libc::EPERM));
    });
}

/// A program may confine itself further, ask for its own personality and unshare its own files.
#[test]
fn harmless_relatives_of_refused_calls() {
    confined(Sockets::Namespaced, || {
        let rows = [
            (libc::SYS_unshare, 0x400),
            (libc::SYS_personality, 0xffff_ffff),
            (libc::SYS_personality, 0x4_0000),
        ];
        for (call, argument) in rows {
            assert!(made(call, [argument, 0, 0, 0, 0, 0]).is_ok(), "{call} {argument:#x}");
        }
        crate::confined::install(&ringfence_jail::seccomp::filter(crate::confined::abi(), Sockets::Refused));
        assert_eq!(made(libc::SYS_socket, [1, 1, 0, 0, 0, 0]), Err(libc::EPERM));
    });
}

#[test]
fn a_shell() {
    for sockets in PROFILES {
        assert_eq!(
            said(sockets, "sh", "echo a b | tr ' ' '\\n' | sort -r | head -n1; (exit 3); echo $?"),
            "b\n3\n"
        );
    }
}

#[test]
fn python() {
    let script = r#"
import multiprocessing.pool, socket, subprocess, tempfile
with multiprocessing.pool.ThreadPool(2) as pool: assert pool.map(abs, [-1, 2]) == [1, 2]
assert subprocess.check_output(["echo", "x"]) == b"x\n"
a, b = socket.socketpair(); a.send(b"y"); assert b.recv(1) == b"y"
with tempfile.TemporaryFile() as f: f.write(b"z")
print("fine")"#;
    for sockets in PROFILES {
        if !there("python3") {
            return skipped("python3 under a filter", "it is not here");
        }
        assert_eq!(said(sockets, "python3", script), "fine\n");
    }
}

#[test]
fn git() {
    let script = "cd $(mktemp -d) && git -c init.defaultBranch=main init -q . && echo x > f && git add f \
                  && git -c user.name=n -c user.email=e commit -qm m && git log --format=%s; rm -rf \"$PWD\"";
    for sockets in PROFILES {
        if !there("git") {
            return skipped("git under a filter", "it is not here");
        }
        assert_eq!(said(sockets, "sh", script), "m\n");
    }
}

fn there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn said(sockets: Sockets, program: &str, script: &str) -> String {
    let output = confined(sockets, || Command::new(program).args(["-c", script]).output().unwrap());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
