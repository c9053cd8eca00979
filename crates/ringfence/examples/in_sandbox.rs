//! A command in a sandbox around a directory: `cargo run -p ringfence --example in_sandbox -- 'ls -la'`.
#![allow(clippy::print_stdout, reason = "an example, which shows what it does")]

use std::error::Error;

use ringfence::{Preset, Sandbox};

fn main() -> Result<(), Box<dyn Error>> {
    let line = std::env::args().nth(1).unwrap_or_else(|| "ls; touch /usr/planted".to_owned());
    let state = std::env::temp_dir().join(format!("ringfence-example-{}", std::process::id()));

    let sandbox = Sandbox::builder()
        .preset(Preset::Workspace)
        .workspace(".")
        .state(&state)
        .environment(std::env::vars_os())
        .build()?;
    match sandbox.session("example")?.run(&line) {
        Ok(ran) => println!("{}{}exit code {}", ran.output, ran.error, ran.code),
        Err(why) => println!("not run: {why}"),
    }

    std::fs::remove_dir_all(state)?;
    Ok(())
}
