//! Compiles `init/`, the first process of a jail, into a program of its own that the library carries as bytes.
//!
//! It is a `no_std` program for the same target as the library. Cargo has no stable way to say that a library contains a
//! program, so the compiler that cargo uses is called here once more; nothing else has to be installed.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=init");
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).map_err(|error| format!("{name}: {error}"));
    if variable("CARGO_CFG_TARGET_OS")? != "linux" {
        return Ok(());
    }
    let image = PathBuf::from(variable("OUT_DIR")?).join("init");
    let mut compiler = Command::new(variable("RUSTC")?);
    compiler.args(["--edition=2024", "--crate-name=ringfence_init", "--crate-type=bin", "init/main.rs"]);
    compiler.args(["--target", &variable("TARGET")?]).arg("-o").arg(&image);
    for option in OPTIONS {
        compiler.args(["-C", option]);
    }
    if variable("CARGO_CFG_TARGET_ENV")? == "musl" {
        compiler.args(["-C", "link-self-contained=no"]);
    }
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.args(["-C", &format!("linker={linker}")]);
    }
    let status = compiler.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the compiler could not build init/: {status}").into())
    }
}

/// A static program at a fixed address, without the C library, start-up code, unwinding or symbols.
const OPTIONS: &[&str] = &[
    "opt-level=2",
    "panic=abort",
    "relocation-model=static",
    "target-feature=+crt-static",
    "force-unwind-tables=no",
    "overflow-checks=no",
    "debug-assertions=no",
    "strip=symbols",
    "link-arg=-nostartfiles",
    "link-arg=-nostdlib",
    "link-arg=-static",
    "link-arg=-no-pie",
    "link-arg=-Wl,--build-id=none,-z,norelro,-z,noseparate-code,--gc-sections",
];
