//! The second run: what depends on who asks is tested by root and by an ordinary user.

use std::env;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{SKIPS, count, headline};
use crate::command;
use crate::tally::Tally;
use crate::workspace::cargo;

/// An unused user id: nothing on the machine belongs to it.
const USER: u32 = 54321;

/// The packages whose tests touch files, processes or the kernel.
const PACKAGES: &[&str] = &[
    "crates/audit",
    "crates/cli",
    "crates/config",
    "crates/guard",
    "crates/jail",
    "crates/overlay",
    "crates/ringfence",
    "crates/tools",
];

/// Runs the tests of those packages again as an ordinary user. Without root, the first run was that already.
pub(super) fn run(root: &Path, out: &mut dyn Write) -> io::Result<Tally> {
    if !command::is_root() {
        return Ok(Tally::default());
    }
    headline(out, &format!("tests as an ordinary user (uid {USER})"))?;
    if !command::works(as_user().arg("true")) {
        return Ok(Tally::skip("tests as an ordinary user: setpriv cannot become one here"));
    }
    let place = Place::new()?;
    let tally = match place.build(root, out)? {
        Some(tests) => place.run_each(&tests, out)?,
        None => Tally { failed: 1, ..Tally::default() },
    };
    place.dir.close()?;
    Ok(tally)
}

/// A job in the background of a script ignores what a keyboard sends, and so would everything that the tests start and interrupt.
fn as_user() -> Command {
    let mut command = Command::new("setpriv");
    command.args([
        format!("--reuid={USER}"),
        format!("--regid={USER}"),
        "--clear-groups".into(),
        "--".into(),
        "env".into(),
        "--default-signal=HUP,INT,QUIT,TERM".into(),
    ]);
    command
}

/// One test executable, and the directory of its package.
#[derive(Debug, PartialEq, Eq)]
struct Executable {
    path: PathBuf,
    package: PathBuf,
}

/// A directory of the user's own: home, temporary files, and a copy of the tree where the real one is closed.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> io::Result<Self> {
        let bases = [env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
        let base = bases.iter().find(|base| is_open(base)).ok_or(io::ErrorKind::PermissionDenied)?;
        // A short name: the paths of sockets below it must fit into 108 bytes.
        let place = Self { dir: tempfile::Builder::new().prefix("rf-").tempdir_in(base)? };
        fs::set_permissions(place.dir.path(), Permissions::from_mode(0o755))?;
        for name in ["home", "tmp"] {
            fs::create_dir(place.path(name))?;
            chown(place.path(name), Some(USER), Some(USER))?;
        }
        fs::write(place.path("skips"), "")?;
        chown(place.path("skips"), Some(USER), Some(USER))?;
        Ok(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The test executables. Where the user cannot reach the tree or the target directory, both are made anew:
    /// tests know the paths they were compiled with.
    fn build(&self, root: &Path, out: &mut dyn Write) -> io::Result<Option<Vec<Executable>>> {
        let built = build(root, None)?;
        let reaches = |test: &Executable| is_open(&test.path) && is_open(&test.package.join("Cargo.toml"));
        if built.as_ref().is_none_or(|tests| tests.iter().all(reaches)) {
            return Ok(built);
        }
        writeln!(
            out,
            "the user cannot reach {}: building a copy in {}",
            root.display(),
            self.dir.path().display()
        )?;
        copy_tree(root, &self.path("tree"))?;
        build(&self.path("tree"), Some(&self.path("target")))
    }

    fn run_each(&self, tests: &[Executable], out: &mut dyn Write) -> io::Result<Tally> {
        let mut text = String::new();
        let mut success = true;
        for test in tests {
            writeln!(out, "running {}", test.path.display())?;
            out.flush()?;
            let transcript = command::in_sight(&mut self.command(test))?;
            text += &transcript.text;
            success &= transcript.success;
        }
        count(&command::Transcript { text, success }, &self.path("skips"))
    }

    /// The environment is made from nothing: root's own would point to root's places.
    fn command(&self, test: &Executable) -> Command {
        let mut command = as_user();
        command.arg(&test.path).current_dir(&test.package).env_clear();
        command.envs(env::vars_os().filter(|(name, _)| KEPT.iter().any(|kept| name == *kept)));
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp")).env(SKIPS, self.path("skips"));
        command.env("INSTA_UPDATE", "no").env("INSTA_WORKSPACE_ROOT", &test.package);
        command.env("CARGO_MANIFEST_DIR", &test.package);
        command
    }
}

/// Variables that mean the same for every user.
const KEPT: &[&str] = &["PATH", "LANG", "CI", "RUST_BACKTRACE", "PROPTEST_CASES"];

/// Builds the tests and says where they are. `None`: they do not build, and Cargo said why.
fn build(root: &Path, target: Option<&Path>) -> io::Result<Option<Vec<Executable>>> {
    let mut command = Command::new("sh");
    // The umask is set here, not inherited from the caller.
    command.args(["-c", "umask 022; exec \"$@\"", "sh"]).arg(cargo().get_program());
    command.args([
        "test",
        "--workspace",
        "--tests",
        "--no-run",
        "--message-format",
        "json-render-diagnostics",
    ]);
    command.current_dir(root).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.envs(target.map(|target| ("CARGO_TARGET_DIR", target)));
    let output = command.output()?;
    Ok(output.status.success().then(|| executables(root, &String::from_utf8_lossy(&output.stdout))))
}

/// The test executables of our packages in what Cargo writes, one message a line.
fn executables(root: &Path, messages: &str) -> Vec<Executable> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|message| executable(root, &message)).collect()
}

