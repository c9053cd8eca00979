//! Files that are written by a program and kept in the repository.

mod hosts;
mod rustfmt;

use std::fs;
use std::path::Path;

use crate::offence::Offence;

/// One generated file, by its path in the repository.
struct Generated {
    path: &'static str,
    make: fn(&Path) -> Result<String, Offence>,
}

/// Every generated file. A new one is one line here.
const GENERATED: &[Generated] =
    &[Generated { path: "crates/policy/src/tables/hosts.rs", make: hosts::generate }];

/// Writes every generated file that is not up to date, and names those it wrote.
pub(crate) fn write(root: &Path) -> Result<Vec<&'static str>, Offence> {
    let mut written = Vec::new();
    for file in GENERATED {
        let text = (file.make)(root)?;
        let path = root.join(file.path);
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        create(&path, &text).map_err(|error| Offence::of(file.path, error.to_string()))?;
        written.push(file.path);
    }
    Ok(written)
}

fn create(path: &Path, text: &str) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}
