//! Resources that jails leave in the process that made them. Alone in its file: other tests would open descriptors meanwhile.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use policy::Limits;
use ringfence_jail::{Capture, Choice, Command, End, Held, JailError, Provider, Spec, Streams, hold};

/// Resources that a process can have too many of.
#[derive(Debug, PartialEq, Eq)]
struct Own {
    descriptors: usize,
    threads: usize,
    children: String,
    mounts: usize,
    mappings: usize,
    signals: String,
}

impl Own {
    /// Waits until there are only so many threads: the supervisor of a jail that was dropped ends on its own.
    fn settled(threads: usize) -> Self {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let now = Self::now();
            if now.threads <= threads || Instant::now() > until {
                return now;
            }
            std::thread::yield_now();
        }
    }

    fn now() -> Self {
        let count = |path: &str| fs::read_dir(path).unwrap().count();
        let text = |path: &str| fs::read_to_string(path).unwrap();
        let shared = |line: &&str| line.contains("memfd:") || line.contains(" rw-s ");
        let signals = |line: &&str| line.starts_with("SigBlk") || line.starts_with("SigPnd");
        Self {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            children: text("/proc/thread-self/children"),
            mounts: text("/proc/self/mountinfo").lines().count(),
            mappings: text("/proc/self/maps").lines().filter(shared).count(),
            signals: text("/proc/thread-self/status").lines().filter(signals).collect(),
        }
    }
}

fn held(workspace: &Path, program: &str) -> Result<Held, JailError> {
    let mut spec = Spec::for_workspace(workspace, "/home/agent".as_ref(), Limits::none());
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let streams = Streams::Captured(Capture { input: b"in".to_vec(), ..Capture::keeping(1024) });
    let command = Command { argv: vec![program.into()], cwd: workspace.into(), streams, observe: true };
    hold(Choice::Only(Provider::Native), &spec, &command)
}

#[test]
fn a_process_that_makes_jails_is_as_before() {
    let place = tempfile::tempdir().unwrap();
    let workspace = place.path().canonicalize().unwrap();
    let threads = Own::now().threads;
    if let Err(error) = held(&workspace, "true") {
        return skip::skipped("jails in one process", &error.to_string());
    }
    let before = Own::settled(threads);
    for _ in 0..50 {
        let outcome = held(&workspace, "cat").unwrap().release().unwrap().wait().unwrap();
        assert_eq!(outcome.end, End::Exited(0));
        drop(held(&workspace, "cat").unwrap());
        drop(held(&workspace, "cat").unwrap().release().unwrap());
        assert!(matches!(held(&workspace, "absent").unwrap().release(), Err(JailError::NotFound(_))));
        assert!(held(&workspace.join("absent"), "cat").is_err());
    }
    assert_eq!(Own::settled(threads), before);
}
