//! A person at a terminal.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Termios, Winsize, tcgetattr, tcsetwinsize};

use super::{LONG, PROGRAM, Stage, end_of, has, within};

/// They sit at the master, and what they start has the other side as its terminal.
pub(crate) struct Person {
    master: OwnedFd,
    terminal: OwnedFd,
    shown: Vec<u8>,
    /// Length of the part that was looked at.
    seen: usize,
    child: Option<Child>,
}

impl Person {
    /// Nothing where a terminal cannot be given to a program.
    pub(crate) fn sits_down() -> Option<Self> {
        if !has("setsid", "the terminal") {
            return None;
        }
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let terminal = ioctl_tiocgptpeer(&master, flags).unwrap();
        let person = Self { master, terminal, shown: Vec::new(), seen: 0, child: None };
        person.resizes(30, 100);
        Some(person)
    }

    /// Starts a program that leads a session with this terminal.
    pub(crate) fn starts(&mut self, stage: &Stage, words: &[&str]) {
        let mut command = Command::new("setsid");
        stage.surround(&mut command).arg("--ctty").args(words);
        let end = || self.terminal.try_clone().unwrap();
        self.child = Some(command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap());
    }

    /// Starts a shell script in a jail.
    pub(crate) fn runs(&mut self, stage: &Stage, options: &str, script: &str) {
        let mut words = vec![PROGRAM, "run"];
        words.extend(options.split_whitespace());
        words.extend(["--", "/bin/sh", "-c", script]);
        self.starts(stage, &words);
    }

    /// Starts an interactive shell, outside.
    pub(crate) fn opens_a_shell(&mut self, stage: &Stage) {
        self.starts(stage, &["bash", "--norc", "--noprofile", "-i"]);
        self.sees("out> ");
    }

    pub(crate) fn types(&self, keys: &str) {
        assert_eq!(rustix::io::write(&self.master, keys.as_bytes()).unwrap(), keys.len());
    }

    pub(crate) fn resizes(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size).unwrap();
    }

    /// Waits until a text is shown, after everything that was seen before. Says what came up to its end.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) -> String {
        let end = Instant::now() + LONG;
        loop {
            let fresh = &self.shown[self.seen..];
            if let Some(place) = fresh.windows(text.len()).position(|window| window == text.as_bytes()) {
                let upto = self.seen + place + text.len();
                let part = String::from_utf8_lossy(&self.shown[self.seen..upto]).into_owned();
                self.seen = upto;
                return part;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{text:?} never came, but {:?}", String::from_utf8_lossy(fresh));
            self.look(left.min(Duration::from_millis(100)));
        }
    }

    fn look(&mut self, patience: Duration) {
        let patience = Timespec::try_from(patience).unwrap();
        if poll(&mut [PollFd::new(&self.master, PollFlags::IN)], Some(&patience)).unwrap() > 0 {
            let mut buffer = [0; 4096];
            let count = rustix::io::read(&self.master, &mut buffer).unwrap();
            self.shown.extend(&buffer[..count]);
        }
    }

    pub(crate) fn modes(&self) -> Termios {
        tcgetattr(&self.terminal).unwrap()
    }

    /// Returns true if keys reach the program as they are typed.
    pub(crate) fn is_raw(&self) -> bool {
        !self.modes().local_modes.intersects(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHO)
    }

    /// Waits until keys reach a program inside.
    #[track_caller]
    pub(crate) fn gives_up_the_terminal(&self) {
        assert!(within(LONG, || self.is_raw()), "the terminal was not taken");
    }

    pub(crate) fn signals(&self, signal: Signal) {
        let pid = self.child.as_ref().map(Pid::from_child).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end of the program, and returns everything that was shown.
    #[track_caller]
    pub(crate) fn waits(&mut self) -> (ExitStatus, String) {
        let status = end_of(self.child.as_mut().unwrap());
        // Earlier output is shown before it.
        rustix::io::write(&self.terminal, LAST.as_bytes()).unwrap();
        self.sees(LAST);
        (status, String::from_utf8_lossy(&self.shown[..self.seen - LAST.len()]).into_owned())
    }
}

const LAST: &str = "<nothing more>";

impl Drop for Person {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It has ended already, or the test has failed.
            drop(child.kill().and_then(|()| child.wait()));
        }
    }
}
