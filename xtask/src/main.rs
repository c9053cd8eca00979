//! Commands for developers: `cargo xtask test`, `check`, `generate`, `fuzz`, `dist`, `texts` and `projects`.

mod check;
mod command;
mod dist;
mod fuzz;
mod generate;
mod offence;
mod packages;
mod projects;
mod source;
mod step;
mod table;
mod tally;
mod test;
mod texts;
mod workspace;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use tally::Tally;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  test      install what the tests need, run every test, then check; --fast for the edit loop
  check     check budgets, crate graph, wording, lints, tables and documents: [STEP…]
  generate  write the generated files
  fuzz      run fuzz targets, all or those named: [--seconds N] [TARGET…]
  dist      build the static program, its tarball and its Debian package: [--target TRIPLE] [--out DIR]
  texts     print every error, hint and help text as a list
  projects  build and try real software inside a jail and outside: [--rounds N] [--in DIR] [NAME…]
";

/// The command line was wrong.
const WRONG_USAGE: u8 = 64;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(&words, &mut io::stdout()).unwrap_or_else(|error| complain(&format!("xtask: {error}\n"), 1))
}

fn run(words: &[&str], out: &mut dyn Write) -> io::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or(io::ErrorKind::NotFound)?;
    match words {
        ["test"] => test::run_all(root, out).map(verdict),
        ["test", "--fast"] => test::run_fast(root, out).map(verdict),
        ["fuzz", words @ ..] => match fuzz::Wanted::parse(words) {
            Some(wanted) => fuzz::run_all(root, &wanted, out).map(verdict),
            None => Ok(complain(USAGE, WRONG_USAGE)),
        },
        ["dist", words @ ..] => match dist::Wanted::parse(words) {
            Some(wanted) => dist::run(root, &wanted, out).map(|()| ExitCode::SUCCESS),
            None => Ok(complain(USAGE, WRONG_USAGE)),
        },
        ["check", words @ ..] => check::run_all(root, words, out).map(verdict),
        ["projects", words @ ..] => match projects::Wanted::parse(words) {
            Some(wanted) => projects::run_all(root, &wanted, out).map(verdict),
            None => Ok(complain(USAGE, WRONG_USAGE)),
        },
        ["texts"] => texts::print(root, out).map(|()| ExitCode::SUCCESS),
        ["generate"] => run_generate(root, out),
        ["-h" | "--help" | "help"] => out.write_all(USAGE.as_bytes()).map(|()| ExitCode::SUCCESS),
        _ => Ok(complain(USAGE, WRONG_USAGE)),
    }
}

fn run_generate(root: &Path, out: &mut dyn Write) -> io::Result<ExitCode> {
    let written = generate::write(root).map_err(|offence| io::Error::other(offence.to_string()))?;
    written.iter().try_for_each(|file| writeln!(out, "wrote {file}"))?;
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::needless_pass_by_value, reason = "ends every command that counts")]
fn verdict(tally: Tally) -> ExitCode {
    if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Says something on standard error. If even that fails, the exit code still tells.
fn complain(text: &str, exit: u8) -> ExitCode {
    match io::stderr().write_all(text.as_bytes()) {
        Ok(()) | Err(_) => ExitCode::from(exit),
    }
}
