//! Compiles `init/`, the first process of a jail, into a program of its own that the library carries as bytes.
//!
//! It is a `no_std` program for the same target as the library. Cargo has no stable way to say that a library contains a
//! program, so the compiler that cargo uses is called here once more; nothing else has to be installed. The linker is the one
//! that cargo uses for the target, with what `RUSTFLAGS` say about it; other flags, such as those for coverage or sanitizers,
//! are not for a program without a standard library.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
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
    let linker = linker();
    let is_plain = linker.iter().any(|option| is_plain_linker(option));
    let link = if is_plain { PLAIN_LINKER } else { COMPILER_DRIVER };
    let musl = (variable("CARGO_CFG_TARGET_ENV")? == "musl").then(|| "link-self-contained=no".to_owned());
    let options = OPTIONS.iter().chain(link).map(|option| (*option).to_owned());
    for option in options.chain(musl).chain(linker) {
        compiler.args(["-C", &option]);
    }
    let status = compiler.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("cannot build the init program in init/: {status}").into())
    }
}

/// The options that say which linker is used: cargo's own, then those of `RUSTFLAGS`.
fn linker() -> Vec<String> {
    let configured = env::var("RUSTC_LINKER").ok().map(|linker| format!("linker={linker}"));
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let mut options: Vec<String> = configured.into_iter().collect();
    let mut flags = flags.split('\u{1f}');
    while let Some(flag) = flags.next() {
        let option = if flag == "-C" { flags.next() } else { flag.strip_prefix("-C") };
        options.extend(option.filter(|option| option.starts_with("linker")).map(str::to_owned));
    }
    options
}

/// Returns true if an option names a linker itself, and not a compiler that calls one.
fn is_plain_linker(option: &str) -> bool {
    let name = option.strip_prefix("linker=").and_then(|path| Path::new(path).file_stem()?.to_str());
    name.is_some_and(|name| name.ends_with("ld"))
}

/// A static program at a fixed address, without unwinding or symbols.
const OPTIONS: &[&str] = &[
    "opt-level=2",
    "panic=abort",
    "relocation-model=static",
    "target-feature=+crt-static",
    "force-unwind-tables=no",
    "overflow-checks=no",
    "debug-assertions=no",
    "strip=symbols",
];

/// No C library and no start-up code, for a compiler that links.
const COMPILER_DRIVER: &[&str] = &[
    "link-arg=-nostartfiles",
    "link-arg=-nostdlib",
    "link-arg=-static",
    "link-arg=-no-pie",
    "link-arg=-Wl,--build-id=none,-z,norelro,-z,noseparate-code,--gc-sections",
];

/// The same for a linker.
const PLAIN_LINKER: &[&str] =
    &["link-arg=-static", "link-arg=--build-id=none", "link-arg=-znorelro", "link-arg=--gc-sections"];
