//! What developers run: `cargo xtask generate`.

mod generate;
mod offence;
mod table;

use std::io;
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  generate  write the generated files
";

/// The command line was wrong.
const WRONG_USAGE: u8 = 64;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["generate"] => generate_all(),
        ["--help" | "-h" | "help"] => say(&mut io::stdout(), USAGE, ExitCode::SUCCESS),
        _ => say(&mut io::stderr(), USAGE, ExitCode::from(WRONG_USAGE)),
    }
}

fn generate_all() -> ExitCode {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    match generate::write(root) {
        Ok(files) => {
            let lines = files.iter().map(|file| format!("wrote {file}\n")).collect::<Vec<_>>().concat();
            say(&mut io::stderr(), &lines, ExitCode::SUCCESS)
        }
        Err(offence) => say(&mut io::stderr(), &format!("{offence}\n"), ExitCode::FAILURE),
    }
}

fn say(out: &mut dyn io::Write, text: &str, exit: ExitCode) -> ExitCode {
    out.write_all(text.as_bytes()).map_or(ExitCode::FAILURE, |()| exit)
}
