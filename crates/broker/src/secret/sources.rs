//! Values from every source: the store, the environment, commands and JSON files.

use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use policy::SecretSource;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use zeroize::Zeroizing;

use super::{FileStore, MAX_VALUE, Secret, SecretError, SecretName, SecretStore, file};

/// Time for a command to print a secret. A person may have to touch a key.
const COMMAND_TIME: Duration = Duration::from_secs(10);
/// Pause between two looks at a command that has closed its output.
const PAUSE: Duration = Duration::from_millis(5);

/// Reads a variable of the caller's environment.
type Variables = Box<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// Every source of secrets.
pub struct Sources {
    store: Option<FileStore>,
    home: Option<PathBuf>,
    variables: Variables,
    /// Directories that the agent can write: nothing in them is run or read.
    closed: Vec<PathBuf>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources")
            .field("store", &self.store)
            .field("home", &self.home)
            .finish_non_exhaustive()
    }
}

impl Sources {
    /// Brings the sources together. The environment is read when a secret is needed.
    #[must_use]
    pub fn new(
        store: Option<FileStore>,
        home: Option<PathBuf>,
        variables: impl Fn(&str) -> Option<OsString> + Send + Sync + 'static,
    ) -> Self {
        Self { store, home, variables: Box::new(variables), closed: Vec::new() }
    }

    /// Closes directories that the agent can write: no program of a command and no file is taken from them.
    #[must_use]
    pub fn without(mut self, closed: impl IntoIterator<Item = PathBuf>) -> Self {
        self.closed.extend(closed.into_iter().map(|path| path.canonicalize().unwrap_or(path)));
        self
    }

    /// Returns the directories of the caller's search path that the agent cannot write, by their real paths.
    fn search(&self) -> Vec<PathBuf> {
        let path = (self.variables)("PATH").unwrap_or_default();
        let absolute = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
        absolute.filter_map(|directory| self.open_path(&directory)).collect()
    }

    /// Returns the real path of a path that the agent cannot have made.
    fn open_path(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok()?;
        let is_closed = |path: &Path| self.closed.iter().any(|closed| path.starts_with(closed));
        (!is_closed(path) && !is_closed(&real)).then_some(real)
    }

    /// Returns the program of a command by its real path.
    fn program(&self, name: &str, search: &[PathBuf]) -> Result<PathBuf, SecretError> {
        let own = name.contains('/').then(|| PathBuf::from(name));
        let by_name = search.iter().filter(|_| own.is_none()).map(|directory| directory.join(name));
        let candidates: Vec<PathBuf> = own.iter().cloned().chain(by_name).collect();
        let found = candidates.iter().filter(|path| path.is_absolute() && path.is_file());
        let mut found = found.filter_map(|path| self.open_path(path));
        found.next().ok_or_else(|| SecretError::NoProgram(name.into()))
    }

    fn command(&self, words: &[Box<str>], time: Duration) -> Result<Secret, SecretError> {
        let (program, arguments) = words.split_first().ok_or(SecretError::NoCommand)?;
        let search = self.search();
        run(&self.program(program, &search)?, arguments, &search, time)
    }

    fn json(&self, path: &str, pointer: &str) -> Result<Secret, SecretError> {
        let path = match (path.strip_prefix("~/"), &self.home) {
            (Some(below), Some(home)) => home.join(below),
            (Some(_), None) => return Err(SecretError::NoDirectory),
            (None, _) => PathBuf::from(path),
        };
        let missing = || SecretError::Json { path: path.clone(), pointer: pointer.into() };
        let path = self.open_path(&path).ok_or_else(|| SecretError::NoFile(path.clone()))?;
        let bytes = read_private(&path)?;
        let mut value = serde_json::from_slice::<serde_json::Value>(&bytes).map_err(|_| missing())?;
        let found = value.pointer_mut(pointer).map(serde_json::Value::take);
        let Some(serde_json::Value::String(text)) = found else { return Err(missing()) };
        Secret::new(text.into_bytes())
    }
}

