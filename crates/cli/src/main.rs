//! The `ringfence` command.

use std::io::{self, BufWriter};
use std::process::ExitCode;

fn main() -> ExitCode {
    ringfence_cli::restore_terminal_on_panic();
    let mut out = BufWriter::new(io::stdout().lock());
    let mut err = io::stderr().lock();
    ringfence_cli::run(std::env::args_os(), &mut out, &mut err).into()
}
