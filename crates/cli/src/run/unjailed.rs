//! Without a jail, because the user's own file says so. Said and recorded every time.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

use policy::{Code, Shown};

use super::record::Came;
use crate::exit::Exit;
use crate::failure::Failure;

/// Starts the command with a filtered environment and all the rights of the caller, and waits for it.
pub(crate) fn run(
    command: &[OsString],
    environment: &[(OsString, OsString)],
    cwd: &Path,
) -> Result<Came, Failure> {
    let (program, arguments) = command.split_first().ok_or_else(|| Failure::usage("there is no command"))?;
    let variables = environment.iter().map(|(name, value)| (name, value));
    let status = Command::new(program).args(arguments).env_clear().envs(variables).current_dir(cwd).status();
    status.map(came).map_err(|error| not_started(program, &error))
}

fn came(status: ExitStatus) -> Came {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.code(), status.signal()) {
        (Some(code), _) => Came::Exited(byte(code)),
        (None, signal) => Came::Signaled(byte(signal.unwrap_or(i32::MAX))),
    }
}

fn not_started(program: &OsString, error: &io::Error) -> Failure {
    let shown = Shown::bytes(program.as_encoded_bytes());
    if error.kind() == io::ErrorKind::NotFound {
        return Failure::coded(Code::JailNotFound, format!("there is no command {shown}"))
            .exit(Exit::NotFound);
    }
    let message = format!("{shown} cannot be executed");
    Failure::coded(Code::JailNotExecutable, message).because(error).exit(Exit::Refused)
}
