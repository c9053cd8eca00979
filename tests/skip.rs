//! A test that cannot run on this machine says so: shared by the tests of several rooms through `#[path]`.

use std::fs::OpenOptions;
use std::io::Write as _;

/// Says that something was not tested and why, on standard error and where `cargo xtask test` counts it.
pub(crate) fn skipped(what: &str, why: &str) {
    let line = format!("SKIPPED: {what}: {why}\n");
    let mut places: Vec<Box<dyn std::io::Write>> = vec![Box::new(std::io::stderr())];
    if let Some(path) = std::env::var_os("RINGFENCE_SKIPS") {
        places.push(Box::new(OpenOptions::new().create(true).append(true).open(path).unwrap()));
    }
    for mut place in places {
        place.write_all(line.as_bytes()).unwrap();
    }
}
