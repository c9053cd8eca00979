//! Running other programs.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use crate::step::Outcome;

/// Runs a command as a step: its output matters only when it fails.
pub(crate) fn step(command: &mut Command) -> Outcome {
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Outcome::Ok(Vec::new()),
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect::<Vec<_>>();
            Outcome::Failed([lines, vec![format!("ended with {}", output.status)]].concat())
        }
        Err(error) => Outcome::Failed(vec![format!("{}: {error}", command.get_program().to_string_lossy())]),
    }
}

/// Returns true if a command can be started and ends well. Its output is dropped.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns true if we may do everything.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Output of a command on both streams, and its success.
pub(crate) struct Transcript {
    pub(crate) text: String,
    pub(crate) success: bool,
}

/// Runs a command in sight: what it writes is shown at once and kept.
pub(crate) fn in_sight(command: &mut Command) -> io::Result<Transcript> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (out, err) = thread::scope(|scope| {
        let out = scope.spawn(|| copy(out, &mut io::stdout()));
        let err = copy(err, &mut io::stderr());
        (out.join().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into())), err)
    });
    let success = child.wait()?.success();
    Ok(Transcript { text: String::from_utf8_lossy(&[out?, err?].concat()).into_owned(), success })
}

fn copy(from: Option<impl Read>, to: &mut impl Write) -> io::Result<Vec<u8>> {
    let Some(mut from) = from else { return Ok(Vec::new()) };
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(kept),
            count => {
                to.write_all(&buffer[..count])?;
                to.flush()?;
                kept.extend_from_slice(&buffer[..count]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_step_shows_output_only_when_it_fails() {
        assert_eq!(step(&mut sh("echo noise")), Outcome::Ok(vec![]));
        let failed = Outcome::Failed(["out", "err", "ended with exit status: 3"].map(String::from).to_vec());
        assert_eq!(step(&mut sh("echo out; echo err >&2; exit 3")), failed);
        assert!(matches!(step(&mut Command::new("/no/such")), Outcome::Failed(_)));
    }

    #[test]
    fn a_command_in_sight_is_kept() {
        let transcript = in_sight(&mut sh("echo out; echo err >&2; exit 1")).unwrap();
        assert_eq!((transcript.text.as_str(), transcript.success), ("out\nerr\n", false));
        assert!(in_sight(&mut sh("exit 0")).unwrap().success);
    }
}