fn executable(root: &Path, message: &Value) -> Option<Executable> {
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let is_ours = PACKAGES.iter().any(|ours| package == root.join(ours));
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let path = message["executable"].as_str()?;
    (is_ours && is_test).then(|| Executable { path: path.into(), package: package.into() })
}

/// Returns true if every user can read a file and search every directory on the way to it.
fn is_open(path: &Path) -> bool {
    let allows =
        |path: &Path, bits: u32| fs::metadata(path).is_ok_and(|it| it.permissions().mode() & bits == bits);
    allows(path, 0o004)
        && path.ancestors().skip(1).all(|dir| dir.as_os_str().is_empty() || allows(dir, 0o001))
}

/// Copies a tree without its history and build products, readable by every user.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let target = to.join(&name);
        if kind.is_dir() && name != "target" && name != ".git" {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            fs::set_permissions(&target, Permissions::from_mode(0o644))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_test_executables_of_our_packages() {
        let message = |reason: &str, package: &str, test: bool, executable: &str| {
            format!(
                r#"{{"reason":"{reason}","manifest_path":"/r/{package}/Cargo.toml","profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let messages = [
            message("compiler-artifact", "crates/audit", true, "\"/t/audit\""),
            message("compiler-artifact", "crates/audit", false, "\"/t/bin\""),
            message("compiler-artifact", "crates/audit", true, "null"),
            message("compiler-artifact", "crates/policy", true, "\"/t/policy\""),
            message("build-script-executed", "crates/audit", true, "\"/t/script\""),
            "not json".into(),
        ];
        let found = executables(Path::new("/r"), &messages.join("\n"));
        assert_eq!(found, [Executable { path: "/t/audit".into(), package: "/r/crates/audit".into() }]);
    }

    #[test]
    fn knows_what_everybody_can_reach() {
        let dir = TempDir::new().unwrap();
        let (open, closed) = (dir.path().join("open"), dir.path().join("closed"));
        for path in [&open, &closed] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("file"), "").unwrap();
        }
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        set(dir.path(), 0o755);
        set(&open, 0o711);
        set(&closed, 0o700);
        set(&open.join("file"), 0o644);
        set(&closed.join("file"), 0o644);
        // The directory for temporary files may itself be closed, and then everything below it is.
        assert_eq!(is_open(&open.join("file")), is_open(dir.path()));
        assert!(!is_open(&closed.join("file")));
        set(&open.join("file"), 0o640);
        assert!(!is_open(&open.join("file")));
    }

    #[test]
    fn a_copied_tree_is_open_and_small() {
        let dir = TempDir::new().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for path in ["src/a.rs", "target/b", ".git/c", ".cargo/d"] {
            fs::create_dir_all(from.join(path).parent().unwrap()).unwrap();
            fs::write(from.join(path), "x").unwrap();
        }
        fs::set_permissions(from.join("src/a.rs"), Permissions::from_mode(0o600)).unwrap();
        copy_tree(&from, &to).unwrap();
        assert_eq!(fs::metadata(to.join("src/a.rs")).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(to.join(".cargo/d").exists() && !to.join("target").exists() && !to.join(".git").exists());
    }
}
