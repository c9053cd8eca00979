//! Laying out generated Rust as `cargo fmt` would.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::offence::Offence;

/// Formats Rust text with the settings of the repository.
pub(crate) fn format(root: &Path, text: &str) -> Result<String, Offence> {
    run(root, text).map_err(|error| Offence::of("rustfmt", error.to_string()))
}

fn run(root: &Path, text: &str) -> io::Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // rustfmt reads all of its input before it writes, so feeding it from this thread cannot block.
    child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("ended with {}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}
