//! Long texts, one screen at a time.

use std::ffi::OsString;
use std::io;

use crate::terminal::Terminal;

/// Shows a text, escaped already, through a pager if a person looks at it.
///
/// The pager replaces this process: it has the terminal for itself, and no other program reads the keys.
pub(crate) fn show(text: &str, pager: Option<OsString>, terminal: &mut Terminal<'_>) -> io::Result<()> {
    if let Some(pager) = pager {
        terminal.out.flush()?;
        // Without a pager the text is shown directly.
        become_pager(text, &pager).unwrap_or_default();
    }
    terminal.out.write_all(text.as_bytes())
}

/// Returns only where that does not work.
#[cfg(target_os = "linux")]
fn become_pager(text: &str, pager: &OsString) -> io::Result<()> {
    use std::io::{Seek as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use rustix::fs::MemfdFlags;
    use rustix::io::Errno;

    let made = match rustix::fs::memfd_create(c"review", MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL) {
        // Older kernels do not know the flag.
        Err(Errno::INVAL) => rustix::fs::memfd_create(c"review", MemfdFlags::CLOEXEC),
        other => other,
    };
    let mut file = std::fs::File::from(made?);
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(pager).stdin(file);
    // It shows what a command wrote: it starts no programs, opens no other files and writes none.
    command.env("LESSSECURE", "1").env("LESSHISTFILE", "-").env_remove("LESSOPEN").env_remove("LESSCLOSE");
    Err(command.exec())
}

#[cfg(not(target_os = "linux"))]
fn become_pager(_: &str, _: &OsString) -> io::Result<()> {
    Ok(())
}
