//! Runs a command in a jail around the current directory: `cargo run -p ringfence-jail --example confined -- COMMAND…`

use std::error::Error;
use std::process::ExitCode;

use policy::Limits;
use ringfence_jail::{Choice, Command, Spec, Streams, hold};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let workspace = std::env::current_dir()?;
    let mut spec = Spec::for_workspace(&workspace, "/home/agent".as_ref(), Limits::none());
    spec.environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), "/home/agent".into())];
    let argv = std::env::args_os().skip(1).collect();
    let command = Command { argv, cwd: workspace, streams: Streams::Inherit, observe: false };

    // Every layer is on and tried before this comes back, and nothing has run.
    let held = hold(Choice::Auto, &spec, &command)?;
    let outcome = held.release()?.wait()?;
    Ok(ExitCode::from(outcome.end.code()))
}
