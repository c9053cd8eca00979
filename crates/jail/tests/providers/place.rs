//! Directories in which the commands of these tests run.

use std::fs::{self, File, Permissions};
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::PathBuf;
use std::process::Stdio;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

use super::role::Role;

/// A workspace, and beside it a file that no process inside shall read, and a port that none shall reach.
pub(crate) struct Place {
    pub(crate) whole: TempDir,
    port: TcpListener,
}

impl Place {
    pub(crate) fn new() -> Self {
        let whole = tempfile::tempdir().unwrap();
        fs::set_permissions(whole.path(), Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(whole.path().join("work")).unwrap();
        fs::create_dir(whole.path().join("work/.envs")).unwrap();
        for name in ["secret", "work/.env", "work/.envs/one"] {
            fs::write(whole.path().join(name), "hush").unwrap();
        }
        Self { whole, port: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    pub(crate) fn with_port(&self, script: &str) -> String {
        script.replace("PORT", &self.port.local_addr().unwrap().port().to_string())
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.whole.path().join("work")
    }

    pub(crate) fn owned_by(self, user: u32) -> Self {
        for name in ["", "work", "secret", "work/.env", "work/.envs", "work/.envs/one"] {
            chown(self.whole.path().join(name), Some(user), Some(user)).unwrap();
        }
        self
    }

    /// Returns the fifo of which every process of a jail holds the other side, if [`HOLD`] is at the beginning of its script.
    pub(crate) fn fifo(&self) -> File {
        let path = self.work().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::RWXU | Mode::RWXO, 0).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).unwrap()
    }

    /// The launcher is killed in the middle, and sends no further message.
    pub(crate) fn outlives_no_launcher(&self, provider: &str, somebody: bool) {
        let mut held = self.fifo();
        let script =
            format!("{HOLD} setsid sh -c 'echo >&9; exec sleep 1000' & echo >&9; while :; do sleep 1; done");
        let role = Role::Shell(provider.into(), self.work(), script);
        let mut launcher = role.command(somebody).stdout(Stdio::null()).spawn().unwrap();
        assert_eq!(read(&mut held, 2), 2, "both processes run");
        kill_process(Pid::from_child(&launcher), Signal::KILL).unwrap();
        launcher.wait().unwrap();
        assert_eq!(read(&mut held, 1), 0, "the end comes with the last process");
    }
}

/// Opens the FIFO.
pub(crate) const HOLD: &str = "exec 9>fifo;";

/// So many bytes, or as many as come before the last writer is gone. Waits for the first.
fn read(from: &mut File, wanted: usize) -> usize {
    let mut count = 0;
    while count < wanted {
        let mut fds = [PollFd::new(&*from, PollFlags::IN)];
        poll(&mut fds, None).unwrap();
        match from.read(&mut [0]).unwrap() {
            0 => break,
            more => count += more,
        }
    }
    count
}

/// Returns true if no process has the other side open any more.
pub(crate) fn is_let_go(fifo: &mut File) -> bool {
    // Without a writer this is the end; with one it would have to wait.
    matches!(fifo.read(&mut [0; 100]), Ok(0))
}

pub(crate) fn is_gone(pid: &str) -> bool {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    test_kill_process(pid).is_err()
}
