//! Seeds and findings of the fuzz targets as rows: every input that once broke a law is held against it again.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use ringfence_fuzz::TARGETS;

/// Inputs of a target below a directory of this package, by name.
fn inputs(directory: &str, target: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory).join(target);
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Names below a directory of this package.
fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(directory)).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn replay(directory: &str) -> usize {
    let (mut rows, mut broken) = (0, Vec::new());
    for target in TARGETS {
        for path in inputs(directory, target.name) {
            let bytes = fs::read(&path).unwrap();
            if catch_unwind(|| (target.run)(&bytes)).is_err() {
                broken.push(format!("{}: {}", target.name, path.display()));
            }
            rows += 1;
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    rows
}

#[test]
fn findings_stay_mended() {
    assert!(replay("findings") >= 3);
}

#[test]
fn seeds_hold() {
    assert!(replay("seeds") >= 100);
}

/// A target without seeds reaches little: formats with magic numbers and checksums are not found by chance.
#[test]
fn every_target_has_a_binary_and_seeds() {
    let known: BTreeSet<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    let binaries = names("targets").iter().map(|name| name.trim_end_matches(".rs").to_owned()).collect();
    assert_eq!(known, binaries);
    assert_eq!(known, names("seeds"));
    assert!(names("findings").is_subset(&known));
}