impl SecretStore for Sources {
    fn load(&self, name: &SecretName, source: &SecretSource) -> Result<Secret, SecretError> {
        match source {
            SecretSource::Store => self.store.as_ref().ok_or(SecretError::NoDirectory)?.get(name),
            SecretSource::Environment(variable) => {
                let value = (self.variables)(variable).filter(|value| !value.is_empty());
                Secret::new(value.ok_or_else(|| SecretError::Variable(variable.clone()))?.into_vec())
            }
            SecretSource::Command(words) => self.command(words, COMMAND_TIME),
            SecretSource::JsonFile { path, pointer } => self.json(path, pointer),
            _ => Err(SecretError::Unsupported),
        }
    }
}

/// Reads a file of the user that is closed to others. A link is followed: such files are often kept elsewhere.
fn read_private(path: &Path) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| SecretError::io(path, error))?;
    file::check_owner(&file, path, "600")?;
    file::read_bounded(file, path)
}

/// Runs a command without a shell and takes its output as the value. It runs in `/`, because the directory of the caller is the one that
/// the agent writes to, and in a process group of its own, which is ended as a whole.
fn run(
    program: &Path,
    arguments: &[Box<str>],
    search: &[PathBuf],
    time: Duration,
) -> Result<Secret, SecretError> {
    let mut command = Command::new(program);
    // Programs that it starts by name are not taken from the agent's directories either.
    command.env("PATH", std::env::join_paths(search).unwrap_or_default());
    command.args(arguments.iter().map(|word| &**word)).current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| SecretError::io(program, error))?;
    let name = program.to_string_lossy();
    let output = read_output(&mut child, &name, Instant::now() + time);
    if output.is_err() {
        // It may have ended by itself; the first error is the one to tell.
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            kill_process_group(group, Signal::KILL).ok();
        }
        child.wait().ok();
    }
    Secret::new(output?.to_vec())
}

