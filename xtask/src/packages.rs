//! Packages of the system that the tests need, and their installation.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command;
use crate::tally::Tally;

/// One thing that must be on the machine.
struct Need {
    /// The command to look for in `PATH`, or the absolute path of a file.
    probe: &'static str,
    /// The Debian package that brings it.
    package: &'static str,
    /// Which tests need it.
    tests: &'static str,
    /// True if those tests may be skipped where it cannot be installed.
    optional: bool,
}

/// Only what is needed. A new row says which tests cannot do without it.
const NEEDS: &[Need] = &[
    Need {
        probe: "python3",
        package: "python3",
        tests: "the ledger's second reader, the attacks on a jail",
        optional: false,
    },
    Need { probe: "curl", package: "curl", tests: "the way out of a jail", optional: false },
    Need {
        probe: "redis-cli",
        package: "redis-tools",
        tests: "a protocol that the broker does not read",
        optional: true,
    },
    Need {
        probe: "ssh",
        package: "openssh-client",
        tests: "a protocol that the broker does not read",
        optional: true,
    },
    Need { probe: "git", package: "git", tests: "policies inside a repository", optional: false },
    Need {
        probe: "rg",
        package: "ripgrep",
        tests: "what a search ignores, held against ripgrep",
        optional: true,
    },
    Need { probe: "bwrap", package: "bubblewrap", tests: "jails by bubblewrap", optional: true },
];

/// Installs what is missing, if we may. `None`: something is still missing, and that was said.
pub(crate) fn ensure(out: &mut dyn Write) -> io::Result<Option<Tally>> {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = env::split_paths(&path).collect();
    let missing = || NEEDS.iter().filter(|need| !is_there(need, &dirs)).collect::<Vec<_>>();
    let before = missing();
    if !before.is_empty() {
        install(&before, out)?;
    }
    let verdict = judge(&missing());
    match &verdict {
        Err(message) => writeln!(io::stderr(), "{message}")?,
        Ok(tally) => tally.skips.iter().try_for_each(|skip| writeln!(out, "SKIPPED: {skip}"))?,
    }
    Ok(verdict.ok())
}

fn is_there(need: &Need, dirs: &[PathBuf]) -> bool {
    dirs.iter().any(|dir| dir.join(need.probe).is_file())
}

/// Goes on without what is optional, and says what to do about the rest.
fn judge(missing: &[&Need]) -> Result<Tally, String> {
    let required: Vec<&str> = missing.iter().filter(|need| !need.optional).map(|need| need.package).collect();
    if !required.is_empty() {
        let names = required.join(" ");
        return Err(format!("missing packages: {names}; install them with: sudo apt-get install {names}"));
    }
    let mut tally = Tally::default();
    for need in missing {
        tally += Tally::skip(format!("{}: the package {} is missing", need.tests, need.package));
    }
    Ok(tally)
}

/// Installs packages with the rights we have. What comes of it is seen by looking again.
fn install(missing: &[&Need], out: &mut dyn Write) -> io::Result<()> {
    let Some(become_root) = privilege() else { return Ok(()) };
    let names: Vec<&str> = missing.iter().map(|need| need.package).collect();
    writeln!(out, "installing packages: {}", names.join(" "))?;
    let apt = |words: &[&str]| {
        let mut all = become_root.to_vec();
        all.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        all.extend(words);
        command::in_sight(Command::new(all[0]).args(&all[1..]))
    };
    // An index that cannot be refreshed may still be good enough to install from.
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends"], names.as_slice()].concat())?;
    Ok(())
}

/// The words before a command that must run as root, if there is a way and no password is asked.
fn privilege() -> Option<&'static [&'static str]> {
    if !Path::new("/usr/bin/apt-get").exists() {
        None
    } else if command::is_root() {
        Some(&[])
    } else {
        command::works(Command::new("sudo").args(["-n", "true"])).then_some(&["sudo", "-n"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn need(probe: &'static str, optional: bool) -> Need {
        Need { probe, package: probe, tests: "some tests", optional }
    }

    #[test]
    fn what_is_missing_is_said_exactly() {
        let (a, b, c) = (need("a", false), need("b", false), need("c", true));
        let message = "missing packages: a b; install them with: sudo apt-get install a b";
        assert_eq!(judge(&[&a, &c, &b]), Err(message.into()));
        assert_eq!(judge(&[&c]).unwrap().skips, ["some tests: the package c is missing"]);
        assert_eq!(judge(&[]), Ok(Tally::default()));
    }

    #[test]
    fn looks_for_commands_and_for_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("tool"), "").unwrap();
        let dirs = [PathBuf::from("/no/such"), dir.path().to_path_buf()];
        let rows = [("tool", true), ("other", false), ("/proc/self/status", true), ("/no/such/file", false)];
        for (probe, expected) in rows {
            assert_eq!(is_there(&need(probe, false), &dirs), expected, "{probe}");
        }
    }
}
