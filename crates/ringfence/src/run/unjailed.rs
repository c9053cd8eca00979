//! A run without a jail, because the user's own file says so. It is told and recorded every time.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

use jail::End;
use policy::{Code, Shown};

use super::error::{RunError, RunErrorKind};

/// Starts the command with a filtered environment and all rights of the caller, and waits for it.
pub(crate) fn run(
    command: &[OsString],
    environment: &[(OsString, OsString)],
    cwd: &Path,
) -> Result<End, RunError> {
    let (program, arguments) = command
        .split_first()
        .ok_or_else(|| RunError::new("there is no command").kind(RunErrorKind::Usage))?;
    let variables = environment.iter().map(|(name, value)| (name, value));
    let status = Command::new(program).args(arguments).env_clear().envs(variables).current_dir(cwd).status();
    status.map(end).map_err(|error| not_started(program, &error))
}

fn end(status: ExitStatus) -> End {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(byte(code)),
        (None, signal) => End::Signaled(byte(signal.unwrap_or(i32::MAX))),
    }
}

fn not_started(program: &OsString, error: &io::Error) -> RunError {
    let shown = Shown::bytes(program.as_encoded_bytes());
    if error.kind() == io::ErrorKind::NotFound {
        let message = format!("there is no command {shown}");
        return RunError::coded(Code::JailNotFound, message).kind(RunErrorKind::NotFound);
    }
    let message = format!("{shown} cannot be executed");
    RunError::coded(Code::JailNotExecutable, message).because(error).kind(RunErrorKind::Refused)
}
