//! Roles of this program when it starts itself again.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ringfence_jail::{Choice, Provider, Streams, hold};
use rustix::process::{getegid, geteuid};
use rustix::thread::UnshareFlags;

use super::run::{command, run, spec};
use super::stopped;

/// A user that no machine knows.
pub(crate) const SOMEBODY: u32 = 54321;

#[derive(Debug, Clone)]
pub(crate) enum Role {
    /// Run a script in a jail by a provider, and say how it went.
    Shell(String, PathBuf, String),
    /// Run it with our own streams, and say how it ended.
    Inherit(String, PathBuf, String),
    /// Ask it to end as soon as it has written something, and say how it went.
    Stopped(String, PathBuf, String),
    /// The same as the first on a machine without user namespaces.
    Forbidden(String, PathBuf, String),
}

impl Role {
    pub(crate) fn of_this_process(arguments: &[String]) -> Option<Self> {
        let [_, role, choice, workspace, script] = arguments else { return None };
        let rest = || (choice.clone(), PathBuf::from(workspace), script.clone());
        let (choice, workspace, script) = rest();
        match role.strip_prefix("role:")? {
            "shell" => Some(Self::Shell(choice, workspace, script)),
            "inherit" => Some(Self::Inherit(choice, workspace, script)),
            "stopped" => Some(Self::Stopped(choice, workspace, script)),
            "forbidden" => Some(Self::Forbidden(choice, workspace, script)),
            _ => None,
        }
    }

    pub(crate) fn command(&self, somebody: bool) -> Command {
        let (role, (choice, workspace, script)) = match self {
            Self::Shell(a, b, c) => ("role:shell", (a, b, c)),
            Self::Inherit(a, b, c) => ("role:inherit", (a, b, c)),
            Self::Stopped(a, b, c) => ("role:stopped", (a, b, c)),
            Self::Forbidden(a, b, c) => ("role:forbidden", (a, b, c)),
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg(role).arg(choice).arg(workspace).arg(script);
        if somebody {
            command.uid(SOMEBODY).gid(SOMEBODY);
        }
        command
    }

    /// Returns the output of this role. A child that failed has said why on standard error.
    pub(crate) fn say(&self, somebody: bool) -> String {
        let output = self.command(somebody).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{self:?}: {}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    pub(crate) fn play(self) {
        match self {
            Self::Shell(choice, workspace, script) => shell(&choice, &workspace, &script),
            Self::Inherit(choice, workspace, script) => inherit(&choice, &workspace, &script),
            Self::Stopped(choice, workspace, script) => stopped::play(&choice, &workspace, &script),
            Self::Forbidden(choice, workspace, script) => {
                forbid_user_namespaces();
                shell(&choice, &workspace, &script);
            }
        }
    }
}

pub(crate) fn choice(word: &str) -> Choice {
    let provider = Provider::ALL.into_iter().find(|provider| provider.word() == word);
    provider.map_or(Choice::Auto, Choice::Only)
}

fn inherit(word: &str, workspace: &Path, script: &str) {
    let mut command = command(&["sh", "-c", script], workspace);
    command.streams = Streams::Inherit;
    let outcome = hold(choice(word), &spec(workspace), &command).unwrap().release().unwrap().wait().unwrap();
    println!("{}", outcome.end.code());
}

/// The provider, how the script ended, and what it wrote.
fn shell(word: &str, workspace: &Path, script: &str) {
    match run(choice(word), &spec(workspace), &["sh", "-c", script]) {
        Ok(done) => print!("{} {}\n{}{}", done.provider.word(), done.end.code(), done.output, done.errors),
        Err(error) => println!("{error}"),
    }
}

/// Forbids all processes below to make a user namespace from here on.
fn forbid_user_namespaces() {
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    // SAFETY: the contract concerns CLONE_FILES alone, which is not passed.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) }.unwrap();
    fs::write("/proc/self/setgroups", "deny").unwrap();
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")).unwrap();
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")).unwrap();
    fs::write("/proc/sys/user/max_user_namespaces", "0").unwrap();
}