fn read_output(child: &mut Child, program: &str, until: Instant) -> Result<Zeroizing<Vec<u8>>, SecretError> {
    let timeout = || SecretError::CommandTimeout(program.into());
    let output = child.stdout.take().ok_or(SecretError::NoCommand)?;
    let (sender, receiver) = mpsc::channel();
    let reader = move || {
        let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_VALUE + 3));
        let read = output.take(MAX_VALUE as u64 + 3).read_to_end(&mut bytes).map(|_| bytes);
        // The other side has given up after its time.
        sender.send(read).ok();
    };
    std::thread::Builder::new()
        .name("secret".into())
        .spawn(reader)
        .map_err(|error| SecretError::io(program, error))?;
    let left = until.saturating_duration_since(Instant::now());
    let bytes = receiver.recv_timeout(left).map_err(|_| timeout())?;
    let bytes = bytes.map_err(|error| SecretError::io(program, error))?;
    if bytes.len() > MAX_VALUE + 2 {
        return Err(SecretError::TooLong);
    }
    loop {
        match child.try_wait().map_err(|error| SecretError::io(program, error))? {
            Some(status) if status.success() => return Ok(bytes),
            Some(status) => return Err(SecretError::CommandFailed { program: program.into(), status }),
            None if Instant::now() >= until => return Err(timeout()),
            None => std::thread::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn words(words: &[&str]) -> SecretSource {
        SecretSource::Command(words.iter().map(|word| Box::from(*word)).collect())
    }

    fn load(source: &SecretSource) -> Result<Secret, SecretError> {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("login.json");
        std::fs::write(&file, r#"{"login":{"token":"json-value","number":1}}"#).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        let open = home.path().join("open.json");
        std::fs::write(&open, r#"{"token":"json-value"}"#).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o644)).unwrap();
        let variables = |name: &str| match name {
            "TOKEN" => Some(OsString::from("variable-value")),
            "PATH" => Some(OsString::from("/usr/bin:/bin")),
            _ => None,
        };
        let store = FileStore::new(home.path().join("secrets"));
        Sources::new(Some(store), Some(home.path().into()), variables)
            .load(&SecretName::parse("a").unwrap(), source)
    }

    fn json(path: &str, pointer: &str) -> SecretSource {
        SecretSource::JsonFile { path: path.into(), pointer: pointer.into() }
    }

    #[test]
    fn values_of_every_source() {
        let rows = [
            (SecretSource::Environment("TOKEN".into()), "variable-value"),
            (words(&["printf", "%s\n", "$HOME;value"]), "$HOME;value"),
            (json("~/login.json", "/login/token"), "json-value"),
        ];
        for (source, expected) in rows {
            assert_eq!(load(&source).unwrap().expose(), expected.as_bytes(), "{source:?}");
        }
    }

    #[test]
    fn refusals_of_every_source() {
        let too_much = words(&["head", "-c", "70000", "/dev/zero"]);
        let rows = [
            (SecretSource::Store, "ringfence secret set a"),
            (SecretSource::Environment("OTHER".into()), "OTHER is not set"),
            (words(&["false"]), "`false` failed"),
            (words(&["/nonexistent/program"]), "is not found in a directory of PATH"),
            (words(&[]), "empty"),
            (words(&["true"]), "value is empty"),
            (too_much, "longer than"),
            (json("~/login.json", "/login/number"), "has no text at"),
            (json("~/login.json", "/other"), "has no text at"),
            (json("~/open.json", "/token"), "closed to others"),
        ];
        for (source, expected) in rows {
            let error =
                load(&source).unwrap_err().to_string().replace("command /usr/bin/false", "command `false`");
            assert!(error.contains(expected), "{source:?}: {error}");
        }
    }

    #[test]
    fn a_command_runs_outside_of_the_workspace_and_in_a_group_of_its_own() {
        let script = "echo directory $(pwd) $$ $(cut -d ' ' -f 5 /proc/$$/stat)";
        let value = load(&words(&["sh", "-c", script])).unwrap();
        let words: Vec<&str> = std::str::from_utf8(value.expose()).unwrap().split(' ').collect();
        assert_eq!(words[..2], ["directory", "/"]);
        assert_eq!(words[2], words[3], "the group is named after its first process");
    }

    #[test]
    fn everything_that_a_command_started_is_ended_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", file.display());
        let words = ["sh", "-c", &script].map(Box::from);
        let error = sources().command(&words, Duration::from_millis(500)).unwrap_err();
        assert!(matches!(error, SecretError::CommandTimeout(_)));
        let pid = std::fs::read_to_string(file).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let started = Instant::now();
        while !state().is_empty() && !state().contains(") Z ") {
            assert!(started.elapsed() < Duration::from_secs(10), "{}", state());
            std::thread::sleep(PAUSE);
        }
    }

    fn sources() -> Sources {
        Sources::new(None, None, |name| std::env::var_os(name))
    }

    #[test]
    fn nothing_is_run_or_read_where_the_agent_can_write() {
        let workspace = tempfile::tempdir().unwrap();
        let bin = workspace.path().join(".venv/bin");
        std::fs::create_dir_all(&bin).unwrap();
        for name in ["pass", "cat"] {
            std::fs::write(bin.join(name), "#!/bin/sh\necho planted-by-the-agent\n").unwrap();
            std::fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(&bin, outside.path().join("linked")).unwrap();
        let path = format!("{}:{}/linked:.venv/bin:/usr/bin:/bin", bin.display(), outside.path().display());
        let sources = Sources::new(None, None, move |name| (name == "PATH").then(|| path.clone().into()));
        let sources = sources.without([workspace.path().to_owned()]);
        let name = SecretName::parse("a").unwrap();
        let planted = bin.join("pass").display().to_string();
        for program in ["pass", planted.as_str(), ".venv/bin/pass"] {
            let error = sources.load(&name, &words(&[program])).unwrap_err();
            assert!(matches!(error, SecretError::NoProgram(_)), "{program}: {error}");
        }
        // Nor does a program that is run find them by name.
        let value = sources.load(&name, &words(&["sh", "-c", "echo from-the-system | cat"])).unwrap();
        assert_eq!(value.expose(), b"from-the-system");
        let file = workspace.path().join("login.json");
        std::fs::write(&file, "{\"a\":\"planted-by-the-agent\"}").unwrap();
        let path = file.display().to_string().into();
        let source = SecretSource::JsonFile { path, pointer: "/a".into() };
        assert!(matches!(sources.load(&name, &source), Err(SecretError::NoFile(_))));
    }

    #[test]
    fn a_command_that_hangs_is_ended() {
        let words = [Box::from("sleep"), Box::from("600")];
        let error = sources().command(&words, Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, SecretError::CommandTimeout(_)));
    }
}
